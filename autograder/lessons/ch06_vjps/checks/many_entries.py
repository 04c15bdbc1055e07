"""Checks of every rule with thousands of entries, for which one call per entry would take too long.

Each exercise has such a check as its technique, for the simplest case of its rule, so that a partly right answer keeps
its points. A call has 2 s (`seconds`), and one forward pass for each entry takes about 4 s or more of a processor, on
a unit array where the rule is linear, on differences or complex steps elsewhere. The references take a few
milliseconds, and Python loops over all numbers, even with full Jacobians of all rows, about a second, because rows and
columns are short.
"""

from __future__ import annotations

import numpy as np

from autograder.judging import expect, expect_close, on_case
from autograder.lessons.ch06_vjps.scenarios.many_entries import _many_entries
from autograder.wording import enumeration

PLACES = 40
"""Entries of each gradient that are compared."""


def check_many_entries(learner, reference, rng, name):
    """Check the gradients of large arrays: their shapes, and some of their entries."""
    seed = int(rng.integers(2**32))
    inputs = [x for x in _many_entries(name, seed)[1:] if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    places = [rng.integers(x.size, size=PLACES) for x in inputs]
    case = f"{sum(x.size for x in inputs):,} entries"
    with on_case(case):
        shapes, some = learner.scenario.shapes(name, seed), learner.scenario.entries(name, places)
    wanted, expected = reference.scenario.shapes(name, seed), reference.scenario.entries(name, places)
    said = f"{name} returned {_listed(shapes)}; for each input its gradient expected: {_listed(wanted)}"
    expect(shapes == wanted, said, case=case, of_values=True)
    if shapes == wanted and some:
        names = tuple(f"gradient {number} at {PLACES} places" for number in range(1, len(inputs) + 1))
        expect_close(tuple(some), tuple(expected), names=names, case=case, rtol=1e-7, atol=1e-9)


def _listed(shapes):
    words = [f"an array of shape {shape}" if isinstance(shape, tuple) else shape for shape in shapes]
    return enumeration(words) if words else "nothing"
