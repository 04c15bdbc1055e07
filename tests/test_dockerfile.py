"""The Dockerfile, as far as it can be tested without Docker: copied files, user, pinned images, and a release."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.books_of_lessons import SLIP_SECONDS

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Dockerfile").read_text("utf-8")
ALLOWED = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]


def stages(text: str) -> dict[str, tuple[str, list[str]]]:
    """By name: a stage's base image and its instructions."""
    joined = re.sub(r"\\\n\s*", "", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    found: dict[str, tuple[str, list[str]]] = {}
    for line in filter(None, map(str.strip, joined.splitlines())):
        if match := re.fullmatch(r"FROM (\S+) AS (\w+)", line):
            found[match[2]] = (match[1], [])
        else:
            found[list(found)[-1]][1].append(line)
    return found


STAGES = stages(TEXT)


def copied(stage: str) -> list[tuple[str, str]]:
    """The paths that a stage copies from the checkout, and their destinations."""
    pairs = []
    for line in STAGES[stage][1]:
        if line.startswith("COPY ") and "--from" not in line:
            *sources, target = line.split()[1:]
            pairs += [(source, target) for source in sources]
    return pairs


def test_images_run_as_a_user_and_are_pinned() -> None:
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+", STAGES["python"][0])
    assert "--uid 1000" in " ".join(STAGES["python"][1])
    for name in ("grade", "released", "learn"):
        assert [line for line in STAGES[name][1] if line.startswith("USER ")][-1] == "USER 1000"
    installs = [line for _, lines in STAGES.values() for line in lines if "pip install" in line]
    assert len(installs) == 3
    for line in installs:
        assert line.count("pip install") == line.count("--constraint /course/constraints.txt")


def test_pytorch_is_the_cpu_build_without_dependencies() -> None:
    """The index of CPU builds lacks some versions in constraints.txt."""
    for line in re.findall(r"pip install [^&;\n]*index-url[^&;\n]*", TEXT):
        assert "/whl/cpu torch" in line
        assert "--no-deps" in line


def test_learners_get_a_release_and_nothing_else() -> None:
    assert STAGES["learn"][0] == "python"
    assert copied("learn") == []
    assert [line for line in STAGES["learn"][1] if line.startswith("COPY")] == [
        "COPY --from=released /released /course"
    ]


def test_copied_paths_exist_and_are_not_ignored() -> None:
    for source, _ in copied("grade"):
        assert (ROOT / source).exists(), source
        assert any(fnmatch.fnmatch(source, one) or one.startswith(f"{source}/") for one in ALLOWED), source


def test_the_page_names_its_images() -> None:
    page = (ROOT / "book" / "teach_class.md").read_text("utf-8")
    assert set(re.findall(r"--target (\w+)", page)) == {"grade", "learn"} <= STAGES.keys()


@pytest.mark.slow
def test_the_image_can_make_a_release(tmp_path: Path) -> None:
    """Runs the command of `released` for one lesson, in a folder with only the copied files.

    Its answer book comes without slips, whose search would take most of the time.
    """
    course = tmp_path / "course"
    for source, _ in copied("grade"):
        target = course / source
        if (ROOT / source).is_dir():
            only = "ch*.md" if source == "book" else "*"
            for file in (ROOT / source).rglob(only):
                if file.is_file() and "__pycache__" not in file.parts and "_build" not in file.parts:
                    (course / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, course / file.relative_to(ROOT))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / source, target)
    line = next(line for line in STAGES["released"][1] if line.startswith("RUN "))
    command = line.removeprefix("RUN backprop ").replace("/released", str(tmp_path / "released")).split()
    assert command.pop() == "$LESSONS"
    script = "import sys; sys.path.insert(0, '.'); from autograder.commands import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", script, *command, "ch03"],
        cwd=course,
        env={**os.environ, SLIP_SECONDS: "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "without solutions" in done.stdout
    assert not list((tmp_path / "released").rglob("solutions"))
