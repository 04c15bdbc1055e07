"""Diagnosis from checks' records: which known mistake is named, which is not, and in how many lines."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autograder.collection import with_judge
from autograder.diagnosis import Misconception
from autograder.judging.checking.expectations import expect, expect_close, expect_raises
from autograder.judging.explaining.diagnosis import diagnose
from autograder.judging.explaining.evidence import Evidence
from autograder.judging.records.errors import Raised
from autograder.judging.records.record import Call, Record, current_record, recording
from autograder.judging.records.results import ExerciseResult
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.worker.execution import Failure
from course.syllabus import find_lesson


def test_an_exception_of_many_mistakes_names_none() -> None:
    """Formerly a gradcheck with a numerical_gradient for vectors only was told that it flattens: both raise."""

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


def returned_nothing() -> None:
    expect(False, "The result is None.")


def returned_zeros() -> None:
    expect(False, "Every unit is 0.")


def raised(message: str) -> Record:
    """Record of a function that raised a RuntimeError."""
    with recording() as record:
        record.ended_by = Raised(f"f raised RuntimeError: {message}", Failure("RuntimeError", [], message, "", "", ""))
    return record


def asked(ask: Callable[[], None]) -> Record:
    """Record that asked for a property."""
    with recording() as record:
        ask()
    return record


def in_a(kind: type) -> Callable[[], None]:
    """Ask for a list of a right and a wrong number, answered in this type of sequence."""
    return lambda: expect_close(kind((1.0, 3.0)), [1.0, 2.0], case="two", rtol=0.0, atol=0.0)


def ended(function: Callable[[], Any]) -> Record:
    """Record that expects a ValueError."""

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
    """Formerly one failed property, or one RuntimeError (PyTorch's only exception), was taken for any other.

    So was another exception than the expected one: a learner who read config["hidden"] was told to raise ValueError.
    """
    mistake = Misconception("f", "a_mistake", "You made a mistake.")
    evidence = Evidence(1, lambda *_: known)
    found = diagnose([mine], {mistake: evidence}, None)  # type: ignore[arg-type]
    assert found.misconceptions == (("a_mistake",) if named else ())


def test_two_forms_of_one_mistake_are_named_once() -> None:
    both = {
        Misconception("f", name, "You made a mistake."): Evidence(1, lambda *_: asked(returned_zeros))
        for name in ("a_mistake", "its_other_form")
    }
    message = diagnose([asked(returned_zeros)], both, None).message  # type: ignore[arg-type]
    assert message.startswith("You made a mistake.\nEvery unit is 0.")


def test_a_known_mistake_runs_until_it_differs() -> None:
    """The mistake's check ends at its first difference from the answer, and otherwise runs to its end."""
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
        (lambda x: 2 * x, (), 0),  # a recorded answer tells them apart
        (lambda x: x + 2 * (x > 3), (), 4),  # begins equally
        (lambda x: x + (x > 2), ("late",), 0),
    ):
        mine = check(answer)
        asked_for.clear()
        told = diagnose([mine], dict([known]), None)  # type: ignore[arg-type]
        assert (told.misconceptions, len(asked_for)) == (named, looked_at)


def test_checks_of_many_calls_are_left_for_last() -> None:
    """A mistake that a check of one call rules out does not run in one of many, even if that one fails."""
    run: list[int] = []

    def seen(i: int, enough: Any) -> Record:
        run.append(i)
        return asked(lambda: expect_close(2.0, 1.0, rtol=0, atol=0))

    def mine(calls: int, ask: Callable[[], None]) -> Record:
        record = asked(ask)
        record.calls = [Call("f", ())] * calls
        return record

    right = mine(1, lambda: expect_close(1.0, 1.0, rtol=0, atol=0))
    wrong = mine(100, returned_nothing)
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
def test_recorded_rejections_are_not_run_again(fails: set[int], rejected_by: set[int] | None, run: list[int]) -> None:
    """rejections.toml lists the visible checks that reject it."""
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


@pytest.mark.parametrize(
    ("hidden", "names", "run"),
    [
        pytest.param(3.0, ["one"], [0], id="the visible check tells"),
        pytest.param(3.0, ["one", "other"], [0, 0, 1, 1], id="the hidden check tells two apart"),
        pytest.param(1.0, ["one"], [0, 1], id="the hidden check ended otherwise than its visible twin"),
    ],
)
def test_a_mistake_runs_on_hidden_inputs_only_where_visible_ones_do_not_tell(
    hidden: float, names: list[str], run: list[int]
) -> None:
    """What a learner reads would otherwise depend on the salt, and each known mistake cost a class twice as much."""
    been: list[int] = []

    def check(visible: bool, got: float) -> Record:
        with recording(visible, check="values") as record:
            expect_close(got, 1.0, rtol=0, atol=0)
        return record

    def of(name: str) -> Evidence:
        def seen(i: int, enough: Any) -> Record:
            been.append(i)
            return check(i == 0, 2.0 if i == 0 else {"one": 3.0, "other": 4.0}[name])

        return Evidence(2, seen)

    mistakes = {Misconception("f", name, f"You made {name} mistake."): of(name) for name in names}
    found = diagnose([check(True, 2.0), check(False, hidden)], mistakes, None)  # type: ignore[arg-type]
    assert sorted(been) == run
    assert found.misconceptions == (() if hidden == 1.0 else ("one",))


@pytest.mark.parametrize(("instead", "named"), [("", []), ("upwards", ["a_mistake"])])
def test_no_mistake_is_named_for_a_property_that_hidden_inputs_alone_lack(instead: str, named: list[str]) -> None:
    """Formerly a training on other pixels was told of gradients that are never reset: neither step goes downhill."""

    def check(visible: bool) -> Record:
        with recording(visible=visible, exercise="f") as record:
            current_record().calls.append(Call("f", ()))
            expect(visible, "The step does not go downhill.", instead=instead)
        return record

    records = [check(True), check(False)]
    mistake = Misconception("f", "a_mistake", "You made a mistake.")
    found = diagnose(records, {mistake: Evidence(2, lambda i, enough: check(not i))}, None)  # type: ignore[arg-type]
    assert list(found.misconceptions) == named


def test_a_known_mistake_in_another_dtype_is_still_that_mistake() -> None:
    """A dtype may fail where the mistake is right: that the mistake is known to pass there does not rule it out."""
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
    """A `healthy_mlp` whose blocks use this module, and this function as activation."""
    torch = pytest.importorskip("torch")

    class Block(torch.nn.Sequential):  # type: ignore[name-defined]
        def forward(self, x: Any) -> Any:
            return x + after(super().forward(x))

    def build(n_in: int, n_out: int, depth: int = 30, width: int = 64) -> Any:
        blocks = [Block(torch.nn.Linear(width, width), torch.nn.BatchNorm1d(width), activation()) for _ in range(depth)]
        return torch.nn.Sequential(torch.nn.Linear(n_in, width), *blocks, torch.nn.Linear(width, n_out))

    return build


@pytest.mark.slow
def test_a_mistake_that_does_not_explain_the_answer_is_not_named() -> None:
    """Formerly weights 'start at 0' without a return, and the activation was 'still sigmoid' with torch.relu."""

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


@pytest.mark.parametrize("raised", [False, True])
def test_only_informative_arguments_of_a_scenario_are_shown(raised: bool) -> None:
    """Formerly a repair exercise failed on 'layers = a list of 1: a dict with the keys 'W', 'b'', and similar lines."""
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


def test_a_message_has_at_most_twelve_lines_and_no_repeated_value() -> None:
    """Formerly a slip in four lines printed 25; "c is 0; 8 expected" preceded "c: expected 8, got 0"."""
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
