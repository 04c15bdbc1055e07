"""Checks of predict_saved."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise, expect_close
from autograder.lessons.ch10_activation_memory.programs import BY_INPUT, BY_RESULT, random_program, unseen_layers


def agree_on_program(learner, reference, program, sizes, trained, parameters=(), case="") -> None:
    arguments = list(program), dict(sizes), list(trained), list(parameters)
    got, expected = (who.predict_saved(*arguments) for who in (learner, reference))
    expect_close(got, expected, names=("the bytes",), case=case, **EXACT)


def drawn_sizes(rng, names: str, low: int = 2) -> dict[str, int]:
    """A different random number of entries for each name."""
    found = rng.permutation(np.arange(low, low + 40))
    return {name: int(n) for name, n in zip(names.split(), found, strict=False)}


@exercise("predict_saved")
def test_one_step(learner, reference, rng):
    """Each operation alone, its inputs trained; one entry first."""
    for operation in (*BY_RESULT, *BY_INPUT, "scale", "sum", "view"):
        sizes = {"x": 1, "y": 1} if operation in ("exp", "silu") else drawn_sizes(rng, "x y")
        agree_on_program(learner, reference, [("y", operation, "x")], sizes, ["x"], case=f"one step: {operation}")
    for operation in ("add", "mul", "div", "matmul"):
        steps, sizes = [("y", operation, "a", "b")], drawn_sizes(rng, "a b y")
        agree_on_program(learner, reference, steps, sizes, ["a", "b"], case=f"one step: {operation}")
    agree_on_program(learner, reference, [], drawn_sizes(rng, "x"), ["x"], case="no steps")


@exercise("predict_saved")
def test_who_asks(learner, reference, rng):
    """Inputs that require no gradient, steps that need none, a detach."""
    for operation in ("mul", "matmul", "div", "add"):
        for trained in (["a"], ["b"], []):
            steps, sizes = [("y", operation, "a", "b")], drawn_sizes(rng, "a b y")
            case = (
                f"one step: {operation} of a and b, of which {' and '.join(trained) or 'neither'} requires a gradient"
            )
            agree_on_program(learner, reference, steps, sizes, trained, case=case)
    for operation in ("exp", "silu"):
        steps = [("a", operation, "c"), ("b", "mul", "a", "x"), ("y", operation, "b")]
        case = f"{operation} of what requires no gradient, then a product with x, which does"
        agree_on_program(learner, reference, steps, drawn_sizes(rng, "c a x b y"), ["x"], case=case)
        steps = [("a", operation, "x"), ("b", "detach", "a"), ("y", operation, "b")]
        sizes = drawn_sizes(rng, "x a y")
        agree_on_program(learner, reference, steps, sizes | {"b": sizes["a"]}, ["x"], case=f"{operation} of a detach")
    for trained in (["x"], ["W"], ["x", "W"]):
        steps, sizes = [("y", "matmul", "x", "W")], drawn_sizes(rng, "x W y")
        case = f"x @ W, W a parameter; trained: {', '.join(trained)}"
        agree_on_program(learner, reference, steps, sizes, trained, ["W"], case=case)


@exercise("predict_saved")
def test_memory_counts_once(learner, reference, rng):
    """What two steps need; a product with itself; views, views of views, parts; parameters."""
    h = int(rng.integers(20, 60))
    n, part = h * int(rng.integers(2, 9)), h
    same = dict.fromkeys(("x", "a", "b", "v", "w", "y", "z"), n)
    for case, steps in {
        "a product with itself": [("y", "mul", "x", "x")],
        "exp, and silu of its result": [("a", "exp", "x"), ("y", "silu", "a")],
        "a view, and what it looks into": [("a", "exp", "x"), ("v", "view", "a"), ("y", "sin", "v")],
        "a view of a view": [("v", "view", "x"), ("w", "view", "v"), ("y", "sin", "w"), ("z", "log", "x")],
        "a detach, times what it was cut from": [("a", "tanh", "x"), ("v", "detach", "a"), ("y", "mul", "a", "v")],
        "relu of a view, then two steps": [
            ("v", "view", "x"),
            ("a", "relu", "v"),
            ("y", "sin", "a"),
            ("z", "gelu", "a"),
        ],
    }.items():
        agree_on_program(learner, reference, steps, same, ["x"], case=case)
    steps = [("a", "scale", "x"), ("v", "view", "a"), ("y", "sin", "v")]
    sizes = {"x": n, "a": n, "v": part, "y": part}
    agree_on_program(learner, reference, steps, sizes, ["x"], case="a view of a part keeps the whole")
    steps = [("t", "view", "W"), ("y", "matmul", "x", "t"), ("z", "mul", "y", "b")]
    sizes = drawn_sizes(rng, "x W y b z")
    for trained in (["x", "W", "b"], ["x"]):
        case = f"a view of a parameter, in a product; trained: {', '.join(trained)}"
        agree_on_program(learner, reference, steps, sizes | {"t": sizes["W"]}, trained, ["W", "b"], case=case)


@exercise("predict_saved")
def test_unseen_layers(learner, reference, rng):
    """Gated and bilinear layers, squared ReLU, frozen weights, adapters."""
    for case, program in unseen_layers(rng).items():
        agree_on_program(learner, reference, *program.arguments, case=case)


@exercise("predict_saved")
def test_programs_that_are_drawn(learner, reference, rng):
    """Steps at random, fewer first."""
    for n_steps in (2, 3, 4, 6, 8, 12, 12, 20):
        program = random_program(rng, n_steps)
        agree_on_program(learner, reference, *program.arguments, case=f"a program of {n_steps} steps that are drawn")


@exercise("predict_saved")
def test_every_kind_of_program(learner, reference, kinds, rng):
    """All pairs of operations of a parameter or a view of it, first or last, frozen or trained; names of all sorts."""
    for kind in kinds:
        arguments = *kind.options.values(), drawn_sizes(rng, "x W v y z"), kind.states
        got, expected = (who.scenario.saved_in_states(*arguments) for who in (learner, reference))
        expect_close(got, expected, names=("the bytes",), case=kind.label, **EXACT)
