"""The results of check cells: numbers of points that Jupyter displays as cards."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from autograder.learning.solutions import NoSolutions, solution_of
from autograder.notebook import card
from autograder.notebook.executed import shell
from autograder.sections import address_of, where_to_read
from autograder.wording import counted, points_in_words
from course.syllabus import Exercise, Lesson

AS_HANDED_OUT = " is as it was handed out."
"""What a message says, after the exercise's name, of a program that the learner has not begun to repair."""


class Shown:
    """A result that is displayed as text in a terminal and as a card in a notebook."""

    text: str
    _html: str
    seen = False
    """Whether IPython has displayed it: by itself it displays only the value of a cell's last line."""

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        self.seen = True
        return {"text/plain": self._plain(), "text/html": self._html}

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self._plain())

    def _plain(self) -> str:
        return self.text


class Feedback(Shown, float):
    """The points of an exercise. In a notebook its text is the bare number, because nbgrader reads that as the score.

    Args:
        exercise: the graded exercise.
        result: the judge's answer; its `code` is the failing call with every digit.
        hints: how many hints to show.
        remark: a note to show after the judge's message; may be empty.
        following: the exercise to go on with; None after the last.
    """

    def __new__(
        cls,
        exercise: Exercise,
        result: dict[str, Any],
        hints: int,
        remark: str = "",
        following: Exercise | None = None,
    ) -> Feedback:
        graded = result["exercises"][0]
        self = super().__new__(cls, graded["points"])
        status, said = graded["status"], graded["message"]
        only = result.get("visible_only", False)
        worth = points_in_words(graded["points"], graded["max_points"], visible_only=only)
        notes = [f"Note: {result['message']}"] * bool(result["message"]) + [remark] * bool(remark)
        shown = exercise.hints[:hints]
        lines = [said] * bool(said) + notes + [f"Hint {i}: {text}" for i, text in enumerate(shown, 1)]
        if status != "passed":
            lines.append(f"Section: {where_to_read(exercise)}")
            if hints < len(exercise.hints):
                lines.append(f'Stuck? check("{exercise.name}", hint={hints + 1})')
        self.text = "\n".join([f"{graded['name']}: {status}, {worth}", *lines])
        if said == f"{exercise.name} is not written yet." and not notes and not shown:
            self._html = _unwritten(exercise)
            return self
        mark, _, seen = said.partition("\n")
        if mark == f"{exercise.name}{AS_HANDED_OUT}" and not notes and not shown:
            told = card.opening("What the check sees", "".join(card.message(seen)))
            self._html = _unwritten(exercise, "as it was handed out") + told
            return self
        parts = [card.heading(status, graded["name"], f"{worth}, {exercise.tier}")]
        parts += card.message(said) if said else []
        parts += [card.paragraph(html.escape(note)) for note in notes]
        if status == "passed":
            parts += _after(exercise, following)
        else:
            code = result.get("code", "")
            parts += [card.opening("This case as code, with every digit", card.preformatted(code))] * bool(code)
            parts += [card.hints(exercise.hints, hints), card.paragraph(_section(exercise))]
        self._html = card.card(card.badge_of(status)[1], parts)
        return self

    def __repr__(self) -> str:
        return repr(float(self))

    def _plain(self) -> str:
        """The number if a front end shows the card beside it, else the text."""
        return repr(self) if _has_cards() else self.text


class Notice(Shown, float):
    """A line about a request that could not be carried out; as a number it is 0."""

    def __new__(cls, text: str) -> Notice:
        self = super().__new__(cls, 0.0)
        self.text = text
        self._html = card.card(card.badge_of("failed")[1], card.message(text))
        return self

    def __repr__(self) -> str:
        return repr(float(self))


class State(Shown):
    """The state of a lesson: its points, and a line for each exercise."""

    def __init__(self, lesson: Lesson, result: dict[str, Any]) -> None:
        graded = {one["name"]: one for one in result["exercises"]}
        rows = [(exercise, graded[exercise.name]) for exercise in lesson.exercises if exercise.name in graded]
        only = result.get("visible_only", False)
        total = points_in_words(result["points"], result["max_points"], visible_only=only)
        width = max(len(exercise.name) for exercise, _ in rows)
        lines = [f"{lesson.title}: {total}"]
        for exercise, one in rows:
            worth = f"{one['points']:g}/{one['max_points']:g}"
            status = card.WORDS.get(one["status"], one["status"])
            lines.append(
                f"{card.badge_of(one['status'])[0]} {exercise.name:{width}}  {worth:>7}  {status}, {exercise.tier}"
            )
        lines += [f"Note: {result['message']}"] * bool(result["message"])
        left = [exercise for exercise, one in rows if one["status"] != "passed"]
        first = next((exercise for exercise in left if exercise.tier == "core"), left[0] if left else None)
        lines += [f'Go on with {first.name}: check("{first.name}")'] if first else []
        self.text = "\n".join(lines)
        cells = [
            (card.badge(one["status"]), _name(exercise), f"{one['points']:g} of {one['max_points']:g}", exercise.tier)
            for exercise, one in rows
        ]
        parts = [f"<div><b>{html.escape(lesson.title)}</b> {total}</div>"]
        parts.append(card.table(cells, ("", "exercise", "points", "")))
        parts += [card.paragraph(html.escape(f"Note: {result['message']}"))] * bool(result["message"])
        if first:
            parts.append(card.paragraph(f"Go on with {html.escape(first.name)}: {card.code(_check_of(first))}"))
        done = card.badge_of("missing" if left else "passed")[1]
        self._html = card.card(done, parts)

    def __repr__(self) -> str:
        return self.text


class CheckFailed(Exception):
    """Raised instead of returning no points when nbgrader runs the notebook; IPython shows it without a traceback."""

    def __init__(self, exercise: str, text: str) -> None:
        super().__init__(f"{exercise}: no points yet")
        self.text = text

    def _render_traceback_(self) -> list[str]:
        return [f"✗ {self.text}"]


def _unwritten(exercise: Exercise, how: str = "not written yet") -> str:
    """A line on an exercise that is not begun; no card, because "Run All" may show many of them."""
    words = f"{how} ({exercise.tier}, {counted(exercise.points, 'point')})"
    stuck = f"A hint: {card.code(_check_of(exercise, 1))}" if exercise.hints else ""
    return f"<div>○ <b>{html.escape(exercise.name)}</b>: {words}. {stuck}</div>"


def _after(exercise: Exercise, following: Exercise | None) -> Sequence[str]:
    """What to show when an exercise has passed: the next one, and the model solution if this copy has it."""
    compare = card.code(f"backprop solution {exercise.lesson.split('_')[0]}/{exercise.name}")
    go_on = f"Next: <b>{html.escape(following.name)}</b> ({following.tier}). " if following else ""
    parts = [card.paragraph(f"{go_on}The course's own way, in a terminal: {compare}")]
    try:
        model = solution_of(exercise)
    except NoSolutions:
        return parts
    why = card.paragraph(f"<b>Why.</b> {html.escape(exercise.why)}") if exercise.why else ""
    return [*parts, card.opening("The course's own way", card.preformatted(model) + why)]


def _check_of(exercise: Exercise, hint: int = 0) -> str:
    return f'check("{exercise.name}", hint={hint})' if hint else f'check("{exercise.name}")'


def _section(exercise: Exercise) -> str:
    """Where to read about an exercise: a link if the book is published, else a command."""
    address = address_of(exercise)
    words = f"{exercise.lesson.split('_')[0]}, {exercise.name}"
    return f"Read: {card.link(address, words) if address else card.code(where_to_read(exercise))}"


def _name(exercise: Exercise) -> str:
    address = address_of(exercise)
    return card.link(address, exercise.name) if address else html.escape(exercise.name)


def _has_cards() -> bool:
    """Whether the front end shows HTML: IPython runs in a kernel, not in a terminal."""
    return shell() is not None and hasattr(shell(), "kernel")
