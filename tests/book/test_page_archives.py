"""Archives for a page's Python: shortened sources behave as before, and a judge finds all of its imports."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from autograder.answerbook import AnswerBook, StaleBook
from autograder.answerbook.book import checks_of
from autograder.page.needs import imports
from autograder.places import Places
from course.syllabus import find_lesson, read_syllabus, syllabus

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
assert not [name for name in sys.modules if name.endswith("own_code")], "what only repairs need is imported later"
import autograder.page.repair
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


def test_what_a_first_check_fetches_is_counted(archives: ModuleType) -> None:
    sizes = {"python": 9, "grader": 1000, "data": 200, "ch1": 30, "ch1/f": 4, "ch7": 50, "ch7/T.g": 6}
    assert archives.before_a_verdict(sizes, ["ch7/T.g"]) == {"ch1/f": 1034, "ch7/T.g": 1256}
    assert archives.before_a_verdict(sizes, ["ch7/h"]) == {"ch1/f": 1034, "ch7/T.g": 1056}


def test_the_build_refuses_an_exercise_that_weighs_too_much(
    archives: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    import page_runtime  # type: ignore[import-not-found]

    monkeypatch.setenv("CI", "1")
    page_runtime._hold_to_budget({"ch1/f": 400_000, "ch1/g": 3})
    with pytest.raises(page_runtime.ExtensionError, match=r"^the first check of ch1/f fetches 400,001 bytes"):
        page_runtime._hold_to_budget({"ch1/f": 400_001, "ch1/g": 3})


def test_what_the_built_book_fetches_for_a_first_check_is_within_the_budget(
    archives: ModuleType, live_book: Path
) -> None:
    page = live_book / "_static" / "page"
    manifest = json.loads((page / "manifest.json").read_text(encoding="utf-8"))
    parts = [part for part in manifest["sizes"] if part not in ("python", "numpy")]
    there = {part: (page / archives.file_of(part)).stat().st_size for part in parts}
    assert there == {part: manifest["sizes"][part] for part in parts}
    found = archives.before_a_verdict(there, manifest["data"])
    asked = [f"{slug}/{one.name}" for slug, lesson in syllabus().items() if slug in parts for one in lesson.exercises]
    assert set(asked) == set(found)
    assert {part: size for part, size in found.items() if size > archives.MOST_BYTES} == {}


@pytest.mark.slow
def test_the_judge_finds_all_that_it_imports(archives: ModuleType, tmp_path: Path) -> None:
    """Only the archives and NumPy are importable."""
    for content in (archives.common(ROOT, [LESSON]), archives.repairs(ROOT)):
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
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


@pytest.mark.slow
def test_only_grading_and_the_choice_of_an_isolation_import_what_is_left_out(archives: ModuleType) -> None:
    """A page does neither: it checks answers in one process."""
    left_out = {f"autograder.{name.replace('/', '.')}" for name in (*archives.NO_PROCESSES, *archives.REPAIRS)}
    importing = set()
    with tarfile.open(fileobj=io.BytesIO(archives.common(ROOT, [LESSON]))) as archive:
        for name in archive.getnames():
            if name.startswith("autograder/") and name.endswith(".py"):
                file = archive.extractfile(name)
                assert file is not None
                for module, names in imports(file.read().decode()):
                    if left_out & {module, *(f"{module}.{one}" for one in names)}:
                        importing.add(name)
    assert importing == {"autograder/isolation/choice.py", "autograder/judging/session.py"}


def test_what_is_left_out_of_pytest_is_there_to_be_left_out(archives: ModuleType) -> None:
    files = set(archives._package("_pytest"))
    assert {f"_pytest/{name}.py" for name in archives.NOT_ASKED_FOR} <= files


def test_a_page_has_its_lessons_alone_and_the_digits_where_they_are_named(archives: ModuleType, tmp_path: Path) -> None:
    few = archives._only((ROOT / "course" / "syllabus.toml").read_text(encoding="utf-8"), [LESSON, "ch06_vjps"])
    (tmp_path / "syllabus.toml").write_text(few, encoding="utf-8")
    assert read_syllabus(tmp_path / "syllabus.toml") == {slug: find_lesson(slug) for slug in (LESSON, "ch06_vjps")}
    assert archives.with_data(ROOT, "ch07_mlp_backprop") == ["ch07_mlp_backprop/train"]
    assert archives.with_data(ROOT, "ch05_autograd_engine") == ["ch05_autograd_engine/train_digits"]
    assert archives.with_data(ROOT, "ch06_vjps") == []
    with tarfile.open(fileobj=io.BytesIO(archives.data(ROOT))) as archive:
        assert "course/data/digits_train.npz" in archive.getnames()


def test_no_archive_is_made_of_a_stale_answer_book(archives: ModuleType, tmp_path: Path) -> None:
    """A page with an answer book made from older checks would reject right answers."""
    places = Places(tmp_path)
    check = places.checks(LESSON) / "forward.py"
    check.parent.mkdir(parents=True)
    check.write_text("# one\n")
    made = AnswerBook(LESSON, "1", right={"forward": {}}, checks=checks_of(places, LESSON))
    places.answer_book(LESSON).write_bytes(made.to_bytes())
    _, parts = archives.of_lesson(tmp_path, LESSON)
    assert AnswerBook.from_bytes(parts["forward"]).checks == made.checks
    check.write_text("# another\n")
    with pytest.raises(StaleBook, match="its checks are not those that its answers were made of"):
        archives.of_lesson(tmp_path, LESSON)
