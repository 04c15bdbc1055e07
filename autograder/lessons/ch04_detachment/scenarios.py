"""Scenarios of ch04_detachment: build leaves and modules, call the submission, run backward, return the numbers.

They return dicts. A bool stands under the sentence that a learner is told if it is True: what is wrong.
Each runs with gradients switched on, whatever a cell of the submission did to them.
"""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

GRADIENTS_OFF = "Gradients were switched off, and still are for all that follows"


def _data(value: Any) -> Any:
    """A tensor as an array, so that it can be compared; anything else as it is."""
    if not isinstance(value, torch.Tensor) or value.dtype == torch.bfloat16:
        return value
    return value.numpy(force=True).copy()


def _backward(output: Any, g: torch.Tensor | None = None) -> None:
    """Run backward where there is something to run through; what is missing then shows as a gradient of None."""
    if isinstance(output, torch.Tensor) and output.requires_grad:
        if g is None and output.numel() == 1:
            output.backward(torch.ones_like(output))
        elif g is not None and output.shape == g.shape:
            output.backward(g)


# straight_through_round


@torch.enable_grad()
def rounded(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The result for a leaf x, and its gradient."""
    leaf = torch.tensor(x, requires_grad=True)
    y = submission.straight_through_round(leaf)
    _backward(y, torch.tensor(g))
    return {"y": _data(y), "dx": _data(leaf.grad), "x afterwards": _data(leaf)}


@torch.enable_grad()
def rounded_product(submission: Any, a: np.ndarray, b: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The same for x = a · b in the middle of a graph, and the gradients of a and b."""
    a_leaf, b_leaf = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)
    x = a_leaf * b_leaf
    y = submission.straight_through_round(x)
    _backward(y, torch.tensor(g))
    return {"y": _data(y), "da": _data(a_leaf.grad), "db": _data(b_leaf.grad), "x afterwards": _data(x)}


STEPS: dict[str, Any] = {
    "sin": lambda v, a: v.sin(),
    "tanh": lambda v, a: v.tanh(),
    "square": lambda v, a: v * v,
    "times": lambda v, a: v * a,
    "divided by": lambda v, a: a / (1 + v * v),
    "plus": lambda v, a: v + a,
    "matmul": lambda v, a: v @ a,
    "sums": lambda v, a: v.cumsum(-1),
    "flip": lambda v, a: v.flip(-1),
    "softmax": lambda v, a: v.softmax(-1),
}
"""What a program does to a vector v, with an array a of its own: a gradient through it is not seen in its arguments."""


def _follow(value: torch.Tensor, steps: Sequence[tuple[str, np.ndarray]]) -> torch.Tensor:
    for name, array in steps:
        value = STEPS[name](value, torch.tensor(array))
    return value


@torch.enable_grad()
def rounded_on_the_way(
    submission: Any, u: np.ndarray, before: Sequence[Any], after: Sequence[Any], g: np.ndarray
) -> dict[str, Any]:
    """The rounded values between the steps before and after, and the gradient of u at the beginning of all."""
    leaf = torch.tensor(u, requires_grad=True)
    x = _follow(leaf, before)
    values = _data(x)
    y = submission.straight_through_round(x)
    if isinstance(y, torch.Tensor) and y.shape == x.shape:
        _backward(_follow(y.to(x.dtype), after), torch.tensor(g))  # of another dtype, it would go on with nothing
    return {
        "y": _data(y),
        "du": _data(leaf.grad),
        "x has other values afterwards": not np.array_equal(values, _data(x)),
    }


@torch.enable_grad()
def rounded_constant(submission: Any, x: np.ndarray) -> dict[str, Any]:
    """The result for an x that requires no gradient."""
    constant = torch.tensor(x)
    y = submission.straight_through_round(constant)
    return {
        "y": _data(y),
        "The result requires a gradient, and x does not": isinstance(y, torch.Tensor) and y.requires_grad,
        "x requires a gradient afterwards": constant.requires_grad,
    }


# td_loss


def _linear(layer: dict[str, np.ndarray]) -> torch.nn.Linear:
    """A linear network with the weights W (actions, d) and b (actions,)."""
    W, b = torch.tensor(layer["W"]), torch.tensor(layer["b"])
    network = torch.nn.Linear(W.shape[1], W.shape[0], dtype=W.dtype)
    with torch.no_grad():
        network.weight.copy_(W)
        network.bias.copy_(b)
    return network


def _tensors(batch: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(array) for name, array in batch.items()}


def _td_loss(submission: Any, *arguments: Any) -> Any:
    """The loss; what PyTorch says of a maximum with its indices is made plain."""
    try:
        return submission.td_loss(*arguments)
    except (AttributeError, TypeError) as error:
        if re.search(r"return_types|multiply sequence|to an index|not tuple", str(error)):
            error.args = (f"{error}. Is it max(dim=1)? It gives (values, indices): take .values",)
        raise


def _wrong_kinds(loss: Any) -> dict[str, bool]:
    """What else than a tensor td_loss may have returned."""
    number, tensor = isinstance(loss, int | float | np.generic), isinstance(loss, torch.Tensor)
    return {
        "td_loss returned a Python float; return the 0-d tensor, it carries the graph": number,
        "td_loss returned no tensor; the loss is a 0-d tensor": not number and not tensor,
    }


def _has_no_graph(loss: Any) -> bool:
    return not isinstance(loss, torch.Tensor) or loss.grad_fn is None


def _td_backward(loss: Any, *networks: torch.nn.Module) -> None:
    """Run backward unless td_loss did."""
    if all(parameter.grad is None for network in networks for parameter in network.parameters()):
        _backward(loss)


@torch.enable_grad()
def two_networks(submission: Any, q_net: dict, target_net: dict, batch: dict, gamma: float) -> dict[str, Any]:
    """The loss, and the gradients of q_net = s Wᵀ + b."""
    q, target = _linear(q_net), _linear(target_net)
    loss = _td_loss(submission, q, target, _tensors(batch), gamma)
    _td_backward(loss, q, target)
    return {**_wrong_kinds(loss), "loss": _data(loss), "dW": _data(q.weight.grad), "db": _data(q.bias.grad)}


@torch.enable_grad()
def one_network(submission: Any, q_net: dict, batch: dict, gamma: float) -> dict[str, Any]:
    """The same where target_net is q_net itself."""
    q = _linear(q_net)
    loss = _td_loss(submission, q, q, _tensors(batch), gamma)
    _td_backward(loss, q)
    return {**_wrong_kinds(loss), "loss": _data(loss), "dW": _data(q.weight.grad), "db": _data(q.bias.grad)}


@torch.enable_grad()
def flow_into_the_networks(submission: Any, q_net: dict, target_net: dict, batch: dict, gamma: float) -> dict[str, Any]:
    """Which network has gradients after backward, and what q_net's are."""
    q, target = _linear(q_net), _linear(target_net)
    loss = _td_loss(submission, q, target, _tensors(batch), gamma)
    bare = _has_no_graph(loss)
    _td_backward(loss, q, target)
    return {
        **_wrong_kinds(loss),
        "The loss has no graph to go back through": bare,
        "q_net has no gradient after backward": q.weight.grad is None or q.bias.grad is None,
        "dW": _data(q.weight.grad),
        "db": _data(q.bias.grad),
        "target_net.weight.grad": _data(target.weight.grad),
        "target_net.bias.grad": _data(target.bias.grad),
    }


@torch.enable_grad()
def afterwards(submission: Any, q_net: dict, target_net: dict, batch: dict, gamma: float) -> dict[str, Any]:
    """What td_loss leaves behind, before anyone calls backward."""
    tensors = _tensors(batch)
    networks = {"q_net": _linear(q_net), "target_net": _linear(target_net)}
    loss = _td_loss(submission, *networks.values(), tensors, gamma)
    left: dict[str, Any] = {**_wrong_kinds(loss), "The loss has no graph to go back through": _has_no_graph(loss)}
    left |= {f"batch[{name}]": _data(tensor) for name, tensor in tensors.items()}
    for name, network in networks.items():
        left[f"{name} was switched to eval mode"] = not network.training
        left[f"Parameters of {name} were frozen"] = not all(p.requires_grad for p in network.parameters())
        for part, parameter in network.named_parameters():
            left[f"{name}.{part}"] = _data(parameter)
            left[f"{name}.{part}.grad"] = _data(parameter.grad)
    left[GRADIENTS_OFF] = not torch.is_grad_enabled()
    return left


# freeze and ema_update


def _holder(module: torch.nn.Module, name: str) -> tuple[torch.nn.Module, str]:
    """The submodule that holds the tensor `name`, made where it is missing, and the name's last part."""
    *path, last = name.split(".")
    for part in path:
        if part not in dict(module.named_children()):
            module.add_module(part, torch.nn.Module())
        module = module.get_submodule(part)
    return module, last


def _module(parameters: dict, buffers: dict | None = None, tied: Sequence[str] = ()) -> torch.nn.Module:
    """A module with these tensors under their dotted names; the first name of `tied` is there, the others follow."""
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


def _named(module: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Every parameter under each of its names."""
    return dict(module.named_parameters(remove_duplicate=False))


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


def _same(before: dict[str, torch.nn.Parameter], after: dict[str, torch.nn.Parameter]) -> bool:
    """Whether these are the same objects under the same names."""
    return list(before) == list(after) and all(after[name] is before[name] for name in before)


def frozen(submission: Any, names: list[str], prefix: str) -> dict[str, Any]:
    """What freeze counts and what is frozen in a module with parameters of these names."""
    return _freeze(submission, _module(_sized(names)), prefix)


def frozen_twice(submission: Any, names: list[str], frozen_before: list[str], prefix: str) -> dict[str, Any]:
    """The same where some are frozen already."""
    module = _module(_sized(names))
    for name in frozen_before:
        module.get_parameter(name).requires_grad_(False)
    return _freeze(submission, module, prefix)


def frozen_shared(submission: Any, names: list[str], tied: list[str], prefix: str) -> dict[str, Any]:
    """The same where one parameter has several names."""
    return _freeze(submission, _module(_sized(names), tied=tied), prefix)


def frozen_beside_buffers(submission: Any, names: list[str], buffers: list[str], prefix: str) -> dict[str, Any]:
    """The same where the module has buffers."""
    return _freeze(submission, _module(_sized(names), {name: np.ones(3) for name in buffers}), prefix)


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
def averaged_shared(submission: Any, target: dict, online: dict, tied: list[str], decay: float) -> dict[str, Any]:
    """The same for modules in which one parameter has several names."""
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
        "ema_update returned something; it changes target in place and returns nothing": returned is not None,
    }


@torch.enable_grad()
def averaged_with_flags(
    submission: Any, target: dict, online: dict, decay: float, target_requires_grad: bool, online_requires_grad: bool
) -> dict[str, Any]:
    """The parameters of target after an update, and what autograd knows of them."""
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


# running_mean_loss


class _Token:
    """Something that lives as long as the graph that holds it."""


class _Marked(torch.autograd.Function):
    """A copy whose graph holds a token."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, token: _Token) -> torch.Tensor:
        ctx.token = token
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradients[0], None


def _loss(value: float, dtype: str = "float64", shape: tuple[int, ...] = ()) -> torch.Tensor:
    """A loss of this value with a graph."""
    leaf = torch.full(shape, value, dtype=getattr(torch, dtype), requires_grad=True)
    return 1 * leaf


def _mean(submission: Any, losses: Any) -> dict[str, Any]:
    """What the submission returns; in words where it is a tensor, which would pass for a number."""
    mean = submission.running_mean_loss(losses)
    tensor = isinstance(mean, torch.Tensor)
    wrong = "running_mean_loss returned a tensor; return a Python float"
    return {wrong: tensor, "the mean": "a tensor" if tensor else mean}


@torch.enable_grad()
def mean_of(submission: Any, values: list[float], kind: str, dtype: str = "float64") -> dict[str, Any]:
    """The mean of 0-d losses in an iterable of this kind."""
    losses = (_loss(value, dtype) for value in values)
    kinds: dict[str, Any] = {"list": list, "tuple": tuple, "generator": iter}
    return _mean(submission, kinds[kind](losses))


@torch.enable_grad()
def mean_of_nothing(submission: Any, kind: str) -> dict[str, bool]:
    """What running_mean_loss does with an empty iterable of this kind."""
    kinds: dict[str, Any] = {"list": [], "tuple": (), "generator": iter(())}
    outcome = ""
    try:
        outcome = str(submission.running_mean_loss(kinds[kind]))
    except ValueError:
        outcome = "ValueError"
    except ZeroDivisionError:
        outcome = "ZeroDivisionError"
    known = {
        "ValueError": "",
        "ZeroDivisionError": "raised ZeroDivisionError",
        "0.0": "returned 0.0",
        "nan": "returned nan",
    }
    told = {
        f"With no losses running_mean_loss {what}; raise a ValueError": outcome == key
        for key, what in known.items()
        if what
    }
    return {**told, "With no losses running_mean_loss raised no ValueError": outcome not in known}


@torch.enable_grad()
def mean_of_shapes(submission: Any, values: list[float], shapes: list[tuple[int, ...]]) -> dict[str, Any]:
    """The mean of losses of these shapes, from a generator."""
    return _mean(submission, (_loss(v, shape=shape) for v, shape in zip(values, shapes, strict=True)))


@torch.enable_grad()
def losses_afterwards(submission: Any, values: list[float]) -> dict[str, Any]:
    """The mean of a list of losses, and the losses themselves afterwards."""
    leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]
    losses = [1 * leaf for leaf in leaves]
    mean = _mean(submission, losses)
    return {
        **mean,
        "the losses": np.array([loss.item() for loss in losses]),
        "The losses have lost their graphs": any(loss.grad_fn is None for loss in losses),
        "running_mean_loss called backward, which is the caller's to do": any(leaf.grad is not None for leaf in leaves),
    }


@torch.enable_grad()
def training_loop(submission: Any, targets: list[float], lr: float) -> dict[str, Any]:
    """The mean loss of an epoch that runs while it is read, and the weight that it trained."""
    w: Any = torch.zeros((), dtype=torch.float64, requires_grad=True)

    def epoch() -> Iterator[torch.Tensor]:
        for target in targets:
            loss = (w - target) ** 2
            yield loss
            w.grad = None
            loss.backward()
            with torch.no_grad():
                w.sub_(lr * w.grad)

    return {**_mean(submission, epoch()), "the trained weight": w.item()}


@torch.enable_grad()
def graphs_alive(submission: Any, values: list[float]) -> dict[str, Any]:
    """The mean of losses from a generator, and the most graphs that were alive when it was asked for another."""
    tokens: list[weakref.ref[_Token]] = []
    most = 0

    def marked(value: float) -> torch.Tensor:
        token = _Token()
        tokens.append(weakref.ref(token))
        return _Marked.apply(_loss(value), token)

    def count() -> None:
        nonlocal most
        alive = sum(token() is not None for token in tokens)
        if alive > 1:
            gc.collect()  # what only a reference cycle keeps is as good as gone
            alive = sum(token() is not None for token in tokens)
        most = max(most, alive)

    def losses() -> Iterator[torch.Tensor]:
        for value in values:
            count()
            yield marked(value)
        count()

    mean = _mean(submission, losses())
    return {**mean, "graphs": most, "left": sum(token() is not None for token in tokens)}
