"""Scenarios of chunked_attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch14_scaling_out.scenarios.attention_in_blocks import _within


@torch.enable_grad()
def memory_of_attention(submission: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int) -> dict[str, Any]:
    """Whether more numbers are alive at one time than a quarter of the scores, and the keys come in blocks."""
    tensors = [torch.tensor(value) for value in (q, k, v)]
    shapes = {"out": (*q.shape[:-1], v.shape[-1]), "lse": q.shape[:-1]}
    call = lambda *x: submission.chunked_attention(*x, block, return_lse=True)  # noqa: E731
    return _within((q.shape[-2], k.shape[-2], block), call, tensors, shapes)
