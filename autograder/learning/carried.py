"""Carries answers between a work folder and the file with all of a reader's progress (`whole`)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.learning.answer_cells import AnswerError, answer_cells, back_up, put, refuse_outside, source_of
from autograder.learning.pieces import Piece, WorkFile
from autograder.learning.progress import Progress
from autograder.learning.whole import STATUSES, Page
from autograder.places import Places
from autograder.submission import NOT_GRADED
from autograder.wording import counted
from course.syllabus import Exercise, Lesson


@dataclass
class Carried:
    """What became of the answers in one file."""

    new: list[str] = field(default_factory=list)
    """The exercises that have their answer from the file now."""
    mine: list[str] = field(default_factory=list)
    """Those that keep another answer of their own."""
    backups: list[Path] = field(default_factory=list)
    cells: int = 0
    """How many own cells were inserted."""
    refused: list[str] = field(default_factory=list)
    """The exercises that were left as they are, because it is not clear which code is their answer."""
    problems: list[str] = field(default_factory=list)
    """Lines about those, and about answers of the file that the lesson has no cell for."""


def put_answers(file: Path, lesson: Lesson, page: Page, *, keep_mine: bool) -> Carried:
    """Put a page's answers and own cells into a work file, and keep what they replace among the backups.

    Args:
        keep_mine: whether an answer in the file that differs stays.

    Raises:
        AnswerError: `file` is a link out of its folder.
        SubmissionError: the file cannot be read.
        OSError: it or a backup cannot be written.
    """
    refuse_outside(file)
    work, done = WorkFile(file), Carried()
    notebook = WorkFile(Places().notebook(lesson.slug))
    for exercise in lesson.exercises:
        try:
            _put_answer(work, notebook, exercise, page, done, keep_mine=keep_mine)
        except AnswerError as error:
            done.refused.append(exercise.name)
            done.problems.append(str(error))
    unknown = page.answers.keys() - {piece.ident for piece in notebook.pieces}
    if unknown:
        cells = counted(len(unknown), "answer")
        done.problems.append(f"{lesson.slug} has no cell for {cells} of the file, such as {min(unknown)}: left out")
    _insert_cells(work, notebook, page, done)
    if done.new or done.cells:
        work.save()
    return done


def _put_answer(
    work: WorkFile, notebook: WorkFile, exercise: Exercise, page: Page, done: Carried, *, keep_mine: bool
) -> None:
    handed_out = _stubs(notebook, exercise)
    wanted = [(stub, page.answers[stub.ident]) for stub in handed_out if stub.ident in page.answers]
    found = [(stub, text, answer_cells(work, stub, handed_out, exercise)) for stub, text in wanted]
    others = [(stub, text, mine) for stub, text, mine in found if source_of(work, mine, exercise) != text.strip()]
    written = [
        piece
        for stub, _, mine in others
        for piece in mine
        if source_of(work, mine, exercise) not in ("", stub.source.strip())
    ]
    if others and written and keep_mine:
        done.mine.append(exercise.name)
    elif others:
        if backup := back_up(work.path, exercise, written, "load"):
            done.backups.append(backup)
        for stub, text, mine in others:
            put(work, exercise, replace(stub, source=text.rstrip("\n")), mine)
        done.new.append(exercise.name)


def _insert_cells(work: WorkFile, notebook: WorkFile, page: Page, done: Carried) -> None:
    """Insert the own cells that the file does not have, each above the answer that it stood above."""
    known = {piece.source.strip() for piece in (*work.pieces, *notebook.pieces)}
    for before, source in page.own:
        if not source.strip() or source.strip() in known:
            continue
        places = [i for i, piece in enumerate(work.pieces) if piece.exercise and _name(piece) == before]
        ident = f"own-{hashlib.sha256(source.encode('utf-8', 'replace')).hexdigest()[:8]}"
        cell = Piece(source, ident=ident, raw={"metadata": {}})
        inserted = work.insert(places[0] if places else len(work.pieces), cell)
        if not work.is_notebook:
            inserted.mark = f"# %%{work.newline}"
        known.add(source.strip())
        done.cells += 1


def answers_of(file: Path, lesson: Lesson, progress: Progress) -> tuple[Page, list[str]]:
    """A work file as a page, and lines about exercises that could not be taken. Raises `SubmissionError`."""
    work, notebook = WorkFile(file), WorkFile(Places().notebook(lesson.slug))
    page, problems, ours = Page(), [], set()
    for exercise in lesson.exercises:
        handed_out = _stubs(notebook, exercise)
        for stub in handed_out:
            try:
                mine = answer_cells(work, stub, handed_out, exercise)
            except AnswerError as error:
                problems.append(str(error))
                continue
            ours |= {id(piece) for piece in mine}
            if (text := source_of(work, mine, exercise)) not in ("", stub.source.strip()):
                page.answers[stub.ident] = f"{text}\n"
        tried = progress.of(exercise)
        if tried and tried.tries and tried.status in STATUSES:
            best = exercise.points if tried.passed else progress.points(exercise)
            result = {"status": tried.status, "points": progress.points(exercise), "of": exercise.points, "best": best}
            page.results[exercise.name] = result
    known = {piece.source.strip() for piece in notebook.pieces}
    before = ""
    for piece in reversed(work.pieces):
        if piece.exercise and id(piece) in ours:
            before = _name(piece)
        elif piece.code and id(piece) not in ours and piece.source.strip() not in known | {""} and not _is_ours(piece):
            page.own.insert(0, (before, piece.source.replace("\r\n", "\n").strip()))
    return page, problems


def _stubs(notebook: WorkFile, exercise: Exercise) -> list[Piece]:
    return [piece for piece in notebook.pieces if piece.exercise == exercise.name and not _is_ours(piece)]


def _is_ours(piece: Piece) -> bool:
    """Whether the course has put the cell there, such as a check."""
    metadata = piece.raw.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return isinstance(tags, list) and bool(NOT_GRADED & {tag for tag in tags if isinstance(tag, str)})


def _name(piece: Piece) -> str:
    return f"{piece.exercise}/{piece.part}"
