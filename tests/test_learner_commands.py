"""A learner's own commands: start, check, watch, next, status, reset, solution."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer
from conftest import BACKPROP

from autograder.commands import app
from autograder.commands.completion import lessons, lessons_and_exercises
from autograder.learning.order import about_minutes
from autograder.places import Places
from autograder.reading.labels import title_of
from autograder.wording import counted
from course.syllabus import find_lesson, syllabus

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
Command = Callable[..., subprocess.CompletedProcess[str]]

STUB = 'def relu_vjp(g, x):\n    raise NotImplementedError("relu_vjp: your code here")\n'
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = RIGHT.replace("x > 0", "x >= 0")
CH06 = find_lesson("ch06_vjps")
TOTAL = sum(lesson.points for lesson in syllabus().values())
EXERCISES = sum(len(lesson.exercises) for lesson in syllabus().values())


def words(text: str) -> str:
    return " ".join(text.split())


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


# start


def test_start_names_the_first_exercise_in_the_requested_format(backprop: Command) -> None:
    notebooks = words(backprop("start", "work").stdout)
    assert "open ch01_computation_graph.ipynb in JupyterLab" in notebooks
    assert "Begin with forward" in notebooks
    assert "cd work && backprop watch" in notebooks
    plain = words(backprop("start", "plain", "--format", "py").stdout)
    assert "open plain/ch01_computation_graph.py in your editor" in plain
    assert "jupyter" not in plain.lower()
    assert "notebook" not in plain.lower()


def test_start_takes_lessons_by_name(backprop: Command, tmp_path: Path) -> None:
    done = backprop("start", "work", "ch06", "3")
    assert sorted(file.name for file in (tmp_path / "work").iterdir()) == ["ch03_accumulation.ipynb", "ch06_vjps.ipynb"]
    assert "open ch03_accumulation.ipynb" in done.stdout
    later = backprop("start", "work", "ch01")
    assert "ch01_computation_graph.ipynb" in later.stdout
    assert "ch06" not in later.stdout
    assert "there is no lesson 'ch99'" in one_line(backprop("start", "other", "ch99"))
    assert not (tmp_path / "other").exists()


# check, next, status


def test_check_names_the_next_exercise_and_records_the_result(backprop: Command, tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.py"
    file.write_text(WRONG)
    failed = backprop("check", "ch06/relu_vjp")
    assert "Next:" not in failed.stdout
    assert "Next: ch06/relu_vjp (core, 2 points" in backprop("next").stdout, "one is still at it"
    assert "partial" in backprop("next").stdout
    file.write_text(RIGHT)
    done = backprop("check", "ch06/relu_vjp")
    core = [one for one in CH06.exercises if one.tier == "core"]
    following = core[[one.name for one in core].index("relu_vjp") + 1]
    name = f"ch06/{following.name}"
    minutes = f"about {about_minutes(following, CH06)} of the lesson's {CH06.minutes} minutes"
    assert f"Next: {name} (core, {counted(following.points, 'point')}, {minutes})" in done.stdout
    assert f"Read:  backprop read {name} ({title_of(following)})" in done.stdout
    entry = json.loads((tmp_path / "progress.json").read_text())["exercises"]["ch06_vjps/relu_vjp"]
    assert (entry["status"], entry["tries"]) == ("passed", 2)
    assert backprop("next").stdout.startswith(f"Next: {name}")
    shown = words(backprop("status").stdout)
    assert f"2 of {TOTAL:g} points; 1 of {EXERCISES} exercises pass" in shown
    stretch = len(CH06.exercises) - len(core)
    assert f"ch06 VJPs, one op at a time 1/{len(core)} 0/{stretch} 2/{CH06.points:g}" in shown
    assert f"Next: {name}" in shown


def test_next_lists_optional_exercises_and_absent_lessons(backprop: Command, tmp_path: Path) -> None:
    backprop("start", ".", "ch01")
    first = words(backprop("next").stdout)
    lesson = find_lesson("ch01_computation_graph")
    about = f"about {about_minutes(lesson.exercise('forward'), lesson)} of the lesson's {lesson.minutes} minutes"
    assert first.startswith(f"Next: ch01/forward (core, 1 point, {about})")
    assert "Read: backprop read ch01/forward (Forward builds the graph)" in first
    optional = ", ".join(one.name for one in lesson.exercises if one.tier == "stretch")
    assert f"Optional in this lesson (stretch): {optional}" in first
    solved = ROOT / "autograder" / "sample_class" / "ada-perfect" / "ch01_computation_graph.ipynb"
    (tmp_path / "ch01_computation_graph.ipynb").write_bytes(solved.read_bytes())
    done = backprop("check")
    assert done.returncode == 0, done.stdout
    assert f"{lesson.points:g} of {lesson.points:g} points" in done.stdout
    assert "Next: ch02/numerical_gradient" in done.stdout
    assert "'backprop start . ch02_chain_rule' brings it" in words(done.stdout)


def test_check_of_several_lessons_shows_a_total(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps.py").write_text(RIGHT)
    (tmp_path / "ch02_chain_rule.py").write_text("x = 1\n")
    both = CH06, find_lesson("ch02_chain_rule")
    points, exercises = sum(one.points for one in both), sum(len(one.exercises) for one in both)
    done = backprop("check")
    assert done.stdout.strip().endswith(f"In all: 2 of {points:g} points; 1 of {exercises} exercises pass")
    assert "In all" not in backprop("check", "ch06").stdout


def test_an_unreadable_file_does_not_stop_the_others(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch02_chain_rule.ipynb").write_text('{"cells": [')
    (tmp_path / "ch06_vjps.py").write_text(RIGHT)
    done = backprop("check")
    assert done.returncode == 1
    assert "ch02_chain_rule.ipynb: line 1 is not JSON" in one_line(done)
    assert "✓ relu_vjp" in done.stdout


def test_a_damaged_progress_file_is_reported_in_one_line(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps.py").write_text(RIGHT)
    (tmp_path / "progress.json").write_text("{")
    assert "progress.json is damaged" in one_line(backprop("status"))
    done = backprop("check", "ch06/relu_vjp")
    assert done.returncode == 0
    assert "the old file is kept as kept/progress." in one_line(done)
    assert backprop("status").stderr == ""


@pytest.mark.parametrize("command", ["status", "next", "watch"])
def test_a_folder_without_lessons_is_explained_in_one_line(backprop: Command, command: str, tmp_path: Path) -> None:
    """Beside `my-work`, which `make learn` had made, the advice used to be to make it."""
    assert "'backprop start my-work && cd my-work' makes a folder of yours" in one_line(backprop(command))
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "exercises").symlink_to(ROOT / "exercises")
    own = backprop(command, cwd=checkout)
    assert own.returncode == 2
    assert "is the course's own copy: 'backprop start my-work && cd my-work' makes" in one_line(own)
    (checkout / "my-work").mkdir()
    (checkout / "my-work" / "ch06_vjps.py").touch()
    assert "is the course's own copy: 'cd my-work' takes you to yours" in one_line(backprop(command, cwd=checkout))


def test_a_check_imports_pytorch_only_for_exercises_that_use_it(tmp_path: Path) -> None:
    """ch01 has one such exercise; formerly the first check of any other spent three seconds on the import."""
    (tmp_path / "ch01_computation_graph.py").write_text("def forward(a, b, c):\n    pass\n")
    code = (
        "import sys, os\n"
        "def refuse(event, arguments):\n"
        "    if event == 'os.exec': print('began again'); sys.stdout.flush(); os._exit(9)\n"
        "    if event == 'import' and arguments[0] == 'torch': print('torch'); sys.stdout.flush(); os._exit(9)\n"
        "sys.addaudithook(refuse)\n"
        "sys.argv = ['backprop', 'check', sys.argv[1]]\n"
        "from autograder.commands import run; run()\n"
    )

    def check(exercise: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-c", code, exercise]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    done = check("ch01/forward")
    assert (done.returncode, done.stderr) == (1, ""), done.stdout
    assert "0 of 1 point" in done.stdout
    assert check("ch01/read_torch_graph").stdout in ("began again\n", "torch\n"), "and so this looks where it must"


# reset and solution


@pytest.mark.parametrize("form", ["ipynb", "py"])
def test_reset_restores_the_stub_and_keeps_the_answer(backprop: Command, tmp_path: Path, form: str) -> None:
    backprop("start", ".", "ch06", "--format", form)
    file = tmp_path / f"ch06_vjps.{form}"
    stub = file.read_text()
    file.write_text(stub.replace('raise NotImplementedError(\\"relu_vjp: your code here\\")', "return g * 2"))
    if form == "py":
        file.write_text(stub.replace('raise NotImplementedError("relu_vjp: your code here")', "return g * 2"))
    assert file.read_text() != stub
    done = backprop("reset", "ch06/relu_vjp")
    assert done.returncode == 0, done.stderr
    assert "relu_vjp is a stub again" in done.stdout
    (kept,) = (tmp_path / "kept").iterdir()
    assert f"Your old answer is kept in {kept}." in done.stdout
    assert "return g * 2" in kept.read_text()
    assert ("reload it before you go on" in done.stdout) == (form == "ipynb")
    assert file.read_text() == stub
    assert "is the stub already" in backprop("reset", "ch06/relu_vjp").stdout


def test_the_model_solution_is_shown_after_a_pass_or_on_request(backprop: Command, tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.py"
    file.write_text(WRONG)
    refused = backprop("solution", "ch06/relu_vjp")
    assert refused.returncode == 1
    assert "has not passed a check yet" in one_line(refused)
    assert refused.stdout == ""
    anyway = backprop("solution", "ch06/relu_vjp", "--anyway").stdout
    assert "write it again without looking" in anyway
    file.write_text(RIGHT.replace("def relu_vjp", "def relu_vjp  "))
    backprop("check", "ch06/relu_vjp")
    file.write_text(STUB)
    shown = backprop("solution", "ch06/relu_vjp")
    assert shown.returncode == 0
    assert "your code here" in shown.stdout, "the learner's own answer, as it is now"
    assert '"""dx of y = max(x, 0); g and x have one shape."""' in shown.stdout
    assert "In a line: g where `x > 0`" in shown.stdout
    assert "Why: The slope is 1 above 0 and 0 below, so a mask is all it takes" in shown.stdout
    assert "Section: backprop read ch06/relu_vjp (relu: a mask)" in shown.stdout
    beside = backprop("solution", "ch06/relu_vjp", env={"COLUMNS": "160"}).stdout
    assert "the model solution" in beside.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("reset", "ch06"), "ch06 is a lesson: name one exercise of it, as ch06/add_vjp"),
        (("reset", "ch06_vjps.py"), "ch06_vjps.py is a lesson: name one exercise"),
        (("reset", "ch06/nope"), "has no exercise 'nope'"),
        (("reset", "ch05/no_grad"), "there is no ch05_autograd_engine.ipynb"),
        (("reset", "ch06/mul_vjp"), "has neither a cell of mul_vjp nor its check; a fresh notebook has both"),
        (("solution", "relu_vjp"), "relu_vjp has not passed a check yet: 'backprop hint ch06/relu_vjp' helps"),
        (("solution", "forward"), "forward is an exercise of several lessons: say ch01/forward or ch07/forward"),
        (("hint", "ch06"), "ch06 is a lesson: name one exercise of it, as ch06/add_vjp"),
        (("status", "ch99"), "there is no lesson 'ch99'"),
    ],
)
def test_bad_input_gets_one_clear_line(
    backprop: Command, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    (tmp_path / "ch06_vjps.py").write_text(RIGHT)
    done = backprop(*arguments)
    assert done.returncode in (1, 2)
    assert says in one_line(done)
    assert (tmp_path / "ch06_vjps.py").read_text() == RIGHT


def test_the_courses_own_notebooks_are_not_reset(backprop: Command) -> None:
    file = Places().notebook("ch06_vjps")
    before = file.stat().st_mtime_ns
    assert "is the course's own copy" in one_line(backprop("reset", "ch06/relu_vjp", cwd=ROOT))
    assert file.stat().st_mtime_ns == before


# watch


@contextmanager
def watching(folder: Path, *arguments: str) -> Iterator[Callable[[str], None]]:
    """Run `backprop watch`; yields a function that waits for a text that it prints."""
    log, command = folder / "log", [str(BACKPROP), "watch", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "120"}
    read = 0

    def wait(text: str) -> None:
        nonlocal read
        for _ in range(600):
            shown = log.read_text()
            if text in shown[read:]:
                read = shown.index(text, read) + len(text)
                return
            time.sleep(0.1)
        raise AssertionError(log.read_text())

    with (
        log.open("w") as out,
        subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, env=environment) as process,
    ):
        try:
            yield wait
        finally:
            process.send_signal(2)
            assert process.wait(20) == 0


def test_watch_without_a_target_follows_edits_and_moves_on(tmp_path: Path, backprop: Command) -> None:
    backprop("start", ".", "ch01", "ch06", "--format", "py")
    graph, vjps = tmp_path / "ch01_computation_graph.py", tmp_path / "ch06_vjps.py"

    def answer(file: Path, exercise: str, code: str) -> None:
        file.write_text(file.read_text().replace(f'raise NotImplementedError("{exercise}: your code here")', code))

    with watching(tmp_path) as wait:
        wait("· forward")
        answer(graph, "forward", 'return {"d": a * b, "e": a * b + c, "L": (a * b + c) ** 2}')  # no save is lost
        wait("✓ forward")
        wait("Next: ch01/backward_by_hand")
        graph.write_text(graph.read_text() + "\n# %%\nx = 1\n")
        wait("· backward_by_hand")
        answer(vjps, "relu_vjp", "return g * (x >= 0)")
        wait("the mask is x > 0")
        vjps.write_text(vjps.read_text().replace("g * (x >= 0)", "(g * (x > 0)).astype(x.dtype)"))
        wait("✓ relu_vjp")
        answer(graph, "neuron_gradients", "return 3")
        wait("✗ neuron_gradients")
    assert "✓ relu_vjp" not in (tmp_path / "log").read_text().rpartition("✗ neuron_gradients")[2]
    done = json.loads((tmp_path / "progress.json").read_text())["exercises"]
    assert [done[name]["status"] for name in ("ch01_computation_graph/forward", "ch06_vjps/relu_vjp")] == ["passed"] * 2


def test_a_folder_is_said_that_really_has_the_notebooks(backprop: Command, tmp_path: Path) -> None:
    """In an empty folder, the advice used to be a command that put them somewhere else."""
    assert "'backprop start my-work && cd my-work' makes a folder of yours" in one_line(backprop("check", "relu_vjp"))
    backprop("start", "my-work", "ch06", "--format", "py")
    assert "'cd my-work' takes you to yours" in one_line(backprop("check", "relu_vjp"))
    missing = one_line(backprop("check", "ch01", cwd=tmp_path / "my-work"))
    assert "no ch01_computation_graph.ipynb" in missing
    assert "'backprop start . ch01' puts it here" in missing
    backprop("start", ".", "ch01", cwd=tmp_path / "my-work")
    assert "· forward" in backprop("check", "ch01", cwd=tmp_path / "my-work").stdout


def test_an_exercise_is_meant_by_its_name_alone(backprop: Command, tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.py"
    file.write_text(WRONG)
    assert "the mask is x > 0" in backprop("check", "relu_vjp").stdout
    assert "a mask" in backprop("read", "relu_vjp", "--no-browser").stdout
    assert "The model solution:" in backprop("solution", "relu_vjp", "--anyway").stdout


def test_one_lesson_has_a_status_and_a_next_exercise(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps.py").write_text(RIGHT)
    backprop("check", "relu_vjp")
    backprop("hint", "add_vjp")
    rows = backprop("status", "ch06").stdout.splitlines()
    total = next(row for row in rows if f"of {CH06.points:g} points" in row)
    assert rows.index(total) == 1 + len(CH06.exercises)
    relu = next(row for row in rows if "relu_vjp" in row)
    assert relu.split()[:5] == ["✓", "relu_vjp", "core", "2/2", "1"]
    assert next(row for row in rows if "add_vjp" in row).split()[:5] == ["·", "add_vjp", "core", "0/3", "1/3"]
    assert f"Next: ch06/{CH06.exercises[0].name} " in backprop("next", "ch06").stdout
    assert "Next: ch01/forward " in backprop("next", "1").stdout
    assert "last try" not in backprop("next", "ch06").stdout


# hint


def test_each_call_shows_one_hint_more(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps.py").write_text(STUB)
    first, second = CH06.exercise("relu_vjp").hints
    shown = backprop("hint", "relu_vjp").stdout
    assert words(first) in words(shown)
    assert words(second) not in words(shown)
    assert "Next hint: backprop hint ch06/relu_vjp" in shown
    for _ in range(2):
        shown = backprop("hint").stdout  # the exercise whose hints were asked for last
        assert words(f"hint 2 of 2: {second}") in words(shown)
        assert "The model solution: backprop solution ch06/relu_vjp --anyway" in shown
    entry = json.loads((tmp_path / "progress.json").read_text())["exercises"]["ch06_vjps/relu_vjp"]
    assert (entry["hints"], entry["tries"], entry["status"]) == (2, 0, "missing")
    (tmp_path / "ch06_vjps.py").write_text(RIGHT)
    backprop("check", "relu_vjp")
    assert backprop("hint", "relu_vjp").stdout.rstrip().endswith("backprop solution ch06/relu_vjp")


# completion


def test_a_shell_completes_lessons_and_exercises(backprop: Command) -> None:
    context = typer.Context(typer.main.get_command(app))
    assert lessons(context, "ch0")[:2] == ["ch01", "ch02"]
    assert lessons(context, "ch06_") == ["ch06_vjps"]
    assert lessons_and_exercises(context, "ch06/rel") == ["ch06/relu_vjp"]
    assert lessons_and_exercises(context, "ch06_vjps/rel") == ["ch06_vjps/relu_vjp"]
    assert lessons_and_exercises(context, "nope/") == []
    asks = {"_BACKPROP_COMPLETE": "complete_bash", "COMP_CWORD": "2"}
    for command in ("check", "watch", "hint", "reset", "solution"):
        env = {**asks, "COMP_WORDS": f"backprop {command} ch06/rel"}
        assert backprop(env=env).stdout.split() == ["ch06/relu_vjp"], command
