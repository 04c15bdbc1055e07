"""The card of a check in a page: a notebook's, less what only somebody at a terminal can do."""

from __future__ import annotations

import html
from typing import Any

from autograder.judging.records.results import ExerciseResult
from autograder.notebook import card
from autograder.wording import points_in_words
from course.syllabus import Exercise


def shown(exercise: Exercise, result: ExerciseResult) -> dict[str, Any]:
    """The card as HTML, and what a page remembers of the result."""
    worth = points_in_words(result.points, result.max_points)
    parts = [card.heading(result.status, result.name, f"{worth}, {exercise.tier}")]
    parts += card.message(result.message) if result.message else []
    if result.status != "passed":
        if result.code:
            parts.append(card.opening("This case as code, with every digit", card.preformatted(result.code)))
        parts.append(card.hints(exercise.hints, 0))
    return {
        "name": result.name,
        "status": result.status,
        "points": result.points,
        "of": result.max_points,
        "misconception": result.misconception,
        "message": result.message,
        "said": f"{result.name}: {card.WORDS.get(result.status, result.status)}, {html.unescape(worth)}",
        "html": card.card(card.badge_of(result.status)[1], parts),
    }
