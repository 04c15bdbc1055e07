"""A rule: an exercise's checks have every level of every factor of its arguments, and every pair, or a reason why not.

Levels are measured in the calls that the checks make of the reference, so nothing that an author wrote is believed.
"""

from __future__ import annotations

from collections import defaultdict

from autograder.authoring.factors.covering import written
from autograder.authoring.factors.reasons import Reasons
from autograder.authoring.factors.seen import Seen, Watched
from autograder.authoring.factors.space import Space, spaces_in
from autograder.authoring.factors.wanted import in_words, levels_wanted, pairs_of_objects, pairs_wanted
from autograder.authoring.rules.problem import Problem
from autograder.authoring.tree import AuthoringError, Course
from autograder.judging.session import Judge
from autograder.places import ROOT
from autograder.wording import counted, enumeration

UNDER_THE_RULE = (
    *("ch01_computation_graph", "ch02_chain_rule", "ch03_accumulation", "ch04_detachment", "ch05_autograd_engine"),
    *("ch06_vjps", "ch07_mlp_backprop", "ch08_custom_functions", "ch09_vanishing_gradients"),
    *("ch10_activation_memory", "ch11_checkpointing", "ch12_debugging"),
    *("ch13_beyond_first_order", "ch14_scaling_out"),
)
"""The lessons of this course that have a `factors.toml`; `build --check` lists those that do not have one yet."""
SHOWN = 6
"""How many missing pairs a problem names."""


def not_yet(course: Course) -> list[str]:
    """The lessons without `factors.toml`, which the rule does not look at; none if no lesson of the course has one."""
    places = Course.at(course.root)
    begun = any(places.factors(slug).is_file() for slug in places.lessons)
    return [slug for slug in course.lessons if begun and not course.factors(slug).is_file()]


def factors_in_step(course: Course) -> list[Problem]:
    """Each `factors.toml` can be read, and `covering.toml` was made from it."""
    problems = []
    for slug, lesson in course.lessons.items():
        path = course.factors(slug)
        file = course.relative(path)
        if not path.is_file():
            if course.root == ROOT and slug in UNDER_THE_RULE:
                problems.append(Problem(file, "this file is missing", "write it, as CONTRIBUTING.md says"))
            continue
        try:
            spaces = spaces_in(path)
            for space in spaces.values():
                Reasons(space.without)
        except (AuthoringError, ValueError) as error:
            problems.append(Problem(file, str(error), "mend it"))
            continue
        exercises = {one.name for one in lesson.whole.exercises}
        problems += [
            Problem(file, f"{name} is no exercise of the lesson", "rename it or delete it")
            for name in spaces
            if name not in exercises
        ]
        rows = written(course.covering(slug))
        wanted = {name: space.digest for name, space in spaces.items() if space.drawn}
        if {name: of_it.get("of") for name, of_it in rows.items()} != wanted:
            what = "it was made from another factors.toml"
            problems.append(Problem(course.relative(course.covering(slug)), what, "run `backprop build`"))
    return problems


def unvaried(course: Course, judge: Judge) -> list[Problem]:
    """The levels and pairs that no check of the judge's exercises has, without a reason; and reasons for none.

    Visible and hidden inputs must have them, each by themselves.
    """
    slug = judge.lesson.slug
    path = course.factors(slug)
    if not path.is_file():
        return []
    spaces, file = spaces_in(path), course.relative(path)
    problems = []
    for exercise in judge.lesson.exercises:
        space = spaces.get(exercise.name, Space(exercise.name))
        reasons = Reasons(space.without)
        found: dict[str, set[str]] = defaultdict(set)
        for visible in (True, False):
            items = judge.items_of(exercise.name, visible)
            watched = Watched(judge.reference, exercise.name, space.arrays)
            judge.observe(items, watched)
            for text in _missing(watched.seen, reasons, space) if items else ():
                found[text].add("visible" if visible else "hidden")
        for pair in space.of_cases:  # no row has these
            reasons.of_pair(pair)
        problems += [
            Problem(file, f"{exercise.name}: no check with {' or '.join(sorted(which))} inputs has {text}", DO)
            for text, which in found.items()
        ]
        problems += [
            Problem(file, f"{exercise.name}: a check has “{key}”, or it is nothing to ask for", "delete the reason")
            for key in space.own
            if key not in reasons.used
        ]
    return problems


DO = "draw it (`cases` of factors.toml, with `check_kinds`), or say in `without` why not"
"""What to do about a missing level or pair."""


def _missing(seen: Seen, reasons: Reasons, space: Space) -> list[str]:
    """The levels and pairs that are missing without a reason, in words: one text for a factor of an argument."""
    wanted = levels_wanted(seen, space)
    missing: dict[tuple[str, str], list[str]] = defaultdict(list)
    there = {level for level in seen.levels if level[2] == "several axes"}
    for level in wanted:
        if level in seen.levels:
            there.add(level)
        elif not reasons.of_level(level):
            missing[level[:2]].append(level[2])
    texts = [f"“{name}: {factor} {', '.join(levels)}”" for (name, factor), levels in missing.items()]
    pairs = [
        " & ".join(in_words(level) for level in sorted(pair))
        for pair in (*pairs_wanted(there), *pairs_of_objects(space, there))
        if pair not in seen.pairs and not reasons.of_pair(pair)
    ]
    if pairs:
        more = f", and {counted(len(pairs) - SHOWN, 'more pair')}" if len(pairs) > SHOWN else ""
        texts.append(enumeration([f"“{pair}”" for pair in pairs[:SHOWN]]) + more)
    return texts
