"""Scenarios of read_torch_graph."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from autograder.lessons.ch01_computation_graph.scenarios.graphs import _kind


def read_torch_graph(submission: Any, program: str) -> Any:
    """The result of `read_torch_graph` for the tensor `L` of a program, or a description if it is not a list."""
    return _names_of(submission.read_torch_graph(_run(program)))


def _names_of(result: Any) -> Any:
    if not isinstance(result, list | tuple):
        return _kind(result)
    return [name if isinstance(name, str) else None for name in result]


def read_torch_graph_in_states(submission: Any, program: str, states: dict[str, str]) -> Any:
    """Like `read_torch_graph`, for a tensor in these states."""
    return _names_of(submission.read_torch_graph(_in_states_of(program, states)))


def torch_graph(submission: Any, program: str) -> tuple[list[str], list[list[int]]]:
    """PyTorch's own graph of the tensor `L`: the names of its nodes, and the numbers of each node's parents."""
    nodes = [node for node in (_run(program).grad_fn,) if node is not None]
    parents = []
    for node in nodes:  # grows as parents are found
        found = [parent for parent, _ in node.next_functions if parent is not None]
        nodes += [parent for parent in dict.fromkeys(found) if parent not in nodes]
        parents.append([nodes.index(parent) for parent in found])
    return [type(node).__name__ for node in nodes], parents


def _in_states_of(program: str, states: dict[str, str]) -> Any:
    import torch

    leaves = states["tensor leaves"]
    L = _run(program, torch.float64 if "float64" in leaves else torch.float32, "grads" in leaves)
    if states["tensor hooks"] == "with hooks":
        L.retain_grad()
        L.register_hook(lambda g: 2 * g)
    if states["tensor passes"] == "after a backward pass":
        L.sum().backward()
    return L


def _run(program: str, dtype: Any = None, with_grads: bool = False) -> Any:
    """The tensor `L` of a program over the leaves a, b, c, W and x; k is a number that needs no gradient."""
    import torch

    leaves = {"a": 2.0, "b": -3.0, "c": 10.0, "W": [[1.0, 2.0], [3.0, 4.0]], "x": [0.5, -1.0]}
    names = {name: torch.tensor(value, requires_grad=True, dtype=dtype) for name, value in leaves.items()}
    for tensor in names.values() if with_grads else ():
        tensor.grad = torch.ones_like(tensor)
    scope = {"torch": torch, "k": torch.tensor(5.0), **names}
    exec(program, scope)
    return SimpleNamespace(**scope).L
