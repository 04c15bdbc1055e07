"""A course named by a file in a folder is only used once the user has trusted it, in every command and module."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import ROOT, Command
from small_results import a_result, write
from typer.testing import CliRunner

from autograder.authoring import salts
from autograder.commands import WITHOUT_A_COURSE, app
from autograder.commands.completion import lessons, lessons_and_exercises
from autograder.commands.courses import AboutACourse
from autograder.nbgrader_course.folder import write_course
from autograder.notebook import check as in_a_notebook
from autograder.notebook.feedback import CheckFailed
from autograder.workbook import leads_back
from course.own import FILE, VARIABLE, CourseError, own_course
from course.trusted import UntrustedError, distrust, found_above, trust, trusted

EXAMPLE = ROOT / "examples" / "linear_algebra"
POWER = "ch01_power_iteration"
COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
ABOUT_A_COURSE = [name for name, command in COMMANDS.items() if isinstance(command, AboutACourse)]


@pytest.fixture(autouse=True)
def _nobody_has_trusted_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.delenv(VARIABLE)


@pytest.fixture
def mallory(tmp_path: Path) -> Path:
    """A hand-in that contains a course, whose checks report that they ran."""
    folder = tmp_path / "class" / "mallory"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("answers*", "__pycache__"))
    for checks in (folder / "lessons" / POWER / "checks").glob("*.py"):
        checks.write_text(f"{checks.read_text()}\nopen({str(tmp_path / 'ran')!r}, 'w').close()\n")
    shutil.copy(folder / "solutions" / f"{POWER}.py", folder)
    return folder


def typed(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def refusal(folder: Path) -> str:
    file = folder / FILE
    return f"{file} names a course that you have not trusted; its checks would run as you. To trust it: backprop trust"


# ---- every way in


def test_only_commands_without_a_lesson_are_about_no_course() -> None:
    assert {command.__name__ for command in WITHOUT_A_COURSE} == {"memory", "salt", "trust"}
    assert set(COMMANDS) - set(ABOUT_A_COURSE) == {"memory", "salt", "trust"}


@pytest.mark.parametrize("command", ABOUT_A_COURSE)
def test_no_command_follows_a_folder_that_was_handed_in(
    command: str, mallory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    arguments = ["ch01/x" for one in COMMANDS[command].params if one.param_type_name == "argument" and one.required]
    isolated = any("--isolation" in one.opts for one in COMMANDS[command].params)
    before = sorted(mallory.rglob("*"))
    monkeypatch.chdir(mallory / "lessons")
    for options in ([], ["--isolation", "sandbox"]) if isolated else ([],):
        status, said = typed(command, *arguments, *options)
        assert (status, said.count("\n")) == (2, 1), said
        assert said.startswith(f"backprop: {refusal(mallory)}")
    assert VARIABLE not in os.environ, "nor does it go on with another course"
    assert sorted(mallory.rglob("*")) == before
    assert not (tmp_path / "ran").exists()


def test_the_real_command_runs_nothing_of_it(mallory: Path, tmp_path: Path, backprop: Command) -> None:
    """A teacher looks into a hand-in, from its own folder and from the class's."""
    for folder, words in (
        (mallory, ("check", "ch01", "--isolation", "sandbox")),
        (tmp_path, ("check", f"class/mallory/{POWER}.py")),
        (mallory, ("grade", tmp_path / "other", "--out", tmp_path / "results")),
    ):
        done = backprop(*words, cwd=folder, cold=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert refusal(mallory) in done.stderr
    assert not (tmp_path / "ran").exists()
    assert backprop("trust", mallory).returncode == 0
    done = backprop("check", f"class/mallory/{POWER}.py")
    assert "8 of 8 points" in done.stdout, done.stderr
    assert (tmp_path / "ran").exists(), "as trusted code does: the test can fail"


def test_no_notebook_follows_it(mallory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mallory)
    with pytest.raises(CheckFailed) as why:
        in_a_notebook.lesson(POWER)
    assert why.value.text.startswith(refusal(mallory))
    assert VARIABLE not in os.environ


def test_a_shell_completes_nothing_of_it(mallory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def completed() -> list[str]:
        with COMMANDS["check"].make_context("check", [], resilient_parsing=True) as context:
            return [*lessons(context, "ch01"), *lessons_and_exercises(context, "ch01/d")]

    monkeypatch.chdir(mallory)
    assert completed() == []
    assert VARIABLE not in os.environ
    trust(mallory / FILE)
    assert completed() == ["ch01", "ch01/deflate"]


@pytest.mark.parametrize("module", ["autograder --version", "autograder.authoring.salts --help"])
def test_a_module_of_ours_runs_nothing_that_was_handed_in(tmp_path: Path, module: str) -> None:
    """`python -m` imports from the working folder first, so a handed-in `typer.py` could be run."""
    for name in {*sys.stdlib_module_names, "click", "course", "numpy", "rich", "solutions", "typer"}:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} was run')")
    command = [sys.executable, "-m", *module.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", [["backprop"], ["python", "-P", "-m", "autograder"]])
def test_an_autograder_that_was_handed_in_is_not_ours(tmp_path: Path, command: list[str]) -> None:
    """`python -m autograder` without `-P` would run it, so none of our texts suggests that."""
    (tmp_path / "autograder").mkdir()
    for name in ("__init__", "__main__"):
        (tmp_path / "autograder" / f"{name}.py").write_text("raise SystemExit('what was handed in was run')")
    typed = [str(Path(sys.executable).with_name(command[0])), *command[1:], "--version"]
    done = subprocess.run(typed, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("backprop ")
    of_history = ("CHANGELOG.md", "SECURITY.md", "autograder/__init__.py", "tests/test_trust.py")
    listed = subprocess.run(["git", "grep", "-lI", "python -m autograder"], cwd=ROOT, capture_output=True, text=True)
    assert [name for name in listed.stdout.splitlines() if name not in of_history] == []


def test_courses_are_found_in_one_place() -> None:
    """Lists all code that may choose a course; any other code must ask whether the course is trusted."""
    callers: dict[str, set[str]] = {}
    for file in [*(ROOT / "autograder").rglob("*.py"), *(ROOT / "course").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                callers.setdefault(node.func.id, set()).add(file.relative_to(ROOT).as_posix())
    assert callers["file_upwards"] == {"course/trusted.py", "autograder/commands/trust.py"}
    assert callers["found_above"] == {
        "autograder/authoring/arguments.py",  # of `python -m autograder.authoring.…`
        "autograder/commands/courses.py",
        "autograder/notebook/check.py",
    }
    assert callers["course_named"] == {
        "course/own.py",  # the variable
        "course/trusted.py",
        "autograder/authoring/arguments.py",  # --course
        "autograder/commands/courses.py",  # --course
        "autograder/commands/start.py",  # compares, and serves nothing
        "autograder/classroom/cluster_worker.py",  # what a command says that serves it
    }


OF_THIS_COURSE = {"same_records"}
"""Modules for authors that only concern this project's own files or history."""


def test_the_modules_of_authors_take_a_course_as_commands_do(mallory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One used to end with a traceback, and lacked `--course`."""
    texts = {file.stem: file.read_text(encoding="utf-8") for file in (ROOT / "autograder" / "authoring").glob("*.py")}
    modules = {name for name, text in texts.items() if '__name__ == "__main__"' in text}
    assert {name for name in modules if f'Arguments("{name}"' in texts[name]} == modules - OF_THIS_COURSE
    monkeypatch.chdir(mallory)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        for words, status in (([POWER], 2), ([POWER, "--course", "gone"], 2), (["ch99_x", "--course", "."], 2)):
            with pytest.raises(SystemExit) as ended:
                salts.main(words)
            assert ended.value.code == status
        assert not (mallory.parents[1] / "ran").exists()
        assert salts.main([POWER, "--course", ".", "--salts", "1"]) == 0
        assert (mallory.parents[1] / "ran").exists()
    assert refusal(mallory) in said.getvalue()
    assert "gone is no course" in said.getvalue()
    assert "there is no lesson 'ch99_x'; there are ch01_power_iteration" in said.getvalue()
    assert said.getvalue().endswith(f"{POWER}: 0 checks refuse a right answer with some of 1 salts\n")


# ---- trust


def test_it_is_given_once_shown_and_taken_back(mallory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mallory / "lessons")
    status, said = typed("trust")
    assert (status, said.splitlines()[0]) == (
        0,
        f"Commands in {mallory} are about the course in {mallory} from now on; its checks run as you.",
    )
    assert typed("trust", "--list") == (0, f"{mallory}\n")
    assert typed("status")[1].count(refusal(mallory)) == 0
    assert own_course() == mallory
    assert typed("trust", "--remove") == (0, f"{mallory} is trusted no more.\n")
    assert typed("trust", "--remove") == (0, f"{mallory} was not trusted.\n")
    assert typed("trust", "--list") == (0, "")
    assert typed("trust", str(ROOT / "book")) == (1, f"backprop: there is no {FILE} in {ROOT / 'book'} or above it\n")


def test_what_is_named_needs_none(mallory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mallory)
    assert "The power iteration" in typed("status", "--course", ".")[1]
    monkeypatch.setenv(VARIABLE, str(mallory))
    assert "The power iteration" in typed("status")[1]
    assert trusted() == []


@pytest.mark.parametrize("words", [("start", "made"), ("nbgrader", "made"), ("new", "course", "made", "ch01_a/b")])
def test_what_a_command_makes_is_trusted(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if words[0] == "nbgrader":
        pytest.importorskip("nbgrader", reason="the extra 'instructor' is not installed")
    monkeypatch.chdir(tmp_path)
    status, said = typed(*words, *([] if words[0] == "new" else ["--course", str(EXAMPLE)]))
    assert status == 0, said
    course = tmp_path / "made" if words[0] == "new" else EXAMPLE
    assert found_above(tmp_path / "made") == (tmp_path / "made" / FILE, course)


def test_a_work_folder_remembers_its_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It also does if its notebook is named from another folder; one command uses one course."""
    monkeypatch.chdir(tmp_path)
    typed("start", "work", "--course", str(EXAMPLE))
    monkeypatch.delenv(VARIABLE)
    (tmp_path / "ch01_computation_graph.py").write_text("")
    said = typed("check", f"work/{POWER}.ipynb", "ch01_computation_graph.py")[1]
    assert f"{tmp_path / 'work'} is for {EXAMPLE} and {tmp_path} for this project; take one course at a time" in said
    (work := tmp_path / "work" / FILE).rename(tmp_path / "aside")
    said = typed("check", f"work/{POWER}.ipynb")[1]
    assert f"this course has no lesson {POWER}: its ch01 is ch01_computation_graph" in said
    (tmp_path / "aside").rename(work)
    assert "kept" in typed("start", "work")[1]
    assert own_course() == EXAMPLE


def test_trust_is_in_a_file_and_the_course_that_it_names(mallory: Path, tmp_path: Path) -> None:
    work, theirs = tmp_path / "work", tmp_path / "theirs"
    for folder in (work, theirs):
        folder.mkdir()
        (folder / FILE).write_text(leads_back(folder, EXAMPLE), encoding="utf-8")
    trust(work / FILE)
    assert found_above(work) == (work / FILE, EXAMPLE)
    with pytest.raises(UntrustedError):
        found_above(theirs)  # though the course is one that somebody has trusted elsewhere
    (work / FILE).write_text(leads_back(work, mallory), encoding="utf-8")
    with pytest.raises(UntrustedError, match=f"named the course in {EXAMPLE} when you trusted it, and now names"):
        found_above(work)
    trust(mallory / FILE)
    (theirs / FILE).unlink()
    (theirs / FILE).symlink_to(mallory / FILE)
    with pytest.raises(UntrustedError):
        found_above(theirs)
    (tmp_path / "linked").symlink_to(mallory)
    assert found_above(tmp_path / "linked" / "lessons") == (tmp_path / "linked" / FILE, mallory)
    text = (mallory / FILE).read_text(encoding="utf-8")
    (mallory / FILE).write_text(text.replace("points = 2", "points = 3"), encoding="utf-8")
    assert found_above(mallory), "its author changes it as ever"


@pytest.mark.parametrize(
    "content", [b"", b"[" * 100_000, b'{"file": 3}', b"[]", b"\xff", b'{"file": "/x", "course": "/x"}']
)
def test_a_damaged_note_trusts_nothing(content: bytes, mallory: Path, tmp_path: Path) -> None:
    trust(mallory / FILE)
    (note,) = (tmp_path / "configuration").rglob("*.json")
    note.write_bytes(content)
    with pytest.raises(UntrustedError):
        found_above(mallory)
    trust(mallory / FILE)
    assert found_above(mallory)
    assert distrust(mallory / FILE)


def test_a_file_that_is_not_trusted_is_not_read(mallory: Path) -> None:
    (mallory / FILE).write_text("a = " + "[" * 100_000)
    with pytest.raises(UntrustedError):
        found_above(mallory)
    with pytest.raises(CourseError):
        trust(mallory / FILE)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_a_note_is_its_users_alone(mallory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trust(mallory / FILE)
    (note,) = (tmp_path / "configuration").rglob("*.json")
    assert [path.stat().st_mode & 0o777 for path in (note, note.parent)] == [0o600, 0o700]
    assert list(note.parent.iterdir()) == [note]
    if os.geteuid() == 0:
        os.chown(note, 12345, -1)
        with pytest.raises(UntrustedError):
            found_above(mallory)


def test_no_folder_brings_its_own_trust(mallory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path for the trust file would differ by folder; platformdirs could return one."""
    trust(mallory / FILE)
    shutil.copytree(os.environ["XDG_CONFIG_HOME"], mallory / "settings")
    monkeypatch.chdir(mallory)
    monkeypatch.setattr("platformdirs.user_config_path", lambda name, **_: Path("settings", name))
    with pytest.raises(UntrustedError):
        found_above(mallory)
    status, said = typed("trust")
    assert (status, said.count("\n")) == (1, 1)
    assert "HOME or XDG_CONFIG_HOME is no absolute path" in said
    monkeypatch.setattr("platformdirs.user_config_path", lambda name, **_: mallory / FILE)  # no folder can be there
    assert "that it is trusted could not be noted" in typed("start", "work", "--course", ".")[1]


def test_no_file_of_the_working_directory_configures_a_report(tmp_path: Path, backprop: Command) -> None:
    """Formerly `matplotlibrc` had LaTeX run, and Alembic, which nbgrader calls, imported the modules of that folder."""
    here, ran = tmp_path / "class" / "mallory", tmp_path / "ran"
    results = write(tmp_path / "results", a_result("ann"))
    write_course(tmp_path / "course", ["ch06_vjps"])
    spy = f"open({str(ran)!r}, 'a').write(__file__)\n"
    for name in ("nbgrader/__init__.py", "sqlalchemy.py", "versions/a.py", "env.py", "nbgrader_config.py"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(spy)
    settings = 'script_location = "."\nprepend_sys_path = ["."]\nversion_locations = ["versions"]\n'
    (here / "pyproject.toml").write_text(f"[tool.alembic]\n{settings}")
    (here / "alembic.ini").write_text("[alembic]\nscript_location = .\nprepend_sys_path = .\n")
    (here / "matplotlibrc").write_text("text.usetex: True\nfont.size: 60\n")
    asked = ("report", results, "--format", "html,nbgrader", "--gradebook", tmp_path / "course")
    done = backprop(*asked, "--out", tmp_path / "reports", cwd=here, cold=True)
    assert (done.returncode, ran.exists()) == (0, False), done.stderr
    assert "60px" not in (tmp_path / "reports" / "index.html").read_text(encoding="utf-8")
