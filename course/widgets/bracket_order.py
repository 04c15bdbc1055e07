"""The widget of all bracketings of a product of four Jacobians, with the FLOPs of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from IPython.display import HTML

from course.experiments.bracket_order import Tree, bracketings, flops, written
from course.widgets import plain_table, require_stops, show
from course.widgets.frames import Frame

JACOBIANS = 4
WIDTHS = tuple(2**i for i in range(11))
"""The values of the sliders."""
ORDERS: Mapping[str, Tree] = dict(
    zip(("output", "outer-output", "halves", "outer-input", "input"), bracketings(JACOBIANS), strict=True)
)
"""All bracketings of `JACOBIANS` Jacobians, by their names in URLs."""
NAMES = {"output": "from the output end", "halves": "two halves", "input": "from the input end"}
CHAINS = {
    "A loss": (256, 256, 256, 256, 1),
    "Bottleneck": (256, 256, 2, 256, 256),
    "All alike": (256, 256, 256, 256, 256),
}
"""The widths that each button sets, input end first."""


def _noscript_table() -> str:
    """A table of the FLOPs of each order for some chains, for readers without JavaScript."""
    chains = {"a loss": CHAINS["A loss"], "turned round": CHAINS["A loss"][::-1], "bottleneck": CHAINS["Bottleneck"]}
    head = ["order", *(f"{name}, {' → '.join(map(str, widths))}" for name, widths in chains.items())]
    return plain_table(
        head, [[written(tree), *(f"{flops(tree, widths):,}" for widths in chains.values())] for tree in ORDERS.values()]
    )


def bracket_order(
    widths: Sequence[int] = CHAINS["A loss"], order: str = "output", figure: str = "", frame: Frame | None = None
) -> HTML:
    """The FLOPs of every bracketing of J₄J₃J₂J₁, and one of them step by step, with a slider for each width.

    It starts with these `JACOBIANS` + 1 widths, input end first, and this key of `ORDERS`. `ValueError` if their number
    differs, a width is not in `WIDTHS`, or the order is unknown.
    """
    if len(widths) != JACOBIANS + 1:
        raise ValueError(f"{JACOBIANS} Jacobians have {JACOBIANS + 1} widths, not {len(widths)}")
    start = {**{f"n{i}": width for i, width in enumerate(widths)}, "order": order}
    require_stops(start, {**{f"n{i}": WIDTHS for i in range(JACOBIANS + 1)}, "order": tuple(ORDERS)})
    orders = {
        name: {"tree": tree, "words": written(tree), "name": NAMES.get(name, "")} for name, tree in ORDERS.items()
    }
    values = {"start": start, "stops": WIDTHS, "orders": orders, "chains": CHAINS}
    return show("bracket_order", values, figure, frame, _noscript_table())
