"""The errors that a call of a learner's function can end in, as checks see them."""

from __future__ import annotations

from typing import Any

from autograder.judging.records.results import SubmissionResult
from autograder.judging.records.status import ExerciseStatus, SubmissionStatus
from autograder.wording import clean
from autograder.worker.execution import Failure

STARVED = "not graded: "
"""How the message begins in the result of a submission that did not get its share of the processors."""


def is_starved(result: SubmissionResult) -> bool:
    """Whether a submission was not graded because others kept the processors busy."""
    return result.status == "killed" and result.message.startswith(STARVED)


class LearnerError(Exception):
    """A call of the learner's function gave no value; `status` is what the exercise's result will say."""

    status: ExerciseStatus = "error"


class Missing(LearnerError):
    """The function does not exist, or is still a stub: `stub` says which one, as in "measure (offloading)"."""

    status: ExerciseStatus = "missing"

    def __init__(self, message: str, stub: str = "") -> None:
        super().__init__(message)
        self.stub = stub


class Undefined(LearnerError):
    """The cell that should define the function did not run to its end."""


class Raised(LearnerError):
    """The function raised."""

    def __init__(self, message: str, failure: Failure) -> None:
        super().__init__(message)
        self.failure = failure


class Forbidden(LearnerError):
    """The function used a package that the lesson forbids, or a call that the exercise forbids."""

    status: ExerciseStatus = "forbidden"


class TimedOut(LearnerError):
    """The function did not return in time."""

    status: ExerciseStatus = "timeout"


class Crashed(LearnerError):
    """The process that ran the function ended."""


class WorkerLost(RuntimeError):
    """The worker cannot serve this submission at all; `status` is what the submission's result will say."""

    def __init__(self, message: str, status: SubmissionStatus = "killed") -> None:
        super().__init__(message)
        self.status = status


def text_of(value: Any, limit: int) -> str:
    """A worker's text, printable and cut to `limit`; empty if it is not a `str`: formatting others may take minutes."""
    return clean(value, limit) if type(value) is str else ""


def read_failure(data: Any) -> Failure:
    """Decode a failure that a worker sent, with its texts made printable and short."""
    data = data if type(data) is dict else {}
    bases, trace = data.get("bases"), data.get("trace")
    return Failure(
        text_of(data.get("kind"), 80),
        [text_of(base, 80) for base in bases[:20]] if type(bases) is list else [],
        text_of(data.get("message"), 300),
        text_of(data.get("place"), 60),
        text_of(data.get("line"), 100),
        trace[:4000] if type(trace) is str else "",
    )


class CheckError(RuntimeError):
    """The lesson's checks cannot be collected or run: an error of the course, not of a submission."""
