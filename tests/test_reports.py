"""The reports of a class, each read by what it is written for, whatever learners called themselves and printed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import subprocess
import unicodedata
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from browser import Visit, served, visit
from junitparser import Error, Failure, JUnitXml
from lxml import etree, html
from markdown_it import MarkdownIt
from rich.console import Console

from autograder.judging.records.results import CheckResult, ExerciseResult, SubmissionResult, write_json
from autograder.judging.records.status import ExerciseStatus
from autograder.reports.all_formats import make_all
from autograder.reports.class_results import ClassResults, StudentWork
from autograder.reports.formats import MAKERS, Order, make_report
from autograder.reports.gradescope_report import GradescopeReport
from autograder.reports.junit_report import JunitReport
from autograder.reports.safety import file_stem
from autograder.wording import clean
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

Command = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[1]
SCHEMA = json.loads(Path(__file__).with_name("gradescope_results.schema.json").read_text())
LESSON = "ch06_vjps"
PHONE = 360
"""Width in CSS pixels of a small phone."""

NAMES = [
    "ann",
    "Ann",
    "bob@example.com @octocat #1",
    "=HYPERLINK(A1)",
    "+1",
    "-2+3",
    "@SUM(A1)",
    "＝1",
    " =1",
    "\t=1",
    "'=1",
    '"quoted", and; separated',
    "<img src=x onerror=\"document.title='pwned'\">",
    "<script>document.title='pwned'<",
    "{{ 7*7 }}{% raise %}",
    "| a | `tick` ``` *star* _u_ [x](y) <b> \\| \\",
    "www.evil.example",
    "two\nlines",
    "\x1b[31mred\x07",
    "\u202egnp.exe",
    "a\u2028b",
    "n" * 255,
    os.fsdecode(b"caf\xe9"),
    "&lt;b&gt; ]]> -->",
    "con",
    "index",
    "students",
    "class-reports",
    "日本語",
]
EVIL = (
    "</pre></style></script></title><script>fetch('http://evil.example/script')</script>\n"
    "<img src='http://evil.example/image' onerror='document.title=1'> {{ 7*7 }} {% for %}\n"
    "````\n"
    "  ]]> --> ``` ```` | | \x00\x08\x0b\x1b[2J\ufffe\ud800 \u202e *nan\n"
    "<meta http-equiv=refresh content='0;url=http://evil.example/meta'><base href='http://evil.example/'>"
)
"""A message with all that could end what it stands in."""


def a_result(student: str, *, lesson: str = LESSON, message: str = EVIL, file: str | None = None) -> SubmissionResult:
    """A result in which the first exercise passes, the second fails with a message, and the rest is not written."""
    exercises = []
    for place, listed in enumerate(find_lesson(lesson).exercises):
        statuses: tuple[ExerciseStatus, ...] = ("passed", "partial", "error", "missing")
        status = statuses[min(place, 3)]
        points = listed.points if status == "passed" else listed.points / 2 if status == "partial" else 0.0
        said = {"passed": "", "missing": f"{listed.name} is not written yet."}.get(status, message)
        mistake = "add_not_summed" if status == "partial" else None
        checks = [
            CheckResult(f"test_{listed.name}", visible, promise, status == "passed", said)
            for visible, promise in ((True, "value"), (False, "instrumented"))
        ]
        exercises.append(
            ExerciseResult(
                listed.name,
                points,
                listed.points,
                status,
                said,
                mistake,
                listed.hints[0],
                0.25,
                checks,
                [mistake] if mistake else [],
            )
        )
    return SubmissionResult(
        student=student,
        lesson=lesson,
        file=file or f"{lesson}.py",
        sha256=hashlib.sha256(student.encode(errors="surrogatepass")).hexdigest(),
        grader_version="0.1.0+abc",
        isolation="sandbox (Landlock ABI 7)",
        points=sum(exercise.points for exercise in exercises),
        max_points=find_lesson(lesson).points,
        status="graded",
        message="",
        exercises=exercises,
        salt_sha256="s",
    )


def unreadable(student: str, lesson: str = "ch07_mlp_backprop") -> SubmissionResult:
    result = a_result(student, lesson=lesson)
    result.status, result.message, result.points, result.exercises = "unreadable", EVIL.replace("\n", " "), 0.0, []
    return result


def write(folder: Path, *results: SubmissionResult) -> None:
    for result in results:
        write_json(folder / result.student / f"{result.lesson}.json", result.to_json())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a class whose learners mean no good."""
    folder = tmp_path_factory.mktemp("hostile") / "results"
    write(folder, *(a_result(name, file='x"><svg onload=alert(1)>.py') for name in NAMES), unreadable(NAMES[0]))
    return folder


@pytest.fixture
def bytes_before(hostile: Path) -> Any:
    """Whatever is reported, the grader's files stay as they are."""

    def content() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in sorted(hostile.rglob("*.json")) if "__reports__" not in file.parts}

    before = content()
    yield before
    assert content() == before


def test_no_format_has_what_nobody_sees(backprop: Command, hostile: Path, tmp_path: Path) -> None:
    """What turns the direction of a line, or moves a terminal's cursor, is shown as what it is."""
    formats = "html,csv,junit,gradescope,github"
    summary = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    assert backprop("report", hostile, "--format", formats, "--out", tmp_path / "out", env=summary).returncode == 0
    texts = {file: file.read_bytes().decode() for file in tmp_path.rglob("*") if file.is_file()}
    texts |= {file: file.read_bytes().decode() for file in hostile.rglob("*.json") if "__reports__" not in file.parts}
    for arguments in ((), ("--format", "json"), ("--student", NAMES[0]), ("--student", NAMES[19])):
        texts[Path(*arguments, "screen")] = backprop("report", hostile, *arguments).stdout
    assert len(texts) > 2 * len(NAMES)
    for file, text in texts.items():
        shown = text.removeprefix("\ufeff").replace("\r\n", "\n" if file.suffix == ".csv" else "\r\n")
        assert {c for c in shown if not c.isprintable()} <= {"\n"}, file
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
        r"gradescope cannot be made \(KeyError at test_reports\.py:\d+\); please report this", gradescope
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
        write_json(results / name / f"{LESSON}.json", data)
    (results / "cut").mkdir()
    (results / "cut" / f"{LESSON}.json").write_text('{"student": ')
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


# CSV


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as text:
        return list(csv.DictReader(text, strict=True))


def test_the_gradebook_has_a_row_a_student_and_no_formulas(
    backprop: Command, hostile: Path, bytes_before: Any, tmp_path: Path
) -> None:
    assert backprop("report", hostile, "--format", "csv", "--out", tmp_path / "out").returncode == 0
    rows = read_csv(tmp_path / "out" / "grades.csv")
    assert len(rows) == len(NAMES)
    assert len({row["student"] for row in rows}) == len(NAMES)
    for row in rows:
        assert not re.match(r"\s*[=+\-@＝＋－＠]", row["student"])
        assert row["student"].isprintable()
        assert (row[LESSON], row[f"{LESSON} max"]) == ("4.5", "63")
        assert (row["total"], row["total max"]) == ("4.5", "86")
    by_name = {row["student"]: row for row in rows}
    assert by_name["ann"]["ch07_mlp_backprop"] == "0"
    assert by_name["Ann"]["ch07_mlp_backprop"] == "", "not handed in"
    assert "'=HYPERLINK(A1)" in by_name
    first = (tmp_path / "out" / "grades.csv").read_text(encoding="utf-8-sig").splitlines()[1:]
    assert all(line.startswith('"') for line in first), "a separator in a name could begin a cell elsewhere"
    long = read_csv(tmp_path / "out" / "exercises.csv")
    assert len(long) == 18 * len(NAMES) + 1
    assert {row["status"] for row in long} == {"passed", "partial", "error", "missing", "unreadable"}
    assert sum(float(row["points"]) for row in long) == pytest.approx(4.5 * len(NAMES))


# JUnit


def test_junit_is_read_by_its_readers(backprop: Command, hostile: Path, bytes_before: Any, tmp_path: Path) -> None:
    assert backprop("report", hostile, "--format", "junit", "--out", tmp_path / "out").returncode == 0
    file = tmp_path / "out" / "junit.xml"
    etree.parse(file, etree.XMLParser(recover=False, resolve_entities=False))
    suites = list(JUnitXml.fromfile(str(file)))
    assert len(suites) == len(NAMES) + 1
    assert {suite.name for suite in suites} >= {f"{clean(name, 300)}/{LESSON}" for name in NAMES}
    for suite in suites:
        outcomes = [type(case.result[0]) if case.result else None for case in suite]
        counts = (len(outcomes), outcomes.count(Failure), outcomes.count(Error))
        assert counts == (suite.tests, suite.failures, suite.errors)
        assert counts in ((18, 16, 1), (1, 0, 1))
    told = next(suite for suite in suites if suite.name == f"ann/{LESSON}")
    failure = next(case.result[0] for case in told if case.name == "mul_vjp")
    assert failure.type == "add_not_summed"
    assert "fetch('http://evil.example/script')" in failure.message
    assert "\\x00\\x08\\x0b\\x1b[2J\\ufffe\\ud800 \\u202e" in failure.text
    assert {entry.name for entry in told.properties()} >= {"file", "sha256", "isolation"}


# Gradescope


def test_gradescope_files_follow_the_documented_format(
    backprop: Command, hostile: Path, bytes_before: Any, tmp_path: Path
) -> None:
    assert backprop("report", hostile, "--format", "gradescope", "--out", tmp_path / "out").returncode == 0
    files = sorted((tmp_path / "out" / "gradescope").iterdir())
    assert len(files) == len(NAMES)
    for file in files:
        data = json.loads(file.read_text(encoding="utf-8"))
        jsonschema.validate(data, SCHEMA)
        with_points = [test for test in data["tests"] if "score" in test]
        assert sum(test["score"] for test in with_points) == pytest.approx(data["score"])
        assert all(test["visibility"] == "visible" for test in with_points), "or students see no total"
        hidden = [test for test in data["tests"] if "(hidden input)" in test["name"]]
        assert len(hidden) == 18
        assert {test["visibility"] for test in hidden} == {"hidden"}
        assert len({test["number"] for test in data["tests"]}) == len(data["tests"])
    ann = json.loads((tmp_path / "out" / "gradescope" / "ann.json").read_text(encoding="utf-8"))
    assert sum(test.get("max_score", 0) for test in ann["tests"]) == 63 + 23
    assert "sha256" in ann["output"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**ann, "tests": [{**ann["tests"][0], "status": "partial"}]}, SCHEMA)


def test_gradescope_of_one_student_has_the_name_it_asks_for(backprop: Command, hostile: Path, tmp_path: Path) -> None:
    options = ("--format", "gradescope", "--student", "ann", "--hidden", "after_due_date", "--out", tmp_path / "out")
    assert backprop("report", hostile, *options).returncode == 0
    assert [file.name for file in (tmp_path / "out" / "gradescope").iterdir()] == ["results.json"]
    data = json.loads((tmp_path / "out" / "gradescope" / "results.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, SCHEMA)
    assert {test["visibility"] for test in data["tests"]} == {"visible", "after_due_date"}


# GitHub


def rendered(markdown: str) -> Any:
    """Markdown as GitHub renders it: tables, bare addresses as links, HTML let through."""
    return html.fromstring(f"<div>{MarkdownIt('gfm-like', {'html': True}).render(markdown)}</div>")


def test_the_summary_is_a_table_with_the_right_cells(
    backprop: Command, hostile: Path, bytes_before: Any, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = backprop("report", hostile, "--format", "github", env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert done.stdout == ""
    assert f"appended to {summary}" in done.stderr
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    page = rendered(text)
    assert {part.tag for part in page.iter()} <= {
        *("div", "p", "h3", "h4", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td")
    }
    students = page.xpath("//table")[-1]
    assert [len(row) for row in students.iter("tr")] == [4] * (len(NAMES) + 1)
    names = [row[0].text_content() for row in students.iter("tr")][1:]
    assert names == [clean(name, 300) for name in sorted(NAMES)]
    assert {row[1].text_content() for row in students.find("tbody")} == {"4.5/63"}


def test_the_summary_of_a_student_shows_messages_as_they_are(backprop: Command, hostile: Path, tmp_path: Path) -> None:
    done = backprop("report", hostile, "--format", "github", "--student", "ann", env={"GITHUB_STEP_SUMMARY": ""})
    page = rendered(done.stdout)
    assert not page.xpath("//script | //img | //meta | //a | //base")
    assert [part.text_content() for part in page.xpath("//summary")] == ["mul_vjp", "matmul_vjp"]
    blocks = page.xpath("//details/pre/code")
    assert len(blocks) == 2
    assert blocks[0].text_content().splitlines()[0] == EVIL.splitlines()[0]
    assert [len(row) for row in page.xpath("//table")[0].iter("tr")] == [4] * 19


def test_the_summary_stays_within_the_limit(backprop: Command, tmp_path: Path) -> None:
    results, summary = tmp_path / "results", tmp_path / "summary.md"
    write(results, *(a_result(f"{i:03}{'|' * 240}", message="wrong") for i in range(80)))
    summary.write_text("x" * (1024 * 1024 - 50_000))
    backprop("report", results, "--format", "github", env={"GITHUB_STEP_SUMMARY": str(summary)})
    text = summary.read_text()
    assert 1024 * 1024 - 3_000 < len(text.encode()) <= 1024 * 1024
    left_out = int(re.findall(r"_(\d+) students more", text)[0])
    assert len(re.findall(r"^\| <code>\d{3}&", text, re.MULTILINE)) + left_out == 80


# Pages


@pytest.fixture(scope="module")
def pages(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages of the hostile class."""
    from typer.testing import CliRunner

    from autograder.commands import app

    out = tmp_path_factory.mktemp("pages")
    options = ["--format", "html", "--out", str(out), "--book-url", "https://book.example/", "--hidden", "visible"]
    assert CliRunner().invoke(app, ["report", str(hostile), *options]).exit_code == 0
    return out


def test_pages_lead_to_the_published_book_unless_another_is_named(hostile: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from autograder.commands import app

    order = ["report", str(hostile), "--student", "ann", "--format", "html", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, order, env={"BACKPROP_BOOK": "https://published.example/"})
    assert done.exit_code == 0
    assert "--book-url" not in done.output
    page = html.fromstring((tmp_path / "students" / "ann.html").read_bytes())
    address = "https://published.example/ch06_vjps.html#ch06-mul-vjp"
    assert address in page.xpath("//a/@href")


def texts(element: Any) -> str:
    return str(element.text_content())


def test_a_page_a_student_and_a_dashboard_hold_what_learners_wrote_as_text(pages: Path, bytes_before: Any) -> None:
    files = [pages / "index.html", *sorted((pages / "students").iterdir())]
    assert len(files) == 1 + len(NAMES)
    ours = re.compile(r"^(https://book\.example/ch0[67]\w+\.html(#[\w-]+)?|#[\w-]+|students/[a-z0-9._~-]+\.html)$")
    for file in files:
        page = html.fromstring(file.read_bytes())
        scripts = page.xpath("//script")
        assert len(scripts) == (file.parent == pages)
        assert not page.xpath("//img | //iframe | //base | //link | //object | //form[@action]")
        assert len(page.xpath("//style")) == 1
        assert len(page.xpath("//meta[@http-equiv]")) == 1
        assert not page.xpath("//@*[starts-with(name(), 'on')] | //@style | //@src")
        assert all(ours.match(address) for address in page.xpath("//@href"))
        assert "49" not in texts(page.find("body").find("header")), "a template in a name"
    ann = html.fromstring((pages / "students" / "ann.html").read_bytes())
    assert texts(ann.xpath("//h1")[0]) == "ann"
    mistake = ann.get_element_by_id("ch06-vjps-mul-vjp")
    assert texts(mistake.xpath(".//p[contains(@class, 'lead')]")[0]) == EVIL.splitlines()[0]
    case = texts(mistake.find("pre"))
    assert case.startswith("  ]]> --> ``` ```` | | \\x00\\x08\\x0b\\x1b[2J\\ufffe\\ud800 \\u202e *nan")
    assert [texts(mark) for mark in mistake.xpath("pre/mark")] == ["*nan"]
    hints = find_lesson(LESSON).exercise("mul_vjp").hints
    staged = [texts(hint.find("p")) for hint in mistake.xpath(".//details[@class='hint']")]
    assert staged == list(hints)
    assert len(mistake.xpath("./details[@class='hint']")) == 1, "the next hint lies in the one before"
    assert mistake.xpath(".//a/@href") == ["https://book.example/ch06_vjps.html#ch06-mul-vjp"]
    assert {texts(row[2]) for row in mistake.xpath(".//tbody/tr")} == {"value", "instrumented"}
    everything = texts(ann)
    assert hashlib.sha256(b"ann").hexdigest() in everything
    assert "Landlock ABI 7" in everything
    assert 'x"><svg onload=alert(1)>.py' in everything


def test_the_dashboard_counts(pages: Path) -> None:
    page = html.fromstring((pages / "index.html").read_bytes())
    rows = page.get_element_by_id("table").find("tbody")
    assert [texts(row[0]) for row in rows] == [clean(name, 60) for name in sorted(NAMES)]
    linked = [pages / address for address in page.xpath("//table[@id='table']//a/@href")]
    assert sorted(linked) == sorted((pages / "students").iterdir())
    mistakes = page.xpath("//ol[@class='mistakes']/li")
    assert [texts(entry[0]) for entry in mistakes] == [str(len(NAMES))]
    counts = {
        texts(row[0]).split()[0]: (texts(row[1]), texts(row[2]))
        for row in page.xpath("//table[@class='exercises']//tr")
    }
    assert counts["add_vjp"] == ("100 %", "0")
    assert counts["mul_vjp"] == ("0 %", str(len(NAMES)))
    assert counts["relu_vjp"] == ("0 %", "0")
    assert len(page.xpath("//*[local-name()='svg'][@role='img']")) == 2
    assert "unreadable" in texts(page.get_element_by_id("overview"))


@pytest.fixture(scope="module")
def opened(pages: Path) -> dict[str, Visit]:
    """Some pages, opened from the disk as an instructor opens them."""
    names = ["index.html", "students/ann.html", f"students/{file_stem(NAMES[12])}.html"]
    return {name: visit((pages / name).as_uri()) for name in names}


def dashboard(backprop: Command, results: Path, *options: str) -> Any:
    """The dashboard of a class."""
    done = backprop("report", results, "--format", "html,csv", *options)
    assert done.returncode == 0, done.stderr
    return html.fromstring((results / "__reports__" / "index.html").read_bytes())


def test_versions_of_the_grader_are_compared_within_a_lesson(backprop: Command, tmp_path: Path) -> None:
    """Each lesson has a grader's version of its own."""
    other = a_result("ann", lesson="ch07_mlp_backprop", message="wrong")
    other.grader_version = "0.1.0+def"
    write(tmp_path / "results", a_result("ann", message="wrong"), other)
    overview = texts(dashboard(backprop, tmp_path / "results").get_element_by_id("overview"))
    assert "versions of the grader" not in overview
    old = a_result("bob", message="wrong")
    old.grader_version = "0.1.0+old"
    write(tmp_path / "results", old)
    overview = texts(dashboard(backprop, tmp_path / "results").get_element_by_id("overview"))
    assert "Results of 2 versions of the grader of ch06_vjps lie here" in overview
    assert "ch07" not in overview


def test_shares_are_of_what_was_due(backprop: Command, tmp_path: Path) -> None:
    early = a_result("bob", lesson="ch07_mlp_backprop", message="wrong")
    write(tmp_path / "results", a_result("ann", message="wrong"), a_result("bob", message="wrong"), early)

    def shares(page: Any) -> dict[str, str]:
        return {texts(row[0]): row[1].get("data-value") for row in page.get_element_by_id("table").find("tbody")}

    assert shares(dashboard(backprop, tmp_path / "results"))["ann"] == str(int(100 * 4.5 / (63 + 23)))
    page = dashboard(backprop, tmp_path / "results", "--due", "ch06,ch9", "--title", "Autumn <1>")
    assert shares(page) == dict.fromkeys(("ann", "bob"), str(int(100 * 4.5 / (63 + 21))))
    assert "Shares are of the 84 points of ch06_vjps, ch09_vanishing_gradients: what was due" in texts(page)
    assert texts(page.xpath("//h1")[0]) == "Autumn <1>"
    assert page.find("head/title").text == "Autumn <1>: 2 students"
    reports = tmp_path / "results" / "__reports__"
    for row in read_csv(reports / "grades.csv"):
        assert (row["total"], row["total max"], row["ch09_vanishing_gradients max"]) == ("4.5", "84", "21")
    bob = texts(html.fromstring((reports / "students" / "bob.html").read_bytes()))
    assert "4.5 of 84 points" in " ".join(bob.split())
    assert "not handed in" in bob
    assert bob.count("was not due") == 1, "of ch07"
    backprop("report", tmp_path / "results", "--format", "gradescope", "--student", "bob", "--due", "ch06,ch9")
    assert json.loads((reports / "gradescope" / "results.json").read_text(encoding="utf-8"))["score"] == 4.5


def test_scores_are_shown_with_their_maxima_and_the_page_is_not_called_after_a_folder(
    backprop: Command, tmp_path: Path
) -> None:
    write(tmp_path / "res", a_result("ann", message="wrong"))
    page = dashboard(backprop, tmp_path / "res")
    (row,) = page.get_element_by_id("table").find("tbody")
    assert texts(row[2]) == "4.5/63"
    assert page.find("head/title").text == "Backprop, by hand: 1 student"


@pytest.mark.parametrize("hidden", ["hidden", "after_due_date", "visible"])
def test_pages_show_checks_on_hidden_inputs_where_students_may_see_them(
    backprop: Command, tmp_path: Path, hidden: str
) -> None:
    write(tmp_path / "results", a_result("ann", message="wrong"))
    done = backprop("report", tmp_path / "results", "--format", "html", "--student", "ann", "--hidden", hidden)
    assert done.returncode == 0, done.stderr
    page = html.fromstring((tmp_path / "results" / "__reports__" / "students" / "ann.html").read_bytes())
    checks = page.get_element_by_id("ch06-vjps-mul-vjp").find_class("checks")[0]
    kinds = [texts(row[1]) for row in checks.find_class("wide")[0].iter("tr")][1:]
    assert kinds == (["visible", "hidden"] if hidden == "visible" else ["visible"])
    counted = "and 1 on hidden inputs, of which 0 pass"
    assert (counted in texts(checks.find("summary"))) == (hidden != "visible")


def test_pages_run_nothing_and_ask_nobody(opened: dict[str, Visit]) -> None:
    for name, seen in opened.items():
        assert [url for url in seen.requests if not url.startswith("file:")] == [], name
        assert seen.console == [], name
        page = html.fromstring(seen.dom)
        assert len(page.xpath("//script")) == (name == "index.html")
        assert not page.xpath("//img | //base | //@*[starts-with(name(), 'on')]")
        assert page.find("head/title").text != "pwned"
        assert "</footer>" in seen.dom


def test_the_policy_holds_where_escaping_would_fail(pages: Path, tmp_path: Path) -> None:
    """The same hostile text as markup: the browser refuses it, and does not without the policy."""
    safe = (pages / "students" / "ann.html").read_text(encoding="utf-8")
    attack = "<img src='http://evil.example/i'><script>fetch('http://evil.example/s')</script><p id=x onclick=1>"
    broken = safe.replace("</main>", f"{attack}</main>")
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", broken)
    for name, page in (("broken", broken), ("bare", bare)):
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
    assert [url for url in visit((tmp_path / "broken.html").as_uri()).requests if "evil" in url] == []
    reached = [url for url in visit((tmp_path / "bare.html").as_uri()).requests if "evil" in url]
    assert sorted(reached) == ["http://evil.example/i", "http://evil.example/s"]


USE = """<script>
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const frame = document.querySelector("iframe");
function say(name, value) {
  const line = document.createElement("b");
  line.title = name;
  line.textContent = value;
  document.body.append(line);
}
frame.onload = async () => {
  const page = frame.contentDocument, table = page.getElementById("table");
  const shown = () => Array.from(table.tBodies[0].rows).filter((row) => !row.hidden);
  const names = () => shown().map((row) => row.cells[0].textContent);
  function type(id, value) {
    page.getElementById(id).value = value;
    page.getElementById(id).dispatchEvent(new Event("input", { bubbles: true }));
  }
  say("width", page.documentElement.scrollWidth);
  say("first", names().length);
  page.getElementById("more").click();
  say("all", names().length);
  const share = table.tHead.rows[0].cells[1];
  share.querySelector("button").click();
  say("lowest", names()[0]);
  share.querySelector("button").click();
  say("highest", names()[0] + " " + share.getAttribute("aria-sort"));
  type("filter-name", "-7");
  say("named", names().sort().join());
  type("filter-name", "");
  page.querySelector("button[data-stuck]").click();
  await wait(50);
  say("stuck", page.getElementById("filter-stuck").value + " " + page.getElementById("shown").value);
  page.querySelector("button[type=reset]").click();
  await wait(50);
  page.querySelector("button[data-status]").click();
  await wait(50);
  say("lost", names().join());
  say("sized", Array.from(page.querySelectorAll("svg.figure text")).some((text) => text.getBBox().width > 0));
  say("ink", page.defaultView.getComputedStyle(page.querySelector("svg.figure text")).fill);
};
</script>"""


def test_the_dashboard_is_used_on_a_phone(backprop: Command, tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "out"
    for i in range(150):
        result = a_result(f"student-{i}", message="wrong")
        result.points = float(i % 60) if i != 77 else 63.0
        if i >= 140:
            result.exercises[1].status = "passed"
        write(results, result)
    write(results, unreadable("student-3"))
    assert backprop("report", results, "--format", "html", "--out", out).returncode == 0
    (out / "use.html").write_text(f'<iframe width="{PHONE}" height="700" src="index.html"></iframe>{USE}')
    with served(out) as site:
        seen = visit(f"{site}/use.html")
    assert seen.console == []
    said = dict(re.findall(r'<b title="(\w+)">([^<]*)</b>', seen.dom))
    assert int(said["width"]) <= PHONE
    assert (said["first"], said["all"]) == ("100", "150")
    assert said["lowest"] in ("student-0", "student-60", "student-120")
    assert said["highest"] == "student-77 descending"
    assert said["named"] == ",".join(["student-7", *(f"student-{i}" for i in range(70, 80))])
    assert said["stuck"] == "ch06_vjps/mul_vjp 140 of 150 students"
    assert said["lost"] == "student-3"
    assert (said["sized"], said["ink"]) == ("true", "rgb(86, 96, 114)"), "in the page's color"


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
