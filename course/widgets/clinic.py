"""The clinic widget: readers see a loss curve, choose tests, and name the fault."""

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
    """Faulty runs whose fault a reader is to name after as few tests as possible.

    `course.experiments.clinic.record` makes `cases` and `tests`.

    Args:
        cases: by key, each with a "name", its "losses", the "printed" text, the "reading" of its curve, the line as it
            "should" be and the "line" as it is (both empty for the healthy program), and the "fewest" tests.
        tests: by key, each with a "name", the question that it "asks", and its "outcomes" by case: printed text and
            reading.
        level: a loss that the plot marks.

    Raises:
        ValueError: cases, tests and outcomes do not match.
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
