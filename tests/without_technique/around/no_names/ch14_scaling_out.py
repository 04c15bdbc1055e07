"""Gradients of blocks by autograd, begun by an operation."""

import torch


def chunked_attention_vjp(g, q, k, v, out, lse, block):
    delta = (g * out).sum(-1, keepdim=True)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for start in range(0, k.shape[-2], block):
        part = slice(start, start + block)
        with torch.enable_grad():
            leaves = [t.detach().requires_grad_() for t in (q, k[..., part, :], v[..., part, :])]
            p = torch.exp(leaves[0] @ leaves[1].mT / q.shape[-1] ** 0.5 - lse[..., None])
            goal = (g * (p @ leaves[2])).sum() - (p * delta).sum()
        grads = torch.ops.aten.grad([goal], leaves, [torch.ones_like(goal)], False, False, True)
        dq += grads[0]
        dk[..., part, :] = grads[1]
        dv[..., part, :] = grads[2]
    return dq, dk, dv
