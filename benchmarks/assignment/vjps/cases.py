"""What the NumPy assignment is checked on: the same arrays, tolerance and number of cases for every grader."""

import zlib

import numpy as np

TOLERANCE = {"rtol": 1e-7, "atol": 1e-10}

CHECKS = {  # exercise, its checks, and what they call it with; all but the first check of each are hidden
    "matmul_vjp": {
        "matrices": [((1, 1), (1, 1)), ((3, 3), (3, 3)), ((4, 3), (3, 5)), ((1, 3), (3, 2))],
        "stacks": [((4, 2, 3), (4, 3, 5)), ((4, 2, 3), (3, 5)), ((1, 2, 3), (4, 3, 2)), ((2, 1, 3, 4), (5, 4, 2))],
        "hidden": [((5, 2), (2, 7)), ((3, 2, 2), (2, 2)), ((2, 3), (4, 3, 2)), ((3, 1, 2, 2), (1, 3, 2, 2))],
    },
    "relu_vjp": {
        "clear": [(1,), (6,), (3, 4)],
        "zeros": [(2,), (4, 4), (2, 3, 4)],
        "hidden": [(7,), (5, 3), (2, 2, 6)],
    },
    "cross_entropy_gradient": {
        "one row": [(1, 2), (1, 3), (1, 10)],
        "batches": [(2, 2), (4, 3), (32, 10)],
        "hidden": [(3, 4), (16, 10), (64, 5)],
    },
    "add_vjp": {
        "one shape": [((1,), (1,)), ((4,), (4,)), ((2, 3), (2, 3))],
        "broadcast": [((4, 3), (3,)), ((2, 3), (2, 1)), ((1, 3), (2, 3)), ((2, 1), (1, 3))],
        "hidden": [((3, 3), (3,)), ((2, 3, 4), (1, 3, 1)), ((2,), (3, 4, 2)), ((5, 1, 4, 1), (3, 1, 2))],
    },
    "mlp_gradients": {
        "one image": [(1, 2, 3, 2), (1, 4, 5, 3)],
        "batches": [(3, 4, 5, 3), (16, 8, 6, 4)],
        "hidden": [(5, 3, 4, 2), (32, 16, 8, 10)],
    },
}


def cases(exercise, check):
    """The arguments of each call that a check makes."""
    rng = np.random.default_rng(zlib.crc32(f"{exercise}/{check}".encode()))
    return [_DRAW[exercise](rng, shape, check) for shape in CHECKS[exercise][check]]


def answer(submission, exercise, arguments):
    """What a submission (its names as attributes) gives for one case."""
    return getattr(submission, exercise)(*arguments)


def _matmul(rng, shapes, check):
    A, B = (rng.normal(size=shape) for shape in shapes)
    return rng.normal(size=np.matmul(A, B).shape), A, B


def _relu(rng, shape, check):
    x = rng.normal(size=shape)
    if check != "clear":
        x.flat[::2] = 0.0
    return rng.normal(size=shape), x


def _cross_entropy(rng, shape, check):
    n, classes = shape
    return rng.normal(size=shape) * (300.0 if check == "hidden" else 1.0), rng.integers(classes, size=n)


def _add(rng, shapes, check):
    a, b = (rng.normal(size=shape) for shape in shapes)
    return rng.normal(size=(a + b).shape), a, b


def _mlp(rng, sizes, check):
    n, inputs, hidden, classes = sizes
    X, labels = rng.normal(size=(n, inputs)), rng.integers(classes, size=n)
    parameters = [rng.normal(size=shape) for shape in ((inputs, hidden), (hidden,), (hidden, classes), (classes,))]
    return X, labels, *parameters


_DRAW = {
    "matmul_vjp": _matmul,
    "relu_vjp": _relu,
    "cross_entropy_gradient": _cross_entropy,
    "add_vjp": _add,
    "mlp_gradients": _mlp,
}
