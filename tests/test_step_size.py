"""The parts of a finite difference's error for exp, compared with 50-digit arithmetic and with measurements."""

from __future__ import annotations

from decimal import Decimal, getcontext
from itertools import product

import numpy as np
import pytest

from course.experiments import step_size as curves
from course.experiments.step_size import DTYPES, FORMULAS

getcontext().prec = 50
CASES = [*product(DTYPES, FORMULAS)]
EXPONENTS = np.arange(-13, 0.01, 0.125)


@pytest.mark.parametrize("formula", FORMULAS)
def test_truncation_is_what_a_difference_without_rounding_is_off_by(formula: str) -> None:
    """With 50 digits, rounding is negligible and only the formula's own error is left."""
    for exponent in range(-12, -1):
        h = Decimal(10) ** exponent
        down, wide = (1 / h.exp(), 2) if formula == "central" else (Decimal(1), 1)
        exact = (h.exp() - down) / (wide * h) - 1  # at x = 0, where exp and its slope are 1
        assert curves.truncation(float(h), formula) == pytest.approx(float(exact), rel=float(h))


@pytest.mark.parametrize(("dtype", "formula"), CASES)
def test_both_parts_add_up_to_no_less_than_is_measured(dtype: str, formula: str) -> None:
    """Right of the best step they equal the measured error; left of it they are slightly above it."""
    best = curves.best_step(dtype, formula)
    for h in 10.0 ** EXPONENTS[EXPONENTS <= -0.5]:
        measured = curves.rms_error(dtype, h, formula)
        both = curves.truncation(h, formula) + curves.round_off(dtype, h, formula)
        assert measured < 1.2 * both
        if h > 30 * best:
            assert measured == pytest.approx(both, rel=0.2)
        if h > 2 * curves.round_off_unit(dtype):
            assert both < 4.5 * measured


@pytest.mark.parametrize(("dtype", "formula"), CASES)
def test_no_step_is_better_than_the_best(dtype: str, formula: str) -> None:
    def both(h: float) -> float:
        return curves.truncation(h, formula) + curves.round_off(dtype, h, formula)

    best = curves.best_step(dtype, formula)
    assert both(best) < min(both(0.99 * best), both(1.01 * best))
    found = [curves.rms_error(dtype, h, formula) for h in 10.0**EXPONENTS]
    assert 1 / 4 < 10.0 ** EXPONENTS[int(np.argmin(found))] / best < 4
    assert curves.verdict(dtype, best, formula) == "neither"
    assert curves.verdict(dtype, best / 10, formula) == "round-off"
    assert curves.verdict(dtype, best * 10, formula) == "truncation"


@pytest.mark.parametrize(("dtype", "formula"), CASES)
def test_a_single_run_is_one_of_the_differences(dtype: str, formula: str) -> None:
    of = DTYPES[dtype]
    for h in (1e-8, 1e-4, 0.1):
        one = curves.run(dtype, 0.75, h, formula)
        assert one.up.dtype == one.down.dtype == of
        assert [one.slope] == curves.difference(np.array([0.75], of), of(h), formula).tolist()
        assert one.difference == float(one.up) - float(one.down)


def test_where_both_values_are_the_same_float_the_slope_is_zero() -> None:
    assert curves.same("float32", 1e-8, "central") == curves.POINTS
    assert curves.rms_error("float32", 1e-8, "central") == 1
    assert 0 < curves.same("float32", 1e-7, "one-sided") < curves.POINTS
    assert curves.same("float64", 1e-8, "one-sided") == 0
