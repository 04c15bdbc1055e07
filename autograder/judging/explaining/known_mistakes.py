"""The known mistakes of a lesson, what its checks see of them, and what is wrong with an answer in their light."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Protocol

import pytest

from autograder.diagnosis import Misconception
from autograder.judging.asking.run import Run
from autograder.judging.asking.time_budget import unhurried
from autograder.judging.checking.plugin import identify
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.diagnosis import Diagnosis, diagnose
from autograder.judging.explaining.evidence import Evidence, says_why
from autograder.judging.explaining.rejections import Rejections, written
from autograder.judging.explaining.searching import WORTH_SEARCHING, Search, found_by_search
from autograder.judging.records.errors import CheckError, LearnerError
from autograder.judging.records.record import Record
from autograder.places import Places, file_of
from course.syllabus import Exercise, Lesson

SeenOfMistakes = dict[tuple[Misconception, str], Record]
"""What visible checks see of known mistakes, by mistake and check: no salt is in their inputs."""
Observe = Callable[[int, Callable[[Record], bool] | None], Record]
SLOW_SECONDS = 60.0
"""An exercise that may take so long for one call (it trains networks) takes minutes with every known mistake."""


class Observer(Protocol):
    """What runs checks: the judge."""

    @property
    def lesson(self) -> Lesson: ...

    @property
    def reference(self) -> Reference: ...

    def items_of(self, exercise: str, visible: bool | None = None) -> list[pytest.Item]: ...

    def observe(
        self, items: list[pytest.Item], run: Run, *, enough: Callable[[Record], bool] | None = None
    ) -> list[Record]: ...


class KnownMistakes:
    """What the checks see of known mistakes, each run when that is first asked for.

    Args:
        judge: runs the checks.
        places: where the mistakes are.
        seen: what other judges of the lesson have seen of them; this one adds to it.
    """

    def __init__(self, judge: Observer, places: Places, seen: SeenOfMistakes | None = None) -> None:
        self._judge = judge
        self._places = places
        self._seen = {} if seen is None else seen
        self._evidence: dict[Misconception, Evidence] = {}
        self._harmless: dict[tuple[str, tuple[str, ...], str], bool] = {}
        """By helper, the known mistakes in it, and exercise: whether the exercise is right all the same."""
        self._searches: dict[str, Search] = {}

    @cached_property
    def known(self) -> list[Misconception]:
        """Those of the judge's exercises; read when the first answer is wrong."""
        return self._judge.reference.misconceptions(exercise.name for exercise in self._judge.lesson.exercises)

    def of(self, exercise: str) -> list[Misconception]:
        """Those of one exercise."""
        return [known for known in self.known if known.exercise == exercise]

    @cached_property
    def _rejections(self) -> Rejections:
        """What is written of which visible checks reject which of them."""
        return written(self._places, self._judge.lesson.slug)

    def explain(self, exercise: Exercise, records: list[Record], *, guess: bool = True) -> Diagnosis:
        """What is wrong, given what the checks saw; `guess`: and where that may come from.

        Where they compared nothing, because something was raised, only the words of an exception tell one mistake from
        another.
        """
        comparable = any(record.comparisons or says_why(record) for record in records)
        evidence = {entry: self.evidence(entry) for entry in self.of(exercise.name)} if comparable and guess else {}
        searchable = evidence and exercise.seconds <= WORTH_SEARCHING
        return diagnose(
            records,
            evidence,
            self._judge.reference,
            thorough=exercise.seconds < SLOW_SECONDS,
            guess=guess,
            search=(lambda: found_by_search(records, self.search_of(exercise.name), evidence)) if searchable else None,
        )

    def does_no_harm(self, helper: str, named: Sequence[str], exercise: Exercise) -> bool:
        """Whether an exercise passes its visible checks with the known mistakes that a helper of it has."""
        key = helper, tuple(named), exercise.name
        if key not in self._harmless:
            mistakes = [known for known in self.known if known.exercise == helper and known.name in named]
            items = self._judge.items_of(exercise.name, True)
            self._harmless[key] = bool(mistakes) and all(
                self._of_mistake(known, self._mistaken(known), item, None).passed
                for known in mistakes
                for item in items
            )
        return self._harmless[key]

    def search_of(self, exercise: str) -> Search:
        """The search for slips and for two mistakes in an exercise; what it has found out serves all submissions."""
        if exercise not in self._searches:
            items = self._judge.items_of(exercise, True)
            self._searches[exercise] = Search(
                self._judge.reference,
                exercise,
                self.of(exercise),
                len(items),
                lambda run, i, enough: unhurried(lambda: self._judge.observe([items[i]], run, enough=enough)[0]),
            )
        return self._searches[exercise]

    def evidence(self, known: Misconception) -> Evidence:
        """What the checks see of a misconception."""
        if known not in self._evidence:
            items = self._judge.items_of(known.exercise)
            self._evidence[known] = Evidence(len(items), self._seen_by(known, items), self._rejecting(known, items))
        return self._evidence[known]

    def _seen_by(self, known: Misconception, items: list[pytest.Item]) -> Observe:
        """What a check sees of a misconception, by the check's number: each run when it is first asked for."""
        run = cache(lambda: self._mistaken(known))  # most are ruled out without it
        return lambda i, enough: self._of_mistake(known, run(), items[i], enough)

    def _mistaken(self, known: Misconception) -> Run:
        try:
            return self._judge.reference.mistaken(known)
        except LearnerError:  # the submission's time is up
            raise
        except Exception as error:
            file = file_of(self._places.mistakes(self._judge.lesson.slug), known.exercise)
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
        record = unhurried(lambda: self._judge.observe([item], run, enough=enough)[0])
        if shared and not record.cut:
            self._seen[shared] = record
        return record
