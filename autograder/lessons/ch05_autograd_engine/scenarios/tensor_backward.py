"""Scenarios of Tensor.backward."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np

from autograder.lessons.ch05_autograd_engine.scenarios.engine import has_its_own_tape


def vjp_calls(submission: Any, rungs: int) -> list[int]:
    """How often one backward pass calls each VJP of a ladder, in which each rung uses the one below it twice."""
    calls = [0] * (2 * rungs)

    def counting(number: int) -> Any:
        def vjp(g: Any) -> Any:
            calls[number] += 1
            return 0.5 * g

        return vjp

    y = submission.Tensor(np.ones(1), requires_grad=True)
    for rung in range(rungs):
        y = submission.record(y.data + 1.0, (y, counting(2 * rung)), (y, counting(2 * rung + 1)))
    y.backward()
    return calls


def alive(submission: Any, operations: int) -> dict[str, int]:
    """How many arrays and VJPs of a chain are alive before a backward pass, at its first operation, and after the pass.

    The backward pass reaches the first operation last. The result is kept alive throughout.
    """
    arrays: list[Any] = []
    vjps: list[Any] = []
    counts: dict[str, int] = {}

    def count(when: str) -> None:
        if f"arrays {when}" not in counts:
            gc.collect()
            counts[f"arrays {when}"] = sum(array() is not None for array in arrays)
            counts[f"vjps {when}"] = sum(vjp() is not None for vjp in vjps)

    def probe(g: Any) -> Any:
        count("at the lower end")
        return g

    own = has_its_own_tape(submission)
    x = submission.Tensor(np.full(3, 0.5), requires_grad=True)
    y = x + 0.0 if own else submission.record(x.data + 0.0, (x, probe))
    for _ in range(operations):
        y = (y * y).tanh()
        arrays.append(weakref.ref(y.data))
        if not own:
            vjps.append(weakref.ref(y.edges[0][1]))
    y = y.sum()
    count("before")
    y.backward()
    count("after")
    if own:  # its walk cannot be intercepted
        count("at the lower end")
    return counts
