"""Results of a hostile class, which no report may change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hostile_results import NAMES, a_result, unreadable, write


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a class whose learners mean no good."""
    folder = tmp_path_factory.mktemp("hostile") / "results"
    write(folder, *(a_result(name, file='x"><svg onload=alert(1)>.py') for name in NAMES), unreadable(NAMES[0]))
    return folder


@pytest.fixture
def bytes_before(hostile: Path) -> Any:
    """Whatever is reported, the grader's files stay as they are."""

    def content() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in sorted(hostile.rglob("*.json")) if "__reports__" not in file.parts}

    before = content()
    yield before
    assert content() == before
