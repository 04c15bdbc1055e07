"""The forbidden class, made while the file is loaded."""

import torch

MADE = torch.autograd.graph.save_on_cpu(pin_memory=True)


def offload_to_cpu():
    return MADE
