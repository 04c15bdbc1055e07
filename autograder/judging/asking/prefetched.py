"""Calls that a worker makes before the checks ask for them, so that a class is not graded one round trip at a time.

Checks draw their inputs from the class's salt, so that nearly all of them call every submission with the same
arguments. These calls are noted once, with the solutions in the place of a submission: the questions, and nothing of
the answers. A submission is asked for the calls of all exercises at once, on visible inputs or on hidden ones; a check
that then asks for one of them finds its answer. One that asks for something else (it passes on what the submission
returned, or a function) is answered by a call of its own.

The calls on visible inputs are handed to the worker, whose forks have them from the start. Those on hidden inputs go to
a process when all has been heard of it that is shown to anyone.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.judging.asking.transport import FUNCTION_BYTES, Transport
from autograder.judging.records.keys import Key, key_of
from autograder.worker import wire
from autograder.worker.messages import Answer, Call

SHORT = 64
"""Bytes of an answer that says no more than that the process is stale."""


def is_stale(answer: Answer) -> bool:
    """Whether a call was not made, since an earlier one has kept what this one must not have."""
    return answer.get("stale") is True


@dataclass(frozen=True)
class PrefetchedCall:
    """A call that a check will make."""

    key: Key
    """What it asks."""
    request: Call


@dataclass(frozen=True)
class PrefetchedCheck:
    """The calls that one check will make, as far as they can be known.

    A call that depends on what the submission has answered is not among them, nor is one with a function or an object.
    """

    calls: tuple[PrefetchedCall, ...]
    whole: bool
    """Whether these are all."""


@dataclass(frozen=True, eq=False)
class Questions:
    """What the checks of an exercise ask of every submission, on visible or on hidden inputs; equal to itself alone."""

    checks: Sequence[PrefetchedCheck]
    request: bytes
    """The frame that asks for all of these calls; empty where there are none."""


def known_to_workers(exercise: str, checks: Sequence[PrefetchedCheck]) -> Questions:
    """The questions where the workers know them by the name of the exercise."""
    return Questions(checks, _if_any(checks, wire.encode({"do": "prefetched", "exercise": exercise})))


def told_when_asked(checks: Sequence[PrefetchedCheck]) -> Questions:
    """The questions where nobody knows them before. `WireError` if they are too many for a frame."""
    return Questions(checks, _if_any(checks, wire.encode({"do": "calls", "checks": requests(checks)})))


def _if_any(checks: Sequence[PrefetchedCheck], request: bytes) -> bytes:
    return request if any(check.calls for check in checks) else b""


def requests(checks: Sequence[PrefetchedCheck]) -> list[list[Call]]:
    """The requests of each check."""
    return [[call.request for call in check.calls] for check in checks]


def request_key(request: Call) -> Key | None:
    """What tells a request from others; None where it holds more than data: a function, an object."""
    try:
        return request["name"], request.get("needs", ""), key_of(request["args"]), key_of(request["kwargs"])
    except wire.WireError:
        return None


class Prefetched:
    """The answers of one submission to what the checks of one exercise will ask, check by check, in order."""

    def __init__(self, questions: Questions, transport: Transport) -> None:
        self._transport = transport
        self._checks = deque(questions.checks)
        """Those that have not begun."""
        self._frames: deque[list[bytes]] = deque()
        """The answers that they will get."""
        self._calls: deque[tuple[PrefetchedCall, bytes]] = deque()
        """What the check that runs now has not asked for yet, with the answers."""
        self._decisive = all(check.whole for check in questions.checks)
        self.size = 0
        """Bytes of the answers."""
        self.seconds = 0.0
        """How long they took."""

    def gather(self, seconds: float, together: float) -> bytes:
        """Receive the answers to calls that were requested, each within `seconds`, all within `together`: their digest.

        Raises:
            DeadlinePassed, ChannelClosed, WireError: as a transport does. Which of the calls is at fault is not known.
        """
        clock, most = self._transport.clock, self._transport.received + FUNCTION_BYTES
        start = clock.now()
        until = start + together
        for check in self._checks:
            self._frames.append([])
            for _ in check.calls:
                self._frames[-1].append(self._transport.receive(min(seconds, until - clock.now())))
                if self._transport.received > most:
                    raise wire.WireError(f"answers of more than {FUNCTION_BYTES >> 20} MiB")
        self.seconds = clock.now() - start
        self.size = sum(map(len, itertools.chain(*self._frames)))
        return _digest(itertools.chain(*self._frames))

    def begin(self) -> None:
        """Go on to the next check."""
        self._decisive = self._decisive and not self._calls  # an answer that no one has read decides nothing
        self._calls = deque(zip(self._checks.popleft().calls, self._frames.popleft(), strict=True))

    def answer(self, request: Call) -> Answer | None:
        """The answer to `request` if it was prefetched. `WireError` if it cannot be read."""
        if not self._calls or self._calls[0][0].key != request_key(request):
            self._decisive = False
            return None
        try:
            return self._transport.read(self._calls.popleft()[1])
        except wire.WireError:
            self._decisive = False
            raise

    @property
    def stale(self) -> bool:
        """Whether the process says that it must not be asked this: another one, in which no call was made, can be."""
        first = next(itertools.chain(*self._frames), b"")
        return 0 < len(first) <= SHORT and is_stale(self._transport.read(first))

    @property
    def decisive(self) -> bool:
        """Whether the answers that were gathered are all that the checks have looked at, each of them read.

        Then, and only then, equal answers have equal verdicts.
        """
        return self._decisive and not (self._checks or self._calls)


def _digest(frames: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for frame in frames:  # each says how long it is
        digest.update(frame)
    return digest.digest()
