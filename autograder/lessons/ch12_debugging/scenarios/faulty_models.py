"""Models with known faults."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _named
from autograder.worker.layout import laid_out


class _Spoils(torch.nn.Module):
    """Returns its input with one entry replaced."""

    def __init__(self, value: float | None) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        if self.value is not None:
            x.view(-1)[-1] = self.value
        return x


class _InOrder(torch.nn.Module):
    """Runs its modules in another order than they are registered in."""

    def __init__(self, modules: dict[str, torch.nn.Module], order: Sequence[str]) -> None:
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)
        self.order = list(order)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for name in self.order:
            x = self.get_submodule(name)(x)
        return x


class _Gives(torch.nn.Module):
    """Returns a fixed tensor for any input, column by column in memory; complex numbers are given as pairs."""

    def __init__(self, values: Any, dtype: str) -> None:
        super().__init__()
        if dtype == "complex64":
            self.values = torch.view_as_complex(torch.tensor(np.asarray(values), dtype=torch.float32))
        else:
            self.values = laid_out(torch.tensor(np.asarray(values), dtype=getattr(torch, dtype)), "columns")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.values


class _Blows(torch.nn.Module):
    """Finite in the first call, inf in the second."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.abs() + 1) * 1e200


class _Packed(torch.nn.Module):
    """Its output is a nested container, in which one tensor has a nan."""

    def __init__(self, place: str | None, value: float = float("nan")) -> None:
        super().__init__()
        self.place, self.value = place, value

    def forward(self, x: torch.Tensor) -> Any:
        bad = x.clone()
        bad.view(-1)[0] = self.value
        first, second, third, fourth = (
            bad if self.place == place else x for place in ("tuple", "list", "dict", "deep")
        )
        return first, [second, None, "text"], {"a": third, "b": (3.0, [fourth])}, x.argmax()


class _Named(NamedTuple):
    values: Any
    index: Any


class _PackedInDerived(_Packed):
    """The same with classes that are derived from tuple and dict, as PyTorch's operations and models return them."""

    def forward(self, x: torch.Tensor) -> Any:
        first, second, third, index = super().forward(x)
        return _Named(first, 0), second, OrderedDict(third), index


class _Unpacks(torch.nn.Module):
    def forward(self, packed: Any) -> torch.Tensor:
        return packed[3].double().reshape(1, 1)


class _Overwrites(torch.nn.Module):
    """Replaces non-finite entries in the output of its first layer, in place."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.source, self.sink = _Spoils(value), torch.nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.source(x)
        h[~h.isfinite()] = 0.0
        return self.sink(h)


def _root_of_less_than_0(x: torch.Tensor) -> torch.Tensor:
    return (x.abs() + 1).neg().sqrt()


class _Between(torch.nn.Module):
    """Its own forward makes a nan between two layers, so the second layer's output shows it, or after both."""

    def __init__(self, names: Sequence[str], after: bool) -> None:
        super().__init__()
        self.names, self.after = names, after
        for name in names:
            self.add_module(name, torch.nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before, behind = map(self.get_submodule, self.names)
        steps: list[Callable] = (
            [before, _root_of_less_than_0, behind] if self.after else [before, behind, _root_of_less_than_0]
        )
        for step in steps:
            x = step(x)
        return x


class _RaisesAtTheEnd(torch.nn.Module):
    def __init__(self, value: float | None, error: type[Exception]) -> None:
        super().__init__()
        self.layer, self.error, self.has_raised = _Spoils(value), error, False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.layer(x)
        self.has_raised = True
        raise self.error("the model's own error")


class _OfMode(torch.nn.Module):
    """Returns a nan in one of the two modes."""

    def __init__(self, bad: bool) -> None:
        super().__init__()
        self.bad = bad

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + (float("nan") if self.training is self.bad else 1.0)


def _model(kind: str, setting: Any) -> torch.nn.Module:
    if kind == "order":  # names as they are registered, the order in which they run, value by name
        names, order, values = setting
        return _InOrder({name: _Spoils(values.get(name)) for name in names}, order)
    if kind == "nested":  # the block and the layer that is bad
        block, layer, value = setting
        blocks = [
            torch.nn.Sequential(*(_Spoils(value if (i, j) == (block, layer) else None) for j in range(3)))
            for i in range(3)
        ]
        return torch.nn.Sequential(torch.nn.Tanh(), *blocks)
    if kind == "leaf":
        return _Spoils(setting)
    if kind == "given":  # name, what the layer gives and its dtype, for each
        return _InOrder(
            {name: _Gives(values, dtype) for name, values, dtype in setting}, [name for name, *_ in setting]
        )
    if kind == "shared":
        names, value = setting
        shared, other = _Spoils(value), _Spoils(None)
        return _InOrder({names[0]: other, names[1]: shared, names[2]: shared}, [names[0], names[2], names[1]])
    if kind == "twice":
        names, place = setting
        modules: dict[str, torch.nn.Module] = {
            name: _Blows() if i == place else _Spoils(None) for i, name in enumerate(names)
        }
        return _InOrder(modules, [*names, *names])
    if kind == "packed":
        names, place, derived = setting
        packed = _PackedInDerived(place) if derived else _Packed(place)
        return _InOrder({names[0]: _Spoils(None), names[1]: packed, names[2]: _Unpacks()}, names)
    if kind == "passes on":  # layers that change nothing, or only the shape
        names, which = setting
        first = {"Identity": torch.nn.Identity, "Dropout": torch.nn.Dropout, "Flatten": torch.nn.Flatten}[which]()
        return _InOrder({names[0]: first, names[1]: _Spoils(None)}, names)
    if kind == "whole":  # registered in another order than they run; the place of a nan in what the second one gives
        (last, packed, large, unpacks, mode), place, training = setting
        of_blocks = {
            last: _Spoils(float("nan")),
            packed: torch.nn.Sequential(_Spoils(None), torch.nn.Sequential(_Spoils(None), _Packed(place))),
            large: _Gives([[1.5e308, 1.5e308]], "float64"),
            unpacks: _Unpacks(),
            mode: _OfMode(not training),
        }
        return _InOrder(of_blocks, [large, mode, packed, unpacks, last])
    if kind == "overwritten":
        return _Overwrites(setting)
    if kind == "between":
        return _Between(*setting)
    if kind == "raises":
        value, error = setting
        return _RaisesAtTheEnd(value, ERRORS[error])
    assert kind == "modes"  # names, and which is bad in train mode, which in eval mode
    names, of_train, of_eval = setting
    layers: dict[str, torch.nn.Module] = {name: _Spoils(None) for name in names}
    layers[names[of_train]], layers[names[of_eval]] = _OfMode(True), _OfMode(False)
    return _InOrder(layers, names)


ERRORS: dict[str, type[Exception]] = {"RuntimeError": RuntimeError, "KeyError": KeyError}


def nonfinite(submission: Any, model: tuple[str, Any], x: np.ndarray, training: bool = True) -> Any:
    """The result of first_nonfinite for a model, given by its kind and settings."""
    with _fresh():
        return _named(submission.first_nonfinite(_model(*model).train(training), torch.tensor(x)))
