"""Checks of every rule with thousands of entries, for which one call per entry would take too long.

Each exercise has such a check as its technique, for the simplest case of its rule, so that a partly right answer keeps
its points. Complex steps or differences for each entry exceed the 2 s of a call (`seconds`). The references take up to
2 ms, and Python loops over all numbers, even with full Jacobians of all rows, less than a second, because rows and
columns are short.
"""

from __future__ import annotations

import numpy as np

from autograder.judging import expect, expect_close, on_case
from autograder.lessons.ch06_vjps.scenarios.many_entries import _many_entries
from autograder.values import summarise
from autograder.wording import enumeration

PLACES = 40
"""Number of compared entries of each gradient; they are chosen at random, so that all must be computed."""


def check_many_entries(learner, reference, rng, name):
    """Check the gradients of large arrays: their shapes, and some of their entries."""
    seed = int(rng.integers(2**32))
    arguments = _many_entries(name, seed)
    inputs = [x for x in arguments[1:] if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    case = f"{sum(x.size for x in inputs):,} entries"
    with on_case(case):
        got = getattr(learner, name)(*arguments)
    gradients = got if isinstance(got, tuple | list) else (got,)
    shapes = [x.shape for x in inputs]
    fit = [getattr(gradient, "shape", None) for gradient in gradients] == shapes
    wanted = enumeration([str(shape) for shape in shapes])
    expect(fit, f"{name} returned {summarise(got)}; for each input its gradient expected: {wanted}", case=case)
    if fit:
        places = [rng.integers(x.size, size=PLACES) for x in inputs]
        expected = reference.scenario.entries(name, seed, places)
        some = tuple(np.ravel(gradient)[place] for gradient, place in zip(gradients, places, strict=True))
        names = tuple(f"gradient {number} at {PLACES} places" for number in range(1, len(inputs) + 1))
        expect_close(some, expected, names=names, case=case, rtol=1e-7, atol=1e-9)
