"""What a check cell shows: points that are a number, with the feedback around them."""

from __future__ import annotations

import html
from typing import Any

from autograder.sections import address_of, where_to_read
from course.syllabus import Exercise

_STYLE = {"passed": ("#15803d", "✓"), "partial": ("#b45309", "◐")}
_WRONG = ("#b91c1c", "✗")


class Feedback(float):
    """The points of an exercise. Its text is the bare number, because nbgrader reads that as the score."""

    text: str
    _html: str

    def __new__(cls, exercise: Exercise, result: dict[str, Any], hints: int, remark: str = "") -> Feedback:
        graded = result["exercises"][0]
        self = super().__new__(cls, graded["points"])
        lines = [graded["message"]] if graded["message"] else []
        lines += [f"Note: {result['message']}"] if result["message"] else []
        lines += [remark] if remark else []
        lines += [f"Hint {i}: {text}" for i, text in enumerate(exercise.hints[:hints], 1)]
        headline = f"{graded['name']}: {graded['status']}, {graded['points']:g} of {graded['max_points']:g} points"
        section = f"Section: {where_to_read(exercise)}"
        if graded["status"] != "passed":
            lines.append(section)
            if hints < len(exercise.hints):
                lines.append(f'Stuck? check("{exercise.name}", hint={hints + 1})')
        self.text = "\n".join([headline, *lines])
        color, glyph = _STYLE.get(graded["status"], _WRONG)
        body = "".join(
            f"<pre style='margin:.4em 0 0;white-space:pre-wrap'>{shown}</pre>"
            for line in lines
            for shown in [_linked(exercise, line) if line == section else html.escape(line)]
        )
        self._html = (
            f"<div style='border-left:4px solid {color};padding:.3em .8em'>"
            f"<b style='color:{color}'>{glyph} {html.escape(headline)}</b>{body}</div>"
        )
        return self

    def __repr__(self) -> str:
        return repr(float(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html}


def _linked(exercise: Exercise, text: str) -> str:
    """A line that leads to the exercise's section, if the book is published."""
    address = address_of(exercise)
    if not address:
        return html.escape(text)
    return f"<a href='{html.escape(address)}'>{html.escape(text)}</a>"


class CheckFailed(Exception):
    """An exercise earned no points; shown without a traceback."""

    def __init__(self, exercise: str, text: str) -> None:
        super().__init__(f"{exercise}: no points yet")
        self.text = text

    def _render_traceback_(self) -> list[str]:
        return [f"✗ {self.text}"]
