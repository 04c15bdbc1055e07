"""The pytest plugin: the fixtures of the checks, and what becomes of a check's record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from autograder.judging.asking.run import Run
from autograder.judging.checking.learner import Learner
from autograder.judging.checking.reference import Reference
from autograder.judging.records.errors import LearnerError, WorkerLost
from autograder.judging.records.record import Comparison, Record, recording
from autograder.judging.records.summary import summary
from autograder.wording import clean
from course.syllabus import Lesson


@dataclass(frozen=True)
class CheckId:
    """Which check an item is."""

    exercise: str
    name: str
    visible: bool
    promise: str

    @property
    def in_words(self) -> str:
        """Its name as one reads it: `relu at zero`."""
        return self.name.removeprefix("test_").replace("_", " ")


IDENTITY = pytest.StashKey[CheckId | None]()


class Checks:
    """The checks of one lesson; `run` is the submission whose functions the `learner` fixture calls."""

    def __init__(self, lesson: Lesson, reference: Reference, salt: str) -> None:
        self.lesson = lesson
        self.salt = salt
        self.run: Run | None = None
        self.lost: WorkerLost | None = None
        """Set when a check could not be run to its end, by no fault of the submission."""
        self.records: dict[str, Record] = {}
        """What the checks saw that pytest itself has run, by the item's id."""
        self._reference = reference

    @pytest.fixture
    def reference(self) -> Reference:
        """The lesson's solutions."""
        return self._reference

    @pytest.fixture
    def learner(self) -> Learner:
        """The submission's functions."""
        return self._learner()

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """Random inputs: the same for everyone on visible cases, the class's own on hidden ones."""
        return self._random(request.node)

    @pytest.fixture
    def inputs(self) -> str:
        """Whether this is the visible or the hidden run of a check."""
        return "visible"

    def observe(self, item: pytest.Function, enough: Callable[[Record], bool] | None = None) -> Record:
        """Run one check, until it is `enough`, and return what it saw: its function, called with its fixtures' values.

        pytest's own set-up and tear-down cost more than most checks, and our fixtures need neither. `TypeError` where
        a check asks for a fixture that is none of ours.
        """
        values: dict[str, Callable[[], Any]] = {
            "learner": self._learner,
            "reference": lambda: self._reference,
            "rng": lambda: self._random(item),
        }
        given = item.callspec.params if hasattr(item, "callspec") else {}
        asked = item._fixtureinfo.argnames
        unknown = [name for name in asked if name not in given and name not in values]
        if unknown:
            raise TypeError(f"there is no fixture {unknown[0]!r} for checks")
        arguments = {name: given[name] if name in given else values[name]() for name in asked}
        check = identify(item)
        assert check is not None
        with self._watching(check, enough) as record:
            item.obj(**arguments)
        return record

    @contextmanager
    def _watching(self, check: CheckId, enough: Callable[[Record], bool] | None = None) -> Iterator[Record]:
        """Collect what a check sees, and how it ends."""
        technique = self.lesson.exercise(check.exercise).technique
        measured = check.promise == "instrumented" or check.name in technique
        with recording(check.visible, check.exercise, measured, enough, check.in_words) as record:
            try:
                yield record
            except WorkerLost as error:
                self.lost = error
            except LearnerError as error:
                record.ended_by = error
            except Exception as error:
                record.raised = f"{type(error).__name__}: {clean(str(error), 200)}"
                if not record.failures:
                    record.comparisons.append(_unusable(record))

    def _learner(self) -> Learner:
        assert self.run is not None
        return Learner(self.lesson, self.run, self._reference)

    def _random(self, item: Any) -> np.random.Generator:
        check = identify(item)
        salt = "" if check is None or check.visible else self.salt
        name = f"{self.lesson.slug}/{item.originalname}/{'visible' if salt == '' else 'hidden'}/{salt}"
        return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each check on visible and on hidden inputs; one that draws no numbers has only visible ones."""
        marker = metafunc.definition.get_closest_marker("exercise")
        if marker is None or "learner" not in metafunc.fixturenames:
            return
        kinds = ["visible"] if marker.kwargs["visible"] else []
        if "rng" in metafunc.fixturenames or not kinds:
            kinds.append("hidden")
        metafunc.fixturenames.append("inputs")
        metafunc.parametrize("inputs", kinds)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Collect what the check sees, and fail it with its first failure."""
        check = identify(pyfuncitem)
        if check is None or "learner" not in pyfuncitem.fixturenames:
            return (yield)
        with self._watching(check) as record:
            yield
        self.records[pyfuncitem.nodeid] = record
        if not record.passed:
            pytest.fail(summary(record), pytrace=False)
        return True


def identify(item: Any) -> CheckId | None:
    """The check that a pytest item is; None if it belongs to no exercise."""
    if IDENTITY not in item.stash:
        marker = item.get_closest_marker("exercise")
        params = item.callspec.params if hasattr(item, "callspec") else {}
        item.stash[IDENTITY] = marker and CheckId(
            marker.kwargs["name"],
            item.originalname,
            params.get("inputs") != "hidden",
            marker.kwargs["promise"],
        )
    return item.stash[IDENTITY]


def _unusable(record: Record) -> Comparison:
    """What a check could not work with: an answer of a kind that its contract does not allow."""
    call = record.calls[-1] if record.calls else None
    what = f"what {call.function} returned" if call else "the answer"
    problem = f"The check could not use {what} ({record.raised}). See the contract for what it returns."
    return Comparison(False, True, (), "", call, 0.0, 0.0, (problem,), property_only=True)
