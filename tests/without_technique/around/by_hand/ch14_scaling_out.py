"""Gradients of blocks from the nodes of their graphs, called one by one."""

import torch


def collect(node, g, found):
    if hasattr(node, "variable"):
        found[node.variable] = found.get(node.variable, 0) + g
        return
    parts = node(g)
    parts = parts if isinstance(parts, tuple) else (parts,)
    for (one, _), part in zip(node.next_functions, parts, strict=True):
        if one is not None and part is not None:
            collect(one, part, found)


def chunked_attention_vjp(g, q, k, v, out, lse, block):
    delta = (g * out).sum(-1, keepdim=True)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for start in range(0, k.shape[-2], block):
        part = slice(start, start + block)
        with torch.enable_grad():
            leaves = [t.detach().requires_grad_() for t in (q, k[..., part, :], v[..., part, :])]
            p = torch.exp(leaves[0] @ leaves[1].mT / q.shape[-1] ** 0.5 - lse[..., None])
            goal = (g * (p @ leaves[2])).sum() - (p * delta).sum()
        found = {}
        collect(goal.grad_fn, torch.ones_like(goal), found)
        dq += found[leaves[0]]
        dk[..., part, :] = found[leaves[1]]
        dv[..., part, :] = found[leaves[2]]
    return dq, dk, dv
