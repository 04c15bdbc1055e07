"""Runs a cell of a page after the statements of earlier cells that it needs."""

from __future__ import annotations

import ast
import importlib
import json
import linecache
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

from autograder.page.needs import Statement, free, imports, needed, parsed, statements
from autograder.page.quiet import Nowhere
from autograder.worker.lines import lines_of

ELSEWHERE = {"torch": "PyTorch", "matplotlib": "Matplotlib", "IPython": "IPython", "myst_nb": "the book's own tools"}
"""Packages that a page lacks, with the names that readers know."""
IN_A_PAGE = ("course.data", "course.graph", "course.memory", "course.published", "course.syllabus", "course.tape")
"""Modules of the course that a page has."""
HERE = "this cell"
"""File name of the cell in tracebacks; earlier cells are `cell 3 above`."""


@dataclass
class Plan:
    """What a cell needs in order to run."""

    first: list[Statement] = field(default_factory=list)
    elsewhere: str = ""
    """The package that the cell needs and a page lacks, by its readable name; "" if none."""
    answers: dict[str, list[str]] = field(default_factory=dict)
    """Exercises that it needs, by lesson."""
    numpy: bool = False
    data: bool = False
    """Whether it needs the digits' data."""


def plan(cells: Sequence[str], at: int, lessons: Sequence[str] = ()) -> Plan:
    """Plan the run of cell `at`; `lessons` are modules with exercises. Raises `SyntaxError` if it is not Python."""
    found = Plan(needed(cells, at, ELSEWHERE))
    used = set(free(cells[at])).union(*(one.uses for one in found.first))
    for source in (*(one.source for one in found.first), cells[at]):
        for module, names in imports(source):
            root = module.partition(".")[0]
            if module in lessons:
                named = _attributes(cells[at], found.first, source)
                if names:
                    named = [name for name in names if name in used or source == cells[at]]
                found.answers[module] = list(dict.fromkeys([*found.answers.get(module, []), *named]))
            elif root in ELSEWHERE:
                found.elsewhere = ELSEWHERE[root]
            elif root == "course" and module not in IN_A_PAGE:
                found.elsewhere = found.elsewhere or _wants(module)
            found.data |= module == "course.data"
            found.numpy |= root == "numpy" or found.data
    return found


def _attributes(cell: str, first: Sequence[Statement], imported: str) -> list[str]:
    """Attributes used of a module imported under another name: `import ch06_vjps as vjps`, then `vjps.relu_vjp`."""
    names = {one.asname for node in ast.walk(parsed(imported)) if isinstance(node, ast.Import) for one in node.names}
    trees = [parsed(source) for source in (*(one.source for one in first), cell)]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return [node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id in names]


def _wants(module: str) -> str:
    words = {"course.figures": "Matplotlib", "course.pages": "the book's own tools", "course.widgets": "a notebook"}
    return words.get(module, "PyTorch")


class State:
    """A page's namespace, and the statement that gave each name its value."""

    def __init__(self) -> None:
        self.module = ModuleType("__main__")
        self.module.__dict__["input"] = no_input
        sys.modules["__main__"] = self.module
        self.given: dict[str, Statement | None] = {}

    def run(self, cells: Sequence[str], at: int, answers: Mapping[str, ModuleType]) -> dict[str, Any]:
        """Run cell `at` after the statements that it needs; return its value or its error. It prints to stdout."""
        try:
            found = plan(cells, at, list(answers))
        except SyntaxError:
            found = Plan()  # running the cell reports the error
        self._take(answers)
        before = self._outdated(found.first)
        place = ""
        try:
            for one in before:
                place = f"cell {one.cell + 1} above"
                self._above(one, place)
                self.given |= dict.fromkeys(one.touches, one)
            place = HERE
            value = self._cell(cells[at])
        except BaseException as error:
            self._forget(cells[at])
            return {"error": told(error), "above": 0 if place == HERE else one.cell + 1, "ran": 0}
        self._forget(cells[at])
        shown = {"value": "" if value is None else repr(value), "ran": len({one.cell for one in before})}
        return shown | drawn_by(value)

    def _take(self, answers: Mapping[str, ModuleType]) -> None:
        """Install the lessons' modules; mark statements that imported a replaced one as outdated."""
        for slug, module in answers.items():
            if sys.modules.get(slug) is not module:
                sys.modules[slug] = module
                for name, one in self.given.items():
                    if one is not None and any(imported == slug for imported, _ in imports(one.source)):
                        self.given[name] = None

    def _outdated(self, first: Sequence[Statement]) -> list[Statement]:
        """The statements to run: those whose names lack a value or were bound by another statement, and dependents."""
        last = {name: one for one in first for name in one.touches}
        wrong = {name for name, one in last.items() if self.given.get(name) != one}
        found: list[Statement] = []
        for one in reversed(first):
            if one.touches & wrong:
                found.append(one)
                wrong |= one.uses & last.keys() if any(b.touches & one.uses & wrong for b in first) else set()
        again, names = [], set[str]()
        for one in first:  # also rerun statements that use a name which is bound again
            if one in found or one.uses & names:
                again.append(one)
                names |= one.touches
        return again

    def _above(self, one: Statement, label: str) -> None:
        quiet = sys.stdout
        sys.stdout = Nowhere()
        try:
            self._execute("\n" * (one.line - 1) + one.source, label)
        finally:
            sys.stdout = quiet

    def _cell(self, source: str) -> Any:
        """Run the reader's cell; return the value of its last statement if that is an expression, else None."""
        tree = ast.parse(source, HERE)
        _remember(source, HERE)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, HERE, "exec", dont_inherit=True), self.module.__dict__)
        if last is None:
            return None
        assert isinstance(last, ast.Expr)
        return eval(compile(ast.Expression(last.value), HERE, "eval", dont_inherit=True), self.module.__dict__)

    def _execute(self, source: str, label: str) -> None:
        _remember(source, label)
        exec(compile(source, label, "exec", dont_inherit=True), self.module.__dict__)

    def _forget(self, source: str) -> None:
        """Mark the names that the cell has bound or changed as outdated, so that other cells do not build on them."""
        try:
            bound = [name for one in statements(-1, source) for name in one.touches]
        except SyntaxError:
            return
        self.given |= dict.fromkeys(bound)


def drawn_by(value: Any) -> dict[str, str]:
    """The value's `_repr_svg_`, if it has one. The page's `picture.js` keeps only shapes and text of it."""
    draws = getattr(type(value), "_repr_svg_", None)
    return {"picture": str(draws(value))} if callable(draws) else {}


def no_input(prompt: object = "") -> NoReturn:
    """Replaces `input`, because a page's Python cannot wait for an answer."""
    raise EOFError("a page cannot ask with input(); write the value into the code")


def _remember(source: str, label: str) -> None:
    linecache.cache[label] = (len(source), None, lines_of(source, keepends=True), label)


MOST = 60
"""A longer traceback is cut to this many lines, half from its start and half from its end."""


def told(error: BaseException) -> str:
    """A traceback as Python prints it, starting at the first frame of the page's code."""
    shown = traceback.TracebackException.from_exception(error)
    seen: traceback.TracebackException | None = shown
    while seen is not None:
        inside = [i for i, frame in enumerate(seen.stack) if _of_the_page(frame)]
        del seen.stack[: inside[0] if inside else len(seen.stack)]
        if seen.stack and seen.stack[-1].name == no_input.__name__:
            del seen.stack[-1]
        seen = seen.__cause__ or seen.__context__
    text = "".join(shown.format()).rstrip()
    nowhere = not (shown.stack or shown.__cause__ or shown.__context__)
    return _shortened(text.removeprefix("Traceback (most recent call last):\n") if nowhere else text)


def _of_the_page(frame: traceback.FrameSummary) -> bool:
    return frame.filename == HERE or frame.filename.endswith(" above")


def _shortened(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= MOST:
        return text
    left_out = f"  [{len(lines) - MOST} more lines]"
    return "\n".join([*lines[: MOST // 2], left_out, *lines[-MOST // 2 :]])


_state = State()


def plan_as_json(cells: str, at: int, lessons: str) -> str:
    """`plan`, with its result as JSON for the worker."""
    try:
        found = plan(json.loads(cells), at, json.loads(lessons))
    except SyntaxError:
        found = Plan()
    asked = {"elsewhere": found.elsewhere, "answers": found.answers, "numpy": found.numpy, "data": found.data}
    return json.dumps(asked)


def run_as_json(cells: str, at: int, answers: str) -> str:
    """`State.run`, with its result as JSON for the worker. `answers` has the arguments of `answers_of`, by lesson."""
    if find_spec("numpy"):  # it is fetched only when a cell imports it
        importlib.import_module("autograder.page.wide")
    given = {slug: _kept(slug, text) for slug, text in json.loads(answers).items()}
    return json.dumps(_state.run(json.loads(cells), at, given))


@lru_cache(maxsize=32)
def _kept(slug: str, text: str) -> ModuleType:
    """`answers_of`, cached: equal answers give the same module, so statements that imported it stay valid."""
    return answers_of(slug, **json.loads(text))


def answers_of(slug: str, notebook: str, own: Sequence[str], solved: str | None) -> ModuleType:
    """A module with a lesson's exercises for a page's cells: the reader's answers to `own`, the course's to others.

    Args:
        notebook: the lesson's notebook with the reader's answers, as JSON.
        own: exercises for which the reader's answer is used.
        solved: source of the lesson's solutions; None if this copy of the book has none.
    """
    submission = importlib.import_module("autograder.submission").parse_submission(f"{slug}.ipynb", notebook.encode())
    mine = _ran(f"{slug}_here", [(cell.source, cell.label) for cell in submission.cells])
    if solved is None:
        return mine
    module = _ran(slug, [(solved, "cell of the course")])
    module.__dict__.update({name: vars(mine)[name] for name in own if name in vars(mine)})
    return module


def _ran(name: str, cells: Sequence[tuple[str, str]]) -> ModuleType:
    """The module with the definitions of the cells; failed cells are skipped."""
    program = importlib.import_module("autograder.worker.execution").Program(name)
    for source, label in cells:
        program.run_cell(source, label, 0)
    module: ModuleType = program.module
    return module
