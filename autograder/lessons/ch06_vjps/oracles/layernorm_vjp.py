"""The reference of layernorm_vjp against something independent."""

from __future__ import annotations

from torch.nn import functional

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("layernorm_vjp")
def test_layernorm(reference, rng):
    for shape, eps in [((5,), 1e-5), ((1, 3), 1e-5), ((4, 5), 0.5), ((2, 3, 4), 1e-5), ((3, 1), 1e-5)]:
        x, g = 2 + rng.normal(size=shape), rng.normal(size=shape)
        gamma, beta = rng.normal(size=shape[-1]), rng.normal(size=shape[-1])
        theirs = autograd(lambda t, w, b, e=eps: functional.layer_norm(t, t.shape[-1:], w, b, e), g, x, gamma, beta)
        assert_agree(reference.layernorm_vjp(g, x, gamma, beta, eps), theirs)
