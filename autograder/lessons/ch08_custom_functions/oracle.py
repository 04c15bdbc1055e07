"""The reference of ch08_custom_functions against PyTorch's own functions and against finite differences."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy, gelu

from autograder.judging import exercise

EXACT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-11}


def second_order(f: Any, x: np.ndarray, g: np.ndarray, h: np.ndarray) -> list[np.ndarray]:
    """y, dx, and what becomes of h when it is sent back through dx: for x and for g."""
    leaf, upstream = torch.tensor(x, requires_grad=True), torch.tensor(g, requires_grad=True)
    y = f(leaf)
    (dx,) = torch.autograd.grad(y, leaf, upstream, create_graph=True)
    again = torch.autograd.grad(dx, (leaf, upstream), torch.tensor(h), allow_unused=True, materialize_grads=True)
    return [tensor.detach().numpy() for tensor in (y, dx, *again)]


def draws(rng: Any) -> Any:
    """x, g and h of several shapes, small and large numbers."""
    for scale in (1, 5, 300):
        for shape in [(), (1,), (0, 2), (3, 4), (50,)]:
            yield tuple(np.asarray(rng.normal(scale=s, size=shape)) for s in (scale, 1, 1))


def compare_orders(reference: Any, rng: Any, name: str, theirs: Any) -> None:
    for x, g, h in draws(rng):
        mine = second_order(reference.implementations[name].apply, x, g, h)
        for got, expected in zip(mine, second_order(theirs, x, g, h), strict=True):
            np.testing.assert_allclose(got, expected, **EXACT)


@exercise("Square")
def test_square_against_the_power(reference, rng):
    compare_orders(reference, rng, "Square", lambda x: x**2)


@exercise("GELU")
def test_gelu_against_pytorch(reference, rng):
    compare_orders(reference, rng, "GELU", gelu)
    phi = reference.implementations["GELU"].apply(torch.tensor([1.0, -2.0], dtype=torch.float64))
    np.testing.assert_allclose(phi, [0.5 * math.erfc(-1 / math.sqrt(2)), -math.erfc(math.sqrt(2))], **EXACT)


@exercise("GELUTanh")
def test_gelu_tanh_against_pytorch(reference, rng):
    compare_orders(reference, rng, "GELUTanh", lambda x: gelu(x, approximate="tanh"))


@exercise("RoundSTE")
def test_rounding_against_detach(reference, rng):
    compare_orders(reference, rng, "RoundSTE", lambda x: x + (torch.round(x) - x).detach())


@exercise("FusedCrossEntropy")
def test_cross_entropy_against_pytorch(reference, rng):
    loss_of = reference.implementations["FusedCrossEntropy"].apply
    for n, c, scale in [(1, 1, 1), (1, 2, 1), (4, 3, 1), (3, 7, 1000), (20, 5, 3)]:
        logits, targets = rng.normal(scale=scale, size=(n, c)), torch.tensor(rng.integers(c, size=n))
        results = []
        for f in (loss_of, cross_entropy):
            leaf = torch.tensor(logits, requires_grad=True)
            loss = f(leaf, targets)
            (-2.5 * loss).backward()
            results.append((loss.detach().numpy(), leaf.grad.numpy()))
        for got, expected in zip(*results, strict=True):
            np.testing.assert_allclose(got, expected, **EXACT)


@exercise("run_gradcheck")
def test_gradcheck_of_functions_that_are_known(reference):
    run_gradcheck = reference.implementations["run_gradcheck"]

    class Constant(torch.autograd.Function):
        """x³ with the right gradient, which is a constant to a double backward."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(3 * x**2)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    x, w = torch.rand(3) + 0.5, torch.rand(3, 2, dtype=torch.float64, requires_grad=True)
    ids = torch.tensor([0, 2])
    right = [
        (torch.sin, x),
        (gelu, x.expand(2, 3)),
        (torch.matmul, x, w),
        (lambda table, rows: table[rows] ** 2, w, ids),
        (lambda a: a.sort(), torch.tensor([3.0, 1.0, 2.0])),
        (lambda a: a.sum(), torch.tensor(2.0)),
        (torch.nn.functional.relu, x),
    ]

    def moves(rows: Any, table: Any) -> Any:
        chosen = table[rows] ** 2
        rows.add_(1).remainder_(len(table))
        return chosen

    wrong = [
        (Constant.apply, x),
        (lambda a: (a.float() ** 2).double(), x),
        (lambda a: torch.dropout(a, 0.5, train=True), torch.ones(8)),
        (lambda a: a.mul_(2), x),
        (lambda a: a.detach() * 2, x),
        (torch.nn.functional.relu, torch.zeros(2)),
        (lambda a: a @ a.T @ 1, x),
        (lambda rows: rows, ids),
        (moves, ids, w),
    ]
    kept = [tensor.detach().clone() for tensor in (x, w, ids)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [run_gradcheck(*case) for case in right] == [True] * len(right)
        assert [run_gradcheck(*case) for case in wrong] == [False] * len(wrong)
    assert all(torch.equal(a, b) for a, b in zip(kept, (x, w, ids), strict=True))
    assert (x.requires_grad, w.requires_grad, w.grad) == (False, True, None)
