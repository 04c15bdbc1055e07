"""A custom course with the real command: `examples/linear_algebra`, which no line of the grader mentions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import Command, run_backprop

from autograder.authoring.mistaken import mistaken_cells, solved_cells
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.judging.checking.reference import Reference
from autograder.notebook import check as in_a_notebook
from autograder.places import ROOT
from course.own import FILE, VARIABLE, CourseError, course_named, file_upwards, own_course, serving
from course.syllabus import course_title, find_lesson, syllabus
from course.trusted import trust

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "linear_algebra"
TITLE = "Numerical linear algebra, by hand"
POWER, HOUSEHOLDER = "ch01_power_iteration", "ch02_householder"
SALT = {"BACKPROP_SALT": "a salt of tests, kept by no class"}


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """What was graded, by student."""
    return {file.parent.name: json.loads(file.read_text()) for file in folder.glob("students/*/*.json")}


def hand_in(folder: Path, student: str, cells: list[str], slug: str = POWER) -> None:
    (folder / student).mkdir(parents=True, exist_ok=True)
    (folder / student / f"{slug}.py").write_text("".join(f"# %%\n{cell}\n\n" for cell in cells), encoding="utf-8")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the example that tests may change; it is trusted."""
    own = Path(shutil.copytree(EXAMPLE, tmp_path / "own"))
    trust(own / FILE)
    return own


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a class with one student for each known mistake, and one with right answers."""
    folder = tmp_path_factory.mktemp("class")
    course = Course.at(EXAMPLE)
    for slug, lesson in course.lessons.items():
        solved = solved_cells(course, slug)
        hand_in(folder / "class", "right", solved, slug)
        for known in Reference(lesson, EXAMPLE).misconceptions():
            wrong = mistaken_cells(solved, [known], course.mistakes(slug))
            hand_in(folder / "class", f"{known.exercise}-{known.name}", wrong, slug)
    done = run_backprop("grade", "class", "--course", EXAMPLE, cwd=folder, env=SALT)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_references_earn_full_marks_and_mistakes_are_named(graded: Path) -> None:
    found = results(graded / "results")
    right = [json.loads(file.read_text()) for file in (graded / "results" / "students" / "right").glob("*.json")]
    assert sorted((one["points"], one["max_points"]) for one in right) == [(8, 8), (10, 10)]
    mistakes = {student: result for student, result in found.items() if student != "right"}
    assert len(mistakes) == 25
    for student, result in mistakes.items():
        exercise, name = student.split("-")
        (one,) = [one for one in result["exercises"] if one["name"] == exercise]
        assert one["points"] < one["max_points"], student
        assert one["misconception"] == name, (student, one["misconceptions"])


def test_results_say_of_which_course_they_are(graded: Path, backprop: Command) -> None:
    assert {result["course"] for result in results(graded / "results").values()} == {TITLE}
    done = backprop("report", "results", "--course", EXAMPLE, "--format", "html,csv", cwd=graded)
    assert done.returncode == 0, done.stderr
    assert TITLE in (graded / "results" / "__reports__" / "index.html").read_text()
    feedback = backprop("report", "results", "--course", EXAMPLE, "--student", "deflate-deflate_added", cwd=graded)
    assert "You add the eigenvalue's part, which doubles it. Subtract it." in " ".join(feedback.stdout.split())


@pytest.mark.parametrize("command", [("report", "results"), ("grade", "class")])
def test_results_of_another_course_are_not_taken_for_its_own(
    graded: Path, backprop: Command, command: tuple[str, str]
) -> None:
    done = backprop(*command, cwd=graded, env=SALT)
    assert done.returncode == 2
    assert f"results has results of the course “{TITLE}”, and this is “Backprop, by hand”" in done.stderr
    assert "--course" in done.stderr


def test_a_check_without_its_mistake_is_told_by_the_build(copied: Path, backprop: Command) -> None:
    file = copied / "lessons" / POWER / "mistakes" / "deflate.py"
    file.write_text(file.read_text().replace("return A + value", "return A - value"))
    done = backprop("build", "--check", cwd=copied)
    assert done.returncode == 1
    assert "lessons/ch01_power_iteration/rejections.toml: it was made of another text" in done.stdout
    backprop("build", cwd=copied)
    done = backprop("build", "--check", "ch01/deflate", cwd=copied)
    assert (done.returncode, "deflate_added" in done.stdout) == (1, True), done.stdout


def test_a_learner_names_the_course_once(tmp_path: Path, backprop: Command) -> None:
    """`start` leaves a file in the work folder that all later commands, and a notebook's checks, find."""
    assert backprop("start", "my-work", "--course", EXAMPLE).returncode == 0
    work = tmp_path / "my-work"
    assert sorted(file.name for file in work.iterdir()) == [FILE, f"{POWER}.ipynb", f"{HOUSEHOLDER}.ipynb"]
    assert "0 of 18 points" in backprop("status", cwd=work).stdout
    deeper = work / "notes"
    deeper.mkdir()
    assert "ch01/rayleigh_quotient" in backprop("next", cwd=work).stdout
    assert "closest to A x" in " ".join(backprop("read", "ch01", cwd=deeper).stdout.split())
    shutil.copy(EXAMPLE / "solutions" / f"{HOUSEHOLDER}.py", work / f"{HOUSEHOLDER}.py")
    (work / f"{HOUSEHOLDER}.ipynb").unlink()
    done = backprop("check", "ch02", cwd=work)
    assert (done.returncode, "10 of 10 points" in done.stdout) == (0, True), done.stdout + done.stderr
    asked = 'from autograder import lesson\ncheck = lesson("ch01_power_iteration")\nprint(check("deflate").text)'
    done = subprocess.run([sys.executable, "-c", asked], cwd=work, capture_output=True, text=True, check=False)
    assert "deflate: missing, 0 of 2 points" in done.stdout, done.stdout + done.stderr
    assert "is for the course in" in backprop("start", "my-work", "--course", "backprop").stderr


def test_where_the_course_is_named(copied: Path, tmp_path: Path, backprop: Command) -> None:
    """The option takes precedence over the variable, and that over the folder; `backprop` names this course."""
    below = copied / "solutions"
    title = {"title": "The power iteration", "ours": "The computation graph"}

    def shown(*options: str | Path, **env: str) -> str:
        return backprop("status", *options, cwd=work, env=env).stdout

    assert backprop("start", tmp_path / "work", cwd=below).returncode == 0
    work = tmp_path / "work"
    assert title["title"] in shown()
    assert title["title"] in shown("--course", copied / FILE)
    (work / "ch01_computation_graph.py").write_text("")
    assert title["ours"] in shown("--course", "backprop")
    assert title["ours"] in shown(BACKPROP_COURSE="backprop")
    assert title["title"] in shown("--course", copied, BACKPROP_COURSE="backprop")


BAD: dict[str, tuple[dict[str, str | bytes], str]] = {
    "nothing there": ({}, f"own is no course: it has no {FILE} (examples/linear_algebra is one to copy)"),
    "no TOML": ({FILE: "title = "}, f"own/{FILE} is no TOML: Invalid value"),
    "no UTF-8": ({FILE: b"title = '\xff'"}, f"own/{FILE} cannot be read (it is no UTF-8)"),
    "no title": ({FILE: "[[lesson]]"}, f"own/{FILE}: title is missing; write title"),
    "leads nowhere": ({FILE: 'course = "../gone"'}, f"own/{FILE} says that the course is in '../gone', and there"),
    "leads to a number": ({FILE: "course = 3"}, f"own/{FILE} says that the course is in 3, and there is no {FILE}"),
    "leads to itself": ({FILE: 'course = "."'}, "which leads on; name the course's own folder there"),
    "no lessons": ({FILE: 'title = "T"'}, f"own/{FILE}: there is no [[lesson]]"),
    "a word that means nothing": ({FILE: 'title = "T"\ntitel = "T"'}, "'titel' means nothing here; did you mean title"),
    "a slug without a number": ({FILE: 'title = "T"\n[[lesson]]\nslug = "qr"\ntitle="Q"\npart="P"\nminutes=1\n'
                                'packages=[]\nmodules=[]\nexercise=[]'}, "must be a number and a topic, as ch01_"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("case", "command"), [*((case, "status") for case in BAD), ("no lessons", "grade"), ("no title", "build")]
)
def test_a_folder_that_is_no_course(case: str, command: str, tmp_path: Path, backprop: Command) -> None:
    files, says = BAD[case]
    (tmp_path / "own").mkdir()
    (tmp_path / "class" / "ann").mkdir(parents=True)
    (tmp_path / "class" / "ann" / "ch01.py").write_text("")
    for name, text in files.items():
        (tmp_path / "own" / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    done = backprop(command, *(["class"] if command == "grade" else []), "--course", "own")
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


# The trust boundary: no hand-in may choose the course.


def test_a_hand_in_does_not_name_its_course(copied: Path, tmp_path: Path, backprop: Command) -> None:
    """The hand-in contains a student's own course, which gives full points."""
    for checks in (copied / "lessons" / POWER / "checks").glob("*.py"):
        checks.write_text(f"raise SystemExit(open({str(tmp_path / 'ran')!r}, 'w').close())")
    hand_in(tmp_path / "class", "eve", ["def rayleigh_quotient(A, x):\n    return 1"])
    shutil.copytree(copied, tmp_path / "class" / "eve", dirs_exist_ok=True)
    shutil.copy(tmp_path / "class" / "eve" / FILE, tmp_path / "class")
    done = backprop("grade", "class", "--course", EXAMPLE, "--out", "results", env=SALT)
    assert results(tmp_path / "results")["eve"]["points"] == 0, done.stderr
    assert results(tmp_path / "results")["eve"]["course"] == TITLE
    for folder in (tmp_path / "class", tmp_path / "class" / "eve"):
        trust(folder / FILE)  # `test_trust` has those that nobody trusts
        for command in (("grade", tmp_path / "class", "--out", tmp_path / "r2"), ("similarity", tmp_path / "class")):
            done = backprop(*command, cwd=folder, env=SALT)
            assert done.returncode == 2
            assert "where hand-ins are: none may say by which course it is graded" in done.stderr
    done = backprop("grade", "class", "--course", "class/eve", env=SALT)
    assert (done.returncode, "keep the course elsewhere" in done.stderr) == (2, True)
    assert not (tmp_path / "ran").exists()


def test_a_file_of_another_user_is_not_followed(tmp_path: Path, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert file_upwards(copied / "solutions") == copied / FILE
    monkeypatch.setattr(os, "geteuid", lambda: (copied / FILE).stat().st_uid + 1)
    if (copied / FILE).stat().st_uid == 0:
        os.chown(copied / FILE, 12345, -1)
    with pytest.raises(CourseError, match="is another user's; if you trust that course, name it: --course"):
        file_upwards(copied / "solutions")


def test_nbgrader_runs_a_hand_in_by_the_course_that_its_environment_names(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notebook is among handed-in files, which may include a file that names a course."""
    monkeypatch.chdir(copied)
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    in_a_notebook._serve_found_course()
    assert own_course() is None
    monkeypatch.delenv("NBGRADER_EXECUTION")
    in_a_notebook._serve_found_course()
    assert own_course() == copied
    assert os.environ[VARIABLE] == str(copied), "for the judge that it starts"


NOSY = f"""\
import os

def rayleigh_quotient(A, x):
    said = [name for name in os.environ if "COURSE" in name]
    try:
        said.append(open({str(EXAMPLE / "solutions" / "ch01_power_iteration.py")!r}).read())
    except OSError as error:
        said.append(type(error).__name__)
    raise ValueError(" and ".join(said))
"""


def test_a_submission_does_not_learn_where_the_course_is(tmp_path: Path, backprop: Command) -> None:
    hand_in(tmp_path / "class", "eve", [NOSY])
    backprop("grade", "class", "--course", EXAMPLE, env=SALT)
    result = results(tmp_path / "results")["eve"]
    (one,) = [one for one in result["exercises"] if one["name"] == "rayleigh_quotient"]
    assert one["status"] == "error"
    assert "COURSE" not in one["message"]
    if result["isolation"].startswith("sandbox"):
        assert "PermissionError" in one["message"] or "FileNotFoundError" in one["message"], one["message"]


# Versions depend on the course's content, not on its path.

VERSIONS = (
    "import json; from autograder.judging.version import exercise_version, grader_version; "
    "from course.syllabus import syllabus; "
    "print(json.dumps([[grader_version(slug), *(exercise_version(slug, one.name) for one in lesson.exercises)] "
    "for slug, lesson in syllabus().items()]))"
)


def versions(course: Path) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", VERSIONS], env={**os.environ, VARIABLE: str(course)}, capture_output=True, check=True
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_versions_are_of_what_the_course_holds(copied: Path) -> None:
    before = versions(copied)
    assert before == versions(EXAMPLE)

    def changed(file: str, old: str = "", new: str = "# another\n") -> list[list[bool]]:
        path, text = copied / file, (copied / file).read_text(encoding="utf-8")
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        now = versions(copied)
        path.write_text(text, encoding="utf-8")
        return [[a != b for a, b in zip(*pair, strict=True)] for pair in zip(before, now, strict=True)]

    nothing, all_of_it = [False] * 4, [True] * 4
    assert changed(f"lessons/{POWER}/checks/deflate.py") == [[True, False, False, True], nothing]
    assert changed(f"lessons/{POWER}/checks/matrices.py") == [all_of_it, nothing], "all its checks import it"
    assert changed(f"solutions/{HOUSEHOLDER}.py") == [nothing, all_of_it]
    assert changed(FILE, "points = 5", "points = 6") == [nothing, [True, False, False, True]]
    assert changed(FILE, TITLE, "Another title") == [nothing, nothing]


def test_a_corrected_check_grades_its_lesson_again(copied: Path, tmp_path: Path, backprop: Command) -> None:
    cells = solved_cells(Course.at(EXAMPLE), POWER)
    hand_in(tmp_path / "class", "ann", cells)
    grade = ("grade", "class", "--course", copied)
    backprop(*grade, env=SALT)
    assert "graded already" in backprop(*grade, env=SALT).stderr
    file = copied / "lessons" / POWER / "checks" / "deflate.py"
    file.write_text(
        file.read_text().replace("reference.deflate(A, value, vector)", "1 + reference.deflate(A, value, vector)")
    )
    done = backprop(*grade, "--diff", env=SALT)
    assert "ann" in done.stdout, done.stdout + done.stderr
    assert "test_unit_vector" in done.stdout


def test_two_courses_are_served_side_by_side(copied: Path) -> None:
    """A Dask worker serves several courses."""
    file = copied / FILE
    file.write_text(file.read_text().replace(TITLE, "Another"))
    ours = course_title(), list(syllabus())
    with serving(course_named(str(copied))):
        assert (course_title(), list(syllabus())) == ("Another", [POWER, HOUSEHOLDER])
        with serving(EXAMPLE):
            assert course_title() == TITLE
        with serving(None):
            assert (course_title(), list(syllabus())) == ours
    assert (course_title(), list(syllabus())) == ours


def test_each_course_imports_its_own_modules(copied: Path) -> None:
    """The modules of both courses have the same names, and a program may have a module `lessons`, too."""
    sys.modules["lessons"] = ModuleType("lessons")
    shared = Path(POWER, "checks", "matrices.py")
    for course in (EXAMPLE, copied):
        with serving(course):
            with_judge(syllabus()[POWER], lambda judge: None)
        assert sys.modules[f"lessons.{POWER}.checks.matrices"].__file__ == str(course / "lessons" / shared)


def test_a_cluster_grades_by_the_course_of_who_asks(copied: Path, tmp_path: Path, backprop: Command) -> None:
    """A worker that serves this course and others."""
    distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    ours = find_lesson("ch01_computation_graph")
    hand_in(tmp_path / "class", "ann", solved_cells(Course.at(EXAMPLE), POWER))
    (tmp_path / "ours" / "ann").mkdir(parents=True)
    (tmp_path / "ours" / "ann" / "ch01_computation_graph.py").write_text("def forward():\n    pass\n")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options, local_directory=str(tmp_path / "dask")) as cluster:
        cluster.wait_for_workers(1)
        at = ("--scheduler", cluster.scheduler_address)
        done = backprop("grade", "class", "--course", copied, *at, "--out", "r1", env=SALT)
        assert results(tmp_path / "r1")["ann"]["points"] == 8, done.stderr
        done = backprop("grade", "ours", *at, "--out", "r2", env=SALT)
        assert results(tmp_path / "r2")["ann"]["course"] == "Backprop, by hand", done.stderr
        assert results(tmp_path / "r2")["ann"]["max_points"] == ours.points
        file = copied / "lessons" / POWER / "checks" / "deflate.py"
        file.write_text(file.read_text() + "# another\n")
        done = backprop("grade", "class", "--course", copied, *at, "--out", "r3", env=SALT)
        assert "start the worker again" in done.stderr, "it has read the course as it was"


@pytest.fixture(autouse=True)
def _served_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the served course after each test."""
    monkeypatch.setenv(VARIABLE, "backprop")
    monkeypatch.delenv(VARIABLE)
