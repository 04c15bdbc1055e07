"""Reports changes between two gradings, on the terminal and as files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from autograder.classroom.changes import Changes, Move
from autograder.judging.records.results import whole_file
from autograder.reports.class_table import NAME, widths
from autograder.reports.safety import TableWriter, cell, printable
from autograder.wording import clean, counted, in_points, printable_json

LINES = 100
"""At most this many changed exercises are shown on a terminal; the files list all."""


class ChangesTable:
    """Prints each exercise whose points changed, with the reason, and finally the counts."""

    def __init__(self, screen: Console, students: Iterable[str], lessons: Iterable[str]) -> None:
        self._screen = screen
        self._who, self._what = widths(students, lessons)
        self._shown = self._passed_over = 0

    def add(self, move: Move) -> None:
        """Print a changed exercise."""
        if self._screen.is_terminal and self._shown == LINES:
            self._passed_over += 1
            return
        self._shown += 1
        points = f"{in_points(move.before)} → {in_points(move.after)}"
        style = "green" if move.after > move.before else "red"
        name = f"{clean(move.student, NAME):{self._who}}  {move.lesson:{self._what}}  {move.exercise}  "
        self._screen.print(Text.assemble(name, (f"{points}  ({move.after - move.before:+.4g})", style)))
        self._screen.print(Padding(Text(printable(move.why), style="dim"), (0, 0, 0, 4), expand=False))

    def finish(self, changes: Changes) -> None:
        """Print the counts."""
        if self._passed_over:
            self._screen.print(Text(f"and {self._passed_over:,} more", style="dim"))
        if self._shown:
            self._screen.print()
        for line in summary(changes):
            self._screen.print(Text(line))


def summary(changes: Changes) -> list[str]:
    """The counts in words."""
    compared = changes.up + changes.down + changes.same
    lines = [
        f"{counted(compared, 'submission')}: {changes.up:,} up, {changes.down:,} down, {changes.same:,} the same; "
        f"{changes.mean:+.3g} points on average"
    ]
    if changes.new:
        lines.append(f"{changes.new:,} had no result before")
    if changes.else_changed:
        counts = ", ".join(f"{what} {count:,}" for what, count in changes.else_changed.most_common())
        lines.append(f"Exercises whose points stay, but not their {counts}")
    return lines


@contextmanager
def change_files(folder: Path) -> Iterator[tuple[Any, Changes]]:
    """Provide a function to call with each move and counts to fill; write `changes.csv` and `changes.json`."""
    changes = Changes()
    with whole_file(folder / "changes.csv") as table, whole_file(folder / "changes.json") as data:
        rows = TableWriter(table, numbers=True)
        rows.writerow([column.name for column in fields(Move)])
        data.write('{\n "moves": [')
        comma = ""

        def write(move: Move) -> None:
            nonlocal comma
            rows.writerow([cell(value) if isinstance(value, str) else value for value in astuple(move)])
            data.write(f"{comma}\n  {printable_json(asdict(move))}")
            comma = ","

        yield write, changes
        data.write(f'\n ],\n "summary": {printable_json(changes.to_json())}\n}}\n')
