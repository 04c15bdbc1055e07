"""Checks of training_state_bytes."""

from __future__ import annotations

from autograder.judging import EXACT, exercise, expect_close


def agree_on_states(learner, reference, *arguments: int, case: str, **options: int) -> None:
    expected = reference.training_state_bytes(*arguments, **options)
    got = learner.training_state_bytes(*arguments, **options)
    expect_close(got, expected, case=case, **EXACT)


@exercise("training_state_bytes")
def test_defaults(learner, reference, rng):
    """16 bytes per parameter."""
    agree_on_states(learner, reference, 1, case="one parameter")
    for high in (100, 10**6, 10**11):
        agree_on_states(learner, reference, int(rng.integers(high // 2, high)), case="16 bytes per parameter")


@exercise("training_state_bytes")
def test_other_precisions(learner, reference, rng):
    """Each of the four, and none of some."""
    names = ("param_bytes", "grad_bytes", "master_bytes", "moment_bytes")
    for name in names:
        n = int(rng.integers(2, 10**9))
        for value in (0, 1, 8):
            agree_on_states(learner, reference, n, case=f"{name}={value}", **{name: value})
    options = dict(zip(names, (int(i) for i in rng.permutation([1, 3, 5, 7])), strict=True))
    agree_on_states(learner, reference, int(rng.integers(2, 10**9)), case="four different sizes", **options)
