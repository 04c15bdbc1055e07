"""What a lesson says of itself: points, hints, contracts, anchors, packages; rules name what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_course import change, file_in, only

from autograder.authoring import rules
from autograder.authoring.rules import (
    described,
    order,
)
from autograder.authoring.tree import Course
from course.syllabus import Exercise

pytestmark = pytest.mark.slow


def _with_exercise(course: Course, **changes: object) -> Course:
    """The course with another first exercise of ch01_double in its syllabus."""
    lesson = course.lessons["ch01_double"]
    first: Exercise = replace(lesson.exercises[0], **changes)  # type: ignore[arg-type]
    return Course(course.root, {**course.lessons, "ch01_double": replace(lesson, exercises=(first,))})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"points": 0}, "ch01_double/double has 0 points"),
        ({"tier": "hard"}, "ch01_double/double has the tier 'hard'"),
        ({"hints": ("one",)}, "ch01_double/double has 1 hints of 2"),
        ({"hints": ("one", " ", "three")}, "ch01_double/double has 2 hints of 3"),
    ],
)
def test_points_tier_and_hints_are_asked_for(whole: Course, changes: dict[str, object], said: str) -> None:
    line = only(described.points_tier_and_hints(_with_exercise(whole, **changes)))
    assert line.startswith(f"course/syllabus.toml: {said};")


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("", "ch01_double/double has no sentence on why its solution is as it is"),
        ("one product", "ch01_double/double has no sentence on why its solution is as it is"),
        ("x" * 160 + ".", "ch01_double/double: why has 161 characters in 1 lines"),
        ("One product.\nNo sum.", "ch01_double/double: why has 20 characters in 2 lines"),
    ],
)
def test_a_sentence_on_each_solution_is_asked_for(whole: Course, why: str, said: str) -> None:
    assert described.reasons(whole) == []
    line = only(described.reasons(_with_exercise(whole, why=why)))
    assert line.startswith(f"course/syllabus.toml: {said};")
    assert described.reasons in rules.READ


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"technique": ("test_matrix", "test_doubling")}, "technique names test_doubling"),
        ({"weights": {"test_doubling": 2.0}}, "weights names test_doubling"),
    ],
)
def test_a_check_that_is_not_there_is_named(whole: Course, changes: dict[str, object], said: str) -> None:
    line = only(described.named_checks(_with_exercise(whole, **changes)))
    assert line == (
        f"course/syllabus.toml: ch01_double/double: {said}, which is no check of it; "
        "name one of autograder/lessons/ch01_double/checks/double.py"
    )


def test_a_check_of_another_exercise_is_none(whole: Course) -> None:
    change(
        whole.checks("ch01_double") / "double.py",
        '@exercise("double")\ndef test_matrix',
        '@exercise("treble")\ndef test_matrix',
    )
    never, named = described.named_checks(_with_exercise(whole, technique=("test_values", "test_matrix")))
    assert "names test_matrix" in str(named)
    assert str(never).endswith(
        "checks/double.py: test_matrix is of 'treble', which is no exercise of ch01_double; mend the name"
    )


def test_a_check_or_mistake_in_the_file_of_another_exercise_is_reported(whole: Course) -> None:
    """A judge of one exercise reads that exercise's files alone, so it would not find them."""
    other = whole.checks("ch01_double") / "sums.py"
    other.write_text((whole.checks("ch01_double") / "double.py").read_text())
    first, _ = described.named_checks(whole)
    assert str(first).endswith("sums.py: test_values is of 'double', which has double.py; move it there")
    other = whole.mistakes("ch01_double") / "sums.py"
    other.write_text((whole.mistakes("ch01_double") / "double.py").read_text())
    assert len(described.three_misconceptions(whole)) == 3


def test_a_name_that_two_files_of_scenarios_have_is_named(whole: Course) -> None:
    """They run as one text, in which the second would replace the first."""
    for name in ("double", "sums"):
        file = whole.scenarios("ch01_double") / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text("LIMIT = 3\n\ndef doubled(submission): ...\n")
    limit, doubled = described.scenarios_are_one_text(whole)
    assert str(limit).endswith("scenarios/sums.py: LIMIT is defined twice, in double.py, too; rename one")
    assert "doubled is defined twice" in str(doubled)


def test_a_misconception_of_no_exercise_is_named(whole: Course) -> None:
    path = whole.mistakes("ch01_double") / "double.py"
    path.write_text(path.read_text() + '\n\n@misconception("treble", says="No.")\ndef thrice(x): ...\n')
    assert "thrice is of 'treble', which is no exercise" in only(described.three_misconceptions(whole))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("(ch02-square)=\n", "", "is on no heading"),
        ("(ch02-square)=\n## The section", "```\n(ch02-square)=\n## The section\n```", "is on no heading"),
        ("## The section", "Some text.", "is on no heading"),
        ("(ch02-square)=\n", "(ch02-square)=\n# A\n(ch02-square)=\n", "is there 2 times"),
    ],
)
def test_the_anchor_must_be_live(whole: Course, old: str, new: str, said: str) -> None:
    change(whole.chapter("ch02_square"), old, new)
    lines = [str(problem) for problem in described.live_anchors(whole)]
    assert lines[0].startswith(f"book/ch02_square.md: the label (ch02-square)= {said};")


def test_several_labels_may_stand_on_one_heading(whole: Course) -> None:
    change(whole.chapter("ch02_square"), "(ch02-square)=\n", "(ch02-square)=\n(another)=\n\n")
    assert described.live_anchors(whole) == []


def test_a_link_to_a_chapter_must_lead_somewhere(whole: Course) -> None:
    change(whole.source("ch02_square"), "#ch02-square", "#ch02-sqare")
    line = only(described.live_anchors(whole))
    assert line.startswith("solutions/ch02_square.py: the link to ../book/ch02_square.md#ch02-sqare leads nowhere;")


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("import torch.nn", "torch.nn"),
        ("from scipy import stats", "scipy"),
        ("from course import data", "course.data"),
        ("from course.graph import Node", "course.graph"),
        ("from . import ch01_double", "."),
    ],
)
def test_a_source_may_import_only_what_its_lesson_has(whole: Course, line: str, module: str) -> None:
    change(whole.source("ch02_square"), "import numpy as np", f"import numpy as np\n{line}")
    said = only(order.imports_of_the_lesson(whole))
    assert said.startswith(f"solutions/ch02_square.py: line 7 imports {module}, which is not among")


def test_what_the_lesson_has_may_be_imported(whole: Course) -> None:
    lines = "import math\nimport numpy.linalg\nfrom course import data\nfrom course.data import load_digits_train"
    change(whole.source("ch01_double"), "import numpy as np", lines)
    assert order.imports_of_the_lesson(whole) == []


@pytest.mark.parametrize("folder", ["checks", "mistakes", "oracles"])
def test_nothing_may_use_a_later_lesson(whole: Course, folder: str) -> None:
    path = file_in(whole, folder)
    change(path, "from autograder", 'LATER = "solutions/ch02_square.py"\nfrom autograder')
    assert f"{path.name}: its code uses ch02_square, a later lesson;" in only(order.nothing_from_a_later_lesson(whole))


def test_a_source_may_not_need_another_lesson(whole: Course) -> None:
    change(whole.source("ch02_square"), "import numpy as np", "from solutions.ch01_double import double")
    said = only(order.nothing_from_a_later_lesson(whole))
    assert said.startswith("solutions/ch02_square.py: its code uses ch01_double, another lesson;")


def test_a_chapter_may_use_earlier_lessons_and_name_later_ones(whole: Course) -> None:
    change(whole.chapter("ch02_square"), "import numpy as np", "from solutions.ch01_double import double")
    change(whole.chapter("ch01_double"), "## The section", "## The section\nNext up: [](ch02_square.md)")
    assert order.nothing_from_a_later_lesson(whole) == []
    change(whole.chapter("ch01_double"), "import numpy as np", "from solutions.ch02_square import square")
    said = only(order.nothing_from_a_later_lesson(whole))
    assert said.startswith("book/ch01_double.md: its code uses ch02_square, a later lesson;")
