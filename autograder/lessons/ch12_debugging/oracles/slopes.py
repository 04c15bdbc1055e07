"""The reference of slopes against something independent."""

from __future__ import annotations

import math

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import of


@exercise("slopes")
def test_slopes_of_a_cubic(reference, rng):
    """Along v the central difference of Σ c w³ is Σ c (3 w² v + eps² v³), by hand."""
    for _ in range(10):
        w, v, c, g = rng.normal(size=(4, 7))
        eps = float(rng.uniform(0.01, 1))
        model = torch.nn.Module()
        model.register_parameter("a", torch.nn.Parameter(torch.tensor(w[:4])))
        model.register_parameter("b", torch.nn.Parameter(torch.tensor(w[4:])))
        model.get_parameter("a").grad = torch.tensor(g[:4])

        def loss_of(model=model, c=c):
            return (torch.cat(list(model.parameters())) ** 3 * torch.tensor(c)).sum()

        along = [torch.tensor(v[:4]), torch.tensor(v[4:])]
        claimed, measured = of(reference, "slopes")(model, loss_of, along, eps)
        assert math.isclose(claimed, float(g[:4] @ v[:4]), rel_tol=1e-12, abs_tol=1e-14)
        expected = float(np.sum(c * (3 * w**2 * v + eps**2 * v**3)))
        assert math.isclose(measured, expected, rel_tol=1e-9, abs_tol=1e-9)


@exercise("slopes")
def test_slopes_against_autograd(reference, rng):
    """With a right gradient and a small step both are the product of the gradient and the direction."""
    torch.manual_seed(int(rng.integers(2**31)))
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1)).double()
    x = torch.tensor(rng.normal(size=(4, 3)))
    model(x).square().mean().backward()
    along = [torch.randn_like(one) for one in model.parameters()]
    claimed, measured = of(reference, "slopes")(model, lambda: model(x).square().mean(), along)
    exact = torch.cat([p.grad.flatten() for p in model.parameters()]) @ torch.cat([v.flatten() for v in along])
    assert math.isclose(claimed, exact.item(), rel_tol=1e-12)
    assert math.isclose(measured, exact.item(), rel_tol=1e-6, abs_tol=1e-7)
