"""Draws a tape as SVG: forward arrows solid, gradients dashed, inputs on the left, text in the page's colour."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape

from course.tape.reading import Edge, Tape, short

VALUE, GRADIENT = "#1273de", "#c9620a"
"""The course's two colors, repeated from course/figures.py, which needs Matplotlib."""
BOX, HIGH, GAP, ROW = 100, 58, 58, 92
MARGIN = 8
LINE = 18


@dataclass
class _Spot:
    """The position of a box, or of a long edge where it crosses a column."""

    column: int
    before: list[int] = field(default_factory=list)
    """Indices of the spots in the previous column that lead here."""
    y: float = 0.0


def svg(tape: Tape) -> str:
    """The SVG text, without scripts, links or style sheets."""
    spots, ways = _lay_out(tape)
    columns = max((spot.column for spot in spots), default=-1) + 1
    width = max(columns * (BOX + GAP) - GAP + 2 * MARGIN, 340)
    high = max((spot.y for spot in spots), default=-HIGH / 2) + HIGH / 2 + MARGIN
    leave, arrive = _ports(tape, spots, ways, 0), _ports(tape, spots, ways, -1)
    parts = [
        _edge(edge, _points([spots[at] for at in way], leave[i], arrive[i]))
        for i, (edge, way) in enumerate(zip(tape.edges, ways, strict=True))
    ]
    parts += [_box(tape, at, spots[at]) for at in range(len(tape.boxes))]
    lines = [line for one in tape.lines for line in textwrap.wrap(one, int((width - 2 * MARGIN) / 6.6))]
    for i, line in enumerate(lines):
        parts.append(_text(MARGIN, high + LINE * (i + 1), line, anchor="start", size=13))
    high += LINE * len(lines) + MARGIN
    words = escape(f"Computation graph of {len(tape.boxes)} tensors. {' '.join(tape.lines)}".strip(), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{high:.0f}" '
        f'viewBox="0 0 {width:.0f} {high:.0f}" role="img" aria-label="{words}" font-family="sans-serif">'
        f"{''.join(parts)}</svg>"
    )


# ---- layout


def _lay_out(tape: Tape) -> tuple[list[_Spot], list[list[int]]]:
    """The spots of boxes and of long edges, and each edge's path as indices of spots, from parent to child."""
    spots = [_Spot(column) for column in _columns(tape)]
    ways: list[list[int]] = []
    for edge in tape.edges:
        way, last = [edge.parent], spots[edge.child].column
        for column in range(spots[edge.parent].column + 1, last):
            spots.append(_Spot(column, [way[-1]]))
            way.append(len(spots) - 1)
        spots[edge.child].before.append(way[-1])
        ways.append([*way, edge.child])
    by_column: dict[int, list[int]] = {}
    for at, spot in enumerate(spots):
        by_column.setdefault(spot.column, []).append(at)
    tallest = max(map(len, by_column.values()), default=0)
    for column in sorted(by_column):
        those = by_column[column]
        those.sort(key=lambda at: sum(spots[one].y for one in spots[at].before) / max(1, len(spots[at].before)))
        for row, at in enumerate(those):
            spots[at].y = MARGIN + HIGH / 2 + ROW * (row + (tallest - len(those)) / 2)
    return spots, ways


def _columns(tape: Tape) -> list[int]:
    """Each box's column: the longest path to it from a leaf or, if there is a cycle, its distance from the root."""
    columns = [0] * len(tape.boxes)
    if not tape.every and not any(box.freed for box in tape.boxes):
        for edge in tape.edges:  # in breadth-first order from the root
            columns[edge.parent] = columns[edge.parent] or (columns[edge.child] + 1) * (edge.parent > 0)
        return [max(columns) - column for column in columns]
    for _ in tape.boxes:
        before = columns[:]
        for edge in tape.edges:
            columns[edge.child] = max(columns[edge.child], columns[edge.parent] + 1)
        if columns == before:
            break
    return columns


def _ports(tape: Tape, spots: list[_Spot], ways: list[list[int]], end: int) -> list[float]:
    """Each edge's offset from the middle of the box's side where it leaves (`end` 0) or arrives (-1)."""
    shifts = [0.0] * len(ways)
    for at in range(len(tape.boxes)):
        mine = [i for i, way in enumerate(ways) if way[end] == at]
        mine.sort(key=lambda i: spots[ways[i][1 if end == 0 else -2]].y)
        apart = min(26.0, 44 / max(1, len(mine) - 1))
        for row, i in enumerate(mine):
            shifts[i] = apart * (row - (len(mine) - 1) / 2)
    return shifts


def _left(spot: _Spot) -> float:
    return MARGIN + spot.column * (BOX + GAP)


# ---- drawing


def _box(tape: Tape, at: int, spot: _Spot) -> str:
    box, x, y = tape.boxes[at], _left(spot), spot.y
    title = box.title if len(box.title) <= 15 else box.title[:14] + "…"
    parts = [
        f'<rect x="{x:.0f}" y="{y - HIGH / 2:.0f}" width="{BOX}" height="{HIGH}" rx="5" fill="none" '
        f'stroke="currentColor" stroke-width="{2 if not at else 1}"/>',
        _text(x + BOX / 2, y - 12, title, size=13, weight=600),
        _text(x + BOX / 2, y + 5, short(box.tensor.data), VALUE),
    ]
    if box.gradient:
        parts.append(_text(x + BOX / 2, y + 21, ("grad " if box.leaf else "") + box.gradient, GRADIENT))
    if box.more:
        parts.append(_text(x - 4, y - HIGH / 2 + 10, f"… {box.more} more", anchor="end", size=11))
    return f"<g>{''.join(parts)}</g>"


def _edge(edge: Edge, middle: list[tuple[float, float]]) -> str:
    """The forward arrow, and below it the dashed arrow of the gradient with its value."""
    forward, back = ([(x, y + shift) for x, y in middle] for shift in (-4, 4))
    parts = [_path(forward, VALUE, dashed=False), _path(back[::-1], GRADIENT, dashed=True)]
    if edge.parts:
        says = f"{edge.calls[0]}: {short(edge.parts[0])}" + (f" ×{len(edge.calls)}" if len(edge.calls) > 1 else "")
        (x1, y1), (x2, y2) = back[-2], back[-1]
        slope = (y2 - y1) / (x2 - x1 or 1.0)
        aside = 0 if abs(slope) < 0.2 else 16 if slope < 0 else -16  # to the side where a slanted line leaves room
        parts.append(_text((x1 + x2) / 2 + aside, (y1 + y2) / 2 + 11, says, GRADIENT, size=11))
    return f"<g>{''.join(parts)}</g>"


def _points(way: list[_Spot], leave: float, arrive: float) -> list[tuple[float, float]]:
    """The points of an edge from the parent's right side to the child's left side, through the columns between."""
    points = [(_left(way[0]) + BOX, way[0].y + leave)]
    for spot in way[1:-1]:
        points += [(_left(spot), spot.y), (_left(spot) + BOX, spot.y)]
    return [*points, (_left(way[-1]), way[-1].y + arrive)]


def _path(points: list[tuple[float, float]], color: str, dashed: bool) -> str:
    (x1, y1), (x2, y2) = points[-2], points[-1]
    length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1e-9)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    tip = " ".join(f"{x2 - 8 * ux + side * 4 * -uy:.1f},{y2 - 8 * uy + side * 4 * ux:.1f}" for side in (1, -1))
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in [*points[:-1], (x2 - 5 * ux, y2 - 5 * uy)])
    dash = ' stroke-dasharray="5 3"' if dashed else ""
    return (
        f'<path d="M{line}" fill="none" stroke="{color}" stroke-width="1.5"{dash}/>'
        f'<polygon points="{x2:.1f},{y2:.1f} {tip}" fill="{color}"/>'
    )


def _text(
    x: float,
    y: float,
    words: str,
    color: str = "currentColor",
    anchor: str = "middle",
    size: int = 12,
    weight: int = 400,
) -> str:
    ink = color if color == "currentColor" else f"color-mix(in srgb, {color} 70%, currentColor)"
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{ink}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )
