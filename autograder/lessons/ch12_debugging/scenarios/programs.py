"""The programs. Each scenario returns what its program returns and the trained parameters, in float32."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _network, _state
from autograder.worker.returned import array, plain

# The programs. Each scenario returns what its program returns and the trained parameters, in float32.


def _series(values: Any) -> np.ndarray | None:
    """A list of numbers, or of tensors and arrays with one entry, as an array; None for anything else."""
    values = plain(values)
    if isinstance(values, torch.Tensor) and values.ndim == 1:
        values = list(values)
    if not isinstance(values, list | tuple):
        return None
    if not all(
        isinstance(value, int | float | np.number)
        or (isinstance(value, torch.Tensor) and math.prod(value.shape) == 1)
        or (isinstance(value, np.ndarray) and value.size == 1)
        for value in values
    ):
        return None
    return np.array([_item(value) for value in values], dtype=np.float64)


def _item(value: Any) -> Any:
    """The number in a tensor or an array of one entry; a number as it is."""
    value = array(value)
    return np.ndarray.item(value) if isinstance(value, np.ndarray) else value


def _has_graph(*returned: Any) -> bool:
    """Whether a value that a program returned, alone or in a list, requires a gradient."""
    return any(
        isinstance(value, torch.Tensor) and value.requires_grad
        for values in returned
        for value in (values if isinstance(values, list | tuple) else [values])
    )


GRAPH = "A number is returned with its graph, which keeps all activations of its step: .item() gives a float"
NOTHING = "Nothing is returned: a function that ends without `return` gives None"
NO_PAIR = "Two values are to be returned, as they were by the program that was handed out"


def _pair(values: Any) -> tuple[list[Any], dict[str, bool]]:
    """Both parts of a returned pair, or Nones if it is not a pair, with the sentences about that."""
    values = plain(values)
    two = isinstance(values, tuple | list) and len(values) == 2
    return list(values) if two else [None, None], {NOTHING: values is None, NO_PAIR: values is not None and not two}


def _batches(data: Sequence[Sequence[np.ndarray]]) -> list[tuple[torch.Tensor, ...]]:
    return [tuple(torch.tensor(array) for array in batch) for batch in data]


def _changed(batches: Sequence[tuple[torch.Tensor, ...]], data: Sequence[Sequence[np.ndarray]]) -> dict[str, bool]:
    """Whether the program wrote into its data."""
    return {
        "The data were changed": not all(
            np.array_equal(array(tensor), given)
            for batch, arrays in zip(batches, data, strict=True)
            for tensor, given in zip(batch, arrays, strict=True)
        )
    }


def one_model(submission: Any, name: str, layers: list[dict], data: list, settings: tuple) -> dict[str, Any]:
    """fix_01, fix_08, fix_10 and fix_12: a model, batches, numbers; the losses and the parameters."""
    with _fresh():
        model, batches = _network(layers), _batches(data)
        losses = plain(getattr(submission, name)(model, batches, *settings))
        return {
            NOTHING: losses is None,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "losses": _series(losses),
            "parameters": _state(model),
        }
