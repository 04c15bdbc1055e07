"""Messages for answers that no known mistake gives: slips of the reference, or two known mistakes at once."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.collection import with_judge
from autograder.diagnosis.mutation.cells import parts_of
from autograder.diagnosis.mutation.text import Source
from autograder.diagnosis.mutation.variants import variants
from autograder.isolation import Workers
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining import searching, work
from autograder.judging.explaining.evidence import Evidence
from autograder.judging.explaining.searching import Candidate, TooLong, at_most
from autograder.judging.explaining.work import (
    ENDLESS_CALLS,
    SCENARIO_CALLS,
    SEARCH_CALLS,
    Work,
    calls_of,
    calls_to_differ,
)
from autograder.judging.records.errors import TimedOut
from autograder.judging.records.record import Call, Comparison, Record
from autograder.judging.records.results import ExerciseResult
from autograder.judging.session import Judge
from autograder.submission import Submission
from course.syllabus import Environment, Exercise, Lesson, find_lesson

pytestmark = pytest.mark.slow

LESSON = "ch01_tiny"
ENVIRONMENT = Environment(("numpy",), ())
SOLUTION = """
import numpy as np

# %% tags=["solution"]
def scaled(x, size):
    return x / size

# %% exercise="norm_vjp"
def norm_vjp(g, x, gamma):
    ### BEGIN SOLUTION
    total = np.zeros_like(x[0])
    for row in x:
        total += row**2
    mean = (g * x).sum(axis=0)
    return scaled(g * gamma * (x - 3 * mean), 4) + total
    ### END SOLUTION

# %% exercise="helped"
def helped(x):
    ### BEGIN SOLUTION
    return norm_vjp(x, x, x[0]) + 1
    ### END SOLUTION
"""
CHECKS = """
from autograder.judging import exercise, expect_close

@exercise("norm_vjp")
def test_norm(learner, reference, rng):
    for n in (2, 3, 5):
        g, x, gamma = rng.normal(size=(n, 4)), rng.normal(size=(n, 4)), rng.normal(size=4)
        mine, theirs = learner.norm_vjp(g, x, gamma), reference.norm_vjp(g, x, gamma)
        expect_close(mine, theirs, names=("dx",), case=f"{n} rows", rtol=1e-9, atol=1e-12)

@exercise("helped")
def test_helped(learner, reference, rng):
    x = rng.normal(size=(3, 4))
    expect_close(learner.helped(abs(x)), reference.helped(abs(x)), names=("y",), case="x", rtol=1e-9, atol=1e-12)
"""
MISCONCEPTIONS = """
from autograder.diagnosis import mistake

no_g = mistake("norm_vjp", {"mean = (g * x).sum(axis=0)": "mean = x.sum(axis=0)"}, says="g is missing in the mean.")
by_two = mistake(
    "norm_vjp",
    {"return scaled(g * gamma * (x - 3 * mean), 4) + total": "return scaled(g * gamma * (x - 3 * mean), 2) + total"},
    says="It is divided by 2.",
)
largest = mistake("norm_vjp", {"total += row**2": "total = np.maximum(total, row**2)"}, says="The largest was taken.")
"""
RIGHT = """
import numpy as np

def norm_vjp(g, x, gamma):
    mean = (g * x).sum(axis=0)
    return (x - 3 * mean) * gamma * g / 4 + (x * x).sum(0)

def helped(x):
    return norm_vjp(x, x, x[0]) + 1
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny-course")
    for name, text in {
        f"solutions/{LESSON}.py": SOLUTION,
        f"autograder/lessons/{LESSON}/checks/norm_vjp.py": CHECKS,
        f"autograder/lessons/{LESSON}/mistakes/norm_vjp.py": MISCONCEPTIONS,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def no_repairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repair of the learner's own code is said before a slip of the reference (`test_repairing`)."""
    monkeypatch.setattr("autograder.judging.repairs.repairs_of", lambda *_: {})


@pytest.fixture
def told(root: Path) -> Callable[..., str]:
    """The message for norm_vjp's reference with parts of its text replaced."""

    def message(*replaced: tuple[str, str], exercise: str = "norm_vjp") -> str:
        source = RIGHT
        for before, after in replaced:
            assert before in source
            source = source.replace(before, after)
        exercises = tuple(Exercise(LESSON, name, 3, "core", ("a", "b"), ENVIRONMENT) for name in ("norm_vjp", "helped"))
        lesson = Lesson(LESSON, "Tiny", "Part", 5, ENVIRONMENT, exercises)

        def graded(judge: Judge) -> str:
            workers = Workers(lesson, "process")
            try:
                results = judge.grade(Submission.of_cells("a test", [textwrap.dedent(source)]), workers).exercises
            finally:
                workers.stop()
            return next(result.message for result in results if result.name == exercise)

        return with_judge(lesson, graded, root=root)

    return message


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("(x * x).sum(0)", "x[-1] ** 2", "`=` in the place of `+=`, so that the last write wins"),
        ("gamma * g / 4", "g / 4", "the factor gamma left out"),
        ("x - 3 * mean", "x + 3 * mean", "a sign turned round"),
        ("x - 3 * mean", "3 * mean - x", "a sign turned round"),
        ("(x - 3 * mean) * gamma * g / 4", "(g * gamma * x - 3 * mean) / 4", "brackets left out"),
        ("(x - 3 * mean) * gamma", "(x - 3 * mean) * gamma * gamma", "the factor gamma squared"),
        ("g / 4", "g // 4", "`//` in the place of `/`, which drops the fraction"),
        ("(x * x).sum(0)", "x[0] ** 2", "a loop that ends after one round"),
    ],
)
def test_an_answer_that_equals_one_variant_is_told_as_that(
    told: Callable[..., str], before: str, after: str, words: str
) -> None:
    message = told((before, after))
    assert message.startswith(
        f"The same values come out of a right answer with one slip, however yours is written: {words}"
    )


def test_what_several_slips_give_is_not_told_as_one_of_them(told: Callable[..., str]) -> None:
    assert "slip" not in told((" + (x * x).sum(0)", ""))  # a term, or the += that makes it


def test_two_known_mistakes_together_are_both_told(told: Callable[..., str]) -> None:
    message = told(("(g * x).sum", "x.sum"), ("/ 4", "/ 2"))
    assert message.startswith("Two mistakes together give exactly this. First:")
    assert "g is missing in the mean." in message
    assert "It is divided by 2." in message
    assert "The largest" not in message


def test_a_known_mistake_beside_an_unknown_one_is_not_said_to_be_all(told: Callable[..., str]) -> None:
    other = "(x * x).sum(0) + (len(x) > 2) * np.sin(x)"
    message = told(("/ 4", "/ 2"), ("(x * x).sum(0)", other))
    assert message.startswith("First, it seems: It is divided by 2.")
    assert "This explains the case below exactly, but not every other case that fails.\ndx differs" in message


def test_a_mistake_that_does_not_give_the_smallest_case_is_not_named(told: Callable[..., str]) -> None:
    message = told(("/ 4", "/ 2"), ("(x * x).sum(0)", "(x * x).sum(0) + np.sin(x)"))
    assert "First" not in message
    assert "divided by 2" not in message


def test_a_search_that_takes_too_much_work_says_nothing(
    told: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "SEARCH_CALLS", 10)
    message = told(("gamma * g / 4", "g / 4"))
    assert "slip" not in message
    assert "dx differs" in message


def test_the_work_of_a_search_is_counted_alike_whatever_was_tried_before() -> None:
    """What an earlier answer has tried costs no time, and counts all the same: else a class's order would be told."""
    calls = [Call("f", ()), Call("of a network", (), scenario=True), Call("f", ())]
    failed = Comparison(1.0, 2.0, ("y",), "", calls[1], 0.0, 0.0, ("y is 1; 2 expected",))
    records = [(0, Record(calls=calls, comparisons=[failed])), (1, Record(calls=calls[:1]))]
    assert [calls_to_differ(record) for _, record in records] == [1 + SCENARIO_CALLS, 1]
    assert calls_of(records[0][1]) == 2 + SCENARIO_CALLS
    candidate = Candidate("", Evidence(2, lambda i, enough: Record(ended_by=TimedOut("no answer"))), endless={0})
    left = []
    for _ in range(2):
        counted = Work(records)
        assert not candidate.explains(records, counted)
        left.append(counted._left)
    assert left == [SEARCH_CALLS - 1 - SCENARIO_CALLS - ENDLESS_CALLS] * 2


def test_slips_are_of_the_exercise_and_its_helpers_alone() -> None:
    source = Source(SOLUTION)
    parts = parts_of(source, SOLUTION, "norm_vjp")
    assert {source.function(source.start(part)).partition(".")[0] for part in parts} == {"scaled", "norm_vjp"}
    changed = [variant.splice.applied(source.bytes) for variant in variants(source, parts, exercise="norm_vjp")]
    assert len(changed) == len(set(changed)) > 40
    assert all("return norm_vjp(x, x, x[0]) + 1" in text for text in changed)


def test_words_quote_no_line_of_the_reference() -> None:
    source = Source(SOLUTION)
    found = variants(source, parts_of(source, SOLUTION, "norm_vjp"), exercise="norm_vjp")
    lines = [line.strip() for line in SOLUTION.splitlines() if len(line.strip()) > 12]
    assert not any(line in variant.words for variant in found for line in lines)


def test_a_changed_reference_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "CHANGE_SECONDS", 0.05)

    def observe(run: object, i: int, enough: object) -> Record:
        while True:
            pass

    search = searching.Search(Reference(find_lesson("ch07_mlp_backprop")), "mse_loss", [], 1, observe)
    candidate = search.variants()[0]
    assert not candidate.evidence[0].passed
    assert not candidate.evidence.same_as(Record(), 0)
    assert candidate.endless == {0}


NO_CYCLES = """
def topological_order(output):
    order, seen = [], set()

    def visit(node):
        seen.add(node)
        for parent in node.parents:
            if parent not in seen:
                visit(parent)
        order.append(node)

    visit(output)
    return order
"""
PARENTS_LOST = """
def topological_order(output):
    return [output]
"""
OVERWRITES = """
def reverse_sweep(output):
    gradients = {output: 1.0}
    for node in reversed(topological_order(output)):
        for parent, local in zip(node.parents, node.local_gradients):
            gradients[parent] = gradients[node] * local
    return gradients
"""


@pytest.mark.parametrize(("helper", "blamed"), [(NO_CYCLES, False), (PARENTS_LOST, True)])
def test_a_helper_is_blamed_only_where_the_right_one_changes_the_verdict(helper: str, blamed: bool) -> None:
    lesson = find_lesson("ch01_computation_graph")
    lesson = replace(lesson, exercises=tuple(map(lesson.exercise, ("topological_order", "reverse_sweep"))))

    def graded(judge: Judge) -> list[ExerciseResult]:
        workers = Workers(lesson, "process")
        try:
            return judge.grade(Submission.of_cells("a test", [helper, OVERWRITES]), workers).exercises
        finally:
            workers.stop()

    order, sweep = with_judge(lesson, graded)
    assert order.status != "passed"
    assert sweep.message.startswith("reverse_sweep calls topological_order, which is wrong itself") is blamed
    assert ("+= instead of =" in sweep.message) is not blamed


def test_what_drops_an_exception_is_ended_all_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    """Python drops exceptions raised in a destructor, so endless loops in several of them would never end."""

    class Endless:
        def __del__(self) -> None:
            while True:
                pass

    def goes_on() -> None:
        Endless()
        while True:
            pass

    with pytest.raises(TooLong), at_most(0.05):
        goes_on()
    assert capfd.readouterr().err == ""
