"""Scenarios of largest_batch."""

from __future__ import annotations

from typing import Any

from autograder.lessons.ch10_activation_memory.scenarios.sizes import _config


def batch(
    submission: Any,
    hidden: int,
    layers: int,
    heads: int,
    kv_heads: int,
    ffn: int,
    vocab: int,
    s: int,
    gpu_bytes: int,
    recompute: str,
) -> Any:
    """`largest_batch` of a configuration."""
    config = _config(hidden, layers, heads, kv_heads, ffn, vocab)
    return submission.largest_batch(config, s, gpu_bytes, recompute)
