"""Runs a learner's functions in the judge's own process, where there is no other, as in a browser.

Nothing confines the functions, only the user can stop an endless loop, and they could forge the verdict. So this is for
learners who check their own work, and gives no credit.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.source_text import CellProblem, SourceText
from autograder.judging.asking.submission_process import what_happened
from autograder.judging.records.errors import LearnerError, read_failure
from autograder.judging.records.results import ExerciseResult
from autograder.judging.scoring import ungradable, wrong_among
from autograder.judging.session import Judge
from autograder.submission import Submission
from autograder.worker.execution import Program
from course.syllabus import Exercise

MODULE = "submission"
"""Name of the learner's module; `__main__` is the judge's."""


class HereRun(LocalRun):
    """The functions that a submission's cells define, run in this process."""

    def __init__(self, submission: Submission, judge: Judge) -> None:
        super().__init__({}, None, judge.reference.scenarios)
        program, problems = Program(MODULE), []
        for cell in submission.cells:
            failure = program.run_cell(cell.source, cell.label, cell.offset)
            if failure is not None:
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
