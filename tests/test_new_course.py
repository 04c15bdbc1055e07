"""An author's way from an empty folder: start a course and a lesson with `backprop new`, write them, and teach."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Command
from small_courses import fill_in_rows

from autograder.authoring import skeleton
from autograder.authoring.lesson_skeleton import new_course, new_lesson
from autograder.authoring.rules.described import nothing_unwritten
from autograder.authoring.skeleton import UNWRITTEN
from autograder.authoring.tree import AuthoringError, Course
from autograder.places import ROOT
from course.syllabus import syllabus

pytestmark = pytest.mark.slow

PARTS = ("autograder/lessons", "solutions", "book")
"""Where this course has its lessons."""
POWERS = "lessons/ch01_powers"
CONTRACT = f"{POWERS}/contract.toml"
LINE = "return g * 3 * x**2"
WRITTEN = {
    "backprop-course.toml": {
        "  # WRITE ME: a reader's minutes, exercises included": "",
        "WRITE ME: where to look.": "What is the slope of x to the power of 3?",
        "WRITE ME: how to do it, for those still stuck.": "3 times x squared, times g.",
        "WRITE ME: what makes the reference right, cheap or stable, in 160 characters.": "The slope is a product.",
    },
    "solutions/ch01_powers.py": {
        "WRITE ME: what the lesson is about, in two sentences; then what holds for all exercises: dtypes, shapes, "
        "libraries.": "Powers and their slopes.",
        "WRITE ME: the contract: what it takes, what it returns, shapes and dtypes.": "`y = x³`, entry by entry.",
        "WRITE ME: what it returns, in a line.": "dx of y = x³.",
        'raise NotImplementedError("WRITE ME: the reference")': LINE,
    },
    f"{POWERS}/checks/cube_vjp.py": {
        "WRITE ME: what this check asks. Smallest case first, numbers from rng; then float32 and degenerate shapes.": (
            "Three times the square, times g."
        ),
    },
    f"{POWERS}/mistakes/cube_vjp.py": {
        "WRITE ME: a whole line of the reference": LINE,
        "WRITE ME: what people write for it": "return 3 * x**2",
        "WRITE ME: what they did, what to do.": "Multiply by g: the slope alone is the local derivative.",
        "WRITE ME: what others write": "return g * x**2",
        "WRITE ME: as a teacher says it.": "The exponent is missing as a factor: the slope is 3 x².",
        "WRITE ME: a third mistake": "return g * 3 * x**3",
        "WRITE ME: in a sentence or two.": "The exponent goes down by one: the slope is 3 x², not 3 x³.",
    },
    f"{POWERS}/oracles/cube_vjp.py": {
        'raise NotImplementedError("WRITE ME: compare it with PyTorch, or with brute force")': (
            "g, x, h = 2.0, rng.normal(), 1e-5\n"
            "    slope = ((x + h) ** 3 - (x - h) ** 3) / (2 * h)\n"
            "    assert abs(reference.cube_vjp(g, x) - g * slope) < 1e-8"
        ),
    },
}
ROWS = """
[[cube_vjp]]
says = "Powers and their slopes."
unasked = "an introduction"

[[cube_vjp]]
says = "`y = x³`, entry by entry."
checks = ["test_smallest_case"]
point = true

[[cube_vjp]]
says = "dx of y = x³."
checks = ["test_smallest_case"]
"""
STEP = "self.mean += (x - self.mean) / self.count"
UNWRITTEN_LINE = 'raise NotImplementedError("WRITE ME: the reference")'
A_CLASS = {
    "backprop-course.toml": {
        "WRITE ME: where to look.": "How much does one more value move a mean?",
        "WRITE ME: how to do it, for those still stuck.": "By its distance from the mean, over the number of values.",
        "WRITE ME: what makes the reference right, cheap or stable, in 160 characters.": "No sum grows.",
    },
    "solutions/ch01_powers.py": {
        "WRITE ME: the contract: what it keeps, what its methods take and return, shapes and dtypes.": "One mean.",
        "WRITE ME: what it is, in a line.": "The mean of all values so far.",
        f"def __init__(self):\n        ### BEGIN SOLUTION\n        {UNWRITTEN_LINE}": (
            "def __init__(self):\n        ### BEGIN SOLUTION\n        self.mean, self.count = 0.0, 1"
        ),
        "  # WRITE ME: its methods": "",
        "WRITE ME: what it changes and returns, in a line.": "Takes in one value, and returns the mean.",
        UNWRITTEN_LINE: f"{STEP}\n        self.count += 1\n        return self.mean",
    },
    f"{POWERS}/checks/runningmean.py": {
        "WRITE ME: what this check asks. Smallest case first, numbers from rng; then float32 and degenerate shapes.": (
            "The mean after each of three values."
        ),
    },
    f"{POWERS}/mistakes/runningmean.py": {
        "WRITE ME: a whole line of the reference": STEP,
        "WRITE ME: what people write for it": "self.mean += x - self.mean",
        "WRITE ME: what they did, what to do.": "You return the last value: divide the step by the count.",
        "WRITE ME: what others write": "self.mean += x / self.count",
        "WRITE ME: as a teacher says it.": "A step goes from the mean to x, so it is x minus the mean.",
        '{LINE: "WRITE ME: a third mistake"}': '{LINE: "self.count += 1", "self.count += 1": LINE}',
        "WRITE ME: in a sentence or two.": "You count before you divide: the first value counts half.",
    },
    f"{POWERS}/oracles/runningmean.py": {
        'raise NotImplementedError("WRITE ME: compare it with PyTorch, or with brute force")': (
            "values = rng.normal(size=5)\n"
            "    means = [made.update(value) for value in values]\n"
            "    assert abs(means[-1] - values.mean()) < 1e-12"
        ),
    },
    f"{POWERS}/scenarios/runningmean.py": {
        "WRITE ME: what is called, and what it returns: numbers, texts, arrays, or lists of them.": "A mean for each."
    },
}
ROWS_OF_A_CLASS = """
[[RunningMean]]
says = "One mean."
checks = ["test_smallest_case"]
point = true

[[RunningMean]]
says = "The mean of all values so far."
checks = ["test_smallest_case"]
"""
ANSWERS = {"ada": LINE, "ben": "return g * x**2", "cy": "raise NotImplementedError"}


def fill_in(folder: Path, written: Mapping[str, Mapping[str, str]]) -> None:
    for name, texts in written.items():
        text = (folder / name).read_text(encoding="utf-8")
        for before, after in texts.items():
            assert before in text, (name, before)
            text = text.replace(before, after, 1)
        (folder / name).write_text(text, encoding="utf-8")


def places_to_write(folder: Path, names: list[str]) -> list[str]:
    lines = [(name, (folder / name).read_text(encoding="utf-8").splitlines()) for name in names]
    return [f"{name}:{i}" for name, text in lines for i, line in enumerate(text, 1) if UNWRITTEN in line]


def test_from_nothing_to_a_class(backprop: Command, tmp_path: Path) -> None:
    begun = backprop("new", "course", "mine", "ch01_powers/cube_vjp", "--title", "Calculus, by hand")
    assert begun.returncode == 0, begun.stderr
    listed, _, then = begun.stdout.partition("\n\n")
    assert set(listed.splitlines()) == {f"mine/{name}" for name in (*WRITTEN, CONTRACT, ".gitignore")}
    assert "'backprop build --check ch01_powers --course mine' lists it" in then
    course = tmp_path / "mine"

    missing = backprop("build", "--check", "ch01_powers", "--course", "mine")
    assert missing.returncode == 1
    assert [line.split(": ")[0] for line in missing.stdout.splitlines()] == places_to_write(course, list(WRITTEN))

    fill_in(course, WRITTEN)
    missing = backprop("build", "--check", "--course", "mine")
    assert missing.returncode == 1
    assert "exercises/ch01_powers.ipynb: this notebook is missing; run `backprop build`" in missing.stdout
    built = backprop("build", "--course", "mine")
    assert built.returncode == 0, built.stdout + built.stderr
    missing = backprop("build", "--check", "--course", "mine")
    assert missing.returncode == 1
    rows = [
        f"{CONTRACT}: cube_vjp, “{says}”: it needs `checks`" for says in ("Powers and their slopes.", "dx of y = x³.")
    ]
    assert all(row in missing.stdout for row in rows)
    fill_in_rows(course / CONTRACT, ROWS)
    whole = backprop("build", "--check", "--course", "mine")
    assert whole.stdout.splitlines()[-1] == "The course is whole.", whole.stdout + whole.stderr

    assert backprop("start", "work", "--course", "mine").returncode == 0
    for student, answer in ANSWERS.items():
        place = tmp_path / "class" / student / "ch01_powers.py"
        place.parent.mkdir(parents=True)
        place.write_text(f'# %% exercise="cube_vjp"\ndef cube_vjp(g, x):\n    {answer}\n', encoding="utf-8")
    right, wrong = (backprop("check", f"class/{one}/ch01_powers.py", "--course", "mine") for one in ("ada", "ben"))
    assert (right.returncode, wrong.returncode) == (0, 1)
    assert "The exponent is missing as a factor" in wrong.stdout
    graded = backprop("grade", "class", "--out", "results", "--course", "mine")
    assert graded.returncode == 0, graded.stderr
    points = {
        file.parent.name: json.loads(file.read_text())["points"]
        for file in (tmp_path / "results").glob("students/*/ch01*.json")
    }
    assert points == {"ada": 2, "ben": 0, "cy": 0}

    begun = backprop("new", "exercise", "ch01/RunningMean", "--course", "mine")
    assert set(begun.stdout.partition("\n\n")[0].splitlines()) == A_CLASS.keys()
    missing = backprop("build", "--check", "ch01/RunningMean", "--course", "mine")
    assert [line.split(": ")[0] for line in missing.stdout.splitlines()] == places_to_write(course, list(A_CLASS))
    fill_in(course, A_CLASS)
    built = backprop("build", "--course", "mine")
    assert built.returncode == 0, built.stdout + built.stderr
    fill_in_rows(course / CONTRACT, ROWS_OF_A_CLASS)
    whole = backprop("build", "--check", "ch01/RunningMean", "--course", "mine")
    assert (whole.returncode, whole.stderr) == (0, ""), whole.stdout


def test_a_lesson_goes_where_its_number_is(backprop: Command, tmp_path: Path) -> None:
    assert backprop("new", "course", "mine", "ch02_powers/cube_vjp").returncode == 0
    for words in (("ch01_sums/add_vjp", "--title", 'Sums, "plain"'), ("ch03_roots/root_vjp", "--part", "Later")):
        done = backprop("new", "lesson", *words, cwd=tmp_path / "mine")
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(
            f"'backprop build --check {words[0].split('/')[0]}' lists it, and then what else is missing.\n"
        )
    lessons = Course.at(tmp_path / "mine").lessons
    assert [(one.slug, one.title, one.part) for one in lessons.values()] == [
        ("ch01_sums", 'Sums, "plain"', 'Sums, "plain"'),
        ("ch02_powers", "Powers", "Powers"),
        ("ch03_roots", "Roots", "Later"),
    ]
    assert [one.exercises[0].name for one in lessons.values()] == ["add_vjp", "cube_vjp", "root_vjp"]


def test_a_course_that_extends_this_one_gets_lessons_of_its_own(backprop: Command, tmp_path: Path) -> None:
    own = tmp_path / "mine"
    own.mkdir()
    (own / "backprop-course.toml").write_text('title = "Mine"\nextends = "backprop"\nwithout = ["ch14"]\n')
    ours = {path for part in PARTS for path in (ROOT / part).glob("*ch*")}
    for name in ("ch90_powers/cube_vjp", "ch14_roots/root_vjp", "ch00_sums/add_vjp"):
        done = backprop("new", "lesson", name, "--course", own)
        assert done.returncode == 0, done.stderr
    assert ours == {path for part in PARTS for path in (ROOT / part).glob("*ch*")}
    lessons = list(Course.at(own).lessons)
    added = ["ch00_sums", "ch14_roots", "ch90_powers"]
    assert lessons == sorted([*(slug for slug in syllabus() if slug[:4] != "ch14"), *added])
    assert sorted(path.name for path in (own / "lessons").iterdir()) == added


def test_a_lesson_of_this_course_has_a_chapter_that_is_listed(tmp_path: Path) -> None:
    for name in ("course/syllabus.toml", "book/_toc.yml", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    new_lesson(Course.at(tmp_path), "ch90_fused_kernels", "tile_sum", part="Beyond")
    lesson = Course.at(tmp_path).lessons["ch90_fused_kernels"]
    assert (lesson.title, lesson.part, lesson.exercises[0].name) == ("Fused kernels", "Beyond", "tile_sum")
    chapter = (tmp_path / "book" / "ch90_fused_kernels.md").read_text(encoding="utf-8")
    assert re.search(r"^\(ch90\)=\n# Fused kernels$", chapter, re.M)
    assert re.search(r"^\(ch90-tile-sum\)=\n### tile_sum$", chapter, re.M)
    source = (tmp_path / "solutions" / "ch90_fused_kernels.py").read_text(encoding="utf-8")
    assert "../book/ch90_fused_kernels.md#ch90-tile-sum" in source
    contents = (tmp_path / "book" / "_toc.yml").read_text(encoding="utf-8")
    last = list(syllabus())[-1]
    assert f"      - file: {last}\n      - file: ch90_fused_kernels\n  - caption: For teachers" in contents
    table = (tmp_path / "README.md").read_text(encoding="utf-8").partition(f"| {last[:4]} |")[2].splitlines()
    assert table[1:3] == ["| ch90 | … | WRITE ME: what learners write | 0 | 0 |", ""]
    said = [str(problem) for problem in nothing_unwritten(Course.at(tmp_path)) if problem.file.startswith("README.md")]
    assert [one.partition(": ")[2] for one in said] == ["still to be written; WRITE ME: what learners write | 0 | 0 |"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("course", "there", "ch01_powers/cube_vjp"), "there is there already, and not empty"),
        (("course", str(ROOT / "book" / "mine"), "ch01_powers/cube_vjp"), "which is the grader's own"),
        (("course", "mine", "powers/cube_vjp"), "a lesson is called by a number and a topic"),
        (("course", "mine", "ch01_powers/class"), "'class' is no name of a function"),
        (("course", "mine"), "type 'backprop new exercise"),
        (("course", "mine", "ch01_powers"), "ch01_powers names no exercise"),
        (("course", "mine", "ch01_powers/"), "ch01_powers/ names no exercise"),
        (("lesson", "ch14_kernels/tile_sum"), "ch14 is ch14_scaling_out already"),
        (("lesson", "ch90_kernels/tile.sum"), "'tile.sum' is no name of a function"),
        (("lesson", "ch90_kernels/tile_sum", "--after", "relu_vjp"), "a lesson's place is its number"),
        (("ch06/abs_vjp", "--title", "Abs"), "--title and --part are of a lesson or a course"),
    ],
)
def test_what_cannot_be_begun_is_one_line(backprop: Command, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("mine")
    done = backprop("new", *words)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["notes.txt"]


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = new_course(tmp_path / "mine", "ch01_powers", "cube_vjp")
    before = {path: path.read_bytes() for path in mine.root.rglob("*") if path.is_file()}
    folders = {path for path in mine.root.rglob("*") if path.is_dir()}
    write, written = Path.write_text, []

    def interrupted(path: Path, *args: object, **kwargs: object) -> int:
        written.append(path)
        if len(written) == 4:
            raise KeyboardInterrupt
        return write(path, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(skeleton.Path, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        new_lesson(mine, "ch02_roots", "root_vjp")
    assert before == {path: path.read_bytes() for path in mine.root.rglob("*") if path.is_file()}
    assert folders == {path for path in mine.root.rglob("*") if path.is_dir()}
    written.clear()
    with pytest.raises(KeyboardInterrupt):
        new_course(tmp_path / "other", "ch01_powers", "cube_vjp")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    mine = new_course(tmp_path / "mine", "ch01_powers", "cube_vjp")
    kept = mine.source("ch02_roots")
    kept.write_text("# mine\n")
    with pytest.raises(AuthoringError, match=r"solutions/ch02_roots\.py is there already"):
        new_lesson(mine, "ch02_roots", "root_vjp")
    assert kept.read_text() == "# mine\n"
    assert not mine.folder("ch02_roots").exists()
