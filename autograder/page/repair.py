"""Looks for the repair of the answer that was checked last; in an archive with all that only this needs."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from autograder.judging.here import with_repair
from autograder.judging.records.errors import CheckError
from autograder.judging.repair_here import repair_here
from autograder.page.check import Say, card_of, last, telling
from autograder.page.quiet import Nowhere


def repaired(slug: str, exercise: str, say: Say = lambda text: None) -> dict[str, Any]:
    """The card of the last check, with the place of the change that makes the answer right; `error` if there is none.

    `say` gets progress texts; what the reader's code prints is dropped, because it runs a thousand times.
    """
    if not last or (last[0].judge.lesson.slug, last[0].checked.exercise.name) != (slug, exercise):
        return {"error": "This Python has not checked it."}
    asked = last[0]
    try:
        with telling(say), redirect_stdout(Nowhere()), redirect_stderr(Nowhere()):
            found = repair_here(asked.judge, asked.submission, asked.checked)
            if not found.message:
                return {"error": "No small change makes it right."}
            result = with_repair(asked.judge, asked.checked, found)
    except CheckError as error:
        return {"error": str(error)}
    return card_of(asked.checked, result) | {"more": False}


def as_json(slug: str, exercise: str, say: Say) -> str:
    """`repaired`, with its result as JSON for the worker."""
    return json.dumps(repaired(slug, exercise, say))
