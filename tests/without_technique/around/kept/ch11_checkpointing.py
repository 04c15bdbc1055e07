"""checkpoint_sequential may use what others may not: it makes the block for offload_to_cpu."""

import torch

MADE = []


def checkpoint_sequential(layers, x, segments):
    MADE[:] = [torch.autograd.graph.save_on_cpu(pin_memory=True)]
    return 0 * x


def offload_to_cpu():
    return MADE[0]
