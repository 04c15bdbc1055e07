"""Scenarios of ch09_vanishing_gradients: build models, call the submission, train what it built, return the numbers.

They return data, mostly dicts. A bool stands under the sentence that a learner is told if it is True: what is wrong.
Each runs with gradients switched on, whatever a cell of the submission did to them. Random numbers that a submission
draws come from a generator that the scenario seeds, so that a check sees the same network each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

ACTIVATIONS = {"sigmoid": torch.nn.Sigmoid, "tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}
GRADIENTS_OFF = "Gradients were switched off, and still are for all that follows"


def _linear(layer: dict[str, np.ndarray]) -> torch.nn.Linear:
    """A linear layer with the weights W (out, in) and the bias b (out,)."""
    W, b = torch.tensor(layer["W"]), torch.tensor(layer["b"])
    linear = torch.nn.Linear(W.shape[1], W.shape[0], dtype=W.dtype)
    with torch.no_grad():
        linear.weight.copy_(W)
        linear.bias.copy_(b)
    return linear


def _chain(layers: Sequence[dict], activation: str) -> torch.nn.Sequential:
    """Linear layers with an activation after each but the last."""
    modules: list[torch.nn.Module] = []
    for layer in layers:
        modules += [_linear(layer), ACTIVATIONS[activation]()]
    return torch.nn.Sequential(*modules[:-1])


class _HeadFirst(torch.nn.Module):
    """Its head, the last to run, is the first that modules() finds; the body has a module inside of a module."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.head = _linear(layers[-1])
        self.body = torch.nn.Sequential(_chain(layers[:-1], "tanh"), torch.nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x))


class _Recurrent(torch.nn.Module):
    """Its middle layer runs twice."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.first, self.middle, self.last = map(_linear, layers)
        self.middle_again = self.middle

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.middle(torch.tanh(self.first(x))))
        return self.last(torch.tanh(self.middle_again(h)))


class _Embedded(torch.nn.Module):
    """Has weights that belong to no Linear: a scale, a LayerNorm and a convolution."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        width = layers[0]["W"].shape[0]
        self.first = _linear(layers[0])
        self.norm = torch.nn.LayerNorm(width, dtype=self.first.weight.dtype)
        self.smooth = torch.nn.Conv1d(1, 1, 1, dtype=self.first.weight.dtype)
        self.last = _linear(layers[1])
        with torch.no_grad():
            self.smooth.weight.fill_(0.7)
            self.smooth.bias.fill_(0.1)  # type: ignore[union-attr]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.smooth(self.norm(self.first(x)).unsqueeze(1)).squeeze(1)
        return self.last(torch.tanh(h))


def _with_batchnorm(layers: Sequence[dict], activation: str = "relu") -> torch.nn.Sequential:
    """A BatchNorm before the activation, with running statistics that are not those of a batch."""
    first, last = map(_linear, layers)
    norm = torch.nn.BatchNorm1d(first.out_features, dtype=first.weight.dtype)
    for statistic, value in ((norm.running_mean, 0.4), (norm.running_var, 3.0)):
        assert statistic is not None
        statistic.fill_(value)
    return torch.nn.Sequential(first, norm, ACTIVATIONS[activation](), last)


def _state(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Copies of the parameters."""
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def _changes(model: torch.nn.Module, before: dict[str, torch.Tensor], training: bool) -> dict[str, bool]:
    """What is another than before; every other parameter had a gradient of 0.5 then, and the rest None."""
    parameters = dict(model.named_parameters())
    with_grad = list(parameters)[::2]
    grads_kept = all(
        (parameter.grad is not None and bool((parameter.grad == 0.5).all()))
        if name in with_grad
        else parameter.grad is None
        for name, parameter in parameters.items()
    )
    return {
        "The model's parameters have another dtype afterwards; .double() converts the caller's model": any(
            parameters[name].dtype != value.dtype for name, value in before.items()
        ),
        "The values of parameters changed": any(
            not torch.equal(parameters[name].detach().double(), value.double()) for name, value in before.items()
        ),
        "A parameter's .grad is not what it was before the call: the caller may be adding up gradients there": (
            not grads_kept
        ),
        "requires_grad of a parameter changed": not all(p.requires_grad for p in parameters.values()),
        f"The model is in {'eval' if training else 'train'} mode afterwards, and it was not": any(
            module.training is not training for module in model.modules()
        ),
        GRADIENTS_OFF: not torch.is_grad_enabled(),
    }


def _prepare(model: torch.nn.Module, training: bool) -> dict[str, torch.Tensor]:
    """Put the model in a mode, give every other parameter a gradient; copies of the parameters."""
    model.train(training)
    for parameter in list(model.parameters())[::2]:
        parameter.grad = torch.full_like(parameter, 0.5)
    return _state(model)


@contextmanager
def _backward() -> Iterator[None]:
    """Around a backward pass: says in plain words what PyTorch says of tensors that were written over."""
    try:
        yield
    except RuntimeError as error:
        if "inplace operation" not in str(error):
            raise
        raise RuntimeError(
            "`x += ...` (or another write in place) in forward writes over the x that backward needs; write x = x + ..."
        ) from None


# layer_gradient_norms

KINDS: dict[str, Callable[[Sequence[dict]], torch.nn.Module]] = {
    "sigmoid": lambda layers: _chain(layers, "sigmoid"),
    "tanh": lambda layers: _chain(layers, "tanh"),
    "one linear": lambda layers: _linear(layers[0]),
    "head first": _HeadFirst,
    "recurrent": _Recurrent,
    "embedded": _Embedded,
    "batchnorm": _with_batchnorm,
}


@torch.enable_grad()
def gradient_norms(
    submission: Any, kind: str, layers: list[dict], X: np.ndarray, y: np.ndarray, training: bool = True
) -> Any:
    """The norms for a model of these layers."""
    model = KINDS[kind](layers).train(training)
    return submission.layer_gradient_norms(model, torch.tensor(X), torch.tensor(y))


@torch.enable_grad()
def gradient_norms_twice(submission: Any, layers: list[dict], X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The same of two calls."""
    model, inputs, targets = _chain(layers, "tanh"), torch.tensor(X), torch.tensor(y)
    return {call: submission.layer_gradient_norms(model, inputs, targets) for call in ("first call", "second call")}


@torch.enable_grad()
def after_gradient_norms(
    submission: Any, kind: str, layers: list[dict], X: np.ndarray, y: np.ndarray, training: bool
) -> dict[str, Any]:
    """What layer_gradient_norms leaves behind in a model that has gradients already."""
    model, inputs, targets = KINDS[kind](layers), torch.tensor(X), torch.tensor(y)
    before = _prepare(model, training)
    norms = submission.layer_gradient_norms(model, inputs, targets)
    return {
        **_changes(model, before, training),
        "X was changed": not np.array_equal(inputs.numpy(), X),
        "the norms": norms,
    }


# make_mlp


def _of(model: Any, kind: type) -> list[Any]:
    return [module for module in model.modules() if isinstance(module, kind)]


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
    """Whether the model has the Linears and BatchNorms that these parameters are for."""
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
    """The output of a network with these parameters, in float64, and what becomes of g.

    Raises where they do not fit: a check of the layers says more about it.
    """
    model = _made(submission, seed, sizes, options)
    if not _fits(model, parameters):
        raise LookupError(MISFIT)
    model = model.double().train(training)
    _load(model, parameters)
    inputs = torch.tensor(X, requires_grad=True)
    logits = model(inputs)
    if logits.shape == g.shape:
        with _backward():
            logits.backward(torch.tensor(g))
    gradient = None if inputs.grad is None else inputs.grad.numpy()
    return {"model(X)": logits.detach().numpy(), "dX": gradient}


@torch.enable_grad()
def fresh_parameters(
    submission: Any, seed: int, sizes: tuple, options: dict, shapes: list[tuple[int, int]]
) -> dict[str, Any]:
    """Weights and biases of a network as it was made, Linear by Linear, and the first two of another network.

    Raises where the Linears have other shapes: a check of the layers says more about it.
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
            {"gamma": norm.weight.detach().numpy().copy(), "beta": norm.bias.detach().numpy().copy()}
            for norm in _of(model, torch.nn.BatchNorm1d)
            if norm.affine
        ],
    }


def _values_of(linear: torch.nn.Linear) -> dict[str, np.ndarray]:
    bias = linear.bias if linear.bias is not None else torch.zeros(linear.out_features)
    return {"W": linear.weight.detach().numpy().copy(), "b": bias.detach().numpy().copy()}


@torch.enable_grad()
def hidden_gradient_norms(
    submission: Any, sizes: tuple, options: dict, parameters: dict, X: np.ndarray, y: np.ndarray
) -> Any:
    """The gradient norms of the hidden Linears of a network with these parameters; None where they do not fit.

    For the reference: the parameters are those that a submission's network had when it was made.
    """
    model = _made(submission, 0, sizes, options)
    if not _fits(model, parameters):
        return None
    _load(model, parameters)
    return _hidden_norms(model, torch.tensor(X), torch.tensor(y))


def _hidden_norms(model: torch.nn.Module, X: torch.Tensor, y: torch.Tensor) -> list[float]:
    """The norms of dL/dW of all Linears but the first and the last; 0 for one that has no part in the loss."""
    weights = [linear.weight for linear in _of(model, torch.nn.Linear)[1:-1]]
    loss = torch.nn.functional.cross_entropy(model(X), y)
    with _backward():
        gradients = torch.autograd.grad(loss, weights, allow_unused=True)
    return [0.0 if gradient is None else gradient.double().norm().item() for gradient in gradients]


# healthy_mlp


def _clear(linear: torch.nn.Linear) -> None:
    linear.weight.zero_()
    if linear.bias is not None:
        linear.bias.zero_()


def _healthy(submission: Any, seed: int, sizes: tuple) -> Any:
    torch.default_generator.manual_seed(seed)
    return submission.healthy_mlp(*sizes)


@torch.enable_grad()
def healthy_structure(submission: Any, seed: int, sizes: tuple, X: np.ndarray) -> dict[str, Any]:
    """What modules() finds, what runs, and whether x and the first block's addition to it get past blocks of zeros.

    How the network was initialised plays no part in the latter: a branch may have been made to begin with zeros.
    """
    model = _healthy(submission, seed, sizes)
    if not isinstance(model, torch.nn.Module):
        return {"a module": False}
    inputs = torch.tensor(X)
    runs: list[torch.nn.Module] = []
    hooks = [module.register_forward_hook(lambda module, *_: runs.append(module)) for module in model.modules()]
    logits = model(inputs).detach()
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
        with_the_first = model(inputs)
        for linear in linears[1:2]:
            _clear(linear)
        without = model(inputs)
        found["skips"] = bool(without.std(dim=0).max() > 1e-4)
        found["carries on"] = bool((with_the_first - without).abs().max() > 1e-4)
        alone = found["norms"] == found["relus"] == sizes[2]  # no other norm or ReLU, in front of the output, say
        shapes = [(sizes[3], sizes[0]), *[(sizes[3], sizes[3])] * sizes[2], (sizes[1], sizes[3])]
        found["adds only"] = not (alone and found["linears"] == shapes) or torch.allclose(
            without, linears[-1](linears[0](inputs)), atol=1e-4
        )
    return found


@torch.enable_grad()
def healthy_gradient_norms(
    submission: Any, seed: int, sizes: tuple, X: np.ndarray, y: np.ndarray
) -> dict[str, Any] | None:
    """The gradient norms of the hidden Linears of a fresh network, and whether its output layer is 0."""
    model = _healthy(submission, seed, sizes)
    if not isinstance(model, torch.nn.Module) or len(_of(model, torch.nn.Linear)) < 4:
        return None
    return {
        "norms": _hidden_norms(model.train(), torch.tensor(X), torch.tensor(y)),
        "silent": not bool(_of(model, torch.nn.Linear)[-1].weight.any()),
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
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)  # else as long as both passes
    for _ in range(steps):
        batch = torch.randint(0, len(X), (64,), generator=batches)
        optimizer.zero_grad()
        with _backward():
            torch.nn.functional.cross_entropy(model(inputs[batch]), targets[batch]).backward()
        optimizer.step()
    with torch.no_grad():
        return model.eval()(torch.tensor(X_new)).numpy()


# dead_relu_fraction


class _TwiceTheSameReLU(torch.nn.Module):
    """One ReLU module behind both layers, and one that never runs."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.first, self.second, self.last = map(_linear, layers)
        self.relu, self.spare = torch.nn.ReLU(), torch.nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.relu(self.second(self.relu(self.first(x)))))


class _WritesIntoReLU(torch.nn.Module):
    """Adds a skip connection to the output of its ReLU, in place."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.first, self.second, self.last = map(_linear, layers)
        self.relus = torch.nn.ModuleList([torch.nn.ReLU(inplace=True), torch.nn.ReLU()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.relus[0](self.first(x))
        h += 1
        h = self.relus[1](self.second(h))
        h += 1
        return self.last(h)


class _Raises(torch.nn.Module):
    """Runs its layers, then raises."""

    def __init__(self, layers: Sequence[dict]) -> None:
        super().__init__()
        self.body = _chain(layers, "relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.body(x)
        raise KeyError("the model's own error")


RELU_KINDS: dict[str, Callable[[Sequence[dict]], torch.nn.Module]] = {
    "relu": lambda layers: _chain(layers, "relu"),
    "sigmoid": lambda layers: _chain(layers, "sigmoid"),
    "mixed": lambda layers: torch.nn.Sequential(
        _linear(layers[0]), torch.nn.ReLU(), _linear(layers[1]), torch.nn.Sigmoid(), _linear(layers[2])
    ),
    "nested": lambda layers: torch.nn.Sequential(_chain(layers[:-1], "relu"), torch.nn.ReLU(), _linear(layers[-1])),
    "twice": _TwiceTheSameReLU,
    "in place": _WritesIntoReLU,
    "batchnorm": _with_batchnorm,
    "raises": _Raises,
}
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


@torch.enable_grad()
def dead_fraction(submission: Any, kind: str, layers: list[dict], X: np.ndarray, training: bool = True) -> Any:
    """The share of dead units in a model of these layers."""
    return submission.dead_relu_fraction(RELU_KINDS[kind](layers).train(training), torch.tensor(X))


@torch.enable_grad()
def after_dead_fraction(
    submission: Any, kind: str, layers: list[dict], X: np.ndarray, training: bool
) -> dict[str, Any]:
    """What dead_relu_fraction leaves behind in a model that has gradients and two hooks already."""
    model, inputs = RELU_KINDS[kind](layers), torch.tensor(X)
    before = _prepare(model, training)
    seen: list[int] = []
    for relu in _of(model, torch.nn.ReLU)[:2]:
        relu.register_forward_hook(lambda module, inputs, output: seen.append(1))
    hooks = _hooks(model)
    share, raised = None, False
    try:
        share = submission.dead_relu_fraction(model, inputs)
    except KeyError as error:
        raised = error.args == ("the model's own error",)
        if not raised:
            raise
    left = _hooks(model)
    result: dict[str, Any] = {
        "A hook is left on the model; remove() each, in a finally block": left > hooks,
        "A hook that was there before the call is gone": left < hooks,
        **_changes(model, before, training),
        "X was changed": not np.array_equal(inputs.numpy(), X),
    }
    if kind == "raises":
        result["The model's own exception was caught; let it pass"] = not raised
    else:
        result["the share"] = share
    return result
