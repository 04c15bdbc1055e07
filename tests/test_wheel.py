"""The wheel, built and installed outside the checkout: its commands work for learners and instructors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from autograder.sections import with_links

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
LESSON = "ch06_vjps"
THIEF = """
import glob, importlib, sys

for place in [PACKED, *sys.path]:
    for file in glob.glob(f"{place}/**/ch06_vjps.py", recursive=True):
        exec(open(file).read())
for name in ("autograder.packed.solutions.ch06_vjps", "solutions.ch06_vjps", "ch06_vjps"):
    try:
        globals().update(vars(importlib.import_module(name)))
    except Exception:
        pass
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment with the wheel; its dependencies come from the tests' environment."""
    folder = tmp_path_factory.mktemp("wheel")
    for part in ("autograder", "course", "solutions", "exercises", "book"):
        ignored = shutil.ignore_patterns("__pycache__", "_build", "node_modules")
        shutil.copytree(ROOT / part, folder / "source" / part, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "LICENSE-CC-BY-4.0"):
        shutil.copy(ROOT / name, folder / "source")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    options = ["--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*pip, "wheel", *options, "--wheel-dir", folder, folder / "source"], check=True)
    venv.create(folder / "env", symlinks=True)
    python = folder / "env" / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.partition("-py3")[0].endswith("+answers"), "no index may take it by mistake"
    subprocess.run([*pip, "--python", python, "install", "--no-deps", "--no-index", wheel], check=True)
    (site,) = (folder / "env").glob("lib/python*/site-packages")
    (site / "tests_packages.pth").write_text(sysconfig.get_path("purelib"))  # its own .pth files are not followed
    shutil.rmtree(folder / "source")
    return folder / "env"


def run(installed: Path, *arguments: str | Path, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """`backprop ...` as the environment has it, with nothing of the checkout in reach."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"COLUMNS": "120"}
    command = [str(installed / "bin" / "backprop"), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done


def test_it_is_the_wheel_that_runs(installed: Path, tmp_path: Path) -> None:
    assert run(installed, "--version", cwd=tmp_path).stdout.startswith("backprop 0.")
    shown = subprocess.run(
        [installed / "bin" / "python", "-c", "import autograder; print(autograder.__file__)"],
        cwd=tmp_path, env={}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(shown.stdout.strip()).is_relative_to(installed)
    module = [str(installed / "bin" / "python"), "-m", "autograder", "--version"]
    assert subprocess.run(module, cwd=tmp_path, env={}, capture_output=True, text=True, check=True).stdout


def test_a_learner_starts_and_checks(installed: Path, tmp_path: Path) -> None:
    run(installed, "start", "work", cwd=tmp_path)
    notebook = json.loads((tmp_path / "work" / f"{LESSON}.ipynb").read_text())
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    section = with_links("[Chapter section](../book/ch06_vjps.md#ch06-relu-vjp)")
    assert any(source.endswith(section) for source in sources)
    failed = run(installed, "check", "ch06/relu_vjp", cwd=tmp_path / "work", code=1)
    assert "relu_vjp" in failed.stdout
    (tmp_path / f"{LESSON}.py").write_text("def relu_vjp(g, x):\n    return (g * (x >= 0)).astype(x.dtype)\n")
    wrong = run(installed, "check", "ch06/relu_vjp", cwd=tmp_path, code=1)
    assert "the mask is x > 0" in wrong.stdout
    code = (
        "from autograder.places import Places; from autograder.judging.explaining.rejections import is_of; "
        "from course.syllabus import syllabus; print(all(is_of(Places(), slug) for slug in syllabus()))"
    )
    packed = [str(installed / "bin" / "python"), "-c", code]
    assert subprocess.run(packed, cwd=tmp_path, env={}, capture_output=True, text=True, check=True).stdout == "True\n"
    (tmp_path / f"{LESSON}.py").write_text("def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n")
    run(installed, "check", "ch06/relu_vjp", cwd=tmp_path)


def test_a_learner_reads_without_the_book(installed: Path, tmp_path: Path) -> None:
    read = run(installed, "read", "ch06/relu_vjp", "--no-browser", cwd=tmp_path)
    assert read.stdout.startswith("relu: a mask")
    assert "sigmoid" not in read.stdout


def test_an_instructor_grades_and_reports(installed: Path, tmp_path: Path) -> None:
    """A right answer earns its points, and one that searches for the packed solutions finds nothing."""
    right = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
    packed = next(installed.glob("lib/python*/site-packages/autograder/packed"))
    assert (packed / "solutions" / f"{LESSON}.py").is_file()
    for student, text in {"ann": right, "thief": THIEF.replace("PACKED", repr(str(packed)))}.items():
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / f"{LESSON}.py").write_text(text)
    run(installed, "grade", "class", "--out", "results", "--jobs", "1", cwd=tmp_path)
    points = {
        student: json.loads((tmp_path / "results" / "students" / student / f"{LESSON}.json").read_text())["points"]
        for student in ("ann", "thief")
    }
    assert points == {"ann": 2.0, "thief": 0.0}
    run(installed, "report", "results", "--format", "html,csv", "--out", "pages", cwd=tmp_path)
    assert list((tmp_path / "pages").rglob("*.html"))


def test_what_needs_a_checkout_says_so(installed: Path, tmp_path: Path) -> None:
    said = run(installed, "build", "--check", cwd=tmp_path, code=2).stderr
    assert (
        said == "backprop: build is for a checkout of the course, with its book and its tests; this one is installed\n"
    )
