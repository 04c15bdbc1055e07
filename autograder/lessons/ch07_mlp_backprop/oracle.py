"""The reference of ch07_mlp_backprop against PyTorch's autograd in float64, finite differences and counted bytes."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise

EXACT = {"rtol": 1e-10, "atol": 1e-12}
ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}
SHAPES = [(1, 1, 1, 1), (1, 3, 4, 2), (3, 3, 3, 3), (6, 5, 4, 3)]


def leaf(array):
    return torch.tensor(array, dtype=torch.float64, requires_grad=True)


def random_params(rng, d, m, o):
    return {name: rng.normal(size=s) for name, s in {"W1": (d, m), "b1": m, "W2": (m, o), "b2": o}.items()}


def torch_logits(params, X, activation):
    """The network in PyTorch; `params` are tensors."""
    H = ACTIVATIONS[activation](torch.as_tensor(X) @ params["W1"] + params["b1"])
    return H @ params["W2"] + params["b2"]


@exercise("single_example_gradients")
def test_single_example_against_autograd(reference, rng):
    for m, d, o in [(1, 1, 1), (4, 3, 2), (3, 3, 3)]:
        W1, W2, x, t = (rng.normal(size=shape) for shape in [(m, d), (o, m), d, o])
        V1, V2 = leaf(W1), leaf(W2)
        loss = 0.5 * (V2 @ torch.relu(V1 @ torch.tensor(x)) - torch.tensor(t)).square().sum()
        expected = torch.autograd.grad(loss, [V1, V2])
        for got, gradient in zip(reference.single_example_gradients(W1, W2, x, t), expected, strict=True):
            np.testing.assert_allclose(got, gradient, **EXACT)


@exercise("forward")
def test_logits_against_torch(reference, rng):
    for activation in ACTIVATIONS:
        for n, d, m, o in SHAPES:
            for scale in (1, 300):
                params, X = random_params(rng, d, m, o), scale * rng.normal(size=(n, d))
                expected = torch_logits({k: torch.tensor(v) for k, v in params.items()}, X, activation)
                np.testing.assert_allclose(reference.forward(params, X, activation)[0], expected, **EXACT)


@exercise("mse_loss")
def test_mse_against_autograd(reference, rng):
    for n, o in [(1, 1), (1, 4), (5, 1), (4, 3)]:
        y, t = rng.normal(size=(2, n, o))
        output = leaf(y)
        # torch averages over all entries, this lesson over rows with a one half
        expected = torch.nn.functional.mse_loss(output, torch.tensor(t)) * o / 2
        loss, dy = reference.mse_loss(y, t)
        np.testing.assert_allclose(loss, expected.item(), **EXACT)
        np.testing.assert_allclose(dy, torch.autograd.grad(expected, output)[0], **EXACT)


@exercise("cross_entropy_loss")
def test_cross_entropy_against_autograd(reference, rng):
    for n, o in [(1, 1), (1, 3), (5, 2), (6, 10)]:
        for scale in (1, 1000):
            z, targets = scale * rng.normal(size=(n, o)), rng.integers(o, size=n)
            logits = leaf(z)
            expected = torch.nn.functional.cross_entropy(logits, torch.tensor(targets))
            loss, dlogits = reference.cross_entropy_loss(z, targets)
            np.testing.assert_allclose(loss, expected.item(), **EXACT)
            np.testing.assert_allclose(dlogits, torch.autograd.grad(expected, logits)[0], **EXACT)


@exercise("backward")
def test_backward_against_autograd(reference, rng):
    for activation in ACTIVATIONS:
        for n, d, m, o in SHAPES:
            params, X, dout = random_params(rng, d, m, o), rng.normal(size=(n, d)), rng.normal(size=(n, o))
            X[0] = 0
            params["b1"][0] = 0  # the pre-activation is exactly 0 in the first row
            leaves = {name: leaf(array) for name, array in params.items()}
            logits = torch_logits(leaves, X, activation)
            expected = torch.autograd.grad(logits, list(leaves.values()), torch.tensor(dout))
            got = reference.backward(params, reference.forward(params, X, activation)[1], dout)
            for name, gradient in zip(leaves, expected, strict=True):
                np.testing.assert_allclose(got[name], gradient, **EXACT)


@exercise("backward")
def test_backward_against_finite_differences(reference, rng):
    """Each parameter moved by ±eps, through the forward pass and the loss."""
    params, X, targets = random_params(rng, 3, 4, 2), rng.normal(size=(5, 3)), rng.integers(2, size=5)
    eps = 1e-6

    def loss(changed):
        return reference.cross_entropy_loss(reference.forward(changed, X, "tanh")[0], targets)[0]

    logits, cache = reference.forward(params, X, "tanh")
    gradients = reference.backward(params, cache, reference.cross_entropy_loss(logits, targets)[1])
    for name, array in params.items():
        expected = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            step = np.zeros_like(array)
            step[index] = eps
            up, down = loss({**params, name: array + step}), loss({**params, name: array - step})
            expected[index] = (up - down) / (2 * eps)
        np.testing.assert_allclose(gradients[name], expected, rtol=1e-6, atol=1e-9)


@exercise("saved_bytes")
def test_saved_bytes_against_arrays(reference, rng):
    """The arrays themselves: what forward keeps, and the softmax."""
    for dtype in (np.float32, np.float64):
        n, d, m, o = (int(size) for size in rng.integers(1, 30, size=4))
        params = {name: array.astype(dtype) for name, array in random_params(rng, d, m, o).items()}
        logits, cache = reference.forward(params, rng.normal(size=(n, d)).astype(dtype))
        softmax = torch.softmax(torch.tensor(logits), dim=1).numpy()
        kept = [value for value in cache.values() if isinstance(value, np.ndarray)]
        expected = sum(array.nbytes for array in [*kept, softmax])
        assert reference.saved_bytes(n, d, m, o, np.dtype(dtype).itemsize) == expected


@exercise("train")
def test_training_against_torch(reference, rng):
    """Gradient descent on one batch of all rows, step by step, by torch.optim from the reference's own start."""
    X, y = rng.uniform(size=(30, 64)), np.arange(30) % 10
    options = {"hidden": 7, "lr": 0.3, "seed": 5}
    leaves = {name: leaf(array) for name, array in reference.train(X, y, epochs=0, **options).items()}
    optimizer = torch.optim.SGD(leaves.values(), lr=0.3)
    for _ in range(20):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(torch_logits(leaves, X, "relu"), torch.tensor(y)).backward()
        optimizer.step()
    for name, array in reference.train(X, y, epochs=20, **options).items():
        np.testing.assert_allclose(array, leaves[name].detach(), rtol=1e-9, atol=1e-11)
