"""Modules with parameters and buffers of given values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from autograder.worker.returned import array as copied
from autograder.worker.returned import plain


def _holder(module: torch.nn.Module, name: str) -> tuple[torch.nn.Module, str]:
    """The submodule that holds the tensor `name`, made where it is missing, and the name's last part."""
    *path, last = name.split(".")
    for part in path:
        if part not in dict(module.named_children()):
            module.add_module(part, torch.nn.Module())
        module = module.get_submodule(part)
    return module, last


def _module(parameters: dict, buffers: dict | None = None, tied: Sequence[str] = ()) -> torch.nn.Module:
    """A module with these tensors under their dotted names; all names in `tied` share the first one's tensor."""
    module = torch.nn.Module()
    for name, array in parameters.items():
        holder, last = _holder(module, name)
        holder.register_parameter(last, torch.nn.Parameter(torch.tensor(array)))
    for name, array in (buffers or {}).items():
        holder, last = _holder(module, name)
        holder.register_buffer(last, torch.tensor(array))
    for name in tied[1:]:
        holder, last = _holder(module, name)
        holder.register_parameter(last, module.get_parameter(tied[0]))
    return module


def _in_states(module: torch.nn.Module, name: str, states: Mapping[str, str]) -> torch.nn.Module:
    """The module with parameters, grads and mode as `states` says of the argument `name`."""
    parameters = list(module.parameters())
    frozen = {"frozen": parameters, "frozen in part": parameters[:1]}.get(states[f"{name} parameters"], [])
    for parameter in frozen:
        parameter.requires_grad_(False)
    for parameter in parameters if states.get(f"{name} grads") == "with grads" else ():
        parameter.grad = torch.full(parameter.shape, 0.5, dtype=parameter.dtype)
    return module.train(states[f"{name} mode"] != "in eval mode")


def _state_of(module: torch.nn.Module, name: str) -> dict[str, Any]:
    """What a function that only reads a module leaves as it is: all but the values."""
    found: dict[str, Any] = {f"{name}.training": [part.training for part in module.modules()]}
    for of, parameter in _named(module).items():
        found[f"{name}.{of}.requires_grad"] = parameter.requires_grad
        found[f"{name}.{of}.grad"] = None if parameter.grad is None else copied(parameter.grad)
    return found


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other))


def _named(module: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Every parameter under each of its names."""
    return dict(module.named_parameters(remove_duplicate=False))


def _same(before: dict[str, torch.nn.Parameter], after: dict[str, torch.nn.Parameter]) -> bool:
    """Whether these are the same objects under the same names."""
    return list(before) == list(after) and all(after[name] is before[name] for name in before)


def _mean(submission: Any, losses: Any) -> dict[str, Any]:
    """The submission's result, and a sentence if it is a tensor, which would compare like a number."""
    mean = plain(submission.running_mean_loss(losses))
    tensor = isinstance(mean, torch.Tensor)
    wrong = "running_mean_loss returned a tensor; return a Python float"
    return {wrong: tensor, "the mean": "a tensor" if tensor else mean}
