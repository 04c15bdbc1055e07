"""Scenarios of freeze_midway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch04_detachment.scenarios.steps import _backward, _data
from autograder.worker.returned import plain

BEFORE, FROZEN, AFTER = 3, 3, 2
"""Steps of each part of the run."""
ZEROS, LATE, BETWEEN = "after zero_grad(set_to_none=False)", "cleared after each step", "between backward and step"
"""The loops in which a gradient that is not None may be there when freeze_midway is called."""
UNFROZEN_BETWEEN = "unfrozen between backward and step"
"""The loop in which the others have gradients when the freeze ends."""
RATE = 0.5
"""The factor of a learning rate that changes during the freeze."""
OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "plain": lambda groups, lr, momentum, decay: torch.optim.SGD(groups, lr, momentum, dampening=0.2),
    "with weight decay": lambda groups, lr, momentum, decay: torch.optim.SGD(groups, lr, weight_decay=decay),
    "RMSprop": lambda groups, lr, momentum, decay: torch.optim.RMSprop(groups, lr, momentum=momentum),
    "centered RMSprop": lambda groups, lr, momentum, decay: torch.optim.RMSprop(groups, lr, centered=True),
    "Adam": lambda groups, lr, momentum, decay: torch.optim.Adam(groups, lr, weight_decay=decay),
    "Adam with amsgrad": lambda groups, lr, momentum, decay: torch.optim.Adam(groups, lr, amsgrad=True),
    "AdamW": lambda groups, lr, momentum, decay: torch.optim.AdamW(groups, lr, weight_decay=decay),
}
"""By kind; the plain one is SGD with momentum."""


def _parameters(arrays: list[np.ndarray]) -> list[torch.nn.Parameter]:
    return [torch.nn.Parameter(torch.tensor(array)) for array in arrays]


def _given(parameters: list[torch.nn.Parameter], iterable: str) -> Any:
    """The first argument of freeze_midway."""
    if iterable == "from a generator":
        return (parameter for parameter in parameters)
    return [*parameters, parameters[0]] if iterable == "with one of them twice" else parameters


def _pulled(parameters: list[torch.nn.Parameter], targets: list[np.ndarray]) -> torch.Tensor:
    """A sum of squares, in which each parameter's gradient depends on all others, frozen or not."""
    pairs = zip(parameters, targets, strict=True)
    apart = torch.stack([((parameter - torch.tensor(target)) ** 2).sum() for parameter, target in pairs])
    together = torch.stack([parameter.sum() for parameter in parameters])
    return apart.sum() / 2 + together.sum() ** 2 / 20


class _Loop:
    """A training loop that clears gradients in its own way."""

    def __init__(self, optimizer: torch.optim.Optimizer, loss: Callable[[], torch.Tensor], how: str) -> None:
        self.optimizer, self.loss, self.how = optimizer, loss, how

    def steps(self, count: int, between: Callable[[], None] = lambda: None) -> None:
        """Make some steps; `between` is called in each of them before the optimizer's."""
        for _ in range(count):
            if self.how not in (LATE, BETWEEN):
                self.optimizer.zero_grad(set_to_none=self.how != ZEROS)
            _backward(self.loss())
            between()
            self.optimizer.step()
            if self.how in (LATE, BETWEEN):
                self.optimizer.zero_grad(set_to_none=self.how == BETWEEN)


@torch.enable_grad()
def frozen_midway(
    submission: Any,
    parameters: list[np.ndarray],
    others: list[np.ndarray],
    targets: list[np.ndarray],
    rates: dict[str, float],
    states: dict[str, str],
) -> dict[str, Any]:
    """All values after a run in which `parameters` are frozen and unfrozen, and sentences on what went wrong.

    Args:
        targets: what the parameters and then the others are pulled to.
        rates: `lr`, `momentum` and `decay` of the optimizer.
        states: kinds of arguments, as factors.toml calls them; those that are missing are plain.
    """
    mine, rest = _parameters(parameters), _parameters(others)
    groups: list[Any] = [*mine, *rest]
    if states.get("optimizer groups", "plain") != "plain":
        groups = [{"params": rest}, {"params": mine, "lr": 0.7 * rates["lr"]}]
    optimizer = OPTIMIZERS[states.get("optimizer kind", "plain")](groups, **rates)
    loop = _Loop(optimizer, lambda: _pulled([*mine, *rest], targets), states.get("optimizer loop", "plain"))
    loop.steps(1)
    if states.get("parameters flags", "plain") != "plain":
        mine[0].requires_grad_(False)
    loop.steps(BEFORE - 1)
    flags = [parameter.requires_grad for parameter in mine]
    found: list[Any] = []
    at_call: list[Any] = []
    unfrozen: list[bool] = []
    result: dict[str, Any] = {}

    def freeze() -> None:
        if not found:
            at_call.extend(_data(parameter) for parameter in mine)
            given = _given(mine, states.get("parameters iterable", "plain"))
            found.append(plain(submission.freeze_midway(given, optimizer)))
            told = "A parameter still requires a gradient right after the call to freeze_midway"
            result[told] = any(parameter.requires_grad for parameter in mine)

    def unfreeze() -> None:
        if not unfrozen:
            if callable(found[0]):
                found[0]()
            unfrozen.extend(parameter.requires_grad for parameter in mine)

    if loop.how != BETWEEN:
        freeze()
    if states.get("optimizer rate", "plain") != "plain":
        for group in optimizer.param_groups:
            group["lr"] = RATE * group["lr"]
    loop.steps(FROZEN, freeze)
    result |= {
        "freeze_midway returned no function; return the one that unfreezes": not callable(found[0]),
        "A parameter still requires a gradient while it is frozen": any(one.requires_grad for one in mine),
    }
    for i, (parameter, value) in enumerate(zip(mine, at_call, strict=True)):
        result[f"the movement of parameters[{i}] during the freeze"] = _data(parameter) - value
    result |= _moved("during the freeze", others=rest)
    if loop.how != UNFROZEN_BETWEEN:
        unfreeze()
    loop.steps(AFTER, unfreeze)
    for i, (flag, now) in enumerate(zip(flags, unfrozen, strict=True)):
        told = f"parameters[{i}].requires_grad is {not flag} after unfreezing, and was {flag} before the freeze"
        result[told] = now is not flag
    return result | _moved("after unfreezing", parameters=mine, others=rest)


def _moved(when: str, **of: list[torch.nn.Parameter]) -> dict[str, Any]:
    """What the optimizer made of the parameters so far."""
    return {f"{name}[{i}] {when}": _data(one) for name, several in of.items() for i, one in enumerate(several)}
