"""The reference of rmsnorm_vjp against something independent."""

from __future__ import annotations

from torch.nn import functional

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("rmsnorm_vjp")
def test_rmsnorm(reference, rng):
    for shape, eps in [((5,), 1e-6), ((1, 3), 1e-6), ((4, 5), 0.5), ((2, 3, 4), 1e-6), ((3, 1), 0.1)]:
        x, g, gamma = 2 + rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=shape[-1])
        theirs = autograd(lambda t, w, e=eps: functional.rms_norm(t, t.shape[-1:], w, e), g, x, gamma)
        assert_agree(reference.rmsnorm_vjp(g, x, gamma, eps), theirs)
