"""The `reference` fixture: a lesson's own solutions, loaded by path and only in the judge's process."""

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
from autograder.judging.checking.one_text import one_text
from autograder.judging.checking.reading import reading
from autograder.judging.records.keys import Key, key_of, size_of
from autograder.places import Places, files_of
from autograder.worker import wire
from course.syllabus import Lesson, whole_lessons

KNOWN_BYTES = 256 * 2**20
"""What the arguments of remembered answers may take together."""
SLOW_TO_IMPORT = ("torch",)
"""Imported when a solution first uses them: most exercises of a lesson may do without."""


@cache
def load_module(path: Path) -> ModuleType:
    """Import a file by its path, under a name of its own. `FileNotFoundError` if it is not there."""
    return _load(path)


def _load(path: Path, text: str | None = None) -> ModuleType:
    """The file as a module; with `text`, that text as if it were the file's."""
    spec = importlib.util.spec_from_file_location(f"backprop_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None or not path.exists():
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    with _put_off(path.read_text(encoding="utf-8") if text is None else text):
        if text is None:
            spec.loader.exec_module(module)
        else:
            exec(compile(text, str(path), "exec"), vars(module))
    return module


def misconceptions_of(slug: str) -> list[Misconception]:
    """The misconceptions of a lesson."""
    exercises = [exercise.name for exercise in whole_lessons()[slug].exercises]
    files = files_of(Places().mistakes(slug), exercises)
    return [known for file in files for known in misconceptions_in(load_module(file))]


def function_of(known: Misconception, slug: str) -> Callable[..., Any]:
    """A misconception of a lesson as a function. Raises `EditError` where an edit of it is out of date."""
    if known.function is not None:
        return known.function
    source = Places().source(slug)
    module = _load(source, edited(source.read_text(encoding="utf-8"), known.edits))
    return cast(Callable[..., Any], operator.attrgetter(known.exercise)(module))


class Reference:
    """`reference.matmul_vjp(g, A, B)`: the right answer, computed once for equal arguments.

    `reference.scenario.chain(5)` is what a scenario gives with the solutions in the place of a submission.
    """

    def __init__(self, lesson: Lesson, root: Path | None = None) -> None:
        self._lesson = lesson
        places = Places() if root is None else Places(root)
        self._mistakes = places.mistakes(lesson.slug)
        self._source, self._scenario_folder = places.source(lesson.slug), places.scenarios(lesson.slug)
        self.module = load_module(self._source)
        self.implementations = self._implementations(self.module)
        self._known: dict[Key, Any] = {}
        self._known_bytes = 0

    @cached_property
    def signatures(self) -> dict[str, inspect.Signature]:
        """The parameters of each exercise."""
        return {name: inspect.signature(function) for name, function in self.implementations.items()}

    @cached_property
    def scenarios(self) -> dict[str, Callable[..., Any]]:
        """The lesson's scenarios by name, as a worker has them; none where it has no folder of them."""
        if not self.scenario_source:
            return {}
        module = ModuleType(f"backprop_{self._lesson.slug}_scenarios")
        vars(module)["__file__"] = str(self._scenario_folder)
        with _put_off(self.scenario_source):
            exec(compile(self.scenario_source, str(self._scenario_folder), "exec"), vars(module))
        return vars(module)

    @cached_property
    def scenario_source(self) -> str:
        """Their source, for a worker."""
        return one_text(self._scenario_folder)

    def misconceptions(self, exercises: Iterable[str] | None = None) -> list[Misconception]:
        """The known mistakes of these exercises, or of all. `CheckError` where a file of them cannot be read."""
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
        """A run of the solutions in this process, with what stands at `path` (`Tensor.backward`) replaced."""
        if not path:
            return LocalRun(self.implementations, self.module, self.scenarios)
        module = _load(self._source)
        owner, _, name = path.rpartition(".")
        setattr(operator.attrgetter(owner)(module) if owner else module, name, replacement)
        return LocalRun(self._implementations(module), module, self.scenarios)

    def local_text(self, text: str) -> LocalRun:
        """A run, in this process, of a changed text of the solutions. Raises whatever that text raises."""
        module = _load(self._source, text)
        return LocalRun(self._implementations(module), module, self.scenarios)

    @cached_property
    def text(self) -> str:
        """The solutions' source."""
        return self._source.read_text(encoding="utf-8")

    def local_codes(self, codes: Iterable[CodeType]) -> LocalRun:
        """A run, in this process, of statements that take the place of the solutions' own. Raises what they raise."""
        module = ModuleType(self.module.__name__)
        vars(module)["__file__"] = str(self._source)
        with _put_off(self.text):
            for code in codes:
                exec(code, vars(module))
        return LocalRun(self._implementations(module), module, self.scenarios)

    def mistaken(self, known: Misconception) -> LocalRun:
        """A run of the solutions with a misconception in them. `EditError` where an edit of it is out of date."""
        if known.function is not None:
            return self.local(known.replaces, known.function)
        return self.local_text(edited(self.text, known.edits))

    def answer(self, key: list[Any], compute: Callable[[], Any]) -> Any:
        """What `compute` returns; the same again for an equal key, where the key is data."""
        try:
            known = key_of(key)
        except wire.WireError:  # functions and other objects: nothing to recognise them by
            return compute()  # of the submission's own data, maybe: at its expense
        if known not in self._known:
            self._known[known] = _frozen(compute())
            self._known_bytes += size_of(known)
            while self._known_bytes > KNOWN_BYTES and len(self._known) > 1:  # submissions' answers may be arguments
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
        for exercise in self._lesson.whole.exercises:  # checks of one may compare with another
            try:
                found[exercise.name] = operator.attrgetter(exercise.name)(module)
            except AttributeError:
                continue  # its checks say so
        return found


class _Scenarios:
    """Attribute access to a reference's scenarios."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function, module = self._reference.scenarios[name], self._reference.module
        return lambda *args: self._reference.answer(["scenario", name, list(args)], lambda: function(module, *args))


class _Later(ModuleType):
    """Stands for a module until it is used."""

    _real: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._real is None:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            self._real = importlib.import_module(self.__name__)
        return getattr(self._real, name)  # asked each time: a scenario may put something else in its place


@contextmanager
def _put_off(text: str) -> Iterator[None]:
    """Let `import torch` in this text, which is loaded meanwhile, cost nothing until the text uses it.

    `from torch.autograd import …` uses it at once, and after what only stands for torch it would load torch.autograd a
    second time, which ends the process.
    """
    absent = [
        name
        for name in SLOW_TO_IMPORT
        if name not in sys.modules and not re.search(rf"^(import|from) {name}\.", text, re.MULTILINE)
    ]
    sys.modules.update({name: _Later(name) for name in absent})
    try:
        yield
    finally:
        for name in absent:
            if isinstance(sys.modules.get(name), _Later):
                del sys.modules[name]


def _frozen(value: Any) -> Any:
    """The value with its arrays read-only: it is shared by all submissions."""
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
        return value
    if isinstance(value, tuple | list):
        return type(value)(_frozen(item) for item in value)
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return value
