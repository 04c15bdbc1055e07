"""Platforms' exports and class folders as they are downloaded: every student is found, and empty hand-ins get a row."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_ins import CANVAS, METADATA, class_of, graded, rows, zipped

from autograder.classroom.class_folder import find_work
from autograder.classroom.class_level import ClassUnclearError
from autograder.classroom.exports import hand_ins_of

pytestmark = pytest.mark.slow


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
            ("anon_R7yhk", "ch06_vjps"): CANVAS[7],
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
def test_exports_are_graded_as_downloaded(tmp_path: Path, platform: str, as_zip: bool) -> None:
    names, expected, passed_over = EXPORTS[platform]
    folder = class_of(tmp_path / "export", *names)
    for file in folder.rglob("submission_metadata.yml"):
        file.write_text(METADATA)
    given = zipped(folder, tmp_path / "export.zip") if as_zip else folder
    if not as_zip and platform in ("gradescope", "github"):
        (given,) = folder.iterdir()
    around = as_zip and platform in ("gradescope", "github")  # the zip contains a folder of its own
    found = find_work(given, scratch=tmp_path / "scratch", export=True if around else None)
    assert graded(found) == (expected or {(name.split("/")[0], "ch06_vjps"): "ch06_vjps.py" for name in names})
    assert set(rows(found)) == passed_over
    remarks = {item.student: item.remark for item in found.work if item.remark}
    late = "Canvas says that this was handed in late."
    for student in ("otherann_12346", "anon_R7yhk"):
        assert remarks.pop(student, None) == (late if platform == "canvas" else None)
    assert set(remarks) <= {"Bob Other"}, "what the platform adds is nobody's mistake"


def test_usernames_on_github_that_begin_alike_are_reported(tmp_path: Path) -> None:
    names = [f"hw1-lee-{who}/{file}" for who in ("ann", "bob") for file in ("ch06_vjps.py", ".git/config")]
    guessed = find_work(class_of(tmp_path / "class", *names))
    named = find_work(class_of(tmp_path / "hw1-submissions", *names))
    assert {item.student for item in guessed.work} == {"ann", "bob"}
    assert "'hw1-lee-ann' is of the student 'ann'" in " ".join(guessed.remarks)
    assert ({item.student for item in named.work}, named.remarks) == ({"lee-ann", "lee-bob"}, [])


@pytest.mark.parametrize("within", ["Download", "Download/submitted"])
def test_a_class_folder_in_another_is_found(tmp_path: Path, within: str) -> None:
    """Windows adds a folder around extracted files; nbgrader's folder is called `submitted` and contains times."""
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


def test_a_time_that_a_student_may_have_written_is_reported(tmp_path: Path) -> None:
    """`nbgrader submit` overwrites it, but unpacking a zip by hand and `zip_collect` keep a student's own."""
    names = ["ann/ps1/ch06_vjps.py", "ann/ps1/timestamp.txt", "bob/ps1/ch06_vjps.py"]
    submitted = class_of(tmp_path / "submitted", *names)
    (submitted / "ann" / "ps1" / "timestamp.txt").write_text("2020-01-01 00:00:00 UTC")
    found = find_work(submitted)
    assert {item.student: item.at for item in found.work} == {"ann": "2020-01-01T00:00:00+00:00", "bob": ""}
    (line,) = found.remarks
    assert "when 1 hand-in came is what the timestamp.txt in them says" in line
    for text in ("0001-01-01 00:00:00+14:00", "9999-12-31 23:59:59-14:00", "0001-01-01 00:00:00 UTC"):
        (submitted / "bob" / "ps1" / "timestamp.txt").write_text(text)
        assert {item.student: item.at for item in find_work(submitted).work}["bob"] == "", "no class has seen it"
    (tmp_path / "gradebook.db").write_bytes(b"")
    assert find_work(submitted).remarks == [], "nbgrader collected them"


def test_files_of_our_commands_in_a_work_folder_are_ignored(tmp_path: Path) -> None:
    """Handing in the whole folder must not give two candidates for a lesson, or a row for the progress file."""
    kept = "ann/kept/ch06_vjps.relu_vjp.2026-11-27_02-18-06.py"
    found = find_work(class_of(tmp_path / "class", "ann/ch06_vjps.py", "ann/progress.json", kept, "bob/ch06_vjps.py"))
    assert sorted(item.file.relative_to(tmp_path / "class").as_posix() for item in found.work) == [
        "ann/ch06_vjps.py",
        "bob/ch06_vjps.py",
    ]
    assert rows(found) == {}


def test_one_students_folder_is_not_a_class(tmp_path: Path) -> None:
    class_of(tmp_path, "ann/week1/ch06_vjps.py", "ann/week2/ch07_mlp_backprop.py")
    assert {item.student for item in find_work(tmp_path).work} == {"ann"}


def test_a_folder_beside_canvas_files_takes_nobodys_name(tmp_path: Path) -> None:
    """As if the instructor had unpacked one student's zip."""
    class_of(tmp_path, *CANVAS[:3], "otherann_12346_67892_work/ch06_vjps.ipynb", "otherann_12346_9_notes.pdf")
    found = find_work(tmp_path)
    assert {("lastfirst_12345", "ch06_vjps"), ("otherann_12346", "ch06_vjps")} < set(graded(found))
    assert set(rows(found)) == {"otherann_12346/otherann_12346_9_notes.pdf"}


def test_a_missing_entry_of_gradescopes_list_is_a_row(tmp_path: Path) -> None:
    class_of(tmp_path, GRADESCOPE[0])
    (tmp_path / "submission_metadata.yml").write_text(METADATA)
    found = find_work(tmp_path)
    assert {row.student for row in found.not_recognised} == {"student .._.._bob", "33"}
    assert "lists it, and it is not there" in rows(found)["33/."]


@pytest.mark.parametrize("name", ["__reports__", ".regrade", "__ann"])
def test_a_student_may_have_the_name_of_one_of_our_files(tmp_path: Path, name: str) -> None:
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


def test_results_inside_an_export_are_a_students_files(tmp_path: Path) -> None:
    """Otherwise one additional file would hide a student's hand-in."""
    class_of(tmp_path, *(f"X_1_assignsubmission_file_/{name}" for name in ("ch06_vjps.py", ".hand-ins.json")))
    assert set(graded(find_work(tmp_path))) == {("X", "ch06_vjps")}


# Hidden files and empty hand-ins
@pytest.mark.parametrize(
    "name",
    [
        *(".ch06_vjps.ipynb", ".work/ch06_vjps.py", ".ipynb_checkpoints/ch06_vjps-checkpoint.ipynb"),
        *("week/.trash/x/ch06 (1).ipynb", "__MACOSX/._ch06_vjps.ipynb", ".ch06.zip"),
    ],
)
def test_a_hidden_file_is_a_row_if_no_other_is_that_lesson(tmp_path: Path, name: str) -> None:
    """Jupyter keeps checkpoints, and macOS a shadow copy of each file, beside the hand-ins."""
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
    """So is any file there that is named like a lesson."""
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


def test_gradescope_namesakes_are_two_students(tmp_path: Path) -> None:
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
def test_an_ambiguous_single_folder_in_a_zip_is_asked_about(
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


def test_repositories_lose_the_prefix_of_their_usernames(tmp_path: Path) -> None:
    class_of(tmp_path, "hw1-ann/ch06_vjps.py", "hw1-ann/.git/config", "hw1-bob/ch06.py", "hw1-bob/.git/config")
    assert [item.student for item in find_work(tmp_path).work] == ["ann", "bob"]


def test_files_shared_by_all_repositories_are_the_assignments(tmp_path: Path) -> None:
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


def test_a_damaged_gradescope_list_does_not_stop_grading(tmp_path: Path) -> None:
    class_of(tmp_path, "submission_1/ch06_vjps.py")
    for text in ("[", "- a\n- b", "submission_1: {':submitters': 3}", "submission_1: {':submitters': [null]}"):
        (tmp_path / "submission_metadata.yml").write_text(text)
        assert [item.student for item in find_work(tmp_path).work] == ["submission_1"]


@pytest.mark.parametrize(
    ("whose", "theirs"),
    [
        ("333-444 - Mallory M - Nov 11, 2026 900 AM - {}", "111-222 - Vera Victim - Nov 12, 2026 900 AM - {}"),
        ("Mallory M_333_assignsubmission_file_{}", "Vera Victim_555_assignsubmission_file_{}"),
        ("mallorym_333_444_{}", "victimvera_111_222_{}"),
        ("ch02_mallory_attempt_2026-11-11-09-00-00_{}", "ch02_vera_attempt_2026-11-12-09-00-00_{}"),
    ],
    ids=["Brightspace", "Moodle", "Canvas", "Blackboard"],
)
@pytest.mark.parametrize(
    "crafted",
    [
        "x_Vera Victim_attempt_2099-11-12-22-54-01_ch02_chain_rule.py",
        "x_vera_attempt_2099-11-12-22-54-01_ch02_chain_rule.py",
        "a_555_assignsubmission_file_ch02_chain_rule.py",
        "Vera Victim_555_assignsubmission_file_ch02_chain_rule.py",
        "111-222 - Vera Victim - Nov 12, 2099 900 AM - ch02_chain_rule.py",
        "victimvera_111_222_ch02_chain_rule.py",
    ],
)
def test_a_file_named_like_a_classmates_hand_in_is_its_owners(
    tmp_path: Path, whose: str, theirs: str, crafted: str
) -> None:
    """The student's part of a name follows the platform's, and does not identify the student."""
    file = "ch02_chain_rule.py"
    for name in (whose.format(crafted), theirs.format(file)):
        (tmp_path / name).write_text("x = 1\n")
    found = {hand_in.path.name: hand_in for hand_in in hand_ins_of(tmp_path)[0]}
    own, other = found[whose.format(crafted)], found[theirs.format(file)]
    assert own.name == crafted
    assert other.name == file
    assert own.student != other.student
    assert "mallory" in own.student.lower()
    assert not own.at.startswith("2099")
