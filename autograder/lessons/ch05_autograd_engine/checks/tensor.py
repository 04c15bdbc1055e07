"""Checks of Tensor."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, SINGLE, exercise
from autograder.lessons.ch05_autograd_engine.checks.code_cells import expect_answers, run
from autograder.lessons.ch05_autograd_engine.checks.every_kind import check_every_kind
from autograder.lessons.ch05_autograd_engine.checks.expressions import away_from_zero, check_expression


@exercise("Tensor")
def test_data_of_a_tensor(learner, reference, rng):
    """Floating data is kept without a copy, everything else becomes float64; a fresh tensor is a leaf."""
    numbers = rng.normal(size=(2, 3))
    cases = {
        "an array": numbers,
        "float32": numbers.astype(np.float32),
        "float16": numbers.astype(np.float16),
        "integers": rng.integers(9, size=4),
        "truth values": numbers > 0,
        "a list": [1, 2, 3],
        "a number": 3.5,
        "an integer": 2,
        "no entries": np.zeros((0, 2)),
    }
    for case, data in cases.items():
        ask = ["t.data", "t.grad", "t.requires_grad", "t.edges"]
        if isinstance(data, np.ndarray) and data.dtype.kind == "f" and data.size:
            ask.append("np.shares_memory(t.data, data)")
        for code in ("t = Tensor(data)", "t = Tensor(data, requires_grad=True)"):
            arguments = (code, {}, ask, {"data": data})
            expect_answers(run(learner, *arguments), reference.scenario.run(*arguments), case=case, **EXACT)


@exercise("Tensor")
def test_record(learner, reference, rng):
    """The edges whose parent requires a gradient are kept, in order; the result requires one if any was kept."""
    if learner.scenario.has_its_own_tape():  # then the gradients show what it records
        check_expression(learner, reference, rng, "a * b + a", {"a": rng.normal(size=2), "b": rng.normal(size=2)})
        return
    with_edges = "y = record(data, (a, lambda g: 2 * g), (b, lambda g: 3 * g))"
    programs = {
        "both parents require a gradient": with_edges,
        "only the first does": f"b = Tensor(b.data)\n{with_edges}",
        "only the second does": f"a = Tensor(a.data)\n{with_edges}",
        "none does": f"a, b = Tensor(a.data), Tensor(b.data)\n{with_edges}",
        "one parent twice": "b = a\ny = record(data, (a, lambda g: 2 * g), (a, lambda g: 3 * g))",
        "no edges": "y = record(data)",
        "recording is off": f"Tensor.recording = False\n{with_edges}",
    }
    for case, code in programs.items():
        leaves = {"a": rng.normal(size=2), "b": rng.normal(size=2)}
        given = {"data": rng.normal(size=2), "g": rng.normal(size=2)}
        ask = ["y.data", "bool(y.requires_grad)", "y.grad", "len(y.edges)", "[edge[1](g) for edge in y.edges]"]
        ask += ["[edge[0] is a for edge in y.edges]", "[edge[0] is b for edge in y.edges]"]
        expected = reference.scenario.run(code, leaves, ask, given)
        expect_answers(run(learner, code, leaves, ask, given), expected, case=case, **EXACT)


@exercise("Tensor")
def test_arithmetic(learner, reference, rng):
    """+, -, * and / of tensors of one shape."""
    for symbol in "+-*/":
        for shape in [(), (3,), (2, 2)]:
            leaves = {"a": away_from_zero(rng, shape), "b": away_from_zero(rng, shape)}
            check_expression(learner, reference, rng, f"a {symbol} b", leaves)


@exercise("Tensor")
def test_one_tensor_twice(learner, reference, rng):
    """A tensor that is used twice has two edges."""
    for expression in ("a + a", "a - a", "a * a", "a / a", "-a * a", "(a + a) * a"):
        check_expression(learner, reference, rng, expression, {"a": away_from_zero(rng, 2)})


def check_broadcasting(learner, reference, rng, symbol):
    shapes = {
        "a number and a vector": ((), (3,)),
        "a vector and a matrix": ((3,), (2, 3)),
        "a column and a row": ((2, 1), (1, 3)),
        "a matrix and a column": ((3, 3), (3, 1)),
        "a stack and a vector": ((2, 2, 3), (3,)),
        "no rows": ((0, 3), (1, 3)),
    }
    for case, (one, other) in shapes.items():
        for left, right in [(one, other), (other, one)]:
            leaves = {"a": away_from_zero(rng, left), "b": away_from_zero(rng, right)}
            check_expression(learner, reference, rng, f"a {symbol} b", leaves, case=f"a {symbol} b, {case}")


# One check for each operation: an answer without unbroadcast fails all of them, and each mistake has its own name.


@exercise("Tensor")
def test_broadcasting_of_sums(learner, reference, rng):
    """Each parent's gradient has the parent's shape."""
    check_broadcasting(learner, reference, rng, "+")


@exercise("Tensor")
def test_broadcasting_of_differences(learner, reference, rng):
    """Each parent's gradient has the parent's shape."""
    check_broadcasting(learner, reference, rng, "-")


@exercise("Tensor")
def test_broadcasting_of_products(learner, reference, rng):
    """Each parent's gradient has the parent's shape."""
    check_broadcasting(learner, reference, rng, "*")


@exercise("Tensor")
def test_broadcasting_of_quotients(learner, reference, rng):
    """Each parent's gradient has the parent's shape."""
    check_broadcasting(learner, reference, rng, "/")


@exercise("Tensor")
def test_numbers_and_arrays(learner, reference, rng):
    """One operand may be a number or an array, on either side."""
    for symbol in "+-*/":
        for expression in (f"a {symbol} 2", f"2 {symbol} a", f"a {symbol} 0.5", f"0.5 {symbol} a"):
            check_expression(learner, reference, rng, expression, {"a": away_from_zero(rng, 2)})
        for expression in (f"a {symbol} c", f"c {symbol} a"):
            given = {"c": away_from_zero(rng, (3, 2))}
            case = f"{expression}, c an array"
            check_expression(learner, reference, rng, expression, {"a": away_from_zero(rng, 2)}, case=case, given=given)
    given = {"c": rng.integers(1, 9, size=(2, 2))}
    check_expression(
        learner, reference, rng, "c / a", {"a": away_from_zero(rng, 2)}, case="c / a, c integers", given=given
    )


@exercise("Tensor")
def test_float32_stays(learner, reference, rng):
    """float32 in, float32 out; a plain number changes nothing about that, a float64 operand does."""
    a, b = (away_from_zero(rng, (2, 2)).astype(np.float32) for _ in range(2))
    expressions = ["a + b", "2 * a", "a / 3", "1.5 - a", "a ** 2", "a @ b", "a.sum(axis=0)", "a.mean()", "a.exp()"]
    expressions += ["a.relu()", "a.tanh()", "(a * a).log()", "a.reshape(4)", "a.T", "a[0]"]
    for expression in expressions:
        leaves = {"a": a, "b": b} if "b" in expression else {"a": a}
        check_expression(learner, reference, rng, expression, leaves, case=f"{expression} in float32", **SINGLE)
    check_expression(
        learner, reference, rng, "a * b", {"a": a, "b": b.astype(np.float64)}, case="float32 * float64", **SINGLE
    )


@exercise("Tensor")
def test_powers(learner, reference, rng):
    """The exponent comes down, and the power is one less; negative bases too."""
    for exponent in ("2", "3", "1", "-1", "-2.0", "1.0"):
        check_expression(learner, reference, rng, f"a ** {exponent}", {"a": away_from_zero(rng, 3)})
    for exponent in ("0.5", "-0.5", "2.5"):
        check_expression(learner, reference, rng, f"a ** {exponent}", {"a": rng.uniform(0.5, 2, size=3)})
    given = {"c": np.array([[2.0], [-1.0], [3.0]])}
    leaves = {"a": away_from_zero(rng, 2)}
    check_expression(learner, reference, rng, "a ** c", leaves, case="a ** c, c an array", given=given)


@exercise("Tensor")
def test_powers_of_zero(learner, reference, rng):
    """0 to a positive power, and the power 0, which is constant."""
    for expression in ("a ** 2", "a ** 1", "a ** 0"):
        leaves = {"a": np.append(0.0, away_from_zero(rng, 2))}
        check_expression(learner, reference, rng, expression, leaves, case=f"{expression}, a zero in a")
    given = {"c": np.array([0.0, 2.0, 0.0])}
    leaves = {"a": np.append(0.0, away_from_zero(rng, 2))}
    check_expression(learner, reference, rng, "a ** c", leaves, case="a ** c, zeros in both", given=given)
    leaves = {"a": np.append(1e200, away_from_zero(rng, 2))}
    check_expression(learner, reference, rng, "a ** 0", leaves, case="a ** 0, a huge entry in a")


@exercise("Tensor")
def test_exponents(learner, reference, rng):
    """The gradient of an exponent: the power times the logarithm of the base."""
    for base in ("2", "0.5"):
        check_expression(learner, reference, rng, f"{base} ** b", {"b": rng.normal(size=2)})
    for left, right in [((), ()), ((2,), (2,)), ((2, 1), (3,)), ((3,), (2, 1))]:
        leaves = {"a": rng.uniform(0.5, 2, size=left), "b": rng.normal(size=right)}
        check_expression(learner, reference, rng, "a ** b", leaves)
    given = {"c": rng.uniform(0.5, 2, size=(3, 2))}
    check_expression(
        learner, reference, rng, "c ** b", {"b": rng.normal(size=2)}, case="c ** b, c an array", given=given
    )


def check_matmul(learner, reference, rng, cases):
    for case, left, right in cases:
        leaves = {"a": rng.normal(size=left), "b": rng.normal(size=right)}
        check_expression(learner, reference, rng, "a @ b", leaves, case=case)


@exercise("Tensor")
def test_matmul_of_matrices(learner, reference, rng):
    """Matrices, square ones too, where a missing transpose changes no shape."""
    cases = [
        ("1 by 1", (1, 1), (1, 1)),
        ("square", (2, 2), (2, 2)),  # before those whose shapes complain: wrong numbers say more than an error
        ("a row and a column", (1, 3), (3, 1)),
        ("a column and a row", (3, 1), (1, 2)),
        ("three sizes", (2, 3), (3, 4)),
        ("no rows", (0, 3), (3, 2)),
    ]
    check_matmul(learner, reference, rng, cases)
    for expression in ("c @ a", "a @ c"):
        leaves, given = {"a": rng.normal(size=(3, 3))}, {"c": rng.normal(size=(3, 3))}
        case = f"{expression}, c an array"
        check_expression(learner, reference, rng, expression, leaves, case=case, given=given)
    check_expression(learner, reference, rng, "a @ a", {"a": rng.normal(size=(2, 2))})


@exercise("Tensor")
def test_matmul_of_vectors(learner, reference, rng):
    """A vector on the left is a row, on the right a column."""
    cases = [
        ("a vector and a square", (2,), (2, 2)),
        ("a square and a vector", (2, 2), (2,)),
        ("two vectors", (3,), (3,)),
        ("a vector and a matrix", (3,), (3, 2)),
        ("a matrix and a vector", (2, 3), (3,)),
        ("a stack and a vector", (2, 3, 4), (4,)),
        ("a vector and a stack", (4,), (2, 4, 3)),
    ]
    check_matmul(learner, reference, rng, cases)


@exercise("Tensor")
def test_matmul_of_stacks(learner, reference, rng):
    """Leading axes broadcast."""
    cases = [
        ("square stacks", (2, 2, 2), (2, 2, 2)),
        ("two stacks", (2, 2, 3), (2, 3, 4)),
        ("a stack and a matrix", (2, 3, 4), (4, 2)),
        ("a matrix and a stack", (3, 4), (2, 4, 2)),
        ("a stack of one stretched", (1, 2, 3), (4, 3, 2)),
        ("both stretched", (2, 1, 2, 3), (3, 3, 2)),
        ("an empty stack", (0, 2, 3), (3, 2)),
    ]
    check_matmul(learner, reference, rng, cases)


EXPRESSIONS = {
    "entries": [
        *("a + b", "a - b", "a * b", "2 - a * b", "a / (b * b + 1)", "(a + b) ** 2", "(a + b).relu()"),
        *("(a - b).tanh()", "(a - b).tanh().exp()", "(a * a + b * b + 1).log()"),
    ],
    "matrices": ["a @ b", "(b.T @ a.T).T"],
    "axes": [
        *("a @ b", "(a * b).sum(axis=-1)", "(a - b).mean(axis=2)", "(a * b)[..., 1]", "(a * b).T.mean(axis=0).T"),
        *("(a * b)[:, :, [0, 2, 0]].sum(axis=-1)", "(a + b).transpose(0, 2, 1).sum(axis=1)"),
        "(a + b).reshape(6, 6).sum(axis=1).reshape(2, 3)",
    ],
}
"""By group: expressions that are defined for all numbers."""


@exercise("Tensor")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; an operand twice, or an array."""
    for kind in kinds:
        kind.options["expressions"] = EXPRESSIONS[kind.options["group"]]
    check_every_kind("expressions_in_states", learner, reference, kinds, "expressions")
