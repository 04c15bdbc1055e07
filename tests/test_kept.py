"""A class that a module of tests has graded is kept until something that decides it changes, if these tests pass."""

from __future__ import annotations

import os
from pathlib import Path

import kept
import pytest


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The state of the repository, to change."""
    state = ["now"]
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    monkeypatch.setattr(kept, "state_of", lambda *parts, more: f"{state[0]} {more} {parts}")
    return state


def is_whole(request: pytest.FixtureRequest, **options: str) -> bool:
    with kept.kept(request, "tests/unearned", **options) as (folder, whole):
        assert (folder / "result").is_file() == whole
        (folder / "result").touch()
    return whole


def test_nothing_is_made_again_until_something_changes(state: list[str], request: pytest.FixtureRequest) -> None:
    assert [is_whole(request) for _ in range(3)] == [False, True, True]
    assert [is_whole(request, lesson="ch06_vjps") for _ in range(2)] == [False, True]
    state[0] = "then"
    assert [is_whole(request) for _ in range(2)] == [False, True]
    (made,) = kept.FOLDER.glob("test_kept/all/state")
    os.utime(made, (0, 0))
    assert [is_whole(request) for _ in range(2)] == [False, True], "after a week it is made with another salt"


def test_what_fails_is_not_kept(
    state: list[str], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError), kept.kept(request) as _:
        raise AssertionError("in the test itself")
    assert not is_whole(request)
    with kept.kept(request, "tests/unearned") as (_, whole):
        assert whole
        monkeypatch.setattr(request.session, "testsfailed", request.session.testsfailed + 1)
    assert not is_whole(request), "it was whole, but a test of it failed"
