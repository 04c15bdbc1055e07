"""Keeps submissions from running their own machine code: `ctypes`, `cffi`, and loaders of extension modules.

No lesson needs it. With it a submission could run code without an audit event (`PyEval_EvalCode`) and overwrite the
guard's memory. So workers with PyTorch refuse it; in the others no calls are forbidden. Packages that import `ctypes`
get a module with only its number types.
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
"""Modules that can run arbitrary machine code, or read and write any memory."""
REFUSED_INSIDE = ("torch.distributed.tensor.parallel", "torch.distributed.fsdp", "torch.distributed.pipelining")
"""Modules that no lesson needs: they have losses, layers and clipping of their own."""
_OF_CTYPES = ("ctypes", "_ctypes")


class Loader(importlib.abc.Loader):
    """Makes a `ctypes` for packages, in which only the number types and `sizeof` can be called."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Numbers(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(_NUMBERS)
        module.find_library = lambda name: None  # type: ignore[attr-defined]


class _Numbers(ModuleType):
    """The `ctypes` that packages get: every name exists, but only the number types work."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Refused()


class _Refused:
    """Any other name of `ctypes`: it can be imported and be a base class; a call raises `ImportError`."""

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ImportError("ctypes is not among the packages that are allowed here")


_NUMBERS: dict[str, Any] = {}


def hide_ctypes(finder: Any) -> None:
    """Remove `ctypes` from all imported modules except our own, which still need it.

    From now on `finder`, an `AllowedImports`, refuses it to submissions and gives packages the one that `Loader` makes.
    """
    finder.refused, finder.refused_inside, finder.harmless = REFUSED, REFUSED_INSIDE, Loader()
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
            _remove_ctypes(module, numbers)


def refuse() -> None:
    """After `hide_ctypes`: remove `ctypes` from our own modules, too, and refuse extension modules by an audit hook.

    Call it in the submission's process, when our code needs `ctypes` no longer.
    """
    if not _NUMBERS:
        return
    for name in [name for name in sys.modules if name.startswith("autograder.")]:
        _remove_ctypes(sys.modules[name], None)
    sys.addaudithook(_refusing(os.path.realpath(os.getcwd())))


def _remove_ctypes(module: ModuleType, instead: ModuleType | None) -> None:
    space = vars(module)
    for key, value in list(space.items()):
        if issubclass(type(value), ModuleType):  # `isinstance` reads `__class__`, at which a deprecated name warns
            if value.__name__.partition(".")[0] in _OF_CTYPES and value is not instead:
                space[key] = instead
        elif type(value).__module__ in _OF_CTYPES or _is_of_ctypes(value):
            del space[key]


def _is_of_ctypes(value: Any) -> bool:
    """Whether a value is a class or function of `ctypes` other than a number type."""
    if not issubclass(type(value), type | FunctionType | BuiltinFunctionType):
        return False
    return value.__module__ in _OF_CTYPES and _NUMBERS.get(value.__name__) is not value


def _refusing(scratch: str) -> Callable[[str, tuple[Any, ...]], None]:
    realpath, events, refused = os.path.realpath, ("ctypes.", "cffi."), REFUSED  # locals, which no cell can replace

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "builtins.id" or event == "sys._getframe":  # by far the most frequent
            return
        if event.startswith(events):
            raise RuntimeError(f"machine code of one's own is not run here ({event})")
        if event == "import" and type(arguments[1]) is str:  # an extension module with its file
            root = str(arguments[0]).rpartition(".")[2]
            if root in refused or realpath(arguments[1]).startswith(scratch):
                raise ImportError(f"{root} is not among the packages that are allowed here")

    return audit
