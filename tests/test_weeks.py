"""A class's mistakes by week, and a dashboard's suggestions for the next lecture."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from lxml import html
from test_gradebook import LESSON, SLUG, a_result, only, read, table, write
from test_rosters import CANVAS, GROUPS

from autograder.classroom.class_record import HandedIn
from autograder.gradebook.class_files import ClassFiles
from autograder.gradebook.rules import Rules, read_rules
from autograder.judging.records.results import SubmissionResult
from autograder.reports.class_results import ClassResults, StudentWork
from autograder.reports.pages import in_words
from autograder.reports.statistics import ClassStatistics
from autograder.reports.weeks import ClassWeeks

Command = Callable[..., subprocess.CompletedProcess[str]]

SUM = "Sum g over the axes that broadcasting added."


def wrong(result: SubmissionResult, name: str, misconception: str | None, says: str) -> SubmissionResult:
    """A result in which one exercise fails."""
    exercises = [
        replace(one, status="failed", points=0.0, misconception=misconception, message=says)
        if one.name == name
        else one
        for one in result.exercises
    ]
    return replace(result, exercises=exercises)


def weeks_of(rules: Rules, *works: tuple[SubmissionResult, str]) -> ClassWeeks:
    weeks = ClassWeeks(rules)
    for result, at in works:
        weeks.add(StudentWork(result.student, (result,), counted_at={result.lesson: HandedIn(at)} if at else {}))
    return weeks


def test_a_hand_in_is_of_the_week_in_which_it_came_where_the_class_lives(tmp_path: Path) -> None:
    rules = read_rules(table(tmp_path, "rules.toml", 'timezone = "Europe/Berlin"\n'))
    ann, bob = a_result("ann"), a_result("bob")
    found = weeks_of(rules, (ann, "2026-11-15T23:30:00+00:00"), (bob, "2026-11-15T23:30:00"))  # a Sunday, in London
    assert [(week.begins, week.hand_ins) for week in found.weeks] == [(date(2026, 11, 9), 1), (date(2026, 11, 16), 1)]


def test_else_of_the_week_in_which_it_was_due_else_of_its_lesson(tmp_path: Path) -> None:
    rules = read_rules(table(tmp_path, "rules.toml", "[lessons.ch06]\ndue = 2026-11-12T23:59:00\n"))
    found = weeks_of(rules, (a_result("ann"), ""), (a_result("ann", lesson="ch07_mlp_backprop"), ""))
    assert [week.title for week in found.weeks] == ["ch07_mlp_backprop", "9 Nov 2026"]
    assert not weeks_of(Rules(), (a_result("ann"), "")).has_dates


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_no_class_has_seen_ends_no_report(tmp_path: Path, at: str) -> None:
    """Such a time can be in the record of a class that an older grader read."""
    rules = read_rules(table(tmp_path, "rules.toml", 'timezone = "Europe/Berlin"\n[lessons.ch06]\ndue = 2026-11-12\n'))
    assert [week.title for week in weeks_of(rules, (a_result("ann"), at)).weeks] == ["9 Nov 2026"]
    assert in_words(at) == at
    results = write(tmp_path / "results", a_result("ann"), at={"ann": HandedIn(at)})
    table(results, "rules.toml", "penalty = 10\n[lessons.ch06]\ndue = 2026-11-12\n")
    found, _ = read(results)
    assert only(found["ann"]).points == a_result("ann").points


def test_the_lecture_is_about_what_many_got_wrong_in_the_last_week() -> None:
    works = [(a_result(f"s{i}", 16), "2026-11-10T08:00:00") for i in range(20)]
    works[:8] = [(wrong(result, "add_vjp", "unsummed", SUM), at) for result, at in works[:8]]
    works[15:] = [(wrong(result, "mul_vjp", None, "17 ≠ 4"), at) for result, at in works[15:]]
    works[0] = (wrong(works[0][0], "sum_vjp", "alone", "Only one."), works[0][1])
    works.append((wrong(a_result("late"), "max_vjp", "late", "Late."), "2026-12-01T08:00:00"))
    weeks = weeks_of(Rules(), *works)
    assert weeks.latest is not None
    assert weeks.latest.title == "9 Nov 2026"  # one who is late makes no week
    assert [(one.exercise, one.count, one.tried, one.says) for one in weeks.points()] == [
        ("add_vjp", 8, 20, SUM),
        ("mul_vjp", 5, 20, ""),
    ]
    assert weeks.points()[0].section == "backprop read ch06/add_vjp"
    known = weeks.known()
    assert "relu_vjp" in known
    assert not {"add_vjp", "mul_vjp"} & set(known)
    assert [(one.having, one.exercise) for one in weeks.mistakes(weeks.weeks[0])] == [(8, "add_vjp"), (1, "sum_vjp")]


@pytest.mark.parametrize("anonymous", [False, True])
def test_a_teams_hand_in_is_one_work_however_many_members_it_has(tmp_path: Path, *, anonymous: bool) -> None:
    results = write(tmp_path / "results", wrong(a_result("kingada_101"), "add_vjp", "unsummed", SUM), a_result("zoe"))
    kept = ClassFiles.at(results, [table(tmp_path, "canvas.csv", CANVAS), table(tmp_path, "groups.csv", GROUPS)])
    classroom = ClassResults(results, people=kept.people, anonymous=anonymous)
    statistics, weeks = ClassStatistics(classroom.lessons, classroom.due), ClassWeeks(Rules())
    for work in classroom:
        statistics.add(work)
        weeks.add(work)
    (week,) = weeks.weeks
    assert (week.hand_ins, week.tried[SLUG, "add_vjp"]) == (2, 2)
    assert [(one.having, one.exercise) for one in weeks.mistakes(week)] == [(1, "add_vjp")]
    assert (statistics.students, statistics.percent.total(), statistics.statuses.total()) == (3, 3, 2)


@pytest.mark.slow
def test_a_dashboard_has_both_and_an_anonymous_one_no_answers(backprop: Command, tmp_path: Path) -> None:
    given = [wrong(a_result(name), "add_vjp", "unsummed", SUM) for name in ("ann", "bob", "cy")]
    when = dict(zip(("ann", "bob", "cy"), map(HandedIn, ("2026-11-03", "2026-11-10", "2026-11-11")), strict=True))
    results = write(tmp_path / "results", *given, at=when)
    for options, has_lecture in (((), True), (("--anonymous",), False)):
        run = backprop("report", results, "--format", "html", *options)
        assert run.returncode == 0, run.stderr
        page = html.fromstring((results / "__reports__" / "index.html").read_text(encoding="utf-8"))
        lecture = "".join(page.xpath("//section[@id='lecture']//text()"))
        weeks = " ".join("".join(page.xpath("//section[@id='weeks']//text()")).split())
        assert (SUM in lecture and "What it comes down to" in lecture) == has_lecture
        known = [one.name for one in LESSON.exercises if one.name != "add_vjp"]
        left_out = f"{', '.join(known[:6])} and {len(known) - 6} more: at least nine in ten"
        assert (left_out in lecture) == has_lecture
        assert "2 Nov 2026ch06 1 1 of 1 add_vjp" in weeks
        assert "9 Nov 2026ch06 2 2 of 2 add_vjp" in weeks
    assert SLUG in (results / "__reports__" / "index.html").read_text(encoding="utf-8")
