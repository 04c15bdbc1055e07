"""Entries of a class folder with colliding names are separate students; none replaces another."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_ins import RIGHT, class_of, graded, rows, zipped

from autograder.classroom.class_folder import find_work

pytestmark = pytest.mark.slow

DECOY = "def relu_vjp(g, x):\n    return g\n"
ALIKE = {
    "victim": [
        " victim",
        "victim ",
        "victim\u3000",
        "\u2003victim",
        "victim.zip",
        "VICTIM.zip",
        " victim.zip",
        "victim.tar.gz",
    ],
    "victim.zip": [" victim", "victim .zip", "victim.rar", "victim.ZIP"],
    "Ann Lee": ["Ann  Lee", "Ann\u00a0Lee", " Ann Lee"],
    "J\u00f6rg": ["Jo\u0308rg", "J\u00f6rg.zip", "Jo\u0308rg.zip"],
    "J\u00f6rg.zip": ["Jo\u0308rg", "Jo\u0308rg.zip"],
    "victim.": [" victim.", "victim..zip"],
    "a_b": ["a\\b", "a_b.zip"],
    "student .victim": [".victim", " student .victim"],
    "Ann Last": ["Ann Last_101_assignsubmission_file_", "1-2 - Ann Last - 1 March 2027 1004 PM"],
}
"""Names of entries, each with names that collide with it."""


def enter(folder: Path, entry: str, text: str) -> None:
    """Add an entry to a class folder: a folder, a zip, or a file with the name of an archive."""
    made = folder / "made"
    class_of(made, "ch06_vjps.py")
    (made / "ch06_vjps.py").write_text(text)
    if entry.lower().endswith(".zip"):
        zipped(made, folder / "class" / entry)
    elif entry.endswith((".rar", ".tar.gz")):
        (folder / "class" / entry).write_text(text)
    else:
        (folder / "class" / entry).mkdir()
        (folder / "class" / entry / "ch06_vjps.py").write_text(text)


@pytest.mark.parametrize(("entry", "other"), [(entry, other) for entry, others in ALIKE.items() for other in others])
def test_colliding_names_do_not_replace_each_other(tmp_path: Path, entry: str, other: str) -> None:
    """Formerly a classmate's folder ` victim`, or `victim.zip`, was graded instead of `victim`'s."""
    (tmp_path / "class").mkdir()
    enter(tmp_path, entry, RIGHT)
    enter(tmp_path, "bystander", RIGHT)
    alone = {item.student for item in find_work(tmp_path / "class", scratch=tmp_path / "scratch").work} - {"bystander"}
    enter(tmp_path, other, DECOY)
    found = find_work(tmp_path / "class", scratch=tmp_path / "again")
    by_text = {item.student: item.file.read_text() for item in found.work}
    (name,) = alone
    assert by_text[name] == RIGHT
    assert by_text["bystander"] == RIGHT
    archive = other.endswith((".rar", ".tar.gz"))
    assert sorted(by_text.values()) == sorted([RIGHT, RIGHT] if archive else [RIGHT, RIGHT, DECOY])
    assert all(item.remark == "" for item in found.work if item.student == name)


def test_most_entries_of_an_export_keep_their_names(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    for entry in ("Ann Last_101_assignsubmission_file_", "Bo Lee_102_assignsubmission_file_"):
        enter(tmp_path, entry, RIGHT)
    enter(tmp_path, "Ann Last.zip", DECOY)
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert {item.student: item.file.read_text() for item in found.work}["Ann Last"] == RIGHT


@pytest.mark.parametrize(
    ("others", "line"),
    [
        (["ann_1_assignsubmission_file_"], "graded beside it: 'ann_1_assignsubmission_file_' as ann~"),
        (["1-2 - ann - 1 March 2027 1004 PM"], "as ann~"),
        (["x-ann", "x-eve"], ""),
        (["lee-ann", "lee-bob"], ""),
    ],
)
def test_an_imitated_platform_name_does_not_take_over_a_student(tmp_path: Path, others: list[str], line: str) -> None:
    """Formerly it was graded as ann, with no points, and the exit status was 0."""
    class_of(tmp_path, *(f"{who}/ch06_vjps.py" for who in ("ann", "bob", "cy", *others)))
    for who in others:
        (tmp_path / who / "ch06_vjps.py").write_text(DECOY)
        (tmp_path / who / ".git").mkdir()
    found = find_work(tmp_path)
    by_student = {item.student: item.file.parent.name for item in found.work}
    assert {who: by_student[who] for who in ("ann", "bob", "cy")} == {who: who for who in ("ann", "bob", "cy")}
    assert sorted(by_student.values()) == sorted(["ann", "bob", "cy", *others])
    assert set(others) <= set(by_student) or any(line in remark for remark in found.remarks)


@pytest.mark.parametrize("name", ["annlee_11", "annlee_11_901_x"])
def test_a_name_that_imitates_canvas_numbers_takes_nobodys_row(tmp_path: Path, name: str) -> None:
    """Formerly a student called `annlee_11` was graded as annlee, whose number is 11."""
    ann, mal, notes = "annlee_11_900_ch06_vjps.py", f"{name}_12_902_ch06_vjps.py", "boroe_13_903_6_notes.md"
    class_of(tmp_path, ann, mal, "boroe_13_904_ch06_vjps.py", notes, "cyd_14_905_2026 1_2_ch06.py")
    (tmp_path / mal).write_text(DECOY)
    found = find_work(tmp_path)
    by_student = {item.student: item.file.name for item in found.work}
    assert by_student["annlee_11"] == ann
    assert len(by_student) == 4
    assert mal in by_student.values()
    users, alike = found.remarks
    assert f"1 file may be of more than one user, by the numbers that Canvas wrote into its name: '{mal}'" in users
    assert f"more than one entry is called annlee_11; graded beside it: '{mal}' as annlee_11~" in alike
    assert all(row.startswith("boroe_13/") for row in rows(found)), "numbers in a file's name are no user's"
    (tmp_path / ann).unlink()
    assert [line for line in find_work(tmp_path).remarks if "may be of more than one user" in line]


def test_a_gradescope_list_counts_only_in_a_gradescope_export(tmp_path: Path) -> None:
    """Formerly mallory got `bob`'s points, and bob had no row."""
    class_of(tmp_path, *(f"{who}/ch06_vjps.py" for who in ("ann", "bob", "submission_1")))
    who = "{}:\n  :submitters:\n  - :email: {}\n"
    file = tmp_path / "submission_metadata.yml"
    file.write_text(who.format("bob", "mallory") + who.format("submission_1", "ann"))
    found = find_work(tmp_path)
    assert {item.student for item in found.work} == {"ann", "bob", "submission_1"}
    passed_over = "passed over, since most of the folders beside it are not Gradescope's (submission_<number>)"
    assert found.remarks == [f"{file}: {passed_over}"]
    (tmp_path / "submission_1" / "ch06_vjps.py").write_text(DECOY)
    for name in ("submission_2", "submission_3", "submission_4"):
        class_of(tmp_path, f"{name}/ch06_vjps.py")
    found = find_work(tmp_path)
    assert {item.student: item.file.parent.name for item in found.work}["bob"] == "bob"
    assert any("'submission_1' as ann~" in remark for remark in found.remarks)
    assert f"{file}: lists bob, which Gradescope calls no folder; passed over" in found.remarks


def test_colliding_names_are_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    for entry in ("victim", " victim", "victim.zip", "victim.rar"):
        enter(tmp_path, entry, RIGHT if entry == "victim" else DECOY)
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    names = {item.student for item in found.work} | {row.student for row in found.not_recognised}
    assert len(names) == 4
    assert rows(found).keys() == {f"{name}/victim.rar" for name in names - {item.student for item in found.work}}
    (line,) = found.remarks
    for entry in ("' victim'", "'victim.zip'", "'victim.rar'"):
        assert f"{entry} as victim~" in line
    assert "more than one entry is called victim" in line
    again = find_work(tmp_path / "class", scratch=tmp_path / "again")
    assert graded(again) == graded(found), "the same names each time"


def test_a_zip_and_its_unpacked_folder_are_one_student(tmp_path: Path) -> None:
    """Instructors leave both in the folder; the class must not get a second row for everyone."""
    (tmp_path / "class").mkdir()
    for entry in ("ann", "ann.zip"):
        enter(tmp_path, entry, RIGHT)
    (tmp_path / "class" / "bob").mkdir()
    enter(tmp_path, "bob.zip", RIGHT)
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    assert {student for student, _ in graded(found)} == {"ann", "bob"}
    assert rows(found) == {}
    assert "class: 1 entry holds the same work as another that is called alike: 'ann.zip' (ann)" in " ".join(
        found.remarks
    )
    enter(tmp_path, " ann", RIGHT)
    (tmp_path / "class" / " ann" / "essay.pdf").write_text("x")
    found = find_work(tmp_path / "class", scratch=tmp_path / "again")
    both = "2 entries hold the same work as another that is called alike: 'ann.zip' (ann), ' ann' (ann)"
    assert both in " ".join(found.remarks)
    assert rows(found).keys() == {"ann/essay.pdf"}, "what else lies in it has its row"


def test_a_name_with_a_hash_replaces_nobody(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    for entry in ("victim", " victim"):
        enter(tmp_path, entry, RIGHT)
    enter(tmp_path, "victim.zip", DECOY)
    (other,) = {student for student, _ in graded(find_work(tmp_path / "class", scratch=tmp_path / "a"))} - {"victim"}
    enter(tmp_path, other, RIGHT)
    found = find_work(tmp_path / "class", scratch=tmp_path / "b")
    texts = {item.student: item.file.read_text() for item in found.work}
    assert (texts["victim"], texts[other], len(texts)) == (RIGHT, RIGHT, 3)
