"""Sends requests to a submission's process and receives its answers."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, cast

from autograder.isolation import Connection, Starved
from autograder.judging.records.errors import STARVED, LearnerError, WorkerLost
from autograder.worker import wire
from autograder.worker.channel import ChannelClosed, DeadlinePassed
from autograder.worker.messages import Answer, Request

MAX_CALLBACKS = 100_000
"""Most call-backs during one call of a learner's function."""
CALLBACK_BYTES = 64 * 2**20
"""Most bytes of call-back arguments during one call, because checks keep them."""
CALLBACK_FREE = 16 * 2**10
"""Most bytes of one call-back's arguments, besides twice the size of the request; more could keep our code busy."""
FUNCTION_BYTES = 64 * 2**20
"""Most bytes that all calls of one function may return, because answers are kept until the exercise is judged."""


class Transport:
    """Sends requests to a confined process; functions among the arguments stay here and are called back.

    Seconds are the process's own time, by `clock`. Raises `WorkerLost` if the process is starved of processor time.
    """

    def __init__(self, connection: Connection) -> None:
        self.received = 0
        """Bytes of answers received so far."""
        self.clock = connection.channel.clock
        self._channel = connection.channel
        self._functions: list[Callable[..., Any]] = []

    def ask(self, request: Request, seconds: float) -> Answer:
        """The answer to `request`.

        Raises:
            DeadlinePassed, ChannelClosed: no answer came.
            wire.WireError: the answer cannot be decoded.
        """
        deadline, before = self.clock.now() + seconds, self.received
        self._functions.clear()
        frames = wire.encode(request, self._refer)
        self.send(frames, seconds)
        for _ in range(MAX_CALLBACKS):
            frame = self.receive(deadline - self.clock.now())
            answer = _answer(frame)
            if "callback" not in answer:
                return cast(Answer, answer)
            if len(frame) > CALLBACK_FREE + 2 * len(frames):
                raise wire.WireError(f"a call-back with {len(frame) >> 10} KiB of arguments")
            if self.received - before > CALLBACK_BYTES:
                raise wire.WireError(f"call-backs with more than {CALLBACK_BYTES >> 20} MiB of arguments")
            called_back = self._call_back(answer)
            with _starved_as_worker_lost():
                self._channel.send(called_back, deadline - self.clock.now())
        raise DeadlinePassed

    def send(self, frames: bytes, seconds: float) -> None:
        """Send frames of requests, each of which gets one answer. Raises as a channel does.

        Raises `WireError` if unrequested data has arrived, since it would be taken for an answer.
        """
        if self.out_of_step():
            raise wire.WireError("something that was not asked for")
        with _starved_as_worker_lost():
            self._channel.send(frames, seconds)

    def settle(self) -> None:
        """Make the clock subtract the time that the process has waited for a processor."""
        with _starved_as_worker_lost():
            self.clock.settle()

    def out_of_step(self) -> bool:
        """Whether data has arrived although nothing was asked."""
        return self._channel.waiting()

    def receive(self, seconds: float) -> bytes:
        """The frame of the next answer. Raises as a channel does."""
        with _starved_as_worker_lost():
            frame = self._channel.receive(seconds)
        self.received += len(frame)
        return frame

    def read(self, frame: bytes) -> Answer:
        """Decode an answer. Raises `WireError` if the frame contains none."""
        answer = _answer(frame)
        if "callback" in answer:
            raise wire.WireError("a call-back to nothing")
        return cast(Answer, answer)

    def _refer(self, value: Any) -> wire.Reference:
        if isinstance(value, wire.Handle):
            return "handle", [value.id]
        if callable(value):
            self._functions.append(value)
            return "function", [len(self._functions) - 1]
        raise TypeError(f"a check sends a {type(value).__name__}, which is not data")

    def _call_back(self, question: dict[str, Any]) -> bytes:
        number, args, kwargs = question["callback"], question.get("args"), question.get("kwargs")
        if type(number) is not int or not 0 <= number < len(self._functions) or not isinstance(args, tuple):
            raise wire.WireError("a call-back to nothing")
        if not isinstance(kwargs, dict) or not all(isinstance(name, str) for name in kwargs):
            raise wire.WireError("a call-back with arguments that are none")
        try:
            return wire.encode({"value": self._functions[number](*args, **kwargs), "failure": None}, self._refer)
        except LearnerError:  # the submission's time ran out
            raise
        except Exception as error:  # its arguments may be the cause, so the submission sees the error
            message = FUNCTION.sub("the function", str(error))[:1000]
            return wire.encode({"value": None, "failure": [type(error).__name__, message]})


@contextlib.contextmanager
def _starved_as_worker_lost() -> Iterator[None]:
    """Turn `Starved` into `WorkerLost`."""
    try:
        yield
    except Starved as error:
        raise WorkerLost(f"{STARVED}{error}") from None


FUNCTION = re.compile(r"(?<![\w.<>])[\w.<>]+\(\)")
"""A function in Python's messages about arguments: the name of one of ours could give away the right answer."""


def revive(tag: str, arguments: list[Any]) -> wire.Handle:
    """Decode a reference in an answer: a handle to an object that stays with the submission."""
    match tag, arguments:
        case "handle", [int(number), str(name)]:
            return wire.Handle(number, name[:80])
    raise wire.WireError(f"unexpected {tag!r}")


def _answer(frame: bytes) -> dict[str, Any]:
    answer = wire.decode(frame, revive, wire.ANSWER)
    if not isinstance(answer, dict):
        raise wire.WireError("an answer that is none")
    return answer


__all__ = ["FUNCTION_BYTES", "ChannelClosed", "DeadlinePassed", "Transport", "revive"]
