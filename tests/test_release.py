"""`backprop release`: the released course works on its own, and contains no answers."""

from __future__ import annotations

import bz2
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from books import write_books
from copies import copies

from autograder.authoring.release import only_lessons, release
from autograder.authoring.tree import AuthoringError, Course
from autograder.learning.answers import answers
from autograder.learning.solutions import BEGIN, END, own_answers
from autograder.submission import read_submission
from course.syllabus import read_syllabus, syllabus

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SLUG = "ch01_computation_graph"
ALL = f"{syllabus()[SLUG].points:g}"
PARTS = ("autograder", "course", "exercises", "solutions")
LONG = 40
NO_BOOK = bz2.compress(b"")
"""Minimum length of searched lines for all lessons together, because many short lines also occur in the grader."""
EVERYBODYS = {
    ("autograder/lessons/ch07_mlp_backprop/checks/train.py", "shifted = logits - logits.max(axis=1, keepdims=True)"),
    (
        "autograder/lessons/ch11_checkpointing/scenarios/reversible_block.py",
        "parameter.grad = torch.zeros_like(parameter)",
    ),
}
"""Reviewed lines, which are common code and reveal no answer."""
GRADCHECK = "autograder/lessons/ch02_chain_rule/scenarios/gradcheck.py"
LOOKED_AT = {
    (GRADCHECK, "convolution", "ch06/conv2d_vjp"),
    (GRADCHECK, "pooling", "ch06/maxpool2d_vjp"),
    (GRADCHECK, "cross_entropy", "ch07/cross_entropy_loss"),
    ("autograder/lessons/ch03_accumulation/checks/microbatch_gradient.py", "_sum_rows", "ch03/bias_gradient"),
    ("autograder/lessons/ch07_mlp_backprop/checks/train.py", "some_slopes", "ch07/forward"),
}
"""Reviewed functions that resemble an answer but are none: forward passes where backward ones are asked for, without
the shift that keeps exponentials finite; a sum over other axes; and ch07's network, which its contract shows, without
the requested cache."""
LEAST_TELLING = 25
"""Minimum length of a line that identifies its source; shorter lines are common code."""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of one lesson, made from a copy of the course."""
    root = tmp_path_factory.mktemp("course")
    for part in PARTS:
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__", "*.book"))
    (root / "book").mkdir()
    shutil.copy(ROOT / "book" / f"{SLUG}.md", root / "book")
    for file in ROOT.iterdir():
        if file.is_file() and not file.name.startswith("."):
            shutil.copy(file, root)
    write_books(SLUG)
    release(Course.at(root), root / "out.zip", [SLUG], say=lambda line: None)
    with zipfile.ZipFile(root / "out.zip") as archive:
        archive.extractall(root)
    for part in PARTS:
        shutil.rmtree(root / part)
    return root / "out"


@pytest.fixture(scope="module")
def solution() -> str:
    return (ROOT / "solutions" / f"{SLUG}.py").read_text(encoding="utf-8")


def _backprop(released: Path, *arguments: str | Path, at: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The release's own command: its folder comes before what is installed."""
    program = "import autograder, sys; from autograder.commands import run; print(autograder.__file__); run()"
    environment = {**os.environ, "PYTHONPATH": str(released), "COLUMNS": "120", "NO_COLOR": "1"}
    environment.pop("BACKPROP_SALT", None)
    found = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=at or released,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.startswith(str(released)), found.stdout + found.stderr
    return found


def test_a_right_answer_has_all_visible_points(released: Path, solution: str, tmp_path: Path) -> None:
    (tmp_path / f"{SLUG}.py").write_text(solution, encoding="utf-8")
    found = _backprop(released, "check", tmp_path / f"{SLUG}.py")
    assert found.returncode == 0, found.stdout + found.stderr
    assert f"{ALL} of {ALL} points on the visible cases\nHidden cases run when your work is graded." in found.stdout


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("gradients[parent] += gradients", "gradients[parent] = gradients", "+="),
        ("return 1.0\n", "return 0.0\n", "gradient_by_paths"),
    ],
)
def test_a_mistake_is_named(released: Path, solution: str, tmp_path: Path, right: str, wrong: str, says: str) -> None:
    assert right in solution
    (tmp_path / f"{SLUG}.py").write_text(solution.replace(right, wrong), encoding="utf-8")
    found = _backprop(released, "check", tmp_path / f"{SLUG}.py")
    assert found.returncode == 1
    assert says in found.stdout


def test_a_fresh_notebook_is_checked_and_the_next_step_said(released: Path, tmp_path: Path) -> None:
    started = _backprop(released, "start", tmp_path / "my-work")
    assert started.returncode == 0, started.stderr
    found = _backprop(released, "check", tmp_path / "my-work" / f"{SLUG}.ipynb")
    assert f"0 of {ALL} points on the visible cases" in found.stdout
    said = _backprop(released, "solution", "ch01/forward", "--anyway", at=tmp_path / "my-work")
    assert said.stderr == "backprop: this copy of the course comes without model solutions\n"


@pytest.mark.parametrize(
    ("command", "needs"),
    [
        (("grade", "."), "the course with its solutions, which hidden cases are compared with"),
        (("build",), "a checkout of the course, with its book and its tests"),
        (("release", "more"), "a checkout of the course"),
    ],
)
def test_what_needs_solutions_says_so_in_a_line(released: Path, command: tuple[str, ...], needs: str) -> None:
    found = _backprop(released, *command)
    assert found.returncode == 2
    expected = f"backprop: {command[0]} needs {needs}; this copy of the course is one for learners and has none"
    assert " ".join(found.stderr.split()) == expected


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            content = file.read_bytes()
            if file.suffix == ".book":
                content = bz2.decompress(content)
            yield file.relative_to(folder).as_posix(), content.decode("utf-8", "replace")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The texts of a release of all lessons, without chapters, hints and answer books, which take long to write."""
    out = tmp_path_factory.mktemp("whole") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.authoring.release.books_of", lambda _, slugs, **how: dict.fromkeys(slugs, NO_BOOK))
        release(Course.at(), out, say=lambda line: None)
    return _without_what_tells(dict(_texts(out)))


def _without_what_tells(texts: dict[str, str]) -> dict[str, str]:
    """Leave out chapters, which derive the answers on purpose, and last hints, which reveal the method."""
    texts = {name: text for name, text in texts.items() if not name.startswith("book/")}
    hints = re.compile(r"^hints = \[.*?\]$", flags=re.MULTILINE | re.DOTALL)
    return texts | {"course/syllabus.toml": hints.sub("", texts["course/syllabus.toml"])}


def _secret_lines(solution: str) -> list[str]:
    secret, inside = [], False
    for line in solution.splitlines():
        inside = (inside or BEGIN in line) and END not in line
        if inside and not line.strip().startswith(("#", '"""')):
            secret.append(line.strip())
    return secret


def test_no_line_of_a_solution_is_in_it(released: Path, solution: str) -> None:
    """This includes its answer book."""
    secret = [line for line in _secret_lines(solution) if len(line) >= LEAST_TELLING]
    assert len(secret) > 20
    texts = _without_what_tells(dict(_texts(released)))
    assert not [(name, line) for name, text in texts.items() for line in secret if line in text]


def test_no_line_that_tells_is_in_one_of_all_lessons(whole: dict[str, str]) -> None:
    secret = {line for text in _solutions().values() for line in _secret_lines(text) if len(line) >= LONG}
    assert len(secret) > 100
    found = {(name, line) for name, text in whole.items() for line in secret if line in text}
    assert {pair for pair in found if pair not in EVERYBODYS} == set()


def _answers() -> dict[str, tuple[str, str]]:
    """Each exercise's solution, and the stub that is handed out instead."""
    course, found = Course.at(), {}
    for slug, lesson in syllabus().items():
        stubs = answers(read_submission(course.notebook(slug)), lesson)
        for name, code in own_answers(slug, course).items():
            found[f"{slug[:4]}/{name}"] = code, stubs.get(name, "")
    return found


def test_no_function_looks_like_an_answer(whole: dict[str, str]) -> None:
    """Also renamed or sliced: a released instrument used to earn 4 of 4 points, and a helper 3 of 3."""
    python = {name: text for name, text in whole.items() if name.endswith(".py")}
    assert copies(python, _answers()) == LOOKED_AT


def test_copies_are_found_under_other_names_and_in_slices() -> None:
    secret = _answers()
    for name in ("ch09/layer_gradient_norms", "ch10/SavedTensorMeter", "ch06/softmax_vjp", "ch13/hvp"):
        code, _ = secret[name]
        renamed = re.sub(r"\b(module|weights|loss|gradient|storage|tensor|g|x|y|p|v)\b", r"\1_of_theirs", code)
        sliced = renamed.replace(
            "for module_of_theirs in model.modules()", "for module_of_theirs in list(model.modules())[1:-1]"
        )
        found = copies({"course/helper.py": sliced, "course/other.py": "def f(x):\n    return x + 1\n"}, secret)
        assert name in {answer for _, _, answer in found}, name


def _solutions() -> dict[str, str]:
    return {slug: (ROOT / "solutions" / f"{slug}.py").read_text(encoding="utf-8") for slug in syllabus()}


def test_what_authors_have_is_not_in_it(released: Path) -> None:
    names = {name for name, _ in _texts(released)}
    assert not [name for name in names if name.startswith("solutions") or "/mistakes/" in name or "/oracles/" in name]
    assert not [name for name in names if name.startswith("autograder/authoring") or "sample_class" in name]
    assert f"autograder/lessons/{SLUG}/answers.book" in names
    lessons = {"/".join(name.split("/")[2:4]) for name in names if name.startswith("autograder/lessons/ch")}
    assert lessons == {f"{SLUG}/{part}" for part in ("answers.book", "checks", "covering.toml", "scenarios")}
    assert not any(
        line.startswith("why =") for line in (released / "course" / "syllabus.toml").read_text().splitlines()
    )


def test_what_answers_may_import_is_in_it(whole: dict[str, str]) -> None:
    for lesson in syllabus().values():
        for environment in (lesson.environment, *lesson.environments):
            for module in environment.modules:
                place = module.replace(".", "/")
                assert {f"{place}.py", f"{place}/__init__.py"} & set(whole), (lesson.slug, module)
    assert "course/tape/running.py" in whole  # which its package imports


def test_a_syllabus_of_some_lessons_is_one(tmp_path: Path) -> None:
    text = (ROOT / "course" / "syllabus.toml").read_text(encoding="utf-8")
    slugs = list(read_syllabus(ROOT / "course" / "syllabus.toml"))
    (tmp_path / "syllabus.toml").write_text(only_lessons(text, {slugs[5], slugs[0]}), encoding="utf-8")
    assert list(read_syllabus(tmp_path / "syllabus.toml")) == [slugs[0], slugs[5]]


def test_pages_come_without_the_courses_own_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They also do not request them: after a pass, a page's console used to show a 404."""
    built = tmp_path / "html" / "_static" / "page"
    built.mkdir(parents=True)
    (built / f"{SLUG}.solved.json").write_text("{}")
    (built / "manifest.json").write_text(json.dumps({"solved": [SLUG], "version": "1"}))
    root = Course.at().root
    pages = property(lambda self: (tmp_path if self.root == root else self.root) / "html")
    monkeypatch.setattr("autograder.places.Places.pages", pages)
    monkeypatch.setattr("autograder.authoring.release.books_of", lambda _, slugs, **how: dict.fromkeys(slugs, b""))
    out = tmp_path / "out"
    release(Course.at(), out, [SLUG], pages=True, say=lambda line: None)
    page = out / "html" / "_static" / "page"
    assert json.loads((page / "manifest.json").read_text()) == {"solved": [], "version": "1"}
    assert not list(page.glob("*.solved.json"))


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(AuthoringError, match="is there already"):
        release(Course.at(), tmp_path / "mine")


def test_it_installs_and_what_is_installed_judges(released: Path, solution: str, tmp_path: Path) -> None:
    shutil.copytree(released, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(tmp_path / "site")]
    subprocess.run([*pip, *options, tmp_path / "source"], check=True)
    shutil.rmtree(tmp_path / "source")
    (name,) = (folder.name for folder in (tmp_path / "site").glob("*.dist-info"))
    assert "+" not in name, "an index would not take it"
    (tmp_path / f"{SLUG}.py").write_text(solution, encoding="utf-8")
    found = _backprop(tmp_path / "site", "check", tmp_path / f"{SLUG}.py")
    assert f"{ALL} of {ALL} points on the visible cases" in found.stdout, found.stdout + found.stderr
    assert not list((tmp_path / "site").rglob("solutions/*.py"))
