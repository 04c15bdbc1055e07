"""Keeps submissions from using TorchScript, `torch.compile` and custom kernels, which run below Python.

No lesson needs them, and the guard cannot see into them: TorchScript calls forbidden functions past their gates, the
compiler replaces frames without an audit event, and a kernel registered over PyTorch's sees every operation of a
gradient, or removes the guard's own kernel. `refuse_compilers` therefore closes every function of `torch._C` whose
signature mentions a program or a kernel, before the first submission.

`torch.jit.script` and `torch.jit.trace` return their argument, as they do when TorchScript is switched off.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from autograder.worker.calls import ForbiddenCall
from autograder.worker.kernels import Kernels, all_operations

TYPES = "Graph", "CompilationUnit", "ScriptModule", "ScriptFunction", "ScriptMethod", "LiteScriptModule"
KERNEL = "_SafeKernelFunction"
OF_PROGRAMS = re.compile(rf"\btorch\._C\.(?:{'|'.join(TYPES)}|{KERNEL}|_jit_tree_views\.\w+)\b|torch::jit::")
"""Matches the signature of a function that makes, loads, changes or runs a program, or returns a kernel. PyTorch's
extension module writes the signature into each docstring."""
MODULES = ("_te", "_aoti", "_nativert", "_export", "_distributed_autograd", "_distributed_rpc")
"""Modules of `torch._C` that contain nothing but compilers, loaders, and engines of other processes."""
COMPILED = "ScriptFunction", "__call__"
"""Stays open: only PyTorch's own compiled functions exist by then."""
TAKEN = frozenset({"aten", "_", ""})
"""Namespaces of PyTorch's operations, and of kernels for all operations."""


def refuse_compilers() -> None:
    """Close all compilers, loaders and kernel registrations in this process.

    Functions that PyTorch has compiled for itself keep working.
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
    torch._C._dispatch_library = _own_namespaces_only(torch._C._dispatch_library)


def compile_its_own() -> None:
    """Have PyTorch compile and register what it needs on the first use of forward mode and of `vmap`, and list it.

    This takes a third of a second. Done before the processes are forked, it is done once for all of them.
    """
    torch = sys.modules["torch"]
    one, forward = torch.ones(1), torch.autograd.forward_ad
    with forward.dual_level():
        forward.make_dual(one, one)
    torch.func.vmap(torch.neg)(one)
    all_operations()


def speaks_of_programs(value: Any) -> bool:
    """Whether a function or property of PyTorch's extension module takes or returns a program or a kernel."""
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
    """Allow only the call that switches the compiler off, which PyTorch's own functions make."""

    def only_off(callback: Any) -> Any:
        if callback is not None:
            _refuse("torch.compile")
        return set_eval_frame(None)

    return only_off


def _own_namespaces_only(library: Callable[..., Any]) -> Callable[..., Any]:
    """Allow kernels for a submission's own operations; only `Kernels` may register any for PyTorch's."""
    taken, ours, frame = TAKEN, Kernels.refuse_only.__code__, sys._getframe

    def checked(kind: str, name: str, *args: Any, **kwargs: Any) -> Any:
        if name in taken and frame(2).f_code is not ours:
            _refuse(f"a kernel for operations of {name}")
        return library(kind, name, *args, **kwargs)

    return checked
