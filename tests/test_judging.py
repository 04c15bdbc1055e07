"""From checks to points and messages: partial credit, visible and hidden checks, what went wrong."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_courses import ENVIRONMENT, LESSON, written

from autograder.collection import with_judge
from autograder.diagnosis.case import HEIGHT
from autograder.isolation import Workers
from autograder.judging.checking.plugin import identify
from autograder.judging.records.errors import CheckError
from autograder.judging.records.results import ExerciseResult, SubmissionResult, write_json
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.submission import Submission
from course.syllabus import Exercise, Lesson, find_lesson

SOLUTION = """
import numpy as np

def double_vjp(g, x):
    return 2 * g

def square_vjp(g, x):
    return 2 * x * g
"""

CHECKS = """
from autograder.judging import exercise, expect_close

def compare(learner, reference, rng, name, *shapes):
    for shape in shapes:
        g, x = rng.normal(size=shape), rng.normal(size=shape)
        mine, theirs = getattr(learner, name)(g, x), getattr(reference, name)(g, x)
        expect_close(mine, theirs, names=("dx",), case=f"{len(shape)} axes", rtol=1e-9, atol=1e-12)

@exercise("double_vjp")
def test_vectors(learner, reference, rng):
    compare(learner, reference, rng, "double_vjp", (2,), (3,))

@exercise("double_vjp")
def test_matrices(learner, reference, rng):
    compare(learner, reference, rng, "double_vjp", (2, 3))

@exercise("square_vjp")
def test_square(learner, reference, rng):
    compare(learner, reference, rng, "square_vjp", (3,))

@exercise("square_vjp", visible=False, promise="instrumented")
def test_square_of_matrices(learner, reference, rng):
    compare(learner, reference, rng, "square_vjp", (2, 2))
"""

MISCONCEPTIONS = """
from autograder.diagnosis import misconception

@misconception("square_vjp", says="The 2 is missing.")
def no_two(g, x):
    return x * g

@misconception("square_vjp", says="The half is too much.")
def halved(g, x):
    return x * g * (2 / 2)

@misconception("square_vjp", says="You took x for its derivative.")
def derivative_is_x(g, x):
    return g * x * x

@misconception("double_vjp", says="The upstream gradient is ignored.")
def no_upstream(g, x):
    return 2.0 + 0 * g
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {
        f"solutions/{LESSON}.py": SOLUTION,
        f"autograder/lessons/{LESSON}/checks/double_vjp.py": CHECKS,
        f"autograder/lessons/{LESSON}/mistakes/double_vjp.py": MISCONCEPTIONS,
    }
    return written(tmp_path_factory.mktemp("small-course"), files)


def small(technique: tuple[str, ...] = (), **weights: float) -> Lesson:
    exercises = (
        Exercise(LESSON, "double_vjp", 4, "core", ("a", "b"), ENVIRONMENT, weights=weights, technique=technique),
        Exercise(LESSON, "square_vjp", 3, "core", ("a", "b"), ENVIRONMENT),
    )
    return Lesson(LESSON, "Small", "Part", 5, ENVIRONMENT, exercises)


@pytest.fixture(scope="module")
def plain_workers() -> Any:
    workers = Workers(small(), "process")
    yield workers
    workers.stop()


@pytest.fixture
def grade(root: Path, plain_workers: Workers) -> Callable[..., SubmissionResult]:
    """The result of a submission with this source."""

    def run(source: str, *, salt: str = "salt", technique: tuple[str, ...] = (), **weights: float) -> SubmissionResult:
        submission = Submission.of_cells("a test", [textwrap.dedent(source)])
        lesson = small(technique, **weights)
        return with_judge(lesson, lambda judge: judge.grade(submission, plain_workers), salt=salt, root=root)

    return run


def by_name(result: SubmissionResult) -> dict[str, ExerciseResult]:
    return {exercise.name: exercise for exercise in result.exercises}


def test_right_answers_earn_everything_in_any_style(grade: Callable[..., SubmissionResult]) -> None:
    result = grade(
        "def double_vjp(g, x): return g + g\ndef square_vjp(g, x): return (g * x).astype('f8', order='F') * 2"
    )
    assert (result.points, result.max_points, result.status) == (7, 7, "graded")
    assert [len(exercise.checks) for exercise in result.exercises] == [4, 3]


VECTORS_ONLY = "def double_vjp(g, x): return 2 * g if g.ndim == 1 else g"


def test_partial_credit_is_the_share_of_checks_that_pass(grade: Callable[..., SubmissionResult]) -> None:
    exercise = by_name(grade(VECTORS_ONLY))["double_vjp"]
    assert (exercise.points, exercise.status) == (2, "partial")


@pytest.mark.parametrize("file", ["solutions/{}.py", "autograder/lessons/{}/checks/double_vjp.py"])
def test_a_missing_file_of_the_course_is_named_with_a_remedy(
    root: Path, plain_workers: Workers, tmp_path: Path, file: str
) -> None:
    """Formerly: FileNotFoundError, with a path; mend it."""
    shutil.copytree(root, tmp_path / "course")
    missing = tmp_path / "course" / file.format(LESSON)
    missing.unlink()
    with pytest.raises(CheckError) as found:
        with_judge(
            small(),
            lambda judge: judge.grade(Submission.of_cells("a test", [SOLUTION]), plain_workers),
            root=tmp_path / "course",
        )
    name = f"{missing.parent.name}/{missing.name}"
    assert str(found.value) == (
        f"{name} is missing from this copy of the course, and nothing can be checked without it: 'git restore {name}' "
        "in the course's folder brings it back; without git, download the course again"
    )


@pytest.mark.parametrize(
    "source",
    [
        "def square_vjp(x, g): return g + 2 * x",
        "square_vjp = None\nclass square_vjp:\n    def __init__(self, x, g): raise ValueError",
    ],
)
def test_reordered_parameters_are_reported_first(grade: Callable[..., SubmissionResult], source: str) -> None:
    """Formerly, for a layer: unsupported operand type(s) for %: 'int' and 'builtin_function_or_method'."""
    lines = by_name(grade(source))["square_vjp"].message.splitlines()
    assert lines[0] == "square_vjp is called with (g, x), in this order, and yours takes (x, g)."
    assert len(lines) <= HEIGHT
    right_order = by_name(grade("def square_vjp(g, x): return g + 2 * x"))["square_vjp"].message
    assert "in this order" not in right_order
    assert "in this order" not in by_name(grade("def square_vjp(a, b): return a + 2 * b"))["square_vjp"].message


def test_progress_reports_the_first_failure(
    root: Path, plain_workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only visible checks are named: failures on hidden inputs are not shown."""
    said = []
    observe = Judge._observe

    def overheard(judge: Judge, item: pytest.Item, *enough: Any) -> Any:
        said.append(judge.progress.text)
        return observe(judge, item, *enough)

    def use(judge: Judge) -> SubmissionResult:
        return judge.grade(Submission.of_cells("a test", [source]), plain_workers, only=["double_vjp"])

    monkeypatch.setattr(Judge, "_observe", overheard)
    source = "def double_vjp(g, x): return 2 * g if g.ndim == 2 else g"
    with_judge(small(), use, salt="salt", root=root)
    first, second = said[:2]
    assert (first, second.partition(". So far: ")[0]) == (
        "double_vjp: check 1 of 2, vectors",
        "double_vjp: check 2 of 2, matrices",
    )
    assert second.endswith("(1 axes)"), second


def test_weights_in_the_syllabus_move_the_shares(grade: Callable[..., SubmissionResult]) -> None:
    assert by_name(grade(VECTORS_ONLY, test_vectors=3.0))["double_vjp"].points == 3


def test_a_hidden_failure_names_only_the_check(grade: Callable[..., SubmissionResult]) -> None:
    exercise = by_name(grade("def square_vjp(g, x): return 2 * x * g if x.ndim == 1 else 3 * x * g"))["square_vjp"]
    assert exercise.status == "partial"
    assert exercise.message.splitlines() == [
        "The visible cases pass.",
        "On a hidden input square_vjp is wrong (the check: square of matrices).",
    ]
    hidden = [check for check in exercise.checks if not check.visible]
    assert {check.promise for check in hidden} == {"value", "instrumented"}


def test_a_check_of_several_exercises_counts_for_each() -> None:
    lesson = find_lesson("ch08_custom_functions")
    asked = with_judge(lesson, lambda judge: {one.name: judge.items_of(one.name) for one in lesson.exercises})
    for name, checked in {"Square": 2, "GELU": 2, "GELUTanh": 2, "RoundSTE": 0}.items():
        twice = [identify(item) for item in asked[name] if item.name.startswith("test_twice[")]
        assert [check.exercise for check in twice if check] == [name] * checked
        assert [check.visible for check in twice if check] == [True, False][:checked]


def test_the_salt_decides_hidden_inputs_and_nothing_else(grade: Callable[..., SubmissionResult]) -> None:
    source = "seen = []\ndef double_vjp(g, x):\n    seen.append(float(g.sum()))\n    return seen\n"
    first, again, other = (by_name(grade(source, salt=salt))["double_vjp"].checks for salt in ("a", "a", "b"))
    assert first == again
    assert [a.message for a in first if a.visible] == [b.message for b in other if b.visible]


def test_a_known_mistake_is_named_when_it_alone_explains_everything(grade: Callable[..., SubmissionResult]) -> None:
    exercise = by_name(grade("def square_vjp(g, x): return x**2 * g"))["square_vjp"]
    assert exercise.misconception == "derivative_is_x"
    assert exercise.message.startswith("You took x for its derivative.")


def test_two_mistakes_that_explain_equally_well_are_both_named(grade: Callable[..., SubmissionResult]) -> None:
    exercise = by_name(grade("def square_vjp(g, x): return g * x"))["square_vjp"]
    assert exercise.misconception is None
    assert exercise.misconceptions == ["no_two", "halved"]
    assert "Either: The 2 is missing." in exercise.message


def test_a_mistake_that_explains_all_answers_is_named(grade: Callable[..., SubmissionResult]) -> None:
    exercise = by_name(grade("def square_vjp(g, x): return x**2 * g if x.ndim == 1 else 1 / 0"))["square_vjp"]
    assert exercise.misconceptions == ["derivative_is_x"]


def test_a_mistake_that_some_answers_contradict_is_not_named(grade: Callable[..., SubmissionResult]) -> None:
    other = by_name(grade("def square_vjp(g, x): return x**2 * g if x.ndim == 1 else 5 * x * g"))["square_vjp"]
    assert other.misconceptions == [], "the matrices are wrong in another way"


def test_a_mistake_that_explains_no_check_is_not_named(grade: Callable[..., SubmissionResult]) -> None:
    assert by_name(grade("def square_vjp(g, x): return -x * g"))["square_vjp"].misconceptions == []


def test_an_unknown_mistake_is_repaired_in_its_own_line(grade: Callable[..., SubmissionResult]) -> None:
    message = by_name(grade("def double_vjp(g, x): return -2 * g"))["double_vjp"].message
    assert message.startswith(
        "Cell 1, line 1, `return -2 * g`: with the sign turned round every visible case passes.\ndx differs in both"
    )


@pytest.mark.parametrize(
    ("source", "status", "says"),
    [
        ("", "missing", "double_vjp is not defined"),
        (
            "def double_vjp(g, x): raise NotImplementedError('later')",
            "missing",
            "is not written yet: it ends in a NotI",
        ),
        ("double_vjp = 3", "missing", "is not defined"),
        ("def double_vjp(g): return g", "error", "TypeError: double_vjp() takes 1 positional argument"),
        ("def double_vjp(g, x):\n    return g / nothing", "error", "cell 1, line 2"),
        ("def double_vjp(g, x):\n    return g / nothing", "error", "That line is: return g / nothing"),
        ("def double_vjp(g, x):\n    return g * 2 ^ 1", "error", "In Python a power is written with `**`: x ** 2."),
        ("def double_vjp(g, x):\n    return g / nothing", "error", "double_vjp(g, x)"),
        ("def double_vjp(g, x) return g", "error", "cell 1, line 1 is not Python"),
        ("def double_vjp(g, x): return None", "failed", "None"),
        ("def double_vjp(g, x): 2 * g", "failed", "a function that ends without `return` gives None"),
        ("def duoble_vjp(g, x): return 2 * g", "missing", "There is duoble_vjp: is that it?"),
        ("def square_vjp(g, x): return 2 * g", "missing", "there is no function of that name in a test."),
        ("import nothing as np\ndef double_vjp(g, x):\n    return np.sin", "error", "\nBefore that, cell 1, line 1"),
        ("import nothing as np\nnp.zeros(1)\ndef double_vjp(g, x): return", "failed", "None"),
        ("import nothing as np\ndef double_vjp(g, x=np.pi): return g", "error", "cell 1, line 1 raised ModuleNot"),
        ("def double_vjp(g, x): return 'text'", "failed", "text"),
        ("def double_vjp(g, x): return (2 * g).astype('f4')", "failed", "float32"),
        ("def double_vjp(g, x): return (2 * g)[None]", "failed", "shape"),
    ],
)
def test_failures_are_described(grade: Callable[..., SubmissionResult], source: str, status: str, says: str) -> None:
    exercise = by_name(grade(source))["double_vjp"]
    assert (exercise.status, exercise.points) == (status, 0)
    assert says in exercise.message


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def double_vjp(g, x): raise NotImplementedError", ""),
        ("def double_vjp(g, x): return g / nothing", ""),
        ("def double_vjp(g, x): return 1 / 0", ""),
        ("def double_vjp(g, x) return g", ""),
        ("def double_vjp(g, x): return 3 * g", ""),
        (VECTORS_ONLY.replace("else g", "else 1 / 0"), "double_vjp raised ZeroDivisionError"),
    ],
)
def test_technique_is_reported_only_for_right_values(
    grade: Callable[..., SubmissionResult], source: str, says: str
) -> None:
    exercise = by_name(grade(source, technique=("test_matrices",), test_matrices=0))["double_vjp"]
    assert exercise.points == 0
    assert ("No points" in exercise.message) is bool(says), exercise.message
    assert says in exercise.message, exercise.message


def test_a_technique_that_takes_too_long_names_its_case(root: Path, tmp_path: Path, plain_workers: Workers) -> None:
    shutil.copytree(root, tmp_path, dirs_exist_ok=True)
    file = tmp_path / f"autograder/lessons/{LESSON}/checks/double_vjp.py"
    asked = """mine = getattr(learner, name)(g, x)
        theirs = getattr(reference, name)(g, x)"""
    text = CHECKS.replace("mine, theirs = getattr(learner, name)(g, x), getattr(reference, name)(g, x)", asked)
    text = text.replace("mine = ", 'with on_case("6,000 entries"):\n            mine = ')
    file.write_text(text.replace("import exercise", "import on_case, exercise"))
    lesson = small(("test_matrices",), test_matrices=0)
    lesson = replace(lesson, exercises=(replace(lesson.exercises[0], seconds=1), lesson.exercises[1]))
    slow = "def double_vjp(g, x):\n    while g.ndim > 1: pass\n    return 2 * g"
    submission = Submission.of_cells("a test", [slow])
    message = by_name(with_judge(lesson, lambda judge: judge.grade(submission, plain_workers), root=tmp_path))[
        "double_vjp"
    ].message
    assert message.startswith("double_vjp did not return within 1 second.\ndouble_vjp(g, x), 6,000 entries:\n")
    assert message.endswith(
        "\nNo points: double_vjp earns points only if it also gets through 6,000 entries in time."
    ), message


def test_a_changed_argument_costs_half_where_the_values_are_right(grade: Callable[..., SubmissionResult]) -> None:
    right, wrong = (
        by_name(grade(f"def double_vjp(g, x):\n    x[:] = 0\n    return {value}"))["double_vjp"]
        for value in ("2 * g", "3 * g")
    )
    assert (right.status, right.points, wrong.status, wrong.points) == ("partial", 2, "failed", 0)
    assert "changed its argument x" in right.message


def test_checks_that_cannot_be_collected_are_an_error_of_the_course(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (Places(tmp_path).checks(LESSON) / "double_vjp.py").write_text("import nothing_of_that_name")
    with pytest.raises(CheckError, match="nothing_of_that_name"):
        with_judge(small(), lambda judge: judge, root=tmp_path)


def test_an_error_while_judging_reaches_the_caller(root: Path) -> None:
    def fail(judge: Judge) -> None:
        raise KeyError(judge.lesson.slug)

    with pytest.raises(KeyError):
        with_judge(small(), fail, root=root)


def test_a_result_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "a" / "result.json"
    write_json(file, {"points": 1})
    with pytest.raises(TypeError):
        write_json(file, {"points": object()})
    assert file.read_text() == '{\n "points": 1\n}\n'
    assert list(file.parent.iterdir()) == [file]


def test_a_refused_import_does_not_end_the_cell(root: Path, plain_workers: Workers) -> None:
    """Formerly 'what was defined before that was graded' was said of definitions after it."""
    submission = Submission.of_cells("a test", ["import torch\ndef double_vjp(g, x):\n    return 2 * g"])
    result = with_judge(
        small(), lambda judge: judge.grade(submission, plain_workers, only=["double_vjp"]), salt="salt", root=root
    )
    assert by_name(result)["double_vjp"].points == 4
    assert result.message.endswith("allowed here; what was defined all the same was graded.")
