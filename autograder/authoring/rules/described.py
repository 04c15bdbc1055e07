"""Rule 4: every exercise has points, a tier, two hints, a reason, three misconceptions and a live anchor.

The checks that the syllabus names are there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.rules.problem import Problem
from autograder.authoring.tree import Course
from autograder.diagnosis import EditError, edited, misconceptions_in
from autograder.judging.reference import load_module
from course.syllabus import TIERS, Exercise

SYLLABUS = "course/syllabus.toml"
LEAST_HINTS = 2
LONGEST_WHY = 160
"""Characters of what stands beside a model solution: a sentence, two lines of a terminal."""
LEAST_MISCONCEPTIONS = 3
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"\(([\w-]+)\)=")
LINK = re.compile(r"\]\(\.\./book/(\w+)\.md(?:#([\w-]+))?\)")


def points_tier_and_hints(course: Course) -> list[Problem]:
    """The syllabus gives each exercise points, a tier and two hints that say something."""
    problems = []
    for exercise in _exercises(course):
        if exercise.points <= 0:
            problems.append(Problem(SYLLABUS, f"{exercise.full_name} has {exercise.points} points", "give it some"))
        if exercise.tier not in TIERS:
            what = f"{exercise.full_name} has the tier {exercise.tier!r}"
            problems.append(Problem(SYLLABUS, what, f"make it one of {', '.join(TIERS)}"))
        hints = [hint for hint in exercise.hints if hint.strip()]
        if len(hints) < LEAST_HINTS or len(hints) < len(exercise.hints):
            what = f"{exercise.full_name} has {len(hints)} hints of {max(len(exercise.hints), LEAST_HINTS)}"
            problems.append(Problem(SYLLABUS, what, "write the others"))
    return problems


def reasons(course: Course) -> list[Problem]:
    """The syllabus says of each model solution why it is as it is, in a sentence."""
    problems = []
    for exercise in _exercises(course):
        why = exercise.why.strip()
        if not why.endswith("."):
            what = f"{exercise.full_name} has no sentence on why its solution is as it is"
            problems.append(Problem(SYLLABUS, what, "write why: what makes it right, cheap or stable"))
        elif len(why) > LONGEST_WHY or "\n" in why:
            what = f"{exercise.full_name}: why has {len(why)} characters in {why.count(chr(10)) + 1} lines"
            problems.append(Problem(SYLLABUS, what, f"make it a sentence of {LONGEST_WHY} at most, in one line"))
    return problems


def named_checks(course: Course) -> list[Problem]:
    """Checks are of exercises of their lesson, else they would never run; those that the syllabus names are there."""
    checks = {slug: checks_in(course.checks(slug)) for slug in course.lessons if course.checks(slug).is_file()}
    problems = [
        Problem(
            course.relative(course.checks(slug)), f"{check.name} is of {name!r}, no exercise of {slug}", "mend the name"
        )
        for slug, of_lesson in checks.items()
        for check in of_lesson
        for name in check.exercises
        if name not in {exercise.name for exercise in course.lessons[slug].exercises}
    ]
    for exercise in _exercises(course):
        if exercise.lesson not in checks:
            continue  # `drift.listed_files` says so
        there = {check.name for check in checks[exercise.lesson] if exercise.name in check.exercises}
        for kind, names in (("technique", exercise.technique), ("weights", tuple(exercise.weights))):
            for name in names:
                if name not in there:
                    what = f"{exercise.full_name}: {kind} names {name}, which is no check of it"
                    file = course.relative(course.checks(exercise.lesson))
                    problems.append(Problem(SYLLABUS, what, f"name one of {file}"))
    return problems


@dataclass(frozen=True)
class Written:
    """A check as its file has it."""

    name: str
    exercises: tuple[str, ...]
    visible: bool
    """Whether it is run on visible inputs."""
    hidden: bool
    """Whether on hidden ones."""


def checks_in(path: Path) -> list[Written]:
    """The checks of a file; none where it is not Python."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError:  # said by whoever runs it
        return []
    found = []
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "exercise":
                names = tuple(ast.literal_eval(argument) for argument in decorator.args)
                visible = all(ast.unparse(one) != "visible=False" for one in decorator.keywords)
                drawn = "rng" in [argument.arg for argument in function.args.args]
                found.append(Written(function.name, names, visible, drawn or not visible))
    return found


def three_misconceptions(course: Course) -> list[Problem]:
    """Each exercise has three misconceptions, each with a name of its own and something to say."""
    problems = []
    for slug, lesson in course.lessons.items():
        path = course.misconceptions(slug)
        if not path.is_file():
            continue  # `drift.listed_files` says so
        file = course.relative(path)
        try:
            entries = misconceptions_in(load_module(path))
        except Exception as error:
            problems.append(Problem(file, f"it cannot be imported: {type(error).__name__}: {error}", "mend it"))
            continue
        for exercise in lesson.exercises:
            count = sum(entry.exercise == exercise.name for entry in entries)
            if count < LEAST_MISCONCEPTIONS:
                what = f"{exercise.name} has {count} misconceptions of {LEAST_MISCONCEPTIONS}"
                problems.append(Problem(file, what, "write down what learners get wrong"))
        known = {exercise.name for exercise in lesson.exercises}
        for entry in entries:
            if entry.exercise not in known:
                what = f"{entry.name} belongs to {entry.exercise!r}, which is no exercise of {slug}"
                problems.append(Problem(file, what, "mend the name"))
            try:
                edited(course.source(slug).read_text(encoding="utf-8"), entry.edits)
            except (EditError, OSError) as error:
                what = f"{entry.name} is no edit of {course.relative(course.source(slug))}: {error}"
                problems.append(Problem(file, what, "quote the reference as it is now"))
            if not entry.says.strip():
                problems.append(Problem(file, f"{entry.name} says nothing", "tell the learner what is wrong"))
        problems += [Problem(file, f"two functions are called {name}", "rename one") for name in _defined_twice(path)]
    return problems


def contracts(course: Course) -> list[Problem]:
    """Each exercise has a Markdown cell that links the section which teaches it: what it asks for stands there."""
    problems = []
    for slug, lesson in course.lessons.items():
        source = course.source(slug)
        if not source.is_file():
            continue  # `drift.listed_files` says so
        linked = set(LINK.findall(_markdown(source.read_text(encoding="utf-8"))))
        for exercise in lesson.exercises:
            if (slug, exercise.anchor) not in linked:
                what = f"no Markdown cell links ../book/{slug}.md#{exercise.anchor}"
                do = f"write the contract of {exercise.name}, which ends with that link"
                problems.append(Problem(course.relative(source), what, do))
    return problems


def live_anchors(course: Course) -> list[Problem]:
    """Each exercise's label stands once in its chapter, and each link of a source to a chapter leads somewhere."""
    labels = {slug: _labels(course, slug) for slug in course.lessons if course.chapter(slug).is_file()}
    problems = []
    for exercise in _exercises(course):
        times = labels.get(exercise.lesson, [exercise.anchor]).count(exercise.anchor)
        if times != 1:
            chapter = course.relative(course.chapter(exercise.lesson))
            what = f"the label ({exercise.anchor})= is " + (f"there {times} times" if times else "on no heading")
            problems.append(Problem(chapter, what, f"put it before the heading that teaches {exercise.name}"))
    for slug in course.lessons:
        source = course.source(slug)
        for chapter, anchor in LINK.findall(source.read_text(encoding="utf-8")) if source.is_file() else ():
            if chapter not in course.lessons or (anchor and anchor not in labels.get(chapter, [anchor])):
                what = f"the link to ../book/{chapter}.md{'#' if anchor else ''}{anchor} leads nowhere"
                problems.append(Problem(course.relative(source), what, "mend the link or the label"))
    return problems


def _markdown(source: str) -> str:
    """The Markdown cells of a py:percent text."""
    cells = re.split(r"^# %%", source, flags=re.MULTILINE)
    return "\n".join(cell for cell in cells if cell.partition("\n")[0].strip().startswith("[markdown]"))


def _exercises(course: Course) -> Iterator[Exercise]:
    for lesson in course.lessons.values():
        yield from lesson.exercises


def _defined_twice(path: Path) -> list[str]:
    """Functions at the top of a file that a later one of the same name replaces."""
    names = [
        node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)
    ]
    return sorted({name for name in names if names.count(name) > 1})


def _labels(course: Course, slug: str) -> list[str]:
    """The labels on headings of a chapter; what stands in a fenced block is text, not a label."""
    chapter = course.chapter(slug)
    if not chapter.is_file():
        return []
    live, waiting = [], []
    for line in FENCE.sub("", chapter.read_text(encoding="utf-8")).split("\n"):
        label = LABEL.fullmatch(line.strip())
        if label:
            waiting.append(label[1])
        elif line.strip():
            live += waiting if line.startswith("#") else []
            waiting = []
    return live
