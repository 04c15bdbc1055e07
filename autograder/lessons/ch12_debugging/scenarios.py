"""Scenarios of ch12_debugging: build models, run the submission's tools and programs on them, return numbers.

They return data, mostly dicts. A bool stands under the sentence that a learner is told if it is True: what is wrong.
Each runs with gradients switched on and with a generator that it seeds, whatever a cell of the submission did to them.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

DTYPES = {name: getattr(torch, name) for name in ("float64", "float32", "float16", "bfloat16")}


@contextmanager
def _fresh(seed: int = 0) -> Iterator[None]:
    """Gradients on, anomaly mode off, float32 by default, the random state of `seed`."""
    # torch.manual_seed notes a stack for each kind of device that is not there
    torch.default_generator.manual_seed(seed)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.enable_grad(), torch.autograd.set_detect_anomaly(False):
            yield
    finally:
        torch.set_default_dtype(before)


def _linear(layer: dict[str, np.ndarray]) -> torch.nn.Linear:
    """A linear layer with the weights W (out, in) and the bias b (out,)."""
    W, b = torch.tensor(layer["W"]), torch.tensor(layer["b"])
    linear = torch.nn.Linear(W.shape[1], W.shape[0], dtype=W.dtype)
    with torch.no_grad():
        linear.weight.copy_(W)
        linear.bias.copy_(b)
    return linear


def _network(layers: Sequence[dict]) -> torch.nn.Sequential:
    """Linear layers with a tanh after each but the last."""
    modules: list[torch.nn.Module] = []
    for layer in layers:
        modules += [_linear(layer), torch.nn.Tanh()]
    return torch.nn.Sequential(*modules[:-1])


# gradient_report


def _tensor(values: np.ndarray | list, dtype: str) -> torch.Tensor:
    return torch.tensor(np.asarray(values), dtype=DTYPES[dtype])


def _of_parameters(parameters: list[tuple]) -> torch.nn.Module:
    """A model with parameters of these names: (name, values, the gradient or None, dtype, requires_grad)."""
    model = torch.nn.Module()
    for name, values, grad, dtype, required in parameters:
        module = model
        *path, last = name.split(".")
        for part in path:
            if not hasattr(module, part):
                module.add_module(part, torch.nn.Module())
            module = getattr(module, part)
        parameter = torch.nn.Parameter(_tensor(values, dtype))
        if grad is not None:
            parameter.grad = _tensor(grad, dtype)
        parameter.requires_grad_(required)
        module.register_parameter(last, parameter)
    return model


def _report(submission: Any, model: torch.nn.Module) -> Any:
    """The columns of the report; where it is no list of dicts, what it is."""
    report = submission.gradient_report(model)
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


def report(submission: Any, parameters: list[tuple]) -> Any:
    """The report on a model with these parameters, and whether the model is what it was."""
    with _fresh():
        model = _of_parameters(parameters)
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

        found["A .grad of the model was changed"] = not all(
            now[name].grad is None if grad is None else same(now[name].grad, grad, dtype)
            for name, _, grad, dtype, _ in parameters
        )
        found["A parameter of the model was changed"] = not all(
            same(now[name], values, dtype) and now[name].requires_grad is required
            for name, values, _, dtype, required in parameters
        )
        return found


def report_of_shared(submission: Any, layer: dict, g: np.ndarray) -> Any:
    """The report on a model that has one Linear under two names."""
    with _fresh():
        linear = _linear(layer)
        model = torch.nn.ModuleDict({"encode": linear, "between": torch.nn.Tanh(), "decode": linear})
        linear.weight.grad = torch.tensor(g)
        return _report(submission, model)


# first_nonfinite


class _Spoils(torch.nn.Module):
    """Gives its input with one entry replaced."""

    def __init__(self, value: float | None) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        if self.value is not None:
            x.view(-1)[-1] = self.value
        return x


class _InOrder(torch.nn.Module):
    """Runs its modules in an order of its own."""

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
    """Gives a tensor of its own, whatever comes in; complex numbers are given as pairs."""

    def __init__(self, values: Any, dtype: str) -> None:
        super().__init__()
        if dtype == "complex64":
            self.values = torch.view_as_complex(torch.tensor(np.asarray(values), dtype=torch.float32))
        else:
            self.values = torch.tensor(np.asarray(values), dtype=getattr(torch, dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.values


class _Blows(torch.nn.Module):
    """Fine the first time, inf the second."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.abs() + 1) * 1e200


class _Packed(torch.nn.Module):
    """Its output is a nest of containers, with a nan in the tensor of one place."""

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


class _Unpacks(torch.nn.Module):
    def forward(self, packed: Any) -> torch.Tensor:
        return packed[3].double().reshape(1, 1)


class _Overwrites(torch.nn.Module):
    """Replaces what is not finite in the output of its first layer, in place."""

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
    """Its own forward makes a nan between two layers, and the second shows it; or behind both, and no layer does."""

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
    """Gives a nan in one of the two modes."""

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
        names, place = setting
        return _InOrder({names[0]: _Spoils(None), names[1]: _Packed(place), names[2]: _Unpacks()}, names)
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

GLOBAL_HOOKS = (
    "_global_forward_hooks",
    "_global_forward_pre_hooks",
    "_global_backward_hooks",
    "_global_backward_pre_hooks",
)


def _hooks(model: torch.nn.Module) -> int:
    """How many hooks there are, those for all modules included, and forwards that were replaced."""
    everywhere = sum(len(getattr(torch.nn.modules.module, name, {})) for name in GLOBAL_HOOKS)
    return everywhere + sum(
        len(module._forward_hooks)
        + len(module._forward_pre_hooks)
        + len(module._backward_hooks)
        + ("forward" in vars(module))
        for module in model.modules()
    )


def _named(value: Any) -> Any:
    """A name that can be compared: strings and None as they are, anything else as what it is not."""
    return value if value is None or isinstance(value, str) else [type(value).__name__]


def nonfinite(submission: Any, model: tuple[str, Any], x: np.ndarray, training: bool = True) -> Any:
    """What first_nonfinite says of a model, of which the kind is given and what such a one needs."""
    with _fresh():
        return _named(submission.first_nonfinite(_model(*model).train(training), torch.tensor(x)))


def nonfinite_of_lstm(submission: Any, weights: float, x: np.ndarray) -> Any:
    """What it says of an LSTM, whose output is a tuple of a tensor and a tuple, and a Linear behind it."""

    class Reader(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = torch.nn.Linear(3, 1, dtype=torch.float64)
            self.lstm = torch.nn.LSTM(x.shape[-1], 3, dtype=torch.float64)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            _, (_, cell) = self.lstm(x)
            value: torch.Tensor = self.head(cell[-1])
            return value

    with _fresh():
        model = Reader()
        with torch.no_grad():
            next(model.lstm.parameters())[0, 0] = weights
        return _named(submission.first_nonfinite(model, torch.tensor(x)))


def after_nonfinite(submission: Any, kind: str, setting: Any, x: np.ndarray, training: bool) -> dict[str, Any]:
    """What first_nonfinite leaves behind in a model that has a parameter with a gradient, and hooks already."""
    with _fresh():
        model, inputs = _model(kind, setting).train(training), torch.tensor(x)
        scale = torch.nn.Parameter(torch.ones(2))
        scale.grad = torch.full((2,), 0.5)
        model.register_parameter("scale", scale)
        runs: list[int] = []
        model.register_forward_hook(lambda module, inputs, output: runs.append(1))
        model.register_forward_pre_hook(lambda module, inputs: runs.append(1))
        hooks, raised, name = _hooks(model), False, None
        try:
            name = submission.first_nonfinite(model, inputs)
        except tuple(ERRORS.values()) as error:
            raised = error.args == ("the model's own error",)
            if not raised:
                raise
        left = _hooks(model)
        result: dict[str, Any] = {
            "A hook is left on the model; remove() each, in a finally block": left > hooks,
            "A hook that was there before the call is gone": left < hooks,
            "The model ran more than once": len(runs) > 2,
            "A parameter of the model was changed": not bool((scale == 1).all()),
            "A .grad of the model was changed": scale.grad is None or not bool((scale.grad == 0.5).all()),
            f"The model is in {'eval' if training else 'train'} mode afterwards, and it was not": any(
                module.training is not training for module in model.modules()
            ),
            "x was changed": not np.array_equal(inputs.numpy(), x),
        }
        if kind == "raises":  # a run may end where the name is known
            ended_early = name == "layer" and not model.has_raised
            result["The model's own exception was caught; let it pass"] = not (raised or ended_early)
        else:
            result["the name"] = _named(name)
        return result


# anomaly_op


class _Halves(torch.autograd.Function):
    """A function of one's own whose backward is wrong at 0."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x / 2

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return g / 2 * x / x


OPERATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    # with an upstream gradient of 0 at an entry of 0, each makes 0 / 0 or 0 · inf in its backward
    "sqrt": torch.sqrt,
    "log": lambda x: (x.log()).clamp(min=-9.0),
    "rsqrt": lambda x: x.rsqrt().clamp(max=9.0),
    "divide": lambda x: (1 / x).clamp(max=9.0),
    "power": lambda x: x**0.25,
    "log10": lambda x: x.log10().clamp(min=-9.0),
    "acos": lambda x: torch.acos(1 - x),
    "of one's own": _Halves.apply,
}


def _loss(kind: str, x: torch.Tensor) -> torch.Tensor:
    """A finite loss whose backward makes a nan where x is 0, in the operation `kind`."""
    y = OPERATIONS[kind](x * x)
    return torch.where(x == 0, torch.zeros_like(y), y).tanh().sum()


def anomaly(
    submission: Any, kind: str, x: np.ndarray, already: bool = False, shape: tuple[int, ...] = ()
) -> dict[str, Any]:
    """The node that it names, how often fn ran, and whether anomaly mode is what it was; the loss is of this shape."""
    calls = 0

    def fn() -> torch.Tensor:
        nonlocal calls
        calls += 1
        leaf = torch.tensor(x, requires_grad=True)
        if kind == "inf":
            return leaf.abs().sqrt().sum()
        if kind == "nan in the values alone":
            return (leaf.detach().abs().neg().sub(1).sqrt() + leaf).sum()
        if kind == "nan in a sum":
            return (leaf.sqrt() - leaf.sqrt()).sum()
        return _loss(kind, leaf).reshape(shape)

    with _fresh(), torch.autograd.set_detect_anomaly(already):
        name = submission.anomaly_op(fn)
        left = torch.is_anomaly_enabled()
    return {
        "Anomaly mode is not what it was before the call": left is not already,
        "fn was not called exactly once": calls != 1,
        "the name": _named(name),
    }


def anomaly_raises(submission: Any, who: str, message: str) -> dict[str, Any]:
    """What becomes of exceptions that are no anomaly."""

    def fn() -> torch.Tensor:
        if who == "fn":
            raise RuntimeError(message)
        x = torch.ones(2, requires_grad=True)
        if who == "backward":
            h = x.exp()
            loss = h.sum()
            h += 1
            return loss
        return x.detach().sum()

    kind, said, name = "", "", None
    with _fresh():
        try:
            name = submission.anomaly_op(fn)
        except NotImplementedError:  # not written yet; a RuntimeError, too
            raise
        except RuntimeError as error:
            kind, said = type(error).__name__, str(error)
        left = torch.is_anomaly_enabled()
    own = {"fn": message, "backward": "modified by an inplace operation", "no graph": "does not require grad"}[who]
    return {
        "An exception that is no anomaly was caught; let it pass": name is not None or not kind,
        "Another exception is raised than the one that there was": bool(kind) and own not in said,
        "Anomaly mode is on after an exception": left,
        "what is raised": said if who == "fn" else kind,
    }


# The programs. Each scenario returns what its program returns and the trained parameters, in float32.


def _series(values: Any) -> np.ndarray | None:
    """A list of numbers, or of tensors and arrays with one entry, as an array; None for anything else."""
    if isinstance(values, torch.Tensor) and values.ndim == 1:
        values = list(values)
    if not isinstance(values, list | tuple):
        return None
    if not all(
        isinstance(value, int | float | np.number)
        or (isinstance(value, torch.Tensor) and value.numel() == 1)
        or (isinstance(value, np.ndarray) and value.size == 1)
        for value in values
    ):
        return None
    return np.array([value.item() if hasattr(value, "item") else value for value in values], dtype=np.float64)


def _has_graph(*returned: Any) -> bool:
    """Whether one of the values that a program returned, or one of a list of them, requires a gradient."""
    return any(
        isinstance(value, torch.Tensor) and value.requires_grad
        for values in returned
        for value in (values if isinstance(values, list | tuple) else [values])
    )


GRAPH = "A number is returned with its graph, which keeps all activations of its step: .item() gives a float"
NOTHING = "Nothing is returned: a function that ends without `return` gives None"
NO_PAIR = "Two values are to be returned, as they were by the program that was handed out"


def _pair(values: Any) -> tuple[list[Any], dict[str, bool]]:
    """Both parts of what was returned, Nones where it has others; and the sentences on that."""
    two = isinstance(values, tuple | list) and len(values) == 2
    return list(values) if two else [None, None], {NOTHING: values is None, NO_PAIR: values is not None and not two}


def _state(*modules: torch.nn.Module) -> np.ndarray:
    """All parameters and buffers in one vector."""
    values = [value.detach().reshape(-1).double() for module in modules for value in module.state_dict().values()]
    return torch.cat(values).numpy() if values else np.zeros(0)


def _batches(data: Sequence[Sequence[np.ndarray]]) -> list[tuple[torch.Tensor, ...]]:
    return [tuple(torch.tensor(array) for array in batch) for batch in data]


def _changed(batches: Sequence[tuple[torch.Tensor, ...]], data: Sequence[Sequence[np.ndarray]]) -> dict[str, bool]:
    """Whether the program wrote into its data."""
    return {
        "The data were changed": not all(
            np.array_equal(tensor.detach().numpy(), array)
            for batch, arrays in zip(batches, data, strict=True)
            for tensor, array in zip(batch, arrays, strict=True)
        )
    }


def one_model(submission: Any, name: str, layers: list[dict], data: list, settings: tuple) -> dict[str, Any]:
    """fix_01, fix_08, fix_10 and fix_12: a model, batches, numbers; the losses and the parameters."""
    with _fresh():
        model, batches = _network(layers), _batches(data)
        losses = getattr(submission, name)(model, batches, *settings)
        return {
            NOTHING: losses is None,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "losses": _series(losses),
            "parameters": _state(model),
        }


def residual(submission: Any, layers: list[dict], head: dict, data: list, lr: float) -> dict[str, Any]:
    """fix_02."""
    with _fresh():
        stack, last, batches = torch.nn.ModuleList(map(_linear, layers)), _linear(head), _batches(data)
        losses = submission.fix_02(stack, last, batches, lr)
        return {
            NOTHING: losses is None,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "losses": _series(losses),
            "parameters": _state(stack, last),
        }


def encoder_and_head(submission: Any, layers: list[dict], head: dict, data: list, lr: float) -> dict[str, Any]:
    """fix_03."""
    with _fresh():
        encoder, last, batches = _network(layers).append(torch.nn.Tanh()), _linear(head), _batches(data)
        (losses, spreads), returned = _pair(submission.fix_03(encoder, last, batches, lr))
        return {
            **returned,
            GRAPH: _has_graph(losses, spreads),
            **_changed(batches, data),
            "losses": _series(losses),
            "spreads": _series(spreads),
            "parameters": _state(encoder, last),
        }


def validated(submission: Any, layers: list[dict], data: list, validation: list, lr: float) -> dict[str, Any]:
    """fix_04."""
    with _fresh():
        model, batches, held_out = _network(layers), _batches(data), _batches([validation])
        (losses, others), returned = _pair(submission.fix_04(model, batches, held_out[0], lr))
        return {
            **returned,
            GRAPH: _has_graph(losses, others),
            **_changed([*batches, *held_out], [*data, validation]),
            "losses": _series(losses),
            "validation losses": _series(others),
            "parameters": _state(model),
        }


def built(submission: Any, seed: int, sizes: tuple, data: list, X: np.ndarray, lr: float) -> dict[str, Any]:
    """fix_05: the losses, what the network answers, and what its state_dict makes of a fresh one."""
    with _fresh(seed):
        batches = _batches(data)
        (model, losses), returned = _pair(submission.fix_05(*sizes, batches, lr))
        found: dict[str, Any] = {
            **returned,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "The first value returned is no network": not isinstance(model, torch.nn.Module),
            "losses": _series(losses),
        }
        if not isinstance(model, torch.nn.Module):
            return found
        (other, _), _ = _pair(submission.fix_05(*sizes, [], lr))
        with torch.no_grad():
            found["outputs"] = model(torch.tensor(X)).numpy()
            other.load_state_dict(model.state_dict())
            found["outputs of the network that was saved and loaded"] = other(torch.tensor(X)).numpy()
        found["number of parameters"] = sum(parameter.numel() for parameter in model.parameters())
        return found


class _Token:
    """Something that a graph keeps alive, and that can be watched."""


class _Marked(torch.autograd.Function):
    """The identity; its node holds a token."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, token: _Token) -> torch.Tensor:
        ctx.token = token
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor, None]:
        return g, None


class _Watched(torch.nn.Module):
    """A model that counts how many graphs of its earlier passes are alive, whenever it runs."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model
        self.tokens: list[weakref.ref[_Token]] = []
        self.most = 0
        self.cycles = True  # whether what is alive may be so by reference cycles alone

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        alive = self.alive()
        if alive > 3 and self.cycles:
            gc.collect()  # what only a reference cycle keeps is as good as gone
            alive = self.alive()
            self.cycles = alive <= 3
        self.most = max(self.most, alive)
        token = _Token()
        self.tokens.append(weakref.ref(token))
        return _Marked.apply(self.model(x), token)

    def alive(self) -> int:
        return sum(token() is not None for token in self.tokens)


def history(submission: Any, layers: list[dict], data: list, validation: list, lr: float) -> dict[str, Any]:
    """fix_06: also the most graphs that were alive during the run."""
    with _fresh():
        model, batches, held_out = _Watched(_network(layers)), _batches(data), _batches([validation])
        (losses, others), returned = _pair(submission.fix_06(model, batches, held_out[0], lr))
        return {
            **returned,
            **_changed([*batches, *held_out], [*data, validation]),
            "losses": _series(losses),
            "validation losses": _series(others),
            "parameters": _state(model),
            "graphs": model.most,
            "returned graphs": _has_graph(losses, others),
        }


def probabilities(submission: Any, layers: list[dict], data: list, X: np.ndarray, lr: float) -> dict[str, Any]:
    """fix_07."""
    with _fresh():
        model, batches = _network(layers), _batches(data)
        (losses, p), returned = _pair(submission.fix_07(model, batches, torch.tensor(X), lr))
        return {
            **returned,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "losses": _series(losses),
            "probabilities": p.detach().numpy() if isinstance(p, torch.Tensor) else None,
            "parameters": _state(model),
        }


def epochs(
    submission: Any, seed: int, layers: list[dict], p: float, data: list, validation: list, n: int, lr: float
) -> dict[str, Any]:
    """fix_09: the validation losses; parameters and running statistics."""
    with _fresh(seed):
        first, last = map(_linear, layers)
        norm = torch.nn.BatchNorm1d(first.out_features)
        model = torch.nn.Sequential(first, norm, torch.nn.ReLU(), torch.nn.Dropout(p), last)
        batches, held_out = _batches(data), _batches([validation])
        scores = submission.fix_09(model, batches, held_out[0], n, lr)
        return {
            NOTHING: scores is None,
            GRAPH: _has_graph(scores),
            **_changed([*batches, *held_out], [*data, validation]),
            "validation losses": _series(scores),
            "parameters": _state(model),
        }


PRODUCTS = {"mm": 0, "bmm": 0, "linear": 0, "addmm": 1, "baddbmm": 1, "addbmm": 1}
"""Operations that multiply matrices, and where the first of the two stands among their arguments."""


class _Products(TorchDispatchMode):
    """Notes the dtypes in which matrices are multiplied, forward and backward; those in float16 become `factor` times.

    So what is computed by other products than those in float16 ends elsewhere, however many of them run beside it.
    """

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor
        self.dtypes: set[torch.dtype] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as the course's instruments: PyTorch's compiler would be imported

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        place = PRODUCTS.get(func._schema.name.removeprefix("aten::"))
        if place is not None and len(args) > place:
            first = args[place]
            self.dtypes.add(first.dtype)
            if first.dtype == torch.float16:
                args = (*args[:place], first * self.factor, *args[place + 1 :])
        return func(*args, **(kwargs or {}))


def half_precision(
    submission: Any, layers: list[dict], data: list, n_tokens: float, lr: float, factor: float
) -> dict[str, Any]:
    """fix_11: also the dtypes in which matrices were multiplied; products in float16 are `factor` times what they are.

    With a factor of 1 it is the program that learners run.
    """
    with _fresh():
        model, batches = _network(layers), _batches(data)
        with _Products(factor) as products:
            losses = submission.fix_11(model, batches, n_tokens, lr)
        return {
            NOTHING: losses is None,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "the dtype of the matrix products": ", ".join(sorted(map(str, products.dtypes))),
            "losses": _series(losses),
            "parameters": _state(model),
        }
