"""Random sizes of models."""

from __future__ import annotations

RECOMPUTE = ("none", "selective", "full")


def sizes(rng, low: int = 1, high: int = 6) -> dict[str, int]:
    """Sizes of a Llama with head dimension 16, 32 or 64, and fewer key than query heads."""
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
