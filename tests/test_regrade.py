"""A corrected check: which lessons it concerns, whose points move and why, and then the new results for all."""

from __future__ import annotations

import ast
import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.isolation.packages import locations
from autograder.judging.version import _imported, deciding_files, read_by, shared_files
from autograder.places import ROOT, Places
from course.syllabus import syllabus

pytestmark = pytest.mark.slow

RIGHT = "import numpy as np\n\ndef relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = RIGHT.replace("x > 0", "x >= 0")
TWICE = RIGHT.replace("g * (x > 0)", "2 * g * (x > 0)")
CHAIN = "def vjp_chain(Ws, u):\n    for W in reversed(Ws):\n        u = W.T @ u\n    return u\n"
CLASS = {
    "ann/ch06_vjps": RIGHT,
    "ben/ch06_vjps": WRONG,
    "cleo/ch06_vjps": TWICE,
    "cleo/ch02_chain_rule": CHAIN,
}


class Checkout:
    """A contributor's copy of the course, a class, and the command that grades it with the copy's checks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "checkout"
        for part in ("autograder", "course", "solutions"):
            shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))
        for name, source in CLASS.items():
            file = folder / "class" / f"{name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source)

    def grade(self, *options: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from autograder.commands import app; app()"]
        arguments = ["grade", "class", "--out", "results", "--jobs", "2", "--salt", "of a class", *options]
        env = {**os.environ, "PYTHONPATH": str(self.root), "COLUMNS": "120"}
        done = subprocess.run(
            [*command, *arguments], cwd=self.folder, env=env, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done

    def correct_a_check(self) -> None:
        """Edit ReLU's check so that it leaves out the corner, where any subgradient is right."""
        file = self.root / "autograder/lessons/ch06_vjps/checks/relu_vjp.py"
        before, name, rest = file.read_text(encoding="utf-8").partition("def test_relu_at_zero(")
        check, end, after = rest.partition("\n\n\n")
        file.write_text(before + name + check.replace("0.0", "0.5").replace("1e-300", "0.25") + end + after)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """What lies in the results, without the folder in which results wait: content and time of the last change."""
        found = {}
        for path in (self.folder / "results").rglob("*"):
            relative = path.relative_to(self.folder / "results")
            if path.is_file() and not relative.parts[0].startswith("."):
                found[str(relative)] = (path.read_bytes(), path.stat().st_mtime_ns)
        return found

    def points(self) -> dict[str, float]:
        found = {path: json.loads(content) for path, (content, _) in self.files().items() if "/" in path}
        return {
            path.removeprefix("students/").removesuffix(".json"): result["points"] for path, result in found.items()
        }


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_corrected_check_is_shown_before_it_counts(checkout: Checkout) -> None:
    checkout.grade()
    before, points = checkout.files(), checkout.points()
    checkout.correct_a_check()

    shown = checkout.grade("--regrade", "--diff")
    assert checkout.files() == before, "nothing is overwritten"
    text = " ".join(shown.stdout.split())
    assert "ben ch06_vjps relu_vjp" in text
    assert "test_relu_at_zero (visible) passes now" in text
    assert "4 submissions: 1 up, 0 down, 3 the same" in text
    moves = json.loads((checkout.folder / "results" / ".regrade" / "changes.json").read_text())
    (move,) = moves["moves"]
    assert (move["student"], move["exercise"], move["after"]) == ("ben", "relu_vjp", 1.5)
    assert move["before"] == points["ben/ch06_vjps"]
    assert moves["summary"]["up"] == 1
    with (checkout.folder / "results" / ".regrade" / "changes.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["student"], float(row["before"]), float(row["after"])) == ("ben", move["before"], 1.5)

    again = checkout.grade("--regrade", "--diff")
    assert "4 were graded by an earlier --regrade or --diff" in again.stderr
    assert again.stdout == shown.stdout

    (checkout.folder / "class" / "ann" / "ch06_vjps.py").write_text(TWICE)
    taken = checkout.grade("--regrade")
    assert "3 were graded by an earlier --regrade or --diff" in taken.stderr, "but not what ann handed in since"
    assert checkout.points() == {**points, "ben/ch06_vjps": 1.5, "ann/ch06_vjps": points["cleo/ch06_vjps"]}
    assert not (checkout.folder / "results" / ".regrade" / "results").exists()
    assert "4 submissions are graded already" in checkout.grade().stderr


def test_without_regrade_only_what_the_correction_concerns_is_compared(checkout: Checkout) -> None:
    checkout.grade()
    checkout.correct_a_check()
    shown = checkout.grade("--diff")
    assert "1 submission is graded already" in shown.stderr, "that of the other lesson"
    assert "1 up" in shown.stdout
    taken = checkout.grade()
    assert "3 were graded by an earlier" in taken.stderr
    assert checkout.points()["ben/ch06_vjps"] == 1.5


def test_a_corrected_check_grades_its_exercise_again_and_no_other(checkout: Checkout) -> None:
    """But for those that call it: what is said of them may depend on whether it is right."""
    calling = "def sigmoid_vjp(g, x):\n    return relu_vjp(g, x)\n\ndef tanh_vjp(g, x):\n    return g * x\n"
    (checkout.folder / "class" / "ben" / "ch06_vjps.py").write_text(f"{WRONG}\n{calling}")
    checkout.grade()
    file = checkout.folder / "results" / "students" / "ben" / "ch06_vjps.json"
    result = json.loads(file.read_text())
    for exercise in result["exercises"]:
        exercise["hint"] = "of the first grading"
    file.write_text(json.dumps(result))
    checkout.correct_a_check()
    checkout.grade()
    after = json.loads(file.read_text())
    stand = {one["name"] for one in after["exercises"] if one["hint"] == "of the first grading"}
    asked = {one["name"] for one in after["exercises"]} - stand
    assert asked == {"relu_vjp", "sigmoid_vjp"}
    assert after["grader_version"] != result["grader_version"]
    was, now = ({one["name"]: one["grader_version"] for one in each["exercises"]} for each in (result, after))
    assert {name for name in now if now[name] != was[name]} == {"relu_vjp"}
    assert after["points"] == sum(one["points"] for one in after["exercises"]) == 1.5 > result["points"]
    checkout.correct_a_check()  # once more changes nothing
    assert "4 submissions are graded already" in checkout.grade().stderr
    checkout.grade("--regrade")
    assert "of the first grading" not in file.read_text()


def test_regrade_grades_again_whatever_is_recorded(checkout: Checkout) -> None:
    checkout.grade()
    before = checkout.files()
    assert "graded already" not in checkout.grade("--regrade").stderr
    after = checkout.files()
    assert before.keys() == after.keys()
    assert all(before[name][1] != after[name][1] for name in before)


def test_what_moved_for_another_reason_is_said(checkout: Checkout) -> None:
    checkout.grade()
    (checkout.folder / "class" / "ann" / "ch06_vjps.py").write_text(WRONG)
    (checkout.folder / "class" / "ben" / "ch06_vjps.py").write_text("")
    (checkout.folder / "class" / "dan").mkdir()
    (checkout.folder / "class" / "dan" / "ch06_vjps.py").write_text(RIGHT)
    text = " ".join(checkout.grade("--diff").stdout.split())
    assert "another file was handed in; test_relu_at_zero (visible) fails now: " in text
    assert "another file was handed in; the submission was graded and is unreadable" in text
    assert "1 had no result before" in text


def test_a_lesson_is_another_version_when_a_file_of_it_changes(checkout: Checkout) -> None:
    def versions() -> dict[str, str]:
        script = (
            "import json; from autograder.judging.version import grader_version; from course.syllabus import syllabus; "
            "print(json.dumps({slug: grader_version(slug) for slug in syllabus()}))"
        )
        env = {**os.environ, "PYTHONPATH": str(checkout.root)}
        done = subprocess.run(
            [sys.executable, "-c", script], env=env, cwd=checkout.folder, capture_output=True, text=True, check=True
        )
        found: dict[str, str] = json.loads(done.stdout)
        return found

    latest = versions()

    def changed_by(file: str, old: str = "", new: str = "# another\n") -> set[str]:
        nonlocal latest
        before, path = latest, checkout.root / file
        path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
        latest = versions()
        return {slug for slug in before if before[slug] != latest[slug]}

    everyone = set(syllabus())
    assert changed_by("autograder/lessons/ch01_computation_graph/checks/forward.py") == {"ch01_computation_graph"}
    assert changed_by("autograder/lessons/ch06_vjps/checks/relu_vjp.py") == {"ch06_vjps"}
    assert changed_by("autograder/lessons/ch02_chain_rule/gradcheck_bank.py") == {"ch02_chain_rule"}
    assert changed_by("autograder/lessons/ch06_vjps/mistakes/relu_vjp.py") == {"ch02_chain_rule", "ch06_vjps"}
    assert changed_by("autograder/lessons/ch08_custom_functions/gradcheck_operations.py") == {"ch08_custom_functions"}
    assert changed_by("course/graph.py") == {"ch01_computation_graph", "ch03_accumulation"}
    assert changed_by("course/instruments/saved.py") == {"ch10_activation_memory", "ch11_checkpointing"}
    assert changed_by("course/figures.py") == set()
    assert changed_by("autograder/diagnosis/relations/__init__.py") == everyone
    assert changed_by("autograder/worker/wire.py") == everyone
    assert changed_by("course/syllabus.toml", 'name = "relu_vjp"\npoints = 2', 'name = "relu_vjp"\npoints = 3') == {
        "ch06_vjps"
    }


def test_what_decides_in_every_lesson_imports_nothing_else_of_ours() -> None:
    """It is not looked through when a version is told.

    Three modules are imported there and decide no points: the number of the release, which course is trusted, and the
    minutes that chapters take.
    """
    shared = shared_files()
    beyond = {file for one in shared if one.suffix == ".py" for file in read_by(one) if file.is_file()} - shared
    assert {file.name for file in beyond} == {"times.py", "trusted.py", "version.py"}


def _imported_by_the_parser(file: Path) -> set[str]:
    """The modules of ours that a file imports, and what it imports from them."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.startswith(("autograder", "course"))}


def test_a_search_finds_the_imports_that_a_parser_finds() -> None:
    """What decides is searched for imports, as a learner waits for it; one too many is none too few."""
    files = {file for slug in syllabus() for file in deciding_files(slug) if file.suffix == ".py"}
    assert len(files) > 500
    missed = {file: names for file in files if (names := _imported_by_the_parser(file) - _imported(file.read_text()))}
    assert missed == {}
    text = (
        "from autograder.a import (  # with b\n    b as c,\n    d,\n)\nif x:\n    import course.data as e, course.f\n"
    )
    names = {"autograder.a", "autograder.a.b", "autograder.a.d", "course.data", "course.f"}
    assert _imported(text) == names


READS = """
import json, sys
from pathlib import Path
from course.syllabus import find_lesson
from autograder.judging.version import ROOT, grader_version

opened = set()

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        opened.add(arguments[0] if isinstance(arguments[0], str) else arguments[0].decode())

grader_version(sys.argv[1])  # reads what it covers: before we look
sys.addaudithook(note)
from autograder.isolation import Workers
from autograder.collection import with_judge
from autograder.submission import read_submission

lesson = find_lesson(sys.argv[1])
workers = Workers(lesson, "process")
try:
    submission, one = read_submission(Path(sys.argv[2])), [sys.argv[3]]
    result = with_judge(lesson, lambda judge: judge.grade(submission, workers, only=one))
finally:
    workers.stop()
assert result.status == "graded" and result.points < result.max_points, result
files = {Path(name).resolve() for name in opened}
ours = [ROOT / part for part in ("autograder", "course", "solutions")]
print(json.dumps([str(file) for file in files if file.is_file() and any(file.is_relative_to(part) for part in ours)]))
"""


@pytest.mark.parametrize("slug", ["ch02_chain_rule", "ch06_vjps", "ch08_custom_functions"])
def test_every_file_that_grading_reads_is_covered(tmp_path: Path, slug: str) -> None:
    """A wrong answer is graded, so that the misconceptions are read; bytecode is not, so that sources are."""
    submission = tmp_path / f"{slug}.py"
    lesson = syllabus()[slug]
    name = next(exercise.name for exercise in lesson.exercises if exercise.name.isidentifier())
    submission.write_text(f"def {name}(*args, **kwargs):\n    return args[0]\n")
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "none"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", READS, slug, str(submission), name]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    covered = deciding_files(slug)
    read = {Path(name) for name in json.loads(done.stdout) if not name.endswith(".book")}  # which names its version
    assert any(file.parent == Places().checks(slug) for file in read), "we see what is read"
    assert read - covered == set()
    given = {
        Path(path)
        for environment in (lesson.environment, *lesson.environments)
        for path in locations(environment).values()
    }
    ours = {file for file in given if file.is_relative_to(ROOT) and ".venv" not in file.parts and file.is_file()}
    assert ours <= covered, "what the worker imports"
    own = [file for file in Places().folder(slug).rglob("*.*") if "__pycache__" not in file.parts]
    assert {Places().source(slug), *own} - {Places().answer_book(slug)} <= covered
