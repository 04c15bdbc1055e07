"""Notes the calls that checks make where the right answers come back: they will make them of every submission."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np

from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.prefetched import PrefetchedCall, PrefetchedCheck, request_key
from autograder.judging.asking.run import called
from autograder.judging.checking.reference import Reference
from autograder.judging.records.errors import LearnerError
from autograder.worker import wire
from autograder.worker.execution import failure
from autograder.worker.messages import Answer, Call


class NotPrefetchable(LearnerError):
    """A call cannot be made ahead."""


class Recorder(LocalRun):
    """The solutions in the place of a submission; what they are asked is noted, check by check.

    Args:
        otherwise: whether the answers are to be wrong: what a check then asks in another way depends on them.
    """

    def __init__(self, reference: Reference, *, otherwise: bool = False) -> None:
        super().__init__({})
        self._reference = reference
        self._otherwise = otherwise
        self._calls: list[PrefetchedCall | None] = []

    def calls(self) -> list[PrefetchedCall | None]:
        """What was called since this was asked last, by one check.

        None, the last, for what cannot be made ahead: a call with more than data, those that a new process is asked.
        """
        calls, self._calls = self._calls, []
        return calls

    def ask(self, request: Call, seconds: float) -> Answer:
        """The answer; the check compares with it next.

        Raises:
            NotPrefetchable: more than data is passed. The check ends there: those that pass functions do so again and
                again, and to answer them all takes long and tells nothing.
        """
        key = request_key(request)
        if key is None:
            self._calls.append(None)
            raise NotPrefetchable(f"{called(request)} is called with more than data")
        # as it is now: the check may go on to change what it has passed
        self._calls.append(PrefetchedCall(key, wire.decode(wire.encode(request))))
        of = self._reference.scenario if request["do"] == "scenario" else self._reference
        answer: Answer = {"value": None, "failure": None, "changed": [], "forbidden": []}
        try:
            value = getattr(of, request["name"])(*request["args"], **request["kwargs"])
            answer["value"] = other(value) if self._otherwise else value
        except Exception as error:
            answer["failure"] = failure(error).as_data()
        return answer

    def forget(self) -> None:
        """Raise `NotPrefetchable`: calls that are made ahead are all made in one process."""
        self._calls.append(None)
        raise NotPrefetchable("what follows is asked of a new process")


def prefetched(calls: list[PrefetchedCall | None], otherwise: list[PrefetchedCall | None]) -> PrefetchedCheck:
    """What a check will ask of every submission: what it asks of right answers and of wrong ones alike.

    The rest is built from what it was told. Its questions would carry the right answers, and tell them.
    """
    pairs = itertools.zip_longest(calls, otherwise)
    alike = [call if call and after and call.key == after.key else None for call, after in pairs]
    return PrefetchedCheck(tuple(call for call in alike if call), None not in alike)


def other(value: Any) -> Any:
    """Data of the same kind with other values in it; what is no data, and what is empty, as it is."""
    if isinstance(value, str):
        return f"{value}?"
    if type(value) in (tuple, list):
        return type(value)(other(item) for item in value)
    if type(value) is dict:
        return {key: other(item) for key, item in value.items()}
    kind = _kind(value)
    if kind == "b":
        return not value if isinstance(value, bool) else ~value
    return value * 2 + 1 if kind in tuple("iufc") else value


def _kind(value: Any) -> str:
    """The kind of a number or of an array's numbers, as NumPy's dtypes have it; empty for anything else."""
    if isinstance(value, bool | int | float | complex | np.ndarray | np.generic):
        return np.asarray(value).dtype.kind
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return ""
    return "b" if value.dtype is torch.bool else "f"
