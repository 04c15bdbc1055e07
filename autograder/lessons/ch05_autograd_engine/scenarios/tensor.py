"""Scenarios of Tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.lessons.ch05_autograd_engine.scenarios.engine import (
    _as_floats,
    _changed,
    _explained,
    _leaves,
    _names,
    _own,
    has_its_own_tape,
)


def walk_edges(
    submission: Any, expression: str, leaves: Mapping[str, Any], g: Any, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The value of an expression, and each leaf's gradient computed along the edges, without `backward`.

    Args:
        given: other values that the expression names: numbers, arrays, tuples.

    Returns:
        Also `changed`: the names of the arrays that were modified.
    """
    arrays = _own({**(given or {}), **leaves})
    tensors = _leaves(submission, {name: arrays[name] for name in leaves})
    upstream = np.array(g)
    with _explained(submission, [expression]):
        y = eval(expression, {**_names(submission), **arrays, **tensors})
    _expect_tensor(submission, y, expression)
    sums: dict[str, Any] = dict.fromkeys(leaves)
    if has_its_own_tape(submission):
        y.backward(upstream)
        sums = {name: _as_floats(submission, tensors[name].grad, expression) for name in leaves}
        y, paths = submission.Tensor(y.data), []
    else:
        paths = [(y, upstream)]
    name_of = {id(tensor): name for name, tensor in tensors.items()}
    while paths:  # one path at a time, each to its leaf: expressions are small
        node, gradient = paths.pop()
        name = name_of.get(id(node))
        if name is not None:
            sums[name] = gradient if sums[name] is None else sums[name] + gradient
            continue
        for parent, vjp in node.edges:
            with _explained(submission, [expression]):
                paths.append((parent, _as_floats(submission, vjp(gradient), expression)))
    changed = [*_changed({**(given or {}), **leaves}, arrays), *_changed({"g": g}, {"g": upstream})]
    return {"value": y.data, **{f"d{name}": gradient for name, gradient in sums.items()}, "changed": changed}


def _expect_tensor(submission: Any, y: Any, expression: str) -> None:
    if not isinstance(submission.Tensor, type) or not isinstance(y, submission.Tensor):
        raise TypeError(f"{expression} is of the type {type(y).__name__}, not a Tensor")
