"""What a submission may import: the standard library and the packages that its lesson allows."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

CELLS = ("cell ", "line ", "In [")
"""How the files of code objects are called that come from a submission; `execution` gives the names."""


class AllowedImports(importlib.abc.MetaPathFinder):
    """Finds the allowed modules where the judge says they are, and lets no other through.

    `locations` maps a module's full name to its file or package folder. A package that is itself not listed but
    whose submodules are (`course`, when only `course.data` is allowed) is an empty package.
    """

    def __init__(self, locations: dict[str, str], asked: list[str]) -> None:
        self.locations = locations
        self.asked = asked
        """The modules that the submission asked for and was refused, in order."""
        self.stand_in: Callable[[str], importlib.machinery.ModuleSpec | None] | None = None
        """What is found for modules that are neither allowed nor refused."""
        self.refused: frozenset[str] = frozenset()
        """Packages that a submission is refused though they are the standard library's or an allowed package's."""
        self.harmless: importlib.abc.Loader | None = None
        """Loads what allowed packages find in their place."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] in self.refused:
            return self._refused_spec(fullname)
        location = self.locations.get(fullname)
        if location is not None:
            return _spec(fullname, Path(location))
        if any(name.startswith(f"{fullname}.") for name in self.locations):
            return importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        root = fullname.partition(".")[0]
        if root in sys.stdlib_module_names or root.startswith("_sysconfigdata"):  # the one that varies in name
            return None
        if any(fullname.startswith(f"{name}.") for name in self.locations):
            return None  # inside an allowed package: its own folder is searched
        if not _asked_by_submission():  # a package that looks for another which it can do without
            return None
        if self.stand_in is not None and (found := self.stand_in(fullname)) is not None:
            return found
        return self._refuse(fullname)

    def _refused_spec(self, fullname: str) -> importlib.machinery.ModuleSpec:
        if fullname.partition(".")[0] == "ctypes" and not _asked_by_submission():
            return importlib.machinery.ModuleSpec(fullname, self.harmless, is_package=True)
        return self._refuse(fullname)

    def _refuse(self, fullname: str) -> NoReturn:
        self.asked.append(fullname)
        raise ModuleNotFoundError(f"{fullname} is not among the packages that are allowed here", name=fullname)


def _asked_by_submission() -> bool:
    """Whether the innermost code outside of the import machinery is a cell's."""
    frame: FrameType | None = sys._getframe(2)  # the import machinery, or this finder
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(CELLS)


def _spec(fullname: str, location: Path) -> importlib.machinery.ModuleSpec | None:
    if location.is_dir():
        return importlib.util.spec_from_file_location(
            fullname, location / "__init__.py", submodule_search_locations=[str(location)]
        )
    return importlib.util.spec_from_file_location(fullname, location)


def placeholder(name: str) -> ModuleType:
    """A module standing in for the grader, so that `check = lesson(...)` in a submission is no error."""

    def lesson(*_: Any, **__: Any) -> Any:
        return lambda *_, **__: None

    module = ModuleType(name)
    module.lesson = lesson  # type: ignore[attr-defined]
    return module
