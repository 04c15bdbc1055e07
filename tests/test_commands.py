"""The commands as learners and instructors run them: their output, and one clear line for bad input."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import BACKPROP

from autograder import workbook
from autograder.commands.targets import lesson_called
from autograder.places import Places
from autograder.sections import where_to_read
from course.syllabus import find_lesson, syllabus

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
Command = Callable[..., subprocess.CompletedProcess[str]]

RIGHT = "import numpy as np\n\ndef relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = RIGHT.replace("x > 0", "x >= 0")
CH06 = find_lesson("ch06_vjps")


def test_start_copies_notebooks_and_keeps_existing_files(backprop: Command, tmp_path: Path) -> None:
    assert backprop("start", "work").returncode == 0
    notebook = tmp_path / "work" / "ch06_vjps.ipynb"
    assert "add_vjp" in notebook.read_text()
    assert "](../book/" not in notebook.read_text(), "a link that leads nowhere from here"
    notebook.write_text("mine")
    again = backprop("start", "work")
    assert notebook.read_text() == "mine"
    assert "not touched" in again.stdout


@pytest.mark.parametrize("name", ["ch06", "ch6_vjps", "lessons/CH06"])
def test_start_with_a_lesson_instead_of_a_folder_is_explained(backprop: Command, tmp_path: Path, name: str) -> None:
    """In every other command, a lesson may come first."""
    done = backprop("start", name)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr.count("\n") == 1
    assert f"{name} is a lesson" in done.stderr
    (tmp_path / name).mkdir(parents=True)
    assert backprop("start", name).returncode == 0, "it is there: a folder is what is meant"


def test_a_copied_notebook_equals_the_courses(tmp_path: Path) -> None:
    """Formerly links to the book started from the folder given to `start`, and broke when it was moved."""
    workbook.copy_lessons(tmp_path / "my" / "work", "ipynb")
    for slug in syllabus():
        assert (tmp_path / "my" / "work" / f"{slug}.ipynb").read_text() == Places().notebook(slug).read_text()


@pytest.mark.parametrize("command", [("check", "ch06/relu_vjp"), ("read", "ch06/relu_vjp")])
def test_unencodable_characters_end_no_command(backprop: Command, tmp_path: Path, command: tuple[str, str]) -> None:
    """Windows's encoding for pipes lacks ◐ and ▌: both commands used to end with a traceback."""
    (tmp_path / "ch06_vjps.py").write_text(WRONG)
    done = backprop(*command, env={"PYTHONIOENCODING": "ascii"})
    assert "relu" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("said", ["ch06", "ch6", "CH06", "06", "6", "Ch06_VJPs"])
def test_a_lesson_can_be_named_by_its_number(said: str) -> None:
    assert lesson_called(said).slug == "ch06_vjps"


def test_the_python_form_of_a_lesson_is_graded_like_the_notebook(backprop: Command, tmp_path: Path) -> None:
    assert backprop("start", "work", "--format", "py").returncode == 0
    done = backprop("check", "ch06_vjps", cwd=tmp_path / "work")
    assert done.returncode == 1
    assert f"0 of {CH06.points:g} points" in done.stdout
    assert done.stdout.count("missing") == len(CH06.exercises)


def test_check_passes_and_says_which_file_it_graded(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps.py").write_text(RIGHT)
    done = backprop("check", "ch06_vjps/relu_vjp")
    assert done.returncode == 0, done.stdout + done.stderr
    first, *_, graded = done.stdout.partition("To compare")[0].splitlines()
    assert first.split() == ["✓", "relu_vjp", "2/2"]
    assert re.fullmatch(r"Graded: ch06_vjps.py \([0-9a-f]{12}\)", graded)
    assert "2 of 2 points" in done.stdout
    assert "Stuck?" not in done.stdout


def test_check_names_the_mistake_shows_the_case_and_gives_staged_hints(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps.py").write_text(WRONG)
    done = backprop("check", "ch06_vjps/relu_vjp")
    assert done.returncode == 1
    assert "the mask is x > 0" in done.stdout
    assert "expected" in done.stdout
    assert "got" in done.stdout
    section = where_to_read(syllabus()["ch06_vjps"].exercise("relu_vjp"))
    assert f"Section: {section}\n      Stuck? backprop hint ch06/relu_vjp\n" in done.stdout
    assert "Hint" not in done.stdout
    assert backprop("check", "ch06_vjps/relu_vjp", "--hint").stdout.count("Hint ") == 1
    assert backprop("check", "ch06_vjps/relu_vjp", "--hint", "--hint").stdout.count("Hint ") == 2
    assert "Stuck?" not in backprop("check", "--hint", "2", "ch06_vjps/relu_vjp").stdout
    assert backprop("check", "--hint", "2", "ch06_vjps/relu_vjp").stdout.count("Hint ") == 2


def test_check_exact_shows_the_case_as_code(backprop: Command, tmp_path: Path) -> None:
    """Formerly only the notebook's card did; the terminal had four digits."""
    (tmp_path / "ch06_vjps.py").write_text(RIGHT.replace("x > 0", "x > 1"))
    assert "as code" not in backprop("check", "ch06/relu_vjp").stdout
    shown = backprop("check", "ch06/relu_vjp", "--exact", env={"COLUMNS": "40"}).stdout
    _, _, below = shown.partition("This case as code, with every digit:\n")
    code = below[: below.index("relu_vjp(g, x)")]
    names: dict[str, np.ndarray] = {}
    exec(code, names)
    assert names["g"].shape == names["x"].shape
    assert len(str(names["x"].flat[0])) > 12
    (tmp_path / "ch06_vjps.py").write_text(RIGHT)
    assert "as code" not in backprop("check", "ch06/relu_vjp", "--exact").stdout


def test_check_says_if_another_file_is_graded(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps-Copy1.py").write_text(RIGHT)
    copy = backprop("check", "ch06_vjps-Copy1.py")
    assert "hand it in as ch06_vjps.py" in copy.stderr
    assert "relu_vjp" in copy.stdout
    (tmp_path / "ch06_vjps-Copy1.ipynb").write_text("{}")
    assert "(ch06_vjps-Copy1.ipynb: call it ch06_vjps.ipynb if that is yours)" in backprop("check", "ch06").stderr
    (tmp_path / "ch06_vjps.py").write_text(RIGHT)
    (tmp_path / "ch06_vjps.ipynb").write_text('{"cells": []}')
    beside = backprop("check", "ch06/relu_vjp").stderr
    assert "ch06_vjps.py lies beside ch06_vjps.ipynb and is not graded" in beside
    assert "ch06_vjps-Copy1.py lies beside" in beside


def test_a_file_of_any_name_is_graded_as_the_lesson_whose_exercises_it_has(backprop: Command, tmp_path: Path) -> None:
    """As in `grade`. Formerly `check Untitled.ipynb` said that there is no lesson Untitled."""
    (tmp_path / "my homework.py").write_text(RIGHT)
    done = backprop("check", "my homework.py")
    assert "my homework.py is graded as ch06_vjps; hand it in as ch06_vjps.py" in done.stderr
    assert "relu_vjp" in done.stdout
    (tmp_path / "notes.py").write_text("x = 1")
    assert "neither the name of notes.py nor the exercises in it say" in backprop("check", "notes.py").stderr


def test_the_reason_for_a_missing_exercise_is_shown(backprop: Command, tmp_path: Path) -> None:
    """Formerly, with gradcheck written, the terminal said only "missing"."""
    stub = (ROOT / "exercises" / "ch02_chain_rule.ipynb").read_text(encoding="utf-8")
    cells = ["".join(cell["source"]) for cell in json.loads(stub)["cells"] if cell["cell_type"] == "code"]
    written = """def gradcheck(f, vjp, inputs, rng):
    expected = numerical_gradient(lambda x: f(x, *inputs[1:]).sum(), inputs[0])
    return bool(np.allclose(vjp(1.0, *inputs)[0], expected))
"""
    text = "\n\n".join(f"# %%\n{cell}" for cell in cells if "def gradcheck" not in cell)
    (tmp_path / "ch02_chain_rule.py").write_text(f"{text}\n\n# %%\n{written}")
    assert "gradcheck uses numerical_gradient" in " ".join(backprop("check", "ch02/gradcheck").stdout.split())


def test_check_says_if_the_courses_own_copy_is_graded(backprop: Command) -> None:
    done = backprop("check", "ch06/relu_vjp", cwd=ROOT)
    assert (
        "exercises/ch06_vjps.ipynb is the course's own copy: 'backprop start my-work && cd my-work' makes"
        in done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check"], "there is no lesson in"),
        (["check", "ch99"], "there is no lesson 'ch99'; there are ch01_computation_graph"),
        (["check", "ch06_vjps"], "there is no ch06_vjps.ipynb or ch06_vjps.py"),
        (["check", "ch06_vjps/nope"], "ch06_vjps has no exercise 'nope'; it has add_vjp"),
        (["check", "gone.ipynb"], "there is no file gone.ipynb"),
        (["grade", "gone"], "gone cannot be used (No such file or directory)"),
        (["grade", "."], "there are no submissions in"),
        (["grade", ".", "--isolation", "hope"], "there is no isolation 'hope'; there are sandbox and process"),
        (["grade", ".", "--jobs", "0"], "--jobs must be at least 1"),
        (["report", "gone"], "there are no results in gone"),
        (["start", "--format", "docx"], "there is no format 'docx'; there are ipynb and py"),
    ],
)
def test_bad_input_gets_one_clear_line(backprop: Command, arguments: list[str], says: str) -> None:
    done = backprop(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stdout + done.stderr


def test_a_shell_completes_the_commands(backprop: Command) -> None:
    asks = {"_BACKPROP_COMPLETE": "complete_bash", "COMP_WORDS": "backprop gr", "COMP_CWORD": "1"}
    assert backprop(env=asks).stdout.split() == ["grade"]


def test_an_unreadable_notebook_gets_one_clear_line(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps.ipynb").write_text('{"cells": [')
    done = backprop("check", "ch06_vjps")
    assert done.returncode == 2
    assert "ch06_vjps.ipynb: line 1 is not JSON" in done.stderr


def a_class(folder: Path) -> None:
    for student, source in (("ann", RIGHT), ("bob", WRONG)):
        (folder / student).mkdir(parents=True)
        (folder / student / "ch06_vjps.py").write_text(source)


def test_a_class_of_one_student_with_a_dunder_name_is_graded(backprop: Command, tmp_path: Path) -> None:
    """Formerly the class had no submissions, because such names are hidden files elsewhere."""
    (tmp_path / "class" / "__reports__").mkdir(parents=True)
    (tmp_path / "class" / "__reports__" / "ch06_vjps.py").write_text(RIGHT)
    done = backprop("grade", "class", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "students" / "student __reports__" / "ch06_vjps.json").is_file()
    shown = backprop("report", "out", "--student", "__reports__")
    assert "relu_vjp" in shown.stdout, shown.stderr


def test_grade_resumes_and_grades_changed_files(backprop: Command, tmp_path: Path) -> None:
    a_class(tmp_path / "class")
    assert backprop("grade", "class", "--out", "out").returncode == 0
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").glob("students/*/*.json")}
    (tmp_path / "class" / "bob" / "ch06_vjps.py").write_text(RIGHT)
    (tmp_path / "class" / "eve").mkdir()
    (tmp_path / "class" / "eve" / "ch06_vjps.py").write_text("")
    second = backprop("grade", "class", "--out", "out")
    assert "1 submission is graded already" in second.stderr
    after = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").glob("students/*/*.json")}
    assert [file.parent.name for file in before if before[file] != after[file]] == ["bob"]
    summary = json.loads((tmp_path / "out" / "class.json").read_text())["submissions"]
    assert [(row["student"], row["points"], row["status"]) for row in summary] == [
        ("ann", 2.0, "graded"),
        ("bob", 2.0, "graded"),
        ("eve", 0.0, "unreadable"),
    ]


def test_another_salt_changes_the_grading_and_the_same_salt_repeats_it(backprop: Command, tmp_path: Path) -> None:
    a_class(tmp_path / "class")
    arguments = ("grade", "class", "--jobs", "1")
    assert "the hidden inputs are the public ones" in backprop(*arguments, "--out", "a").stderr
    assert backprop(*arguments, "--out", "a", "--salt", "one", "--regrade").returncode == 0
    second = backprop(*arguments, "--out", "a", "--salt", "two", "--regrade").stderr
    assert "graded already" not in second
    assert "public" not in second
    backprop(*arguments, "--out", "b", env={"BACKPROP_SALT": "two"})

    def content(name: str) -> dict[str, object]:
        result = json.loads((tmp_path / name / "students" / "bob" / "ch06_vjps.json").read_text())
        for exercise in result["exercises"]:
            del exercise["seconds"]
        return result

    assert content("a") == content("b")


def test_odd_entries_of_a_class_folder_are_reported_and_skipped(backprop: Command, tmp_path: Path) -> None:
    a_class(tmp_path / "class")
    (tmp_path / "class" / "notes.txt").write_text("x")
    (tmp_path / "class" / "ann" / "essay.md").write_text("x")
    (tmp_path / "class" / "ann" / "ch06_vjps.ipynb").write_text('{"cells": []}')
    done = backprop("grade", "class", "--out", "out")
    assert done.returncode == 3
    assert "notes.txt: not a student's folder" in done.stderr
    assert "essay.md: no lesson of that name" in done.stderr
    assert len(list((tmp_path / "out").glob("students/*/*.json"))) == 2
    ann = json.loads((tmp_path / "out" / "students" / "ann" / "ch06_vjps.json").read_text())
    assert ann["message"] == "'ch06_vjps.py' was graded; 'ch06_vjps.ipynb' was handed in, too.", "no row: it is empty"


def test_a_large_class_is_a_few_lines(backprop: Command, tmp_path: Path) -> None:
    """In a pipe, progress is a line per 5%; on a terminal, the table has a line per lesson."""
    for i in range(101):
        (tmp_path / "class" / f"s{i:03}").mkdir(parents=True)
        (tmp_path / "class" / f"s{i:03}" / "ch06_vjps.py").write_text("")
    done = backprop("grade", "class", "--out", "out")
    lines = [line for line in done.stderr.splitlines() if "/101  s" in line]
    assert 21 <= len(lines) < 40, "more if the machine is so busy that there is silence"
    assert lines[0].startswith("1/101  s")
    assert lines[-1].startswith("101/101  s")
    assert "/s" in lines[10]
    assert " left" in lines[10]
    assert sum(line.startswith("s0") for line in done.stdout.splitlines()) == 100
    shown = on_a_terminal("grade", "class", "--out", "out", cwd=tmp_path)
    assert "101 submissions are graded already" in shown
    assert re.search(rf"ch06_vjps +101 +0\.0 +{CH06.points:g} +0 +101", shown)
    assert "s050" not in shown
    assert "backprop report out" in shown


def on_a_terminal(*args: str, cwd: Path, status: int = 0) -> str:
    """The command's output on a terminal."""
    ours, theirs = os.openpty()
    command = [str(BACKPROP), *args]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # how a pseudo-terminal signals its end
            while part := os.read(ours, 65536):
                shown += part
        os.close(ours)
    assert process.returncode == status
    return shown.decode()


def test_a_slow_check_shows_progress_on_a_terminal(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps.py").write_text("def relu_vjp(g, x):\n    import time\n    time.sleep(600)\n")
    shown = on_a_terminal("check", "ch06/relu_vjp", cwd=tmp_path, status=1)
    assert "relu_vjp: check 1 of" in shown
    assert "Ctrl-C stops it" in shown
    captured = backprop("check", "ch06/relu_vjp")
    assert "check 1 of" not in captured.stdout + captured.stderr


def test_report_shows_a_class_a_student_and_json(backprop: Command, tmp_path: Path) -> None:
    a_class(tmp_path / "class")
    backprop("grade", "class", "--out", "out")
    assert "relu_vjp: relu one at zero" in backprop("report", "out").stdout
    assert "the mask is x > 0" in backprop("report", "out", "--student", "bob").stdout
    data = json.loads(backprop("report", "out", "--format", "json").stdout)
    assert [entry["student"] for entry in data] == ["ann", "bob"]
    (tmp_path / "out" / "students" / "bob" / "ch06_vjps.json").write_text("{")
    done = backprop("report", "out")
    assert "bob/ch06_vjps.json is not a result" in done.stderr


def test_watch_checks_on_every_save(tmp_path: Path) -> None:
    file, log = tmp_path / "ch06_vjps.py", tmp_path / "log"
    file.write_text(WRONG)
    command = [str(BACKPROP), "watch", "ch06_vjps/relu_vjp"]
    with (
        log.open("w") as out,
        subprocess.Popen(command, cwd=tmp_path, stdout=out, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process,
    ):
        try:
            wait_for(log, "the mask is x > 0")
            time.sleep(0.5)  # until it is watching
            file.write_text(RIGHT)
            wait_for(log, "2 of 2 points")
        finally:
            process.send_signal(2)
            assert process.wait(20) == 0


def wait_for(file: Path, text: str) -> None:
    for _ in range(600):
        if text in file.read_text():
            return
        time.sleep(0.1)
    raise AssertionError(file.read_text())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("6", "--hint"), "no ch06_vjps.ipynb"),
        (("Tensor.backward",), "no ch05_autograd_engine.ipynb"),
        (("forward",), "forward is an exercise of several lessons: say ch01/forward or ch07/forward"),
        (("3d_conv",), "no lesson '3d_conv'"),
    ],
)
def test_check_accepts_names_as_written(
    backprop: Command, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = backprop("check", *arguments)
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
