"""The card of a check in a page: a notebook's, less what only somebody at a terminal can do, and as data.

The page makes nodes of it (`book/_page/card.js`): the process that says it has run the reader's code.
"""

from __future__ import annotations

from typing import Any

from autograder.judging.records.results import ExerciseResult
from autograder.notebook import card
from course.syllabus import Exercise


def shown(exercise: Exercise, result: ExerciseResult) -> dict[str, Any]:
    """What the card says in blocks (`card.Block`), and what a page remembers of the result."""
    blocks = card.described(result.message) if result.message else []
    if result.status != "passed":
        if result.code:
            blocks.append({"summary": "This case as code, with every digit", "inside": [{"lines": result.code}]})
        blocks += card.hint_blocks(exercise.hints)
    return {
        "status": result.status,
        "points": result.points,
        "misconception": result.misconception,
        "message": result.message,
        "blocks": blocks,
    }
