"""The reference of jacobian_from_jvp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise


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
