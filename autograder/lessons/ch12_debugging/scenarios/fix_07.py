"""Scenarios of fix_07."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _network, _state
from autograder.lessons.ch12_debugging.scenarios.programs import GRAPH, _batches, _changed, _has_graph, _pair, _series
from autograder.worker.returned import array


def probabilities(submission: Any, layers: list[dict], data: list, X: np.ndarray, lr: float) -> dict[str, Any]:
    """fix_07."""
    with _fresh():
        model, batches = _network(layers), _batches(data)
        (losses, p), returned = _pair(submission.fix_07(model, batches, torch.tensor(X), lr))
        return {
            **returned,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "losses": _series(losses),
            "probabilities": array(p) if isinstance(p, torch.Tensor) else None,
            "parameters": _state(model),
        }
