"""Scenarios of blocks and programs in the states that a row of factors says: see factors.toml."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import Tensor, nn

ENDS: dict[str, type[BaseException]] = {
    "left by an exception": KeyError,
    "left by KeyboardInterrupt": KeyboardInterrupt,
}


class _Saves(torch.autograd.Function):
    """x times 1; saves another tensor."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, saved: Tensor) -> Tensor:
        ctx.save_for_backward(saved)
        return x * 1

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        return gs[0], None


def _whole(kind: str, n: int) -> Tensor:
    """The tensor whose memory is kept."""
    if kind == "a leaf with a grad":
        leaf = torch.ones(n, requires_grad=True)
        leaf.grad = torch.ones(n)
        return leaf
    if kind == "a buffer":
        norm = nn.BatchNorm1d(n)
        assert isinstance(norm.running_mean, Tensor)
        return norm.running_mean
    dtypes = {"a mask": torch.bool, "indices": torch.int64, "of complex numbers": torch.complex64}
    return torch.ones(n, dtype=dtypes.get(kind, torch.float32))


@torch.enable_grad()
def metered_in_states(submission: Any, n: int, states: dict[str, str]) -> dict[str, Any]:
    """Bytes of a block that saves one tensor, or a part of it, and may be left early; and what comes after it."""
    whole = _whole(states["tensor origin"], n)
    part = states["tensor part"]
    saved = whole[1:] if part == "without its first entry" else whole[:1].expand(n) if part == "expanded" else whole
    meter, outer, x = submission.SavedTensorMeter(), submission.SavedTensorMeter(), torch.ones(1, requires_grad=True)
    inside, end, came_out = states["block place"] == "inside of another block", ENDS.get(states["block end"]), False
    kept = []
    with contextlib.ExitStack() as around:
        if inside:
            around.enter_context(outer)
        try:
            with meter:
                kept.append(_Saves.apply(x, saved))
                if end:
                    raise end("the block's own")
        except (KeyError, KeyboardInterrupt):
            came_out = True
        before = meter.bytes
        kept.append(_Saves.apply(x, torch.ones(n + 1)))
    return {
        "The exception of the block did not come out of it": bool(end) and not came_out,
        "What is saved after the block was counted: the hooks were not removed": meter.bytes != before,
        "bytes": before,
        "bytes of the outer meter": outer.bytes,
    }


NAMES = {"x": "mul", "W": "exp", "v": "view", "y": "detach", "z": "silu"}
"""Names of tensors that are words of operations."""


def saved_in_states(submission: Any, operation: str, two: bool, sizes: dict[str, int], states: dict[str, str]) -> Any:
    """What a program with a parameter, or a view of it, keeps."""
    steps: list[tuple[str, ...]] = (
        [("v", "view", "W")] if states["program operand"] == "of a view of a parameter" else []
    )
    operand = "v" if steps else "W"
    inputs = [operand, "x"] if two else [operand]
    if states["program order"] == "that takes it last":
        inputs.reverse()
    steps += [("y", operation, *inputs), ("z", "mul", "y", "x")]
    parameters = [] if states["program operand"] == "of a trained tensor" else ["W"]
    trained = ["x"] if states["program training"] == "frozen" else ["x", "W"]
    of = NAMES if states["program names"] != "plain" else {name: name for name in NAMES}
    program = [(of[result], how, *(of[name] for name in names)) for result, how, *names in steps]
    named = {of[name]: sizes[name] for name in NAMES}
    return submission.predict_saved(program, named, [of[name] for name in trained], [of[name] for name in parameters])
