"""What the PyTorch assignment is checked on: the same arrays, tolerance and number of cases for every grader."""

import zlib

import numpy as np

TOLERANCE = {"rtol": 1e-7, "atol": 1e-10}

CHECKS = {  # exercise, its checks, and the shapes of y and of the inputs; all but the first check of each are hidden
    "Gelu": {
        "small": [((1,), (1,)), ((5,), (5,))],
        "matrices": [((3, 4), (3, 4)), ((2, 3, 4), (2, 3, 4))],
        "hidden": [((6,), (6,)), ((4, 2), (4, 2)), ((1, 5, 3), (1, 5, 3))],
    },
    "Linear": {
        "one row": [((1, 2), (1, 3), (2, 3), (2,)), ((1, 4), (1, 4), (4, 4), (4,))],
        "batches": [((3, 2), (3, 4), (2, 4), (2,)), ((16, 5), (16, 8), (5, 8), (5,))],
        "hidden": [((4, 3), (4, 5), (3, 5), (3,)), ((32, 8), (32, 8), (8, 8), (8,))],
    },
    "LayerNorm": {
        "rows": [((1, 3), (1, 3)), ((1, 8), (1, 8))],
        "batches": [((4, 5), (4, 5)), ((2, 3, 6), (2, 3, 6))],
        "hidden": [((7, 4), (7, 4)), ((2, 2, 16), (2, 2, 16))],
    },
}


def cases(exercise, check):
    """The arguments of each call that a check makes."""
    rng = np.random.default_rng(zlib.crc32(f"{exercise}/{check}".encode()))
    return [[rng.normal(size=shape) for shape in shapes] for shapes in CHECKS[exercise][check]]


def answer(submission, exercise, arguments):
    """What a submission (its names as attributes) gives for one case; `once` is the assignment's scenario."""
    return once(submission, exercise, *arguments)  # noqa: F821
