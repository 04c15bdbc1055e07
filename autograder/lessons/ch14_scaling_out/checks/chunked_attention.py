"""Checks of chunked_attention."""

from __future__ import annotations

from autograder.judging import agree, exercise
from autograder.lessons.ch14_scaling_out.checks.attention_in_blocks import (
    check_every_kind_of_tensor,
    check_large_scores,
    check_leading_axes,
    check_one_block,
    check_several_blocks,
    check_shorter_last_block,
    counts,
    queries,
)


@exercise("chunked_attention")
def test_one_block(learner, reference, rng):
    """All keys in one block, or in fewer than a block has."""
    check_one_block(learner, reference, rng, "chunked_attention")


@exercise("chunked_attention")
def test_several_blocks(learner, reference, rng):
    """Blocks of one key and of more."""
    check_several_blocks(learner, reference, rng, "chunked_attention")


@exercise("chunked_attention")
def test_shorter_last_block(learner, reference, rng):
    """The number of keys is no multiple of the block."""
    check_shorter_last_block(learner, reference, rng, "chunked_attention")


@exercise("chunked_attention")
def test_leading_axes(learner, reference, rng):
    """A batch, and heads."""
    check_leading_axes(learner, reference, rng, "chunked_attention")


@exercise("chunked_attention")
def test_large_scores(learner, reference, rng):
    """Scores of ±1000 and more: growing from block to block, shrinking, and all far below 0 or far above."""
    check_large_scores(learner, reference, rng, "chunked_attention")


@exercise("chunked_attention")
def test_every_kind_of_tensor(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; one tensor for k and v."""
    check_every_kind_of_tensor(learner, reference, kinds, "chunked_attention")


@exercise("chunked_attention", promise="instrumented")
def test_memory_of_attention(learner, reference, rng):
    """The technique: neither the matrix of scores nor a whole row of it, and right values all the same."""
    for n_q, n_k, lead in [(256, 1024, ()), (1, 4096, ()), (256, 1024, (1,))]:
        arrays = queries(rng, n_q, n_k, 4, 6, lead)
        case = f"{f'leading axes {lead}, ' if lead else ''}{counts(n_q, n_k, 32)}"
        agree("memory_of_attention", learner, reference, *arrays, 32, case=case)
