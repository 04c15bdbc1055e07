"""Checks of straight_through_round."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, SINGLE, agree, exercise, random


def between(rng, shape, dtype=F64):
    """Numbers at least 0.1 away from every integer and half-integer, on which floor, trunc and round differ."""
    whole = rng.integers(-9, 10, size=shape)
    return np.asarray(whole + rng.choice([-1, 1], size=shape) * rng.uniform(0.1, 0.4, size=shape), dtype=dtype)


OPERATIONS = ("sin", "tanh", "square", "times", "divided by", "plus", "matmul", "sums", "flip", "softmax")


def steps(rng, width, dtype=F64):
    """Four drawn steps of a program, one of them not linear and one a matrix."""
    names = rng.permutation(["sin", "matmul", *rng.choice(OPERATIONS, size=2)])
    shapes = {"matmul": (width, width)}
    return [(str(name), random(rng, shapes.get(str(name), width), dtype)) for name in names]


def agree_on_the_way(learner, reference, rng, x, dtype=F64, **tolerance):
    """Check the gradient through a rounding in the middle of random programs.

    A gradient that is g, or a product with g, can be returned without a graph; this one needs PyTorch's backward pass.
    """
    width = len(x)
    scale = [("matmul", random(rng, (width, width), dtype)), ("plus", x)]  # spread over several whole numbers
    for before in ([], steps(rng, width, dtype) + scale):
        arguments = x if not before else random(rng, width, dtype), before, steps(rng, width, dtype)
        agree(
            "rounded_on_the_way",
            learner,
            reference,
            *arguments,
            random(rng, width, dtype),
            case=f"between {'other operations' if before else 'a leaf and other operations'}",
            **tolerance,
        )


@exercise("straight_through_round")
def test_values_and_gradient(learner, reference, rng):
    """round(x) forward, g backward, x as it was."""
    for case, shape in {
        "one entry": (1,),
        "a vector": (8,),
        "a 0-d tensor": (),
        "a matrix": (2, 3),
        "three axes": (2, 1, 4),
        "an empty tensor": (0, 3),
    }.items():
        arguments = between(rng, shape), random(rng, shape)
        agree("rounded", learner, reference, *arguments, case=case)
    agree_on_the_way(learner, reference, rng, between(rng, 6))


@exercise("straight_through_round")
def test_halves(learner, reference, rng):
    """A half goes to the even neighbour, as torch.round has it."""
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5])
    for case, x in [("halves", halves), ("halves further out", halves + 2 * rng.integers(2, 50))]:
        agree("rounded", learner, reference, x, random(rng, 6), case=case)
    half = np.float16
    agree("rounded", learner, reference, halves.astype(half), random(rng, 6, half), case="halves in float16")
    agree_on_the_way(learner, reference, rng, rng.permutation(halves))


@exercise("straight_through_round")
def test_exactly_whole(learner, reference, rng):
    """The values are whole numbers to the last bit, in float64 and in float32."""
    # (round(x) + x) - x misses 11 or more of the 200 in each of 1,000 seeds, 77 or more in float32
    for case, dtype in [("float64, values exact to the last bit", F64), ("float32, values exact to the last bit", F32)]:
        x, g = rng.uniform(-100, 100, size=200).astype(dtype), random(rng, 200, dtype)
        agree("rounded", learner, reference, x, g, case=case, rtol=0, atol=0)
    x = random(rng, 6) * 2.0 ** np.array([20, 31, 33, 50, 65, 1000])
    agree("rounded", learner, reference, x, random(rng, 6), case="too large for integers", rtol=0, atol=0)
    agree_on_the_way(learner, reference, rng, rng.uniform(-100, 100, size=5))


@exercise("straight_through_round")
def test_in_the_middle_of_a_graph(learner, reference, rng):
    """x = a · b: the gradient goes on through x to a and b, and the values of x stay."""
    for case, shape in {"one entry": (1,), "a vector": (3,), "a 0-d tensor": (), "a matrix": (3, 2)}.items():
        b = rng.uniform(0.5, 2, size=shape)
        arguments = np.asarray(between(rng, shape) / b), np.asarray(b), random(rng, shape)
        agree("rounded_product", learner, reference, *arguments, case=f"x = a · b, {case}")
    agree_on_the_way(learner, reference, rng, between(rng, 4))


@exercise("straight_through_round")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; leaves, results, old grads."""
    for kind in kinds:
        arguments = kind.drawn["x"], kind.drawn["g"], kind.states
        tolerance = kind.tolerance((), (*kind.drawn.values(), 1.0))
        agree("rounded_in_states", learner, reference, *arguments, case=kind.label, **tolerance)


@exercise("straight_through_round")
def test_no_gradient_asked(learner, reference, rng):
    """An x that requires no gradient is rounded, and nothing requires one afterwards."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        agree("rounded_constant", learner, reference, between(rng, shape), case=f"{case}, requires_grad=False")
    agree_on_the_way(learner, reference, rng, between(rng, 3))


@exercise("straight_through_round")
def test_rounding_in_float32(learner, reference, rng):
    """Result and gradient have the dtype of x."""
    for case, shape in {"one entry": (1,), "a 0-d tensor": (), "a matrix": (2, 3)}.items():
        arguments = between(rng, shape, F32), random(rng, shape, F32)
        agree("rounded", learner, reference, *arguments, case=f"float32, {case}", **SINGLE)
    agree_on_the_way(learner, reference, rng, between(rng, 4, F32), F32, **SINGLE)
