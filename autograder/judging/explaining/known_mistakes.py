"""A lesson's known mistakes, what its checks see of them, and the diagnosis of an answer from that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Protocol

import pytest

from autograder.diagnosis import Misconception
from autograder.judging.asking.run import Run
from autograder.judging.asking.time_budget import unhurried
from autograder.judging.checking.plugin import CheckId, identify
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.attribution import Explaining, explaining, giving_all
from autograder.judging.explaining.diagnosis import Diagnosis, diagnose
from autograder.judging.explaining.evidence import Evidence, says_why
from autograder.judging.explaining.mended import NOT_MENDED, Mended
from autograder.judging.explaining.rejections import Rejections, written
from autograder.judging.explaining.searching import WORTH_SEARCHING, Search, found_by_search, two_known
from autograder.judging.records.errors import CheckError, LearnerError
from autograder.judging.records.record import Record
from autograder.places import Places, file_of
from course.syllabus import Exercise, Lesson

SeenOfMistakes = dict[tuple[Misconception, CheckId], Record]
"""Records of visible checks on known mistakes. Visible inputs do not depend on the salt, so judges can share them."""
Observe = Callable[[int, Callable[[Record], bool] | None], Record]
SLOW_SECONDS = 60.0
"""Exercises with calls this slow (they train networks) would take minutes to compare with every known mistake."""


class Observer(Protocol):
    """What `KnownMistakes` needs of a judge."""

    @property
    def lesson(self) -> Lesson: ...

    @property
    def reference(self) -> Reference: ...

    def items_of(self, exercise: str, visible: bool | None = None) -> list[pytest.Item]: ...

    def observe(
        self, items: list[pytest.Item], run: Run, *, enough: Callable[[Record], bool] | None = None
    ) -> list[Record]: ...


class KnownMistakes:
    """What the checks see of a lesson's known mistakes; each mistake runs when first needed.

    Args:
        judge: runs the checks.
        places: where the mistakes' files are.
        seen: records that the lesson's judges share; this object adds to them.
    """

    def __init__(self, judge: Observer, places: Places, seen: SeenOfMistakes | None = None) -> None:
        self._judge = judge
        self._places = places
        self._seen = {} if seen is None else seen
        self._evidence: dict[Misconception, Evidence] = {}
        self._harmless: dict[tuple[str, tuple[str, ...], str], bool] = {}
        """By helper, known mistakes in it, and exercise: whether the exercise still passes its visible checks."""
        self._searches: dict[str, Search] = {}

    @cached_property
    def known(self) -> list[Misconception]:
        """The known mistakes of the judge's exercises; loaded when the first wrong answer comes."""
        return self._judge.reference.misconceptions(exercise.name for exercise in self._judge.lesson.exercises)

    def of(self, exercise: str) -> list[Misconception]:
        """The known mistakes of one exercise."""
        return [known for known in self.known if known.exercise == exercise]

    @cached_property
    def _rejections(self) -> Rejections:
        """Which visible checks reject which mistakes, from the lesson's `rejections.toml`."""
        return written(self._places, self._judge.lesson.slug)

    def explain(
        self, exercise: Exercise, records: list[Record], *, guess: bool = True, repair: Mended = NOT_MENDED
    ) -> Diagnosis:
        """Diagnose an exercise from its checks' records; without `guess`, no mistake or relation is looked for.

        `repair`: as in `diagnose`.
        """
        evidence = self._evidence_for(exercise, records) if guess else {}
        searchable = evidence and _is_searched(exercise)
        slips = exercise.seconds <= WORTH_SEARCHING and not repair.message
        return diagnose(
            records,
            evidence,
            self._judge.reference,
            thorough=exercise.seconds < SLOW_SECONDS,
            guess=guess,
            search=(
                lambda first: found_by_search(
                    records, self.search_of(exercise.name), evidence, first=first, slips=slips
                )
            )
            if searchable
            else None,
            repair=repair,
        )

    def explained(self, exercise: Exercise, records: list[Record]) -> Explaining:
        """The known mistakes, one or two together, that give what the visible checks saw, in `records`."""
        evidence = self._evidence_for(exercise, records)
        found = explaining(records, evidence, exercise.seconds < SLOW_SECONDS)
        if found.whole or not evidence or not _is_searched(exercise):
            return found
        both = two_known(records, self.search_of(exercise.name), evidence, found.known)
        return found._replace(whole=bool(both and both.misconceptions))

    def giving_all(self, exercise: Exercise, records: list[Record]) -> list[Misconception]:
        """The known mistakes each of which alone gives all that the visible checks saw, if they have one message."""
        found = giving_all(records, self._evidence_for(exercise, records))
        return found if len({known.says for known in found}) == 1 else []

    def _evidence_for(self, exercise: Exercise, records: list[Record]) -> dict[Misconception, Evidence]:
        """The evidence of an exercise's mistakes, if a check compared something or an exception's message can tell."""
        comparable = any(record.comparisons or says_why(record) for record in records)
        return {entry: self.evidence(entry) for entry in self.of(exercise.name)} if comparable else {}

    def does_no_harm(self, helper: str, named: Sequence[str], exercise: Exercise) -> bool:
        """Whether an exercise still passes its visible checks if a helper has the `named` known mistakes."""
        key = helper, tuple(named), exercise.name
        if key not in self._harmless:
            mistakes = [known for known in self.known if known.exercise == helper and known.name in named]
            items = self._judge.items_of(exercise.name, True)
            self._harmless[key] = bool(mistakes) and all(
                self._observe_mistake(known, run, item, has_failed).passed
                for known in mistakes
                for run in [self._run_of(known)]
                for item in items
            )
        return self._harmless[key]

    def search_of(self, exercise: str) -> Search:
        """The search for slips and pairs of mistakes in an exercise; its results are cached for all submissions."""
        if exercise not in self._searches:
            items = self._judge.items_of(exercise, True)
            self._searches[exercise] = Search(
                self._judge.reference,
                exercise,
                self.of(exercise),
                len(items),
                lambda run, i, enough: unhurried(lambda: self._judge.observe([items[i]], run, enough=enough)[0]),
                slow=self._judge.lesson.exercise(exercise).seconds > WORTH_SEARCHING,
            )
        return self._searches[exercise]

    def evidence(self, known: Misconception) -> Evidence:
        """What the checks see of a known mistake."""
        if known not in self._evidence:
            items = self._judge.items_of(known.exercise)
            self._evidence[known] = Evidence(
                len(items), self._observer_of(known, items), self._rejecting_checks(known, items)
            )
        return self._evidence[known]

    def presume(self, known: Misconception, i: int, record: Record) -> None:
        """Take `record` as what check `i`, which is known to accept a mistake, sees of it, in all judges that share."""
        self.evidence(known).presume(i, record)
        self._seen[known, _check_of(self._judge.items_of(known.exercise)[i])] = record

    def _observer_of(self, known: Misconception, items: list[pytest.Item]) -> Observe:
        """A function that runs check number `i` on a known mistake."""
        run = cache(lambda: self._run_of(known))  # lazy: most mistakes are ruled out without running
        return lambda i, enough: self._observe_mistake(known, run(), items[i], enough)

    def _run_of(self, known: Misconception) -> Run:
        try:
            return self._judge.reference.mistaken(known)
        except LearnerError:  # the submission's time ran out
            raise
        except Exception as error:
            file = file_of(self._places.mistakes(self._judge.lesson.slug), known.exercise)
            what = f"{known.name} in {file.parent.name}/{file.name} is no edit of the solution"
            raise CheckError(f"{what}: {type(error).__name__}: {error}; mend it") from None

    def _rejecting_checks(self, known: Misconception, items: list[pytest.Item]) -> frozenset[int] | None:
        """Numbers of the visible checks that are known to reject a mistake; None if unknown."""
        names = self._rejections.get((known.exercise, known.name))
        if names is None:
            return None
        checks = enumerate(map(identify, items))
        return frozenset(i for i, check in checks if check and check.visible and check.name in names)

    def _observe_mistake(
        self, known: Misconception, run: Run, item: pytest.Item, enough: Callable[[Record], bool] | None
    ) -> Record:
        """Run one check on a known mistake until it is `enough`; complete visible records are shared."""
        check = _check_of(item)
        shared = (known, check) if check.visible else None
        if shared in self._seen:
            return self._seen[shared]
        record = unhurried(lambda: self._judge.observe([item], run, enough=enough)[0])
        if shared and not record.cut:
            self._seen[shared] = record
        return record


def _is_searched(exercise: Exercise) -> bool:
    """Whether an exercise is searched for two known mistakes: not one that trains a network in NumPy.

    Those with PyTorch that may be slow are so for hidden inputs; answer books have nothing of them.
    """
    fast = exercise.seconds <= WORTH_SEARCHING
    return fast or (exercise.seconds < SLOW_SECONDS and "torch" in exercise.environment.packages)


def _check_of(item: pytest.Item) -> CheckId:
    check = identify(item)
    assert check is not None
    return check


def has_failed(record: Record) -> bool:
    return bool(record.comparisons[-1].problems)
