"""Several modules merged into one text, for a process that cannot import them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograder.judging.checking.one_text import one_text
from autograder.places import Places, file_of, files_of, modules_in
from course.syllabus import syllabus

FILES = {
    "deep.py": "from __future__ import annotations\n\nORDER = ['deep']\n",
    "helper.py": "from autograder.lessons.ch01_tiny.scenarios.deep import ORDER\n\nORDER.append('helper')\n",
    "first.py": (
        "from __future__ import annotations\n\nimport math\n\n"
        "from autograder.lessons.ch01_tiny.scenarios.deep import ORDER\n"
        "from autograder.lessons.ch01_tiny.scenarios.helper import (\n    ORDER,\n)\n\nORDER.append('first')\n"
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    there = tmp_path / "autograder" / "lessons" / "ch01_tiny" / "scenarios"
    there.mkdir(parents=True)
    for name, text in FILES.items():
        (there / name).write_text(text)
    return there


def test_each_module_comes_once_and_after_what_it_imports(folder: Path) -> None:
    names: dict[str, list[str]] = {}
    exec(one_text(folder), names)
    assert names["ORDER"] == ["deep", "helper", "first"]


def test_only_what_a_module_needs_is_taken(folder: Path) -> None:
    assert "'helper'" not in one_text(folder, [folder / "deep.py"])
    assert one_text(folder / "nowhere") == ""


@pytest.mark.parametrize("slug", list(syllabus()))
def test_scenarios_need_nothing_of_the_lessons(slug: str) -> None:
    """A worker cannot see the lessons' files; of the grader it only has `autograder.worker`."""
    tree = ast.parse(one_text(Places().scenarios(slug)))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    ours = {module for module in modules if module.split(".")[0] == "autograder"}
    assert {module for module in ours if not module.startswith("autograder.worker.")} == set()


def test_parts_come_after_the_file_that_they_go_on_from(tmp_path: Path) -> None:
    for name in ("tensor__b", "tensor_backward", "tensor__a", "tensor", "sums"):
        (tmp_path / f"{name}.py").touch()
    names = [file.stem for file in files_of(tmp_path, ["Tensor.backward", "Tensor", "no_grad"])]
    assert names == ["tensor_backward", "tensor", "tensor__a", "tensor__b"]


@pytest.mark.parametrize("slug", list(syllabus()))
def test_no_two_exercises_have_one_file(slug: str) -> None:
    exercises = [exercise.name for exercise in syllabus()[slug].exercises]
    files = {file_of(Places().checks(slug), name) for name in exercises}
    assert len(files) == len(exercises)
    assert files <= set(modules_in(Places().checks(slug)))
