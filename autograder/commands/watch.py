"""`backprop watch`: checks again whenever a file is saved."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.completion import lessons_and_exercises

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.commands.targets import Target
    from autograder.isolation import Workers
    from autograder.judging.session import Judge
    from course.syllabus import Exercise

LOOK_AGAIN = 1000
"""Milliseconds after which files are polled even without a notification."""


def watch(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            help="LESSON, LESSON/EXERCISE or FILE; the exercise that is being edited if left out.",
            autocompletion=lessons_and_exercises,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Check on every save, in well under a second. Ctrl-C ends it.

    Without a target, it follows the exercise that is being edited, and goes on to the next when that passes.
    In a terminal, h shows a hint, n goes on to the next exercise, and s shows the model solution after a pass.
    """
    from autograder.commands.again import begin_as_zygote
    from autograder.commands.console import console, give_up, say
    from autograder.commands.targets import find_targets

    found = find_targets(target, Path.cwd())[0] if target is not None else _next_here()
    begin_as_zygote(context, [found])

    from autograder.isolation import IsolationError
    from autograder.judging.records.errors import CheckError

    for note in found.notes():
        say(note)
    try:
        _Watch(console(), found, follows=target is None).run()
    except (IsolationError, CheckError) as error:
        give_up(str(error))


def _next_here() -> Target:
    """The next exercise, among the lessons that have a file here."""
    from autograder.commands.targets import find_targets, lessons_in, work_folder
    from autograder.learning import order, progress
    from course.syllabus import syllabus

    folder = work_folder(Path.cwd())
    here = {slug: syllabus()[slug] for slug in lessons_in(folder)}
    lessons = list(here.values())
    exercise = order.next_exercise(progress.read(folder), here) or lessons[-1].exercises[-1]
    return find_targets(f"{exercise.lesson}/{exercise.name}", folder)[0]


class _Watch:
    """Checks the watched files with one judge at a time; each judge has one lesson."""

    def __init__(self, screen: Console, found: Target, *, follows: bool) -> None:
        from autograder.commands.keys import Keys
        from autograder.learning.edited import Edits

        self._screen = screen
        self._found = found
        self._checked = found
        """What was checked last; after a pass, `_found` is what comes next."""
        self._follows = follows
        self._folder = found.file.parent
        self._edits = Edits()
        self._keys = Keys()
        self._moved = True
        """Whether the lesson differs from the judge's."""

    def run(self) -> None:
        """Check, and again at every save, until Ctrl-C."""
        from autograder.collection import with_judge

        self._look()
        if self._follows:
            what = "save a file, and the exercise that you changed is checked"
            self._screen.print(f"Following {self._folder.resolve()}: {what}.", soft_wrap=True)
        with self._keys:
            while self._moved:
                with_judge(self._found.lesson, self._in_lesson)

    def _in_lesson(self, judge: Judge) -> None:
        """Check until Ctrl-C, or until another lesson is edited or comes next."""
        from autograder.isolation import Workers

        workers, self._moved = Workers(judge.lesson, "process"), False
        try:
            self._check(judge, workers)
            while True:
                key = self._keys.take()
                if not (self._obey(key) if key else self._wait()):
                    if key or self._keys.pressed.is_set():
                        continue
                    return  # the watcher has ended
                self._screen.rule(time.strftime("%H:%M:%S"), style="dim")
                if self._found.lesson != judge.lesson:
                    self._moved = True
                    return
                self._check(judge, workers)
        except KeyboardInterrupt:
            self._moved = False
        finally:
            workers.stop()

    def _wait(self) -> bool:
        """Wait for a saved file or a key; returns whether there is anything to check."""
        from watchfiles import watch as changes

        if self._look():  # saved while nobody was watching
            return True
        for _ in changes(
            self._folder,
            debounce=50,
            step=20,
            watch_filter=lambda _, path: self._is_watched(path),
            stop_event=self._keys.pressed,
            rust_timeout=LOOK_AGAIN,
            yield_on_timeout=True,  # finds saves made earlier, or on a disk without notifications
        ):
            if self._look():
                return True
        return False

    def _obey(self, key: str) -> bool:
        """Do what a key is for; returns whether there is another exercise to check."""
        from autograder.commands.console import say
        from autograder.commands.hint import print_hints
        from autograder.commands.solution import print_solution
        from autograder.learning import progress
        from autograder.learning.solutions import NoSolutions
        from autograder.submission import SubmissionError

        exercise, known = self._current(), progress.read(self._folder)
        if key == "n":
            return self._found is not self._checked or self._go_on(exercise)
        if key == "h" and (problem := print_hints(self._screen, exercise, self._folder, how="press h")):
            say(problem)
        if key == "s":
            done = self._checked.lesson.exercise(self._checked.exercises[-1])
            if not known.has_passed(done):
                self._screen.print(f"The model solution of {done.name} is shown after a pass; h shows a hint.")
                return False
            try:
                print_solution(self._screen, done, self._checked.file, has_passed=True)
            except (NoSolutions, SubmissionError) as error:
                say(str(error))
        return False

    def _current(self) -> Exercise:
        """The first of the watched exercises that does not pass; the last one if all do."""
        from autograder.learning import progress

        known = progress.read(self._folder)
        watched = [self._found.lesson.exercise(name) for name in self._found.exercises]
        return next((one for one in watched if not known.passes(one)), watched[-1])

    def _go_on(self, after: Exercise) -> bool:
        """Watch the exercise that comes after this one; returns whether there is one whose file is here."""
        from autograder.commands.next import print_next
        from autograder.commands.targets import find_targets, lessons_in
        from autograder.learning import order, progress
        from course.syllabus import syllabus

        known, present = progress.read(self._folder), lessons_in(self._folder)
        coming = order.next_exercise(known, syllabus(), after=after, present=present)
        if coming is None:
            self._screen.print("Every exercise of the course passes.")
            return False
        print_next(self._screen, coming, known, self._folder)
        if coming.lesson not in present:
            return False
        self._found = find_targets(f"{coming.lesson}/{coming.name}", self._folder)[0]
        self._edits.is_new(self._found.file)  # it is checked now
        return True

    def _is_watched(self, path: str) -> bool:
        from autograder.commands.targets import SUFFIXES
        from course.syllabus import syllabus

        file = Path(path)
        if self._follows:
            return file.suffix in SUFFIXES and file.stem in syllabus()
        return file.name == self._found.file.name

    def _look(self) -> bool:
        """Look for saved files and select what changed; returns whether there is anything to check."""
        from autograder.commands.targets import SUFFIXES, Target
        from course.syllabus import syllabus

        if not self._follows:
            return self._edits.is_new(self._found.file)
        saved = False
        for slug, lesson in syllabus().items():
            for file in (self._folder / f"{slug}{suffix}" for suffix in SUFFIXES):
                if self._edits.is_new(file):
                    changed = self._edits.look(file, lesson)
                    saved = saved or bool(changed) or file.name == self._found.file.name
                    if changed:
                        self._found = Target(lesson, file, tuple(changed))
        return saved

    def _check(self, judge: Judge, workers: Workers) -> None:
        from autograder.commands.check import noted, print_after_a_pass
        from autograder.commands.console import said_on_a_terminal
        from autograder.commands.targets import find_targets, lessons_in, shortened
        from autograder.reports.feedback import print_feedback
        from autograder.submission import SubmissionError, read_submission

        found, start = self._found, time.perf_counter()
        self._checked = found
        try:
            submission = read_submission(found.file)
        except SubmissionError as error:
            self._screen.print(f"{found.file}: {error}")
            return
        with said_on_a_terminal(lambda: judge.progress.text):
            result = judge.grade(submission, workers, only=found.exercises)
        seconds = time.perf_counter() - start
        offers_hints = not self._keys.are_read
        file = shortened(found.file)
        print_feedback(self._screen, found.lesson, result, hints=0, file=file, offers_hints=offers_hints)
        noted(found, result)
        if result.status == "graded" and result.points >= result.max_points:
            coming = print_after_a_pass(self._screen, found.lesson.exercise(found.exercises[-1]), found)
            if self._follows and coming is not None and coming.lesson in lessons_in(self._folder):
                self._found = find_targets(f"{coming.lesson}/{coming.name}", self._folder)[0]
        watched = f"following {self._folder.resolve()}" if self._follows else f"watching {file}"
        keys = "h hint, n next, s solution" if self._keys.are_read else ""
        parts = [f"{seconds:.2f} s", watched, *filter(None, [keys]), "Ctrl-C ends it"]
        self._screen.print(f"({'; '.join(parts)})", style="dim")
