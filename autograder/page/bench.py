"""Runs a reader's functions in a page outside of a check: on the case of a card, or in code of the reader's own.

Nothing that it says decides points. What the reader's code prints goes to stdout, which the page shows.
"""

from __future__ import annotations

import ast
import json
import linecache
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from types import ModuleType
from typing import Any

import numpy as np

import autograder.page.wide  # noqa: F401  # before a reader's code meets NumPy's functions
from autograder.diagnosis.case import render_case
from autograder.diagnosis.equality import mismatch
from autograder.judging.asking.here_run import CELL_SECONDS as SECONDS  # for a call of a card's case, too
from autograder.judging.records.record import paired
from autograder.page.live import drawn_by, no_input
from autograder.page.quiet import Nowhere
from autograder.page.relabelled import in_a_page
from autograder.page.traces import HERE, place_in, place_of, short
from autograder.submission import SubmissionError, parse_submission
from autograder.values import literal, summarise
from autograder.worker.execution import Program
from autograder.worker.lines import lines_of
from autograder.worker.time_limit import limited

MODULE = "bench"
"""Name of the module that gets the reader's answers; it is made anew for each run."""
TALL = 60
"""Most lines of the returned values."""
SHOWN = 200
"""Arrays with more entries are shown in part."""
Said = dict[str, Any]


def program_of(slug: str, notebook: str, exercise: str) -> tuple[Program, str]:
    """The reader's answers of a lesson after their cells have run, in silence, and what ended a cell of the exercise.

    Raises `SubmissionError` if the notebook cannot be read.
    """
    submission = in_a_page(parse_submission(f"{slug}.ipynb", notebook.encode()))
    program, ended = Program(MODULE), ""
    program.module.__dict__["input"] = no_input
    with redirect_stdout(Nowhere()):
        for cell in submission.cells:
            with limited(SECONDS) as limit:
                failure = program.run_cell(cell.source, cell.label, cell.offset)
            if limit.passed:
                ended = ended or f"{cell.label} did not end within {SECONDS:g} seconds: it was at {limit.where}."
            elif failure is not None and cell.exercise == exercise:
                ended = ended or f"{failure.place}: {failure.kind}: {failure.message}"
    return program, ended


def look(slug: str, exercise: str, notebook: str, case: str) -> Said:
    """Call the reader's function on a card's case, and set what it returns beside what is expected.

    Args:
        case: what `judging.explaining.shown_case.case_of` wrote.

    Returns:
        `lines`, in which a `*` precedes entries that differ; `error`, a short traceback, or "" ; `line`, the reader's
        line in the exercise's cells that raised, or None.
    """
    try:
        program, ended = program_of(slug, notebook, exercise)
    except SubmissionError as error:
        return {"error": str(error)}
    if not program.defined(json.loads(case)["function"]):
        return {"error": ended or f"{json.loads(case)['function']} is not defined."}
    return _looked(program, exercise, json.loads(case))


def _looked(program: Program, exercise: str, case: Said) -> Said:
    args, kwargs = _arguments(case)
    before = _arguments(case)
    try:
        with limited(SECONDS) as limit, _as_in_checks():
            value = program.call(case["function"], args, kwargs)
        if limit.passed:
            late = f"It did not return within {SECONDS:g} seconds, and was stopped at {limit.where}."
            return {"error": late, "line": place_in(limit.where, exercise)}
    except BaseException as error:
        return {"error": short(error), "line": place_of(error, exercise)}
    said = _compared(value, case)
    names = [name for name, _ in case["arguments"]]
    pairs = zip(names, (*args, *kwargs.values()), (*before[0], *before[1].values()), strict=True)
    changed = [name for name, after, was in pairs if mismatch(after, was, name=name, rtol=0, atol=0)]
    return {"lines": "\n".join([*said, *(f"It has changed its argument {name}." for name in changed)])}


@contextmanager
def _as_in_checks() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def _arguments(case: Said) -> tuple[list[Any], dict[str, Any]]:
    """New values of the call's arguments. The code is ours: `case_of` wrote it."""
    values = [(name, _value(code)) for name, code in case["arguments"]]
    at = case["positional"]
    return [value for _, value in values[:at]], dict(values[at:])


def _value(code: str | None) -> Any:
    return None if code is None else eval(code, {"np": np})


def _compared(value: Any, case: Said) -> list[str]:
    """The lines about what a function returned."""
    if case["expected"] is None:
        return ["It returns", *_shown(value)]
    tolerances = {"rtol": case["rtol"], "atol": case["atol"]}
    lines: list[str] = []
    for name, got, expected in paired(value, _value(case["expected"]), tuple(case["names"])):
        if mismatch(got, expected, name=name, **tolerances) is None:
            lines += [f"{name}: right", *_shown(got)]
        else:
            lines.append(render_case("", (), [(name, got, expected)], case="", height=TALL, **tolerances))
    return lines


def _shown(value: Any) -> list[str]:
    if isinstance(value, np.ndarray | np.generic):
        return [f"  {line}" for line in np.array2string(np.asarray(value), precision=6, threshold=SHOWN).split("\n")]
    if isinstance(value, tuple | list) and any(isinstance(part, np.ndarray) for part in value):
        return [line for part in value for line in _shown(part)]
    return [f"  {literal(value) or summarise(value)}"]


def without_untrue(module: ModuleType, case: str) -> str:
    """The case without what is expected, where a check compares something else than what the function returns.

    `module`: the reader's, after the check; a `print` says nothing now.
    """
    parts = json.loads(case) if case else {}
    if not case or parts["expected"] is None:
        return case
    args, kwargs = _arguments(parts)
    try:
        with redirect_stdout(Nowhere()), _as_in_checks():
            value = vars(module)[parts["function"]](*args, **kwargs)
    except BaseException:
        return case
    got = _value(parts["got"])
    same = parts["got"] is not None and mismatch(value, got, name="it", rtol=1e-6, atol=1e-9) is None
    return case if same else json.dumps(parts | {"expected": None})


def scratch(slug: str, exercise: str, notebook: str, code: str) -> Said:
    """Run code that may call the reader's answers of a lesson.

    Returns:
        `value`, the value of a last expression, or ""; `picture`, an SVG, if the value draws one; `error` and `line` as
        `look` gives them.
    """
    try:
        program, ended = program_of(slug, notebook, exercise)
    except SubmissionError as error:
        return {"error": str(error)}
    linecache.cache[HERE] = (len(code), None, lines_of(code, keepends=True), HERE)
    try:
        tree = ast.parse(code, HERE)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        program.execute(compile(tree, HERE, "exec", dont_inherit=True))
        if not isinstance(last, ast.Expr):
            return {"value": ""}
        value = eval(compile(ast.Expression(last.value), HERE, "eval", dont_inherit=True), program.module.__dict__)
        return {"value": "" if value is None else repr(value)} | drawn_by(value)
    except BaseException as error:
        said = short(error)
        return {"error": f"{ended}\n{said}" if ended else said, "line": place_of(error, exercise)}


def look_as_json(slug: str, exercise: str, notebook: str, case: str) -> str:
    """`look`, with its result as JSON for the worker."""
    return json.dumps(look(slug, exercise, notebook, case))


def scratch_as_json(slug: str, exercise: str, notebook: str, code: str) -> str:
    """`scratch`, with its result as JSON for the worker."""
    return json.dumps(scratch(slug, exercise, notebook, code))
