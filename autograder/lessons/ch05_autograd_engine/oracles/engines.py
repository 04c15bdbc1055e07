"""Random graphs, computed by two engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st

from autograder.judging import EXACT

THOROUGH = settings(max_examples=150, deadline=None, derandomize=True, database=None)


def same(got: Any, expected: torch.Tensor | None) -> None:
    """Both None, or arrays of one shape, dtype and value."""
    if expected is None:
        assert got is None
        return
    array = expected.detach().numpy()
    assert np.shape(got) == array.shape
    assert np.asarray(got).dtype == array.dtype
    np.testing.assert_allclose(got, array, **EXACT)


# Operations as code for both engines; `_reordered` covers their differences.


def _reordered(x, axes):
    return x.permute(axes) if isinstance(x, torch.Tensor) else x.transpose(*axes)


UNARY = {
    "negative": lambda x: -x,
    "exp": lambda x: x.tanh().exp(),
    "log": lambda x: (x * x + 0.5).log(),
    "relu": lambda x: (x + 0.37).relu(),
    "tanh": lambda x: x.tanh(),
    "square": lambda x: x**2,
    "reciprocal": lambda x: (x * x + 0.5) ** -1.5,
    "power of two": lambda x: 2 ** x.tanh(),
    "from one": lambda x: 1 - x,
    "one over": lambda x: 1 / (x * x + 0.5),
    "of all": lambda x: x.sum(),
    "flat": lambda x: x.reshape(-1),
}
BINARY = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: (x * y).tanh(),
    "divide": lambda x, y: x / (y * y + 0.5),
    "power": lambda x, y: (x * x + 0.5) ** y.tanh(),
    "matmul": lambda x, y: (x @ y).tanh(),
}
STARTS = ((), (1,), (2,), (3,), (2, 3), (3, 2), (3, 3), (2, 1, 3), (2, 3, 2))


@st.composite
def graphs(draw) -> tuple[list[tuple[int, ...]], list[tuple[Any, ...]]]:
    """Shapes of leaves, and operations on earlier tensors: name, indices of operands, argument."""
    shapes: list[Any] = draw(st.lists(st.sampled_from(STARTS), min_size=1, max_size=4))
    leaves = list(shapes)
    steps: list[tuple[Any, ...]] = []
    for _ in range(draw(st.integers(1, 12))):
        x = draw(st.integers(0, len(shapes) - 1))
        fitting: list[tuple[str, Any]] = [("unary", name) for name in UNARY]
        fitting += [
            (name, y) for name in BINARY for y in range(len(shapes)) if _result(name, shapes[x], shapes[y]) is not None
        ]
        if shapes[x]:
            fitting += [("sum", keep) for keep in (True, False)] + [("mean", keep) for keep in (True, False)]
            fitting += [("select", None), ("slice", None), ("reordered", None)]
        kind, argument = draw(st.sampled_from(fitting))
        if kind in ("sum", "mean"):
            argument = draw(st.integers(-len(shapes[x]), len(shapes[x]) - 1)), argument
        if kind == "reordered":
            argument = tuple(draw(st.permutations(range(len(shapes[x])))))
        steps.append((kind, x, argument))
        shapes.append(apply(steps[-1], [torch.ones(shape) for shape in shapes]).shape)
    return leaves, steps


def _result(name: str, left: Any, right: Any) -> Any:
    """The shape of a binary operation's result; None if the shapes do not fit."""
    try:
        return (np.matmul if name == "matmul" else np.add)(np.zeros(left), np.zeros(right)).shape
    except ValueError:
        return None


def apply(step: tuple[Any, ...], known: list[Any]) -> Any:
    """One step of a graph, on the tensors of either engine."""
    kind, number, argument = step
    x = known[number]
    if kind == "unary":
        return UNARY[argument](x)
    if kind in BINARY:
        return BINARY[kind](x, known[argument])
    if kind in ("sum", "mean"):
        axis, keepdims = argument
        return getattr(x, kind)(axis=axis, keepdims=keepdims)
    if kind == "select":
        return x[[0, -1, 0]]
    if kind == "slice":
        return x[..., -1:]
    return _reordered(x, argument)


def compute(graph: Any, arrays: list[np.ndarray], leaf: Any) -> tuple[list[Any], list[Any]]:
    """All leaves and all results of a graph in one engine; `leaf` makes a tensor of an array."""
    leaves = [leaf(array) for array in arrays]
    known = list(leaves)
    for step in graph[1]:
        known.append(apply(step, known))
    return leaves, known


def torch_leaf(array: Any) -> torch.Tensor:
    return torch.tensor(array, dtype=torch.float64, requires_grad=True)
