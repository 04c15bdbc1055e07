"""Draws the dashboard's figures as Matplotlib SVGs in the course's style, adapted to the page.

The page's policy forbids inline styles, and the page has a dark mode. So styles become attributes, and Matplotlib's
colors the page's variables. Text stays text, for search and screen readers.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from autograder.reports.plain_matplotlib import Figure, MaxNLocator, mpl
from autograder.reports.statistics import LessonStatistics
from course.figures import BACKWARD, FORWARD, INK, NEUTRAL, RIGHT, STYLE, WRONG

SVG = "{http://www.w3.org/2000/svg}"
WIDTH = 4.6
"""Inches, the width of a phone's screen, so that text keeps its size there."""
OWN_STYLE: list[str | Path | dict[str, Any]] = ["default", STYLE]
"""The course's style on top of Matplotlib's defaults, whatever the user's own configuration is."""
GROUND = "#fefefe"
"""Marks parts to be drawn in the page's background color."""
ON_PAGE = {
    FORWARD: "--forward",
    BACKWARD: "--partial",
    RIGHT: "--passed",
    WRONG: "--failed",
    NEUTRAL: "--missing",
    INK: "--ink",
    GROUND: "--card",
    "#4b5563": "--soft",  # tick labels
    "#6b7280": "--soft",  # axes
    "#e5e7eb": "--line",  # grid
}
"""The page's variable for each color of the course's style."""
PARTS = (("passed", RIGHT), ("partial", BACKWARD), ("not yet", WRONG), ("not written", NEUTRAL))
BINS = 20


def points_histogram(percent: Counter[int], label: str) -> Markup:
    """A histogram of students by their share of the points, in steps of 5 percent."""
    counts = np.zeros(BINS)
    for share, students in percent.items():
        counts[min(share * BINS // 100, BINS - 1)] += students
    with mpl.rc_context():
        mpl.style.use(OWN_STYLE)
        figure = Figure(figsize=(WIDTH, 2.2))
        ax = figure.subplots()
        edges = np.linspace(0, 100, BINS + 1)
        ax.bar(edges[:-1], counts, width=100 / BINS, align="edge", color=FORWARD, edgecolor=GROUND, linewidth=1)
        ax.set_xlim(0, 100)
        ax.set_xticks(range(0, 101, 20), labels=[f"{tick} %" for tick in range(0, 101, 20)])
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.set_xlabel("share of the points")
        ax.set_ylabel("students")
        ax.grid(axis="x", visible=False)
        return _svg(figure, "points", label)


def outcomes_chart(lesson: LessonStatistics, label: str) -> Markup:
    """A bar per exercise with the percentages of students who passed, got some points, failed, or wrote nothing."""
    exercises = [exercise for exercise in lesson.exercises.values() if exercise.students]
    at = np.arange(len(exercises))
    left = np.zeros(len(exercises))
    with mpl.rc_context():
        mpl.style.use(OWN_STYLE)
        figure = Figure(figsize=(WIDTH, 0.75 + 0.27 * len(exercises)))
        ax = figure.subplots()
        for part, (name, color) in enumerate(PARTS):
            widths = np.array([100 * _parts(exercise.statuses)[part] / exercise.students for exercise in exercises])
            ax.barh(at, widths, left=left, height=0.72, color=color, label=name, edgecolor=GROUND, linewidth=0.8)
            left += widths
        ax.set_yticks(at, labels=[exercise.name for exercise in exercises])
        ax.set_ylim(len(exercises) - 0.4, -0.6)
        ax.set_xlim(0, 100)
        ax.set_xticks([0, 50, 100], labels=["0", "50", "100 %"])
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        figure.legend(loc="outside upper left", ncols=4, handlelength=0.9, columnspacing=1.0, handletextpad=0.4)
        return _svg(figure, lesson.slug, label)


def _parts(statuses: Counter[str]) -> tuple[int, int, int, int]:
    passed, partial, missing = statuses["passed"], statuses["partial"], statuses["missing"]
    return passed, partial, statuses.total() - passed - partial - missing, missing


def _svg(figure: Figure, name: str, label: str) -> Markup:
    """The figure as an `<svg>` element without styles; `name` makes its ids unique in the page."""
    drawn = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    ET.register_namespace("", SVG[1:-1])
    root = ET.fromstring(re.sub(r"<!DOCTYPE.*?>", "", drawn.getvalue(), flags=re.DOTALL))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{SVG}metadata" or any(part.tag == f"{SVG}style" for part in child):
                parent.remove(child)
    used = set(re.findall(r"#([\w-]+)", " ".join(value for part in root.iter() for value in part.attrib.values())))
    for part in root.iter():
        for key, value in _declarations(part.attrib.pop("style", "")):
            part.set(key, value)
        if part.get("id") not in used:
            part.attrib.pop("id", None)
        for key in ("fill", "stroke"):
            color = part.get(key)
            if color in ON_PAGE:
                part.set(key, f"var({ON_PAGE[color]})")
        if part.tag == f"{SVG}text" and "fill" not in part.attrib:
            part.set("fill", "var(--ink)")
    for size in ("width", "height"):
        root.attrib.pop(size)
    root.attrib |= {"class": "figure", "role": "img", "aria-label": label, "stroke-linejoin": "round"}
    return Markup(ET.tostring(root, encoding="unicode"))  # ElementTree escaped every text


def _declarations(style: str) -> list[tuple[str, str]]:
    """A style's declarations as attributes, without the font family, which the page sets."""
    pairs = [declaration.split(":", 1) for declaration in style.split(";") if ":" in declaration]
    found = []
    for key, value in ((key.strip(), value.strip()) for key, value in pairs):
        if key == "font":
            found += [("font-size", match[1]) for match in [re.search(r"([\d.]+)px", value)] if match]
        elif key != "font-family":
            found.append((key, value))
    return found
