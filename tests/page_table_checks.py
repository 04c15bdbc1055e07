"""Checks the answers of the JSON text `found`; `told` gets each result as a line. Run in CPython and in Pyodide."""

import json
import time

from autograder.page.check import check

lesson, cases = json.loads(found)  # type: ignore[name-defined]  # noqa: F821
for exercise, name, notebook in cases:
    start = time.perf_counter()
    got = check(lesson, exercise, notebook)
    first = got.get("message", got.get("error", "")).split("\n")[0]
    row = [exercise, name, got.get("points"), got.get("misconception"), first]
    told(json.dumps([row, round(time.perf_counter() - start, 3)]))  # type: ignore[name-defined]  # noqa: F821
