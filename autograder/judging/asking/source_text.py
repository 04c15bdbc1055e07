"""Explains missing functions and exceptions from a submission's source text."""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograder.magics import takes_the_body, why_not_run
from autograder.submission import Cell, Submission
from autograder.worker.execution import WENT_ON, Failure

ALIKE = 0.8
"""Least similarity (`difflib`) of a misspelt name: `relu_vpj`, `Relu_vjp` and `my_relu_vjp` qualify."""

MOST_LOOKED_AT = 50_000
"""Characters of a cell that are searched."""
MOST_NAMES = 2000
"""Defined names that are compared with a missing one; a file may have a million."""
MOST_LINES = 2000
"""Matching lines of a cell that are examined."""
_NO_CODE = re.compile(r'""".*?"""|\'\'\'.*?\'\'\'|#[^\n]*', re.DOTALL)
_DEFINED = re.compile(r"^(?:async\s+)?def\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class CellProblem:
    """A cell that did not run to its end."""

    cell: Cell
    text: str
    """The problem, as a sentence without a full stop."""
    import_only: bool = False
    """Whether a failed import is the only problem."""
    refused: bool = False
    """Whether the only problem is a call that is refused while cells run; most are experiments."""


class SourceText:
    """The source text of one submission, with the problems of its cells.

    Args:
        problems: of the cells that failed so far; the list may grow.
    """

    def __init__(self, submission: Submission, problems: list[CellProblem]) -> None:
        self._submission = submission
        self._problems = problems
        self.consulted = False
        """Whether anything was said that depends on this text."""

    def tried_to_define(self, name: str) -> CellProblem | None:
        """The problem of the last failed cell that should define `name`; None if no such cell failed."""
        self.consulted = True
        problems = [problem for problem in self._problems if _should_define(problem.cell, name)]
        return max(problems, key=lambda problem: problem.cell.number, default=None)

    def failed_to_redefine(self, name: str) -> CellProblem | None:
        """The problem of the last cell that should define `name`; None if it ran, or lost only other statements."""
        problem = self._failed_to_define(name)
        return None if problem is None or problem.text.endswith(WENT_ON) else problem

    def _failed_to_define(self, name: str) -> CellProblem | None:
        """The problem of the last cell that should define `name`; None if it ran."""
        problem = self.tried_to_define(name)
        last = max((cell.number for cell in self._submission.cells if _should_define(cell, name)), default=0)
        return problem if problem is not None and problem.cell.number == last else None

    def why_missing(self, name: str, others: Iterable[str] = ()) -> str:
        """Why there is no function `name`: the cell that should define it, and its problem.

        Suggests a similarly named function of the submission, unless that is one of `others`.
        """
        problem = self._failed_to_define(name)  # if a later cell ran, that one left no function
        if problem is not None:
            return f"{name} is not defined: {problem.text}.{self._earlier_problem(problem.text, problem)}"
        last = max((cell for cell in self._submission.cells if _should_define(cell, name)), key=_number, default=None)
        remade = self._class_redefined_after(name, last)
        if remade is not None:
            return (
                f"{name} is not defined: {remade.label} makes the class anew, without what cells below had attached "
                "to it. Run those again."
            )
        if last is not None and _only_assigns(last, name):
            return f"{name} is not defined as a function: {last.label} has given that name to something else."
        why = f"{name} is not defined: there is no function of that name in {self._submission.name}."
        hidden = self._why_not_run_here(name)
        if hidden:
            return f"{name} is not defined: {hidden}"
        like = self._similar_names(name, others)
        return f"{why} There is {like[0]}: is that it?" if like else why

    def _why_not_run_here(self, name: str) -> str:
        """Why a definition in the file did not run: its cell is not code, or only running the file executes it."""
        written = re.compile(rf"^([ \t]*)(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", re.MULTILINE)
        for cell in self._submission.no_code:
            if not written.search(cell.source[:MOST_LOOKED_AT]):
                continue
            if takes_the_body(cell.source):
                return f"{cell.label}, {why_not_run(cell.source)}. Take that line out."
            return f"{cell.label}, and no code. Make it a code cell (in Jupyter: Esc, then Y)."
        for cell in self._submission.cells:
            source = cell.source[:MOST_LOOKED_AT]
            found = written.search(source) if "__main__" in source else None
            if found and found[1] and self._submission.module != "__main__":
                return (
                    f'it stands under `if __name__ == "__main__":` ({cell.label}), which a check does not run. '
                    "Define it at the top level."
                )
        return ""

    def newer_than_graded(self, name: str, shown: str) -> str:
        """A sentence on a cell that failed to redefine `name`, so that an earlier definition was graded.

        Empty if there is no such cell, or `shown` already tells its problem.
        """
        problem = self.failed_to_redefine(name)
        if problem is None or problem.text in shown:
            return ""
        graded = "what was defined all the same" if problem.import_only else "what was defined before that"
        return f"{problem.text}; {graded} was graded."

    def kept_out(self, name: str) -> str:
        """A sentence on a cell that defines `name` but does not run because of a cell magic; "" if there is none."""
        written = re.compile(rf"^[ \t]*(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", re.MULTILINE)
        for cell in self._submission.no_code:
            if written.search(cell.source[:MOST_LOOKED_AT]) and takes_the_body(cell.source):
                return f"{cell.label}, {why_not_run(cell.source)}: its {name} was not graded."
        return ""

    def defined_again(self, name: str) -> str:
        """A sentence saying which cell counts, if several define a function; empty otherwise."""
        written = re.compile(rf"(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b")
        found = [cell for cell in self._submission.cells if any(map(written.match, _lines_with(name, cell)))]
        self.consulted = True
        if len(found) < 2 or any(cell.exercise not in ("", name) for cell in found):
            return ""
        return f" {found[0].label} defines {name}, too: what counts is the last one, {found[-1].label}."

    def _similar_names(self, name: str, others: Iterable[str]) -> list[str]:
        """The defined name most similar to `name`, if any; considers only names of similar length."""
        longest = (2 / ALIKE - 1) * len(name)
        shortest = len(name) ** 2 / longest
        known = self._defined_names.difference(others)
        return difflib.get_close_matches(name, [one for one in known if shortest <= len(one) <= longest], 1, ALIKE)

    @cached_property
    def _defined_names(self) -> set[str]:
        """The functions that the submission defines; the first `MOST_NAMES`."""
        matches = (match[1] for cell in self._submission.cells for match in _DEFINED.finditer(cell.source))
        found: set[str] = set()
        for name in matches:
            found.add(name)
            if len(found) == MOST_NAMES:
                break
        return found

    def _class_redefined_after(self, name: str, attached: Cell | None) -> Cell | None:
        """The cell that redefines a method's class after the cell that attached the method; None if there is none."""
        owner = name.rpartition(".")[0]
        if not owner or attached is None:
            return None
        made = re.compile(rf"class\s+{owner}\b")
        later = (one for one in self._submission.cells if one.number > attached.number)
        return next((one for one in later if any(map(made.match, _lines_with(owner, one)))), None)

    def calls(self, name: str, among: Iterable[str]) -> str:
        """The first function in `among` that the definition of `name` calls by name; empty if none."""
        cell = max((cell for cell in self._submission.cells if _should_define(cell, name)), key=_number, default=None)
        source = cell.source[:MOST_LOOKED_AT] if cell else ""
        definition = rf"^(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b.*(?:\n(?:[ \t#)].*|))*"
        block = re.search(definition, source, re.MULTILINE)
        code = _NO_CODE.sub("", block[0]) if block else ""
        called = next((one for one in among if re.search(rf"(?<![\w.]){re.escape(one)}\s*\(", code)), "")
        self.consulted |= bool(called)
        return called

    def other_order(self, name: str, parameters: Sequence[str]) -> str:
        """A sentence, if `name` takes its parameters in another order than it is called with; empty otherwise."""
        cell = max((cell for cell in self._submission.cells if _should_define(cell, name)), key=_number, default=None)
        taken = _parameters(cell.source, name) if cell and len(cell.source) <= MOST_LOOKED_AT else []
        if taken == list(parameters) or sorted(taken) != sorted(parameters):
            return ""
        return f"{name} is called with ({', '.join(parameters)}), in this order, and yours takes ({', '.join(taken)})."

    def says(self, text: str) -> bool:
        """Whether the submission's source contains this text, so that showing it reveals nothing about inputs."""
        self.consulted = True
        return any(text in cell.source for cell in self._submission.cells)

    def hint_about(self, failure: Failure) -> str:
        """For a NameError, the cell that would define the name; for `^` or a tuple from `grad`, a tip."""
        self.consulted = True
        if failure.kind == "TypeError" and "can be converted to an index" in failure.message and self.says("grad("):
            return "\nIs one factor a tuple? torch.autograd.grad gives one, even for one tensor: (g,) = grad(…)"
        if failure.kind == "TypeError" and re.search(r"for \^=?:|'bitwise_xor'", failure.message) and self.says("^"):
            return "\nIn Python a power is written with `**`: x ** 2. `^` compares bits."
        return self._earlier_problem(failure.message) if failure.kind == "NameError" else ""

    def _earlier_problem(self, message: str, known: CellProblem | None = None) -> str:
        """A line on the first failed cell that mentions the undefined name; `known` was already reported."""
        match = re.search(r"name '(\w+)' is not defined", message)
        if match is None:
            return ""
        for problem in self._problems:
            if problem is not known and re.search(rf"\b{match[1]}\b", problem.cell.source):
                return f"\nBefore that, {problem.text}."
        return ""


def _parameters(source: str, name: str) -> list[str]:
    """The parameter names of a function or a class's `__init__`; empty if the source cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name]
    last = found[-1] if found else None
    if isinstance(last, ast.ClassDef):
        made = [node for node in last.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
        return [one.arg for one in made[-1].args.args[1:]] if made else []
    return [one.arg for one in last.args.args] if last else []


def defined_later(message: str, cell: Cell, cells: Iterable[Cell]) -> Cell | None:
    """The cell below `cell` that defines the name in a NameError's `message`; None if none does."""
    match = re.search(r"name '(\w+)' is not defined", message)
    if match is None:
        return None
    name = re.escape(match[1])
    defines = re.compile(
        rf"(?:(?:async\s+)?def|class)\s+{name}\b|{name}\s*(?::[^=]+)?=(?!=)|(?:from|import)\s.*\b{name}\b"
    )
    return next(
        (one for one in cells if one.number > cell.number and any(map(defines.match, _lines_with(match[1], one)))), None
    )


def _number(cell: Cell) -> int:
    return cell.number


def _only_assigns(cell: Cell, name: str) -> bool:
    """Whether the cell only assigns to `name`, as in `backward = backward(c)`, and is not that exercise's own cell."""
    known = re.escape(name)
    written = re.search(rf"^[ \t]*(?:async\s+)?(?:def|class)\s+{known}\b", cell.source, re.MULTILINE)
    return (
        cell.exercise != name and written is None and bool(re.search(rf"^{known}\s*=(?!=)", cell.source, re.MULTILINE))
    )


def _should_define(cell: Cell, name: str) -> bool:
    if cell.exercise == name:
        return True
    known = re.escape(name)
    definition = re.compile(rf"[ \t]*(?:async\s+)?(?:def|class)\s+{known}\b|{known}\s*=")
    return any(map(definition.match, _lines_with(name, cell)))


def _lines_with(text: str, cell: Cell) -> Iterator[str]:
    """The lines of a cell that contain `text`, up to `MOST_LINES`, because a cell may have a million."""
    source, end = cell.source, 0
    for _ in range(MOST_LINES):
        place = source.find(text, end)
        if place < 0:
            return
        start, end = source.rfind("\n", 0, place) + 1, source.find("\n", place)
        end = len(source) if end < 0 else end
        yield source[start : min(end, start + MOST_LOOKED_AT)]
