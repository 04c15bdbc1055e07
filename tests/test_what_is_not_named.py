"""No mistake is named that was not made, and a caller is not blamed for the functions that it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
import torch
from newcomers import BEYOND, CHECKPOINTING, DEBUGGING, ENGINE, FUNCTIONS, MEMORY, EntropyOfLogarithms, Meter

from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.explaining.diagnosis import diagnose
from autograder.judging.records.record import Comparison, Record
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.submission import Submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow


class KeepsTheTensor(Meter):
    def kept(self, tensor: Any) -> Any:
        return tensor


class SquareWithoutBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * x


class EntropyKeepsBoth(EntropyOfLogarithms):
    both = True


def gradient_times_v(f: Any, x: Any, v: Any) -> Any:
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return (g * v).sum()


def plan_and_its_cost(costs: Any, sizes: Any, budget: float) -> Any:
    fitting: list[Any] = []
    for bits in range(2 ** len(costs)):
        runs, plan = [0.0], [i for i in range(len(costs)) if bits >> i & 1]
        for i, size in enumerate(sizes):
            runs = [*runs, 0.0] if i in plan else [*runs[:-1], runs[-1] + size]
        if sum(sizes[i] for i in plan) + max(runs) <= budget:
            fitting.append((sum(cost for i, cost in enumerate(costs) if i not in plan), plan))
    if not fitting:
        raise ValueError(budget)
    return min(fitting)


def fn_called_twice(fn: Any) -> Any:
    fn()
    try:
        with torch.autograd.detect_anomaly():
            fn().backward()
    except RuntimeError as error:
        if "returned nan" not in str(error):
            raise
        return str(error).split("'")[1]
    return None


@pytest.mark.parametrize(
    ("lesson", "exercise", "answer", "begins"),
    [
        (BEYOND, "hvp", gradient_times_v, "H·v has shape (); (1,) expected"),
        (CHECKPOINTING, "plan_checkpoints", plan_and_its_cost, "plan_checkpoints returned (2, [1]);"),
        (FUNCTIONS, "FusedCrossEntropy", EntropyKeepsBoth, "A second (n, c) tensor is kept:"),
        (FUNCTIONS, "Square", SquareWithoutBackward, "The check of Square could not go on: You must implement"),
    ],
)
def test_no_mistake_is_named_that_was_not_made(lesson: str, exercise: str, answer: Any, begins: str) -> None:
    """They used to be told of a second pass, a set, one-hots or a NotImplementedError that did not exist."""

    def use(judge: Judge) -> str:
        records = judge.observe(judge.items_of(exercise), judge.reference.local(exercise, answer))
        return judge.mistakes.explain(judge.lesson.exercise(exercise), records).message

    assert with_judge(find_lesson(lesson), use).startswith(begins)


def both_checks(fn: Any, *tensors: Any) -> bool:
    """A checker that ignores gradgradcheck's verdict."""
    copies = tuple(t.detach().clone() for t in tensors)
    copies = tuple(t.double().requires_grad_() if t.is_floating_point() else t for t in copies)
    try:
        passed = torch.autograd.gradcheck(fn, copies)
        torch.autograd.gradgradcheck(fn, copies, raise_exception=False)
    except Exception:
        return False
    return passed


def test_one_property_among_many_names_no_mistake() -> None:
    """They used to be told to leave fast_mode off, which they did not use."""

    def use(judge: Judge) -> tuple[str, ...]:
        run = judge.reference.local("run_gradcheck", both_checks)
        records = judge.observe(judge.items_of("run_gradcheck"), run)
        return judge.mistakes.explain(judge.lesson.exercise("run_gradcheck"), records).misconceptions

    assert with_judge(find_lesson(FUNCTIONS), use) == ()


TRACE = """
import torch

def hvp(f, x, v):
    return v * torch.autograd.functional.hvp(f, x, v)[1]

def hessian_trace(f, x, samples, generator):
    total = 0.0
    for _ in range(samples):  # hvp(f, x, z) for each
        z = torch.randint(2, x.shape, generator=generator).to(x) * 2 - 1
        total += (z * PRODUCT(f, x, z)).sum().item()
    return total / samples

def product(f, x, v):
    return hvp(f, x, v)
"""


@pytest.mark.parametrize(("product", "blamed"), [("hvp", True), ("product", False)])
def test_a_mistake_of_what_is_called_is_not_named_as_the_callers(product: str, blamed: bool) -> None:
    """They used to be told that the second z was missing; it was not, but their hvp multiplied by it, too."""
    submission = Submission.of_cells("a test", [TRACE.replace("PRODUCT", product)])
    workers, names = Workers(find_lesson(BEYOND), "process"), ["hvp", "hessian_trace"]
    try:
        result = with_judge(workers.lesson, lambda judge: judge.grade(submission, workers, only=names))
    finally:
        workers.stop()
    trace = result.exercises[-1]
    assert trace.message.startswith("hessian_trace calls hvp, which is wrong itself: mend that first.") is blamed
    assert trace.misconceptions == []


def test_a_wrong_number_of_calls_is_no_key_error_of_the_grader() -> None:
    """The number used to be part of a key, which the right answer then lacked."""

    def use(judge: Judge) -> str:
        records = judge.observe(judge.items_of("anomaly_op"), judge.reference.local("anomaly_op", fn_called_twice))
        return judge.mistakes.explain(judge.lesson.exercise("anomaly_op"), records).message

    message = with_judge(find_lesson(DEBUGGING), use)
    assert "fn was not called exactly once" in message
    assert "KeyError" not in message


def test_what_is_said_of_another_case_stands_in_one_line_with_it() -> None:
    """`b.grad is right` used to appear above a case in which it was wrong; what is not so in all cases is not said."""
    x = np.array([1.5372, -0.2618, 0.7193, 2.2641])
    names = ("a.grad", "b.grad")
    shown = Comparison((x[:1] + 1, x[:1] ** 3), (x[1:2], x[2:]), names, "on a result", None, 1e-7, 1e-9, ("wrong",))
    largest = Comparison((-x, x), (x, x), names, "on a leaf", None, 1e-7, 1e-9, ("wrong",))
    message = diagnose([Record(comparisons=[shown, largest])], {}, cast(Any, None)).message
    assert "\nOn a leaf: a.grad has the wrong sign.\n" in message
    assert "is right" not in message


def test_who_keeps_addresses_alone_is_told_of_the_circle() -> None:
    """They used to be told to remember addresses, which they did; their pack hook returned the tensor itself."""

    def use(judge: Judge) -> str:
        exercise = judge.lesson.exercise("SavedTensorMeter")
        records = judge.observe(judge.items_of(exercise.name), judge.reference.local(exercise.name, KeepsTheTensor))
        return judge.mistakes.explain(exercise, records).message

    assert "pack returns the tensor itself" in with_judge(find_lesson(MEMORY), use)


@pytest.mark.parametrize("answer", [lambda *_: None, lambda X, y, X_test, seed: np.zeros(len(X_test))])
def test_whatever_is_no_labels_is_not_called_the_labels_of_the_training(answer: Callable[..., Any]) -> None:
    """A result of None, without `return`, used to get the advice to classify X_test with the trained network."""

    def use(judge: Judge) -> str:
        exercise = judge.lesson.exercise("train_digits")
        items = judge.items_of(exercise.name)[:1]
        judge._items_of[exercise.name] = items
        return judge.mistakes.explain(
            exercise, judge.observe(items, judge.reference.local(exercise.name, answer))
        ).message

    assert with_judge(find_lesson("ch05_autograd_engine"), use).startswith("train_digits returned ")


def test_a_training_that_runs_away_is_asked_about_its_direction() -> None:
    """For labels that are all equal, the message used to ask only about initialisation and parameters."""

    def use(judge: Judge) -> str:
        text = Places().source(ENGINE).read_text(encoding="utf-8")
        right = "p.data -= 0.2 * p.grad"
        assert right in text
        run = judge.reference.local_text(text.replace(right, "p.data -= 1e3 * p.grad"))
        records = judge.observe(judge.items_of("train_digits")[:1], run)
        return diagnose(records, {}, judge.reference).message

    assert "do the steps go downhill, is the loss a mean" in with_judge(find_lesson(ENGINE), use)


def test_a_training_that_does_not_use_its_seed_is_not_told_of_other_gradients() -> None:
    """Two trainings of it cannot be compared, and their difference was put down to a loss with other gradients."""

    def use(judge: Judge) -> list[str]:
        text = Places().source(ENGINE).read_text(encoding="utf-8")
        right = "np.random.default_rng(seed)"
        assert right in text
        run = judge.reference.local_text(text.replace(right, "np.random.default_rng()"))
        records = judge.observe(judge.items_of("train_digits", True), run)
        return [problem for record in records for one in record.failures for problem in one.problems]

    told = with_judge(find_lesson(ENGINE), use)
    assert [one for one in told if one.startswith("A second training with the same seed begins with other")]
    assert not [one for one in told if "has other gradients" in one]


def test_a_recursion_is_known_wherever_the_stack_was_full() -> None:
    """A worker's stack is less deep at the start, so another call exceeds the limit."""

    def use(judge: Judge) -> list[tuple[str, ...]]:
        exercise, items = judge.lesson.exercise("Dual"), judge.items_of("Dual")
        (mistake,) = (known for known in judge.mistakes.known if known.name == "exponent_taken_for_a_number")
        run = judge.reference.mistaken(mistake)

        def observed(deeper: int) -> list[Record]:
            return observed(deeper - 1) if deeper else judge.observe(items, run)

        return [judge.mistakes.explain(exercise, observed(deeper)).misconceptions for deeper in range(4)]

    assert set(with_judge(find_lesson("ch02_chain_rule"), use)) == {("exponent_taken_for_a_number",)}
