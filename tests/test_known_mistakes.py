"""Properties of every known mistake, whatever its lesson."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import count

import pytest

from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.diagnosis import Misconception, misconceptions_in
from autograder.judging.checking.reference import load_module
from autograder.judging.session import Judge
from autograder.places import modules_in
from course.syllabus import find_lesson

COURSE = Course.at()
UNSEEDED = {"default_rng", "RandomState", "SeedSequence", "PCG64", "Random", "seed"}
"""Without an argument, these draw a seed from the operating system."""
OUTSIDE = re.compile(
    r"\b(urandom|getrandom|secrets|SystemRandom|time_ns|perf_counter|monotonic|np\.random\.(?!default_rng))\b"
)


def texts(known: Misconception) -> Iterator[str]:
    """A mistake's code without its messages."""
    yield from (edit.after for edit in known.edits)
    if known.function is not None:
        source = ast.parse(textwrap.dedent(inspect.getsource(known.function))).body[0]
        assert isinstance(source, ast.FunctionDef)
        yield "\n".join(ast.unparse(statement) for statement in source.body)


def draws_from_outside(text: str) -> bool:
    """Whether a piece of code draws different numbers in every process."""
    bare = re.search(rf"\b({'|'.join(UNSEEDED)})\(\s*(None\s*)?\)", text)
    return bool(bare or OUTSIDE.search(text))


@pytest.mark.parametrize("slug", list(COURSE.lessons))
def test_no_mistake_depends_on_luck(slug: str) -> None:
    """Files record what each check says of a known mistake, so it must be the same each time."""
    lucky = [
        f"{known.exercise}: {known.name}"
        for file in modules_in(COURSE.mistakes(slug))
        for known in misconceptions_in(load_module(file))
        if any(draws_from_outside(text) for text in texts(known))
    ]
    assert lucky == []


def test_a_mistake_with_random_draws_is_judged_the_same_each_time() -> None:
    """With this salt, a training without the engine, started at 3, once passed by luck for one with it."""

    def seen(judge: Judge) -> list[list[list[str]]]:
        known = next(known for known in judge.mistakes.known if known.name == "unseeded")
        assert known.function is not None
        found = []
        for start in (1, 3):
            known.function.__globals__["_calls"] = count(start)
            records = judge.observe(judge.items_of("train_digits"), judge.reference.mistaken(known))
            found.append([[text for one in record.comparisons for text in one.problems] for record in records])
        return found

    one, other = with_judge(find_lesson("ch05_autograd_engine"), seen, salt="cc017762d11203bf", root=COURSE.root)
    assert one == other
    assert any(one)
