"""Hand-ins from Brightspace and Blackboard, their times, and earlier attempts."""

from __future__ import annotations

import csv
import json
import subprocess
import unicodedata
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import html
from small_results import a_result

from autograder.classroom.claims import another_class, set_claims_aside
from autograder.classroom.class_folder import ClassFolder, find_work
from autograder.classroom.class_record import ClassRecord
from autograder.classroom.earlier import EarlierFile
from autograder.classroom.grading import file_sha256
from autograder.classroom.platform_names import brightspace_time
from autograder.classroom.results_folder import result_file
from autograder.judging.records.results import write_json

Command = Callable[..., subprocess.CompletedProcess[str]]

SLUG = "ch06_vjps"
RIGHT = "import numpy as np\n\ndef relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = RIGHT.replace("x > 0", "x < 0")
FIRST, LAST = "2026-11-11-08-00-00", "2026-11-12-22-54-01"
RECEIPT = """\
Name: {name} ({user})
Assignment: Homework 6
Date Submitted: Thursday, 12 November 2026 22:54:01 o'clock CET
Current Mark: Needs Marking

Submission Field:
There is no student submission text data for this assignment.

Comments:
There are no student comments for this assignment.

Files:
{files}
"""


def files(folder: Path, named: dict[str, str]) -> Path:
    for name, text in named.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def found_in(found: ClassFolder) -> dict[str, tuple[str, str]]:
    return {item.student: (item.file.name, item.at) for item in found.work}


def receipt(user: str, name: str = "Jürgen Groß", attached: str = "\tOriginal filename: ch06.py") -> str:
    return RECEIPT.format(user=user, name=name, files=attached)


# Brightspace


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("12 November, 2026 1054 PM", "2026-11-12T22:54:00"),
        ("Nov 12, 2026 1054 PM", "2026-11-12T22:54:00"),
        ("Sep 3, 2026 954 AM", "2026-09-03T09:54:00"),
        ("3 September, 2026 1205 AM", "2026-09-03T00:05:00"),
        ("3 September, 2026 1205 PM", "2026-09-03T12:05:00"),
        ("12 Nov 2026 2254", "2026-11-12T22:54:00"),
        ("31 February, 2026 1205 PM", ""),
        ("1 January 0001 1200 AM", ""),
        ("31 December 9999 1159 PM", ""),
        ("12 mai 2026 2254", ""),
    ],
)
def test_brightspace_times_are_parsed_in_all_formats(text: str, at: str) -> None:
    assert brightspace_time(text) == at


def test_brightspace_has_a_folder_for_each_attempt(tmp_path: Path) -> None:
    ann = "11-99 - Ann-Kathrin Jürgens - "
    folder = files(
        tmp_path / "class",
        {
            f"{ann}11 November, 2026 800 AM/ch06.py": WRONG,
            f"{ann}12 November, 2026 1054 PM/my work.py": RIGHT,
            "12-99 - Bo Ek - Nov 12, 2026 1054 PM/ch06_vjps.py": RIGHT,
            "index.html": "<html>",
        },
    )
    found = find_work(folder)
    assert found_in(found) == {
        "Ann-Kathrin Jürgens": ("my work.py", "2026-11-12T22:54:00"),
        "Bo Ek": ("ch06_vjps.py", "2026-11-12T22:54:00"),
    }
    first = f"{ann}11 November, 2026 800 AM/ch06.py"
    assert found.earlier == [EarlierFile("Ann-Kathrin Jürgens", SLUG, first, "2026-11-11T08:00:00")]
    assert (found.not_recognised, found.remarks) == ([], [])
    assert "It was handed in 2 times; the last counts." in found.work[0].remark


def test_brightspaces_older_export_is_flat_and_a_zip_in_it_has_its_time(tmp_path: Path) -> None:
    folder = files(tmp_path / "class", {"11-99 - Bo Ek- Sep 3, 2026 954 AM - ch06.py": RIGHT})
    with zipfile.ZipFile(folder / "12-99 - Eva Ö - Sep 3, 2026 954 AM - all.zip", "w") as archive:
        archive.writestr("ch06_vjps.py", RIGHT)
    found = find_work(folder, scratch=tmp_path / "scratch")
    at = "2026-09-03T09:54:00"
    assert {(one.student, one.at) for one in found.work} == {("Bo Ek", at), ("Eva Ö", at)}


def test_brightspace_namesakes_are_two_students(tmp_path: Path) -> None:
    at = "Nov 12, 2026 1054 PM"
    names = (f"11-99 - Ann Lee - {at}/ch06.py", f"12-99 - Ann Lee - {at}/ch06.py")
    found = find_work(files(tmp_path / "class", dict.fromkeys(names, RIGHT)))
    assert set(found_in(found)) == {"Ann Lee_11", "Ann Lee_12"}
    assert "2 students are called Ann Lee; Brightspace's first number tells them apart" in found.remarks[0]


def test_a_time_in_a_brightspace_name_is_the_student_s(tmp_path: Path) -> None:
    """Who is called `Ann - Nov 1, 2026 100 PM` would else be a second Ann, handed in on the first."""
    names = ("11-99 - Ann - Nov 12, 2026 1054 PM", "12-99 - Ann - Nov 1, 2026 100 PM - Nov 13, 2026 800 AM")
    folders = find_work(files(tmp_path / "folders", dict.fromkeys((f"{name}/ch06.py" for name in names), RIGHT)))
    flat = find_work(files(tmp_path / "flat", {f"{names[0]} - Nov 1, 2026 100 PM - ch06.py": RIGHT}))
    assert {student: at for student, (_, at) in found_in(folders).items()} == {
        "Ann": "2026-11-12T22:54:00",
        "Ann - Nov 1, 2026 100 PM": "2026-11-13T08:00:00",
    }
    assert {student: at for student, (_, at) in found_in(flat).items()} == {"Ann": "2026-11-12T22:54:00"}


# Blackboard


def test_blackboard_is_flat_with_a_receipt_for_each_attempt(tmp_path: Path) -> None:
    folder = files(
        tmp_path / "class",
        {
            f"Homework 6_jgroß_attempt_{FIRST}_ch06.py": WRONG,
            f"Homework 6_jgroß_attempt_{FIRST}.txt": receipt("jgroß"),
            f"Homework 6_jgroß_attempt_{LAST}_ch06.py": RIGHT,
            f"Homework 6_jgroß_attempt_{LAST}.txt": receipt("jgroß"),
            f"Home_work_b_ek_attempt_{LAST}_ch06.py": RIGHT,
            f"Home_work_b_ek_attempt_{LAST}.txt": receipt("b_ek", "Bo Ek"),
            f"Homework 6_eva_attempt_{LAST}.txt": receipt("eva", "Eva", "No files were attached to this submission."),
        },
    )
    found = find_work(folder)
    at = "2026-11-12T22:54:01"
    assert found_in(found) == {
        "jgroß": (f"Homework 6_jgroß_attempt_{LAST}_ch06.py", at),
        "b_ek": (f"Home_work_b_ek_attempt_{LAST}_ch06.py", at),
    }
    assert [(one.student, one.at) for one in found.earlier] == [("jgroß", "2026-11-11T08:00:00")]
    assert [(row.student, row.why) for row in found.not_recognised] == [
        ("eva", "no file was attached; what was typed into Blackboard is not graded")
    ]
    assert found.remarks == []


@pytest.mark.parametrize("label", ["Name:", "Nombre:", "Nom :", "\u59d3\u540d\uff1a", "\ufeffNaam:", None])
def test_a_username_with_an_underscore_takes_nobodys_row(tmp_path: Path, label: str | None) -> None:
    """Formerly only English receipts were read, and `mal_ann` was graded as a later attempt of `ann`."""
    ann, mal = f"HW1_ann_attempt_{FIRST}", f"HW1_mal_ann_attempt_{LAST}"
    written = {f"{ann}_ch06.py": RIGHT, f"{mal}_ch06.py": WRONG}
    if label is not None:
        written[f"{ann}.txt"] = receipt("ann", "Ann Lee").replace("Name:", label, 1)
        said = receipt("mal_ann", "Mal (Roe)", "Name: Ann Lee (ann)\nNombre: Ann Lee (ann)")
        written[f"{mal}.txt"] = said.replace("Name:", label, 1)
    found = find_work(files(tmp_path / "class", written))
    assert {who: file for who, (file, _) in found_in(found).items()} == {
        "ann": f"{ann}_ch06.py",
        "mal_ann": f"{mal}_ch06.py",
    }
    assert found.earlier == []
    guessed = "class: 1 student has no receipt (.txt) of Blackboard's, which gives the username, so it is guessed: "
    assert len(found.remarks) == (label is None)
    assert all(f"{guessed}mal_ann of 'HW1_mal_ann'; if that is wrong, put" in line for line in found.remarks)


def test_guessed_usernames_are_told_apart_and_said(tmp_path: Path) -> None:
    """Of two assignments in a folder, one has a single attempt: where its name ends, nothing tells."""
    names = [f"{before}_attempt_{FIRST}_ch06.py" for before in ("hw6_ann", "hw6_bo_b", "hw7_mal_ann", "hw8_eva")]
    folder = files(tmp_path / "class", {name: f"{RIGHT}# {name}\n" for name in names})
    found = find_work(files(folder, {f"hw8_eva_attempt_{FIRST}.txt": receipt("eva")}))
    by_student = {who: file for who, (file, _) in found_in(found).items()}
    assert {by_student[who] for who in ("ann", "bo_b", "eva")} == {names[0], names[1], names[3]}
    assert sorted(by_student.values()) == names, "nobody's work goes to another"
    guessed, alike = found.remarks
    assert "2 students have no receipt" in guessed
    assert "bo_b of 'hw6_bo_b', ann of 'hw7_mal_ann'" in guessed
    assert f"more than one entry is called ann; graded beside it: '{names[2]}' as ann~" in alike
    found = find_work(files(folder, {f"hw7_mal_ann_attempt_{FIRST}.txt": receipt("mal_ann")}))
    assert found_in(found).keys() == {"ann", "bo_b", "mal_ann", "eva"}


def test_a_file_named_like_a_classmates_attempt_is_its_owners(tmp_path: Path) -> None:
    name = f"hw_ann_attempt_{LAST}_hw_bob_attempt_{LAST}_ch06.py"
    forged = f"hw_ann_attempt_{LAST}_hw_attempt_{LAST}.txt"
    found = find_work(files(tmp_path / "class", {name: RIGHT, forged: receipt("bob")}))
    assert set(found_in(found)) == {"ann"}


def test_names_from_macos_are_the_same_students(tmp_path: Path) -> None:
    named = unicodedata.normalize("NFD", "11-99 - Jürgen Groß - Nov 12, 2026 1054 PM/ch06.py")
    assert set(found_in(find_work(files(tmp_path / "class", {named: RIGHT})))) == {"Jürgen Groß"}


# Attempts


def test_both_attempts_in_a_canvas_export_are_kept(tmp_path: Path) -> None:
    folder = files(tmp_path, {"ann_1_2_ch06.py": WRONG, "ann_1_3_ch06-1.py": RIGHT})
    found = find_work(folder)
    assert found_in(found) == {"ann_1": ("ann_1_3_ch06-1.py", "")}
    assert [one.file for one in found.earlier] == ["ann_1_2_ch06.py"]
    assert found.not_recognised == []


def test_an_empty_hand_in_is_not_the_last_attempt(tmp_path: Path) -> None:
    untouched = "def relu_vjp(g, x):\n    raise NotImplementedError\n"
    folder = files(tmp_path, {f"hw_ann_attempt_{FIRST}_ch06.py": RIGHT, f"hw_ann_attempt_{LAST}_ch06.py": untouched})
    found = find_work(folder)
    assert found_in(found) == {"ann": (f"hw_ann_attempt_{FIRST}_ch06.py", "2026-11-11T08:00:00")}
    assert found.earlier == []
    assert found.not_recognised == []
    assert f"'hw_ann_attempt_{LAST}_ch06.py' was handed in, too." in found.work[0].remark


@pytest.mark.slow
def test_attempts_are_kept_listed_and_shown(backprop: Command, tmp_path: Path) -> None:
    """One attempt is beside the last in the class folder, the other one's result was replaced."""
    classroom = files(tmp_path / "class", {f"hw_ann_attempt_{FIRST}_ch06.py": WRONG})
    assert backprop("grade", "class", "--isolation", "process").returncode == 0
    before = json.loads((tmp_path / "results" / "students" / "ann" / f"{SLUG}.json").read_text())
    files(classroom, {f"hw_ann_attempt_{LAST}_ch06.py": RIGHT})
    for _ in range(2):  # the second run keeps results and replaced attempts
        run = backprop("grade", "class", "--isolation", "process")
        assert run.returncode == 0, run.stderr
    (kept,) = (tmp_path / "results" / ".earlier" / "ann" / SLUG).iterdir()
    assert json.loads(kept.read_text()) == {"at": "2026-11-11T08:00:00", "result": before}
    assert ClassRecord(tmp_path / "results").times[("ann", SLUG)].at == "2026-11-12T22:54:01"
    assert backprop("report", "results", "--format", "html,csv").returncode == 0
    reports = tmp_path / "results" / "__reports__"
    page = html.fromstring((reports / "students" / "ann.html").read_text(encoding="utf-8")).text_content()
    assert "Handed in12 Nov 2026, 22:54" in "".join(page.split("\n"))
    assert f"11 Nov 2026, 08:00: hw_ann_attempt_{FIRST}_ch06.py, " in page
    (row,) = csv.DictReader((reports / "grades.csv").read_text(encoding="utf-8-sig").splitlines())
    assert row[f"{SLUG} handed in"] == "2026-11-12 22:54:01"
    (result,) = json.loads(backprop("report", "results", "--format", "json").stdout)
    assert result["handed_in"] == "2026-11-12T22:54:01"
    assert [(one["at"], one["points"] is None) for one in result["earlier"]] == [("2026-11-11T08:00:00", False)]
    anonymous = backprop("report", "results", "--format", "json", "--anonymous").stdout
    assert "2026-11-1" not in anonymous


ENTRIES: dict[str, Callable[[str, int, int], str]] = {
    "canvas": lambda name, number, attempt: f"{name.lower()}_{number}_{90000 + 10 * attempt + number}_ch06_vjps.py",
    "moodle": lambda name, number, attempt: (
        f"{name} King_{number + 40 * (attempt > 9)}_assignsubmission_file_ch06_vjps.py"
    ),
    "blackboard": lambda name, number, attempt: (
        f"ch06_{name}_attempt_2027-03-{attempt + 1:02}-10-00-0{number}_ch06_vjps.py"
    ),
    "brightspace": lambda name, number, attempt: (
        f"{number}-77 - {name} King - Mar {attempt + 1}, 2027 105{number} PM - ch06_vjps.py"
    ),
    "none": lambda name, number, attempt: f"{name}/ch06_vjps.py",
}


@pytest.mark.parametrize("platform", ENTRIES)
def test_a_later_download_is_recognised_and_another_class_is_not(tmp_path: Path, platform: str) -> None:
    """The next day's zip has another name, and needs no --replace."""
    out, names = tmp_path / "res", ("Ada", "Bob", "Eve", "Kim")
    out.mkdir()

    def graded(called: str, attempts: dict[str, int]) -> tuple[ClassFolder, ClassRecord]:
        """Do what `grade` does before and after judging."""
        folder = tmp_path / called
        for number, name in enumerate(names, 1):
            if name in attempts:
                file = folder / ENTRIES[platform](name, number, attempts[name])
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"x = {attempts[name]}\n")
        found, record = find_work(folder), ClassRecord(out)
        assert another_class(found, record, folder, out) == ""
        set_claims_aside(found, record, folder, out, replace=False)
        record.note(folder, found)
        (out / ".unfinished").mkdir(exist_ok=True)
        record.write()
        for item in found.work:
            result = replace(a_result(item.student), sha256=file_sha256(item))
            write_json(result_file(out, item.student, item.lesson), result.to_json())
        return found, record

    first = dict.fromkeys(names[:3], 0)
    found, _ = graded("submissions", first)
    assert (len(found.work), found.claimed) == (3, [])
    if platform == "none":
        assert found.entries == frozenset(), "what students call their folders says nothing"
        assert len(graded("submissions (2)", {**first, "Ada": 1})[0].claimed) == 1
        return
    found, record = graded("submissions (2)", {**first, "Ada": 1, "Kim": 1})
    assert (len(found.work), found.claimed) == (4, [])
    (said,) = [line for line in found.remarks if "later download" in line]
    same = 3 if platform == "moodle" else 2
    assert f"of ../submissions ({same} of 3 entries are the same): its files replace the results of " in said
    assert len(record.handed_in) == 4
    found, _ = graded("submissions", first)
    assert (found.claimed, found.given_up) == ([], 1), "the earlier file does not come back by itself"
    other_class = graded("other", dict.fromkeys(names, 10))[0]
    assert (other_class.work, len(other_class.claimed)) == ([], 4)
    for name in ("zoe", "yan"):
        (tmp_path / "forged" / name).mkdir(parents=True)
        (tmp_path / "forged" / name / "ch06_vjps.py").write_text("x = 1\n")
    (tmp_path / "forged" / ENTRIES[platform]("Bob", 2, 0)).write_text("x = 9\n")
    (tmp_path / "submissions").rename(tmp_path / "yesterday")
    for name in names:
        (tmp_path / "submissions" / ENTRIES[platform](name, 7, 10)).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "submissions" / ENTRIES[platform](name, 7, 10)).write_text("x = 3\n")
    refused = another_class(find_work(tmp_path / "submissions"), ClassRecord(out), tmp_path / "submissions", out)
    assert "before (0 of 3 entries are the same), so nothing is graded: give another assignment" in refused
    forged, _ = graded("forged", {})
    assert (forged.entries, {item.student for item in forged.work}) == (frozenset(), {"yan", "zoe"})
