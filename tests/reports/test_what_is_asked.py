"""`backprop report`: what it takes, what it refuses in one line, and what it leaves alone."""

from __future__ import annotations

import io
import json
import re
import unicodedata
import weakref
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hostile_results import EVIL, LESSON, NAMES, Command, a_result, read_csv, texts, write
from lxml import html
from rich.console import Console

from autograder.judging.records.results import write_json
from autograder.reports.all_formats import make_all
from autograder.reports.class_results import ClassResults, StudentWork
from autograder.reports.formats import MAKERS, Order, make_report
from autograder.reports.gradescope_report import GradescopeReport
from autograder.reports.junit_report import JunitReport
from autograder.reports.safety import file_stem

pytestmark = pytest.mark.slow


def test_no_result_has_what_nobody_sees_and_its_data_are_whole(backprop: Command, hostile: Path) -> None:
    """What turns the direction of a line, or moves the cursor, is escaped: in files, JSON, on the screen."""
    texts = {file: file.read_bytes().decode() for file in hostile.rglob("*.json") if "__reports__" not in file.parts}
    for arguments in (("--format", "json"), ("--student", NAMES[0]), ("--student", NAMES[19])):
        texts[Path(*arguments, "screen")] = backprop("report", hostile, *arguments).stdout
    assert len(texts) > len(NAMES)
    for file, text in texts.items():
        assert {c for c in text if not c.isprintable()} <= {"\n"}, file
    data = json.loads(texts[Path("--format", "json", "screen")])
    assert {one["student"] for one in data} == set(NAMES), "and the data are what they were"
    assert any(exercise["message"] == EVIL for one in data for exercise in one["exercises"])


# What the command takes
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--format", "pdf"],
            "there is no format 'pdf'; there are terminal, json, html, csv, junit, gradescope, github",
        ),
        (["--format", "html,,csv"], "there is no format ''"),
        (["--format", "json,csv,terminal"], "json and terminal would go to standard output, one into the other"),
        (["--student", "nobody"], "there are no results of nobody in"),
        (["--student", "../results/ann"], "there are no results of ../results/ann in"),
        (["--due", "ch06,ch99"], "there is no lesson 'ch99'; there are ch01"),
        (["--hidden", "never"], "there is no visibility 'never'; there are hidden, after_due_date"),
        (["--format", "csv", "--out", "RESULTS"], "lies among the results"),
        (["--format", "csv", "--out", "RESULTS/ann"], "lies among the results"),
        (["--format", "html", "--book-url", "javascript:alert(1)"], "is neither an address (https://...) nor a folder"),
        (["--format", "csv", "--out", "RESULTS/../file/x"], "cannot be written (Not a directory)"),
    ],
)
def test_bad_input_gets_one_clear_line(
    backprop: Command, hostile: Path, bytes_before: Any, arguments: list[str], says: str
) -> None:
    (hostile.parent / "file").touch()
    done = backprop("report", hostile, *(argument.replace("RESULTS", str(hostile)) for argument in arguments))
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_pages_without_matplotlib_say_what_to_install_and_one_page_needs_none(
    backprop: Command, hostile: Path, tmp_path: Path
) -> None:
    (tmp_path / "no" / "matplotlib").mkdir(parents=True)
    (tmp_path / "no" / "matplotlib" / "__init__.py").write_text("raise ModuleNotFoundError(name='matplotlib')")
    without = {"PYTHONPATH": str(tmp_path / "no")}
    done = backprop("report", hostile, "--format", "html", "--out", tmp_path / "out", env=without)
    assert done.returncode == 2
    assert done.stderr == "backprop: html needs matplotlib: pip install 'backprop-course[instructor]'\n"
    assert not (tmp_path / "out").exists()
    done = backprop("report", hostile, "--format", "html", "--student", "ann", "--out", tmp_path / "out", env=without)
    assert done.returncode == 0, done.stderr
    assert [file.name for file in (tmp_path / "out").rglob("*.html")] == ["ann.html"]


@pytest.mark.parametrize("order", ["html,csv", "csv,html"])
def test_a_format_that_fails_takes_no_other_with_it(
    backprop: Command, hostile: Path, tmp_path: Path, order: str
) -> None:
    """`--format html,csv` without Matplotlib wrote nothing at all."""
    (tmp_path / "no" / "matplotlib").mkdir(parents=True)
    (tmp_path / "no" / "matplotlib" / "__init__.py").write_text("raise ModuleNotFoundError(name='matplotlib')")
    out, without = tmp_path / "out", {"PYTHONPATH": str(tmp_path / "no")}
    done = backprop("report", hostile, "--format", order, "--out", out, env=without)
    assert done.returncode == 2
    assert "backprop: html needs matplotlib: pip install 'backprop-course[instructor]'\n" in done.stderr
    assert {line.partition(":")[0] for line in done.stderr.splitlines()} == {"backprop", "csv"}
    assert len(read_csv(out / "grades.csv")) == len(NAMES)
    assert {file.suffix for file in out.rglob("*") if file.is_file()} == {".csv"}


def test_a_format_that_fails_in_the_middle_leaves_the_others_and_no_half_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    write(results, *(a_result(f"student-{i}") for i in range(3)))
    order = Order(ClassResults(results), tmp_path / "out", Console(file=io.StringIO()))

    def full(report: object, work: StudentWork) -> None:
        if work.student == "student-1":
            raise OSError(28, "No space left on device", "grades.xml")

    def wrong(report: object) -> list[str]:
        raise KeyError("student-2")

    monkeypatch.setattr(JunitReport, "add", full)
    monkeypatch.setattr(GradescopeReport, "finish", wrong)
    attempts = make_all(["junit", "csv", "gradescope"], order)
    assert attempts is not None
    junit, csv_, gradescope = (each.problem() for each in attempts)
    assert junit == "grades.xml cannot be written (No space left on device)"
    assert csv_ == ""
    assert re.fullmatch(
        r"gradescope cannot be made \(KeyError at test_what_is_asked\.py:\d+\); please report this", gradescope
    )
    assert len(read_csv(tmp_path / "out" / "grades.csv")) == 3
    assert not list((tmp_path / "out").glob("*.xml"))


def test_a_student_is_found_by_the_name_that_a_folder_of_ours_has(backprop: Command, tmp_path: Path) -> None:
    """Results of `__reports__` lie in `student __reports__`, and were those of nobody."""
    results = tmp_path / "results"
    write(results, a_result("student __reports__", message="wrong"))
    done = backprop("report", results, "--student", "__reports__")
    assert done.returncode == 0, done.stderr
    assert "add_vjp" in done.stdout


def test_files_that_are_no_results_are_named_and_passed_over(backprop: Command, tmp_path: Path) -> None:
    results = tmp_path / "results"
    write(results, a_result("ann", message="wrong"))
    good = a_result("x").to_json()
    damaged = {"points": {**good, "points": "many"}, "nan": {**good, "points": float("nan")}, "list": [], "ann2": good}
    for name, data in damaged.items():
        write_json(results / "students" / name / f"{LESSON}.json", data)
    (results / "students" / "cut").mkdir()
    (results / "students" / "cut" / f"{LESSON}.json").write_text('{"student": ')
    done = backprop("report", results, "--format", "csv,github")
    assert done.returncode == 0
    assert done.stderr.count("is not a result") == 4
    assert done.stderr.count(f"ann2/{LESSON}.json is the result of other work") == 1
    assert "Traceback" not in done.stderr
    assert [row["student"] for row in read_csv(results / "__reports__" / "grades.csv")] == ["ann"]


def test_a_student_is_found_whichever_way_the_name_is_written(backprop: Command, tmp_path: Path) -> None:
    """macOS writes ü as two characters."""
    results, name = tmp_path / "results", "Jörg Müller"
    write(results, a_result(unicodedata.normalize("NFD", name), message="wrong"))
    done = backprop("report", results, "--student", unicodedata.normalize("NFC", name))
    assert done.returncode == 0, done.stderr
    assert "add_vjp" in done.stdout


def test_reports_are_never_taken_for_results(backprop: Command, hostile: Path, bytes_before: Any) -> None:
    before = backprop("report", hostile, "--format", "json").stdout
    done = backprop("report", hostile, "--format", "html,csv,junit,gradescope")
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(\w+): .*__reports__", done.stderr, re.MULTILINE) == [
        "html",
        "csv",
        "csv",
        "junit",
        "gradescope",
    ]
    assert not list((hostile / "__reports__").glob("*.json")), "the grader looks for results there"
    after = backprop("report", hostile, "--format", "json")
    assert after.stdout == before
    assert after.stderr == ""
    assert {entry["student"] for entry in json.loads(before)} == set(NAMES)


@pytest.mark.parametrize("name", ["students/../x", "..", ".", "CON", "aux.txt", "a.", "x" * 81, "Ümit", *NAMES])
def test_file_names_are_safe_and_unique(name: str) -> None:
    stem = file_stem(name)
    assert re.fullmatch(r"[a-z0-9][a-z0-9._~-]{0,79}", stem)
    assert not re.fullmatch(r"(con|aux)(\..*)?", stem)
    assert stem not in {file_stem(other) for other in ["a", *NAMES] if other != name}
    assert (stem == name) == ("~" not in stem)


def test_no_format_keeps_what_it_has_reported(tmp_path: Path) -> None:
    results = tmp_path / "results"
    write(results, *(a_result(f"student-{i}") for i in range(12)))
    classroom = ClassResults(results)
    order = Order(classroom, tmp_path / "out", Console(file=io.StringIO()))
    alive: weakref.WeakSet[StudentWork] = weakref.WeakSet()
    with ExitStack() as stack:
        reports = [stack.enter_context(make_report(name, order)) for name in MAKERS if name != "nbgrader"]
        for work in classroom:
            alive.add(work)
            for report in reports:
                report.add(work)
            assert len(alive) <= 2, "the one at hand, and the one before it"


def test_a_real_class_is_graded_and_reported(backprop: Command, tmp_path: Path) -> None:
    """From submitted files to every format, by the commands themselves."""
    for student, mask in (("ann", "x > 0"), ("bob", "x >= 0")):
        (tmp_path / "class" / student).mkdir(parents=True)
        source = f"import numpy as np\n\ndef relu_vjp(g, x):\n    return (g * ({mask})).astype(x.dtype)\n"
        (tmp_path / "class" / student / f"{LESSON}.py").write_text(source)
    assert backprop("grade", "class", "--out", "results").returncode == 0
    done = backprop(
        "report", "results", "--format", "terminal,html,csv,junit,gradescope", env={"GITHUB_STEP_SUMMARY": ""}
    )
    assert done.returncode == 0, done.stderr
    assert "relu_vjp: relu one at zero" in done.stdout
    reports = tmp_path / "results" / "__reports__"
    bob = html.fromstring((reports / "students" / "bob.html").read_bytes())
    assert "the mask is x > 0" in texts(bob.xpath("//p[@class='next']")[0])
    assert texts(bob.get_element_by_id("ch06-vjps-relu-vjp").find("pre")).startswith("relu_vjp(g, x)")
    says = html.fromstring((reports / "index.html").read_bytes()).xpath("//ol[@class='mistakes']/li//p")
    assert [texts(one) for one in says] == ["The derivative at 0 is 0 here: the mask is x > 0, not x >= 0."]
    assert {row["student"]: row[LESSON] for row in read_csv(reports / "grades.csv")}["ann"] == "2"


def test_a_report_of_one_student_leaves_those_of_the_class_alone(
    backprop: Command, hostile: Path, tmp_path: Path
) -> None:
    for file in ("grades.csv", "exercises.csv", "junit.xml", "index.html"):
        (tmp_path / file).write_text("of the class")
    formats = ("--format", "html,csv,junit", "--out", tmp_path)
    assert backprop("report", hostile, "--student", "ann", *formats).returncode == 0
    assert {file.read_text() for file in tmp_path.iterdir() if file.is_file()} == {"of the class"}
    written = sorted(file.name for file in (tmp_path / "students").iterdir())
    assert written == ["ann.html", "ann~exercises.csv", "ann~grades.csv", "ann~junit.xml"]
    assert [row["student"] for row in read_csv(tmp_path / "students" / "ann~grades.csv")] == ["ann"]
