"""Scenarios of run_gradcheck."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from autograder.lessons.ch08_custom_functions.scenarios.applied import Function, _data


class _Asking(Function):
    """An operation whose values and gradients come from `ask(what, arrays)`, one call at a time.

    Only the judge, which answers, knows whether they are right.
    """

    @staticmethod
    def forward(ctx: Any, ask: Callable[..., Any], *tensors: torch.Tensor) -> Any:
        answer = ask("forward", [_data(tensor) for tensor in tensors])
        if answer["inputs"] is not None:  # what the operation writes into its arguments
            for tensor, array in zip(tensors, answer["inputs"], strict=True):
                tensor.copy_(torch.tensor(array))
        outputs = tuple(torch.tensor(array) for array in answer["outputs"])
        ctx.ask = ask
        ctx.save_for_backward(*(tensor.clone() if answer["inputs"] is not None else tensor for tensor in tensors))
        hidden = [y for y, visible in zip(outputs, answer["differentiable"], strict=True) if not visible]
        ctx.mark_non_differentiable(*hidden)
        ctx.visible = answer["differentiable"]
        return outputs if len(outputs) > 1 else outputs[0]

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        tensors = ctx.saved_tensors
        gs = tuple(g for g, visible in zip(gs, ctx.visible, strict=True) if visible)
        gradients = iter(_AskingBack.apply(ctx.ask, len(gs), *gs, *tensors))
        return None, *(next(gradients) if tensor.is_floating_point() else None for tensor in tensors)


class _AskingBack(Function):
    """The backward pass of `_Asking`, as an operation that can itself be differentiated."""

    @staticmethod
    def forward(ctx: Any, ask: Callable[..., Any], count: int, *tensors: torch.Tensor) -> Any:
        ctx.ask, ctx.count = ask, count
        ctx.save_for_backward(*tensors)
        return tuple(torch.tensor(array) for array in ask("backward", count, [_data(tensor) for tensor in tensors]))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *hs: torch.Tensor) -> Any:
        tensors = ctx.saved_tensors
        answer = ctx.ask("again", ctx.count, [_data(h) for h in hs], [_data(tensor) for tensor in tensors])
        gradients = iter(torch.tensor(array) for array in answer)
        return None, None, *(next(gradients) if tensor.is_floating_point() else None for tensor in tensors)


class _Answers:
    """An operation's answers: precomputed, or from the call-back `ask`."""

    def __init__(self, known: dict[str, Any], ask: Callable[..., Any] | None) -> None:
        self.unknown = False
        """Whether a question had no precomputed answer and there was no call-back."""
        self._known, self._ask = known, ask
        self._points = {_bytes(arrays): number for number, arrays in enumerate(zip(*known["points"], strict=True))}
        self._asked = dict.fromkeys(("forward", "backward", "again"), 0)
        self._turn = 0
        """The round of the last forward pass, for an operation that draws it."""

    def __call__(self, what: str, *arguments: Any) -> Any:
        count = arguments[0] if what != "forward" else 0
        gs, arrays = arguments[-1][:count], arguments[-1][count:]
        point = self._points.get(_bytes(arrays))
        if point is None or (what == "again" and point):
            if self._ask is not None:
                return self._ask(what, *arguments)
            self.unknown = True
            raise LookupError("no answer is known")
        if what in self._known["raises"]:
            kind, message = self._known["raises"][what]
            raise getattr(builtins, kind)(message)
        rounds = self._known[what]
        if self._known["drawn"] and what == "forward":
            self._turn = int(torch.randint(len(rounds), ()))
        turn = self._turn if self._known["drawn"] else self._asked[what]
        answers = rounds[turn % len(rounds)]
        self._asked[what] += 1
        if what == "forward":
            after = answers["inputs"] and [of[point] for of in answers["inputs"]]
            return {**answers, "outputs": [of[point] for of in answers["outputs"]], "inputs": after}
        if what == "backward":
            return [np.tensordot(_flat(gs), of[point], 1) for of in answers]
        h = _flat(arguments[1])
        of_x = (np.tensordot(_flat(gs), np.tensordot(h, of, 1), 1) for of in answers["x"])
        return [*(np.tensordot(h, of, 1) for of in answers["g"]), *of_x]


def _bytes(arrays: Sequence[Any]) -> bytes:
    return b"".join(array.dtype.char.encode() + array.tobytes() for array in arrays)


def _flat(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays])


@torch.enable_grad()
def verdict(
    submission: Any,
    known: dict[str, Any],
    ask: Callable[..., Any] | None,
    arrays: list[np.ndarray],
    wants: list[bool],
    rows: int,
) -> dict[str, Any] | None:
    """The verdict of `run_gradcheck` on an operation, and the state of the tensors afterwards.

    None if it needs a result that is not precomputed and `ask` is None.

    gradgradcheck draws its own g from PyTorch's generator, which is seeded here: near the tolerances the verdict may
    depend on it, and the same mistake must always show the same way.

    Args:
        known: the precomputed results, from `Operation.known`.
        wants: which of the tensors require a gradient.
        rows: if not 0, the tensors are expanded to so many rows.
    """
    torch.default_generator.manual_seed(0)  # torch.manual_seed records a stack for each missing device type
    tensors = [torch.tensor(array) for array in arrays]
    for tensor, want in zip(tensors, wants, strict=True):
        tensor.requires_grad_(want)
        if want:
            tensor.grad = torch.full_like(tensor, 0.5)
    passed = [tensor.detach().expand(rows, *tensor.shape) for tensor in tensors] if rows else tensors

    answers = _Answers(known, ask)

    def fn(*inputs: torch.Tensor) -> Any:
        return _Asking.apply(answers, *inputs)

    try:
        said = submission.run_gradcheck(fn, *passed)
    except LookupError:
        if not answers.unknown:
            raise
    if answers.unknown:
        return None
    after = [tensor.grad for tensor, want in zip(tensors, wants, strict=True) if want]
    return {
        "verdict": said,
        "run_gradcheck changed a tensor of the caller's": any(
            not np.array_equal(_data(tensor), array) for tensor, array in zip(tensors, arrays, strict=True)
        ),
        "run_gradcheck changed requires_grad of a tensor of the caller's": [t.requires_grad for t in tensors] != wants,
        "run_gradcheck changed the .grad of a tensor of the caller's": any(
            grad is None or not bool((grad == 0.5).all()) for grad in after
        ),
    }
