"""Checks of RowParallelLinear."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch14_scaling_out.checks.parallel_layers import (
    SIZES,
    agree_on_layer,
    agree_on_values,
    check_beside_other_operations,
    check_between_other_operations,
    check_every_kind_of_layer,
    check_of_data,
    check_parts,
    check_uneven_parts,
    check_what_is_sent,
    check_without_bias,
)


@exercise("RowParallelLinear")
def test_row_values(learner, reference, rng):
    """The whole result on each rank, with the bias once."""
    agree_on_values(learner, reference, rng, "RowParallelLinear")


@exercise("RowParallelLinear")
def test_row_gradients(learner, reference, rng):
    """Those of the one layer: dx and the weight's in part, the bias's whole."""
    for size, shape, lead in SIZES:
        agree_on_layer(learner, reference, rng, "RowParallelLinear", size, shape, lead)


@exercise("RowParallelLinear")
def test_between_other_operations(learner, reference, rng):
    """x comes from an operation and y goes into one."""
    check_between_other_operations(learner, reference, rng, "RowParallelLinear")


@exercise("RowParallelLinear")
def test_beside_other_operations(learner, reference, rng):
    """x goes elsewhere, too: what comes back from there is no part of the sum."""
    check_beside_other_operations(learner, reference, rng, "RowParallelLinear")


@exercise("RowParallelLinear")
def test_of_data(learner, reference, rng):
    """x requires no gradient."""
    check_of_data(learner, reference, rng, "RowParallelLinear")


@exercise("RowParallelLinear")
def test_without_bias(learner, reference, rng):
    """bias is None."""
    check_without_bias(learner, reference, rng, "RowParallelLinear")


@exercise("RowParallelLinear")
def test_every_kind_of_layer(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; made from a module's parameters, called twice, with grads already."""
    check_every_kind_of_layer(learner, reference, kinds, "RowParallelLinear")


@exercise("RowParallelLinear")
def test_parts(learner, reference, rng):
    """Each rank keeps its part of the weight, a copy."""
    check_parts(learner, reference, rng, "RowParallelLinear")


@exercise("RowParallelLinear")
def test_uneven_parts(learner, reference, rng):
    """ValueError where the outputs, or the inputs, cannot be shared evenly; parts where they can."""
    check_uneven_parts(learner, reference, rng, "RowParallelLinear")


@exercise("RowParallelLinear", promise="instrumented")
def test_what_is_sent(learner, reference, rng):
    """One all-reduce in one of the two directions; the arguments are what they were."""
    check_what_is_sent(learner, reference, rng, "RowParallelLinear")
