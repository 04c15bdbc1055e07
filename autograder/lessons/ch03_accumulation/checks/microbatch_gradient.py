"""Checks of microbatch_gradient."""

from __future__ import annotations

import math

import numpy as np

from autograder.judging import EXACT, exercise, expect, expect_close
from autograder.lessons.ch03_accumulation.checks.tolerances import SINGLE
from autograder.wording import enumeration


class Model:
    """A model that is linear in its parameters, of any names and shapes; it records the arguments of `gradient`."""

    calls: list[tuple[np.ndarray, np.ndarray]]
    params: dict[str, np.ndarray] | None
    """The parameters that `gradient` must be given; None if any will do."""

    def __init__(self, rng, shapes, n, row):
        inputs = math.prod(row)
        self.features = {name: rng.normal(size=(*shape, inputs)) for name, shape in shapes.items()}
        self.calls = []
        self.params = None
        self._most, self._row = n, row

    def gradient(self, *arguments, **named):
        """The mean over the rows of the gradient of ½(prediction − y)²; nan for no rows."""
        params, X, y = by_position(("params", "X", "y"), arguments, named)
        expect_as_they_are(params, self.params)
        return self.mean(params, np.asarray(X), np.asarray(y))

    def mean(self, params, X, y):
        """As `gradient`, of arrays and of any values of the parameters."""
        if len(X) != len(y):
            raise ValueError(f"grad_fn got {len(X)} rows of X and {len(y)} of y")
        if len(X) > self._most or X.shape[1:] != self._row:  # nothing larger is computed here
            raise ValueError(f"grad_fn takes rows of X, of shape {self._row}, and there are {self._most}")
        self.calls.append((X, y))
        rows = X.reshape(len(X), math.prod(X.shape[1:]))
        felt = {name: np.tensordot(rows, feature, (1, -1)) for name, feature in self.features.items()}
        errors = -_sum_rows(y)
        for name, value in felt.items():
            errors = errors + _sum_rows(value * params[name])
        with np.errstate(all="ignore"):
            means = {name: np.tensordot(errors, felt[name], 1) / np.float64(len(X)) for name in felt}
        return {name: np.asarray(mean).astype(np.asarray(params[name]).dtype) for name, mean in means.items()}


def by_position(names, arguments, named):
    """The arguments of a call of `grad_fn`; `ValueError` if they are not as many as `names`, or some have a keyword."""
    if named or len(arguments) != len(names):
        raise ValueError(f"grad_fn takes its {len(names)} arguments by position: grad_fn({', '.join(names)})")
    return arguments


def expect_as_they_are(params, right):
    """`ValueError` if `grad_fn` did not get the parameters with their own keys, shapes, dtypes and values."""
    if right is None:
        return
    if not isinstance(params, dict) or params.keys() != right.keys():
        raise ValueError(f"grad_fn takes params as they are: a dict with the keys {enumeration([*map(repr, right)])}")
    for name, array in right.items():
        given, said = np.asarray(params[name]), f"grad_fn takes params as they are: {name!r}"
        if given.shape != array.shape:
            raise ValueError(f"{said} has the shape {array.shape}, not {given.shape}")
        if given.dtype != array.dtype:
            raise ValueError(f"{said} is {array.dtype}, not {given.dtype}")
        if not np.array_equal(given, array, equal_nan=True):
            raise ValueError(f"{said} had other values than in params")


def _sum_rows(array):
    return array.sum(axis=tuple(range(1, array.ndim)))


def problem(rng, shapes, n, row=(3,), dtype=np.float64):
    """A model, its parameters, and n rows."""
    model = Model(rng, shapes, n, row)
    params = {name: np.asarray(rng.normal(size=shape), dtype=dtype) for name, shape in shapes.items()}
    return model, params, rng.normal(size=(n, *row)).astype(dtype), rng.normal(size=n).astype(dtype)


LINEAR: dict[str, tuple[int, ...]] = {"w": (3,), "b": ()}
LAYER: dict[str, tuple[int, ...]] = {"w": (2, 3), "b": (2,), "scale": ()}


def check_microbatches(learner, model, params, X, y, batch_size, case, **tolerance):
    """Expect the gradient of all rows, from calls with at most `batch_size` rows."""
    model.params = params
    got = learner.microbatch_gradient(model.gradient, params, X, y, batch_size)
    calls = list(model.calls)
    most = max((len(rows) for rows, _ in calls), default=0)
    expect(
        most <= batch_size,
        f"grad_fn was given {most} rows at once, and batch_size is {batch_size}: more do not fit into memory",
        case=case,
    )
    expect_close(got, model.gradient(params, X, y), case=case, **tolerance)
    return calls


@exercise("microbatch_gradient")
def test_equal_batches(learner, rng):
    """`batch_size` divides n."""
    for case, n, batch_size in [("two rows, one at a time", 2, 1), ("two micro-batches", 6, 3), ("four", 8, 2)]:
        check_microbatches(learner, *problem(rng, LINEAR, n), batch_size, case, **EXACT)


@exercise("microbatch_gradient")
def test_short_last_batch(learner, rng):
    """The last micro-batch has fewer rows, and counts for less."""
    for case, n, batch_size in [
        ("two rows and one row", 3, 2),
        ("three, three and one", 7, 3),
        ("five and four", 9, 5),
        ("a last one of one row in 21", 21, 4),
    ]:
        check_microbatches(learner, *problem(rng, LINEAR, n), batch_size, case, **EXACT)


@exercise("microbatch_gradient")
def test_extreme_batch_sizes(learner, rng):
    """One row in all, n at once, more than n, one at a time."""
    for case, n, batch_size in [
        ("one row in all", 1, 1),
        ("batch_size is n", 4, 4),
        ("batch_size is larger than n", 4, 7),
        ("batch_size is far larger than n", 3, 1000),
        ("one row at a time", 5, 1),
    ]:
        check_microbatches(learner, *problem(rng, LINEAR, n), batch_size, case, **EXACT)


@exercise("microbatch_gradient")
def test_names_and_shapes(learner, rng):
    """Parameters of any names and shapes, rows of any shape."""
    for case, shapes, row in [
        ("one parameter of shape ()", {"bias": ()}, (2,)),
        ("a matrix, a vector and a 0-d array", {"layer.0.weight": (2, 3), "layer.0.bias": (2,), "scale": ()}, (3,)),
        ("a parameter without entries", {"w": (2,), "empty": (0,)}, (2,)),
        ("four axes, images as rows", {"kernel": (2, 1, 2, 2), "γ": (1,)}, (2, 2)),
        ("rows that are numbers", {"w": (3,)}, ()),
    ]:
        check_microbatches(learner, *problem(rng, shapes, 5, row), 2, case, **EXACT)
    model, params, X, y = problem(rng, LINEAR, 5)
    check_microbatches(learner, model, params, X, y[:, None], 3, "y of shape (n, 1)", **EXACT)


def _pairs(X, y):
    """Each row with its target."""
    return list(zip(X.tolist(), y.tolist(), strict=True))


@exercise("microbatch_gradient")
def test_calls(learner, rng):
    """ceil(n / batch_size) calls, and each row in one of them, with its own y."""
    for n, batch_size in [(1, 1), (4, 2), (5, 2), (7, 3), (6, 6), (5, 9)]:
        model, params, X, y = problem(rng, LINEAR, n)
        case = f"{n} rows, batch_size {batch_size}"
        calls = check_microbatches(learner, model, params, X, y, batch_size, case, **EXACT)
        needed = -(-n // batch_size)
        times = "once" if len(calls) == 1 else f"{len(calls)} times"
        expect(len(calls) == needed, f"grad_fn was called {times}; ceil(n / batch_size) is {needed}", case=case)
        seen = sorted(pair for rows, targets in calls for pair in _pairs(rows, targets))
        right = sorted(_pairs(X, y))
        expect(seen == right, "grad_fn must see every row exactly once, each with its own y", case=case)


@exercise("microbatch_gradient")
def test_microbatches_in_float32(learner, rng):
    """Each gradient has the dtype of its parameter."""
    for case, n, batch_size in [("float32", 4, 2), ("float32, a short last one", 7, 3)]:
        check_microbatches(learner, *problem(rng, LAYER, n, dtype=np.float32), batch_size, case, **SINGLE)
    model, params, X, y = problem(rng, LAYER, 5)
    params["b"] = params["b"].astype(np.float32)
    check_microbatches(learner, model, params, X, y, 2, "one parameter in float32", **SINGLE)


@exercise("microbatch_gradient")
def test_every_kind_of_input(learner, rng, kinds):
    """0, -0, denormal numbers, small entries beside large ones, each array in its own dtype, and views."""
    for kind in kinds:
        (w, b), X, y = kind.drawn["params"], kind.drawn["X"], kind.drawn["y"]
        model = Model(rng, {"w": w.shape, "b": b.shape}, len(X), X.shape[1:])
        asked = learner.in_layout(kind.layout_of("", "params", "X", "y", ""))
        tolerance = kind.tolerance(model.gradient({"w": w, "b": b}, X, y), (w, X, y))
        model.calls.clear()
        check_microbatches(asked, model, {"w": w, "b": b}, X, y, 2, kind.label, **tolerance)
