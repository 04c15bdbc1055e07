"""Checks of fix_11."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import exercise, expect, expect_close
from autograder.lessons.ch12_debugging.checks.models import classification, layers
from autograder.lessons.ch12_debugging.checks.programs import rate, same_values
from autograder.lessons.ch12_debugging.checks.tolerances import IDENTICAL

HALF: dict[str, Any] = {"rtol": 1e-2, "atol": 5e-3}
"""The repairs of tests/test_repairs.py, with factors from 2 ** 10 to 3e7, differed by less than 2e-3 on ten salts."""


def half_precision(rng, n_tokens, steps):
    return layers(rng, 4, 8, 3), classification(rng, 16, 4, 3, steps), n_tokens, rate(rng, 0.02)


@exercise("fix_11")
def test_fix_11(learner, reference, rng):
    """The losses and the parameters of the float32 program."""
    for n_tokens, steps in [(4e7, 6), (2e7, 15)]:
        case = f"n_tokens={n_tokens:.0e}, {steps} batches"
        drawn = half_precision(rng, n_tokens, steps)
        same_values("half_precision", learner, reference, *drawn, None, case=case, **HALF)


@exercise("fix_11", promise="instrumented")
def test_products_in_float16(learner, reference, rng):
    """Matrix products in float16, forward and backward, and in nothing else.

    The terms of these products get weights: losses and steps follow, in the right program as in any other that
    computes its logits and its gradients by them. Without a scaled loss their gradients are 0.
    """
    name, case = "the dtype of the matrix products", "6 batches"
    drawn = *half_precision(rng, 4e7, 6), int(rng.integers(2**32))
    expected, got = (who.scenario.half_precision(*drawn) for who in (reference, learner))
    expect_close(got[name], expected[name], names=(name,), case=case, **IDENTICAL)
    told = (
        "The losses do not come from the products in float16: these were changed, and the losses did not follow. "
        "Compute the logits by the model, in float16, and the losses from them."
    )
    first = slice(0, 1)  # before any step
    expect(agrees(got["losses"], expected["losses"], first), told, case=case)
    told = (
        "The gradients do not come from the products in float16: these were changed, and the steps did not follow. "
        "Let loss.backward() go back through the model, in float16 as it went forward, and see to it that nothing on "
        "the way becomes 0."
    )
    expect(agrees(got["parameters"], expected["parameters"]), told, case=case)


def agrees(values, expected, part=slice(None)):
    """Whether numbers of fix_11 match the reference's; True for other types, which another check reports."""
    fits = isinstance(values, np.ndarray) and values.shape == expected.shape
    return not fits or np.allclose(values[part], expected[part], **HALF)
