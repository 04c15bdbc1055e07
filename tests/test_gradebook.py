"""Which results of a class count, by its rules and the teacher's overrides."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from small_results import LESSON, MAX, RULES, SLUG, WORTH, a_result, write
from test_rosters import CANVAS, GROUPS, table

from autograder.classroom.class_record import ClassRecord, HandedIn
from autograder.gradebook.class_files import ClassFiles
from autograder.gradebook.rules import days_late, read_rules
from autograder.gradebook.table_file import TableError
from autograder.judging.records.results import SubmissionResult
from autograder.reports.class_results import ClassResults, StudentWork
from autograder.reports.pages import environment
from autograder.reports.safety import file_stem
from autograder.reports.statistics import ClassStatistics
from autograder.reports.weeks import ClassWeeks
from autograder.wording import counted, points_in_words
from course.syllabus import find_lesson

ROOT = Path(__file__).resolve().parents[1]
Command = Callable[..., subprocess.CompletedProcess[str]]


def read(folder: Path, *rosters: Path) -> tuple[dict[str, StudentWork], list[str]]:
    """The class, read with the files in a folder of results, and its problems."""
    kept = ClassFiles.at(folder, rosters)
    found = ClassResults(folder, people=kept.people, rules=kept.rules, overrides=kept.overrides)
    return {work.student: work for work in found}, found.problems


def only(work: StudentWork) -> SubmissionResult:
    (result,) = work.results
    return result


# Who is in the class


def test_everyone_on_the_roster_has_a_row_and_a_team_has_its_points(tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("kingada_101", 9))
    rosters = [table(tmp_path, "canvas.csv", CANVAS), table(tmp_path, "groups.csv", GROUPS)]
    rosters.append(table(tmp_path, "more.csv", "name,mail\nEve Lee,eve@x.edu\n"))
    found, problems = read(results, *rosters)
    assert not problems
    assert list(found) == ["Ada King", "Eve Lee", "Bob Müller"], "by last names, as platforms sort them"
    assert only(found["Bob Müller"]).points == only(found["Ada King"]).points > 0
    assert only(found["Bob Müller"]).message == "Handed in by Ada King for the team Engines."
    assert not only(found["Ada King"]).message
    assert found["Eve Lee"].results == ()
    rosters[1] = table(tmp_path, "groups.csv", GROUPS.replace("Engines", "Team 3"))
    assert only(read(results, *rosters)[0]["Bob Müller"]).message == "Handed in by Ada King for Team 3."


def test_the_better_of_two_platforms_hand_ins_counts(tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("kingada_101", 3), a_result("ada@x.edu", 9))
    found, _ = read(results, table(tmp_path, "canvas.csv", CANVAS))
    ada = only(found["Ada King"])
    assert ada.points == a_result("", 9).points
    assert "kingada_101 handed it in, too, with" in ada.message


# What counts as handed in


def test_a_notebook_without_work_changes_no_due_lessons_or_figures(tmp_path: Path) -> None:
    """One untouched ch05 among the hand-ins for ch06, and one untouched ch06."""
    class_ = [a_result("ann"), a_result("bob", 9), a_result("eve", 0), a_result("eve", 0, "ch05_autograd_engine")]
    results = write(tmp_path / "results", *class_)
    read_all = ClassResults(results)
    statistics = ClassStatistics(read_all.lessons, read_all.due)
    for work in read_all:
        statistics.add(work)
    assert read_all.due == (SLUG,)
    assert read_all.lessons == ("ch05_autograd_engine", SLUG), "what was handed in has a column all the same"
    assert statistics.max_points == WORTH
    assert statistics.median == int(100 * a_result("", 9).points / WORTH)
    ch06 = statistics.lessons[SLUG]
    assert (ch06.submissions, ch06.worked) == (3, 2)
    assert ch06.exercises[LESSON.exercises[0].name].pass_rate == 1
    table(results, "rules.toml", "[lessons.ch05]\n[lessons.ch06]\n")
    due = ClassResults(results, rules=read_rules(results / "rules.toml")).due
    assert due == ("ch05_autograd_engine", SLUG), "what the rules name is due, whatever was handed in"
    assert ClassResults(write(tmp_path / "none", a_result("eve", 0))).due == (SLUG,)


# Lateness


@pytest.mark.parametrize(
    ("at", "share", "says"),
    [
        ("2027-03-01T12:00:00+00:00", 1.0, ""),
        ("2027-03-01T12:00:01+00:00", 1.0, "1 day late (01 Mar 12:00:01, due 01 Mar 12:00:00); 1 day of 1 day taken"),
        ("2027-03-03T11:00:00+00:00", 0.9, "2 days late"),
        ("2027-03-03T13:00:00+02:00", 0.9, "2 days late"),
        ("2027-03-06T13:00:00", 0.5, "6 days late"),
        ("2027-03-08T13:00:00+00:00", 0.0, f"after 5 days nothing counts: {MAX} → 0 points"),
    ],
)
def test_lateness_costs_a_penalty_and_keeps_the_original_points(
    tmp_path: Path, at: str, share: float, says: str
) -> None:
    results = write(tmp_path / "results", a_result("ann"), at={"ann": HandedIn(at)})
    table(results, "rules.toml", RULES)
    found, problems = read(results)
    assert not problems
    ann = found["ann"]
    assert only(ann).points == pytest.approx(WORTH * share)
    assert says in only(ann).message
    assert ann.original.get(SLUG, only(ann).points) == WORTH
    assert ann.total is not None
    assert ann.total == pytest.approx((WORTH * share, WORTH))


@pytest.mark.parametrize(
    ("at", "due", "days"),
    [
        ("2027-10-30T21:59:00+00:00", "2027-10-30T23:59:00", 0),
        ("2027-10-30T22:00:00+00:00", "2027-10-30T23:59:00", 1),
        ("2027-10-31T22:59:00+00:00", "2027-10-30T23:59:00", 1),  # 25 hours, because of a clock change
        ("2027-03-28T22:00:00+00:00", "2027-03-27T23:59:00", 2),
        ("2027-01-15T23:00:00+00:00", "2027-01-15T23:59:00", 1),
        ("2027-01-15T22:58:00+00:00", "2027-01-15T23:59:00", 0),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_days_late_use_the_zones_offset_on_their_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, due: str, days: int, *, named: bool
) -> None:
    """Formerly, without a timezone, today's UTC offset applied all year, and no line named the zone."""
    monkeypatch.setenv("TZ", "Europe/Berlin" if named else "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        rules = read_rules(table(tmp_path, "rules.toml", f"[lessons.ch06]\ndue = {due}\n"))
        read_due = rules.of(SLUG).due
        assert read_due is not None
        assert days_late(datetime.fromisoformat(at), read_due) == days
        naive = datetime.fromisoformat(at).astimezone(rules.zone).replace(tzinfo=None)
        assert days_late(naive.replace(tzinfo=rules.zone), read_due) == days
        (said,) = rules.remarks
        assert "there is no timezone, so its times are this machine's, C" in said or "Europe/Berlin" in said
    finally:
        monkeypatch.undo()
        time.tzset()


def test_no_zone_is_required_without_times(tmp_path: Path) -> None:
    assert not read_rules(table(tmp_path, "rules.toml", "late_days = 3\n")).remarks
    assert not read_rules(table(tmp_path, "rules.toml", RULES)).remarks


def test_an_extension_moves_the_due_date(tmp_path: Path) -> None:
    extension = '[[extension]]\nstudent = "ann"\nlesson = "ch06"\ndays = 3\n'
    late = {"ann": HandedIn("2027-03-04T11:00:00+00:00"), "bob": HandedIn("2027-03-04T11:00:00+00:00")}
    results = write(tmp_path / "results", a_result("ann"), a_result("bob"), at=late)
    table(results, "rules.toml", RULES + extension)
    found, _ = read(results)
    assert only(found["ann"]).points == WORTH
    assert only(found["ann"]).message == "Extended to 04 Mar 12:00."
    assert only(found["bob"]).points == pytest.approx(WORTH * 0.8)
    assert f"20% off: {MAX} → {0.8 * WORTH:g} points" in only(found["bob"]).message


def test_rules_on_time_without_a_due_date_are_reported(tmp_path: Path) -> None:
    more = '[[extension]]\nstudent = "ann"\nlesson = "ch06"\ndays = 3\n'
    text = f"timezone = 'UTC'\n[lessons.ch07]\npenalty = 20\n{more}{more.replace('extension', 'handed_in')}"
    file = table(tmp_path, "rules.toml", text)
    no_date = "has no due date; write due = … under [lessons."
    assert read_rules(file).remarks == (
        f"{file}: extension 1 changes nothing: ch06_vjps {no_date}ch06]",
        f"{file}: handed_in 1 changes nothing: ch06_vjps {no_date}ch06]",
        f"{file}: lessons.ch07: its penalty changes nothing: ch07_mlp_backprop {no_date}ch07]",
    )


def test_a_teachers_days_count_from_the_class_due_date(tmp_path: Path) -> None:
    """A student with three more days who hands in two days after the class's due date is in time."""
    results = write(tmp_path / "results", a_result("ann"))
    more = '[[extension]]\nstudent = "ann"\nlesson = "ch06"\ndays = 3\n'
    table(results, "rules.toml", f"{RULES}{more}{more.replace('extension', 'handed_in').replace('3', '2')}")
    found, _ = read(results)
    assert only(found["ann"]).points == WORTH
    assert only(found["ann"]).message == "Extended to 04 Mar 12:00."


def test_late_days_are_spent_once_in_order_of_due_dates(tmp_path: Path) -> None:
    late = HandedIn("2027-03-02T11:00:00+00:00")
    other = "ch07_mlp_backprop"
    results = write(tmp_path / "results", a_result("ann"), a_result("ann", lesson=other))
    record = ClassRecord(results)
    for kept in record._folders.values():
        kept.times = {("ann", SLUG): late, ("ann", other): late}
    (results / ".unfinished").mkdir(exist_ok=True)
    record.write()
    table(results, "rules.toml", RULES + "[lessons.ch07]\ndue = 2027-03-01T08:00:00\n")
    found, _ = read(results)
    by_lesson = {result.lesson: result for result in found["ann"].results}
    assert "no penalty" not in by_lesson[SLUG].message
    assert by_lesson[SLUG].points == pytest.approx(WORTH * 0.9)  # ch07 was due first, and used the only day
    worth = find_lesson(other).points
    assert by_lesson[other].points <= worth - 0
    assert "taken from late days" in by_lesson[other].message


def test_unknown_lateness_costs_nothing_and_is_reported(tmp_path: Path) -> None:
    """Canvas's files only say that a student was late."""
    results = write(tmp_path / "results", a_result("ann"), at={"ann": HandedIn("", late=True)})
    table(results, "rules.toml", RULES)
    found, problems = read(results)
    assert only(found["ann"]).points == WORTH
    assert only(found["ann"]).message == "Late, says the platform, and not by how much: no penalty."
    how = "late, and no penalty, as no file says by how much; [[handed_in]] of the rules can say when"
    assert problems == [f"{SLUG}: {how}: ann"]
    table(results, "rules.toml", RULES.replace("penalty = 10", "penalty = 0").replace("most_days", "# most_days"))
    assert read(results)[1] == []
    said = '[[handed_in]]\nstudent = "ann"\nlesson = "ch06"\ndays = 3\n'
    table(results, "rules.toml", RULES + said)
    found, _ = read(results)
    assert only(found["ann"]).points == pytest.approx(WORTH * 0.8)
    table(results, "rules.toml", RULES + said.replace("days = 3", "days = 0"))
    found, problems = read(results)
    assert (only(found["ann"]).points, only(found["ann"]).message, problems) == (WORTH, "", []), "not late after all"


# What counts


def test_weights_and_the_exercises_that_count(tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("ann", 2), a_result("ann", 0, "ch07_mlp_backprop"))
    names = [one.name for one in LESSON.exercises[:4]]
    rules = f"[lessons.ch06]\nweight = 30\nexercises = {names}\n[lessons.ch07]\nweight = 10\nexercises = 'core'\n"
    table(results, "rules.toml", rules.replace("'", '"'))
    found, _ = read(results)
    worth = sum(one.points for one in LESSON.exercises[:4])
    have = sum(one.points for one in LESSON.exercises[:2])
    ch06, _ch07 = found["ann"].results
    assert (ch06.points, ch06.max_points) == (have, worth)
    assert ch06.message == f"4 of {len(LESSON.exercises)} exercises count here."
    assert found["ann"].total is not None
    assert found["ann"].total == pytest.approx((30 * have / worth, 40))


@pytest.mark.parametrize(
    ("points", "words"),
    [(9.52381, "9.52"), (20.0, "20"), (0.0, "0"), (4.5, "4.5"), (1234.567, "1234.57"), (1e308, "1e+308")],
)
def test_points_have_two_decimals_at_most(points: float, words: str) -> None:
    assert points_in_words(points, 20) == f"{words} of 20 points"
    assert environment().from_string("{{ n | points }}").render(n=points) == words


def test_one_of_something_is_singular() -> None:
    assert [counted(n, "repository", "repositories") for n in (0, 1, 2000)] == [
        *("0 repositories", "1 repository", "2,000 repositories")
    ]
    assert (counted(1.0, "day"), counted(2.5, "day"), points_in_words(0, 1)) == ("1 day", "2.5 days", "0 of 1 point")
    several = re.compile(
        r"[a-z)\]}:,]\}+ (?:submissions|students|hand-ins|files|pages|checks|exercises|repositories)\b"
    )
    folders = ("reports", "commands", "classroom", "gradebook", "nbgrader_course", "similarity", "learning")
    texts = (
        file for folder in folders for file in (ROOT / "autograder" / folder).rglob("*.*") if file.suffix != ".pyc"
    )
    raw = [
        f"{file.name}: {line.strip()}"
        for file in texts
        for line in file.read_text(encoding="utf-8").splitlines()
        if several.search(line) and not re.search(r"\{MOST_\w+(?::,)?\} files", line)
    ]
    assert raw == [], "say it with wording.counted"


@pytest.mark.slow
def test_overrides_are_in_every_report_and_survive_grading(backprop: Command, tmp_path: Path) -> None:
    folder = tmp_path / "class" / "ann"
    folder.mkdir(parents=True)
    wrong = "import numpy as np\n\n\ndef relu_vjp(g, x):\n    return g\n"
    (folder / "ch06_vjps.py").write_text(wrong)
    results = tmp_path / "results"
    assert backprop("grade", tmp_path / "class", "--out", results).returncode == 0
    decided = (
        '[[override]]\nstudent = "ann"\nlesson = "ch06"\nexercise = "relu_vjp"\npoints = 1.5\ncomment = "we talked"\n'
    )
    table(results, "overrides.toml", decided)
    for command in ((), ("--regrade",)):
        again = backprop("grade", tmp_path / "class", "--out", results, *command)
        assert "overrides.toml holds in every" in again.stdout
        for form in ("json", "csv,html,gradescope,canvas,moodle,blackboard,brightspace", "github", "terminal"):
            report = backprop("report", results, "--format", form)
            assert report.returncode == 0, report.stderr
            if form in ("json", "github"):
                assert "1.5" in report.stdout
                assert "we talked" in report.stdout
        reports = results / "__reports__"
        for name in ("grades.csv", "exercises.csv", "students/ann.html", "gradescope/results.json", "canvas.csv"):
            assert "1.5" in (reports / name).read_text(), name
        for name in ("grades.csv", "students/ann.html", "gradescope/results.json"):
            assert "we talked" in (reports / name).read_text(), name


def test_a_lesson_that_was_not_handed_in_can_be_given_points(tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("ann"))
    decided = '[[override]]\nstudent = "Eve"\nlesson = "ch06"\npoints = 40\ncomment = "oral"\n'
    table(results, "overrides.toml", decided)
    found, _ = read(results, table(tmp_path, "r.csv", "name\nEve\nann\n"))
    assert only(found["Eve"]).points == 40
    assert f"Not handed in. A teacher gave 40 of {MAX} points, not 0: oral." in only(found["Eve"]).message


def test_lessons_not_handed_in_are_in_no_statistics_of_hand_ins(backprop: Command, tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("ann", 9))
    decided = '[[override]]\nstudent = "Eve"\nlesson = "ch06"\npoints = 40\n'
    decided += '[[override]]\nstudent = "Bo"\nlesson = "ch06"\nexercise = "relu_vjp"\npoints = 2\n'
    table(results, "overrides.toml", decided)
    people = table(tmp_path, "r.csv", "name\nEve\nBo\nann\n")
    kept = ClassFiles.at(results, [people])
    for anonymous in (False, True):
        classroom = ClassResults(
            results, people=kept.people, rules=kept.rules, overrides=kept.overrides, anonymous=anonymous
        )
        counted, weeks = ClassStatistics(classroom.lessons, classroom.due), ClassWeeks(classroom.rules)
        for work in classroom:
            counted.add(work)
            weeks.add(work)
        lesson = counted.lessons[SLUG]
        assert (counted.students, counted.percent.total(), max(counted.percent)) == (3, 3, int(100 * 40 / WORTH)), (
            "they have points"
        )
        assert (lesson.submissions, lesson.worked, len(lesson.graders)) == (1, 1, 1)
        assert (len(counted.isolations), len(counted.salts)) == (1, 1)
        assert lesson.points == a_result("ann", 9).points
        assert lesson.exercises["relu_vjp"].students == 1
        assert [week.hand_ins for week in weeks.weeks] == [1]
    report = backprop("report", results, "--roster", people, "--format", "html,gradescope")
    assert report.returncode == 0, report.stderr
    reports = results / "__reports__"
    assert [file.name for file in (reports / "gradescope").iterdir()] == ["ann.json"]
    assert "1 submission: 1 graded" in backprop("report", results, "--roster", people).stdout
    assert "SHA-256" not in (reports / "students" / f"{file_stem('Eve')}.html").read_text()
    assert "SHA-256" in (reports / "students" / "ann.html").read_text()


def test_an_override_of_a_lesson_is_final(tmp_path: Path) -> None:
    """Regardless of which exercises count and of lateness; overrides of exercises are subject to lateness."""
    late = {name: HandedIn("2027-03-03T11:00:00+00:00") for name in ("ann", "ben")}  # two days, one of them free
    results = write(tmp_path / "results", a_result("ann"), a_result("ben"), at=late)
    table(results, "rules.toml", f'{RULES}exercises = "core"\n')
    whole = '[[override]]\nstudent = "ann"\nlesson = "ch06"\npoints = 30\n'
    one = '[[override]]\nstudent = "ben"\nlesson = "ch06"\nexercise = "relu_vjp"\npoints = 0\n'
    table(results, "overrides.toml", whole + one)
    found, problems = read(results)
    assert not problems
    assert only(found["ann"]).points == 30
    assert "A teacher gave 30 of" in only(found["ann"]).message
    core = sum(exercise.points for exercise in LESSON.exercises if exercise.tier == "core")
    assert only(found["ben"]).points == pytest.approx(0.9 * (core - LESSON.exercise("relu_vjp").points))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("due = 3", "there is no 'due'; there are extension, handed_in, late_days"),
        ("penalty = 200", "penalty must be a number from 0 to 100, not 200"),
        ("[lessons.ch99]", "lessons.ch99: there is no lesson 'ch99'"),
        ('[lessons.ch06]\ndue = "tomorrow"', "due must be a date or a time without quotes, as 2027-"),
        ("[lessons.ch06]\nexercises = ['no']", "ch06_vjps has no exercise 'no'"),
        ("[lessons.ch06]\nweight = 3\n[lessons.ch07]", "lessons.ch07_mlp_backprop has no weight and others have one"),
        ("[lessons.ch06]\ndue = 0001-01-01", "due must be in the years from 2000 to 2100, not 0001-01-01"),
        ('timezone = "Mars"', "there is no timezone 'Mars'"),
        ("[[extension]]\nlesson = 'ch06'\ndays = 1", "extension 1: student must be a text, and is missing"),
        ("[[extension]]\nstudent = 'a'\nlesson = 'ch06'", "extension 1: say until or days"),
        ("= 3", "is no TOML"),
    ],
)
def test_invalid_rules_are_one_clear_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(TableError) as caught:
        read_rules(table(tmp_path, "rules.toml", text))
    assert says in str(caught.value)
    assert str(tmp_path / "rules.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_names_are_reported(tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("ann"))
    table(results, "overrides.toml", '[[override]]\nstudent = "zoe"\nlesson = "ch06"\npoints = 1\n')
    _, problems = read(results)
    assert problems == [f"{results}/overrides.toml: override 1: nobody is called 'zoe'; it holds for nobody"]
