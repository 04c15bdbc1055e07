"""Finds the cells of a work file that hold the answer to an exercise, and replaces them."""

from __future__ import annotations

from pathlib import Path

from autograder.learning.answers import definitions
from autograder.learning.pieces import Piece, WorkFile
from autograder.learning.progress import keep
from autograder.new_files import refuse_way_out, write_new
from autograder.wording import enumeration
from course.syllabus import Exercise, find_lesson


class AnswerError(ValueError):
    """An answer cannot be found or replaced; the message says why and what to do. The file is unchanged."""


def refuse_outside(file: Path) -> None:
    """Raise `AnswerError` or `OSError` if writing `file` would write outside of its folder, through a link."""
    if not file.resolve().is_relative_to(file.parent.resolve()):
        raise AnswerError(f"{file.name} is a link that leads out of its folder; go to the file itself, and do it there")
    refuse_way_out(file)


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
        raise AnswerError(
            f"{where} has no cell that is marked as {stub.part!r} of {exercise.name}; a fresh notebook has one: "
            f"backprop start another-folder {exercise.lesson.partition('_')[0]}"
        )
    defining = [one for one in code if exercise.name in defined(one)]
    if len(defining) > 1:
        cells = enumeration([work.place(work.pieces.index(one)) for one in defining])
        raise AnswerError(
            f"{exercise.name} is defined in {cells} of {where}, and none is marked as its own; delete all but one"
        )
    if not defining and _index_of_check(work, exercise) is None:
        raise AnswerError(
            f"{where} has neither a cell of {exercise.name} nor its check; a fresh notebook has both: "
            f"backprop start another-folder {exercise.lesson.partition('_')[0]}"
        )
    return defining


def _index_of_check(work: WorkFile, exercise: Exercise) -> int | None:
    """The index of the check cell of an exercise; None if there is none."""
    return next((i for i, piece in enumerate(work.pieces) if piece.checks(exercise.name)), None)


def defined(piece: Piece) -> list[str]:
    """The names of the functions, classes and methods that a cell defines."""
    return [name for name, _, _ in definitions(piece.source)]


def _has_other_code(work: WorkFile, piece: Piece, exercise: Exercise) -> bool:
    """Whether a cell has other code than the answer, as after merging cells, or in a Python file without cells.

    Then only the definition of the exercise may be replaced.
    """
    names = set(defined(piece))
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


def source_of(work: WorkFile, mine: list[Piece], exercise: Exercise) -> str:
    """The code of an answer's cells; of a cell that has other code, the exercise's own definitions alone."""
    if mine and _has_other_code(work, mine[0], exercise):
        names = {exercise.name, exercise.name.rpartition(".")[2]}
        source = mine[0].source.replace("\r\n", "\n")
        lines = source.split("\n")
        parts = ["\n".join(lines[first:after]) for name, first, after in definitions(source) if name in names]
        return "\n\n".join(part.strip() for part in parts)
    return "\n\n".join(piece.source.replace("\r\n", "\n").strip() for piece in mine)


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
