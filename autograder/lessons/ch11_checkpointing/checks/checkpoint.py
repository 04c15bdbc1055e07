"""Checks of checkpoint."""

from __future__ import annotations

from itertools import pairwise

from autograder.judging import (
    EXACT,
    F32,
    F64,
    SINGLE,
    agree,
    compare,
    exercise,
    expect,
    expect_close,
    fine,
    random,
)
from autograder.lessons.ch11_checkpointing.checks.layers import layer
from autograder.lessons.ch11_checkpointing.checks.second_runs import SLACK, followed, three_factors, told
from autograder.wording import enumeration


@exercise("checkpoint")
def test_arguments(learner, reference, rng):
    """Value and gradients of two arguments."""
    for case, shape in {"one entry": (1,), "a vector": (3,), "a 0-d tensor": (), "a matrix": (2, 3)}.items():
        agree("of_arguments", learner, reference, *(random(rng, shape) for _ in range(3)), case=case)


@exercise("checkpoint")
def test_parameters(learner, reference, rng):
    """The parameters that fn uses get their gradients."""
    for case, (n, n_in, n_out) in {"one row": (1, 2, 2), "three rows": (3, 2, 4)}.items():
        arguments = random(rng, (n, n_in)), *layer(rng, n_in, n_out).values(), random(rng, (n, n_out))
        agree("of_parameters", learner, reference, *arguments, True, case=f"a layer with parameters, {case}")


@exercise("checkpoint")
def test_parameters_alone(learner, reference, rng):
    """They get them also where no argument requires a gradient."""
    for case, (n, n_in, n_out) in {"one row": (1, 2, 2), "three rows": (3, 2, 4)}.items():
        arguments = random(rng, (n, n_in)), *layer(rng, n_in, n_out).values(), random(rng, (n, n_out))
        case = f"a layer with parameters, x requires no gradient, {case}"
        agree("of_parameters", learner, reference, *arguments, False, case=case)


@exercise("checkpoint")
def test_in_a_graph(learner, reference, rng):
    """x = a · c in the middle of a graph, and several checkpoints; gradients of two passes add up."""
    for count in (1, 2, 3):
        widths = [2, 3, 2, 4][: count + 1]
        layers = [layer(rng, *pair) for pair in pairwise(widths)]
        arguments = random(rng, (2, 2)), random(rng, (2, 2)), layers, random(rng, (2, widths[-1]))
        checkpoints = f"{count} checkpoint{'s' * (count > 1)}"
        case = f"x = a · c, {checkpoints}, the result squared; two backward passes"
        agree("of_a_graph", learner, reference, *arguments, case=case)


@exercise("checkpoint")
def test_arguments_of_all_kinds(learner, reference, rng):
    """Indices, a mask, a constant tensor, a number, a string; one tensor twice."""
    for case, shape in {"a vector": (3,), "a matrix": (2, 3)}.items():
        arguments = random(rng, shape), random(rng, shape)
        agree("of_one_tensor_twice", learner, reference, *arguments, case=f"fn(x, x, 3), {case}")
    names = ["table", "ids", "mask", "shift", "power", "name"]
    for place, wanted in enumerate(
        [["table"], ["shift"], ["table", "shift"], ["table"], ["shift"], ["table", "shift"]]
    ):
        rows, count = (3, 2) if place % 2 == 0 else (4, 6)
        given = {"table": random(rng, (rows, 2)), "ids": rng.integers(rows, size=count), "power": 2}
        given |= {"mask": rng.random((count, 2)) < 0.7, "shift": random(rng, 2)}
        order = names[place:] + names[:place]  # each of them is first once, and last once
        case = f"fn({', '.join(order)}), {count} rows, a gradient for {enumeration(wanted)}"
        agree("of_mixed_arguments", learner, reference, given, random(rng, (count, 2)), order, wanted, case=case)


@exercise("checkpoint")
def test_nesting(learner, reference, rng):
    """A checkpoint inside of a checkpoint."""
    for case, widths in {"one entry": (1, 1, 1, 1), "matrices": (2, 3, 2, 4)}.items():
        layers = [layer(rng, *pair) for pair in pairwise(widths)]
        arguments = random(rng, (2, widths[0])), layers, random(rng, (2, widths[-1]))
        agree("nested", learner, reference, *arguments, case=f"a checkpoint inside of a checkpoint, {case}")


@exercise("checkpoint")
def test_dropout(learner, reference, rng):
    """The same masks in both passes, and a random state that nobody else notices."""
    for case, shape in {"20 entries": (20,), "8 x 6": (8, 6)}.items():
        arguments = *(random(rng, shape) for _ in range(3)), int(rng.integers(1, 10_000))
        agree("with_dropout", learner, reference, *arguments, case=f"dropout(sin(x) w, 0.5), {case}")


@exercise("checkpoint", promise="instrumented")
def test_computed_again(learner, reference, rng):
    """The technique: the gradients are those of fn's second run, one of them a right one, and not all is kept."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3), "five axes": (2, 1, 1, 2, 1)}.items():
        arguments = *(random(rng, shape) for _ in range(3)), three_factors(rng, shape)
        case = f"fn changes between the passes, {case}"
        followed("computed_again", learner, reference, *arguments, case=case, every=False)


@exercise("checkpoint", promise="instrumented")
def test_kept_between_the_passes(learner, reference, rng):
    """The arguments, which were there before; nothing that fn computes, no copy."""
    for case, size, dtype in [("80 x 80, float64", 80, F64), ("112 x 112, float32", 112, F32)]:
        arguments = [random(rng, (size, size), dtype) for _ in range(2)]
        expected, got = (who.scenario.kept(*arguments) for who in (reference, learner))
        if fine(got, expected, case=case):
            expect_close(got["y"], expected["y"], names=("y",), case=case, rtol=1e-4, atol=1e-5)
            message = (
                f"{told(got['made'], got['x'])} that checkpoint made are kept between the passes, the result aside (x "
                f"itself has {got['x']:,}). Keep the arguments as they are, and nothing of what fn computes."
            )
            expect(got["made"] <= SLACK, message, case=case)


@exercise("checkpoint", promise="instrumented")
def test_two_calls(learner, reference, rng):
    """fn runs once in each pass: that the second one was a run shows in the gradient."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        case = f"fn changes between the passes, {case}"
        arguments = *(random(rng, shape) for _ in range(3)), three_factors(rng, shape)
        expected, got = (who.scenario.calls(*arguments) for who in (reference, learner))
        if not fine(got, expected, case=case):
            continue
        for when in ("forward", "backward"):
            message = f"fn ran {got[when]} times in the {when} pass; once is enough, and needed."
            expect(got[when] == expected[when], message, case=case, instead=str(got[when]))
        if (got["forward"], got["backward"]) == (1, 1):
            expect_close(got["dx"], expected["dx"], names=("dx",), case=case, **EXACT)


@exercise("checkpoint", promise="instrumented")
def test_without_gradients(learner, reference, rng):
    """Under torch.no_grad() there is a value, and no graph."""
    for case, shape in {"one row": (1, 2), "a matrix": (3, 2)}.items():
        arguments = random(rng, shape), random(rng, (2, 2))
        expected, got = (who.scenario.without_gradients(*arguments) for who in (reference, learner))
        case = f"under torch.no_grad(), {case}"
        message = f"fn ran {got['calls']} times under torch.no_grad(); once is enough, and needed."
        expect(got["calls"] == expected["calls"], message, case=case)
        compare(got, {**expected, "calls": got["calls"]}, case=case)


@exercise("checkpoint", promise="instrumented")
def test_changed_in_between(learner, reference, rng):
    """Autograd must notice when an argument is changed in place before the backward pass."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        arguments = random(rng, shape), random(rng, shape)
        agree("changed_in_between", learner, reference, *arguments, case=f"an argument is changed in place, {case}")


@exercise("checkpoint")
def test_float32(learner, reference, rng):
    """Results and gradients have the dtype of the arguments."""
    arguments = random(rng, (3, 2), F32), *layer(rng, 2, 4, F32).values(), random(rng, (3, 4), F32)
    for wants_x in (True, False):
        case = f"float32, x requires {'a' if wants_x else 'no'} gradient"
        agree("of_parameters", learner, reference, *arguments, wants_x, case=case, **SINGLE)


@exercise("checkpoint")
def test_every_kind_of_argument(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; leaves and results, old grads; what fn returns; another argument."""
    for kind in kinds:
        arguments = *kind.drawn.values(), kind.states
        tolerance = kind.tolerance((), (*kind.drawn.values(), 1.0))
        agree("checkpointed_in_states", learner, reference, *arguments, case=kind.label, **tolerance)
