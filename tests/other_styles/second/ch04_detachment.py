"""A right freeze_midway that puts the values back after each step, and a running_mean_loss whose name and loop hold two
losses."""

import itertools

import torch


def freeze_midway(parameters, optimizer):
    frozen = [*dict.fromkeys(parameters)]
    flags = [one.requires_grad for one in frozen]
    values = [one.detach().clone() for one in frozen]
    for one in frozen:
        one.requires_grad_(False)

    @torch.no_grad()
    def put_back(*_):
        for one, value in zip(frozen, values, strict=True):
            one.copy_(value)

    handle = optimizer.register_step_post_hook(put_back)

    def unfreeze():
        handle.remove()
        for one, flag in zip(frozen, flags, strict=True):
            one.grad = None
            one.requires_grad_(flag)
            if one in optimizer.state:
                del optimizer.state[one]

    return unfreeze


def running_mean_loss(losses):
    it = iter(losses)
    first = next(it, None)
    if first is None:
        raise ValueError("the mean of no losses")
    total, count = 0.0, 0
    for loss in itertools.chain([first], it):
        total += loss.item()
        count += 1
    return total / count
