"""Platforms' gradebooks and tables all reflect the rules and the teacher's overrides."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from small_results import MAX, POSSIBLE, RULES, SLUG, WORTH, a_result, write
from test_rosters import BLACKBOARD, BRIGHTSPACE, CANVAS, WORKSHEET, table

from autograder.classroom.class_record import HandedIn
from autograder.gradebook.class_files import ClassFiles
from autograder.reports.anonymous import NAMED
from autograder.reports.class_results import ClassResults
from autograder.reports.formats import MAKERS
from autograder.reports.platforms.moodle import commented
from autograder.reports.platforms.numbers import number
from autograder.reports.safety import file_stem
from autograder.reports.statistics import ClassStatistics
from autograder.reports.weeks import ClassWeeks

Command = Callable[..., subprocess.CompletedProcess[str]]
SHOWN = (
    '<img src="@@PLUGINFILE@@/a.png">',
    "<audio src=a.mp3></audio>",
    "<video/>",
    "<hr>",
    "<!-- -->",
    "a<b",
    "&lt;p&gt;",
)
"""Feedback that Moodle shows, or that somebody wrote."""


def rows_of(file: Path, encoding: str = "utf-8", delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.read_text(encoding)), delimiter=delimiter))


def test_canvas_gets_its_own_rows_and_columns_back(backprop: Command, tmp_path: Path) -> None:
    """As lib/gradebook_importer.rb reads it: the header up to Section, Points Possible, IDs, `Title (id)`."""
    results = write(tmp_path / "results", a_result("kingada_101"), a_result("eve_999", 3))
    canvas = table(tmp_path, "canvas.csv", CANVAS.replace(POSSIBLE, "100.00"))
    report = backprop("report", results, "--format", "canvas", "--roster", canvas)
    assert report.returncode == 0, report.stderr
    assert rows_of(results / "__reports__" / "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ch06: VJPs (501)"],
        ["    Points Possible", "", "", "", "", "100.00"],
        ["King, Ada", "101", "s101", "ada@x.edu", "Lab 1", "100"],
        ["Müller, Bob", "102", "s102", "bob@x.edu", "Lab 1 and Lab 2", ""],
    ]
    assert f"ch06_vjps: points of {MAX} are scaled to the 100 of the column" in report.stderr
    assert "in no row of the roster, and not in this file: eve_999" in report.stderr


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        *(("1,000.00", 1000), ("1.000,00", 1000), ("1\u202f000,00", 1000), ("1'000.00", 1000), ("1,000", 1000)),
        *(("31,50", 31.5), ("31.50", 31.5), ("63,00000", 63), ("63.000", 63), ("1,234,567.5", 1234567.5)),
        *(("", 0), ("EX", 0), ("N/A", 0), ("(read only)", 0), ("12.34.56,7", 123456.7), (",", 0)),
    ],
)
def test_numbers_are_parsed_in_platforms_formats(text: str, worth: float) -> None:
    assert number(text, 63) == worth


@pytest.mark.parametrize("possible", ['"1,000.00"', '"1.000,00"'])
def test_canvas_scales_to_a_column_of_a_thousand(backprop: Command, tmp_path: Path, possible: str) -> None:
    results = write(tmp_path / "results", a_result("kingada_101"))
    canvas = table(tmp_path, "canvas.csv", CANVAS.replace(POSSIBLE, possible))
    report = backprop("report", results, "--format", "canvas", "--roster", canvas)
    assert rows_of(results / "__reports__" / "canvas.csv")[2][-1] == "1000"
    assert f"ch06_vjps: points of {MAX} are scaled to the 1000 of the column" in report.stderr


def test_the_newest_export_is_filled_in_and_an_old_copy_is_reported(backprop: Command, tmp_path: Path) -> None:
    """Students who joined later are only in the newer one, which a browser names `canvas (1).csv`."""
    results = write(tmp_path / "results", a_result("kingada_101"))
    kept = results / ".rosters"
    kept.mkdir()
    old = table(kept, "canvas.csv", CANVAS)
    os.utime(old, (1, 1))
    joined = CANVAS.replace("Lab 1 and Lab 2,,,", "Lab 2,EX,,") + '"Aho, Zoe",103,s103,zoe@x.edu,Lab 1,12.00,,\n'
    table(kept, "canvas (1).csv", joined)
    report = backprop("report", results, "--format", "canvas")
    cells = [row[-1] for row in rows_of(results / "__reports__" / "canvas.csv")[2:]]
    assert cells == [MAX, "EX", "12.00"]
    assert "canvas: ch06_vjps: points there stay, and there is no result here: Zoe Aho" in report.stderr
    assert "where there is no result, cells are as canvas (1).csv had them when you graded" in report.stderr
    given = backprop("report", results, "--format", "canvas", "--roster", table(tmp_path, "new.csv", CANVAS))
    assert "when you graded" not in given.stderr


def test_points_below_the_platforms_are_reported(backprop: Command, tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("kingada_101", 1), a_result("müllerbob_102", 0))
    canvas = table(tmp_path, "canvas.csv", CANVAS.replace("Lab 1,,,", "Lab 1,20.00,,"))
    report = backprop("report", results, "--format", "canvas", "--roster", canvas)
    assert "ch06_vjps: will have fewer points than there are there now: Ada King" in report.stderr
    assert "ch06_vjps: 0 points, since the notebook that was handed in has no work in it: Bob Müller" in report.stderr


@pytest.mark.slow
def test_a_report_removes_only_its_own_outdated_files(backprop: Command, tmp_path: Path) -> None:
    """Files of a student who left the class, and of a lesson that has none any more."""
    out = tmp_path / "out"
    other = replace(a_result("Bob Müller"), lesson="ch03_accumulation")
    results = write(tmp_path / "results", a_result("Ada King"), other)
    export = table(tmp_path, "export.csv", BRIGHTSPACE)
    options = ("--format", "html,csv,gradescope,brightspace", "--roster", export, "--out", out)
    assert "removed" not in backprop("report", results, *options).stderr
    (out / "students" / "mine.html").write_text("a teacher's own")
    (pages,) = (out / "students").glob("bob*")
    (out / "brightspace" / "ch06_vjps.csv").rename(out / "brightspace" / "kept.csv")
    changed = out / "brightspace" / "ch03_accumulation.csv"
    os.utime(changed, (changed.stat().st_atime, changed.stat().st_mtime + 9e6))  # changed by hand
    backprop("report", write(tmp_path / "others", a_result("zoe")), "--format", "html", "--out", out)
    shutil.rmtree(results / "students" / "Bob Müller")
    (results / ".hand-ins.json").unlink()
    table(tmp_path, "export.csv", BRIGHTSPACE.rpartition("#s102")[0])
    ada = backprop("report", results, *options, "--student", "Ada King")
    assert pages.is_file(), "a report of one student takes nothing back"
    again = backprop("report", results, *options)
    assert (ada.returncode, again.returncode) == (0, 0), again.stderr
    left = {file.relative_to(out).as_posix().partition("~")[0] for file in out.rglob("*.*") if file.suffix != ".json"}
    assert left == {
        *("index.html", "grades.csv", "exercises.csv", "brightspace.csv", "brightspace/kept.csv"),
        "brightspace/ch03_accumulation.csv",
        *("students/ada-king", "students/mine.html", "students/zoe.html"),
    }
    assert f"html: removed what an earlier report wrote and this one does not: students/{pages.name}" in again.stderr
    (results / ".written-reports").write_text('{"csv ../out": {"at": 9e9, "files": ["../export.csv", "grades.csv"]}}')
    backprop("report", results, *options)
    assert export.is_file(), "nothing outside the folder"


def test_canvas_without_an_export_finds_students_by_id(backprop: Command, tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("_7013"), a_result("kingada_101"))
    report = backprop("report", results, "--format", "canvas")
    assert rows_of(results / "__reports__" / "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ch06_vjps"],
        ["    Points Possible", "", "", "", "", MAX],
        ["_7013", "7013", "", "", "", MAX],
        ["kingada_101", "101", "", "", "", MAX],
    ]
    assert "ch06_vjps: no column of the export; Canvas asks about a new assignment" in report.stderr


def test_the_rules_name_a_column(backprop: Command, tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("kingada_101"))
    table(results, "rules.toml", '[lessons.ch06]\ncolumn = "Homework 6"\n')
    canvas = table(tmp_path, "canvas.csv", CANVAS.replace("ch06: VJPs (501)", "Homework 6 (501)"))
    backprop("report", results, "--format", "canvas", "--roster", canvas)
    assert rows_of(results / "__reports__" / "canvas.csv")[0][-1] == "Homework 6 (501)"


def test_moodles_worksheet_is_filled_in(backprop: Command, tmp_path: Path) -> None:
    """As mod/assign/feedback/offline/importgradeslib.php reads it: by Identifier, with Grade and comments."""
    late = replace(a_result("Ada King (ada@x.edu)"), message="Handed in late.")
    results = write(tmp_path / "results", late)
    sheet = table(tmp_path, "ch06.csv", WORKSHEET.replace(POSSIBLE, '"31,50"'))
    report = backprop("report", results, "--format", "moodle", "--roster", sheet)
    assert report.returncode == 0, report.stderr
    header, ada, other = rows_of(results / "__reports__" / "moodle" / "ch06.csv")
    assert header[:3] == ["Identifier", "Full name", "ID number"]
    assert (ada[0], ada[6], ada[-1]) == ("Participant 71", "31,5", "[Autograder: Handed in late.]")
    assert (other[0], other[6], other[-1]) == ("Participant 72", "", "")


def test_an_anonymous_assignment_uses_its_identifiers_or_is_explained(backprop: Command, tmp_path: Path) -> None:
    """Formerly Moodle's worksheet without names was refused; Canvas's N/A for everybody excuses nobody."""
    hand_ins = a_result("Participant_71"), a_result("Lab A-Participant_72", 9)
    sheet = "Identifier,Status,Grade,Maximum grade,Last modified (grade)\n"
    sheet += "".join(f"Participant {number},,,{POSSIBLE},-\n" for number in (71, 72))
    results = write(tmp_path / "results", *hand_ins)
    done = backprop("report", results, "--format", "moodle", "--roster", table(tmp_path, "ch06.csv", sheet))
    assert "nobody" not in done.stderr
    rows = rows_of(results / "__reports__" / "moodle" / "ch06.csv")
    assert [row[:3:2] for row in rows[1:]] == [["Participant 71", MAX], ["Participant 72", f"{hand_ins[1].points:g}"]]
    canvas = f"Student,ID,SIS Login ID,Section,ch06 (2)\n    Points Possible,,,,{MAX}\n"
    canvas += '"King, Ada",101,a,L,N/A\nX,102,x,L,N/A\n'
    results = write(tmp_path / "more", a_result("anon_R7yhk"))
    done = backprop("report", results, "--format", "canvas,csv", "--roster", table(tmp_path, "canvas.csv", canvas))
    assert "N/A for everybody there" in done.stderr
    assert [row[-1] for row in rows_of(results / "__reports__" / "canvas.csv")[2:]] == ["N/A", "N/A"]
    assert "excused" not in (results / "__reports__" / "grades.csv").read_text()


@pytest.mark.parametrize(
    ("there", "said", "then"),
    [
        ("", "", ""),
        ("", "late", "[Autograder: late]"),
        ("well done", "=late [2]", "well done [Autograder: =late [2)]"),
        ("well done [Autograder: late]", "", "well done"),
        ("<p>[Autograder: <b>late</b>] but it will do</p>", "", "<p> but it will do</p>"),
        ("<p>[Autograder: late]</p>", "", ""),
        ("[Autograder: late]", "later", "[Autograder: later]"),
        ("=see me", "", "=see me"),
        ("Again:&nbsp;-2; =ok", "late; =1", "Again:&nbsp;-2; =ok [Autograder: late; '=1]"),
        ('<p class="a">&nbsp;<br></p>\n<div><span>\t</span></div>', "late", "[Autograder: late]"),
        *((one, "", one) for one in (*SHOWN, "<p>&nbsp;</p>")),
        *((f"<p>{one}</p>", "late", f"<p>{one}</p> [Autograder: late]") for one in SHOWN),
    ],
)
def test_moodles_comments_keep_what_a_person_wrote(there: str, said: str, then: str) -> None:
    assert commented(there, said) == then
    assert commented(then, said) == then


def test_moodle_without_a_worksheet_maps_by_mail(backprop: Command, tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("ada@x.edu"))
    roster = table(tmp_path, "r.csv", "name,mail,id number\nAda King,ada@x.edu,s101\nEve,eve@x.edu,\n")
    backprop("report", results, "--format", "moodle", "--roster", roster)
    assert rows_of(results / "__reports__" / "moodle" / "gradebook.csv") == [
        ["Full name", "Email address", "ID number", "ch06_vjps", "ch06_vjps (feedback)"],
        ["Ada King", "ada@x.edu", "s101", MAX, ""],
    ], "of an empty cell Moodle makes no grade"
    canvas = table(tmp_path, "canvas.csv", CANVAS.replace("s101,ada@x.edu", ",ada@x.edu").replace("bob@x.edu", "bobm"))
    results = write(tmp_path / "more", a_result("kingada_101"), a_result("müllerbob_102"), a_result("zoe"))
    for name, lost in (("moodle", "no mail address and no ID number"), ("blackboard", "no username")):
        done = backprop("report", results, "--format", name, "--roster", canvas)
        assert f"{name}: zoe: {lost} is known, so the import finds nobody; give a --roster" in done.stderr
    files = [results / "__reports__" / "moodle" / f"gradebook{end}.csv" for end in ("", "-by-ID-number")]
    who = [[row[:2] for row in rows_of(file)[1:]] for file in files]
    assert who == [[["Ada King", "ada@x.edu"]], [["Bob Müller", "s102"]]]


def test_blackboard_gets_tabs_in_utf_16_and_its_column_ids(backprop: Command, tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("aking"))
    download = table(tmp_path, "gc.xls", BLACKBOARD, "utf-16")
    report = backprop("report", results, "--format", "blackboard", "--roster", download)
    assert report.returncode == 0, report.stderr
    file = results / "__reports__" / "blackboard.xls"
    assert file.read_bytes()[:2] in (b"\xff\xfe", b"\xfe\xff")
    assert rows_of(file, "utf-16", "\t") == [
        ["Last Name", "First Name", "Username", "Student ID", f"ch06 VJPs [Total Pts: {MAX} Score] |12345"],
        ["King", "Ada", "aking", "s101", MAX],
    ]


def test_brightspace_gets_its_ids_its_items_and_its_mark_back(backprop: Command, tmp_path: Path) -> None:
    """As in D2L's article 3538: an id first, `<item> Points Grade`, and an end-of-line mark."""
    results = write(tmp_path / "results", a_result("Ada King"), a_result("Eve", 3))
    export = table(tmp_path, "export.csv", BRIGHTSPACE.replace(f"MaxPoints:{MAX}", "MaxPoints:100"))
    report = backprop("report", results, "--format", "brightspace", "--roster", export)
    assert report.returncode == 0, report.stderr
    item = "ch06 VJPs Points Grade <Numeric MaxPoints:100 Weight:10 Category:Homework CategoryWeight:40>"
    assert rows_of(results / "__reports__" / "brightspace.csv") == [
        ["OrgDefinedId", "Username", item, "End-of-Line Indicator"],
        ["#s101", "#aking", "100", "#"],
    ]
    assert f"ch06_vjps: points of {MAX} are scaled to the 100 of the column" in report.stderr
    assert "in no row of the roster, and not in this file: Eve" in report.stderr


def test_brightspace_without_an_export_takes_ids_from_any_roster(backprop: Command, tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("Ada King"), a_result("Bob", 3))
    roster = table(tmp_path, "class.csv", "name,id,login\nAda King,s101,=aking\nBob,,\n")
    table(results, "rules.toml", '[lessons.ch06]\ncolumn = "Homework 6"\n')
    report = backprop("report", results, "--format", "brightspace", "--roster", roster)
    assert rows_of(results / "__reports__" / "brightspace.csv") == [
        ["OrgDefinedId", "Username", "Homework 6 Points Grade", "End-of-Line Indicator"],
        ["s101", "=aking", MAX, "#"],
    ]
    assert "no id and no username, and not in this file: Bob" in report.stderr


def test_brightspace_never_gets_a_cell_without_points(backprop: Command, tmp_path: Path) -> None:
    other = replace(a_result("Bob Müller"), lesson="ch03_accumulation")
    results = write(tmp_path / "results", a_result("Ada King"), other)
    export = table(tmp_path, "export.csv", BRIGHTSPACE)
    report = backprop("report", results, "--format", "brightspace", "--roster", export)
    assert report.returncode == 0, report.stderr
    files = {file.stem: rows_of(file)[1:] for file in (results / "__reports__" / "brightspace").iterdir()}
    assert files == {
        "ch03_accumulation": [["#s102", "#bmuller", MAX, "#"]],
        "ch06_vjps": [["#s101", "#aking", MAX, "#"]],
    }


def test_csv_has_roster_data_and_changed_points(backprop: Command, tmp_path: Path) -> None:
    late = {"kingada_101": HandedIn("2027-03-03T11:00:00+00:00")}
    results = write(tmp_path / "results", a_result("kingada_101"), at=late)
    table(results, "rules.toml", RULES)
    backprop("report", results, "--format", "csv", "--roster", table(tmp_path, "canvas.csv", CANVAS))
    header, ada, bob = rows_of(results / "__reports__" / "grades.csv", "utf-8-sig")
    lesson = [SLUG, f"{SLUG} max", f"{SLUG} graded"]
    about = ["student", "id", "mail", "section", "team"]
    assert header == [*about, *lesson, "total", "total max", f"{SLUG} handed in", "remark"]
    assert ada[:9] == ["Ada King", "s101", "ada@x.edu", "Lab 1", "", f"{0.9 * WORTH:g}", MAX, MAX, f"{0.9 * WORTH:g}"]
    assert [row[-2] for row in (ada, bob)] == ["2027-03-03 11:00:00+00:00", ""]
    assert ada[-1].startswith("ch06_vjps: graded: 2 days late (03 Mar 11:00, due 01 Mar 12:00); 1 day of 1 day taken")
    assert bob[:9] == ["Bob Müller", "s102", "bob@x.edu", "Lab 1 and Lab 2", "", "", MAX, "", "0"]


@pytest.mark.slow
def test_anonymous_reports_identify_nobody(backprop: Command, tmp_path: Path) -> None:
    """In every format: overrides' points are included, their comments are not."""
    late = replace(a_result("kingada_101", 9), message="'kingada.py' was graded.", file="kingada_101_7_ch06_vjps.py")
    results = write(tmp_path / "results", late, replace(a_result("müllerbob_102"), file="bob.py"))
    decided = '[[override]]\nstudent = "101"\nlesson = "ch06"\npoints = 7\ncomment = "as Ada King and Bob said"\n'
    one = decided.replace('"ch06"', '"ch06"\nexercise = "relu_vjp"').replace('"101"', '"102"').replace("= 7", "= 1.5")
    table(results, "overrides.toml", decided + one)
    canvas = table(tmp_path, "canvas.csv", CANVAS)
    out = tmp_path / "out"
    formats = sorted(set(MAKERS) - set(NAMED))
    texts = []
    for form in formats:
        options = ("--anonymous", "--format", form, "--roster", canvas, "--out", out / form)
        shown = backprop("report", results, *options, env={"GITHUB_STEP_SUMMARY": ""})
        assert shown.returncode == 0, shown.stderr
        files = [path for path in (out / form).rglob("*") if path.is_file()]
        texts += [shown.stdout, shown.stderr, *(path.read_text("utf-8") for path in files)]
        assert any("student 1" in text or "student&#32;1" in text for text in texts[-len(files) - 2 :]), form
        assert any("1.5" in text for text in texts[-len(files) - 2 :]) or form in ("terminal", "github"), form
    for text in (*texts, *(path.name for path in out.rglob("*"))):
        assert not [
            word
            for word in ("kingada", "ada king", "king, ada", "bob", "müller", "s101", "x.edu")
            if word in text.lower()
        ]
    refused = backprop("report", results, "--anonymous", "--format", "canvas")
    assert refused.returncode == 2
    assert "--anonymous is for a class" in refused.stderr


def test_one_failing_format_does_not_stop_the_others(backprop: Command, tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("ann"))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "matplotlib.py").write_text("raise ModuleNotFoundError(name='matplotlib')")
    env = {"PYTHONPATH": str(tmp_path / "broken")}
    report = backprop("report", results, "--format", "html,csv,canvas", env=env)
    assert report.returncode == 2
    assert "html needs matplotlib" in report.stderr
    assert (results / "__reports__" / "grades.csv").is_file()
    assert (results / "__reports__" / "canvas.csv").is_file()


def test_excused_students_have_no_zero_anywhere(backprop: Command, tmp_path: Path) -> None:
    """Canvas's EX and N/A: left out of totals, shares and medians, and shown in each platform's own way."""
    ch05 = "ch05_autograd_engine"
    hand_ins = [a_result("kingada_101"), a_result("kingada_101", lesson=ch05), a_result("millerbob_102", lesson=ch05)]
    results = write(tmp_path / "results", *hand_ins, a_result("leeeve_103", 5), a_result("leeeve_103", 0, ch05))
    canvas = (
        f"Student,ID,SIS Login ID,Section,ch05 (1),ch06 (2)\n    Points Possible,,,,100,{MAX}\n"
        '"King, Ada",101,ada@x.edu,L,,\n"Miller, Bob",102,bob@x.edu,L,,EX\n"Lee, Eve",103,eve@x.edu,L,N/A,EX\n'
    )
    export = table(tmp_path, "canvas.csv", canvas)
    for rules in ("", "[lessons.ch05]\nweight = 1\n[lessons.ch06]\nweight = 3\n"):
        table(results, "rules.toml", rules)
        table(results, "overrides.toml", '[[override]]\nstudent = "Eve Lee"\nlesson = "ch06"\npoints = 40\n')
        kept = ClassFiles.at(results, [export])
        classroom = ClassResults(results, people=kept.people, rules=kept.rules, overrides=kept.overrides)
        statistics, weeks = ClassStatistics(classroom.lessons, classroom.due), ClassWeeks(classroom.rules)
        found = {work.student: work for work in classroom}
        for work in found.values():
            statistics.add(work)
            weeks.add(work)
        assert [statistics.share(found[name]) for name in ("Ada King", "Bob Miller", "Eve Lee")] == [100, 100, None]
        assert (statistics.median, statistics.percent) == (100, {100: 2})
        assert (statistics.lessons[SLUG].excused, statistics.lessons[SLUG].worked) == (2, 1)
        assert statistics.lessons[SLUG].points == WORTH
        assert sum(week.lessons[SLUG] for week in weeks.weeks) == 1
        have, worth = classroom.total(found["Bob Miller"])
        assert have == worth > 0
    said = next(one.message for one in found["Eve Lee"].results if one.lesson == SLUG)
    assert said.startswith(
        "Excused: canvas.csv has EX here. What a teacher gave for it does not count while that is so."
    )
    assert "of what was handed in do not count." in said
    every = "html,csv,canvas,blackboard,brightspace,moodle,junit,gradescope"
    report = backprop("report", results, "--roster", export, "--format", every)
    assert report.returncode == 0, report.stderr
    assert "blackboard: ch06_vjps: excused elsewhere, and nothing is in this file for these" in report.stderr
    reports = results / "__reports__"
    with (reports / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        grades = {row["student"]: row for row in csv.DictReader(file)}
    assert [grades[name][SLUG] for name in ("Bob Miller", "Eve Lee")] == ["excused", "excused"]
    assert grades["Bob Miller"]["total"] == grades["Bob Miller"]["total max"] == "1"
    assert grades["Eve Lee"]["total max"] == "0"
    assert [grades[name][f"{SLUG} graded"] for name in ("Bob Miller", "Eve Lee")] == ["", f"{a_result('', 5).points:g}"]
    with (reports / "canvas.csv").open(newline="") as file:
        rows = {row["Student"]: row for row in csv.DictReader(file)}
    assert [rows["Miller, Bob"]["ch06 (2)"], rows["Lee, Eve"]["ch06 (2)"], rows["Lee, Eve"]["ch05 (1)"]] == [
        *("EX", "EX", "N/A")
    ]
    assert "bob@x.edu" not in (reports / "brightspace" / f"{SLUG}.csv").read_text()
    assert (reports / "index.html").read_text().count(">excused</td>") == 4
    assert "0</strong> of" not in (reports / "students" / f"{file_stem('Bob Miller')}.html").read_text()
    for form in ("terminal", "json", "github"):
        shown = backprop("report", results, "--roster", export, "--format", form).stdout
        assert shown.lower().count("excused") >= 3, form
