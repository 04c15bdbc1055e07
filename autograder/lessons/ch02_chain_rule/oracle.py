"""The reference of ch02_chain_rule against PyTorch, dense Jacobians, counted multiply–adds and random expressions."""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
from pathlib import Path

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judging import exercise

EXACT = {"rtol": 1e-10, "atol": 1e-12}
CHAINS = [(1, 1), (3, 2), (2, 3, 4), (3, 4, 2, 1), (1, 5), (2, 4, 3, 5, 2)]


def chain(rng, dims):
    return [rng.normal(size=(rows, columns)) for columns, rows in itertools.pairwise(dims)]


def product(Ws, n):
    """W_k … W_1, a dense matrix."""
    J = np.eye(n)
    for W in Ws:
        J = W @ J
    return J


@exercise("numerical_gradient")
def test_differences_against_autograd(reference, rng):
    for shape in [(), (1,), (4,), (2, 3), (2, 1, 3), (0, 2)]:
        x = np.asarray(rng.normal(size=shape))
        weights = torch.tensor(np.asarray(rng.normal(size=shape)))

        def f(array, weights=weights):
            return float(torch.sin(torch.as_tensor(np.asarray(array)) * weights).sum() ** 2)

        leaf = torch.tensor(x, requires_grad=True)
        ((leaf * weights).sin().sum() ** 2).backward()
        got = reference.numerical_gradient(f, x)
        assert got.shape == x.shape
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, leaf.grad.numpy(), rtol=1e-6, atol=1e-8)


@exercise("numerical_gradient")
def test_differences_of_a_cubic(reference, rng):
    """The central difference of c x³ is 3c x² + c eps², in closed form."""
    for eps in (0.5, 0.01):
        c, x = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
        got = reference.numerical_gradient(lambda x, c=c: np.sum(c * x**3), x, eps)
        np.testing.assert_allclose(got, 3 * c * x**2 + c * eps**2, rtol=1e-9, atol=1e-10)


@exercise("jvp_chain")
def test_jvp_against_torch(reference, rng):
    for dims in CHAINS:
        Ws, v = chain(rng, dims), rng.normal(size=dims[0])

        def f(x, Ws=Ws):
            for W in Ws:
                x = torch.tensor(W) @ x
            return x

        _, expected = torch.func.jvp(f, (torch.tensor(rng.normal(size=dims[0])),), (torch.tensor(v),))
        np.testing.assert_allclose(reference.jvp_chain(Ws, v), expected.numpy(), **EXACT)
        np.testing.assert_allclose(reference.jvp_chain(Ws, v), product(Ws, dims[0]) @ v, **EXACT)


@exercise("vjp_chain")
def test_vjp_against_torch(reference, rng):
    for dims in CHAINS:
        Ws, u = chain(rng, dims), rng.normal(size=dims[-1])
        x = torch.tensor(rng.normal(size=dims[0]), requires_grad=True)
        y = x
        for W in Ws:
            y = torch.tensor(W) @ y
        (expected,) = torch.autograd.grad(y, x, torch.tensor(u))
        np.testing.assert_allclose(reference.vjp_chain(Ws, u), expected.numpy(), **EXACT)
        np.testing.assert_allclose(reference.vjp_chain(Ws, u), u @ product(Ws, dims[0]), **EXACT)


def counted(dims, mode):
    """Multiply–adds of the full Jacobian, one by one: for each basis vector, each matrix, each of its entries."""
    count = 0
    for _ in range(dims[0] if mode == "forward" else dims[-1]):
        for columns, rows in itertools.pairwise(dims):
            for _ in range(rows):
                for _ in range(columns):
                    count += 1
    return count


@exercise("jacobian_cost")
def test_cost_against_counting(reference, rng):
    for _ in range(20):
        dims = [int(width) for width in rng.integers(1, 7, size=rng.integers(2, 6))]
        for mode in ("forward", "reverse"):
            cost = reference.jacobian_cost(dims, mode)
            assert type(cost) is int
            assert cost == counted(dims, mode)


@exercise("jacobian_cost")
def test_cost_against_counted_flops(reference, rng):
    """PyTorch counts two FLOPs for each multiply–add of the matrix–vector products, here as products of n × 1."""
    from torch.utils.flop_counter import FlopCounterMode

    dims = [int(width) for width in rng.integers(1, 20, size=4)]
    Ws = [torch.zeros(rows, columns) for columns, rows in itertools.pairwise(dims)]
    with FlopCounterMode(display=False) as forward:
        for e in torch.eye(dims[0]):
            column = e[:, None]
            for W in Ws:
                column = W @ column
    with FlopCounterMode(display=False) as reverse:
        for e in torch.eye(dims[-1]):
            row = e[None]
            for W in reversed(Ws):
                row = row @ W
    assert reference.jacobian_cost(dims, "forward") * 2 == forward.get_total_flops()
    assert reference.jacobian_cost(dims, "reverse") * 2 == reverse.get_total_flops()


@exercise("cheaper_mode")
def test_cheaper_mode_against_both_counts(reference, rng):
    for _ in range(50):
        dims = [int(width) for width in rng.integers(1, 6, size=rng.integers(2, 5))]
        better = counted(dims, "forward") < counted(dims, "reverse")
        assert reference.cheaper_mode(dims) == ("forward" if better else "reverse")


def both(reference, operation, x, dx, y, dy):
    """(value, tangent) of `operation(x, y)` by Dual and by PyTorch's forward mode; numbers where a tangent is None."""
    Dual = reference.implementations["Dual"]
    ours = operation(*(a if da is None else Dual(a, da) for a, da in ((x, dx), (y, dy))))
    moving = [(a, da) for a, da in ((x, dx), (y, dy)) if da is not None]

    def f(*tensors):
        left = list(tensors)
        return operation(*(a if da is None else left.pop(0) for a, da in ((x, dx), (y, dy))))

    values, tangents = (
        tuple(torch.tensor(part, dtype=torch.float64) for part in parts) for parts in zip(*moving, strict=True)
    )
    value, tangent = torch.func.jvp(f, values, tangents)
    return (ours.value, ours.tangent), (float(value), float(tangent))


OPERATIONS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "**": lambda x, y: x**y,
    "-x": lambda x, y: -x * y,
    "sin": lambda x, y: (x * y).sin(),
    "exp": lambda x, y: (x - y).exp(),
    "log": lambda x, y: (x * y).log(),
}


@exercise("Dual")
def test_operations_against_torch(reference, rng):
    for operation in OPERATIONS.values():
        for dx, dy in [(0.7, -0.4), (0.7, None), (None, 0.7)]:
            x, y = (float(number) for number in rng.uniform(0.5, 2.0, size=2))
            ours, expected = both(reference, operation, x, dx, y, dy)
            np.testing.assert_allclose(ours, expected, **EXACT)


@exercise("Dual")
def test_powers_against_torch(reference, rng):
    """Negative bases, 0, and exponents of 0."""
    for x in (-1.5, 0.0, 1.5):
        for n in (0, 1, 2, 3, 0.0, 2.0):
            ours, expected = both(reference, lambda x, n: x**n, x, 0.7, n, None)
            np.testing.assert_allclose(ours, expected, **EXACT)


@st.composite
def expressions(draw, depth=3):
    """Random expressions in x and y as text, built so that no logarithm, quotient or power leaves its domain."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["x", "y", "2", "0.5"]))
    a, b = draw(expressions(depth=depth - 1)), draw(expressions(depth=depth - 1))
    form = draw(
        st.sampled_from(
            [
                *("({a} + {b})", "({a} - {b})", "({a} * {b})", "(-{a})", "({a} / (1.5 + ({b}) * ({b})))"),
                *("({a} * x).sin()", "(({a} * x).sin() * y).exp()", "(1 + ({a} + 0 * x) ** 2).log()"),
                *("({a}) ** 2", "(1.5 + (x * {a}).sin()) ** ((x * {b}).sin() - y)"),
            ]
        )
    )
    return form.format(a=a, b=b)


@exercise("Dual")
@settings(max_examples=150, deadline=None, derandomize=True)
@given(expression=expressions(), x=st.floats(0.3, 1.5), y=st.floats(0.3, 1.5))
def test_random_expressions_against_torch(reference, expression, x, y):
    def f(x, y):
        return eval(expression, {"x": x, "y": y}) + 0 * x

    ours, expected = both(reference, f, x, 0.7, y, -0.4)
    np.testing.assert_allclose(ours, expected, rtol=1e-8, atol=1e-9)


@exercise("derivative")
def test_derivative_against_autograd(reference, rng):
    functions = [
        lambda x: x**3 - 2 * x,
        lambda x: (x * x).sin() / (1 + x.exp()),
        lambda x: (2 + x.sin()).log() ** x,
        lambda x: x**x,
    ]
    for f in functions:
        x = float(rng.uniform(0.5, 2.0))
        leaf = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        f(leaf).backward()
        got = reference.derivative(f, x)
        assert type(got) is float
        assert math.isclose(got, leaf.grad.item(), rel_tol=1e-10)
    assert reference.derivative(lambda x: 3, 1.0) == 0.0


@exercise("jacobian_from_jvp")
def test_jacobian_by_columns_against_torch(reference, rng):
    for n_out, n_in in [(1, 1), (2, 3), (4, 2)]:
        A, x = torch.tensor(rng.normal(size=(n_out, n_in))), torch.tensor(rng.normal(size=n_in))

        def f(x, A=A):
            return torch.tanh(A @ x)

        def jvp(v, f=f, x=x):
            return torch.func.jvp(f, (x,), (torch.tensor(v),))[1].numpy()

        expected = torch.func.jacfwd(f)(x).numpy()
        np.testing.assert_allclose(reference.jacobian_from_jvp(jvp, n_in), expected, **EXACT)


@exercise("jacobian_from_vjp")
def test_jacobian_by_rows_against_torch(reference, rng):
    for n_out, n_in in [(1, 1), (2, 3), (4, 2)]:
        A, x = torch.tensor(rng.normal(size=(n_out, n_in))), torch.tensor(rng.normal(size=n_in))

        def f(x, A=A):
            return torch.tanh(A @ x)

        def vjp(u, f=f, x=x):
            return torch.func.vjp(f, x)[1](torch.tensor(u))[0].numpy()

        expected = torch.func.jacrev(f)(x).numpy()
        np.testing.assert_allclose(reference.jacobian_from_vjp(vjp, n_out), expected, **EXACT)


TORCH_FUNCTIONS = {
    "tanh of a product": (lambda a, b: torch.tanh(a @ b), [(2, 3), (3, 2)]),
    "softmax": (lambda x: torch.softmax(x, dim=-1), [(2, 3)]),
    "a 0-d result": (lambda a, b: (a * b).sin().sum(), [(3,), ()]),
    "layer normalization": (lambda x, w, b: torch.nn.functional.layer_norm(x, (4,), w, b), [(2, 4), (4,), (4,)]),
}


@exercise("gradcheck")
def test_gradcheck_against_torch(reference, rng):
    """PyTorch's gradients pass here and in PyTorch's gradcheck; with one entry wrong by 1% they pass in neither."""
    for compute, shapes in TORCH_FUNCTIONS.values():
        inputs = tuple(np.asarray(rng.uniform(0.5, 1.5, size=shape)) for shape in shapes)

        def function(factor, compute=compute):
            class Wrong(torch.autograd.Function):
                @staticmethod
                def forward(ctx, *tensors):
                    ctx.save_for_backward(*tensors)
                    return compute(*tensors)

                @staticmethod
                def backward(ctx, g):
                    with torch.enable_grad():
                        leaves = [tensor.detach().requires_grad_() for tensor in ctx.saved_tensors]
                        gradients = list(torch.autograd.grad(compute(*leaves), leaves, g))
                    largest = gradients[-1].abs().argmax()
                    gradients[-1] = gradients[-1].clone()
                    gradients[-1].view(-1)[largest] *= factor
                    return tuple(gradients)

            return Wrong.apply

        for factor, right in [(1.0, True), (1.01, False)]:
            apply = function(factor)

            def f(*arrays, apply=apply):
                return apply(*(torch.tensor(np.asarray(array)) for array in arrays)).numpy()

            def vjp(g, *arrays, apply=apply):
                leaves = [torch.tensor(np.asarray(array), requires_grad=True) for array in arrays]
                gradients = torch.autograd.grad(apply(*leaves), leaves, torch.as_tensor(np.asarray(g)))
                return tuple(gradient.numpy() for gradient in gradients)

            leaves = tuple(torch.tensor(array, requires_grad=True) for array in inputs)
            assert torch.autograd.gradcheck(apply, leaves, raise_exception=False) is right
            assert reference.gradcheck(f, vjp, inputs, np.random.default_rng(0)) is right


@exercise("gradcheck")
def test_what_the_bank_leaves_out(reference, rng):
    """Every mistake of the rules' register that differences can find is in the bank; none that they cannot find."""
    file = Path(__file__).with_name("gradcheck_bank.py")
    spec = importlib.util.spec_from_file_location("the_bank", file)
    bank = importlib.util.module_from_spec(spec)
    sys.modules["the_bank"] = bank  # dataclasses look their module up
    spec.loader.exec_module(bank)
    left_out, bank.FOUND_BY_NO_DIFFERENCES, bank.MISTAKES_PER_RULE = bank.FOUND_BY_NO_DIFFERENCES, frozenset(), 1000

    kinds = [bank.elementwise_rules, bank.rules_along_an_axis, bank.products_and_lookups, bank.normalizations]
    asked = set()
    for seed in range(8):  # a few show only where the numbers are right for it
        for questions in (kind(seed) for kind in [*kinds, bank.large_rules]):
            asked |= {question.words for question in questions}
    names = {mistake.name for mistake in bank.register()}
    missing = {name for name in names if f"the mistake “{name.replace('_', ' ')}”" not in asked}
    more, fewer = sorted(missing - left_out), sorted(left_out - missing)
    assert not more, f"gradcheck_bank.py asks of none of {', '.join(more)}: give it a function of that rule"
    assert not fewer, f"FOUND_BY_NO_DIFFERENCES has {', '.join(fewer)}, which are asked: take them out"
