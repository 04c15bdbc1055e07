"""Text that other people wrote never acts as anything but text in a terminal, page, spreadsheet or gradebook.

One class is graded whose students, files, cells, errors, rosters and notes are hostile. Commands and formats are listed
from the code, so that a new one needs a row here and is then tested with all of it.
"""

from __future__ import annotations

import ast
import csv
import html as entities
import io
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import ROOT, run_backprop
from hostile_results import NAMES, a_result, unreadable, write
from lxml import html
from markdown_it import MarkdownIt
from typer.main import get_command
from typer.testing import CliRunner

from autograder.commands import app, check_formats
from autograder.commands.similarity import FORMATS as OF_SIMILARITY
from autograder.notebook.card import message
from autograder.reports.formats import MAKERS
from autograder.reports.safety import TableWriter, cell, markup

pytestmark = pytest.mark.slow

MOVES = "\x1b[31mred\x1b]0;title\x07\x9b2J\x90dcs\x9c\x08\r \u202ertl\u2066\u200b\u2028"
TAGS = (
    "<evil-tag evil=1><script>evil()</script><img src=evil onerror=evil()> [evil](javascript:evil) &lt;b&gt; {{ 7*7 }}"
)
FORMULA = "=cmd|' -C evil'!A1"
TEXT = f"{FORMULA} {MOVES} {TAGS} \0 \ud800 \n# evil\n````\n<evil-tag>"
"""Hostile content for a field of any text."""
NAME = f"{FORMULA}{MOVES}{TAGS}".replace("/", "∕")[:100]
"""Hostile names for files and folders."""
SLUG = "ch06_vjps"
ALLOWED = {"\n"}
OUR_PAGE = re.compile(r"(students/[a-z0-9._~-]+\.html)?(#[a-z0-9-]+)?")


def hidden_in(text: str) -> set[str]:
    """The invisible characters, and those that control a terminal."""
    return {c for c in text if not c.isprintable()} - ALLOWED


def live_in(page: str) -> list[str]:
    """Elements and attributes of a page that are not ours: a hostile name, or a place that interprets text."""
    found = []
    for element in html.fromstring(f"<div>{page}</div>" if "<html" not in page else page).iter():
        tag = str(element.tag)
        names = {name: str(value) for name, value in element.attrib.items()}
        obeyed = [names.get(name, "") for name in ("href", "src", "style", "action", "content", "http-equiv")]
        if tag in ("script", "style"):
            obeyed.append(element.text_content())
        if "evil" in tag or any("evil" in name or name.startswith("on") for name in names):
            found.append(tag)
        found += [value for value in obeyed if "evil" in value and not OUR_PAGE.fullmatch(value)]
    return found


@dataclass(frozen=True)
class Places:
    """Paths of the hostile inputs."""

    folder: Path
    work: Path
    """A learner's folder made by somebody else: hostile name, notebook and progress file."""
    said: str
    """The output of grading the class."""


def source() -> str:
    """A module that prints, raises and returns hostile text."""
    return (
        f"TEXT = {TEXT!r}\n# {TAGS}\nprint(TEXT)\n"
        "def relu_vjp(g, x):\n    print(TEXT)\n    raise type(TEXT.replace(chr(0), ''), (Exception,), {})(TEXT)\n"
        "def add_vjp(g, a, b):\n    return {TEXT: TEXT}\n"
        "def mul_vjp(g, a, b):\n    return TEXT\n"
    ).replace("type(TEXT.replace(chr(0), '')", "type(TEXT.encode('ascii', 'ignore').decode().replace(chr(0), '')")


def notebook() -> str:
    """The same as a notebook with hostile metadata and a cell that is not Python."""
    plain = TEXT.encode("utf-8", "replace").decode()
    cells = [
        nbformat.v4.new_code_cell(source().replace("\\ud800", ""), metadata={"exercise": "relu_vjp", "tags": [plain]}),
        nbformat.v4.new_code_cell(f"import {TAGS}{MOVES}", metadata={"exercise": plain, plain: plain}),
        nbformat.v4.new_markdown_cell(plain),
    ]
    made = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": plain, "display_name": plain}, "title": plain}
    )
    return json.dumps(made)


def progress(**changed: Any) -> dict[str, Any]:
    entry = {"status": "failed", "points": 0, "tried": "2026-01-01T00:00:00+00:00", "tries": 1, "of": 1, "file": "f.py"}
    return entry | changed


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """A class with results and the teacher's files, and a learner's work folder."""
    folder = tmp_path_factory.mktemp("hostile_text")
    work = folder / NAME
    files = {
        f"class/{NAME}/{SLUG}.ipynb": notebook(),
        f"class/{NAME}/{NAME}.py": "x = 1\n",
        "class/ann/ch06_vjps.py": source(),
        "class/bob/ch06_vjps.py": f"import {TAGS}\n",
        f"class/{NAME[:40]}_123_456_{NAME[:40]}.pdf": "",
        f"class/{NAME[:60]}.tar.gz": "",
        f"{NAME}/{SLUG}.ipynb": notebook(),
        f"{NAME}/ch01_computation_graph.py": f"import {TAGS}\n",
        f"{NAME}/{SLUG}{NAME[:60]}.py": "",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass")
    (folder / os.fsdecode(b"class/caf\xe9\x9b")).mkdir()
    (folder / os.fsdecode(b"class/caf\xe9\x9b") / "ch06_vjps.py").write_text("")
    exercises = {
        f"{SLUG}/{name}": progress(**{field: TEXT if field != "tried" else f"{MOVES}{TAGS}"})
        for name, field in (("add_vjp", "status"), ("mul_vjp", "file"), ("relu_vjp", "tried"), ("sum_vjp", "passed"))
    }
    exercises |= {
        "ch01_computation_graph/topological_order": progress(status=TEXT),
        TEXT: progress(),
        f"a{TEXT}": {TEXT: 1},
    }
    (work / "progress.json").write_text(json.dumps({"about": TEXT, TEXT: TEXT, "exercises": exercises}))
    result = {"status": "passed", "points": 1, "of": 1, "best": 1, "misconception": TEXT}
    page = {"answers": {"ch06-relu_vjp": TEXT, "ch06-add_vjp": source()}, "own": [{"before": TEXT, "source": TEXT}]}
    whole = {"format": "backprop-progress", "version": 1, "saved": TEXT, TEXT: TEXT}
    theirs = {SLUG: {**page, "results": {"relu_vjp": result, "none": result}}, "ch01_computation_graph": page}
    (work / "theirs.json").write_text(json.dumps({**whole, "pages": {**theirs, "ch02_chain_rule": page}}))
    (work / "no.json").write_text(json.dumps({**whole, "pages": {TEXT: page}}))
    plain = TEXT.encode("utf-8", "replace").decode().replace("\0", "")
    with (folder / "roster.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "id", "mail", "login", "section", "team"])
        rows.writerow([plain, f"1{MOVES}", f"{TAGS}@x.edu", "ann", plain, plain])
        rows.writerow([NAME, f"2{TAGS}", "bob@x.edu", "bob", plain, plain])
    done = run_backprop("grade", "class", "--out", "results", "--roster", "roster.csv", cwd=folder)
    assert done.returncode == 3, done.stderr
    write(folder / "raw", *(a_result(name, message=TEXT, file=TEXT) for name in NAMES), unreadable(NAMES[0]))
    said = json.dumps(plain)
    for results, who in (("results", "ann"), ("raw", "con")):
        (folder / results / "rules.toml").write_text(f"title = {said}\n[lessons.ch06]\ncolumn = {json.dumps(TAGS)}\n")
        (folder / results / "overrides.toml").write_text(
            f'[[override]]\nstudent = "{who}"\nlesson = "ch06"\npoints = 1\ncomment = {said}\n'
            f'[[override]]\nstudent = {said}\nlesson = "ch06"\npoints = 1\n'
        )
    return Places(folder, work, done.stdout + done.stderr)


COMMANDS: dict[str, list[list[str]]] = {
    "start": [["start", ".", "ch06"], ["start", f"{MOVES}{TAGS}/ch06"]],
    "status": [["status"], ["status", NAME]],
    "hint": [["hint"], ["hint", "ch06/relu_vjp"], ["hint", NAME]],
    "next": [["next"]],
    "check": [
        ["check", "ch06/relu_vjp", "--exact", "--format", ",".join(check_formats.FORMATS), "--out", "checked"],
        ["check", NAME],
        ["check", "ch01"],
    ],
    "watch": [["watch", "ch06/mul_vjp"]],
    "reset": [["reset", "ch06/relu_vjp"], ["reset", f"ch06/{NAME}"]],
    "solution": [["solution", "ch06/relu_vjp", "--anyway"], ["solution", NAME]],
    "save": [["save"], ["save", "progress.json"], ["save", NAME]],
    "load": [["load", "theirs.json"], ["load", "no.json"], ["load", NAME]],
    "read": [["read", f"ch06-{NAME}"], ["read", "ch06/relu_vjp", "--no-browser"]],
    "grade": [["grade", f"../class/{NAME}", "--out", "../other"], ["grade", NAME]],
    "report": [["report", NAME], ["report", "../results", "--student", NAME]],
    "similarity": [["similarity", "../class", "--results", "../results"], ["similarity", NAME]],
    "release": [["release", ".", NAME], ["release", "."]],
    "nbgrader": [["nbgrader", ".", NAME]],
    "salt": [["salt"]],
    "trust": [["trust"], ["trust", NAME]],
    "memory": [["memory", NAME], ["memory", "--gpu", NAME]],
    "new": [["new", "exercise", NAME], ["new", NAME]],
    "build": [["build", "--check", NAME], ["build", NAME]],
}
"""By command: lines to type in a folder that somebody else has filled."""


def said_by(places: Places, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(places.work)
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "120", "GITHUB_STEP_SUMMARY": ""})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.stdout + done.stderr


@pytest.mark.parametrize("command", get_command(app).commands)  # type: ignore[attr-defined]
def test_no_command_prints_control_characters(command: str, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("watchfiles.watch", lambda *_, **__: iter(()))
    for arguments in COMMANDS[command]:
        said = said_by(places, arguments, monkeypatch)
        assert said.strip()
        assert hidden_in(said) == set(), (arguments, said)
    if command == "check":
        for file in (places.work / "checked").rglob("*.*"):
            assert hidden_in(file.read_text(encoding="utf-8")) == set(), file


def test_grading_and_results_contain_only_visible_characters(places: Places) -> None:
    assert "\\x1b[31mred" in places.said
    assert hidden_in(places.said) == set()
    for file in [*(places.folder / "results").rglob("*.json"), places.folder / "results" / ".hand-ins.json"]:
        assert hidden_in(file.read_text(encoding="utf-8")) == set(), file


@dataclass(frozen=True)
class Reported:
    """A format's files and its output."""

    files: dict[str, bytes]
    said: str


def reported(
    places: Places, results: str, format_: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> Reported:
    out = places.folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    monkeypatch.chdir(places.folder)
    line = ["report", results, "--format", format_, "--out", str(out), "--roster", "roster.csv", *options]
    done = CliRunner().invoke(app, line, env={"COLUMNS": "120", "GITHUB_STEP_SUMMARY": ""})
    assert done.exit_code == 0, done.output
    return Reported(
        {str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()},
        done.stdout if format_ == "github" else done.stdout + done.stderr,
    )


@pytest.mark.parametrize("results", ["results", "raw"])
@pytest.mark.parametrize("format_", MAKERS)
def test_no_report_has_live_text(
    format_: str, results: str, places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`raw`: unescaped results, edited by hand; the grader escapes text when it writes results."""
    options = ["--hidden", "visible", "--book-url", "https://book.example"]
    if format_ == "nbgrader":
        options += ["--gradebook", f"sqlite:///{tmp_path}/gradebook.db"]
    found = reported(places, results, format_, options, monkeypatch)
    assert found.files or found.said
    assert hidden_in(found.said) == set()
    for name, data in found.files.items():
        text = data.decode("utf-16" if name.endswith(".xls") else "utf-8").removeprefix("\ufeff")
        if name.endswith((".csv", ".xls")):
            dialect = csv.excel_tab if name.endswith(".xls") else csv.excel
            for row in csv.reader(io.StringIO(text), delimiter=";"):  # as Excel does in locales with decimal commas
                assert not [one for one in row if one.lstrip(' "').startswith(("=", "@"))], name
            for row in list(csv.reader(io.StringIO(text), dialect))[1:]:
                assert not [one for one in row if hidden_in(one)], name
                assert not [one for one in row if one.lstrip().startswith(("=", "@")) or re.match(r"\s*[-+]\D", one)], (
                    name
                )
                if name.startswith("moodle"):
                    assert live_in("".join(row[3:])) == []
        else:
            assert hidden_in(text) == set(), name
        if name.endswith(".html"):
            assert live_in(text) == [], name
    if format_ == "github":
        assert live_in(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(found.said)) == []
    if format_ == "nbgrader":
        assert list(_comments(tmp_path / "gradebook.db"))
        for comment in _comments(tmp_path / "gradebook.db"):
            assert hidden_in(comment) == set()
            assert live_in(_as_nbgrader_shows(comment)) == []


def test_every_table_uses_table_writer() -> None:
    """Formerly canvas.csv and moodle/gradebook.csv did not use it, so that `a;=1` was a formula where `;` separates."""
    files = [file for file in (ROOT / "autograder").rglob("*.py") if "csv.writer(" in file.read_text(encoding="utf-8")]
    assert [file.name for file in files] == ["safety.py"]
    table = io.StringIO()
    TableWriter(table).writerow(["a;=cmd|' calc'!A0;b", 'a; "+1', "a\t@x", "1;2"])
    TableWriter(table, numbers=True).writerow(["a;=1", 1.5])
    for delimiter in ",;\t":
        for row in csv.reader(io.StringIO(table.getvalue()), delimiter=delimiter):
            assert not [one for one in row if one.strip(' "').startswith(("=", "+", "@", "-"))], delimiter


def _comments(database: Path) -> Iterator[str]:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{database}", "backprop") as gradebook:
        for student in gradebook.students:
            for submission in student.submissions:
                for written in submission.notebooks:
                    yield from (one.auto_comment for one in written.comments if one.auto_comment)


def _as_nbgrader_shows(comment: str) -> str:
    """A comment as nbgrader's feedback template renders it."""
    from nbconvert.filters import markdown2html

    return str(markdown2html(comment))


@pytest.mark.parametrize("format_", OF_SIMILARITY)
def test_no_comparison_has_live_text(format_: str, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    out = places.folder / "alike"
    shutil.rmtree(out, ignore_errors=True)
    monkeypatch.chdir(places.folder)
    line = ["similarity", "class", "--format", format_, "--out", str(out), "--roster", "roster.csv"]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.output
    assert hidden_in(done.stdout + done.stderr) == set()
    for file in out.rglob("*"):
        assert hidden_in(file.name) == set()
        if file.suffix in (".html", ".json"):
            assert hidden_in(file.read_text(encoding="utf-8")) == set()
        if file.suffix == ".html":
            assert live_in(file.read_text(encoding="utf-8")) == []


def test_each_output_has_its_escaping_function() -> None:
    assert live_in(markup(TEXT)) == []
    assert entities.unescape(markup(TAGS)) == TAGS
    assert hidden_in(markup(TEXT)) == set()
    assert live_in("".join(message(TEXT.replace("\0", "").replace("\ud800", "")))) == []
    assert cell(FORMULA) == f"'{FORMULA}"


def test_commands_and_reports_print_only_with_escaping_functions() -> None:
    """`echo`, `say` and `Screen` escape; another console, or a bare print, would not."""
    ours = {"autograder/commands/console.py", "autograder/reports/screen.py"}
    for part in ("commands", "reports", "similarity"):
        for file in (ROOT / "autograder" / part).rglob("*.py"):
            if file.relative_to(ROOT).as_posix() in ours:
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                assert called not in ("print", "typer.echo", "typer.secho", "Console", "rich.print"), (
                    f"{file}: {called}"
                )
