"""Checks of running_mean_loss."""

from __future__ import annotations

import numpy as np

from autograder.judging import agree, compare, exercise, expect


def losses(rng, count):
    """A list of positive numbers, drawn independently, so that no place in it is close to the mean."""
    return rng.uniform(0.5, 3, size=count).tolist()


@exercise("running_mean_loss", promise="instrumented")
def test_graphs_are_let_go(learner, reference, rng):
    """At most two graphs are alive while the losses are read, and none afterwards; the first thing to be told."""
    for count, shape in [(4, ()), (2, ()), (3, (1,)), (4, (1, 1)), (int(rng.integers(50, 100)), ())]:
        values = losses(rng, count)
        case = f"a generator of {count} losses{f' of shape {shape}' if shape else ''}"
        expected, got = (who.scenario.graphs_alive(values, shape) for who in (reference, learner))
        graphs = got["graphs"]
        kept = (
            f"{graphs} of {count} graphs were alive at once: each loss you keep as a tensor keeps its graph and all "
            "that it saved. Keep numbers."
        )
        held = (
            f"{graphs} of {count} graphs were alive at once, at most 2 may be: something still holds an earlier loss."
        )
        expect(graphs < count or graphs <= 2, kept, case=case)
        expect(graphs <= 2 or graphs == count, held, case=case)
        expect(got["left"] == 0, f"{got['left']} graphs are still alive after the return.", case=case)
        counts = {"graphs", "left"}
        got, expected = ({name: value for name, value in of.items() if name not in counts} for of in (got, expected))
        compare(got, expected, case=case)


@exercise("running_mean_loss")
def test_any_iterable(learner, reference, rng):
    """The mean of a list, a tuple, a generator; a Python float."""
    for kind in ("list", "tuple", "generator"):
        for count in (1, 2, 7):
            values = losses(rng, count)
            case = f"a {kind} of {count} loss{'es' * (count > 1)}"
            agree("mean_of", learner, reference, values, kind, case=case)


@exercise("running_mean_loss")
def test_every_kind_of_losses(learner, reference, kinds, rng):
    """All pairs of counts, iterables, shapes, dtypes, values, one loss twice, and losses without a graph."""
    for kind in kinds:
        values = np.array(losses(rng, kind.options["count"]))
        sort = kind.levels["losses values"]
        values *= {"all 0": 0.0, "negative": -1.0}.get(sort, 1.0)
        values *= 10.0 ** rng.choice([-6, 6], len(values)) if sort == "small and large" else 1.0
        agree("mean_in_states", learner, reference, values.tolist(), kind.states, case=kind.label, atol=1e-20)


@exercise("running_mean_loss")
def test_one_element_of_any_shape(learner, reference, rng):
    """Losses of shape (), (1,) and (1, 1), also in one iterable."""
    for shapes in ([(1,)], [(1, 1)], [()], [(1,), (1,), (1,)], [(1, 1), (), (1,), ()]):
        values = losses(rng, len(shapes))
        agree("mean_of_shapes", learner, reference, values, shapes, case=f"shapes {', '.join(map(str, shapes))}")


@exercise("running_mean_loss", promise="instrumented")
def test_no_losses(learner, reference, rng):
    """The mean of nothing is a ValueError."""
    agree("mean_of", learner, reference, losses(rng, 1), "list", case="one loss")
    for kind in ("list", "generator"):
        agree("mean_of_nothing", learner, reference, kind, case=f"an empty {kind}")


@exercise("running_mean_loss")
def test_sums_that_float32_cannot_hold(learner, reference, rng):
    """Many small losses after a large one: a sum in the losses' own precision stops growing."""
    for dtype, power in {"float32": 24, "bfloat16": 8}.items():
        values = [2.0**power] + [1.0] * int(rng.integers(20, 60))
        case = f"{dtype}, the loss 2**{power} and many losses of 1"
        agree("mean_of", learner, reference, values, "generator", dtype, case=case)


@exercise("running_mean_loss")
def test_losses_stay_as_they_are(learner, reference, rng):
    """The losses have their values and their graphs afterwards."""
    for count in (1, 3):
        agree("losses_afterwards", learner, reference, losses(rng, count), case=f"a list of {count}, afterwards")


@exercise("running_mean_loss")
def test_while_training(learner, reference, rng):
    """The generator is a training loop: it calls backward on each loss after handing it out."""
    for count in (1, 4):
        arguments = losses(rng, count), float(rng.uniform(0.1, 0.4))
        agree("training_loop", learner, reference, *arguments, case=f"a training loop of {count} steps")
