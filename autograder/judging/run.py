"""One submission in a worker: its cells run, its functions called, and started again after a crash."""

from __future__ import annotations

import contextlib
import difflib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.diagnosis.wording import clean
from autograder.isolation import Connection, IsolationError, Worker, Workers
from autograder.judging.ahead import Ahead, ForeseenCheck
from autograder.judging.errors import Crashed, TimedOut, WorkerLost, read_failure
from autograder.judging.patience import Patience
from autograder.judging.transport import (
    FUNCTION_BYTES,
    ChannelClosed,
    DeadlinePassed,
    LocalTransport,
    RemoteTransport,
    Transport,
)
from autograder.submission import Cell, Submission
from autograder.worker import wire
from autograder.worker.execution import Failure
from autograder.worker.wire import WireError
from course.syllabus import Exercise, Kit

CELL_SECONDS = 10.0
LOAD_SECONDS = 60.0
"""What all cells may take together, those that run again after a crash included."""
SUBMISSION_SECONDS = 180.0
"""What all calls of one submission may take together: many calls just below their own limit end here."""
TOGETHER_BYTES = 96 * 2**10
"""What cells that are sent at once may take: it fits into a stream's buffer, so that neither end waits to write."""
SLOW_CELL_SECONDS = 1.0
"""A cell that takes longer is worth a word to those who wait for it at each check."""
ALIKE = 0.8
"""How much a name resembles the one that is meant; `relu_vpj`, `Relu_vjp` and `my_relu_vjp` do."""
HURRY = 0.1
"""The share of a limit that is left for finding out which of several calls, or cells, has used it up."""

_DEFINED = re.compile(r"^(?:async\s+)?def\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class CellProblem:
    """A cell that did not run to its end."""

    cell: Cell
    text: str
    """What happened, as a sentence without its full stop."""
    import_only: bool = False
    """Whether all that failed was an import."""


def _is_to_define(cell: Cell, name: str) -> bool:
    known = re.escape(name)
    definition = rf"^[ \t]*(?:async\s+)?(?:def|class)\s+{known}\b|^{known}\s*="
    return cell.exercise == name or re.search(definition, cell.source, re.MULTILINE) is not None


def request_of(
    name: str, args: list[Any], kwargs: dict[str, Any], scenario: str, forbidden: tuple[str, ...]
) -> dict[str, Any]:
    """What a worker is asked: to call `name`, or the scenario that exercises it."""
    request = {"do": "call", "name": name, "args": args, "kwargs": kwargs, "forbidden": list(forbidden)}
    return request | {"do": "scenario", "name": scenario, "needs": name} if scenario else request


@contextlib.contextmanager
def _worker_needed() -> Iterator[None]:
    """`WorkerLost` where a backend says that it has no worker."""
    try:
        yield
    except IsolationError as error:
        raise WorkerLost(str(error)) from None


class SubmissionRun:
    """The functions of one submission, callable until the run is closed.

    A call that hangs or kills its process costs its own exercise: that exercise is not called again, and the
    submission is loaded afresh for the others. A cell that hangs or kills its process is left out from then on.

    Args:
        scenarios: source of the lesson's scenarios, which run beside the submission; empty if it has none.
        watched: functions that some exercise forbids, by their full names.
        at_cell: is told the label of each cell when its turn has come. Then they are sent one by one: of those that are
            sent at once, answers may be held until a slow one has ended, and it is not known which that is.
    """

    def __init__(
        self,
        submission: Submission,
        worker: Worker,
        *,
        scenarios: str = "",
        watched: tuple[str, ...] = (),
        cell_seconds: float = CELL_SECONDS,
        at_cell: Callable[[str], None] | None = None,
    ) -> None:
        self.submission = submission
        self.problems: list[CellProblem] = []
        self.slow: dict[str, str] = {}
        """The cells that take longer than others, by label, and in words how long."""
        self._at_cell = at_cell
        self._worker = worker
        self._scenarios = scenarios
        self._watched = watched
        self._cell_seconds = cell_seconds
        self._left_out: set[int] = set()
        self._ended: dict[str, TimedOut | Crashed] = {}
        self._connection: Connection | None = None
        self._transport: Transport | None = None
        self._lost_a_worker = False
        self._load_seconds_left = LOAD_SECONDS
        self._seconds_left = SUBMISSION_SECONDS
        self._returned: dict[str, int] = {}
        self.ahead: Ahead | None = None
        """The calls that were foreseen for the exercise that is judged now."""
        self._in_a_hurry: set[str] = set()
        """Exercises that have used up a limit of time already: what they are asked again has less."""
        self._suspect: int | None = None
        """The first of the cells among which one has hung, until that one is found."""
        self._one_by_one = at_cell is not None
        self.patience = Patience()
        """What may be spent on judging this submission."""
        self.told_of_source = False
        """Whether something was said that depends on the submission's own text."""

    def foresee(self, exercise: Exercise, checks: Sequence[ForeseenCheck]) -> bytes | None:
        """Have the calls made that the checks of an exercise will ask for; the worker knows them.

        Returns a digest of all answers. Where one of the calls has gone wrong nothing is foreseen, and there is none:
        which one it was, they show when each is made by itself.
        """
        transport, name = self._in_step(), exercise.name
        if transport is None or name in self._ended or self._seconds_left <= 0:
            return None
        ahead, returned = Ahead(checks, transport), self._returned.get(name, 0)
        try:
            with self._accounted(name):
                digest = ahead.gather(name, exercise.seconds, time.monotonic() + self._seconds_left)
        except DeadlinePassed:
            self._in_a_hurry.add(name)
            self.close(grace=0.0)
        except (ChannelClosed, WireError):
            self.close()
        else:
            self.ahead = ahead
            return digest
        self._returned[name] = returned
        return None

    def _in_step(self) -> RemoteTransport | None:
        """The transport to a submission that has said no more than it was asked; one that has is started again."""
        transport = self._transport
        if isinstance(transport, RemoteTransport) and transport.out_of_step():
            self.close(grace=0.0)
            with contextlib.suppress(TimedOut):
                transport = self._loaded()
        return transport if isinstance(transport, RemoteTransport) else None

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
        """The worker's answer to a call of `name`, or of a `scenario` that exercises it; neither may call `forbidden`.

        Raises `TimedOut` or `Crashed`, at once, if a call for `name` did so before.
        """
        if name in self._ended:
            raise self._ended[name]
        if self._seconds_left <= 0:
            raise TimedOut(f"The submission has used its {SUBMISSION_SECONDS:g} seconds; {name} was not called.")
        if self._returned.get(name, 0) > FUNCTION_BYTES:
            raise Crashed(f"{name} has returned more than {FUNCTION_BYTES >> 20} MiB by now; it was not called again.")
        request = request_of(name, args, kwargs, scenario, forbidden)
        answer = self._answered_ahead(request)
        return self._asked(name, request, seconds) if answer is None else answer

    def _answered_ahead(self, request: dict[str, Any]) -> dict[str, Any] | None:
        try:
            return self.ahead.answer(request) if self.ahead else None
        except WireError:  # as it will be again
            return None

    def _asked(self, name: str, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a call, asked for now."""
        transport = self._loaded()
        whole = self._seconds_left < seconds
        patience = max(1.0, seconds * HURRY) if name in self._in_a_hurry else seconds
        try:
            with self._accounted(name):
                return transport.ask(request, min(patience, self._seconds_left))
        except DeadlinePassed:
            self.close(grace=0.0)
            limit = f"the {SUBMISSION_SECONDS:g} seconds of the submission" if whole else f"{seconds:g} seconds"
            error: TimedOut | Crashed = TimedOut(f"{name} did not return within {limit}.")
        except ChannelClosed:
            how = self._how_it_ended()
            if how is None:
                return self._asked(name, request, seconds)
            error = Crashed(f"The process ended while {name} ran: it {how}.")
        except WireError as unreadable:
            error = Crashed(f"{name} sent something that cannot be read: {clean(str(unreadable), 100)}.")
        self.close()
        self._ended[name] = error
        raise error

    @contextlib.contextmanager
    def _accounted(self, name: str) -> Iterator[None]:
        """Count what a call of `name` takes of the submission's time, and what it returns."""
        transport, start = self._transport, time.monotonic()
        before = transport.received if transport else 0
        try:
            yield
        finally:
            self._seconds_left -= time.monotonic() - start
            self._returned[name] = self._returned.get(name, 0) + (transport.received if transport else 0) - before

    def load(self) -> None:
        """Run the cells now rather than at the first call. `WorkerLost` if they take too long."""
        try:
            self._loaded()
        except TimedOut:
            raise WorkerLost(f"the cells did not run within {LOAD_SECONDS:g} seconds", "timeout") from None

    def tried_to_define(self, name: str) -> CellProblem | None:
        """What befell the last cell that should define `name`; None if there is no such cell, or it ran."""
        self.told_of_source = True
        problems = [problem for problem in self.problems if _is_to_define(problem.cell, name)]
        return max(problems, key=lambda problem: problem.cell.number, default=None)

    def failed_to_redefine(self, name: str) -> CellProblem | None:
        """What befell the last of all cells that should define `name`; None if it ran."""
        problem = self.tried_to_define(name)
        last = max((cell.number for cell in self.submission.cells if _is_to_define(cell, name)), default=0)
        return problem if problem is not None and problem.cell.number == last else None

    def why_missing(self, name: str, others: Iterable[str] = ()) -> str:
        """Why there is no function `name`: the cell that should define it, and what befell it.

        A name that is much like it may be what its owner means, unless it is among `others`.
        """
        problem = self.tried_to_define(name)
        if problem is not None:
            return f"{name} is not defined: {problem.text}.{self._what_came_before(problem.text, problem)}"
        why = f"{name} is not defined: there is no function of that name in {self.submission.name}."
        defined = {found for cell in self.submission.cells for found in _DEFINED.findall(cell.source)}
        like = difflib.get_close_matches(name, defined.difference(others), 1, ALIKE)
        return f"{why} There is {like[0]}: is that it?" if like else why

    def says(self, text: str) -> bool:
        """Whether the submission's own source has this text in it: then it tells nothing of what it was called with."""
        self.told_of_source = True
        return any(text in cell.source for cell in self.submission.cells)

    def has_line(self, place: str) -> bool:
        """Whether there is such a line, `cell 3, line 7` or `line 40`, in the submission."""
        self.told_of_source = True
        match = re.fullmatch(r"(?:(.+), )?line ([0-9]{1,7})", place)
        if match is None:
            return False
        return any(
            0 < int(match[2]) - cell.offset <= len(cell.source.splitlines())
            for cell in self.submission.cells
            if cell.label == match[1] or (match[1] is None and cell.label.startswith("line "))
        )

    def hint_about(self, failure: Failure) -> str:
        """For a name that is not defined: what befell the cell that would have defined it."""
        self.told_of_source = True
        return self._what_came_before(failure.message) if failure.kind == "NameError" else ""

    def _what_came_before(self, message: str, known: CellProblem | None = None) -> str:
        """What befell the first cell that has a name which is not defined, as a line; `known` is said already."""
        match = re.search(r"name '(\w+)' is not defined", message)
        if match is None:
            return ""
        for problem in self.problems:
            if problem is not known and re.search(rf"\b{match[1]}\b", problem.cell.source):
                return f"\nBefore that, {problem.text}."
        return ""

    def close(self, grace: float = 0.5) -> None:
        """End the submission's process and all that it started; `grace` seconds to end by itself."""
        if self._connection is not None:
            self._worker.close(self._connection, grace)
        self._connection = self._transport = self.ahead = None

    def _loaded(self) -> Transport:
        if self._transport is None:
            with _worker_needed():  # until it has started, on a busy machine for long: no submission's time
                self._worker.ready()
        while self._transport is None:
            if self._load_seconds_left <= 0:
                raise TimedOut(f"The cells did not run within {LOAD_SECONDS:g} seconds.")
            with _worker_needed():  # which waits where a machine has no room for it: no submission's time either
                self._connection = self._worker.open()
            start = time.monotonic()
            try:
                self._transport = self._load_once(until=start + self._load_seconds_left)
            finally:
                self._load_seconds_left -= time.monotonic() - start
        return self._transport

    def _load_once(self, until: float) -> Transport | None:
        """Run every cell in a fresh process; None if one of them ended it."""
        assert self._connection is not None
        transport = RemoteTransport(self._connection)
        if self._scenarios:  # before the submission's own code, which may change what they import
            self._prepare(transport, until, {"do": "scenarios", "source": self._scenarios})
        if self._watched:
            self._prepare(transport, until, {"do": "watch", "calls": list(self._watched)})
        self.problems = [problem for problem in self.problems if problem.cell.number in self._left_out]
        cells = [cell for cell in self.submission.cells if cell.number not in self._left_out]
        answers = self._run_cells(transport, cells, until)
        for cell in cells:
            start = time.monotonic()
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
            if time.monotonic() - start > SLOW_CELL_SECONDS:
                self.slow[cell.label] = f"took {time.monotonic() - start:.0f} s"
            if answer.get("failure") is not None:
                failure = read_failure(answer["failure"])
                refused = failure.kind == "ModuleNotFoundError"
                self.problems.append(CellProblem(cell, self._what_happened(cell, failure), refused))
        return transport

    def _run_cells(self, transport: RemoteTransport, cells: list[Cell], until: float) -> Iterator[dict[str, Any]]:
        """The answers of the cells, which are sent all at once until one of them has been at fault."""
        requests = [self._cell_request(cell) for cell in cells]
        frames = [] if self._one_by_one else [wire.encode(request) for request in requests]
        together = not self._one_by_one and sum(map(len, frames)) <= TOGETHER_BYTES
        self._one_by_one = not together
        if together:
            transport.send(b"".join(frames), until - time.monotonic())
        for cell, request in zip(cells, requests, strict=True):
            left = until - time.monotonic()
            if together:
                yield transport.read(transport.receive(min(self._cell_seconds, left)))
            else:
                hurry = self._suspect is not None and cell.number >= self._suspect
                seconds = max(1.0, self._cell_seconds * HURRY) if hurry else self._cell_seconds
                yield transport.ask(request, min(seconds, left))

    def _cell_request(self, cell: Cell) -> dict[str, Any]:
        return {
            "do": "cell",
            "module": self.submission.module,
            "source": cell.source,
            "label": cell.label,
            "offset": cell.offset,
        }

    def _try_one_by_one(self, cell: Cell, error: Exception) -> None:
        """Prepare to find which cell is at fault: this one, whose answer is the first that is lacking, or a later."""
        self._one_by_one = True
        if isinstance(error, DeadlinePassed):
            self._suspect = cell.number
        self.close(grace=0.0 if isinstance(error, DeadlinePassed) else 0.5)

    def _prepare(self, transport: Transport, until: float, request: dict[str, Any]) -> None:
        """Have our own code in the submission's process, before what the submission may change in it."""
        try:
            answer = transport.ask(request, until - time.monotonic())
        except (DeadlinePassed, ChannelClosed, WireError):
            raise WorkerLost("the worker ended before the submission began") from None
        if answer.get("failure") is not None:
            failure = read_failure(answer["failure"])
            raise WorkerLost(f"the lesson's scenarios cannot be loaded: {failure.kind}: {failure.message}")

    def _leave_out(self, cell: Cell, error: Exception) -> None:
        if isinstance(error, DeadlinePassed):
            self.close(grace=0.0)
            what = f"did not end within {self._cell_seconds:g} seconds"
            self.slow[cell.label] = f"{what} and was left out"
        elif isinstance(error, ChannelClosed):
            how = self._how_it_ended()
            if how is None:
                return
            what = f"ended its process: it {how}"
        else:
            what = "sent something that cannot be read"
        self.close()
        self._suspect = None
        self._left_out.add(cell.number)
        self.problems.append(CellProblem(cell, f"{cell.label} {what}"))

    @staticmethod
    def _what_happened(cell: Cell, failure: Failure) -> str:
        place = failure.place or cell.label
        if failure.kind in ("SyntaxError", "IndentationError", "TabError"):
            line = f": {failure.line}" if failure.line else ""
            return f"{place} is not Python ({failure.kind}: {failure.message}){line}"
        return f"{place} raised {failure.kind}" + (f": {failure.message}" if failure.message else "")

    def _how_it_ended(self) -> str | None:
        """How the submission's process ended, in words; None if its worker ended instead, which may happen once."""
        connection = self._connection
        self.close()
        if connection is not None and connection.ended is not None:
            return connection.ended
        if self._lost_a_worker:
            raise WorkerLost("the worker was killed, twice")
        self._lost_a_worker = True
        return None


class SubmissionRuns:
    """One submission in as many workers as its exercises need: one that has NumPy alone, one that has PyTorch, too."""

    def __init__(
        self,
        submission: Submission,
        workers: Workers,
        scenarios: str,
        at_cell: Callable[[str], None] | None = None,
    ) -> None:
        self._at_cell = at_cell
        self._submission = submission
        self._workers = workers
        self._scenarios = scenarios
        self._runs: dict[Kit, SubmissionRun] = {}

    def of(self, kit: Kit) -> SubmissionRun:
        """The run in the worker that has `kit`, its cells run.

        Raises:
            PackageMissing: the kit is not installed here.
            WorkerLost: the cells take too long, or the worker cannot serve them.
        """
        if kit not in self._runs:
            exercises = [exercise for exercise in self._workers.lesson.exercises if exercise.kit == kit]
            watched = tuple(dict.fromkeys(call for exercise in exercises for call in exercise.forbidden))
            worker = self._workers.of(kit)
            run = SubmissionRun(
                self._submission, worker, scenarios=self._scenarios, watched=watched, at_cell=self._at_cell
            )
            self._runs[kit] = run
            run.load()
        return self._runs[kit]

    def problems(self) -> list[CellProblem]:
        """What befell the cells. An import that one kit lacks and another has is no problem."""
        found: dict[tuple[int, str], CellProblem] = {}
        lacking = [{p.cell.number for p in run.problems if p.import_only} for run in self._runs.values()]
        for run in self._runs.values():
            for problem in run.problems:
                if not problem.import_only or all(problem.cell.number in cells for cells in lacking):
                    found[problem.cell.number, problem.text] = problem
        return list(found.values())

    def newer_than_graded(self, exercises: Iterable[Exercise], told: str) -> list[str]:
        """What befell the cells that should define one of these exercises, where an earlier cell did: that one counts.

        What befell them where an exercise is not graded, without its packages, is no matter. `told` has what is said
        already.
        """
        graded = [(self._runs[one.kit], one.name) for one in exercises if one.kit in self._runs]
        tried = [run.failed_to_redefine(name) for run, name in graded]
        found = [problem for problem in tried if problem is not None]
        rest = {True: "what was defined all the same", False: "what was defined before that"}
        said = [f"{p.text}; {rest[p.import_only]} was graded." for p in found if p.text not in told]
        return list(dict.fromkeys(said))

    def slow_cells(self) -> list[str]:
        """The cells that every check waits for."""
        slow = {label: how_long for run in self._runs.values() for label, how_long in run.slow.items()}
        return [f"{label} {how_long}: each check runs it again." for label, how_long in slow.items()]

    def close(self) -> None:
        """End the submission's processes."""
        for run in self._runs.values():
            run.close()


class LocalRun(SubmissionRun):
    """Trusted functions in the place of a submission's, in this process; scenarios see `module` as the submission."""

    def __init__(self, functions: dict[str, Any], module: Any = None, scenarios: dict[str, Any] | None = None) -> None:
        super().__init__(Submission.empty(), worker=None)  # type: ignore[arg-type]
        self._transport = LocalTransport(functions, module, scenarios or {})
