"""The reference of layer_gradient_norms against something independent."""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import torch

from autograder.judging import exercise


def chain(rng, *widths, dtype=torch.float64):
    """A sigmoid network with weights of Linear's own size, drawn from `rng`."""
    modules: list[torch.nn.Module] = []
    for fan_in, fan_out in itertools.pairwise(widths):
        linear = torch.nn.Linear(fan_in, fan_out, dtype=dtype)
        with torch.no_grad():
            for parameter in linear.parameters():
                parameter.copy_(torch.tensor(rng.uniform(-1, 1, size=parameter.shape) / math.sqrt(fan_in)))
        modules += [linear, torch.nn.Sigmoid()]
    return torch.nn.Sequential(*modules[:-1])


def norms_by_hand(weights, biases, X, y):
    """Backpropagation through a sigmoid network, in NumPy."""
    activations = [X]
    for W, b in zip(weights, biases, strict=True):
        z = activations[-1] @ W.T + b
        activations.append(z if W is weights[-1] else 1 / (1 + np.exp(-z)))
    p = np.exp(activations[-1] - activations[-1].max(axis=1, keepdims=True))
    g = p / p.sum(axis=1, keepdims=True)
    g[np.arange(len(y)), y] -= 1
    g /= len(y)
    norms = []
    for i in reversed(range(len(weights))):
        norms.append(math.sqrt(((g.T @ activations[i]) ** 2).sum()))
        a = activations[i]
        g = (g @ weights[i]) * a * (1 - a)
    return norms[::-1]


@exercise("layer_gradient_norms")
def test_norms_against_numpy(reference, rng):
    for widths in [(3, 2), (4, 5, 3), (2, 6, 6, 6, 3), (5, *[8] * 31, 4)]:
        model = chain(rng, *widths)
        X, y = rng.normal(size=(9, widths[0])), rng.integers(widths[-1], size=9)
        linears = [module for module in model if isinstance(module, torch.nn.Linear)]
        by_hand = norms_by_hand(*[[getattr(m, name).detach().numpy() for m in linears] for name in ("weight", "bias")],
                                X, y)  # fmt: skip
        got = reference.implementations["layer_gradient_norms"](model, torch.tensor(X), torch.tensor(y))
        assert all(type(norm) is float for norm in got)
        np.testing.assert_allclose(got, by_hand, rtol=1e-9)


@exercise("layer_gradient_norms")
def test_norms_in_float32_are_those_of_float64(reference, rng):
    """Where float32's own norm is 0.0; and .grad after backward() is the same gradient."""
    norms = reference.implementations["layer_gradient_norms"]
    single = chain(rng, 6, *[8] * 31, 4, dtype=torch.float32)
    X, y = torch.tensor(rng.normal(size=(16, 6)), dtype=torch.float32), torch.tensor(rng.integers(4, size=16))
    got = norms(single, X, y)
    np.testing.assert_allclose(got, norms(copy.deepcopy(single).double(), X.double(), y), rtol=1e-4)
    torch.nn.functional.cross_entropy(single(X), y).backward()
    gradients = [module.weight.grad for module in single if isinstance(module, torch.nn.Linear)]
    np.testing.assert_allclose(got, [np.linalg.norm(gradient.numpy().astype(np.float64)) for gradient in gradients])
    assert gradients[0].norm() == 0
    assert (gradients[0] != 0).all()
