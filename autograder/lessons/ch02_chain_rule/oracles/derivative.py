"""The reference of derivative against something independent."""

from __future__ import annotations

import math

import torch

from autograder.judging import exercise


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
