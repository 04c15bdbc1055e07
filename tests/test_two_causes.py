"""Answers with two mistakes: both are said, a known one and another known one, or a known one and a place."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest

from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.records.results import ExerciseResult
from autograder.judging.session import Judge
from autograder.submission import Submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

PAIRS = {
    "each explains checks that the other passes": (
        "ch06_vjps",
        "softmax_vjp",
        """
        def softmax_vjp(g, x, axis=-1):
            e = np.exp(x)
            p = e / e.sum(axis=-1, keepdims=True)
            inner = np.sum(g * p, axis=-1, keepdims=True)
            return (p * (g - inner)).astype(x.dtype)
        """,
        ("softmax_ignores_axis", "softmax_overflows"),
        "There are two mistakes. First: The softmax and its sum always run along the last axis.",
    ),
    "one explains a part, and both together all": (
        "ch01_computation_graph",
        "gradient_by_paths",
        """
        def gradient_by_paths(output, leaf):
            if output.value == leaf.value:
                return 1.0
            slopes = dict(zip(output.parents, output.local_gradients))
            return sum((slope * gradient_by_paths(parent, leaf) for parent, slope in slopes.items()), 0.0)
        """,
        ("twin_parents_counted_once", "recognised_by_value"),
        "Two mistakes together give exactly this. First: A parent that is there twice was counted once",
    ),
    "an edit leaves a known one": (
        "ch06_vjps",
        "conv2d_vjp",
        """
        def conv2d_vjp(g, x, w, b, stride=1, padding=0):
            rows, columns = g.shape[2:]
            padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
            dpadded, dw = np.zeros(padded.shape), np.zeros(w.shape)
            turned = w[:, :, ::-1, ::-1]
            for i in range(w.shape[2]):
                for j in range(w.shape[3]):
                    part = np.s_[:, :, i : i + stride * rows : stride, j : j + stride * columns : stride]
                    dw[:, :, i, j] = np.einsum("nfrs,ncrs->fc", g, padded[part])
                    dpadded[part] += np.einsum("nfrs,fc->ncrs", g, turned[:, :, i, j])
            dx = dpadded[:, :, padding : padding + x.shape[2], padding : padding + x.shape[3]]
            return dx.astype(x.dtype), dw.astype(w.dtype), -g.sum((0, 2, 3)).astype(b.dtype)
        """,
        ("conv_kernel_wrong_way_round",),
        "Two mistakes. Cell 1, line 14, `-g.sum((0, 2, 3)).astype(b.dtype)`: without the minus sign, one is left.\n"
        "That one: In dx the kernel is the wrong way round.",
    ),
    "calls may be slow": (
        "ch11_checkpointing",
        "reversible_block",
        """
        import torch

        class Reversible(torch.autograd.Function):
            @staticmethod
            def forward(ctx, f, g, x1, x2):
                ctx.functions = f, g
                y1 = x1 + f(x2)
                y2 = x2 + g(y1)
                ctx.save_for_backward(y1, y2)
                return y1, y2

            @staticmethod
            def backward(ctx, dy1, dy2):
                f, g = ctx.functions
                y1, y2 = (y.detach() for y in ctx.saved_tensors)
                with torch.enable_grad():
                    y1 = y1.requires_grad_()
                    out = g(y1)
                out.backward(dy2)
                x2 = (y2 + out).detach().requires_grad_()
                with torch.enable_grad():
                    out = f(x2)
                out.backward(dy1)
                return None, None, dy1 + y1.grad, dy2 + x2.grad

        def reversible_block(f, g, x1, x2):
            return Reversible.apply(f, g, x1, x2)
        """,
        ("added_once_more", "dy1_into_f"),
        "Two mistakes together give exactly this. First: x2 was computed back as y2 + g(y1).",
    ),
}
ONLY_IN_FAILING_CALLS = """
def llama_block_bytes(config, s, b, recompute):
    tokens = s * b
    hidden, wide = config.hidden, config.ffn
    kv = hidden * config.kv_heads // config.heads
    sums = 4 * config.kv_heads
    if recompute == "full":
        return tokens * 2 * hidden
    if recompute == "selective":
        return tokens * (4 * hidden + sums)
    if recompute != "none":
        raise ValueError(recompute)
    return tokens * (2 * (6 * hidden + 2 * kv + 4 * wide) + 8 + sums)
"""


def graded(lesson: str, exercise: str, source: str) -> ExerciseResult:
    found = find_lesson(lesson)
    alone = replace(found, exercises=(found.exercise(exercise),))

    def use(judge: Judge) -> ExerciseResult:
        workers = Workers(alone, "sandbox")
        try:
            submission = Submission.of_cells("a test", ["import numpy as np\n" + dedent(source)])
            return judge.grade(submission, workers).exercises[0]
        finally:
            workers.stop()

    return with_judge(alone, use, salt="a salt")


@pytest.mark.parametrize("pair", PAIRS)
def test_both_mistakes_are_said(pair: str) -> None:
    lesson, exercise, source, names, says = PAIRS[pair]
    result = graded(lesson, exercise, source)
    assert tuple(result.misconceptions) == names
    assert result.message.startswith(says)


def test_lines_that_only_wrong_calls_run_are_edited_first() -> None:
    """There are 900 edits of other lines."""
    result = graded("ch10_activation_memory", "llama_block_bytes", ONLY_IN_FAILING_CALLS)
    assert result.message.startswith(
        "Cell 1, line 7, `config.kv_heads`: with another name in the place of `config.kv_heads` every visible case"
    )
