"""Nothing is left behind by a group, after any test of one."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After each test: no process, thread, connection, open file or temporary file that was not there before."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    this = psutil.Process()
    before, children = _there(this), set(this.children(recursive=True))  # workers of other tests, maybe
    yield
    assert set(this.children(recursive=True)) <= children
    assert list(tmp_path.iterdir()) == []
    for thread in set(threading.enumerate()) - before["threads"]:
        thread.join(10)  # one that was left to itself, at the end of its patience
    for kind, there in _there(this).items():  # what was there before may end meanwhile
        assert there <= before[kind], kind


def _there(process: psutil.Process) -> dict[str, Any]:
    return {
        "open files": process.num_fds(),
        "threads": set(threading.enumerate()),
        "connections": set(process.net_connections()),
    }
