"""Checks of numerical_gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.judging import exercise, expect, expect_close


class Recorded:
    """A function of one array and the arguments it was called with."""

    def __init__(self, f: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
        self.f = f
        self.shape = shape
        self.arguments: list[np.ndarray] = []

    def __call__(self, argument: Any) -> float:
        x = np.array(argument, dtype=np.float64)
        if x.shape != self.shape:
            raise ValueError(f"f takes an array of shape {self.shape}, and was called with one of shape {x.shape}")
        self.arguments.append(x)
        return float(self.f(x))


def bent(rng, shape) -> Callable[[Any], Any]:
    """A function whose gradient is different everywhere, with second and third derivatives."""
    a, b = rng.uniform(0.5, 1.5, size=shape), rng.uniform(0.5, 1.5, size=shape)
    return lambda x: np.sum(a * x**3 + b * x**2) + np.sum(b * x) ** 2


def agree_on_gradient(learner, reference, rng, shape, case, rtol, atol, zeros=0, **options):
    """The gradient of a random function at a random point, whose first `zeros` entries are 0."""
    f, x = bent(rng, shape), np.asarray(rng.normal(size=shape))
    x.ravel()[:zeros] = 0
    got = learner.numerical_gradient(Recorded(f, shape), x, **options)
    expected = reference.numerical_gradient(Recorded(f, shape), x, **options)
    expect_close(got, expected, names=("the gradient",), case=case, rtol=rtol, atol=atol)


@exercise("numerical_gradient")
def test_gradient_of_a_vector(learner, reference, rng):
    """One entry, several, with the default step."""
    # Rounding leaves 1e-10 to 1e-9, depending on how the quotient is written.
    for size in (1, 2, 5):
        agree_on_gradient(learner, reference, rng, (size,), f"a vector of {size}", rtol=1e-6, atol=1e-6)


@exercise("numerical_gradient")
def test_central_differences(learner, reference, rng):
    """With a large step, central differences are a number of their own, which no other formula gives."""
    for shape, eps in [((1,), 0.5), ((3,), 0.25), ((2, 2), 0.1), ((2,), 1e-3)]:
        agree_on_gradient(learner, reference, rng, shape, f"eps = {eps:g}", rtol=1e-8, atol=1e-9, eps=eps)
    agree_on_gradient(learner, reference, rng, (3,), "an entry of 0", rtol=1e-8, atol=1e-9, zeros=1, eps=0.25)


@exercise("numerical_gradient")
def test_gradient_of_any_shape(learner, reference, rng):
    """The gradient has the shape of x: no axis, several, one of size 1, an empty one."""
    for case, shape in {
        "a 0-d array": (),
        "a matrix": (2, 3),
        "a row": (1, 3),
        "three axes": (2, 1, 2),
        "no entries": (0,),
        "an empty batch": (0, 3),
    }.items():
        agree_on_gradient(learner, reference, rng, shape, case, rtol=1e-8, atol=1e-9, eps=0.125)


@exercise("numerical_gradient")
def test_every_kind_of_input(learner, reference, rng, kinds):
    """0, -0, denormal numbers and small entries beside large ones, in every shape, and views."""
    for kind in kinds:
        x = kind.drawn["x"]
        f = bent(rng, x.shape)
        got = learner.in_layout(kind.layout_of("", "x", "")).numerical_gradient(Recorded(f, x.shape), x, 0.125)
        expected = reference.numerical_gradient(Recorded(f, x.shape), x, 0.125)
        expect_close(got, expected, names=("the gradient",), case=kind.label, rtol=1e-8, atol=1e-6)


@exercise("numerical_gradient")
def test_calls_of_f(learner, reference, rng):
    """2 · x.size calls: each entry once moved up by eps and once down, and nothing else moved."""
    for case, shape in {"a vector": (3,), "a 0-d array": (), "a matrix": (2, 2), "no entries": (0, 2)}.items():
        for options in ({}, {"eps": 0.03125}):
            eps = options.get("eps", 1e-6)
            x = np.asarray(rng.normal(size=shape))
            f = Recorded(bent(rng, shape), shape)
            got = learner.numerical_gradient(f, x, **options)
            calls = len(f.arguments)
            expected = reference.numerical_gradient(Recorded(f.f, shape), x, **options)
            expect_close(got, expected, names=("the gradient",), case=case, rtol=1e-6, atol=1e-6)
            expect(
                calls == 2 * x.size,
                f"f was called {calls} times for {x.size} entries: call it twice for each",
                case=case,
            )
            up, down = times_moved(f.arguments, x, eps)
            once = up.tolist() == down.tolist() == [1] * x.size
            what = f"each entry must be moved once up and once down by eps = {eps:g}, and no other entry with it"
            expect(once, f"f was not called where it should be: {what}", case=case)


def times_moved(arguments: list[np.ndarray], x: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """How often each entry of x was the only one moved, by +eps and by -eps."""
    counts = np.zeros((2, x.size), dtype=int)
    for argument in arguments:
        steps = ((argument - x) / eps).ravel()
        moved = np.flatnonzero(np.abs(steps) > 1e-6)  # rounding moves an entry by less
        for sign, count in zip((1, -1), counts, strict=True):
            if len(moved) == 1 and abs(steps[moved[0]] - sign) < 1e-6:
                count[moved] += 1
    return counts[0], counts[1]
