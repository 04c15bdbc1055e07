"""`backprop release` of a custom course, which stands alone or extends this one: it works and contains no answers."""

from __future__ import annotations

import bz2
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Command, run_backprop
from gradescope_image import NEEDS_IMAGE, OLD, Image
from test_nbgrader_course import Nbgrader

from autograder.authoring.own_release import FOLDER, released_syllabus
from autograder.authoring.stubs import notebook_text, solved_notebook
from course.own import FILE, serving
from course.syllabus import find_lesson, read_syllabus

pytestmark = pytest.mark.slow

LINEAR = ROOT / "examples" / "linear_algebra"
OURS, OWN = "ch01_computation_graph", "ch20_power_iteration"
MIXED = """\
title = "Graphs and “eigenvalues”"
extends = "backprop"  # a secret of the teacher
without = ["ch02", "ch01/read_torch_graph", "ch06/relu_vjp"]
[change]
"ch01/forward" = { points = 4, weights = { test_worked_example = 5 } }
"ch03/zero_grad" = { points = 9 }
"""
LESSONS = {"alone": ["ch01_power_iteration"], "extending": [OURS, OWN]}
"""What is handed out of each course."""
LEAST_TELLING = 25


@pytest.fixture(scope="module")
def courses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders with two courses, built, to copy."""
    folder = tmp_path_factory.mktemp("courses")
    shutil.copytree(LINEAR, folder / "alone", ignore=shutil.ignore_patterns("*.book"))
    _write_extending(folder / "extending")
    return {kind: folder / kind for kind in LESSONS}


def _write_extending(folder: Path) -> None:
    shutil.copytree(LINEAR / "lessons" / "ch01_power_iteration", folder / "lessons" / OWN)
    (folder / "lessons" / OWN / "answers.book").unlink(missing_ok=True)
    (folder / "solutions").mkdir()
    shutil.copy(LINEAR / "solutions" / "ch01_power_iteration.py", folder / "solutions" / f"{OWN}.py")
    (folder / "book").mkdir()
    (folder / "book" / f"{OWN}.md").write_text("# Our own chapter\n")
    listed = (LINEAR / FILE).read_text(encoding="utf-8").split("[[lesson]]")[1]
    (folder / FILE).write_text(f"{MIXED}\n[[lesson]]{listed}", encoding="utf-8")
    for file in folder.rglob("*"):
        if file.suffix in (".py", ".toml"):
            file.write_text(file.read_text(encoding="utf-8").replace("ch01_power", "ch20_power"), encoding="utf-8")
    assert run_backprop("build", "--course", ".", cwd=folder).returncode == 0


class Released:
    def __init__(self, kind: str, course: Path, folder: Path, slugs: list[str]) -> None:
        self.kind, self.course, self.folder, self.slugs = kind, course, folder, slugs

    def __call__(
        self, *arguments: str | Path, at: Path, grader: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the release's own command, whose folder comes before the installed packages."""
        program = "import autograder, sys; from autograder.commands import run; print(autograder.__file__); run()"
        place = grader or self.folder
        environment = {**os.environ, "PYTHONPATH": str(place), "COLUMNS": "120", "NO_COLOR": "1", **variables}
        environment.pop("BACKPROP_SALT", None)
        command = [sys.executable, "-c", program, *map(str, arguments)]
        found = subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True, check=False)
        assert found.stdout.startswith(str(place)), found.stdout + found.stderr
        return found

    def solved(self, slug: str) -> str:
        return notebook_text_of(self.course, slug)


def notebook_text_of(course: Path, slug: str) -> str:
    """A lesson's notebook, solved."""
    with serving(course):
        return notebook_text(solved_notebook(find_lesson(slug)))


@pytest.fixture(scope="module", params=["alone", "extending"])
def released(
    request: pytest.FixtureRequest, courses: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Released:
    root, slugs = tmp_path_factory.mktemp(request.param), LESSONS[request.param]
    shutil.copytree(courses[request.param], root / "own")
    what: list[str | Path] = [
        "release",
        root / "first" / "out",
        *[slug[:4] for slug in slugs],
        "--course",
        root / "own",
    ]
    done = run_backprop(*what, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nbackprop trust " in (root / "first" / "out" / "README.md").read_text(encoding="utf-8")
    shutil.copytree(root / "first" / "out", root / "second" / "out")  # a release works wherever it is put
    shutil.rmtree(root / "first")
    shutil.move(root / "own", root / "moved")  # and has no need of the course
    unpacked = Released(request.param, root / "moved", root / "second" / "out", slugs)
    assert unpacked("trust", at=unpacked.folder).returncode == 0
    return unpacked


def test_right_answers_have_all_visible_points(released: Released) -> None:
    """`start` in its folder finds the course, and the file that it writes refers to it even after both are moved."""
    work = released.folder / "my-work"
    assert released("start", "my-work", at=released.folder).returncode == 0
    assert sorted(file.stem for file in work.glob("*.ipynb")) == released.slugs
    assert "0 of" in released("status", at=work).stdout
    for slug in released.slugs:
        (work / f"{slug}.ipynb").write_text(released.solved(slug), encoding="utf-8")
        done = released("check", slug[:4], at=work)
        with serving(released.course):
            points = find_lesson(slug).points
        assert f"{points:g} of {points:g} points on the visible cases" in done.stdout, done.stdout + done.stderr
        assert done.returncode == 0
    moved = shutil.copytree(released.folder, released.folder.with_name("elsewhere"))
    assert released("trust", "my-work", at=moved, grader=moved).returncode == 0
    assert "points" in released("status", at=moved / "my-work", grader=moved).stdout
    shutil.rmtree(work)
    shutil.rmtree(moved)


def test_a_mistake_is_named(released: Released, tmp_path: Path) -> None:
    slug = released.slugs[-1]
    source = (released.course / "solutions" / f"{slug}.py").read_text(encoding="utf-8")
    assert "return A - value" in source
    (tmp_path / f"{slug}.py").write_text(source.replace("return A - value", "return A + value"), encoding="utf-8")
    done = released("check", tmp_path / f"{slug}.py", at=released.folder)
    assert "You add the eigenvalue's part, which doubles it. Subtract it." in done.stdout, done.stderr


def test_what_needs_solutions_says_so(released: Released, tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    for command in (("grade", tmp_path / "class"), ("build",), ("release", tmp_path / "more")):
        done = released(*command, at=released.folder)
        assert done.returncode == 2
        assert "this copy of the course is one for learners and has none" in " ".join(done.stderr.split())
    released("start", tmp_path / "work", at=released.folder)
    done = released("solution", f"{released.slugs[-1][:4]}/deflate", "--anyway", at=tmp_path / "work")
    assert "without model solutions" in done.stderr


def test_installed_it_judges(released: Released, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(released.folder, source, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(tmp_path / "site")]
    subprocess.run([*pip, *options, source], check=True)
    for part in ("autograder", "course", "build"):
        shutil.rmtree(source / part, ignore_errors=True)
    assert released("trust", at=source, grader=tmp_path / "site").returncode == 0
    for slug in released.slugs:
        (source / f"{slug}.ipynb").write_text(released.solved(slug), encoding="utf-8")
        done = released("check", f"{slug}.ipynb", at=source, grader=tmp_path / "site")
        assert done.returncode == 0, done.stdout + done.stderr
    if released.kind == "extending":
        done = released("read", "ch01/forward", "--no-browser", at=source, grader=tmp_path / "site")
        assert "Forward builds the graph" in done.stdout, done.stderr
    assert not list((tmp_path / "site").rglob("solutions/*.py"))


# Red team: searching the release for answers.


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            content = file.read_bytes()
            if file.suffix == ".book":
                content = bz2.decompress(content)
            yield file.relative_to(folder).as_posix(), content.decode("utf-8", "replace")


def test_what_authors_have_is_not_in_it(released: Released) -> None:
    names = {name for name, _ in _texts(released.folder)}
    parts = {part for name in names for part in name.split("/")}
    assert not parts & {"solutions", "mistakes", "oracles", "authoring", "sample_class", "rejections.toml"}
    lessons = {"/".join(name.split("/")[2:4]) for name in names if name.startswith(f"{FOLDER}/lessons/")}
    own = released.slugs[-1]
    assert lessons == {f"{own}/answers.book", f"{own}/checks"}
    ours = {name.split("/")[2] for name in names if name.startswith("autograder/lessons/ch")}
    assert ours == ({OURS} if released.kind == "extending" else set())
    assert (f"{FOLDER}/book/{OWN}.md" in names) == (released.kind == "extending")


def test_no_line_of_a_solution_is_in_it(released: Released) -> None:
    """This covers the custom lessons, ours, those that are not released, and the answer books.

    Given code is excepted.
    """
    files = [*(released.course / "solutions").glob("*.py"), ROOT / "solutions" / f"{OURS}.py"]
    secret = {
        line.strip()
        for file in files
        for region in re.findall(
            r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", file.read_text(encoding="utf-8"), re.DOTALL
        )
        for line in region.splitlines()
        if len(line.strip()) >= LEAST_TELLING and not line.strip().startswith(("#", '"""'))
    }
    assert len(secret) > 20
    texts = {name: text for name, text in _texts(released.folder) if not name.startswith("book/")}
    hints = re.compile(r"^hints = \[.*?\]$", flags=re.MULTILINE | re.DOTALL)
    for name in ("course/syllabus.toml", f"{FOLDER}/{FILE}"):
        texts[name] = hints.sub("", texts[name])
    assert not [(name, line) for name, text in texts.items() for line in secret if line in text]


def test_its_syllabus_says_what_is_asked_and_no_more(released: Released, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (released.folder / FOLDER / FILE).read_text(encoding="utf-8")
    assert "why" not in text
    assert "secret" not in text
    with serving(released.course):
        wanted = {slug: find_lesson(slug) for slug in released.slugs}
    raw = tomllib.loads(text)
    names = {f"{slug[:4]}/{one.name}" for slug, lesson in wanted.items() for one in lesson.whole.exercises}
    assert released_syllabus(raw, set(wanted), names) == text, "written once more it is the same"
    monkeypatch.setattr("course.syllabus.SYLLABUS", released.folder / "course" / "syllabus.toml")
    for slug, lesson in read_syllabus(released.folder / FOLDER / FILE).items():
        assert [(one.name, one.points, one.tier, one.weights) for one in lesson.exercises] == [
            (one.name, one.points, one.tier, one.weights) for one in wanted.pop(slug).exercises
        ]
    assert not wanted


# The other ways out.


def test_a_repository_for_learners(courses: dict[str, Path], tmp_path: Path, backprop: Command) -> None:
    slugs = LESSONS["extending"]
    shutil.copytree(courses["extending"], tmp_path / "own")
    done = backprop("release", "repository", "ch20", "--github", "--course", "own")
    assert done.returncode == 0, done.stdout + done.stderr
    repository = tmp_path / "repository"
    shutil.move(tmp_path / "own", tmp_path / "own-is-elsewhere")
    assert sorted(file.name for file in repository.glob("*.ipynb")) == [f"{slugs[-1]}.ipynb"]
    assert (repository / "README.md").read_text(encoding="utf-8").startswith("# Graphs and “eigenvalues”\n")
    asked = Released("extending", tmp_path / "own-is-elsewhere", repository / ".course", [slugs[-1]])
    refused = asked("check", slugs[-1], at=repository)
    assert (refused.returncode, "backprop trust" in refused.stderr) == (2, True)
    for file in ("README.md", ".devcontainer/devcontainer.json", ".github/workflows/check.yml"):
        assert "backprop trust" in (repository / file).read_text(encoding="utf-8"), file
    assert asked("trust", at=repository).returncode == 0
    untouched = asked("check", slugs[-1], "--format", "json", "--out", tmp_path / "said", at=repository)
    assert untouched.returncode == 1, untouched.stdout + untouched.stderr
    assert json.loads((tmp_path / "said" / "check.json").read_text())["max_points"] == 8
    (repository / f"{slugs[-1]}.ipynb").write_text(asked.solved(slugs[-1]), encoding="utf-8")
    assert asked("check", slugs[-1], at=repository).returncode == 0


def test_the_book_is_not_of_a_course_of_ones_own(tmp_path: Path, backprop: Command) -> None:
    done = backprop("release", "out", "--book", "--course", LINEAR)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--book is for backprop's own book" in done.stderr


@NEEDS_IMAGE
@pytest.mark.parametrize("kind", ["alone", "extending"])
def test_an_autograder_for_gradescope(
    kind: str, courses: dict[str, Path], tmp_path: Path, backprop: Command, gradescope: Image
) -> None:
    """Hidden cases use the custom course's solutions; if nothing can be confined, only visible cases run.

    Only this test runs a zip of a custom course where nothing of the course or of this checkout is installed. The first
    kind pays for the image: wheels of all dependencies, and the zip's own `setup.sh`.
    """
    slug = LESSONS[kind][-1]
    shutil.copytree(courses[kind], tmp_path / "own")
    salt = ("--salt", "a salt of the tests, which is kept by no class")
    done = backprop("release", "out.zip", slug[:4], "--gradescope", *salt, "--course", "own")
    assert done.returncode == 0, done.stdout + done.stderr
    answer = notebook_text_of(tmp_path / "own", slug)
    shutil.move(tmp_path / "own", tmp_path / "elsewhere")
    image = gradescope.holding(tmp_path / "out.zip")
    visible = {file.name for file in (image.place / "source" / "visible").rglob("*")}
    assert visible.isdisjoint({"solutions", "mistakes"})
    found = image.grade({f"{slug}.ipynb": answer})
    assert found["score"] == 8, found
    assert any("(hidden input)" in test["name"] for test in found["tests"])
    found = image.grade({f"{slug}.ipynb": answer}, through=OLD)
    assert (found["score"], sum(test.get("score", 0) for test in found["tests"])) == (0, 8), found


@pytest.mark.parametrize("kind", ["alone", "extending"])
def test_a_course_folder_for_nbgrader(kind: str, courses: dict[str, Path], tmp_path: Path, backprop: Command) -> None:
    """From `source` to a gradebook, nbgrader uses the custom course, and so do commands in that folder."""
    slug = LESSONS[kind][-1]
    shutil.copytree(courses[kind], tmp_path / "own")
    done = backprop("nbgrader", "desk", slug[:4], "--course", "own")
    assert done.returncode == 0, done.stderr
    (tmp_path / "home").mkdir()
    desk = Nbgrader(tmp_path / "desk", tmp_path / "home")
    desk.environment.pop("BACKPROP_COURSE", None)
    desk("generate_assignment", slug)
    for student, text in (("ada", notebook_text_of(tmp_path / "own", slug)), ("bob", None)):
        target = desk.course / "submitted" / student / slug
        target.mkdir(parents=True)
        (target / f"{slug}.ipynb").write_text(text or (desk.course / "release" / slug / f"{slug}.ipynb").read_text())
    desk("autograde", slug)
    scores = {"ada": (8, 8), "bob": (0, 8)}
    with desk.gradebook() as gradebook:
        assert {one.student.id: (one.score, one.max_score) for one in gradebook.assignment_submissions(slug)} == scores
    graded = backprop("grade", "submitted", "--out", tmp_path / "results", cwd=desk.course)
    assert graded.returncode == 0, graded.stderr
    imported = backprop("report", tmp_path / "results", "--format", "nbgrader", "--gradebook", ".", cwd=desk.course)
    assert imported.returncode == 0, imported.stderr
    with desk.gradebook() as gradebook:
        assert {one.student.id: (one.score, one.max_score) for one in gradebook.assignment_submissions(slug)} == scores
        bob = gradebook.find_submission_notebook(slug, slug, "bob")
        assert any("deflate is not written yet." in (comment.comment or "") for comment in bob.comments)
    assert "course_id = " in (desk.course / "nbgrader_config.py").read_text()
