"""Scenarios of chunked_attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch14_scaling_out.scenarios.attention_in_blocks import _within


@torch.enable_grad()
def memory_of_attention(submission: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int) -> dict[str, Any]:
    """Whether more numbers are alive at one time than a quarter of the matrix of scores."""
    tensors = [torch.tensor(value) for value in (q, k, v)]
    limit = len(q) * len(k) * q.itemsize // 4
    shapes = {"out": (len(q), v.shape[-1]), "lse": (len(q),)}
    pairs = len(q) * len(k)
    return _within(limit, pairs, lambda *x: submission.chunked_attention(*x, block, return_lse=True), tensors, shapes)
