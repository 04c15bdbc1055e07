"""Calls variants of a submission in a process of their own, which is asked about visible inputs alone."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.isolation import IsolationError
from autograder.judging.asking.prefetched import Prefetched
from autograder.judging.asking.source_text import SourceText
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.judging.asking.transport import ChannelClosed, DeadlinePassed, Transport
from autograder.judging.asking.variants import (
    SLOW_VARIANT_SECONDS,
    TOGETHER,
    VARIANT_SECONDS,
    Changes,
    NoVariants,
    Statement,
)
from autograder.judging.records.errors import Crashed, LearnerError, WorkerLost
from autograder.submission import Submission
from autograder.worker.messages import Answer, Call, Request
from autograder.worker.wire import WireError, encode

DEADLINE_SECONDS = 2.0
"""The process's own time for an answer beyond what its timer allows: then it is ended."""
MOST_STARTS = 3
"""The process is started at most this often; variants that kill it may be hostile."""
MOST_LINES = 2_000
"""Lines that are believed to have run."""
MOST_BYTES = 32 * 2**20
"""Bytes that all answers may have together."""


class VariantRun:
    """One variant at a time of a submission's functions, in place of the submission's own.

    What a variant answers is only compared: it is never shown, and decides no points.

    Args:
        module: the name of the submission's module.
        statements: of the submission, in order.
        process: like the submission's, without its cells.
        slow: whether its calls may be slow; variants whose calls are slow are then not worth the time.
    """

    def __init__(
        self, module: str, statements: Sequence[Statement], process: SubmissionProcess, *, slow: bool = False
    ) -> None:
        self.source = SourceText(Submission.empty(), [])
        self.prefetched: Prefetched | None = None
        self._module = module
        self._statements = list(statements)
        self._process = process
        self._starts = 0
        self._received = 0
        self._changes: Changes = ()
        self._is_running = False
        self._traced = False
        self._variant_seconds = self._seconds = SLOW_VARIANT_SECONDS if slow else VARIANT_SECONDS
        self.last: Call | None = None
        """The last call."""

    def take(self, changes: Changes, *, traced: bool = False, seconds: float | None = None) -> None:
        """Make later calls of the variant with these changes.

        Args:
            traced: note the lines that each call runs.
            seconds: processor seconds for its statements, and for each of its calls; by default a variant's.
        """
        self._changes, self._traced, self._is_running = changes, traced, False
        self._seconds = self._variant_seconds if seconds is None else seconds

    def screen(self, variants: Sequence[Changes], call: Call) -> list[Answer | None]:
        """The answers of several variants to the same call, whose arguments are data; None for one that has none."""
        found: list[Answer | None] = []
        while len(found) < len(variants):
            left = variants[len(found) : len(found) + TOGETHER]
            transport = self._loaded()
            before, self._is_running = transport.received, False
            try:
                changes = [[(number, source) for number, source in changed] for changed in left]
                seconds = self._variant_seconds
                screened: Request = {"do": "screen", "variants": changes, "call": call, "seconds": seconds}
                transport.send(encode(screened), DEADLINE_SECONDS)
                for _ in left:
                    frame = transport.receive(DEADLINE_SECONDS)
                    found.append(_read(transport, frame))
            except (DeadlinePassed, ChannelClosed, WireError):
                self.close()
                found.append(None)
            except WorkerLost:
                raise NoVariants from None
            finally:
                self._received += transport.received - before
        return found

    def lines(self) -> set[tuple[str, int]]:
        """The lines that the last call ran, as pairs of a cell's label and a line, if it was traced."""
        told = self._answered({"do": "lines"}).get("value")
        pairs = told[:MOST_LINES] if isinstance(told, list) else []
        return {(pair[0], pair[1]) for pair in pairs if _is_line(pair)}

    def entered(self) -> int:
        """As `RunsVariants.entered`; what cannot be believed is 0."""
        told = self._answered({"do": "entered"}).get("value")
        return max(told, 0) if type(told) is int else 0

    def ask(self, request: Call, seconds: float) -> Answer:
        """The variant's answer. Raises `LearnerError` if there is none."""
        self.last = request
        if not self._is_running:
            changed = [(number, source) for number, source in self._changes]
            answer = self._answered(
                {"do": "variant", "changed": changed, "seconds": self._seconds, "traced": self._traced}
            )
            if answer.get("failure") is not None:
                raise Crashed("The variant cannot be run.")
            self._is_running = True
        return self._answered(request)

    def forget(self) -> None:
        """Raise `LearnerError`: a check that needs a new process would need one for each variant."""
        raise Crashed("A variant has one process.")

    def _answered(self, request: Request) -> Answer:
        transport = self._loaded()
        before = transport.received
        try:
            return transport.ask(request, DEADLINE_SECONDS + self._seconds)
        except (DeadlinePassed, ChannelClosed, WireError):
            self.close()
            raise Crashed("The variant ended its process.") from None
        except WorkerLost:
            raise NoVariants from None
        finally:
            self._received += transport.received - before

    def _loaded(self) -> Transport:
        """The transport to a process that has the statements. Raises `NoVariants`."""
        if self._process.transport is not None and self._received <= MOST_BYTES:
            return self._process.transport
        self._starts += 1
        if self._starts > MOST_STARTS or self._received > MOST_BYTES:
            raise NoVariants
        try:
            transport = self._process.loaded()
            transport.ask(
                {"do": "statements", "module": self._module, "statements": self._statements}, DEADLINE_SECONDS
            )
        except (WorkerLost, IsolationError, LearnerError, DeadlinePassed, ChannelClosed, WireError):
            raise NoVariants from None
        self._is_running = False
        return transport

    def close(self) -> None:
        """End the process and everything that it started."""
        self._process.close(0.0)


def _read(transport: Transport, frame: bytes) -> Answer | None:
    """The answer in a frame; None if there is none."""
    try:
        return transport.read(frame)
    except WireError:
        return None


def _is_line(pair: object) -> bool:
    return isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], int)
