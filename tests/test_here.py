"""The judge with a learner's functions in its own process, in CPython and in Pyodide on Node."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from books import write_books

from autograder.authoring.release import release
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.judging.asking.here_run import CELL_SECONDS
from autograder.judging.asking.variants_here import DEEPEST, shallow
from autograder.judging.here import Checked, checked_here, graded_here
from autograder.judging.records.results import ExerciseResult
from autograder.judging.session import Judge
from autograder.submission import Submission, parse_submission
from autograder.worker.execution import Program
from autograder.worker.time_limit import limited
from course.syllabus import find_lesson

ROOT = Path(__file__).resolve().parents[1]
SLUG = "ch01_computation_graph"
LESSON = find_lesson(SLUG)
LATE = r"forward did not return within {} seconds\. It was at [^\n]*, line \d+\.\nforward\(a, b, c\)"
WHEELS = Path(os.environ.get("BACKPROP_WHEELS", ROOT.parent / "shared" / "wheels"))
NUMPY = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"
PYODIDE = ROOT / "book" / "node_modules" / "pyodide"


def _with(right: str = "", wrong: str = "") -> Submission:
    text = (ROOT / "solutions" / f"{SLUG}.py").read_text(encoding="utf-8")
    assert right in text
    return parse_submission(f"{SLUG}.py", text.replace(right, wrong).encode() if right else text.encode())


def _graded(submission: Submission, *names: str) -> list[ExerciseResult]:
    def use(judge: Judge) -> list[ExerciseResult]:
        return graded_here(judge, submission, names or None)

    return with_judge(LESSON, use)


def test_a_right_answer_gets_all_points() -> None:
    found = _graded(_with())
    assert [one.name for one in found] == [exercise.name for exercise in LESSON.exercises]
    assert all(one.status == "passed" for one in found)


def test_a_mistake_is_named() -> None:
    (found,) = _graded(_with("gradients[parent] += ", "gradients[parent] = "), "reverse_sweep")
    assert found.status == "failed"
    assert "+=" in found.message


def test_a_call_to_ones_own_wrong_function_is_reported() -> None:
    helper = "            placed.add(node)\n            order.append(node)"
    found = _graded(_with(helper, "            placed.add(node)\n            order.insert(0, node)"))
    wrong = {one.name: one.message for one in found if one.status != "passed"}
    assert "topological_order" in wrong
    assert wrong["reverse_sweep"].startswith("reverse_sweep calls topological_order, which is wrong itself")


def test_a_failing_cell_is_reported_and_the_rest_runs() -> None:
    source = "1 / 0\n\n\ndef forward(a, b, c):\n    return {'d': a * b, 'e': a * b + c, 'L': (a * b + c) ** 2}\n"
    found = _graded(Submission.of_cells("page", [source]), "forward", "backward_by_hand")
    assert [one.status for one in found] == ["passed", "missing"]


def test_a_failed_import_costs_only_its_own_exercise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.judging.here.find_spec", lambda name: None if name == "torch" else object())
    (found,) = _graded(_with(), "read_torch_graph")
    assert (found.status, found.message) == ("error", "read_torch_graph cannot be checked here: it needs torch.")


def _page(source: str) -> Submission:
    return Submission.of_cells("page", [source])


def test_what_cannot_be_graded_is_told_as_in_a_worker() -> None:
    """A dict with numbers as keys: forgotten quotes. A page said that the function raised WireError."""
    (found,) = _graded(_page("def forward(a, b, c):\n    return {a: a, b + 0.5: b}\n"), "forward")
    assert found.message.startswith("forward returned something that cannot be graded: a dict with a key of type float")


def test_an_import_of_what_is_not_here_is_told_as_in_a_worker() -> None:
    (found,) = _graded(_page("def forward(a, b, c):\n    import no_such_package\n"), "forward")
    assert found.status == "forbidden"
    assert found.message.startswith("forward imports no_such_package, which this lesson does not allow (cell 1")
    (found,) = _graded(
        _page("import no_such_package\ndef forward(a, b, c):\n    return no_such_package.f()\n"), "forward"
    )
    assert "no_such_package is not among the packages that are allowed here" in found.message


LOOPS = {
    "a loop": "while True: pass",
    "a loop over lines": "n = 0\n    while True:\n        n += 1",
    "a recursion of many paths": "x = lambda n: n > 0 and (x(n - 1) or x(n - 1))\n    x(60)",
}


@pytest.mark.parametrize("body", LOOPS.values(), ids=LOOPS)
def test_an_endless_call_ends_with_its_case(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.judging.asking.here_run.LEAST_SECONDS", 0.2)
    monkeypatch.setattr("autograder.judging.asking.here_run.SLOWER", 0)
    (found,) = _graded(_page(f"def forward(a, b, c):\n    {body}\n"), "forward")
    assert found.status == "timeout"
    assert re.match(LATE.format("0.2"), found.message), found.message
    assert found.hint
    (found,) = _graded(_with(), "forward")
    assert found.status == "passed"


def test_a_call_has_three_times_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    given: set[float] = set()

    def noted(seconds: float) -> AbstractContextManager[Any]:
        given.add(seconds)
        return limited(seconds)

    monkeypatch.setattr("autograder.judging.asking.here_run.limited", noted)
    _graded(_with(), "forward")
    assert given == {CELL_SECONDS, 3 * LESSON.exercise("forward").seconds}


@pytest.mark.parametrize(("seconds", "times"), [(0.0, 1), (60.0, 2)], ids=["a loop fills it", "one case is too large"])
def test_memory_is_filled_once(seconds: float, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that filled the memory of a page filled it again for each check."""
    source = "calls = []\n\n\ndef forward(a, b, c):\n    calls.append(a)\n    raise MemoryError\n"
    monkeypatch.setattr("autograder.judging.asking.here_run.FILLING_SECONDS", seconds)

    def use(judge: Judge) -> Checked:
        return checked_here(judge, Submission.of_cells("page", [source]), "forward")

    checked = with_judge(LESSON, use)
    assert min(len(checked.run.module.calls), 2) == times
    assert checked.result.message.startswith("forward raised MemoryError")
    assert all("MemoryError" in one.message for one in checked.result.checks if one.visible)


def test_a_variant_calls_itself_to_a_small_depth() -> None:
    """One of ch02's `Dual`, whose `+` called itself, ended Pyodide: readers were told that theirs calls itself."""

    def deep(calls: int) -> int:
        return calls and deep(calls - 1)

    before = sys.getrecursionlimit()
    with shallow():
        assert deep(DEEPEST // 2) == 0
        with pytest.raises(RecursionError):
            deep(DEEPEST + 50)
    assert sys.getrecursionlimit() == before
    assert deep(DEEPEST + 50) == 0


def test_a_cell_that_does_not_end_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.judging.asking.here_run.CELL_SECONDS", 0.2)
    right = "def forward(a, b, c):\n    return {'d': a * b, 'e': a * b + c, 'L': (a * b + c) ** 2}\n"
    found = _graded(
        Submission.of_cells("page", ["n = 0\nwhile True:\n    n += 1", right]), "forward", "backward_by_hand"
    )
    assert [one.status for one in found] == ["passed", "missing"]


def test_the_judge_needs_no_processes() -> None:
    """Until a worker is requested, it imports neither psutil nor any module that Pyodide lacks."""
    program = (
        "import sys\n"
        "for name in ('psutil', 'fcntl', 'resource', 'ctypes', 'multiprocessing', 'filelock', 'watchfiles', 'rich'):\n"
        "    sys.modules[name] = None\n"
        "import autograder.judging.here\n"
    )
    found = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.skipif(not PYODIDE.is_dir(), reason="needs npm ci in book/")
@pytest.mark.skipif(not (WHEELS / NUMPY).is_file(), reason=f"needs {NUMPY} in $BACKPROP_WHEELS")
def test_a_release_judges_in_pyodide(tmp_path: Path) -> None:
    """An answer book written on this machine works on a 32-bit one with another NumPy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Course, "answer_book", lambda self, slug: tmp_path / f"{slug}.book")
        patch.setattr("autograder.places.Places.answer_book", lambda self, slug: self.folder(slug) / "answers.book")
        write_books(SLUG)
        release(Course.at(), tmp_path / "release", [SLUG], say=lambda line: None)
    (tmp_path / "right.py").write_bytes((ROOT / "solutions" / f"{SLUG}.py").read_bytes())
    text = (tmp_path / "right.py").read_text(encoding="utf-8")
    (tmp_path / "wrong.py").write_text(text.replace("gradients[parent] += ", "gradients[parent] = "), encoding="utf-8")
    endless = "def forward(a, b, c):\n    while True: pass\n"
    (tmp_path / "endless.py").write_text(endless, encoding="utf-8")
    places = [str(ROOT / "tests" / "in_pyodide.mjs"), *map(str, (PYODIDE, WHEELS / NUMPY, sys.prefix, tmp_path))]
    found = subprocess.run(
        ["node", *places, f"{SLUG}:right.py", f"{SLUG}:wrong.py", f"{SLUG}:endless.py:forward:2"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert found.returncode == 0, found.stdout[-1500:] + found.stderr[-1500:]
    right, wrong, endless_one = json.loads(found.stdout.splitlines()[-1])
    assert endless_one["forward"][0] == "timeout"
    assert re.match(LATE.format("2"), endless_one["forward"][2]), endless_one
    of_numpy = {exercise.name for exercise in LESSON.exercises if "torch" not in exercise.environment.packages}
    assert {name for name, (status, *_) in right.items() if status == "passed"} == of_numpy
    sweeps = {"reverse_sweep", "gradient_through"}  # one calls the other
    assert {name for name, (status, *_) in wrong.items() if status == "passed"} == of_numpy - sweeps
    assert "+=" in wrong["reverse_sweep"][2]


def test_a_cell_that_shortens_tracebacks_still_has_its_failures_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "tracebacklimit", 1000, raising=False)
    text = "import sys\nsys.tracebacklimit = 1\n\ndef f():\n    return g()\n\ndef g():\n    return 1 / 0\n\nf()\n"
    told = Program("shortened").run_cell(text, "cell 1", 0)
    assert told is not None
    assert (told.kind, told.line) == ("ZeroDivisionError", "return 1 / 0")
    assert told.place.endswith("line 8")
