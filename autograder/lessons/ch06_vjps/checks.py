"""Checks of ch06_vjps: eighteen vector-Jacobian products, each against the reference on random upstream gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.judging import EXACT, F32, F64, exercise, expect_close, random

SINGLE = {"rtol": 1e-4, "atol": 1e-5}
DTYPES = {  # what is float32, for operations with one input: (dtype of g, dtype of the input)
    "float32 throughout": (F32, F32),
    "a float32 input and a float64 g": (F64, F32),
}


def agree(
    mine: Callable[..., Any],
    theirs: Callable[..., Any],
    *arguments: Any,
    names: tuple[str, ...],
    case: str,
    rtol: float = EXACT["rtol"],
    atol: float = EXACT["atol"],
    **options: Any,
) -> None:
    """Expect the learner's function to return what the reference returns."""
    expected = theirs(*arguments, **options)
    expect_close(mine(*arguments, **options), expected, names=names, case=case, rtol=rtol, atol=atol)


def distinct(rng, shape, dtype=F64):
    """Random numbers of both signs at least 0.5 apart, so that every maximum is clear."""
    size = int(np.prod(shape))
    numbers = rng.permutation(size) - size / 2 + rng.uniform(0.0, 0.5, size=size)
    return numbers.reshape(shape).astype(dtype)


def elementwise(rng, a_shape, b_shape, dtypes=(F64, F64, F64)):
    """g, a and b for an operation with broadcasting."""
    shape = np.broadcast_shapes(a_shape, b_shape)
    return tuple(random(rng, s, dtype) for s, dtype in zip((shape, a_shape, b_shape), dtypes, strict=True))


# add_vjp and mul_vjp

BIAS = {  # what broadcasts: shapes of a and b, smallest first
    "one entry each": ((1,), (1,)),
    "operands of one shape": ((2, 3), (2, 3)),
    "a row added to one row": ((1, 3), (3,)),
    "a row added to every row": ((4, 3), (3,)),
    "a row added along two leading axes": ((2, 4, 3), (3,)),
}
STRETCHED = {
    "b stretched from one entry": ((3,), (1,)),
    "a stretched from one entry": ((1,), (3,)),
    "b a column": ((2, 3), (2, 1)),
    "a a row of shape (1, n)": ((1, 3), (2, 3)),
    "b a column, square a": ((3, 3), (3, 1)),
    "a a row, square b": ((1, 3), (3, 3)),
    "a stretched along its middle axis": ((2, 1, 4), (2, 3, 4)),
    "b stretched along its first and last axis": ((2, 3, 4), (1, 3, 1)),
    "size-1 axes on both sides": ((2, 1, 3), (1, 1, 3)),
}
LEADING = {
    "b a 0-d array": ((3,), ()),
    "a a 0-d array": ((), (2, 3)),
    "a lacks the leading axis": ((3,), (4, 3)),
    "b lacks the leading axis of a square a": ((3, 3), (3,)),
    "a lacks two leading axes": ((2,), (3, 4, 2)),
    "b has an extra leading axis of size 1": ((3,), (1, 3)),
    "a has extra leading axes of size 1": ((1, 1, 2), (3, 2)),
    "b lacks the leading axis and is stretched": ((2, 3, 4), (3, 1)),
}
BOTH = {
    "a column and a row": ((2, 1), (1, 3)),
    "a square column and row": ((3, 1), (1, 3)),
    "a column and a vector": ((2, 1), (3,)),
    "both stretched, on different axes": ((4, 1, 3), (2, 1)),
    "both stretched twice": ((5, 1, 4, 1), (3, 1, 2)),
    "an empty batch": ((0, 3), (1, 3)),
    "an empty axis and a vector": ((2, 0, 3), (3,)),
}
OPERAND_DTYPES = {
    "float32 throughout": (F32, F32, F32),
    "float32 operands and a float64 g": (F64, F32, F32),
    "a float32, b float64": (F64, F32, F64),
    "a float64, b float32": (F64, F64, F32),
}


def agree_elementwise(learner, reference, rng, name, shapes, dtypes=(F64, F64, F64), **tolerance):
    mine, theirs = getattr(learner, name), getattr(reference, name)
    for case, (a_shape, b_shape) in shapes.items():
        agree(mine, theirs, *elementwise(rng, a_shape, b_shape, dtypes), names=("da", "db"), case=case, **tolerance)


@exercise("add_vjp")
def test_add_a_bias(learner, reference, rng):
    """g for the one, g summed over the rows for the other."""
    agree_elementwise(learner, reference, rng, "add_vjp", BIAS)


@exercise("mul_vjp")
def test_mul_one_shape(learner, reference, rng):
    """da = g b and db = g a."""
    shapes = {"0-d arrays": (), "one entry each": (1,), "vectors": (4,), "matrices": (2, 3), "three axes": (2, 1, 3)}
    agree_elementwise(learner, reference, rng, "mul_vjp", {case: (s, s) for case, s in shapes.items()})


@exercise("add_vjp", "mul_vjp")
def test_stretched_axes(learner, reference, rng, name):
    """The gradient is summed over an axis of size 1 that was stretched, and the axis stays."""
    agree_elementwise(learner, reference, rng, name, STRETCHED)


@exercise("add_vjp", "mul_vjp")
def test_leading_axes(learner, reference, rng, name):
    """Axes that an operand lacks are summed away, scalars included."""
    agree_elementwise(learner, reference, rng, name, LEADING)


@exercise("add_vjp", "mul_vjp")
def test_both_broadcast(learner, reference, rng, name):
    """Both operands are stretched, each along its own axes; empty arrays."""
    agree_elementwise(learner, reference, rng, name, BOTH)


@exercise("add_vjp", "mul_vjp")
def test_operand_dtypes(learner, reference, rng, name):
    """Each gradient has the dtype of its operand."""
    for case, dtypes in OPERAND_DTYPES.items():
        for shapes in [((2,), (2,)), ((2, 3), (2, 3)), ((3, 2), (2,))]:
            agree_elementwise(learner, reference, rng, name, {case: shapes}, dtypes, **SINGLE)


# matmul_vjp


def agree_matmul(learner, reference, rng, shapes, dtypes=(F64, F64, F64), **tolerance):
    for case, (A_shape, B_shape) in shapes.items():
        A, B = random(rng, A_shape, dtypes[1]), random(rng, B_shape, dtypes[2])
        g = random(rng, np.matmul(A, B).shape, dtypes[0])
        agree(learner.matmul_vjp, reference.matmul_vjp, g, A, B, names=("dA", "dB"), case=case, **tolerance)


@exercise("matmul_vjp")
def test_matrices(learner, reference, rng):
    """dA = g Bᵀ and dB = Aᵀ g."""
    shapes = {
        "1 × 1 matrices": ((1, 1), (1, 1)),
        "square matrices": ((3, 3), (3, 3)),
        "a row times a matrix": ((1, 3), (3, 2)),
        "a column times a row": ((2, 1), (1, 3)),
        "plain matrices": ((4, 3), (3, 5)),
        "an empty batch of rows": ((0, 3), (3, 2)),
    }
    agree_matmul(learner, reference, rng, shapes)


@exercise("matmul_vjp")
def test_stacks_of_matrices(learner, reference, rng):
    """One product for each pair of matrices in two equal stacks."""
    shapes = {
        "a stack of one": ((1, 2, 3), (1, 3, 2)),
        "a stack": ((4, 2, 3), (4, 3, 5)),
        "a cube": ((3, 3, 3), (3, 3, 3)),
        "two leading axes": ((2, 3, 1, 4), (2, 3, 4, 2)),
    }
    agree_matmul(learner, reference, rng, shapes)


@exercise("matmul_vjp")
def test_one_matrix_for_the_whole_stack(learner, reference, rng):
    """A matrix that every product of the stack uses gets the sum of the gradients."""
    shapes = {
        "B one matrix, A a stack": ((2, 1, 3), (3, 2)),
        "A one matrix, B a stack": ((1, 3), (2, 3, 2)),
        "B one matrix, A a cube": ((3, 3, 3), (3, 3)),
        "A one matrix, B with two leading axes": ((2, 3), (4, 2, 3, 2)),
        "B one matrix, A with two leading axes": ((4, 2, 5, 3), (3, 2)),
    }
    agree_matmul(learner, reference, rng, shapes)


@exercise("matmul_vjp")
def test_broadcast_stacks(learner, reference, rng):
    """Leading axes of size 1 are stretched, in A, in B and in both."""
    shapes = {
        "A a stack of one": ((1, 2, 3), (4, 3, 2)),
        "B a stack of one": ((4, 2, 3), (1, 3, 2)),
        "A stretched along its second axis": ((2, 1, 3, 4), (2, 5, 4, 2)),
        "A stretched, B lacks an axis": ((2, 1, 3, 4), (5, 4, 2)),
        "both stretched": ((3, 1, 2, 2), (1, 3, 2, 2)),
        "both stretched, with rows and columns of size 1": ((2, 1, 1, 3), (4, 3, 1)),
    }
    agree_matmul(learner, reference, rng, shapes)


@exercise("matmul_vjp")
def test_matmul_dtypes(learner, reference, rng):
    """Each gradient has the dtype of its matrix."""
    for case, dtypes in OPERAND_DTYPES.items():
        words = case.replace("a float", "A float").replace("b float", "B float").replace("operands", "matrices")
        for shapes in [((2, 2), (2, 2)), ((2, 3), (3, 4))]:
            agree_matmul(learner, reference, rng, {words: shapes}, dtypes, **SINGLE)


# sum_vjp and max_vjp


def agree_sum(
    learner, reference, rng, shape, case, dtypes=(F64, F64), rtol=EXACT["rtol"], atol=EXACT["atol"], **options
):
    x = random(rng, shape, dtypes[1])
    g = random(rng, x.sum(**options).shape, dtypes[0])
    agree(learner.sum_vjp, reference.sum_vjp, g, x, names=("dx",), case=case, rtol=rtol, atol=atol, **options)


@exercise("sum_vjp")
def test_sum_over_one_axis(learner, reference, rng):
    """Every entry gets the gradient of the sum that it went into."""
    for case, shape, axis in [
        ("the first axis", (2, 3), 0),
        ("the last axis", (2, 3), 1),
        ("an axis of size 1", (3, 1), 1),
        ("the last axis of a square x", (3, 3), 1),
        ("the last axis, counted from the end", (3, 3), -1),
        ("the middle axis", (2, 3, 4), 1),
        ("the middle axis, counted from the end", (3, 3, 3), -2),
        ("the first axis, counted from the end", (2, 3, 2), -3),
    ]:
        agree_sum(learner, reference, rng, shape, case, axis=axis)


@exercise("sum_vjp")
def test_sum_over_everything(learner, reference, rng):
    """axis=None, the default: one number for all entries."""
    for case, shape in [("one entry", (1,)), ("a vector", (3,)), ("a matrix", (2, 3)), ("three axes", (2, 1, 3))]:
        agree_sum(learner, reference, rng, shape, f"{case}, no axis given")
        agree_sum(learner, reference, rng, shape, f"{case}, keepdims=True", keepdims=True)
    agree_sum(learner, reference, rng, (), "a 0-d array, axis=None", axis=None)
    agree_sum(learner, reference, rng, (0, 2), "an empty array, axis=None", axis=None, keepdims=False)


@exercise("sum_vjp")
def test_sum_keepdims(learner, reference, rng):
    """With keepdims=True g has the summed axes already."""
    for case, shape, axis in [
        ("the first axis", (2, 3), 0),
        ("the last axis", (3, 3), 1),
        ("the last axis, counted from the end", (2, 4), -1),
        ("the middle axis", (2, 3, 4), 1),
        ("two axes", (2, 3, 4), (0, 2)),
        ("two axes, counted from the end", (2, 3, 4), (-1, -2)),
    ]:
        agree_sum(learner, reference, rng, shape, f"{case}, keepdims=True", axis=axis, keepdims=True)


@exercise("sum_vjp")
def test_sum_over_several_axes(learner, reference, rng):
    """A tuple of axes, in any order and counted from either end."""
    for case, shape, axis in [
        ("a tuple of one axis", (3, 3), (1,)),
        ("both axes of a matrix", (2, 3), (0, 1)),
        ("the first and the last axis", (2, 3, 4), (0, 2)),
        ("the last two axes", (3, 3, 3), (1, 2)),
        ("two axes, counted from the end", (3, 3, 3), (-1, -2)),
        ("axes not in order", (2, 3, 2, 3), (2, 0)),
        ("axes counted from both ends", (2, 3, 2, 3), (0, -1)),
        ("an empty axis that stays", (0, 2, 3), (1, 2)),
        ("an empty axis that is summed", (2, 0, 3), (1, 2)),
    ]:
        agree_sum(learner, reference, rng, shape, case, axis=axis)


@exercise("sum_vjp")
def test_sum_dtypes(learner, reference, rng):
    """dx has the dtype of x."""
    for case, dtypes in DTYPES.items():
        agree_sum(learner, reference, rng, (3,), case, dtypes, **SINGLE)
        agree_sum(learner, reference, rng, (2, 3), case, dtypes, axis=0, **SINGLE)


def agree_max(learner, reference, rng, x, axis, case, dtype=F64, **tolerance):
    g = random(rng, x.max(axis=axis).shape, dtype)
    agree(learner.max_vjp, reference.max_vjp, g, x, axis, names=("dx",), case=case, **tolerance)


@exercise("max_vjp")
def test_max_without_ties(learner, reference, rng):
    """The largest entry gets all of the gradient."""
    for case, shape, axis in [
        ("a vector", (3,), 0),
        ("the first axis", (2, 3), 0),
        ("the last axis", (2, 3), 1),
        ("the last axis of a square x", (3, 3), 1),
        ("the last axis, counted from the end", (3, 3), -1),
        ("the middle axis", (2, 3, 4), 1),
        ("the middle axis, counted from the end", (3, 3, 3), -2),
        ("an axis of size 1", (3, 1), 1),
        ("an empty batch", (0, 3), 1),
    ]:
        agree_max(learner, reference, rng, distinct(rng, shape), axis, case)
    agree_max(learner, reference, rng, -1 - np.abs(distinct(rng, (3, 4))), 1, "all entries negative")


@exercise("max_vjp")
def test_max_shares_ties(learner, reference, rng):
    """Entries that are exactly the maximum share equally; one that is only close to it gets nothing."""
    top = rng.uniform(2.0, 3.0)
    low = -rng.uniform(1.0, 2.0, size=3)
    agree_max(learner, reference, rng, np.array([top, top]), 0, "two equal entries")
    agree_max(learner, reference, rng, np.array([low[0], top, low[1], top, low[2]]), 0, "a tie of two among five")
    agree_max(learner, reference, rng, np.array([[top, top, top], [0.0, low[0], 0.0]]), 1, "ties of three and of two")
    agree_max(learner, reference, rng, np.array([[top, low[0]], [low[1], top], [top, top]]), 0, "ties in each column")
    agree_max(learner, reference, rng, np.array([[top, top], [top, low[0]]]), -1, "one row with a tie, one without")
    agree_max(learner, reference, rng, np.full((2, 4, 3), low[0]), 1, "all entries equal")
    agree_max(learner, reference, rng, np.array([[top, top * (1 + 1e-12), low[0]]] * 2), 1, "an entry close to the top")


@exercise("max_vjp")
def test_max_dtypes(learner, reference, rng):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        agree_max(learner, reference, rng, distinct(rng, (2, 3), x_dtype), 1, case, g_dtype, **SINGLE)
        agree_max(learner, reference, rng, distinct(rng, (3, 2), x_dtype), 0, case, g_dtype, **SINGLE)


# relu_vjp, sigmoid_vjp and tanh_vjp

SHAPES = {
    "one entry": (1,),
    "a 0-d array": (),
    "a vector": (5,),
    "a matrix": (3, 4),
    "three axes": (2, 1, 3),
    "an empty array": (0, 3),
}


def agree_activation(learner, reference, rng, name, inputs, dtype=F64, **tolerance):
    mine, theirs = getattr(learner, name), getattr(reference, name)
    for case, x in inputs.items():
        agree(mine, theirs, random(rng, x.shape, dtype), x, names=("dx",), case=case, **tolerance)


def extremes(rng, dtype=F64):
    """Inputs of a saturating function, with a moderate one in each so that not all of the gradient is 0."""
    moderate = rng.uniform(0.2, 2.0, size=4)
    return {
        "an entry of 1000": np.array([1000.0, moderate[0]], dtype=dtype),
        "an entry of -1000": np.array([-1000.0, moderate[1]], dtype=dtype),
        "entries of ±1000": np.array([[-1000.0, 0.0, 1000.0], [moderate[2], 710.0, -moderate[3]]], dtype=dtype),
        "entries of ±100": np.array([[-100.0, 100.0, -moderate[0]], [moderate[1], 90.0, -90.0]], dtype=dtype),
    }


@exercise("relu_vjp")
def test_relu_passes_where_x_is_positive(learner, reference, rng):
    """g where x > 0 and 0 where x < 0, whatever the sign and size of g."""
    signed = {case: distinct(rng, shape) + 0.75 for case, shape in SHAPES.items()}
    pair = {
        "one positive and one negative entry": rng.uniform(0.5, 2.0, size=2) * [1, -1],
        "entries far below and above 1": rng.uniform(0.5, 2.0, size=(2, 3)) * [[1e-9, -1e-9, 1], [1e6, -1e6, -1]],
    }
    agree_activation(learner, reference, rng, "relu_vjp", pair | signed)


@exercise("relu_vjp")
def test_relu_at_zero(learner, reference, rng):
    """The derivative at 0 is 0; beside it, it is not."""
    a, b = rng.uniform(0.5, 2.0, size=2)
    inputs = {
        "an entry of exactly 0": np.array([0.0, a]),
        "an entry of -0.0": np.array([a, -0.0]),
        "an entry just above 0": np.array([0.0, 1e-300, -1e-300]),
        "zeros in a matrix": np.array([[0.0, a, -b], [-a, 0.0, b]]),
    }
    agree_activation(learner, reference, rng, "relu_vjp", inputs)


@exercise("relu_vjp")
def test_relu_dtypes(learner, reference, rng):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        inputs = {case: distinct(rng, (4, 3), x_dtype), f"{case}, 0-d": np.asarray(rng.uniform(0.5, 1), x_dtype)}
        agree_activation(learner, reference, rng, "relu_vjp", inputs, g_dtype, **SINGLE)


@exercise("sigmoid_vjp", "tanh_vjp")
def test_curve(learner, reference, rng, name):
    """g s (1 − s), where s is the sigmoid of x; g (1 − tanh²x)."""
    inputs = {"an entry of 0": np.zeros(1)} | {case: 2 * random(rng, shape) for case, shape in SHAPES.items()}
    agree_activation(learner, reference, rng, name, inputs)


@exercise("sigmoid_vjp", "tanh_vjp")
def test_extremes(learner, reference, rng, name):
    """Far from 0 the gradient vanishes; it is never nan, in float32 either."""
    agree_activation(learner, reference, rng, name, extremes(rng))
    single = {f"float32, {case}": x for case, x in extremes(rng, F32).items()}
    agree_activation(learner, reference, rng, name, single, F32, **SINGLE)


@exercise("sigmoid_vjp", "tanh_vjp")
def test_curve_dtypes(learner, reference, rng, name):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        inputs = {case: random(rng, (3, 4), x_dtype), f"{case}, 0-d": random(rng, (), x_dtype)}
        agree_activation(learner, reference, rng, name, inputs, g_dtype, **SINGLE)


# softmax_vjp and logsumexp_vjp

OTHER_AXES = {
    "the first axis": ((3, 2), 0),
    "the first axis of a square x": ((3, 3), 0),
    "the first axis, counted from the end": ((3, 3), -2),
    "the last axis by its number": ((3, 3), 1),
    "the middle axis": ((2, 3, 4), 1),
    "the middle axis of a cube": ((3, 3, 3), -2),
    "the first of three axes": ((4, 2, 3), 0),
}


def extreme_logits(rng):
    """Logits around ±1000 that still leave more than one entry with a probability."""
    near = rng.uniform(0.2, 1.5, size=8)
    return {
        "two logits near 1000": np.array([[1000.0, 1000.0 - near[0]]]),
        "logits near -1000": np.array([[-1000.0, -1000.0 - near[1], -1000.0 + near[2]]]),
        "logits of ±1000": np.array([[1000.0, -1000.0, 1000.0 + near[3]], [-1000.0, 0.0, near[4]]]),
        "rows that are 2000 apart": np.array([[1000.0, 1000.0 + near[5]], [-1000.0, -1000.0 - near[6]]]),
        "a row where one logit wins, and a plain one": np.array([[1000.0, -1000.0, 0.0], [near[6], -near[7], 0.0]]),
    }


def agree_along(learner, reference, rng, name, x, case, axis=None, dtype=F64, **tolerance):
    """Of logsumexp g lacks the axis. None stands for the default, the last one, which is not passed."""
    shape = x.shape if name == "softmax_vjp" else x.sum(axis=-1 if axis is None else axis).shape
    arguments = (random(rng, shape, dtype), x) if axis is None else (random(rng, shape, dtype), x, axis)
    agree(getattr(learner, name), getattr(reference, name), *arguments, names=("dx",), case=case, **tolerance)


@exercise("softmax_vjp", "logsumexp_vjp")
def test_rows(learner, reference, rng, name):
    """dx = p (g − Σ g p) and dx = g p, along the last axis by default."""
    for case, shape in {
        "two entries": (2,),
        "one row": (1, 3),
        "a square x": (3, 3),
        "rows": (4, 5),
        "three axes": (2, 3, 4),
        "an axis of size 1": (3, 1),
        "an empty batch": (0, 3),
    }.items():
        agree_along(learner, reference, rng, name, random(rng, shape), case)
    agree_along(learner, reference, rng, name, np.full((2, 4), rng.normal()), "equal entries")


@exercise("softmax_vjp", "logsumexp_vjp")
def test_other_axes(learner, reference, rng, name):
    """The sum runs along the axis that was given, wherever it is."""
    for case, (shape, axis) in OTHER_AXES.items():
        agree_along(learner, reference, rng, name, random(rng, shape), case, axis)


@exercise("softmax_vjp", "logsumexp_vjp")
def test_extreme_entries(learner, reference, rng, name):
    """Right, not nan, for entries of ±1000."""
    for case, x in extreme_logits(rng).items():
        agree_along(learner, reference, rng, name, x, case, -1)


@exercise("softmax_vjp", "logsumexp_vjp")
def test_dtypes_along_an_axis(learner, reference, rng, name):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        for shape in [(3,), (2, 3)]:
            agree_along(learner, reference, rng, name, random(rng, shape, x_dtype), case, -1, g_dtype, **SINGLE)


# cross_entropy_vjp


def agree_cross_entropy(learner, reference, g, logits, targets, case, **tolerance):
    arguments = (learner.cross_entropy_vjp, reference.cross_entropy_vjp, g, logits, targets)
    agree(*arguments, names=("dlogits",), case=case, **tolerance)


def scalar(rng):
    """An upstream gradient that is one number, not close to 1 or -1."""
    return float(rng.choice([-1, 1]) * rng.uniform(1.5, 3.0))


@exercise("cross_entropy_vjp")
def test_cross_entropy_of_one_row(learner, reference, rng):
    """g (p − y), where y is 1 at the target and 0 elsewhere."""
    for case, c in {"two classes": 2, "three classes": 3, "many classes": 7}.items():
        for target in (0, c - 1):
            logits = random(rng, (1, c))
            agree_cross_entropy(learner, reference, scalar(rng), logits, np.array([target]), f"one row, {case}")


@exercise("cross_entropy_vjp")
def test_cross_entropy_of_a_batch(learner, reference, rng):
    """The mean over n rows divides every gradient by n."""
    for case, (n, c, targets) in {
        "two rows": (2, 2, [1, 0]),
        "as many rows as classes": (3, 3, [2, 0, 0]),
        "every row of one class": (4, 3, [1, 1, 1, 1]),
        "more rows than classes": (6, 3, [0, 2, 1, 2, 2, 0]),
        "more classes than rows": (2, 5, [4, 3]),
        "one class": (3, 1, [0, 0, 0]),
    }.items():
        logits, targets = random(rng, (n, c)), np.array(targets)
        agree_cross_entropy(learner, reference, scalar(rng), logits, targets, case)
    g, logits, targets = np.asarray(scalar(rng)), random(rng, (5, 4)), rng.integers(4, size=5)
    agree_cross_entropy(learner, reference, g, logits, targets, "g a 0-d array")


@exercise("cross_entropy_vjp")
def test_cross_entropy_of_extreme_logits(learner, reference, rng):
    """Right, not nan, where a probability underflows to 0, the target's own included."""
    for case, logits in extreme_logits(rng).items():
        n, c = logits.shape
        for target in range(c):
            targets = (target + np.arange(n)) % c
            agree_cross_entropy(learner, reference, scalar(rng), logits, targets, case)


@exercise("cross_entropy_vjp")
def test_cross_entropy_dtypes(learner, reference, rng):
    """dlogits has the dtype of the logits, whatever g and the targets have."""
    targets = rng.integers(3, size=4)
    for case, g_dtype in {"float32 logits, g a float64 array": F64, "float32 logits, g a float32 array": F32}.items():
        g, logits = np.asarray(scalar(rng), g_dtype), random(rng, (4, 3), F32)
        agree_cross_entropy(learner, reference, g, logits, targets, case, **SINGLE)
    logits = random(rng, (4, 3), F32)
    agree_cross_entropy(learner, reference, scalar(rng), logits, targets, "float32 logits, g a float", **SINGLE)
    logits, targets = random(rng, (4, 3)), targets.astype(np.int32)
    agree_cross_entropy(learner, reference, scalar(rng), logits, targets, "int32 targets")


# layernorm_vjp, rmsnorm_vjp and batchnorm_vjp

LAYERNORM = ("dx", "dgamma", "dbeta")
RMSNORM = ("dx", "dgamma")
NORM_DTYPES = {  # g, x, gamma and beta
    "float32 throughout": (F32, F32, F32, F32),
    "float32 inputs and a float64 g": (F64, F32, F32, F32),
    "a float32 x, float64 parameters": (F64, F32, F64, F64),
    "a float32 gamma, the rest float64": (F64, F64, F32, F64),
}


# All but the checks of eps itself pass eps=0.0, so that whoever forgets it loses those checks only.


def norm_arguments(rng, shape, parameters, dtypes=(F64,) * 4):
    """g, x and as many parameters; x is neither centered nor of variance 1."""
    g, x = random(rng, shape, dtypes[0]), 0.7 + 1.5 * random(rng, shape)
    return (g, x.astype(dtypes[1]), *(random(rng, shape[-1:], dtypes[2 + i]) for i in range(parameters)))


def agree_norm(mine, theirs, arguments, case, **options):
    names = LAYERNORM if len(arguments) == 4 else RMSNORM
    agree(mine, theirs, *arguments, names=names, case=case, **options)


LEADING_AXES = {
    "a single row without a batch axis": (4,),
    "three axes": (2, 3, 4),
    "three axes of one size": (3, 3, 3),
    "leading axes of size 1": (1, 1, 4),
    "four axes": (2, 1, 2, 3),
    "an empty batch": (0, 3),
}


@exercise("layernorm_vjp")
def test_layernorm_of_rows(learner, reference, rng):
    """Mean and variance depend on every entry of the row; the parameters' gradients are summed over the rows."""
    for case, shape in {"one row": (1, 3), "a square x": (4, 4), "rows": (3, 5)}.items():
        arguments = norm_arguments(rng, shape, 2)
        agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, case, eps=0.0)


@exercise("layernorm_vjp")
def test_layernorm_leading_axes(learner, reference, rng):
    """The parameters' gradients are summed over all axes but the last, however many."""
    for case, shape in LEADING_AXES.items():
        arguments = norm_arguments(rng, shape, 2)
        agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, case, eps=0.0)


@exercise("layernorm_vjp")
def test_layernorm_eps(learner, reference, rng):
    """eps stands under the root, beside the variance, in the backward pass too."""
    for eps in (0.5, 3.0):
        arguments = norm_arguments(rng, (2, 4), 2)
        agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, "a large eps", eps=eps)
    g, x, gamma, beta = norm_arguments(rng, (3, 4), 2)
    arguments = (g, 1 + 1e-3 * x, gamma, beta)
    case = "rows of a small variance, default eps"
    agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, case)
    agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, norm_arguments(rng, (3, 1), 2), "one feature")
    constant = np.full((2, 4), rng.normal())
    agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, (g[:2], constant, gamma, beta), "constant rows")


@exercise("layernorm_vjp")
def test_layernorm_dtypes(learner, reference, rng):
    """dx has the dtype of x, dgamma that of gamma, dbeta that of beta."""
    for case, dtypes in NORM_DTYPES.items():
        for shape in [(3, 4), (2, 2, 5)]:
            arguments = norm_arguments(rng, shape, 2, dtypes)
            agree_norm(learner.layernorm_vjp, reference.layernorm_vjp, arguments, case, eps=0.0, **SINGLE)


@exercise("rmsnorm_vjp")
def test_rmsnorm_of_rows(learner, reference, rng):
    """The mean square depends on every entry of the row; dgamma is summed over the rows."""
    for case, shape in {"one row": (1, 3), "a square x": (4, 4), "rows": (3, 5)}.items():
        agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, norm_arguments(rng, shape, 1), case, eps=0.0)


@exercise("rmsnorm_vjp")
def test_rmsnorm_leading_axes(learner, reference, rng):
    """dgamma is summed over all axes but the last, however many."""
    for case, shape in LEADING_AXES.items():
        agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, norm_arguments(rng, shape, 1), case, eps=0.0)


@exercise("rmsnorm_vjp")
def test_rmsnorm_eps(learner, reference, rng):
    """eps stands under the root, beside the mean square, in the backward pass too."""
    for eps in (0.5, 3.0):
        arguments = norm_arguments(rng, (2, 4), 1)
        agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, arguments, "a large eps", eps=eps)
    agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, norm_arguments(rng, (3, 1), 1), "one feature")
    g, x, gamma = norm_arguments(rng, (3, 4), 1)
    agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, (g, 1e-3 * x, gamma), "rows of small numbers, default eps")
    agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, (g, np.zeros((3, 4)), gamma), "rows of zeros")


@exercise("rmsnorm_vjp")
def test_rmsnorm_dtypes(learner, reference, rng):
    """dx has the dtype of x, dgamma that of gamma."""
    for case, dtypes in NORM_DTYPES.items():
        for shape in [(3, 4), (2, 2, 5)]:
            arguments = norm_arguments(rng, shape, 1, dtypes)
            agree_norm(learner.rmsnorm_vjp, reference.rmsnorm_vjp, arguments, case, eps=0.0, **SINGLE)


@exercise("batchnorm_vjp")
def test_batchnorm_of_columns(learner, reference, rng):
    """Mean and variance depend on every example of the batch."""
    for case, shape in {"one feature": (3, 1), "a square x": (4, 4), "a batch": (5, 3)}.items():
        agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, norm_arguments(rng, shape, 2), case, eps=0.0)


@exercise("batchnorm_vjp")
def test_batchnorm_eps(learner, reference, rng):
    """eps stands under the root, beside the variance, in the backward pass too."""
    for eps in (0.5, 3.0):
        arguments = norm_arguments(rng, (4, 2), 2)
        agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, arguments, "a large eps", eps=eps)
    g, x, gamma, beta = norm_arguments(rng, (4, 3), 2)
    arguments = (g, 1 + 1e-3 * x, gamma, beta)
    case = "columns of a small variance, default eps"
    agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, arguments, case)


@exercise("batchnorm_vjp")
def test_batchnorm_degenerate_batches(learner, reference, rng):
    """A batch of one, and a feature that is the same in every example, have variance 0."""
    constant = np.repeat(random(rng, (1, 3)), 4, axis=0)
    g, x, gamma, beta = norm_arguments(rng, (4, 3), 2)
    agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, norm_arguments(rng, (1, 3), 2), "a batch of one")
    agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, (g, constant, gamma, beta), "constant columns")
    one_constant = np.where([True, False, False], constant, x)
    agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, (g, one_constant, gamma, beta), "one constant column")


@exercise("batchnorm_vjp")
def test_batchnorm_dtypes(learner, reference, rng):
    """dx has the dtype of x, dgamma that of gamma, dbeta that of beta."""
    for case, dtypes in NORM_DTYPES.items():
        for shape in [(4, 3), (5, 2)]:
            arguments = norm_arguments(rng, shape, 2, dtypes)
            agree_norm(learner.batchnorm_vjp, reference.batchnorm_vjp, arguments, case, eps=0.0, **SINGLE)


# embedding_vjp


def agree_embedding(learner, reference, rng, table_shape, ids, case, dtypes=(F64, F64), **tolerance):
    ids, table = np.asarray(ids), random(rng, table_shape, dtypes[1])
    g = random(rng, (*ids.shape, table_shape[1]), dtypes[0])
    arguments = (learner.embedding_vjp, reference.embedding_vjp, g, table, ids)
    agree(*arguments, names=("dtable",), case=case, **tolerance)


@exercise("embedding_vjp")
def test_embedding_of_different_ids(learner, reference, rng):
    """Each row that was looked up gets its gradient, every other row 0."""
    for case, shape, ids in [
        ("one id", (2, 3), [1]),
        ("every row once, in another order", (3, 2), [2, 0, 1]),
        ("rows that no id uses", (6, 3), [4, 1]),
        ("rows of one entry", (4, 1), [3, 0]),
    ]:
        agree_embedding(learner, reference, rng, shape, ids, case)


@exercise("embedding_vjp")
def test_embedding_of_repeated_ids(learner, reference, rng):
    """An id that occurs several times gets the sum of the gradients."""
    for case, shape, ids in [
        ("one id twice", (2, 3), [1, 1]),
        ("a table of one row", (1, 2), [0, 0, 0]),
        ("repeated ids among others", (5, 2), [3, 0, 3, 4, 0, 3]),
        ("many ids", (4, 3), rng.integers(4, size=30)),
        ("a batch of sequences with repeated ids", (5, 3), [[0, 4, 4], [1, 0, 2]]),
    ]:
        agree_embedding(learner, reference, rng, shape, ids, case)


@exercise("embedding_vjp")
def test_embedding_ids_of_any_shape(learner, reference, rng):
    """A batch of sequences, a single id, no id at all."""
    for case, shape, ids in [
        ("a single id, a 0-d array", (3, 2), 2),
        ("a batch of sequences", (7, 3), [[0, 4, 6], [1, 5, 2]]),
        ("a batch of one", (4, 2), [[3, 1, 2]]),
        ("ids with three axes", (8, 2), rng.permutation(8)[:6].reshape(2, 1, 3)),
        ("no ids", (3, 2), np.zeros(0, dtype=np.int64)),
        ("an empty batch of sequences", (3, 2), np.zeros((0, 4), dtype=np.int64)),
    ]:
        agree_embedding(learner, reference, rng, shape, ids, case)


@exercise("embedding_vjp")
def test_embedding_dtypes(learner, reference, rng):
    """dtable has the dtype of the table; ids are integers of any width."""
    for case, dtypes in {
        "float32 throughout": (F32, F32),
        "a float32 table and a float64 g": (F64, F32),
    }.items():
        agree_embedding(learner, reference, rng, (4, 3), [2, 0, 3], case, dtypes, **SINGLE)
    agree_embedding(learner, reference, rng, (4, 3), np.array([1, 3, 0], dtype=np.int32), "int32 ids")


# conv2d_vjp


def agree_conv(learner, reference, rng, x_shape, w_shape, case, stride=1, padding=0, dtypes=(F64,) * 4, **tolerance):
    rows, cols = ((x_shape[a] + 2 * padding - w_shape[a]) // stride + 1 for a in (2, 3))
    shapes = [(x_shape[0], w_shape[0], rows, cols), x_shape, w_shape, w_shape[:1]]
    arguments = [random(rng, shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    # The defaults are part of the contract: what has its default is not passed.
    options = {
        name: value for name, value, default in [("stride", stride, 1), ("padding", padding, 0)] if value != default
    }
    arguments = [learner.conv2d_vjp, reference.conv2d_vjp, *arguments]
    agree(*arguments, names=("dx", "dw", "db"), case=case, **options, **tolerance)


@exercise("conv2d_vjp")
def test_plain_convolution(learner, reference, rng):
    """Stride 1, no padding: every pixel and every weight collects all of its uses."""
    for case, x_shape, w_shape in [
        ("one pixel, a 1 × 1 kernel", (1, 1, 1, 1), (1, 1, 1, 1)),
        ("one 2 × 2 kernel on a 3 × 3 image", (1, 1, 3, 3), (1, 1, 2, 2)),
        ("a kernel as large as the image", (1, 1, 2, 3), (1, 1, 2, 3)),
        ("a 1 × 1 kernel with channels", (2, 3, 2, 2), (2, 3, 1, 1)),
        ("channels and a batch", (2, 3, 4, 4), (4, 3, 3, 3)),
        ("a tall kernel", (2, 2, 5, 4), (3, 2, 3, 1)),
        ("a wide kernel", (1, 2, 4, 5), (2, 2, 1, 3)),
        ("batch, channels and kernels of one size", (3, 3, 4, 5), (3, 3, 3, 2)),
    ]:
        agree_conv(learner, reference, rng, x_shape, w_shape, case)


@exercise("conv2d_vjp")
def test_convolution_with_stride(learner, reference, rng):
    """The kernel moves several pixels at a time; pixels that it never touches get 0."""
    for case, x_shape, w_shape, stride in [
        ("stride 2, everything used", (1, 1, 4, 4), (1, 1, 2, 2), 2),
        ("stride 2, the last row and column not used", (1, 1, 5, 5), (1, 1, 2, 2), 2),
        ("stride 2, overlapping windows", (2, 2, 5, 7), (3, 2, 3, 3), 2),
        ("stride 2, the last column not used", (1, 2, 5, 6), (2, 2, 3, 3), 2),
        ("a stride larger than the kernel", (2, 1, 7, 5), (2, 1, 2, 1), 3),
        ("a stride larger than the image", (1, 2, 3, 3), (2, 2, 2, 2), 4),
    ]:
        agree_conv(learner, reference, rng, x_shape, w_shape, case, stride)


@exercise("conv2d_vjp")
def test_convolution_with_padding(learner, reference, rng):
    """The padding is read going forward and cropped coming back."""
    for case, x_shape, w_shape, padding in [
        ("one pixel, padding 1", (1, 1, 1, 1), (1, 1, 3, 3), 1),
        ("padding that keeps the size", (1, 2, 3, 4), (2, 2, 3, 3), 1),
        ("padding 2, a tall kernel", (2, 1, 3, 3), (2, 1, 3, 2), 2),
        ("more padding than the kernel reaches", (1, 1, 2, 2), (2, 1, 1, 2), 2),
    ]:
        agree_conv(learner, reference, rng, x_shape, w_shape, case, padding=padding)


@exercise("conv2d_vjp")
def test_convolution_with_stride_and_padding(learner, reference, rng):
    """Both at once, where the windows do not divide the padded image."""
    for case, x_shape, w_shape, stride, padding in [
        ("stride 2, padding 1, the last row not used", (1, 1, 4, 4), (1, 1, 3, 3), 2, 1),
        ("stride 2, padding 1, a batch", (2, 3, 5, 4), (2, 3, 3, 2), 2, 1),
        ("stride 3, padding 2", (2, 2, 6, 5), (3, 2, 2, 3), 3, 2),
    ]:
        agree_conv(learner, reference, rng, x_shape, w_shape, case, stride, padding)


@exercise("conv2d_vjp")
def test_convolution_dtypes(learner, reference, rng):
    """dx, dw and db have the dtypes of x, w and b."""
    for case, dtypes in {
        "float32 throughout": (F32, F32, F32, F32),
        "float32 inputs and a float64 g": (F64, F32, F32, F32),
        "a float32 x, float64 parameters": (F64, F32, F64, F64),
        "float32 kernels, the rest float64": (F64, F64, F32, F64),
    }.items():
        agree_conv(learner, reference, rng, (1, 1, 3, 3), (1, 1, 2, 2), case, dtypes=dtypes, **SINGLE)
        agree_conv(learner, reference, rng, (2, 2, 4, 4), (3, 2, 3, 3), case, dtypes=dtypes, **SINGLE)


# maxpool2d_vjp


def agree_pool(learner, reference, rng, x, size, case, dtype=F64, **tolerance):
    n, c, h, w = x.shape
    g = random(rng, (n, c, h // size, w // size), dtype)
    agree(learner.maxpool2d_vjp, reference.maxpool2d_vjp, g, x, size, names=("dx",), case=case, **tolerance)


@exercise("maxpool2d_vjp")
def test_pooling_windows(learner, reference, rng):
    """The largest entry of each window gets its gradient, the others 0."""
    for case, shape, size in [
        ("one window", (1, 1, 2, 2), 2),
        ("four windows", (1, 1, 4, 4), 2),
        ("a row of windows", (1, 1, 2, 6), 2),
        ("a column of 3 × 3 windows", (1, 1, 6, 3), 3),
        ("a batch with channels", (2, 3, 4, 6), 2),
        ("windows of one entry", (2, 1, 2, 3), 1),
    ]:
        agree_pool(learner, reference, rng, distinct(rng, shape), size, case)
    agree_pool(learner, reference, rng, -1 - np.abs(distinct(rng, (1, 2, 4, 4))), 2, "all entries negative")


@exercise("maxpool2d_vjp")
def test_pooling_drops_what_fills_no_window(learner, reference, rng):
    """Rows and columns at the end that do not fill a window get no gradient, however large they are."""
    for case, shape, size in [
        ("a column left over", (1, 1, 2, 3), 2),
        ("a row left over", (1, 1, 3, 2), 2),
        ("rows and columns left over", (2, 2, 5, 7), 2),
        ("two rows and a column left over", (1, 2, 5, 4), 3),
    ]:
        agree_pool(learner, reference, rng, distinct(rng, shape), size, case)
    x = distinct(rng, (1, 1, 5, 5))
    x[..., 4, :] += 100
    x[..., :, 4] += 100
    agree_pool(learner, reference, rng, x, 2, "the largest entries left over")


@exercise("maxpool2d_vjp")
def test_pooling_ties(learner, reference, rng):
    """In a tie the first entry in row order gets all of the gradient."""
    top, low = rng.uniform(2.0, 3.0), -rng.uniform(1.0, 2.0)
    windows = {
        "a tie along the first row": [[top, top], [low, low]],
        "a tie along the first column": [[top, low], [top, low]],
        "a tie on the other diagonal": [[low, top], [top, low]],
        "a tie along the last row": [[low, low], [top, top]],
        "a tie of all entries": [[low, low], [low, low]],
        "a window of zeros": [[0.0, 0.0], [0.0, 0.0]],
    }
    for case, window in windows.items():
        agree_pool(learner, reference, rng, np.array([[window]]), 2, case)
    agree_pool(
        learner, reference, rng, np.array([[[[low, low, top], [low, top, low], [top, low, low]]]]), 3, "3 × 3 ties"
    )
    zeros = np.maximum(rng.integers(-3, 3, size=(2, 2, 4, 5)), 0).astype(F64)
    agree_pool(learner, reference, rng, zeros, 2, "many zeros, as after a relu")


@exercise("maxpool2d_vjp")
def test_pooling_dtypes(learner, reference, rng):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        for shape in [(1, 1, 2, 4), (2, 2, 4, 4)]:
            agree_pool(learner, reference, rng, distinct(rng, shape, x_dtype), 2, case, g_dtype, **SINGLE)


# attention_vjp


def attention_arguments(rng, leading, n, m, d, e, dtypes=(F64,) * 4):
    """g, q, k and v for n queries and m keys."""
    shapes = [(n, e), (n, d), (m, d), (m, e)]
    return tuple(random(rng, (*leading, *shape), dtype) for shape, dtype in zip(shapes, dtypes, strict=True))


def agree_attention(learner, reference, arguments, case, **options):
    names = ("dq", "dk", "dv")
    agree(learner.attention_vjp, reference.attention_vjp, *arguments, names=names, case=case, **options)


@exercise("attention_vjp")
def test_attention(learner, reference, rng):
    """dv = pᵀ g; dq and dk through the softmax and the scale 1/√d."""
    for case, n, d in [
        ("one query, one key", 1, 2),
        ("two positions", 2, 1),
        ("a square q", 3, 3),
        ("a sequence", 5, 4),
    ]:
        agree_attention(learner, reference, attention_arguments(rng, (), n, n, d, d), case)


@exercise("attention_vjp")
def test_attention_to_other_keys(learner, reference, rng):
    """Queries and keys of different numbers, values of another width."""
    for case, n, m, d, e in [
        ("one query, several keys", 1, 3, 2, 2),
        ("several queries, one key", 3, 1, 2, 2),
        ("values wider than the keys", 3, 3, 2, 5),
        ("values narrower than the keys", 4, 2, 5, 1),
        ("fewer queries than keys", 2, 5, 4, 3),
    ]:
        agree_attention(learner, reference, attention_arguments(rng, (), n, m, d, e), case)


@exercise("attention_vjp")
def test_causal_attention(learner, reference, rng):
    """A key after the query has no weight and gets no gradient from it."""
    for case, n, d, e in [
        ("causal, two positions", 2, 2, 2),
        ("causal, all sizes equal", 3, 3, 3),
        ("causal, a sequence", 5, 3, 2),
    ]:
        agree_attention(learner, reference, attention_arguments(rng, (), n, n, d, e), case, causal=True)
    g, _, _, v = attention_arguments(rng, (), 3, 3, 2, 2)
    q, k = rng.uniform(20, 20.1, size=(3, 2)), -rng.uniform(20, 20.1, size=(3, 2))
    agree_attention(learner, reference, (g, q, k, v), "causal, scores below -500", causal=True)
    for case, leading in {"causal, a batch": (2,), "causal, a batch and heads": (2, 2)}.items():
        agree_attention(learner, reference, attention_arguments(rng, leading, 3, 3, 2, 4), case, causal=True)


@exercise("attention_vjp")
def test_attention_with_batch_and_heads(learner, reference, rng):
    """Every head of every example attends on its own."""
    for case, leading, n, m, d, e in [
        ("a batch of one", (1,), 2, 2, 3, 3),
        ("a batch, all sizes equal", (3,), 3, 3, 3, 3),
        ("a batch and heads", (2, 3), 4, 2, 3, 2),
    ]:
        agree_attention(learner, reference, attention_arguments(rng, leading, n, m, d, e), case)


@exercise("attention_vjp")
def test_attention_with_extreme_scores(learner, reference, rng):
    """Right, not nan, for scores of ±1000."""
    d = 4
    for case, causal in {"scores of ±1000": False, "causal, scores of ±1000": True}.items():
        g, q, k, v = attention_arguments(rng, (), 4, 4, d, 3)
        k /= np.linalg.norm(k, axis=-1, keepdims=True)
        k[1] = k[0] + 1e-3 * rng.normal(size=d)  # two keys with nearly the same, largest score
        q = 1000 * np.sqrt(d) * k[0] * np.array([[1], [1], [-1], [1]]) + q
        agree_attention(learner, reference, (g, q, k, v), case, causal=causal)


@exercise("attention_vjp")
def test_attention_dtypes(learner, reference, rng):
    """dq, dk and dv have the dtypes of q, k and v."""
    for case, dtypes in {
        "float32 throughout": (F32, F32, F32, F32),
        "float32 inputs and a float64 g": (F64, F32, F32, F32),
        "float32 queries, the rest float64": (F64, F32, F64, F64),
        "float32 keys, the rest float64": (F64, F64, F32, F64),
        "float32 values, the rest float64": (F64, F64, F64, F32),
    }.items():
        for n, m, d, e in [(2, 2, 2, 2), (3, 3, 4, 4)]:
            arguments = attention_arguments(rng, (), n, m, d, e, dtypes)
            agree_attention(learner, reference, arguments, case, **SINGLE)
