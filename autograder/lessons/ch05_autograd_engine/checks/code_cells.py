"""Runs code, as a learner would type it into a cell, on the submission's Tensor, and checks the results."""

from __future__ import annotations

from typing import Any

from autograder.judging import EXACT, expect, expect_close
from autograder.judging.checking.measured import shown_as
from autograder.judging.records.record import current_record

Arrays = dict[str, Any]


def run(learner, code, leaves, ask, given=None):
    """The answers after a program: learner.scenario.run, with the arrays shown by name."""
    arguments = {"code": code, **leaves, **(given or {})}
    return shown_as(lambda: learner.scenario.run(code, leaves, ask, given or {}), arguments)


def without_notes(answers, own_tape=False):
    """A scenario's answers without its notes; with `own_tape`, also without the answers about the tape."""
    return {
        name: value
        for name, value in answers.items()
        if name not in ("changed", "own_tape") and not (own_tape and ("edges" in name or "recording" in name))
    }


def expect_answers(got, expected, *, case, by_hook=False, **tolerance):
    """Expect these answers and unchanged arrays; `by_hook`: blame a hook for changes."""
    changed = got.get("changed") if isinstance(got, dict) else None
    own_tape = isinstance(got, dict) and got.get("own_tape") is True
    if changed:
        names = " and ".join(map(str, changed))
        message = (
            f"{current_record().exercise} changed {names}, which others still need. Write only into arrays that you "
            "made: a += b changes a for all who hold it, a = a + b makes a new array."
        )
        if by_hook:
            message = f"The hook wrote into its argument, and so changed {names}: give each hook a copy."
        expect(False, message, case=case)
    got = without_notes(got, own_tape) if isinstance(got, dict) else got
    expect_close(got, without_notes(expected, own_tape), case=case, **tolerance)


def check_program(learner, reference, code, leaves, ask, given=None, *, case="", by_hook=False, **tolerance):
    """Check the answers after a program that calls `backward`."""
    arguments = (code, leaves, ask, given or {})
    got, expected = run(learner, *arguments), reference.scenario.run(*arguments)
    expect_answers(got, expected, case=case, by_hook=by_hook, **(tolerance or EXACT))


def normal(rng, *names, shape=(2,)) -> Arrays:
    """A random array for each name."""
    return {name: rng.normal(size=shape) for name in names}
