"""What tests ask of a submission that runs."""

from __future__ import annotations

from typing import Any

from autograder.judging.asking.run import SubmissionRun, request_of


def value(run: SubmissionRun, name: str, *args: Any) -> Any:
    answer = run.ask(request_of(name, list(args)), 5.0)
    assert answer.get("failure") is None, answer
    return answer["value"]
