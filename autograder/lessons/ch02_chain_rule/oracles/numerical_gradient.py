"""The reference of numerical_gradient against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise


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
