"""Hashes of what something was made or judged with, so that it is kept until one of these changes."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from autograder.places import ROOT

RUN = ("autograder", "course", "solutions", "exercises", "pyproject.toml", "constraints.txt")
"""Parts of this repository that any command or cell may run, read or release."""


@cache
def installed() -> str:
    """The interpreter, the machine, and every installed package with its version, one a line."""
    # setuptools, which PyTorch imports, puts a folder with copies of packages on the path: nothing of ours sees them
    path = [folder for folder in sys.path if Path(folder).name != "_vendor"]
    packages = sorted(f"{one.name} {one.version}" for one in importlib.metadata.distributions(path=path))
    return "\n".join([sys.version, platform.platform(), *packages])


def state_of(*parts: str, root: Path = ROOT, more: str = "") -> str:
    """A hash of files and folders below `root`, of `more`, and of what is installed; answer books do not count."""
    found = hashlib.sha256(f"{installed()}\n{more}".encode())
    for file in sorted(_files(root / part for part in parts)):
        found.update(f"\n{file.relative_to(root).as_posix()} ".encode() + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:16]


def _files(parts: Iterable[Path]) -> Iterator[Path]:
    for part in parts:
        for file in [part] if part.is_file() else part.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".book":
                yield file
