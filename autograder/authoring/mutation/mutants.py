"""Generates the mutants of a lesson's reference."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass

from autograder.diagnosis import Edit
from autograder.diagnosis.mutation.cells import cells_of, name_of, outermost, solutions_in, users_of
from autograder.diagnosis.mutation.operators import mutations
from autograder.diagnosis.mutation.text import Source, Splice
from course.syllabus import Lesson


@dataclass(frozen=True)
class Mutant:
    """The reference of a lesson with one small change."""

    id: str
    part: str
    """The exercise or helper that is changed."""
    change: Edit
    """The function, and the changed lines before and after."""
    exercises: tuple[str, ...]
    """The exercises whose checks are run, in this order: its own, those that use the part, all others."""
    line: int
    nth: int
    """Its number, from 1, among the mutants of its function that read the same."""
    splice: Splice


def mutants_of(lesson: Lesson, text: str) -> dict[str, list[Mutant]]:
    """The mutants of a lesson's source `text`, by exercise or helper, in order.

    Each mutant parses as Python, and no two are the same program.
    """
    source = Source(text)
    cells = list(cells_of(text.splitlines()))
    names = [exercise.name for exercise in lesson.exercises]
    users = users_of(source, cells, names)
    found: dict[str, list[Mutant]] = {}
    alike: Counter[Edit] = Counter()
    for cell in cells:
        if not cell.exercise and not cell.is_helper:
            continue
        regions = [(cell.first, cell.last)] if cell.is_helper else solutions_in(text.splitlines(), cell)
        asked = tuple(dict.fromkeys([*([cell.exercise] if cell.exercise else []), *users[cell], *names]))
        for splice in _splices(source, regions):
            part = cell.exercise or name_of(source.statement(splice.start))
            change = Edit(source.function(splice.start) or part, *source.lines_of(splice))
            alike[change] += 1
            numbered = found.setdefault(part, [])
            numbered.append(
                Mutant(
                    id=f"{lesson.slug}/{part}/{len(numbered) + 1}",
                    part=part,
                    change=change,
                    exercises=asked,
                    line=source.line(splice.start),
                    nth=alike[change],
                    splice=splice,
                )
            )
    return found


def _splices(source: Source, regions: list[tuple[int, int]]) -> list[Splice]:
    """The mutations of all statements in `regions`, without those whose syntax tree is the source's or another's."""
    seen = {ast.dump(ast.parse(source.text(node))) for node in source.tree.body}
    splices = []
    for node in outermost(source.tree, regions):
        for splice in sorted(set(mutations(source, node))):
            tree = source.tree_after(splice)
            if tree is not None and tree not in seen:
                seen.add(tree)
                splices.append(splice)
    return splices
