"""What a page's Python unpacks: shortened sources do what they did, and a judge finds all that it imports."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from course.syllabus import find_lesson, read_syllabus

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
LESSON = "ch01_computation_graph"
LONG = b'''"""A module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import colours
from colours.bright import red

if TYPE_CHECKING:
    from nowhere import Nothing


@dataclass
class Point:
    """Two numbers."""

    x: int
    y: int = 0


@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x: Nothing, *rest: Nothing, **more: Nothing) -> Nothing:
    """Give it back."""
    # as it is
    return x


def g() -> None:
    """Do nothing."""
'''
PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:3]
import autograder.page.check, autograder.page.live, pytest
from autograder.collection import UNUSED_PLUGINS

class Explanation:
    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            print(report.outcome, report.longreprtext.splitlines()[-1:])

options = [*(f"-pno:{plugin}" for plugin in UNUSED_PLUGINS), "--noconftest", "--assert=plain", "--capture=no"]
pytest.main([*options, "--import-mode=importlib", sys.argv[3]], plugins=[Explanation()])
"""
CHECKS = """
import pytest

@pytest.fixture
def two():
    return 2

@pytest.mark.parametrize("n", [2, 3])
def test_n(n, two):
    if n != two:
        raise ValueError("another number")
"""


@pytest.fixture
def archives(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    import page_archives  # type: ignore[import-not-found]

    return page_archives


def test_a_shortened_module_does_what_it_did(archives: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    text = archives.short(LONG, ("colours",)).decode()
    for gone in ('"""', "# as", "@overload", "Nothing", "colours", "-> "):
        assert gone not in text, gone
    made = ModuleType("made")
    monkeypatch.setitem(sys.modules, "made", made)
    exec(text, vars(made))
    assert (made.f(3), made.g()) == (3, None)
    assert made.Point(1) == made.Point(1, 0)


def test_a_lazy_package_imports_what_is_asked_for(archives: ModuleType) -> None:
    made = ModuleType("made")
    exec(
        archives.lazy(b"from __future__ import annotations\nfrom json import dumps as text\nfrom no import one\n"),
        vars(made),
    )
    assert made.text([1]) == "[1]"
    with pytest.raises(ImportError):
        _ = made.one
    with pytest.raises(AttributeError, match="'made' has no attribute 'other'"):
        _ = made.other


def test_the_judge_finds_all_that_it_imports(archives: ModuleType, tmp_path: Path) -> None:
    """With the archive and NumPy alone."""
    with tarfile.open(fileobj=io.BytesIO(archives.common(ROOT, [LESSON]))) as archive:
        archive.extractall(tmp_path / "course", filter="data")
    found = find_spec("numpy")
    assert found is not None
    assert found.origin is not None
    packages = Path(found.origin).parents[1]
    (tmp_path / "numpy").mkdir()
    for name in ("numpy", "numpy.libs"):
        (tmp_path / "numpy" / name).symlink_to(packages / name)
    (tmp_path / "test_n.py").write_text(CHECKS)
    command = [
        sys.executable,
        "-S",
        "-P",
        "-c",
        PROGRAM,
        *(str(tmp_path / name) for name in ("course", "numpy", "test_n.py")),
    ]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "passed []" in run.stdout, run.stdout + run.stderr
    assert "failed ['" in run.stdout
    assert run.returncode == 0, run.stderr


def test_what_is_left_out_of_pytest_is_there_to_be_left_out(archives: ModuleType) -> None:
    files = set(archives._package("_pytest"))
    assert {f"_pytest/{name}.py" for name in archives.NOT_ASKED_FOR} <= files


def test_a_page_has_its_lessons_alone_and_the_digits_where_they_are_named(archives: ModuleType, tmp_path: Path) -> None:
    few = archives._only((ROOT / "course" / "syllabus.toml").read_text(encoding="utf-8"), [LESSON, "ch06_vjps"])
    (tmp_path / "syllabus.toml").write_text(few, encoding="utf-8")
    assert read_syllabus(tmp_path / "syllabus.toml") == {slug: find_lesson(slug) for slug in (LESSON, "ch06_vjps")}
    assert archives.needs_data(ROOT, "ch07_mlp_backprop")
    assert not archives.needs_data(ROOT, "ch06_vjps")
    with tarfile.open(fileobj=io.BytesIO(archives.data(ROOT))) as archive:
        assert "course/data/digits_train.npz" in archive.getnames()
