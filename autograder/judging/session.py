"""A lesson's checks, collected once and run on one submission after the other."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import pytest

from autograder.diagnosis import Misconception
from autograder.isolation import IsolationError, PackageMissing, Workers
from autograder.isolation.packages import how_to_install
from autograder.judging.ahead import ForeseenCheck, Questions, known_to_workers, requests, told_when_asked
from autograder.judging.diagnose import Diagnosis, Evidence, diagnose, has_wrong_values, says_why
from autograder.judging.errors import CheckError, LearnerError, TimedOut, WorkerLost
from autograder.judging.expectations import Record
from autograder.judging.patience import unhurried
from autograder.judging.plugin import Checks, identify
from autograder.judging.reading import reading
from autograder.judging.recorder import Recorder, foreseen
from autograder.judging.reference import Reference, load_module
from autograder.judging.rejections import Rejections, written
from autograder.judging.remembered import Remembered
from autograder.judging.results import ExerciseResult, SubmissionResult
from autograder.judging.run import Run, SubmissionRun, SubmissionRuns
from autograder.judging.salt import PUBLIC_SALT, fingerprint
from autograder.judging.scoring import (
    check_result,
    earned_share,
    one_line,
    status_of,
    ungradable,
    with_technique,
    without_technique,
    wrong_among,
    wrong_so_far,
)
from autograder.judging.searching import WORTH_SEARCHING, Search, told_by_search
from autograder.judging.version import grader_version
from autograder.places import ROOT, Places, file_of, files_of
from autograder.submission import Submission
from autograder.threads import one_thread
from autograder.worker import wire
from autograder.worker.uncompiled import without_compiler
from course.syllabus import Exercise, Lesson

T = TypeVar("T")
SeenOfMistakes = dict[tuple[Misconception, str], Record]
"""What visible checks see of known mistakes, by mistake and check: no salt is in their inputs."""
MOST_KNOWN = 1000
"""How many different answers are remembered: of thousands of submissions most are right, or wrong in the same ways."""
KNOWN_BYTES = 64 * 2**20
"""What they may take."""
SLOW_SECONDS = 60.0
"""An exercise that may take so long for one call (it trains networks) takes minutes with every known mistake."""

UNUSED_PLUGINS = (
    *("cacheprovider", "terminal", "logging", "faulthandler", "doctest", "junitxml", "pastebin", "unittest"),
    *("legacypath", "setuponly", "setupplan", "stepwise", "debugging", "recwarn", "tmpdir", "monkeypatch"),
    *("unraisableexception", "threadexception", "warnings", "subtests"),
)
"""pytest's own plugins that checks have no use for: each costs time at every start."""


@dataclass
class Observed:
    """What the checks of one exercise saw of a submission, on visible or on hidden inputs."""

    records: list[Record] = field(default_factory=list)
    digest: bytes | None = None
    """Of all answers, where they alone decided."""
    seconds: float = 0.0
    ended: ExerciseResult | None = None
    """The result where the exercise could not be judged to its end."""

    @property
    def complete(self) -> bool:
        """Whether each check came to its end."""
        return not any(record.ended_by for record in self.records)


class Judge:
    """Grades submissions of one lesson. Made by `with_judge`."""

    asks_hidden = True
    """Whether hidden checks run, too."""

    def __init__(
        self,
        lesson: Lesson,
        checks: Checks,
        reference: Reference,
        places: Places,
        salt: str,
        seen: SeenOfMistakes | None = None,
    ) -> None:
        self.lesson = lesson
        self.reference = reference
        self._places = places
        self.salt = salt
        self.doing = ""
        """What is going on, for those who wait."""
        self.items: list[pytest.Item] = []
        self._checks = checks
        self._imported: set[str] = set()
        self._settled = 0
        """Modules that were there when what lives on was last left out of garbage collection."""
        self._seen = {} if seen is None else seen
        self._evidence: dict[Misconception, Evidence] = {}
        self._harmless: dict[tuple[str, tuple[str, ...], str], bool] = {}
        """By helper, the known mistakes in it, and exercise: whether the exercise is right all the same."""
        self._searches: dict[str, Search] = {}
        self._items_of: dict[str, list[pytest.Item]] = {}
        self._questions: dict[tuple[str, bool], Questions | None] = {}
        """What is asked of every submission, by exercise, on visible and on hidden inputs; None where one by one."""
        self._asking = ""
        """The exercise that is asked for now."""
        self._held: dict[str, str] = {}
        """By check: what the reference is told by it, for those that raised an exception; empty where it passes."""
        self._known_answers: Remembered[tuple[str, bool, bytes], Observed] = Remembered(MOST_KNOWN, KNOWN_BYTES)
        """By exercise, visible or hidden, and digest of all answers, where each was read, and they alone decided."""
        self._results: Remembered[tuple[str, tuple[bytes | None, ...]], ExerciseResult] = Remembered(MOST_KNOWN)
        """By exercise and the digests of all such answers."""

    @cached_property
    def known(self) -> list[Misconception]:
        """The misconceptions of the judge's exercises; read when the first answer is wrong."""
        return self.reference.misconceptions(exercise.name for exercise in self.lesson.exercises)

    @cached_property
    def _rejections(self) -> Rejections:
        """What is written of which visible checks reject which of them."""
        return written(self._places, self.lesson.slug)

    def grade(
        self,
        submission: Submission,
        workers: Workers,
        *,
        student: str = "",
        only: Iterable[str] | None = None,
        of_many: bool = False,
    ) -> SubmissionResult:
        """The result of `submission`, run by `workers`; `only` some exercises if they are named.

        What a submission says while its cells run, and of visible inputs, may be shown to its owner. So all of that is
        asked before a hidden input reaches its processes; what they say from then on is compared, and never shown.

        `of_many`: others follow with the same `workers`, so that it pays to note first what checks ask of all of them.
        """
        wanted = set(only) if only is not None else None
        exercises = [exercise for exercise in self.lesson.exercises if wanted is None or exercise.name in wanted]
        result = SubmissionResult(
            student=student,
            lesson=self.lesson.slug,
            file=submission.name,
            sha256=submission.sha256,
            grader_version=self.version(),
            isolation="",
            points=0.0,
            max_points=sum(exercise.points for exercise in exercises),
            status="graded",
            message="",
            salt_sha256=fingerprint(self.salt),
            visible_only=not self.asks_hidden,
        )
        workers.begin(exercises)
        if of_many:  # what is not named is hardly there to be called
            self._tell_foreseen([exercise for exercise in exercises if submission.names(exercise.name)], workers)

        def at_cell(label: str) -> None:
            self.doing = f"{self._asking}: running your cells, {label}"

        runs = SubmissionRuns(submission, workers, self.reference.scenario_source, None if of_many else at_cell)
        try:
            last = len(exercises) if of_many else 0  # the calls of an exercise and of those after it are made together
            visible = [self._asked(one, exercises[i:last], runs, visible=True) for i, one in enumerate(exercises)]
            runs.seal()
            for i, (exercise, seen) in enumerate(zip(exercises, visible, strict=True)):
                both = [seen, self._asked(exercise, exercises[i:last], runs, visible=False)]
                result.exercises.append(self._concluded(exercise, both, runs, wrong_among(result.exercises)))
        except WorkerLost as error:
            result.status, result.message, result.exercises = error.status, f"{error}.", []
        finally:
            runs.close()
        result.isolation = workers.isolation
        result.points = round(sum(exercise.points for exercise in result.exercises), 2)
        told = "\n".join(exercise.message for exercise in result.exercises)
        problems = [f"{problem.text}." for problem in runs.problems() if problem.text not in told]
        if wanted is not None:
            problems = [*runs.newer_than_graded(exercises, told), *runs.slow_cells()]
        result.message = " ".join([result.message, *problems[:5]]).strip()
        return result

    def version(self) -> str:
        """The grader's version, as results have it."""
        return grader_version(self.lesson.slug)

    def _asked(
        self, exercise: Exercise, together: Sequence[Exercise], runs: SubmissionRuns, *, visible: bool
    ) -> Observed:
        """What the checks of one exercise see on inputs of one kind. `WorkerLost` where nothing can be asked.

        `together`: this exercise and others whose calls may be made with its own; none where each is made by itself.
        """
        self._asking = exercise.name
        self.doing = f"{exercise.name}: running your cells"
        try:
            with runs.account.patience.spending():
                run = runs.of(exercise.kit)
        except PackageMissing as error:
            return Observed(ended=ungradable(exercise, f"{exercise.name} cannot be graded here: {error}."))
        asked = ((one, self._questions.get((one.name, visible))) for one in together if one.kit == exercise.kit)
        return self._observed(exercise, [(one, which) for one, which in asked if which], run, visible=visible)

    def _observed(
        self, exercise: Exercise, ahead: Sequence[tuple[Exercise, Questions]], run: SubmissionRun, *, visible: bool
    ) -> Observed:
        """What the checks of one exercise see of its functions; looked up where the answers are known."""
        start, seen = time.perf_counter(), Observed()
        run.source.consulted = False
        try:
            with run.account.patience.spending():
                digest = run.foresee(ahead) if ahead and ahead[0][0] == exercise else None
                if run.ahead is not None:  # which may have waited for those of others, too
                    start = time.perf_counter() - run.ahead.seconds
                key = (exercise.name, visible, digest or b"")
                known = self._known_answers.get(key) if digest is not None else None
                if known is not None:
                    seen = known
                else:
                    items = self.items_of(exercise.name, visible)
                    seen.records = self.observe(items, run, doing=exercise.name)
                    for item, record in zip(items, seen.records, strict=True):
                        if record.raised:
                            self.hold_against_the_reference(item)
                    if run.ahead is not None and run.ahead.decisive and not run.source.consulted and seen.complete:
                        seen.digest = digest
                        self._known_answers.keep(key, seen, run.ahead.size)
        except TimedOut as error:
            seen = Observed(ended=ungradable(exercise, str(error), error.status))
        finally:
            run.ahead = None
        return replace(seen, seconds=time.perf_counter() - start)

    def _concluded(
        self,
        exercise: Exercise,
        observed: Sequence[Observed],
        runs: SubmissionRuns,
        wrong: Mapping[str, Sequence[str]],
    ) -> ExerciseResult:
        """The result of an exercise, given what its checks saw.

        Its `seconds` are those of the visible inputs: a learner sees them.

        Args:
            wrong: exercises of the submission that have been found wrong, and the known mistakes in each.
        """
        ended = next((seen.ended for seen in observed if seen.ended is not None), None)
        if ended is not None:
            return ended
        source = runs.source_of(exercise.kit)
        harmful = (name for name, named in wrong.items() if not self.does_no_harm(name, named, exercise))
        calls_wrong = source.calls(exercise.name, wrong) and source.calls(exercise.name, harmful)
        digests = tuple(seen.digest for seen in observed)
        known = None not in digests and not calls_wrong
        result = self._results.get((exercise.name, digests)) if known else None
        if result is None:
            records = [record for seen in observed for record in seen.records]
            try:
                with runs.account.patience.spending():
                    result = self.judged(exercise, records, calls_wrong)
            except TimedOut as error:  # in the middle of a diagnosis
                return ungradable(exercise, str(error), error.status)
            if known:
                self._results.keep((exercise.name, digests), result)
        if result.status not in ("passed", "missing") and not calls_wrong:
            signature = self.reference.signatures.get(exercise.name)
            order = source.other_order(exercise.name, list(signature.parameters) if signature else ())
            result = replace(result, message=f"{order}\n{result.message}") if order else result
        return replace(result, seconds=round(observed[0].seconds, 4))

    def judged(self, exercise: Exercise, records: list[Record], calls_wrong: str = "") -> ExerciseResult:
        """The result of an exercise, given what its checks saw; `calls_wrong`: a wrong exercise that it calls."""
        items = self.items_of(exercise.name)
        if not items:
            raise CheckError(f"{exercise.name} has no checks: write them, or take it out of the syllabus")
        share = earned_share(exercise, items, records)
        self.doing = f"{exercise.name}: looking for what explains the answer{wrong_so_far(items, records)}"
        diagnosis = self.explain(exercise, records, guess=not calls_wrong) if share < 1 else Diagnosis("")
        if calls_wrong and share < 1:  # a mistake of the one gives what a known mistake of the other gives
            first = f"{exercise.name} calls {calls_wrong}, which is wrong itself: mend that first."
            diagnosis = replace(diagnosis, message=f"{first}\n{diagnosis.message}")
        lacking = without_technique(exercise, items, records)
        if lacking is not None and status_of(records, share) != "missing":
            values = [
                record
                for item, record in zip(items, records, strict=True)
                if (check := identify(item)) and check.name not in exercise.technique
            ]
            wrong = any(map(has_wrong_values, values))
            if not wrong or any(record.passed for record in values):  # else the technique has cost nothing
                diagnosis = replace(diagnosis, message=with_technique(exercise, lacking, diagnosis.message, wrong))
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
        )

    def hold_against_the_reference(self, item: pytest.Item) -> None:
        """Raise `CheckError` where a check that raised an exception does so on the right answers, too: it is wrong."""
        if item.nodeid not in self._held:
            record = unhurried(lambda: self.observe([item], self.reference.local())[0])
            raised = record.raised if record.visible else record.raised.partition(":")[0]  # its words may have inputs
            self._held[item.nodeid] = "" if record.passed else raised or one_line(record)
        if self._held[item.nodeid]:
            raise CheckError(f"{item.name} fails on the solution, too ({self._held[item.nodeid]}); mend the check")

    def items_of(self, exercise: str, visible: bool | None = None) -> list[pytest.Item]:
        """The checks of an exercise, visible before hidden, or those of one kind."""
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
        """Run checks on a submission's functions and return what each one saw.

        Args:
            doing: what they are about.
            enough: asked of each record after each comparison, whether its check may end there.
        """
        for item in items:
            self._import_packages(item)
        self._checks.run, self._checks.lost = run, None
        records: list[Record] = []
        with warnings.catch_warnings():  # a reference that divides by zero where it may is no news to a learner
            warnings.simplefilter("ignore")
            for number, item in enumerate(items, 1):
                check = identify(item)
                if doing and check:
                    self.doing = (
                        f"{doing}: check {number} of {len(items)}, {check.in_words}{wrong_so_far(items, records)}"
                    )
                if run.ahead:
                    run.ahead.begin()
                records.append(self._observe(item, enough))
        return records

    def _observe(self, item: pytest.Item, enough: Callable[[Record], bool] | None) -> Record:
        """Run one check and return what it saw."""
        assert isinstance(item, pytest.Function)
        try:
            record = self._checks.observe(item, enough)
        except TypeError as error:
            raise CheckError(f"{item.name} could not be run: {error}") from None
        if self._checks.lost is not None:
            raise self._checks.lost
        return record

    def _tell_foreseen(self, exercises: list[Exercise], workers: Workers) -> None:
        """Note the calls that the checks of these will make, once for each exercise of a class.

        The workers are told the visible ones: what they know, all submissions have in their memory.
        """
        for exercise in exercises:
            if (exercise.name, True) in self._questions:
                continue
            calls = dict(zip(self.items_of(exercise.name), self._calls_of(exercise), strict=True))
            visible, hidden = ([calls[item] for item in self.items_of(exercise.name, one)] for one in (True, False))
            self._questions[exercise.name, True] = self._questions[exercise.name, False] = None
            with contextlib.suppress(IsolationError, wire.WireError):  # then the calls are made one by one
                told = {"checks": requests(visible), "scenarios": self.reference.scenario_source}
                if workers.of(exercise.kit).foresee(exercise.name, wire.encode(told)):
                    self._questions[exercise.name, True] = known_to_workers(exercise.name, visible)
            with contextlib.suppress(wire.WireError):
                self._questions[exercise.name, False] = told_when_asked(hidden)

    def _calls_of(self, exercise: Exercise) -> list[ForeseenCheck]:
        """The calls that the checks of an exercise make, check by check, where the right answers come back."""
        right, wrong = Recorder(self.reference), Recorder(self.reference, otherwise=True)
        checks = []
        for item in self.items_of(exercise.name):
            for recorder in (right, wrong):
                self.observe([item], recorder)
            checks.append(foreseen(right.calls(), wrong.calls()))
        return checks

    def _import_packages(self, item: pytest.Item) -> None:
        """Import what an exercise's values are made of, so that they can be read: PyTorch for tensors."""
        check = identify(item)
        if check is not None:
            new = set(self.lesson.exercise(check.exercise).kit.packages) - self._imported
            for package in new:
                importlib.import_module(package)
            self._imported |= new
        if len(sys.modules) != self._settled:  # PyTorch imports more of itself where that is first used
            self._settled = len(sys.modules)
            gc.freeze()  # or each collection that a scenario asks for would look through all of PyTorch

    def explain(self, exercise: Exercise, records: list[Record], *, guess: bool = True) -> Diagnosis:
        """What is wrong, given what the checks saw; `guess`: and where that may come from.

        Where they compared nothing, because something was raised, only the words of an exception tell one mistake from
        another.
        """
        known = [entry for entry in self.known if entry.exercise == exercise.name]
        comparable = any(record.comparisons or says_why(record) for record in records)
        evidence = {entry: self.evidence(entry) for entry in known} if comparable and guess else {}
        searchable = evidence and exercise.seconds <= WORTH_SEARCHING
        return diagnose(
            records,
            evidence,
            self.reference,
            thorough=exercise.seconds < SLOW_SECONDS,
            guess=guess,
            search=(lambda: told_by_search(records, self.search_of(exercise.name), evidence)) if searchable else None,
        )

    def does_no_harm(self, helper: str, named: Sequence[str], exercise: Exercise) -> bool:
        """Whether an exercise passes its visible checks with the known mistakes that a helper of it has."""
        key = helper, tuple(named), exercise.name
        if key not in self._harmless:
            mistakes = [known for known in self.known if known.exercise == helper and known.name in named]
            items = [item for item in self.items_of(exercise.name) if (check := identify(item)) and check.visible]
            self._harmless[key] = bool(mistakes) and all(
                self._of_mistake(known, self._mistaken(known), item, None).passed
                for known in mistakes
                for item in items
            )
        return self._harmless[key]

    def search_of(self, exercise: str) -> Search:
        """The search for slips and for two mistakes in an exercise; what it has found out serves all submissions."""
        if exercise not in self._searches:
            items = [item for item in self.items_of(exercise) if (check := identify(item)) and check.visible]
            known = [entry for entry in self.known if entry.exercise == exercise]
            self._searches[exercise] = Search(
                self.reference,
                exercise,
                known,
                len(items),
                lambda run, i, enough: unhurried(lambda: self.observe([items[i]], run, enough=enough)[0]),
            )
        return self._searches[exercise]

    def evidence(self, known: Misconception) -> Evidence:
        """What the checks see of a misconception, each check run when it is first asked for."""
        if known not in self._evidence:
            run = cache(lambda: self._mistaken(known))  # most are ruled out without it
            items = self.items_of(known.exercise)
            self._evidence[known] = Evidence(
                len(items),
                lambda i, enough: self._of_mistake(known, run(), items[i], enough),
                self._rejecting(known, items),
            )
        return self._evidence[known]

    def _mistaken(self, known: Misconception) -> Run:
        try:
            return self.reference.mistaken(known)
        except LearnerError:  # the submission's time is up
            raise
        except Exception as error:
            file = file_of(self._places.mistakes(self.lesson.slug), known.exercise)
            what = f"{known.name} in {file.parent.name}/{file.name} is no edit of the solution"
            raise CheckError(f"{what}: {type(error).__name__}: {error}; mend it") from None

    def _rejecting(self, known: Misconception, items: list[pytest.Item]) -> frozenset[int] | None:
        """The numbers of the visible checks that are known to reject a misconception; None where that is not known."""
        names = self._rejections.get((known.exercise, known.name))
        if names is None:
            return None
        checks = enumerate(map(identify, items))
        return frozenset(i for i, check in checks if check and check.visible and check.name in names)

    def _of_mistake(
        self, known: Misconception, run: Run, item: pytest.Item, enough: Callable[[Record], bool] | None
    ) -> Record:
        """What one check sees of a misconception, `run` in the place of a submission, until it is `enough`."""
        check = identify(item)
        assert check is not None
        shared = (known, check.name) if check.visible else None
        if shared in self._seen:
            return self._seen[shared]
        record = unhurried(lambda: self.observe([item], run, enough=enough)[0])
        if shared and not record.cut:
            self._seen[shared] = record
        return record


def with_judge(
    lesson: Lesson,
    use: Callable[[Judge], T],
    *,
    salt: str = PUBLIC_SALT,
    root: Path = ROOT,
    only: str | Sequence[str] = "",
    seen: SeenOfMistakes | None = None,
    reference_type: type[Reference] = Reference,
) -> T:
    """Collect the lesson's checks and return `use(judge)`. pytest is at work all the while.

    Args:
        root: the folder of the course, which holds `solutions/` and `autograder/lessons/`.
        only: an exercise, or some, for a judge that knows of no other and collects no other's checks.
        seen: what other judges of the lesson have seen of its known mistakes; this one adds to it.
        reference_type: how the solutions are asked.

    Where the course lies without its solutions, the lesson's answer book stands for them, and only visible checks run.

    Raises:
        CheckError: the checks cannot be collected.
        PackageMissing: the reference needs a package that is not installed.
    """
    one_thread()
    without_compiler()
    for package in lesson.kit.packages:
        if find_spec(package) is None:
            raise PackageMissing(f"{lesson.slug} needs {package}: {how_to_install(package)}")
    places, made = Places(root), Judge
    if places.source(lesson.slug).is_file() or not places.answer_book(lesson.slug).is_file():
        with reading(places.source(lesson.slug)):
            reference = reference_type(lesson, root)
    else:
        from autograder.answerbook.judge import BookJudge, opened

        reference, made = opened(lesson, places), BookJudge
    checks = Checks(lesson, reference, salt)
    names = (only,) if isinstance(only, str) else only
    judged = replace(lesson, exercises=tuple(map(lesson.exercise, names))) if only else lesson
    judge = made(judged, checks, reference, places, salt, seen)
    asked = [exercise.name for exercise in judged.exercises]
    files = files_of(places.checks(lesson.slug), asked)
    if not files:
        with reading(file_of(places.checks(lesson.slug), asked[0])):
            raise FileNotFoundError
    driver = _Driver(judge, files, use)
    run_pytest(files, [checks, driver])
    return driver.outcome()


def run_pytest(files: Sequence[Path], plugins: list[object]) -> int:
    """Run pytest on some of our files, in their order, with our configuration and nothing of anyone else's.

    The root is the file system's, so that a module's name is its whole path: an exercise's checks and its oracles
    lie in files of the same name, and pytest would take the one for the other.
    """
    options = [f"-pno:{plugin}" for plugin in UNUSED_PLUGINS]
    options += ["--noconftest", "--assert=plain", "--capture=no", "--import-mode=importlib"]
    options += ["-c", str(Path(__file__).with_name("pytest.ini")), f"--rootdir={files[0].anchor}"]
    replaced = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    before = {name: os.environ.get(name) for name in replaced}
    os.environ.update(replaced)
    try:
        return int(pytest.main([*options, *map(str, files)], plugins=plugins))
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Driver:
    """The plugin that runs `use` in the place of pytest's own loop over the tests."""

    def __init__(self, judge: Judge, files: Sequence[Path], use: Callable[[Judge], Any]) -> None:
        self._judge = judge
        self._files = files
        self._use = use
        self._value: Any = None
        self._error: BaseException | None = None
        self._ran = False
        self._collection_errors: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._collection_errors.append(report.longreprtext)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        judged = {exercise.name for exercise in self._judge.lesson.exercises}
        known = [(identify(item), item) for item in session.items]
        self._judge.items = [item for check, item in known if check is None or check.exercise in judged]
        if not self._collection_errors:
            self._ran = True
            try:
                self._value = self._use(self._judge)
            except BaseException as error:
                self._error = error
        return True

    def outcome(self) -> Any:
        if self._error is not None:
            raise self._error
        if not self._ran:
            slug = self._judge.lesson.slug
            if not self._collection_errors:
                raise CheckError(f"{slug} has no checks")
            for file in self._files:
                with reading(file):
                    load_module(file)
            why = " ".join("".join(self._collection_errors).split())[-300:]
            raise CheckError(f"the checks of {slug} cannot be collected: {why}")
        return self._value
