"""Calls a submission's functions in the judge's own process, where there is no other, as in a browser."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.prefetched import called
from autograder.judging.asking.run import slow_in_words
from autograder.judging.asking.source_text import CellProblem, SourceText
from autograder.judging.asking.submission_process import SLOW_CELL_SECONDS, what_happened
from autograder.judging.records.errors import TimedOut, read_failure
from autograder.submission import Cell, Submission
from autograder.worker.calls import Guard
from autograder.worker.execution import REFUSED, Failure, Program
from autograder.worker.imports import MissingPackages
from autograder.worker.messages import Answer, Call
from autograder.worker.seeds import seed
from autograder.worker.time_limit import limited

SLOWER = 3
"""A browser's Python has so many times an exercise's seconds for a call, within the two limits below."""
LEAST_SECONDS, MOST_SECONDS = 10.0, 40.0
FILLING_SECONDS = 2.0
"""A call that runs out of memory after so much processor time has filled it, and would fill it again for each case."""
CELL_SECONDS = 10.0
"""Time for a cell to define its functions."""
_missing = MissingPackages([])
"""The finder of modules for all runs of this process; it notes refused ones for the last of them."""
_guards: list[Guard] = []
"""The guard of the last run: it has replaced functions in this process."""


class HereRun(LocalRun):
    """The functions that a submission's cells define, run in this process.

    Args:
        scenarios: by name.
        forbidden_in: full names of functions that some exercise forbids, with the names of those exercises.
    """

    def __init__(
        self, submission: Submission, scenarios: Mapping[str, Any], forbidden_in: Mapping[str, Sequence[str]]
    ) -> None:
        super().__init__({}, None, dict(scenarios))
        _missing.asked = self._dispatcher.forbidden
        if _missing not in sys.meta_path:
            sys.meta_path.append(_missing)
        self.guard_with(_new_guard(self._dispatcher.scenarios, forbidden_in))
        self.problems: list[CellProblem] = []
        self.slow: dict[str, str] = {}
        """As in `SubmissionProcess`."""
        self._filled: dict[str, Answer] = {}
        """By function, the answer of the call that has filled the memory."""
        self.name = submission.module
        self.source = SourceText(submission, self.problems)
        seed()  # as a worker does, so that random answers are the same
        with in_modules(self.name, None):
            program = Program(self.name)
            program.awaits = 0  # a browser's Python cannot wait for a coroutine
            for cell in submission.cells:
                self._run_cell(program, cell, submission.cells)
        self.module: ModuleType = program.module
        self._dispatcher.program = program

    def _run_cell(self, program: Program, cell: Cell, cells: Sequence[Cell]) -> None:
        began = time.perf_counter()
        with limited(CELL_SECONDS) as limit:
            failure = program.run_cell(cell.source, cell.label, cell.offset)
        if limit.passed:
            what = f"did not end within {CELL_SECONDS:g} seconds"
            self.slow[cell.label] = f"{what} and was left out"
            self.problems.append(CellProblem(cell, f"{cell.label} {what}"))
            return
        if (took := time.perf_counter() - began) > SLOWER * SLOW_CELL_SECONDS:
            self.slow[cell.label] = f"took {took:.0f} s"
        if failure is not None:
            self.problems.append(_problem(cell, read_failure(failure.as_data()), cells))

    def ask(self, request: Call, seconds: float) -> Answer:
        """As `LocalRun.ask`, within a time limit; raises `TimedOut`, at once if an earlier call of the function did.

        A function whose call has filled the memory is not called again, either: it has the same answer at once.
        """
        if (filled := self._filled.get(called(request))) is not None:
            return filled
        most, began = min(MOST_SECONDS, max(LEAST_SECONDS, SLOWER * seconds)), time.process_time()
        with in_modules(self.name, self.module), limited(most) as limit:
            answer = super().ask(request, seconds)
        if limit.passed:
            name = called(request)
            within = f"{most:g} second{'s' * (most != 1)}"
            self._ended[name] = TimedOut(f"{name} did not return within {within}. It was at {limit.where}.")
            raise self._ended[name]
        if time.process_time() - began >= FILLING_SECONDS and _is_out_of_memory(answer):
            self._filled[called(request)] = answer
        return answer

    def notes(self, exercise: str, shown: str) -> str:
        """What a command notes beside an exercise's message `shown`: cells that failed, were slow or did not run."""
        kept_out = "" if f"{exercise} is not defined: cell" in shown else self.source.kept_out(exercise)
        newer = self.source.newer_than_graded(exercise, shown)
        return " ".join(filter(None, [newer, *slow_in_words(self.slow), kept_out]))


def _is_out_of_memory(answer: Answer) -> bool:
    failure = answer.get("failure")
    return isinstance(failure, dict) and failure.get("kind") == MemoryError.__name__


@contextmanager
def in_modules(name: str, module: ModuleType | None) -> Iterator[None]:
    """Inside, the name is the submission's module (a notebook's is `__main__`); afterwards what it was before."""
    before = sys.modules.get(name)
    if module is not None:
        sys.modules[name] = module
    try:
        yield
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before


def _problem(cell: Cell, failure: Failure, cells: Sequence[Cell]) -> CellProblem:
    lacking, refused = failure.kind == "ModuleNotFoundError", failure.kind == REFUSED
    return CellProblem(cell, what_happened(cell, failure, cells), import_only=lacking, refused=refused)


def _new_guard(scenarios: dict[str, Any], forbidden_in: Mapping[str, Sequence[str]]) -> Guard:
    """A guard that refuses what any exercise forbids, as it does while cells run."""
    while _guards:
        _guards.pop().let_go()
    guard = Guard(scenarios)
    guard.watch({name: list(exercises) for name, exercises in forbidden_in.items()})
    _guards.append(guard)
    return guard
