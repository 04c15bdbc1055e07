"""The engine of ch05_autograd_engine against PyTorch in float64: random graphs, states, hooks, and a training."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judging import exercise
from course.data import load_digits_train

EXACT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-11}
THOROUGH = settings(max_examples=150, deadline=None, derandomize=True, database=None)
SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def same(got: Any, expected: torch.Tensor | None) -> None:
    """Both None, or arrays of one shape, dtype and value."""
    if expected is None:
        assert got is None
        return
    array = expected.detach().numpy()
    assert np.shape(got) == array.shape
    assert np.asarray(got).dtype == array.dtype
    np.testing.assert_allclose(got, array, **EXACT)


@exercise("unbroadcast")
def test_unbroadcast_against_expand(reference, rng):
    """PyTorch's own gradient of an expanded tensor."""

    @THOROUGH
    @given(of_g=SHAPES, dropped=st.integers(0, 4), ones=st.lists(st.booleans(), min_size=4, max_size=4))
    def check(of_g, dropped, ones):
        shape = tuple(1 if one else size for size, one in zip(of_g, ones, strict=False))[dropped:]
        x, g = torch.zeros(shape, dtype=torch.float64, requires_grad=True), rng.normal(size=of_g)
        x.expand(of_g).backward(torch.tensor(g))
        same(reference.unbroadcast(g, shape), x.grad)

    check()


# One operation: what it does to the operands, in code that both engines run; `_reordered` where they differ.


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
    """Shapes of leaves, and operations on what is there by then: a name, the operands' numbers, an argument."""
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
    """The shape of a binary operation's result; None where there is none."""
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


@exercise("Tensor")
def test_graphs_have_the_values_of_torch(reference, rng):
    """Every result of a random graph."""
    Tensor = reference.module.Tensor

    @THOROUGH
    @given(graphs())
    def check(graph):
        arrays = [rng.normal(size=shape) for shape in graph[0]]
        _, ours = compute(graph, arrays, lambda array: Tensor(array, requires_grad=True))
        _, theirs = compute(graph, arrays, torch_leaf)
        for got, expected in zip(ours, theirs, strict=True):
            same(got.data, expected)
            assert got.requires_grad

    check()


@exercise("Tensor")
def test_dtypes_against_torch(reference, rng):
    """What NumPy and PyTorch agree on: floating dtypes stay, plain numbers change nothing."""
    Tensor = reference.module.Tensor
    for dtype in (np.float16, np.float32, np.float64):
        array = rng.normal(size=3).astype(dtype)
        for function in (lambda x: x, lambda x: 2 * x, lambda x: x / 3, lambda x: x**2, lambda x: 1.5 - x):
            expected = function(torch.tensor(array)).numpy()
            assert function(Tensor(array)).data.dtype == expected.dtype == dtype
            np.testing.assert_allclose(function(Tensor(array)).data, expected, rtol=2e-3)


@exercise("Tensor")
def test_operations_against_finite_differences(reference, rng):
    """The gradients by way of the edges, entry by entry."""
    Tensor = reference.module.Tensor
    functions = [*UNARY.values(), lambda x: x[[0, 1, 0]], lambda x: x.T, lambda x: x.mean(axis=0), lambda x: x @ x.T]
    x, eps = rng.normal(size=(2, 3)), 1e-6
    for function in functions:
        leaf = Tensor(x.copy(), requires_grad=True)
        y = function(leaf)
        g = rng.normal(size=y.shape)
        y.backward(g)
        for index in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[index] = eps
            difference = (function(Tensor(x + step)).data - function(Tensor(x - step)).data) / (2 * eps)
            np.testing.assert_allclose(leaf.grad[index], np.sum(g * difference), rtol=1e-6, atol=1e-8)


@exercise("Tensor.backward")
def test_random_graphs_against_torch(reference, rng):
    """Gradients of every leaf, from one root and then from another, and all of it twice."""
    Tensor = reference.module.Tensor

    @settings(parent=THOROUGH, max_examples=400)
    @given(graphs(), st.integers(0, 20))
    def check(graph, which):
        arrays = [rng.normal(size=shape) for shape in graph[0]]
        leaves, ours = compute(graph, arrays, lambda array: Tensor(array, requires_grad=True))
        theirs_leaves, theirs = compute(graph, arrays, torch_leaf)
        for root in (-1, which % len(ours), -1):
            g = rng.normal(size=ours[root].shape)
            ours[root].backward(g, retain_graph=True)
            theirs[root].backward(torch.tensor(g), retain_graph=True)
            for got, expected in zip(leaves, theirs_leaves, strict=True):
                same(got.grad, expected.grad)
        assert all(result.grad is None for result in ours[len(leaves) :])

    check()


@exercise("Tensor.backward")
def test_errors_against_torch(reference, rng):
    """Where PyTorch refuses, so does the engine, with the same kind of error or a ValueError for a shape."""
    Tensor = reference.module.Tensor

    def outcome(make, program) -> str:
        try:
            program(make)
        except (ValueError, RuntimeError):
            return "refused"
        return "accepted"

    x = rng.normal(size=2)
    ours = (lambda array: Tensor(array, requires_grad=True), np.asarray)
    theirs = (torch_leaf, torch.tensor)

    def twice(make):
        y = (make[0](x) ** 2).tanh()
        y.backward(make[1](x))
        y.backward(make[1](x))

    def shared(make):
        h = make[0](x) ** 2
        (h * h).backward(make[1](x))
        h.tanh().backward(make[1](x))

    programs = [
        twice,
        shared,
        lambda make: (make[0](x) * 2).backward(),
        lambda make: make[0](x[:1]).backward(),
        lambda make: make[0](x[:1].reshape(1, 1)).backward(),
        lambda make: (make[0](x) * 2).backward(make[1](x[:1])),
        lambda make: (make[0](x) * 2).backward(make[1](x[None])),
        lambda make: (make[0](x) * 2).backward(make[1](x)),
    ]
    for program in programs:
        assert outcome(ours, program) == outcome(theirs, program)


@exercise("Tensor.backward")
def test_long_chain_against_torch(reference, rng):
    """100,000 operations."""
    x, g = rng.normal(size=(2, 2))
    ours, theirs = reference.module.Tensor(x, requires_grad=True), torch_leaf(x)
    y, z = ours, theirs
    for _ in range(50_000):
        y, z = -(y + ours), -(z + theirs)
    y.backward(g)
    z.backward(torch.tensor(g))
    same(ours.grad, theirs.grad)


@exercise("no_grad")
def test_nesting_against_torch(reference, rng):
    """Random nesting, with and without exceptions: whether a result requires a gradient, at every point."""

    def flags(make, no_grad, tree) -> list[bool]:
        """Before, inside and after each block of the tree; a block that is None raises."""
        seen = [(make([1.0]) * 2).requires_grad]
        for block in tree:
            with contextlib.suppress(KeyError), no_grad():
                if block is None:
                    raise KeyError
                seen += flags(make, no_grad, block)
            seen.append((make([1.0]) * 2).requires_grad)
        return seen

    module = reference.module
    trees = st.recursive(st.just([]), lambda inner: st.lists(st.none() | inner, max_size=3), max_leaves=6)

    @THOROUGH
    @given(trees)
    def check(tree):
        ours = flags(lambda data: module.Tensor(data, requires_grad=True), module.no_grad, tree)
        assert ours == flags(torch_leaf, torch.no_grad, tree)

    check()


@exercise("Tensor.detach")
def test_detach_against_torch(reference, rng):
    """Gradients of products with a detached factor, and shared memory."""
    x, g = rng.normal(size=(2, 3))
    a, b = reference.module.Tensor(x, requires_grad=True), torch_leaf(x)
    for function in (lambda t: t * t.detach(), lambda t: (t * t).detach() * t, lambda t: (t * t).detach() + t * t):
        function(a).backward(g)
        function(b).backward(torch.tensor(g))
    same(a.grad, b.grad)
    for h in (a * a, b * b):
        detached = h.detach()
        detached.data[0] = 7.0
        assert h.data[0] == 7.0
        assert not detached.requires_grad


@exercise("Tensor.register_hook")
def test_hooks_against_torch(reference, rng):
    """Hooks on random tensors of random graphs: what they see, what they replace."""
    Tensor = reference.module.Tensor

    @THOROUGH
    @given(graphs(), st.lists(st.tuples(st.integers(0, 20), st.sampled_from([None, -1.0, 0.0, 2.5])), max_size=5))
    def check(graph, hooks):
        arrays = [rng.normal(size=shape) for shape in graph[0]]
        seen = ([], [])
        engines = [compute(graph, arrays, leaf) for leaf in (lambda a: Tensor(a, requires_grad=True), torch_leaf)]
        for (_, known), into in zip(engines, seen, strict=True):
            for number, (where, factor) in enumerate(hooks):

                def hook(g, into=into, number=number, factor=factor):
                    into.append((number, np.array(g)))
                    return None if factor is None else g * factor

                known[where % len(known)].register_hook(hook)
        (leaves, ours), (theirs_leaves, theirs) = engines
        g = rng.normal(size=ours[-1].shape)
        ours[-1].backward(g)
        theirs[-1].backward(torch.tensor(g))
        for got, expected in zip(leaves, theirs_leaves, strict=True):
            same(got.grad, expected.grad)
        mine, others = (sorted(calls, key=lambda call: call[0]) for calls in seen)  # each engine has its order
        assert [number for number, _ in mine] == [number for number, _ in others]
        for (_, got), (_, expected) in zip(mine, others, strict=True):
            np.testing.assert_allclose(got, expected, **EXACT)

    check()


@exercise("train_digits")
def test_training_against_torch(reference, rng):
    """The same start, batches and steps in PyTorch read the same labels, from images of noise, too."""
    X, y = load_digits_train()
    X, y = X[:320], y[:320]
    X_test = np.concatenate([load_digits_train()[0][320:], rng.uniform(size=(200, 64))])
    draws = np.random.default_rng(4)
    start = [draws.normal(size=(64, 64)) * np.sqrt(2 / 64), np.zeros(64)]
    start += [draws.normal(size=(64, 10)) * np.sqrt(2 / 64), np.zeros(10)]
    W1, b1, W2, b2 = leaves = [torch_leaf(array) for array in start]
    optimizer = torch.optim.SGD(leaves, lr=0.2)
    images, targets = torch.tensor(X), torch.tensor(y)

    def logits(images):
        return torch.relu(images @ W1 + b1) @ W2 + b2

    for _ in range(12):
        for rows in np.array_split(draws.permutation(320), 10):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(logits(images[rows]), targets[rows]).backward()
            optimizer.step()
    expected = logits(torch.tensor(X_test)).argmax(dim=1).numpy()
    np.testing.assert_array_equal(reference.module.train_digits(X, y, X_test, 4), expected)
