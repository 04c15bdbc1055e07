"""Scenarios of ch03_accumulation: graphs written down as text, chains and ladders of nodes, models from a seed.

A graph is `"a = 3.0; b = a * a; c = b + a; d = c ** 2"`: a number is a leaf, a formula makes one node of earlier ones.
What stands in `.grad` before a call is written alike, `"a = 1.5; b = 2.0"`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from course.graph import CountedNode, Node, add, mul, power

MOST_READS = 20_000
"""Reads of `.parents` in one ladder. A walk that comes to each node a few times needs a few hundred."""


def gradients(submission: Any, graph: str, outputs: list[str], grad_before: str) -> dict[str, Any]:
    """`.grad` of each node after `backward` of each of the `outputs` in turn; `grad_before` stood there at first."""
    nodes = _build(graph)
    _set_grads(nodes, grad_before)
    structure = _structure(nodes)
    for name in outputs:
        _call(submission.backward, nodes[name])
    _require_same(structure, _structure(nodes), "backward")
    return {f"{name}.grad": getattr(node, "grad", "deleted") for name, node in nodes.items()}


def chain_gradients(submission: Any, factors: np.ndarray) -> np.ndarray:
    """`.grad` along a chain, each node made of the one before it, after `backward` of its end."""
    with _no_collection():
        nodes = _chain(factors)
        _call(submission.backward, nodes[-1])
        return _grads(nodes)


def ladder_gradients(submission: Any, weights: np.ndarray) -> np.ndarray:
    """`.grad` of the two nodes of each rung, each of them made of both nodes of the rung below."""
    nodes = _ladder(weights)
    _call(submission.backward, nodes[-1])
    return _grads(nodes)


def zeroed(submission: Any, graph: str, output: str, grad_before: str, times: int) -> dict[str, Any]:
    """`.grad` of each node after `zero_grad(output)`, None as 0; `grad_before` is set before each of the `times`."""
    nodes = _build(graph)
    structure = _structure(nodes)
    for _ in range(times):
        _set_grads(nodes, grad_before)
        _call(submission.zero_grad, nodes[output])
    _require_same(structure, _structure(nodes), "zero_grad")
    return {f"{name}.grad": _zero_for_none(getattr(node, "grad", "deleted")) for name, node in nodes.items()}


def chain_zeroed(submission: Any, factors: np.ndarray) -> np.ndarray:
    """`.grad` along a chain, every one 1 before `zero_grad` of its end; None as 0."""
    with _no_collection():
        nodes = _chain(factors)
        for node in nodes:
            node.grad = 1.0
        _call(submission.zero_grad, nodes[-1])
        return np.nan_to_num(_grads(nodes))


def ladder_zeroed(submission: Any, weights: np.ndarray) -> np.ndarray:
    """`.grad` of the nodes of a ladder, every one 1 before `zero_grad` of its top; None as 0."""
    nodes = _ladder(weights)
    for node in nodes:
        node.grad = 1.0
    _call(submission.zero_grad, nodes[-1])
    return np.nan_to_num(_grads(nodes))


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
    """As `fit`, with batches that can be walked once and have no length."""
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


def _call(function: Any, output: Node) -> None:
    """Call `backward` or `zero_grad`, and say where a function from the first lesson is to come from."""
    try:
        function(output)
    except NameError as error:
        if error.name == "topological_order":
            error.args = (f"{error}: bring yours from the first lesson, in a cell above",)
        raise


def _lines(text: str) -> list[tuple[str, str]]:
    """Name and right-hand side of each line."""
    return [(name, value) for name, _, value in (line.partition(" = ") for line in text.split("; ") if line)]


def _build(graph: str) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    for name, formula in _lines(graph):
        left, sign, right = (*formula.split(), "", "")[:3]
        if sign == "**":
            nodes[name] = power(nodes[left], float(right), name)
        elif sign:
            nodes[name] = (add if sign == "+" else mul)(nodes[left], nodes[right], name)
        else:
            nodes[name] = Node(float(formula), name=name)
    return nodes


def _set_grads(nodes: dict[str, Node], grads: str) -> None:
    for name, grad in _lines(grads):
        nodes[name].grad = float(grad)


def _structure(nodes: dict[str, Node]) -> dict[str, Any]:
    """What only the graph's maker may change."""
    return {name: (node.value, node.parents, node.local_gradients, node.name) for name, node in nodes.items()}


def _require_same(before: dict[str, Any], after: dict[str, Any], who: str) -> None:
    changed = [name for name in before if before[name] != after[name]]
    if changed:
        raise ValueError(f"{who} changed more than .grad of the node {changed[0]}")


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector, which would look through 20,000 live nodes again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _chain(factors: np.ndarray) -> list[CountedNode]:
    comparisons = [0]
    nodes: list[CountedNode] = [CountedNode(1.0)]
    for factor in factors.tolist():
        nodes.append(CountedNode(1.0, (nodes[-1],), (factor,)))
    for node in nodes:
        node.comparisons = comparisons
    return nodes


class _Rung(Node):
    """A node that ends a walk along all of the paths."""

    reads: list[int]
    """How often `.parents` was read, in the whole ladder."""
    size: int
    """Nodes of the ladder."""
    below: tuple[Node, ...]

    @property
    def parents(self) -> tuple[Node, ...]:
        self.reads[0] += 1
        if self.reads[0] > MOST_READS:
            raise RuntimeError(
                f"the walk came to the nodes of a ladder {MOST_READS:,} times, and there are {self.size}: "
                "it follows every path. Come to each node once"
            )
        return self.below

    @parents.setter
    def parents(self, below: tuple[Node, ...]) -> None:
        self.below = below


def _ladder(weights: np.ndarray) -> list[Node]:
    """Nodes whose number of paths doubles with each rung; `weights` are the local gradients, (rungs, 2, 2)."""
    reads, size = [0], 2 * len(weights) + 3
    nodes: list[Node] = [Node(1.0), Node(1.0)]
    for rung in [*weights.tolist(), [[1.0, 1.0]]]:
        left, right = nodes[-2:]
        for local_gradients in rung:
            node = _Rung(1.0, (left, right), local_gradients)
            node.reads, node.size = reads, size
            nodes.append(node)
    return nodes


def _grads(nodes: Sequence[Node]) -> np.ndarray:
    """`.grad` of each, None as nan."""
    return np.array([float("nan") if node.grad is None else node.grad for node in nodes], dtype=float)


def _zero_for_none(grad: Any) -> Any:
    return 0.0 if grad is None else grad


def _model(kind: str, rng: np.random.Generator) -> Any:
    """A small model in float64, 3 inputs and 2 outputs, its parameters drawn from `rng`.

    `linear`; `two layers`; `a frozen layer`: the first of two does not require a gradient; `an unused layer`: one that
    the forward pass leaves out; `a tied layer`: the same one twice.
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
    """A loss as a number, be it a tensor."""
    return float(loss.detach() if hasattr(loss, "detach") else loss)


def _train(submission: Any, model: Any, batches: Any, lr: float, accumulate: int | str) -> list[Any]:
    """The losses, as the submission returned them."""
    losses = submission.train(model, batches, lr, **({} if accumulate == "left out" else {"accumulate": accumulate}))
    if not isinstance(losses, list | tuple):
        raise TypeError(f"train returned {type(losses).__name__}, not the list of the losses")
    return list(losses)
