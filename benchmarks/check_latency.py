"""How long a learner waits: `python benchmarks/check_latency.py`.

Compares, on the same solved notebook of ch06_vjps, in one run: a cold `backprop check` of one exercise, a cold check
of the whole lesson, and `nbgrader validate` (which runs the whole notebook). CPU seconds include child processes.
Then the warm path: the time of one re-check by a judge and a worker that are already running, as in `watch`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.authoring.stubs import notebook_text, solved_notebook
from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.session import Judge
from autograder.submission import read_submission
from course.syllabus import find_lesson

LESSON, EXERCISE = "ch06_vjps", "matmul_vjp"
REPEATS = 5
BIN = Path(sys.executable).parent


def cpu_and_wall(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds of processor time, children included, and of wall time."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # as learners run it
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return used, time.perf_counter() - start


def warm(file: Path) -> list[float]:
    """Wall seconds of re-checks of one exercise by a running judge."""

    def use(judge: Judge) -> list[float]:
        workers = Workers(judge.lesson, "process")
        seconds = []
        try:
            for _ in range(20):
                start = time.perf_counter()
                judge.grade(read_submission(file), workers, only=[EXERCISE])
                seconds.append(time.perf_counter() - start)
        finally:
            workers.stop()
        return seconds[1:]

    return with_judge(find_lesson(LESSON), use)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / f"{LESSON}.ipynb"
        file.write_text(notebook_text(solved_notebook(find_lesson(LESSON))), encoding="utf-8")
        commands = {
            "backprop check, one exercise": [str(BIN / "backprop"), "check", f"{LESSON}/{EXERCISE}"],
            "backprop check, whole lesson": [str(BIN / "backprop"), "check", LESSON],
            "nbgrader validate": [sys.executable, "-m", "nbgrader", "validate", file.name],
        }
        medians = {}
        print(f"{'cold, median of ' + str(REPEATS):34} {'CPU s':>8} {'wall s':>8}")
        for title, command in commands.items():
            runs = [cpu_and_wall(command, folder) for _ in range(REPEATS)]
            cpu, wall = (statistics.median(values) for values in zip(*runs, strict=True))
            medians[title] = cpu
            print(f"{title:34} {cpu:8.2f} {wall:8.2f}")
        first, *_, last = medians.values()
        print(f"nbgrader validate costs {last / first:.1f} times the CPU of a check of one exercise")
        seconds = warm(file)
        print(f"warm re-check of one exercise: median {statistics.median(seconds):.3f} s, largest {max(seconds):.3f} s")


if __name__ == "__main__":
    main()
