"""Puts the stub of an exercise back, after saving the answer in a backup."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autograder.learning.answer_cells import answer_cells, back_up, defined, put, refuse_outside
from autograder.learning.pieces import WorkFile, stubs
from autograder.places import Places
from course.syllabus import Exercise


@dataclass(frozen=True)
class Reset:
    """The result of a reset."""

    kept: Path | None
    """The backup of the old answer; None if there was none."""
    changed: bool
    """False if the file had the stub already."""
    others: tuple[str, ...] = ()
    """The other places where the file defines the exercise, in cells that are not marked as its own; they stay."""


def reset(file: Path, exercise: Exercise, places: Places | None = None) -> Reset:
    """Replace the answer to `exercise` in `file` by its stub, and save the answer in the folder of backups.

    If several cells are marked as the exercise's, because one was split, they become one. If none is marked, the cell
    with the stub's id is replaced, or the only one that defines the exercise; if there is none, the stub is inserted
    above the check cell.

    Raises:
        AnswerError: it is not clear which code is the answer, or `file` is a link out of its folder.
        SubmissionError: the file cannot be read.
        OSError: the file or the backup cannot be written.
    """
    refuse_outside(file)
    work = WorkFile(file)
    handed_out = stubs((places or Places()).notebook(exercise.lesson), exercise.name)
    found = [(stub, answer_cells(work, stub, handed_out, exercise)) for stub in handed_out]
    if all(len(mine) == 1 and mine[0].source.strip() == stub.source.strip() for stub, mine in found):
        return Reset(None, changed=False, others=_others(work, exercise))
    path = back_up(file, exercise, [piece for _, mine in found for piece in mine], "reset")
    for stub, mine in found:
        put(work, exercise, stub, mine)
    work.save()
    return Reset(path, changed=True, others=_others(work, exercise))


def _others(work: WorkFile, exercise: Exercise) -> tuple[str, ...]:
    """The places where an exercise is defined besides its own cells, which have the stub by now."""
    defining = [i for i, piece in enumerate(work.pieces) if piece.code and exercise.name in defined(piece)]
    marked = [i for i in defining if work.pieces[i].exercise == exercise.name]
    return tuple(work.place(i) for i in defining if i not in (marked or defining[:1]))
