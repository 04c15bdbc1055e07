"""Scenarios of fix_05."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh
from autograder.lessons.ch12_debugging.scenarios.programs import GRAPH, _batches, _changed, _has_graph, _pair, _series
from autograder.worker.returned import array


def built(submission: Any, seed: int, sizes: tuple, data: list, X: np.ndarray, lr: float) -> dict[str, Any]:
    """fix_05: the losses, the network's outputs, and those of a fresh network after loading its state_dict."""
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
            found["outputs"] = array(model(torch.tensor(X)))
            other.load_state_dict(model.state_dict())
            found["outputs of the network that was saved and loaded"] = array(other(torch.tensor(X)))
        found["number of parameters"] = sum(math.prod(parameter.shape) for parameter in model.parameters())
        return found
