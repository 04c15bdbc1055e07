"""The networks of find_bug against PyTorch."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from autograder.judging import exercise
from autograder.lessons.ch07_mlp_backprop.checks.find_bug import BUGS, Suspect
from autograder.lessons.ch07_mlp_backprop.checks.networks import random_params


@exercise("find_bug")
def test_find_bug_against_pytorch(reference, rng):
    """Autograd's loss and gradients of the same programs; the reference names each."""
    n, d, m, o = (int(size) for size in rng.integers(3, 7, size=4))
    params, X, targets = random_params(rng, d, m, o), rng.normal(size=(n, d)), rng.integers(o, size=n)
    for bug in BUGS:
        leaf = {name: torch.tensor(value, requires_grad=True) for name, value in params.items()}
        Z = torch.tensor(X) @ leaf["W1"] + leaf["b1"]
        H = torch.relu(Z)
        if bug == "slope":
            H = H.detach() + Z - Z.detach()
        logits = (H.detach() if bug == "detached" else H) @ leaf["W2"] + leaf["b2"]
        if bug == "softmax":
            logits = logits.softmax(dim=1)
        loss = F.cross_entropy(logits, torch.tensor(targets), reduction="sum" if bug == "sum" else "mean")
        loss.backward()
        got_loss, got = Suspect(bug)(params, X, targets)
        assert np.isclose(got_loss, loss.item())
        for name, value in leaf.items():
            expected = np.zeros(value.shape) if value.grad is None else value.grad.numpy()
            if bug == "bias" and name.startswith("b"):
                expected = expected / n
            assert np.allclose(got[name], expected), (bug, name)
        assert reference.find_bug(Suspect(bug).__call__) == bug
