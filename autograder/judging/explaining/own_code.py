"""A learner's own code, statement by statement, and the single edits of what a failing call runs."""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from autograder.diagnosis import Misconception
from autograder.diagnosis.mutation.repairs import LIKELY, Repair, repairs
from autograder.diagnosis.mutation.slicing import RIGHT, Slices, bound_for
from autograder.diagnosis.mutation.text import Source
from autograder.submission import Submission
from autograder.wording import clean

MOST_CHARACTERS = 60_000
"""Longer submissions are not repaired."""
MOST_NODES = 4_000
"""Nor is code of which a call runs more than so many syntax nodes."""
MOST_EDITS = 3_000
QUOTED = 70
"""Characters of a quoted line."""
TELLING = 8
"""A place is quoted with what is around it, or its line, if it has fewer characters."""
_NAME = re.compile(r"[^\W\d]\w*")
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError)


UNSUSPECTED = 4
"""How many tiers less likely an edit is if right calls run its line, too, and others ran that no right call does."""


Outputs = tuple[Collection[str], Collection[str]]
"""Names of all outputs of a call, and of the wrong ones."""
Lines = Collection[tuple[str, int]]
"""Pairs of a cell's label and a line."""


@dataclass(frozen=True)
class Edit:
    """One edit of a submission's statement."""

    statement: int
    repair: Repair
    kind: str
    """The kind of edit, in words such as "with another axis"."""
    place: str
    """Where it is, such as "line 7" or "cell 3, line 7"."""
    quote: str
    """The code there."""
    line: str
    """The whole line there."""
    tier: int
    """Edits of a lower tier are likelier: if some of them repair the code, those of higher ones are not looked for."""

    @property
    def is_likely(self) -> bool:
        """Whether its operator has few edits, so that one of them hardly helps by chance."""
        return self.repair.rank < LIKELY


class OwnCode:
    """The statements of a submission. Cells that are not Python are left out."""

    def __init__(self, submission: Submission) -> None:
        self.statements: list[tuple[str, int, str]] = []
        """Each statement's cell, the number of lines before it, and its source, as `VariantRun` takes them."""
        self._of: list[tuple[Source, ast.stmt, int]] = []
        """Each statement's source and node, and the offset in the source at which it starts."""
        if sum(len(cell.source) for cell in submission.cells) > MOST_CHARACTERS:
            return
        for cell in submission.cells:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    source = Source(cell.source)
            except _UNREADABLE:
                continue
            for node in source.tree.body:
                start = _start(source, node)
                before = cell.offset + source.line(start) - 1
                self.statements.append((cell.label, before, source.slice(start, source.end(node))))
                self._of.append((source, node, start))

    def edits(
        self, lines: Lines, others: Collection[str], outputs: Outputs, suspects: Lines = frozenset()
    ) -> list[Edit]:
        """The edits of statements that a call ran, and of the assignments that these name, likelier ones first.

        Args:
            lines: that the call ran.
            others: names of definitions that are left as they are.
            outputs: names of all outputs of the call, and of the wrong ones.
            suspects: those of the lines that no right call ran; edits there are likelier.
        """
        regions: dict[int, tuple[list[ast.stmt], Collection[int]]] = {}
        names: set[str] = set()
        for number, (source, node, _) in enumerate(self._of):
            label, before, text = self.statements[number]
            offset = before - source.line(_start(source, node)) + 1
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in others:
                continue
            span = range(before + 1, before + 2 + text.count("\n"))
            run = {line - offset for line in span if (label, line) in lines}
            if run and (found := list(_run(node, run))):
                regions[number] = found, run
                names |= {one.id for part in found for one in ast.walk(part) if isinstance(one, ast.Name)}
        for number, (_, node, _) in enumerate(self._of):
            if isinstance(node, ast.Assign) and any(getattr(one, "id", "") in names for one in node.targets):
                regions.setdefault(number, ([node], range(node.lineno, (node.end_lineno or node.lineno) + 1)))
        if sum(1 for parts, _ in regions.values() for part in parts for _ in ast.walk(part)) > MOST_NODES:
            return []
        found_edits: list[Edit] = []
        for number, (parts, ran) in sorted(regions.items()):
            source, node, _ = self._of[number]
            label, before, _ = self.statements[number]
            offset = before - source.line(_start(source, node)) + 1
            suspected = {line - offset for cell, line in suspects if cell == label}
            with suppress(Exception):  # an odd source must not end the grading of a class; tests try the operators
                suspected |= bound_for(parts, ran, suspected)
                slices = Slices(source, parts, *outputs)
                for repair in islice(repairs(source, parts, _that_ran(ran)), MOST_EDITS - len(found_edits)):
                    if (level := slices.level(repair.place)) != RIGHT:
                        beside = bool(suspects) and suspected.isdisjoint(_lines_around(source, repair.place))
                        tier = UNSUSPECTED * beside + 2 * level + (repair.rank >= LIKELY)
                        found_edits.append(self._edit(number, repair, tier))
        return sorted(found_edits, key=lambda edit: (edit.tier, edit.repair.rank))

    def changes(self, *edits: Edit) -> list[tuple[int, str]] | None:
        """The statements with these edits, as `VariantRun` takes them; None if two edits overlap."""
        changed: dict[int, str] = {}
        splices = sorted((edit.statement, edit.repair.splice) for edit in edits)
        for number in dict(splices):
            source, node, start = self._of[number]
            text, at = "", start
            for of, splice in splices:
                if of == number:
                    if splice.start < at:
                        return None
                    text, at = text + source.slice(at, splice.start) + splice.text, splice.end
            changed[number] = text + source.slice(at, source.end(node))
        return list(changed.items())

    def takes_out(self, edit: Edit, mistake: Misconception) -> bool:
        """Whether an edit takes out a name that a known mistake lacks: then the edit has made the mistake.

        `generator=own` is wrong, and without the argument the numbers come from the global generator.
        """
        lacking = names_lost([(one.before, one.after) for one in mistake.edits])
        lost = names_lost((self.statements[number][2], text) for number, text in self.changes(edit) or ())
        return not lacking.isdisjoint(lost)

    def _edit(self, number: int, repair: Repair, tier: int) -> Edit:
        source, node, _ = self._of[number]
        label, before, _ = self.statements[number]
        offset = before - source.line(_start(source, node)) + 1
        place = repair.place
        while (
            isinstance(place, ast.Name | ast.Constant | ast.keyword)
            or len(source.text(place)) < TELLING
            or (isinstance(around := source.parents[place], ast.Call) and around.func is place)
        ):
            around = source.parents[place]
            if not isinstance(around, ast.expr | ast.keyword | ast.Return | ast.Assign | ast.AugAssign | ast.Expr):
                break
            place = around
        line = source.line(source.start(repair.place))
        where = f"line {line + offset}" if label.startswith("line ") else f"{label}, line {line + offset}"
        whole = source.bytes.splitlines()[line - 1].decode().strip()
        quote = _quoted(source.text(place))
        return Edit(
            number, repair, repair.kind, where, quote if len(quote) >= TELLING else _quoted(whole), _quoted(whole), tier
        )


def _run(node: ast.stmt, lines: Collection[int]) -> Iterator[ast.stmt]:
    """The parts of a statement that a call ran: it, or if it is a class or holds functions, what of them."""
    if isinstance(node, ast.ClassDef):
        for one in node.body:
            yield from _run(one, lines)
    elif any(line in lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)):
        yield node


def _that_ran(lines: Collection[int]) -> Callable[[ast.AST], bool]:
    """Whether a node is no statement, or a statement of which a line ran."""
    return lambda node: (
        not isinstance(node, ast.stmt)
        or any(line in lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))
    )


def _lines_around(source: Source, place: ast.AST) -> range:
    """The lines of the statement around a place; of a block's condition, those of the whole block."""
    at = place
    while not isinstance(at, ast.stmt):
        at = source.parents[at]
    return range(at.lineno, (at.end_lineno or at.lineno) + 1)


def _start(source: Source, node: ast.stmt) -> int:
    """Where a statement starts, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([source.start(node), *(source.start(one) - 1 for one in decorators)])


def names_lost(edits: Iterable[tuple[str, str]]) -> set[str]:
    """The names, keywords of calls included, that occur less often after these edits than before."""
    lost = Counter[str]()
    for before, after in edits:
        lost.update(_NAME.findall(before))
        lost.subtract(_NAME.findall(after))
    return {name for name, times in lost.items() if times > 0}


def _quoted(text: str) -> str:
    return clean(" ".join(re.sub(r"\s+#[^\n]*", "", text).split()), QUOTED)
