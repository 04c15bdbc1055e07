"""Records the calls that checks make of the reference, because they make the same calls of every submission."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np

from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.prefetched import PrefetchedCall, PrefetchedCheck, called, request_key
from autograder.judging.checking.reference import Reference
from autograder.judging.records.errors import LearnerError
from autograder.worker import wire
from autograder.worker.execution import failure
from autograder.worker.messages import Answer, Call


class NotPrefetchable(LearnerError):
    """The call cannot be made before its check runs."""


class Recorder(LocalRun):
    """The reference in place of a submission; it records what each check calls.

    Args:
        otherwise: give wrong answers, which shows which calls depend on earlier answers.
    """

    def __init__(self, reference: Reference, *, otherwise: bool = False) -> None:
        super().__init__({})
        self._reference = reference
        self._otherwise = otherwise
        self._calls: list[PrefetchedCall | None] = []

    def calls(self) -> list[PrefetchedCall | None]:
        """Return and clear the calls recorded so far; call it after each check.

        The last is None if the check ended at a call that cannot be prefetched: one whose arguments are not all data,
        or one to a new process.
        """
        calls, self._calls = self._calls, []
        return calls

    def ask(self, request: Call, seconds: float) -> Answer:
        """The reference's answer, or a wrong one if `otherwise`.

        Raises:
            NotPrefetchable: an argument is not data. This ends the check: those that pass functions do so
                repeatedly, and answering them all would take long and record nothing.
        """
        key = request_key(request)
        if key is None:
            self._calls.append(None)
            raise NotPrefetchable(f"{called(request)} is called with more than data")
        # encoded now, because the check may modify its arguments later
        self._calls.append(PrefetchedCall(key, wire.decode(wire.encode(request))))
        of = self._reference.scenario if request["do"] == "scenario" else self._reference
        answer: Answer = {"value": None, "failure": None, "changed": [], "forbidden": []}
        try:
            value = getattr(of, request["name"])(*request["args"], **request["kwargs"])
            answer["value"] = altered(value) if self._otherwise else value
        except Exception as error:
            answer["failure"] = failure(error).as_data()
        return answer

    def forget(self) -> None:
        """Raise `NotPrefetchable`: all prefetched calls are made in one process."""
        self._calls.append(None)
        raise NotPrefetchable("what follows is asked of a new process")


def prefetched(calls: list[PrefetchedCall | None], otherwise: list[PrefetchedCall | None]) -> PrefetchedCheck:
    """The calls that a check makes of every submission: those that are equal for right and for wrong answers.

    Other calls were built from earlier answers; sent ahead, they would reveal the right ones.
    """
    pairs = itertools.zip_longest(calls, otherwise)
    alike = [call if call and after and call.key == after.key else None for call, after in pairs]
    return PrefetchedCheck(tuple(call for call in alike if call), None not in alike)


def altered(value: Any) -> Any:
    """Data of the same kind with altered values; empty values and objects that are not data are returned unchanged."""
    if isinstance(value, str):
        return f"{value}?"
    if type(value) in (tuple, list):
        return type(value)(altered(item) for item in value)
    if type(value) is dict:
        return {key: altered(item) for key, item in value.items()}
    kind = _kind(value)
    if kind == "b":
        return not value if isinstance(value, bool) else ~value
    return value * 2 + 1 if kind in tuple("iufc") else value


def _kind(value: Any) -> str:
    """NumPy's kind of a number's or array's dtype, "b" or "f" for a tensor, and "" for anything else."""
    if isinstance(value, bool | int | float | complex | np.ndarray | np.generic):
        return np.asarray(value).dtype.kind
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return ""
    return "b" if value.dtype is torch.bool else "f"
