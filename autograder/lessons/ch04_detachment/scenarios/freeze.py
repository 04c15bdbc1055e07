"""Scenarios of freeze."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch04_detachment.scenarios.modules import _equal, _in_states, _module, _named, _same, _state_of
from autograder.lessons.ch04_detachment.scenarios.steps import _data


def _sized(names: list[str]) -> dict[str, np.ndarray]:
    """Arrays of 2, 3, 4, ... entries."""
    return {name: np.ones(i + 2) for i, name in enumerate(names)}


def _freeze(submission: Any, module: torch.nn.Module, prefix: str) -> dict[str, Any]:
    before = _named(module)
    values = {name: _data(parameter) for name, parameter in before.items()}
    for parameter in before.values():
        parameter.grad = torch.full_like(parameter, 0.5)
    count = submission.freeze(module, prefix)
    after = _named(module)
    grads = [parameter.grad for parameter in after.values()]
    result: dict[str, Any] = {"the count": count}
    result |= {name: "trainable" if parameter.requires_grad else "frozen" for name, parameter in after.items()}
    result["The module has other parameters than before"] = not _same(before, after)
    result["The module was switched to eval mode"] = not all(part.training for part in module.modules())
    result["A parameter's .grad changed; freezing changes requires_grad alone"] = _same(before, after) and not all(
        grad is not None and bool((grad == 0.5).all()) for grad in grads
    )
    result["A parameter's values changed; freezing changes requires_grad alone"] = any(
        not np.array_equal(values[name], _data(parameter)) for name, parameter in after.items() if name in values
    )
    return result


def frozen_in_states(submission: Any, names: list[str], prefix: str, states: dict[str, str]) -> dict[str, Any]:
    """Like `frozen`, for a module in the states before the call that `states` says; and what changes beside it."""
    tied = [names[0], "tied.again"] if states["module names"] == "with a tied parameter" else []
    buffers = {"layer1.running_mean": np.ones(3)} if states["module buffers"] == "with a buffer" else {}
    module = _in_states(_module(_sized(names), buffers, tied), "module", states)
    before, objects = _state_of(module, "module"), _named(module)
    values = {name: _data(parameter) for name, parameter in objects.items()}
    count = submission.freeze(module, prefix)
    after = _state_of(module, "module")
    result: dict[str, Any] = {"the count": count}
    result |= {name: "trainable" if parameter.requires_grad else "frozen" for name, parameter in _named(module).items()}
    result["The module has other parameters than before"] = not _same(objects, _named(module))
    result["The module was switched to another mode"] = after["module.training"] != before["module.training"]
    result["A parameter's .grad changed; freezing changes requires_grad alone"] = any(
        not _equal(after.get(name), value) for name, value in before.items() if name.endswith(".grad")
    )
    result["A parameter's values changed; freezing changes requires_grad alone"] = any(
        not np.array_equal(values[name], _data(parameter))
        for name, parameter in _named(module).items()
        if name in values
    )
    return result


def frozen(submission: Any, names: list[str], prefix: str) -> dict[str, Any]:
    """What freeze counts and what is frozen in a module with parameters of these names."""
    return _freeze(submission, _module(_sized(names)), prefix)


def frozen_twice(submission: Any, names: list[str], frozen_before: list[str], prefix: str) -> dict[str, Any]:
    """Like `frozen`, with some parameters frozen already."""
    module = _module(_sized(names))
    for name in frozen_before:
        module.get_parameter(name).requires_grad_(False)
    return _freeze(submission, module, prefix)


def frozen_shared(submission: Any, names: list[str], tied: list[str], prefix: str) -> dict[str, Any]:
    """Like `frozen`, with one parameter that has several names."""
    return _freeze(submission, _module(_sized(names), tied=tied), prefix)


def frozen_beside_buffers(submission: Any, names: list[str], buffers: list[str], prefix: str) -> dict[str, Any]:
    """Like `frozen`, for a module with buffers."""
    return _freeze(submission, _module(_sized(names), {name: np.ones(3) for name in buffers}), prefix)
