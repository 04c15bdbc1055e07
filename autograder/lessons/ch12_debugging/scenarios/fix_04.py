"""Scenarios of fix_04."""

from __future__ import annotations

from typing import Any

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _network, _state
from autograder.lessons.ch12_debugging.scenarios.programs import GRAPH, _batches, _changed, _has_graph, _pair, _series


def validated(submission: Any, layers: list[dict], data: list, validation: list, lr: float) -> dict[str, Any]:
    """fix_04."""
    with _fresh():
        model, batches, held_out = _network(layers), _batches(data), _batches([validation])
        (losses, others), returned = _pair(submission.fix_04(model, batches, held_out[0], lr))
        return {
            **returned,
            GRAPH: _has_graph(losses, others),
            **_changed([*batches, *held_out], [*data, validation]),
            "losses": _series(losses),
            "validation losses": _series(others),
            "parameters": _state(model),
        }
