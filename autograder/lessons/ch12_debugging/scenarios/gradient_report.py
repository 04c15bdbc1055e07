"""Scenarios of gradient_report."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _linear
from autograder.worker.layout import laid_out
from autograder.worker.returned import plain

DTYPES = {name: getattr(torch, name) for name in ("float64", "float32", "float16", "bfloat16")}


def _tensor(values: np.ndarray | list, dtype: str) -> torch.Tensor:
    return torch.tensor(np.asarray(values), dtype=DTYPES[dtype])


def _of_parameters(parameters: list[tuple], layout: str) -> torch.nn.Module:
    """A model with parameters of these names: (name, values, the gradient or None, dtype, requires_grad).

    `layout` says how parameters and gradients lie in memory.
    """
    model = torch.nn.Module()
    for name, values, grad, dtype, required in parameters:
        module = model
        *path, last = name.split(".")
        for part in path:
            if not hasattr(module, part):
                module.add_module(part, torch.nn.Module())
            module = getattr(module, part)
        parameter = torch.nn.Parameter(laid_out(_tensor(values, dtype), layout))
        if grad is not None:
            parameter.grad = laid_out(_tensor(grad, dtype), layout)
        parameter.requires_grad_(required)
        module.register_parameter(last, parameter)
    return model


def _report(submission: Any, model: torch.nn.Module) -> Any:
    """The columns of the report; its type if it is not a list of dicts."""
    report = plain(submission.gradient_report(model))
    if not isinstance(report, list | tuple):
        return {"a list of dicts": False, "what": type(report).__name__}
    if not all(isinstance(entry, dict) for entry in report):
        return {"a list of dicts": False, "what": f"{type(report).__name__} of other things"}
    keys = {frozenset(map(str, entry)) for entry in report}
    if keys - {frozenset(("name", "norm", "status"))}:
        return {"a list of dicts": True, "keys": False}
    columns = {key: [entry[key] for entry in report] for key in ("name", "norm", "status")}
    tensors = any(isinstance(norm, torch.Tensor) for norm in columns["norm"])
    return {"a list of dicts": True, "keys": True, "tensors": tensors, **columns}


def report(submission: Any, parameters: list[tuple], transposed: bool = False) -> Any:
    """The report on a model with these parameters, and whether the model is unchanged.

    `transposed`: the parameters lie in memory column by column, and the model is in eval mode.
    """
    with _fresh():
        model = _of_parameters(parameters, "columns" if transposed else "rows").train(not transposed)
        found = _report(submission, model)
        bits = {"bfloat16": torch.int16, "float16": torch.int16, "float32": torch.int32, "float64": torch.int64}
        now = dict(model.named_parameters())

        def same(tensor: torch.Tensor | None, values: Any, dtype: str) -> bool:
            expected = _tensor(values, dtype)
            return (
                tensor is not None
                and tensor.dtype == expected.dtype
                and torch.equal(tensor.detach().view(bits[dtype]), expected.view(bits[dtype]))
            )

        found["The mode of the model was changed"] = model.training is transposed
        found["A .grad of the model was changed"] = not all(
            now[name].grad is None if grad is None else same(now[name].grad, grad, dtype)
            for name, _, grad, dtype, _ in parameters
        )
        found["A parameter of the model was changed"] = not all(
            same(now[name], values, dtype) and now[name].requires_grad is required
            for name, values, _, dtype, required in parameters
        )
        return found


def report_of_shared(submission: Any, layer: dict, g: np.ndarray, tied: bool) -> Any:
    """The report on a model that has one Linear under two names, or, if `tied`, two Linears with one weight."""
    with _fresh():
        linear = _linear(layer)
        other = _linear(layer) if tied else linear
        other.weight = linear.weight
        model = torch.nn.ModuleDict({"encode": linear, "between": torch.nn.Tanh(), "decode": other})
        linear.weight.grad = torch.tensor(g)
        return _report(submission, model)
