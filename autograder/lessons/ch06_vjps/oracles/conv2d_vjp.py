"""The reference of conv2d_vjp against something independent."""

from __future__ import annotations

from torch.nn import functional

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("conv2d_vjp")
def test_conv2d(reference, rng):
    for x_shape, w_shape, stride, padding in [
        ((1, 1, 1, 1), (1, 1, 1, 1), 1, 0),
        ((2, 3, 5, 6), (4, 3, 3, 2), 1, 0),
        ((2, 3, 6, 7), (4, 3, 3, 2), 2, 0),
        ((1, 2, 4, 4), (2, 2, 3, 3), 2, 1),
        ((2, 2, 7, 5), (3, 2, 2, 3), 3, 2),
        ((1, 1, 2, 2), (2, 1, 1, 2), 1, 2),
        ((1, 2, 3, 3), (2, 2, 2, 2), 4, 0),
    ]:
        x, w, b = rng.normal(size=x_shape), rng.normal(size=w_shape), rng.normal(size=w_shape[0])
        rows, cols = ((x_shape[a] + 2 * padding - w_shape[a]) // stride + 1 for a in (2, 3))
        g = rng.normal(size=(x_shape[0], w_shape[0], rows, cols))
        theirs = autograd(lambda *t, s=stride, p=padding: functional.conv2d(*t, stride=s, padding=p), g, x, w, b)
        assert_agree(reference.conv2d_vjp(g, x, w, b, stride, padding), theirs)
