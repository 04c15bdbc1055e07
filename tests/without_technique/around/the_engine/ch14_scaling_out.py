"""Gradients of blocks by autograd, and PyTorch's engine without the functions that call it."""

import torch

ENGINE = torch.autograd.Variable._execution_engine


def chunked_attention_vjp(g, q, k, v, out, lse, block):
    delta = (g * out).sum(-1, keepdim=True)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for start in range(0, k.shape[-2], block):
        part = slice(start, start + block)
        with torch.enable_grad():
            leaves = [t.detach().requires_grad_() for t in (q, k[..., part, :], v[..., part, :])]
            s = leaves[0] @ leaves[1].mT / q.shape[-1] ** 0.5
            p = torch.exp(s - lse[..., None])
            goal = (g * (p @ leaves[2])).sum() - (p * delta).sum()
        one = torch.ones_like(goal)
        grads = ENGINE.run_backward((goal,), (one,), False, False, tuple(leaves), True, False)
        dq += grads[0]
        dk[..., part, :] = grads[1]
        dv[..., part, :] = grads[2]
    return dq, dk, dv
