"""Scenarios of healthy_mlp."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch09_vanishing_gradients.scenarios.networks import _backward, _of
from autograder.worker.returned import array, plain


def _clear(linear: torch.nn.Linear) -> None:
    linear.weight.zero_()
    if linear.bias is not None:
        linear.bias.zero_()


def _healthy(submission: Any, seed: int, sizes: tuple) -> Any:
    torch.default_generator.manual_seed(seed)
    return submission.healthy_mlp(*sizes)


def _seeds(submission: Any, seed: int, sizes: tuple) -> bool:
    """Whether two networks, made from different states of the generator, are equal or leave the generator equal.

    That some weights are equal does not tell: how they are initialised is the submission's choice.
    """
    found = []
    for number in range(2):
        model = _healthy(submission, seed + 1 + number, sizes)
        state = torch.get_rng_state()
        weights = (
            [linear.weight for linear in _of(model, torch.nn.Linear)] if isinstance(model, torch.nn.Module) else []
        )
        found.append((state, weights))
    (state, weights), (other_state, other_weights) = found
    same_weights = len(weights) == len(other_weights) and all(map(torch.equal, weights, other_weights))
    return torch.equal(state, other_state) or bool(weights and same_weights)


@torch.enable_grad()
def healthy_structure(submission: Any, seed: int, sizes: tuple, X: np.ndarray) -> dict[str, Any]:
    """What modules() finds, what runs, and whether x and the first block's addition to it pass blocks of zeros.

    The latter does not depend on the initialisation, because a branch may be initialised with zeros.
    """
    model, seeded = _healthy(submission, seed, sizes), _seeds(submission, seed, sizes)
    if not isinstance(model, torch.nn.Module):
        return {"a module": False}
    inputs = torch.tensor(X)
    runs: list[torch.nn.Module] = []
    hooks = [module.register_forward_hook(lambda module, *_: runs.append(module)) for module in model.modules()]
    logits = Tensor.detach(plain(model(inputs)))
    for hook in hooks:
        hook.remove()
    linears = _of(model, torch.nn.Linear)
    found = {
        "a module": True,
        "linears": [tuple(linear.weight.shape) for linear in linears],
        "norms": sum(isinstance(module, torch.nn.BatchNorm1d) for module in runs),
        "norms made": len(_of(model, torch.nn.BatchNorm1d)),
        "layernorms": len(_of(model, torch.nn.LayerNorm)),
        "relus": sum(isinstance(module, torch.nn.ReLU) for module in runs),
        "other activations": sorted(
            {type(module).__name__ for module in runs if type(module).__module__ == torch.nn.ReLU.__module__} - {"ReLU"}
        ),
        "shape": tuple(logits.shape),
        "softmax": logits.ndim == 2
        and any(torch.allclose(f(logits).sum(1), torch.ones(len(X)), atol=1e-4) for f in (torch.exp, torch.clone)),
        "train mode": model.training,
        "seeded": seeded,
    }
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for norm in _of(model, torch.nn.BatchNorm1d):
            if norm.affine:
                norm.weight.fill_(1.0)
                norm.bias.zero_()
        for linear in [*linears[:2], *linears[-1:]]:
            linear.weight.normal_(std=linear.in_features**-0.5, generator=draw)
        for linear in linears[2:-1]:
            _clear(linear)
        with_the_first = plain(model(inputs))
        for linear in linears[1:2]:
            _clear(linear)
        without = plain(model(inputs))
        found["skips"] = bool(without.std(dim=0).max() > 1e-4)
        found["carries on"] = bool((with_the_first - without).abs().max() > 1e-4)
        alone = found["norms"] == found["relus"] == sizes[2]  # no other norm or ReLU, in front of the output, say
        shapes = [(sizes[3], sizes[0]), *[(sizes[3], sizes[3])] * sizes[2], (sizes[1], sizes[3])]
        found["adds only"] = not (alone and found["linears"] == shapes) or torch.allclose(
            without, linears[-1](linears[0](inputs)), atol=1e-4
        )
        for linear in linears[1:-1]:
            linear.weight.normal_(std=linear.in_features**-0.5, generator=draw)
        found["whole branches"] = not (alone and found["linears"] == shapes) or _adds_up(model, inputs, linears)
    used = _used(model, inputs, draw)
    found["norms used"] = sum(isinstance(module, torch.nn.BatchNorm1d) for module in used)
    found["relus used"] = sum(isinstance(module, torch.nn.ReLU) for module in used)
    return found


def _adds_up(model: torch.nn.Module, inputs: Tensor, linears: list[torch.nn.Module]) -> bool:
    """Whether the input of the last Linear is the first one's output plus what the last module of each block returns.

    Each block has one Linear, one BatchNorm1d and one ReLU, in any order.
    """
    ran: list[Tensor] = []
    arrived: list[Tensor] = []
    kinds = torch.nn.Linear | torch.nn.BatchNorm1d | torch.nn.ReLU
    hooks = [
        module.register_forward_hook(lambda module, _, y: ran.append(y.clone()))
        for module in model.modules()
        if isinstance(module, kinds)
    ]
    hooks.append(linears[-1].register_forward_pre_hook(lambda module, given: arrived.append(given[0].clone())))
    model(inputs)
    for hook in hooks:
        hook.remove()
    return len(arrived) == 1 and torch.allclose(arrived[0], ran[0] + sum(ran[3:-1:3]), rtol=1e-3, atol=1e-4)


def _used(model: torch.nn.Module, inputs: Tensor, draw: torch.Generator) -> list[torch.nn.Module]:
    """The modules BatchNorm1d and ReLU, once for each run, whose results the logits depend on."""
    runs: list[tuple[torch.nn.Module, Tensor]] = []
    kinds = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm1d | torch.nn.ReLU)]
    hooks = [module.register_forward_hook(lambda module, _, y: runs.append((module, y))) for module in kinds]
    logits = plain(model(inputs))
    for hook in hooks:
        hook.remove()
    runs = [(module, y) for module, y in runs if isinstance(y, Tensor) and y.requires_grad]
    if not runs or not logits.requires_grad:
        return []
    loss = (logits * torch.randn(logits.shape, generator=draw)).sum()
    try:
        gradients = torch.autograd.grad(loss, [y for _, y in runs], allow_unused=True)
    except RuntimeError:  # a backward pass that fails is for the checks that need one
        return [module for module, _ in runs]
    sizes = [0.0 if gradient is None else gradient.norm().item() for gradient in gradients]
    return [module for (module, _), size in zip(runs, sizes, strict=True) if size > 1e-4 * max(sizes)]


@torch.enable_grad()
def healthy_gradients(submission: Any, seed: int, sizes: tuple, X: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    """The gradients of a fresh network's hidden Linears after a backward pass, and whether its output layer is 0.

    `largest` has the largest entry of each Linear's gradient, 0 if the loss does not depend on it; `ends` has the first
    and last gradients. The judge computes norms, because ch09 asks for a function that does.
    """
    model = _healthy(submission, seed, sizes)
    if not isinstance(model, torch.nn.Module) or len(_of(model, torch.nn.Linear)) < 4:
        return None
    model.train().zero_grad()
    with _backward():
        torch.nn.functional.cross_entropy(plain(model(torch.tensor(X))), torch.tensor(y)).backward()
    _, *hidden, last = (linear.weight for linear in _of(model, torch.nn.Linear))
    kept = plain([torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in hidden])
    return {
        "largest": [gradient.abs().max().item() for gradient in kept],
        "ends": [kept[0].numpy(), kept[-1].numpy()],
        "silent": not bool(last.any()),
    }


@torch.enable_grad()
def trained(
    submission: Any, seed: int, sizes: tuple, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, steps: int
) -> np.ndarray | None:
    """Train a network on X and y; its logits for X_new, in eval mode."""
    model = _healthy(submission, seed, sizes)
    if not isinstance(model, torch.nn.Module) or not list(model.parameters()):
        return None
    model.train()
    inputs, targets = torch.tensor(X), torch.tensor(y)
    batches = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)  # unfused: as long as both passes
    for _ in range(steps):
        batch = torch.randint(0, len(X), (64,), generator=batches)
        optimizer.zero_grad()
        with _backward():
            torch.nn.functional.cross_entropy(plain(model(inputs[batch])), targets[batch]).backward()
        optimizer.step()
    with torch.no_grad():
        logits: np.ndarray = array(model.eval()(torch.tensor(X_new)))
        return logits
