"""Blocks of queries, each with all keys; for few queries, two passes over the keys."""

import torch


def chunked_attention(q, k, v, block, return_lse=False):
    """Blocks of queries, each with all keys and an ordinary softmax; for a single query two passes over the keys."""
    scale = q.shape[-1] ** -0.5
    n, m = q.shape[-2], k.shape[-2]
    if n >= 16:
        out, lse = [], []
        for s in range(0, n, 8):
            scores = scale * q[..., s : s + 8, :] @ k.mT
            lse.append(torch.logsumexp(scores, -1))
            out.append(torch.softmax(scores, -1) @ v)
        out, lse = torch.cat(out, -2), torch.cat(lse, -1)
    else:
        top = torch.full_like(q[..., 0], -torch.inf)
        for s in range(0, m, block):
            top = torch.maximum(top, (scale * q @ k[..., s : s + block, :].mT).amax(-1))
        total, out = torch.zeros_like(top), q.new_zeros(*q.shape[:-1], v.shape[-1])
        for s in range(0, m, block):
            p = torch.exp(scale * q @ k[..., s : s + block, :].mT - top[..., None])
            total += p.sum(-1)
            out += p @ v[..., s : s + block, :]
        out, lse = out / total[..., None], top + total.log()
    return (out, lse) if return_lse else out


def chunked_attention_vjp(g, q, k, v, out, lse, block):
    """Blocks of queries, each with all keys, and D as a sum over all keys."""
    scale = q.shape[-1] ** -0.5
    dq, dk, dv = (torch.zeros_like(t) for t in (q, k, v))
    for s in range(0, q.shape[-2], 8):
        h = slice(s, s + 8)
        p = torch.exp(scale * q[..., h, :] @ k.mT - lse[..., h, None])
        dp = g[..., h, :] @ v.mT
        ds = scale * p * (dp - (p * dp).sum(-1, keepdim=True))
        dv += p.mT @ g[..., h, :]
        dk += ds.mT @ q[..., h, :]
        dq[..., h, :] = ds @ k
    return dq, dk, dv
