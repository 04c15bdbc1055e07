"""Checks the answers of the JSON text `found`; `told` gets each result as a line. Run in CPython and in Pyodide.

If `whole`, a result is the card as the page shows it in the end, which may come of a search for a repair.
"""

import json
import time

from autograder.page.check import check

lesson, cases = json.loads(found)  # type: ignore[name-defined]  # noqa: F821
for exercise, name, notebook in cases:
    start = time.perf_counter()
    got = check(lesson, exercise, notebook)
    first = got.get("message", got.get("error", "")).split("\n")[0]
    row: object = [exercise, name, got.get("points"), got.get("misconception"), first]
    if whole:  # type: ignore[name-defined]  # noqa: F821
        from autograder.page.repair import repaired

        better = repaired(lesson, exercise) if got.get("more") else {"error": ""}
        row = got if "error" in better else better
    told(json.dumps([row, round(time.perf_counter() - start, 3)]))  # type: ignore[name-defined]  # noqa: F821
