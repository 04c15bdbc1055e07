"""What a file's name decides: the lesson, the copy number, and which of two files is graded."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hand_ins import NOTEBOOK, Command, class_of, graded, rows, zipped

from autograder.classroom.class_folder import ClassFolder, find_work
from autograder.classroom.class_record import ClassRecord
from autograder.classroom.hand_in_files import MOST_ROWS, Unrecognised
from autograder.classroom.lesson_names import another_lesson, copy_number, has_other_words, lessons_named
from autograder.submission import Cell, read_submission

pytestmark = pytest.mark.slow


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
def test_names_are_matched_with_lessons(stem: str, lessons: list[str]) -> None:
    assert lessons_named(stem) == lessons


OTHERS = "def rayleigh_quotient(A, x):\n    return 1.0"


@pytest.mark.parametrize(
    ("stem", "source", "another"),
    [
        ("ch01_power_iteration", OTHERS, True),
        ("ch01_power_iteration (1)", OTHERS, True),
        ("CH01_Power_Iteration", OTHERS, True),
        ("ch01_power_iteration", "def forward():\n    return 1", False),  # ours, whatever its name
        ("ch01_homework", "def relu_vjp(g, x):\n    return g", False),  # of ch06, as its result says
        ("ch01_homework", "", False),
        ("ch01_homework", "x = 1", False),
        *(("ch01_computation_graph-Copy1", OTHERS, False), ("ch01_computation_grahp", OTHERS, False)),
        *(("ch01_computation", OTHERS, False), ("ch01_my_computation_graph", OTHERS, False)),
        *(
            ("ch01", OTHERS, False),
            ("ch1 (Ann)", OTHERS, False),
            ("Untitled", OTHERS, False),
            ("ch99_x", OTHERS, False),
        ),
    ],
)
def test_another_courses_lesson_is_not_ours_of_that_number(stem: str, source: str, another: bool) -> None:
    said = another_lesson(stem, [Cell(1, source, "cell 1")])
    assert said.startswith(f"this course has no lesson {stem}: its ch01 is ch01_computation_graph") == another, said
    assert not (said and not has_other_words(stem))


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
def test_a_file_that_can_be_only_one_lesson_is_that_lesson(tmp_path: Path, name: str) -> None:
    found = find_work(class_of(tmp_path, f"ann/{name}"))
    (work,) = found.work
    assert (work.student, work.lesson, found.not_recognised) == ("ann", "ch06_vjps", [])
    assert bool(work.remark) == (Path(name).name != "ch06_vjps.ipynb"), "and its result says so"


def test_a_notebook_is_recognised_with_any_added_suffix(tmp_path: Path) -> None:
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
def test_other_files_are_rows(tmp_path: Path, name: str, why: str) -> None:
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
def test_readable_files_are_preferred_to_unreadable_ones(tmp_path: Path, name: str, text: str) -> None:
    class_of(tmp_path, f"ann/{name}", "ann/ch06_vjps (1).ipynb")
    (tmp_path / "ann" / name).write_text(text)
    found = find_work(tmp_path)
    unreadable = text != NOTEBOOK or "/" in name
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps (1).ipynb" if unreadable else "ch06_vjps.ipynb"}
    if unreadable:
        assert rows(found)["ann/ch06_vjps.ipynb"].startswith(
            "ch06_vjps (1).ipynb is graded as ch06_vjps, as this one cannot be ("
        )


def test_of_unreadable_files_the_better_named_is_graded(tmp_path: Path) -> None:
    class_of(tmp_path, "ann/ch06_vjps.ipynb", "ann/ch06_vjps (1).ipynb")
    for file in (tmp_path / "ann").iterdir():
        file.write_text("")
    found = find_work(tmp_path)
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps.ipynb"}
    assert "its name is the lesson's" in rows(found)["ann/ch06_vjps (1).ipynb"]


def test_a_notebook_after_hundreds_of_files_is_graded(tmp_path: Path) -> None:
    class_of(tmp_path, *(f"ann/{i:03}.txt" for i in range(230)), "ann/zz_ch06_vjps.ipynb", "ann/zz_other.ipynb")
    found = find_work(tmp_path)
    assert graded(found) == {("ann", "ch06_vjps"): "zz_ch06_vjps.ipynb"}
    assert rows(found)["ann/…"] == f"and {231 - MOST_ROWS} more files"


def test_the_row_of_a_file_named_like_a_lesson_is_kept(tmp_path: Path) -> None:
    class_of(tmp_path, *(f"ann/{i:03}.txt" for i in range(230)), "ann/ch06_vjps.ipynb", "ann/zz_ch06_vjps.ipynb")
    assert "ch06_vjps.ipynb is graded" in rows(find_work(tmp_path))["ann/zz_ch06_vjps.ipynb"]


def test_the_limit_on_file_names_is_reported_in_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.classroom.hand_in_files.MOST_LISTED", 50)
    class_of(tmp_path, *(f"ann/{i:03}.txt" for i in range(60)), "ann/zz_ch06_vjps.ipynb")
    found = find_work(tmp_path)
    assert found.work == []
    why = [row.why for row in found.not_recognised if row.file == "…"]
    assert why[0] == "more than 50 files were handed in; 050.txt and those after it were not looked at"


def test_files_without_a_student_are_rows_up_to_a_limit(tmp_path: Path) -> None:
    class_of(tmp_path, "ch06_vjps.py", "ann/ch06_vjps.py", *(f"ann/{i}.txt" for i in range(100)))
    found = find_work(tmp_path)
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps.py"}
    assert rows(found)["(unknown)/ch06_vjps.py"] == "it lies in no student's folder"
    assert len(found.not_recognised) == 1 + MOST_ROWS + 1
    assert rows(found)["ann/…"] == f"and {100 - MOST_ROWS} more files"


def test_results_of_another_run_are_one_row(tmp_path: Path) -> None:
    """Their files are named like lessons, and could be taken for notebooks."""
    class_of(tmp_path, "ann/ch06_vjps.py", "old/ann/ch06_vjps.json", "old/.hand-ins.json")
    found = find_work(tmp_path)
    assert graded(found) == {("ann", "ch06_vjps"): "ch06_vjps.py"}
    assert rows(found) == {"old/.": "it has the .hand-ins.json of a folder of results; remove that file, or the folder"}


@pytest.mark.parametrize("name", ["ch06_vjps.ipynb", "ch06_vjps.ipynb.txt", "ch06_vjps.IPYNB.json", "ch06_vjps.py.txt"])
def test_a_student_whose_folder_looks_like_results_is_graded(tmp_path: Path, name: str) -> None:
    found = find_work(class_of(tmp_path, f"ann/{name}", "ann/.hand-ins.json"))
    assert set(graded(found)) == {("ann", "ch06_vjps")}
    assert found.remarks == []


@pytest.mark.parametrize("name", ["bob.b.7z", "bob.b.tar.gz", "bob.b.TGZ", "bob.b.rar"])
def test_an_unopened_archive_is_its_students_row(tmp_path: Path, name: str) -> None:
    found = find_work(class_of(tmp_path, "ann/ch06_vjps.ipynb", name))
    assert rows(found) == {f"bob.b/{name}": "an archive that is no zip; hand in the files themselves"}


@pytest.mark.parametrize("out", [".", "results"])
def test_results_among_hand_ins_are_refused(backprop: Command, tmp_path: Path, out: str) -> None:
    """Formerly a result among them would have been believed: 23 of 23 points for its student, none for a neighbour."""
    class_of(tmp_path, "ann/ch06_vjps.py", "results/ann/ch06_vjps.json", "results/.hand-ins.json")
    done = backprop("grade", str(tmp_path), "--out", str(tmp_path / out))
    assert done.returncode == 2
    assert "lies in the class folder, where a hand-in could pass for a result; name a place with --out" in done.stderr


def test_a_notebook_named_like_another_lesson_is_reported(backprop: Command, tmp_path: Path) -> None:
    """Formerly it had 0 points without a message, both in the table and for the student."""
    (tmp_path / "class" / "ann").mkdir(parents=True)
    source = "def relu_vjp(g, x):\n    return g\n"
    (tmp_path / "class" / "ann" / "ch07_mlp_backprop.py").write_text(source)
    assert "are those of ch06_vjps: was that meant?" in " ".join(
        backprop("grade", "class", "--out", "out").stdout.split()
    )


def test_files_in_two_copies_of_a_class_are_listed_once(tmp_path: Path) -> None:
    found = ClassFolder(not_recognised=[Unrecognised("ann", "essay.pdf", "no lesson")])
    record = ClassRecord(tmp_path / "out")
    for copy in ("class", "class (1)"):
        record.note(tmp_path / copy, found)
    assert record.not_recognised == found.not_recognised


def test_a_file_handed_in_twice_is_graded_once(tmp_path: Path) -> None:
    """Moodle's typed text beside files, and a folder beside a repository: no two results have one path."""
    class_of(tmp_path, "X_1_assignsubmission_file_/ch06_vjps.py", "X_1_assignsubmission_onlinetext_/ch06_vjps.py")
    found = find_work(tmp_path)
    assert graded(found) == {("X", "ch06_vjps"): "ch06_vjps.py"}
    assert "as its folder comes first" in rows(found)["X/ch06_vjps.py"]


@pytest.mark.parametrize("given", ["link", "class/ann/.."])
def test_a_class_folder_is_the_same_by_any_path(tmp_path: Path, given: str) -> None:
    """Also with files directly in the class folder."""
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
def test_unreadable_folders_are_rows_and_the_rest_is_graded(what: str) -> None:
    with tempfile.TemporaryDirectory() as name:  # other users may not enter pytest's folder
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


def test_a_claim_by_content_says_which_lesson_it_is_of(backprop: Command, tmp_path: Path) -> None:
    """Formerly `Untitled.ipynb: its result is that of ../one` left open which result stays."""
    class_of(tmp_path / "one", "ann/ch06_vjps.ipynb")
    class_of(tmp_path / "two", "ann/Untitled.ipynb")
    file = tmp_path / "two" / "ann" / "Untitled.ipynb"
    file.write_text(file.read_text().replace("x > 0", "x >= 0"))
    backprop("grade", "one", "--out", "out")
    done = backprop("grade", "two", "--out", "out")
    assert "ann/Untitled.ipynb: it holds ch06_vjps, and its result is that of ../one, and stays" in done.stderr
