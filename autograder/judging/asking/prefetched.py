"""Calls that a worker makes before checks ask for them, which saves a class one round trip per call.

Checks draw their inputs from the class's salt, so nearly all of them call every submission with the same arguments. The
judge records these calls once, on the reference: the requests, not the answers. It then requests the calls of all
exercises at once, for visible or for hidden inputs, and a check that makes one of them finds its answer ready. A call
that depends on the submission (its argument is an earlier answer, or a function) is made when the check asks for it.

The worker gets the visible calls before it forks. The hidden ones are sent to a process only once everything that
learners may be shown has been collected from it.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograder.judging.asking.transport import FUNCTION_BYTES, Transport
from autograder.judging.records.keys import Key, key_of
from autograder.worker import wire
from autograder.worker.messages import Answer, Call

SHORT = 64
"""Most bytes of an answer that only says that the process is stale."""


def is_stale(answer: Answer) -> bool:
    """Whether a call was refused because an earlier one left state in the process that this one must not find."""
    return answer.get("stale") is True


@dataclass(frozen=True)
class PrefetchedCall:
    """A call that a check is known to make."""

    key: Key
    """Identifies the function and its arguments."""
    request: Call


@dataclass(frozen=True)
class PrefetchedCheck:
    """The calls that one check is known to make.

    Not included: calls that depend on the submission's answers, and calls with a function or an object as argument.
    """

    calls: tuple[PrefetchedCall, ...]
    whole: bool
    """Whether the check makes no other calls."""


@dataclass(frozen=True, eq=False)
class Questions:
    """The calls that an exercise's checks make of every submission, on visible or on hidden inputs."""

    checks: Sequence[PrefetchedCheck]
    request: bytes
    """The frame that requests all of these calls; empty if there are none."""

    @cached_property
    def functions(self) -> frozenset[str]:
        """The submission's functions that these calls are about."""
        return frozenset(called(call.request) for check in self.checks for call in check.calls)


def called(request: Call) -> str:
    """The name of the submission's function that a request is about."""
    return request["needs"] if request["do"] == "scenario" else request["name"]


def stored_questions(exercise: str, checks: Sequence[PrefetchedCheck]) -> Questions:
    """Questions that the workers have stored under the exercise's name."""
    return Questions(checks, _if_any(checks, wire.encode({"do": "prefetched", "exercise": exercise})))


def sent_questions(checks: Sequence[PrefetchedCheck]) -> Questions:
    """Questions whose calls are sent with the request. Raises `WireError` if they do not fit in a frame."""
    return Questions(checks, _if_any(checks, wire.encode({"do": "calls", "checks": requests(checks)})))


def _if_any(checks: Sequence[PrefetchedCheck], request: bytes) -> bytes:
    return request if any(check.calls for check in checks) else b""


def requests(checks: Sequence[PrefetchedCheck]) -> list[list[Call]]:
    """Each check's requests."""
    return [[call.request for call in check.calls] for check in checks]


def request_key(request: Call) -> Key | None:
    """A key that is equal for equal requests; None if an argument is not data."""
    try:
        how = request.get("needs", ""), request.get("layout", "")
        return request["name"], *how, key_of(request["args"]), key_of(request["kwargs"])
    except wire.WireError:
        return None


class Prefetched:
    """One submission's answers to the prefetched calls of one exercise's checks, in order."""

    def __init__(self, questions: Questions, transport: Transport) -> None:
        self._transport = transport
        self._checks = deque(questions.checks)
        """Checks that have not begun."""
        self._frames: deque[list[bytes]] = deque()
        """The answers for those checks."""
        self._calls: deque[tuple[PrefetchedCall, bytes]] = deque()
        """Calls, with their answers, that the current check has not made yet."""
        self._decisive = all(check.whole for check in questions.checks)
        self.size = 0
        """Total bytes of the answers."""
        self.seconds = 0.0
        """Seconds that the answers took."""

    def gather(self, seconds: float, together: float) -> bytes:
        """Receive the answers to the requested calls, each within `seconds`, all within `together`; return their hash.

        Raises:
            DeadlinePassed, ChannelClosed, WireError: as a transport does. Which call is at fault is unknown.
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
        """Move to the next check."""
        self._decisive = self._decisive and not self._calls  # an answer that a check did not read decides nothing
        self._calls = deque(zip(self._checks.popleft().calls, self._frames.popleft(), strict=True))

    def answer(self, request: Call) -> Answer | None:
        """The prefetched answer to `request`, or None. Raises `WireError` if it cannot be decoded."""
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
        """Whether the process refused the calls because it is stale: a new process can make them."""
        first = next(itertools.chain(*self._frames), b"")
        return 0 < len(first) <= SHORT and is_stale(self._transport.read(first))

    @property
    def decisive(self) -> bool:
        """Whether the checks read every gathered answer and asked for nothing else.

        Only then do equal answers imply equal verdicts.
        """
        return self._decisive and not (self._checks or self._calls)


def _digest(frames: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for frame in frames:  # unambiguous: each frame begins with its length
        digest.update(frame)
    return digest.digest()
