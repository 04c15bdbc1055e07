"""The reference of jacobian_from_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise


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
