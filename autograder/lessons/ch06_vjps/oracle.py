"""The reference of ch06_vjps against PyTorch's autograd in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from autograder.judging import exercise

RTOL, ATOL = 1e-10, 1e-12


def autograd(f: Callable[..., torch.Tensor], g: Any, *inputs: np.ndarray) -> list[np.ndarray]:
    """The gradients that PyTorch finds for each input, with g as the upstream gradient."""
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in inputs]
    y = f(*tensors)
    gradients = torch.autograd.grad(y, tensors, grad_outputs=torch.tensor(g, dtype=torch.float64).reshape(y.shape))
    return [gradient.numpy() for gradient in gradients]


def assert_agree(ours: Any, theirs: list[np.ndarray]) -> None:
    ours = ours if isinstance(ours, tuple) else (ours,)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=RTOL, atol=ATOL)


BROADCAST = [
    ((), ()),
    ((3,), ()),
    ((3,), (4, 3)),
    ((2, 1), (1, 3)),
    ((4, 1, 3), (2, 1)),
    ((5, 1, 4, 1), (3, 1, 2)),
    ((2, 3), (1, 1, 1)),
    ((0, 3), (1, 3)),
]


@exercise("add_vjp")
def test_add(reference, rng):
    for a_shape, b_shape in BROADCAST:
        a, b = rng.normal(size=a_shape), rng.normal(size=b_shape)
        g = rng.normal(size=(a + b).shape)
        assert_agree(reference.add_vjp(g, np.asarray(a), np.asarray(b)), autograd(torch.add, g, a, b))


@exercise("mul_vjp")
def test_mul(reference, rng):
    for a_shape, b_shape in BROADCAST:
        a, b = np.asarray(rng.normal(size=a_shape)), np.asarray(rng.normal(size=b_shape))
        g = np.asarray(rng.normal(size=(a * b).shape))
        assert_agree(reference.mul_vjp(g, a, b), autograd(torch.mul, g, a, b))


@exercise("matmul_vjp")
def test_matmul(reference, rng):
    for A_shape, B_shape in [
        ((1, 1), (1, 1)),
        ((4, 3), (3, 5)),
        ((2, 4, 3), (2, 3, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((3, 4), (2, 5, 4, 2)),
        ((3, 1, 2, 2), (1, 3, 2, 1)),
    ]:
        A, B = rng.normal(size=A_shape), rng.normal(size=B_shape)
        g = rng.normal(size=(A @ B).shape)
        assert_agree(reference.matmul_vjp(g, A, B), autograd(torch.matmul, g, A, B))


@exercise("sum_vjp")
def test_sum(reference, rng):
    x = rng.normal(size=(2, 3, 1, 4))
    for axis in [None, 0, 1, -1, -3, (0,), (0, 2), (3, 1), (-1, 0), (0, 1, 2, 3)]:
        for keepdims in (False, True):
            g = rng.normal(size=x.sum(axis=axis, keepdims=keepdims).shape)
            dims = tuple(range(4)) if axis is None else axis
            theirs = autograd(lambda t, d=dims, k=keepdims: t.sum(dim=d, keepdim=k), g, x)
            assert_agree(reference.sum_vjp(g, x, axis, keepdims), theirs)


@exercise("max_vjp")
def test_max(reference, rng):
    """torch.amax shares ties equally, as we do (torch.max along an axis does not)."""
    for x in [rng.normal(size=(3, 4, 2)), rng.integers(3, size=(4, 5, 3)).astype(np.float64), np.ones((2, 3, 4))]:
        for axis in (0, 1, 2, -1, -3):
            g = rng.normal(size=x.max(axis=axis).shape)
            assert_agree(reference.max_vjp(g, x, axis), autograd(lambda t, a=axis: torch.amax(t, dim=a), g, x))


@exercise("relu_vjp")
def test_relu(reference, rng):
    for x in [rng.normal(size=(3, 4)), np.array([0.0, -0.0, 1e-300, -1e-300]), np.asarray(1.5)]:
        g = np.asarray(rng.normal(size=x.shape))
        assert_agree(reference.relu_vjp(g, x), autograd(torch.relu, g, x))


@exercise("sigmoid_vjp")
def test_sigmoid(reference, rng):
    for x in [3 * rng.normal(size=(3, 4)), np.array([0.0, 1000.0, -1000.0, 40.0, -40.0])]:
        g = rng.normal(size=x.shape)
        assert_agree(reference.sigmoid_vjp(g, x), autograd(torch.sigmoid, g, x))


@exercise("tanh_vjp")
def test_tanh(reference, rng):
    for x in [2 * rng.normal(size=(3, 4)), np.array([0.0, 1000.0, -1000.0])]:
        g = rng.normal(size=x.shape)
        assert_agree(reference.tanh_vjp(g, x), autograd(torch.tanh, g, x))


EXTREME = np.array([[1000.0, 999.0, -1000.0], [-1000.0, -1000.5, -1001.0], [0.5, 0.0, -1000.0]])


@exercise("softmax_vjp")
def test_softmax(reference, rng):
    for x in [rng.normal(size=(3, 4, 2)), rng.normal(size=(1, 1)), EXTREME, np.zeros((0, 3))]:
        for axis in range(-x.ndim, x.ndim):
            if x.shape[axis]:
                g = rng.normal(size=x.shape)
                theirs = autograd(lambda t, a=axis: torch.softmax(t, dim=a), g, x)
                assert_agree(reference.softmax_vjp(g, x, axis), theirs)


@exercise("logsumexp_vjp")
def test_logsumexp(reference, rng):
    for x in [rng.normal(size=(3, 4, 2)), rng.normal(size=(1, 1)), EXTREME]:
        for axis in range(-x.ndim, x.ndim):
            g = rng.normal(size=x.sum(axis=axis).shape)
            theirs = autograd(lambda t, a=axis: torch.logsumexp(t, dim=a), g, x)
            assert_agree(reference.logsumexp_vjp(g, x, axis), theirs)


@exercise("cross_entropy_vjp")
def test_cross_entropy(reference, rng):
    for logits in [rng.normal(size=(5, 4)), rng.normal(size=(1, 3)), rng.normal(size=(3, 1)), EXTREME]:
        n, c = logits.shape
        targets, g = rng.integers(c, size=n), rng.normal()
        theirs = autograd(lambda t, y=targets: functional.cross_entropy(t, torch.tensor(y)), g, logits)
        assert_agree(reference.cross_entropy_vjp(g, logits, targets), theirs)


@exercise("layernorm_vjp")
def test_layernorm(reference, rng):
    for shape, eps in [((5,), 1e-5), ((1, 3), 1e-5), ((4, 5), 0.5), ((2, 3, 4), 1e-5), ((3, 1), 1e-5)]:
        x, g = 2 + rng.normal(size=shape), rng.normal(size=shape)
        gamma, beta = rng.normal(size=shape[-1]), rng.normal(size=shape[-1])
        theirs = autograd(lambda t, w, b, e=eps: functional.layer_norm(t, t.shape[-1:], w, b, e), g, x, gamma, beta)
        assert_agree(reference.layernorm_vjp(g, x, gamma, beta, eps), theirs)


@exercise("rmsnorm_vjp")
def test_rmsnorm(reference, rng):
    for shape, eps in [((5,), 1e-6), ((1, 3), 1e-6), ((4, 5), 0.5), ((2, 3, 4), 1e-6), ((3, 1), 0.1)]:
        x, g, gamma = 2 + rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=shape[-1])
        theirs = autograd(lambda t, w, e=eps: functional.rms_norm(t, t.shape[-1:], w, e), g, x, gamma)
        assert_agree(reference.rmsnorm_vjp(g, x, gamma, eps), theirs)


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


@exercise("embedding_vjp")
def test_embedding(reference, rng):
    for ids in [np.array(2), np.array([0, 0, 3]), rng.integers(4, size=(2, 3)), rng.integers(4, size=(2, 1, 5))]:
        table, g = rng.normal(size=(4, 3)), rng.normal(size=(*ids.shape, 3))
        theirs = autograd(lambda t, i=ids: functional.embedding(torch.tensor(i), t), g, table)
        assert_agree(reference.embedding_vjp(g, table, ids), theirs)


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


@exercise("maxpool2d_vjp")
def test_maxpool2d(reference, rng):
    for shape, size in [((1, 1, 2, 2), 2), ((2, 3, 6, 4), 2), ((2, 2, 5, 7), 2), ((1, 2, 8, 7), 3), ((1, 1, 2, 3), 1)]:
        for x in [rng.normal(size=shape), rng.integers(2, size=shape).astype(np.float64), np.zeros(shape)]:
            g = rng.normal(size=(*shape[:2], shape[2] // size, shape[3] // size))
            theirs = autograd(lambda t, s=size: functional.max_pool2d(t, s), g, x)
            assert_agree(reference.maxpool2d_vjp(g, x, size), theirs)


@exercise("attention_vjp")
def test_attention(reference, rng):
    for leading, n, m, d, e, causal in [
        ((), 1, 1, 1, 1, False),
        ((), 3, 5, 4, 2, False),
        ((2, 3), 4, 2, 3, 3, False),
        ((), 4, 4, 3, 2, True),
        ((2, 2), 3, 3, 3, 3, True),
    ]:
        q, k = rng.normal(size=(*leading, n, d)), rng.normal(size=(*leading, m, d))
        v, g = rng.normal(size=(*leading, m, e)), rng.normal(size=(*leading, n, e))
        theirs = autograd(lambda *t, c=causal: functional.scaled_dot_product_attention(*t, is_causal=c), g, q, k, v)
        assert_agree(reference.attention_vjp(g, q, k, v, causal), theirs)
