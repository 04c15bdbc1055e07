"""Stand-ins for packages that exercises do not need, such as plots and progress bars: they accept any use.

So a cell does not fail because of a plot. They exist only in the worker, and checks never compare one.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, ModuleType
from typing import Any, NoReturn

NAMES = frozenset({"IPython", "google.colab", "ipywidgets", "matplotlib", "mpl_toolkits", "plotly", "seaborn", "tqdm"})
"""Packages that get a stand-in unless the lesson allows the real one."""


RUN_THE_BODY = frozenset({"capture", "debug", "prun", "time"})
"""Copied from `autograder.magics`, which workers cannot read."""


def stands_in_for(fullname: str) -> bool:
    """Whether a module is one of `NAMES`, inside one, or a parent of one."""
    parts = fullname.split(".")
    return fullname == "google" or any(".".join(parts[: i + 1]) in NAMES for i in range(len(parts)))


class Swallow:
    """Accepts whatever is done to it: a call, an index and an attribute give another `Swallow`, unpacking gives two."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Swallow()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Swallow()

    def __getitem__(self, key: Any) -> Any:
        return Swallow()

    def __setitem__(self, key: Any, value: Any) -> None:
        """Ignore it, as in `plt.rcParams[key] = value`."""

    def __iter__(self) -> Iterator[Any]:
        return iter((Swallow(), Swallow()))  # fig, ax = plt.subplots()

    def __enter__(self) -> Swallow:
        return self

    def __exit__(self, *error: object) -> None:
        """Let exceptions pass."""

    def __repr__(self) -> str:
        return "<stand-in>"


class Bar(Swallow):
    """A progress bar that shows nothing and yields the items of its iterable."""

    def __init__(self, iterable: Iterable[Any] = (), *args: Any, **kwargs: Any) -> None:
        self._iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def __len__(self) -> int:
        return len(self._iterable)  # type: ignore[arg-type]


class _StandIn(ModuleType):
    """A module in which every name exists."""

    __all__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__.partition(".")[0] == "tqdm" and name in ("tqdm", "trange", "tqdm_notebook"):
            return Bar if name != "trange" else lambda *args, **kwargs: Bar(range(*args))
        return get_ipython if name == "get_ipython" else Swallow()


_StandIn.__name__ = "module"
Swallow.__name__ = Bar.__name__ = "stand-in for a plot or a progress bar"
"""The class name appears in Python's own messages: `can only concatenate str (not "stand-in for …") to str`."""


class Loader(importlib.abc.Loader):
    """Makes a stand-in for any module."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def spec_of(fullname: str) -> importlib.machinery.ModuleSpec | None:
    """The spec of a module's stand-in, or None. It is a package, so that any submodule can be imported."""
    if not stands_in_for(fullname):
        return None
    return importlib.machinery.ModuleSpec(fullname, Loader(), is_package=True)


class Shell(Swallow):
    """IPython's shell in a notebook saved as a Python file; most magics do nothing here."""

    def run_cell_magic(self, magic: str, line: str, cell: str) -> Any:
        """Run the cell without its magic if Jupyter would run it too, else ignore it."""
        if magic in RUN_THE_BODY:
            _run(cell, sys._getframe(1))
        return Swallow()

    def run_line_magic(self, magic: str, line: str, *args: Any) -> Any:
        """Run the rest of a line such as `%time grads = backward(c)` if Jupyter would run it too, else ignore it."""
        if magic in RUN_THE_BODY and line:
            _run(line, sys._getframe(1))
        return Swallow()


Shell.__name__ = "stand-in for IPython"


def _run(source: str, caller: FrameType) -> None:
    from autograder.worker.execution import parsed

    exec(compile(parsed(source), caller.f_code.co_filename, "exec", dont_inherit=True), caller.f_globals)


def get_ipython() -> Any:
    """Replaces IPython's function, through which a notebook runs magics."""
    return Shell()


def display(*args: Any, **kwargs: Any) -> None:
    """Replaces IPython's function, which shows values."""


def no_input(prompt: object = "") -> NoReturn:
    """Replaces `input`, which nobody would answer."""
    raise EOFError("nobody answers input() when this is graded; write the value into the code")


def in_a_notebook() -> dict[str, Callable[..., Any]]:
    """The names that Jupyter defines in a notebook, and a replacement of `input`."""
    return {"get_ipython": get_ipython, "display": display, "input": no_input}
