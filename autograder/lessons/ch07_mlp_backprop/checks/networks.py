"""Random networks of two layers, and their forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import expect

SHAPES = {  # what kind of network: (n, d, m, o), smallest first
    "one number everywhere": (1, 1, 1, 1),
    "one row": (1, 3, 4, 2),
    "one hidden unit": (3, 2, 1, 2),
    "one output": (4, 3, 2, 1),
    "square layers": (3, 3, 3, 3),
    "a batch": (6, 5, 4, 3),
}


def random_params(rng, d, m, o, dtype=np.float64):
    """Parameters with every entry random and no bias zero."""
    shapes = {"W1": (d, m), "b1": (m,), "W2": (m, o), "b2": (o,)}
    return {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}


def run_forward(learner, *arguments, case) -> tuple[Any, Any] | None:
    """The learner's `(logits, cache)`; None, with a message recorded, if `forward` returned something else."""
    result = learner.forward(*arguments)
    is_pair = isinstance(result, tuple | list) and len(result) == 2
    expect(is_pair, "forward must return two things, (logits, cache)", case=case)
    return tuple(result) if is_pair else None


def named(kind):
    """The parameters of a row of kinds, in a dict."""
    return dict(zip(("W1", "b1", "W2", "b2"), kind.drawn["params"], strict=True))
