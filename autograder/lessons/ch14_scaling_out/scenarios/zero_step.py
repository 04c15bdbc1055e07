"""Scenarios of zero_step."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from autograder.lessons.ch14_scaling_out.scenarios.ranks import (
    Arrays,
    _data,
    _of_ranks,
    _of_ranks_with_sentences,
    _shown,
    _side_by_side,
    _tensor,
    _Weighing,
)
from course.process_groups import Group


@torch.enable_grad()
def zero_steps(
    submission: Any,
    params: Arrays,
    steps: list[list[Arrays]],
    lr: float,
    beta: float,
    max_norm: float,
    as_parameters: bool,
    strided: bool,
) -> dict[str, Any]:
    """Parameters and momentum of every rank after steps with the given gradients, by step and rank."""
    size, n = len(steps[0]), sum(value.size for value in params)
    length = -(-n // size)

    def step(group: Group) -> dict[str, Any]:
        own = [torch.tensor(value) for value in params]
        if strided:
            own = [
                value.mT.contiguous().mT if value.ndim > 1 else torch.stack([value, value + 1], dim=-1)[..., 0]
                for value in own
            ]
        if as_parameters:
            own = [nn.Parameter(value) for value in own]
        momentum = torch.zeros(length, dtype=own[0].dtype)
        changed, given = False, [*own, momentum]
        for of_ranks in steps:
            grads = [torch.tensor(value) for value in of_ranks[group.rank]]
            before = [grad.clone() for grad in grads]
            submission.zero_step(own, grads, momentum, group, lr, beta, max_norm)
            changed |= not all(map(torch.equal, grads, before))
        return {
            "The tensors in grads are others afterwards": changed,
            "A parameter or the momentum has a graph behind it": any(value.grad_fn is not None for value in given),
            "momentum": _data(momentum),
            **{f"params[{i}]": _data(value) for i, value in enumerate(own)},
        }

    return _of_ranks_with_sentences(_side_by_side(step, size))


@torch.enable_grad()
def zero_step_in_states(
    submission: Any,
    params: Arrays,
    grads: Arrays,
    momenta: Arrays,
    lr: float,
    beta: float,
    max_norm: float,
    states: dict[str, str],
) -> dict[str, Any]:
    """One step with parameters and gradients in these states; rank r has r + 1 times `grads`.

    Views of parameters and momentum tell whether both changed in place.
    """

    def step(group: Group) -> dict[str, Any]:
        own = [_tensor(value, states["params layout"]) for value in params]
        if states["parameters of"] != "plain":
            own = [nn.Parameter(value) for value in own]
            own[-1].requires_grad_(not states["parameters of"].endswith("frozen"))
        if states["parameters grads"] == "with a grad":
            for value in own:
                value.grad = torch.full_like(value, 0.5)
        flags = [value.requires_grad for value in own]
        mine = [_tensor(value * value.dtype.type(group.rank + 1), states["grads layout"]) for value in grads]
        momentum, before = torch.tensor(momenta[group.rank]), [value.clone() for value in mine]
        views = [value.detach() for value in (*own, momentum)]
        submission.zero_step(own, mine, momentum, group, lr, beta, max_norm)
        kept = [value.grad is not None and bool((value.grad == 0.5).all()) for value in own]
        return {
            "The tensors in grads are others afterwards": not all(map(torch.equal, mine, before)),
            "A parameter or the momentum has a graph behind it": any(one.grad_fn is not None for one in own),
            "A parameter has another requires_grad afterwards": [one.requires_grad for one in own] != flags,
            "The .grad of a parameter is another one afterwards; the gradients are `grads`": not all(
                one is (states["parameters grads"] == "with a grad") for one in kept
            ),
            "momentum": _data(momentum),
            **{f"params[{i}]": _data(value) for i, value in enumerate(own)},
            "a view of momentum": _data(views.pop()),
            **{f"a view of params[{i}]": _data(view) for i, view in enumerate(views)},
        }

    return _of_ranks_with_sentences(_side_by_side(step, len(momenta)))


@torch.enable_grad()
def sent_by_zero_step(
    submission: Any, params: Arrays, grads: list[Arrays], momenta: Arrays, max_norm: float, seed: int
) -> dict[str, Any]:
    """The collectives of one step on every rank, each with the entries of its tensor, and what came of them.

    What is sent is multiplied by drawn numbers. `momenta` has each rank's piece of the state, which no other rank has
    seen.
    """

    def step(group: Group) -> dict[str, Any]:
        weighing = _Weighing(group, seed)
        own, mine = ([torch.tensor(value) for value in of] for of in (params, grads[group.rank]))
        momentum = torch.tensor(momenta[group.rank])
        submission.zero_step(own, mine, momentum, _shown(weighing), 0.1, 0.9, max_norm)
        sent = [f"{call.name} of {int(np.prod(call.shape, dtype=int))}" for call in weighing.calls]
        return {
            "sent": ", ".join(sent) or "nothing",
            "momentum": _data(momentum),
            **{f"params[{i}]": _data(value) for i, value in enumerate(own)},
        }

    return _of_ranks(_side_by_side(step, len(grads)))
