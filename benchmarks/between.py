"""What a change costs: `python benchmarks/between.py OTHER_CHECKOUT [LESSON ...]`; README.md says what is counted.

Grades the same classes by the command of this checkout and by another's, in turn, in one call, lesson by lesson.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from pathlib import Path
from statistics import median

from autograder.authoring.mistaken import solved_cells
from autograder.authoring.tree import Course
from course.syllabus import Lesson
from lessons import hand_in, with_mistakes
from measuring import MeasuringError, measure, self_check

ROUNDS = 3
GRADE = [sys.executable, "-P", "-c", "from autograder.commands import app; app()", "grade", "class"]


def main(other: Path, names: list[str]) -> int:
    here = Path(__file__).resolve().parents[1]
    course = Course.at()
    lessons = [lesson for slug, lesson in course.lessons.items() if not names or slug.startswith(tuple(names))]
    sums = {here: 0.0, other: 0.0}
    try:
        print(f"Accounting: {self_check()}.\nProcessor seconds of a class, median of {ROUNDS}: here, there, ratio")
        with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
            for lesson in lessons:
                folder = Path(name) / lesson.slug
                right = solved_cells(course, lesson.slug)
                wrong = with_mistakes(right, lesson, course.mistakes(lesson.slug))
                right, wrong = _in_both(right, lesson, other), [_in_both(cells, lesson, other) for cells in wrong]
                for number, cells in enumerate([right] * len(wrong) + wrong):
                    hand_in(folder / "class" / f"student{number}", lesson, cells)
                seconds: dict[Path, list[float]] = {here: [], other: []}
                for turn in range(ROUNDS):
                    for checkout in (here, other) if turn % 2 else (other, here):
                        seconds[checkout].append(graded(folder, checkout, f"{turn}-{checkout == here}"))
                new, old = (median(seconds[checkout]) for checkout in (here, other))
                sums = {here: sums[here] + new, other: sums[other] + old}
                print(f"{lesson.slug:26}{new:10.2f}{old:10.2f}{new / old:10.3f}", flush=True)
    except MeasuringError as error:
        print(f"between.py: {error}", file=sys.stderr)
        return 1
    print(f"{'all':26}{sums[here]:10.2f}{sums[other]:10.2f}{sums[here] / sums[other]:10.3f}")
    return 0


def _in_both(cells: list[str], lesson: Lesson, other: Path) -> list[str]:
    """A submission without the exercises that the other checkout does not have: there, they would cost nothing."""
    known = _named(tomllib.loads((other / "course" / "syllabus.toml").read_text(encoding="utf-8")))
    new = [one.name for one in lesson.exercises if one.name not in known]
    return [*cells, "\n".join(f"globals().pop({name!r}, None)" for name in new)] if new else cells


def _named(values: object) -> set[str]:
    """All keys and all texts in a TOML document."""
    if isinstance(values, dict):
        return set(values).union(*map(_named, values.values()))
    if isinstance(values, list):
        return set().union(*map(_named, values))
    return {values} if isinstance(values, str) else set()


def graded(folder: Path, checkout: Path, turn: str) -> float:
    """Processor seconds in which a checkout's command grades the class into a new folder of results."""
    command = [*GRADE, "--out", f"results-{turn}", "--salt", "benchmark", "--jobs", "1"]
    return measure(command, cwd=folder, env={"PYTHONPATH": str(checkout)}).cpu


if __name__ == "__main__":
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "autograder").is_dir():
        sys.exit("between.py: name the other checkout first, a folder with autograder/ in it")
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
