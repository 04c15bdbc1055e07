"""Checks of fix_11."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import exercise, expect, expect_close
from autograder.lessons.ch12_debugging.checks.models import classification, layers
from autograder.lessons.ch12_debugging.checks.programs import rate, same_values
from autograder.lessons.ch12_debugging.checks.tolerances import IDENTICAL

HALF: dict[str, Any] = {"rtol": 1e-2, "atol": 5e-3}
"""Those of tests/test_repairs.py, with factors from 2 ** 10 to 3e7, were within 2e-3 of each other on ten salts."""


def half_precision(rng, n_tokens, steps):
    return layers(rng, 4, 8, 3), classification(rng, 16, 4, 3, steps), n_tokens, rate(rng, 0.02)


@exercise("fix_11")
def test_fix_11(learner, reference, rng):
    """The losses and the parameters of the float32 program."""
    for n_tokens, steps in [(4e7, 6), (2e7, 15)]:
        case = f"n_tokens={n_tokens:.0e}, {steps} batches"
        drawn = half_precision(rng, n_tokens, steps)
        same_values("half_precision", learner, reference, *drawn, 1.0, case=case, **HALF)


@exercise("fix_11", promise="instrumented")
def test_products_in_float16(learner, reference, rng):
    """Matrix products in float16, and in nothing else: where these become three times as large, the losses follow."""
    name = "the dtype of the matrix products"
    drawn = half_precision(rng, 4e7, 2)
    expected, got = ([who.scenario.half_precision(*drawn, of) for of in (1.0, 3.0)] for who in (reference, learner))
    expect_close(got[0][name], expected[0][name], names=(name,), case="2 batches", **IDENTICAL)
    told = (
        "The losses are not those of the products in float16: these were made three times as large, and a loss stayed "
        "as it was. Compute the logits by the model, in float16, and the losses from them."
    )
    expect(not some_loss_stays(*(run["losses"] for run in got)), told, case="2 batches")


def some_loss_stays(losses, of_larger_products):
    """Whether a batch has the same loss in two runs of fix_11."""
    fits = all(isinstance(of, np.ndarray) for of in (losses, of_larger_products))
    return (
        fits
        and losses.shape == of_larger_products.shape
        and bool(np.isclose(losses, of_larger_products, rtol=1e-5, atol=0).any())
    )
