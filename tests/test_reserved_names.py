"""Students whose names equal file or row names in our code; the names are collected from the code itself.

A folder of results contains files of the grader and the teacher besides the students', and exports have their own rows
and files. None of these may be mistaken for a student's, or the reverse.
"""

from __future__ import annotations

import ast
import csv
import importlib
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, run_backprop
from small_results import LESSON, SLUG, a_result, write

from autograder.classroom.exports import METADATA, SYSTEM
from autograder.classroom.results_folder import STUDENTS, read_result, result_file
from autograder.classroom.student_names import as_folder
from autograder.commands.similarity import FORMATS
from autograder.gradebook.overrides import OVERRIDES
from autograder.gradebook.rules import RULES
from autograder.reports.formats import MAKERS
from autograder.similarity.class_answers import MODEL_SOLUTION

WHO_KNOWS_FOLDERS = ("classroom", "commands", "gradebook", "learning", "nbgrader_course", "reports", "similarity")
"""The parts of the grader that read or write where students' names are."""
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
NAME = re.compile(r"[ \w.()-]{4,40}")
NO_STUDENTS = {*SYSTEM, METADATA}
"""Entries that operating systems and a platform put into a class folder."""


def looked_for() -> Iterator[str]:
    """The names in the code: constants, items of constant lists, and parts of paths."""
    for part in WHO_KNOWS_FOLDERS:
        for file in sorted((ROOT / "autograder" / part).rglob("*.py")):
            name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            for constant, value in vars(importlib.import_module(name)).items():
                if constant.isupper():
                    yield from filter(str.__instancecheck__, [value] if isinstance(value, str) else _items(value))
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.BinOp)
                    and isinstance(node.op, ast.Div)
                    and isinstance(node.right, ast.Constant)
                ):
                    yield from filter(str.__instancecheck__, [getattr(node.right, "value", None)])


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list | set | frozenset) else []


def names() -> list[str]:
    """The collected names that a file or person could have, without duplicates, ignoring case."""
    found = {name for name in looked_for() if NAME.fullmatch(name)} - NO_STUDENTS
    return sorted({as_folder(name).casefold(): name for name in sorted(found)}.values())


NAMES = names()


def test_the_names_are_found() -> None:
    assert {RULES, OVERRIDES, "class.json", ".hand-ins.json", "__reports__", STUDENTS, MODEL_SOLUTION} <= set(NAMES)
    assert {"_handed_out", "    Points Possible", "(unknown)", "index.html"} <= set(NAMES)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A graded class of students with these names; every other one handed in a zip.

    With its reports it takes more than 20 s of processor time, because there are as many students as names in the code.
    """
    folder = tmp_path_factory.mktemp("reserved")
    for number, name in enumerate(NAMES):
        source = RIGHT + f"# {number}\n"
        if number % 2 or as_folder(name) != name:
            (folder / "class" / name).mkdir(parents=True)
            (folder / "class" / name / f"{SLUG}.py").write_text(source)
        else:
            (folder / "class").mkdir(exist_ok=True)
            with zipfile.ZipFile(folder / "class" / f"{name}.zip", "w") as archive:
                archive.writestr(f"{SLUG}.py", source)
    return folder, run_backprop("grade", "class", "--out", "results", "--isolation", "process", cwd=folder)


@pytest.mark.slow
def test_each_is_graded_and_in_every_report(graded: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = graded
    assert done.returncode == 0, done.stderr
    results = folder / "results"
    students = [as_folder(name) for name in NAMES]
    assert sorted(path.name for path in (results / STUDENTS).iterdir()) == sorted(students)
    for student in students:
        result = read_result(result_file(results, student, SLUG))
        assert result is not None
        assert (result.student, result.points) == (student, 2.0)
    (results / RULES).write_text(
        f'[lessons.ch06]\ndue = 2027-03-01T12:00:00\n[[handed_in]]\nstudent = "{RULES}"\n'
        'lesson = "ch06"\nat = 2027-03-01T08:00:00\n'
    )
    (results / OVERRIDES).write_text(f'[[override]]\nstudent = "{OVERRIDES}"\nlesson = "ch06"\npoints = 5\n')
    formats = [name for name in MAKERS if name not in ("json", "nbgrader")]
    for chosen in (",".join(formats), "json"):
        said = run_backprop("report", "results", "--format", chosen, cwd=folder, env={"GITHUB_STEP_SUMMARY": ""})
        assert said.returncode == 0, said.stderr
        assert "cannot" not in said.stderr
    assert {row["student"] for row in json.loads(said.stdout)} == set(students)
    with (results / "__reports__" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        points = {row["student"]: row[SLUG] for row in csv.DictReader(file)}
    assert len(points) == len(students)
    assert {points[name] for name in (OVERRIDES, RULES)} == {"5", "2"}
    assert len(list((results / "__reports__" / "students").iterdir())) == len(students)
    again = run_backprop("grade", "class", "--out", "results", "--isolation", "process", cwd=folder)
    assert f"{len(students)} submissions are graded already" in again.stderr


@pytest.mark.slow
def test_each_is_a_student_of_similarity(graded: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = graded
    done = run_backprop("similarity", "class", "--format", ",".join(FORMATS), "--out", "alike", cwd=folder)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(folder / "alike" / "dolos" / f"{SLUG}.zip") as archive:
        rows = list(csv.reader(archive.read("info.csv").decode().splitlines()))
        assert len(archive.namelist()) == len(rows) == len(NAMES) + 2, "the model solution, and the table or its head"
    labelled = [row[:2] for row in rows if "model solution" in row[2]]
    assert labelled == [["_model_solution.py", MODEL_SOLUTION]]
    assert len(list((folder / "alike" / "jplag" / SLUG).iterdir())) == len(NAMES) + 2
    (exercise,) = json.loads((folder / "alike" / "similarity.json").read_text())["exercises"]
    assert exercise["answers"] == len(NAMES)


def test_results_of_an_older_grader_are_moved_and_none_is_lost(tmp_path: Path) -> None:
    """It stored them beside its own files and the teacher's, so that one hand-in could break all reports."""
    students = ["ann", STUDENTS, OVERRIDES, RULES, "ch06_vjps.json"]
    results = write(tmp_path / "results", *(a_result(name) for name in students))
    for name in sorted(students, key=lambda name: name == STUDENTS):
        shutil.move(results / STUDENTS / name, tmp_path / "old" / name)
    shutil.rmtree(results / STUDENTS)
    for name in students:
        shutil.move(tmp_path / "old" / name, results / name)
    (results / "ann" / f"{SLUG}.json").write_text("{", encoding="utf-8")
    (results / "mine").mkdir()
    (results / "mine" / "notes.json").write_text("{}")
    first = run_backprop("report", "results", "--format", "csv", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert f"results of 5 students, written by an older grader, were moved to results/{STUDENTS}" in first.stderr
    assert f"ann/{SLUG}.json is not a result" in first.stderr, "damaged, and said as before"
    again = run_backprop("report", "results", "--format", "json", cwd=tmp_path)
    assert "moved" not in again.stderr
    assert {row["student"] for row in json.loads(again.stdout)} == set(students) - {"ann"}
    assert sorted(path.name for path in results.iterdir() if not path.name.startswith((".", "__"))) == [
        "mine",
        STUDENTS,
    ]
    assert (results / "mine" / "notes.json").is_file()
    assert LESSON.points > 0
