"""Scenarios of fix_09."""

from __future__ import annotations

from typing import Any

import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _linear, _state
from autograder.lessons.ch12_debugging.scenarios.programs import GRAPH, NOTHING, _batches, _changed, _has_graph, _series
from autograder.worker.returned import plain


def epochs(
    submission: Any, seed: int, layers: list[dict], p: float, data: list, validation: list, n: int, lr: float
) -> dict[str, Any]:
    """fix_09: the validation losses; parameters and running statistics."""
    with _fresh(seed):
        first, last = map(_linear, layers)
        norm = torch.nn.BatchNorm1d(first.out_features)
        model = torch.nn.Sequential(first, norm, torch.nn.ReLU(), torch.nn.Dropout(p), last)
        batches, held_out = _batches(data), _batches([validation])
        scores = plain(submission.fix_09(model, batches, held_out[0], n, lr))
        return {
            NOTHING: scores is None,
            GRAPH: _has_graph(scores),
            **_changed([*batches, *held_out], [*data, validation]),
            "validation losses": _series(scores),
            "parameters": _state(model),
        }
