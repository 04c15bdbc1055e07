"""The `reference` fixture: a lesson's solutions, imported by path and only in the judge's process."""

from __future__ import annotations

import importlib.util
import inspect
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

import numpy as np

from autograder.diagnosis import Misconception, edited, misconceptions_in
from autograder.judging.asking.local_run import LocalRun
from autograder.judging.checking.kinds import covers_in
from autograder.judging.checking.one_text import one_text
from autograder.judging.checking.reading import reading
from autograder.judging.records.keys import Key, key_of, size_of
from autograder.places import Places, files_of
from autograder.worker import wire
from course.syllabus import Lesson, whole_lessons

KNOWN_BYTES = 256 * 2**20
"""Most bytes that the arguments of cached answers may take together."""
SLOW_TO_IMPORT = ("torch",)
"""Imported lazily, because most exercises of a lesson do not use it."""


@cache
def load_module(path: Path) -> ModuleType:
    """Import a file by its path under a unique module name, once. Raises `FileNotFoundError` if it does not exist."""
    return _load(path)


def _load(path: Path, text: str | None = None) -> ModuleType:
    """Import the file as a module; if `text` is given, execute that in place of the file's own."""
    spec = importlib.util.spec_from_file_location(f"backprop_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None or not path.exists():
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    with _lazy_imports(path.read_text(encoding="utf-8") if text is None else text):
        if text is None:
            spec.loader.exec_module(module)
        else:
            exec(compile(text, str(path), "exec"), vars(module))
    return module


def misconceptions_of(slug: str) -> list[Misconception]:
    """The known mistakes of a lesson."""
    exercises = [exercise.name for exercise in whole_lessons()[slug].exercises]
    files = files_of(Places().mistakes(slug), exercises)
    return [known for file in files for known in misconceptions_in(load_module(file))]


def function_of(known: Misconception, slug: str) -> Callable[..., Any]:
    """A known mistake of a lesson as a function. Raises `EditError` if one of its edits is out of date."""
    if known.function is not None:
        return known.function
    source = Places().source(slug)
    module = _load(source, edited(source.read_text(encoding="utf-8"), known.edits))
    return cast(Callable[..., Any], operator.attrgetter(known.exercise)(module))


class Reference:
    """Computes right answers: `reference.matmul_vjp(g, A, B)`, cached by the values of the arguments.

    `reference.scenario.chain(5)` runs a scenario on the solutions instead of a submission.
    """

    def __init__(self, lesson: Lesson, root: Path | None = None) -> None:
        self._lesson = lesson
        places = Places() if root is None else Places(root)
        self._mistakes = places.mistakes(lesson.slug)
        self._source, self._scenario_folder = places.source(lesson.slug), places.scenarios(lesson.slug)
        self.covering = places.covering(lesson.slug)
        """The lesson's rows of levels, for checks of every kind of input."""
        self.module = load_module(self._source)
        self.implementations = self._implementations(self.module)
        self._known: dict[Key, Any] = {}
        self._known_bytes = 0

    @cached_property
    def drawn(self) -> frozenset[str]:
        """The exercises whose checks draw arguments of every kind."""
        return frozenset(covers_in(self.covering))

    @cached_property
    def signatures(self) -> dict[str, inspect.Signature]:
        """Each exercise's signature, by name."""
        return {name: inspect.signature(function) for name, function in self.implementations.items()}

    @cached_property
    def scenarios(self) -> dict[str, Callable[..., Any]]:
        """The lesson's scenarios by name, as a worker has them; empty if it has none."""
        if not self.scenario_source:
            return {}
        module = ModuleType(f"backprop_{self._lesson.slug}_scenarios")
        vars(module)["__file__"] = str(self._scenario_folder)
        with _lazy_imports(self.scenario_source):
            exec(compile(self.scenario_source, str(self._scenario_folder), "exec"), vars(module))
        return vars(module)

    @cached_property
    def scenario_source(self) -> str:
        """The scenarios' source, for a worker."""
        return one_text(self._scenario_folder)

    def misconceptions(self, exercises: Iterable[str] | None = None) -> list[Misconception]:
        """The known mistakes of these exercises (default: all). Raises `CheckError` if a file cannot be imported."""
        names = [one.name for one in self._lesson.exercises] if exercises is None else list(exercises)
        found: list[Misconception] = []
        for file in files_of(self._mistakes, names):
            with reading(file):
                found += misconceptions_in(load_module(file))
        return [known for known in found if known.exercise in names]

    @property
    def scenario(self) -> _Scenarios:
        """The lesson's scenarios, run on the solutions."""
        return _Scenarios(self)

    def local(self, path: str = "", replacement: Any = None) -> LocalRun:
        """Run the solutions in this process, with the function or method at `path` (`Tensor.backward`) replaced."""
        if not path:
            return LocalRun(self.implementations, self.module, self.scenarios)
        module = _load(self._source)
        owner, _, name = path.rpartition(".")
        setattr(operator.attrgetter(owner)(module) if owner else module, name, replacement)
        return LocalRun(self._implementations(module), module, self.scenarios)

    def local_text(self, text: str) -> LocalRun:
        """Run an edited source of the solutions in this process. Raises whatever executing it raises."""
        module = _load(self._source, text)
        run = LocalRun(self._implementations(module), module, self.scenarios)
        run.edited = text
        return run

    @cached_property
    def text(self) -> str:
        """The solutions' source."""
        return self._source.read_text(encoding="utf-8")

    def local_codes(self, codes: Iterable[CodeType], **names: Any) -> LocalRun:
        """Run compiled statements in place of the solutions, in this process. Raises whatever they raise.

        Args:
            names: what is defined before the first of them.
        """
        module = ModuleType(self.module.__name__)
        vars(module).update(names, __file__=str(self._source))
        with _lazy_imports(self.text):
            for code in codes:
                exec(code, vars(module))
        return LocalRun(self._implementations(module), module, self.scenarios)

    def mistaken(self, known: Misconception) -> LocalRun:
        """Run the solutions with a known mistake in them. Raises `EditError` if one of its edits is out of date."""
        if known.function is not None:
            return self.local(known.replaces, known.function)
        return self.local_text(edited(self.text, known.edits))

    def answer(self, key: list[Any], compute: Callable[[], Any]) -> Any:
        """The result of `compute()`, cached if `key` is data."""
        try:
            known = key_of(key)
        except wire.WireError:  # the key contains functions or other objects
            return compute()  # not cached: it may depend on the submission, so it counts against the submission's time
        if known not in self._known:
            self._known[known] = _frozen(compute())
            self._known_bytes += size_of(known)
            while self._known_bytes > KNOWN_BYTES and len(self._known) > 1:  # keys may hold submissions' answers
                oldest = next(iter(self._known))
                del self._known[oldest]
                self._known_bytes -= size_of(oldest)
        return self._known[known]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            function = self.implementations[name]
        except KeyError:
            raise AttributeError(f"the reference has no {name!r}") from None
        return lambda *args, **kwargs: self.answer([name, list(args), kwargs], lambda: function(*args, **kwargs))

    def _implementations(self, module: ModuleType) -> dict[str, Callable[..., Any]]:
        found = {}
        for exercise in self._lesson.whole.exercises:  # a check may compare with another exercise
            try:
                found[exercise.name] = operator.attrgetter(exercise.name)(module)
            except AttributeError:
                continue  # the exercise's checks report it
        return found


class _Scenarios:
    """Attribute access to a reference's scenarios."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function, module = self._reference.scenarios[name], self._reference.module
        return lambda *args: self._reference.answer(["scenario", name, list(args)], lambda: function(module, *args))


class _LazyModule(ModuleType):
    """A module that is imported at the first access to one of its attributes."""

    _real: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._real is None:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            self._real = importlib.import_module(self.__name__)
        return getattr(self._real, name)  # looked up each time: a scenario may replace an attribute


@contextmanager
def _lazy_imports(text: str) -> Iterator[None]:
    """While `text` is being imported, make its `import torch` lazy: torch loads when the text first uses it.

    `from torch.autograd import …` uses torch at once; with the placeholder in `sys.modules` it would load
    torch.autograd twice, which crashes the process. So a text with such an import gets no placeholder.
    """
    absent = [
        name
        for name in SLOW_TO_IMPORT
        if name not in sys.modules and not re.search(rf"^(import|from) {name}\.", text, re.MULTILINE)
    ]
    sys.modules.update({name: _LazyModule(name) for name in absent})
    try:
        yield
    finally:
        for name in absent:
            if isinstance(sys.modules.get(name), _LazyModule):
                del sys.modules[name]


def _frozen(value: Any) -> Any:
    """A copy of the value with read-only arrays, because all submissions share it."""
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
        return value
    if isinstance(value, tuple | list):
        return type(value)(_frozen(item) for item in value)
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return value
