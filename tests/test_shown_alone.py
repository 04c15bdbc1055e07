"""The code shown for a scenario's case is self-contained: pasted into a notebook, it builds the case."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

from autograder.collection import with_judge
from autograder.diagnosis import edited
from autograder.diagnosis.case import render_case
from autograder.judging.session import Judge
from autograder.lessons.ch13_beyond_first_order.checks.hessian_products import CODE
from autograder.lessons.ch13_beyond_first_order.scenarios.hessian_products import FUNCTIONS
from course.syllabus import find_lesson


def told(slug: str, exercise: str, mistake: str) -> str:
    """The message for a learner with a known mistake."""
    lesson = find_lesson(slug)

    def say(judge: Judge) -> str:
        (known,) = [one for one in judge.mistakes.known if (one.exercise, one.name) == (exercise, mistake)]
        run = judge.reference.local_text(edited(judge.reference.text, known.edits))
        return judge.mistakes.explain(lesson.exercise(exercise), judge.observe(judge.items_of(exercise), run)).message

    return with_judge(lesson, say, only=exercise)


def pasted(message: str, **names: Any) -> dict[str, Any]:
    """The names defined by a case's lines, each run as shown."""
    for line in re.findall(r"^  (\w+ += .+)$", message, re.MULTILINE):
        exec(line, names)
    return names


def test_an_expression_is_code() -> None:
    a, b = np.float64(2.0), np.array([4.0, 1.0])
    text = render_case("", [("a", a), ("b", b), ("y", "a / b")], [], case="a quotient")
    assert text.splitlines()[1:] == ["  a = np.float64(2.0)", "  b = np.array([4.0, 1.0])", "  y = a / b"]
    quoted = render_case("f", [("a", a), ("b", b), ("text", "a / b")], [], case="")
    assert quoted.endswith("text = 'a / b'")  # an argument of the learner's own function is what it is
    assert render_case("", [("a", a), ("y", "a / c")], [], case="").endswith("y = 'a / c'")


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["divide_without_square", "divide_without_sign", "subtract_without_sign"])
def test_numbers_in_an_expression_are_shown(mistake: str) -> None:
    names = pasted(told("ch05_autograd_engine", "Tensor", mistake), np=np)
    symbol = "-" if mistake.startswith("subtract") else "/"
    assert names["y"] == eval(f"a {symbol} b", names)
    assert np.shape(names["g"]) == ()


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["row_sums", "no_zeros", "constant_raises", "divided_differences"])
def test_the_function_and_all_that_it_reads_are_shown(mistake: str) -> None:
    names = pasted(told("ch13_beyond_first_order", "hvp", mistake), torch=torch)
    read = set(names["f"].__code__.co_names) - {"sum", "torch", "tanh"}
    assert read == names.keys() & {"a", "p"}
    value = names["f"](names["x"])
    assert value.ndim == 0
    assert value.dtype == torch.float64
    assert names["v"].shape == names["x"].shape


@pytest.mark.parametrize("name", sorted(CODE))
def test_the_code_is_what_the_scenario_computes(name: str) -> None:
    a, p, x = (torch.rand(4, generator=torch.Generator().manual_seed(seed)) for seed in range(3))
    assert torch.equal(eval(CODE[name], {"torch": torch, "a": a, "p": p})(x), FUNCTIONS[name](x, a, p))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ColumnParallelLinear", "RowParallelLinear"])
def test_a_layer_is_shown_what_its_arguments_are_called(name: str) -> None:
    mistake = {"ColumnParallelLinear": "whole_bias", "RowParallelLinear": "bias_on_every_rank"}[name]
    names = pasted(told("ch14_scaling_out", name, mistake), torch=torch)
    assert torch.nn.functional.linear(names["x"], names["weight"], names["bias"]).dtype == torch.float64
