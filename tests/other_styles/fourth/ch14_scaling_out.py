"""A layer that holds nn.Linear."""
import math
from collections import namedtuple
from fractions import Fraction
from itertools import groupby

import torch
import torch.nn.functional as F
from torch import nn


def all_reduce_gradients(model, group, n_local):
    counts = [int(t) for t in group.all_gather(torch.tensor(n_local))]
    shares = [n / sum(counts) for n in counts]
    for p in filter(lambda p: p.requires_grad, model.parameters()):
        mine = torch.zeros_like(p) if p.grad is None else p.grad.detach().clone()
        parts = group.all_gather(mine)
        p.grad = sum((share * g for share, g in zip(shares, parts) if share), start=torch.zeros_like(p))


def bucketed_all_reduce(grads, bucket_bytes, all_reduce):
    def number_buckets():
        number, room, dtype = 0, 0, None
        for g in grads:
            size = g.numel() * g.element_size()
            if g.dtype != dtype or size > room:
                number, room, dtype = number + 1, bucket_bytes, g.dtype
            room -= size
            yield number, g

    out = []
    for _, items in groupby(number_buckets(), key=lambda pair: pair[0]):
        bucket = [g for _, g in items]
        message = torch.cat(list(map(torch.ravel, bucket)))
        all_reduce(message)
        out.extend(torch.split(message, [g.numel() for g in bucket]))
    return [o.reshape(g.shape) for o, g in zip(out, grads)]


class SumBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.clone(memory_format=torch.contiguous_format)
        ctx.group.all_reduce(g)
        return g, None


class ColumnParallelLinear(nn.Linear):
    def __init__(self, weight, bias, group):
        n_out, n_in = weight.shape
        if n_out % group.size:
            raise ValueError(f"{n_out} outputs, {group.size} ranks")
        super().__init__(n_in, n_out // group.size, bias=bias is not None, dtype=weight.dtype)
        rows = slice(group.rank * self.out_features, (group.rank + 1) * self.out_features)
        with torch.no_grad():
            self.weight.copy_(weight[rows])
            if bias is not None:
                self.bias.copy_(bias[rows])
        self.group = group

    def forward(self, x):
        return super().forward(SumBackward.apply(x, self.group))


class RowParallelLinear(nn.Linear):
    def __init__(self, weight, bias, group):
        n_out, n_in = weight.shape
        if n_in % group.size:
            raise ValueError(f"{n_in} inputs, {group.size} ranks")
        super().__init__(n_in // group.size, n_out, bias=bias is not None, dtype=weight.dtype)
        k = self.in_features
        self.load_state_dict({"weight": weight[:, group.rank * k : (group.rank + 1) * k], **({} if bias is None else {"bias": bias})})
        self.group = group

    def forward(self, x):
        y = F.linear(x, self.weight)
        self.group.all_reduce(y.data)
        return y if self.bias is None else y + self.bias


Attention = namedtuple("Attention", "out lse")


def chunked_attention(q, k, v, block, return_lse=False):
    scale = q.shape[-1] ** -0.5

    def go(a, b):
        if b - a <= block:
            s = (q * scale) @ k[..., a:b, :].mT
            lse = s.logsumexp(-1)
            return s.sub_(lse.unsqueeze(-1)).exp_() @ v[..., a:b, :], lse
        m = a + (((b - a) // block + 1) // 2) * block
        left, l = go(a, m)
        right, r = go(m, b)
        lse = torch.logaddexp(l, r)
        return left * (l - lse).exp().unsqueeze(-1) + right * (r - lse).exp().unsqueeze(-1), lse

    found = Attention(*go(0, k.shape[-2]))
    return found if return_lse else found.out


def chunked_attention_vjp(g, q, k, v, out, lse, block):
    n = k.shape[-2]
    scale = 1 / math.sqrt(q.shape[-1])
    cuts = [slice(a, min(a + block, n)) for a in range(0, n, block)]

    def p_dp(c):
        p = torch.exp(scale * q @ k[..., c, :].mT - lse[..., None])
        return p, g @ v[..., c, :].mT

    D = sum((p * dp).sum(-1, keepdim=True) for p, dp in map(p_dp, cuts))  # two passes: out is not needed
    dq, dk, dv = map(torch.zeros_like, (q, k, v))
    for c in cuts:
        p, dp = p_dp(c)
        ds = p * (dp - D) * scale
        dq += ds @ k[..., c, :]
        dk[..., c, :] = ds.mT @ q
        dv[..., c, :] = p.mT @ g
    return dq, dk, dv


def zero_bytes_per_rank(n_params, ranks, stage):
    try:
        cut = {0: (), 1: "o", 2: "og", 3: "ogw"}[stage]
    except KeyError:
        raise ValueError(f"stage {stage}") from None
    return float(sum(Fraction(size * n_params, ranks if name in cut else 1) for name, size in zip("wgo", (2, 2, 12))))


def pipeline_bubble(stages, microbatches):
    ends = [0] * stages
    for _ in range(microbatches):
        t = 0
        for s in range(stages):
            t = ends[s] = max(t, ends[s]) + 1
    return (ends[-1] - microbatches) / ends[-1]



class ColumnParallelLinear(nn.Module):
    def __init__(self, weight, bias, group):
        super().__init__()
        parts = torch.tensor_split(weight.detach(), group.size) if weight.shape[0] % group.size == 0 else None
        if parts is None:
            raise ValueError('no')
        self.inner = nn.Linear(weight.shape[1], weight.shape[0] // group.size, bias=bias is not None, dtype=weight.dtype, device='meta')
        self.inner.weight = nn.Parameter(parts[group.rank].clone())
        if bias is not None:
            self.inner.bias = nn.Parameter(torch.tensor_split(bias.detach(), group.size)[group.rank].clone())
        self.group = group
    weight = property(lambda self: self.inner.weight)
    bias = property(lambda self: self.inner.bias)
    def forward(self, x):
        return self.inner(SumBackward.apply(x, self.group))
