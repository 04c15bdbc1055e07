"""Scenarios of train."""

from __future__ import annotations

from typing import Any

import numpy as np


def fit(
    submission: Any, model: str, batch_rows: list[int], lr: float, accumulate: int | str, seed: int
) -> dict[str, np.ndarray]:
    """The losses of `train` and the parameters afterwards.

    Args:
        model: its kind, see `_model`.
        batch_rows: the number of rows of each batch.
        accumulate: "left out" calls `train` without it.
    """
    rng = np.random.default_rng(seed)
    net = _model(model, rng)
    return _fitted(submission, net, _batches(rng, batch_rows), lr, accumulate)


def fit_from_generator(
    submission: Any, model: str, batch_rows: list[int], lr: float, accumulate: int | str, seed: int
) -> dict[str, np.ndarray]:
    """Like `fit`, with a generator of batches, which can be iterated once and has no length."""
    rng = np.random.default_rng(seed)
    net = _model(model, rng)
    batches = _batches(rng, batch_rows)
    return _fitted(submission, net, (batch for batch in batches), lr, accumulate)


def fit_with_stale_grads(
    submission: Any, model: str, batch_rows: list[int], lr: float, accumulate: int | str, seed: int
) -> dict[str, np.ndarray]:
    """As `fit`, with a random `.grad` in every parameter before `train` is called."""
    import torch

    rng = np.random.default_rng(seed)
    net = _model(model, rng)
    batches = _batches(rng, batch_rows)
    for p in net.parameters():
        p.grad = torch.tensor(rng.normal(size=tuple(p.shape)))
    return _fitted(submission, net, batches, lr, accumulate)


def kinds_of_losses(submission: Any, batch_rows: list[int], seed: int) -> list[str]:
    """The type of each loss that `train` returns."""
    rng = np.random.default_rng(seed)
    net = _model("linear", rng)
    losses = _train(submission, net, _batches(rng, batch_rows), 0.1, "left out")
    return ["float" if isinstance(loss, float) else type(loss).__name__ for loss in losses]


def _model(kind: str, rng: np.random.Generator) -> Any:
    """A small model in float64, 3 inputs and 2 outputs, its parameters drawn from `rng`.

    `linear`; `two layers`; `a frozen layer`: the first of two does not require a gradient; `an unused layer`: one that
    the forward pass leaves out; `a tied layer`: the same one twice; `two layers with one weight`, and a bias each.
    """
    import torch
    from torch import nn

    class WithUnused(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, X: Any) -> Any:
            return self.used(X)

    if kind == "linear":
        model: Any = nn.Linear(3, 2)
    elif kind == "an unused layer":
        model = WithUnused()
    elif kind == "a tied layer":
        shared = nn.Linear(3, 3)
        model = nn.Sequential(shared, nn.Tanh(), shared, nn.Tanh(), nn.Linear(3, 2))
    elif kind == "two layers with one weight":
        first, second = nn.Linear(3, 3), nn.Linear(3, 3)
        second.weight = first.weight
        model = nn.Sequential(first, nn.Tanh(), second, nn.Tanh(), nn.Linear(3, 2))
    else:
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    model.double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.tensor(rng.normal(size=tuple(p.shape))))
    if kind == "a frozen layer":
        model[0].requires_grad_(False)
    return model


def _batches(rng: np.random.Generator, rows: list[int]) -> list[tuple[Any, Any]]:
    import torch

    return [(torch.tensor(rng.normal(size=(n, 3))), torch.tensor(rng.normal(size=(n, 2)))) for n in rows]


def _fitted(submission: Any, model: Any, batches: Any, lr: float, accumulate: int | str) -> dict[str, np.ndarray]:
    losses = _train(submission, model, batches, lr, accumulate)
    parameters = {name: p.detach().numpy().copy() for name, p in model.named_parameters()}
    return {"losses": np.array([_number(loss) for loss in losses]), **parameters}


def _number(loss: Any) -> float:
    """A loss as a float; it may be a tensor."""
    return float(loss.detach() if hasattr(loss, "detach") else loss)


def _train(submission: Any, model: Any, batches: Any, lr: float, accumulate: int | str) -> list[Any]:
    """The losses, as the submission returned them."""
    losses = submission.train(model, batches, lr, **({} if accumulate == "left out" else {"accumulate": accumulate}))
    if not isinstance(losses, list | tuple):
        raise TypeError(f"train returned {type(losses).__name__}, not the list of the losses")
    return list(losses)
