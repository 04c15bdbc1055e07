"""Restoring stubs in complete and odd notebooks and in Python files with and without cells, and backups of answers."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from autograder.learning import progress
from autograder.learning.answer_cells import AnswerError
from autograder.learning.answers import answers
from autograder.learning.reset import reset
from autograder.places import Places
from autograder.submission import read_submission
from autograder.workbook import as_python, copy_lessons
from course.syllabus import find_lesson, syllabus

VJPS = find_lesson("ch06_vjps")
RELU = VJPS.exercise("relu_vjp")
STUB = Places().notebook("ch06_vjps").read_text(encoding="utf-8")
ANSWER = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)"


def notebook(change: Callable[[list[dict[str, Any]]], object] = lambda cells: None) -> str:
    """The lesson's notebook with `relu_vjp` answered, and its cells changed further."""
    data = json.loads(STUB)
    cell_of(data["cells"])["source"] = ANSWER.splitlines(keepends=True)
    change(data["cells"])
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def cell_of(cells: list[dict[str, Any]], name: str = "relu_vjp") -> dict[str, Any]:
    return next(cell for cell in cells if cell["metadata"].get("exercise") == name)


def own(file: Path, name: str = "relu_vjp") -> str:
    return answers(read_submission(file), VJPS).get(name, "")


def kept(folder: Path) -> str:
    (file,) = (folder / "kept").iterdir()
    assert file.name.startswith("ch06_vjps.relu_vjp.")
    return file.read_text()


def test_reset_gives_back_the_notebook_as_it_was_handed_out(tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.ipynb"
    file.write_text(notebook(lambda cells: cell_of(cells).update(outputs=[], execution_count=7)))
    file.chmod(0o600)
    done = reset(file, RELU)
    assert done.changed
    assert file.read_text() == STUB, "byte for byte"
    assert ANSWER in kept(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 or os.name == "nt"
    assert not reset(file, RELU).changed
    assert len(list((tmp_path / "kept").iterdir())) == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_reset_gives_back_a_python_file_in_cells(tmp_path: Path, newline: str) -> None:
    file, stub = tmp_path / "ch06_vjps.py", as_python(STUB).replace("\n", newline)
    file.write_text(as_python(notebook()).replace("\n", newline), newline="")
    assert reset(file, RELU).changed
    assert file.read_text() == stub.replace("\r\n", "\n")
    assert file.read_bytes() == stub.encode()
    assert ANSWER in kept(tmp_path)


def test_reset_in_a_plain_python_file_takes_the_definition_alone(tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.py"
    file.write_text(f"import numpy as np\n\n\n{ANSWER}\n\n\nx = 1\n")
    assert reset(file, RELU).changed
    text = file.read_text()
    assert "# %%" not in text
    assert text.startswith("import numpy as np\n\n\ndef relu_vjp")
    assert text.endswith("\n\n\nx = 1\n")
    assert "your code here" in own(file)
    assert ANSWER in kept(tmp_path)


def split(cells: list[dict[str, Any]]) -> None:
    """Split a cell as an editor does: both halves have the metadata, and their own ids."""
    cell = cell_of(cells)
    lines = cell["source"]
    cells.insert(cells.index(cell) + 1, {**cell, "id": "other", "source": lines[1:]})
    cell["source"] = lines[:1]


def lose_the_marks(cells: list[dict[str, Any]]) -> None:
    cell_of(cells)["metadata"] = {}


def lose_the_marks_in_the_middle_of_a_line(cells: list[dict[str, Any]]) -> None:
    """The cell is not valid Python, so that no definition can be found, but it still has its id."""
    cell_of(cells).update(source=[*ANSWER.splitlines(keepends=True), "\n    return ("], metadata={"exercise": 7})


def copy_without_marks(cells: list[dict[str, Any]]) -> None:
    cell = cell_of(cells)
    cell.update(metadata={}, id="pasted")


def remove(cells: list[dict[str, Any]]) -> None:
    cells.remove(cell_of(cells))


@pytest.mark.parametrize(
    "change", [split, lose_the_marks, lose_the_marks_in_the_middle_of_a_line, copy_without_marks, remove]
)
def test_reset_finds_its_cell_in_odd_notebooks(
    tmp_path: Path, change: Callable[[list[dict[str, Any]]], object]
) -> None:
    file = tmp_path / "ch06_vjps.ipynb"
    file.write_text(notebook(change))
    before = len(json.loads(file.read_text())["cells"])
    assert reset(file, RELU).changed
    cells = json.loads(file.read_text())["cells"]
    assert [cell["id"] for cell in cells if cell["id"] not in ("pasted", "ch06-relu_vjp")] == [
        cell["id"] for cell in json.loads(STUB)["cells"] if cell["id"] != "ch06-relu_vjp"
    ]
    assert cell_of(cells)["source"] == cell_of(json.loads(STUB)["cells"])["source"]
    assert len(cells) == len(json.loads(STUB)["cells"])
    if change is split:
        assert before == len(cells) + 1
    if change is not remove:
        text = kept(tmp_path)
        assert all(line in text for line in ANSWER.splitlines())


def test_reset_of_merged_cells_leaves_the_other_answer(tmp_path: Path) -> None:
    def merge(cells: list[dict[str, Any]]) -> None:
        cell_of(cells)["source"] = [f"{ANSWER}\n\n\ndef sigmoid_vjp(g, x):\n    return 'mine'"]
        cells.remove(cell_of(cells, "sigmoid_vjp"))

    file = tmp_path / "ch06_vjps.ipynb"
    file.write_text(notebook(merge))
    assert reset(file, RELU).changed
    assert "return 'mine'" in file.read_text()
    assert "relu_vjp: your code here" in file.read_text()


def test_another_definition_is_named_and_stays(tmp_path: Path) -> None:
    def define_again(cells: list[dict[str, Any]]) -> None:
        cells.append({"cell_type": "code", "id": "mine", "metadata": {}, "outputs": [], "source": ANSWER})

    file = tmp_path / "ch06_vjps.ipynb"
    file.write_text(notebook(define_again))
    done = reset(file, RELU)
    assert done.others == (f"cell {len(json.loads(file.read_text())['cells'])}",)
    assert ANSWER.splitlines()[1] in own(file)


def test_where_it_cannot_be_told_a_line_says_so_and_nothing_changes(tmp_path: Path) -> None:
    def twice(cells: list[dict[str, Any]]) -> None:
        copy_without_marks(cells)
        cells.append({"cell_type": "code", "id": "mine", "metadata": {}, "outputs": [], "source": ANSWER})

    def everything(cells: list[dict[str, Any]]) -> None:
        cells[:] = []

    file = tmp_path / "ch06_vjps.ipynb"
    for change, says in ((twice, "none is marked as its own"), (everything, "has neither a cell of relu_vjp nor")):
        file.write_text(notebook(change))
        before = file.read_bytes()
        with pytest.raises(AnswerError, match=says) as raised:
            reset(file, RELU)
        assert "\n" not in str(raised.value)
        assert file.read_bytes() == before
        assert not (tmp_path / "kept").exists()


def test_reset_of_an_exercise_in_parts_and_of_methods(tmp_path: Path) -> None:
    engine = find_lesson("ch05_autograd_engine")
    stub = Places().notebook(engine.slug).read_text(encoding="utf-8")
    data = json.loads(stub)
    for cell in data["cells"]:
        if cell["metadata"].get("exercise") in ("Tensor", "Tensor.backward"):
            cell["source"] = ["mine = ", str(len(cell["id"]))]
    file = tmp_path / f"{engine.slug}.ipynb"
    file.write_text(json.dumps(data))
    for name in ("Tensor", "Tensor.backward"):
        assert reset(file, engine.exercise(name)).changed
    assert file.read_text() == stub
    for cell in data["cells"]:
        cell["metadata"].pop("part", None)
        cell["id"] = f"other-{cell['id']}"
    file.write_text(json.dumps(data))
    with pytest.raises(AnswerError, match="no cell that is marked as 'the tape' of Tensor"):
        reset(file, engine.exercise("Tensor"))


@pytest.mark.slow
def test_every_stub_can_be_put_back(tmp_path: Path) -> None:
    for lesson in syllabus().values():
        text = Places().notebook(lesson.slug).read_text(encoding="utf-8")
        for suffix, stub in ((".ipynb", text), (".py", as_python(text))):
            file = tmp_path / f"{lesson.slug}{suffix}"
            file.write_text(stub, encoding="utf-8")
            for exercise in lesson.exercises:
                assert not reset(file, exercise).changed, exercise.full_name


def test_half_a_character_in_a_notebook_survives_a_reset(tmp_path: Path) -> None:
    """JSON can contain a lone surrogate, UTF-8 cannot."""
    file = tmp_path / "ch06_vjps.ipynb"
    text = notebook(lambda cells: cells[0].update(source="a = 'MARK'"))
    file.write_text(text.replace("MARK", "\\ud800"))
    assert reset(file, RELU).changed
    assert "\\ud800" in file.read_text()
    assert len(json.loads(file.read_text())["cells"]) == len(json.loads(STUB)["cells"])


@pytest.mark.skipif(os.name == "nt", reason="creating a symbolic link on Windows needs a privilege")
def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """A hostile folder could make `kept` a link to the files that IPython runs at startup."""
    work, elsewhere = tmp_path / "work", tmp_path / "startup"
    work.mkdir()
    elsewhere.mkdir()
    (work / "kept").symlink_to(elsewhere)
    file = work / "ch06_vjps.ipynb"
    file.write_text(notebook())
    with pytest.raises(OSError, match="kept is a link, and none is followed; remove it"):
        reset(file, RELU)
    (work / "progress.json").write_text("damaged")
    assert "nothing was noted" in (said := progress.forget(work, RELU))
    assert said.endswith("kept is a link, and none is followed; remove it")
    (work / "kept").unlink()
    (elsewhere / "precious").write_text("mine")
    (work / progress.LOCK).unlink()
    (work / progress.LOCK).symlink_to(elsewhere / "precious")
    assert f"{progress.LOCK} is a link" in progress.forget(work, RELU)
    (work / "ch06_vjps.py").symlink_to(elsewhere / "new.py")
    with pytest.raises(OSError, match=r"ch06_vjps\.py is a link"):
        copy_lessons(work, "py", [VJPS])
    (elsewhere / "new.py").write_text(as_python(notebook()))
    with pytest.raises(AnswerError, match=r"ch06_vjps\.py is a link that leads out of its folder"):
        reset(work / "ch06_vjps.py", RELU)
    assert (elsewhere / "new.py").read_text() == as_python(notebook())
    assert (elsewhere / "precious").read_text() == "mine"
    assert {one.name for one in elsewhere.iterdir()} == {"precious", "new.py"}


@pytest.mark.skipif(os.name == "nt", reason="creating a symbolic link on Windows needs a privilege")
def test_no_command_of_a_learner_writes_through_a_link(backprop: Command, tmp_path: Path) -> None:
    """Formerly `check` and `watch` wrote `progress.json` beside what a handed-in link led to."""
    work, victim = tmp_path / "work", tmp_path / "victim"
    work.mkdir()
    victim.mkdir()
    text = as_python(notebook())
    (victim / "ch06_vjps.py").write_text(text)
    (work / "ch06_vjps.py").symlink_to(victim / "ch06_vjps.py")
    for name in ("backprop-work", "gradescope"):
        (work / name).symlink_to(victim)
    asked = backprop("check", "ch06/relu_vjp", "--format", "gradescope", cwd=work)
    assert "gradescope is a link, and none is followed; remove it" in asked.stderr
    assert "ch06_vjps/relu_vjp" in progress.read(work).exercises, "it is noted where the link is"
    (work / "ch06_vjps.py").unlink()
    (work / "exercises").symlink_to(victim)
    out_of_it = f"a link leads out of this folder, to {victim}"
    assert f"nothing was noted in {work / 'exercises'}" in (said := backprop("check", "ch06/relu_vjp", cwd=work).stderr)
    assert out_of_it in said
    for command in (("reset", "ch06/relu_vjp"), ("start",), ("start", "exercises", "ch01")):
        refused = backprop(*command, cwd=work)
        assert (refused.returncode != 0, out_of_it in refused.stderr) == (True, True), (command, refused)
    for command in (("solution", "ch06/relu_vjp", "--anyway"), ("status",), ("next",)):
        backprop(*command, cwd=work)
    assert {file.name: file.read_text() for file in victim.iterdir()} == {"ch06_vjps.py": text}
