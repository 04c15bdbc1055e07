"""The pytest plugin: the fixtures of the checks, and what becomes of a check's record."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from autograder.diagnosis.wording import clean
from autograder.judging.diagnose import summary
from autograder.judging.errors import LearnerError, WorkerLost
from autograder.judging.expect import Comparison, Record, recording
from autograder.judging.learner import Learner
from autograder.judging.reference import Reference
from autograder.judging.run import SubmissionRun
from course.syllabus import Lesson

RECORD = pytest.StashKey[Record]()


@dataclass(frozen=True)
class CheckId:
    """Which check an item is."""

    exercise: str
    name: str
    visible: bool
    promise: str


class Checks:
    """The checks of one lesson; `run` is the submission whose functions the `learner` fixture calls."""

    def __init__(self, lesson: Lesson, reference: Reference, salt: str) -> None:
        self.lesson = lesson
        self.salt = salt
        self.run: SubmissionRun | None = None
        self.lost: WorkerLost | None = None
        """Set when a check could not be run to its end, by no fault of the submission."""
        self._reference = reference

    @pytest.fixture
    def reference(self) -> Reference:
        """The lesson's solutions."""
        return self._reference

    @pytest.fixture
    def learner(self) -> Learner:
        """The submission's functions."""
        assert self.run is not None
        return Learner(self.lesson, self.run, self._reference)

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> np.random.Generator:
        """Random inputs: the same for everyone on visible cases, the class's own on hidden ones."""
        item = request.node
        check = identify(item)
        salt = "" if check is None or check.visible else self.salt
        name = f"{self.lesson.slug}/{item.originalname}/{'visible' if salt == '' else 'hidden'}/{salt}"
        return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))

    @pytest.fixture
    def inputs(self) -> str:
        """Whether this is the visible or the hidden run of a check."""
        return "visible"

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
        with recording(check.visible, check.exercise) as record:
            pyfuncitem.stash[RECORD] = record
            try:
                yield
            except WorkerLost as error:
                self.lost = error
            except LearnerError as error:
                record.ended_by = error
            except Exception as error:
                if not record.failures:
                    record.comparisons.append(_unusable(record, error))
        if not record.passed:
            pytest.fail(summary(record), pytrace=False)
        return True


def identify(item: Any) -> CheckId | None:
    """The check that a pytest item is; None if it belongs to no exercise."""
    marker = item.get_closest_marker("exercise")
    if marker is None:
        return None
    callspec = getattr(item, "callspec", None)
    visible = callspec is None or callspec.params.get("inputs") != "hidden"
    return CheckId(marker.kwargs["name"], item.originalname, visible, marker.kwargs["promise"])


def _unusable(record: Record, error: Exception) -> Comparison:
    """What a check could not work with: an answer of a kind that its contract does not allow."""
    call = record.calls[-1] if record.calls else None
    what = f"what {call.function} returned" if call else "the answer"
    why = type(error).__name__ + (f": {clean(str(error), 200)}" if record.visible else "")  # could tell the inputs
    problem = f"The check could not use {what} ({why}). See the contract for what it returns."
    return Comparison(False, True, (), "", call, 0.0, 0.0, (problem,), property_only=True)
