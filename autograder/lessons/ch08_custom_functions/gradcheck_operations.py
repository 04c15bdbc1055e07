"""The functions that ch08's run_gradcheck must judge, each with its own gradients, right or wrong in one way.

They run in the judge's process, and a submission only gets their results. The results that gradcheck and gradgradcheck
need are precomputed, so that they need no call-backs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

F64 = np.float64
STEP = 1e-6
"""gradcheck's default step."""
MOST_ENTRIES = 1_000
"""Maximum size of an array in a question: with larger ones a submission could keep the judge busy for hours."""


@dataclass
class Operation:
    """An operation that a learner's run_gradcheck must judge. It runs here; only results go to the submission.

    `compute` takes tensors. Its first and second gradients are autograd's, except for the mistake.
    """

    words: str
    compute: Callable[..., Any]
    arrays: list[np.ndarray]
    mistake: str = ""
    """What is wrong with it, in words; empty if nothing is."""
    first: Callable[..., Sequence[Any]] | None = None
    """first(right gradients, upstream gradients, tensors): the gradients to return instead of the right ones."""
    again: Callable[..., Sequence[Any]] | None = None
    """again(results for the upstream gradients, results for the tensors): the results of a wrong double backward."""
    writes: Callable[..., Any] | None = None
    """writes(first argument): the value that the forward pass leaves in it."""
    differentiable: bool = True
    """Whether the floating outputs have a graph."""
    wants: bool = True
    """Whether the caller's floating tensors require a gradient."""
    rows: int = 0
    """If not 0, the tensors are expanded to so many rows."""
    rounds: int = 1
    """Number of precomputed answers per question for a random operation, given in turn. With a prime number, two passes
    over all entries get different answers."""
    drawn: bool = False
    """Whether PyTorch's generator in the submission's process draws which of the `rounds` a forward pass gives, as in a
    dropout; backward passes give the derivatives of that round. `compute` reads its number in `turn`."""
    turn: int = 0

    def known(self) -> dict[str, Any]:
        """The results in float64 where gradcheck asks by default: at the arrays, and with each entry moved by `STEP`.

        These are the outputs, the gradients for each entry of g, and the results of a double backward for each entry of
        g and of h, which is linear in both, so that any g and h can be answered. They reveal no more than calls would.
        An exception at one point is raised at all points.
        """
        points = self._points()
        known: dict[str, Any] = {}
        raises: dict[str, list[str]] = {}
        for what, answers, rounds in (
            ("forward", self._values, self.rounds),
            ("backward", self._jacobians, self.rounds),
            ("again", self._seconds, self.rounds if self.drawn else 1),
        ):
            try:
                known[what] = []
                for self.turn in range(rounds):
                    known[what].append(answers(points))
            except Exception as error:
                raises[what] = [type(error).__name__, str(error)]
        return {
            **known,
            "drawn": self.drawn,
            "points": [np.stack(arrays) for arrays in zip(*points, strict=True)],
            "raises": raises,
        }

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
        """The forward results of all points, stacked along a first axis."""
        answers = [self.answer("forward", arrays) for arrays in points]
        after = [answer["inputs"] for answer in answers]
        return {
            "outputs": [np.stack(of) for of in zip(*(answer["outputs"] for answer in answers), strict=True)],
            "differentiable": answers[0]["differentiable"],
            "inputs": None if after[0] is None else [np.stack(of) for of in zip(*after, strict=True)],
        }

    def _jacobians(self, points: list[list[np.ndarray]]) -> list[np.ndarray]:
        """The gradient of each floating-point array, with axes for points and entries of g in front."""
        gs = self._units(self._outputs(points[0]))
        of_points = [[self.answer("backward", len(g), [*g, *arrays]) for g in gs] for arrays in points]
        by_array = zip(*(zip(*of_gs, strict=True) for of_gs in of_points), strict=True)
        return [np.stack([np.stack(of_gs) for of_gs in of_array]) for of_array in by_array]

    def _seconds(self, points: list[list[np.ndarray]]) -> dict[str, Any]:
        """Double backward at the arrays: for each g by entry of h, for each floating array by entries of h and g."""
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
        """The differentiable outputs for these arrays."""
        answer = self.answer("forward", arrays)
        return [y for y, visible in zip(answer["outputs"], answer["differentiable"], strict=True) if visible]

    @staticmethod
    def _units(arrays: list[np.ndarray]) -> list[list[np.ndarray]]:
        """All basis vectors: lists of arrays of the same shapes with a single entry 1 and all others 0."""
        sizes = np.cumsum([0, *(array.size for array in arrays)])
        rows = np.eye(sizes[-1])
        return [
            [row[start : start + a.size].reshape(a.shape) for start, a in zip(sizes[:-1], arrays, strict=True)]
            for row in rows
        ]

    def answer(self, what: str, *arguments: Any) -> Any:
        """The result of one call of the operation, for the submission's process; exceptions are the operation's own."""
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
    """First gradients that are off by a factor, with consistent second gradients."""
    return lambda right, gs, tensors: [factor * gradient for gradient in right]


def vector(rng, *shape, dtype=F64):
    """Numbers of both signs with absolute values from 0.5 to 1.5."""
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
