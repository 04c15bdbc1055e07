"""Collects a lesson's checks with pytest, and makes a judge of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import pytest

from autograder import judging
from autograder.answerbook import AnswerBook, BookReference
from autograder.answerbook.judge import BookJudge, open_book
from autograder.answerbook.mistakes import MistakesFromBook, MistakesPartlyFromBook
from autograder.isolation import PackageMissing
from autograder.isolation.packages import how_to_install
from autograder.judging.checking.plugin import Checks, identify
from autograder.judging.checking.reading import reading
from autograder.judging.checking.reference import Reference, load_module
from autograder.judging.checking.salt import PUBLIC_SALT
from autograder.judging.explaining.known_mistakes import KnownMistakes, SeenOfMistakes
from autograder.judging.records.errors import CheckError
from autograder.judging.session import Judge
from autograder.places import Places, file_of, files_of
from autograder.threads import one_thread
from autograder.worker.uncompiled import without_compiler
from course.syllabus import Lesson

T = TypeVar("T")

UNUSED_PLUGINS = (
    *("cacheprovider", "terminal", "logging", "faulthandler", "doctest", "junitxml", "pastebin", "unittest"),
    *("legacypath", "setuponly", "setupplan", "stepwise", "debugging", "recwarn", "tmpdir", "monkeypatch"),
    *("unraisableexception", "threadexception", "warnings", "subtests"),
)
"""pytest's built-in plugins that checks do not use: each would cost time at every start."""


def with_judge(
    lesson: Lesson,
    use: Callable[[Judge], T],
    *,
    salt: str = PUBLIC_SALT,
    root: Path | None = None,
    only: str | Sequence[str] = "",
    seen: SeenOfMistakes | None = None,
    reference_type: Callable[[Lesson, Path], Reference] = Reference,
    by_the_book: bool = True,
    book: AnswerBook | None = None,
) -> T:
    """Collect the lesson's checks and return `use(judge)`, which runs inside of pytest's session.

    If the course has no solutions, the lesson's answer book replaces them, and only visible checks run.

    Args:
        root: the folder of the course; by default, of the one that this process serves.
        only: one exercise, or several: the judge knows only these and collects only their checks.
        seen: what other judges of the lesson have seen of its known mistakes; this one adds to it.
        reference_type: makes what calls the solutions.
        by_the_book: look up what visible checks see of known mistakes in the lesson's answer book, if there is one of
            this version; False to write or to test an answer book.
        book: an answer book to use instead of the solutions.

    Raises:
        CheckError: the checks cannot be collected.
        PackageMissing: the reference needs a package that is not installed.
    """
    one_thread()
    without_compiler()
    for package in lesson.environment.packages:
        if find_spec(package) is None:
            raise PackageMissing(f"{lesson.slug} needs {package}: {how_to_install(package)}")
    places = Places() if root is None else Places(root)
    reference: Reference
    made: type[Judge]
    of_mistakes: type[KnownMistakes]
    has_solutions = places.source(lesson.slug).is_file() or not places.answer_book(lesson.slug).is_file()
    if book is None and has_solutions:
        with reading(places.source(lesson.slug)):
            reference = reference_type(lesson, places.root)
        made, of_mistakes = Judge, MistakesPartlyFromBook if by_the_book else KnownMistakes
    else:
        reference = open_book(lesson, places) if book is None else BookReference(lesson, book, places)
        made, of_mistakes = BookJudge, MistakesFromBook
    checks = Checks(lesson, reference, salt)
    names = (only,) if isinstance(only, str) else only
    judged = replace(lesson, exercises=tuple(map(lesson.exercise, names))) if only else lesson
    judge = made(judged, checks, reference, salt, lambda judge: of_mistakes(judge, places, seen))
    asked = [exercise.name for exercise in judged.exercises]
    files = files_of(places.checks(lesson.slug), asked)
    if not files:
        with reading(file_of(places.checks(lesson.slug), asked[0])):
            raise FileNotFoundError
    driver = _Driver(judge, files, use)
    run_pytest(files, [checks, driver])
    return driver.outcome()


def run_pytest(files: Sequence[Path], plugins: list[object]) -> int:
    """Run pytest on some of our files, in their order, with our configuration only. Returns pytest's exit code.

    The root folder is the file system's, so that a module's name is its whole path: an exercise's checks and oracles
    are files of the same name, which pytest would confuse.
    """
    options = [f"-pno:{plugin}" for plugin in UNUSED_PLUGINS]
    options += ["--noconftest", "--assert=plain", "--capture=no", "--import-mode=importlib"]
    options += ["-c", str(Path(judging.__file__).with_name("pytest.ini")), f"--rootdir={files[0].anchor}"]
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
    """A plugin that replaces pytest's loop over the tests by a call of `use`."""

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
