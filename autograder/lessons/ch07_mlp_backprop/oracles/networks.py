"""Random networks of two layers, and the same in PyTorch."""

from __future__ import annotations

import torch

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
