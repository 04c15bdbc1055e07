"""Puts the stub of an exercise back, after saving the answer in a backup."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autograder.learning.answers import definitions
from autograder.learning.pieces import Piece, WorkFile, stubs
from autograder.learning.progress import keep
from autograder.new_files import refuse_way_out, write_new
from autograder.places import Places
from autograder.wording import enumeration
from course.syllabus import Exercise, find_lesson


class ResetError(ValueError):
    """The stub cannot be put back; the message says why and what to do. The file is unchanged."""


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
        ResetError: it is not clear which code is the answer, or `file` is a link out of its folder.
        SubmissionError: the file cannot be read.
        OSError: the file or the backup cannot be written.
    """
    if not file.resolve().is_relative_to(file.parent.resolve()):
        raise ResetError(
            f"{file.name} is a link that leads out of its folder; go to the file itself, and reset it there"
        )
    refuse_way_out(file)
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


def put(work: WorkFile, exercise: Exercise, new: Piece, mine: list[Piece]) -> None:
    """Replace `mine`, the cells that `answer_cells` has found, by `new`: a stub, or a cell with another source."""
    if not mine:
        above = _index_of_check(work, exercise)
        assert above is not None  # `answer_cells` raised otherwise
        work.insert(above, new)
    elif _has_other_code(work, mine[0], exercise):
        work.write(mine[0], _without_definition(mine[0].source, exercise, new.source))
    else:
        work.put(mine[0], new)
        gone = {id(piece) for piece in mine[1:]}
        work.pieces = [piece for piece in work.pieces if id(piece) not in gone]


def answer_cells(work: WorkFile, stub: Piece, handed_out: list[Piece], exercise: Exercise) -> list[Piece]:
    """The cells with the answer to a stub; none if the answer was deleted and can be inserted above its check."""
    code = [piece for piece in work.pieces if piece.code]
    alone = len(handed_out) == 1
    marked = [one for one in code if one.exercise == exercise.name and (alone or one.part == stub.part)]
    marked = marked or [one for one in code if one.ident and one.ident == stub.ident]
    if marked:
        return marked
    where = work.path.name
    if not alone:
        raise ResetError(
            f"{where} has no cell that is marked as {stub.part!r} of {exercise.name}; a fresh notebook has one: "
            f"backprop start another-folder {exercise.lesson.partition('_')[0]}"
        )
    defining = [one for one in code if exercise.name in _defined(one)]
    if len(defining) > 1:
        cells = enumeration([work.place(work.pieces.index(one)) for one in defining])
        raise ResetError(
            f"{exercise.name} is defined in {cells} of {where}, and none is marked as its own; delete all but one"
        )
    if not defining and _index_of_check(work, exercise) is None:
        raise ResetError(
            f"{where} has neither a cell of {exercise.name} nor its check; a fresh notebook has both: "
            f"backprop start another-folder {exercise.lesson.partition('_')[0]}"
        )
    return defining


def _index_of_check(work: WorkFile, exercise: Exercise) -> int | None:
    """The index of the check cell of an exercise; None if there is none."""
    return next((i for i, piece in enumerate(work.pieces) if piece.checks(exercise.name)), None)


def _defined(piece: Piece) -> list[str]:
    return [name for name, _, _ in definitions(piece.source)]


def _has_other_code(work: WorkFile, piece: Piece, exercise: Exercise) -> bool:
    """Whether a cell has other code than the answer, as after merging cells, or in a Python file without cells.

    Then only the definition of the exercise may be replaced.
    """
    names = set(_defined(piece))
    if exercise.name not in names:
        return False
    others = {one.name for one in find_lesson(exercise.lesson).exercises} - {exercise.name}
    return bool(names & others) or (not work.is_notebook and not piece.mark)


def _without_definition(source: str, exercise: Exercise, stub: str) -> str:
    """A source with a stub in place of the definitions of an exercise: `backward` and `Tensor.backward = backward`."""
    names = {exercise.name, exercise.name.rpartition(".")[2]}
    lines = source.replace("\r\n", "\n").split("\n")
    ours = [(first, after) for name, first, after in definitions(source) if name in names]
    for first, after in reversed(ours):
        lines[first:after] = stub.split("\n") if (first, after) == ours[0] else []
    return "\n".join(lines)


def _others(work: WorkFile, exercise: Exercise) -> tuple[str, ...]:
    """The places where an exercise is defined besides its own cells, which have the stub by now."""
    defining = [i for i, piece in enumerate(work.pieces) if piece.code and exercise.name in _defined(piece)]
    marked = [i for i in defining if work.pieces[i].exercise == exercise.name]
    return tuple(work.place(i) for i in defining if i not in (marked or defining[:1]))


def back_up(file: Path, exercise: Exercise, old: list[Piece], command: str) -> Path | None:
    """Write the old answer into a new backup file and return its path; None if there is no answer."""
    old = [piece for piece in old if piece.source.strip()]
    if not old:
        return None
    path = keep(file.parent, f"{exercise.lesson}.{exercise.name}", ".py")
    cells = [f"# %%{f' part={one.part!r}' if one.part else ''}\n{one.source.rstrip()}\n" for one in old]
    text = f"# What {file.name} had for {exercise.name} before `backprop {command}`.\n\n" + "\n\n".join(cells)
    write_new(path, text, inside=path.parent)
    return path
