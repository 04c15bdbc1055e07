"""Checks of offload_to_cpu."""

from __future__ import annotations

from autograder.judging import (
    agree,
    exercise,
    random,
)
from autograder.lessons.ch11_checkpointing.checks.layers import stack


@exercise("offload_to_cpu")
def test_the_same_gradients(learner, reference, rng):
    """Value and gradients are those without offloading."""
    for inside in (False, True):
        for case, widths in {"one layer": (2, 3), "three layers": (3, 2, 4, 2)}.items():
            arguments = random(rng, (2, widths[0])), stack(rng, widths), random(rng, (2, widths[-1])), inside
            case = f"{case}, the backward pass {'inside of' if inside else 'after'} the block"
            agree("offloaded", learner, reference, *arguments, case=case)


@exercise("offload_to_cpu")
def test_a_copy_is_kept(learner, reference, rng):
    """What is done to the original afterwards makes no difference."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3), "five axes": (1, 2, 1, 1, 2)}.items():
        agree("changed_later", learner, reference, random(rng, shape), random(rng, shape), case=case)


@exercise("offload_to_cpu", promise="instrumented")
def test_originals_are_let_go(learner, reference, rng):
    """Nothing holds what was saved, the copy aside."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3), "five axes": (1, 2, 1, 1, 2)}.items():
        agree("originals", learner, reference, random(rng, shape), random(rng, shape), case=case)


@exercise("offload_to_cpu", promise="instrumented")
def test_parameters_stay(learner, reference, rng):
    """Parameters and their views are not copied."""
    for case, (n_in, n_out) in {"a parameter of 100 x 60": (100, 60), "a parameter of 64 x 128": (64, 128)}.items():
        arguments = random(rng, (1, n_in)), random(rng, (n_in, n_out)), random(rng, (1, n_out))
        agree("parameters_stay", learner, reference, *arguments, case=case)


@exercise("offload_to_cpu")
def test_all_kinds_of_tensors(learner, reference, rng):
    """Indices, masks, views and float32 come back as they were."""
    for n in (2, 4):
        arguments = random(rng, (n, 3)), rng.integers(3, size=(n, 2)), rng.random((n, 2)) < 0.6, random(rng, (2, 2))
        case = f"gather, where, views and float32, {n} rows"
        agree("kinds_of_saved_tensors", learner, reference, *arguments, case=case)


@exercise("offload_to_cpu")
def test_back_to_the_device(learner, reference, rng):
    """A tensor comes back to the device that it was on."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        arguments = random(rng, shape), random(rng, shape)
        agree("from_another_device", learner, reference, *arguments, case=f"a device that is no CPU, {case}")


@exercise("offload_to_cpu", promise="instrumented")
def test_after_the_block(learner, reference, rng):
    """When the block is over, however it ends, nothing is copied any more."""
    for how, case in {
        "ends": "the block ends",
        "raises": "the block raises",
        "nested": "a block inside of a block",
    }.items():
        agree("after_the_block", learner, reference, random(rng, 3), random(rng, 3), how, case=case)


@exercise("offload_to_cpu")
def test_every_kind_of_tensor(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; leaves, results, constants, parameters; how the block is made, and ends."""
    for kind in kinds:
        agree("offloaded_in_states", learner, reference, *kind.drawn.values(), kind.states, case=kind.label)
