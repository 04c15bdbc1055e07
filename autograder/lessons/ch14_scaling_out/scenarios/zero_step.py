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
    _shown,
    _side_by_side,
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

    found = _side_by_side(step, size)
    sentences = {key: any(of[key] for of in found) for key, value in found[0].items() if isinstance(value, bool)}
    values = [{key: value for key, value in of.items() if key not in sentences} for of in found]
    return {**sentences, **_of_ranks(values)}


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
