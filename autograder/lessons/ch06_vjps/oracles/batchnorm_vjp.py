"""The reference of batchnorm_vjp against something independent."""

from __future__ import annotations

import torch
from torch.nn import functional

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("batchnorm_vjp")
def test_batchnorm(reference, rng):
    for shape, eps in [((2, 1), 1e-5), ((4, 4), 1e-5), ((6, 3), 0.5)]:
        x, g = 2 + rng.normal(size=shape), rng.normal(size=shape)
        gamma, beta = rng.normal(size=shape[-1]), rng.normal(size=shape[-1])

        def batch_norm(t, w, b, eps=eps):
            return functional.batch_norm(t, None, None, w, b, training=True, eps=eps)

        assert_agree(reference.batchnorm_vjp(g, x, gamma, beta, eps), autograd(batch_norm, g, x, gamma, beta))


@exercise("batchnorm_vjp")
def test_batchnorm_of_one_example(reference, rng):
    """PyTorch's own refuses a batch of one in training; written out, it does not."""
    g, x = rng.normal(size=(1, 3)), rng.normal(size=(1, 3))
    gamma, beta = rng.normal(size=3), rng.normal(size=3)

    def batch_norm(t, w, b):
        return w * (t - t.mean(0)) / torch.sqrt(t.var(0, correction=0) + 1e-5) + b

    assert_agree(reference.batchnorm_vjp(g, x, gamma, beta), autograd(batch_norm, g, x, gamma, beta))
