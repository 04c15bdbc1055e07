"""Notes the calls that checks make where the right answers come back: they will make them of every submission."""

from __future__ import annotations

import itertools
from typing import Any

from autograder.judging.ahead import Foreseen, ForeseenCheck, request_key
from autograder.judging.reference import Reference
from autograder.judging.run import LocalRun, request_of
from autograder.worker.execution import failure


class Recorder(LocalRun):
    """The solutions in the place of a submission; what they are asked is noted, check by check."""

    def __init__(self, reference: Reference) -> None:
        super().__init__({})
        self._reference = reference
        self._calls: list[Foreseen | None] = []

    def check(self) -> ForeseenCheck:
        """What was called since this was asked last: by one check."""
        calls, self._calls = self._calls, []
        known = list(itertools.takewhile(lambda call: call is not None, calls))
        return ForeseenCheck(tuple(call for call in known if call), len(known) == len(calls))

    def call(
        self,
        name: str,
        args: list[Any],
        kwargs: dict[str, Any],
        seconds: float,
        *,
        scenario: str = "",
        forbidden: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        """The right answer, remembered: the check compares with it next."""
        function = getattr(self._reference.scenario, scenario) if scenario else getattr(self._reference, name)
        answer: dict[str, Any] = {"value": None, "failure": None, "changed": [], "forbidden": []}
        try:
            answer["value"] = function(*args, **kwargs)
        except Exception as error:
            answer["failure"] = failure(error).as_data()
        request = request_of(name, args, kwargs, scenario, forbidden)
        key = request_key(request)
        may_fail = answer["failure"] is not None
        self._calls.append(None if key is None else Foreseen(key, {**request, "may_fail": may_fail}))
        return answer
