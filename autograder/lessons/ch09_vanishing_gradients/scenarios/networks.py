"""Networks that the submission makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def _backward() -> Iterator[None]:
    """Wrap a backward pass, and explain PyTorch's error about tensors that were overwritten."""
    try:
        yield
    except RuntimeError as error:
        if "inplace operation" not in str(error):
            raise
        raise RuntimeError(
            "`x += ...` (or another write in place) in forward writes over the x that backward needs; write x = x + ..."
        ) from None


def _of(model: Any, kind: type) -> list[Any]:
    return [module for module in model.modules() if isinstance(module, kind)]
