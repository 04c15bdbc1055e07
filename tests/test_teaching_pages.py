"""The commands of the book's pages for teachers, in a real shell, with exports of platforms.

Building the book runs every command of every page, and fails if an exit status or output is unexpected
(`book/_ext/terminal.py`). These tests check that such failures are found, and the results of sessions.
"""

from __future__ import annotations

import csv
import dataclasses
import importlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
import yaml
from nbgrader.api import Gradebook

from autograder.commands import app
from autograder.commands.exits import MEANINGS, ExitStatus
from autograder.judging.records.results import NOT_STORED
from autograder.reports.formats import MAKERS
from autograder.reports.result_keys import KEYS
from autograder.worker.landlock import landlock_abi
from course.syllabus import find_lesson

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 1, reason="submissions cannot be confined here, so `grade` stops"),
]

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "book").glob("teach_*.md"))
UNRUN = {"it needs the network", "it needs Docker", "it needs a Kubernetes cluster"}
"""Allowed beginnings of a block's `:unrun:` option."""
COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def extension(name: str) -> ModuleType:
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


sessions, class_exports, terminal = extension("sessions"), extension("class_exports"), extension("terminal")
kept_runs = extension("kept_runs")


def steps_on(page: Path, session: str | None = None) -> list[Any]:
    return [step for step in sessions.steps_of(page.read_text("utf-8")) if session in (None, step.session)]


def platform(name: str) -> list[Any]:
    return steps_on(ROOT / "book" / "teach_platforms.md", name)


def faults(steps: list[Any]) -> list[str]:
    return [f"line {step.line}: {step.fault}" for step in steps if step.fault]


# ---- every command


def test_a_command_that_does_not_is_seen() -> None:
    page = (
        "# P\n\n```{terminal} empty\necho one\nbackprop salt --none\necho two\n```\n\n```{terminal} empty\nfalse\n```\n"
    )
    first, second = sessions.follow(sessions.steps_of(page))
    assert first.fault.startswith("`backprop salt --none` ended with 2 and not with 0")
    assert first.outputs[0] == "one\n"
    assert not second.outputs, "what comes after a fault is not tried"
    expected = sessions.follow(sessions.steps_of("```{terminal} empty\n:status: 2\nbackprop salt --none\n```\n"))
    assert faults(expected) == []
    (nowhere,) = sessions.follow(sessions.steps_of("```{terminal} gone\ntrue\n```\n"))
    assert "there is no session 'gone'" in nowhere.fault


@pytest.mark.parametrize(
    ("command", "printed", "status", "fault"),
    [
        ("backprop report results --student ann", "ann: 5 of 63 points\n", 0, ""),
        (
            "backprop report results --student ann",
            "ann: nothing\n",
            0,
            "`backprop report results --student ann` prints",
        ),
        ("cp a b", "", 0, ""),
        ("cp a b", "cp: overwritten\n", 0, "`cp a b` prints 'cp: overwritten"),
        ("backprop grade class --out x", "backprop: class: no such folder\n", 2, ""),
        ("backprop grade class --out x", "Traceback\n", 2, "`backprop grade class --out x` prints 'Traceback"),
        ("perl x.pl", "fine", 0, "`perl x.pl` is of no kind that expected_output.py knows"),
    ],
)
def test_what_a_command_should_not_print_is_seen(command: str, printed: str, status: int, fault: str) -> None:
    step = sessions.Step("terminal", "empty", 1, f"{command}\n", options={"status": str(status)}, outputs=[printed])
    found = terminal.faults(step)
    assert len(found) == bool(fault)
    assert all(one.startswith(fault) for one in found)


def test_a_shell_keeps_what_was_typed_before() -> None:
    page = "```{terminal} empty\nexport A=1\nmkdir x && cd x\necho $A \\\n  two\npwd\n```\n"
    (step,) = sessions.follow(sessions.steps_of(page))
    assert step.outputs == ["", "", "1 two\n", "x\n"]


@pytest.fixture
def used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that pages use, in a repository that has only this."""
    file = tmp_path / "course" / "shown.py"
    file.parent.mkdir()
    file.write_text("1", encoding="utf-8")
    for name, value in {"ROOT": tmp_path, "FOLDER": tmp_path / "kept", "BOOK": tmp_path}.items():
        monkeypatch.setattr(kept_runs, name, value)
    kept_runs.folder.cache_clear()
    yield file
    kept_runs.folder.cache_clear()


def run_page(page: str) -> tuple[list[list[str]], int]:
    """What the commands of a page say, and how many of its faults are seen."""
    steps = sessions.steps_of(page)
    terminal.run_or_recall("page", page, steps)
    return [step.outputs for step in steps], sum(len(terminal.faults(step)) for step in steps)


def test_commands_run_again_when_anything_changed_that_they_may_use(used: Path) -> None:
    page = "```{terminal} empty\ncat /proc/sys/kernel/random/uuid\n```\n"
    first = run_page(page)
    assert run_page(page) == first
    assert run_page(f"{page}More.\n") != first
    before = run_page(page)
    used.write_text("2", encoding="utf-8")
    assert run_page(page) == before, "in one build, nothing changes"
    kept_runs.folder.cache_clear()
    second = run_page(page)
    assert second != before
    os.utime(kept_runs.folder() / kept_runs.MADE, (0, 0))
    kept_runs.folder.cache_clear()
    assert run_page(page) != second, "after some days all run again"
    (own,) = (used.parents[1] / "kept").iterdir()
    assert own == kept_runs.folder()


def test_a_page_with_a_fault_is_not_kept(used: Path) -> None:
    page = "```{terminal} empty\ncat /proc/sys/kernel/random/uuid\n```\n```{terminal} empty\nls gone\n```\n"
    (first, wrong), (second, still) = run_page(page), run_page(page)
    assert wrong == still == 1
    assert first != second


def test_no_command_of_the_pages_is_left_out() -> None:
    for page in PAGES:
        text = page.read_text("utf-8")
        assert not re.findall(r"^```(?:sh|bash|console|shell)\b", text, re.MULTILINE), page
        assert text.count("```{terminal}") == sum(step.kind == "terminal" for step in steps_on(page))
        for step in steps_on(page):
            assert step.runs or any(step.options["unrun"].startswith(why) for why in UNRUN), (page, step.line)


def test_every_option_that_a_sentence_names_is_there() -> None:
    options = {option for command in COMMANDS.values() for one in command.params for option in one.opts}
    options |= {option for command in COMMANDS.values() for one in command.params for option in one.secondary_opts}
    others = {"--memory-limit", "--local-directory", "--lifetime", "--no-deps", "--index-url"}  # Dask's and pip's
    for page in PAGES:
        prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        said = set(re.findall(r"`[^`\n]*?(--[a-z][a-z-]*)", prose))
        assert said <= options | others, page
        for command in re.findall(r"`backprop ([a-z]+)", prose):
            assert command in COMMANDS, page


# ---- results of the commands


def test_a_class_of_sixty_on_canvas(tmp_path: Path) -> None:
    """Two teams, two late students (one with an extension), one without a hand-in, one copy, two namesakes."""
    who = class_exports.SmallClass(60)
    late, more_time = who.late
    class_exports.canvas(tmp_path, who)
    (tmp_path / "results").mkdir()
    rules = f"""
timezone = "UTC"
penalty = 10
[lessons.ch06]
due = 2027-03-01T12:00:00
[[extension]]
student = "{who.user(more_time)}@x.edu"
lesson = "ch06"
days = 3
"""
    for place in who.late:
        rules += f'[[handed_in]]\nstudent = "{who.user(place)}@x.edu"\nlesson = "ch06"\nat = 2027-03-03T09:00:00\n'
    (tmp_path / "results" / "rules.toml").write_text(rules)
    steps = platform("canvas")
    sessions.follow_in(tmp_path, steps)
    assert faults(steps) == []
    assert "on the roster, and handed in nothing here: Jo Jones" in steps[0].outputs[0]
    reports = tmp_path / "results" / "__reports__"
    with (reports / "canvas.csv").open(encoding="utf-8", newline="") as file:
        header, possible, *rows = csv.reader(file)
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ch06: VJPs (501)"]
    assert possible == ["    Points Possible", "", "", "", "", f"{class_exports.WORTH:.2f}"]
    assert [row[0] for row in rows] == [f"{last}, {first}" for last, first in who.names]
    points = [row[-1] for row in rows]
    assert [place for place, said in enumerate(points) if not said] == [who.nothing]
    for _, members in who.teams:
        assert len({points[place] for place in members}) == 1
    with (reports / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        grades = {row["student"]: row for row in csv.DictReader(file)}
    assert len(grades) == 60
    last, first = who.names[-1]
    assert {f"{first} {last} ({who.user(place)}@x.edu)" for place in (58, 59)} <= grades.keys()
    graded = [float(grades[f"{first} {last}"]["ch06_vjps graded"]) for last, first in (who.names[i] for i in who.late)]
    assert float(points[late]) == pytest.approx(graded[0] * 0.8)
    assert float(points[more_time]) == graded[1]
    assert "20% off" in grades["Hana Hill"]["remark"]
    assert "for the team Gradients" in grades["Dan Díaz"]["remark"]
    assert len(list((reports / "students").glob("*.html"))) == 60


def test_the_copy_stands_first(tmp_path: Path) -> None:
    page = ROOT / "book" / "teach_moderation.md"
    outputs = {
        command: said
        for step in sessions.follow(steps_on(page), size=30)
        for command, said in zip(step.commands, step.outputs, strict=False)
    }
    (alike,) = [said for command, said in outputs.items() if command.startswith("backprop similarity")]
    assert "Ben Baker and Emi Evans" in alike.splitlines()[1]


def test_nbgraders_gradebook_has_the_points(tmp_path: Path) -> None:
    class_exports.nbgrader(tmp_path, class_exports.SmallClass())
    steps = platform("nbgrader")
    sessions.follow_in(tmp_path, steps)
    assert faults(steps) == []
    feedback = tmp_path / "course" / "feedback" / "ada" / "ch02_chain_rule"
    assert (feedback / "ch02_chain_rule.html").is_file()
    assert "ada" in (tmp_path / "course" / "grades.csv").read_text()
    with Gradebook(f"sqlite:///{tmp_path / 'course' / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission("ch02_chain_rule", "ada").score == find_lesson("ch02_chain_rule").points


# ---- the reference


def test_the_reference_has_every_command() -> None:
    text = (ROOT / "book" / "teach_reference.md").read_text("utf-8")
    said = re.findall(r"^### (\w+)\n\n```\{command\} (\w+)\n```$", text, re.MULTILINE)
    assert [heading for heading, _ in said] == [name for _, name in said]
    assert {name for _, name in said} == set(COMMANDS)


def test_every_key_and_every_exit_status_is_explained() -> None:
    for record, keys in KEYS.items():
        fields = {one.name for one in dataclasses.fields(record)} - set(NOT_STORED)
        assert keys.keys() == fields
    assert list(MEANINGS) == list(ExitStatus)
    for file in (ROOT / "autograder" / "commands").glob("*.py"):
        assert not re.findall(r"typer\.Exit\(\d|code=\d", file.read_text("utf-8")), file


def test_formats_have_words_and_platforms_a_section() -> None:
    platforms = (ROOT / "book" / "teach_platforms.md").read_text("utf-8")
    for name in MAKERS.keys() & {"canvas", "moodle", "blackboard", "brightspace", "nbgrader", "gradescope"}:
        assert f"--format {name}" in platforms, name
    titles = re.findall(r"^## (.+)$", platforms, re.MULTILINE)
    for name in ("Canvas", "Moodle", "Blackboard", "Brightspace", "Gradescope", "nbgrader", "GitHub"):
        section = re.split(r"^## ", platforms.partition(f"\n## {name}\n")[2], flags=re.MULTILINE)[0]
        assert name in titles
        assert "*Tried*: " in section, name
        assert "*Not tried*: " in section, name


def test_the_pages_are_in_the_book_and_link_to_what_is_there() -> None:
    parts = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text())["parts"]
    (listed,) = [part["chapters"] for part in parts if part["caption"] == "For teachers"]
    assert {one["file"] for one in listed} == {page.stem for page in PAGES}
    for page in PAGES:
        for file in re.findall(r"\{repo\}`([^`]+)`", page.read_text("utf-8")):
            assert (ROOT / file).exists(), file
