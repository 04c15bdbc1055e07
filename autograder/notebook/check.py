"""The learner's side in the kernel: which cells ran, and a judge that grades them."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import subprocess
import sys
from typing import Any

from autograder.notebook.feedback import CheckFailed, Feedback
from autograder.threads import ONE_THREAD
from course.syllabus import find_lesson

_ONLY_A_CHECK = re.compile(r"(\s*check\([^)]*\)[ \t]*(#[^\n]*)?)+\s*\Z")


def lesson(slug: str) -> Check:
    """The `check` of a lesson's notebook: `check("matmul_vjp")` grades what the notebook has run so far.

    Raises:
        CheckFailed: there is no lesson `slug`; the message lists those that exist.
    """
    try:
        return Check(slug)
    except KeyError as error:
        raise CheckFailed(slug, error.args[0]) from None


class Check:
    """Grades the exercises of one lesson in a live kernel. The judge is a process of its own, started once."""

    def __init__(self, slug: str) -> None:
        self.lesson = find_lesson(slug)
        self._cells = ExecutedCells()
        self._judge = _Judge(slug)

    def __call__(self, exercise: str = "", hint: int = 0) -> Feedback:
        """Grade one exercise; `hint=1` shows its first hint, `hint=2` the second, too.

        Returns the points as a number that displays as feedback. As nbgrader reads it: it must be the cell's
        last line.

        Raises:
            CheckFailed: no points, or no such exercise. (nbgrader takes a cell that raises as 0.)
        """
        exercise = getattr(exercise, "__qualname__", exercise)  # check(relu_vjp) is meant well
        try:
            wanted = self.lesson.exercise(str(exercise))
        except KeyError as error:
            raise CheckFailed(str(exercise), error.args[0]) from None
        result = self._judge.ask({**self._cells.as_request(), "exercise": exercise})
        if "error" in result:
            raise CheckFailed(exercise, result["error"])
        feedback = Feedback(wanted, result, hint)
        if feedback == 0:
            raise CheckFailed(exercise, feedback.text)
        return feedback

    def __repr__(self) -> str:
        return f"check: {len(self.lesson.exercises)} exercises of {self.lesson.slug}"


class ExecutedCells:
    """The sources of the cells that the kernel ran, each as it last was, in the order of their last run."""

    def __init__(self) -> None:
        self._cells: dict[str, tuple[str, str]] = {}
        self._shell = _shell()
        if self._shell is not None:
            for count, source in enumerate(self._shell.user_ns.get("In", [])):
                self._add(source, None, count)
            self._shell.events.register("pre_run_cell", self._before)

    def as_request(self) -> dict[str, list[str]]:
        """What a fresh process has to run to be where the notebook is: sources, and what Jupyter calls them."""
        cells = [(source, label) for source, label in self._cells.values() if not _ONLY_A_CHECK.match(source)]
        return {"cells": [source for source, _ in cells], "labels": [label for _, label in cells]}

    def _before(self, info: Any) -> None:
        self._add(info.raw_cell, getattr(info, "cell_id", None), self._shell.execution_count)

    def _add(self, source: str, cell: str | None, count: int) -> None:
        key = cell or source  # editors name their cells; elsewhere the same source is the same cell
        self._cells.pop(key, None)
        if source.strip():
            self._cells[key] = source, f"In [{count}]"


class _Judge:
    """The kernel's end of `autograder.notebook.server`."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._start()
        atexit.register(self.stop)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; a judge that has gone is started again once."""
        for _ in range(2):
            try:
                assert self._process.stdin is not None
                assert self._process.stdout is not None
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
                if line:
                    answer: dict[str, Any] = json.loads(line)
                    return answer
            except OSError:
                pass
            self.stop()
            self._start()
        return {"error": "The judge does not answer. Restart the kernel; if that does not help, run 'backprop check'."}

    def stop(self) -> None:
        """End the judge: it ends when its input does."""
        with contextlib.suppress(OSError):
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            # -P: a file of the learner's called numpy.py is not what the judge imports
            [sys.executable, "-P", "-m", "autograder.notebook.server", self._slug],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD},
            start_new_session=os.name == "posix",  # interrupting a cell must not end the judge
        )


def _shell() -> Any:
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()
