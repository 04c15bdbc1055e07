"""Scenarios of fix_05."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh
from autograder.lessons.ch12_debugging.scenarios.programs import GRAPH, _batches, _changed, _has_graph, _pair, _series


def built(submission: Any, seed: int, sizes: tuple, data: list, X: np.ndarray, lr: float) -> dict[str, Any]:
    """fix_05: the losses, what the network answers, and what its state_dict makes of a fresh one."""
    with _fresh(seed):
        batches = _batches(data)
        (model, losses), returned = _pair(submission.fix_05(*sizes, batches, lr))
        found: dict[str, Any] = {
            **returned,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "The first value returned is no network": not isinstance(model, torch.nn.Module),
            "losses": _series(losses),
        }
        if not isinstance(model, torch.nn.Module):
            return found
        (other, _), _ = _pair(submission.fix_05(*sizes, [], lr))
        with torch.no_grad():
            found["outputs"] = model(torch.tensor(X)).numpy()
            other.load_state_dict(model.state_dict())
            found["outputs of the network that was saved and loaded"] = other(torch.tensor(X)).numpy()
        found["number of parameters"] = sum(parameter.numel() for parameter in model.parameters())
        return found
