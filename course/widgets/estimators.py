"""The widget of three estimators of one gradient, each shown as a cloud of estimates."""

from __future__ import annotations

from IPython.display import HTML

from course.experiments.estimators import CASES, CLOUD
from course.widgets import require_stops, show
from course.widgets.frames import Frame

MUS = tuple(i / 4 for i in range(-12, 13))
SIGMAS = tuple(i / 4 for i in range(1, 9))
BASELINES = tuple(i / 4 for i in range(-16, 65))
SIZES = (1, 4, 16, 64)
"""The values of the sliders. `SIZES` are numbers of samples in one estimate."""


def estimators(
    case: str = "square",
    mu: float = 1.5,
    sigma: float = 1.0,
    baseline: float = 0.0,
    n: int = 1,
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """Clouds of score-function estimates, without and with a baseline, and of pathwise estimates, around the gradient.

    It starts with this key of `course.experiments.estimators.CASES`, a normal variable with mean `mu` and standard
    deviation `sigma`, a baseline, and `n` samples per estimate. `ValueError` if one is not a value of its slider.
    """
    start = {"case": case, "mu": mu, "sigma": sigma, "baseline": baseline, "n": n}
    stops = {"case": tuple(CASES), "mu": MUS, "sigma": SIGMAS, "baseline": BASELINES, "n": SIZES}
    require_stops(start, stops)
    words = {name: each.words for name, each in CASES.items()}
    return show("estimators", {"start": start, "stops": stops, "words": words, "cloud": CLOUD}, figure, frame)
