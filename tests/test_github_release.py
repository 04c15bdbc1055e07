"""`backprop release --github`: a learner's repository with a self-contained workflow."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml
from books import write_books
from junitparser import JUnitXml

from autograder.authoring.github_release import INSTALL_TORCH, release_repository
from autograder.authoring.tree import AuthoringError, Course
from autograder.learning import progress
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SLUG = "ch07_mlp_backprop"
PERFECT = ROOT / "autograder" / "sample_class" / "ada-perfect" / f"{SLUG}.ipynb"
SHA = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "class-repository"
    write_books(SLUG)
    release_repository(Course.at(), out, [SLUG], say=lambda line: None)
    return out


def workflow(repository: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((repository / ".github" / "workflows" / "check.yml").read_text())
    return found


def run_the_check(repository: Path, runner: Path) -> subprocess.CompletedProcess[str]:
    """Run the workflow's own step as GitHub does, with the course inside the repository."""
    job = workflow(repository)["jobs"]["check"]
    (step,) = (step for step in job["steps"] if step.get("name") == "Check")
    environment = {
        **os.environ,
        **workflow(repository)["env"],
        **step["env"],
        "PYTHONPATH": str(repository / ".course"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(runner),
        "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(shell, cwd=repository, env=environment, capture_output=True, text=True, check=False)


def test_its_workflow_has_no_permissions_and_is_pinned(repository: Path) -> None:
    said = workflow(repository)
    assert said["permissions"] == {}
    (job,) = said["jobs"].values()
    assert job["permissions"] == {"contents": "read"}
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert used
    assert all(SHA.fullmatch(one) for one in used)
    (checkout,) = (step for step in job["steps"] if "checkout" in step.get("uses", ""))
    assert checkout["with"] == {"persist-credentials": False}
    assert "secrets." not in json.dumps(said)
    assert not re.search(r"run: .*\$\{\{", (repository / ".github" / "workflows" / "check.yml").read_text())


def test_pytorch_is_installed_only_where_a_lesson_needs_it(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(folder: Path) -> str:
        steps = workflow(folder)["jobs"]["check"]["steps"]
        return str(next(step["run"] for step in steps if step.get("name") == "Install the checker")).strip()

    assert install(repository) == "pip install --quiet --constraint .course/constraints.txt ./.course"
    assert (
        "torch" not in json.loads((repository / ".devcontainer" / "devcontainer.json").read_text())["postCreateCommand"]
    )
    from autograder.authoring import github_release

    monkeypatch.setattr(github_release, "release", lambda course, out, *_, **__: out.mkdir(parents=True))
    other = repository.with_name("with-torch")
    release_repository(Course.at(), other, ["ch08_custom_functions"])
    assert install(other).splitlines()[0] == INSTALL_TORCH
    assert json.loads((other / ".devcontainer" / "devcontainer.json").read_text())["postCreateCommand"].startswith(
        INSTALL_TORCH
    )
    assert yaml.safe_load((other / ".github" / "workflows" / "check.yml").read_text())["env"]["DUE"].startswith("ch08")


def test_it_holds_no_solution(repository: Path) -> None:
    names = {path.relative_to(repository).parts[-1] for path in repository.rglob("*")}
    assert not names & {"solutions", "mistakes", "oracles", "sample_class", "authoring"}
    assert {f"{SLUG}.ipynb", "README.md", ".gitignore", ".course"} <= names


def test_its_workflow_fails_untouched_and_passes_solved(repository: Path, tmp_path: Path) -> None:
    lesson = find_lesson(SLUG)
    repository = Path(shutil.copytree(repository, tmp_path / "mine"))
    red = run_the_check(repository, tmp_path)
    assert red.returncode == 1, red.stderr
    summary = (tmp_path / "summary.md").read_text()
    assert f"0 of {lesson.points:g} points" in summary
    told = json.loads((tmp_path / "check" / "check.json").read_text())
    assert (told["points"], told["max_points"], told["visible_only"]) == (0, lesson.points, True)
    assert len(list(JUnitXml.fromfile(str(tmp_path / "check" / "junit.xml")))) == 1
    notebook = repository / f"{SLUG}.ipynb"
    notebook.write_text(PERFECT.read_text())
    green = run_the_check(repository, tmp_path)
    assert green.returncode == 0, green.stdout + green.stderr
    told = json.loads((tmp_path / "check" / "check.json").read_text())
    assert told["points"] == lesson.points
    assert f"{lesson.points:g} of {lesson.points:g} points" in (tmp_path / "summary.md").read_text()


def test_only_the_learners_files_are_pushed(repository: Path, tmp_path: Path) -> None:
    """Formerly installing and checking as in the README left 326 files for `git add -A`."""
    mine = shutil.copytree(repository, tmp_path / "mine")

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@x.edu", "-c", "init.defaultBranch=main"]
        return subprocess.run(["git", *who, *arguments], cwd=mine, check=True, capture_output=True, text=True).stdout

    git("init", "--quiet")
    git("add", "-A")
    git("commit", "--quiet", "--message", "The template")
    readme = (mine / "README.md").read_text()
    assert "pip install -c .course/constraints.txt './.course[notebook]'" in readme
    venv.create(mine / ".venv", symlinks=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", tmp_path / "wheels", "./.course"], cwd=mine, check=True)  # builds a wheel
    assert list(mine.glob(".course/*.egg-info")), "it leaves something, or this shows nothing"
    notebook = mine / f"{SLUG}.ipynb"
    notebook.write_text(PERFECT.read_text())
    (mine / ".ipynb_checkpoints").mkdir()
    shutil.copy(notebook, mine / ".ipynb_checkpoints" / f"{SLUG}-checkpoint.ipynb")
    first = re.search(r"`backprop check (\S+)`", readme)
    assert first is not None
    environment = {**os.environ, "PYTHONPATH": str(mine / ".course")}
    check = [sys.executable, "-m", "autograder", "check", first[1]]
    subprocess.run(check, cwd=mine, env=environment, check=True, capture_output=True)
    assert (mine / progress.FILE).exists()
    (mine / progress.LOCK).touch()
    (mine / "notes.md").write_text("mine")
    git("add", "-A")
    assert git("diff", "--cached", "--name-only").split() == [f"{SLUG}.ipynb", "notes.md"]


def test_existing_files_are_not_overwritten(repository: Path) -> None:
    with pytest.raises(AuthoringError, match="is there already"):
        release_repository(Course.at(), repository, [SLUG])
