"""docs/own-course.md, as somebody follows it: each command in a real shell, a folder for each of its sections."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from test_teaching_pages import COMMANDS, sessions

from autograder.authoring.tree import Course
from autograder.worker.landlock import landlock_abi
from course.own import FILE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 1, reason="submissions cannot be confined here, so `grade` stops"),
]

PAGE = (ROOT / "docs" / "own-course.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^#+ (.+)\n((?:(?!##? ).*\n)*)", PAGE, re.MULTILINE))
STATUS = {"backprop check": 1}
"""How commands end, if not with 0: nothing is written yet."""


def commands_of(text: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


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
            steps = [
                sessions.Step("terminal", title, 0, line, options={"status": STATUS.get(" ".join(line.split()[:2]), 0)})
                for line in commands_of(SECTIONS[title])
            ]
            sessions.follow_in(folder, steps)
            assert [step.fault for step in steps if step.fault] == []
            assert all(len(step.outputs) == 1 for step in steps)
        return folders[title]

    return follow


def test_no_command_is_left_out() -> None:
    assert len(SECTIONS) == 4
    assert commands_of(PAGE) == [line for text in SECTIONS.values() for line in commands_of(text)]
    fences = re.findall(r"^```(.*)$", PAGE, re.MULTILINE)
    assert set(fences) == {"sh", "toml", ""}
    told = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    for command in re.findall(r"`backprop ([a-z]+)", told):
        assert command in COMMANDS, command


def test_a_course_is_begun(followed: Callable[[str], Path]) -> None:
    lessons = Course.at(followed("A course of your own") / "my-course").lessons
    names = {slug: [exercise.name for exercise in lesson.exercises] for slug, lesson in lessons.items()}
    assert names == {"ch01_powers": ["power"], "ch02_roots": ["root", "cube_root"]}


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
    folder = followed("This course, with changes")
    weeks, robots = Course.at(folder / "my-course"), Course.at(folder / "my-robots")
    assert sorted(file.stem for file in (folder / "work").glob("*.ipynb")) == list(weeks.lessons)
    relu = robots.lessons["ch06_vjps"].exercise("relu_vjp")
    assert (relu.points, relu.tier, relu.weights) == (4, "stretch", {"test_relu_at_zero": 3})
    assert list(robots.lessons)[-2:] == ["ch13_beyond_first_order", "ch15_robots"]
    names = [one.name for one in robots.lessons["ch06_vjps"].exercises]
    assert names[names.index("relu_vjp") + 1] == "abs_vjp"
    assert not {"conv2d_vjp", "maxpool2d_vjp"} & set(names)
