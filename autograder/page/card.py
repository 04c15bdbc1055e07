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
        "next": next_part(exercise, result),
    }


def next_part(exercise: Exercise, result: ExerciseResult) -> str:
    """The first part that is not written, if all failing checks lack such a part and nothing that is written is wrong.

    Returns "" if that is not so, or if the answer has earned nothing yet.
    """
    stubs = {f"{exercise.name} ({part}) is not written yet.": part for part in exercise.parts}
    failing = [check for check in result.checks if not check.passed]
    lacking = {stubs.get(check.message) for check in failing if check.visible}
    hidden = f"On a hidden input {exercise.name} is not there"
    wrong = None in lacking or any(not check.message.startswith(hidden) for check in failing if not check.visible)
    return next((part for part in exercise.parts if part in lacking), "") if result.points and not wrong else ""
