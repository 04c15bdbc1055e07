"""docs/own-course.md: each of its commands in a real shell, with one folder per section."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from page_commands import commands_in, type_all
from test_teaching_pages import COMMANDS

from autograder.authoring.tree import Course
from autograder.worker.landlock import landlock_abi
from course.own import FILE
from course.syllabus import syllabus

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 1, reason="submissions cannot be confined here, so `grade` stops"),
]

PAGE = (ROOT / "docs" / "own-course.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^#+ (.+)\n((?:(?!##? ).*\n)*)", PAGE, re.MULTILINE))
STATUS = {"backprop check work/ch01_power_iteration.ipynb": 1}
"""Exit statuses other than 0: no answer is written yet."""
SAID = {
    'backprop new course my-course ch01_powers/power --title "Powers, by hand"': (
        "'backprop build --check ch01_powers --course my-course' lists it"
    ),
    "backprop new lesson ch02_roots/root --course my-course": "solutions/ch02_roots.py",
    "backprop new exercise ch02/cube_root --course my-course": "lessons/ch02_roots/checks/cube_root.py",
    "backprop new exercise ch02/RunningRoot --course my-course": "lessons/ch02_roots/scenarios/runningroot.py",
    "cp -r examples/linear_algebra my-course": "",
    "backprop build --check --course my-course": "The course is whole.",
    "backprop start work --course my-course": "new work/ch01_power_iteration.ipynb",
    "backprop check work/ch01_power_iteration.ipynb": "0 of 8 points",
    "backprop grade class --out results --course my-course": "Full results: results/students/<student>/<lesson>.json",
    "backprop report results --course my-course": "ada",
    "backprop trust my-course": "Commands in my-course are about the course in my-course from now on",
    "cd my-course && backprop build --check ch01/deflate": "ch01/deflate: nothing is wrong.",
    "backprop trust --list": "work, for the course in my-course",
    "backprop release course.zip --course my-course": "course.zip",
    "backprop release my-class --github --course my-course": "my-class",
    'backprop release gradescope.zip --gradescope --salt "$(backprop salt)" --course my-course': "gradescope.zip",
    "backprop nbgrader desk --course my-course": "Next, in desk: nbgrader generate_assignment ch01_power_iteration",
    "cp -r examples/four_weeks my-course": "",
    "backprop build --course my-course": "exercises/ch90_ratings.ipynb: written",
    "backprop build --check ch90 --course my-course": "ch90: nothing is wrong.",
    "backprop build --course my-robots": "exercises/ch13_beyond_first_order.ipynb: written",
    "backprop build --check ch06/relu_vjp --course my-robots": "ch06/relu_vjp: nothing is wrong.",
    "backprop new lesson ch90_robots/joint_vjp --course my-robots": "solutions/ch90_robots.py",
    "backprop new exercise ch06/clip_vjp --after relu_vjp --course my-robots": (
        "ch06_vjps was this project's lesson. The course in my-robots has taken it over"
    ),
}
"""The expected output of each command, in the first section that contains it."""
AGAIN = {"backprop start work --course my-course": "new work/ch90_ratings.ipynb"}
"""The expected output for this course in four weeks."""


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Type a section's commands in a folder that has the examples, a class, and the file that the page shows."""
    folders: dict[str, Path] = {}

    def follow(title: str) -> Path:
        if title not in folders:
            folders[title] = folder = tmp_path_factory.mktemp("section")
            unwritten = shutil.ignore_patterns("exercises", "answers*", "__pycache__")
            shutil.copytree(ROOT / "examples" / "four_weeks", folder / "examples" / "four_weeks", ignore=unwritten)
            books = shutil.ignore_patterns("answers*", "__pycache__")
            linear = Path(shutil.copytree(ROOT / "examples" / "linear_algebra", folder / "examples" / "linear_algebra",
                                          ignore=books))  # fmt: skip
            (folder / "class" / "ada").mkdir(parents=True)
            shutil.copy(linear / "solutions" / "ch01_power_iteration.py", folder / "class" / "ada")
            for shown in re.findall(r"^```toml\n(.*?)^```$", SECTIONS[title], re.MULTILINE | re.DOTALL):
                (folder / "my-robots").mkdir()
                (folder / "my-robots" / FILE).write_text(shown, encoding="utf-8")
            said = SAID | (AGAIN if title == "This course, with changes" else {})
            type_all(folder, commands_in(SECTIONS[title]), said, STATUS)
        return folders[title]

    return follow


def test_no_command_is_left_out() -> None:
    assert len(SECTIONS) == 4
    assert commands_in(PAGE) == [line for text in SECTIONS.values() for line in commands_in(text)]
    assert set(commands_in(PAGE)) == SAID.keys()
    fences = re.findall(r"^```(.*)$", PAGE, re.MULTILINE)
    assert set(fences) == {"sh", "toml", ""}
    told = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    for command in re.findall(r"`backprop ([a-z]+)", told):
        assert command in COMMANDS, command


def test_a_course_is_begun(followed: Callable[[str], Path]) -> None:
    lessons = Course.at(followed("A course of your own") / "my-course").lessons
    names = {slug: [exercise.name for exercise in lesson.exercises] for slug, lesson in lessons.items()}
    assert names == {"ch01_powers": ["power"], "ch02_roots": ["root", "cube_root", "RunningRoot"]}


def test_a_course_at_work(followed: Callable[[str], Path]) -> None:
    folder = followed("A course at work")
    result = json.loads((folder / "results" / "students" / "ada" / "ch01_power_iteration.json").read_text())
    assert (result["points"], result["max_points"]) == (8, 8)


def test_it_is_handed_out(followed: Callable[[str], Path]) -> None:
    folder = followed("Handing it out")
    with zipfile.ZipFile(folder / "course.zip") as archive:
        assert not [name for name in archive.namelist() if "/solutions/" in name or "/mistakes/" in name]
    assert (folder / "my-class" / ".github" / "workflows").is_dir()
    assert (folder / "desk" / "nbgrader_config.py").is_file()
    assert zipfile.is_zipfile(folder / "gradescope.zip")


def test_this_course_with_changes(followed: Callable[[str], Path]) -> None:
    """Only this test types the commands that extend our course by lessons and exercises, and check all of it."""
    folder = followed("This course, with changes")
    weeks, robots = Course.at(folder / "my-course"), Course.at(folder / "my-robots")
    assert sorted(file.stem for file in (folder / "work").glob("*.ipynb")) == list(weeks.lessons)
    relu = robots.lessons["ch06_vjps"].exercise("relu_vjp")
    assert (relu.points, relu.tier, relu.weights["test_relu_passes_where_x_is_positive"]) == (4, "stretch", 3)
    assert list(robots.lessons) == [*(slug for slug in syllabus() if slug[:4] != "ch14"), "ch90_robots"]
    names = [one.name for one in robots.lessons["ch06_vjps"].exercises]
    assert names[names.index("relu_vjp") + 1] == "clip_vjp"
    assert not {"conv2d_vjp", "maxpool2d_vjp"} & set(names)
