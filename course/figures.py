"""The style of the course's figures, and drawings that several chapters use."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.patches import FancyArrowPatch
from matplotlib.text import Text
from numpy.typing import ArrayLike

FORWARD = "#1273de"
BACKWARD = "#c9620a"
RIGHT = "#136030"
WRONG = "#7b1f7a"
NEUTRAL = "#7b7f87"
"""The palette. Any two colors differ by more than 20 in CIELAB under every kind of dichromacy, and each has a contrast
of 4 with white. Do not rely on color alone: give lines labels or different styles."""

INK = "#1f2937"
STYLE = Path(__file__).with_name("course.mplstyle")


def style() -> None:
    """Use the course's style from here on; in a notebook, draw figures as SVG."""
    plt.style.use(STYLE)
    if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
        return  # outside a notebook, `set_matplotlib_formats` would start an IPython
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    set_matplotlib_formats("svg", metadata={"Date": None})


def graph(
    ax: Axes,
    nodes: Mapping[str, tuple[float, float]],
    edges: Sequence[tuple[str, ...]],
    *,
    backward: bool = True,
    highlight: Mapping[str, str] | None = None,
) -> None:
    """Draw a computation graph: values flow along solid arrows, gradients back along dashed ones.

    Args:
        nodes: the center (x, y) of each box by the text in it, which may have several lines; boxes are about 1 apart.
        edges: each `(start, end)`, `(start, end, backward label)` or `(start, end, backward label, forward label)`.
        backward: whether to draw the dashed arrows.
        highlight: other colors for single boxes.

    Raises:
        KeyError: an edge names a node that is not in `nodes`.
    """
    highlight = highlight or {}
    ax.set_axis_off()
    ax.set_aspect("equal")
    boxes = {name: _box(ax, name, at, highlight.get(name, NEUTRAL)) for name, at in nodes.items()}
    xs, ys = zip(*nodes.values(), strict=True)
    ax.set_xlim(min(xs) - 0.5, max(xs) + 0.5)
    ax.set_ylim(min(ys) - 0.45, max(ys) + 0.45)
    for start, end, *labels in edges:
        back_label, forward_label = (*labels, "", "")[:2]
        shift = 0.06 if backward else 0.0
        _arrow(ax, boxes[start], boxes[end], FORWARD, shift, forward_label, dashed=False)
        if backward:
            _arrow(ax, boxes[end], boxes[start], BACKWARD, shift, back_label, dashed=True)


def _box(ax: Axes, text: str, at: tuple[float, float], color: str) -> Text:
    look = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": color, "linewidth": 1.4}
    return ax.text(*at, text, ha="center", va="center", color=INK, bbox=look, zorder=3)


def _arrow(ax: Axes, tail: Text, head: Text, color: str, shift: float, label: str, *, dashed: bool) -> None:
    """An arrow from box to box, shifted to its right by `shift` so that opposite arrows run side by side."""
    start, end = np.array(tail.get_position()), np.array(head.get_position())
    along = (end - start) / np.linalg.norm(end - start)
    side = np.array([along[1], -along[0]])
    arrow = FancyArrowPatch(
        tuple(start + shift * side),
        tuple(end + shift * side),
        patchA=tail.get_bbox_patch(),
        patchB=head.get_bbox_patch(),
        arrowstyle="-|>",
        mutation_scale=10,
        linestyle=(0, (4, 2)) if dashed else "-",
        linewidth=1.4,
        color=color,
        zorder=4,  # drawn after the boxes: a box has no outline to end the arrow at before it is drawn
    )
    ax.add_patch(arrow)
    if label:
        align = "left" if side[0] > 0.4 else "right" if side[0] < -0.4 else "center"
        at = (start + end) / 2 + side * (shift + (0.13 if align == "center" else 0.07))
        ax.text(at[0], at[1], label, ha=align, va="center", color=color, fontsize=9, zorder=5)


def matrix(
    ax: Axes,
    values: ArrayLike,
    title: str = "",
    *,
    fmt: str = ".2f",
    limit: float | None = None,
) -> None:
    """Draw a small array as a grid of colored numbers: orange above zero, purple below, white at zero.

    Args:
        values: one or two axes; one axis is drawn as a row.
        fmt: the format of the numbers.
        limit: the magnitude with the full color; by default the largest in `values`. Use one `limit` for arrays to
            compare.

    Raises:
        ValueError: `values` has more than two axes.
    """
    grid = np.atleast_2d(np.asarray(values, dtype=float))
    if grid.ndim != 2:
        raise ValueError(f"matrix draws one or two axes, not {grid.ndim}")
    largest = limit or float(np.abs(grid).max(initial=0)) or 1.0
    ax.imshow(grid, cmap="PuOr_r", norm=Normalize(-2 * largest, 2 * largest))
    for (row, column), value in np.ndenumerate(grid):
        ax.text(column, row, format(value, fmt), ha="center", va="center", color=INK, fontsize=9)
    rows, columns = grid.shape
    ax.set_xticks(np.arange(columns + 1) - 0.5, labels=[])
    ax.set_yticks(np.arange(rows + 1) - 0.5, labels=[])
    ax.tick_params(length=0)
    ax.grid(color="white", linewidth=1.5)
    ax.set_axisbelow(False)
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=10)
