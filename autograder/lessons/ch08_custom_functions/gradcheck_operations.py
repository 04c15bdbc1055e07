"""The functions that ch08's run_gradcheck is asked about: each with gradients of its own, right or wrong in one way.

They live in the judge's process; a submission gets their answers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

F64 = np.float64
MOST_ENTRIES = 1_000
"""Of an array in a question: with larger ones a submission could keep the judge busy for hours."""


@dataclass
class Operation:
    """What a learner's run_gradcheck is asked about. It lives here; only its answers go to the submission.

    `compute` takes tensors. Its gradients of both orders are autograd's, but for the mistake.
    """

    words: str
    compute: Callable[..., Any]
    arrays: list[np.ndarray]
    mistake: str = ""
    """What is wrong with it, in words; empty if nothing is."""
    first: Callable[..., Sequence[Any]] | None = None
    """The gradients in place of the right ones: of the right ones, the upstream gradients and the tensors."""
    again: Callable[..., Sequence[Any]] | None = None
    """What a double backward gives: of the right answers (those for the upstream gradients, then for the tensors)."""
    writes: Callable[..., Any] | None = None
    """What the forward pass leaves in its first argument."""
    differentiable: bool = True
    """Whether the floating outputs have a graph."""
    wants: bool = True
    """Whether the caller's floating tensors require a gradient."""
    rows: int = 0
    """If not 0, the tensors are expanded to so many rows."""

    def answer(self, what: str, *arguments: Any) -> Any:
        """The answer to what is asked on the other side; an exception there is the operation's."""
        import torch

        if any(np.size(array) > MOST_ENTRIES for group in arguments if isinstance(group, list) for array in group):
            raise ValueError(f"an array of more than {MOST_ENTRIES:,} entries")
        if what == "forward":
            tensors = [torch.tensor(array) for array in arguments[0]]
            outputs = _as_tuple(self.compute(*tensors))
            floating = [self.differentiable and y.is_floating_point() for y in outputs]
            inputs = None
            if self.writes is not None:
                inputs = [self.writes(tensors[0]).numpy(), *(tensor.numpy() for tensor in tensors[1:])]
            return {"outputs": [y.numpy() for y in outputs], "differentiable": floating, "inputs": inputs}
        with torch.enable_grad():  # it may be asked from within a forward pass, which switches gradients off
            return self._backward(what, *arguments)

    def _backward(self, what: str, count: int, *groups: list[np.ndarray]) -> Any:
        import torch

        gs, tensors = _split([_tracked(array) for array in groups[-1]], count)
        gradients = self._gradients(gs, tensors)
        if what == "backward":
            return [gradient.detach().numpy() for gradient in gradients]
        hs = [torch.tensor(array) for array in groups[0]]
        inputs = [*gs, *(tensor for tensor in tensors if tensor.requires_grad)]
        tracked = [(dx, h) for dx, h in zip(gradients, hs, strict=True) if dx.requires_grad]
        answers: Sequence[Any] = [torch.zeros_like(tensor) for tensor in inputs]
        if tracked:
            dxs, of_hs = zip(*tracked, strict=True)
            answers = torch.autograd.grad(dxs, inputs, of_hs, allow_unused=True, materialize_grads=True)
        if self.again is not None:
            answers = self.again(answers[:count], answers[count:])
        return [value.numpy() for value in answers]

    def _gradients(self, gs: list[Any], tensors: list[Any]) -> Sequence[Any]:
        import torch

        outputs = [y for y in _as_tuple(self.compute(*tensors)) if y.is_floating_point()]
        inputs = [tensor for tensor in tensors if tensor.requires_grad]
        right = torch.autograd.grad(outputs, inputs, gs, create_graph=True, allow_unused=True, materialize_grads=True)
        return right if self.first is None else self.first(right, gs, tensors)

    @property
    def right(self) -> bool:
        return not self.mistake


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _split(tensors: list[Any], count: int) -> tuple[list[Any], list[Any]]:
    return tensors[:count], tensors[count:]


def _tracked(array: np.ndarray) -> Any:
    import torch

    tensor = torch.tensor(array)
    return tensor.requires_grad_() if tensor.is_floating_point() else tensor


def scaled(factor: float) -> Callable[..., Any]:
    """Gradients of the first order that are off by a factor; those of the second order fit to them."""
    return lambda right, gs, tensors: [factor * gradient for gradient in right]


def vector(rng, *shape, dtype=F64):
    """Numbers of both signs between 0.5 and 1.5 in size."""
    return np.asarray(rng.uniform(0.5, 1.5, size=shape) * rng.choice([-1.0, 1.0], size=shape), dtype=dtype)


def cube(rng, *shape, dtype=F64, **options: Any) -> Operation:
    """x³: first and second derivatives are far from 0."""
    return Operation(options.pop("words", "x³"), lambda x: x**3, [vector(rng, *shape, dtype=dtype)], **options)


def product(rng, **options: Any) -> Operation:
    """a² sin b, of two tensors."""
    arrays = [vector(rng, 2), vector(rng, 2)]
    return Operation("a² sin b", lambda a, b: a**2 * b.sin(), arrays, **options)


NO_SECOND_ORDER: dict[str, Any] = {
    "mistake": "its gradient right, but a constant to a double backward",
    "again": lambda of_g, of_x: [*of_g, *(0 * value for value in of_x)],
}
