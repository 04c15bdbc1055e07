"""Functions to differentiate twice, and what a product with the Hessian costs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.lessons.ch13_beyond_first_order.scenarios.tensors import _as, _Before, _data, _in_states, _requires_grad
from autograder.worker.returned import plain
from course.instruments.flops import FlopCounter
from course.instruments.out_of_reach import out_of_reach

GRAPH = "The result has a graph behind it: it requires a gradient"


FUNCTIONS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "polynomial": lambda x, a, p: (a * x**3).sum() + (a * x).sum() ** 2,
    "product of neighbours": lambda x, a, p: (x.reshape(-1)[1:] * x.reshape(-1)[:-1]).prod() + (a * x**2).sum(),
    "network": lambda x, a, p: (torch.tanh(p * x + (a * x).sum()) ** 2).sum(),
    "diagonal": lambda x, a, p: (a * x**4 + x**2).sum(),
    "linear": lambda x, a, p: (a * x).sum(),
    "linear with parameters": lambda x, a, p: (p * x).sum(),
    "piecewise linear": lambda x, a, p: torch.relu(a * x).sum(),
    "constant": lambda x, a, p: a.sum(),
    "parameters alone": lambda x, a, p: (p**2).sum(),
    "linear and a term of parameters alone": lambda x, a, p: (a * x).sum() + (p**3).sum(),
}
"""Functions of x with constants `a` and parameters `p` like x."""


def _product(submission: Any, name: str, f: Any, x: Tensor, v: Tensor) -> Any:
    return plain(getattr(submission, name)(f, x, v))


@torch.enable_grad()
def product(
    submission: Any, name: str, function: str, a: np.ndarray, p: np.ndarray, x: np.ndarray, v: np.ndarray, kind: str
) -> dict[str, Any]:
    """H·v, for x and v of one kind of tensor."""
    constants, parameters = torch.tensor(a), torch.tensor(p, requires_grad=True)
    where, direction = _as(kind, x), _as("strided" if kind == "strided" else "constant", v)
    result = _product(submission, name, lambda x: FUNCTIONS[function](x, constants, parameters), where, direction)
    return {"H·v": _data(result)}


@torch.enable_grad()
def product_in_states(
    submission: Any,
    name: str,
    function: str,
    a: np.ndarray,
    p: np.ndarray,
    x: np.ndarray,
    v: np.ndarray,
    states: dict[str, str],
) -> dict[str, Any]:
    """H·v for x and v in these states, and side effects."""
    constants, parameters, where = torch.tensor(a), _as("leaf", p), _in_states("x", x, states)
    direction = where if states["same object"] == "twice" else _in_states("v", v, states)
    before = _Before(x=where, v=direction, parameter=parameters)
    result = _product(submission, name, lambda x: FUNCTIONS[function](x, constants, parameters), where, direction)
    return {**before.changes(), GRAPH: _requires_grad(result), "H·v": _data(result)}


@torch.enable_grad()
def beside_product(
    submission: Any, name: str, a: np.ndarray, p: np.ndarray, x: np.ndarray, v: np.ndarray, kinds: tuple[str, str]
) -> dict[str, Any]:
    """H·v, and side effects."""
    constants, parameters = torch.tensor(a), _as("leaf", p)
    where, direction = (_as(kind, values) for kind, values in zip(kinds, (x, v), strict=True))
    before = _Before(x=where, v=direction, parameter=parameters)
    result = _product(submission, name, lambda x: FUNCTIONS["network"](x, constants, parameters), where, direction)
    return {
        **before.changes(),
        GRAPH: _requires_grad(result),
        "H·v": _data(result),
    }


class _TooMuch(Exception):
    """Raised inside of a submission's call to end it."""


class _Limits(TorchDispatchMode):
    """Ends a run that makes a large tensor or runs too many operations."""

    def __init__(self, entries: int, operations: int) -> None:
        super().__init__()
        self.entries, self.operations = entries, operations
        self.too_large = self.too_long = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # like the course's instruments; True would import PyTorch's compiler

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        made = out if isinstance(out, tuple | list) else [out]
        self.too_large |= any(isinstance(tensor, Tensor) and math.prod(tensor.shape) > self.entries for tensor in made)
        self.operations -= 1
        self.too_long |= self.operations < 0
        if self.too_large or self.too_long:
            raise _TooMuch
        return out


def _noting_threads(threads: set[int]) -> Callable[[Tensor], Tensor]:
    """Identity that records the threads in which f and its derivatives of any order are computed.

    The instruments see only their own thread.
    """

    class Here(torch.autograd.Function):
        @staticmethod
        def forward(x: Tensor) -> Tensor:
            threads.add(get_ident())
            return x * 1

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *gs: Tensor) -> Any:
            threads.add(get_ident())
            return Here.apply(gs[0])

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            threads.add(get_ident())
            return tangents[0] * 1

    return Here.apply


@torch.enable_grad()
def cost(submission: Any, name: str, W: np.ndarray, x: np.ndarray, v: np.ndarray) -> dict[str, Any]:
    """H·v of Σ tanh(W x)² for a large x, and what it costs."""
    calls: list[int] = []
    threads: set[int] = set()
    weights, where, here = torch.tensor(W), torch.tensor(x), _noting_threads(threads)

    def f(x: Tensor) -> Tensor:
        calls.append(1)
        return (torch.tanh(weights @ here(x)) ** 2).sum()

    with FlopCounter() as once:
        f(where)
    calls.clear()
    threads.clear()
    result = None
    limits = _Limits(entries=where.numel() ** 2 // 10, operations=400)
    counter = FlopCounter()
    with out_of_reach(counter), out_of_reach(limits), contextlib.suppress(_TooMuch):
        result = _product(submission, name, f, where, torch.tensor(v))
    return {
        "f, or its derivatives, are computed in another thread, where nothing is measured: start none": bool(
            threads - {get_ident()}
        ),
        "A tensor of n² entries, or nearly, was made: that is the Hessian, which is not to be formed": limits.too_large,
        "It goes on and on, as a loop over the entries of x does: two passes are enough, whatever n is": limits.too_long
        and len(calls) <= 1,
        "f is called again and again: one call is enough": len(calls) > 1,
        "All in all it takes more than 6 times the FLOPs of f": counter.total > 6 * once.total
        and not limits.too_large
        and not limits.too_long,
        "H·v": _data(result),
    }
