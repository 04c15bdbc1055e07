"""Scenarios of Tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.lessons.ch05_autograd_engine.scenarios.engine import (
    _as_floats,
    _changed,
    _explained,
    _in_layouts,
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
    value, gradients = _walked(submission, expression, {**arrays, **tensors}, tensors, upstream)
    changed = [*_changed({**(given or {}), **leaves}, arrays), *_changed({"g": g}, {"g": upstream})]
    return {"value": value, **{f"d{name}": gradient for name, gradient in gradients.items()}, "changed": changed}


def expressions_in_states(
    submission: Any, expressions: Sequence[str], a: Any, b: Any, g: Any, states: Mapping[str, str]
) -> dict[str, Any]:
    """The values and gradients of expressions of a and b, which `states` says the kinds and layouts of."""
    found: dict[str, Any] = {}
    changed: set[str] = set()
    for expression in expressions:
        arrays = _in_layouts({"a": a, "b": b, "g": g}, states)
        tensors = _leaves(submission, {"a": arrays["a"]})
        use = states["operands use"]
        if states["same object"] == "twice":
            arrays["b"] = arrays["a"]
        if use == "with b that requires no gradient":
            names = {"b": submission.Tensor(arrays["b"])}
        elif use == "with b an array":
            names = {"b": arrays["b"]}
        elif states["same object"] == "twice":
            names = {"b": tensors["a"]}
        else:
            tensors |= _leaves(submission, {"b": arrays["b"]})
            names = {}
        value, gradients = _walked(submission, expression, {**names, **tensors}, tensors, arrays["g"])
        found["np.shares_memory(a.data, the array)"] = np.shares_memory(tensors["a"].data, arrays["a"])
        found |= {expression: value, **{f"d{name} of {expression}": of_it for name, of_it in gradients.items()}}
        before = {"a": a, "g": g} | ({"b": b} if states["same object"] != "twice" else {})
        changed |= set(_changed(before, arrays))
    return {**found, "changed": sorted(changed)}


def joined_in_states(submission: Any, axis: int, a: Any, b: Any, g: Any, states: Mapping[str, str]) -> dict[str, Any]:
    """The value and gradients of a, b and a again, joined along an axis; `states` has kinds and layouts of a and b."""
    arrays = _in_layouts({"a": a, "b": b, "g": g}, states)
    twice, use = states["same object"] == "twice", states["joined use"]
    names = {name: submission.Tensor(arrays[name], requires_grad=f"with {name} that" not in use) for name in "ab"}
    if twice:
        names["b"] = names["a"]
    tensors = {name: tensor for name, tensor in names.items() if tensor.requires_grad and not (twice and name == "b")}
    value, gradients = _walked(submission, f"concatenate([a, b, a], {axis})", names, tensors, arrays["g"])
    before = {"a": a, "g": g} | ({} if twice else {"b": b})
    found = {f"d{name}": gradient for name, gradient in gradients.items()}
    return {"value": value, **found, "changed": _changed(before, arrays)}


def joined_in_a_list(
    submission: Any, leaves: Mapping[str, Any], upstream: Mapping[str, Any], turned: bool
) -> dict[str, Any]:
    """The gradients of joined leaves for each g of `upstream`; first the caller may turn its list around."""
    tensors = _leaves(submission, _own(leaves))
    listed = list(tensors.values())
    y = submission.concatenate(listed)
    there = [name for one in listed for name, tensor in tensors.items() if tensor is one]
    found: dict[str, Any] = {"the list after the call": ", ".join(there)}
    if turned:
        listed.reverse()
    for case, g in upstream.items():
        _, gradients = _along_edges(submission, "concatenate", y, tensors, g, retain_graph=True)
        found |= {f"d{name} for {case}": gradient for name, gradient in gradients.items()}
    return found


def _walked(
    submission: Any, expression: str, names: Mapping[str, Any], tensors: Mapping[str, Any], upstream: Any
) -> tuple[Any, dict[str, Any]]:
    """The value of an expression of these names, and the gradients of these tensors along the edges."""
    with _explained(submission, [expression]):
        y = eval(expression, {**_names(submission), **names})
    _expect_tensor(submission, y, expression)
    return _along_edges(submission, expression, y, tensors, upstream)


def _along_edges(
    submission: Any, expression: str, y: Any, tensors: Mapping[str, Any], upstream: Any, **how: bool
) -> tuple[Any, dict[str, Any]]:
    """The data of y and the gradients of these tensors; `how` is for the `backward` of an own tape."""
    sums: dict[str, Any] = dict.fromkeys(tensors)
    if has_its_own_tape(submission):
        for tensor in tensors.values():
            tensor.grad = None
        if tensors:
            y.backward(upstream, **how)
        sums = {name: _as_floats(submission, tensors[name].grad, expression) for name in tensors}
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
    return y.data, sums


def _expect_tensor(submission: Any, y: Any, expression: str) -> None:
    if not isinstance(submission.Tensor, type) or not isinstance(y, submission.Tensor):
        raise TypeError(f"{expression} is of the type {type(y).__name__}, not a Tensor")
