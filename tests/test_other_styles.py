"""Right work in another style than the reference's earns everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.isolation import Workers
from autograder.judging.session import with_judge
from autograder.submission import read_submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

STYLES = Path(__file__).parent / "other_styles"
FILES = sorted(STYLES.rglob("*.py"))
"""Further styles of a lesson are in folders."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(STYLES).with_suffix("")))
def test_everything_is_earned(file: Path) -> None:
    workers = Workers(find_lesson(file.stem), "process")
    submission = read_submission(file)
    try:
        result = with_judge(workers.lesson, lambda judge: judge.grade(submission, workers))
    finally:
        workers.stop()
    assert [(e.name, e.message) for e in result.exercises if e.points < e.max_points] == []
    assert result.points == result.max_points
