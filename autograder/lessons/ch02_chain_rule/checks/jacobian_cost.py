"""Checks of jacobian_cost."""

from __future__ import annotations

from autograder.judging import exercise, expect_close
from autograder.lessons.ch02_chain_rule.checks.chains import widths


def agree_on_cost(learner, reference, dims, mode, case):
    got = learner.jacobian_cost(dims, mode)
    expect_close(got, reference.jacobian_cost(dims, mode), case=f"{case}, {mode}", rtol=0, atol=0)


@exercise("jacobian_cost")
def test_cost_of_one_matrix(learner, reference, rng):
    """A chain of one matrix: n_0 or n_1 passes of n_0 · n_1."""
    for dims in ([1, 1], [1, 4], [4, 1], widths(rng, 2)):
        for mode in ("forward", "reverse"):
            agree_on_cost(learner, reference, dims, mode, "one matrix")


@exercise("jacobian_cost")
def test_cost_in_forward_mode(learner, reference, rng):
    """n_0 passes through the whole chain."""
    for length in (3, 4, 6):
        agree_on_cost(learner, reference, widths(rng, length), "forward", f"{length - 1} matrices")


@exercise("jacobian_cost")
def test_cost_in_reverse_mode(learner, reference, rng):
    """n_k passes through the whole chain."""
    for length in (3, 4, 6):
        agree_on_cost(learner, reference, widths(rng, length), "reverse", f"{length - 1} matrices")


@exercise("jacobian_cost")
def test_cost_of_large_models(learner, reference, rng):
    """Exact where a float rounds and where an int64 overflows."""
    n = 175_000_000_000 + int(rng.integers(1, 10**9))
    for dims in ([n, 1], [1001, n, 3, 1], [1, n, n]):
        for mode in ("forward", "reverse"):
            agree_on_cost(learner, reference, dims, mode, "175 billion parameters")
