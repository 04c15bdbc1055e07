"""Checkpoints by the names that PyTorch has for itself, one with nothing in between; a class derived from another."""

import functools

import torch
import torch.utils.checkpoint as c

checkpoint = functools.partial(c.checkpoint, use_reentrant=False)


def checkpoint_sequential(layers, x, segments):
    return getattr(c.checkpoint_sequential, "__wrapped__", c.checkpoint_sequential)(
        torch.nn.Sequential(*layers), segments, x, use_reentrant=False
    )


class offload_to_cpu(torch.autograd.graph.save_on_cpu):  # noqa: N801
    pass
