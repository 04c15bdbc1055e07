"""Scenarios of fix_02."""

from __future__ import annotations

from typing import Any

import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _linear, _state
from autograder.lessons.ch12_debugging.scenarios.programs import GRAPH, NOTHING, _batches, _changed, _has_graph, _series
from autograder.worker.returned import plain


def residual(submission: Any, layers: list[dict], head: dict, data: list, lr: float) -> dict[str, Any]:
    """fix_02."""
    with _fresh():
        stack, last, batches = torch.nn.ModuleList(map(_linear, layers)), _linear(head), _batches(data)
        losses = plain(submission.fix_02(stack, last, batches, lr))
        return {
            NOTHING: losses is None,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "losses": _series(losses),
            "parameters": _state(stack, last),
        }
