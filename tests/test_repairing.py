"""Messages that say where one edit of a learner's own code makes every visible case pass."""

from __future__ import annotations

import ast
from dataclasses import replace
from textwrap import dedent
from typing import Any

import pytest
from repairable import GUIDED, REPAIRABLE

from autograder.collection import with_judge
from autograder.diagnosis import Misconception, mistake
from autograder.diagnosis.mutation.repairs import repairs
from autograder.diagnosis.mutation.text import Source
from autograder.isolation import Workers
from autograder.judging import repairs as repairs_of_answers
from autograder.judging.asking.run import SubmissionRun
from autograder.judging.asking.variant_run import VariantRun
from autograder.judging.checking.plugin import identify
from autograder.judging.explaining.mended import NOT_MENDED, Mended
from autograder.judging.explaining.own_code import OwnCode
from autograder.judging.records.results import ExerciseResult
from autograder.judging.repairs import REPAIRS
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.submission import Submission
from course.syllabus import find_lesson, whole_lessons

pytestmark = pytest.mark.slow

HOSTILE = """
import builtins, linecache, os
builtins.loads = getattr(builtins, "loads", 0) + 1  # a process runs variants one after the other

def attack():
    {attack}

def relu_vjp(g, x):
    if {when}:
        return attack()
    return np.where((x > 0) & (g > 0), g, 0).astype(x.dtype)
"""
IN_ANY, IN_LATER = "not linecache.getlines('cell 1')", "builtins.loads > 2"
"""Conditions that hold in variants, and in those after the first."""
ATTACKS = ("os._exit(1)", "return np.zeros(900_000)", "return g.tolist() * 100_000")
CATCHES_INTERRUPTS = """while True:
        try:
            while True:
                pass
        except BaseException:
            pass"""


def graded(lesson: str, exercise: str, *sources: str, of_many: bool = False) -> list[ExerciseResult]:
    """The results of submissions in one cell each, of one class."""
    found = find_lesson(lesson)
    alone = replace(found, exercises=(found.exercise(exercise),))

    def use(judge: Judge) -> list[ExerciseResult]:
        workers = Workers(alone, "sandbox")
        try:
            texts = ["import numpy as np\n" + dedent(source) for source in sources]
            submissions = [Submission.of_cells("a test", [text]) for text in texts]
            return [judge.grade(one, workers, of_many=of_many).exercises[0] for one in submissions]
        finally:
            workers.stop()

    return with_judge(alone, use, salt="a salt")


@pytest.mark.parametrize(("lesson", "exercise"), REPAIRABLE)
def test_place_and_kind_of_the_edit_that_repairs_an_answer(lesson: str, exercise: str) -> None:
    answers = REPAIRABLE[lesson, exercise]
    results = graded(lesson, exercise, *(source for source, _ in answers))
    for (_, says), result in zip(answers, results, strict=True):
        assert result.message.partition("\n")[0] == says


def test_nothing_is_said_of_code_that_no_edit_repairs() -> None:
    (result,) = graded("ch06_vjps", "relu_vjp", "def relu_vjp(g, x):\n    return np.sin(g * x + 3)")
    assert "visible case passes" not in result.message


KEEPS = """
def running_mean_loss(losses):
    total, count = {start}, 0
    for loss in losses:
        ONE.append(loss)
        if count > 2:
            OTHER.append([node for node, _ in loss.grad_fn.next_functions] if loss.grad_fn else [])
        total, count = total + loss.item(), count + 1
    if not count:
        raise ValueError("no losses to average")
    return total / count

ONE, OTHER = [], []
"""


def test_few_variants_are_tried_of_an_answer_that_is_right_in_all_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """No edit frees these graphs; a search as long as that for a wrong value would take four times as many."""
    tried, take = list[str](), VariantRun.take

    def counting(self: VariantRun, changes: Any, **how: Any) -> None:
        tried.append(start)
        take(self, changes, **how)

    monkeypatch.setattr(VariantRun, "take", counting)
    for start in ("0.0", "1.0"):
        (result,) = graded("ch04_detachment", "running_mean_loss", KEEPS.format(start=start))
        assert "visible case passes" not in result.message
    assert 10 < tried.count("0.0") < tried.count("1.0") / 2


HEAVY = """
def nothing():
    pass

def relu_vjp(g, x):
    for _ in range({rounds}):
        nothing()
    return np.sin(g * x + 3).astype(x.dtype)
"""


def test_fewer_variants_are_tried_of_an_answer_that_does_much_in_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Traced or compiled code enters tens of thousands of functions in each call; its search took up to 20 seconds."""
    tried, screen = list[int](), VariantRun.screen

    def counting(self: VariantRun, variants: Any, call: Any) -> Any:
        tried.extend([rounds] * len(variants))
        return screen(self, variants, call)

    monkeypatch.setattr(VariantRun, "screen", counting)
    for rounds in (10, 20_000):
        graded("ch06_vjps", "relu_vjp", HEAVY.format(rounds=rounds))
    assert 5 < tried.count(20_000) < tried.count(10) / 2


def test_right_answers_and_known_mistakes_are_not_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.judging.repair.Repairer", None)  # calling it fails
    right = "def relu_vjp(g, x):\n    return np.where(x > 0, g, 0).astype(x.dtype)"
    known = "def relu_vjp(g, x):\n    return np.where(x >= 0, g, 0).astype(x.dtype)"
    results = graded("ch06_vjps", "relu_vjp", right, known)
    assert results[0].status == "passed"
    assert results[1].misconceptions


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The exercises of which a repair is looked for; none is found."""
    names = list[str]()

    def nothing(judge: Judge, exercise: Any, *_: object) -> Mended:
        names.append(exercise.name)
        return NOT_MENDED

    monkeypatch.setattr(repairs_of_answers, "_repair_of", nothing)
    return names


def statuses(slug: str, source: str, only: list[str] | None = None) -> dict[str, str]:
    """By exercise of a submission in one cell: its status."""
    lesson = find_lesson(slug)

    def use(judge: Judge) -> dict[str, str]:
        workers = Workers(lesson, "sandbox")
        try:
            results = judge.grade(Submission.of_cells("a test", [source]), workers, only=only).exercises
            return {result.name: result.status for result in results}
        finally:
            workers.stop()

    return with_judge(lesson, use, salt="a salt")


def test_a_class_is_given_up_where_nothing_repairs_its_first_wrong_exercise(tried: list[str]) -> None:
    """Its exercises run the same methods, and each further search made a class of ch05 a third dearer in vain."""
    lesson = "ch05_autograd_engine"
    source = Places().source(lesson).read_text(encoding="utf-8")
    found = statuses(lesson, source.replace("self.data = data if", "self.data = np.sin(data) + 1e-3 if"))
    assert len([name for name, status in found.items() if name.startswith("Tensor") and status != "passed"]) > 1
    assert [name for name in tried if name.startswith("Tensor")] == ["Tensor"]


ONE_LINE = """
import numpy as np
def rule(g, slope):
    return (g @ slope.missing).astype(g.dtype)
def relu_vjp(g, x):
    return rule(g, x > 0)
def tanh_vjp(g, x):
    return rule(g, 1 - np.tanh(x) ** 2)
def sigmoid_vjp(g, x):
    return g.missing
"""


def test_a_line_is_given_up_where_nothing_repairs_the_first_exercise_that_ends_there(tried: list[str]) -> None:
    found = statuses("ch06_vjps", ONE_LINE, ["relu_vjp", "tanh_vjp", "sigmoid_vjp"])
    assert set(found.values()) == {"error"}
    assert sorted(tried) == ["relu_vjp", "sigmoid_vjp"]


def test_variants_are_asked_visible_inputs_alone_and_before_hidden_ones_are_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[tuple[bool, bool]]()
    observe = Judge.observe

    def noted(judge: Judge, items: list[pytest.Item], run: Any, **options: Any) -> Any:
        submitted = isinstance(run, SubmissionRun | VariantRun)
        for item in items if submitted else ():
            check = identify(item)
            assert check is not None
            asked.append((isinstance(run, VariantRun), check.visible))
        return observe(judge, items, run, **options)

    monkeypatch.setattr(Judge, "observe", noted)
    (result,) = graded("ch06_vjps", "relu_vjp", GUIDED)
    assert "every visible case passes" in result.message
    variants = [place for place, (of_a_variant, _) in enumerate(asked) if of_a_variant]
    hidden = [place for place, (_, visible) in enumerate(asked) if not visible]
    assert variants
    assert hidden
    assert max(variants) < min(hidden)


@pytest.mark.parametrize("of_many", [False, True])
def test_points_and_hidden_checks_are_those_without_a_repair(of_many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker serves one process at a time, and the variants have one of their own before the hidden checks."""
    source = REPAIRABLE["ch03_accumulation", "bias_gradient"][0][0]
    (repaired,) = graded("ch03_accumulation", "bias_gradient", source, of_many=of_many)
    monkeypatch.setenv(REPAIRS, "0")
    (plain,) = graded("ch03_accumulation", "bias_gradient", source, of_many=of_many)
    assert "every visible case passes" in repaired.message
    assert "every visible case passes" not in plain.message
    assert 0 < repaired.points == plain.points
    assert repaired.checks == plain.checks


def test_hostile_variants_cost_their_own_repair_alone() -> None:
    attacks = [(attack, when) for attack in ATTACKS for when in (IN_ANY, IN_LATER)] + [(CATCHES_INTERRUPTS, IN_ANY)]
    sources = [HOSTILE.format(attack=attack, when=when) for attack, when in attacks]
    results = graded("ch06_vjps", "relu_vjp", GUIDED, *sources, GUIDED)
    assert [result.points for result in results] == [0] * len(results)
    assert results[-1].message == results[0].message
    for result in results[1:-1]:
        assert "dx differs in 1 of 2 entries" in result.message


def test_code_that_is_no_python_huge_or_deep_is_left_alone() -> None:
    deep = f"x = {'(' * 150}1{')' * 150}"
    for source in ("def f(:", deep, "x = 1\n" * 40_000, "x = 'a\0b'", f"x = {'-' * 5_000}1"):
        code = OwnCode(Submission.of_cells("a test", [source, "def f(x):\n    return x + 1"]))
        code.edits({("cell 2", 2)}, (), ((), ()))
    for deep in (f"{'-' * 3_000}x", " + ".join(["x"] * 3_000)):
        OwnCode(Submission.of_cells("a test", [f"def f(x):\n    return {deep}"])).edits({("cell 1", 2)}, (), ((), ()))
    code = OwnCode(Submission.of_cells("a test", ["def f(:", "def f(x):\n    return x + 1"]))
    assert code.edits({("cell 2", 2)}, (), ((), ()))


def test_an_edit_that_takes_out_what_a_known_mistake_lacks_has_made_it() -> None:
    """It was said to leave the mistake: `generator=own` is another generator, and not the global one."""
    code = OwnCode(Submission.of_cells("a test", ["def f(n, own):\n    return 2 * draw(n, generator=own) - 1"]))
    known = mistake("f", {"z = draw(n, generator=generator)": "z = draw(n)"}, says="The numbers are the global ones.")
    edits = {edit: code.changes(edit) for edit in code.edits({("cell 1", 2)}, (), ((), ()))}
    made = {edit for edit, changes in edits.items() if changes and "generator" not in changes[0][1]}
    assert "without one argument" in {edit.kind for edit in made}
    assert {edit for edit in edits if code.takes_out(edit, known)} == made
    assert not any(code.takes_out(edit, Misconception("f", "of_no_edits", says="?")) for edit in edits)


@pytest.mark.parametrize("slug", whole_lessons())
def test_every_operator_takes_every_reference(slug: str) -> None:
    source = Source(Places().source(slug).read_text(encoding="utf-8"))
    definitions = [node for node in source.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    found = list(repairs(source, list(definitions)))
    for repair in found[:: max(1, len(found) // 50)]:
        assert repair.splice.applied(source.bytes) != source.bytes.decode()
        assert source.text(repair.place)
    assert len({repair.rank for repair in found}) > 5
