"""Compares programs by their losses, step by step, and their trained parameters.

A program is compared with the right one on the check's own models and data. A repair that only hides the symptom gives
other numbers. Right repairs differ only by rounding; each tolerance says by how much they differed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.diagnosis.equality import wrong_entries
from autograder.judging import expect, expect_close, fine

RUN: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-5}
"""For float32 programs of some ten steps. The repairs of tests/test_repairs.py differed by less than 1e-5."""


def rate(rng, lr):
    """A random learning rate near `lr`, which differs from any that a program hard-codes."""
    return float(lr * rng.uniform(0.8, 1.2))


KEPT = "(A repair changes nothing but the bug: not the learning rate, not the data, not the number of steps.)"
SERIES = ("losses", "spreads", "validation losses")


def same_run(got, expected, *, case, **tolerance):
    """Expect the losses of the right program, step by step, then the scenario's other results."""
    tolerance = tolerance or RUN
    if not fine(got, expected, case=case):
        return
    for name in (name for name in SERIES if name in expected):
        problem = told_of_series(name, got[name], expected[name], **tolerance)
        expect(problem is None, problem or "", case=case)
    for name, value in expected.items():
        if not isinstance(value, bool):
            expect_close(got[name], value, names=(name,), case=case, **tolerance)


def told_of_series(name, got, expected, *, rtol, atol):
    """A sentence that says where a program's numbers first differ from the right ones; None if they do not."""
    one = {"losses": "loss", "spreads": "spread", "validation losses": "validation loss"}[name]
    if not isinstance(got, np.ndarray):
        return f"The {name} are no list of numbers where one is expected."
    if got.shape != expected.shape:
        there = f"There is {got.size} {one}" if got.size == 1 else f"There are {got.size} {name}"
        return f"{there}; {expected.size} expected. Every step counts, and no other."
    wrong = wrong_entries(got, expected, rtol=rtol, atol=atol)
    if not wrong.any():
        return None
    first = int(wrong.argmax()) + 1
    value = (
        "nan" if np.isnan(got[first - 1]) else "inf" if np.isinf(got[first - 1]) else "not that of the right program"
    )
    if first == 1 and name == "losses":
        return (
            f"The first {one} is {value}, and no step comes before it. Does the program compute another loss, or "
            f"change the data or the model, or note the loss only after the step? {KEPT}"
        )
    if first == 1:
        return f"The first {one} is {value}."
    nearly = wrong_entries(got[: first - 1], expected[: first - 1], rtol=rtol / 30, atol=atol)
    if nearly.any() and rtol <= RUN["rtol"]:  # in half precision, right losses are that far apart
        return f"The {name} are not those of the right program, though the first few are close. {KEPT}"
    before = f"The first {one} is" if first == 2 else f"The first {first - 1} {name} are"
    return f"{before} right. Number {first} is {value}: look at the step in between. {KEPT}"


def run(scenario, learner, reference, *arguments, case, **tolerance):
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    same_run(got, expected, case=case, **tolerance)


MEASURED = "bytes", "outlived", "returned graphs", "the dtype of the matrix products"
"""Keys of results that scenarios measure besides the program's own."""


def values_of(answer):
    """A scenario's answer without `MEASURED`, which is for checks of the technique."""
    return {name: value for name, value in answer.items() if name not in MEASURED}


def same_values(scenario, learner, reference, *arguments, case, **tolerance):
    expected, got = (values_of(getattr(who.scenario, scenario)(*arguments)) for who in (reference, learner))
    same_run(got, expected, case=case, **tolerance)
