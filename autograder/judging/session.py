"""A lesson's checks, collected once and run on one submission after the other."""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import pytest

from autograder.isolation import IsolationError, PackageMissing, Workers
from autograder.judging.asking.prefetched import PrefetchedCheck, Questions, requests, sent_questions, stored_questions
from autograder.judging.asking.run import Run, SubmissionRun, SubmissionRuns
from autograder.judging.asking.time_budget import unhurried
from autograder.judging.checking.plugin import Checks, NoRows, identify
from autograder.judging.checking.reference import Reference
from autograder.judging.checking.salt import fingerprint
from autograder.judging.explaining.diagnosis import Diagnosis
from autograder.judging.explaining.known_mistakes import KnownMistakes
from autograder.judging.explaining.mended import NOT_MENDED, Mended
from autograder.judging.observed import Observed
from autograder.judging.recorder import Recorder, prefetched
from autograder.judging.records.errors import CheckError, TimedOut, WorkerLost
from autograder.judging.records.record import Record
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.remembered import Remembered
from autograder.judging.scoring import (
    check_result,
    earned_share,
    next_part,
    one_line,
    status_of,
    ungradable,
    with_other_order,
    with_technique,
    without_technique,
    wrong_among,
    wrong_so_far,
)
from autograder.judging.version import grader_version
from autograder.judging.waiting import Progress
from autograder.submission import Submission
from autograder.worker import wire
from course.syllabus import Exercise, Lesson, course_title

MOST_KNOWN = 1000
"""How many distinct answers are cached. In a large class most are right, or wrong in the same few ways."""
KNOWN_BYTES = 128 * 2**20
"""Most bytes that cached answers may take together."""


class Judge:
    """Grades submissions of one lesson; create it with `with_judge`."""

    asks_hidden = True
    """Whether hidden checks run as well."""

    def __init__(
        self,
        lesson: Lesson,
        checks: Checks,
        reference: Reference,
        salt: str,
        mistakes: Callable[[Judge], KnownMistakes],
    ) -> None:
        self.lesson = lesson
        self.reference = reference
        self.mistakes = mistakes(self)
        self.salt = salt
        self.progress = Progress()
        self.items: list[pytest.Item] = []
        self._checks = checks
        self._imported: set[str] = set()
        self._modules_at_freeze = 0
        """`len(sys.modules)` at the last `gc.freeze()`."""
        self._items_of: dict[str, list[pytest.Item]] = {}
        self._questions: dict[tuple[str, bool], Questions | None] = {}
        """By exercise and visibility: the calls prefetched from every submission; None if each is made separately."""
        self._asking = ""
        """The exercise that is being asked."""
        self._reference_errors: dict[str, str] = {}
        """By id of a check that raised: how it fails on the reference; empty if the reference passes."""
        self._known_answers: Remembered[tuple[str, bool, bytes], Observed] = Remembered(MOST_KNOWN, KNOWN_BYTES)
        """Cache by exercise, visibility and hash of all answers; only where the records depend on nothing else."""
        self._results: Remembered[tuple[str, tuple[bytes | None, ...], Mended], ExerciseResult] = Remembered(MOST_KNOWN)
        """Cache by exercise, its hashes of visible and hidden answers, and what is said of the repair."""

    def grade(
        self,
        submission: Submission,
        workers: Workers,
        *,
        student: str = "",
        only: Iterable[str] | None = None,
        of_many: bool = False,
        standing: Mapping[str, ExerciseResult] | None = None,
    ) -> SubmissionResult:
        """Grade `submission` with `workers`; if `only` is given, just those exercises.

        What a submission says while its cells run and on visible inputs may be shown to its owner, so all of that is
        collected before its processes receive a hidden input. Later answers are compared but never shown.

        `of_many`: more submissions follow with the same `workers`, so it pays to prefetch the checks' calls.
        `standing`: results to keep, of exercises whose checks have not changed since.
        """
        wanted = set(only) if only is not None else None
        standing = standing or {}
        from autograder.judging.repairs import repairs_of  # not in a page, which never grades a submission

        whole = [exercise for exercise in self.lesson.exercises if wanted is None or exercise.name in wanted]
        exercises = [exercise for exercise in whole if exercise.name not in standing]
        result = SubmissionResult(
            student=student,
            lesson=self.lesson.slug,
            file=submission.name,
            sha256=submission.sha256,
            grader_version=self.version(),
            isolation="",
            points=0.0,
            max_points=sum(exercise.points for exercise in whole),
            status="graded",
            message="",
            salt_sha256=fingerprint(self.salt),
            visible_only=not self.asks_hidden,
            course=course_title(),
        )
        workers.begin(exercises)
        if of_many:  # a submission that never mentions a name hardly defines it
            self._send_prefetched([exercise for exercise in exercises if submission.names(exercise.name)], workers)

        def at_cell(label: str) -> None:
            self.progress.say(f"{self._asking}: running your cells, {label}")

        runs = SubmissionRuns(submission, workers, self.reference.scenario_source, None if of_many else at_cell)
        try:
            last = len(exercises) if of_many else 0  # prefetch an exercise and all later ones together
            together = {one.name: exercises[i:last] for i, one in enumerate(exercises)}
            visible = {one.name: self._run_checks(one, together[one.name], runs, visible=True) for one in exercises}
            runs.seal()
            repairs = repairs_of(self, submission, visible, runs)  # settles what is shown before a hidden input leaves
            for one in whole:
                if (found := standing.get(one.name)) is None:
                    both = [visible[one.name], self._run_checks(one, together[one.name], runs, visible=False)]
                    repair = repairs.get(one.name, NOT_MENDED)
                    found = self._result_of(one, both, runs, wrong_among(result.exercises), repair)
                result.exercises.append(found)
        except WorkerLost as error:
            result.status, result.message, result.exercises = error.status, f"{error}.", []
        finally:
            runs.close()
        result.isolation = workers.isolation
        result.points = round(sum(exercise.points for exercise in result.exercises), 2)
        shown = "\n".join(exercise.message for exercise in result.exercises)
        problems = [f"{problem.text}." for problem in runs.problems() if problem.text not in shown]
        if wanted is not None:
            problems = [*runs.newer_than_graded(exercises, shown), *runs.slow_cells()]
        problems = [*problems[:5], *runs.kept_out(exercises, shown)[:5]]
        result.message = " ".join([result.message, *problems]).strip()
        return result

    def version(self) -> str:
        """The grader version that results record."""
        return grader_version(self.lesson.slug)

    def _run_checks(
        self, exercise: Exercise, together: Sequence[Exercise], runs: SubmissionRuns, *, visible: bool
    ) -> Observed:
        """Run one exercise's checks on visible or on hidden inputs. Raises `WorkerLost` if nothing can be asked.

        `together`: this exercise and others whose calls may share its round trip; empty to make each call separately.
        """
        self._asking = exercise.name
        self.progress.say(f"{exercise.name}: running your cells")
        try:
            with runs.account.time_budget.spending():
                run = runs.of(exercise.environment)
        except PackageMissing as error:
            return Observed(ended=ungradable(exercise, f"{exercise.name} cannot be graded here: {error}."))
        beside = [one for one in together if one.environment == exercise.environment]
        asked = [(one, which) for one in beside if (which := self._questions.get((one.name, visible)))]
        return self._run_or_look_up(exercise, asked, run, visible=visible)

    def _run_or_look_up(
        self, exercise: Exercise, questions: Sequence[tuple[Exercise, Questions]], run: SubmissionRun, *, visible: bool
    ) -> Observed:
        """Run an exercise's checks, or look up what they saw of equal answers."""
        start, seen = time.perf_counter(), Observed()
        run.source.consulted = False
        try:
            with run.account.time_budget.spending():
                digest = run.prefetch(questions) if questions and questions[0][0] == exercise else None
                if run.prefetched is not None:  # its answers may have arrived with another exercise's
                    start = time.perf_counter() - run.prefetched.seconds
                key = (exercise.name, visible, digest or b"")
                known = self._known_answers.get(key) if digest is not None else None
                if known is not None:
                    seen = known
                else:
                    items = self.items_of(exercise.name, visible)
                    seen.records = self.observe(items, run, doing=exercise.name)
                    for item, record in zip(items, seen.records, strict=True):
                        if record.raised:
                            self.require_reference_passes(item)
                    made = run.prefetched
                    if made is not None and made.decisive and not run.source.consulted and seen.complete:
                        seen.digest = digest
                        self._known_answers.keep(key, seen, made.size)
        except TimedOut as error:
            seen = Observed(ended=ungradable(exercise, str(error), error.status))
        finally:
            run.prefetched = None
        return replace(seen, seconds=time.perf_counter() - start)

    def _result_of(
        self,
        exercise: Exercise,
        observed: Sequence[Observed],
        runs: SubmissionRuns,
        wrong: Mapping[str, Sequence[str]],
        repair: Mended,
    ) -> ExerciseResult:
        """The result of an exercise, given what its checks saw.

        `seconds` covers the visible inputs only, because learners see it.

        Args:
            wrong: exercises of the submission already found wrong, with the known mistakes in each.
            repair: what is said of the repair, if no known mistake is found.
        """
        ended = next((seen.ended for seen in observed if seen.ended is not None), None)
        if ended is not None:
            return ended
        source = runs.source_of(exercise.environment)
        harmful = (name for name, named in wrong.items() if not self.mistakes.does_no_harm(name, named, exercise))
        calls_wrong = source.calls(exercise.name, wrong) and source.calls(exercise.name, harmful)
        digests = tuple(seen.digest for seen in observed)
        known = None not in digests and not calls_wrong
        result = self._results.get((exercise.name, digests, repair)) if known else None
        if result is None:
            records = [record for seen in observed for record in seen.records]
            try:
                with runs.account.time_budget.spending():
                    result = self.judged(exercise, records, calls_wrong, repair)
            except TimedOut as error:  # during the diagnosis
                return ungradable(exercise, str(error), error.status)
            if known:
                self._results.keep((exercise.name, digests, repair), result)
        if not calls_wrong:
            result = with_other_order(result, source, self.reference.signatures.get(exercise.name))
        return replace(result, seconds=round(observed[0].seconds, 4))

    def judged(
        self, exercise: Exercise, records: list[Record], calls_wrong: str = "", repair: Mended = NOT_MENDED
    ) -> ExerciseResult:
        """The result of an exercise from its checks' records.

        Args:
            calls_wrong: a wrong exercise that it calls; empty if none.
            repair: as in `diagnose`.
        """
        if not (items := self.items_of(exercise.name)):
            raise CheckError(f"{exercise.name} has no checks: write them, or take it out of the syllabus")
        share = earned_share(exercise, items, records)
        self.progress.say(f"{exercise.name}: looking for what explains the answer{wrong_so_far(items, records)}")
        diagnosis = Diagnosis("")
        if share < 1:
            diagnosis = self.mistakes.explain(exercise, records, guess=not calls_wrong, repair=repair)
        if calls_wrong and share < 1:  # a helper's mistake can look like a known mistake here
            first = f"{exercise.name} calls {calls_wrong}, which is wrong itself: mend that first."
            diagnosis = replace(diagnosis, message=f"{first}\n{diagnosis.message}")
        lacking = without_technique(exercise, items, records)
        written = status_of(records, share) != "missing"
        if lacking and written and earned_share(replace(exercise, technique=()), items, records):  # it costs points
            message = with_technique(exercise, lacking, diagnosis.message, items, records)
            diagnosis = replace(diagnosis, message=message)
        return ExerciseResult(
            name=exercise.name,
            points=round(exercise.points * share, 2),
            max_points=exercise.points,
            status=status_of(records, share),
            message=diagnosis.message,
            misconception=diagnosis.misconceptions[0] if len(diagnosis.misconceptions) == 1 else None,
            hint=exercise.hints[0] if share < 1 and exercise.hints else "",
            seconds=0.0,
            checks=[check_result(item, record) for item, record in zip(items, records, strict=True)],
            misconceptions=list(diagnosis.misconceptions),
            code=diagnosis.code,
            case=diagnosis.case,
            next_part=next_part(exercise, records) if share else "",
        )

    def require_reference_passes(self, item: pytest.Item) -> None:
        """Raise `CheckError` if a check that raised an exception also fails on the reference: the check is wrong."""
        if item.nodeid not in self._reference_errors:
            record = unhurried(lambda: self.observe([item], self.reference.local())[0])
            raised = record.raised if record.visible else record.raised.partition(":")[0]  # the rest may show inputs
            self._reference_errors[item.nodeid] = "" if record.passed else raised or one_line(record)
        if error := self._reference_errors[item.nodeid]:
            raise CheckError(f"{item.name} fails on the solution, too ({error}); mend the check")

    def items_of(self, exercise: str, visible: bool | None = None) -> list[pytest.Item]:
        """The checks of an exercise, visible ones first; only the visible or the hidden ones if `visible` is given."""
        if exercise not in self._items_of:
            found = [(item, check) for item in self.items if (check := identify(item)) and check.exercise == exercise]
            self._items_of[exercise] = [item for item, _ in sorted(found, key=lambda pair: not pair[1].visible)]
        items = self._items_of[exercise]
        if visible is None:
            return items
        return [item for item in items if (check := identify(item)) and check.visible is visible]

    def observe(
        self,
        items: list[pytest.Item],
        run: Run,
        *,
        doing: str = "",
        enough: Callable[[Record], bool] | None = None,
    ) -> list[Record]:
        """Run checks on a submission's functions and return one record per check.

        Args:
            doing: name of the exercise for the progress message; no message if empty.
            enough: called with the record after each comparison; if it returns true, the check ends there.
        """
        for item in items:
            self._import_packages(item)
        self._checks.run, self._checks.lost = run, None
        records: list[Record] = []
        with warnings.catch_warnings():  # learners need not see that a reference divides by zero
            warnings.simplefilter("ignore")
            for number, item in enumerate(items, 1):
                check = identify(item)
                if doing and check:
                    self.progress.say(
                        f"{doing}: check {number} of {len(items)}, {check.in_words}{wrong_so_far(items, records)}"
                    )
                if run.prefetched:
                    run.prefetched.begin()
                records.append(self._observe(item, enough))
        return records

    def _observe(self, item: pytest.Item, enough: Callable[[Record], bool] | None) -> Record:
        """Run one check and return its record."""
        assert isinstance(item, pytest.Function)
        try:
            record = self._checks.observe(item, enough)
        except (TypeError, NoRows) as error:
            raise CheckError(f"{item.name} could not be run: {error}") from None
        if self._checks.lost is not None:
            raise self._checks.lost
        return record

    def _send_prefetched(self, exercises: list[Exercise], workers: Workers) -> None:
        """Record once per class the calls of these exercises' checks, and send the visible ones to the workers.

        Hidden calls are not sent, because every submission can read what its worker knows.
        """
        for exercise in exercises:
            if (exercise.name, True) in self._questions:
                continue
            calls = dict(zip(self.items_of(exercise.name), self._calls_of(exercise), strict=True))
            visible, hidden = ([calls[item] for item in self.items_of(exercise.name, one)] for one in (True, False))
            self._questions[exercise.name, True] = self._questions[exercise.name, False] = None
            with contextlib.suppress(IsolationError, wire.WireError):  # on failure, the calls are made one by one
                request = {"checks": requests(visible), "scenarios": self.reference.scenario_source}
                if workers.of(exercise.environment).prefetch(exercise.name, wire.encode(request)):
                    self._questions[exercise.name, True] = stored_questions(exercise.name, visible)
            with contextlib.suppress(wire.WireError):
                self._questions[exercise.name, False] = sent_questions(hidden)

    def _calls_of(self, exercise: Exercise) -> list[PrefetchedCheck]:
        """For each check of an exercise, the calls that it makes whatever the answers are."""
        right, wrong = Recorder(self.reference), Recorder(self.reference, otherwise=True)
        checks = []
        for item in self.items_of(exercise.name):
            for recorder in (right, wrong):
                self.observe([item], recorder)
            checks.append(prefetched(right.calls(), wrong.calls()))
        return checks

    def _import_packages(self, item: pytest.Item) -> None:
        """Import the packages of an exercise's environment, so that its values can be decoded: PyTorch for tensors."""
        check = identify(item)
        if check is not None:
            new = set(self.lesson.exercise(check.exercise).environment.packages) - self._imported
            for package in new:
                importlib.import_module(package)
            self._imported |= new
        if len(sys.modules) != self._modules_at_freeze:  # PyTorch imports more of its modules on first use
            self._modules_at_freeze = len(sys.modules)
            gc.freeze()  # otherwise every gc.collect() in a scenario would scan all of PyTorch
