"""Sizes of models, drawn."""

from __future__ import annotations

RECOMPUTE = ("none", "selective", "full")


def sizes(rng, low: int = 1, high: int = 6) -> dict[str, int]:
    """A Llama whose heads have 16, 32 or 64 dimensions, and fewer heads of keys than of queries."""
    kv_heads = int(rng.integers(low, high))
    heads = kv_heads * int(rng.integers(2, 5))
    hidden = heads * int(rng.choice([16, 32, 64]))
    return {
        "hidden": hidden,
        "layers": int(rng.integers(2, 30)),
        "heads": heads,
        "kv_heads": kv_heads,
        "ffn": int(hidden * rng.uniform(2.2, 3.8)),
        "vocab": int(rng.integers(500, 5000)),
    }
