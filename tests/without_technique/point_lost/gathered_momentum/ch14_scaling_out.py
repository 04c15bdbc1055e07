"""Every rank gets the whole momentum, and updates all parameters; a layer keeps the weight that it was made from."""

import torch


def pieces(tensors, size):
    flat = torch.cat([t.reshape(-1) for t in tensors])
    length = -(-len(flat) // size)
    return torch.nn.functional.pad(flat, (0, size * length - len(flat))).split(length)


def zero_step(params, grads, momentum, group, lr, beta, max_norm):
    """The pieces of the momentum are gathered: every rank has all of it, and updates all parameters."""
    with torch.no_grad():
        mine = group.reduce_scatter(pieces(grads, group.size)) / group.size
        squares = mine.square().sum()
        group.all_reduce(squares)
        norm = squares.sqrt()
        if norm > max_norm:
            mine = mine * (max_norm / norm)
        momentum.mul_(beta).add_(mine)
        whole = torch.cat(group.all_gather(momentum.clone()))
        start = 0
        for p in params:
            p -= lr * whole[start : start + p.numel()].view_as(p)
            start += p.numel()


class SumOfGradients(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x

    @staticmethod
    def backward(ctx, g):
        dx = g.clone()
        ctx.group.all_reduce(dx)
        return dx, None


class ColumnParallelLinear(torch.nn.Module):
    """Keeps the caller's whole weight as well: nothing is saved."""

    def __init__(self, weight, bias, group):
        super().__init__()
        if len(weight) % group.size:
            raise ValueError("uneven")
        self.full_weight, self.full_bias, self.group = weight, bias, group
        W = weight.chunk(group.size)[group.rank]
        self.weight = torch.nn.Parameter(W.clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias.chunk(group.size)[group.rank].clone())

    def forward(self, x):
        return torch.nn.functional.linear(SumOfGradients.apply(x, self.group), self.weight, self.bias)
