"""Scenarios of make_mlp."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch09_vanishing_gradients.scenarios.chains import ACTIVATIONS
from autograder.lessons.ch09_vanishing_gradients.scenarios.networks import _backward, _of
from autograder.worker.returned import array, backward, plain


def _made(submission: Any, seed: int, sizes: tuple, options: dict) -> Any:
    torch.default_generator.manual_seed(seed)
    return submission.make_mlp(*sizes, **options)


@torch.enable_grad()
def architecture(submission: Any, seed: int, sizes: tuple, options: dict) -> dict[str, Any]:
    """What modules() finds in a network."""
    model = _made(submission, seed, sizes, options)
    if not isinstance(model, torch.nn.Module):
        return {"a module": False}
    linears = _of(model, torch.nn.Linear)
    norms = _of(model, torch.nn.BatchNorm1d)
    return {
        "a module": True,
        "linears": [tuple(linear.weight.shape) for linear in linears],
        "biases": sum(linear.bias is not None for linear in linears),
        "norms": [norm.num_features for norm in norms],
        "layernorms": len(_of(model, torch.nn.LayerNorm)),
        "plain norms": all(
            norm.affine and norm.track_running_stats and norm.eps == 1e-5 and norm.momentum == 0.1 for norm in norms
        ),
        "activations": {name: len(_of(model, kind)) for name, kind in ACTIVATIONS.items()},
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "trainable": all(parameter.requires_grad for parameter in model.parameters()),
        "float32": all(parameter.dtype == torch.float32 for parameter in model.parameters()),
        "train mode": model.training,
    }


MISFIT = "modules() does not find the Linears and BatchNorms that were asked for, in order"


def _fits(model: Any, parameters: dict[str, Any]) -> bool:
    """Whether these parameters fit the model's Linears and BatchNorms."""
    if not isinstance(model, torch.nn.Module):
        return False
    linears, norms = _of(model, torch.nn.Linear), _of(model, torch.nn.BatchNorm1d)
    return [linear.weight.shape for linear in linears] == [layer["W"].shape for layer in parameters["linears"]] and (
        [norm.num_features for norm in norms] == [len(norm["gamma"]) for norm in parameters["norms"]]
    )


def _load(model: torch.nn.Module, parameters: dict[str, Any]) -> None:
    """Give the model's Linears and BatchNorms, in the order of modules(), these parameters."""
    with torch.no_grad():
        for linear, layer in zip(_of(model, torch.nn.Linear), parameters["linears"], strict=True):
            linear.weight.copy_(torch.tensor(layer["W"]))
            if linear.bias is not None:
                linear.bias.copy_(torch.tensor(layer["b"]))
        for norm, values in zip(_of(model, torch.nn.BatchNorm1d), parameters["norms"], strict=True):
            for name, tensor in (
                ("gamma", norm.weight),
                ("beta", norm.bias),
                ("mean", norm.running_mean),
                ("variance", norm.running_var),
            ):
                if tensor is not None:
                    tensor.copy_(torch.tensor(values[name]))


@torch.enable_grad()
def output(
    submission: Any,
    seed: int,
    sizes: tuple,
    options: dict,
    parameters: dict,
    X: np.ndarray,
    g: np.ndarray,
    training: bool,
) -> Any:
    """The output of a network with these parameters, in float64, and its gradients for g.

    Raises if the parameters do not fit; a check of the layers explains that better.
    """
    model = _made(submission, seed, sizes, options)
    if not _fits(model, parameters):
        raise LookupError(MISFIT)
    model = model.double().train(training)
    _load(model, parameters)
    inputs = torch.tensor(X, requires_grad=True)
    logits = plain(model(inputs))
    if logits.shape == g.shape:
        with _backward():
            backward(logits, torch.tensor(g))
    return {"model(X)": array(logits), "dX": array(inputs.grad)}


@torch.enable_grad()
def fresh_parameters(
    submission: Any, seed: int, sizes: tuple, options: dict, shapes: list[tuple[int, int]]
) -> dict[str, Any]:
    """Initial weights and biases of a network, by Linear, and the first two of another network.

    Raises if the Linears have other shapes; a check of the layers explains that better.
    """
    model, another = (_made(submission, seed + i, sizes, options) for i in range(2))
    for made in (model, another):
        if not isinstance(made, torch.nn.Module) or [
            tuple(linear.weight.shape) for linear in _of(made, torch.nn.Linear)
        ] != [tuple(shape) for shape in shapes]:
            raise LookupError(MISFIT)
    return {
        "linears": [_values_of(linear) for linear in _of(model, torch.nn.Linear)],
        "another": [_values_of(linear) for linear in _of(another, torch.nn.Linear)[:2]],
        "norms": [
            {"gamma": array(norm.weight), "beta": array(norm.bias)}
            for norm in _of(model, torch.nn.BatchNorm1d)
            if norm.affine
        ],
    }


def _values_of(linear: torch.nn.Linear) -> dict[str, np.ndarray]:
    bias = linear.bias if linear.bias is not None else torch.zeros(linear.out_features)
    return {"W": array(linear.weight), "b": array(bias)}
