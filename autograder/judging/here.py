"""Runs a learner's functions in the judge's own process, where there is no other, as in a browser.

Nothing confines the functions, only the user can stop a loop that `time_limit` does not see, and they could forge the
verdict. So this is for learners who check their own work, and gives no credit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

from autograder.judging.asking.here_run import HereRun
from autograder.judging.explaining.mended import NOT_MENDED, Mended, may_be_repaired
from autograder.judging.records.errors import LearnerError
from autograder.judging.records.record import Record
from autograder.judging.records.results import ExerciseResult
from autograder.judging.scoring import ungradable, with_other_order, wrong_among
from autograder.judging.session import Judge
from autograder.submission import Submission
from course.syllabus import Exercise


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
    run, results = _run_of(submission, judge), list[ExerciseResult]()
    for exercise in judge.lesson.exercises:
        if wanted is None or exercise.name in wanted:
            results.append(_checked(judge, run, exercise, results).result)
    return results


def checked_here(judge: Judge, submission: Submission, name: str) -> Checked:
    """Check one exercise in this process, with no repair, and find out whether one is worth looking for."""
    checked = _checked(judge, _run_of(submission, judge), judge.lesson.exercise(name), [])
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


def _run_of(submission: Submission, judge: Judge) -> HereRun:
    """Run the cells. Functions are refused that an exercise forbids which can run here."""
    forbidden_in: dict[str, list[str]] = {}
    for exercise in judge.lesson.exercises:
        for name in exercise.forbidden if _missing_package(exercise) is None else ():
            forbidden_in.setdefault(name, []).append(exercise.name)
    return HereRun(submission, judge.reference.scenarios, forbidden_in)


def _missing_package(exercise: Exercise) -> str | None:
    return next((package for package in exercise.environment.packages if find_spec(package) is None), None)


def _checked(judge: Judge, run: HereRun, exercise: Exercise, before: list[ExerciseResult]) -> Checked:
    if missing := _missing_package(exercise):
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
