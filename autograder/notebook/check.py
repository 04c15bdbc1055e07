"""`check` in the kernel: collects the cells that ran, and has a judge in another process grade them."""

from __future__ import annotations

import atexit
import contextlib
import html
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.isolation import IsolationError
from autograder.isolation.zygote import start_judge
from autograder.notebook.executed import ExecutedCells, shell
from autograder.notebook.feedback import CheckFailed, Feedback, Notice, Shown, State
from autograder.notebook.missing import explain, for_a_cell
from autograder.threads import ONE_THREAD
from autograder.wording import counted
from course.own import VARIABLE, CourseError, serve
from course.syllabus import Exercise, find_lesson
from course.trusted import found_above


def lesson(slug: str) -> Check:
    """The `check` of a lesson's notebook: `check("matmul_vjp")` grades the cells that have run so far.

    Raises:
        CheckFailed: there is no lesson `slug` (the message lists those that exist), its course is not trusted, or no
            judge can be started.
    """
    try:
        _serve_found_course()
        return Check(slug)
    except KeyError as error:
        raise CheckFailed(slug, error.args[0]) from None
    except (CourseError, OSError) as error:
        raise CheckFailed(slug, str(error)) from None
    except IsolationError as error:
        raise CheckFailed(slug, str(error)) from None


def _serve_found_course() -> None:
    """Serve the course named by a file in the notebook's folder or above it, unless `BACKPROP_COURSE` names one.

    When nbgrader runs the notebook, that folder belongs to a hand-in and is ignored. `CourseError` if the course is not
    trusted.
    """
    if VARIABLE not in os.environ and not _graded_by_nbgrader() and (led := found_above(Path.cwd())):
        serve(led[1])


class Check:
    """Grades the exercises of one lesson in a running kernel, with a judge that is started once."""

    def __init__(self, slug: str) -> None:
        self.lesson = find_lesson(slug)
        self._cells = ExecutedCells()
        self._judge = _Judge(slug)
        self._unseen: list[Shown] = []
        if shell() is not None:
            shell().events.register("post_run_cell", self._show_undisplayed)
            explain(shell(), (package for environment in self.lesson.environments for package in environment.packages))

    def __call__(self, exercise: str = "", hint: int = 0) -> Feedback | Notice | State:
        """Grade one exercise, or all if none is named; `hint=1` shows a first hint, `hint=2` a second one too.

        Returns the points, a number that is displayed as a card. No points is not an error, so that "Run All" goes on.
        For nbgrader, which reads the number, the call must be the cell's last line.

        Raises:
            CheckFailed: nbgrader runs the notebook, and there are no points or no such exercise. nbgrader scores a cell
                that raises as 0, but a cell that shows no number as right.
        """
        name = self._exercise_name(exercise)
        shown: Feedback | Notice | State
        try:
            shown = self._feedback(name, hint) if name != "" or hint else self._state()
        except _NothingGraded as why:
            if _graded_by_nbgrader():
                raise CheckFailed(str(name), str(why)) from None
            shown = Notice(str(why))
        self._unseen.append(shown)
        return shown

    def _show_undisplayed(self, result: Any) -> None:
        """After a cell has run, show the results of checks that Jupyter did not: it displays only the last line's."""
        unseen, self._unseen = [one for one in self._unseen if not one.seen], []
        if unseen and not _graded_by_nbgrader():
            from IPython.display import display

            display(*unseen)

    def _feedback(self, name: Any, hint: Any) -> Feedback:
        if name == "":
            names = ", ".join(one.name for one in self.lesson.exercises)
            raise _NothingGraded(
                f'Which exercise? check("{self.lesson.exercises[0].name}"), for example. All: {names}.'
            )
        try:
            wanted = self.lesson.exercise(str(name))
        except KeyError as error:
            raise _NothingGraded(error.args[0]) from None
        try:
            hint = max(int(hint), 0)
        except (TypeError, ValueError):
            raise _NothingGraded(f'{hint!r} is no number of hints: check("{wanted.name}", hint=1)') from None
        result = self._ask(wanted.name, wanted.name)
        remark = self._cells.remembered(result["exercises"][0]["message"]) or in_vain(result["message"])
        remark = remark or result["remark"]
        feedback = Feedback(wanted, result, hint, remark, self._after(wanted))
        if float(feedback) == 0.0 and _graded_by_nbgrader():
            raise CheckFailed(wanted.name, feedback.text)
        return feedback

    def _state(self) -> State:
        return State(self.lesson, self._ask("", self.lesson.slug))

    def _ask(self, exercise: str, what: str) -> dict[str, Any]:
        """The judge's answer about one exercise, or about all if the name is empty. `_NothingGraded` if there is none.

        Args:
            what: the name of what was being checked, for the message after an interrupt.
        """
        progress = _Progress()
        try:
            result = self._judge.ask({**self._cells.as_request(), "exercise": exercise}, progress.say)
        except KeyboardInterrupt:
            raise _NothingGraded(f"{what}: the check was interrupted, and nothing was graded.") from None
        except IsolationError as error:
            raise _NothingGraded(str(error)) from None
        finally:
            progress.end()
        if "error" in result:
            raise _NothingGraded(for_a_cell(result["error"]))
        for graded in result["exercises"]:
            graded["message"] = for_a_cell(graded["message"])
        return result

    def _after(self, exercise: Exercise) -> Exercise | None:
        """The next exercise of the lesson; None after the last."""
        following = self.lesson.exercises[self.lesson.exercises.index(exercise) + 1 :]
        return following[0] if following else None

    def _exercise_name(self, exercise: Any) -> Any:
        """The exercise's name, also if the function itself is given: `check(relu_vjp)`, `check(Tensor.detach)`."""
        name = getattr(exercise, "__qualname__", None)
        if not isinstance(name, str):
            return exercise
        if name == "<lambda>":  # `relu_vjp = lambda g, x: ...`
            found = shell().user_ns if shell() is not None else {}
            return next((one.name for one in self.lesson.exercises if found.get(one.name) is exercise), name)
        methods = [one.name for one in self.lesson.exercises if one.name.endswith(f".{name}")]
        return methods[0] if len(methods) == 1 else name

    def __repr__(self) -> str:
        return f"check: {counted(len(self.lesson.exercises), 'exercise')} of {self.lesson.slug}"


class _NothingGraded(Exception):
    """There is no result to show; the message says why."""


def _graded_by_nbgrader() -> bool:
    """Whether nbgrader runs the notebook, to grade or to validate it."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def in_vain(message: str) -> str:
    """Advice about a cell that does not end, which every check would wait for; empty if the message is about none."""
    match = re.search(r"(In \[\d+\]) did not end within", message)
    if match is None:
        return ""
    return f"Change {match[1]} and run it again. If you deleted it, restart the kernel: until then it counts as run."


class _Judge:
    """The kernel's end of `autograder.notebook.server`."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._asked = 0
        self._idle = False
        """Whether the judge is idle: not while it works on a request, nor after that was interrupted."""
        self._start()
        atexit.register(self.stop)

    def ask(self, request: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
        """The judge's answer to a request. If the judge has died, it is restarted once.

        An interrupt kills the judge and with it the submission, because a late answer must not be taken for the answer
        to the next request. If a second interrupt prevents the restart, the next request does it.

        Args:
            say: called with a line about progress if the answer takes long.
        """
        self._asked += 1
        request = {**request, "number": self._asked}
        try:
            for _ in range(2):
                if not self._idle:
                    self._start_again()
                self._idle = False
                answer = self._answer(request, say)
                if answer is not None:
                    self._idle = True
                    return answer
        except KeyboardInterrupt:
            self._start_again()
            raise
        return {"error": "The judge does not answer. Restart the kernel; if that does not help, run 'backprop check'."}

    def _answer(self, request: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any] | None:
        """The judge's answer with the number of this request; None if the judge has died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            for line in self._process.stdout:
                answer: dict[str, Any] = json.loads(line)
                if answer["number"] != request["number"]:
                    continue
                if "doing" not in answer:
                    return answer
                say(answer["doing"])
        return None

    def stop(self) -> None:
        """End the judge by closing its input; kill it if it takes more than 5 seconds."""
        with contextlib.suppress(OSError):
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _start_again(self) -> None:
        self._process.kill()
        self.stop()
        self._start()

    def _start(self) -> None:
        self._process = start_judge(
            "autograder.notebook.server",
            [self._slug],
            [find_lesson(self._slug).exercises[0].environment],  # others, with PyTorch perhaps, start when needed
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            environ={**os.environ, **ONE_THREAD},
            start_new_session=os.name == "posix",  # interrupting a cell must not end the judge
        )
        self._idle = True


class _Progress:
    """A line of progress below the cell, cleared afterwards."""

    def __init__(self) -> None:
        self._line: Any = None

    def say(self, text: str) -> None:
        self._show(f"{text} … (■, or Kernel > Interrupt, stops it)")

    def end(self) -> None:
        if self._line is not None:
            self._show("")

    def _show(self, text: str) -> None:
        if shell() is None:
            return
        from IPython.display import display

        data = {"text/plain": text, "text/html": f"<small>{html.escape(text)}</small>" if text else ""}
        if self._line is None:
            self._line = display(data, raw=True, display_id=True)
        else:
            self._line.update(data, raw=True)
