"""Helpers of the chapters: tables, numbers in words, and facts about a lesson from the syllabus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from IPython.display import Markdown, display

from course.syllabus import find_lesson

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]], align: str = "") -> None:
    """Show rows as a Markdown table; `align` is a string of l and r, by default l for the first column and r after."""
    align = align or "l" + "r" * (len(header) - 1)
    rule = [{"l": ":--", "r": "--:"}[side] for side in align]
    display(Markdown("\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in [header, rule, *rows])))


def exercise_table(slug: str) -> None:
    """Show the exercises of a lesson with tier, points and a link to the section that teaches each.

    The cell needs `markdown_format: myst`, which gives a link without text the heading of its section.
    """
    lesson = find_lesson(slug)
    rows = [[f"`{e.name}`", e.tier, f"{e.points:g}", f"[](#{e.anchor})"] for e in lesson.exercises]
    table(["exercise", "tier", "points", "section"], [*rows, ["all", "", f"**{lesson.points:g}**", ""]], align="llrl")


def number(value: float, digits: int = 4) -> str:
    """A number with `digits` significant digits, a real minus sign, and 0 instead of −0."""
    return f"{round(float(value), 9) + 0.0:.{digits}g}".replace("-", "−")


def power_of_ten(value: float, digits: int = 1) -> str:
    """0.000023 as 2.3 × 10⁻⁵."""
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa}\u00a0×\u00a010{str(int(exponent)).translate(_RAISED)}"


def size(n_bytes: float) -> str:
    """Bytes in words; 1 kB is 1,000 bytes."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:,.3g} {unit}" if n_bytes < 999.5 * scale else f"{n_bytes / scale:,.0f} {unit}"
    return f"{n_bytes:,.0f} B"
