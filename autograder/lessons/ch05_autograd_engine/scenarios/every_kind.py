"""Scenarios with arguments of every kind: arrays in other layouts, tensors and blocks in the states that rows say."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from autograder.lessons.ch05_autograd_engine.scenarios.engine import (
    _changed,
    _explained,
    _in_layouts,
    _leaves,
    _names,
    has_its_own_tape,
)


def backward_in_states(submission: Any, code: str, a: Any, b: Any, g: Any, states: Mapping[str, str]) -> dict[str, Any]:
    """The grads of the leaves a and b of the program's result y, and whether they share memory with anything."""
    arrays = _in_layouts({"a": a, "b": b, "g": g}, states)
    twice = states["same object"] == "twice"
    tensors = _leaves(submission, {name: arrays[name] for name in ("a" if twice else "ab")})
    for tensor in tensors.values():
        tensor.grad = np.full(tensor.data.shape, 0.5, tensor.data.dtype) if states["leaves grads"] != "plain" else None
    names = {**_names(submission), **tensors, "b": tensors["a" if twice else "b"]}
    try:
        with _explained(submission, [code, "y.backward(g)"]):
            exec(code, names)
            submission.Tensor.recording = states["leaves walk"] != "with recording off"
            if states["leaves walk"] == "of a second pass":
                names["y"].backward(arrays["g"], retain_graph=True)
            names["y"].backward(arrays["g"])
    finally:
        submission.Tensor.recording = True
    found: dict[str, Any] = {}
    for name, tensor in tensors.items():
        found |= {f"{name}.grad": tensor.grad, f"type({name}.grad)": type(tensor.grad).__name__}
        if isinstance(tensor.grad, np.ndarray):
            for other in arrays:
                told = f"np.shares_memory({name}.grad, {other if other == 'g' else f'{other}.data'})"
                found[told] = np.shares_memory(tensor.grad, arrays[other])
    before = {"a.data": a, "g": g} | ({} if twice else {"b.data": b})
    return {**found, "changed": _changed(before, {**{f"{name}.data": arrays[name] for name in "ab"}, "g": arrays["g"]})}


def block_in_states(submission: Any, operation: str, a: Any, states: Mapping[str, str]) -> dict[str, Any]:
    """What is recorded in a block, and after it."""
    Tensor = submission.Tensor
    names = {**_names(submission), "a": Tensor(np.array(a), requires_grad=True)}
    found: dict[str, Any] = {}

    def block(guard: Any, end: str) -> None:
        with submission.no_grad() if guard is None else guard:
            y = eval(operation, names)
            found.update({"y.data": y.data, "y.requires_grad": bool(y.requires_grad)})
            found["y.edges"] = getattr(y, "edges", ())
            if end == "left by an exception":
                raise KeyError("lost")
            if end == "left by KeyboardInterrupt":
                raise KeyboardInterrupt
            if end == "left by return":
                return

    try:
        with submission.no_grad() if states["block guard"] == "made inside of another block" else nullcontext():
            guard = None if states["block guard"] == "plain" else submission.no_grad()
        Tensor.recording = states["block before"] != "where recording is off"
        with submission.no_grad() if states["block before"] == "inside of another block" else nullcontext():
            try:
                block(guard, states["block end"])
                found["came"] = ""
            except (KeyError, KeyboardInterrupt) as error:
                found["came"] = type(error).__name__
            found["Tensor.recording behind the block"] = Tensor.recording
        found["Tensor.recording at the end"] = Tensor.recording
        found["edges of an operation at the end"] = len(getattr(eval(operation, names), "edges", ()))
        return {**found, **_note(submission)}
    finally:
        Tensor.recording = True


def detached_in_states(submission: Any, t: Any, states: Mapping[str, str]) -> dict[str, Any]:
    """What is detached from a tensor, and the tensor afterwards."""
    origin = states["tensor origin"]
    leaf = submission.Tensor(_in_layouts({"t": t}, states)["t"], requires_grad=origin != "that requires no gradient")
    tensor = -leaf if origin.startswith("a result") else leaf
    if origin == "a result that was freed" and not has_its_own_tape(submission):
        tensor.edges = None
    if states["tensor grads"] == "with a grad":
        tensor.grad = np.ones(tensor.data.shape, tensor.data.dtype)
    before = {name: getattr(tensor, name, None) for name in ("data", "grad", "requires_grad", "edges")}
    with _explained(submission, ["t.detach()"]):
        d = tensor.detach()
    found: dict[str, Any] = {f"d.{name}": getattr(d, name, None) for name in ("data", "grad", "requires_grad", "edges")}
    found["np.shares_memory(d.data, t.data)"] = np.shares_memory(d.data, before["data"])
    found |= {f"t.{name} is another": getattr(tensor, name, None) is not value for name, value in before.items()}
    return {**found, "d is t": d is tensor, **_note(submission)}


def hooked_in_states(submission: Any, a: Any, b: Any, g: Any, states: Mapping[str, str]) -> dict[str, Any]:
    """What a hook sees, in the order of sums, and the grads that the pass leaves."""
    arrays = _in_layouts({"a": a, "b": b, "g": g}, states)
    tensors = _leaves(submission, {name: arrays[name] for name in "ab"})
    answer, times = states["hook answer"], states["hook times"]
    seen: list[Any] = []

    def hook(g: Any) -> Any:
        seen.append(np.array(g))
        if answer == "that scales":
            return np.asarray(3 * g, dtype=g.dtype)
        if answer.startswith("that writes into its argument"):
            g *= 2
        return g if answer.endswith("returns it") else None

    with _explained(submission, ["(a * b).register_hook(f)", "(a + b).backward(g)"]):
        h = tensors["a"] * tensors["b"]
        y = h + tensors["a"]
        of = {"plain": tensors["a"], "on a result": h, "on the result of all": y}[states["hook tensor"]]
        if times == "behind another":
            of.register_hook(lambda g: np.asarray(g - 2, dtype=g.dtype))
        for one in {"registered twice": [of, of], "on two tensors": [of, tensors["b"]]}.get(times, [of]):
            one.register_hook(hook)
        y.backward(arrays["g"])
    seen.sort(key=lambda array: (array.shape, float(array.sum())))
    grads = {f"{name}.grad": tensor.grad for name, tensor in tensors.items()}
    return {"seen": seen, **grads, "changed": _changed({"a": a, "b": b, "g": g}, arrays)}


def _note(submission: Any) -> dict[str, bool]:
    """A note that answers about edges and recording do not count, if the submission has its own tape."""
    return {"own_tape": True} if has_its_own_tape(submission) else {}
