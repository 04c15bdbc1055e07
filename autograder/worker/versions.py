"""Counts the changes of a namespace, in a number that no Python code can set back.

CPython gives a dictionary a new version at each change, and none twice. So a patch is found even if it was undone.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from ctypes import c_uint64
from types import MappingProxyType
from typing import Any

_OFFSET = 24
"""Of `ma_version_tag` in CPython's `PyDictObject`: behind the reference count, the type and the number of entries."""
_SUPPORTED = sys.implementation.name == "cpython" and sys.version_info < (3, 14) and sys.maxsize > 2**32
"""CPython 3.14 has no versions, and 32-bit builds (Pyodide's) have them elsewhere."""


def version_counter(spaces: list[Mapping[str, Any]]) -> Callable[[], list[int]]:
    """Return a function that gives the versions of modules' and classes' namespaces; all 0 where there are none.

    The caller keeps the namespaces alive.
    """
    if not _SUPPORTED:
        return lambda: [0] * len(spaces)
    views = [
        memoryview(c_uint64.from_address(id(_dictionary(space)) + _OFFSET)).cast("B").cast("Q") for space in spaces
    ]
    return lambda: [view[0] for view in views]


def _dictionary(space: Mapping[str, Any]) -> Any:
    """The dictionary itself; `vars(cls)` is a view of it."""
    return gc.get_referents(space)[0] if isinstance(space, MappingProxyType) else space
