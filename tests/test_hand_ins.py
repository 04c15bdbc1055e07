"""Whatever is handed in, under whatever name and in whatever export: it is graded as a lesson or is a row."""

from __future__ import annotations

import csv
import json
import os
import stat
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import visit
from lxml import html

from autograder.classroom.archives import OF_A_STUDENT, ArchiveError, Bounds, unpack
from autograder.classroom.class_folder import ClassFolder, find_work
from autograder.classroom.class_level import ClassUnclearError
from autograder.classroom.class_record import ClassRecord
from autograder.classroom.hand_in_files import MOST_ROWS, MOST_ZIPS, Unrecognised
from autograder.classroom.lesson_names import copy_number, lessons_named
from autograder.submission import MAX_BYTES, read_submission

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

Command = Callable[..., subprocess.CompletedProcess[str]]

RIGHT = "import numpy as np\n\ndef relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "metadata": {"exercise": "relu_vjp"}, "source": RIGHT}], "nbformat": 4}
)


def class_of(folder: Path, *names: str) -> Path:
    """A class folder with these files; what ends in `.ipynb` is a notebook."""
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(NOTEBOOK if name.lower().endswith("ipynb") else RIGHT)
    return folder


def zipped(folder: Path, file: Path) -> Path:
    """All of a folder as a zip."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return file


def graded(found: ClassFolder) -> dict[tuple[str, str], str]:
    """The name of the file that is graded, by student and lesson."""
    return {(item.student, item.lesson): item.file.name for item in found.work}


def rows(found: ClassFolder) -> dict[str, str]:
    return {f"{row.student}/{row.file}": row.why for row in found.not_recognised}


# Names


@pytest.mark.parametrize(
    ("stem", "lessons"),
    [
        ("ch06_vjps", ["ch06_vjps"]),
        ("ch06_vjps (1)", ["ch06_vjps"]),
        ("ch06_vjps-Copy1", ["ch06_vjps"]),
        ("CH06_VJPS", ["ch06_vjps"]),
        ("ch06", ["ch06_vjps"]),
        ("ch6_final", ["ch06_vjps"]),
        ("Chapter 6 (Ann)", ["ch06_vjps"]),
        ("06_vjps", ["ch06_vjps"]),
        ("my Chain-Rule", ["ch02_chain_rule"]),
        ("ch06_vpjs", ["ch06_vjps"]),
        ("ch11-2", ["ch11_checkpointing"]),
        ("ch06_mlp_backprop", ["ch06_vjps", "ch07_mlp_backprop"]),
        ("ch06 and ch07", ["ch06_vjps", "ch07_mlp_backprop"]),
        ("ch99_vjps", []),
        ("ch061", []),
        ("batch6", []),
        ("Untitled", []),
    ],
)
def test_a_name_means_the_lessons_that_it_can_mean(stem: str, lessons: list[str]) -> None:
    assert lessons_named(stem) == lessons


@pytest.mark.parametrize(
    ("stem", "number"),
    [("ch06_vjps (2)", 2), ("ch06_vjps-Copy1", 1), ("ch06_vjps-3", 3), ("ch06", 0), ("ch_06", 0), ("ch_06 (1)", 1)],
)
def test_copies_are_numbered(stem: str, number: int) -> None:
    assert copy_number(stem) == number


@pytest.mark.parametrize(
    "name",
    [
        *("ch06_vjps (1).ipynb", "ch06_vjps-Copy1.ipynb", "CH06_VJPS.ipynb", "ch06.py", "CH06_VJPS.IPYNB"),
        *("ch06_vjps.ipynb.txt", "ch06_vjps.json", "week 3/ch06_vjps.ipynb", "Untitled.ipynb", "homework.py"),
    ],
)
def test_what_can_only_be_one_lesson_is_that(tmp_path: Path, name: str) -> None:
    found = find_work(class_of(tmp_path, f"ann/{name}"))
    (work,) = found.work
    assert (work.student, work.lesson, found.not_recognised) == ("ann", "ch06_vjps", [])
    assert bool(work.remark) == (Path(name).name != "ch06_vjps.ipynb"), "and its result says so"


def test_a_notebook_is_read_as_one_whatever_was_added_to_its_name(tmp_path: Path) -> None:
    for name in ("a.IPYNB", "a.ipynb.txt", "a.json", "a.py"):
        (tmp_path / name).write_text(NOTEBOOK)
        assert [cell.exercise for cell in read_submission(tmp_path / name).cells] == ["relu_vjp"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("essay.md", "no lesson of that name"),
        ("ch06_vjps.pdf", "no lesson of that name; lessons are .ipynb or .py files"),
        ("ch99.py", "what is in it does not say which it is"),
        ("Untitled.ipynb", "line 1 is not JSON"),
        ("ch06 ch07.py", "its name could be ch06_vjps or ch07_mlp_backprop"),
        ("work.zip", "a zip that was not unpacked"),
    ],
)
def test_the_rest_is_a_row(tmp_path: Path, name: str, why: str) -> None:
    class_of(tmp_path, f"ann/{name}")
    (tmp_path / "ann" / name).write_text("print()")
    found = find_work(tmp_path)
    assert found.work == []
    assert why in rows(found)[f"ann/{name}"]


@pytest.mark.parametrize(
    ("names", "best", "why"),
    [
        (("ch06_vjps.ipynb", "ch06_vjps (1).ipynb"), "ch06_vjps.ipynb", "its name is the lesson's"),
        (("ch06_vjps.ipynb", "ch06_vjps.py"), "ch06_vjps.ipynb", "a notebook goes before a Python file"),
        (("ch06_vjps.py", "ch06 (1).ipynb"), "ch06_vjps.py", "its name is the lesson's"),
        (("ch06-Copy1.ipynb", "ch06-Copy2.ipynb"), "ch06-Copy2.ipynb", "its number is higher"),
        (("a/ch06_vjps.py", "ch06_vjps.py"), "ch06_vjps.py", "it lies less deep"),
        (("ch6.py", "Untitled.py"), "ch6.py", "its name says the lesson"),
    ],
)
def test_of_two_files_for_one_lesson_one_is_graded_and_the_other_a_row(
    tmp_path: Path, names: tuple[str, str], best: str, why: str
) -> None:
    found = find_work(class_of(tmp_path, *(f"ann/{name}" for name in names)))
    assert [item.file for item in found.work] == [tmp_path / "ann" / best]
    (other,) = set(names) - {best}
    assert rows(found) == {f"ann/{other}": f"{best} is graded as ch06_vjps, as {why}; remove one of the two"}


@pytest.mark.parametrize("name", ["ch06_vjps.ipynb", "ch06_vjps.ipynb/ch06_vjps.ipynb"])
@pytest.mark.parametrize("text", ["", '{"cells": [', NOTEBOOK])
def test_what_cannot_be_read_does_not_stand_before_what_can(tmp_path: Path, name: str, text: str) -> None:
    class_of(tmp_path, f"ann/{name}", "ann/ch06_vjps (1).ipynb")
    (tmp_path / "ann" / name).write_text(text)
    found = find_work(tmp_path)
    unreadable = text != NOTEBOOK or "/" in name
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps (1).ipynb" if unreadable else "ch06_vjps.ipynb"}
    if unreadable:
        assert rows(found)["ann/ch06_vjps.ipynb"].startswith(
            "ch06_vjps (1).ipynb is graded as ch06_vjps, as this one cannot be ("
        )


def test_where_nothing_can_be_read_the_better_name_stands(tmp_path: Path) -> None:
    class_of(tmp_path, "ann/ch06_vjps.ipynb", "ann/ch06_vjps (1).ipynb")
    for file in (tmp_path / "ann").iterdir():
        file.write_text("")
    found = find_work(tmp_path)
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps.ipynb"}
    assert "its name is the lesson's" in rows(found)["ann/ch06_vjps (1).ipynb"]


def test_a_notebook_behind_hundreds_of_files_is_graded(tmp_path: Path) -> None:
    class_of(tmp_path, *(f"ann/{i:03}.txt" for i in range(230)), "ann/zz_ch06_vjps.ipynb", "ann/zz_other.ipynb")
    found = find_work(tmp_path)
    assert graded(found) == {("ann", "ch06_vjps"): "zz_ch06_vjps.ipynb"}
    assert rows(found)["ann/…"] == f"and {231 - MOST_ROWS} more files"


def test_the_row_of_a_file_that_is_called_after_a_lesson_is_not_left_out(tmp_path: Path) -> None:
    class_of(tmp_path, *(f"ann/{i:03}.txt" for i in range(230)), "ann/ch06_vjps.ipynb", "ann/zz_ch06_vjps.ipynb")
    assert "ch06_vjps.ipynb is graded" in rows(find_work(tmp_path))["ann/zz_ch06_vjps.ipynb"]


def test_where_names_are_no_longer_looked_at_a_row_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.classroom.hand_in_files.MOST_LISTED", 50)
    class_of(tmp_path, *(f"ann/{i:03}.txt" for i in range(60)), "ann/zz_ch06_vjps.ipynb")
    found = find_work(tmp_path)
    assert found.work == []
    why = [row.why for row in found.not_recognised if row.file == "…"]
    assert why[0] == "more than 50 files were handed in; 050.txt and those after it were not looked at"


def test_a_file_of_nobody_is_a_row_and_a_thousand_are_a_few(tmp_path: Path) -> None:
    class_of(tmp_path, "ch06_vjps.py", "ann/ch06_vjps.py", *(f"ann/{i}.txt" for i in range(100)))
    found = find_work(tmp_path)
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps.py"}
    assert rows(found)["(unknown)/ch06_vjps.py"] == "it lies in no student's folder"
    assert len(found.not_recognised) == 1 + MOST_ROWS + 1
    assert rows(found)["ann/…"] == f"and {100 - MOST_ROWS} more files"


def test_results_of_another_run_are_nobodys(tmp_path: Path) -> None:
    """Their files are called after lessons, and could be taken for notebooks."""
    class_of(tmp_path, "ann/ch06_vjps.py", "old/ann/ch06_vjps.json", "old/.hand-ins.json")
    found = find_work(tmp_path)
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps.py"}
    assert found.remarks == [f"{tmp_path / 'old'}: a folder of results, not a student's; passed over"]


def test_a_student_whose_folder_looks_like_results_is_graded(tmp_path: Path) -> None:
    found = find_work(class_of(tmp_path, "ann/ch06_vjps.ipynb", "ann/.hand-ins.json"))
    assert (graded(found), found.remarks) == ({("ann", "ch06_vjps"): "ch06_vjps.ipynb"}, [])


@pytest.mark.parametrize("name", ["bob.b.7z", "bob.b.tar.gz", "bob.b.TGZ", "bob.b.rar"])
def test_an_archive_that_is_not_opened_is_its_students_row(tmp_path: Path, name: str) -> None:
    found = find_work(class_of(tmp_path, "ann/ch06_vjps.ipynb", name))
    assert rows(found) == {f"bob.b/{name}": "an archive that is no zip; hand in the files themselves"}


@pytest.mark.parametrize("out", [".", "results"])
def test_results_among_hand_ins_are_refused(backprop: Command, tmp_path: Path, out: str) -> None:
    """A result among them would be believed: 23 of 23 points for its student, none for a neighbour."""
    class_of(tmp_path, "ann/ch06_vjps.py", "results/ann/ch06_vjps.json", "results/.hand-ins.json")
    done = backprop("grade", str(tmp_path), "--out", str(tmp_path / out))
    assert done.returncode == 2
    assert "lies in the class folder, where a hand-in could pass for a result; name a place with --out" in done.stderr


def test_a_notebook_under_the_name_of_another_lesson_is_said(backprop: Command, tmp_path: Path) -> None:
    """It has had 0 points without a word, in the table and for the student."""
    (tmp_path / "class" / "ann").mkdir(parents=True)
    source = "def relu_vjp(g, x):\n    return g\n"
    (tmp_path / "class" / "ann" / "ch07_mlp_backprop.py").write_text(source)
    assert "are those of ch06_vjps: was that meant?" in " ".join(
        backprop("grade", "class", "--out", "out").stdout.split()
    )


def test_what_two_copies_of_a_class_share_is_listed_once(tmp_path: Path) -> None:
    found = ClassFolder(not_recognised=[Unrecognised("ann", "essay.pdf", "no lesson")])
    record = ClassRecord(tmp_path / "out")
    for copy in ("class", "class (1)"):
        record.note(tmp_path / copy, found)
    assert record.not_recognised == found.not_recognised


def test_what_a_student_handed_in_twice_is_graded_once(tmp_path: Path) -> None:
    """Moodle's typed text beside the files, and a folder beside a repository: no two have one place."""
    class_of(tmp_path, "X_1_assignsubmission_file_/ch06_vjps.py", "X_1_assignsubmission_onlinetext_/ch06_vjps.py")
    found = find_work(tmp_path)
    assert graded(found) == {("X", "ch06_vjps"): "ch06_vjps.py"}
    assert "as its folder comes first" in rows(found)["X/ch06_vjps.py"]


@pytest.mark.parametrize("given", ["link", "class/ann/.."])
def test_a_class_folder_is_the_same_by_any_path(tmp_path: Path, given: str) -> None:
    """Also where files lie in it themselves, which are looked at inside it."""
    class_of(tmp_path / "class", "last_1_2_Untitled.ipynb", "last_3_4_ch06_vjps.py")
    (tmp_path / "link").symlink_to("class")
    (tmp_path / "class" / "ann").mkdir() if given != "link" else None
    (tmp_path / "link2").symlink_to("class")
    found = find_work(tmp_path / given)
    if given == "link":
        assert set(graded(found)) == {("last_1", "ch06_vjps"), ("last_3", "ch06_vjps")}
    assert all(item.file.parent == tmp_path / "class" for item in found.work)
    for item in found.work:
        read_submission(item.file, inside=item.file.parent)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can be someone else for a moment")
@pytest.mark.parametrize("what", ["folder", "zip"])
def test_what_cannot_be_read_is_a_row_and_the_rest_goes_on(what: str) -> None:
    with tempfile.TemporaryDirectory() as name:  # others may not enter pytest's
        folder = class_of(Path(name) / "class", "ann/ch06_vjps.py", "bob/ch06_vjps.py")
        zipped(folder, folder / "bob" / "work.zip")
        (folder / "bob" / ("" if what == "folder" else "work.zip")).chmod(0)
        scratch = Path(name) / "scratch"
        scratch.mkdir()
        for opened in (Path(name), scratch):
            opened.chmod(0o777)
        os.seteuid(65534)
        try:
            found = find_work(folder, scratch=scratch)
        finally:
            os.seteuid(0)
        assert ("ann", "ch06_vjps") in graded(found)
        (told,) = rows(found).items()
        assert told[0] == {"folder": "bob/.", "zip": "bob/work.zip"}[what]
        assert "cannot be read (Permission denied)" in told[1]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    class_of(tmp_path, "ann/ch06_vjps.py", "bob/ch07_mlp_backprop.py")
    (tmp_path / "ann" / "mine").symlink_to(tmp_path / "bob")
    found = find_work(tmp_path)
    assert ("ann", "ch07_mlp_backprop") not in graded(found)
    assert rows(found) == {"ann/mine": "a link to a folder; hand in the files themselves"}


# Exports of platforms, as they come


CANVAS = [
    "lastfirst_12345_67890_ch06_vjps-1.ipynb",
    "lastfirst_12345_67891_ch07_mlp_backprop.py",
    "otherann_LATE_12346_67892_ch06_vjps.ipynb",
    "otherbob_12347_text.html",
    "anon_aB3dE_67893_ch06_vjps.ipynb",
    "othercy_LATE_12348_link.html",
    "_12349_67894_ch06_vjps.ipynb",
]
MOODLE = [
    "Ann Last_101_assignsubmission_file_/ch06_vjps.ipynb",
    "Bob Other_102_assignsubmission_file_/week/ch06.ipynb",
    "Bob Other_102_assignsubmission_onlinetext_/onlinetext.html",
    "Same Name_103_assignsubmission_file_/ch06_vjps.py",
    "Same Name_104_assignsubmission_file_/ch06_vjps.py",
    "Participant_105_assignsubmission_file_/ch06_vjps.py",
    "__Dee_106_assignsubmission_file/ch06_vjps.py",
]
GRADESCOPE = ["submission_1/ch06_vjps.ipynb", "submission_2/sub/ch06_vjps.py", "submission_3/ch06_vjps.py"]
METADATA = """---
submission_1:
  :submitters:
  - :name: Ann Last
    :sid: '31'
    :email: ann@example.edu
  :created_at: 2026-03-01 10:00:00.000000000 Z
  :score: 0.0
  :history: []
submission_2:
  :submitters:
  - :name: Bob
    :sid: '32'
    :email: ../../bob
  - :name: Cy
    :sid: '33'
    :email:
"""
GITHUB = [
    "hw1-submissions/hw1-ann/exercises/ch06_vjps.ipynb",
    "hw1-submissions/hw1-ann/README.md",
    "hw1-submissions/hw1-ann/.git/config",
    "hw1-submissions/hw1-bob-lee/ch06_vjps.py",
    "hw1-submissions/hw1-bob-lee/.git/config",
]
EXPORTS = {
    "canvas": (
        CANVAS,
        {
            ("lastfirst_12345", "ch06_vjps"): CANVAS[0],
            ("lastfirst_12345", "ch07_mlp_backprop"): CANVAS[1],
            ("otherann_12346", "ch06_vjps"): CANVAS[2],
            ("anon_aB3dE", "ch06_vjps"): CANVAS[4],
            ("_12349", "ch06_vjps"): CANVAS[6],
        },
        {"otherbob_12347/otherbob_12347_text.html", "othercy_12348/othercy_LATE_12348_link.html"},
    ),
    "moodle": (
        MOODLE,
        {
            ("Ann Last", "ch06_vjps"): "ch06_vjps.ipynb",
            ("Bob Other", "ch06_vjps"): "ch06.ipynb",
            ("Same Name_103", "ch06_vjps"): "ch06_vjps.py",
            ("Same Name_104", "ch06_vjps"): "ch06_vjps.py",
            ("Participant_105", "ch06_vjps"): "ch06_vjps.py",
            ("student __Dee", "ch06_vjps"): "ch06_vjps.py",
        },
        {"Bob Other/onlinetext.html"},
    ),
    "moodle, flat": (
        ["Ann Last_101_assignsubmission_file_ch06_vjps.ipynb"],
        {("Ann Last", "ch06_vjps"): "Ann Last_101_assignsubmission_file_ch06_vjps.ipynb"},
        set(),
    ),
    "gradescope": (
        [f"assignment_9_export/{name}" for name in (*GRADESCOPE, "submission_metadata.yml")],
        {
            ("ann@example.edu", "ch06_vjps"): "ch06_vjps.ipynb",
            ("student .._.._bob", "ch06_vjps"): "ch06_vjps.py",
            ("33", "ch06_vjps"): "ch06_vjps.py",
            ("submission_3", "ch06_vjps"): "ch06_vjps.py",
        },
        set(),
    ),
    "github": (GITHUB, {("ann", "ch06_vjps"): "ch06_vjps.ipynb", ("bob-lee", "ch06_vjps"): "ch06_vjps.py"}, set()),
    "ours": (["ann/ch06_vjps.py", "ann-lee/ch06_vjps.py"], {}, set()),
}


@pytest.mark.parametrize("as_zip", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("platform", EXPORTS)
def test_exports_are_graded_as_they_come(tmp_path: Path, platform: str, as_zip: bool) -> None:
    names, expected, passed_over = EXPORTS[platform]
    folder = class_of(tmp_path / "export", *names)
    for file in folder.rglob("submission_metadata.yml"):
        file.write_text(METADATA)
    given = zipped(folder, tmp_path / "export.zip") if as_zip else folder
    if not as_zip and platform in ("gradescope", "github"):
        (given,) = folder.iterdir()
    around = as_zip and platform in ("gradescope", "github")  # a folder of their own is in the zip
    found = find_work(given, scratch=tmp_path / "scratch", export=True if around else None)
    assert graded(found) == (expected or {(name.split("/")[0], "ch06_vjps"): "ch06_vjps.py" for name in names})
    assert set(rows(found)) == passed_over
    remarks = {item.student: item.remark for item in found.work if item.remark}
    late = "Canvas says that this was handed in late."
    assert remarks.pop("otherann_12346", None) == (late if platform == "canvas" else None)
    assert set(remarks) <= {"Bob Other"}, "what the platform adds is nobody's mistake"


@pytest.mark.parametrize("within", ["Download", "Download/submitted"])
def test_a_class_folder_in_another_is_found(tmp_path: Path, within: str) -> None:
    """Windows puts a folder around what it extracts; nbgrader's is called `submitted`, and it adds a time."""
    names = ["ann/hw1/ch06_vjps.ipynb", "ann/hw1/timestamp.txt", "bob/hw1/ch06_vjps.py"]
    if within == "Download":
        within, names = "Download/assignment_9_export", [*GRADESCOPE[:2], "submission_metadata.yml"]
    folder = class_of(tmp_path / within, *names)
    for file in folder.glob("submission_metadata.yml"):
        file.write_text(METADATA)
    with pytest.raises(ClassUnclearError, match=r"type --export if it is an export, --no-export if .* is a student"):
        find_work(tmp_path / "Download")
    found = find_work(tmp_path / "Download", export=True)
    assert len({item.student for item in found.work} & {"ann", "bob", "ann@example.edu", "33"}) == 2
    assert rows(found) == {}


def test_what_the_commands_keep_in_a_work_folder_is_nobodys_mistake(tmp_path: Path) -> None:
    """A learner who hands in all of it would have two candidates for a lesson, and a row for the file of progress."""
    kept = "ann/kept/ch06_vjps.relu_vjp.2026-11-27_02-18-06.py"
    found = find_work(class_of(tmp_path / "class", "ann/ch06_vjps.py", "ann/progress.json", kept, "bob/ch06_vjps.py"))
    assert sorted(item.file.relative_to(tmp_path / "class").as_posix() for item in found.work) == [
        "ann/ch06_vjps.py",
        "bob/ch06_vjps.py",
    ]
    assert rows(found) == {}


def test_a_folder_of_one_student_is_no_class(tmp_path: Path) -> None:
    class_of(tmp_path, "ann/week1/ch06_vjps.py", "ann/week2/ch07_mlp_backprop.py")
    assert {item.student for item in find_work(tmp_path).work} == {"ann"}


def test_a_folder_beside_files_of_canvas_takes_nobodys_name(tmp_path: Path) -> None:
    """The instructor unpacked one of them."""
    class_of(tmp_path, *CANVAS[:3], "otherann_12346_67892_work/ch06_vjps.ipynb", "otherann_12346_9_notes.pdf")
    found = find_work(tmp_path)
    assert {("lastfirst_12345", "ch06_vjps"), ("otherann_12346", "ch06_vjps")} < set(graded(found))
    assert set(rows(found)) == {"otherann_12346/otherann_12346_9_notes.pdf"}


def test_what_gradescope_lists_and_is_not_there_is_a_row(tmp_path: Path) -> None:
    class_of(tmp_path, GRADESCOPE[0])
    (tmp_path / "submission_metadata.yml").write_text(METADATA)
    found = find_work(tmp_path)
    assert {row.student for row in found.not_recognised} == {"student .._.._bob", "33"}
    assert "lists it, and it is not there" in rows(found)["33/."]


@pytest.mark.parametrize("name", ["__reports__", ".regrade", "__ann", "class.json"])
def test_a_student_may_be_called_as_we_call_files(tmp_path: Path, name: str) -> None:
    class_of(tmp_path, f"{name}/ch06_vjps.py", ".idea/settings.json", ".vscode/a.txt", "._ann/ch06_vjps.py")
    class_of(tmp_path, ".ipynb_checkpoints/ch06_vjps-checkpoint.ipynb", "__MACOSX/bob/._ch06_vjps.py")
    found = find_work(tmp_path)
    assert set(graded(found)) == {(f"student {name}", "ch06_vjps")}
    assert rows(found) == {}


def test_a_student_s_folder_that_is_a_link_is_a_row(tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py")
    (tmp_path / "class" / "bob").symlink_to("ann")
    found = find_work(tmp_path / "class")
    assert set(graded(found)) == {("ann", "ch06_vjps")}
    assert rows(found) == {"bob/.": "a link, which is not followed; put there what it leads to"}


def test_results_among_what_a_platform_exports_are_a_student_s(tmp_path: Path) -> None:
    """Or a student could be passed over by handing in one file more."""
    class_of(tmp_path, *(f"X_1_assignsubmission_file_/{name}" for name in ("ch06_vjps.py", ".hand-ins.json")))
    assert set(graded(find_work(tmp_path))) == {("X", "ch06_vjps")}


# What is hidden, and what holds nothing


@pytest.mark.parametrize(
    "name",
    [
        *(".ch06_vjps.ipynb", ".work/ch06_vjps.py", ".ipynb_checkpoints/ch06_vjps-checkpoint.ipynb"),
        *("week/.trash/x/ch06 (1).ipynb", "__MACOSX/._ch06_vjps.ipynb", ".ch06.zip"),
    ],
)
def test_what_is_hidden_is_a_row_where_nothing_else_is_that_lesson(tmp_path: Path, name: str) -> None:
    """Jupyter keeps checkpoints, and macOS a shadow of each file, beside what is handed in."""
    class_of(tmp_path, f"ann/{name}", f"bob/{name}", "bob/ch06_vjps.py", "ann/ch07_mlp_backprop.py")
    class_of(tmp_path, "bob/.venv/lib/debugging.py", "bob/.git/ch07_mlp_backprop.py", "bob/.vscode/settings.json")
    found = find_work(tmp_path)
    assert set(graded(found)) == {("ann", "ch07_mlp_backprop"), ("bob", "ch06_vjps")}
    assert rows(found) == {f"ann/{name}": "it is hidden; hand it in under a name without a dot"}


def test_a_folder_in_which_nothing_can_be_graded_is_a_row(tmp_path: Path) -> None:
    class_of(tmp_path, "ann/.work/notes.txt", *(f"bob/.x/{i}.md" for i in range(9)), "cy/.DS_Store", "cy/._a.py")
    (tmp_path / "dee").mkdir()
    found = find_work(tmp_path)
    assert rows(found) == {
        "ann/.": "nothing in it can be graded, of .work/notes.txt; lessons are .ipynb or .py files",
        "bob/.": "nothing in it can be graded, of .x/0.md, .x/1.md, .x/2.md and more; lessons are .ipynb or .py files",
    }
    assert found.remarks == [f"{tmp_path / who}: nothing that can be graded, so no result" for who in ("cy", "dee")]


def test_a_repository_without_a_lesson_is_a_row(tmp_path: Path) -> None:
    """As is what is called after a lesson there, whatever it is."""
    for who, name in (("ann", "essay.docx"), ("bob", "ch06_vjps.pdf"), ("cy", ".gitignore"), ("dee", "ch06_vjps.py")):
        class_of(tmp_path, f"hw-{who}/{name}", f"hw-{who}/.git/config", f"hw-{who}/README.md")
    class_of(tmp_path, "hw-dee/notes.docx", *(f"hw-{who}/Makefile" for who in ("ann", "bob", "dee")))
    class_of(tmp_path, *(f"hw-{who}/setup.py" for who in ("ann", "bob", "dee")))
    for file in tmp_path.glob("*/setup.py"):
        file.write_text("x = 1")
    found = find_work(tmp_path)
    why = "no lesson of that name; lessons are .ipynb or .py files"
    assert rows(found) == {"ann/essay.docx": why, "bob/ch06_vjps.pdf": why}
    assert f"{tmp_path}: setup.py is the same in 3 repositories; passed over" in found.remarks
    (tmp_path / "hw-ann" / "essay.docx").unlink()
    assert set(rows(find_work(tmp_path))) == {"ann/Makefile", "ann/setup.py", "bob/ch06_vjps.pdf"}


def test_canvas_numbers_attempts_and_not_chapters(tmp_path: Path) -> None:
    class_of(tmp_path, "ann_1_2_Chapter-6.ipynb", "bob_3_4_ch06_vjps-2.ipynb")
    found = find_work(tmp_path)
    assert set(graded(found)) == {("ann_1", "ch06_vjps"), ("bob_3", "ch06_vjps")}
    assert {item.student: item.remark for item in found.work} == {
        "ann_1": "'Chapter-6.ipynb' was graded as ch06_vjps, by its name.",
        "bob_3": "",
    }


def test_two_people_whom_gradescope_calls_the_same_are_two(tmp_path: Path) -> None:
    class_of(tmp_path, "submission_1/ch06_vjps.py", "submission_2/ch06_vjps.py")
    entry = "submission_{}:\n  :submitters:\n  - :name: Ann Last\n"
    (tmp_path / "submission_metadata.yml").write_text(entry.format(1) + entry.format(2))
    assert [item.student for item in find_work(tmp_path).work] == ["Ann Last_submission_1", "Ann Last_submission_2"]


@pytest.mark.parametrize(
    ("names", "around"),
    [
        (("ann/week1/ch06_vjps.py",), ""),
        (("class/ann/ch06_vjps.py",), "class"),
        (("hw1-submissions/ann/ch06_vjps.py",), "hw1-submissions"),
        (("given/ann/ch06_vjps.py", "given/bob/notes.md"), "given"),
        (("given/ann/ch06_vjps.py", "given/bob/notes.md", ".gitignore", "__MACOSX/._given"), "given"),
    ],
)
def test_whether_the_one_folder_in_a_zip_is_a_student_s_is_asked(
    tmp_path: Path, names: tuple[str, ...], around: str
) -> None:
    file = zipped(class_of(tmp_path / "in", *names), tmp_path / "class.zip")
    for export, student in ((True, "ann"), (False, around)):
        if around:
            found = find_work(file, scratch=tmp_path / f"{export}", export=export)
            assert [item.student for item in found.work] == [student]
    if around:
        with pytest.raises(ClassUnclearError, match=f"the one folder in it, {around}, may be"):
            find_work(file, scratch=tmp_path / "scratch")
    else:
        assert [item.student for item in find_work(file, scratch=tmp_path / "scratch").work] == ["ann"]


def test_repositories_under_any_name_lose_what_is_before_the_usernames(tmp_path: Path) -> None:
    class_of(tmp_path, "hw1-ann/ch06_vjps.py", "hw1-ann/.git/config", "hw1-bob/ch06.py", "hw1-bob/.git/config")
    assert [item.student for item in find_work(tmp_path).work] == ["ann", "bob"]


def test_what_all_repositories_share_is_the_assignment_s(tmp_path: Path) -> None:
    for who in ("ann", "bob", "cy"):
        class_of(tmp_path, f"hw1-{who}/ch06_vjps.py", f"hw1-{who}/.git/config", f"hw1-{who}/setup.py")
        (tmp_path / f"hw1-{who}" / "setup.py").write_text("x = 1")
    (tmp_path / "hw1-bob" / "notes.py").write_text("x = 1")
    class_of(tmp_path, "hw1-dee/.git/config", "hw1-dee/setup.py")
    (tmp_path / "hw1-dee" / "setup.py").write_text("x = 1")
    class_of(tmp_path, "hw1-eve/ch06_vjps.py", "hw1-eve/.git/config", "hw1-eve/setup.py")
    found = find_work(tmp_path)
    assert set(rows(found)) == {"bob/notes.py", "dee/setup.py", "eve/setup.py"}, (
        "dee has nothing else, eve's is another"
    )
    assert found.remarks == [f"{tmp_path}: setup.py is the same in 3 repositories; passed over"]


def test_what_gradescope_says_may_be_damaged(tmp_path: Path) -> None:
    class_of(tmp_path, "submission_1/ch06_vjps.py")
    for text in ("[", "- a\n- b", "submission_1: {':submitters': 3}", "submission_1: {':submitters': [null]}"):
        (tmp_path / "submission_metadata.yml").write_text(text)
        assert [item.student for item in find_work(tmp_path).work] == ["submission_1"]


# Zips


def test_a_students_zip_is_opened(tmp_path: Path) -> None:
    class_of(tmp_path / "in", "work/ch06_vjps.ipynb", "__MACOSX/._ch06_vjps.ipynb", "notes.docx")
    for where in ("class/ann/my work.zip", "class/bob.zip"):
        (tmp_path / where).parent.mkdir(parents=True, exist_ok=True)
        zipped(tmp_path / "in", tmp_path / where)
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert graded(found) == {(who, "ch06_vjps"): "ch06_vjps.ipynb" for who in ("ann", "bob")}
    assert set(rows(found)) == {"ann/my work.zip/notes.docx", "bob/bob.zip/notes.docx"}


def hostile_zip(file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ch06_vjps.py", RIGHT)
        for name in ("../up.py", "/abs.py", "a/../../b.py", "C:/c.py", "..\\win.py", "d/" * 40 + "deep.py"):
            archive.writestr(name, "x")
        link = zipfile.ZipInfo("ch07_mlp_backprop.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr(zipfile.ZipInfo("x" * 300 + ".py"), "x")
        archive.writestr("ch06_vjps.py/inside.py", "x")
        packed = zipfile.ZipInfo("lzma.py")
        packed.compress_type = zipfile.ZIP_LZMA
        archive.writestr(packed, "x")
        archive.writestr("large.py", b"\0" * (MAX_BYTES + 10**6))


def test_a_hostile_zip_writes_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "class" / "ann").mkdir(parents=True)
    hostile_zip(tmp_path / "class" / "ann" / "work.zip")
    before = set(tmp_path.rglob("*"))
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps.py"}
    assert len(rows(found)) == 11
    written = {path for path in tmp_path.rglob("*") if path not in before}
    assert all(path.is_relative_to(tmp_path / "scratch") for path in written)
    assert not any(path.is_symlink() for path in written)
    files = {path.name: path.stat().st_size for path in written if path.is_file()}
    assert files == {"ch06_vjps.py": len(RIGHT), "large.py": MAX_BYTES + 1}


def of_zeros(file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(12):
            archive.writestr(f"{i}.py", b"\0" * MAX_BYTES)


def of_many(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for i in range(OF_A_STUDENT.entries + 1):
            archive.writestr(f"{i}.py", "")


def encrypted(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.py", "x")
    data = bytearray(file.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    file.write_bytes(data)


def damaged(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("ch06_vjps.py", RIGHT)
    file.write_bytes(file.read_bytes().replace(b"relu", b"rely", 1))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (of_zeros, "larger than the limit when it is unpacked"),
        (of_many, "501 entries, and 500 are the limit"),
        (encrypted, "it is encrypted"),
        (damaged, "it cannot be unpacked (Bad CRC-32"),
        (lambda file: file.write_bytes(b"PK"), "this is no zip that can be unpacked"),
        (
            lambda file: os.truncate(file, 41 * 2**20) if file.touch() is None else None,
            "the archive has 41 MiB, and 40",
        ),
        (lambda file: zipped(file.parent / "none", file), "there is no file in the archive"),
        (lambda file: file.mkdir(), ""),
    ],
    ids=["large", "many", "encrypted", "damaged", "no zip", "too large a file", "empty", "a folder"],
)
def test_zips_that_are_not_opened_are_rows(tmp_path: Path, make: Callable[[Path], object], why: str) -> None:
    (tmp_path / "class" / "ann").mkdir(parents=True)
    make(tmp_path / "class" / "ann" / "work.zip")
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert found.work == []
    assert any(why in told for told in rows(found).values()) == bool(why)
    assert not list((tmp_path / "scratch").rglob("ch06*"))


def test_all_zips_of_a_student_share_the_room_of_one(tmp_path: Path) -> None:
    folder = tmp_path / "class" / "ann"
    folder.mkdir(parents=True)
    for i in range(MOST_ZIPS + 1):
        with zipfile.ZipFile(folder / f"{i:02}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(".hidden", b"\0" * MAX_BYTES)  # nobody looks at it, and it fills the disk
    class_of(tmp_path / "class", "bob/ch06_vjps.py")
    zipped(tmp_path / "class" / "bob", tmp_path / "class" / "bob" / "work.zip")
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    written = sum(path.stat().st_size for path in (tmp_path / "scratch").rglob("*"))
    assert written < OF_A_STUDENT.total_bytes + MAX_BYTES
    told = rows(found)
    assert "larger than the limit" in told["ann/10.zip"]
    assert f"more than {MOST_ZIPS} zips" in told[f"ann/{MOST_ZIPS}.zip"]
    assert ("bob", "ch06_vjps") in graded(found)
    assert any("work.zip/ch06_vjps.py" in name for name in told), "bob's zip was opened"


def test_a_class_and_its_students_zips_are_unpacked_apart(tmp_path: Path) -> None:
    class_of(tmp_path / "in", "ann/ch06_vjps.py", "bob/notes.md", "bob/other/ch07_mlp_backprop.py")
    zipped(tmp_path / "in" / "bob" / "other", tmp_path / "in" / "bob" / "work.zip")
    file = zipped(tmp_path / "in", tmp_path / "zip-1.zip")
    found = find_work(file, scratch=tmp_path / "scratch")
    assert set(graded(found)) == {("ann", "ch06_vjps"), ("bob", "ch07_mlp_backprop")}


@pytest.mark.parametrize("around", ["", "assignment_9_export/"])
def test_what_of_a_class_s_zip_cannot_be_unpacked_is_a_row(tmp_path: Path, around: str) -> None:
    """It was a line that nobody's report had, and the status was 0."""
    long = "x" * 300 + ".ipynb"
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for name in ("submission_1/ch06_vjps.py", f"submission_2/{long}", "submission_3/../up.py", "__MACOSX/" + long):
            archive.writestr(around + name, RIGHT)
        archive.writestr(around + "submission_metadata.yml", METADATA)
        link = zipfile.ZipInfo(around + "submission_1/ch07_mlp_backprop.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    found = find_work(tmp_path / "class.zip", scratch=tmp_path / "scratch", export=bool(around) or None)
    told = rows(found)
    assert "cannot be unpacked (File name too long)" in told["student .._.._bob/" + long]
    assert "33/" + long in told
    assert told["ann@example.edu/ch07_mlp_backprop.py"] == "a link or a device, and no file"
    assert "leads out of the archive" in told["(unknown)/submission_3/../up.py"]
    assert len(found.not_recognised) == 4, "each once, though Gradescope lists a folder that is not there"
    assert len(found.remarks) == 1, "what a system put there is no hand-in"


def test_an_archive_in_an_archive_is_a_row(tmp_path: Path) -> None:
    class_of(tmp_path / "in", "ch06_vjps.py")
    zipped(tmp_path / "in", tmp_path / "in" / "inner.zip")
    (tmp_path / "class" / "ann").mkdir(parents=True)
    zipped(tmp_path / "in", tmp_path / "class" / "ann" / "outer.zip")
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert len(found.work) == 1
    assert "an archive in an archive" in rows(found)["ann/outer.zip/inner.zip"]


def test_a_class_that_is_too_large_is_refused(tmp_path: Path) -> None:
    class_of(tmp_path / "in", "a.py", "b.py")
    file = zipped(tmp_path / "in", tmp_path / "class.zip")
    for bounds in (Bounds(10, 9, 9999), Bounds(9999, 1, 9999), Bounds(9999, 9, 10)):
        with pytest.raises(ArchiveError, match="limit"):
            unpack(file, tmp_path / "out" / str(bounds.entries), bounds)


# The commands


def test_every_report_has_a_row_for_what_is_not_recognised(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps (1).ipynb", "ann/essay.md", "bob/ch99.pdf", "cy/ch06_vjps.ipynb")
    done = backprop("grade", "class", "--out", "res")
    assert done.returncode == 3, done.stderr
    assert "backprop: bob/ch99.pdf: no lesson of that name" in done.stderr
    assert "4 submissions: 2 graded, 2 not recognised" in " ".join(done.stdout.split())
    result = json.loads((tmp_path / "res" / "ann" / "ch06_vjps.json").read_text())
    assert result["message"] == "'ch06_vjps (1).ipynb' was graded as ch06_vjps, by its name."
    again = backprop("grade", "class", "--out", "res")
    assert (again.returncode, "2 submissions are graded already" in again.stderr) == (3, True)

    formats = "terminal,html,csv,junit,gradescope,github"
    shown = backprop("report", "res", "--format", formats, env={"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")})
    assert shown.returncode == 0, shown.stderr
    assert "not recognised: ch99.pdf" in shown.stdout
    reports = tmp_path / "res" / "__reports__"
    page = html.fromstring((reports / "index.html").read_bytes())
    table = {row[0].text_content(): row for row in page.get_element_by_id("table").find("tbody")}
    assert table["bob"].get("data-status") == "not recognised"
    assert "not recognised: ch99.pdf" in table["bob"].text_content()
    assert "2 not recognised" in " ".join(page.get_element_by_id("overview").text_content().split())
    for student in ("ann", "bob"):
        own = html.fromstring((reports / "students" / f"{student}.html").read_bytes())
        assert "not recognised" in own.get_element_by_id("uncounted").getparent().text_content()
        assert "Everything that was handed in passes" not in own.text_content()
    grades = list(csv.DictReader((reports / "grades.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert {row["student"]: "not recognised" in row["remark"] for row in grades} == {
        "ann": True,
        "bob": True,
        "cy": False,
    }
    long = list(csv.DictReader((reports / "exercises.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert [row["student"] for row in long if row["status"] == "not recognised"] == ["ann", "bob"]
    assert 'name="bob/ch99.pdf"' in (reports / "junit.xml").read_text()
    assert "not recognised" in (reports / "gradescope" / "bob.json").read_text()
    assert "not recognised" in (tmp_path / "summary.md").read_text()
    data = json.loads(backprop("report", "res", "--format", "json").stdout)
    assert [(one["student"], one["status"]) for one in data] == [
        ("ann", "graded"),
        ("ann", "not recognised"),
        ("bob", "not recognised"),
        ("cy", "graded"),
    ]


def test_a_report_says_all_that_is_to_be_said_of_a_hand_in(backprop: Command, tmp_path: Path) -> None:
    """Of a whole lesson under a wrong name, beside a file that is none; of a late one; of one that is nobody's."""
    perfect = (ROOT / "autograder" / "sample_class" / "ada-perfect" / "ch03_accumulation.ipynb").read_text()
    class_of(
        tmp_path / "class", "ann_1_2_ch03.ipynb", "ann_1_3_x.pdf", "bob_LATE_4_5_ch03_accumulation.ipynb", "ch03.py"
    )
    (tmp_path / "class" / "ann_1_2_ch03.ipynb").write_text(perfect)
    (tmp_path / "class" / "bob_LATE_4_5_ch03_accumulation.ipynb").write_text("{")
    assert backprop("grade", "class", "--out", "res").returncode == 3
    assert backprop("report", "res", "--format", "html,csv").returncode == 0
    reports = tmp_path / "res" / "__reports__"
    own = (reports / "students" / "ann_1.html").read_text()
    assert "All that was recognised passes; look at what is not counted." in own
    assert "Everything that was handed in passes" not in own
    grades = {row["student"]: row for row in csv.DictReader((reports / "grades.csv").open(encoding="utf-8-sig"))}
    assert grades["ann_1"]["remark"].startswith("ch03_accumulation: graded: 'ch03.ipynb' was graded as ch03_accum")
    assert "by its name; not recognised: ann_1_3_x.pdf: no lesson" in grades["ann_1"]["remark"]
    assert grades["bob_4"]["remark"].startswith(
        "ch03_accumulation: unreadable: bob_LATE_4_5_ch03_accumulation.ipynb: line 1 is not JSON"
    )
    assert grades["bob_4"]["remark"].endswith("save it again. Canvas says that this was handed in late")
    page = html.fromstring((reports / "index.html").read_bytes())
    assert page.get_element_by_id("overview").text_content().split()[:2] == ["2", "students"], "nobody is none"
    assert len(page.get_element_by_id("table").find("tbody")) == 3
    assert visit((reports / "index.html").as_uri()).dom.count("2 of 2 students") == 1


def test_a_zip_is_given_as_the_class(backprop: Command, tmp_path: Path) -> None:
    zipped(class_of(tmp_path / "export", *CANVAS[:3]), tmp_path / "submissions.zip")
    done = backprop("grade", "submissions.zip", "--out", "res")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "res" / "otherann_12346" / "ch06_vjps.json").is_file()
    assert sorted(path.name for path in (tmp_path / "res").iterdir() if path.name.startswith(".")) == [
        ".hand-ins.json",
        ".lock",
    ]
    assert "3 submissions are graded already" in backprop("grade", "submissions.zip", "--out", "res").stderr
    (tmp_path / "submissions.zip").write_bytes(b"PK\3\4")
    broken = backprop("grade", "submissions.zip", "--out", "res")
    assert broken.returncode == 2
    assert broken.stderr.startswith("backprop: submissions.zip: this is no zip that can be unpacked")
    assert len(broken.stderr.splitlines()) == 1


def test_another_salt_stops_until_regrade_says_that_it_is_meant(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py")

    def salt() -> str:
        return str(json.loads((tmp_path / "res" / "ann" / "ch06_vjps.json").read_text())["salt_sha256"])

    assert backprop("grade", "class", "--out", "res", "--salt", "one salt of tests, kept by no class").returncode == 0
    first = salt()
    for options, says in (
        ((), "res was graded with a salt, and none is given now; give it (--salt or BACKPROP_SALT), or say --regrade"),
        (
            ("--salt", "two salts of tests, kept by no class"),
            "res was graded with another salt; give that one, or say --regrade",
        ),
        (("--salt", "two salts of tests, kept by no class", "--diff"), "res was graded with another salt"),
    ):
        done = backprop("grade", "class", "--out", "res", *options)
        assert done.returncode == 2
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert salt() == first
    record = tmp_path / "res" / ".hand-ins.json"
    assert "one" not in json.loads(record.read_text())["salt_sha256"]
    record.unlink()  # as older versions left it
    assert backprop("grade", "class", "--out", "res").returncode == 2
    assert backprop("grade", "class", "--out", "res", "--regrade").returncode == 0
    assert salt() != first
    stopped = backprop("grade", "class", "--out", "res", "--salt", "one salt of tests, kept by no class")
    assert "res was graded without a salt, and one is given now; leave it out" in stopped.stderr


def test_a_hand_in_that_is_gone_does_not_count_and_one_elsewhere_does(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py", "bob/ch06_vjps.py", "bob/ch07_mlp_backprop.py")
    class_of(tmp_path / "late", "cy/ch06_vjps.py")
    assert backprop("grade", "class", "--out", "res").returncode == 0

    def summary() -> list[str]:
        data = json.loads((tmp_path / "res" / "class.json").read_text())
        return [f"{row['student']}/{row['lesson'][:4]}" for row in data["submissions"]]

    other = backprop("grade", "late", "--out", "res")
    assert "3 submissions of other class folders are in res too, and stay as they are" in other.stderr
    assert summary() == ["ann/ch06", "bob/ch06", "bob/ch07", "cy/ch06"]
    assert "ann" not in other.stdout, "the table is of this class folder"
    class_of(tmp_path / "late", "cy/essay.md")
    assert backprop("grade", "late", "--out", "res").returncode == 3
    again = backprop("grade", "class", "--out", "res")
    assert (again.returncode, "cy" in again.stdout) == (0, False), "nor is what was not recognised in another"
    (tmp_path / "late" / "cy" / "essay.md").unlink()
    backprop("grade", "late", "--out", "res")

    (tmp_path / "class" / "bob" / "ch06_vjps.py").unlink()
    gone = backprop("grade", "class", "--out", "res")
    assert gone.returncode == 0
    assert "bob/ch06_vjps was handed in before, and the file is gone" in gone.stderr
    assert summary() == ["ann/ch06", "bob/ch07", "cy/ch06"]
    assert (tmp_path / "res" / "bob" / "ch06_vjps.json").is_file()
    report = backprop("report", "res", "--format", "terminal,csv,html")
    assert "gone: ch06_vjps.py is no longer in the class folder; its 2/63 do not count" in " ".join(
        report.stdout.split()
    )
    reports = tmp_path / "res" / "__reports__"
    grades = {row["student"]: row for row in csv.DictReader((reports / "grades.csv").open(encoding="utf-8-sig"))}
    assert (grades["bob"]["ch06_vjps"], grades["bob"]["total"]) == ("", "0")
    page = html.fromstring((reports / "index.html").read_bytes())
    (handed_in,) = [one for one in page.find_class("points") if "handed in" in one.text_content()][:1]
    assert handed_in.text_content().startswith("2 handed in")

    class_of(tmp_path / "class", "bob/ch06_vjps.py")
    back = backprop("grade", "class", "--out", "res")
    assert "gone" not in back.stderr
    assert "3 submissions are graded already" in back.stderr, "and its result is still there"
    assert summary() == ["ann/ch06", "bob/ch06", "bob/ch07", "cy/ch06"]


def test_what_is_said_of_a_renamed_file_is_of_its_name(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06.py")
    backprop("grade", "class", "--out", "res")
    (tmp_path / "class" / "ann" / "ch06.py").rename(tmp_path / "class" / "ann" / "ch06_vjps.py")
    backprop("grade", "class", "--out", "res")
    result = json.loads((tmp_path / "res" / "ann" / "ch06_vjps.json").read_text())
    assert (result["file"], result["message"]) == ("ch06_vjps.py", "")


def test_a_damaged_record_loses_no_result(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py")
    backprop("grade", "class", "--out", "res")
    (tmp_path / "res" / ".hand-ins.json").write_text('{"salt_sha256": 3, "folders": {}}')
    done = backprop("report", "res", "--format", "json")
    assert [one["student"] for one in json.loads(done.stdout)] == ["ann"]
    assert "res/.hand-ins.json cannot be read; grade each class folder again" in done.stderr
    class_of(tmp_path / "class", "bob/ch06_vjps.py")
    (tmp_path / "class" / "ann" / "ch06_vjps.py").unlink()
    again = backprop("grade", "class", "--out", "res")
    assert "res/.hand-ins.json cannot be read" in again.stderr
    assert "1 results in res are of hand-ins that no class folder graded since holds; they count" in again.stderr
    (tmp_path / "res" / "ann" / "ch06_vjps.json").unlink()
    assert "no class folder graded since" not in backprop("grade", "class", "--out", "res").stderr


def test_a_run_that_graded_nothing_binds_nobody_to_its_salt(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py")
    (tmp_path / "res").mkdir()
    (tmp_path / "res" / ".hand-ins.json").write_text('{"salt_sha256": "of another", "folders": {}}')
    assert backprop("grade", "class", "--out", "res", "--salt", "mine").returncode == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="root is warned, and this is another user")
def test_root_is_warned(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py")
    assert backprop("grade", "class").stderr.count("backprop: this is root") == 1
