"""Imports PyTorch, SciPy and scikit-learn in a NumPy lesson. Its cell goes on without; what needs them fails."""

import scipy
import sklearn
import torch


def forward(params, X, activation="relu"):
    return torch.relu(torch.tensor(X)), None


def backward(params, cache, dout):
    import torch.autograd

    return torch.autograd.grad(dout, params)


def cross_entropy_loss(logits, targets):
    from scipy.special import softmax

    return softmax(logits), sklearn, scipy
