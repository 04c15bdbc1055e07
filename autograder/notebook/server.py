"""The judge of a notebook, `python -P -m autograder.notebook.server LESSON`, which reads and writes lines of JSON."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from autograder.begun import exercises_with_work, programs_to_mend
from autograder.collection import with_judge
from autograder.isolation import IsolationError, Workers
from autograder.judging.checking.salt import PUBLIC_SALT, class_key
from autograder.judging.records.errors import CheckError
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.session import Judge
from autograder.judging.waiting import said_if_slow
from autograder.learning import progress
from autograder.notebook.feedback import AS_HANDED_OUT
from autograder.submission import Submission
from course.syllabus import find_lesson

RAN = "the cells that this notebook has run"


def serve(judge: Judge) -> None:
    """Answer requests until the kernel closes the input.

    A request is a line `{"number": n, "cells": [sources], "labels": [labels], "exercise": name}`; an empty name means
    all exercises. The answer has the number of its request. If it takes long, lines `{"number": n, "doing": text}`
    come before it.
    """
    workers = Workers(judge.lesson, "process")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # text printed while a check runs must not get among the answers
    try:
        for line in sys.stdin:
            request = json.loads(line)
            number = request["number"]

            def say(doing: str, number: int = number) -> None:
                _tell(answers, {"number": number, "doing": doing})

            submission = Submission.of_cells(RAN, request["cells"], request["labels"])
            exercise = request["exercise"]
            try:
                with said_if_slow(lambda: judge.progress.text, say):
                    result = graded(judge, submission, workers, only=[exercise] if exercise else None)
            except CheckError as error:  # the kernel needs an answer all the same
                answer = {"error": str(error)}
            else:
                answer = {**result.to_json(), "code": result.exercises[0].code if len(result.exercises) == 1 else ""}
                answer["remark"] = _record(result)
                if result.status != "graded":
                    answer = {"error": f"{exercise or judge.lesson.slug} could not be graded: {result.message}"}
            _tell(answers, {**answer, "number": number})
    finally:
        workers.stop()


def graded(judge: Judge, submission: Submission, workers: Workers, only: list[str] | None) -> SubmissionResult:
    """The result of a submission, with status `missing` for exercises not begun that would otherwise fail.

    These are exercises whose packages are not installed, such as one with PyTorch in a lesson of NumPy, and programs
    to repair, which run as they are handed out.
    """
    result = judge.grade(submission, workers, only=only)
    if all(one.status in ("passed", "missing") or one.points for one in result.exercises):
        return result
    begun = exercises_with_work(submission.cells, judge.lesson.slug)
    handed_out = programs_to_mend(judge.lesson.slug) - begun
    calm = []
    for one in result.exercises:
        if _lacks_a_package(one) and one.name not in begun:
            one = _unwritten(one)
        elif one.name in handed_out and one.status in ("failed", "error", "timeout") and not one.points:
            one = replace(one, status="missing", message=f"{one.name}{AS_HANDED_OUT}\n{one.message}")
        calm.append(one)
    return replace(result, exercises=type(result.exercises)(calm))


def _lacks_a_package(result: ExerciseResult) -> bool:
    return result.status == "error" and result.message.startswith(f"{result.name} cannot be graded here: ")


def _unwritten(result: ExerciseResult) -> ExerciseResult:
    why = result.message.removeprefix(f"{result.name} ")
    return replace(result, status="missing", message=f"{result.name} is not written yet, and {why}")


def _record(result: SubmissionResult) -> str:
    """Record the result as `backprop check` does, in the notebook's folder, where the kernel started.

    Does nothing if nbgrader runs the notebook, or if the folder has no such notebook. Returns a line about what went
    wrong; empty if nothing did.
    """
    folder, file = Path.cwd(), f"{result.lesson}.ipynb"
    if os.environ.get("NBGRADER_EXECUTION") or not (folder / file).is_file():
        return ""
    return progress.record(folder, replace(result, file=file))


def _tell(answers: TextIO, message: dict[str, Any]) -> None:
    print(json.dumps(message), file=answers, flush=True)


def main() -> None:
    try:
        key = class_key(os.environ.get("BACKPROP_SALT") or PUBLIC_SALT)
        with_judge(find_lesson(sys.argv[1]), serve, salt=key)
    except (IsolationError, CheckError) as error:
        # Answer once and exit: the next request starts a new judge, which finds packages installed meanwhile.
        if line := sys.stdin.readline():
            _tell(sys.stdout, {"number": json.loads(line)["number"], "error": str(error)})


if __name__ == "__main__":
    main()
