"""Drawings of a layer with every array that it keeps for backward, at the wire or the step that has it (chapter 10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from course.figures import FORWARD, INK, NEUTRAL


@dataclass(frozen=True)
class Kept:
    """An array that is kept: its name and shape as drawn, and its bytes in the drawing's unit, `times` a factor."""

    name: str
    shape: str
    amount: float
    times: str = ""


@dataclass(frozen=True)
class Row:
    """One row of the drawing, from the top: a step in a box, or the wire from one box to the next.

    A wire that keeps nothing is dotted. A second wire goes from the box where `side` "begins" to the one where it
    "ends"; `beside` is kept on it. A residual connection goes from where `skip` "begins" to where it "ends".
    """

    box: str = ""
    kept: tuple[Kept, ...] = ()
    side: Literal["", "begins", "ends"] = ""
    beside: tuple[Kept, ...] = ()
    skip: Literal["", "begins", "ends"] = ""


COLUMN, SIDE, TAG, SHAPE, AMOUNT, SKIP = 1.25, 2.3, 2.75, 6.3, 7.45, 0.15
"""Where the column of boxes, the second wire, the three columns of text and the skip around the boxes are."""
BOX_ROW, LINE = 0.62, 0.4
"""The height of a row with a box, and of a line of text beside a wire."""


def amounts(rows: Sequence[Row]) -> list[float]:
    """What the drawing says is kept, array by array, from the top."""
    return [kept.amount for row in rows for kept in (*row.kept, *row.beside)]


def draw_layer(rows: Sequence[Row], unit: str, total: str, digits: int = 0) -> Figure:
    """Draw the rows from the top; `unit` heads the column of amounts, and `total` stands below it."""
    heights = [BOX_ROW if row.box else LINE * max(1, len(row.kept) + len(row.beside)) for row in rows]
    height = sum(heights)
    # as wide as a phone
    fig, ax = plt.subplots(figsize=(3.45, 0.47 * (height + 1.6)))
    ax.set(xlim=(-0.05, AMOUNT + 0.05), ylim=(height + 0.75, -0.85))
    ax.set_axis_off()
    for x, text, align in ((TAG, "kept", "left"), (SHAPE, "shape", "right"), (AMOUNT, unit, "right")):
        ax.text(x, -0.55, text, ha=align, va="center", fontsize=8, weight="bold", color=INK)
    top, begun, wire_began = 0.0, 0.0, 0.0
    for row, tall in zip(rows, heights, strict=True):
        middle, bottom = top + tall / 2, top + tall
        color = FORWARD if row.kept else NEUTRAL
        if row.box:
            look = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": INK, "linewidth": 1.1}
            ax.plot([COLUMN, COLUMN], [top, bottom], color=NEUTRAL, linewidth=1, zorder=1)
            ax.text(COLUMN, middle, row.box, ha="center", va="center", fontsize=8, color=INK, bbox=look, zorder=3)
        else:
            style: dict[str, Any] = {"linewidth": 2.4} if row.kept else {"linewidth": 1.2, "linestyle": (0, (1, 1.5))}
            ax.plot([COLUMN, COLUMN], [top, bottom], color=color, zorder=2, **style)
        if row.side == "begins":
            wire_began = middle
        elif row.side == "ends":
            corners = [wire_began, wire_began, middle, middle]
            ax.plot([COLUMN, SIDE, SIDE, COLUMN], corners, color=FORWARD, linewidth=2.4, zorder=1)
        if row.skip == "begins":
            begun = middle
        elif row.skip == "ends":
            ax.plot(
                [COLUMN, SKIP, SKIP, COLUMN], [begun, begun, middle, middle], color=NEUTRAL, linewidth=1.2, zorder=0
            )
        for at, kept, x in _placed(row, top, tall):
            if not row.box:
                ax.plot([x], [at], "o", color=FORWARD, markersize=4.5, zorder=5)
            ax.plot([x, TAG - 0.1], [at, at], color=FORWARD, linewidth=0.7, zorder=1)
            ax.text(TAG, at, kept.name, ha="left", va="center", fontsize=8, color=INK)
            ax.text(SHAPE, at, kept.shape, ha="right", va="center", fontsize=8, color=INK)
            ax.text(
                AMOUNT, at, f"{kept.amount:,.{digits}f}{kept.times}", ha="right", va="center", fontsize=8, color=INK
            )
        top = bottom
    ax.plot([TAG, AMOUNT], [height + 0.15] * 2, color=INK, linewidth=0.8)
    ax.text(TAG, height + 0.45, "all", ha="left", va="center", fontsize=8, weight="bold", color=INK)
    ax.text(AMOUNT, height + 0.45, total, ha="right", va="center", fontsize=8, weight="bold", color=INK)
    return fig


def _placed(row: Row, top: float, tall: float) -> Iterator[tuple[float, Kept, float]]:
    """The height, the array and the wire of each line of text of a row."""
    lines = [*((kept, COLUMN) for kept in row.kept), *((kept, SIDE) for kept in row.beside)]
    for i, (kept, x) in enumerate(lines):
        yield top + (i + 0.5) * tall / len(lines), kept, x
