"""What a check records of an answer, and the share of points it gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_courses import ENVIRONMENT, LESSON, of_one, written

from autograder.authoring.rules.described import checks_in
from autograder.collection import with_judge
from autograder.judging.checking.expectations import expect, expect_close, expect_raises
from autograder.judging.records.errors import Raised
from autograder.judging.records.record import CHANGED, OF_ANOTHER_TYPE, Call, recording
from autograder.judging.scoring import POINT, SHARES, earned_share
from autograder.judging.session import Judge
from autograder.places import ROOT
from autograder.worker.execution import Failure
from course.syllabus import Exercise, find_lesson, syllabus


def test_expectations_record_and_go_on() -> None:
    with recording() as record:
        expect_close(1.0, 2.0, rtol=0, atol=0)
        expect(False, "no")
        expect_close((1.0, np.ones(2)), (1.0, np.ones(2)), names=("a", "b"), rtol=0, atol=0)
        expect_close({"a": 1}, {"b": 1}, rtol=0, atol=0)
    assert [bool(comparison.problems) for comparison in record.comparisons] == [True, True, False, True]
    assert not record.passed


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["ch06_vjps", "ch07_mlp_backprop"])
def test_right_values_in_a_wrong_dtype_cost_a_tenth_at_most(slug: str) -> None:
    """Formerly it cost up to a third, and was taken for an overflow."""

    def in_float64(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return type(value)(map(in_float64, value))
        if isinstance(value, dict):
            return {key: in_float64(item) for key, item in value.items()}
        return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value

    def judged(judge: Judge) -> dict[str, tuple[float, tuple[str, ...]]]:
        found = {}
        for exercise in judge.lesson.exercises:
            right = judge.reference.implementations[exercise.name]
            wide = judge.reference.local(exercise.name, lambda *args, right=right, **kw: in_float64(right(*args, **kw)))
            records = judge.observe(judge.items_of(exercise.name), wide)
            share = earned_share(exercise, judge.items_of(exercise.name), records)
            found[exercise.name] = share, judge.mistakes.explain(exercise, records).misconceptions if share < 1 else ()
        return found

    shares = with_judge(find_lesson(slug), judged)
    assert {round(share, 6) for share, _ in shares.values()} <= {0.9, 1.0}
    assert all("dtype" in name or "float64" in name for _, names in shares.values() for name in names)


MEASURED = {
    f"solutions/{LESSON}.py": "def halve(x):\n    return x / 2\n",
    f"autograder/lessons/{LESSON}/checks/halve.py": """
import numpy as np
from autograder.judging import exercise, expect, expect_close

@exercise("halve")
def test_value(learner, rng):
    x = rng.normal(size=3)
    expect_close(learner.halve(x.copy()), x / 2, names=("half",), rtol=1e-12, atol=0)

@exercise("halve", promise="instrumented")
def test_keeps_nothing(learner, rng):
    learner.halve(rng.normal(size=3))
    expect(True, "it kept something")

@exercise("halve", promise="instrumented")
def test_keeps_nothing_of_more(learner, rng):
    learner.halve(rng.normal(size=(3, 3)))
    expect(True, "it kept something")
""",
    f"autograder/lessons/{LESSON}/mistakes/halve.py": "",
}


def test_a_wrong_measurement_without_right_values_is_worth_nothing(tmp_path: Path) -> None:
    """A check that fails only for a changed argument must not be worth more than one that passes."""
    written(tmp_path, MEASURED)

    def share(judge: Judge, answer: Callable[..., Any]) -> float:
        items = judge.items_of("halve")
        return earned_share(lesson.exercises[0], items, judge.observe(items, judge.reference.local("halve", answer)))

    def wrong(x: Any) -> Any:
        x[:] = 0
        return x

    def right(x: Any) -> Any:
        x /= 2
        return x

    lesson = of_one(Exercise(LESSON, "halve", 3, "core", ("a", "b"), ENVIRONMENT))
    shares = with_judge(lesson, lambda judge: [share(judge, answer) for answer in (wrong, right)], root=tmp_path)
    assert shares == [0, 0.5]


MANY_CHECKS = {
    f"solutions/{LESSON}.py": "def halve(x):\n    return x / 2\n",
    f"autograder/lessons/{LESSON}/checks/halve.py": """
from autograder.judging import exercise, expect_close

def asked(learner, x):
    expect_close(learner.halve(x.copy()), x / 2, names=("half",), rtol=1e-5, atol=0)

@exercise("halve")
def test_negative(learner, rng):
    asked(learner, -rng.random(size=3))
"""
    + "".join(
        f"""
@exercise("halve")
def test_positive_{i}(learner, rng):
    asked(learner, rng.random(size=3))
"""
        for i in range(19)
    ),
}


@pytest.mark.parametrize(("point", "left"), [((), 0.95), (("test_negative",), 0.65), (("test_positive_1",), 0.95)])
def test_one_failing_check_of_the_point_costs_a_third(tmp_path: Path, point: tuple[str, ...], left: float) -> None:
    """One of twenty checks; a wrong dtype there costs what it costs elsewhere."""
    written(tmp_path, MANY_CHECKS)
    lesson = of_one(Exercise(LESSON, "halve", 3, "core", ("a", "b"), ENVIRONMENT, point=point))

    def shares(judge: Judge) -> list[float]:
        items = judge.items_of("halve")
        answers = (lambda x: abs(x) / 2, lambda x: (x / 2).astype(np.float32 if x[0] < 0 else x.dtype))
        seen = [judge.observe(items, judge.reference.local("halve", answer)) for answer in answers]
        return [earned_share(lesson.exercises[0], items, records) for records in seen]

    wrong, of_another_dtype = with_judge(lesson, shares, root=tmp_path)
    assert wrong == pytest.approx(left)
    assert of_another_dtype >= 0.9


@pytest.mark.parametrize(
    ("stub", "left"),
    [
        ("halve (negative): your code here", 0.95),
        ("halve: your code here", 0.65),
        ("halve (hard): your code here", 0.65),  # no such part: a submission cannot invent one
    ],
)
def test_a_part_that_is_not_written_costs_its_own_check(tmp_path: Path, stub: str, left: float) -> None:
    """Though the check is of the exercise's point."""
    written(tmp_path, MANY_CHECKS)
    lesson = of_one(
        Exercise(LESSON, "halve", 3, "core", ("a", "b"), ENVIRONMENT, point=("test_negative",), parts=("negative",))
    )

    def positive_alone(x: Any) -> Any:
        if x[0] < 0:
            raise NotImplementedError(stub)
        return x / 2

    def share(judge: Judge) -> float:
        items = judge.items_of("halve")
        return earned_share(
            lesson.exercises[0], items, judge.observe(items, judge.reference.local("halve", positive_alone))
        )

    assert with_judge(lesson, share, root=tmp_path) == pytest.approx(left)


def test_the_page_on_points_has_the_grader_s_numbers() -> None:
    page = (ROOT / "book" / "points.md").read_text(encoding="utf-8")
    assert f"**Costs {POINT:.0%} or more.**".replace("%", " %") in page.replace("\N{NO-BREAK SPACE}", " ")
    assert (SHARES[True], SHARES[False]) == (1 / 3, 2 / 3)
    assert (OF_ANOTHER_TYPE, CHANGED) == (0.1, 0.5)
    checks = [
        check
        for slug in syllabus()
        for file in (ROOT / "autograder" / "lessons" / slug / "checks").glob("*.py")
        for check in checks_in(file)
    ]
    assert sum(check.visible and check.hidden for check in checks) > len(checks) / 2


def test_a_wrong_dtype_with_wrong_values_is_a_wrong_value() -> None:
    with recording() as record:
        expect_close(np.array([0.0, 1.0]), np.array([0, 1]), names=("ids",), rtol=0, atol=0)
        assert record.cost == OF_ANOTHER_TYPE
        expect_close({"x": 1, "y": 0}, {"x": True, "y": False}, names=("flows",), rtol=0, atol=0)
        expect_close(55.0, 55, names=("bytes",), rtol=0, atol=0)
        expect_close(np.float32(55), 55, names=("bytes",), rtol=0, atol=0)
        assert record.cost == OF_ANOTHER_TYPE
        assert not record.passed
        expect_close(np.array([0.4, 1.0]), np.array([0, 1]), names=("ids",), rtol=0, atol=0)
        assert record.cost == 1
    with recording() as record:
        expect_close(np.array([261, 1]), np.array([5, 1], dtype=np.uint8), names=("ids",), rtol=0, atol=0)
        assert record.cost == 1, "261 is no 5, though it wraps round to one"
    for wrong in (54.0, 55.5, math.nan, math.inf):
        with recording() as record:
            expect_close(wrong, 55, names=("bytes",), rtol=0, atol=0)
            assert record.cost == 1


def test_a_check_that_compares_nothing_does_not_pass() -> None:
    with recording() as record:
        pass
    assert not record.passed


def test_expectations_outside_of_a_check_are_refused() -> None:
    with pytest.raises(RuntimeError, match="inside a check"):
        expect(True, "")


@pytest.mark.parametrize(("bases", "passes"), [(["KeyError", "LookupError"], True), (["ValueError"], False)])
def test_an_expected_error_must_have_the_expected_type(bases: list[str], passes: bool) -> None:
    def learners_function() -> None:
        raise Raised("f raised.", Failure(bases[0], bases, "", "", "", ""))

    with recording() as record:
        record.calls.append(Call("f", ()))
        expect_raises(LookupError, learners_function)
    assert record.passed is passes


def test_a_value_where_an_error_is_expected_fails() -> None:
    with recording() as record:
        record.calls.append(Call("f", ()))
        expect_raises(ValueError, lambda: 3)
    assert record.failures[0].problems[0].startswith("f returned the integer 3; a ValueError was expected")
