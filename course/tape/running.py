"""Runs one backward pass of the engine, and records the calls of the VJPs that are drawn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from course.tape.reading import Box, Edge, Tape, pairs_of

TOO_OFTEN = 200
"""After how many calls of one VJP a backward pass is ended."""


class GoesRound(RuntimeError):
    """A backward pass has called one VJP more than `TOO_OFTEN`."""


def run(tape: Tape, root: Any, g: Any) -> None:
    """Run the engine's backward pass, record the gradients along each edge, and restore edges and grads."""
    if not tape.edges or not tape.every:
        return
    kept = [(tensor, getattr(tensor, "edges", None), getattr(tensor, "grad", None)) for tensor in tape.every]
    try:
        for tensor in tape.every:
            tensor.grad = None
        (_hook if tape.by_hooks else _wrap_vjps)(tape)
        _run_backward(root, g)
    except NotImplementedError:
        tape.lines.append(
            "`Tensor.backward` is not written yet. Once it is, what it sends along the edges stands here."
        )
    except Exception as error:
        tape.lines.append(f"backward ended in {type(error).__name__}: {error}"[:300])
    else:
        _find_faults(tape)
    finally:
        for tensor, edges, grad in kept:
            with suppress(AttributeError):  # an attribute that cannot be set was not changed
                if not tape.by_hooks:
                    tensor.edges = edges
            with suppress(AttributeError):
                tensor.grad = grad


def _wrap_vjps(tape: Tape) -> None:
    """Wrap the VJPs of all edges that are drawn, to record their calls."""
    calls = [0]
    for at, box in enumerate(tape.boxes):
        mine = iter([edge for edge in tape.edges if edge.child == at])
        drawn = {id(tape.boxes[edge.parent].tensor) for edge in tape.edges if edge.child == at}
        edges = [
            (parent, _recording(box, next(mine), vjp, calls) if id(parent) in drawn else vjp)
            for parent, vjp in pairs_of(box.tensor)
        ]
        if edges:
            box.tensor.edges = tuple(edges)


def _hook(tape: Tape) -> None:
    """Record the gradient of each result by a hook. The program's results are not used elsewhere, so hooks may stay."""
    try:
        for box in tape.boxes:
            if not box.leaf:
                box.tensor.register_hook(lambda g, box=box: box.sent.append(np.array(g)))
    except (AttributeError, NotImplementedError):
        tape.lines.append("`Tensor.register_hook` is not written yet: gradients of results between are not shown.")


def _recording(box: Box, edge: Edge, vjp: Callable[[Any], Any], calls: list[int]) -> Callable[[Any], Any]:
    def heard(g: Any) -> Any:
        calls[0] += 1
        if len(edge.calls) == TOO_OFTEN:
            raise GoesRound(
                f"one VJP was called {TOO_OFTEN} times. Each is to be called once, with a complete gradient"
            )
        box.sent.append(np.array(g))
        part = vjp(g)
        edge.calls.append(calls[0])
        edge.parts.append(np.array(part))
        return part

    return heard


def _run_backward(root: Any, g: Any) -> None:
    backward = getattr(root, "backward", None)
    if backward is None:
        raise NotImplementedError
    given = () if g is None else (g,)
    try:
        keeps = "retain_graph" in inspect.signature(backward).parameters
    except (TypeError, ValueError):
        keeps = True
    backward(*given, **({"retain_graph": True} if keeps else {}))


def _find_faults(tape: Tape) -> None:
    """Read the leaves' grads after a completed pass, and add lines about what it did wrong."""
    for at, box in enumerate(tape.boxes):
        came = [part for edge in tape.edges if edge.parent == at for part in edge.parts]
        box.grad = getattr(box.tensor, "grad", None) if box.leaf else None
        box.grad = None if box.grad is None else np.array(box.grad)
        often = max((len(edge.calls) for edge in tape.edges if edge.child == at), default=0)
        if often > 1:
            tape.lines.append(f"{box.title}: a VJP was called {often} times in one pass, and once is right.")
        elif at and came and len(tape.every) == len(tape.boxes) and not getattr(box.tensor, "hooks", ()):
            _compare(tape, box, came)


def _compare(tape: Tape, box: Box, came: list[Any]) -> None:
    """Add a line if a box did not pass on, or keep, the sum of the gradients that came to it."""
    if box.leaf and box.grad is None:
        if getattr(box.tensor, "requires_grad", True):
            tape.lines.append(f"{box.title}: gradients came, and `grad` is still None.")
        return
    held = box.grad if box.leaf else box.sent[0] if box.sent else None
    if held is None or any(np.shape(part) != np.shape(held) for part in came):
        return  # the shapes differ if the engine undoes broadcasting outside of the VJPs
    total = sum(came)
    if not np.allclose(held, total, rtol=1e-4, atol=1e-8, equal_nan=True):
        did = "keeps another `grad`" if box.leaf else "passes something else on"
        tape.lines.append(f"{box.title} {did} than the sum of what came to it.")
