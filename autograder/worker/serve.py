"""Serves the judge's requests about one submission: runs cells and calls functions."""

from __future__ import annotations

import builtins
import contextlib
import os
import time
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from types import CodeType
from typing import Any

from autograder.worker import native, wire
from autograder.worker.channel import Channel, ChannelClosed
from autograder.worker.dispatcher import Dispatcher, snapshot
from autograder.worker.execution import Program, failure, unreadable
from autograder.worker.interrupts import TooLong, handle_timer
from autograder.worker.messages import Answer, Call, Request
from autograder.worker.tampering import noted
from autograder.worker.variants import Variants

SCENARIO = "<the check's own code>"
"""File name of a scenario in tracebacks."""
PrefetchedCalls = list[tuple[Call, list[Any]]]
"""The requests that one check will make, with snapshots of their arguments."""
HELD_SECONDS = 0.005
"""Answers are held at most this long while requests wait, so that a hang or crash loses few of them."""


class Conversation(Dispatcher):
    """Answers the judge's requests until it hangs up.

    `messages` defines the requests. During a call that is not prefetched, the submission may call back functions of the
    judge: they are sent as numbers and never leave the judge's process.
    """

    def __init__(self, channel: Channel, forbidden: list[str]) -> None:
        super().__init__(forbidden)
        self.channel = channel
        self.program: Program | None = None
        self.prefetched: dict[str, list[PrefetchedCalls]] = {}
        """By exercise: the calls that its checks will make."""
        self.variants: Variants | None = None
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
        """Write the held answers, unless more follow at once and the last write is at most `HELD_SECONDS` ago."""
        if not more or time.monotonic() - self._flushed > HELD_SECONDS:
            self.channel.flush()
            self._flushed = time.monotonic()

    def answer(self, request: Request) -> None:
        self.forbidden.clear()
        if request["do"] == "cell":
            if self.program is None:
                self.program = Program(request["module"])
                self.note_scenarios()
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
            self.answer_checks(self.prefetched[request["exercise"]])
        elif request["do"] == "calls":
            self.answer_checks(noted_calls(request["checks"]))
        elif request["do"] == "statements":
            handle_timer()  # once, because what scenarios use must not change between calls
            self.variants = Variants(request["module"], request["statements"])
            self.note_scenarios()
            self.reply({"failure": None})
        elif request["do"] == "variant":
            self.reply({"failure": self.run_variant(request["changed"], request["seconds"], request["traced"])})
        elif request["do"] == "screen":
            for changed in request["variants"]:
                failed = self.run_variant(changed, request["seconds"])
                call = deepcopy(request["call"])  # a variant may change its arguments
                self.reply({"failure": failed} if failed else self.make(call))
                self.flush_in_time(more=True)
        elif request["do"] == "lines":
            self.reply({"value": [] if self.variants is None else list(self.variants.lines)})
        elif request["do"] == "entered":
            self.reply({"value": 0 if self.variants is None else self.variants.entered})

    def note_scenarios(self) -> None:
        """Note what the scenarios use, before the first statement of the submission runs."""
        self.watch = noted(self.scenarios, without_ctypes=native.refuse)

    def run_variant(
        self, changed: list[tuple[int, str]], seconds: float, traced: bool = False
    ) -> dict[str, Any] | None:
        """Run a variant of the statements; return the failure if there is no such program, else None."""
        assert self.variants is not None
        self.objects.clear()
        self.program = None
        try:
            self.program = self.variants.run(changed, seconds, traced)
        except BaseException as error:
            return failure(error).as_data()
        return None

    def answer_checks(self, checks: list[PrefetchedCalls]) -> None:
        """Make and answer the calls of one exercise's checks.

        All answers are written at the end: if the next exercise hangs, the judge must not wait for these.
        """
        for calls in checks:
            self.answer_all(calls)
        self.flush_in_time(more=False)

    def answer_all(self, calls: PrefetchedCalls) -> None:
        """Make and answer the calls of one check, one by one; an exception is an answer and stops nothing."""
        for request, before in calls:
            self.reply(self.make(request, before))
            self.flush_in_time(more=True)

    def make(self, request: Call, before: list[Any] | None = None) -> Answer:
        """Make the requested call or scenario and return its answer; `before` as for `call`."""
        self.guard.forbidden = frozenset(request["forbidden"])
        if self.variants is not None:
            return self.make_of_variant(request)
        if self.guard.stale:
            return {"stale": True}
        return self.call_or_scenario(request, before)

    def make_of_variant(self, request: Call) -> Answer:
        """Make a call of a variant, within the time that it may take."""
        assert self.variants is not None
        try:
            with self.variants.limited():
                return self.call_or_scenario(request)
        except TooLong as error:  # between the submission's code and ours
            return {"failure": failure(error).as_data()}
        finally:
            if self.variants.still_runs():
                os._exit(1)

    def call_or_scenario(self, request: Call, before: list[Any] | None = None) -> Answer:
        layout = request.get("layout", "")
        if request["do"] == "scenario":
            scenario = request["name"]
            return self.call(request["needs"], request["args"], {}, scenario=scenario, before=before, layout=layout)
        return self.call(request["name"], request["args"], request["kwargs"], before=before, layout=layout)

    def load_scenarios(self, source: str) -> dict[str, Any] | None:
        """Load the judge's scenarios; return the failure if that raises, else None."""
        try:
            exec(compiled(source), self.scenarios)
        except Exception as error:
            return failure(error).as_data()
        return None

    def reply(self, message: Answer) -> None:
        try:
            frame = wire.encode(message, self.refer, wire.ANSWER)
        except BaseException as error:  # the value is hostile, too large or too deep: say so instead
            frame = wire.encode({"failure": unreadable(failure(error)).as_data()})
        self.channel.hold(frame)

    def function(self, number: int) -> Callable[..., Any]:
        """A function that calls the judge's function `number` over the wire."""

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
    """Compile the source of scenarios."""
    return compile(source, SCENARIO, "exec")


def prefetch(frame: bytes) -> list[PrefetchedCalls]:
    """Decode a frame of the judge's: its calls by check, with snapshots of their arguments.

    The scenarios in the frame are compiled here, once for all forks.
    """
    data = wire.decode(frame)
    with contextlib.suppress(SyntaxError):  # `load_scenarios` reports it for each submission
        compiled(data["scenarios"])
    return noted_calls(data["checks"])


def noted_calls(checks: list[list[Call]]) -> list[PrefetchedCalls]:
    """Calls by check, with snapshots of their arguments."""
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
    """Serve one submission and end the process, without running the submission's exit handlers."""
    try:
        conversation = Conversation(channel, forbidden)
        conversation.prefetched = prefetched or {}
        conversation.run()
    finally:
        os._exit(0)
