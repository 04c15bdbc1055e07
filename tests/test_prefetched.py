"""Prefetching calls changes the cost of grading, but not its results."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.collection import with_judge
from autograder.isolation import Workers, forking
from autograder.isolation.forking import ForkingWorker
from autograder.judging.asking.run import request_of
from autograder.judging.recorder import Recorder
from autograder.judging.session import Judge
from autograder.submission import Submission, read_submission
from autograder.worker.messages import Call
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

SAMPLES = sorted((ROOT / "autograder" / "sample_class").glob("*/*.*"))

SLOW_OR_UNREADABLE = ("hana-endless-loop", "ivo-memory-hog", "max-cut-off")

LESSONS = ("ch02_chain_rule", "ch06_vjps", "ch07_mlp_backprop")

SIZES = "def saved_bytes(sizes, batch, itemsize=8):\n"


def graded(judge: Judge, submissions: list[Submission], *, of_many: bool) -> list[dict[str, Any]]:
    """The results of a class, without what differs from run to run."""
    workers = Workers(judge.lesson, "process")
    try:
        results = [judge.grade(submission, workers, of_many=of_many).to_json() for submission in submissions]
    finally:
        workers.stop()
    for result in results:
        for exercise in result["exercises"]:
            del exercise["seconds"]
    return results


def test_what_gradcheck_asks_is_known_beforehand() -> None:
    """Otherwise each right submission of ch08 would call back some thousand times."""
    lesson = find_lesson("ch08_custom_functions")
    exercise = lesson.exercise("run_gradcheck")
    checks = with_judge(lesson, lambda judge: judge._calls_of(exercise))
    assert checks
    assert all(check.whole for check in checks)


@pytest.mark.parametrize("slug", LESSONS)
def test_a_class_has_the_results_that_each_would_have_alone(slug: str) -> None:
    files = [file for file in SAMPLES if file.stem == slug and file.parent.name not in SLOW_OR_UNREADABLE]
    submissions = [read_submission(file) for file in files]
    submissions += submissions[:2]  # answers that have been seen

    def use(judge: Judge) -> None:
        together = graded(judge, submissions, of_many=True)
        assert together == graded(judge, submissions, of_many=False)
        assert all(judge._questions.values())

    with_judge(find_lesson(slug), use)


def test_calls_of_what_a_submission_does_not_name_are_not_noted() -> None:
    """A function whose name is computed earns the same as without prefetching."""
    lesson = find_lesson("ch06_vjps")
    body = "(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
    named = Submission.of_cells("work.ipynb", [f"def relu_vjp{body}"])
    hidden = Submission.of_cells("work.ipynb", [f"def f{body}\nglobals()['relu_' + 'vjp'] = f\n"])

    def use(judge: Judge) -> None:
        unnamed, *others = graded(judge, [hidden], of_many=True) + graded(judge, [named, hidden], of_many=True)
        assert list(judge._questions) == [("relu_vjp", True), ("relu_vjp", False)]
        assert {result["points"] for result in (unnamed, *others)} == {2}

    with_judge(lesson, use)


@pytest.fixture(scope="module")
def judge_of_sizes() -> Any:
    """Grade sources of `saved_bytes`, an exercise of whole numbers in ch07, one after the other."""
    lesson = find_lesson("ch07_mlp_backprop")
    exercise = replace(lesson.exercise("saved_bytes"), seconds=2.0)
    quick = replace(lesson, exercises=(exercise,))

    def use(*sources: str) -> list[dict[str, Any]]:
        submissions = [Submission.of_cells("work.ipynb", [source]) for source in sources]
        return with_judge(quick, lambda judge: graded(judge, submissions, of_many=True))

    return use


def solution() -> str:
    """The reference of `saved_bytes`."""
    text = (ROOT / "solutions" / "ch07_mlp_backprop.py").read_text(encoding="utf-8")
    found = re.search(r'^# %% exercise="saved_bytes".*?\n(.*?)(?=^# %%)', text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return "import numpy as np\n" + found[1]


def test_where_there_is_no_room_for_the_calls_they_are_made_one_by_one(
    judge_of_sizes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (expected,) = judge_of_sizes(solution())
    monkeypatch.setattr(forking.tempfile, "TemporaryFile", partial(open, "/dev/full", "wb"))
    assert judge_of_sizes(solution()) == [expected]


def spoilt(what: str, from_call: int) -> str:
    """The solution, with other behaviour from this call on."""
    return (
        solution()
        + f"""
right, calls = saved_bytes, 0
def saved_bytes(*args, **kwargs):
    global calls
    calls += 1
    if calls > {from_call}:
        {what}
    return right(*args, **kwargs)
"""
    )


def statuses(result: dict[str, Any]) -> list[bool]:
    return [check["passed"] for check in result["exercises"][0]["checks"]]


def test_a_call_that_hangs_costs_what_comes_after_it_and_nothing_before(judge_of_sizes: Any) -> None:
    late, right = judge_of_sizes(spoilt("import time; time.sleep(600)", 5), solution())
    assert right["points"] == right["max_points"]
    assert late["exercises"][0]["status"] in ("partial", "timeout")
    assert statuses(late)[0] != statuses(late)[-1]
    assert "did not return within 2 seconds" in late["exercises"][0]["message"]


@pytest.mark.parametrize("ending", ["__import__('os')._exit(3)", "__import__('os').kill(__import__('os').getpid(), 9)"])
def test_a_call_that_ends_the_process_costs_what_comes_after_it_and_nothing_before(
    judge_of_sizes: Any, ending: str
) -> None:
    ended, right = judge_of_sizes(spoilt(ending, 5), solution())
    assert right["points"] == right["max_points"]
    assert statuses(ended)[0] != statuses(ended)[-1]
    assert "ended" in ended["exercises"][0]["message"]


def test_slow_calls_have_their_limit_each(judge_of_sizes: Any) -> None:
    """All calls together take longer than the limit for one."""
    (slow,) = judge_of_sizes(spoilt("__import__('time').sleep(0.4)", 0))
    assert slow["points"] == slow["max_points"]


def test_answers_that_were_right_once_are_right_again_and_others_are_looked_at(judge_of_sizes: Any) -> None:
    wrong = solution() + "\nright = saved_bytes\nsaved_bytes = lambda *args, **kwargs: right(*args, **kwargs) + 1"
    results = judge_of_sizes(solution(), wrong, solution(), wrong)
    assert [result["points"] > 0 for result in results] == [True, False, True, False]
    assert results[0] == results[2]
    assert results[1] == results[3]


def test_calls_with_what_the_submission_returned_are_made_with_that() -> None:
    """The submission's cache differs from the solution's, so prefetched answers do not apply."""
    lesson = find_lesson("ch07_mlp_backprop")
    text = (ROOT / "solutions" / "ch07_mlp_backprop.py").read_text(encoding="utf-8")
    source = (
        text
        + """
right_forward, right_backward = forward, backward
def forward(params, X, activation="relu"):
    out, cache = right_forward(params, X, activation)
    return out, {"mine": cache}
def backward(params, cache, dout):
    return right_backward(params, cache["mine"], dout)
"""
    )
    quick = replace(lesson, exercises=tuple(lesson.exercise(name) for name in ("forward", "backward")))
    submission = Submission.of_cells("work.ipynb", [source])
    (result,) = with_judge(quick, lambda judge: graded(judge, [submission], of_many=True))
    assert result["points"] == result["max_points"]


def test_what_befell_the_cells_is_told_of_each_submission() -> None:
    """Their calls fail in the same way, but for reasons in different cells."""
    uses = "def saved_bytes(*args, **kwargs):\n    return helper"
    cells = [[f"helper = {broken}", uses] for broken in ("1 / 0", "int('x')")]
    submissions = [Submission.of_cells("work.ipynb", sources) for sources in cells]
    lesson = find_lesson("ch07_mlp_backprop")
    quick = replace(lesson, exercises=(lesson.exercise("saved_bytes"),))
    results = with_judge(quick, lambda judge: graded(judge, submissions, of_many=True))
    for result, kind in zip(results, ("ZeroDivisionError", "ValueError"), strict=True):
        assert f"Before that, cell 1, line 1 raised {kind}" in result["exercises"][0]["message"]


UNREADABLE = {
    "no JSON": 'b"\\x03\\0\\0\\0\\x03\\0\\0\\0{{{"',
    "no answer": "wire.encode([1])",
    "a call-back": 'wire.encode({"callback": 0, "args": (), "kwargs": {}})',
    "an array without its bytes": 'wire.encode({"value": 1}).replace(b"1", b"7")[:-1]+b" "',
}
"""Complete frames that contain no readable answer."""

TAKES_OVER = """
import gc
from autograder.worker import wire
talk, = [one for one in gc.get_objects() if type(one).__name__ == "Conversation"]
def answer_all(calls):
    for _ in calls:
        talk.channel.hold({frame})
talk.answer_all = answer_all
"""


@pytest.mark.parametrize("frame", [*UNREADABLE.values(), 'wire.encode({"missing": True})', "wire.encode({})"])
def test_what_an_accomplice_has_made_pass_is_no_pass_for_others(judge_of_sizes: Any, frame: str) -> None:
    """The first gives right answers when asked again; the second sends the same frame but cannot answer."""
    takes_over = TAKES_OVER.format(frame=frame)
    knows_nothing = SIZES + "    return None\n" + takes_over
    first, second, right, again = judge_of_sizes(solution() + takes_over, knows_nothing, solution(), knows_nothing)
    assert [one["points"] for one in (second, again)] == [0, 0]
    assert right["points"] == right["max_points"]
    assert first["points"] <= right["points"]


def test_what_an_accomplice_has_made_fail_does_not_fail_for_others(judge_of_sizes: Any) -> None:
    """The first gives all right answers and an additional invalid one, or ends among them."""
    right = solution()
    too_many = right + TAKES_OVER.format(frame='wire.encode({"missing": True})').replace(
        "talk.answer_all = answer_all",
        "whole = talk.answer_all\ntalk.answer_all = lambda c: (whole(c), answer_all(c[:1]))",
    )
    results = judge_of_sizes(too_many, right, spoilt("__import__('os')._exit(3)", 5), right)
    assert [result["points"] == result["max_points"] for result in results] == [False, True, False, True]


def test_only_answers_that_were_read_decide_again() -> None:
    """White box: remembered verdicts come only from answers that were all read."""
    wrong = "\nright = saved_bytes\nsaved_bytes = lambda *args, **kwargs: right(*args, **kwargs) + 1"
    sources = [solution() + TAKES_OVER.format(frame=frame) for frame in UNREADABLE.values()]
    sources += [spoilt("raise KeyError", 1), "x = 1", solution(), solution() + wrong]

    def use(judge: Judge) -> list[int]:
        remembered, workers = [], Workers(judge.lesson, "process")
        try:
            for source in sources:
                judge.grade(Submission.of_cells("work.ipynb", [source]), workers, of_many=True)
                remembered.append(len(judge._results))
        finally:
            workers.stop()
        return remembered

    lesson = find_lesson("ch07_mlp_backprop")
    quick = replace(lesson, exercises=(lesson.exercise("saved_bytes"),))
    assert with_judge(quick, use) == [0] * (len(UNREADABLE) + 2) + [1, 2]


@pytest.mark.parametrize("slug", LESSONS)
def test_the_worker_is_asked_and_not_told(slug: str) -> None:
    """No request contains a right answer, neither in its arguments nor elsewhere."""

    def use(judge: Judge) -> None:
        asked: list[Call] = []
        answers: dict[bytes, int] = {}
        for exercise in judge.lesson.exercises:
            for check in judge._calls_of(exercise):
                for call in check.calls:
                    assert set(call.request) <= {"do", "name", "needs", "args", "kwargs", "forbidden", "layout"}
                    asked.append(call.request)
        for number, request in enumerate(asked):
            if request["do"] == "call":
                mine = set(arrays_in(request["args"]))
                with contextlib.suppress(Exception):
                    value = getattr(judge.reference, request["name"])(*request["args"], **request["kwargs"])
                    answers |= {array: number for array in arrays_in(value) if array not in mine}
        told = [
            (asked[answers[array]]["name"], request["name"])
            for request in asked
            for array in arrays_in([request["args"], request["kwargs"]])
            if array in answers
        ]
        assert told == []

    with_judge(find_lesson(slug), use)


def arrays_in(value: Any) -> Iterator[bytes]:
    """The bytes of all longer, non-constant arrays in data."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from arrays_in(item)
    elif isinstance(value, dict):
        yield from arrays_in(list(value.values()))
    elif isinstance(value, np.ndarray) and value.size > 3 and len(np.unique(value)) > 2:
        yield value.tobytes()


def test_calls_are_prefetched_with_what_they_were_made_with() -> None:
    """This holds even if the check changes the arguments later."""
    lesson = find_lesson("ch07_mlp_backprop")

    def use(judge: Judge) -> None:
        recorder = Recorder(judge.reference)
        array, items, nested = np.ones(2), [3, 4, 5], {"a": [1, 2, 3]}
        recorder.ask(request_of("saved_bytes", [items, 2, array, nested], {"kept": array}), 1.0)
        array += 1
        items.reverse()
        nested["a"].append(4)
        (call,) = recorder.calls()
        assert call is not None
        assert call.request["args"][0] == [3, 4, 5]
        assert call.request["args"][2].tolist() == call.request["kwargs"]["kept"].tolist() == [1, 1]
        assert call.request["args"][3] == {"a": [1, 2, 3]}

    with_judge(lesson, use)


@pytest.mark.parametrize("extra", [0, 2])
def test_other_numbers_of_answers_than_were_asked_for_earn_nothing(judge_of_sizes: Any, extra: int) -> None:
    """A submission that controls the stream answers all calls with one answer, or with three."""
    source = (
        SIZES
        + f"""
    import gc
    talk, = [one for one in gc.get_objects() if type(one).__name__ == "Conversation"]
    calls = [call for one in talk.prefetched["saved_bytes"] for call in one]
    for _ in range({extra} * len(calls)):
        talk.reply({{"value": 1}})
    talk.channel.flush()
    if not {extra}:
        talk.answer_all = lambda calls: None
    return 1
"""
    )
    (result, right) = judge_of_sizes(source, solution())
    assert result["points"] == 0
    assert right["points"] == right["max_points"]


@pytest.mark.parametrize("ending", ["is killed", "is given up"])
def test_a_worker_that_replaces_another_knows_the_calls_too(ending: str) -> None:
    lesson = find_lesson("ch07_mlp_backprop")
    quick = replace(lesson, exercises=(lesson.exercise("saved_bytes"),))
    looks = """
import gc
talk, = [one for one in gc.get_objects() if type(one).__name__ == "Conversation"]
assert talk.prefetched, "not told"
"""
    submission = Submission.of_cells("work.ipynb", [looks, solution()])

    def use(judge: Judge) -> None:
        workers = Workers(judge.lesson, "process")
        worker = workers.of(quick.exercises[0].environment)
        assert isinstance(worker, ForkingWorker)
        try:
            assert judge.grade(submission, workers, of_many=True).message == ""
            if ending == "is killed":
                os.kill(worker._pid, signal.SIGKILL)
            else:  # as after a submission whose processes could not all be ended
                worker.stop()
                worker._start()
            again = judge.grade(submission, workers, of_many=True)
            assert (again.message, again.points) == ("", again.max_points)
        finally:
            workers.stop()

    with_judge(quick, use)


def test_cells_that_hang_are_found_and_slow_ones_are_not_blamed() -> None:
    lesson = find_lesson("ch07_mlp_backprop")
    quick = replace(lesson, exercises=(lesson.exercise("saved_bytes"),))
    slow = "import time; time.sleep(1.5)"
    cells = [slow, "x = 1", "import time; time.sleep(600)", slow, solution()]

    def use(judge: Judge) -> list[dict[str, Any]]:
        return graded(judge, [Submission.of_cells("work.ipynb", cells)], of_many=True)

    (result,) = with_judge(quick, use)
    assert result["points"] == result["max_points"]
    assert result["message"] == "cell 3 did not end within 10 seconds."
