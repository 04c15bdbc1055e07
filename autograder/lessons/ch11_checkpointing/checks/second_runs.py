"""Checks whether gradients come from a second run, and how much memory is kept until then."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.diagnosis.equality import mismatch
from autograder.judging import expect_close, fine
from autograder.judging.records.record import current_record

SLACK = 16_384
"""Bytes allowed for random states and numbers; the tensors that these checks look for take far more."""

ROUNDING: dict[str, Any] = {"rtol": 1e-7, "atol": 1e-9}
"""Tolerance for rounding when x2 is recomputed from the outputs."""


def told(n_bytes: int, whole: int) -> str:
    """Bytes in words, on hidden inputs relative to the bytes of one tensor."""
    return f"{n_bytes:,} bytes" if current_record().visible else f"{n_bytes / whole:.1f} times the bytes of x"


def three_factors(rng, shape) -> np.ndarray:
    """Three clearly different arrays of factors for a function's argument, which identify the run.

    They are small, because gradients vanish where tanh is flat.
    """
    of_runs = rng.permutation([0.5, 1.0, 1.5]).reshape(3, *[1] * len(shape))
    return of_runs + rng.uniform(0, 0.2, size=(3, *shape))


def followed(scenario: str, learner, reference, *arguments: Any, case: str, every: bool = True):
    """Expect that no sentence of a scenario is true, and that the second run's gradients are right.

    Without the latter, a submission that knows the probe could return any numbers that change with its second run.

    Args:
        every: all gradients must be right; False: at least one, because other mistakes cost points elsewhere.
    """
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    if not fine(got, {key: False for key, value in expected.items() if isinstance(value, bool)}, case=case):
        return
    gradients = {key: value for key, value in expected.items() if not isinstance(value, bool)}
    if every or not any(_close(got[key], value) for key, value in gradients.items()):
        expect_close({key: got[key] for key in gradients}, gradients, case=case, **ROUNDING)


def _close(value: Any, expected: np.ndarray) -> bool:
    return mismatch(value, expected, name="", **ROUNDING) is None
