"""Which of a student's files is graded: work before templates and the course's own files, wherever they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from autograder.begun import holds_work
from autograder.classroom.class_folder import ClassFolder, find_work
from autograder.places import Places
from autograder.submission import Cell, read_submission
from autograder.workbook import as_python, copy_lessons
from course.syllabus import syllabus

ROOT = Path(__file__).resolve().parents[1]
PLACES = Places()
STUB = PLACES.notebook("ch06_vjps")


def worked(file: Path, stub: Path = STUB, *, with_what: str = "return g * (x > 0)") -> Path:
    """A notebook with one exercise worked on."""
    notebook = json.loads(stub.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("exercise"):
            start, _, _ = "".join(cell["source"]).partition("raise NotImplementedError")
            cell["source"] = start + with_what
            break
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(notebook))
    return file


def untouched(file: Path, stub: Path = STUB) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(stub, file)
    return file


def clone(folder: Path, *, without: tuple[str, ...] = (), git: bool = True) -> Path:
    """The parts of a clone of the course that are searched for hand-ins."""
    names = ("README.md", "Makefile", "setup.py", "course/syllabus.toml", "course/experiments/checkpointing.py")
    folders = (
        "exercises",
        "solutions",
        "autograder/sample_class",
        "autograder/lessons/ch06_vjps",
        "tests/other_styles",
    )
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    for name in folders:
        if name not in without:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    if git:
        (folder / ".git").mkdir()
        (folder / ".git" / "config").touch()
    return folder


def chosen(found: ClassFolder, folder: Path) -> dict[tuple[str, str], str]:
    return {(item.student, item.lesson): item.file.relative_to(folder).as_posix() for item in found.work}


def rows(found: ClassFolder) -> dict[str, str]:
    return {f"{row.student}/{row.file}": row.why for row in found.not_recognised}


@pytest.mark.parametrize("slug", syllabus())
def test_the_handed_out_notebook_has_no_work_and_the_reference_does(slug: str) -> None:
    assert not holds_work(read_submission(PLACES.notebook(slug)).cells, slug)
    assert holds_work(read_submission(PLACES.source(slug)).cells, slug)
    lines = as_python(PLACES.notebook(slug).read_text()).splitlines()
    exported = "\n".join("# In[ ]:" if line.startswith("# %%") else line for line in lines)
    assert not holds_work([Cell(1, exported, "line 1")], slug), "as Jupyter exports it"


@pytest.mark.parametrize(
    ("source", "work"),
    [
        ("def relu_vjp(g, x):\n    return g\n", True),
        ("def relu_vjp(g, x): return g\n", True),
        ("relu_vjp = lambda g, x: g\n", True),
        ("def relu_vjp(g, x):  # the derivative\n    return g\n", True),
        ("def relu_vjp(g, x): ...\n", False),
        ("def relu_vjp(\n    g: dict[str, int],\n    x,\n) -> None:\n    pass  # later\n", False),
        ("def relu_vjp(g, x):\n    raise NotImplementedError('an older wording')\n", False),
        ('def relu_vjp(g, x, more=None):\n    """Another\n    text."""\n    ...\n', False),
        ("def helper(g):\n    return g\n\nprint(helper(1))\n", False),
    ],
)
def test_work_is_a_line_of_code_in_an_exercise(source: str, work: bool) -> None:
    assert holds_work([Cell(1, source, "line 1")], "ch06_vjps") == work


def test_reordering_a_programs_lines_is_work() -> None:
    cells = read_submission(PLACES.notebook("ch12_debugging")).cells
    (cell,) = [cell for cell in cells if cell.exercise == "fix_12"]
    lines = cell.source.splitlines()
    lines[-4], lines[-3] = lines[-3], lines[-4]
    moved = Cell(cell.number, "\n".join(lines), cell.label, exercise=cell.exercise)
    assert holds_work([moved if one is cell else one for one in cells], "ch12_debugging")


@pytest.mark.parametrize("git", [True, False], ids=["repository", "download"])
@pytest.mark.parametrize("without", [(), ("exercises",), ("solutions",)], ids=["all", "no exercises", "no solutions"])
def test_the_work_in_a_clone_is_graded(tmp_path: Path, without: tuple[str, ...], git: bool) -> None:
    """Formerly the stub was graded because its name came first, and the references counted as the student's."""
    folder = clone(tmp_path / "ann", without=without, git=git)
    copy_lessons(folder / "my-work", "ipynb")
    worked(folder / "my-work" / "ch06_vjps.ipynb")
    found = find_work(tmp_path)
    assert chosen(found, folder) == {("ann", "ch06_vjps"): "my-work/ch06_vjps.ipynb"}
    assert found.work[0].remark == "'my-work/ch06_vjps.ipynb' was graded."
    assert rows(found) == {}


def test_work_in_a_clone_s_own_notebooks_counts(tmp_path: Path) -> None:
    folder = clone(tmp_path / "ann")
    worked(folder / "exercises" / "ch06_vjps.ipynb")
    (folder / "solutions" / "ch07_mlp_backprop.py").write_text("def forward(*args):\n    return args\n")
    found = find_work(tmp_path)
    assert chosen(found, folder) == {
        ("ann", "ch06_vjps"): "exercises/ch06_vjps.ipynb",
        ("ann", "ch07_mlp_backprop"): "solutions/ch07_mlp_backprop.py",
    }


def test_a_clone_in_which_nobody_worked_is_a_row(tmp_path: Path) -> None:
    clone(tmp_path / "ann")
    found = find_work(tmp_path)
    assert found.work == []
    assert rows(found) == {"ann/.": "nothing in it but the course's own files: no exercise is worked on"}


@pytest.mark.parametrize("course", [True, False], ids=["clones", "templates"])
@pytest.mark.parametrize("students", [2, 3])
def test_partners_with_the_same_work_are_both_graded(tmp_path: Path, course: bool, students: int) -> None:
    """Formerly their work was 'the same in 2 repositories; passed over', and both had 0 points."""
    folder = tmp_path / "hw1-submissions"
    for who in ("ann", "bob", "cy")[:students]:
        repository = folder / f"hw1-{who}"
        if course:
            clone(repository)
        else:
            untouched(repository / "ch06_vjps.ipynb")
            (repository / ".git").mkdir()
        worked(repository / "src" / "ch06_vjps.ipynb", with_what="return g" if who != "cy" else "return x")
    found = find_work(folder)
    assert [item.file.parent.name for item in found.work] == ["src"] * students
    assert rows(found) == {}
    assert found.remarks == []
    worked(folder / "hw1-ann" / "ch06 (1).ipynb")
    worked(folder / "hw1-bob" / "ch06 (1).ipynb")
    assert {"ann/ch06 (1).ipynb", "bob/ch06 (1).ipynb"} <= set(rows(find_work(folder))), "work is never passed over"


def test_work_is_preferred_to_a_better_name(tmp_path: Path) -> None:
    untouched(tmp_path / "ann" / "ch06_vjps.ipynb")
    worked(tmp_path / "ann" / "ch06_vjps_FINAL.ipynb")
    found = find_work(tmp_path)
    (work,) = found.work
    assert work.file.name == "ch06_vjps_FINAL.ipynb"
    assert work.remark == (
        "'ch06_vjps_FINAL.ipynb' was graded as ch06_vjps, by its name. "
        "'ch06_vjps_FINAL.ipynb' was graded; 'ch06_vjps.ipynb' was handed in, too."
    )
    assert rows(found) == {}, "nothing to do: the result says what else there was"


@pytest.mark.parametrize(
    "ours", [PLACES.source("ch06_vjps"), STUB, ROOT / "autograder/sample_class/dan-algebra-slips/ch06_vjps.ipynb"]
)
def test_work_is_preferred_to_the_courses_own_files(tmp_path: Path, ours: Path) -> None:
    untouched(tmp_path / "ann" / f"ch06_vjps{ours.suffix}", ours)
    (tmp_path / "ann" / f"ch06_vjps{ours.suffix}").write_bytes(ours.read_bytes().replace(b"\n", b"\r\n"))
    worked(tmp_path / "ann" / "deep" / "down" / "my ch06.ipynb")
    found = find_work(tmp_path)
    assert chosen(found, tmp_path) == {("ann", "ch06_vjps"): "ann/deep/down/my ch06.ipynb"}
    assert f"'{STUB.stem}{ours.suffix}' was handed in, too." in found.work[0].remark
    said = ["this one is the course's own file" in why for why in rows(found).values()]
    assert said == ([] if ours == STUB else [True]), "answers of the course are asked about, a template is not"


def test_of_two_files_with_work_the_better_named_is_graded(tmp_path: Path) -> None:
    worked(tmp_path / "ann" / "a" / "ch06_vjps.ipynb")
    worked(tmp_path / "ann" / "ch06.ipynb")
    worked(tmp_path / "ann" / "b" / "ch06_vjps.ipynb")
    (work,) = find_work(tmp_path).work
    assert work.remark == "'a/ch06_vjps.ipynb' was graded; 'b/ch06_vjps.ipynb' and 'ch06.ipynb' were handed in, too."


def test_our_files_in_a_folder_of_solutions_are_not_hand_ins(tmp_path: Path) -> None:
    for slug in ("ch06_vjps", "ch07_mlp_backprop"):
        untouched(tmp_path / "ann" / "solutions" / f"{slug}.py", PLACES.source(slug))
    worked(tmp_path / "ann" / "solutions" / "ch06_vjps.ipynb")
    found = find_work(tmp_path)
    assert chosen(found, tmp_path) == {("ann", "ch06_vjps"): "ann/solutions/ch06_vjps.ipynb"}


GRADESCOPE = "submission_{0}:\n  :submitters:\n  - :name: Ann\n    :email: ann@example.edu\n  :created_at: {1}\n"


@pytest.mark.parametrize("dates", [("2026-03-01 10:00:00 Z", "2026-03-02 09:00:00 Z"), ("null", "null")])
@pytest.mark.parametrize("later", ["ch06_vjps.ipynb", "ch06_vjps (1).ipynb"])
def test_the_later_hand_in_on_gradescope_counts(tmp_path: Path, later: str, dates: tuple[str, str]) -> None:
    worked(tmp_path / "submission_99" / "ch06_vjps.ipynb", with_what="return 1")
    worked(tmp_path / "submission_100" / later, with_what="return 2")
    metadata = GRADESCOPE.format(99, dates[0]) + GRADESCOPE.format(100, dates[1])
    (tmp_path / "submission_metadata.yml").write_text(metadata)
    found = find_work(tmp_path)
    assert chosen(found, tmp_path) == {("ann@example.edu", "ch06_vjps"): f"submission_100/{later}"}
    (row,) = found.earlier
    assert (row.student, row.lesson, row.file) == ("ann@example.edu", "ch06_vjps", "submission_99/ch06_vjps.ipynb")
    assert row.at[:10] == ("" if dates[0] == "null" else "2026-03-01")
    assert "handed in 2 times; the last counts" in found.work[0].remark
    assert not found.not_recognised
    untouched(tmp_path / "submission_100" / later)
    assert find_work(tmp_path).work[0].file.parent.name == "submission_99", "but no template"


def test_a_virtual_environment_is_not_a_hand_in(tmp_path: Path) -> None:
    """Formerly there were twenty rows for the environment. Some editors let people work in one."""
    for i in range(30):
        library = tmp_path / "ann" / "venv" / "lib" / "python3.13" / "site-packages" / f"m{i}.py"
        library.parent.mkdir(parents=True, exist_ok=True)
        library.touch()
    (tmp_path / "ann" / "venv" / "pyvenv.cfg").touch()
    (tmp_path / "ann" / "node_modules").mkdir()
    (tmp_path / "ann" / "node_modules" / "x.js").touch()
    worked(tmp_path / "ann" / "venv" / "ch06_vjps.ipynb")
    found = find_work(tmp_path)
    assert (chosen(found, tmp_path), rows(found)) == ({("ann", "ch06_vjps"): "ann/venv/ch06_vjps.ipynb"}, {})


@pytest.mark.parametrize("twin", ["Zoë ", "Zoe\u0308", "  Zoë", "Zo\u0065\u0308\u00a0"])
def test_names_that_look_the_same_are_one_student(tmp_path: Path, twin: str) -> None:
    worked(tmp_path / "one" / "Zoë" / "ch06_vjps.ipynb")
    worked(tmp_path / "two" / twin / "ch07_mlp_backprop.ipynb", PLACES.notebook("ch07_mlp_backprop"))
    assert {item.student for folder in ("one", "two") for item in find_work(tmp_path / folder).work} == {"Zoë"}


def test_similar_names_on_moodle_are_distinguished(tmp_path: Path) -> None:
    for name in ("Ann Last_1_assignsubmission_file_", "Ann Last _2_assignsubmission_file_"):
        worked(tmp_path / name / "ch06_vjps.ipynb")
    assert [item.student for item in find_work(tmp_path).work] == ["Ann Last_1", "Ann Last_2"]


def test_long_names_stay_distinct(tmp_path: Path) -> None:
    for end in "ab":
        worked(tmp_path / f"__{'x' * 250}{end}" / "ch06_vjps.ipynb")
    students = [item.student for item in find_work(tmp_path).work]
    assert len(set(students)) == 2
    assert max(len(student) for student in students) == 255


CH07 = "ch07_mlp_backprop"


@pytest.mark.parametrize("ending", ["ipynb", "py"])
def test_a_whole_lesson_under_another_ones_name_is_graded_as_what_it_is(tmp_path: Path, ending: str) -> None:
    """Formerly it had no points, and stood in the way of the other lesson's own hand-in in the next export."""
    file = worked(tmp_path / "ann" / f"{CH07}.ipynb")
    if ending == "py":
        file.with_suffix(".py").write_text(as_python(file.read_text()))
        file.unlink()
    found = find_work(tmp_path)
    assert chosen(found, tmp_path) == {("ann", "ch06_vjps"): f"ann/{CH07}.{ending}"}
    assert found.work[0].remark == f"'{CH07}.{ending}' was graded as ch06_vjps, by the exercises in it."


def test_a_name_decides_where_a_file_has_nothing_else_to_say(tmp_path: Path) -> None:
    """A template of another lesson, a notebook with something of the lesson in its name, and a broken one."""
    untouched(tmp_path / "ann" / f"{CH07}.ipynb")
    notebook = json.loads(worked(tmp_path / "bob" / f"{CH07}.ipynb").read_text())
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "def mse_loss(y, t):\n    return 0.0, y"})
    (tmp_path / "bob" / f"{CH07}.ipynb").write_text(json.dumps(notebook))
    cut = worked(tmp_path / "cy" / f"{CH07}.ipynb")
    cut.write_text(cut.read_text()[:-100])
    found = find_work(tmp_path)
    assert {(item.student, item.lesson) for item in found.work} == {(one, CH07) for one in ("ann", "bob", "cy")}


def test_the_rightly_named_of_two_notebooks_of_one_lesson_is_graded(tmp_path: Path) -> None:
    worked(tmp_path / "ann" / f"{CH07}.ipynb")
    worked(tmp_path / "ann" / "ch06_vjps.ipynb")
    found = find_work(tmp_path)
    assert chosen(found, tmp_path) == {("ann", "ch06_vjps"): "ann/ch06_vjps.ipynb"}
    assert f"'{CH07}.ipynb' was handed in, too" in found.work[0].remark
