"""Right attention and right gradients, with the whole matrix of scores."""

import torch


def chunked_attention(q, k, v, block, return_lse=False):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    out = torch.softmax(scores, dim=-1) @ v
    return (out, torch.logsumexp(scores, dim=-1)) if return_lse else out


def chunked_attention_vjp(g, q, k, v, out, lse, block):
    p = torch.exp(q @ k.mT / q.shape[-1] ** 0.5 - lse[..., None])
    ds = p * (g @ v.mT - (g * out).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
    return ds @ k, ds.mT @ q, p.mT @ g
