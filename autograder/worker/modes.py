"""What a call leaves switched on in PyTorch is switched off after it: the next call starts from what it is owed.

A block that is entered and never left, hooks on saved tensors for one, would go on for all that this thread computes:
other exercises of a submission, and in the judge, where known mistakes are run, references. So would a default dtype or
device: each call begins with PyTorch's own, whatever a cell has set, for what scenarios make relies on that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def left_as_found() -> Iterator[None]:
    """Put this thread's gradient mode, anomaly mode, hooks on saved tensors and modes of dispatch back at the end.

    The default dtype is float32, and the default device the CPU, at the beginning and at the end.
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
    """PyTorch, where it has been imported whole."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and "torch.autograd.graph" in sys.modules else None


def _with_float32_on_the_cpu(torch: Any) -> None:
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    if torch._C._len_torch_function_stack() and torch.get_default_device().type != "cpu":
        torch.set_default_device(None)
        while torch.get_default_device().type != "cpu":  # `with torch.device("meta")`, entered and never left
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
    """The innermost hooks on saved tensors that are on; None without."""
    return torch._C._autograd._top_saved_tensors_default_hooks(False)
