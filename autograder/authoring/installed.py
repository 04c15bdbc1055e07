"""What is installed here, for hashes of what was made or judged with it."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from functools import cache


@cache
def installed() -> str:
    """The interpreter, the machine, and every installed package with its version, one a line."""
    packages = sorted(f"{one.name} {one.version}" for one in importlib.metadata.distributions())
    return "\n".join([sys.version, platform.platform(), *packages])
