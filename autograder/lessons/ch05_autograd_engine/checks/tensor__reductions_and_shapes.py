"""Checks of Tensor: reductions, functions entry by entry, shapes, and all of them together."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise
from autograder.lessons.ch05_autograd_engine.checks.code_cells import expect_answers, run
from autograder.lessons.ch05_autograd_engine.checks.expressions import away_from_zero, check_expression

REDUCTIONS = [  # the arguments, and the shapes they fit
    ("", [(), (1,), (3,), (2, 3), (2, 0)]),
    ("axis=0", [(3,), (2, 3), (1, 3), (3, 3), (2, 0), (0, 2)]),
    ("axis=1", [(2, 3), (3, 3), (2, 3, 2)]),
    ("axis=-1", [(2, 3), (2, 3, 2)]),
    ("axis=(0, 2)", [(2, 3, 2)]),
    ("axis=(-1, 0)", [(2, 3, 4)]),
    ("axis=(-2, -1)", [(2, 3), (2, 3, 4), (2, 3, 4, 2)]),
    ("axis=(-1, -3)", [(2, 3, 4)]),
    ("axis=(2, 0)", [(2, 3, 4)]),
    ("axis=()", [(2, 3)]),
    ("axis=1, keepdims=True", [(2, 3), (2, 3, 2)]),
    ("axis=(0, 1), keepdims=True", [(2, 3)]),
    ("axis=(-1, -2), keepdims=True", [(2, 3, 4)]),
    ("keepdims=True", [(2, 3)]),
    ("1, True", [(2, 3)]),
]


def check_reduction(learner, reference, rng, name):
    for arguments, shapes in REDUCTIONS:
        for shape in shapes:
            if name == "mean" and (shape == (0, 2) or (0 in shape and not arguments)):
                continue  # the mean of nothing is nan
            expression = f"x.{name}({arguments})"
            case = f"{expression}, x of shape {shape}"
            check_expression(learner, reference, rng, expression, {"x": rng.normal(size=shape)}, case=case)


@exercise("Tensor")
def test_sum(learner, reference, rng):
    """Every entry that went into a sum gets the sum's gradient."""
    check_reduction(learner, reference, rng, "sum")


@exercise("Tensor")
def test_mean(learner, reference, rng):
    """As a sum, divided by the number of entries that went into each mean."""
    check_reduction(learner, reference, rng, "mean")


@exercise("Tensor")
def test_exp_log_tanh(learner, reference, rng):
    """exp, log and tanh, entry by entry."""
    for name in ("exp", "log", "tanh"):
        for shape in [(), (3,), (2, 2), (0,)]:
            x = rng.uniform(0.5, 3, size=shape) if name == "log" else rng.normal(size=shape)
            check_expression(learner, reference, rng, f"x.{name}()", {"x": x})
    check_expression(learner, reference, rng, "x.tanh()", {"x": np.array([1000.0, -1000.0, 0.0])}, case="tanh at ±1000")


@exercise("Tensor")
def test_relu(learner, reference, rng):
    """The gradient passes where x is positive, not at 0, whatever its own sign."""
    for case, x in [
        ("positive and negative", rng.uniform(0.5, 2, size=2) * [1, -1]),
        ("exactly 0", np.zeros(2)),
        ("a matrix", away_from_zero(rng, (2, 3))),
        ("a number", rng.uniform(0.5, 2, size=())),
        ("tiny numbers", 1e-300 * away_from_zero(rng, 4)),
    ]:
        check_expression(learner, reference, rng, "x.relu()", {"x": x}, case=case)


@exercise("Tensor")
def test_reshape(learner, reference, rng):
    """The gradient takes the shape back."""
    for expression, shape in [
        ("x.reshape(4)", (2, 2)),
        ("x.reshape(2, 3)", (6,)),
        ("x.reshape((3, 2))", (2, 3)),
        ("x.reshape(-1)", (2, 3)),
        ("x.reshape(1, -1, 1)", (3,)),
        ("x.reshape(())", (1, 1)),
        ("x.reshape(0, 5)", (2, 0)),
    ]:
        check_expression(learner, reference, rng, expression, {"x": rng.normal(size=shape)})


@exercise("Tensor")
def test_transpose(learner, reference, rng):
    """The gradient goes back by the inverse permutation."""
    for expression, shape in [
        ("x.T", (2, 3)),
        ("x.T", (2, 2)),
        ("x.T", (3,)),
        ("x.T", (2, 3, 4)),
        ("x.transpose()", (2, 3)),
        ("x.transpose(1, 0)", (2, 3)),
        ("x.transpose(0, 2, 1)", (2, 3, 4)),
        ("x.transpose(1, 2, 0)", (2, 3, 4)),
        ("x.transpose(2, 0, 1)", (2, 2, 2)),
        ("x.transpose(-1, 0, 1)", (2, 3, 4)),
        ("x.transpose(0, -1, 1)", (2, 2, 2)),
        ("x.transpose(1, 3, 0, 2)", (2, 3, 1, 2)),
    ]:
        case = f"{expression}, x of shape {shape}"
        check_expression(learner, reference, rng, expression, {"x": rng.normal(size=shape)}, case=case)


@exercise("Tensor")
def test_indexing(learner, reference, rng):
    """Selected entries get their gradients, all others get 0."""
    for expression, shape in [
        ("x[1]", (3,)),
        ("x[-1]", (3, 2)),
        ("x[1:]", (3,)),
        ("x[::-2]", (5,)),
        ("x[:, 1]", (2, 3)),
        ("x[1, 0]", (2, 3)),
        ("x[..., 0]", (2, 3)),
        ("x[None]", (2,)),
        ("x[[2, 0]]", (3, 2)),
        ("x[np.array([[0, 2], [1, 3]])]", (4,)),
        ("x[[0, 1], [2, 0]]", (2, 3)),
        ("x[np.array([True, False, True])]", (3, 2)),
        ("x[2:2]", (3,)),
    ]:
        check_expression(learner, reference, rng, expression, {"x": rng.normal(size=shape)})


@exercise("Tensor")
def test_repeated_indices(learner, reference, rng):
    """An entry that is selected several times gets the sum of the gradients."""
    for expression, shape in [
        ("x[[0, 0]]", (1,)),
        ("x[[1, 1, 0]]", (2,)),
        ("x[[2, 0, 2]]", (3, 2)),
        ("x[np.array([[0, 1], [1, 1]])]", (2,)),
        ("x[[0, 1, 0], [2, 0, 2]]", (2, 3)),
        ("x[:, [1, 1]]", (2, 2)),
    ]:
        check_expression(learner, reference, rng, expression, {"x": rng.normal(size=shape)})


BINARY = [f"a {symbol} b" for symbol in ("+", "-", "*", "/", "**", "@")]
UNARY = ["-a", "2 - a", "a ** 2", "a.sum()", "a.mean()", "a.exp()", "a.log()", "a.relu()", "a.tanh()"]
UNARY += ["a.reshape(4)", "a.T", "a[0]"]


@exercise("Tensor", promise="instrumented")
def test_requires_grad_travels(learner, reference, rng):
    """A result requires a gradient if one of its operands does; what nothing requires is not recorded."""
    a, b = rng.uniform(0.5, 2, size=(2, 2)), rng.uniform(0.5, 2, size=(2, 2))
    programs = {
        "a and b require none": ("a, b = Tensor(a), Tensor(b)", BINARY + UNARY),
        "a requires a gradient": ("a, b = Tensor(a, requires_grad=True), Tensor(b)", BINARY + UNARY),
        "b requires a gradient": ("a, b = Tensor(a), Tensor(b, requires_grad=True)", BINARY),
    }
    for case, (code, operations) in programs.items():
        ask = [f"({operation}).data" for operation in operations]
        ask += [f"bool(({operation}).requires_grad)" for operation in operations]
        if "none" in case:
            ask += [f"({operation}).edges" for operation in operations]
        arguments = (code, {}, ask, {"a": a, "b": b})
        expect_answers(run(learner, *arguments), reference.scenario.run(*arguments), case=case, **EXACT)


@exercise("Tensor")
def test_compositions(learner, reference, rng):
    """Operations on results of operations."""
    for expression, shapes in [
        ("(a * b).sum()", {"a": (2,), "b": (2,)}),
        ("(a @ b + c).relu()", {"a": (2, 3), "b": (3, 2), "c": (2,)}),
        ("a.exp() / a.exp().sum(axis=1, keepdims=True)", {"a": (2, 3)}),
        ("((a - a.mean(axis=0)) ** 2).mean(axis=0)", {"a": (3, 2)}),
        ("(a[[0, 1, 0]] * b.T).tanh().reshape(-1)", {"a": (2, 2), "b": (2, 3)}),
    ]:
        leaves = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        check_expression(learner, reference, rng, expression, leaves)
