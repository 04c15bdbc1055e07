"""Scenarios of hessian_trace."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch13_beyond_first_order.scenarios.hessian_products import FUNCTIONS
from autograder.lessons.ch13_beyond_first_order.scenarios.tensors import _as, _Before, _data, _in_states
from autograder.worker.returned import plain


def _generator(seed: int) -> torch.Generator:
    """The caller's generator. The global one is also seeded, so that a submission that uses it is recognised."""
    torch.default_generator.manual_seed(seed + 1)
    return torch.Generator().manual_seed(seed)


@torch.enable_grad()
def trace(
    submission: Any, function: str, a: np.ndarray, p: np.ndarray, x: np.ndarray, samples: int, seed: int, kind: str
) -> dict[str, Any]:
    """One estimate."""
    constants, parameters = torch.tensor(a), torch.tensor(p, requires_grad=True)
    f = lambda x: FUNCTIONS[function](x, constants, parameters)  # noqa: E731
    return {"the trace": _data(submission.hessian_trace(f, _as(kind, x), samples, _generator(seed)))}


@torch.enable_grad()
def trace_in_states(submission: Any, a: np.ndarray, x: np.ndarray, seed: int, states: dict[str, str]) -> dict[str, Any]:
    """One estimate for an x in these states and a diagonal Hessian, and side effects."""
    constants, where = torch.tensor(a), _in_states("x", x, states)
    before, f = _Before(x=where), lambda x: FUNCTIONS["diagonal"](x, constants, constants)
    return {**before.changes(), "the trace": _data(submission.hessian_trace(f, where, 2, _generator(seed)))}


def _quadratic(H: np.ndarray) -> Callable[[Tensor], Tensor]:
    matrix = torch.tensor(H)
    return lambda x: 0.5 * x.reshape(-1) @ matrix @ x.reshape(-1)


@torch.enable_grad()
def traces(submission: Any, H: np.ndarray, x: np.ndarray, samples: int, calls: int, seed: int) -> list[Any]:
    """Estimates drawn from one generator, for a function with the Hessian H."""
    generator, f = _generator(seed), _quadratic(H)
    return [_estimate(submission.hessian_trace(f, torch.tensor(x), samples, generator)) for _ in range(calls)]


def _estimate(value: Any) -> Any:
    """A float, also NumPy's, as a Python float; a tensor as an array."""
    return float(value) if isinstance(value, float) else _data(value)


@torch.enable_grad()
def traces_of_one_entry(submission: Any, shape: tuple[int, ...], entry: float, calls: int, seed: int) -> list[Any]:
    """Estimates from one sample each, drawn from one generator, for a Hessian with the same entry everywhere.

    Stops after the first estimate that is not the entry times a square, because an answer with one product per entry of
    x takes long.
    """
    generator, f = _generator(seed), lambda x: 0.5 * entry * x.sum() ** 2
    where = torch.zeros(shape, dtype=torch.float64)
    estimates = []
    for _ in range(calls):
        estimate = plain(submission.hessian_trace(f, where, 1, generator))
        estimates.append(_estimate(estimate))
        if not isinstance(estimate, float) or not _is_square(estimate / entry):
            break
    return estimates


@torch.enable_grad()
def signs_in_blocks(submission: Any, size: int, blocks: int, seed: int) -> list[Any]:
    """Estimates 2 z₀ Σ 2^j zⱼ over `size` entries of one probe z, then over the next ones: the seed is the same."""
    powers = 2.0 ** torch.arange(size, dtype=torch.float64)
    where = torch.zeros(1 + blocks * size, dtype=torch.float64)
    estimates = []
    for first in range(1, len(where), size):
        f = lambda x, first=first: x[0] * (x[first : first + size] * powers).sum()  # noqa: E731
        estimates.append(_estimate(submission.hessian_trace(f, where, 1, _generator(seed))))
    return estimates


def _is_square(value: float) -> bool:
    """Whether a number is the square of an integer, up to rounding."""
    if not math.isfinite(value):
        return False
    root = max(value, 0.0) ** 0.5
    return math.isclose(root, round(root), rel_tol=1e-6, abs_tol=1e-6)


@torch.enable_grad()
def randomness(submission: Any, H: np.ndarray, x: np.ndarray, samples: int, seed: int) -> dict[str, Any]:
    """Where the random numbers come from. The Hessian is diagonal but for the last entry's row and column."""
    f, where = _quadratic(H), torch.tensor(x)

    def estimates(seed: int, everybodys: int) -> list[Any]:
        generator = _generator(seed)
        torch.default_generator.manual_seed(everybodys)
        return [_estimate(submission.hessian_trace(f, where, samples, generator)) for _ in range(2)]

    one = estimates(seed, 1)
    found = {
        "The generator's state is the same, and the estimate is another one: PyTorch's global random state, or "
        "something else, is used": estimates(seed, 2) != one,
        "A second call with the same generator gives the same estimate: it does not go on where the first ended": (
            one[0] == one[1]
        ),
        "Another generator gives the same estimate: the numbers do not come from it": estimates(seed + 1, 1) == one,
    }
    generator, state = _generator(seed), torch.get_rng_state()
    submission.hessian_trace(f, where, samples, generator)
    found[
        "PyTorch's global random state is another one afterwards: pass generator=generator to whatever draws"
    ] = not torch.equal(torch.get_rng_state(), state)
    return found


@torch.enable_grad()
def beside_trace(
    submission: Any, a: np.ndarray, p: np.ndarray, x: np.ndarray, samples: int, seed: int, kind: str
) -> dict[str, Any]:
    """An estimate, and side effects."""
    constants, parameters, where = torch.tensor(a), _as("leaf", p), _as(kind, x)
    before = _Before(x=where, parameter=parameters)
    f = lambda x: FUNCTIONS["diagonal"](x, constants, parameters) + (parameters**2).sum()  # noqa: E731
    result = plain(submission.hessian_trace(f, where, samples, _generator(seed)))
    return {**before.changes(), "the trace": _data(result)}
