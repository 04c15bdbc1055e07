"""Runs a learner's functions in the judge's own process, where there is no other, as in a browser.

Nothing confines the functions, only the user can stop a loop that `time_limit` does not see, and they could forge the
verdict. So this is for learners who check their own work, and gives no credit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec

from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.prefetched import called
from autograder.judging.asking.source_text import CellProblem, SourceText
from autograder.judging.asking.submission_process import what_happened
from autograder.judging.records.errors import LearnerError, TimedOut, read_failure
from autograder.judging.records.results import ExerciseResult
from autograder.judging.scoring import ungradable, wrong_among
from autograder.judging.session import Judge
from autograder.submission import Submission
from autograder.worker.execution import Program
from autograder.worker.imports import MissingPackages
from autograder.worker.messages import Answer, Call
from autograder.worker.time_limit import limited
from course.syllabus import Exercise

MODULE = "submission"
"""Name of the learner's module; `__main__` is the judge's."""
SLOWER = 3
"""A browser's Python has so many times an exercise's seconds for a call, within the two limits below."""
LEAST_SECONDS, MOST_SECONDS = 10.0, 40.0
CELL_SECONDS = 10.0
"""Time for a cell to define its functions."""
_missing = MissingPackages([])
"""The finder of modules for all runs of this process; it notes refused ones for the last of them."""


class HereRun(LocalRun):
    """The functions that a submission's cells define, run in this process."""

    def __init__(self, submission: Submission, judge: Judge) -> None:
        super().__init__({}, None, judge.reference.scenarios)
        _missing.asked = self._dispatcher.forbidden
        if _missing not in sys.meta_path:
            sys.meta_path.append(_missing)
        program, problems = Program(MODULE), []
        for cell in submission.cells:
            with limited(CELL_SECONDS) as limit:
                failure = program.run_cell(cell.source, cell.label, cell.offset)
            if limit.passed:
                problems.append(CellProblem(cell, f"{cell.label} did not end within {CELL_SECONDS:g} seconds"))
            elif failure is not None:
                failed = read_failure(failure.as_data())
                problems.append(
                    CellProblem(
                        cell, what_happened(cell, failed, submission.cells), failed.kind == "ModuleNotFoundError"
                    )
                )
        self.problems = problems
        self.source = SourceText(submission, problems)
        self.module = program.module
        self._dispatcher.program = program

    def ask(self, request: Call, seconds: float) -> Answer:
        """As `LocalRun.ask`, within a time limit; raises `TimedOut`, at once if an earlier call of the function did."""
        most = min(MOST_SECONDS, max(LEAST_SECONDS, SLOWER * seconds))
        with limited(most) as limit:
            answer = super().ask(request, seconds)
        if limit.passed:
            name = called(request)
            self._ended[name] = TimedOut(f"{name} did not return within {most:g} seconds. It was at {limit.where}.")
            raise self._ended[name]
        return answer


def graded_here(judge: Judge, submission: Submission, only: Iterable[str] | None = None) -> list[ExerciseResult]:
    """Grade a submission's exercises, or just `only` these, in this process."""
    wanted = set(only) if only is not None else None
    run, results = HereRun(submission, judge), list[ExerciseResult]()
    for exercise in judge.lesson.exercises:
        if wanted is None or exercise.name in wanted:
            results.append(_graded(judge, run, exercise, results))
    return results


def _graded(judge: Judge, run: HereRun, exercise: Exercise, before: list[ExerciseResult]) -> ExerciseResult:
    missing = next((package for package in exercise.environment.packages if find_spec(package) is None), None)
    if missing:
        return ungradable(exercise, f"{exercise.name} cannot be checked here: it needs {missing}.")
    try:
        records = judge.observe(judge.items_of(exercise.name), run, doing=exercise.name)
        wrong = wrong_among(before)
        harmful = [name for name, named in wrong.items() if not judge.mistakes.does_no_harm(name, named, exercise)]
        return judge.judged(exercise, records, run.source.calls(exercise.name, harmful))
    except LearnerError as error:
        return ungradable(exercise, str(error), error.status)
