"""Calls that are made before the checks ask for them change what grading costs, and nothing that it finds."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.isolation import Workers, forking
from autograder.isolation.forking import ForkingWorker
from autograder.judging.keys import key_of
from autograder.judging.session import Judge, with_judge
from autograder.submission import Submission, read_submission
from autograder.worker import wire
from course.syllabus import find_lesson

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


@pytest.mark.parametrize("slug", LESSONS)
def test_a_class_has_the_results_that_each_would_have_alone(slug: str) -> None:
    files = [file for file in SAMPLES if file.stem == slug and file.parent.name not in SLOW_OR_UNREADABLE]
    submissions = [read_submission(file) for file in files]
    submissions += submissions[:2]  # answers that have been seen

    def use(judge: Judge) -> None:
        together = graded(judge, submissions, of_many=True)
        assert together == graded(judge, submissions, of_many=False)
        assert judge._foreseen

    with_judge(find_lesson(slug), use)


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
    """The solution, doing something else from a call on."""
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
    late, right = judge_of_sizes(spoilt("while True: pass", 5), solution())
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
    """Together they take longer than one may."""
    (slow,) = judge_of_sizes(spoilt("__import__('time').sleep(0.4)", 0))
    assert slow["points"] == slow["max_points"]


def test_answers_that_were_right_once_are_right_again_and_others_are_looked_at(judge_of_sizes: Any) -> None:
    wrong = solution() + "\nright = saved_bytes\nsaved_bytes = lambda *args, **kwargs: right(*args, **kwargs) + 1"
    results = judge_of_sizes(solution(), wrong, solution(), wrong)
    assert [result["points"] > 0 for result in results] == [True, False, True, False]
    assert results[0] == results[2]
    assert results[1] == results[3]


def test_calls_with_what_the_submission_returned_are_made_with_that() -> None:
    """Another cache than the solution's: the answers to calls with that one are no answers to these."""
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
    """The calls fail in the same way; why, their cells say."""
    uses = "def saved_bytes(*args, **kwargs):\n    return helper"
    cells = [[f"{broken}\nhelper = 1", uses] for broken in ("1 / 0", "int('x')")]
    submissions = [Submission.of_cells("work.ipynb", sources) for sources in cells]
    lesson = find_lesson("ch07_mlp_backprop")
    quick = replace(lesson, exercises=(lesson.exercise("saved_bytes"),))
    results = with_judge(quick, lambda judge: graded(judge, submissions, of_many=True))
    for result, kind in zip(results, ("ZeroDivisionError", "ValueError"), strict=True):
        assert f"Before that, cell 1, line 1 raised {kind}" in result["exercises"][0]["message"]


@pytest.mark.parametrize("extra", [0, 2])
def test_other_numbers_of_answers_than_were_asked_for_earn_nothing(judge_of_sizes: Any, extra: int) -> None:
    """A submission that has taken over the conversation answers once, or three times, for all calls at once."""
    source = (
        SIZES
        + f"""
    import gc
    talk, = [one for one in gc.get_objects() if type(one).__name__ == "Conversation"]
    calls = [call for one in talk.foreseen["saved_bytes"] for call in one]
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
assert talk.foreseen, "not told"
"""
    submission = Submission.of_cells("work.ipynb", [looks, solution()])

    def use(judge: Judge) -> None:
        workers = Workers(judge.lesson, "process")
        worker = workers.of(quick.exercises[0].kit)
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
    cells = [slow, "x = 1", "while True: pass", slow, solution()]

    def use(judge: Judge) -> list[dict[str, Any]]:
        return graded(judge, [Submission.of_cells("work.ipynb", cells)], of_many=True)

    (result,) = with_judge(quick, use)
    assert result["points"] == result["max_points"]
    assert result["message"] == "cell 3 did not end within 10 seconds."


def test_keys_tell_data_apart_as_the_wire_does() -> None:
    different = [
        *(1, 1.0, True, 0.0, -0.0, "1", None, (1,), [1], {"a": 1}, {"a": 2}),
        *(np.zeros(2), np.zeros(2, np.float32), np.zeros((2, 1)), -np.zeros(2), np.float64(1.0), np.float32(1.0)),
    ]
    keys = [key_of(value) for value in different]
    assert len(set(keys)) == len(keys)
    assert key_of(float("nan")) == key_of(float("nan"))
    assert key_of(np.asfortranarray(np.eye(3))) == key_of(np.eye(3))
    for value in (print, object(), np.array([None])):
        with pytest.raises(wire.WireError):
            key_of(value)
