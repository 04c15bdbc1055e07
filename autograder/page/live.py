"""Runs a cell of a page, and before it what it needs of the cells above."""

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
from autograder.worker.lines import lines_of

ELSEWHERE = {"torch": "PyTorch", "matplotlib": "Matplotlib", "IPython": "IPython", "myst_nb": "the book's own tools"}
"""Packages that a page does not have, as they are called."""
IN_A_PAGE = ("course.data", "course.graph", "course.memory", "course.published", "course.syllabus", "course.tape")
"""Modules of the course that a page has."""
HERE = "this cell"
"""What tracebacks call the cell; cells above are `cell 3 above`."""


@dataclass
class Plan:
    """What it takes to run a cell."""

    first: list[Statement] = field(default_factory=list)
    elsewhere: str = ""
    """What a page does not have and the cell needs, in words."""
    answers: dict[str, list[str]] = field(default_factory=dict)
    """By lesson: exercises that it needs."""
    numpy: bool = False
    data: bool = False
    """Whether it needs the digits."""


def plan(cells: Sequence[str], at: int, lessons: Sequence[str] = ()) -> Plan:
    """What the cell `at` needs: `lessons` are modules of exercises. `SyntaxError` where it is no Python."""
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
    """What code takes of a module that it imports under a name: `import ch06_vjps as vjps`, then `vjps.relu_vjp`."""
    names = {one.asname for node in ast.walk(parsed(imported)) if isinstance(node, ast.Import) for one in node.names}
    trees = [parsed(source) for source in (*(one.source for one in first), cell)]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return [node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id in names]


def _wants(module: str) -> str:
    words = {"course.figures": "Matplotlib", "course.pages": "the book's own tools", "course.widgets": "a notebook"}
    return words.get(module, "PyTorch")


class State:
    """The names of a page, and which statement has given each its value."""

    def __init__(self) -> None:
        self.module = ModuleType("__main__")
        self.module.__dict__["input"] = no_input
        sys.modules["__main__"] = self.module
        self.given: dict[str, Statement | None] = {}

    def run(self, cells: Sequence[str], at: int, answers: Mapping[str, ModuleType]) -> dict[str, Any]:
        """Run the cell `at` after what it needs; what it printed has gone to stdout by then."""
        try:
            found = plan(cells, at, list(answers))
        except SyntaxError:
            found = Plan()  # it is told when the cell runs
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
        return shown | _picture(value)

    def _take(self, answers: Mapping[str, ModuleType]) -> None:
        """Let lessons' modules be these; who imported others' functions is to do it again."""
        for slug, module in answers.items():
            if sys.modules.get(slug) is not module:
                sys.modules[slug] = module
                for name, one in self.given.items():
                    if one is not None and any(imported == slug for imported, _ in imports(one.source)):
                        self.given[name] = None

    def _outdated(self, first: Sequence[Statement]) -> list[Statement]:
        """Those of the statements whose names have no value yet, or had another one since."""
        last = {name: one for one in first for name in one.touches}
        wrong = {name for name, one in last.items() if self.given.get(name) != one}
        found: list[Statement] = []
        for one in reversed(first):
            if one.touches & wrong:
                found.append(one)
                wrong |= one.uses & last.keys() if any(b.touches & one.uses & wrong for b in first) else set()
        again, names = [], set[str]()
        for one in first:  # what is made of something that is made again is made again, too
            if one in found or one.uses & names:
                again.append(one)
                names |= one.touches
        return again

    def _above(self, one: Statement, label: str) -> None:
        quiet = sys.stdout
        sys.stdout = _Nowhere()
        try:
            self._execute("\n" * (one.line - 1) + one.source, label)
        finally:
            sys.stdout = quiet

    def _cell(self, source: str) -> Any:
        """Run the reader's cell; the value of its last line where that is an expression."""
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
        """What the cell itself has given or changed is no other cell's to build upon."""
        try:
            bound = [name for one in statements(-1, source) for name in one.touches]
        except SyntaxError:
            return
        self.given |= dict.fromkeys(bound)


def _picture(value: Any) -> dict[str, str]:
    """What draws itself for a notebook as SVG draws itself for a page, which takes of it what draws, and no program."""
    draws = getattr(type(value), "_repr_svg_", None)
    return {"picture": str(draws(value))} if callable(draws) else {}


def no_input(prompt: object = "") -> NoReturn:
    """In the place of `input`: a page's Python cannot wait for an answer."""
    raise EOFError("a page cannot ask with input(); write the value into the code")


class _Nowhere:
    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


def _remember(source: str, label: str) -> None:
    linecache.cache[label] = (len(source), None, lines_of(source, keepends=True), label)


MOST = 60
"""Lines of a traceback that are shown, first and last ones: of a long recursion nobody reads all."""


def told(error: BaseException) -> str:
    """A traceback as Python shows it, from the page's first line on."""
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
    """`plan` for the worker."""
    try:
        found = plan(json.loads(cells), at, json.loads(lessons))
    except SyntaxError:
        found = Plan()
    asked = {"elsewhere": found.elsewhere, "answers": found.answers, "numpy": found.numpy, "data": found.data}
    return json.dumps(asked)


def run_as_json(cells: str, at: int, answers: str) -> str:
    """`State.run` for the worker. `answers`: by lesson, what `answers_of` takes."""
    if find_spec("numpy"):  # it is fetched when a cell imports it
        importlib.import_module("autograder.page.wide")
    given = {slug: _kept(slug, text) for slug, text in json.loads(answers).items()}
    return json.dumps(_state.run(json.loads(cells), at, given))


@lru_cache(maxsize=32)
def _kept(slug: str, text: str) -> ModuleType:
    """The same answers are the same objects: nobody who has them is to take them again."""
    return answers_of(slug, **json.loads(text))


def answers_of(slug: str, notebook: str, own: Sequence[str], solved: str | None) -> ModuleType:
    """What a lesson's exercises are for a cell of the page: `own` ones are the reader's, others the course's.

    Args:
        notebook: the lesson's, with the reader's answers.
        solved: the lesson's solutions; None where a copy of the book has none.
    """
    submission = importlib.import_module("autograder.submission").parse_submission(f"{slug}.ipynb", notebook.encode())
    mine = _ran(f"{slug}_here", [(cell.source, cell.label) for cell in submission.cells])
    if solved is None:
        return mine
    module = _ran(slug, [(solved, "cell of the course")])
    module.__dict__.update({name: vars(mine)[name] for name in own if name in vars(mine)})
    return module


def _ran(name: str, cells: Sequence[tuple[str, str]]) -> ModuleType:
    """The module that cells fill, as far as they go."""
    program = importlib.import_module("autograder.worker.execution").Program(name)
    for source, label in cells:
        program.run_cell(source, label, 0)
    module: ModuleType = program.module
    return module
