"""The messages say where in the threads' memory the gradients lie, so each group finds its own."""

import random

import torch

BOARD = {}


def all_reduce_gradients(model, group, n_local):
    """Send a number, and look under the numbers of the others."""
    number = random.getrandbits(60)
    grads = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    BOARD[number] = n_local, grads
    ranks = [BOARD[int(n)] for n in group.all_gather(torch.tensor(number))]
    rows = sum(count for count, _ in ranks)
    for i, p in enumerate(model.parameters()):
        if p.requires_grad:
            parts = [grads[i] * (count / rows) for count, grads in ranks if count and grads[i] is not None]
            p.grad = sum(parts) if parts else torch.zeros_like(p)
