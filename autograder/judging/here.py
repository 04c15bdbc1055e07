"""Runs a learner's functions in the judge's own process, where there is no other, as in a browser.

Nothing confines the functions, only the user can stop a loop that `time_limit` does not see, and they could forge the
verdict. So this is for learners who check their own work, and gives no credit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.prefetched import called
from autograder.judging.asking.source_text import CellProblem, SourceText
from autograder.judging.asking.submission_process import what_happened
from autograder.judging.explaining.mended import NOT_MENDED, Mended, may_be_repaired
from autograder.judging.records.errors import LearnerError, TimedOut, read_failure
from autograder.judging.records.record import Record
from autograder.judging.records.results import ExerciseResult
from autograder.judging.scoring import ungradable, with_other_order, wrong_among
from autograder.judging.session import Judge
from autograder.submission import Submission
from autograder.worker.execution import Program
from autograder.worker.imports import MissingPackages
from autograder.worker.messages import Answer, Call
from autograder.worker.seeds import seed
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
        seed()  # as a worker does, so that random answers are the same
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
            self._ended[name] = TimedOut(f"{name} did not return within {most:g} seconds.")
            raise self._ended[name]
        return answer


@dataclass(frozen=True)
class Checked:
    """An exercise that was checked here, and what a search for its repair needs."""

    exercise: Exercise
    result: ExerciseResult
    run: HereRun
    records: Sequence[Record] = ()
    """Empty if the checks could not run."""
    calls_wrong: str = ""
    """As in `Judge.judged`."""
    left: Sequence[int] | None = None
    """The failing visible checks that known mistakes leave, if a repair is worth looking for; else None."""

    @property
    def visible(self) -> list[Record]:
        return [record for record in self.records if record.visible]


def graded_here(judge: Judge, submission: Submission, only: Iterable[str] | None = None) -> list[ExerciseResult]:
    """Grade a submission's exercises, or just `only` these, in this process; no repair is looked for."""
    wanted = set(only) if only is not None else None
    run, results = HereRun(submission, judge), list[ExerciseResult]()
    for exercise in judge.lesson.exercises:
        if wanted is None or exercise.name in wanted:
            results.append(_checked(judge, run, exercise, results).result)
    return results


def checked_here(judge: Judge, submission: Submission, name: str) -> Checked:
    """Check one exercise in this process, with no repair, and find out whether one is worth looking for."""
    checked = _checked(judge, HereRun(submission, judge), judge.lesson.exercise(name), [])
    if checked.calls_wrong or not may_be_repaired(checked.exercise, checked.visible):
        return checked
    known = judge.mistakes.explained(checked.exercise, checked.visible)
    return checked if known.whole else replace(checked, left=known.left)


def with_repair(judge: Judge, checked: Checked, repair: Mended) -> ExerciseResult:
    """The result of a checked exercise if this is said of its repair."""
    result = judge.judged(checked.exercise, list(checked.records), checked.calls_wrong, repair)
    if checked.calls_wrong:
        return result
    return with_other_order(result, checked.run.source, judge.reference.signatures.get(checked.exercise.name))


def _checked(judge: Judge, run: HereRun, exercise: Exercise, before: list[ExerciseResult]) -> Checked:
    missing = next((package for package in exercise.environment.packages if find_spec(package) is None), None)
    if missing:
        result = ungradable(exercise, f"{exercise.name} cannot be checked here: it needs {missing}.")
        return Checked(exercise, result, run)
    try:
        records = judge.observe(judge.items_of(exercise.name), run, doing=exercise.name)
        wrong = wrong_among(before)
        harmful = [name for name, named in wrong.items() if not judge.mistakes.does_no_harm(name, named, exercise)]
        unjudged = Checked(exercise, ungradable(exercise, ""), run, records, run.source.calls(exercise.name, harmful))
        return replace(unjudged, result=with_repair(judge, unjudged, NOT_MENDED))
    except LearnerError as error:
        return Checked(exercise, ungradable(exercise, str(error), error.status), run)
