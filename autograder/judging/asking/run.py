"""Calls one submission's functions within limits, in one process for each environment that its exercises need."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from autograder.isolation import Workers
from autograder.judging.asking.account import RETURNED_BYTES, Account
from autograder.judging.asking.prefetched import Prefetched, Questions, called, is_stale
from autograder.judging.asking.source_text import CellProblem, SourceText
from autograder.judging.asking.submission_process import HURRY, TOGETHER_BYTES, SubmissionProcess
from autograder.judging.asking.transport import FUNCTION_BYTES, ChannelClosed, DeadlinePassed
from autograder.judging.records.errors import Crashed, TimedOut
from autograder.submission import Submission
from autograder.wording import clean
from autograder.worker.messages import Answer, Call, CallFunction, CallScenario
from autograder.worker.wire import WireError
from course.syllabus import Environment, Exercise

SETTLED_SECONDS = 0.25
"""Calls that take longer are worth asking how much of it was the submission's own time."""


class Run(Protocol):
    """Functions that checks call: a submission's, or ours in their place."""

    source: SourceText
    prefetched: Prefetched | None
    """The prefetched calls of the exercise that is being judged."""

    def ask(self, request: Call, seconds: float) -> Answer:
        """The answer to a call. Raises `LearnerError` if there is none within `seconds`."""

    def forget(self) -> None:
        """Make later calls in a process that remembers no earlier ones, if the run has processes."""


def request_of(
    name: str,
    args: list[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    scenario: str = "",
    forbidden: tuple[str, ...] = (),
    layout: str = "",
) -> Call:
    """A request to call `name`, or a `scenario` that uses it; neither may call `forbidden`.

    Args:
        layout: how the arrays among the arguments lie in memory, as for `layout.arranged`.
    """
    call: Call = CallFunction(do="call", name=name, args=args, kwargs=kwargs or {}, forbidden=list(forbidden))
    if scenario:
        call = CallScenario(
            do="scenario", name=scenario, needs=name, args=args, kwargs=kwargs or {}, forbidden=list(forbidden)
        )
    if layout:
        call["layout"] = layout
    return call


def slow_in_words(slow: Mapping[str, str]) -> list[str]:
    """A sentence on each slow cell, by its label, with how long it took."""
    return [f"{label} {how_long}: each check runs it again." for label, how_long in slow.items()]


class SubmissionRun:
    """One submission's functions in one environment, callable until the run is closed.

    A call that hangs or kills its process costs only its own exercise: that is not called again, and the submission is
    reloaded for the others.
    """

    def __init__(self, process: SubmissionProcess) -> None:
        self.process = process
        self.account = process.account
        self.source = SourceText(process.submission, process.problems)
        self.prefetched: Prefetched | None = None
        self._gathered: dict[Questions, tuple[Prefetched, bytes]] = {}
        """Answers that no check has looked at yet, with their hash."""
        self._in_step = True
        """Whether it has sent one answer per request so far; if not, it is asked about one exercise at a time."""
        self._ended: dict[str, TimedOut | Crashed] = {}
        self._undefined: set[str] = set()
        """Functions that the cells do not define; each is asked for once."""
        self._returned: dict[str, int] = {}
        self._was_slow: set[str] = set()
        """Exercises that have exceeded a time limit once; later calls get less time."""

    def prefetch(self, wanted: Sequence[tuple[Exercise, Questions]]) -> bytes | None:
        """Make the known calls of the first exercise's checks, and return a hash of all answers.

        The other exercises' calls are sent in the same round trip, which costs as much as many calls. If a call of the
        first exercise fails, nothing is prefetched and the result is None: calls made separately then show which one
        failed.
        """
        _, questions = wanted[0]
        if questions not in self._gathered and self._gather(wanted):
            self._gather(wanted[:1])
        self.prefetched, digest = self._gathered.pop(questions, (None, None))
        return digest

    def _gather(self, wanted: Sequence[tuple[Exercise, Questions]]) -> bool:
        """Make the known calls of these exercises' checks, until one fails.

        Exercises whose checks call a function that has failed are left out, because each would wait for it again.

        Returns True if it is worth one more try, because the process was stale for the first exercise and has been
        replaced.
        """
        transport = self.process.in_step()
        together = [(one, asked) for one, asked in wanted if not self._ended.keys() & {one.name, *asked.functions}]
        if transport is None or together[:1] != wanted[:1] or self.account.call_seconds <= 0:
            return False
        together = together[: None if self._in_step else 1]
        while len(together) > 1 and sum(len(asked.request) for _, asked in together) > TOGETHER_BYTES:
            together.pop()
        requests = b"".join(asked.request for _, asked in together)
        for exercise, questions in together:
            prefetched, returned = Prefetched(questions, transport), self._returned.get(exercise.name, 0)
            try:
                with self._accounted(exercise.name):
                    if requests:
                        transport.send(requests, exercise.seconds)
                        requests = b""
                    digest = prefetched.gather(exercise.seconds, self.account.call_seconds)
                    stale = prefetched.stale
            except DeadlinePassed:
                self._was_slow.add(exercise.name)
                self.close(grace=0.0)
            except ChannelClosed:
                self.close()
            except WireError:
                self._discard_gathered(together)
            else:
                if stale:
                    self._restart()
                    return questions is wanted[0][1]
                self._gathered[questions] = prefetched, digest
                if self.account.returned <= RETURNED_BYTES:
                    continue
                self.close()
                return False
            self._returned[exercise.name] = returned
            return False
        if len(together) > 1 and transport.out_of_step():
            self._discard_gathered(together)
        return False

    def _restart(self) -> None:
        """Replace a process that holds state which the next exercise must not find."""
        self.close()
        with contextlib.suppress(TimedOut):  # the next call reports it
            self.process.loaded()

    def _discard_gathered(self, together: Sequence[tuple[Exercise, Questions]]) -> None:
        """Drop gathered answers, because an unrequested one among them would shift the others."""
        self._in_step = False
        for _, questions in together:
            self._gathered.pop(questions, None)
        self.close()

    def ask(self, request: Call, seconds: float) -> Answer:
        """The worker's answer to a call.

        Raises `TimedOut` or `Crashed`, at once if an earlier call of the same function did.
        """
        name = called(request)
        if name in self._ended:
            raise self._ended[name]
        if self.account.call_seconds <= 0:
            most = self.account.most_call_seconds
            raise TimedOut(f"The submission has used its {most:g} seconds; {name} was not called.")
        if self._returned.get(name, 0) > FUNCTION_BYTES:
            raise Crashed(f"{name} has returned more than {FUNCTION_BYTES >> 20} MiB by now; it was not called again.")
        if self.account.returned > RETURNED_BYTES:
            raise Crashed(f"All calls have returned more than {RETURNED_BYTES >> 20} MiB; {name} was not called.")
        answer = self._prefetched_answer(request)
        if answer is None and name in self._undefined:
            return {"missing": True}
        if answer is None or is_stale(answer):
            answer = self._call_now(name, request, seconds)
        if is_stale(answer):
            self._restart()
            answer = self._call_now(name, request, seconds)
        if answer.get("missing") is True:
            self._undefined.add(name)
        return answer

    def _prefetched_answer(self, request: Call) -> Answer | None:
        try:
            return self.prefetched.answer(request) if self.prefetched else None
        except WireError:  # the separate call fails the same way
            return None

    def _call_now(self, name: str, request: Call, seconds: float) -> Answer:
        """Make a call now and return its answer."""
        transport = self.process.loaded()
        whole = self.account.call_seconds < seconds
        allowed = max(1.0, seconds * HURRY) if name in self._was_slow else seconds
        try:
            with self._accounted(name):
                return transport.ask(request, min(allowed, self.account.call_seconds))
        except DeadlinePassed:
            self.close(grace=0.0)
            limit = (
                f"the {self.account.most_call_seconds:g} seconds of the submission"
                if whole
                else f"{seconds:g} second{'s' * (seconds != 1)}"
            )
            error: TimedOut | Crashed = TimedOut(f"{name} did not return within {limit}.")
        except ChannelClosed:
            self.prefetched = None
            how = self.process.how_it_ended()
            if how is None:
                return self._call_now(name, request, seconds)
            error = Crashed(f"The process ended while {name} ran: it {how}.")
        except WireError as unreadable:
            error = Crashed(f"{name} sent something that cannot be read: {clean(str(unreadable), 100)}.")
        self.close()
        self._ended[name] = error
        raise error

    def forget(self) -> None:
        """Make later calls in a new process, which runs the cells again and remembers nothing."""
        self.process.renew()

    @contextlib.contextmanager
    def _accounted(self, name: str) -> Iterator[None]:
        """Charge the submission for the time that a call of `name` takes and the bytes that it returns."""
        transport = self.process.transport
        assert transport is not None
        clock, start, before = transport.clock, transport.clock.now(), transport.received
        try:
            yield
        finally:
            if clock.now() - start > SETTLED_SECONDS:
                transport.settle()
            self.account.call_seconds -= clock.now() - start
            received = transport.received - before
            self._returned[name] = self._returned.get(name, 0) + received
            self.account.returned += received

    def close(self, grace: float = 0.5) -> None:
        """End the submission's process and everything it started, after `grace` seconds to exit by itself."""
        self.prefetched = None
        self.process.close(grace)


class SubmissionRuns:
    """One submission's runs, one per environment: NumPy alone, or NumPy and PyTorch."""

    def __init__(
        self,
        submission: Submission,
        workers: Workers,
        scenarios: str,
        at_cell: Callable[[str], None] | None = None,
    ) -> None:
        self.account = Account()
        self._at_cell = at_cell
        self._submission = submission
        self._workers = workers
        self._scenarios = scenarios
        self._runs: dict[Environment, SubmissionRun] = {}

    def of(self, environment: Environment) -> SubmissionRun:
        """The run in the worker for `environment`, after its cells have run.

        Raises:
            PackageMissing: the environment is not installed here.
            WorkerLost: the cells take too long, or the worker cannot run them.
        """
        if environment not in self._runs:
            run = SubmissionRun(self._process(environment, self._submission, self.account, self._at_cell))
            self._runs[environment] = run
            run.process.load()
        return self._runs[environment]

    @contextlib.contextmanager
    def making_room(self, environment: Environment) -> Iterator[None]:
        """Inside, another process of this environment may run; afterwards the submission has a new one.

        A worker serves one process at a time: when one ends, it ends all others as strays.
        """
        run = self._runs[environment]
        run.forget()
        try:
            yield
        finally:
            with contextlib.suppress(TimedOut):  # the next call reports it
                run.process.loaded()

    def without_cells(self, environment: Environment, account: Account) -> SubmissionProcess:
        """A process like the submission's, in which none of its cells runs, on an account of its own."""
        return self._process(environment, replace(self._submission, cells=()), account)

    def _process(
        self,
        environment: Environment,
        submission: Submission,
        account: Account,
        at_cell: Callable[[str], None] | None = None,
    ) -> SubmissionProcess:
        return SubmissionProcess(
            submission,
            self._workers.of(environment),
            scenarios=self._scenarios,
            forbidden_in=self._forbidden_in(environment),
            at_cell=at_cell,
            account=account,
        )

    def _forbidden_in(self, environment: Environment) -> dict[str, list[str]]:
        """The functions that exercises of this environment forbid, with the names of those exercises."""
        found: dict[str, list[str]] = {}
        for exercise in self._workers.lesson.exercises:
            for call in exercise.forbidden if exercise.environment == environment else ():
                found.setdefault(call, []).append(exercise.name)
        return found

    def source_of(self, environment: Environment) -> SourceText:
        """The submission's text, with the problems of its cells in this environment, after they have run there."""
        return self._runs[environment].source

    def seal(self) -> None:
        """Record no further problems of cells: from now on, processes know hidden inputs."""
        for run in self._runs.values():
            run.process.seal()

    def problems(self) -> list[CellProblem]:
        """Cells that failed, without imports that another environment could satisfy and without refused calls.

        An exercise that needs the result of a refused call reports that itself.
        """
        found: dict[tuple[int, str], CellProblem] = {}
        lacking = [{p.cell.number for p in run.process.problems if p.import_only} for run in self._runs.values()]
        for run in self._runs.values():
            for problem in run.process.problems:
                if problem.refused:
                    continue
                if not problem.import_only or all(problem.cell.number in cells for cells in lacking):
                    found[problem.cell.number, problem.text] = problem
        return list(found.values())

    def newer_than_graded(self, exercises: Iterable[Exercise], shown: str) -> list[str]:
        """Sentences on cells that failed to redefine one of these exercises, so that an earlier definition was graded.

        Only the exercise's own environment counts. Sentences that `shown` already contains are left out.
        """
        graded = [(self._runs[one.environment], one.name) for one in exercises if one.environment in self._runs]
        said = [run.source.newer_than_graded(name, shown) for run, name in graded]
        return list(dict.fromkeys(filter(None, said)))

    def kept_out(self, exercises: Iterable[Exercise], shown: str) -> list[str]:
        """Sentences on cells that define one of these exercises but do not run because of a cell magic."""
        graded = [(self._runs[one.environment], one.name) for one in exercises if one.environment in self._runs]
        said = [run.source.kept_out(name) for run, name in graded if f"{name} is not defined: cell" not in shown]
        return list(dict.fromkeys(filter(None, said)))

    def slow_cells(self) -> list[str]:
        """Sentences on slow cells, which run again for every check."""
        slow = {label: how_long for run in self._runs.values() for label, how_long in run.process.slow.items()}
        return slow_in_words(slow)

    def close(self) -> None:
        """End all of the submission's processes."""
        for run in self._runs.values():
            run.close()
