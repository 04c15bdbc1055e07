"""The pytest plugin: the fixtures that checks use, and the recording of what each check sees."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from autograder.judging.asking.run import Run
from autograder.judging.checking.kinds import Kind, NoRows, kinds_in
from autograder.judging.checking.learner import Learner
from autograder.judging.checking.reference import Reference
from autograder.judging.records.errors import LearnerError, WorkerLost
from autograder.judging.records.record import Comparison, Record, recording
from autograder.judging.records.summary import summary
from autograder.wording import clean
from course.syllabus import Lesson


@dataclass(frozen=True)
class CheckId:
    """Identifies a check: its exercise, name, kind of input and promise."""

    exercise: str
    name: str
    visible: bool
    promise: str

    @property
    def in_words(self) -> str:
        """Its name for readers: `relu at zero`."""
        return self.name.removeprefix("test_").replace("_", " ")


__all__ = ["CheckId", "Checks", "NoRows", "identify"]
IDENTITY = pytest.StashKey[CheckId | None]()


class Checks:
    """The checks of one lesson; the `learner` fixture calls the functions of `run`."""

    def __init__(self, lesson: Lesson, reference: Reference, salt: str) -> None:
        self.lesson = lesson
        self.salt = salt
        self.run: Run | None = None
        self.lost: WorkerLost | None = None
        """The error, if a check could not finish through no fault of the submission."""
        self.records: dict[str, Record] = {}
        """By item id, the records of the checks that pytest itself ran."""
        self._reference = reference
        self._drawn: dict[CheckId, list[Kind]] = {}
        """The arguments of every kind by check, drawn once."""

    @pytest.fixture
    def reference(self) -> Reference:
        """The lesson's solutions."""
        return self._reference

    @pytest.fixture
    def learner(self, request: pytest.FixtureRequest) -> Learner:
        """The submission's functions."""
        return self._learner(request.node)

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """Draws inputs from the check's name, and for hidden inputs from the class's salt too."""
        return self._random(request.node)

    @pytest.fixture
    def kinds(self, request: pytest.FixtureRequest) -> list[Kind]:
        """Arguments of every kind, for `check_kinds`."""
        return self._kinds(request.node)

    @pytest.fixture
    def inputs(self) -> str:
        """Which run of a check this is: "visible" or "hidden"."""
        return "visible"

    def observe(self, item: pytest.Function, enough: Callable[[Record], bool] | None = None) -> Record:
        """Call one check's function with its fixtures, until it is `enough`, and return the record.

        This skips pytest's set-up and tear-down, which cost more than most checks and which our fixtures do not need.
        Raises `TypeError` if the check asks for a fixture that does not exist.
        """
        values: dict[str, Callable[[], Any]] = {
            "learner": lambda: self._learner(item),
            "reference": lambda: self._reference,
            "rng": lambda: self._random(item),
            "kinds": lambda: self._kinds(item),
        }
        given = item.callspec.params if hasattr(item, "callspec") else {}
        asked = item._fixtureinfo.argnames
        unknown = [name for name in asked if name not in given and name not in values]
        if unknown:
            raise TypeError(f"there is no fixture {unknown[0]!r} for checks")
        arguments = {name: given[name] if name in given else values[name]() for name in asked}
        check = identify(item)
        assert check is not None
        with self._recording(check, enough) as record:
            item.obj(**arguments)
        return record

    @contextmanager
    def _recording(self, check: CheckId, enough: Callable[[Record], bool] | None = None) -> Iterator[Record]:
        """Record what a check sees and how it ends."""
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

    def _learner(self, item: Any) -> Learner:
        assert self.run is not None
        check = identify(item)
        drawn = check is not None and check.exercise in self._reference.drawn
        return Learner(self.lesson, self.run, self._reference, drawn=drawn)

    def _random(self, item: Any) -> np.random.Generator:
        check = identify(item)
        salt = "" if check is None or check.visible else self.salt
        name = f"{self.lesson.slug}/{item.originalname}/{'visible' if salt == '' else 'hidden'}/{salt}"
        return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))

    def _kinds(self, item: Any) -> list[Kind]:
        check = identify(item)
        assert check is not None
        if check not in self._drawn:
            self._drawn[check] = kinds_in(self._reference.covering, check.exercise, self._random(item))
        return self._drawn[check]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each check on visible and hidden inputs; on visible ones only if it draws no random numbers."""
        marker = metafunc.definition.get_closest_marker("exercise")
        if marker is None or "learner" not in metafunc.fixturenames:
            return
        kinds = ["visible"] if marker.kwargs["visible"] else []
        if {"rng", "kinds"} & set(metafunc.fixturenames) or not kinds:
            kinds.append("hidden")
        metafunc.fixturenames.append("inputs")
        metafunc.parametrize("inputs", kinds)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Record what the check sees, and fail it with its first failure."""
        check = identify(pyfuncitem)
        if check is None or "learner" not in pyfuncitem.fixturenames:
            return (yield)
        with self._recording(check) as record:
            yield
        self.records[pyfuncitem.nodeid] = record
        if not record.passed:
            pytest.fail(summary(record), pytrace=False)
        return True


def identify(item: Any) -> CheckId | None:
    """The check that a pytest item represents; None if it belongs to no exercise."""
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
    """The failure of a check that raised because the answer is of a kind that the contract does not allow."""
    call = record.calls[-1] if record.calls else None
    what = f"what {call.function} returned" if call else "the answer"
    problem = f"The check could not use {what} ({record.raised}). See the contract for what it returns."
    return Comparison(False, True, (), "", call, 0.0, 0.0, (problem,), property_only=True, of_values=True)
