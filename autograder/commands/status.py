"""`backprop status`: shows a learner's progress."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.next import Lesson

if TYPE_CHECKING:
    from rich.table import Table

    from autograder.learning.progress import Progress
    from course.syllabus import Exercise


def status(lesson: Lesson = None) -> None:
    """Show how far I am, and what comes next.

    By lesson: the core and the stretch exercises that pass, points, and the last try. Of one lesson: each exercise.
    """
    from autograder.commands.console import console, say
    from autograder.commands.next import print_next
    from autograder.commands.targets import lessons_in, lessons_meant, work_folder
    from autograder.learning import order, progress
    from autograder.wording import counted

    lessons = lessons_meant(lesson)
    folder = work_folder(Path.cwd())
    present = lessons_in(folder)
    known, screen = progress.read(folder), console()
    if known.problem:
        say(known.problem)
    everything = [one for meant in lessons.values() for one in meant.exercises]
    screen.print(_table(known, present) if lesson is None else _table_of_exercises(known, everything))
    earned, points = sum(map(known.points, everything)), sum(one.points for one in everything)
    passed = sum(map(known.passes, everything))
    screen.print(
        f"{earned:g} of {counted(points, 'point')}; {passed} of {counted(len(everything), 'exercise')} pass",
        style="bold",
    )
    loaded = sum(tried.loaded for one in everything if (tried := known.of(one)))
    if loaded:
        screen.print(
            f"{counted(loaded, 'result')} from a loaded file; 'backprop check' checks the answers here.", style="dim"
        )
    screen.print(f"As of the last check of each; {folder / progress.FILE} keeps it.", style="dim", soft_wrap=True)
    exercise = order.next_exercise(known, lessons, present=present)
    if exercise is not None:
        print_next(screen, exercise, known, folder)


def _table(known: Progress, present: Collection[str]) -> Table:
    from rich.table import Table

    from autograder.commands.next import when
    from course.syllabus import TIERS, syllabus

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("lesson", overflow="fold")
    for name in (*TIERS, "points"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("last try", no_wrap=True)
    for lesson in syllabus().values():
        counts = []
        for tier in TIERS:
            of_it = [one for one in lesson.exercises if one.tier == tier]
            counts.append(f"{sum(map(known.passes, of_it))}/{len(of_it)}" if of_it else "")
        points = f"{sum(map(known.points, lesson.exercises)):g}/{lesson.points:g}"
        tries = [tried.tried for one in lesson.exercises if (tried := known.of(one)) and tried.tries]
        absent = "" if lesson.slug in present else "not here"
        last = when(max(tries, key=datetime.fromisoformat)) if tries else absent
        name = f"{lesson.slug.partition('_')[0]}  {lesson.title}"
        table.add_row(name, *counts, points, last, style=None if tries else "dim")
    return table


def _table_of_exercises(known: Progress, exercises: Iterable[Exercise]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from autograder.commands.next import IN_WORDS, when
    from autograder.reports.feedback import GLYPHS, WRONG

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("exercise", overflow="fold")
    table.add_column("tier", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("tries", justify="right", no_wrap=True)
    table.add_column("hints", justify="right", no_wrap=True)
    table.add_column("last try", no_wrap=True)
    for one in exercises:
        tried = known.of(one)
        status = tried.status if tried and tried.tries else "missing"
        glyph, style = GLYPHS["missing" if status in IN_WORDS else status] if status in {*GLYPHS, *IN_WORDS} else WRONG
        hints = f"{min(tried.hints, len(one.hints))}/{len(one.hints)}" if tried and tried.hints else ""
        last = [str(tried.tries), hints, when(tried.tried)] if tried and tried.tries else ["", hints, ""]
        points = f"{known.points(one):g}/{one.points:g}"
        table.add_row(Text.assemble((f"{glyph} ", style), one.name), one.tier, points, *last)
    return table
