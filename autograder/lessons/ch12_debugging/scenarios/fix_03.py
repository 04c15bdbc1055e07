"""Scenarios of fix_03."""

from __future__ import annotations

from typing import Any

import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _linear, _network, _state
from autograder.lessons.ch12_debugging.scenarios.programs import GRAPH, _batches, _changed, _has_graph, _pair, _series


def encoder_and_head(submission: Any, layers: list[dict], head: dict, data: list, lr: float) -> dict[str, Any]:
    """fix_03."""
    with _fresh():
        encoder, last, batches = _network(layers).append(torch.nn.Tanh()), _linear(head), _batches(data)
        (losses, spreads), returned = _pair(submission.fix_03(encoder, last, batches, lr))
        return {
            **returned,
            GRAPH: _has_graph(losses, spreads),
            **_changed(batches, data),
            "losses": _series(losses),
            "spreads": _series(spreads),
            "parameters": _state(encoder, last),
        }
