"""The health rules of a course: small functions from a `Course` to the problems they see."""

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor

from autograder.authoring.rules.described import live_anchors, named_checks, points_tier_and_hints, three_misconceptions
from autograder.authoring.rules.drift import listed_files, notebooks_in_step, sample_class_in_step
from autograder.authoring.rules.in_class import a_class_is_graded_rightly
from autograder.authoring.rules.judged import checks_tell_right_from_wrong, oracles_agree
from autograder.authoring.rules.memorised import memorised_answers_earn_a_third
from autograder.authoring.rules.nbgrader_scores import same_scores_as_nbgrader
from autograder.authoring.rules.notebooks import solved_notebooks_pass
from autograder.authoring.rules.order import imports_of_the_lesson, nothing_from_a_later_lesson
from autograder.authoring.rules.problem import Problem
from autograder.authoring.tree import Course

Rule = Callable[[Course], list[Problem]]

READ = (
    listed_files,
    notebooks_in_step,
    sample_class_in_step,
    points_tier_and_hints,
    named_checks,
    three_misconceptions,
    live_anchors,
    imports_of_the_lesson,
    nothing_from_a_later_lesson,
)
"""Rules that read files: under a second."""

JUDGED = (
    a_class_is_graded_rightly,
    checks_tell_right_from_wrong,
    oracles_agree,
    memorised_answers_earn_a_third,
)
"""Rules that run the grader: seconds a lesson."""

IN_KERNELS = (solved_notebooks_pass,)
"""Rules that run notebooks: seconds a lesson, more where it trains."""

WITH_NBGRADER = (same_scores_as_nbgrader,)
"""Rules that run nbgrader on the sample class: minutes."""


def run_by_lesson(rules: Sequence[Rule], courses: Sequence[Course]) -> list[Problem]:
    """What `rules` see in each lesson by itself, several at a time: each runs its lesson's code for a minute or so."""
    lessons = [course.part(slug, course.exercise) for course in courses for slug in course.lessons]
    tasks = [(rule, lesson) for rule in rules for lesson in lessons]
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        found = [pool.submit(rule, lesson) for rule, lesson in tasks]
        return [problem for one in found for problem in one.result()]


__all__ = ["IN_KERNELS", "JUDGED", "READ", "WITH_NBGRADER", "Problem", "run_by_lesson"]
