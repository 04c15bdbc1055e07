"""Scenarios of ema_update."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch04_detachment.scenarios.modules import _equal, _in_states, _module, _named, _same, _state_of
from autograder.lessons.ch04_detachment.scenarios.steps import GRADIENTS_OFF, _data
from autograder.worker.layout import laid_out


def _values(module: torch.nn.Module, owner: str = "") -> dict[str, Any]:
    return {f"{owner}{name}": _data(parameter) for name, parameter in _named(module).items()}


@torch.enable_grad()
def averaged(submission: Any, target: dict, online: dict, decay: float) -> dict[str, Any]:
    """The parameters of target after one update."""
    module = _module(target)
    submission.ema_update(module, _module(online), decay)
    return _values(module)


@torch.enable_grad()
def averaged_again(submission: Any, target: dict, onlines: list[dict], decay: float) -> dict[str, Any]:
    """The parameters of target after one update for each of the online modules."""
    module = _module(target)
    for online in onlines:
        submission.ema_update(module, _module(online), decay)
    return _values(module)


@torch.enable_grad()
def averaged_in_states(
    submission: Any, target: list, online: list, decay: float, states: dict[str, str]
) -> dict[str, Any]:
    """The parameters of target after one update, with views of them; and online, which is only read."""
    both = {}
    for name, arrays in {"target": target, "online": online}.items():
        buffers = {"mean": np.ones(3)} if states["target buffers"] == "with a buffer" else {}
        module = _module({f"layer{i}.weight": array for i, array in enumerate(arrays)}, buffers)
        for part in module.children():
            part.register_parameter(
                "weight", _laid_out_parameter(part.get_parameter("weight"), states[f"{name} layout"])
            )
        if states["target names"] == "with a tied parameter":
            module.add_module("again", torch.nn.Module())
            module.get_submodule("again").register_parameter("weight", module.get_parameter("layer0.weight"))
        both[name] = _in_states(module, name, states)
    module, source = both.values()
    before, objects = _state_of(source, "online"), _named(module)
    flags = {name: parameter.requires_grad for name, parameter in objects.items()}
    views = {f"view of {name}": parameter.detach() for name, parameter in objects.items()}
    submission.ema_update(module, source, decay)
    result = _values(module, "target ") | _values(source, "online ") | {name: _data(of) for name, of in views.items()}
    result |= {f"{of} {name}": _data(one) for of, part in both.items() for name, one in part.named_buffers()}
    after = _state_of(source, "online")
    result["online was switched to another mode"] = before.pop("online.training") != after.pop("online.training")
    result["target has other parameter objects than before"] = not _same(objects, _named(module))
    for name, parameter in _named(module).items():
        result[f"target's {name} has a graph after the update: wrap it in torch.no_grad()"] = not parameter.is_leaf
        told = f"requires_grad of target's {name} is another after the update"
        result[told] = parameter.is_leaf and parameter.requires_grad is not flags.get(name)
    for name, value in before.items():
        result[f"{name} is another after the update"] = not _equal(after.get(name), value)
    return result


def _laid_out_parameter(parameter: torch.nn.Parameter, layout: str) -> torch.nn.Parameter:
    return torch.nn.Parameter(laid_out(parameter.detach(), layout))


@torch.enable_grad()
def averaged_shared(submission: Any, target: dict, online: dict, tied: list[str], decay: float) -> dict[str, Any]:
    """Like `averaged`, for modules in which one parameter has several names."""
    module = _module(target, tied=tied)
    submission.ema_update(module, _module(online, tied=tied), decay)
    return _values(module)


@torch.enable_grad()
def averaged_in_place(submission: Any, target: dict, online: dict, decay: float) -> dict[str, Any]:
    """Whether the parameters are the same objects in the same memory, and nothing is returned."""
    module = _module(target)
    before = _named(module)
    views = {f"view of {name}": parameter.detach() for name, parameter in before.items()}
    returned = submission.ema_update(module, _module(online), decay)
    return {
        **{name: _data(view) for name, view in views.items()},
        "target has other parameter objects than before": not _same(before, _named(module)),
        "target's parameters lie in other memory than before": any(
            parameter.data_ptr() != views[f"view of {name}"].data_ptr() for name, parameter in before.items()
        ),
        "ema_update returned something; it changes target in place and returns nothing": returned is not None,
    }


@torch.enable_grad()
def averaged_with_flags(
    submission: Any, target: dict, online: dict, decay: float, target_requires_grad: bool, online_requires_grad: bool
) -> dict[str, Any]:
    """The parameters of target after an update, with their requires_grad and graphs."""
    module = _module(target).requires_grad_(target_requires_grad)
    source = _module(online).requires_grad_(online_requires_grad)
    submission.ema_update(module, source, decay)
    result = _values(module)
    for owner, part, asked in (("target", module, target_requires_grad), ("online", source, online_requires_grad)):
        for name, parameter in _named(part).items():
            graph = not parameter.is_leaf
            result[f"{owner}'s {name} has a graph after the update: wrap it in torch.no_grad()"] = graph
            changed = not graph and parameter.requires_grad is not asked
            result[f"requires_grad of {owner}'s {name} is {not asked}, and was {asked}"] = changed
    result[GRADIENTS_OFF] = not torch.is_grad_enabled()
    return result


@torch.enable_grad()
def averaged_beside(
    submission: Any, target: dict, online: dict, target_buffers: dict, online_buffers: dict, decay: float
) -> dict[str, Any]:
    """The parameters and the buffers of both modules after an update."""
    module, source = _module(target, target_buffers), _module(online, online_buffers)
    submission.ema_update(module, source, decay)
    buffers = {f"target {name}": _data(buffer) for name, buffer in module.named_buffers()}
    buffers |= {f"online {name}": _data(buffer) for name, buffer in source.named_buffers()}
    return {**_values(module, "target "), **_values(source, "online "), **buffers}
