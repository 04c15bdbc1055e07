"""Sizes of a model as an object."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

SIZES = "hidden", "layers", "heads", "kv_heads", "ffn", "vocab"


def _config(*sizes: int) -> SimpleNamespace:
    return SimpleNamespace(**dict(zip(SIZES, sizes, strict=True)))


def block_bytes(
    submission: Any,
    hidden: int,
    layers: int,
    heads: int,
    kv_heads: int,
    ffn: int,
    vocab: int,
    s: int,
    b: int,
    recompute: str,
) -> Any:
    """`llama_block_bytes` of a configuration; its sizes are arguments, so that feedback shows them."""
    config = _config(hidden, layers, heads, kv_heads, ffn, vocab)
    return submission.llama_block_bytes(config, s, b, recompute)
