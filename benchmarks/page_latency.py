"""How long a reader waits in a page: `python benchmarks/page_latency.py [ch06 ...]`, after `make book`, when idle.

A headless Chromium opens a chapter from a plain file server and presses Check. Seconds of wall time, from the click to
the verdict, for the reference solutions:

- first: nothing is there yet. Some 9 MB come from the server on this machine, and Python compiles what it imports;
- again: the page is opened anew. The service worker has the files, and what was compiled was kept;
- a check: the reference of every exercise, Python being ready and the exercise checked once before.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # a reader's browser is what the tests have
from live_pages import Reader, plain_server

from autograder.authoring.stubs import notebook_text, solved_notebook
from autograder.places import Places
from course.syllabus import syllabus

LESSONS = ["ch01", "ch02", "ch03", "ch05", "ch06", "ch07"]
RESTS = 20.0
"""Seconds in which the page makes its spare Python, and keeps what was compiled."""


def timed_check(reader: Reader, exercise: str) -> float:
    start = time.perf_counter()
    card = reader.checked(exercise)
    seconds = time.perf_counter() - start
    assert "passed" in card, (exercise, card)
    return seconds


def load_solutions(reader: Reader, slug: str) -> None:
    """Put the course's own answers into the page's editors, as "Load" does."""
    text = notebook_text(solved_notebook(syllabus()[slug], Places().solutions))
    reader.js(
        f"files = new DataTransfer(); files.items.add(new File([{json.dumps(text)}], 'mine.ipynb'));"
        "input = document.querySelector('.page-progress input');"
        "input.files = files.files; input.dispatchEvent(new Event('change')); true"
    )
    reader.until("document.querySelector('.page-progress [role=status]').innerText.includes('Loaded ')")


def measured(reader: Reader, slug: str) -> list[float]:
    """Print a chapter's row, and give the seconds of its checks."""
    reader.visit(f"{slug}.html")
    load_solutions(reader, slug)
    names = reader.js("[...new Set([...document.querySelectorAll('.exercise')].map((one) => one.dataset.exercise))]")
    first = timed_check(reader, names[0])
    time.sleep(RESTS)
    reader.visit(f"{slug}.html")
    again = timed_check(reader, names[0])
    for name in names:
        timed_check(reader, name)
    times = {name: timed_check(reader, name) for name in names}
    slowest = max(times, key=lambda name: times[name])
    print(
        f"{slug:24} first {first:5.1f} s   again {again:5.1f} s   {len(names)} checks: "
        f"median {statistics.median(times.values()):.2f} s, {slowest} {times[slowest]:.1f} s",
        flush=True,
    )
    return list(times.values())


def main(lessons: list[str]) -> None:
    times: list[float] = []
    with plain_server(Places().pages) as server:
        for slug in (slug for slug in syllabus() if slug[:4] in (lessons or LESSONS)):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:  # nothing is kept from a chapter
                reader = Reader(Path(profile), server)
                try:
                    times += measured(reader, slug)
                finally:
                    reader.close()
    print(f"nine checks in ten within {statistics.quantiles(times, n=10)[-1]:.2f} s, all within {max(times):.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
