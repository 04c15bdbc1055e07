"""Descent through a quantizer, with the true slope, straight-through, and straight-through in a range."""

from __future__ import annotations

from IPython.display import HTML

from course.experiments.straight_through import BACKWARDS, QUANTIZERS, RECENT
from course.widgets import require_stops, show
from course.widgets.frames import Frame

WEIGHTS = tuple(i / 10 for i in range(-30, 31))
TARGETS = WEIGHTS
RATES = (0.02, 0.05, 0.1, 0.2, 0.5)
STEPS = tuple(range(61))
"""Where the sliders stop."""


def straight_through(
    q: str = "round",
    w: float = 1.3,
    target: float = 0.4,
    rate: float = 0.1,
    steps: int = 12,
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """A weight behind a quantizer, what three backwards pass to it, and where descent takes it with each.

    Shown first for this quantizer of `course.experiments.straight_through.QUANTIZERS`, a weight, the target of its
    rounded value, a learning rate, and a number of steps. A value at which no control stops is a `ValueError`.
    """
    start = {"q": q, "w": w, "target": target, "rate": rate, "steps": steps}
    stops = {"q": tuple(QUANTIZERS), "w": WEIGHTS, "target": TARGETS, "rate": RATES, "steps": STEPS}
    require_stops(start, stops)
    quantizers = {
        name: {"words": one.words, "levels": one.levels, "limit": one.limit} for name, one in QUANTIZERS.items()
    }
    values = {"start": start, "stops": stops, "quantizers": quantizers, "backwards": BACKWARDS, "recent": RECENT}
    return show("straight_through", values, figure, frame)
