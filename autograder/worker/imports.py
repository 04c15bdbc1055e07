"""Limits a submission's imports to the standard library and the packages that its lesson allows."""

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
"""Prefixes of `co_filename` in code that comes from a submission; `execution` sets the names."""


class AllowedImports(importlib.abc.MetaPathFinder):
    """Finds the allowed modules at the judge's locations and refuses all others.

    `locations` maps a module's full name to its file or package folder. A package that is not listed but has listed
    submodules (`course`, when only `course.data` is allowed) is found as an empty package.
    """

    def __init__(self, locations: dict[str, str], asked: list[str]) -> None:
        self.locations = locations
        self.asked = asked
        """Modules that the submission tried to import and was refused, in order."""
        self.stand_in: Callable[[str], importlib.machinery.ModuleSpec | None] | None = None
        """Returns the spec of a stand-in for a module that is not allowed; None to refuse it."""
        self.refused: frozenset[str] = frozenset()
        """Packages refused to submissions even though the standard library or an allowed package contains them."""
        self.refused_inside: tuple[str, ...] = ()
        """Prefixes of modules inside allowed packages that submissions may not import themselves."""
        self.harmless: importlib.abc.Loader | None = None
        """Loads the harmless `ctypes` that allowed packages get."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] in self.refused:
            return self._refused_spec(fullname)
        if fullname.startswith(self.refused_inside) and _asked_by_submission():
            return self._refuse(fullname)
        location = self.locations.get(fullname)
        if location is not None:
            return _spec(fullname, Path(location))
        if any(name.startswith(f"{fullname}.") for name in self.locations):
            return importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        root = fullname.partition(".")[0]
        if root in sys.stdlib_module_names or root.startswith("_sysconfigdata"):  # its name varies by platform
            return None
        if any(fullname.startswith(f"{name}.") for name in self.locations):
            return None  # inside an allowed package: its own folder is searched
        if not _asked_by_submission():  # an allowed package tries an optional dependency
            return None
        if self.stand_in is not None and (found := self.stand_in(fullname)) is not None:
            return found
        return self._refuse(fullname)

    def _refused_spec(self, fullname: str) -> importlib.machinery.ModuleSpec:
        if fullname.partition(".")[0] == "ctypes" and not _asked_by_submission():
            return importlib.machinery.ModuleSpec(fullname, self.harmless, is_package=True)
        return self._refuse(fullname)

    def _refuse(self, fullname: str) -> NoReturn:
        _refuse(fullname, self.asked)


class MissingPackages(importlib.abc.MetaPathFinder):
    """The last finder where nothing else limits imports: refuses what is missing, in the words of `AllowedImports`.

    Args:
        asked: gets the names of modules that a submission tried to import.
    """

    def __init__(self, asked: list[str]) -> None:
        self.asked = asked

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        if path is None and _asked_by_submission():
            _refuse(fullname, self.asked)


def _refuse(fullname: str, asked: list[str]) -> NoReturn:
    asked.append(fullname)
    raise ModuleNotFoundError(f"{fullname} is not among the packages that are allowed here", name=fullname)


def _asked_by_submission() -> bool:
    """Whether the innermost caller outside the import machinery is a cell."""
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
    """An empty module with a `lesson` function, so that `check = lesson(...)` in a submission does not fail."""

    def lesson(*_: Any, **__: Any) -> Any:
        return lambda *_, **__: None

    module = ModuleType(name)
    module.lesson = lesson  # type: ignore[attr-defined]
    return module
