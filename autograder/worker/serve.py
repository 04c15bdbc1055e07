"""The conversation with the judge about one submission: cells to run, functions to call."""

from __future__ import annotations

import builtins
import contextlib
import os
import time
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

from autograder.worker import native, wire
from autograder.worker.channel import Channel, ChannelClosed
from autograder.worker.dispatcher import Dispatcher, snapshot
from autograder.worker.execution import Failure, Program, failure
from autograder.worker.messages import Answer, Call, Request
from autograder.worker.tampering import noted

SCENARIO = "<the check's own code>"
"""What tracebacks call the file of a scenario."""
PrefetchedCalls = list[tuple[Call, list[Any]]]
"""The requests that one check will make, and what their arguments hold."""
HELD_SECONDS = 0.002
"""How long answers are held while requests are waiting: a call that hangs or ends the process costs no more of them."""


class Conversation(Dispatcher):
    """Answers the judge's requests until it hangs up.

    `messages` has the requests. While a call that is not prefetched runs, the submission may call back functions of the
    judge, which travel by number and never leave the judge's process.
    """

    def __init__(self, channel: Channel, forbidden: list[str]) -> None:
        super().__init__(forbidden)
        self.channel = channel
        self.program: Program | None = None
        self.prefetched: dict[str, list[PrefetchedCalls]] = {}
        """The calls that the checks of each exercise will make, known before the submission is."""
        self._flushed = 0.0

    def run(self) -> None:
        while True:
            try:
                self.flush_in_time(more=self.channel.waiting())
                request = wire.decode(self.channel.receive(), self.revive)
                self.answer(request)
            except ChannelClosed:
                return

    def flush_in_time(self, *, more: bool) -> None:
        """Write the answers that are held, unless more of them follow at once."""
        if not more or time.monotonic() - self._flushed > HELD_SECONDS:
            self.channel.flush()
            self._flushed = time.monotonic()

    def answer(self, request: Request) -> None:
        self.forbidden.clear()
        if request["do"] == "cell":
            if self.program is None:
                self.program = Program(request["module"])
                self.replaced = noted(self.scenarios) if self.scenarios else list
            problem = self.program.run_cell(request["source"], request["label"], request["offset"])
            self.reply({"failure": problem.as_data() if problem else None, "forbidden": list(self.forbidden)})
        elif request["do"] == "scenarios":
            self.reply({"failure": self.load_scenarios(request["source"])})
        elif request["do"] == "watch":
            self.guard.watch(request["forbidden_in"])
            self.reply({"failure": None})
        elif request["do"] == "call" or request["do"] == "scenario":
            self.reply(self.make(request))
        elif request["do"] == "prefetched":
            for calls in self.prefetched[request["exercise"]]:
                self.answer_all(calls)
        elif request["do"] == "calls":
            for calls in noted_calls(request["checks"]):
                self.answer_all(calls)

    def answer_all(self, calls: PrefetchedCalls) -> None:
        """Answer the calls of one check, one by one; which of them should raise, nobody here knows."""
        for request, before in calls:
            self.reply(self.make(request, before))
            self.flush_in_time(more=True)

    def make(self, request: Call, before: list[Any] | None = None) -> Answer:
        """The answer to a request for a call, or for a scenario; `before` as `call` has it."""
        self.guard.forbidden = frozenset(request["forbidden"])
        if self.guard.stale:
            return {"stale": True}
        if request["do"] == "scenario":
            return self.call(request["needs"], request["args"], {}, scenario=request["name"], before=before)
        return self.call(request["name"], request["args"], request["kwargs"], before=before)

    def load_scenarios(self, source: str) -> dict[str, Any] | None:
        """Load the judge's own code; what kept it from loading, if anything did."""
        try:
            exec(compiled(source), self.scenarios)
        except Exception as error:
            return failure(error).as_data()
        return None

    def reply(self, message: Answer) -> None:
        try:
            frame = wire.encode(message, self.refer, wire.ANSWER)
        except BaseException as error:  # the value is hostile, too large or too deep: say so instead
            problem = failure(error)
            told = Failure("UnreadableResult", [], problem.message or problem.kind, "", "", "")
            frame = wire.encode({"failure": told.as_data()})
        self.channel.hold(frame)

    def function(self, number: int) -> Callable[..., Any]:
        """A function of the judge, called over the wire."""

        def call_back(*args: Any, **kwargs: Any) -> Any:
            self.channel.send(
                wire.encode({"callback": number, "args": args, "kwargs": kwargs}, self.refer, wire.ANSWER)
            )
            answer = wire.decode(self.channel.receive(), self.revive)
            if answer["failure"] is not None:
                kind, message = answer["failure"]
                known = getattr(builtins, kind, None)
                cls = known if isinstance(known, type) and issubclass(known, Exception) else RuntimeError
                raise cls(message)
            return answer["value"]

        return call_back


@cache
def compiled(source: str) -> CodeType:
    """The code of scenarios."""
    return compile(source, SCENARIO, "exec")


def prefetch(frame: bytes) -> list[PrefetchedCalls]:
    """The calls in a frame of the judge, check by check, with what their arguments hold.

    The scenarios that come with them are compiled here, once for all forks.
    """
    data = wire.decode(frame)
    with contextlib.suppress(SyntaxError):  # each submission's loading says so
        compiled(data["scenarios"])
    return noted_calls(data["checks"])


def noted_calls(checks: list[list[Call]]) -> list[PrefetchedCalls]:
    """Calls, check by check, with what their arguments hold."""
    return [
        [
            (request, [snapshot(value, _no_object) for value in (*request["args"], *request["kwargs"].values())])
            for request in check
        ]
        for check in checks
    ]


def _no_object(value: Any) -> wire.Reference:
    raise wire.WireError(f"a {type(value).__name__} among the arguments")


def serve(channel: Channel, forbidden: list[str], prefetched: dict[str, list[PrefetchedCalls]] | None = None) -> None:
    """Serve one submission and end the process, whatever the submission registered to run at exit."""
    try:
        native.refuse()
        conversation = Conversation(channel, forbidden)
        conversation.prefetched = prefetched or {}
        conversation.run()
    finally:
        os._exit(0)
