"""Checks of measure."""

from __future__ import annotations

import numpy as np

from autograder.judging import (
    exercise,
    expect,
    expect_close,
)
from autograder.judging.records.record import current_record
from autograder.lessons.ch11_checkpointing.checks.layers import runs

MORE_KEPT = 5
"""Number of tensors of x's size that a right backward pass may make before it runs the first branch: copies of two
streams and of two gradients. Three right answers in different styles made equally many."""
IN_SEGMENTS = ("every_layer", "selective", "sqrt_segments", "best_segments")
"""Policies that recompute every layer."""


def small(rng, layers: int) -> tuple[dict[str, int], int]:
    """Sizes of a stack, and the length of its input."""
    heads, head_dim = int(rng.choice([2, 4])), 2 * int(rng.integers(4, 9))
    kv_heads = int(rng.choice([1, heads]))
    ffn, seq = int(rng.integers(24, 65)), int(rng.integers(8, 25))
    return {"hidden": heads * head_dim, "layers": layers, "heads": heads, "kv_heads": kv_heads, "ffn": ffn}, seq


def deep(rng) -> tuple[dict[str, int], int]:
    """A stack whose best segments have two layers each; with any other number the peak is off by at least 4 %."""
    hidden, layers, ffn = [(64, 16, 8), (32, 20, 16)][int(rng.integers(2))]
    return {"hidden": hidden, "layers": layers, "heads": 4, "kv_heads": 1, "ffn": ffn}, int(rng.integers(6, 12))


def one_and_three(rng) -> list[tuple[dict[str, int], int]]:
    """Stacks of one layer and of three; on hidden inputs only of three, because the small case is only for reading."""
    stacks = [small(rng, 1), small(rng, 3)]
    return stacks if current_record().visible else stacks[1:]


def slopes_of_runs(rng, in_order: bool) -> tuple[float, float, list[float]]:
    """Distinct slopes: of the forward pass, of its memory after it is overwritten, of each run in the backward pass.

    If not `in_order`, all runs in the backward pass share one slope.
    """
    first, afterwards, *again = (rng.permutation(np.arange(1, 10)) / 3 + rng.uniform(0, 0.1, size=9)).tolist()
    return first, afterwards, again if in_order else again[:1]


def check_policy(
    learner,
    reference,
    rng,
    policy: str,
    *stacks: tuple[dict[str, int], int],
    peak: float = 0.02,
    in_order: bool = True,
):
    """Expect the reference's bytes, FLOPs and gradient; `peak` is how far the peak may be off.

    The gradient shows which parts of the blocks were recomputed and, if only one order is right, in which order.
    """
    for sizes, seq in stacks:
        case = f"{policy}, {sizes['layers']} layer{'s' * (sizes['layers'] > 1)}" if current_record().visible else policy
        tokens, slopes = int(rng.integers(seq // 3, seq)), slopes_of_runs(rng, in_order)
        expected, got = (who.scenario.measured(policy, sizes, seq, tokens, slopes) for who in (reference, learner))
        for key in got["missing"]:
            expect(False, f"measure must return a dict; there is no '{key}' in what it returned.", case=case)
        if got["missing"]:
            continue
        if policy in IN_SEGMENTS:
            expect_segments(got["layers again"], expected["layers again"], case)
        for key, rtol in {"flops": 0.0, "saved_bytes": 0.01, "peak_bytes": peak}.items():
            if not isinstance(got[key], int | float):
                expect(False, f"{key} must be a number; measure gave a {got[key]}.", case=case)
                continue
            # as floats, because integers are compared exactly
            mine, theirs = (float(of[key]) if type(of[key]) is int else of[key] for of in (got, expected))
            expect_close(mine, theirs, names=(key,), case=case, rtol=rtol, atol=0)
        seconds = got["seconds"]
        expect(isinstance(seconds, float) and seconds > 0, "seconds must be a float above 0.", case=case)
        names = ("the gradient of x after the step",)
        expect_close(got["x.grad"], expected["x.grad"], names=names, case=case, rtol=1e-3, atol=1e-4)


def expect_segments(again: list[int], expected: list[int], case: str) -> None:
    """Expect the reference's number of segments, judged by the order of recomputation; none may be too long."""
    missing = [str(i + 1) for i in sorted(set(expected) - set(again))]
    if missing:
        which = f"Layer{'s' * (len(missing) > 1)} {', '.join(missing)} of {len(expected)}"
        expect(False, f"{which} did not run again in the backward pass. Every layer is to be checkpointed.", case=case)
        return
    once = len(again) == len(expected)
    expect(once, "The backward pass must run each layer once more, and no layer more often.", case=case)
    if once:
        lengths, right = runs(again), runs(expected)
        message = f"The {len(expected)} layers are cut into {len(lengths)} segments; {len(right)} are right."
        expect(len(lengths) == len(right), message, case=case)
        if len(lengths) == len(right) and max(lengths) - min(lengths) > 1:
            sizes = ", ".join(map(str, lengths))
            expect(False, f"The segments have {sizes} layers. Sizes may differ by one at most.", case=case)
            # tells one way to cut unevenly from another
            longest = float(max(lengths)), float(max(right))
            expect_close(*longest, names=("layers of the longest segment",), case=case, rtol=0, atol=0)


@exercise("measure")
def test_none(learner, reference, rng):
    """The stack as it is: the instruments are read at the right time."""
    check_policy(learner, reference, rng, "none", *one_and_three(rng))


@exercise("measure")
def test_seconds(learner, reference, rng):
    """They are those of another step, without the instruments."""
    stack = small(rng, 1)
    check_policy(learner, reference, rng, "none", stack)
    sizes, seq = stack
    got = learner.scenario.measured("none", sizes, seq, seq, slopes_of_runs(rng, in_order=True))
    message = "seconds must be those of another step, without the instruments: only one step had a backward pass."
    expect(got["steps"] > 1, message, case="one layer")


@exercise("measure")
def test_every_layer(learner, reference, rng):
    """Each block is checkpointed."""
    check_policy(learner, reference, rng, "every_layer", *one_and_three(rng))


@exercise("measure")
def test_attention_core(learner, reference, rng):
    """Attention alone is recomputed."""
    check_policy(learner, reference, rng, "attention_core", *one_and_three(rng))


@exercise("measure")
def test_attention_block(learner, reference, rng):
    """The attention branch is recomputed."""
    check_policy(learner, reference, rng, "attention_block", *one_and_three(rng))


@exercise("measure")
def test_selective(learner, reference, rng):
    """All but the result of attention is recomputed."""
    check_policy(learner, reference, rng, "selective", *one_and_three(rng))


@exercise("measure")
def test_sqrt_segments(learner, reference, rng):
    """The square root of L segments, rounded."""
    check_policy(learner, reference, rng, "sqrt_segments", small(rng, 6))
    if not current_record().visible:
        return
    # of 6 the root is rounded down, of 14 up;
    # where lengths differ the peak and the order depend on which segment is the longer one, and that is free; of 14 all
    # but even ones show: with the rest in the last segment that has 5 layers, and segments of 4 leave it 2
    check_policy(learner, reference, rng, "sqrt_segments", small(rng, 14), peak=0.6, in_order=False)


@exercise("measure")
def test_best_segments(learner, reference, rng):
    """The segments that need least by the model, sometimes as many as layers, sometimes fewer."""
    check_policy(learner, reference, rng, "best_segments", small(rng, 4))
    if current_record().visible:
        check_policy(learner, reference, rng, "best_segments", deep(rng))


@exercise("measure")
def test_offload(learner, reference, rng):
    """What is saved is elsewhere."""
    check_policy(learner, reference, rng, "offload", *one_and_three(rng))


@exercise("measure", promise="instrumented")
def test_reversible(learner, reference, rng):
    """Two streams, and nothing kept but their ends."""
    # what a backward pass still holds while it goes on differs by up to 19 % between right ones (107 seeds)
    check_policy(learner, reference, rng, "reversible", *one_and_three(rng), peak=0.35)
    # saved_bytes are known without a measurement, three times x; who keeps the input of every branch has ten more here
    sizes, seq = small(rng, 6)
    tokens, slopes = int(rng.integers(seq // 3, seq)), slopes_of_runs(rng, in_order=True)
    expected, got = (who.scenario.measured("reversible", sizes, seq, tokens, slopes) for who in (reference, learner))
    more = (got["kept"] - expected["kept"]) / (4 * seq * sizes["hidden"])
    message = (
        "When the backward pass begins there is more than the two streams at their ends: something of each block is "
        "kept. The inputs of a block are computed from its outputs, last block first."
    )
    expect(more <= MORE_KEPT, message, case="reversible, 6 layers")
