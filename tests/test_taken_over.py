"""A custom exercise in one of our lessons: the custom course copies the lesson, which works as before."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT, Command, run_backprop
from test_new_course import ANSWERS, LINE, WRITTEN, fill_in
from test_skeleton import LESSON as VJPS
from test_skeleton import WRITTEN as WRITTEN_IN_VJPS

from autograder.authoring.release import release
from autograder.authoring.skeleton import new_exercise
from autograder.authoring.stubs import notebook_text, solved_notebook, stub_notebook
from autograder.authoring.syllabus_text import before_lesson, entry_of
from autograder.authoring.taken_over import taken_over
from autograder.authoring.tree import AuthoringError, Course
from autograder.judging.checking.reference import misconceptions_of
from autograder.judging.version import exercise_version
from course.own import FILE, serving
from course.syllabus import find_lesson, syllabus, whole_lessons
from course.trusted import trust

pytestmark = pytest.mark.slow

GRAPH = "ch01_computation_graph"
GONE = ["read_torch_graph", "topological_order"]
COURSE = f"""\
title = "Graphs"
extends = "backprop"
without = {json.dumps([*(slug[:4] for slug in syllabus() if slug != GRAPH), *(f"ch01/{name}" for name in GONE)])}
change."ch01/forward".points = 4
"""
ROWS = """
[[cube_vjp]]
says = "`y = x³`, entry by entry."
checks = ["test_smallest_case"]
point = true

[[cube_vjp]]
says = "dx of y = x³."
checks = ["test_smallest_case", "test_every_kind_of_input"]
"""
SECTION = {
    "WRITE ME: what it computes.": "$y = x^3$.",
    "WRITE ME: the rule that learners implement.": "`dx = g 3 x²`.",
    "WRITE ME: a question or code that fails; the idea in a sentence; a derivation; code.": "Three faces.",
}


def files_of(folder: Path) -> dict[str, bytes]:
    names = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".book")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in names}


def ours() -> dict[str, bytes]:
    folders = "autograder/lessons", "solutions", "course", "exercises"
    return {f"{name}/{file}": text for name in folders for file, text in files_of(ROOT / name).items()}


def begun(folder: Path) -> Path:
    folder.mkdir()
    (folder / FILE).write_text(COURSE, encoding="utf-8")
    trust(folder / FILE)
    return folder


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built course that copies ch01 and adds one exercise."""
    folder, before = begun(tmp_path_factory.mktemp("course") / "graphs"), ours()
    done = run_backprop("new", "ch01/cube_vjp", "--after", "forward", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"{GRAPH} was this project's lesson." in done.stdout
    assert ours() == before
    missing = run_backprop("build", "--check", "ch01", cwd=folder)
    assert (missing.returncode, "still to be written" in missing.stdout) == (1, True)
    intro = "WRITE ME: what the lesson is about"
    written = {
        name.replace("ch01_powers", GRAPH): {
            old: new
            for old, new in texts.items()
            if not old.startswith(intro) and "minutes" not in old and not old.startswith("  #")
        }
        for name, texts in WRITTEN.items()
    }
    factors = {f"lessons/{GRAPH}/factors.toml": WRITTEN_IN_VJPS[f"{VJPS}/factors.toml"]}
    fill_in(folder, written | {f"book/{GRAPH}.md": SECTION} | factors)
    with (folder / "lessons" / GRAPH / "contract.toml").open("a", encoding="utf-8") as contract:
        contract.write(ROWS)
    done = run_backprop("build", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def solved(course: Path) -> str:
    with serving(course):
        return notebook_text(solved_notebook(find_lesson(GRAPH)))


def test_the_lesson_is_ours_and_one_exercise_more(course: Path) -> None:
    mine = find_lesson(GRAPH)
    with serving(course):
        (lesson,) = syllabus().values()
        names = [one.name for one in lesson.exercises]
        assert names == ["forward", "cube_vjp", *(one.name for one in mine.exercises[1:] if one.name not in GONE)]
        assert [one.name for one in lesson.taken_out] == [one.name for one in mine.exercises if one.name in GONE]
        assert (lesson.exercise("forward").points, lesson.exercise("cube_vjp").points) == (4, 2)
        assert lesson.exercise("reverse_sweep") == mine.exercise("reverse_sweep")
        assert len(whole_lessons()[GRAPH].exercises) == len(mine.exercises) + 1
        assert {one.exercise for one in misconceptions_of(GRAPH)} >= {"cube_vjp", *GONE}
        version = exercise_version(GRAPH, "forward")
    assert version != exercise_version(GRAPH, "forward")
    modules = [path.read_text() for path in (course / "lessons").rglob("*.py")]
    assert any(f"from lessons.{GRAPH}" in text for text in modules)
    assert not any(f"autograder.lessons.{GRAPH}" in text for text in modules), "a release has no such module"


def test_its_notebook(course: Path) -> None:
    cells = nbformat.read(course / "exercises" / f"{GRAPH}.ipynb", as_version=4).cells
    sources = [cell.source for cell in cells]
    asked = list(dict.fromkeys(cell.metadata.exercise for cell in cells if "exercise" in cell.metadata))
    assert asked[:2] == ["forward", "cube_vjp"]
    assert any("def cube_vjp" in source and "NotImplementedError" in source for source in sources)
    assert 'check("cube_vjp")  # core, 2 points' in sources
    (given,) = [source for source in sources if "def topological_order" in source]
    assert given.startswith("# This course does not ask for topological_order: it is given.\n")


def test_it_is_whole(course: Path, backprop: Command) -> None:
    done = backprop("build", "--check", "ch01/cube_vjp", cwd=course)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_class_is_graded_by_it(course: Path, solved: str, tmp_path: Path, backprop: Command) -> None:
    assert backprop("start", "class/untouched", "--course", course).returncode == 0
    with serving(course):
        points = find_lesson(GRAPH).points
    for student, answer in (ANSWERS | {"right": LINE}).items():
        place = tmp_path / "class" / student / f"{GRAPH}.ipynb"
        place.parent.mkdir()
        text = solved.replace(LINE, answer)
        assert (text == solved) == (answer == LINE)
        place.write_text(text, encoding="utf-8")
    wrong = backprop("check", f"class/ben/{GRAPH}.ipynb", "--course", course)
    assert "The exponent is missing as a factor" in wrong.stdout, wrong.stdout + wrong.stderr
    graded = backprop("grade", "class", "--out", "results", "--course", course, "--jobs", "1")
    assert graded.returncode == 0, graded.stderr
    files = (tmp_path / "results").glob("students/*/ch01*.json")
    earned = {file.parent.name: json.loads(file.read_text())["points"] for file in files}
    assert earned == {"right": points, "ada": points, "ben": points - 2, "cy": points - 2, "untouched": 0}
    table = backprop("report", "results", "--format", "csv", "--course", course)
    assert table.returncode == 0, table.stderr


def test_its_chapter_is_read(course: Path, backprop: Command) -> None:
    done = backprop("read", "ch01/cube_vjp", "--no-browser", "--course", course)
    assert "Three faces." in done.stdout, done.stderr


def test_learners_get_it(course: Path, solved: str, tmp_path: Path) -> None:
    with serving(course):  # without searching for slips, which takes a minute
        release(Course.at(course), tmp_path / "out", [GRAPH])
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")}
    assert not [name for name in names if {"solutions", "mistakes"} & set(name.split("/"))]
    assert not [name for name in names if name.startswith("autograder/lessons/ch")]
    here = {"cwd": tmp_path / "out", "env": {"PYTHONPATH": str(tmp_path / "out")}}
    (tmp_path / "out" / f"{GRAPH}.ipynb").write_text(solved, encoding="utf-8")
    with serving(course):
        points = f"{find_lesson(GRAPH).points:g}"
    trust(tmp_path / "out" / FILE)
    done = run_backprop("check", f"{GRAPH}.ipynb", **here)  # type: ignore[arg-type]
    assert f"{points} of {points} points on the visible cases" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ch01/forward",), f"{GRAPH} has an exercise forward already"),
        (("ch01/read_torch_graph",), f"{GRAPH} has an exercise read_torch_graph already"),
        (("ch01/cube_vjp", "--after", "backwards"), f"{GRAPH} has no exercise 'backwards'"),
        (("ch01/class",), "'class' is no name of a function"),
        (("ch06/abs_vjp",), "ch06"),
    ],
)
def test_what_cannot_be_begun_takes_nothing_over(
    tmp_path: Path, backprop: Command, words: tuple[str, ...], says: str
) -> None:
    folder = begun(tmp_path / "graphs")
    done = backprop("new", *words, "--course", folder)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == [FILE]
    assert (folder / FILE).read_text(encoding="utf-8") == COURSE


def test_an_interrupt_takes_nothing_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = begun(tmp_path / "graphs")
    write, written = Path.write_text, []

    def interrupted(path: Path, *args: object, **kwargs: object) -> int:
        written.append(path)
        if len(written) == 9:
            raise KeyboardInterrupt
        return write(path, *args, **kwargs)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", interrupted)
        with serving(folder), pytest.raises(KeyboardInterrupt):
            new_exercise(Course.at(folder), GRAPH, "cube_vjp")
    assert [path.name for path in folder.iterdir()] == [FILE]
    assert (folder / FILE).read_text(encoding="utf-8") == COURSE


def test_a_syllabus_keeps_its_authors_words() -> None:
    text = '# a head\n\n[[lesson]]\nslug="ch02_b"  # b\n\n[[lesson]]\nslug = "ch04_d"\n'
    entry = '[[lesson]]\nslug = "ch03_c"\n\n'
    assert before_lesson(text, "ch04_d", entry).index("ch03_c") < text.index('[[lesson]]\nslug = "ch04_d') + 20
    for later in ("", "ch02_b", "ch04_d", "ch09_gone"):
        new = before_lesson(text, later, entry)
        assert entry_of(new, "ch03_c").strip() == entry.strip()
        assert entry_of(new, "ch02_b").strip() == entry_of(text, "ch02_b").strip()
        assert new.replace(entry.strip(), "").split() == text.split()
        assert new.endswith("\n")
    with pytest.raises(AuthoringError, match="ch05_e"):
        entry_of(text, "ch05_e")


@pytest.mark.parametrize("slug", syllabus())
def test_any_lesson_is_taken_over_as_it_is(slug: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('title = "All"\nextends = "backprop"\n', encoding="utf-8")
    with taken_over(Course.at(tmp_path), slug) as own:
        assert own.lessons == syllabus(), "and groups of forbidden functions mean what they did"
        with serving(tmp_path):
            notebook = notebook_text(stub_notebook(own.lessons[slug], own.source(slug).parent))
        assert notebook == (ROOT / "exercises" / f"{slug}.ipynb").read_text(encoding="utf-8")
        text = "\n".join(path.read_text(encoding="utf-8") for path in own.folder(slug).rglob("*.py"))
        assert f"autograder.lessons.{slug}" not in text
        modules = re.findall(rf"^from lessons\.({slug}[\w.]+) import", text, re.MULTILINE)
        places = [tmp_path / "lessons" / name.replace(".", "/") for name in modules]
        assert all(place.is_dir() or place.with_suffix(".py").is_file() for place in places)


def test_what_a_course_takes_over_is_copied_whole(course: Path) -> None:
    """Except for generated files of `build` and `release`."""
    theirs = {name for name in files_of(course / "lessons" / GRAPH) if "cube_vjp" not in name}
    assert theirs == {name for name in files_of(ROOT / "autograder" / "lessons" / GRAPH) if "__pycache__" not in name}
