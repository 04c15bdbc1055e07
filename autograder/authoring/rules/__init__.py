"""The health rules of a course: functions that take a `Course` and return the problems they find."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor

from autograder.authoring.rules.described import (
    contracts,
    live_anchors,
    named_checks,
    nothing_unwritten,
    points_tier_and_hints,
    reasons,
    scenarios_are_one_text,
    three_misconceptions,
)
from autograder.authoring.rules.drift import (
    files_are_python,
    generated_files_in_step,
    listed_files,
    promises_in_step,
    readme_in_step,
    rejections_in_step,
)
from autograder.authoring.rules.factors import factors_in_step, not_yet
from autograder.authoring.rules.in_book import answer_books_judge_alike
from autograder.authoring.rules.in_class import a_class_is_graded_rightly
from autograder.authoring.rules.judged import checks_tell_right_from_wrong, oracles_agree
from autograder.authoring.rules.kept import JudgedWell, Rule, watch_files, watched
from autograder.authoring.rules.memorised import memorised_answers_earn_a_third
from autograder.authoring.rules.nbgrader_scores import same_scores_as_nbgrader
from autograder.authoring.rules.notebooks import solved_notebooks_pass
from autograder.authoring.rules.noted import Answers
from autograder.authoring.rules.order import imports_of_the_lesson, nothing_from_a_later_lesson
from autograder.authoring.rules.problem import Problem
from autograder.authoring.rules.sentences import sentences_have_cases
from autograder.authoring.sample_class import WITH_MISTAKES
from autograder.authoring.tree import Course
from autograder.judging.explaining.known_mistakes import SeenOfMistakes
from autograder.threads import one_thread

FIRST = (files_are_python, nothing_unwritten)
"""Rules that run before all others, which cannot work on files that break these."""

READ = (
    listed_files,
    generated_files_in_step,
    factors_in_step,
    rejections_in_step,
    readme_in_step,
    points_tier_and_hints,
    reasons,
    named_checks,
    three_misconceptions,
    scenarios_are_one_text,
    contracts,
    sentences_have_cases,
    live_anchors,
    imports_of_the_lesson,
    nothing_from_a_later_lesson,
)
"""Rules that only read files: some seconds for the whole course."""


def judged_well(course: Course) -> list[Problem]:
    """Rules 1 to 3: in this process, in a class, and by the answer book.

    All three share what visible checks see of each mistake, and the last asks of it what the first has asked.
    """
    seen: SeenOfMistakes = {}
    answers = Answers()
    return [
        *checks_tell_right_from_wrong(course, seen, answers),
        *a_class_is_graded_rightly(course, seen),
        *answer_books_judge_alike(course, seen, answers),
    ]


JUDGED = (judged_well, oracles_agree, memorised_answers_earn_a_third, promises_in_step)
"""Rules that run the grader: some seconds for each lesson, a minute or two for slow ones."""

IN_KERNELS = (solved_notebooks_pass,)
"""Rules that run notebooks in kernels: some seconds for each lesson, more for those that train."""

WITH_NBGRADER = (same_scores_as_nbgrader,)
"""Rules that run nbgrader on the sample class: some minutes."""


def run_code(
    course: Course, parts: Sequence[Course], *, nbgrader: bool, judged_well: JudgedWell | None = None
) -> list[Problem]:
    """The problems that rules which run code find in the lessons in `parts`, and with `nbgrader` in the whole course.

    All rules run in parallel, each lesson separately. Problems found by one group of rules cause problems in the next
    groups, so only those of the first group that finds any are returned.

    Args:
        judged_well: rules that found nothing before, and are not run again; those that find nothing now are added.
    """
    lessons = [part.part(slug, part.exercise) for part in parts for slug in part.lessons]
    whole = [lesson for lesson in lessons if not lesson.exercise]
    if nbgrader:  # that rule also runs the solved notebooks of these lessons
        whole = [lesson for lesson in whole if not lesson.lessons.keys() <= set(WITH_MISTAKES)]
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=spawned, initializer=_alone, initargs=(judged_well is not None,)) as pool:

        def begun(rules: Sequence[Rule], courses: Sequence[Course]) -> list[tuple[Rule, Course, Future[list[Problem]]]]:
            return [
                (rule, one, pool.submit(rule, one) if judged_well is None else pool.submit(watched, rule, one))
                for rule in rules
                for one in courses
                if judged_well is None or not judged_well.has(rule, one)
            ]

        last = begun(WITH_NBGRADER if nbgrader else (), [course])  # begins first because it takes longest
        for group in (begun(JUDGED, lessons), begun(IN_KERNELS, whole), last):
            problems = []
            for rule, one, future in group:
                found = future.result()
                problems += found
                if judged_well is not None and not found:
                    judged_well.add(rule, one)
            if problems:
                pool.shutdown(cancel_futures=True)
                return problems
    return []


def _alone(watching: bool) -> None:
    """Prepare a process for rules: it has one thread and, if `watching`, records the files that it opens."""
    one_thread()
    if watching:
        watch_files()


__all__ = [
    "FIRST",
    "IN_KERNELS",
    "JUDGED",
    "READ",
    "WITH_NBGRADER",
    "JudgedWell",
    "Problem",
    "Rule",
    "not_yet",
    "run_code",
]
