"""Right work in another style than the reference's earns everything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from kept import kept

from autograder.answerbook import AnswerBook
from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.here import graded_here
from autograder.judging.records.results import SubmissionResult
from autograder.judging.session import Judge
from autograder.submission import read_submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

STYLES = Path(__file__).parent / "other_styles"
FILES = sorted(STYLES.rglob("*.py"))
"""Further styles of a lesson are in folders; some are of a few of its exercises."""


@pytest.mark.parametrize("slug", sorted({file.stem for file in FILES}))
def test_everything_is_earned(slug: str, request: pytest.FixtureRequest) -> None:
    """In ch14 this takes more than 20 s of processor time: two styles do attention row by row or key by key.

    That is some 150,000 operations, each of which the check of memory watches. Only these styles show that such
    answers are still measured in time.
    """
    with kept(request, "tests/other_styles", lesson=slug) as (folder, whole):
        if not whole:
            (folder / "results.json").write_text(json.dumps(_graded(slug)), encoding="utf-8")
        for style, result in json.loads((folder / "results.json").read_text(encoding="utf-8")).items():
            assert [(style, *lost) for lost in result["lost"]] == []
            assert result["points"] == result["max_points"] > 0


def _graded(slug: str) -> dict[str, dict[str, Any]]:
    """By style: the points of a lesson's styles, and the exercises that lose some, with what is said of them."""
    workers = Workers(find_lesson(slug), "process")

    def grade_all(judge: Judge) -> dict[str, SubmissionResult]:
        results = {}
        for file in (file for file in FILES if file.stem == slug):
            defined = set(re.findall(r"^(?:def|class) (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE))
            names = [one.name for one in judge.lesson.exercises if one.name.partition(".")[0] in defined]
            results[str(file.relative_to(STYLES))] = judge.grade(read_submission(file), workers, only=names)
        return results

    try:
        results = with_judge(workers.lesson, grade_all)
    finally:
        workers.stop()
    return {
        style: {
            "lost": [(e.name, e.message) for e in result.exercises if e.points < e.max_points],
            "points": result.points,
            "max_points": result.max_points,
        }
        for style, result in results.items()
    }


def test_a_network_that_a_learner_trained_is_judged_without_the_solution() -> None:
    """No answer book has its gradients: where there is no solution, a right `train` had 4 of 5 points."""
    lesson = find_lesson("ch07_mlp_backprop")
    own = next(
        file for file in FILES if file.stem == lesson.slug and "\ndef train(" in file.read_text(encoding="utf-8")
    )

    def points(judge: Judge) -> list[tuple[float, str]]:
        results = graded_here(judge, read_submission(own), ["train"])
        return [(result.points, result.message) for result in results]

    book = AnswerBook(lesson.slug, "1", signatures={"train": []})
    assert with_judge(lesson, points, book=book) == [(5.0, "")]
