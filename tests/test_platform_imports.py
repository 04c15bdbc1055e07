"""Each platform's import rules applied to our files: existing entries are kept, and outdated ones of ours removed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import platform_imports
import pytest
from platform_imports import CH05, CH06, CLASS, Book, Entry
from small_results import RULES, SLUG, a_result, write

from autograder.classroom.class_record import ClassRecord, HandedIn
from autograder.reports.anonymous import NAMED
from autograder.reports.formats import MAKERS

pytestmark = pytest.mark.slow

Command = Callable[..., subprocess.CompletedProcess[str]]
FOLDER = Path(platform_imports.__file__).parent
PLATFORMS = sorted({*NAMED, *(name for name, (module, _) in MAKERS.items() if ".platforms." in module)})
"""All platforms for which `backprop report` writes files."""
ADA, BOB, EVE, KIM, LOU = CLASS
MORE_TIME = '[[extension]]\nstudent = "Ada King"\nlesson = "ch06"\ndays = 3\n'


def gradebook(platform: str) -> Book:
    """A platform's gradebook: points and comments that people gave, and excused entries if it supports them."""
    excused = Entry(excused=True) if platform == "canvas" else Entry(70.0)
    book = {(one.login, CH05): Entry(20.0) for one in CLASS}
    book |= {(BOB.login, CH06): Entry(45.0, comment="see me"), (EVE.login, CH06): Entry(30.0)}
    book |= {(ADA.login, CH06): Entry(comment="well done"), (KIM.login, CH06): excused, (LOU.login, CH06): excused}
    if platform == "gradescope":  # there, the only points of a hand-in are those of its own last run
        book = {key: entry for key, entry in book.items() if key[0] != EVE.login}
    return book


def rules_of(platform: str) -> Any:
    return import_module(f"platform_imports.{platform}")


CASES = [
    (platform, variant)
    for platform in PLATFORMS
    if (FOLDER / f"{platform}.py").is_file()
    for variant in rules_of(platform).VARIANTS
]


def test_every_platform_has_its_rules_of_import() -> None:
    assert [name for name in PLATFORMS if not (FOLDER / f"{name}.py").is_file()] == []


@pytest.mark.parametrize(("platform", "variant"), CASES)
def test_nothing_that_was_there_is_lost_and_nothing_of_ours_stays(
    backprop: Command, tmp_path: Path, platform: str, variant: str
) -> None:
    """Three reports: of a late hand-in, with an extension, and after its deletion; and notebooks without work."""
    rules, there, ada = rules_of(platform), gradebook(platform), (ADA.login, CH06)
    hand_ins = [a_result(rules.named(ADA))]
    if platform != "gradescope":
        hand_ins += [a_result(rules.named(EVE), 0), a_result(rules.named(EVE), 0, CH05)]
    excused = variant != "no export" and there[LOU.login, CH06].excused
    if excused:
        hand_ins.append(a_result(rules.named(LOU), 5))
    late = {rules.named(ADA): HandedIn("2027-03-03T11:00:00+00:00")}  # two days, one of them free: 10 %
    results = write(tmp_path / "results", *hand_ins, at=late)

    def report(text: str, before: Book) -> tuple[Entry, Book, str]:
        """What Ada has afterwards, and the others, after the export of now went out and came back."""
        (results / "rules.toml").write_text(text.replace("[lessons.ch06]", "[lessons.ch05]\n[lessons.ch06]"))
        rosters = rules.write_export(tmp_path, variant, before)
        given = [part for roster in rosters for part in ("--roster", roster)]
        out = tmp_path / "reports"
        done = backprop("report", results, "--format", platform, "--out", out, *given, *rules.options(tmp_path))
        assert done.returncode == 0, done.stderr
        after = rules.imported(out, before, variant)
        return after[ada], {key: entry for key, entry in after.items() if key != ada}, done.stderr

    full = rules.VARIANTS[variant]
    others = {key: entry for key, entry in there.items() if key != ada}
    hers, after, said = report(RULES, there)
    assert (hers.grade, after) == (full and pytest.approx(0.9 * full), others)
    assert hers.comment.startswith("well done")
    if excused:
        assert "ch06_vjps: excused there, and stay so; give these their points there: Lou Fox" in said
    hers, after, _ = report(RULES + MORE_TIME, {ada: hers, **others})
    assert (hers.grade, after) == (full and pytest.approx(full), others)
    assert hers.comment.startswith("well done")
    assert "days late" not in hers.comment
    record = ClassRecord(results)
    for folder in record._folders.values():
        folder.handed_in -= {(rules.named(ADA), SLUG)}
    record.write()
    hers, after, said = report(RULES, {ada: hers, **others})
    assert after == others
    if platform == "nbgrader":  # where we know which points are ours
        assert hers == there[ada]
        assert "scores taken back, since what was handed in is gone or excused: adaking" in said
    else:
        assert hers.grade == full
    assert not list((tmp_path / "reports").rglob("*.*")) or excused
