"""Runs the mutation test of one lesson for `backprop build --mutate`."""

from __future__ import annotations

import time

from rich.console import Console

from autograder.authoring.mutation.equivalents import out_of_date, read_equivalents
from autograder.authoring.mutation.mutants import Mutant, mutants_of
from autograder.authoring.mutation.report import print_survivors, progress_line, survivors, table
from autograder.authoring.mutation.trials import CPU_SECONDS, PartResult, TrialError, try_parts
from autograder.authoring.tree import Course
from course.syllabus import Lesson


def mutate_lesson(
    course: Course,
    lesson: Lesson,
    only: str,
    *,
    jobs: int,
    screen: Console,
    progress: Console,
    seconds: float = CPU_SECONDS,
) -> bool:
    """Try the mutants of a lesson or of one part, print the outcome, and return whether nothing is wrong.

    Args:
        only: an exercise or a helper; empty for all.
        jobs, seconds: as for `try_parts`.
        screen: where the table and the survivors are printed.
        progress: where a line for each finished part is printed.

    Raises:
        EquivalentsError: the list of equivalents cannot be read.
        TrialError: there is no part `only`, or the reference fails its checks.
        CheckError: the checks cannot be run.
    """
    text = course.source(lesson.slug).read_text(encoding="utf-8")
    file = course.equivalents(lesson.slug)
    listed = read_equivalents(file)
    parts = mutants_of(lesson, text)
    if only and only not in parts:
        raise TrialError(f"there is no exercise or helper {only!r} to mutate; there are {', '.join(parts)}")
    chosen = {only: parts[only]} if only else parts
    start = time.monotonic()
    progress.print(f"{lesson.slug}: {sum(map(len, chosen.values()))} mutants")
    results: list[PartResult] = []
    try:
        for result in try_parts(lesson, text, chosen, jobs=jobs, root=course.root, seconds=seconds):
            results.append(result)
            progress.print(progress_line(result, listed))
    finally:  # after Ctrl-C, too: the table says what was not run
        if results:
            _print(course, lesson, chosen, results, time.monotonic() - start, screen)
    outcomes = [outcome for result in results for outcome in result.outcomes]
    old = out_of_date(listed, outcomes, [mutant for mutants in parts.values() for mutant in mutants])
    for problem in old:
        screen.print(f"{course.relative(file)}: {problem}. Strike the entry or mend it.", soft_wrap=True)
    return not old and not survivors(outcomes, listed)


def _print(
    course: Course,
    lesson: Lesson,
    parts: dict[str, list[Mutant]],
    results: list[PartResult],
    seconds: float,
    screen: Console,
) -> None:
    listed = read_equivalents(course.equivalents(lesson.slug))
    screen.print(table(lesson.slug, parts, results, listed, terminal=screen.is_terminal))
    screen.print(f"{seconds:.0f} s\n")
    outcomes = [outcome for result in results for outcome in result.outcomes]
    print_survivors(screen, course.relative(course.source(lesson.slug)), survivors(outcomes, listed))
