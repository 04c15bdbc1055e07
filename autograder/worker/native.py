"""Keeps submissions from running their own machine code: `ctypes`, `cffi`, and loaders of extension modules.

No lesson needs it. With it a submission would run code that no audit event tells of (`PyEval_EvalCode`), and write into
the memory of what watches it. So it is refused in workers that have PyTorch, where calls are forbidden; in others
there is none to forbid. Packages that ask for `ctypes` find its types for numbers.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from autograder.worker.compilers import refuse_compilers
from autograder.worker.nodes import call_through_python

REFUSED = frozenset({"ctypes", "_ctypes", "cffi", "_cffi_backend", "_testcapi", "_testinternalcapi"})
"""Packages and modules that can run arbitrary machine code, or read and write any memory."""
_OF_CTYPES = ("ctypes", "_ctypes")


class Loader(importlib.abc.Loader):
    """Makes a `ctypes` for packages, in which nothing can be called but types for numbers, and `sizeof`."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Numbers(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(_NUMBERS)
        module.find_library = lambda name: None  # type: ignore[attr-defined]


class _Numbers(ModuleType):
    """What packages find under the name of `ctypes`: all of its names, and only types for numbers do anything."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Refused()


class _Refused:
    """Can be imported, be a base, and nothing else."""

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ImportError("ctypes is not among the packages that are allowed here")


_NUMBERS: dict[str, Any] = {}


def put_away(finder: Any) -> None:
    """Take `ctypes` out of all modules that are imported, but for our own, which still need it; after its last use.

    From now on `finder`, an `AllowedImports`, refuses it to submissions, and packages get a `Loader`'s.
    """
    finder.refused, finder.harmless = REFUSED, Loader()
    real = sys.modules["ctypes"]
    call_through_python(real)
    refuse_compilers()
    _NUMBERS.update({key: value for key, value in vars(real).items() if key.startswith("c_") or key == "sizeof"})
    for name in [name for name in sys.modules if name.partition(".")[0] in REFUSED]:
        del sys.modules[name]
    numbers = _Numbers("ctypes")
    vars(numbers).update(_NUMBERS)
    for name, module in list(sys.modules.items()):
        if not name.startswith("autograder.") and isinstance(module, ModuleType):
            _take_out_of(module, numbers)


def refuse() -> None:
    """Where it was put away: take it out of our own modules, too, and refuse other ways to machine code.

    In the submission's process, when nothing of ours needs it any more. Python's audit events tell of it.
    """
    if not _NUMBERS:
        return
    for name in [name for name in sys.modules if name.startswith("autograder.")]:
        _take_out_of(sys.modules[name], None)
    sys.addaudithook(_refusing(os.path.realpath(os.getcwd())))


def _take_out_of(module: ModuleType, instead: ModuleType | None) -> None:
    space = vars(module)
    for key, value in list(space.items()):
        if issubclass(type(value), ModuleType):  # asked of itself, a deprecated name warns
            if value.__name__.partition(".")[0] in _OF_CTYPES and value is not instead:
                space[key] = instead
        elif type(value).__module__ in _OF_CTYPES or _is_of_ctypes(value):
            del space[key]


def _is_of_ctypes(value: Any) -> bool:
    """Whether it is a class or a function of `ctypes`, other than a type for numbers."""
    if not issubclass(type(value), type | FunctionType | BuiltinFunctionType):
        return False
    return value.__module__ in _OF_CTYPES and _NUMBERS.get(value.__name__) is not value


def _refusing(scratch: str) -> Callable[[str, tuple[Any, ...]], None]:
    realpath, events, refused = os.path.realpath, ("ctypes.", "cffi."), REFUSED  # a cell may replace these

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "builtins.id" or event == "sys._getframe":  # by far the most
            return
        if event.startswith(events):
            raise RuntimeError(f"machine code of one's own is not run here ({event})")
        if event == "import" and type(arguments[1]) is str:  # an extension module, and its file
            root = str(arguments[0]).rpartition(".")[2]
            if root in refused or realpath(arguments[1]).startswith(scratch):
                raise ImportError(f"{root} is not among the packages that are allowed here")

    return audit
