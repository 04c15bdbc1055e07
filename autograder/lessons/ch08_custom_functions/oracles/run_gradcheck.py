"""The reference of run_gradcheck against something independent."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch.nn.functional import gelu

from autograder.judging import exercise


@exercise("run_gradcheck")
def test_gradcheck_of_functions_that_are_known(reference):
    run_gradcheck = reference.implementations["run_gradcheck"]

    class Constant(torch.autograd.Function):
        """x³ with the right gradient, which a double backward treats as a constant."""

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
