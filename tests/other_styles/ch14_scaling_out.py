"""Right work with one message for all gradients, hooks in place of Functions, and attention by weights of blocks."""

import math

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector


def all_reduce_gradients(model, group, n_local):
    wanted = [p for p in model.parameters() if p.requires_grad]
    rows = torch.tensor([float(n_local)])
    group.all_reduce(rows)
    for dtype in dict.fromkeys(p.dtype for p in wanted):
        same = [p for p in wanted if p.dtype is dtype]
        known = [p.grad if n_local and p.grad is not None else torch.zeros_like(p) for p in same]
        mean = parameters_to_vector(known) * (n_local / rows.item())
        group.all_reduce(mean)
        for p, piece in zip(same, mean.split([p.numel() for p in same])):
            p.grad = piece.view_as(p).clone()


def bucketed_all_reduce(grads, bucket_bytes, all_reduce):
    results = [None] * len(grads)
    i = 0
    while i < len(grads):
        j, used = i + 1, grads[i].nbytes
        while j < len(grads) and grads[j].dtype is grads[i].dtype and used + grads[j].nbytes <= bucket_bytes:
            used += grads[j].nbytes
            j += 1
        bucket = grads[i].new_empty(used // grads[i].element_size())
        at = 0
        for n in range(i, j):
            results[n] = bucket[at : at + grads[n].numel()].view(grads[n].shape)
            results[n].copy_(grads[n])
            at += grads[n].numel()
        all_reduce(bucket)
        i = j
    return tuple(results)


class Part(nn.Module):
    def __init__(self, weight, bias, group, axis):
        super().__init__()
        if weight.size(axis) % group.size != 0:
            raise ValueError("uneven")
        self.group = group
        self.weight = nn.Parameter(weight.detach().chunk(group.size, dim=axis)[group.rank].clone())
        if bias is None:
            self.register_parameter("bias", None)
        else:
            self.bias = nn.Parameter((bias.detach().chunk(group.size)[group.rank] if axis == 0 else bias.detach()).clone())


class ColumnParallelLinear(Part):
    def __init__(self, weight, bias, group):
        super().__init__(weight, bias, group, 0)

    def forward(self, x):
        if x.requires_grad:
            x = x.view_as(x)
            x.register_hook(self.summed)
        y = x @ self.weight.T
        return y if self.bias is None else y + self.bias

    def summed(self, g):
        g = g.clone()
        self.group.all_reduce(g)
        return g


class RowParallelLinear(Part):
    def __init__(self, weight, bias, group):
        super().__init__(weight, bias, group, 1)

    def forward(self, x):
        y = torch.einsum("...i,oi->...o", x, self.weight)
        self.group.all_reduce(y)
        if self.bias is not None:
            y = y + self.bias
        return y


def chunked_attention(q, k, v, block, return_lse=False):
    root = math.sqrt(q.size(-1))
    out = lse = None
    for keys, values in zip(k.split(block, dim=-2), v.split(block, dim=-2)):
        scores = torch.einsum("...id,...jd->...ij", q, keys) / root
        here = scores.logsumexp(-1)
        part = scores.softmax(-1) @ values
        if out is None:
            out, lse = part, here
            continue
        both = torch.logaddexp(lse, here)
        out = (lse - both).exp()[..., None] * out + (here - both).exp()[..., None] * part
        lse = both
    if return_lse:
        return [out, lse]
    return out


def chunked_attention_vjp(g, q, k, v, out, lse, block):
    root = math.sqrt(q.size(-1))
    dq, dks, dvs = 0, [], []
    rows = torch.einsum("...id,...id->...i", g, out)
    for keys, values in zip(k.split(block, -2), v.split(block, -2)):
        p = (torch.einsum("...id,...jd->...ij", q, keys) / root).sub_(lse[..., None]).exp_()
        dvs.append(torch.einsum("...ij,...id->...jd", p, g))
        ds = torch.einsum("...id,...jd->...ij", g, values).sub_(rows[..., None]).mul_(p).div_(root)
        dks.append(torch.einsum("...ij,...id->...jd", ds, q))
        dq = dq + torch.einsum("...ij,...jd->...id", ds, keys)
    return [dq, torch.cat(dks, -2), torch.cat(dvs, -2)]


def zero_bytes_per_rank(n_params, ranks, stage):
    if stage == 0:
        return 16.0 * n_params
    whole = {1: 4, 2: 2, 3: 0}
    if stage not in whole:
        raise ValueError(stage)
    return n_params * (whole[stage] + (16 - whole[stage]) / ranks)


def pipeline_bubble(stages, microbatches):
    steps = microbatches + stages - 1
    return 1 - microbatches / steps
