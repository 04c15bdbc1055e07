"""The widget of descent through a quantizer, with the true slope, straight-through, and clipped straight-through."""

from __future__ import annotations

from IPython.display import HTML

from course.experiments.straight_through import BACKWARDS, QUANTIZERS, RECENT
from course.widgets import require_stops, show
from course.widgets.frames import Frame

WEIGHTS = tuple(i / 10 for i in range(-30, 31))
TARGETS = WEIGHTS
RATES = (0.02, 0.05, 0.1, 0.2, 0.5)
STEPS = tuple(range(61))
"""The values of the sliders."""


def straight_through(
    q: str = "round",
    w: float = 1.3,
    target: float = 0.4,
    rate: float = 0.1,
    steps: int = 12,
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """A weight behind a quantizer, the gradients that three backward rules give it, and its descent with each.

    It starts with this key of `course.experiments.straight_through.QUANTIZERS`, the weight `w`, the target of its
    quantized value, a learning rate, and a number of steps. `ValueError` if one is not a value of its control.
    """
    start = {"q": q, "w": w, "target": target, "rate": rate, "steps": steps}
    stops = {"q": tuple(QUANTIZERS), "w": WEIGHTS, "target": TARGETS, "rate": RATES, "steps": STEPS}
    require_stops(start, stops)
    quantizers = {
        name: {"words": one.words, "levels": one.levels, "limit": one.limit} for name, one in QUANTIZERS.items()
    }
    values = {"start": start, "stops": stops, "quantizers": quantizers, "backwards": BACKWARDS, "recent": RECENT}
    return show("straight_through", values, figure, frame)
