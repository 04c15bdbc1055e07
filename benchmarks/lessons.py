"""What each real lesson costs: `python benchmarks/lessons.py [LESSON ...]`; README.md says what is counted.

Grades classes of reference answers, and of answers with known mistakes, by the command; beside them a floor, and what a
learner's first check and the next ones take. All in one call, lesson by lesson.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from autograder.authoring.mistaken import mistaken_cells, solved_cells
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.diagnosis import EditError, Misconception
from autograder.judging.asking.local_run import LocalRun
from autograder.judging.session import Judge
from course.syllabus import Lesson
from measuring import MeasuringError, children_cpu, measure, self_check

FURTHER = 4
"""Submissions more in the larger class."""
DEAREST = 5
BIN = Path(sys.executable).parent


@dataclass
class Floor:
    """One warm process that forks for each submission and runs the checks as plain functions, unconfined."""

    further: float
    """Seconds of processor time for each submission."""
    dearest: list[tuple[float, str]]
    """Seconds of processor time that checks took, and their names."""


def main(names: list[str]) -> int:
    course = Course.at()
    lessons = [lesson for slug, lesson in course.lessons.items() if not names or slug.startswith(tuple(names))]
    try:
        print(f"Accounting: {self_check()}.\n")
        titles = "lesson,start,right,floor,ratio,mistakes,later ones,first check,wall,next check,wall"
        head = titles.split(",")
        print("Seconds, of processor time but for wall: a class's start, each further submission, a learner's checks")
        print(f"{head[0]:26}" + "".join(f"{title:>12}" for title in head[1:]))
        with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
            for lesson in lessons:
                print_lesson(course, lesson, Path(name) / lesson.slug)
    except MeasuringError as error:
        print(f"lessons.py: {error}", file=sys.stderr)
        return 1
    return 0


def print_lesson(course: Course, lesson: Lesson, folder: Path) -> None:
    """A line of figures, and one with the checks that take longest."""
    right = solved_cells(course, lesson.slug)
    one, more = (graded(folder / f"right{n}", lesson, [right] * n) for n in (1, 1 + FURTHER))
    further = (more - one) / FURTHER
    wrong = [right, *with_mistakes(right, lesson, course.mistakes(lesson.slug))]
    first, all_of_them = (graded(folder / f"wrong{n}", lesson, wrong[: 1 + n]) for n in (FURTHER, 2 * FURTHER))
    mistakes, later = (first - one) / FURTHER, (all_of_them - first) / FURTHER
    floor = with_judge(lesson, measure_floor)
    first_asked = first_check(folder / "learner", lesson, right)
    following = next_check(folder, lesson, right)
    print(
        f"{lesson.slug:26}{one - further:12.2f}{further:12.2f}{floor.further:12.2f}{further / floor.further:12.1f}"
        + "".join(f"{figure:12.2f}" for figure in (mistakes, later, *first_asked, *following))
    )
    print("    " + ", ".join(f"{name} {seconds:.2f}" for seconds, name in floor.dearest), flush=True)


def graded(folder: Path, lesson: Lesson, submissions: list[list[str]]) -> float:
    """Seconds of processor time in which the command grades a class."""
    for i, cells in enumerate(submissions):
        hand_in(folder / "class" / f"student{i}", lesson, cells)
    command = [str(BIN / "backprop"), "grade", "class", "--out", "results", "--salt", "benchmark", "--jobs", "1"]
    return measure(command, cwd=folder).cpu


def hand_in(folder: Path, lesson: Lesson, cells: list[str]) -> None:
    folder.mkdir(parents=True)
    text = "".join(f"# %%\n{cell}\n\n" for cell in cells)
    (folder / f"{lesson.slug}.py").write_text(text, encoding="utf-8")


def with_mistakes(solved: list[str], lesson: Lesson, register: Path) -> list[list[str]]:
    """Submissions with a known mistake in each exercise, another one in each submission as far as there are enough."""

    def chosen(judge: Judge) -> list[list[str]]:
        of = [[known for known in judge.mistakes.known if known.exercise == e.name] for e in lesson.exercises]
        rounds = zip(*(islice(cycle(known), 2 * FURTHER) for known in of if known), strict=True)
        return [mistaken_cells(solved, together(solved, mistakes, register), register) for mistakes in rounds]

    return with_judge(lesson, chosen)


def together(solved: list[str], mistakes: Iterable[Misconception], register: Path) -> list[Misconception]:
    """Those of some mistakes that can stand in one submission: two edits of one line of a helper cannot."""
    chosen: list[Misconception] = []
    for mistake in mistakes:
        with suppress(EditError):
            mistaken_cells(solved, [*chosen, mistake], register)
            chosen.append(mistake)
    return chosen


def measure_floor(judge: Judge) -> Floor:
    """Expected values are known and everything is imported when the clock starts."""
    items = [item for exercise in judge.lesson.exercises for item in judge.items_of(exercise.name)]
    judge.observe(items, judge.reference.local())
    dearest = []
    for item in items:
        start = time.process_time()
        judge.observe([item], judge.reference.local())
        dearest.append((time.process_time() - start, item.name))
    before = children_cpu()
    for _ in range(FURTHER):
        pid = os.fork()
        if not pid:
            run_submission(judge, items)
        if os.waitpid(pid, 0)[1]:
            raise MeasuringError(f"the solutions of {judge.lesson.slug} fail checks, so that there is no floor")
    return Floor((children_cpu() - before) / FURTHER, sorted(dearest, reverse=True)[:DEAREST])


def run_submission(judge: Judge, items: list) -> None:
    """Execute the solutions anew and run all checks on them, in a process of its own that ends here."""
    status = 1
    try:
        run = judge.reference.local_text(Path(judge.reference.module.__file__ or "").read_text(encoding="utf-8"))
        assert isinstance(run, LocalRun)
        status = int(not all(record.passed for record in judge.observe(items, run)))
    finally:
        os._exit(status)


def first_check(folder: Path, lesson: Lesson, cells: list[str]) -> tuple[float, float]:
    """Processor and wall seconds of `backprop check` of the lesson's first exercise."""
    hand_in(folder, lesson, cells)
    used = measure([str(BIN / "backprop"), "check", f"{lesson.slug}/{lesson.exercises[0].name}"], cwd=folder)
    return used.cpu, used.wall


def next_check(folder: Path, lesson: Lesson, cells: list[str]) -> tuple[float, float]:
    """The same for `check` in a notebook that has been checked before: what each further request costs its judge."""
    request = {"cells": cells, "labels": [f"In [{i}]" for i in range(len(cells))], "exercise": lesson.exercises[0].name}
    used = []
    for asked in (1, 1 + FURTHER):
        requests = folder / f"requests{asked}"
        lines = [json.dumps({**request, "number": number}) for number in range(asked)]
        requests.write_text("\n".join(lines), encoding="utf-8")
        server = f"exec {sys.executable} -P -m autograder.notebook.server {lesson.slug} < {requests}"
        used.append(measure(["sh", "-c", server], cwd=folder))
    return (used[1].cpu - used[0].cpu) / FURTHER, (used[1].wall - used[0].wall) / FURTHER


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
