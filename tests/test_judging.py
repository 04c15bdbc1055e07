"""From checks to points and words: partial credit, visible and hidden, naming mistakes or not naming them."""

from __future__ import annotations

import inspect
import math
import re
import shutil
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import grade_work
from autograder.collection import with_judge
from autograder.diagnosis import Misconception
from autograder.diagnosis.case import HEIGHT
from autograder.isolation import IsolationError, Workers
from autograder.judging.checking.expectations import expect, expect_close, expect_raises
from autograder.judging.checking.plugin import identify
from autograder.judging.explaining.diagnosis import Diagnosis, diagnose
from autograder.judging.explaining.evidence import Evidence
from autograder.judging.explaining.known_mistakes import KnownMistakes
from autograder.judging.records.errors import CheckError, Raised
from autograder.judging.records.record import OF_ANOTHER_TYPE, Call, Record, current_record, recording
from autograder.judging.records.results import ExerciseResult, SubmissionResult, write_json
from autograder.judging.scoring import earned_share
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.submission import Submission
from autograder.worker.execution import Failure
from course.syllabus import Environment, Exercise, Lesson, find_lesson

LESSON = "ch01_tiny"
ENVIRONMENT = Environment(("numpy",), ())
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
    folder = tmp_path_factory.mktemp("tiny-course")
    for name, text in {
        f"solutions/{LESSON}.py": SOLUTION,
        f"autograder/lessons/{LESSON}/checks/double_vjp.py": CHECKS,
        f"autograder/lessons/{LESSON}/mistakes/double_vjp.py": MISCONCEPTIONS,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def tiny(**weights: float) -> Lesson:
    exercises = (
        Exercise(LESSON, "double_vjp", 4, "core", ("a", "b"), ENVIRONMENT, weights=weights),
        Exercise(LESSON, "square_vjp", 3, "core", ("a", "b"), ENVIRONMENT),
    )
    return Lesson(LESSON, "Tiny", "Part", 5, ENVIRONMENT, exercises)


@pytest.fixture(scope="module")
def plain_workers() -> Any:
    workers = Workers(tiny(), "process")
    yield workers
    workers.stop()


@pytest.fixture
def grade(root: Path, plain_workers: Workers) -> Callable[..., SubmissionResult]:
    """The result of a submission with this source."""

    def run(source: str, *, salt: str = "salt", **weights: float) -> SubmissionResult:
        submission = Submission.of_cells("a test", [textwrap.dedent(source)])
        return with_judge(tiny(**weights), lambda judge: judge.grade(submission, plain_workers), salt=salt, root=root)

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


ORDER = {
    f"solutions/{LESSON}.py": "def walk(n):\n    return n\n",
    f"autograder/lessons/{LESSON}/checks/walk.py": """
from autograder.judging import exercise, expect_close

def compare(learner, numbers, case):
    for n in numbers:
        expect_close(learner.walk(n), n, names=("n",), case=case, rtol=0, atol=0)

@exercise("walk")
def test_small(learner):
    compare(learner, (1, 2), "small")

@exercise("walk")
def test_middling(learner):
    compare(learner, (10, 20), "middling")

@exercise("walk")
def test_large(learner):
    compare(learner, (5000,), "large")
""",
    f"autograder/lessons/{LESSON}/mistakes/walk.py": """
from autograder.diagnosis import misconception

@misconception("walk", says="It recurses.")
def recursive(n):
    return n and recursive(n - 1) + 1

@misconception("walk", says="It never ends.")
def endless(n):
    if n > 100:
        raise TimeoutError
    return n

@misconception("walk", says="It is doubled from ten on.")
def doubled(n):
    doubled.seen.append(n)
    return n if n < 10 else 2 * n

doubled.seen = []
""",
}


EDIT_OF_NOTHING = """doubled.seen = []
from autograder.diagnosis import mistake
moved = mistake("walk", {"return m": "return 2"}, says="Moved.")
"""
EDIT_TO_NOTHING = EDIT_OF_NOTHING.replace("return m", "return n").replace("return 2", "return (")


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of one exercise, `walk`, whose checks are on small, middling and large numbers."""
    folder = tmp_path_factory.mktemp("walks")
    for name, text in ORDER.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def walks_of(exercise: Exercise) -> Lesson:
    return Lesson(LESSON, "Walks", "Part", 5, ENVIRONMENT, (exercise,))


@pytest.fixture(scope="module")
def walk(walks: Path) -> Iterator[Callable[[str], ExerciseResult]]:
    """The result of a submission of `walk`."""
    lesson = walks_of(Exercise(LESSON, "walk", 3, "core", ("a", "b"), ENVIRONMENT, seconds=1))
    workers = Workers(lesson, "process")

    def run(source: str) -> ExerciseResult:
        submission = Submission.of_cells("a test", [textwrap.dedent(source)])
        return with_judge(lesson, lambda judge: judge.grade(submission, workers), root=walks).exercises[0]

    yield run
    workers.stop()


def test_a_mistake_that_one_check_shows_comes_with_that_check(walk: Callable[[str], ExerciseResult]) -> None:
    found = walk("def walk(n): return {1: 1, 2: 3}.get(n, 2 * n)")
    assert found.misconceptions == ["doubled"]
    assert found.message.startswith("It is doubled from ten on.\nn is 20; 10 expected")
    assert "Another check says: n is 3; 2 expected (small)" in found.message


def test_what_many_mistakes_raise_names_none() -> None:
    """A gradcheck whose numerical_gradient took vectors alone was told that it flattens gradients: both raise."""

    def use(judge: Judge) -> ExerciseResult:
        source = Places().source(lesson.slug).read_text(encoding="utf-8")
        run = judge.reference.local_text(f"{source}\n{VECTORS_ALONE}")
        return judge.judged(lesson.exercise("gradcheck"), judge.observe(judge.items_of("gradcheck"), run))

    lesson = find_lesson("ch02_chain_rule")
    result = with_judge(lesson, use)
    assert result.misconceptions == []
    assert result.message.startswith("gradcheck rejected a right VJP"), "what fails on visible inputs is shown first"
    assert "The visible cases pass" not in result.message


VECTORS_ALONE = """
def numerical_gradient(f, x, eps=1e-6):
    return [(f(x + eps * e) - f(x - eps * e)) / (2 * eps) for e in np.eye(len(x))]

def gradcheck(f, vjp, inputs, rng):
    g = rng.normal(size=np.shape(f(*inputs)))
    gradients = vjp(g, *inputs)
    if len(gradients) != len(inputs):
        return False
    for k, x in enumerate(inputs):
        found = numerical_gradient(lambda z: (g * f(*inputs[:k], z, *inputs[k + 1 :])).sum(), x)
        if np.shape(gradients[k]) != x.shape or not np.isfinite(gradients[k]).all():
            return False
        if not np.allclose(gradients[k], found, rtol=1e-3, atol=1e-9):
            return False
    return True
"""


def test_recursion_and_endless_loops_are_named(walk: Callable[[str], ExerciseResult]) -> None:
    recursive = walk("def walk(n): return n and walk(n - 1) + 1")
    assert (recursive.misconceptions, recursive.points) == (["recursive"], 2)
    twice_wrong = walk("def walk(n): return 3 if n == 2 else n and walk(n - 1) + 1")
    assert twice_wrong.misconceptions == ["recursive"]
    assert walk("def walk(n):\n    while n > 100: pass\n    return n").misconceptions == ["endless"]


def test_what_is_wrong_is_shown_before_what_is_not_written(walk: Callable[[str], ExerciseResult]) -> None:
    half = "def walk(n):\n    if n < 10: raise NotImplementedError('walk (small): your code here')\n    return n + 1"
    message = walk(half).message
    assert message.startswith("n is 11; 10 expected")
    assert message.endswith("walk (small) is not written yet.")


@pytest.mark.parametrize(("seconds", "tried"), [(10, {5000}), (60, set())])
def test_where_calls_take_long_known_mistakes_are_tried_on_the_check_that_is_shown_alone(
    walks: Path, seconds: int, tried: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake that is right there is not tried on what else fails: a minute each, where networks are trained."""
    explain = KnownMistakes.explain

    def as_long_as_compared(
        mistakes: KnownMistakes, exercise: Exercise, records: list[Record], **guess: bool
    ) -> Diagnosis:
        for record in records:  # mistakes are tried first where checks took least, on a busy machine anywhere
            record.seconds = len(record.comparisons)
        return explain(mistakes, exercise, records, **guess)

    monkeypatch.setattr(KnownMistakes, "explain", as_long_as_compared)
    exercise = Exercise(LESSON, "walk", 3, "core", ("a", "b"), ENVIRONMENT, seconds=seconds)
    lesson = walks_of(exercise)
    workers = Workers(lesson, "process")
    submission = Submission.of_cells("a test", ["def walk(n): return {1: 5, 5000: 1}.get(n, n)"])

    def use(judge: Judge) -> set[int]:
        doubled: Any = next(known.function for known in judge.mistakes.known if known.name == "doubled")
        doubled.seen.clear()
        judge.grade(submission, workers)
        return {5000} & set(doubled.seen)

    try:
        assert with_judge(lesson, use, root=walks) == tried
    finally:
        workers.stop()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("checks", '(5000,), "large"', "(5000,), lrage", "fails on the solution, too (NameError: name 'lrage' is not"),
        ("checks", "def compare", "def compare(:\ndef compare", "checks/walk.py, line 4: SyntaxError: invalid syntax"),
        ("checks", "import exercise", "import excercise", "checks/walk.py, line 2: ImportError: cannot import name"),
        ("mistakes", "def recursive(n)", "def recursive(n", "mistakes/walk.py, line 5: SyntaxError: '('"),
        ("mistakes", "@misconception", "@misconceptoin", "mistakes/walk.py, line 4: NameError: name"),
        ("mistakes", "doubled.seen = []", EDIT_OF_NOTHING, " in mistakes/walk.py is no edit of the solution: "),
        ("mistakes", "doubled.seen = []", EDIT_TO_NOTHING, " in mistakes/walk.py is no edit of the solution: "),
    ],
)
def test_what_is_wrong_with_the_course_costs_no_points(
    walks: Path, tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    """A typo in a check was charged to all, and a mistake named to those who had made none."""
    without_bytecode = shutil.ignore_patterns("__pycache__")  # it is taken for that of a text of one time and size
    root = Path(shutil.copytree(walks, tmp_path / "course", ignore=without_bytecode))
    path = root / f"autograder/lessons/{LESSON}/{file}/walk.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    lesson = walks_of(Exercise(LESSON, "walk", 3, "core", ("a", "b"), ENVIRONMENT, seconds=10))
    (tmp_path / "walk.py").write_text("def walk(n): return 1 - n")
    work, workers = Work("ch06_vjps", "ann", tmp_path / "walk.py"), Workers(lesson, "process")
    wrong = Submission.of_cells("a test", [work.file.read_text()])
    try:
        with pytest.raises(CheckError) as alone:
            with_judge(lesson, lambda judge: judge.grade(wrong, workers), root=root)
        assert said in str(alone.value)
        assert "\n" not in str(alone.value)
        if file == "mistakes" or "lrage" in new:
            of_class = with_judge(lesson, lambda judge: grade_work(judge, workers, work), root=root)
            assert of_class.status == "killed"
            assert of_class.message.startswith("an error of the course, not of this work;")
    finally:
        workers.stop()


def test_an_exercise_without_checks_is_said(walks: Path) -> None:
    exercises = tuple(Exercise(LESSON, name, 3, "core", ("a", "b"), ENVIRONMENT) for name in ("walk", "run"))
    lesson = replace(walks_of(exercises[0]), exercises=exercises)
    workers, submission = Workers(lesson, "process"), Submission.of_cells("a test", ["def run(): ..."])
    try:
        with pytest.raises(CheckError, match=r"^run has no checks"):
            with_judge(lesson, lambda judge: judge.grade(submission, workers), root=walks)
    finally:
        workers.stop()


@pytest.mark.parametrize("file", ["solutions/{}.py", "autograder/lessons/{}/checks/double_vjp.py"])
def test_a_file_that_is_missing_from_the_course_is_named_with_what_to_do(
    root: Path, plain_workers: Workers, tmp_path: Path, file: str
) -> None:
    """It was: FileNotFoundError, with a path; mend it."""
    shutil.copytree(root, tmp_path / "course")
    missing = tmp_path / "course" / file.format(LESSON)
    missing.unlink()
    with pytest.raises(CheckError) as found:
        with_judge(
            tiny(),
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
def test_parameters_in_another_order_are_said_first(grade: Callable[..., SubmissionResult], source: str) -> None:
    """Of a layer it was: unsupported operand type(s) for %: 'int' and 'builtin_function_or_method'."""
    lines = by_name(grade(source))["square_vjp"].message.splitlines()
    assert lines[0] == "square_vjp is called with (g, x), in this order, and yours takes (x, g)."
    assert len(lines) <= HEIGHT
    right_order = by_name(grade("def square_vjp(g, x): return g + 2 * x"))["square_vjp"].message
    assert "in this order" not in right_order
    assert "in this order" not in by_name(grade("def square_vjp(a, b): return a + 2 * b"))["square_vjp"].message


def test_those_who_wait_are_told_what_failed_first(
    root: Path, plain_workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of visible checks: what is wrong on hidden inputs is not shown."""
    said = []
    observe = Judge._observe

    def overheard(judge: Judge, item: pytest.Item, *enough: Any) -> Any:
        said.append(judge.doing)
        return observe(judge, item, *enough)

    def use(judge: Judge) -> SubmissionResult:
        return judge.grade(Submission.of_cells("a test", [source]), plain_workers, only=["double_vjp"])

    monkeypatch.setattr(Judge, "_observe", overheard)
    source = "def double_vjp(g, x): return 2 * g if g.ndim == 2 else g"
    with_judge(tiny(), use, salt="salt", root=root)
    first, second = said[:2]
    assert (first, second.partition(". So far: ")[0]) == (
        "double_vjp: check 1 of 2, vectors",
        "double_vjp: check 2 of 2, matrices",
    )
    assert second.endswith("(1 axes)"), second


def test_weights_in_the_syllabus_move_the_shares(grade: Callable[..., SubmissionResult]) -> None:
    assert by_name(grade(VECTORS_ONLY, test_vectors=3.0))["double_vjp"].points == 3


def test_of_a_hidden_failure_the_check_is_named_and_nothing_shown(grade: Callable[..., SubmissionResult]) -> None:
    exercise = by_name(grade("def square_vjp(g, x): return 2 * x * g if x.ndim == 1 else 3 * x * g"))["square_vjp"]
    assert exercise.status == "partial"
    assert exercise.message.splitlines() == [
        "The visible cases pass.",
        "On a hidden input square_vjp is wrong (the check: square of matrices).",
    ]
    hidden = [check for check in exercise.checks if not check.visible]
    assert {check.promise for check in hidden} == {"value", "instrumented"}


def test_a_check_of_several_exercises_is_one_of_each() -> None:
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


def test_of_two_mistakes_that_explain_equally_well_both_are_said(grade: Callable[..., SubmissionResult]) -> None:
    exercise = by_name(grade("def square_vjp(g, x): return g * x"))["square_vjp"]
    assert exercise.misconception is None
    assert exercise.misconceptions == ["no_two", "halved"]
    assert "Either: The 2 is missing." in exercise.message


def test_a_mistake_that_explains_all_that_was_answered_is_named(grade: Callable[..., SubmissionResult]) -> None:
    exercise = by_name(grade("def square_vjp(g, x): return x**2 * g if x.ndim == 1 else 1 / 0"))["square_vjp"]
    assert exercise.misconceptions == ["derivative_is_x"]


def test_a_mistake_that_some_answers_contradict_is_not_named(
    grade: Callable[..., SubmissionResult], walk: Callable[[str], ExerciseResult]
) -> None:
    other = by_name(grade("def square_vjp(g, x): return x**2 * g if x.ndim == 1 else 5 * x * g"))["square_vjp"]
    assert other.misconceptions == [], "the matrices are wrong in another way"
    assert walk("def walk(n): return 2 * n if 9 < n < 100 else n").misconceptions == [], "the large ones are right"


def test_a_mistake_that_explains_no_check_is_not_named(grade: Callable[..., SubmissionResult]) -> None:
    assert by_name(grade("def square_vjp(g, x): return -x * g"))["square_vjp"].misconceptions == []


def returned_nothing() -> None:
    expect(False, "The result is None.")


def returned_zeros() -> None:
    expect(False, "Every unit is 0.")


def raised(message: str) -> Record:
    """What a check saw of a function that raised a RuntimeError."""
    with recording() as record:
        record.ended_by = Raised(f"f raised RuntimeError: {message}", Failure("RuntimeError", [], message, "", "", ""))
    return record


def asked(ask: Callable[[], None]) -> Record:
    """What a check saw that asked for a property."""
    with recording() as record:
        ask()
    return record


def in_a(kind: type) -> Callable[[], None]:
    """Asks for a list of a right number and a wrong one, which came in this kind of a sequence."""
    return lambda: expect_close(kind((1.0, 3.0)), [1.0, 2.0], case="two", rtol=0.0, atol=0.0)


def ended(function: Callable[[], Any]) -> Record:
    """What a check saw that expects a ValueError."""

    def ask() -> None:
        current_record().calls.append(Call("f", ()))
        expect_raises(ValueError, function)

    return asked(ask)


def raises(kind: str) -> Callable[[], Any]:
    def function() -> None:
        raise Raised(f"f raised {kind}.", Failure(kind, [kind], "", "", "", ""))

    return function


NO_GRAPH = "element 0 of tensors does not require grad and does not have a grad_fn"
TOO_FEW = "function RecomputeBackward returned an incorrect number of gradients (expected 4, got 3)"


@pytest.mark.parametrize(
    ("mine", "known", "named"),
    [
        pytest.param(asked(returned_zeros), asked(returned_zeros), True, id="the same property fails"),
        pytest.param(asked(returned_nothing), asked(returned_zeros), False, id="another property fails"),
        pytest.param(raised(TOO_FEW), raised(NO_GRAPH), False, id="another RuntimeError"),
        pytest.param(raised(TOO_FEW), raised(TOO_FEW.replace("Recomp", "Comp").replace("4", "3")), True, id="names"),
        pytest.param(raised("no such node"), raised(""), True, id="a kind alone"),
        pytest.param(raised("ended after 0 calls."), raised("ended after 1 call."), True, id="a plural"),
        pytest.param(asked(in_a(tuple)), asked(in_a(list)), True, id="a tuple for a list"),
        pytest.param(ended(raises("TypeError")), ended(lambda: 3), False, id="another error than the one expected"),
        pytest.param(ended(raises("TypeError")), ended(raises("TypeError")), True, id="the same error instead"),
        pytest.param(ended(lambda: 3), ended(lambda: 4), True, id="no error"),
    ],
)
def test_a_mistake_that_fails_in_another_way_is_not_named(mine: Record, known: Record, named: bool) -> None:
    """A failed property was taken for any other, and a RuntimeError, PyTorch's only kind, for any other, too.

    So was an error of another kind than the one expected: who read config["hidden"] was told to raise ValueError.
    """
    mistake = Misconception("f", "a_mistake", "You made a mistake.")
    evidence = Evidence(1, lambda *_: known)
    found = diagnose([mine], {mistake: evidence}, None)  # type: ignore[arg-type]
    assert found.misconceptions == (("a_mistake",) if named else ())


def test_two_forms_of_one_mistake_are_said_once() -> None:
    both = {
        Misconception("f", name, "You made a mistake."): Evidence(1, lambda *_: asked(returned_zeros))
        for name in ("a_mistake", "its_other_form")
    }
    message = diagnose([asked(returned_zeros)], both, None).message  # type: ignore[arg-type]
    assert message.startswith("You made a mistake.\nEvery unit is 0.")


def test_a_known_mistake_is_looked_at_until_it_differs() -> None:
    """Its check ends there, once; an answer that begins as it does has it run to its end, and its name if it is it."""
    asked_for: list[float] = []

    def check(answers: Callable[[float], float], enough: Callable[[Record], bool] | None = None) -> Record:
        with recording(enough=enough) as record:
            for x in (1.0, 2.0, 3.0, 4.0):
                if enough or answers is late:
                    asked_for.append(x)
                expect_close(answers(x), x, case=f"x is {x}", rtol=0, atol=0)
        return record

    def late(x: float) -> float:
        return x + (x > 2)

    def evidence() -> Evidence:
        return Evidence(1, lambda i, enough: check(late, enough))

    known = Misconception("f", "late", "You came late."), evidence()
    for answer, named, looked_at in (
        (lambda x: -x, (), 1),
        (lambda x: 2 * x, (), 0),  # what was seen tells it apart
        (lambda x: x + 2 * (x > 3), (), 4),  # begins as it does
        (lambda x: x + (x > 2), ("late",), 0),
    ):
        mine = check(answer)
        asked_for.clear()
        told = diagnose([mine], dict([known]), None)  # type: ignore[arg-type]
        assert (told.misconceptions, len(asked_for)) == (named, looked_at)


def test_checks_that_take_long_are_left_for_last() -> None:
    """A mistake that a quick check rules out is not run through a slow one, be that the one that fails."""
    run: list[int] = []

    def seen(i: int, enough: Any) -> Record:
        run.append(i)
        return asked(lambda: expect_close(2.0, 1.0, rtol=0, atol=0))

    def mine(seconds: float, ask: Callable[[], None]) -> Record:
        record = asked(ask)
        record.seconds = seconds
        return record

    right = mine(0.01, lambda: expect_close(1.0, 1.0, rtol=0, atol=0))
    wrong = mine(1.0, returned_nothing)
    evidence = {Misconception("f", "a_mistake", "You made a mistake."): Evidence(2, seen)}
    assert not diagnose([wrong, right], evidence, None).misconceptions  # type: ignore[arg-type]
    assert run == [1]


@pytest.mark.parametrize(
    ("fails", "rejected_by", "run"),
    [
        pytest.param({0}, None, [0, 1, 2], id="not known: all are run"),
        pytest.param({0}, {0}, [0], id="of what is passed by both nothing is run"),
        pytest.param({0, 1}, {0}, [0], id="nor what the answer fails for another reason"),
        pytest.param({0}, {0, 1}, [], id="fails what the answer passes"),
        pytest.param({0}, {2}, [], id="passes what the answer fails"),
    ],
)
def test_what_is_known_of_a_mistake_is_not_run(fails: set[int], rejected_by: set[int] | None, run: list[int]) -> None:
    """Which visible checks reject it is written down."""
    been: list[int] = []

    def seen(i: int, enough: Any) -> Record:
        been.append(i)
        return asked(returned_zeros if i == 0 else fine)

    def fine() -> None:
        expect_close(1.0, 1.0, case="one", rtol=0, atol=0)

    def wrong() -> None:
        expect_close(2.0, 1.0, case="one", rtol=0, atol=0)

    mine = [asked((returned_zeros if i == 0 else wrong) if i in fails else fine) for i in range(3)]
    mistake = Misconception("f", "a_mistake", "You made a mistake.")
    evidence = {mistake: Evidence(3, seen, None if rejected_by is None else frozenset(rejected_by))}
    found = diagnose(mine, evidence, None)  # type: ignore[arg-type]
    assert sorted(been) == run
    assert bool(found.misconceptions) == (0 in run and fails == {0})


def test_a_known_mistake_in_another_dtype_is_still_that_mistake() -> None:
    """Where it is right, a dtype alone may fail: that the mistake is known to pass there does not rule it out."""
    half = np.array([0.5], np.float32), np.array([0.5])
    mine = [asked(returned_zeros), asked(lambda: expect_close(*half, rtol=0, atol=0))]
    theirs = [asked(returned_zeros), asked(lambda: expect_close(half[1], half[1], rtol=0, atol=0))]
    assert mine[1].cost < 1
    other = [asked(returned_zeros), asked(lambda: expect_close(-half[1], half[1], rtol=0, atol=0))]
    mistakes = {name: Misconception("f", name, f"You made {name}.") for name in ("this", "another")}
    evidence = {
        mistakes["this"]: Evidence(2, lambda i, enough: theirs[i], frozenset({0})),
        mistakes["another"]: Evidence(2, lambda i, enough: other[i], frozenset({0, 1})),
    }
    assert diagnose(mine, evidence, None).misconceptions == ("this",)  # type: ignore[arg-type]


def healthy(activation: Callable[[], Any], after: Callable[[Any], Any]) -> Callable[..., Any]:
    """A `healthy_mlp` whose blocks have this module, and this function, for an activation."""
    torch = pytest.importorskip("torch")

    class Block(torch.nn.Sequential):  # type: ignore[name-defined]
        def forward(self, x: Any) -> Any:
            return x + after(super().forward(x))

    def build(n_in: int, n_out: int, depth: int = 30, width: int = 64) -> Any:
        blocks = [Block(torch.nn.Linear(width, width), torch.nn.BatchNorm1d(width), activation()) for _ in range(depth)]
        return torch.nn.Sequential(torch.nn.Linear(n_in, width), *blocks, torch.nn.Linear(width, n_out))

    return build


def test_what_a_mistake_does_not_explain_is_not_called_by_its_name() -> None:
    """Without a return the weights 'start at 0', with `torch.relu` or GELU the activation was 'still sigmoid'."""

    def told(slug: str, name: str, answer: Callable[..., Any]) -> list[str]:
        def tell(judge: Judge) -> str:
            records = judge.observe(judge.items_of(name)[:2], judge.reference.local(name, answer))
            return judge.mistakes.explain(judge.lesson.exercise(name), records).message

        return with_judge(find_lesson(slug), tell).splitlines()

    nothing = told("ch07_mlp_backprop", "train", lambda X, y, hidden=64, epochs=1, lr=0.2, seed=0: None)
    assert nothing[0].startswith("train returned None; a dict with the keys W1, b1, W2, b2 expected; a function that")
    torch = pytest.importorskip("torch")
    function = told("ch09_vanishing_gradients", "healthy_mlp", healthy(torch.nn.Identity, torch.relu))
    assert function[0].endswith("A function such as torch.relu is no module: use torch.nn.ReLU()."), function
    smooth = told("ch09_vanishing_gradients", "healthy_mlp", healthy(torch.nn.GELU, lambda x: x))
    assert smooth[0].startswith("The activation is not ReLU."), smooth
    assert smooth[1].endswith("Found: GELU."), smooth


def test_an_unknown_mistake_is_related_to_the_right_answer(grade: Callable[..., SubmissionResult]) -> None:
    assert "dx has the wrong sign" in by_name(grade("def double_vjp(g, x): return -2 * g"))["double_vjp"].message


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
def test_what_went_wrong_is_said(grade: Callable[..., SubmissionResult], source: str, status: str, says: str) -> None:
    exercise = by_name(grade(source))["double_vjp"]
    assert (exercise.status, exercise.points) == (status, 0)
    assert says in exercise.message


def test_a_changed_argument_costs_half_where_the_values_are_right(grade: Callable[..., SubmissionResult]) -> None:
    right, wrong = (
        by_name(grade(f"def double_vjp(g, x):\n    x[:] = 0\n    return {value}"))["double_vjp"]
        for value in ("2 * g", "3 * g")
    )
    assert (right.status, right.points, wrong.status, wrong.points) == ("partial", 2, "failed", 0)
    assert "changed its argument x" in right.message


def test_a_lesson_whose_package_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PyTorch its lessons ended in a traceback, and the grading of a class with them."""
    monkeypatch.setattr("autograder.collection.find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(IsolationError, match=r"^ch08_custom_functions needs torch: pip install .*torch$"):
        with_judge(find_lesson("ch08_custom_functions"), lambda judge: judge)
    with_judge(find_lesson("ch06_vjps"), lambda judge: judge)


def test_a_judge_of_one_exercise_knows_of_no_other() -> None:
    """For a contributor who writes it: its checks and its misconceptions, on the reference of the whole lesson."""

    def seen(judge: Judge) -> tuple[set[str], set[str], set[str]]:
        checks = [identify(item) for item in judge.items]
        known, references = {known.exercise for known in judge.mistakes.known}, set(judge.reference.implementations)
        return {check.exercise for check in checks if check}, known, references

    checks, known, references = with_judge(find_lesson("ch06_vjps"), seen, only="relu_vjp")
    assert checks == known == {"relu_vjp"}
    assert "add_vjp" in references


def test_checks_that_cannot_be_collected_are_an_error_of_the_course(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (Places(tmp_path).checks(LESSON) / "double_vjp.py").write_text("import nothing_of_that_name")
    with pytest.raises(CheckError, match="nothing_of_that_name"):
        with_judge(tiny(), lambda judge: judge, root=tmp_path)


def test_an_error_while_judging_reaches_the_caller(root: Path) -> None:
    def fail(judge: Judge) -> None:
        raise KeyError(judge.lesson.slug)

    with pytest.raises(KeyError):
        with_judge(tiny(), fail, root=root)


@pytest.mark.parametrize("raised", [False, True])
def test_of_what_a_scenario_is_given_only_what_tells_something_is_shown(raised: bool) -> None:
    """A program to mend failed on 'layers = a list of 1: a dict with the keys 'W', 'b'', and lines like it."""
    layers, data = [{"W": np.ones(2)}], [(np.ones(2), np.ones(2))]
    own = (("kind", "constant"), ("strided", False), ("size_times", 0.9248), ("graph", "a*b -> c"))
    arguments = (("layers", layers), ("data", data), ("x", np.array([7.0])), ("lr", 0.25), *own)
    reference = SimpleNamespace(signatures={"train": inspect.signature(lambda layers, data, lr: None)})
    with recording(exercise="train") as record:
        record.calls.append(Call("train", arguments, scenario=True))
        if raised:
            record.ended_by = Raised("train", Failure("NameError", [], "", "", "", ""))
            record.asked = "a step"
        else:
            expect_close(1.0, 2.0, case="a step", rtol=0.0, atol=0.0)
    said = diagnose([record], {}, reference).message  # type: ignore[arg-type]
    assert "a step:" in said
    assert "a list of" not in said
    assert re.search(r"x +=", said)
    assert "np.array([7.0])" in said
    assert re.search(r"lr +=", said), "it is an argument of the exercise"
    assert re.search(r"graph +=", said), "a reader can follow it by itself"
    assert not re.search(r"(kind|strided|size_times) +=", said), "these are the check's own"


def test_a_message_has_at_most_twelve_lines_and_says_a_value_once() -> None:
    """A slip in four lines printed 25; "c is 0; 8 expected" stood above "c: expected 8, got 0"."""
    names = tuple("abcdefghij")
    with recording(exercise="f") as record:
        record.calls.append(Call("f", tuple((name, np.ones((4, 4))) for name in names), positional=10))
        expect_close(
            tuple(np.zeros((4, 4)) for _ in names), tuple(np.ones((4, 4)) for _ in names), names=names, rtol=0, atol=0
        )
        expect_close((0.0, 1.0), (8.0, 1.0), names=("c", "d"), rtol=0, atol=0)
    reference = SimpleNamespace(signatures={})
    said = diagnose([record], {}, reference, guess=False).message  # type: ignore[arg-type]
    assert len(said.split("\n")) <= 12
    assert "… and 8 more." in said
    record.comparisons = record.comparisons[1:]
    said = diagnose([record], {}, reference, guess=False).message  # type: ignore[arg-type]
    assert said.startswith("c is 0; 8 expected\nf(a, b, c")
    assert said.count("8") == 1


def test_expectations_record_and_go_on() -> None:
    with recording() as record:
        expect_close(1.0, 2.0, rtol=0, atol=0)
        expect(False, "no")
        expect_close((1.0, np.ones(2)), (1.0, np.ones(2)), names=("a", "b"), rtol=0, atol=0)
        expect_close({"a": 1}, {"b": 1}, rtol=0, atol=0)
    assert [bool(comparison.problems) for comparison in record.comparisons] == [True, True, False, True]
    assert not record.passed


@pytest.mark.parametrize("slug", ["ch06_vjps", "ch07_mlp_backprop"])
def test_right_values_in_a_wrong_dtype_cost_a_tenth_at_most(slug: str) -> None:
    """They have cost up to a third, and were taken for an overflow."""

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


def test_a_slip_in_what_is_measured_is_worth_nothing_where_no_value_is_right(tmp_path: Path) -> None:
    """A check that fails for a changed argument alone must not be worth more than one that passes."""
    for name, text in MEASURED.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def share(judge: Judge, answer: Callable[..., Any]) -> float:
        items = judge.items_of("halve")
        return earned_share(lesson.exercises[0], items, judge.observe(items, judge.reference.local("halve", answer)))

    def wrong(x: Any) -> Any:
        x[:] = 0
        return x

    def right(x: Any) -> Any:
        x /= 2
        return x

    lesson = walks_of(Exercise(LESSON, "halve", 3, "core", ("a", "b"), ENVIRONMENT))
    shares = with_judge(lesson, lambda judge: [share(judge, answer) for answer in (wrong, right)], root=tmp_path)
    assert shares == [0, 0.5]


def test_a_wrong_dtype_is_more_than_that_where_values_are_wrong() -> None:
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
def test_an_error_that_is_expected_must_be_of_its_kind(bases: list[str], passes: bool) -> None:
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


def test_a_result_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "a" / "result.json"
    write_json(file, {"points": 1})
    with pytest.raises(TypeError):
        write_json(file, {"points": object()})
    assert file.read_text() == '{\n "points": 1\n}\n'
    assert list(file.parent.iterdir()) == [file]


def test_an_import_that_only_another_exercise_lacks_is_no_note() -> None:
    """With all points for `train` it has said that torch is not allowed, and that an earlier `train` was graded."""
    cells = [
        "import numpy as np\ndef bias_gradient(g):\n    return g.sum(axis=0)",
        "import torch\ndef train(model, batches, lr, accumulate=1):\n    return []",
    ]
    workers = Workers(find_lesson("ch03_accumulation"), "process")
    submission = Submission.of_cells("a test", cells)
    names = ["bias_gradient", "train"]
    try:
        result = with_judge(workers.lesson, lambda judge: judge.grade(submission, workers, only=names))
    finally:
        workers.stop()
    assert [exercise.points > 0 for exercise in result.exercises] == [True, False]
    assert result.message == ""


def test_an_import_that_is_refused_ends_no_cell_and_no_note_says_so(root: Path, plain_workers: Workers) -> None:
    """'what was defined before that was graded': it was what the cell defined after it."""
    submission = Submission.of_cells("a test", ["import torch\ndef double_vjp(g, x):\n    return 2 * g"])
    result = with_judge(
        tiny(), lambda judge: judge.grade(submission, plain_workers, only=["double_vjp"]), salt="salt", root=root
    )
    assert by_name(result)["double_vjp"].points == 4
    assert result.message.endswith("allowed here; what was defined all the same was graded.")
