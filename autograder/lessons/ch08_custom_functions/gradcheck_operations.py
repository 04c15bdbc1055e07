"""The functions that ch08's run_gradcheck is asked about: each with gradients of its own, right or wrong in one way.

They live in the judge's process; a submission gets their answers alone. Those that gradcheck and gradgradcheck ask for
are computed beforehand, so that nobody calls back for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

F64 = np.float64
STEP = 1e-6
"""How far gradcheck moves an entry, by default."""
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
    rounds: int = 1
    """How many answers of a random one are computed beforehand for one question; they are given in turn. With a prime,
    those to two passes over all entries differ."""

    def known(self) -> dict[str, Any]:
        """The answers in float64 where gradcheck asks by default: at the arrays, and with each entry moved by `STEP`.

        They say no more than calls would: what comes out, the gradients for each entry of g, and what a double backward
        gives for each entry of g and of h. It is linear in both, so that these are the answers for any g and h.
        Whatever is raised somewhere is raised everywhere.
        """
        points = self._points()
        known: dict[str, Any] = {}
        raises: dict[str, list[str]] = {}
        for what, answers, rounds in (
            ("forward", self._values, self.rounds),
            ("backward", self._jacobians, self.rounds),
            ("again", self._seconds, 1),
        ):
            try:
                known[what] = [answers(points) for _ in range(rounds)]
            except Exception as error:
                raises[what] = [type(error).__name__, str(error)]
        return {**known, "points": [np.stack(arrays) for arrays in zip(*points, strict=True)], "raises": raises}

    def _points(self) -> list[list[np.ndarray]]:
        base = [array.astype(F64) if array.dtype.kind == "f" else array for array in self.arrays]
        if self.rows:
            base = [np.broadcast_to(array, (self.rows, *array.shape)).copy() for array in base]
        points = [list(base)]
        now = self._after(base)
        if self.writes is not None:
            points.append([array.copy() for array in now])
        for array in now:
            for entry in np.ndindex(array.shape) if array.dtype.kind == "f" else ():
                before = array[entry]
                for step in (-STEP, STEP):
                    array[entry] = before + step
                    points.append([each.copy() for each in now])
                    for each, written in zip(now, self._after(now), strict=True):
                        each[...] = written
                array[entry] = before
        return points

    def _after(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Copies of some arrays as a forward pass leaves them."""
        written = [array.copy() for array in arrays]
        if self.writes is not None:
            written[0] = np.asarray(self.writes(written[0]))
        return written

    def _values(self, points: list[list[np.ndarray]]) -> dict[str, Any]:
        """Of a forward pass: all as one of them answers, but for an axis for the points in front."""
        answers = [self.answer("forward", arrays) for arrays in points]
        after = [answer["inputs"] for answer in answers]
        return {
            "outputs": [np.stack(of) for of in zip(*(answer["outputs"] for answer in answers), strict=True)],
            "differentiable": answers[0]["differentiable"],
            "inputs": None if after[0] is None else [np.stack(of) for of in zip(*after, strict=True)],
        }

    def _jacobians(self, points: list[list[np.ndarray]]) -> list[np.ndarray]:
        """The gradient of each floating array: by point and by entry of g."""
        gs = self._units(self._outputs(points[0]))
        of_points = [[self.answer("backward", len(g), [*g, *arrays]) for g in gs] for arrays in points]
        by_array = zip(*(zip(*of_gs, strict=True) for of_gs in of_points), strict=True)
        return [np.stack([np.stack(of_gs) for of_gs in of_array]) for of_array in by_array]

    def _seconds(self, points: list[list[np.ndarray]]) -> dict[str, Any]:
        """At the arrays themselves: for each g by entry of h, for each floating array by entries of h and of g."""
        gs = self._units(self._outputs(points[0]))
        hs = self._units([array for array in points[0] if array.dtype.kind == "f"])
        count = len(gs[0]) if gs else 0
        answers = [[self.answer("again", count, h, [*g, *points[0]]) for g in gs] for h in hs]
        of_gs = zip(*(of_h[0][:count] for of_h in answers), strict=True) if count else ()
        of_xs = zip(*(zip(*(answer[count:] for answer in of_h), strict=True) for of_h in answers), strict=True)
        return {
            "g": [np.stack(of) for of in of_gs],
            "x": [np.stack([np.stack(of_h) for of_h in of_x]) for of_x in of_xs],
        }

    def _outputs(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Those of the outputs at some arrays that have a graph."""
        answer = self.answer("forward", arrays)
        return [y for y, visible in zip(answer["outputs"], answer["differentiable"], strict=True) if visible]

    @staticmethod
    def _units(arrays: list[np.ndarray]) -> list[list[np.ndarray]]:
        """Arrays of the same shapes, one entry of all of them 1 and the others 0: all that there are."""
        sizes = np.cumsum([0, *(array.size for array in arrays)])
        rows = np.eye(sizes[-1])
        return [
            [row[start : start + a.size].reshape(a.shape) for start, a in zip(sizes[:-1], arrays, strict=True)]
            for row in rows
        ]

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
