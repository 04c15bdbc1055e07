"""The judge of a notebook: `python -P -m autograder.notebook.server LESSON`, a JSON line in, a JSON line out."""

from __future__ import annotations

import json
import os
import sys

from autograder.isolation import IsolationError, Workers
from autograder.judging.session import PUBLIC_SALT, CheckError, Judge, with_judge
from autograder.submission import Submission
from course.syllabus import find_lesson

RAN = "the cells that this notebook has run"


def serve(judge: Judge) -> None:
    """Answer requests `{"cells": [sources], "labels": [labels], "exercise": name}` until the kernel hangs up."""
    workers = Workers(judge.lesson, "process")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints while a check runs must not end up among the answers
    try:
        for line in sys.stdin:
            request = json.loads(line)
            submission = Submission.of_cells(RAN, request["cells"], request["labels"])
            result = judge.grade(submission, workers, only=[request["exercise"]])
            answer = result.to_json()
            if result.status != "graded":
                answer = {"error": f"{request['exercise']} could not be graded: {result.message}"}
            print(json.dumps(answer), file=answers, flush=True)
    finally:
        workers.stop()


def main() -> None:
    try:
        with_judge(find_lesson(sys.argv[1]), serve, salt=os.environ.get("BACKPROP_SALT") or PUBLIC_SALT)
    except (IsolationError, CheckError) as error:
        for _ in sys.stdin:
            print(json.dumps({"error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
