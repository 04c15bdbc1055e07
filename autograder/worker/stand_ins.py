"""What notebooks use that is no part of an exercise, as plots and progress bars: stand-ins that swallow everything.

A cell is not lost because of a picture. They are in the worker alone, and nothing that a check looks at is one of them.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, ModuleType
from typing import Any, NoReturn

NAMES = frozenset({"IPython", "google.colab", "ipywidgets", "matplotlib", "mpl_toolkits", "plotly", "seaborn", "tqdm"})
"""Packages that have a stand-in where a lesson does not allow them."""


RUN_THE_BODY = frozenset({"capture", "debug", "prun", "time"})
"""As `autograder.magics` has it, which no worker can read."""


def stands_in_for(fullname: str) -> bool:
    """Whether a module is one of these packages, in one, or around one."""
    parts = fullname.split(".")
    return fullname == "google" or any(".".join(parts[: i + 1]) in NAMES for i in range(len(parts)))


class Swallow:
    """Anything: it can be called, indexed, unpacked in two, entered, and whatever is asked of it is another one."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Swallow()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Swallow()

    def __getitem__(self, key: Any) -> Any:
        return Swallow()

    def __setitem__(self, key: Any, value: Any) -> None:
        """As plt.rcParams takes it."""

    def __iter__(self) -> Iterator[Any]:
        return iter((Swallow(), Swallow()))  # fig, ax = plt.subplots()

    def __enter__(self) -> Swallow:
        return self

    def __exit__(self, *error: object) -> None:
        """Whatever was raised goes on."""

    def __repr__(self) -> str:
        return "<stand-in>"


class Bar(Swallow):
    """A progress bar: what it goes through, and nothing is shown."""

    def __init__(self, iterable: Iterable[Any] = (), *args: Any, **kwargs: Any) -> None:
        self._iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def __len__(self) -> int:
        return len(self._iterable)  # type: ignore[arg-type]


class _StandIn(ModuleType):
    """A module that has whatever is asked of it."""

    __all__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__.partition(".")[0] == "tqdm" and name in ("tqdm", "trange", "tqdm_notebook"):
            return Bar if name != "trange" else lambda *args, **kwargs: Bar(range(*args))
        return get_ipython if name == "get_ipython" else Swallow()


_StandIn.__name__ = "module"
Swallow.__name__ = Bar.__name__ = "stand-in for a plot or a progress bar"
"""What Python's own messages call it: `can only concatenate str (not "stand-in for …") to str`."""


class Loader(importlib.abc.Loader):
    """Makes a stand-in for whichever module is asked for."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def spec_of(fullname: str) -> importlib.machinery.ModuleSpec | None:
    """The spec of a module's stand-in, a package, so that it may have modules of any name; None if it has none."""
    if not stands_in_for(fullname):
        return None
    return importlib.machinery.ModuleSpec(fullname, Loader(), is_package=True)


class Shell(Swallow):
    """What runs magics, in a notebook that was saved as a Python file; most of them do nothing here."""

    def run_cell_magic(self, magic: str, line: str, cell: str) -> Any:
        """Run a cell as if the magic were not there, where Jupyter does so; else it swallows it."""
        if magic in RUN_THE_BODY:
            _run(cell, sys._getframe(1))
        return Swallow()

    def run_line_magic(self, magic: str, line: str, *args: Any) -> Any:
        """The same for a line, as `%time grads = backward(c)`."""
        if magic in RUN_THE_BODY and line:
            _run(line, sys._getframe(1))
        return Swallow()


Shell.__name__ = "stand-in for IPython"


def _run(source: str, caller: FrameType) -> None:
    from autograder.worker.execution import parsed

    exec(compile(parsed(source), caller.f_code.co_filename, "exec", dont_inherit=True), caller.f_globals)


def get_ipython() -> Any:
    """What a notebook calls for its magics."""
    return Shell()


def display(*args: Any, **kwargs: Any) -> None:
    """What shows values in a notebook."""


def no_input(prompt: object = "") -> NoReturn:
    """In the place of `input`: nobody is there to answer."""
    raise EOFError("nobody answers input() when this is graded; write the value into the code")


def in_a_notebook() -> dict[str, Callable[..., Any]]:
    """The names that a notebook finds defined, and what asks its reader."""
    return {"get_ipython": get_ipython, "display": display, "input": no_input}
