"""The conversation with the judge about one submission: cells to run, functions to call."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from typing import Any

from autograder.worker import wire
from autograder.worker.calls import Guard
from autograder.worker.channel import Channel, ChannelClosed
from autograder.worker.execution import Failure, Program, failure

SCENARIO = "<the check's own code>"
"""What tracebacks call the file of a scenario."""


class Conversation:
    """Answers the judge's requests until it hangs up.

    Requests: `scenarios` (load the judge's own code that is to run beside the submission), `watch` (functions that
    exercises may forbid), `cell` (run source), `call` (call a function), `scenario` (call one of the judge's, which
    calls the submission's). While a call runs, the submission may call back functions of the judge, which travel by
    number and never leave the judge's process.
    """

    def __init__(self, channel: Channel, forbidden: list[str]) -> None:
        self.channel = channel
        self.forbidden = forbidden
        self.program: Program | None = None
        self.scenarios: dict[str, Any] = {}
        self.guard = Guard(self.scenarios)
        self.objects: dict[int, Any] = {}

    def run(self) -> None:
        while True:
            try:
                request = wire.decode(self.channel.receive(), self.revive)
            except ChannelClosed:
                return
            self.answer(request)

    def answer(self, request: dict[str, Any]) -> None:
        self.forbidden.clear()
        if request["do"] == "cell":
            self.program = self.program or Program(request["module"])
            problem = self.program.run_cell(request["source"], request["label"], request["offset"])
            self.reply({"failure": problem.as_data() if problem else None, "forbidden": list(self.forbidden)})
        elif request["do"] == "scenarios":
            self.reply({"failure": self.load_scenarios(request["source"])})
        elif request["do"] == "watch":
            self.guard.watch(request["calls"])
            self.reply({"failure": None})
        elif request["do"] == "call":
            self.guard.forbidden = frozenset(request["forbidden"])
            self.reply(self.call(request["name"], request["args"], request["kwargs"]))
        elif request["do"] == "scenario":
            self.guard.forbidden = frozenset(request["forbidden"])
            self.reply(self.call(request["needs"], request["args"], {}, scenario=request["name"]))

    def load_scenarios(self, source: str) -> dict[str, Any] | None:
        """Load the judge's own code; what kept it from loading, if anything did."""
        try:
            exec(compile(source, SCENARIO, "exec"), self.scenarios)
        except Exception as error:
            return failure(error).as_data()
        return None

    def call(self, name: str, args: list[Any], kwargs: dict[str, Any], scenario: str = "") -> dict[str, Any]:
        """The answer to a call of `name`, or of a scenario that needs `name` to be there."""
        if self.program is None or not self.program.defined(name):  # None: not one cell could be run
            return {"missing": True}
        self.guard.called.clear()
        before = [self.snapshot(value) for value in (*args, *kwargs.values())]
        value, problem = None, None
        try:
            if scenario:
                value = self.scenarios[scenario](self.program.module, *args)
            else:
                value = self.program.call(name, args, kwargs)
        except BaseException as error:
            problem = failure(error)
        changed = [i for i, value in enumerate((*args, *kwargs.values())) if self.snapshot(value) != before[i]]
        return {
            "value": value,
            "failure": problem.as_data() if problem else None,
            "changed": changed,
            "forbidden": list(self.forbidden),
            "called": list(self.guard.called),
        }

    def reply(self, message: dict[str, Any]) -> None:
        try:
            frame = wire.encode(message, self.refer)
        except BaseException as error:  # the value is hostile, too large or too deep: say so instead
            problem = failure(error)
            told = Failure("UnreadableResult", [], problem.message or problem.kind, "", "", "")
            frame = wire.encode({"value": None, "failure": told.as_data(), "changed": [], "forbidden": []})
        self.channel.send(frame)

    def snapshot(self, value: Any) -> bytes:
        """The value's bytes, to see whether a call changed it."""
        try:
            return wire.encode(value, self.refer)
        except BaseException:  # the call put something hostile into it, or something too large
            return b""

    def refer(self, value: Any) -> wire.Reference:
        """An object that is no data stays here; the judge gets a handle."""
        self.objects[id(value)] = value
        return "handle", [id(value), type(value).__name__[:80]]

    def revive(self, tag: str, arguments: list[Any]) -> Any:
        if tag == "handle":
            return self.objects[arguments[0]]
        if tag == "function":
            return self.function(arguments[0])
        raise wire.WireError(f"unexpected {tag!r}")

    def function(self, number: int) -> Callable[..., Any]:
        """A function of the judge, called over the wire."""

        def call_back(*args: Any, **kwargs: Any) -> Any:
            self.channel.send(wire.encode({"callback": number, "args": args, "kwargs": kwargs}, self.refer))
            answer = wire.decode(self.channel.receive(), self.revive)
            if answer["failure"] is not None:
                kind, message = answer["failure"]
                known = getattr(builtins, kind, None)
                cls = known if isinstance(known, type) and issubclass(known, Exception) else RuntimeError
                raise cls(message)
            return answer["value"]

        return call_back


def serve(channel: Channel, forbidden: list[str]) -> None:
    """Serve one submission and end the process, whatever the submission registered to run at exit."""
    try:
        Conversation(channel, forbidden).run()
    finally:
        os._exit(0)
