"""Programs that PyTorch would run below Python are out of a submission's reach: TorchScript, `torch.compile`, kernels.

No lesson needs them. In a program that TorchScript reads from a string, a file or a trace, forbidden functions have no
gate; a frame that the compiler replaces runs code of which no audit event tells; a kernel that somebody puts in the
place of PyTorch's sees all operations of a gradient, and one that somebody takes out is not refused any more. So all
ways to them are closed at once, by the types that they speak of, before the first submission.

`torch.jit.script` and `torch.jit.trace` give back what they get, as PyTorch has it where TorchScript is switched off.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from autograder.worker.calls import ForbiddenCall
from autograder.worker.kernels import Kernels

TYPES = "Graph", "CompilationUnit", "ScriptModule", "ScriptFunction", "ScriptMethod", "LiteScriptModule"
KERNEL = "_SafeKernelFunction"
OF_PROGRAMS = re.compile(rf"\btorch\._C\.(?:{'|'.join(TYPES)}|{KERNEL}|_jit_tree_views\.\w+)\b|torch::jit::")
"""Tells what makes, loads, changes or runs a program, or gives a kernel, by the types in its signature: PyTorch's
extension module has these in its docstrings."""
MODULES = ("_te", "_aoti", "_nativert", "_export")
"""Modules of `torch._C` that do nothing else."""
COMPILED = "ScriptFunction", "__call__"
"""Goes on to work: by then only PyTorch has any."""
TAKEN = frozenset({"aten", "_", ""})
"""Namespaces of PyTorch's operations, and of kernels for all operations."""


def refuse_compilers() -> None:
    """Close all ways in this process to programs that PyTorch runs below Python, and to kernels of PyTorch's own.

    What PyTorch has compiled for itself goes on to work.
    """
    torch = sys.modules["torch"]
    compile_its_own()
    torch.jit._state.disable()
    for name, value in list(vars(torch._C).items()):
        if isinstance(value, type) and any(map(speaks_of_programs, vars(value).values())):
            _close(value, f"torch._C.{name}")
        elif not isinstance(value, type) and speaks_of_programs(value):
            setattr(torch._C, name, _refusing(f"torch._C.{name}"))
    for module in MODULES:
        for name, value in list(getattr(getattr(torch._C, module, None), "__dict__", {}).items()):
            told = f"torch._C.{module}.{name}"
            if isinstance(value, type):
                _close(value, told)
            elif callable(value):
                setattr(getattr(torch._C, module), name, _refusing(told))
    frames = torch._C._dynamo.eval_frame
    frames.set_eval_frame = _only_off(frames.set_eval_frame)
    frames._load_precompile_entry = _refusing("torch.compile")
    torch._C._dispatch_library = _of_ones_own(torch._C._dispatch_library)


def compile_its_own() -> None:
    """Have PyTorch compile and register what it does when forward mode and `vmap` are used for the first time.

    It takes a quarter of a second: once, before processes are forked, and not in each of them that uses these.
    """
    torch = sys.modules["torch"]
    one, forward = torch.ones(1), torch.autograd.forward_ad
    with forward.dual_level():
        forward.make_dual(one, one)
    torch.func.vmap(torch.neg)(one)


def speaks_of_programs(value: Any) -> bool:
    """Whether a function or a property of PyTorch's extension module takes or gives a program, or a kernel."""
    said = getattr(value, "__doc__", None)
    return isinstance(said, str) and OF_PROGRAMS.search(said) is not None


def _close(cls: type, told: str) -> None:
    """Refuse all methods and properties of a class."""
    for name, value in list(vars(cls).items()):
        if (name.startswith("__") and name not in ("__init__", "__call__")) or (cls.__name__, name) == COMPILED:
            continue
        refusing = _refusing(f"{told}.{name}")
        if type(value) is property:  # pybind11's static ones are constants
            setattr(cls, name, property(refusing))
        elif callable(value) or isinstance(value, staticmethod):
            setattr(cls, name, refusing)


def _refuse(told: str) -> NoReturn:
    raise ForbiddenCall(f"{told} is not run here, as checks would not see what it computes; write it in Python")


def _refusing(told: str) -> Callable[..., NoReturn]:
    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        _refuse(told)

    return refused


def _only_off(set_eval_frame: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let frames be replaced by nobody: PyTorch's own functions switch that off, and back to how it was."""

    def only_off(callback: Any) -> Any:
        if callback is not None:
            _refuse("torch.compile")
        return set_eval_frame(None)

    return only_off


def _of_ones_own(library: Callable[..., Any]) -> Callable[..., Any]:
    """Let kernels be registered for operations of one's own; for PyTorch's, by `Kernels` alone."""
    taken, ours, frame = TAKEN, Kernels.refuse_only.__code__, sys._getframe

    def of_ones_own(kind: str, name: str, *args: Any, **kwargs: Any) -> Any:
        if name in taken and frame(2).f_code is not ours:
            _refuse(f"a kernel for operations of {name}")
        return library(kind, name, *args, **kwargs)

    return of_ones_own
