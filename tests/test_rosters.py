"""Rosters: every platform's table is read, rows are joined, and no student is duplicated silently."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from small_results import MAX, POSSIBLE

from autograder.classroom.class_folder import find_work
from autograder.commands.grade_output import about_the_roster
from autograder.gradebook.class_files import ClassFiles, keep_rosters, moodle_time, namesakes_before, participants
from autograder.gradebook.people import People
from autograder.gradebook.roster import Person, RosterError, read_roster, read_rosters

Command = Callable[..., subprocess.CompletedProcess[str]]

CANVAS = f"""\
Student,ID,SIS User ID,SIS Login ID,Section,ch06: VJPs (501),ch06: VJPs Current Score,Final Score
,,,,,Manual Posting,(read only),(read only)
    Points Possible,,,,,{POSSIBLE},(read only),(read only)
"King, Ada",101,s101,ada@x.edu,Lab 1,,,
"Müller, Bob",102,s102,bob@x.edu,Lab 1 and Lab 2,,,
"Student, Test",900,,c0ffee,Lab 1,,,
"""
GROUPS = """\
name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id
"King, Ada",101,s101,ada@x.edu,Lab 1,Engines,55,
"Müller, Bob",102,s102,bob@x.edu,Lab 1,Engines,55,
"""
WORKSHEET = f"""\
\ufeffIdentifier,Full name,ID number,Email address,Status,Group,Grade,Maximum grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
Participant 71,Ada King,s101,ada@x.edu,Submitted for grading,Default group,,{POSSIBLE},Yes,\
"Monday, 1 March 2027, 10:04 PM",-,
Participant 72,Ada King,s103,ada2@x.edu,No submission,Team 2,,{POSSIBLE},Yes,-,-,
"""
GRADESCOPE = "First Name,Last Name,SID,Email,Sections\nAda,King,s101,ada@x.edu,Lab 1\n"
BLACKBOARD = (
    '"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t"Availability"\t'
    f'"ch06 VJPs [Total Pts: {MAX} Score] |12345"\n"King"\t"Ada"\t"aking"\t"s101"\t"2027"\t"Yes"\t""\n'
)
BRIGHTSPACE = (
    f"OrgDefinedId,Username,Last Name,First Name,Email,ch06 VJPs Points Grade <Numeric MaxPoints:{MAX} Weight:10 "
    "Category:Homework CategoryWeight:40>,Calculated Final Grade Numerator,End-of-Line Indicator\n"
    "#s101,#aking,King,Ada,ada@x.edu,,70,#\n#s102,#bmuller,Müller,Bob,bob@x.edu,,,#\n"
)
BOTH = "ada2@x.edu, ada@x.edu"
GITHUB = '"identifier","github_username","github_id","name"\n"ada@x.edu","octo-ada","1","Ada King"\n'


def table(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    file = folder / name
    file.write_text(text, encoding=encoding)
    return file


def test_canvas_has_rows_that_are_no_students(tmp_path: Path) -> None:
    ada, bob = read_roster(table(tmp_path, "grades.csv", CANVAS))
    assert (ada.name, ada.sortable, ada.section) == ("Ada King", "King, Ada", "Lab 1")
    assert ada.ids == {"canvas": "101", "sis": "s101", "login": "ada@x.edu"}
    assert bob.name == "Bob Müller"
    (_, place, row), *_ = ada.rows
    assert place == 0
    assert row[:2] == ("King, Ada", "101")


def test_canvas_may_have_first_and_last_names_apart(tmp_path: Path) -> None:
    text = (
        "LastName,FirstName,ID,SIS Login ID,Section,ch06 (5)\n    Points Possible,,,,,63\nKing,Ada,101,ada@x.edu,Lab,\n"
    )
    (ada,) = read_roster(table(tmp_path, "grades.csv", f"{text}Student,Test,9,c0ffee,Lab,\n"))
    assert (ada.name, ada.ids) == ("Ada King", {"canvas": "101", "login": "ada@x.edu"})
    assert ada.rows[0][0].platform == "canvas"


def test_rows_of_all_platforms_are_joined(tmp_path: Path) -> None:
    files = [
        table(tmp_path, "canvas.csv", CANVAS),
        table(tmp_path, "groups.csv", GROUPS),
        table(tmp_path, "gradescope.csv", GRADESCOPE),
        table(tmp_path, "bb.xls", BLACKBOARD, "utf-16"),
        table(tmp_path, "brightspace.csv", BRIGHTSPACE),
        table(tmp_path, "github.csv", GITHUB),
    ]
    ada, bob = read_rosters(files)
    assert ada.ids == {
        "canvas": "101",
        "sis": "s101",
        "login": "ada@x.edu",
        "mail": "ada@x.edu",
        "number": "s101",
        "github": "octo-ada",
    }
    assert (ada.team, bob.team) == ("Engines", "Engines")
    assert [each.platform for each, *_ in ada.rows] == [
        "canvas",
        "canvas groups",
        "gradescope",
        "blackboard",
        "brightspace",
        "github",
    ]


def test_a_person_keeps_every_account_of_several_tables(tmp_path: Path) -> None:
    """A renamed GitHub account or second mail address used to be lost, so that its hand-ins became another student."""
    files = [
        table(tmp_path, "canvas.csv", CANVAS),
        table(tmp_path, "one.csv", GITHUB),
        table(tmp_path, "two.csv", GITHUB.replace("octo-ada", "ada-king")),
        table(tmp_path, "three.csv", "Login,Mail\naking,ADA@x.edu\n"),
        table(tmp_path, "four.csv", "Login,Mail\naking,ada@home.net\nbob,102\n"),
    ]
    names = ["octo-ada", "ada-king", "ada@x.edu", "ada@home.net", "aking"]
    found = People(read_rosters(files), names)
    (ada,) = [one for one in found.students if one.shown == "Ada King"]
    assert ada.own == names
    assert ada.person is not None
    assert ada.person.ids["github"] == "octo-ada", "what goes back to a platform is the first"
    assert not found.problems


def test_two_people_with_one_mail_address_stay_two_and_are_said(tmp_path: Path) -> None:
    """The second person used to be merged into the first."""
    text = "Name,ID,Mail\nAda King,7,family@x.edu\nEve King,8,family@x.edu\nAda King,7,family@x.edu\n"
    found = People(read_rosters([table(tmp_path, "class.csv", text)]), ["Ada King", "8", "family@x.edu"])
    assert {one.shown: one.own for one in found.students} == {
        "Ada King": ["Ada King"],
        "Eve King": ["8"],
        "family@x.edu": ["family@x.edu"],
    }
    assert found.problems[0] == (
        "family@x.edu is the mail address of Ada King and Eve King on the roster: what is handed in under it is given "
        "to none of them"
    )
    renumbered = text.replace("Eve King,8", "Ada King,9")
    assert len(read_rosters([table(tmp_path, "class.csv", renumbered)])) == 2


@pytest.mark.parametrize(
    "footer",
    [
        "Total students: 2",
        "Total,2",
        "Generated on 2027-03-01 by Banner,",
        "2 students",
        ",\nEnd of report",
        "Gesamt;2",
    ],
)
def test_what_a_registrar_writes_below_a_list_is_no_student(tmp_path: Path, footer: str) -> None:
    text = f"Name,Mail\nAda King,ada@x.edu\nTotal Eclipse,t@x.edu\nPage Turner,\n{footer}\n"
    text = text.replace(",", ";") if ";" in footer else text
    found = People(read_rosters([table(tmp_path, "class.csv", text)]), [])
    assert [one.shown for one in found.students] == ["Total Eclipse", "Ada King", "Page Turner"]
    (line,) = found.problems
    assert line.startswith("class.csv: its last line, '")
    assert line.endswith("', is no student's; passed over")


@pytest.mark.parametrize(
    "name", ["José Muñoz", "Jürgen Groß", "Zoë Ångström", "Seán O’Brien", "Noël Façade", "Élodie", "Özil"]
)
@pytest.mark.parametrize("encoding", ["mac-roman", "cp1252"])
def test_names_of_an_older_spreadsheet_are_read_in_its_alphabet(tmp_path: Path, name: str, encoding: str) -> None:
    (person,) = read_roster(table(tmp_path, "class.csv", f"Name,ID\n{name},7\n", encoding))
    assert person.name == name


@pytest.mark.parametrize("head", ["sep=;", '"sep=;"', "SEP=;\r"])
def test_a_line_for_excel_above_the_header_is_no_header(tmp_path: Path, head: str) -> None:
    (ada,) = read_roster(table(tmp_path, "class.csv", f"{head}\nName;Mail, of home;Mail\nAda King;;a@x\n"))
    assert (ada.name, ada.ids) == ("Ada King", {"mail": "a@x"})


def test_brightspace_marks_ids_for_spreadsheets(tmp_path: Path) -> None:
    ada, bob = read_roster(table(tmp_path, "grades.csv", BRIGHTSPACE))
    assert ada.ids == {"login": "aking", "number": "s101", "mail": "ada@x.edu"}
    assert bob.name == "Bob Müller"


def test_namesakes_of_one_table_stay_two(tmp_path: Path) -> None:
    canvas, moodle = table(tmp_path, "canvas.csv", CANVAS), table(tmp_path, "ch06.csv", WORKSHEET)
    for files in ([canvas, moodle], [moodle, canvas]):
        people = [one for one in read_rosters(files) if one.name == "Ada King"]
        assert sorted(one.ids["mail"] for one in people) == ["ada2@x.edu", "ada@x.edu"], files
        assert sorted("canvas" in one.ids for one in people) == [False, True]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_of_ones_own_is_read_as_excel_writes_it(tmp_path: Path, encoding: str, delimiter: str) -> None:
    text = "Name,ID,Mail,Section,Team\nJürgen Groß,7,j@x.edu,A,Red\n\n".replace(",", delimiter)
    (person,) = read_roster(table(tmp_path, "class.csv", text, encoding))
    assert (person.name, person.section, person.team) == ("Jürgen Groß", "A", "Red")
    assert person.ids == {"number": "7", "mail": "j@x.edu"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty"),
        ("colour,size\nred,3\n", "no column of its first row names people (colour, size)"),
        ("a\0b\n", "it is no text"),
    ],
)
def test_what_is_no_roster_is_said_in_a_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RosterError, match=r"class\.csv: ") as caught:
        read_roster(table(tmp_path, "class.csv", text))
    assert says in str(caught.value)


def test_hand_ins_are_found_by_what_platforms_call_them(tmp_path: Path) -> None:
    people = read_rosters([table(tmp_path, "canvas.csv", CANVAS), table(tmp_path, "github.csv", GITHUB)])
    names = ["kingada_101", "Ada King", "ada@x.edu", "octo-ada", "müllerbob_102", "Bob Müller_submission_9", "eve_7"]
    found = People(people, names)
    own = {one.shown: one.own for one in found.students}
    assert own == {
        "Ada King": ["kingada_101", "Ada King", "ada@x.edu", "octo-ada"],
        "Bob Müller": ["müllerbob_102", "Bob Müller_submission_9"],
        "eve_7": ["eve_7"],
    }
    assert found.problems == ["eve_7 is nobody on the roster, and has a row of their own"]


def test_who_has_no_letter_in_the_name_is_found_by_the_number_alone() -> None:
    """Canvas only keeps ASCII letters and digits of a name, so nothing is left of these names."""
    people = [Person(name, ids={"canvas": number}) for name, number in [("🦄🦄", "7013"), ("...", "7014")]]
    found = People(people, ["_7013", "_7014", "_7015"])
    assert {one.shown: one.own for one in found.students} == {"🦄🦄": ["_7013"], "...": ["_7014"], "_7015": ["_7015"]}
    alone = People(people[:1], ["_7015"])
    assert alone.problems == ["_7015 is nobody on the roster, and has a row of their own"]


def test_an_anonymous_assignment_is_one_line() -> None:
    names = [f"anon_{number:05}" for number in range(57)]
    found = People([Person("Ada King", ids={"login": "ada"})], names)
    assert [student.shown for student in found.students if student.person is None] == names
    assert found.problems == [
        "57 hand-ins are nobody's on the roster, and have rows of their own: "
        "anon_00000, anon_00001, anon_00002, anon_00003, anon_00004 and 52 more"
    ]


def test_a_name_that_two_have_is_given_to_neither() -> None:
    people = [Person("Ada King", ids={"mail": "a@x"}), Person("Ada King", ids={"mail": "b@x"})]
    found = People(people, ["Ada King"])
    assert [one.shown for one in found.students] == ["Ada King", "Ada King (a@x)", "Ada King (b@x)"]
    assert "Ada King could be any of a@x, b@x" in found.problems[0]
    people = [Person(name, ids={"mail": "a@x"}) for name in ("Ada King", "Bob Lee")]
    said = People(people, ["a@x"]).problems
    assert "a@x could be any of Ada King and Bob Lee: the roster has one id for them; give each an id of" in said[-1]


def test_a_teams_hand_in_is_that_of_each_member() -> None:
    people = [Person("Ada", team="Red"), Person("Bob", team="Red"), Person("Eve", team="Blue")]
    found = People(people, ["Ada", "Red_12"])
    assert {one.shown: one.of_team for one in found.students} == {
        "Ada": ["Red_12"],
        "Bob": ["Red_12", "Ada"],
        "Eve": [],
    }
    assert not found.problems


def test_moodles_namesakes_are_the_same_two_in_each_assignment(tmp_path: Path) -> None:
    """Moodle's numbers differ by assignment; each assignment's grading worksheet assigns them to students."""
    second = WORKSHEET.replace("Participant 71", "Participant 95").replace("Participant 72", "Participant 94")
    people = read_rosters([table(tmp_path, "ch06.csv", WORKSHEET), table(tmp_path, "ch07.csv", second)])
    assert len(people) == 2
    whose = participants(people)
    seen = set()
    for week, numbers in (("one", (71, 72)), ("two", (94, 95))):
        for number in numbers:
            file = tmp_path / week / f"Ada King_{number}_assignsubmission_file_" / "ch06_vjps.py"
            file.parent.mkdir(parents=True)
            file.write_text("def relu_vjp(g, x):\n    return g\n")
        found = find_work(tmp_path / week, participants=whose)
        seen |= {item.student for item in found.work}
        assert not found.remarks
        assert {item.at for item in found.work} == {"", "2027-03-01T22:04:00"}
    assert seen == {"Ada King (ada@x.edu)", "Ada King (ada2@x.edu)"}
    without = find_work(tmp_path / "two")
    assert "2 students are called Ada King" in without.remarks[0]
    assert "--roster and its grading worksheet" in without.remarks[0]
    assert {item.student for item in without.work} == {"Ada King_94", "Ada King_95"}


def test_a_namesake_alone_in_next_weeks_export_is_said() -> None:
    (line,) = namesakes_before(["Ada King", "Bob"], ["Ada King_71", "Ada King_72", "Bob"])
    assert line.startswith("Ada King may be one of Ada King_71, Ada King_72, of an earlier export")
    assert not namesakes_before(["Ada King_71"], ["Ada King_71", "Ada King_72"])


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("Monday, 1 March 2027, 10:04 PM", "2027-03-01T22:04:00"),
        ("Monday, 1 March 2027, 22:04", "2027-03-01T22:04:00"),
        ("-", ""),
    ],
)
def test_moodles_times(text: str, iso: str) -> None:
    assert moodle_time(text) == iso


def test_brightspaces_namesakes_are_told_apart_by_a_table_of_their_numbers(tmp_path: Path) -> None:
    """As the message says: the export of Grades lacks the number, which the downloaded hand-ins have."""
    export = table(tmp_path, "export.csv", BRIGHTSPACE.replace("Müller,Bob,bob@x.edu", "King,Ada,ada2@x.edu"))
    names = ["Ada King_71", "Ada King_72"]
    alone = People(read_rosters([export]), names)
    assert [line.split(": ")[0] for line in alone.problems] == [f"{name} could be any of {BOTH}" for name in names]
    assert "with the columns Identifier (71 here), Full name and Email address" in alone.problems[0]
    numbers = "Identifier,Full name,Email address\n72,Ada King,ada@x.edu\n71,Ada King,ada2@x.edu\n"
    said = about_the_roster(read_rosters([export]), names[:1], [], lambda person: False)
    both = "Ada King (ada2@x.edu), Ada King (ada@x.edu)"
    assert said[0] == f"on the roster, and may have handed in what could be several people's: {both}"
    known = People(read_rosters([export, table(tmp_path, "numbers.csv", numbers)]), names)
    assert not known.problems
    assert {one.person.ids["login"]: one.own for one in known.students if one.person} == {
        "aking": ["Ada King_72"],
        "bmuller": ["Ada King_71"],
    }


def test_one_of_two_namesakes_alone_in_brightspaces_export_keeps_the_number(tmp_path: Path) -> None:
    """Formerly the number went, and with it the only way to say whose the hand-in is."""
    export = BRIGHTSPACE.replace("Müller,Bob,bob@x.edu", "King,Ada,ada2@x.edu")
    file = tmp_path / "class" / "71-9 - Ada King - Mar 1, 2027 1004 PM" / "ch06_vjps.py"
    file.parent.mkdir(parents=True)
    file.write_text("def relu_vjp(g, x):\n    return g\n")
    (tmp_path / "class" / "73-9 - Bob Ng - Mar 1, 2027 1005 PM").mkdir()
    whose = participants(read_rosters([table(tmp_path, "export.csv", export)]))
    assert [item.student for item in find_work(tmp_path / "class", participants=whose).work] == ["Ada King_71"]
    assert [item.student for item in find_work(tmp_path / "class").work] == ["Ada King"]


def test_which_kept_table_is_the_newest_outlives_a_copy(tmp_path: Path) -> None:
    results, kept = tmp_path / "results", tmp_path / "results" / ".rosters"
    kept.mkdir(parents=True)

    def in_order() -> list[str]:
        (person,) = (one for one in ClassFiles.at(results).people if one.name == "Ada King")
        return [each.file for each, _, _ in person.rows]

    for days, name in enumerate(["b.csv", "a.csv"]):
        os.utime(table(kept, name, CANVAS), (days, days))
    assert in_order() == ["b.csv", "a.csv"], "of an earlier version"
    for name in ("d.csv", "c.csv", "d.csv"):
        keep_rosters(results, [table(tmp_path, name, CANVAS)])
    for days, name in enumerate(["d.csv", "c.csv", "a.csv", "b.csv"], 1):
        os.utime(kept / name, (1e9 + days, 1e9 + days))  # as a copy may leave them
    assert in_order() == ["b.csv", "a.csv", "c.csv", "d.csv"]
    added = time.time() + 60
    os.utime(table(kept, "by hand.csv", CANVAS), (added, added))
    assert in_order()[-1] == "by hand.csv"
    for damaged in (
        "[",
        "[]",
        '{"kept": [["d.csv"], 7]}',
        '{"kept": [["d.csv", "yesterday"]]}',
        '{"kept": [["d.csv", "0001-01-01"]]}',
    ):
        (kept / ".order.json").write_text(damaged)
        assert in_order() == ["d.csv", "c.csv", "a.csv", "b.csv", "by hand.csv"]


@pytest.mark.slow
def test_grade_keeps_the_roster_and_says_who_is_missing(backprop: Command, tmp_path: Path) -> None:
    canvas = table(tmp_path, "canvas.csv", CANVAS)
    hand_in = tmp_path / "class" / "kingada_101_77_ch06_vjps.py"
    hand_in.parent.mkdir()
    hand_in.write_text("import numpy as np\n\n\ndef relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n")
    hand_in.with_name("royeve_103_78_homework.pdf").write_bytes(b"%PDF")
    hand_in.with_name("foxlou_104_text.html").write_text("<p>typed in</p>")
    canvas.write_text(f'{CANVAS}"Roy, Eve",103,s103,eve@x.edu,Lab 1,,,\n"Fox, Lou",104,s104,lou@x.edu,Lab 1,,,\n')
    with canvas.open("a") as file:
        file.write('"Yu, Kim",105,s105,kim@x.edu,Lab 1,EX,,\n')
    graded = backprop("grade", tmp_path / "class", "--out", tmp_path / "results", "--roster", canvas)
    assert graded.returncode == 3, graded.stderr
    assert "on the roster, and handed in nothing here: Bob Müller\n" in graded.stderr
    assert "on the roster, and handed in nothing here, being excused: Kim Yu\n" in graded.stderr
    assert "on the roster, and handed in nothing that can be graded: Lou Fox, Eve Roy\n" in graded.stderr
    assert (tmp_path / "results" / ".rosters" / "canvas.csv").read_bytes() == canvas.read_bytes()
    report = backprop("report", tmp_path / "results", "--student", "ada@x.edu")
    assert "relu_vjp" in report.stdout
    wrong = backprop("grade", tmp_path / "class", "--out", tmp_path / "other", "--roster", hand_in)
    assert wrong.returncode == 2
    assert "no column of its first row names people" in wrong.stderr
