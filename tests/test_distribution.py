"""Advice on installing more of the course depends on how it was installed."""

from __future__ import annotations

import importlib.metadata
import json
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from autograder import distribution
from autograder.distribution import how_to_install_extra
from autograder.places import ROOT
from course.version import RELEASE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A course unpacked into some folder."""
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "pyproject.toml").touch()
    return tmp_path / "course"


def came_from(monkeypatch: pytest.MonkeyPatch, **origin: Any) -> None:
    text = json.dumps(origin) if origin else None
    monkeypatch.setattr(distribution, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))


def test_from_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    came_from(monkeypatch)
    assert how_to_install_extra("notebook") == "pip install 'backprop-course[notebook]'"


@pytest.mark.parametrize(("editable", "option"), [(False, ""), (True, "-e ")])
def test_from_a_folder(monkeypatch: pytest.MonkeyPatch, folder: Path, editable: bool, option: str) -> None:
    """`pip install 'backprop-course[notebook]'` would fail, because the course is on no index."""
    came_from(monkeypatch, url=folder.as_uri(), dir_info={"editable": True} if editable else {})
    assert how_to_install_extra("notebook") == f"pip install {option}'{folder}[notebook]'"
    monkeypatch.chdir(folder)
    assert how_to_install_extra("notebook") == f"pip install {option}'.[notebook]'"


def test_from_a_repository_or_a_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    came_from(monkeypatch, url="https://example.org/course.git", vcs_info={"vcs": "git", "commit_id": "0"})
    assert how_to_install_extra("grade") == "pip install 'backprop-course[grade] @ git+https://example.org/course.git'"
    came_from(monkeypatch, url="file:///no/such/course.whl", archive_info={})
    assert how_to_install_extra("grade") == "pip install 'backprop-course[grade] @ file:///no/such/course.whl'"


def test_a_deleted_folder_and_an_unreadable_record(monkeypatch: pytest.MonkeyPatch) -> None:
    came_from(monkeypatch, url="file:///no/such/folder", dir_info={})
    assert how_to_install_extra("notebook") == "pip install 'backprop-course[notebook]'"
    monkeypatch.setattr(distribution, "distribution", lambda _: SimpleNamespace(read_text=lambda _: "[]"))
    assert how_to_install_extra("notebook") == "pip install 'backprop-course[notebook]'"


def test_not_installed_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        raise PackageNotFoundError

    monkeypatch.setattr(distribution, "distribution", nothing)
    assert how_to_install_extra("notebook").endswith("[notebook]'")
    assert "backprop-course" not in how_to_install_extra("notebook")


def test_start_says_what_installs_jupyterlab_here(
    monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path
) -> None:
    came_from(monkeypatch, url=folder.as_uri(), dir_info={})
    start = import_module("autograder.commands.start")
    monkeypatch.setattr(start, "find_spec", lambda name: None)
    said = list(start._next_steps(tmp_path, "ipynb", ["ch01_computation_graph"]))
    assert f"  pip install '{folder}[notebook]' && jupyter lab" in said


def test_the_version_needs_no_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formerly, without an installation (zip, page, folder on PYTHONPATH), every student of a class had 0 points."""
    from autograder.commands import _say_version
    from autograder.judging import version

    def nothing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", nothing)
    version._grader_version.cache_clear()
    assert version.grader_version("ch06_vjps").startswith(f"{RELEASE}+")
    with pytest.raises(typer.Exit):
        _say_version(True)
    reads = [
        file.relative_to(ROOT).as_posix()
        for part in ("autograder", "course")
        for file in (ROOT / part).rglob("*.py")
        if "importlib.metadata" in file.read_text(encoding="utf-8")
    ]
    others = ["autograder/authoring/state.py", "autograder/isolation/packages.py"]
    assert sorted(reads) == sorted([*others, "autograder/distribution.py"]), (
        "packages of others, and where this one came from"
    )
