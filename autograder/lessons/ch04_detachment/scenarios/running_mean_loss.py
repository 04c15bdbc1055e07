"""Scenarios of running_mean_loss."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.weak import TensorWeakRef

from autograder.lessons.ch04_detachment.scenarios.modules import _mean


def _loss(value: float, dtype: str = "float64", shape: tuple[int, ...] = ()) -> torch.Tensor:
    """A loss of this value with a graph."""
    leaf = torch.full(shape, value, dtype=getattr(torch, dtype), requires_grad=True)
    return 1 * leaf


@torch.enable_grad()
def mean_of(submission: Any, values: list[float], kind: str, dtype: str = "float64") -> dict[str, Any]:
    """The mean of 0-d losses in an iterable of this kind."""
    losses = (_loss(value, dtype) for value in values)
    kinds: dict[str, Any] = {"list": list, "tuple": tuple, "generator": iter}
    return _mean(submission, kinds[kind](losses))


@torch.enable_grad()
def mean_in_states(submission: Any, values: list[float], states: dict[str, str]) -> dict[str, Any]:
    """The mean of losses of the shape, dtype and origin that `states` says, in an iterable of its kind."""
    sort, graph = states["losses iterable"], states["losses graph"]
    shape = {"of shape (1,)": (1,), "of shape (1, 1)": (1, 1)}.get(states["losses shape"], ())
    dtype = {"in float32": "float32", "in bfloat16": "bfloat16"}.get(states["losses dtype"], "float64")
    losses = [_loss(value, dtype, shape) for value in values]
    if graph != "plain":
        losses = [loss.detach().requires_grad_(graph == "that are leaves") for loss in losses]
    if states["losses identity"] == "one of them twice":
        losses.append(losses[0])
    given: Any = losses
    if sort == "from a generator":
        given = (loss for loss in losses)
    elif sort == "that are a dict's values":
        given = dict(enumerate(losses)).values()
    flags = [loss.requires_grad for loss in losses]
    mean = _mean(submission, given)
    changed = [loss.requires_grad for loss in losses] != flags or any(
        loss.grad is not None for loss in losses if loss.is_leaf
    )
    return {**mean, "The losses are other ones afterwards: their requires_grad or .grad changed": changed}


@torch.enable_grad()
def mean_of_nothing(submission: Any, kind: str) -> dict[str, bool]:
    """What running_mean_loss does with an empty iterable of this kind."""
    kinds: dict[str, Any] = {"list": [], "tuple": (), "generator": iter(())}
    outcome = ""
    try:
        outcome = str(submission.running_mean_loss(kinds[kind]))
    except ValueError:
        outcome = "ValueError"
    except ZeroDivisionError:
        outcome = "ZeroDivisionError"
    known = {
        "ValueError": "",
        "ZeroDivisionError": "raised ZeroDivisionError",
        "0.0": "returned 0.0",
        "nan": "returned nan",
    }
    told = {
        f"With no losses running_mean_loss {what}; raise a ValueError": outcome == key
        for key, what in known.items()
        if what
    }
    return {**told, "With no losses running_mean_loss raised no ValueError": outcome not in known}


@torch.enable_grad()
def mean_of_shapes(submission: Any, values: list[float], shapes: list[tuple[int, ...]]) -> dict[str, Any]:
    """The mean of losses of these shapes, from a generator."""
    return _mean(submission, (_loss(v, shape=shape) for v, shape in zip(values, shapes, strict=True)))


@torch.enable_grad()
def losses_afterwards(submission: Any, values: list[float]) -> dict[str, Any]:
    """The mean of a list of losses, and the losses themselves afterwards."""
    leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]
    losses = [1 * leaf for leaf in leaves]
    mean = _mean(submission, losses)
    return {
        **mean,
        "the losses": np.array([loss.item() for loss in losses]),
        "The losses have lost their graphs": any(loss.grad_fn is None for loss in losses),
        "running_mean_loss called backward, which is the caller's to do": any(leaf.grad is not None for leaf in leaves),
    }


@torch.enable_grad()
def training_loop(submission: Any, targets: list[float], lr: float) -> dict[str, Any]:
    """The mean loss of an epoch whose losses are a generator that trains, and the trained weight."""
    w: Any = torch.zeros((), dtype=torch.float64, requires_grad=True)

    def epoch() -> Iterator[torch.Tensor]:
        for target in targets:
            loss = (w - target) ** 2
            yield loss
            w.grad = None
            loss.backward()
            with torch.no_grad():
                w.sub_(lr * w.grad)

    return {**_mean(submission, epoch()), "the trained weight": w.item()}


@torch.enable_grad()
def graphs_alive(submission: Any, values: list[float], shape: tuple[int, ...] = ()) -> dict[str, Any]:
    """The mean of losses from a generator, and the maximum number of graphs alive when the next loss is requested.

    A graph is alive as long as its leaf is, which each of its nodes keeps. A loss counts from the next request
    on, because while it is handed out a loop's variable still holds the one before.
    """
    leaves: list[TensorWeakRef] = []
    most = 0

    def watched(value: float) -> torch.Tensor:
        leaf = torch.full(shape, value, dtype=torch.float64, requires_grad=True)
        loss = 1 * (1 * leaf)
        if loss.grad_fn is not None:  # gradients may be off when the generator runs
            leaves.append(TensorWeakRef(leaf))
        return loss

    def alive() -> int:
        return sum(leaf() is not None for leaf in leaves)

    def count() -> None:
        nonlocal most
        found = alive()
        if found > 2 and most <= 2:  # more than two are told already, and each collection takes 20 ms and more
            gc.collect()  # graphs that only a reference cycle keeps alive do not count
            found = alive()
        most = max(most, found)

    def losses() -> Iterator[torch.Tensor]:
        for value in values:
            count()
            yield watched(value)
        count()

    mean = _mean(submission, losses())
    return {**mean, "graphs": most, "left": alive()}
