"""The card of a check in a page, as data: a notebook's card without the parts that need a terminal.

`book/_page/card.js` builds DOM nodes from it, because this process has run the reader's code and may not send HTML.
"""

from __future__ import annotations

from typing import Any

from autograder.judging.records.results import ExerciseResult
from autograder.notebook import card
from course.syllabus import Exercise


def shown(exercise: Exercise, result: ExerciseResult, notes: str = "") -> dict[str, Any]:
    """The card's content in blocks (`card.Block`), and the parts of the result that a page stores.

    `notes`: what the judge notes beside the message, in sentences.
    """
    blocks = card.described(result.message) if result.message else []
    blocks += [{"cause": "", "rest": f"Note: {notes}"}] * bool(notes)
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
        "next": result.next_part,
    }
