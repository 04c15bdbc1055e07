"""A page says of an answer what a terminal says, word for word, whatever kind of answer it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from textwrap import dedent
from typing import Any

import pytest
from repairable import REPAIRABLE

from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.records.results import SubmissionResult
from autograder.judging.session import Judge
from autograder.page import check as page_check
from autograder.page.relabelled import in_a_page
from autograder.page.repair import repaired
from autograder.submission import Submission, parse_submission
from course.syllabus import Lesson, find_lesson

pytestmark = pytest.mark.slow

CH01, CH02, CH03 = "ch01_computation_graph", "ch02_chain_rule", "ch03_accumulation"
CH06 = "ch06_vjps"


def repairable(lesson: str, exercise: str, said: str) -> tuple[str, str, str, str]:
    """The answer of which this is said."""
    (source,) = (source for source, whole in REPAIRABLE[lesson, exercise] if said in whole)
    return lesson, exercise, source, said


ANSWERS = {
    "named": (
        *(CH01, "forward", "def forward(a, b, c):\n    return {'d': a * b, 'e': a * b + c, 'L': (a * b + c) * 2}"),
        "L is twice e here. A square is e times e: e**2 or e * e.",
    ),
    "named, and does not import what is missing": (
        CH06,
        "relu_vjp",
        """
        import no_such_package

        def relu_vjp(g, x):
            return (g * (x >= 0)).astype(x.dtype)
        """,
        "no_such_package is not among the packages that are allowed here; what was defined all the same was graded.",
    ),
    "repaired: a call too many": repairable(
        CH01, "neuron_gradients", "line 4, `abs(w * x + b - y)`: without this call"
    ),
    "repaired: two ways": repairable(CH03, "bias_gradient", "either way every visible case passes."),
    "repaired: endless variants": repairable(CH06, "add_vjp", "line 10, `d.sum(axis=axis)`: with `keepdims`"),
    "repaired: in two places": repairable(CH06, "layernorm_vjp", "With a change at each every visible case passes."),
    "contrasted": (
        CH06,
        "relu_vjp",
        """
        def relu_vjp(g, x):
            right = {"float64": lambda: g * (x > 0)}
            return right.get(str(x.dtype), lambda: np.sin(g) + x)().astype(x.dtype)
        """,
        "visible cases where x is float32; right in the ",
    ),
    "without an explanation": (
        *(CH06, "relu_vjp", "def relu_vjp(g, x):\n    return np.sin(g * x + 3)"),
        "dx differs in",
    ),
    "random": (
        *(CH06, "relu_vjp", "def relu_vjp(g, x):\n    return g * np.random.rand(*x.shape)"),
        "dx differs in",
    ),
    "too long": (
        *(CH06, "relu_vjp", "def relu_vjp(g, x):\n    while True:\n        pass"),
        "relu_vjp did not return within 1 second",
    ),
    "nudged in place, and never moved back": (
        CH02,
        "numerical_gradient",
        """
        def numerical_gradient(f, x, eps=1e-6):
            gradient = np.zeros_like(x)
            for index in np.ndindex(x.shape):
                x[index] += eps
                up = f(x)
                x[index] -= 2 * eps
                gradient[index] = (up - f(x)) / (2 * eps)
            return gradient
        """,
        "numerical_gradient changed its argument x.",
    ),
    "not to be sent": (
        *(CH01, "forward", "def forward(a, b, c):\n    return {a: a, b + 0.5: b}"),
        "forward returned something that cannot be graded: a dict with a key of type float",
    ),
    "an exception": (
        *(CH06, "relu_vjp", "def relu_vjp(g, x):\n    return g @ x.nothing"),
        "relu_vjp raised AttributeError",
    ),
    "a recursion": (
        *(CH06, "relu_vjp", "def relu_vjp(g, x):\n    return relu_vjp(g, x)"),
        "(cell relu_vjp, line 3)",
    ),
    "a forbidden function": (
        CH01,
        "topological_order",
        """
        import sys

        def topological_order(root):
            sys.setrecursionlimit(10_000)
            return [root]
        """,
        "topological_order calls sys.setrecursionlimit",
    ),
    "parameters in another order": (
        *(CH06, "relu_vjp", "def relu_vjp(x, g):\n    return (g * (x > 0)).astype(x.dtype)"),
        "relu_vjp is called with (g, x), in this order, and yours takes (x, g).",
    ),
    "a cell that raises below the answer": (
        *(CH06, "relu_vjp", "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n\nrelu_vjp(1, 2)"),
        "what was defined before that was graded.",
    ),
    "defined where only a notebook runs it": (
        *(CH06, "relu_vjp", "if __name__ == '__main__':\n    def relu_vjp(g, x):\n        return g"),
        "dx differs in",
    ),
    "not Python": (*(CH06, "relu_vjp", "def relu_vjp(g, x)\n    return g"), "is not Python (SyntaxError"),
}
"""By kind: lesson, exercise, source, and a part of what is said."""


def quick(slug: str) -> Lesson:
    """The lesson, with a second for each call."""
    lesson = find_lesson(slug)
    return replace(lesson, exercises=tuple(replace(one, seconds=1.0) for one in lesson.exercises))


@pytest.fixture(scope="module")
def in_page() -> Iterator[Any]:
    """Checks a notebook as a page does; its limits are a command's, because it runs in the same Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_check, "find_lesson", quick)
        patch.setattr(page_check, "_judges", {})
        patch.setattr("autograder.judging.asking.here_run.SLOWER", 1)
        patch.setattr("autograder.judging.asking.here_run.LEAST_SECONDS", 0.5)

        def checked(slug: str, exercise: str, text: str) -> dict[str, Any]:
            found = page_check.check(slug, exercise, text)
            better = repaired(slug, exercise) if found["more"] else {"error": ""}
            return found if "error" in better else better

        yield checked


def in_terminal(slug: str, exercise: str, submission: Submission) -> SubmissionResult:
    lesson = quick(slug)

    def use(judge: Judge) -> SubmissionResult:
        workers = Workers(lesson, "process")
        try:
            return judge.grade(submission, workers, only=[exercise])
        finally:
            workers.stop()

    return with_judge(lesson, use)


def notebook(exercise: str, source: str) -> str:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {"exercise": exercise},
        "source": "import numpy as np\n" + dedent(source),
        "outputs": [],
        "execution_count": None,
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_page_says_what_a_terminal_says(kind: str, in_page: Any) -> None:
    slug, exercise, source, said = ANSWERS[kind]
    text = notebook(exercise, source)
    card = in_page(slug, exercise, text)
    result = in_terminal(slug, exercise, in_a_page(parse_submission(f"{slug}.ipynb", text.encode())))
    (told,) = result.exercises
    notes = [block["rest"] for block in card["blocks"] if str(block.get("rest", "")).startswith("Note: ")]
    assert said in f"{told.message}\n{result.message}"
    # a page knows at which line it ended a call; a terminal kills the process, and does not
    message = re.sub(r"(?<=second\.) It was at .*, line \d+\.", "", card["message"])
    assert (message, notes) == (told.message, [f"Note: {result.message}"] * bool(result.message))
    assert (card["status"], card["points"]) == (told.status, told.points)
    assert card["misconception"] == told.misconception
