"""The reference of cheaper_mode against something independent."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch02_chain_rule.oracles.chains import counted


@exercise("cheaper_mode")
def test_cheaper_mode_against_both_counts(reference, rng):
    for _ in range(50):
        dims = [int(width) for width in rng.integers(1, 6, size=rng.integers(2, 5))]
        better = counted(dims, "forward") < counted(dims, "reverse")
        assert reference.cheaper_mode(dims) == ("forward" if better else "reverse")
