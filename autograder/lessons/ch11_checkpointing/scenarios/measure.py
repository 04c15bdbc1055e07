"""Scenarios of measure."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.lessons.ch11_checkpointing.scenarios.second_runs import _no_hooks_left
from autograder.lessons.ch11_checkpointing.scenarios.tensors import _data
from autograder.worker.returned import plain
from course.instruments.live import LiveStorages
from course.instruments.out_of_reach import out_of_reach
from course.llama import Block, LlamaConfig

KEYS = ("saved_bytes", "flops", "seconds", "peak_bytes")
_graph_task = torch._C._current_graph_task_id


class _Slope(torch.autograd.Function):
    """Identity whose gradient is multiplied by `slope`, a saved tensor that a second run replaces by its own."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(slope)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        return grad_outputs[0] * ctx.saved_tensors[0], None


class _Runs:
    """Slopes for the runs of a stack's parts, so that gradients show which run they come from.

    The forward pass has one slope, whose memory is overwritten after it, which copies made before do not show. Each run
    in the backward pass gets the next slope of `again`.
    """

    def __init__(
        self, first: float, afterwards: float, again: list[float], tokens: int, live: LiveStorages | None
    ) -> None:
        self.first, self.afterwards, self.tokens = torch.tensor(first), afterwards, tokens
        self.memory = self.first.numpy()  # autograd does not see writes to it
        self.again, self.count = [torch.tensor(slope) for slope in again], 0
        self.layers: list[int] = []
        """Numbers of the layers whose MLP runs in the backward pass, in order."""
        self.live, self.kept = live, 0
        """Bytes made since now that are alive when the first part runs again; 0 without `live`."""
        self.before = live.bytes if live is not None else 0

    def slope(self) -> Tensor:
        if not self.in_backward():
            return self.first
        if self.live is not None and not self.count:
            self.kept = self.live.bytes - self.before
        self.count += 1
        return self.again[self.count % len(self.again)]

    def forward_is_over(self) -> None:
        if not self.in_backward():
            self.memory[...] = self.afterwards

    @staticmethod
    def in_backward() -> bool:
        return bool(_graph_task() != -1)


def _out_of_reach() -> tuple[Callable[[Block], _Runs], Callable[[Block, _Runs], None]]:
    runs: weakref.WeakKeyDictionary[Block, _Runs] = weakref.WeakKeyDictionary()
    return runs.__getitem__, runs.__setitem__


_runs_of, _set_runs = _out_of_reach()
"""Get and set the runs of a block, outside of its attributes, which a submission can read and write."""


class _OfSomeTokens(Block):
    """A block whose MLP only processes the first tokens, so that its cost cannot be computed from the stack's sizes."""

    number: int
    last: bool

    def attention_core(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return super().attention_core(q, k, _Slope.apply(v, _runs_of(self).slope()))

    def attention_branch(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        return super().attention_branch(_Slope.apply(x, _runs_of(self).slope()), cos, sin)

    def mlp_branch(self, x: Tensor) -> Tensor:
        runs = _runs_of(self)
        some = runs.tokens
        if runs.in_backward():
            runs.layers.append(self.number)
        out = super().mlp_branch(_Slope.apply(x[:, :some], runs.slope()))
        if self.last:
            runs.forward_is_over()
        return F.pad(out, (0, 0, 0, x.shape[1] - some))


@_no_hooks_left()
@torch.enable_grad()
def measured(
    submission: Any,
    policy: str,
    sizes: dict[str, int],
    seq: int,
    tokens: int,
    slopes: tuple[float, float, list[float]],
) -> dict[str, Any]:
    """The result of `measure` for a stack of other sizes, and the gradient of its first step's input.

    Also the bytes that the first step keeps with `reversible`, by our own count, and the number of backward passes.
    """
    inputs: list[Tensor] = []
    runs: list[_Runs] = []

    live = LiveStorages() if policy == "reversible" else None

    def new_runs() -> _Runs:
        runs.append(_Runs(*slopes, tokens, live))
        return runs[-1]

    counting = nullcontext() if live is None else out_of_reach(live)
    with _sizes(submission, LlamaConfig(vocab=1, **sizes), seq, inputs, new_runs), counting:
        got = plain(submission.measure(policy, "cpu"))
    is_dict = isinstance(got, dict) and all(isinstance(key, str) for key in got)
    missing = [key for key in KEYS if not is_dict or key not in got]
    numbers = {key: got[key] for key in KEYS if key not in missing}
    gradients = [x.grad for x in inputs if x.grad is not None]
    return {
        "missing": missing,
        **{
            key: value if isinstance(value, int | float) else str(type(value).__name__)
            for key, value in numbers.items()
        },
        "x.grad": _data(gradients[0]) if gradients else None,
        "steps": len(gradients),
        "kept": runs[0].kept if runs else 0,
        "layers again": runs[0].layers if runs else [],
    }


@contextmanager
def _sizes(
    submission: Any, config: LlamaConfig, seq: int, inputs: list[Tensor], new_runs: Callable[[], _Runs]
) -> Iterator[None]:
    """Temporarily replace the notebook's CONFIG, SEQ and `fresh`; the latter then records x and alters the blocks."""
    fresh = getattr(submission, "fresh", None)
    if fresh is None:
        raise NameError("name 'fresh' is not defined: run the cell below the text of measure, which defines it")

    def noting(device: str) -> Any:
        stack, x, g = fresh(device)
        inputs.append(x)
        runs = new_runs()
        for number, block in enumerate(stack.blocks):
            block.__class__, block.number = _OfSomeTokens, number
            _set_runs(block, runs)
            block.last = block is stack.blocks[-1]
        return stack, x, g

    function = submission.measure
    places = [vars(submission), getattr(function, "__globals__", {}), getattr(fresh, "__globals__", {})]
    before = [{name: place[name] for name in ("CONFIG", "SEQ", "fresh") if name in place} for place in places]
    try:
        for place in places:
            place.update(CONFIG=config, SEQ=seq, fresh=noting)
        yield
    finally:
        for place, names in zip(places, before, strict=True):
            for name in ("CONFIG", "SEQ", "fresh"):
                place.pop(name, None)
            place.update(names)
