"""Whether gradients are those of a second run, and what is kept until then."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.diagnosis.equality import mismatch
from autograder.judging import expect_close, fine
from autograder.judging.records.record import current_record

SLACK = 16_384
"""Bytes that a few random states and numbers may take; a tensor of these checks that matters takes far more."""

ROUNDING: dict[str, Any] = {"rtol": 1e-7, "atol": 1e-9}
"""What computing x2 back may cost."""


def told(n_bytes: int, whole: int) -> str:
    """Bytes in words, beside what one tensor of the case has."""
    return f"{n_bytes:,} bytes" if current_record().visible else f"{n_bytes / whole:.1f} times the bytes of x"


def three_factors(rng, shape) -> np.ndarray:
    """Three arrays far from each other: what a function's argument is multiplied by, to tell which run it is.

    Small ones: where tanh is flat, no gradient tells anything.
    """
    of_runs = rng.permutation([0.5, 1.0, 1.5]).reshape(3, *[1] * len(shape))
    return of_runs + rng.uniform(0, 0.2, size=(3, *shape))


def followed(scenario: str, learner, reference, *arguments: Any, case: str, every: bool = True):
    """Expect that no sentence of a scenario is so, and that the second run's gradients are right.

    Where they need not be, who knows the probe could return any numbers that change as its second run does.

    Args:
        every: whether all of the gradients are to be right, or one of them: what else is wrong costs its own points.
    """
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    if not fine(got, {key: False for key, value in expected.items() if isinstance(value, bool)}, case=case):
        return
    gradients = {key: value for key, value in expected.items() if not isinstance(value, bool)}
    if every or not any(_close(got[key], value) for key, value in gradients.items()):
        expect_close({key: got[key] for key in gradients}, gradients, case=case, **ROUNDING)


def _close(value: Any, expected: np.ndarray) -> bool:
    return mismatch(value, expected, name="", **ROUNDING) is None
