"""A clinic: a curve and a print-out, the choice of the next test, and the name of the fault."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from IPython.display import HTML

from course.widgets import show
from course.widgets.frames import Frame


def clinic(
    cases: Mapping[str, Mapping[str, Any]],
    tests: Mapping[str, Mapping[str, Any]],
    level: float,
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """Broken runs whose fault a reader names after as few tests as it takes.

    `course.experiments.clinic.record` makes `cases` and `tests`, by their keys. A case has a "name", its "losses", what
    it has "printed", the "reading" of its curve, the line as it "should" be and the "line" as it is (both empty: the
    healthy program), and the "fewest" tests. A test has a "name", what it "asks", and the "outcomes": what is printed,
    and the reading, by case. `level` is a loss that the plot marks. Cases, tests and outcomes that do not fit are a
    `ValueError`.
    """
    healthy = [key for key, case in cases.items() if not case["line"]]
    if len(healthy) != 1:
        raise ValueError(f"one case is to be the healthy program, without a line; these are: {healthy}")
    for key, test in tests.items():
        if set(test["outcomes"]) != set(cases):
            raise ValueError(f"test {key}: outcomes expected for {sorted(cases)}, got {sorted(test['outcomes'])}")
    if len({len(case["losses"]) for case in cases.values()}) != 1:
        raise ValueError("the runs are to have as many steps each")
    for key, case in cases.items():
        if any(set(each) - set(tests) for each in case["fewest"]) or not case["fewest"]:
            raise ValueError(f"case {key}: fewest is to list sets of tests, of {sorted(tests)}")
    rounded = {
        key: {**case, "losses": [float(f"{x:.3g}") if math.isfinite(x) else None for x in case["losses"]]}
        for key, case in cases.items()
    }
    values = {"cases": rounded, "tests": tests, "healthy": healthy[0], "level": level}
    return show("clinic", values, figure, frame)
