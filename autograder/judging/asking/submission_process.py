"""The process that runs a submission's cells, and runs them again after a crash."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence

from autograder.isolation import Connection, IsolationError, Worker
from autograder.judging.asking.account import PROCESSOR_SECONDS, Account
from autograder.judging.asking.newer_python import newer
from autograder.judging.asking.source_text import CellProblem, defined_later
from autograder.judging.asking.transport import ChannelClosed, DeadlinePassed, Transport
from autograder.judging.records.errors import TimedOut, WorkerLost, read_failure
from autograder.submission import Cell, Submission
from autograder.worker import wire
from autograder.worker.execution import REFUSED, WENT_ON, WENT_ON_AFTER_ALL, Failure
from autograder.worker.messages import Answer, LoadScenarios, RunCell, Watch
from autograder.worker.wire import WireError

SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
CELL_SECONDS = 10.0
LOAD_SECONDS = 60.0
"""Time for all cells together in one environment, including reruns after a crash."""
TOGETHER_BYTES = 96 * 2**10
"""Most bytes of requests sent at once: they fit in the stream's buffer, so that neither side blocks on writing."""
SLOW_CELL_SECONDS = 1.0
"""A cell that takes longer is reported, because every check waits for it."""
HURRY = 0.1
"""Share of a time limit that is left for finding which of several cells or calls exceeded it."""


class SubmissionProcess:
    """A process in which a submission's cells have run; it is restarted after a crash, until the last `close`.

    `renew` restarts it for a check that needs a process without memory; that rerun of the cells is not charged to the
    submission. A cell that hangs or kills its process is left out from then on.

    Args:
        scenarios: source of the lesson's scenarios, which run beside the submission; empty if it has none.
        forbidden_in: full names of functions that some exercise forbids, with the names of those exercises.
        at_cell: called with each cell's label before it runs. Cells are then sent one by one, because answers to cells
            sent together may arrive only after a slow one has ended.
        account: the submission's budgets; a new account by default.
    """

    def __init__(
        self,
        submission: Submission,
        worker: Worker,
        *,
        scenarios: str = "",
        forbidden_in: dict[str, list[str]] | None = None,
        cell_seconds: float = CELL_SECONDS,
        at_cell: Callable[[str], None] | None = None,
        account: Account | None = None,
    ) -> None:
        self.account = account or Account()
        self.problems: list[CellProblem] = []
        """Problems of the cells; the same list object across reruns."""
        self.slow: dict[str, str] = {}
        """Slow cells by label, with how long they took, in words."""
        self.submission = submission
        self._at_cell = at_cell
        self._worker = worker
        self._scenarios = scenarios
        self._forbidden_in = forbidden_in or {}
        self._cell_seconds = cell_seconds
        self._connection: Connection | None = None
        self._transport: Transport | None = None
        self._lost_a_worker = False
        self._seconds_left = LOAD_SECONDS
        self._last_load = 0.0
        """Seconds that the last load took."""
        self._left_out: dict[int, CellProblem] = {}
        self._readable: dict[int, str] = {}
        """By number of a cell for a newer Python: the part of its source that runs here."""
        self._too_new: dict[int, CellProblem] = {}
        """The problems reported for those cells."""
        self._sealed = False
        self._suspect: int | None = None
        """First of the cells among which one hung, until that one is found."""
        self._one_by_one = at_cell is not None

    @property
    def transport(self) -> Transport | None:
        """The transport to the functions; None unless the cells have run and their process is alive."""
        return self._transport

    def in_step(self) -> Transport | None:
        """Like `transport`, but first restarts a process that sent something unrequested."""
        if self._transport is not None and self._transport.out_of_step():
            self.close(grace=0.0)
            with contextlib.suppress(TimedOut):
                self.loaded()
        return self._transport

    def load(self) -> None:
        """Run the cells now. Raises `WorkerLost` if they, or decoding their answers, take too long."""
        try:
            self.loaded()
        except TimedOut as error:
            raise WorkerLost(str(error).removesuffix("."), "timeout") from None

    def loaded(self) -> Transport:
        """The transport to the functions, after running the cells if necessary.

        Raises:
            TimedOut: the cells take too long.
            WorkerLost: no worker can run them.
        """
        if self._transport is None:
            with _isolation_error_as_worker_lost():  # starting may take long on a busy machine and is not charged
                self._worker.ready()
        while self._transport is None:
            if self._seconds_left <= 0:
                raise TimedOut(f"The cells did not run within {LOAD_SECONDS:g} seconds.")
            if self.account.processor_seconds <= 0:
                raise TimedOut(f"The submission has used its {PROCESSOR_SECONDS:g} seconds of processor time.")
            with _isolation_error_as_worker_lost():  # waits for room on the machine, which is not charged either
                self._connection = self._worker.open(self.account.processor_seconds)
            transport = Transport(self._connection)
            start = transport.clock.now()
            try:
                self._transport = self._load_once(transport, until=start + self._seconds_left)
            finally:
                self._last_load = transport.clock.now() - start
                self._seconds_left -= self._last_load
        return self._transport

    def seal(self) -> None:
        """Leave `problems` and `slow` unchanged from now on, even if the cells run again."""
        self._sealed = True

    def renew(self) -> None:
        """Make the next call in a new process; the cells get as much extra time as they last took."""
        if self._transport is not None:
            self._seconds_left += self._last_load
            self._at_cell = None  # from now on a check runs, not the cells
            self.close()

    def close(self, grace: float = 0.5) -> None:
        """End the process and everything it started, after `grace` seconds to exit by itself."""
        if self._connection is not None:
            self._worker.close(self._connection, grace)
            self.account.processor_seconds -= self._connection.processor_seconds
        self._connection = self._transport = None

    def how_it_ended(self) -> str | None:
        """How the process ended, in words; None if its worker was lost instead, which is tolerated once."""
        connection = self._connection
        self.close()
        if connection is not None and connection.ended is not None:
            return connection.ended
        if self._lost_a_worker:
            raise WorkerLost("the worker was killed, twice")
        self._lost_a_worker = True
        return None

    def _load_once(self, transport: Transport, until: float) -> Transport | None:
        """Run every cell in a new process; None if one of them ended it."""
        if self._scenarios:  # before the submission's code, which may change what they import
            self._prepare(transport, until, {"do": "scenarios", "source": self._scenarios})
        if self._forbidden_in:
            self._prepare(transport, until, {"do": "watch", "forbidden_in": self._forbidden_in})
        if not self._sealed:
            self.problems[:] = [*self._left_out.values(), *self._too_new.values()]
        cells = [cell for cell in self.submission.cells if cell.number not in self._left_out]
        answers = self._run_cells(transport, cells, until)
        for cell in cells:
            start = transport.clock.now()
            if self._at_cell is not None:
                self._at_cell(cell.label)
            try:
                answer = next(answers)
            except (DeadlinePassed, ChannelClosed, WireError) as error:
                if self._one_by_one:
                    self._leave_out(cell, error)
                else:
                    self._try_one_by_one(cell, error)
                return None
            if (took := transport.clock.now() - start) > SLOW_CELL_SECONDS and not self._sealed:
                self.slow[cell.label] = f"took {took:.0f} s"
            if answer.get("failure") is not None:
                failure = read_failure(answer["failure"])
                if self._is_newer(cell, failure):
                    return None
                lacking, refused = failure.kind == "ModuleNotFoundError", failure.kind == REFUSED
                said = what_happened(cell, failure, self.submission.cells)
                self._note(CellProblem(cell, said, import_only=lacking, refused=refused))
        return transport

    def _run_cells(self, transport: Transport, cells: list[Cell], until: float) -> Iterator[Answer]:
        """The cells' answers; all cells are sent at once until one of them fails that way."""
        requests = [self._cell_request(cell) for cell in cells]
        frames = [] if self._one_by_one else [wire.encode(request) for request in requests]
        together = not self._one_by_one and sum(map(len, frames)) <= TOGETHER_BYTES
        self._one_by_one = not together
        if together:
            transport.send(b"".join(frames), until - transport.clock.now())
        for cell, request in zip(cells, requests, strict=True):
            left = until - transport.clock.now()
            if together:
                yield transport.read(transport.receive(min(self._cell_seconds, left)))
            else:
                hurry = self._suspect is not None and cell.number >= self._suspect
                seconds = max(1.0, self._cell_seconds * HURRY) if hurry else self._cell_seconds
                yield transport.ask(request, min(seconds, left))

    def _cell_request(self, cell: Cell) -> RunCell:
        return {
            "do": "cell",
            "module": self.submission.module,
            "source": self._readable.get(cell.number, cell.source),
            "label": cell.label,
            "offset": cell.offset,
        }

    def _try_one_by_one(self, cell: Cell, error: Exception) -> None:
        """Arrange to run the cells one by one: this cell, the first without an answer, or a later one is at fault."""
        self._one_by_one = True
        if isinstance(error, DeadlinePassed):
            self._suspect = cell.number
        self.close(grace=0.0 if isinstance(error, DeadlinePassed) else 0.5)

    def _prepare(self, transport: Transport, until: float, request: LoadScenarios | Watch) -> None:
        """Run our own code in the process before the submission can interfere with it."""
        try:
            answer = transport.ask(request, until - transport.clock.now())
        except (DeadlinePassed, ChannelClosed, WireError):
            raise WorkerLost("the worker ended before the submission began") from None
        if answer.get("failure") is not None:
            failure = read_failure(answer["failure"])
            raise WorkerLost(f"the lesson's scenarios cannot be loaded: {failure.kind}: {failure.message}")

    def _leave_out(self, cell: Cell, error: Exception) -> None:
        if isinstance(error, DeadlinePassed):
            self.close(grace=0.0)
            what = f"did not end within {self._cell_seconds:g} seconds"
            if not self._sealed:
                self.slow[cell.label] = f"{what} and was left out"
        elif isinstance(error, ChannelClosed):
            how = self.how_it_ended()
            if how is None:
                return
            what = f"ended its process: it {how}"
        else:
            what = "sent something that cannot be read"
        self.close()
        self._suspect = None
        self._left_out[cell.number] = CellProblem(cell, f"{cell.label} {what}")
        self._note(self._left_out[cell.number])

    def _is_newer(self, cell: Cell, failure: Failure) -> bool:
        """Whether a cell needs a newer Python; if so, arrange to rerun it without the statements that need it."""
        if failure.kind not in SYNTAX_ERRORS or cell.number in self._readable or (found := newer(cell.source)) is None:
            return False
        self._readable[cell.number] = found.readable
        here = f"{sys.version_info[0]}.{sys.version_info[1]}"
        said = f"{failure.place or cell.label} needs Python {found.version} or newer, and work is graded with {here}"
        went_on = WENT_ON_AFTER_ALL if found.lost_definition else WENT_ON
        self._too_new[cell.number] = CellProblem(
            cell, f"{said}: {failure.line}" + f"; {went_on}" * bool(found.readable)
        )
        self.close()
        return True

    def _note(self, problem: CellProblem) -> None:
        if not self._sealed:
            self.problems.append(problem)


def what_happened(cell: Cell, failure: Failure, cells: Sequence[Cell] = ()) -> str:
    """A cell's failure in words; `cells`: all of the submission's, to find one that defines a name too late."""
    place = failure.place or cell.label
    if failure.kind in SYNTAX_ERRORS:
        line = f": {failure.line}" if failure.line else ""
        return f"{place} is not Python ({failure.kind}: {failure.message}){line}"
    message = failure.message
    if failure.kind == "NameError" and (later := defined_later(message, cell, cells)):
        message = message.replace("is not defined", f"is not defined yet: {later.label}, below, defines it", 1)
    return f"{place} raised {failure.kind}" + (f": {message}" if message else "")


@contextlib.contextmanager
def _isolation_error_as_worker_lost() -> Iterator[None]:
    """Turn `IsolationError`, a backend's lack of a worker, into `WorkerLost`."""
    try:
        yield
    except IsolationError as error:
        raise WorkerLost(str(error)) from None
