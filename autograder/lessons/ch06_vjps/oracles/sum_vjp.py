"""The reference of sum_vjp against something independent."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("sum_vjp")
def test_sum(reference, rng):
    x = rng.normal(size=(2, 3, 1, 4))
    for axis in [None, 0, 1, -1, -3, (0,), (0, 2), (3, 1), (-1, 0), (0, 1, 2, 3)]:
        for keepdims in (False, True):
            g = rng.normal(size=x.sum(axis=axis, keepdims=keepdims).shape)
            dims = tuple(range(4)) if axis is None else axis
            theirs = autograd(lambda t, d=dims, k=keepdims: t.sum(dim=d, keepdim=k), g, x)
            assert_agree(reference.sum_vjp(g, x, axis, keepdims), theirs)
