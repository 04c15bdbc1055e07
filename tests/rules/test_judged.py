"""What judging shows: answers without work, known mistakes, oracles; each rule names the one thing that is wrong."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from rule_course import REJECTIONS, WRONG, change, file_in, only

from autograder.authoring.rejections import rejections_text
from autograder.authoring.rules import (
    drift,
    in_book,
    in_class,
    judged,
    memorised,
    order,
)
from autograder.authoring.rules.noted import Answers
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.diagnosis import Misconception
from autograder.judging.explaining.known_mistakes import SeenOfMistakes
from autograder.judging.session import Judge

pytestmark = pytest.mark.slow


MATRIX_CHECK = 'expect_close(learner.double(x), reference.double(x), case="a matrix"'


def test_points_for_an_untouched_stub_are_named(whole: Course) -> None:
    change(whole.checks("ch01_double") / "double.py", MATRIX_CHECK, 'expect_close(x, x, case="a matrix"')
    said = only(in_class.a_class_is_graded_rightly(whole))
    assert said.startswith(
        "autograder/lessons/ch01_double/checks/double.py: the untouched stub of double earns 1 points by test_"
    )


def test_points_for_an_answer_without_work_are_named(whole: Course) -> None:
    change(
        whole.checks("ch01_double") / "double.py",
        MATRIX_CHECK,
        'expect_close(learner.double(0 * x), 0 * x, case="zeros"',
    )
    lines = [str(problem) for problem in judged.checks_tell_right_from_wrong(whole)]
    start = "autograder/lessons/ch01_double/checks/double.py: an answer without work passes: double: "
    assert any(line.startswith(f"{start}zeros like the first argument passes test_matrix") for line in lines), lines


def test_points_for_raising_an_error_whatever_is_asked_are_named(whole: Course) -> None:
    """A check that asks for errors alone is passed by an answer that is nothing but an error."""
    checks = whole.checks("ch01_double") / "double.py"
    alone = 'expect_raises(TypeError, learner.double, "a", case="a")'
    text = checks.read_text(encoding="utf-8")
    checks.write_text(
        f"{text}\n\nfrom autograder.judging import expect_raises\n\n"
        f'@exercise("double")\ndef test_of_text(learner):\n    {alone}\n',
        encoding="utf-8",
    )
    lines = [str(problem) for problem in judged.checks_tell_right_from_wrong(whole)]
    start = "autograder/lessons/ch01_double/checks/double.py: an answer without work passes: double: "
    assert any(line.startswith(f"{start}a TypeError passes test_of_text") for line in lines), lines


def test_a_reference_that_fails_its_check_is_named(whole: Course) -> None:
    change(whole.checks("ch01_double") / "double.py", 'reference.double(x), case="a matrix"', '3 * x, case="a matrix"')
    said = [str(problem) for problem in in_class.a_class_is_graded_rightly(whole)]
    assert said[0].startswith("solutions/ch01_double.py: solved, double earns 1 of 2: ")


def test_a_reference_that_disagrees_with_its_oracle_is_named(whole: Course) -> None:
    change(whole.source("ch01_double"), "np.asarray(2 * x)", "np.asarray(3 * x)")
    assert in_class.a_class_is_graded_rightly(whole) == []
    said = only(judged.oracles_agree(whole))
    assert said.startswith("autograder/lessons/ch01_double/oracles: test_entry_by_entry: ")


def test_an_exercise_without_an_oracle_is_named(whole: Course) -> None:
    change(whole.oracles("ch01_double") / "double.py", '@exercise("double")\n', "")
    assert "ch01_double/oracles/double.py: double: no oracle;" in only(judged.oracles_agree(whole))


def test_a_misconception_that_is_accepted_is_named(whole: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    change(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "x + x")
    said = only(judged.checks_tell_right_from_wrong(whole))
    assert said.startswith(f"{WRONG}: the checks accept it: double: one_more;")
    monkeypatch.setattr(in_class, "DRAWN", 3)
    said = str(in_class.a_class_is_graded_rightly(whole)[0])
    start = f"{WRONG}: the checks accept double: one_more, in a class with the salt "
    assert said.startswith(start)


def test_rejections_are_written_of_the_lesson_as_it_is(whole: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    path = whole.rejections("ch01_double")
    assert (
        path.read_text().partition("[exercise.rejected]\n")[2] == 'unchanged = "xx"\nnegated = "xx"\none_more = "xx"\n'
    )
    change(path, 'negated = "xx"', 'negated = "x."')
    monkeypatch.setattr(judged, "LOOKED_AT", 0.0)  # as where it is not drawn
    assert judged.checks_tell_right_from_wrong(whole) == []
    monkeypatch.setattr(judged, "LOOKED_AT", 1.0)
    said = only(judged.checks_tell_right_from_wrong(whole))
    assert said == f"{REJECTIONS}: other checks reject it than are written down: double: negated; run `backprop build`"
    change(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "2 * x + 2")
    assert judged.checks_tell_right_from_wrong(whole) == []  # what was made of another text counts for nothing
    assert only(drift.rejections_in_step(whole)) == f"{REJECTIONS}: it was made of another text; run `backprop build`"
    path.write_text("of = ")
    assert judged.checks_tell_right_from_wrong(whole) == []
    assert only(drift.rejections_in_step(whole)) == f"{REJECTIONS}: it was made of another text; run `backprop build`"
    path.unlink()
    assert judged.checks_tell_right_from_wrong(whole) == []
    assert only(drift.rejections_in_step(whole)) == f"{REJECTIONS}: this file is missing; run `backprop build`"


def test_what_is_written_to_reject_is_looked_at_each_time(whole: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misconception that one check accepts, written down as if that one rejected it."""
    monkeypatch.setattr(judged, "LOOKED_AT", 0.0)
    change(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "2 * x + (x.ndim > 1)")
    path, lesson = whole.rejections("ch01_double"), whole.lessons["ch01_double"]
    text = with_judge(lesson, partial(rejections_text, places=whole), root=whole.root)
    written = 'one_more = "x."' if 'one_more = "x."' in text else 'one_more = ".x"'
    path.write_text(text)
    assert judged.checks_tell_right_from_wrong(whole) == []
    change(path, written, 'one_more = "xx"')
    said = [str(problem) for problem in judged.checks_tell_right_from_wrong(whole)]  # it has no name then, either
    assert (
        said[-1]
        == f"{REJECTIONS}: other checks reject it than are written down: double: one_more; run `backprop build`"
    )


def test_what_one_rule_sees_of_a_mistake_the_others_look_up(whole: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks that accept it, by `rejections.toml`, included: those that were not drawn are run by no rule."""
    monkeypatch.setattr(judged, "LOOKED_AT", 0.0)
    change(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "2 * x + (x.ndim > 1)")
    lesson = whole.lessons["ch01_double"]
    text = with_judge(lesson, partial(rejections_text, places=whole), root=whole.root)
    whole.rejections("ch01_double").write_text(text)
    seen: SeenOfMistakes = {}
    first = whole.part("ch01_double")
    assert judged.checks_tell_right_from_wrong(first, seen) == []
    before = {(known.name, check.name): record.passed for (known, check), record in seen.items()}
    assert len(before) == 3 * 2
    assert sum(before.values()) == 1
    assert in_book.answer_books_judge_alike(first, seen) == []
    assert len(seen) == len(before)


@pytest.mark.parametrize("answer", ["noted", "other questions", "a function"])
def test_noted_answers_are_given_again_to_the_same_questions_alone(whole: Course, answer: str) -> None:
    """Whatever was noted, the answer book's judge sees what it sees of the mistake itself."""
    lesson, answers = whole.lessons["ch01_double"], Answers()
    judged_by = partial(with_judge, lesson, root=whole.root, by_the_book=False)

    def noting(judge: Judge) -> None:
        for known in judge.mistakes.known:
            judge.observe(judge.items_of("double", True), judge.reference.mistaken(known))

    judged_by(noting, reference_type=answers.reference)
    assert len(answers.noted) == 3 * 2
    for place, noted in answers.noted.items():
        if answer == "other questions":
            answers.noted[place] = [(("another",), frame) for _, frame in noted]
        elif answer == "a function":  # such a check has none
            answers.noted[place] = []

    def seen_again(judge: Judge) -> int:
        ran = 0
        for known in judge.mistakes.known:

            def mistaken(known: Misconception = known) -> Any:
                nonlocal ran
                ran += 1
                return judge.reference.mistaken(known)

            for item in judge.items_of("double", True):
                again = answers.observe(judge, item, known, mistaken)
                (first,) = judge.observe([item], judge.reference.mistaken(known))
                values, expected = ([one.got.tolist() for one in record.comparisons] for record in (again, first))
                assert values == expected
                assert values
        return ran

    assert judged_by(seen_again) == (0 if answer == "noted" else 6)


def test_a_misconception_that_hidden_draws_alone_reject_is_named(whole: Course) -> None:
    """Another class draws other numbers, by which it may get all points."""
    change(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "2 * x + (x.ndim > 1)")
    matrix = '@exercise("double")\ndef test_matrix'
    change(whole.checks("ch01_double") / "double.py", matrix, matrix.replace('"double"', '"double", visible=False'))
    said = only(judged.checks_tell_right_from_wrong(whole))
    assert said.startswith(f"{WRONG}: the checks accept it: double: one_more (hidden cases alone")


def test_a_misconception_that_is_not_named_by_the_diagnosis_is_named(
    whole: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(whole.mistakes("ch01_double") / "double.py", "return 2 * x + 1", "raise ValueError")
    said = only(judged.checks_tell_right_from_wrong(whole))
    start = f"{WRONG}: the diagnosis does not name it: double: one_more"
    assert said.startswith(start)
    monkeypatch.setattr(in_class, "DRAWN", 3)
    said = str(in_class.a_class_is_graded_rightly(whole)[0])
    start = f"{WRONG}: the diagnosis does not name double: one_more, in a class with"
    assert said.startswith(start)


def test_a_misconception_that_answers_differently_each_time_is_named(whole: Course) -> None:
    """As a learner's answer it would be another one again."""
    change(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", 'x + __import__("random").random()')
    said = only(judged.checks_tell_right_from_wrong(whole))
    assert said.startswith(f"{WRONG}: the diagnosis does not name it: double: one_more")


def test_misconceptions_that_many_answer_alike_are_named(whole: Course) -> None:
    """Where more than two fit, a learner is told none of them."""
    change(whole.mistakes("ch01_double") / "double.py", "1.0 * x", "2 * x + 1")
    change(whole.mistakes("ch01_double") / "double.py", "-(2 * x)", "2 * x + 1")
    said = [str(problem) for problem in judged.checks_tell_right_from_wrong(whole)]
    assert [line.partition(" is called")[0] for line in said] == [
        f"{WRONG}: the diagnosis does not name it: double: {name}" for name in ("unchanged", "negated", "one_more")
    ]


def test_two_misconceptions_that_answer_alike_are_both_given(whole: Course) -> None:
    change(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "-2 * x")
    assert in_class.a_class_is_graded_rightly(whole) == []


def test_a_reference_that_needs_more_than_its_lesson_has_is_named(whole: Course) -> None:
    change(whole.source("ch01_double"), "import numpy as np", "import importlib\n\nimport numpy as np")
    change(whole.source("ch01_double"), "np.asarray(2 * x)", 'importlib.import_module("yaml") and np.asarray(2 * x)')
    assert order.imports_of_the_lesson(whole) == []
    said = only(in_class.a_class_is_graded_rightly(whole))
    assert said.startswith("solutions/ch01_double.py: solved, double earns 0 of 2: double imports yaml")


@pytest.mark.parametrize("kind", ["source", "checks", "mistakes"])
def test_a_file_that_cannot_be_imported_is_named(whole: Course, kind: str) -> None:
    path = file_in(whole, kind)
    path.write_text(path.read_text() + "\n1 / 0\n")
    said = only(in_class.a_class_is_graded_rightly(whole))
    assert said.startswith(f"{whole.relative(path.parent if kind == 'checks' else path)}: ")
    assert "ZeroDivisionError" in said
    assert path.name in said


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({}, None),
        (
            {"x = rng.normal(size=(2, 3))": "x = 0 * rng.normal(size=(2, 3)) + 1.5"},
            "answers that were memorised earn 67% of double, by test_matrix[hidden];",
        ),
        (
            {"learner, reference, rng": "learner, reference", "rng.normal(": "reference.module.np.ones("},
            "answers that were memorised earn 100% of double, which has no hidden inputs;",
        ),
    ],
)
def test_points_for_memorised_answers_are_named(whole: Course, edits: dict[str, str], said: str | None) -> None:
    for old, new in edits.items():
        change(whole.checks("ch01_double") / "double.py", old, new)
    found = memorised.memorised_answers_earn_a_third(whole)
    if said is None:
        assert found == []
    else:
        assert only(found).startswith(f"autograder/lessons/ch01_double/checks/double.py: {said}")
