"""Hand-ins that are hostile before anything of them runs: by their names, their folders and their size."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.classroom import claims
from autograder.classroom.class_folder import find_work
from autograder.classroom.class_level import ClassUnclearError
from autograder.classroom.class_record import ClassRecord

pytestmark = pytest.mark.slow

LESSON = "ch06_vjps.py"
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = "x = 1\n"
METADATA = """submission_1:
  :submitters:
  - :name: Bob
    :email: bob
submission_2:
  :submitters:
  - :email: mallory
"""

Command = Callable[..., subprocess.CompletedProcess[str]]


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def graded(results: Path) -> dict[str, bool]:
    """Whether each student has points for the one exercise."""
    files = [file for file in results.glob("*/*.json") if not file.parent.name.startswith(".")]
    return {file.parent.name: json.loads(file.read_text())["points"] > 0 for file in files}


def line_about(done: subprocess.CompletedProcess[str], what: str) -> str:
    (line,) = [line for line in done.stderr.splitlines() if what in line]
    return line


# A hand-in that claims a classmate's name


EXPORTS = {
    "gradescope": {
        "submission_metadata.yml": METADATA,
        "submission_1/ch06_vjps.py": WRONG,
        "submission_2/ch06_vjps.py": RIGHT,
    },
    "canvas": {"bob_1_2_ch06_vjps.py": WRONG},
    "moodle": {"bob_1_assignsubmission_file_/ch06_vjps.py": WRONG},
    "nbgrader": {"submitted/bob/ch06_vjps.py": WRONG},
    "ours": {"bob/ch06_vjps.py": WRONG, "zoe/ch06_vjps.py": WRONG},
}


@pytest.mark.parametrize("export", EXPORTS)
def test_a_lone_hand_in_that_looks_like_an_export_is_nobody_else_s(tmp_path: Path, export: str) -> None:
    written(tmp_path / "mallory", EXPORTS[export])
    with contextlib.suppress(ClassUnclearError):
        assert {item.student for item in find_work(tmp_path).work} <= {"mallory"}
    assert {item.student for item in find_work(tmp_path, export=False).work} <= {"mallory"}


def test_a_lone_hand_in_rewrites_nobody_s_result(backprop: Command, tmp_path: Path) -> None:
    written(tmp_path / "class", {f"{who}/{LESSON}": RIGHT for who in ("bob", "zoe")})
    assert backprop("grade", "class", "--out", "res").returncode == 0
    written(tmp_path / "late" / "mallory", EXPORTS["gradescope"])
    done = backprop("grade", "late", "--out", "res")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "late: the one folder in it, mallory, may be a platform's export or a student's" in done.stderr
    backprop("grade", "late", "--out", "res", "--no-export")
    assert graded(tmp_path / "res") == {"bob": True, "zoe": True, "mallory": True}
    done = backprop("grade", "late", "--out", "res", "--export")
    assert done.returncode == 1
    assert "its result is that of ../class, and stays: type --replace to grade this" in line_about(done, " bob/")
    assert graded(tmp_path / "res")["bob"], "even where the instructor is mistaken"


def test_a_result_of_another_class_folder_waits_for_replace(backprop: Command, tmp_path: Path) -> None:
    written(tmp_path, {f"class/bob/{LESSON}": RIGHT, f"class/zoe/{LESSON}": RIGHT})
    assert backprop("grade", "class", "--out", "res").returncode == 0
    written(tmp_path, {f"late/bob/{LESSON}": WRONG, f"late/amy/{LESSON}": RIGHT, f"late/zoe/{LESSON}": RIGHT})
    for options in ((), ("--regrade",)):
        done = backprop("grade", "late", "--out", "res", *options)
        assert done.returncode == 1, options
        assert f"bob/{LESSON}: its result is that of ../class, and stays" in line_about(done, "bob/")
        assert "zoe/" not in done.stderr, "the same file is no claim"
        assert graded(tmp_path / "res") == {"amy": True, "bob": True, "zoe": True}, "the rest went on"
    assert "its result is that of" in " ".join(backprop("report", "res").stdout.split())

    done = backprop("grade", "late", "--out", "res", "--replace")
    assert (done.returncode, graded(tmp_path / "res")["bob"]) == (0, False)
    assert "bob/ch06_vjps: the result of ../class is replaced" in line_about(done, "bob/")
    again = backprop("grade", "class", "--out", "res")
    assert (again.returncode, graded(tmp_path / "res")["bob"]) == (0, False), "what was given up does not come back"
    assert "1 hand-ins in class were replaced by those of other class folders" in again.stderr
    (tmp_path / "class" / "bob" / LESSON).write_text(RIGHT + "\n")
    changed = backprop("grade", "class", "--out", "res")
    assert (changed.returncode, graded(tmp_path / "res")["bob"]) == (1, False), "but is a claim when it changes"
    assert backprop("grade", "class", "--out", "res", "--replace").returncode == 0
    assert graded(tmp_path / "res")["bob"]


def test_names_that_a_folder_of_results_takes_for_one_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """macOS and Windows know no capitals there: the second of two would overwrite the first."""
    written(tmp_path / "class", {"Bob/ch06_vjps.py": RIGHT, "bob/ch06_vjps.py": WRONG})
    found = find_work(tmp_path / "class")
    assert [item.student for item in found.work] == ["Bob", "bob"]
    monkeypatch.setattr(claims, "_knows_no_capitals", lambda results: True)
    record = ClassRecord(tmp_path / "res")
    claims.set_claims_aside(found, record, tmp_path / "class", tmp_path / "res", replace=False)
    assert [item.student for item in found.work] == ["Bob"]
    assert [row.why for row in found.claimed] == ["the folder of results cannot tell bob from Bob; rename one of them"]
