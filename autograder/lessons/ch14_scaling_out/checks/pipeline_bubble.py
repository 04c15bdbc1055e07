"""Checks of pipeline_bubble."""

from __future__ import annotations

from autograder.judging import EXACT, exercise, expect_close


def agree_on_bubble(learner, reference, stages: int, microbatches: int, case: str) -> None:
    got, expected = (who.pipeline_bubble(stages, microbatches) for who in (learner, reference))
    expect_close(got, expected, case=case, **EXACT)


@exercise("pipeline_bubble")
def test_few_microbatches(learner, reference, rng):
    """One micro-batch; as many as stages; one stage, which never waits."""
    for stages, microbatches in [(1, 1), (2, 1), (2, 2), (1, 7), (4, 4), *rng.integers(2, 300, size=(3, 2)).tolist()]:
        agree_on_bubble(learner, reference, stages, microbatches, f"stages = {stages}")


@exercise("pipeline_bubble")
def test_many_microbatches(learner, reference, rng):
    """The bubble shrinks as micro-batches come, and grows with the stages."""
    for high in (100, 1000, 10_000):
        stages, microbatches = int(rng.integers(2, 200)), int(rng.integers(high // 2, high))
        agree_on_bubble(learner, reference, stages, microbatches, "many micro-batches")
