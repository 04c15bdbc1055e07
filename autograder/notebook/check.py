"""The learner's side in the kernel: which cells ran, and a judge that grades them."""

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
    """The `check` of a lesson's notebook: `check("matmul_vjp")` grades what the notebook has run so far.

    Raises:
        CheckFailed: there is no lesson `slug`; the message lists those that exist. Or no judge can be started.
    """
    try:
        _find_the_course()
        return Check(slug)
    except KeyError as error:
        raise CheckFailed(slug, error.args[0]) from None
    except (CourseError, OSError) as error:
        raise CheckFailed(slug, str(error)) from None
    except IsolationError as error:
        raise CheckFailed(slug, str(error)) from None


def _find_the_course() -> None:
    """Serve the course that a file in the notebook's folder or above it names, unless the environment names one.

    Where nbgrader runs the notebook that folder is a hand-in, which has no say in it. `CourseError` where the course is
    not trusted.
    """
    if VARIABLE not in os.environ and not _graded_by_nbgrader() and (led := found_above(Path.cwd())):
        serve(led[1])


class Check:
    """Grades the exercises of one lesson in a live kernel. The judge is a process of its own, started once."""

    def __init__(self, slug: str) -> None:
        self.lesson = find_lesson(slug)
        self._cells = ExecutedCells()
        self._judge = _Judge(slug)
        self._unseen: list[Shown] = []
        if shell() is not None:
            shell().events.register("post_run_cell", self._show_the_rest)
            explain(shell(), (package for environment in self.lesson.environments for package in environment.packages))

    def __call__(self, exercise: str = "", hint: int = 0) -> Feedback | Notice | State:
        """Grade one exercise, or all of them without a name; `hint=1` shows a first hint, `hint=2` the second, too.

        Returns the points as a number that displays as a card: without points, too, so that "Run All" goes on. As
        nbgrader reads it, it must be the cell's last line.

        Raises:
            CheckFailed: no points, or no such exercise, and nbgrader runs the notebook: it takes a cell that raises
                as 0, and one that shows no number as right.
        """
        name = self._called(exercise)
        shown: Feedback | Notice | State
        try:
            shown = self._feedback(name, hint) if name != "" or hint else self._state()
        except _NothingGraded as why:
            if _graded_by_nbgrader():
                raise CheckFailed(str(name), str(why)) from None
            shown = Notice(str(why))
        self._unseen.append(shown)
        return shown

    def _show_the_rest(self, result: Any) -> None:
        """Show what a cell's checks have found and the cell has not: only its last line is shown by itself."""
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
        """Where the lesson stands: all of its exercises, graded now."""
        return State(self.lesson, self._ask("", self.lesson.slug))

    def _ask(self, exercise: str, what: str) -> dict[str, Any]:
        """The judge's answer on one exercise, or on all where none is named; `what` is what an interrupt ends."""
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
        """The exercise that comes next in the lesson."""
        following = self.lesson.exercises[self.lesson.exercises.index(exercise) + 1 :]
        return following[0] if following else None

    def _called(self, exercise: Any) -> Any:
        """The name that is meant: `check(relu_vjp)` is, and so is `check(Tensor.detach)`."""
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
    """There is no result; the message says why."""


def _graded_by_nbgrader() -> bool:
    """Whether nbgrader runs the notebook, to grade it or to try it."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def in_vain(message: str) -> str:
    """What to do about a cell that every check waits for in vain; empty if there is none."""
    match = re.search(r"(In \[\d+\]) did not end within", message)
    if match is None:
        return ""
    return f"Change {match[1]} and run it again. If you deleted it, restart the kernel: until then it counts as run."


class _Judge:
    """The kernel's end of `autograder.notebook.server`."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._asked = 0
        self._in_step = False
        """Whether the judge waits for a request: not while it works on one, nor after that was interrupted."""
        self._start()
        atexit.register(self.stop)

    def ask(self, request: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
        """The answer to a request; a judge that has gone is started again once.

        `say` is told what is going on where it takes long. An interrupt ends the judge, and the submission with it:
        an answer that nobody waits for any more must not pass for that to the next request. Who interrupts twice
        interrupts this, too: what is left undone is done before the next request.
        """
        self._asked += 1
        request = {**request, "number": self._asked}
        try:
            for _ in range(2):
                if not self._in_step:
                    self._start_again()
                self._in_step = False
                answer = self._answer(request, say)
                if answer is not None:
                    self._in_step = True
                    return answer
        except KeyboardInterrupt:
            self._start_again()
            raise
        return {"error": "The judge does not answer. Restart the kernel; if that does not help, run 'backprop check'."}

    def _answer(self, request: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any] | None:
        """What the judge answers to this request and no other; None if it is gone."""
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

    def _start_again(self) -> None:
        self._process.kill()
        self.stop()
        self._start()

    def _start(self) -> None:
        self._process = start_judge(
            "autograder.notebook.server",
            [self._slug],
            [
                find_lesson(self._slug).exercises[0].environment
            ],  # what others need, PyTorch say, is imported when they are asked
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            environ={**os.environ, **ONE_THREAD},
            start_new_session=os.name == "posix",  # interrupting a cell must not end the judge
        )
        self._in_step = True


class _Progress:
    """A line below the cell that says what is going on, and is empty again afterwards."""

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
