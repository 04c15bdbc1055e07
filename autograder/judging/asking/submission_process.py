"""The process that a submission runs in: its cells run, and run again after a crash."""

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
"""What all cells may take together, for one environment; those that run again after a crash included."""
TOGETHER_BYTES = 96 * 2**10
"""What requests that are sent at once may take: it fits into a stream's buffer, so that neither end waits to write."""
SLOW_CELL_SECONDS = 1.0
"""A cell that takes longer is worth a word to those who wait for it at each check."""
HURRY = 0.1
"""The share of a limit that is left for finding out which of several cells, or calls, has used it up."""


class SubmissionProcess:
    """The process in which a submission's cells have run, started again after a crash until the last `close`.

    Or where a check wants one that remembers nothing (`renew`): the time of the cells is not the submission's, then.
    A cell that hangs or kills its process is left out from then on.

    Args:
        scenarios: source of the lesson's scenarios, which run beside the submission; empty if it has none.
        forbidden_in: functions that some exercise forbids, by their full names, and which exercises.
        at_cell: is told the label of each cell when its turn has come. Then they are sent one by one: of those that are
            sent at once, answers may be held until a slow one has ended, and it is not known which that is.
        account: what the submission may use; an account of its own if not given.
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
        """What befell the cells; the same list, however often they run."""
        self.slow: dict[str, str] = {}
        """The cells that take longer than others, by label, and in words how long."""
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
        """What the cells took when they last ran to the end."""
        self._left_out: dict[int, CellProblem] = {}
        self._readable: dict[int, str] = {}
        """What runs of cells that are of a newer Python than this one."""
        self._told: dict[int, CellProblem] = {}
        """What there is to say of those."""
        self._sealed = False
        self._suspect: int | None = None
        """The first of the cells among which one has hung, until that one is found."""
        self._one_by_one = at_cell is not None

    @property
    def transport(self) -> Transport | None:
        """The way to the functions, where the cells have run and nothing has ended their process."""
        return self._transport

    def in_step(self) -> Transport | None:
        """The same, to a submission that has said no more than it was asked; one that has is started again."""
        if self._transport is not None and self._transport.out_of_step():
            self.close(grace=0.0)
            with contextlib.suppress(TimedOut):
                self.loaded()
        return self._transport

    def load(self) -> None:
        """Run the cells now rather than at the first call. `WorkerLost` if they take too long, or to read them does."""
        try:
            self.loaded()
        except TimedOut as error:
            raise WorkerLost(str(error).removesuffix("."), "timeout") from None

    def loaded(self) -> Transport:
        """The way to the functions; the cells run where they have not yet.

        Raises:
            TimedOut: the cells take too long.
            WorkerLost: there is no worker to run them, or it cannot.
        """
        if self._transport is None:
            with _worker_needed():  # until it has started, on a busy machine for long: no submission's time
                self._worker.ready()
        while self._transport is None:
            if self._seconds_left <= 0:
                raise TimedOut(f"The cells did not run within {LOAD_SECONDS:g} seconds.")
            if self.account.processor_seconds <= 0:
                raise TimedOut(f"The submission has used its {PROCESSOR_SECONDS:g} seconds of processor time.")
            with _worker_needed():  # which waits where a machine has no room for it: no submission's time either
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
        """Let `problems` and `slow` be what they are, whatever befalls the cells if they run again."""
        self._sealed = True

    def renew(self) -> None:
        """Have the next call made in a new process; the cells may take as long again as they have just taken."""
        if self._transport is not None:
            self._seconds_left += self._last_load
            self._at_cell = None  # what runs now is a check, and not the cells
            self.close()

    def close(self, grace: float = 0.5) -> None:
        """End the process and all that it started; `grace` seconds to end by itself."""
        if self._connection is not None:
            self._worker.close(self._connection, grace)
            self.account.processor_seconds -= self._connection.processor_seconds
        self._connection = self._transport = None

    def how_it_ended(self) -> str | None:
        """How the submission's process ended, in words; None if its worker ended instead, which may happen once."""
        connection = self._connection
        self.close()
        if connection is not None and connection.ended is not None:
            return connection.ended
        if self._lost_a_worker:
            raise WorkerLost("the worker was killed, twice")
        self._lost_a_worker = True
        return None

    def _load_once(self, transport: Transport, until: float) -> Transport | None:
        """Run every cell in a fresh process; None if one of them ended it."""
        if self._scenarios:  # before the submission's own code, which may change what they import
            self._prepare(transport, until, {"do": "scenarios", "source": self._scenarios})
        if self._forbidden_in:
            self._prepare(transport, until, {"do": "watch", "forbidden_in": self._forbidden_in})
        if not self._sealed:
            self.problems[:] = [*self._left_out.values(), *self._told.values()]
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
        """The answers of the cells, which are sent all at once until one of them has been at fault."""
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
        """Prepare to find which cell is at fault: this one, whose answer is the first that is lacking, or a later."""
        self._one_by_one = True
        if isinstance(error, DeadlinePassed):
            self._suspect = cell.number
        self.close(grace=0.0 if isinstance(error, DeadlinePassed) else 0.5)

    def _prepare(self, transport: Transport, until: float, request: LoadScenarios | Watch) -> None:
        """Have our own code in the submission's process, before what the submission may change in it."""
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
        """Whether a cell is of a newer Python, and runs again without the statements that this one cannot read."""
        if failure.kind not in SYNTAX_ERRORS or cell.number in self._readable or (found := newer(cell.source)) is None:
            return False
        self._readable[cell.number] = found.readable
        here = f"{sys.version_info[0]}.{sys.version_info[1]}"
        said = f"{failure.place or cell.label} needs Python {found.version} or newer, and work is graded with {here}"
        went_on = WENT_ON_AFTER_ALL if found.lost_definition else WENT_ON
        self._told[cell.number] = CellProblem(cell, f"{said}: {failure.line}" + f"; {went_on}" * bool(found.readable))
        self.close()
        return True

    def _note(self, problem: CellProblem) -> None:
        if not self._sealed:
            self.problems.append(problem)


def what_happened(cell: Cell, failure: Failure, cells: Sequence[Cell] = ()) -> str:
    """A failure of a cell, in words; `cells`: all of the submission, one of which may define a name too late."""
    place = failure.place or cell.label
    if failure.kind in SYNTAX_ERRORS:
        line = f": {failure.line}" if failure.line else ""
        return f"{place} is not Python ({failure.kind}: {failure.message}){line}"
    message = failure.message
    if failure.kind == "NameError" and (later := defined_later(message, cell, cells)):
        message = message.replace("is not defined", f"is not defined yet: {later.label}, below, defines it", 1)
    return f"{place} raised {failure.kind}" + (f": {message}" if message else "")


@contextlib.contextmanager
def _worker_needed() -> Iterator[None]:
    """`WorkerLost` where a backend says that it has no worker."""
    try:
        yield
    except IsolationError as error:
        raise WorkerLost(str(error)) from None
