"""Checks of zero_bytes_per_rank."""

from __future__ import annotations

from autograder.judging import EXACT, exercise, expect_close, expect_raises
from autograder.lessons.ch14_scaling_out.checks.pieces import cut


@exercise("zero_bytes_per_rank")
def test_stages(learner, reference, rng):
    """What each stage divides."""
    for stage in (0, 1, 2, 3):
        drawn = [(int(rng.integers(10**6, 10**11)), int(rng.integers(2, 2000))) for _ in range(3)]
        for n_params, ranks in [(1, 1), (8, 2), *drawn]:
            got, expected = (who.zero_bytes_per_rank(n_params, ranks, stage) for who in (learner, reference))
            expect_close(got, expected, case=f"stage {stage}, {n_params} parameters, {cut(ranks)}", **EXACT)


@exercise("zero_bytes_per_rank")
def test_shares_that_are_not_whole(learner, reference, rng):
    """Bytes are not rounded."""
    for stage in (1, 2, 3):
        for n_params, ranks in [(1, 64), (int(rng.integers(10, 100)), int(rng.integers(101, 200)))]:
            got, expected = (who.zero_bytes_per_rank(n_params, ranks, stage) for who in (learner, reference))
            expect_close(got, expected, case=f"stage {stage}, more ranks than parameters", **EXACT)


@exercise("zero_bytes_per_rank")
def test_unknown_stages(learner, reference, rng):
    """ValueError, and none for the stages that there are."""
    for stage in (4, -1, int(rng.integers(5, 100))):
        expect_raises(ValueError, learner.zero_bytes_per_rank, 100, 2, stage, case=f"stage={stage}")
        known, n_params = int(rng.integers(4)), int(rng.integers(100, 10**6))
        got, expected = (who.zero_bytes_per_rank(n_params, 2, known) for who in (learner, reference))
        expect_close(got, expected, case=f"beside that: stage={known}", **EXACT)
