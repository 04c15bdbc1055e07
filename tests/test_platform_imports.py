"""Each platform's import rules applied to our files: existing entries are kept, and outdated ones of ours removed."""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import platform_imports
import pytest
from platform_imports import CH05, CH06, CLASS, Book, Entry
from small_results import MAX, RULES, SLUG, a_result, write

from autograder.classroom.class_record import ClassRecord, HandedIn
from autograder.reports.anonymous import NAMED
from autograder.reports.formats import MAKERS

pytestmark = pytest.mark.slow

Command = Callable[..., subprocess.CompletedProcess[str]]
FOLDER = Path(platform_imports.__file__).parent
PLATFORMS = sorted(
    {*NAMED, *(name for name, (module, _) in MAKERS.items() if ".platforms." in module)} - {"canvas-feedback"}
)
"""All platforms for which `backprop report` writes points. For comments see `reports/test_canvas_feedback.py`."""
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


LINK, ID, TEXT = '=HYPERLINK("http://evil","x")', "=cmd|calc!A0", "Again:&nbsp;-2 for style; =ok\n- more; +1"
TABLES: dict[str, tuple[str, str, list[list[str]], set[str]]] = {
    "canvas": (
        *("canvas.csv", "Müller, Eve"),
        [
            ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ch06 (501)"],
            ["    Points Possible", "", "", "", "", MAX],
            [LINK, "101", ID, "-0012", "Lab;-x", "-5.00"],
            ["Lee;=2+3", "102", "+44", "@bob", "-x", "EX"],
            ["Müller, Eve", "103", "", "", "", ""],
        ],
        {ID, "@bob", "Lab;-x", "-x"},
    ),
    "moodle": (
        *("moodle/ch06.csv", "Eve Müller"),
        [
            [
                *("Identifier", "Full name", "Email address", "Grade", "Maximum grade", "Last modified (grade)"),
                *("Online text", "Feedback comments"),
            ],
            ["Participant 1", LINK, "+ann@x.edu", "", MAX, "-", "\n=2+3", TEXT],
            ["Participant 2", "Lee;=2+3", "a;-x@x.edu", "3.00", MAX, "-", "a;=1", "=see me"],
            ["Participant 3", "Eve Müller", "eve@x.edu", "", MAX, "-", "", "<p></p>"],
        ],
        {"+ann@x.edu", "a;-x@x.edu", TEXT, "=see me"},
    ),
    "blackboard": (
        *("blackboard.xls", "Eve Müller"),
        [
            ["Last Name", "First Name", "Username", "Student ID", f"ch06 [Total Pts: {MAX} Score] |123"],
            ["=2+3", LINK, "d;-x", "-7", "Needs Grading(3.00)"],
            ["Müller", "Eve", "eve", "+44", ""],
        ],
        {"d;-x"},
    ),
    "brightspace": (
        *("brightspace.csv", "Eve Müller"),
        [
            ["OrgDefinedId", "Username", "First Name", "Last Name", "ch06 Points Grade <Numeric MaxPoints:100>"],
            ["#=2+1", "#eve;=x", "Eve", "Müller", ""],
        ],
        {"#eve;=x"},
    ),
}
"""By platform: our file, the hand-in of the last student, the export, and cells that must go back as formulas."""


def rows_of(file: Path) -> list[list[str]]:
    tabs = file.suffix == ".xls"
    text = file.read_bytes().decode("utf-16" if tabs else "utf-8")
    return list(csv.reader(io.StringIO(text, newline=""), csv.excel_tab if tabs else csv.excel))


@pytest.mark.parametrize("platform", TABLES)
def test_the_platforms_own_cells_go_back_as_they_came(backprop: Command, tmp_path: Path, platform: str) -> None:
    """Only names and online texts, which no import reads, lose their formulas; other formulas are reported."""
    ours, hand_in, export, formulas = TABLES[platform]
    results = write(tmp_path / "results", a_result(hand_in))
    kept = results / ".rosters"
    kept.mkdir()
    with (kept / Path(ours).name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, csv.excel_tab if ours.endswith(".xls") else csv.excel).writerows(export)
    done = backprop("report", results, "--format", platform)
    assert done.returncode == 0, done.stderr
    safe = {LINK: f"'{LINK}", "Lee;=2+3": "Lee;'=2+3", "=2+3": "'=2+3", "\n=2+3": "\n'=2+3", "a;=1": "a;'=1"}
    place = next(i for i, title in enumerate(export[0]) if title.startswith(("ch06", "Grade")))
    expected = [[safe.get(one, one) for one in row] for row in export]
    expected[-1][place] = "100" if platform == "brightspace" else MAX
    if platform == "brightspace":
        expected = [
            [*row[:2], row[place], end] for row, end in zip(expected, ("End-of-Line Indicator", "#"), strict=True)
        ]
    assert rows_of(results / "__reports__" / ours) == expected
    (said,) = (line for line in done.stderr.splitlines() if "do not open this in a spreadsheet" in line)
    assert said.count("'") == 2 * len(formulas)
    for one in formulas:
        assert one.splitlines()[0] in said
    assert ("when you graded" in done.stderr) == (platform != "brightspace")


def test_ids_of_any_roster_are_written_unchanged(backprop: Command, tmp_path: Path) -> None:
    """Formerly an id such as -0012 got a quote, so that the import found nobody."""
    (tmp_path / "class.csv").write_text("name,mail,login,id\n=Ada King,+a;-1@x.edu,=ada;-x,-0012\n")
    results = write(tmp_path / "results", a_result("-0012"), a_result("+eve@x.edu"), a_result("=1@x.edu"))
    done = backprop(
        "report", results, "--format", "blackboard,brightspace,canvas,moodle", "--roster", "class.csv", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    reports = results / "__reports__"
    assert [row[:4] for row in rows_of(reports / "blackboard.xls") if "-0012" in row] == [
        ["King", "'=Ada", "=ada;-x", "-0012"]
    ]
    assert rows_of(reports / "brightspace.csv")[1][:2] == ["-0012", "=ada;-x"]
    assert ["'=Ada King", "", "", "=ada;-x"] in [row[:4] for row in rows_of(reports / "canvas.csv")]
    moodle = [row[:2] for row in rows_of(reports / "moodle" / "gradebook.csv")[1:]]
    assert sorted(moodle, key=lambda row: row[1][-9:]) == sorted(
        [
            ["'=Ada King", "+a;-1@x.edu"],
            ["'+eve@x.edu", "+eve@x.edu"],
            ["'=1@x.edu", "'=1@x.edu"],
        ],
        key=lambda row: row[1][-9:],
    )
    for platform in ("blackboard", "brightspace", "canvas"):
        assert f"{platform}: do not open this in a spreadsheet" in done.stderr


def test_moodles_old_feedback_is_reported_though_everybody_has_points(backprop: Command, tmp_path: Path) -> None:
    results = write(tmp_path / "results", a_result("Eve Müller"))
    (results / ".rosters").mkdir()
    sheet = "Identifier,Full name,Grade,Maximum grade,Last modified (grade),Feedback comments\n"
    sheet += f"Participant 3,Eve Müller,,{MAX},-,\n"
    for text, says in ((sheet, True), (sheet.replace(",Feedback comments", "").replace(",-,", ",-"), False)):
        (results / ".rosters" / "ch06.csv").write_text(text, encoding="utf-8")
        said = backprop("report", results, "--format", "moodle").stderr
        assert (
            "people's feedback, and points where there is no result, are as ch06.csv had them when you" in said
        ) == says
        assert ("when you graded" in said) == says


def test_only_the_newest_of_moodles_worksheets_of_an_assignment_is_filled_in(backprop: Command, tmp_path: Path) -> None:
    """Formerly both were written, and Moodle skips without a word whom it graded after the older one's download."""
    results = write(tmp_path / "results", a_result("Eve Müller"), a_result("Ann Lee"))
    head, (kept, new) = "Identifier,Full name,Grade,Maximum grade,Last modified (grade)\n", ("ch06.csv", "ch06 (1).csv")
    (results / ".rosters").mkdir()
    (results / ".rosters" / kept).write_text(f"{head}Participant 3,Eve Müller,,{MAX},-\n", encoding="utf-8")
    (tmp_path / "ch06-B.csv").write_text(f"{head}Participant 9,Ann Lee,,{MAX},-\n", encoding="utf-8")
    old = backprop("report", results, "--format", "moodle", "--roster", tmp_path / "ch06-B.csv")
    assert {file.name for file in (results / "__reports__" / "moodle").iterdir()} == {kept, "ch06-B.csv"}
    skips = "Moodle skips whom it has graded since ch06.csv was downloaded, by an import of yours, too"
    assert f"moodle: {skips}: download it again, and give it as --roster" in old.stderr
    (tmp_path / new).write_text(f"{head}Participant 3,Eve Müller,1.00,{MAX},-\n", encoding="utf-8")
    given = ("--roster", tmp_path / "ch06-B.csv", "--roster", tmp_path / new)
    done = backprop("report", results, "--format", "moodle", *given)
    assert {file.name for file in (results / "__reports__" / "moodle").iterdir()} == {new, "ch06-B.csv"}
    assert "moodle: left out, as a newer worksheet has the same participants: ch06.csv" in done.stderr
    assert "Moodle skips" not in done.stderr
    assert "in no row of the roster" not in old.stderr + done.stderr, "each is in the worksheet of a group"


def test_a_class_of_sixty_is_told_all_whose_points_would_fall(backprop: Command, tmp_path: Path) -> None:
    """Formerly five were named, and nothing said who the others were."""
    names = [f"Ann Lee{chr(97 + i)}" for i in range(20)]
    results = write(tmp_path / "results", *(a_result(f"{name}", 1) for name in names))
    rows = [f'"Lee{name[-1]}, Ann",{i},s{i},a{i}@x.edu,Lab,40.00' for i, name in enumerate(names, 1)]
    text = "\n".join(
        ["Student,ID,SIS User ID,SIS Login ID,Section,ch06 (501)", f"    Points Possible,,,,,{MAX}", *rows]
    )
    (tmp_path / "canvas.csv").write_text(text + "\n", encoding="utf-8")
    said = backprop("report", results, "--format", "canvas", "--roster", tmp_path / "canvas.csv").stderr
    assert f"ch06_vjps: will have fewer points than there are there now: {', '.join(names)}" in said


def test_no_row_for_moodle_lacks_the_id_that_is_mapped(backprop: Command, tmp_path: Path) -> None:
    """In its load_data.php, `map_user_data_with_value`, an empty id leaves `studentid` that of the row before.

    Formerly Bob's points became Ann's where the mail address was mapped, and Ann's nobody's where the ID number was.
    """
    (tmp_path / "class.csv").write_text(
        "name,mail,id number\nAnn Aho,ann@x.edu,\nBob Ban,,s2\nCy Cox,cy@x.edu,s3\n", encoding="utf-8"
    )
    passed = {"ann@x.edu": 1, "s2": 2, "cy@x.edu": 3, "zoe": 4}
    results = write(tmp_path / "results", *(a_result(name, count) for name, count in passed.items()))
    done = backprop("report", results, "--format", "moodle", "--roster", tmp_path / "class.csv")
    files = sorted((results / "__reports__" / "moodle").rglob("*.csv"))
    assert [file.name for file in files] == ["gradebook-by-ID-number.csv", "gradebook.csv"]
    found: dict[str, str] = {}
    for file in files:
        head, *rows = rows_of(file)
        for column in {"Email address", "ID number"} & {*head}:  # whichever a teacher maps
            student = ""
            for row in rows:
                student = row[head.index(column)].strip() or student
                assert student, "usermappingerrorusernotfound: the whole import is given up"
                found[student] = row[head.index("ch06_vjps")]
    ids = {"ann@x.edu": "Ann Aho", "s2": "Bob Ban", "cy@x.edu": "Cy Cox"}
    assert {ids[one]: points for one, points in found.items()} == {
        ids[one]: f"{a_result(one, passed[one]).points:g}" for one in ids
    }
    assert "moodle: zoe: no mail address and no ID number is known" in done.stderr
    assert "map Email address (in …-by-ID-number.csv, ID number) and the points" in done.stderr
