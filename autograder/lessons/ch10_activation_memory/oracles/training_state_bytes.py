"""The reference of training_state_bytes against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise


@exercise("training_state_bytes")
def test_states_against_adam(reference):
    """PyTorch's own moments, gradients and weights in float32, without a master copy."""
    p = torch.nn.Parameter(torch.ones(1000))
    optimizer = torch.optim.AdamW([p])
    p.grad = torch.ones_like(p)
    optimizer.step()
    got = reference.implementations["training_state_bytes"](1000, 4, 4, 0, 4)
    assert got["moments"] == sum(optimizer.state[p][name].nbytes for name in ("exp_avg", "exp_avg_sq"))
    assert got["total"] == got["moments"] + p.nbytes + p.grad.nbytes
