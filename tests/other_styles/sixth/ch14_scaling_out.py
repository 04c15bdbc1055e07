"""A list of rows, one query at a time, each with sums that begin as `torch.tensor`."""
import math
import torch


def chunked_attention(q, k, v, block, return_lse=False):
    if q.ndim > 2:
        pairs = [chunked_attention(*qkv, block, True) for qkv in zip(q, k, v)]
        out, lse = map(torch.stack, zip(*pairs))
        return (out, lse) if return_lse else out
    rows, sums = [], []
    for i in range(q.shape[0]):
        m, total, acc = torch.tensor(-math.inf, dtype=q.dtype), torch.tensor(0.0, dtype=q.dtype), torch.zeros_like(v[0])
        for start in range(0, k.shape[0], block):
            s = k[start : start + block] @ q[i] / math.sqrt(q.shape[-1])
            new = torch.maximum(m, s.max())
            p, a = torch.exp(s - new), torch.exp(m - new)
            total = a * total + p.sum()
            acc = a * acc + p @ v[start : start + block]
            m = new
        rows.append(acc / total)
        sums.append(m + torch.log(total))
    out, lse = torch.stack(rows), torch.stack(sums)
    return (out, lse) if return_lse else out
