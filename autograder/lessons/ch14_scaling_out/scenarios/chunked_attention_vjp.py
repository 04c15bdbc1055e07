"""Scenarios of chunked_attention_vjp."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch14_scaling_out.scenarios.attention_in_blocks import _attention, _within

RECORDED = "Autograd records operations: the gradients are to be computed by their formulas, block by block"


@torch.enable_grad()
def memory_of_the_gradients(
    submission: Any, g: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int
) -> dict[str, Any]:
    """Like `memory_of_attention`, for the backward pass."""
    q_, k_, v_, g_ = map(torch.tensor, (q, k, v, g))
    out, lse = _attention(q_, k_, v_)
    shapes = {"dq": q.shape, "dk": k.shape, "dv": v.shape}
    given, counts = (g_, q_, k_, v_, out, lse), (q.shape[-2], k.shape[-2], block)
    recorded: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        recorded.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        found = _within(counts, lambda *x: submission.chunked_attention_vjp(*x, block), given, shapes)
    return {**found, RECORDED: bool(recorded)}
