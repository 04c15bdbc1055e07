"""A layer with a mixture of experts, to compare what a learner predicts with what PyTorch saves (chapter 10)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def expert_layer(x: Tensor, router: Tensor, gate: Tensor, up: Tensor, down: Tensor, k: int) -> Tensor:
    """Each token's k experts, chosen by a router: the sum of their SwiGLUs, each times its share.

    Args:
        x: `(n, h)`.
        router: `(h, experts)`.
        gate, up: `(experts, h, f)`.
        down: `(experts, f, h)`.
        k: how many experts a token has.
    """
    share, chosen = (x @ router).softmax(-1).topk(k)
    y = torch.zeros_like(x)
    for e in range(len(gate)):
        row, place = (chosen == e).nonzero(as_tuple=True)
        z = x[row]
        out = (F.silu(z @ gate[e]) * (z @ up[e])) @ down[e]
        y = y.index_put((row,), out * share[row, place, None], accumulate=True)
    return y
