"""The widget of a finite difference's error against its step: truncation, round-off, and digits that cancel."""

from __future__ import annotations

from functools import cache
from typing import Any

from IPython.display import HTML

from course.experiments import step_size as curves
from course.experiments.step_size import DTYPES, FORMULAS
from course.pages import power_of_ten
from course.widgets import plain_table, require_stops, show
from course.widgets.frames import Frame

EXPONENTS = tuple(i / 8 for i in range(-104, 1))
"""The values of the slider: exponents of ten."""
AT = 1.0
"""The point at which the two values are shown digit by digit."""


@cache
def tables() -> dict[str, dict[str, Any]]:
    """By "dtype/formula": the two parts of the error in theory, the measured error, and the best step.

    Also `same`, the number of points at which the two values are the same float; and the values `up` and `down` at
    `AT`, which the page reads as floats of that dtype.
    """
    found: dict[str, dict[str, Any]] = {}
    steps = [10.0**exponent for exponent in EXPONENTS]
    for dtype in DTYPES:
        for formula in FORMULAS:
            runs = [curves.run(dtype, AT, h, formula) for h in steps]
            found[f"{dtype}/{formula}"] = {
                "truncation": [_short(curves.truncation(h, formula)) for h in steps],
                "roundoff": [_short(curves.round_off(dtype, h, formula)) for h in steps],
                "measured": [_short(curves.rms_error(dtype, h, formula)) for h in steps],
                "same": [curves.same(dtype, h, formula) for h in steps],
                "up": [float(str(run.up)) for run in runs],
                "down": [float(str(run.down)) for run in runs],
                "best": curves.best_step(dtype, formula),
            }
    return found


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _noscript_table() -> str:
    """A table of the measured errors at integer powers of ten, for readers without JavaScript."""
    head = ["step", *(f"{dtype}, {formula}" for dtype in DTYPES for formula in FORMULAS)]
    errors = [one["measured"] for one in tables().values()]
    whole = [at for at, exponent in enumerate(EXPONENTS) if exponent.is_integer()][::-1]
    rows = [[power_of_ten(10 ** EXPONENTS[at], 0), *(power_of_ten(series[at]) for series in errors)] for at in whole]
    return plain_table(head, rows)


def step_size(
    dtype: str = "float64", formula: str = "central", h: float = -2, figure: str = "", frame: Frame | None = None
) -> HTML:
    """The error of a finite difference of exp against the step, with its two parts, and the digits that remain.

    It starts with this precision, formula and step, 10 to the power `h`. All numbers come from
    `course.experiments.step_size`. `ValueError` if a setting is not a value of its control.
    """
    start = {"dtype": dtype, "formula": formula, "h": h}
    stops = {"dtype": tuple(DTYPES), "formula": FORMULAS, "h": EXPONENTS}
    require_stops(start, stops)
    values = {
        "start": start,
        "stops": stops,
        "steps": [10.0**exponent for exponent in EXPONENTS],
        "tables": tables(),
        "points": curves.POINTS,
        "at": AT,
    }
    return show("step_size", values, figure, frame, _noscript_table())
