"""Restores PyTorch's modes and defaults after each call.

A context manager that is entered and never left (hooks on saved tensors, say) would affect all later code of this
thread: other exercises and, in the judge, which runs known mistakes, the references. The default dtype and device are
also reset before each call, whatever a cell has set, because scenarios rely on them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def left_as_found() -> Iterator[None]:
    """Restore this thread's gradient mode, anomaly mode, saved-tensor hooks and dispatch modes on exit.

    Set the default dtype to float32 and the default device to the CPU on entry and on exit.
    """
    torch = _loaded()
    if torch is not None:
        _with_float32_on_the_cpu(torch)
    before = None if torch is None else _found(torch)
    try:
        yield
    finally:
        torch = _loaded()
        if torch is not None:
            _with_float32_on_the_cpu(torch)
            _put_back(torch, before or (True, False, True, None, 0))


def _loaded() -> Any:
    """PyTorch, if it has been imported completely; else None."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and "torch.autograd.graph" in sys.modules else None


def _with_float32_on_the_cpu(torch: Any) -> None:
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    if torch._C._len_torch_function_stack() and torch.get_default_device().type != "cpu":
        torch.set_default_device(None)
        while torch.get_default_device().type != "cpu":  # `torch.device("meta").__enter__()`, never left
            torch._C._pop_torch_function_stack()


def _found(torch: Any) -> tuple[bool, bool, bool, Any, int]:
    return (
        torch.is_grad_enabled(),
        torch.is_anomaly_enabled(),
        torch.is_anomaly_check_nan_enabled(),
        _hooks(torch),
        torch._C._len_torch_dispatch_stack(),
    )


def _put_back(torch: Any, found: tuple[bool, bool, bool, Any, int]) -> None:
    if _found(torch) == found:
        return
    gradients, anomalies, check_nan, hooks, depth = found
    while _hooks(torch) not in (hooks, None):
        torch._C._autograd._pop_saved_tensors_default_hooks()
    while torch._C._len_torch_dispatch_stack() > depth:
        torch._C._pop_torch_dispatch_stack(None)
    torch.set_grad_enabled(gradients)
    torch.set_anomaly_enabled(anomalies, check_nan)


def _hooks(torch: Any) -> Any:
    """The innermost active hooks on saved tensors; None without any."""
    return torch._C._autograd._top_saved_tensors_default_hooks(False)
