"""What rows of factors find that other checks let pass, and what they may not reject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.judging.checking.kinds import Kind, covers_in
from autograder.judging.checking.plugin import identify
from autograder.judging.session import Judge
from course.syllabus import find_lesson


def test_a_mean_may_be_rounded_otherwise_where_large_numbers_have_small_differences() -> None:
    """Formerly one of twenty salts rejected a right answer: entries of 20 in g and gamma multiply what a mean loses."""

    def in_steps(g: Any, x: Any, gamma: Any, beta: Any, eps: float) -> Any:
        """dx, of which each mean is a sum times 1 / n."""
        n = len(x)
        centred = x - 1.0 / n * x.sum(axis=0)
        std = np.sqrt(1.0 / n * (centred**2).sum(axis=0) + eps)
        dxhat, xhat = g * gamma, centred / std
        return (dxhat - 1.0 / n * dxhat.sum(axis=0) - xhat * (1.0 / n * (dxhat * xhat).sum(axis=0))) / std

    slug = "ch06_vjps"
    cover = covers_in(Course.at().covering(slug))["batchnorm_vjp"]
    module: dict[str, Any] = {}
    exec(Course.at().source(slug).read_text(encoding="utf-8"), module)
    rows = [row for row in cover.rows if row["x values"] == "offset"]
    assert {row["x dtype"] for row in rows} == {"float64", "float32"}
    for seed in range(300):
        for row in rows:
            kind = Kind(cover, row, np.random.default_rng(seed))
            arguments = [*kind.drawn.values(), *kind.options.values()]
            expected = module["batchnorm_vjp"](*arguments)
            tolerance = kind.tolerance(expected, arguments)
            assert np.allclose(in_steps(*arguments), expected[0], tolerance["rtol"] / 2, tolerance["atol"] / 2)


# Wrong answers that only such rows find: each passed all checks of ch06 before


def unbroadcast(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    g = g.sum(axis=tuple(range(g.ndim - x.ndim)))
    return g.sum(axis=tuple(i for i in range(x.ndim) if x.shape[i] == 1), keepdims=True).astype(x.dtype)


def divides_by_the_operand(g: Any, a: Any, b: Any) -> Any:
    """nan where an operand is 0."""
    return unbroadcast(g * (a * b) / a, a), unbroadcast(g * (a * b) / b, b)


def keeps_gradients_by_id(g: Any, a: Any, b: Any) -> Any:
    """Twice the gradient where both operands are one object."""
    gradients = {id(a): np.zeros(()), id(b): np.zeros(())}
    for x in (a, b):
        gradients[id(x)] = (gradients[id(x)] + unbroadcast(g, x)).astype(x.dtype)
    return gradients[id(a)], gradients[id(b)]


def reads_in_the_order_of_memory(g: Any, x: Any) -> Any:
    """Wrong where g and x lie in memory differently."""
    dx = np.empty_like(x)
    flat = dx.ravel(order="K")
    if not np.shares_memory(flat, dx):
        return (g * (x > 0)).astype(x.dtype)
    flat[...] = g.ravel(order="K") * (x.ravel(order="K") > 0)
    return dx


def always_float64_for_empty_arrays(g: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The wrong dtype for an empty float32 array."""
    if not x.size:
        return np.zeros(x.shape)
    g = g if axis is None or keepdims else np.expand_dims(g, axis)
    return np.broadcast_to(g, x.shape).astype(x.dtype)


def divides_by_g(g: Any, x: Any, axis: int) -> Any:
    """nan where g is 0."""
    winners, g = x == x.max(axis=axis, keepdims=True), np.expand_dims(g, axis)
    return (g * winners / (winners.sum(axis=axis, keepdims=True) * g) * g).astype(x.dtype)


def normalises_the_output(g: Any, x: Any, gamma: Any, eps: float = 1e-6) -> Any:
    """nan where gamma is 0."""
    rms = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    xhat, dxhat = (gamma * x / rms) / gamma, g * gamma
    dx = (dxhat - xhat * (dxhat * xhat).mean(axis=-1, keepdims=True)) / rms
    dgamma = (g * xhat).sum(axis=tuple(range(x.ndim - 1)))
    return dx.astype(x.dtype), dgamma.astype(gamma.dtype)


def drops_tiny_numbers(g: Any, x: Any) -> Any:
    """0 for the smallest positive numbers: only the denormal ones, below 1e-307."""
    return (g * (x > np.finfo(x.dtype).tiny)).astype(x.dtype)


WRONG: list[tuple[str, Callable[..., Any]]] = [
    ("mul_vjp", divides_by_the_operand),
    ("add_vjp", keeps_gradients_by_id),
    ("relu_vjp", reads_in_the_order_of_memory),
    ("relu_vjp", drops_tiny_numbers),
    ("sum_vjp", always_float64_for_empty_arrays),
    ("max_vjp", divides_by_g),
    ("rmsnorm_vjp", normalises_the_output),
]


def test_only_such_rows_find_these_wrong_answers() -> None:
    def rejecting(judge: Judge) -> list[set[tuple[str, bool]]]:
        found = []
        for exercise, function in WRONG:
            items = judge.items_of(exercise)
            records = judge.observe(items, judge.reference.local(exercise, function))
            pairs = zip(map(identify, items), records, strict=True)
            found.append({(check.name, check.visible) for check, record in pairs if check and not record.passed})
        return found

    both = {("test_every_kind_of_input", visible) for visible in (True, False)}
    exercises = tuple(dict.fromkeys(exercise for exercise, _ in WRONG))
    assert with_judge(find_lesson("ch06_vjps"), rejecting, only=exercises) == [both] * len(WRONG)


def test_a_second_derivative_is_asked_for_where_g_is_0() -> None:
    """|g| sign(g) is g, but its slope at 0 is lost: the first derivative is right everywhere."""
    torch = pytest.importorskip("torch")

    def backward(ctx: Any, g: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * (g.abs() * g.sign())

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    square = type("Square", (torch.autograd.Function,), methods)

    def rejecting(judge: Judge) -> set[str]:
        items = judge.items_of("Square")
        records = judge.observe(items, judge.reference.local("Square", square))
        return {item.name for item, record in zip(items, records, strict=True) if not record.passed}

    found = with_judge(find_lesson("ch08_custom_functions"), rejecting, only="Square")
    assert found == {f"test_every_kind_of_input[{inputs}]" for inputs in ("visible", "hidden")}
