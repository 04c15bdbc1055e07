"""Every sentence of a contract has a complete row; each rule about rows is seen to fail."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.authoring.contracts import HEADER, as_text, rows_of, sentences_of, text_of
from autograder.authoring.rules.sentences import sentences_have_cases
from autograder.authoring.tree import Course
from autograder.places import ROOT
from course.own import FILE, serving
from course.syllabus import syllabus

SLUG = "ch10_activation_memory"
SOURCE = '''\
# %% [markdown]
# # Title
#
# One thing. By Nobody et al. 2022, another (in brackets.) A third, which goes
# on, with 3.5 of it. `code` begins one.
#
# - an item. With two sentences,
#   the second on two lines;
# - **Bold.** Not so.
#
# | a | b |
# | --- | --- |
# | 1 | 2 |
#
#     x = 1
#     y = 2
#
# ```python
# a = 1
#
# b = 2
# ```
# To 9. It ends, at 92%** of it.
# [Chapter section](../book/ch01.md#ch01-f)

# %% exercise="f"
def f(x):
    """The f of x. Once."""

# %% tags=["demo"]
# A demo.

# %% exercise="f" part="two"
class G:
    """A class"""

    def method(self):
        """Not said of the exercise."""
'''


def test_sentences() -> None:
    assert sentences_of(SOURCE) == {
        "f": [
            "One thing.",
            "By Nobody et al. 2022, another (in brackets.)",
            "A third, which goes on, with 3.5 of it.",
            "`code` begins one.",
            "an item.",
            "With two sentences, the second on two lines;",
            "**Bold.**",
            "Not so.",
            "a | b",
            "1 | 2",
            "x = 1 y = 2",
            "python a = 1 b = 2",
            "To 9.",
            "It ends, at 92%** of it.",
            "The f of x.",
            "Once.",
            "A class",
        ]
    }


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """One lesson of ours in a folder of its own."""
    (tmp_path / "solutions").mkdir()
    shutil.copy(ROOT / "solutions" / f"{SLUG}.py", tmp_path / "solutions")
    lessons = Path("autograder", "lessons", SLUG)
    shutil.copytree(ROOT / lessons, tmp_path / lessons, ignore=shutil.ignore_patterns("__pycache__"))
    return Course(tmp_path, {SLUG: syllabus()[SLUG]})


def test_a_lesson_of_ours_is_whole(course: Course) -> None:
    assert sentences_have_cases(course) == []
    text = course.contract(SLUG).read_text(encoding="utf-8")
    assert text == text_of(SLUG, course)
    assert (
        text == "\n\n".join([HEADER.format(slug=SLUG).rstrip(), *map(as_text, rows_of(course.contract(SLUG)))]) + "\n"
    )


def test_no_file_no_question(course: Course) -> None:
    course.contract(SLUG).unlink()
    assert sentences_have_cases(course) == []


def test_every_lesson_has_one_if_one_has(course: Course) -> None:
    both = Course(course.root, {**course.lessons, "ch06_vjps": syllabus()["ch06_vjps"]})
    shutil.copy(ROOT / both.relative(both.source("ch06_vjps")), both.source("ch06_vjps"))
    shutil.copytree(ROOT / both.relative(both.checks("ch06_vjps")), both.checks("ch06_vjps"))
    (problem,) = sentences_have_cases(both)
    assert str(problem).startswith("autograder/lessons/ch06_vjps/contract.toml: this file is missing")


EDITS = {
    "a sentence that changed": ("source", "counts what autograd saves", "counts all that autograd saves", "no row for"),
    "the old one": ("source", "counts what autograd saves", "counts all that autograd saves", "has no sentence"),
    "a row without checks": ("contract", 'checks = ["test_unknown_policy"]', "checks = []", "it needs `checks` or"),
    "a check that is gone": ("contract", '"test_unknown_policy"', '"test_policy"', "test_policy is no check of it"),
    "a check nobody asks for": ("contract", '"test_unknown_policy"', '"test_all_kept"', "what test_unknown_policy"),
    "a point": ("contract", 'checks = ["test_the_block"]', 'point = true\nchecks = ["test_the_block"]', "is its point"),
    "no point": ("contract", "point = true\n", "", "no sentence is its point"),
    "a mistake": ("contract", '"all_divided"', '"sequence_divides_part"', "not what these checks alone reject"),
    "a key": ("contract", "point = true", "points = true", "it cannot be read"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_each_fault_is_found(course: Course, edit: str) -> None:
    where, old, new, said = EDITS[edit]
    path = course.source(SLUG) if where == "source" else course.contract(SLUG)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert any(said in str(problem) for problem in sentences_have_cases(course))


def test_an_exercise_without_rows_is_one_problem_and_its_begun_rows_are_one_each(course: Course) -> None:
    """Formerly there was a line for each sentence, one for each check, and one for the point."""
    path = course.contract(SLUG)
    head, *rows = path.read_text(encoding="utf-8").split("\n\n")
    others = [row for row in rows if not row.startswith("[[largest_batch]]")]
    path.write_text("\n\n".join([head, *others]), encoding="utf-8")
    (problem,) = sentences_have_cases(course)
    assert problem.what.startswith("largest_batch: no row for “")
    path.write_text(text_of(SLUG, course), encoding="utf-8")
    *begun, point = (problem.what for problem in sentences_have_cases(course))
    assert len(begun) == len(rows) - len(others)
    assert all(what.endswith("it needs `checks` or `unasked`") for what in begun)
    assert point == "largest_batch: no sentence is its point"


def test_a_new_sentence_gets_an_empty_row_in_its_place(course: Course) -> None:
    source = course.source(SLUG)
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("# Any other `recompute`", "# A new one. Any other `recompute`"), encoding="utf-8")
    course.contract(SLUG).write_text(text_of(SLUG, course), encoding="utf-8")
    rows = rows_of(course.contract(SLUG))
    new = [row.says for row in rows].index("A new one.")
    assert (rows[new].exercise, rows[new].checks) == ("llama_block_bytes", ())
    assert rows[new + 1].says.startswith("Any other `recompute`")


def test_rows_written_by_hand_are_kept(course: Course) -> None:
    """Formerly the program was called with `> contract.toml`, which empties the file first."""
    path, source = course.contract(SLUG), course.source(SLUG)
    path.write_text(
        path.read_text(encoding="utf-8").replace("point = true", "point = true  # why", 1), encoding="utf-8"
    )
    before = path.read_text(encoding="utf-8")
    assert text_of(SLUG, course) == before, "comments stay"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("counts what autograd saves", "counts all that autograd saves"), encoding="utf-8")
    path.write_text(text_of(SLUG, course), encoding="utf-8")
    after = path.read_text(encoding="utf-8")
    assert sorted(set(before.split("\n\n")) - set(after.split("\n\n"))) == [], "a row without its sentence stays"
    (new,) = set(after.split("\n\n")) - set(before.split("\n\n"))
    assert "counts all that autograd saves" in new
    assert new.rstrip().endswith("checks = []")
    assert text_of(SLUG, course) == after, "once is enough"
    path.unlink()
    path.write_text(text_of(SLUG, course), encoding="utf-8")
    sentences = sentences_of(source.read_text(encoding="utf-8"))
    assert [row.says for row in rows_of(path)] == [says for of_it in sentences.values() for says in of_it]


def test_the_sample_course_of_the_documentation_is_whole(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "own-course.md").read_text(encoding="utf-8")
    (tmp_path / FILE).write_text(text.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    with serving(tmp_path):
        assert list(sentences_have_cases(Course.at(tmp_path).part("ch06_vjps", "relu_vjp"))) == []


def test_whatever_checks_weigh_the_point_costs_a_third(tmp_path: Path) -> None:
    changed = '[change."ch03/bias_gradient"]\nweights = { test_empty_batch = 9 }\n'
    (tmp_path / FILE).write_text(f'title = "Batches"\nextends = "backprop"\n\n{changed}', encoding="utf-8")
    with serving(tmp_path):
        course = Course.at(tmp_path).part("ch03_accumulation", "bias_gradient")
        exercise = course.lessons["ch03_accumulation"].exercise("bias_gradient")
        assert list(sentences_have_cases(course)) == []
    assert exercise.weights == {"test_empty_batch": 9}
    assert "test_sum_over_the_batch" in exercise.point
