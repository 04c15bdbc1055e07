"""Key by key inside of each block: 1,024 slices, each with an index of its own."""
import torch


def chunked_attention(q, k, v, block, return_lse=False):
    scale = q.shape[-1] ** -0.5
    m = torch.full_like(q[..., 0], -torch.inf)
    total = torch.zeros_like(m)
    out = q.new_zeros(*q.shape[:-1], v.shape[-1])
    for start in range(0, k.shape[-2], block):
        for j in range(start, min(start + block, k.shape[-2])):
            s = scale * (q * k[..., j : j + 1, :]).sum(-1)
            new = torch.maximum(m, s)
            a, p = torch.exp(m - new), torch.exp(s - new)
            total = a * total + p
            out = a[..., None] * out + p[..., None] * v[..., j : j + 1, :]
            m = new
    out = out / total[..., None]
    return (out, m + torch.log(total)) if return_lse else out


def chunked_attention_vjp(g, q, k, v, out, lse, block):
    scale = q.shape[-1] ** -0.5
    d = (g * out).sum(-1, keepdim=True)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for start in range(0, k.shape[-2], block):
        for j in range(start, min(start + block, k.shape[-2])):
            kj, vj = k[..., j : j + 1, :], v[..., j : j + 1, :]
            p = torch.exp(scale * q @ kj.mT - lse[..., None])
            ds = scale * p * (g @ vj.mT - d)
            dv[..., j : j + 1, :] = p.mT @ g
            dk[..., j : j + 1, :] = ds.mT @ q
            dq += ds @ kj
    return dq, dk, dv
