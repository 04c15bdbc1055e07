"""Rule 4: every exercise has points, a tier, two hints, a reason, three misconceptions and a section that teaches it.

The checks that the syllabus names exist.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring import readme
from autograder.authoring.rules.problem import Problem
from autograder.authoring.skeleton import UNWRITTEN, unwritten, unwritten_in
from autograder.authoring.tree import Course
from autograder.diagnosis import EditError, Misconception, edited, misconceptions_in
from autograder.judging.checking.reference import load_module
from autograder.places import file_of, files_of, modules_in
from course.syllabus import TIERS, Exercise, Lesson

LEAST_HINTS = 2
LONGEST_WHY = 160
"""Characters in `why`, the sentence shown beside a model solution: two lines of a terminal."""
LEAST_MISCONCEPTIONS = 3
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"\(([\w-]+)\)=")
LINK = re.compile(r"\]\(\.\./book/(\w+)\.md(?:#([\w-]+))?\)")


def nothing_unwritten(course: Course) -> list[Problem]:
    """No file has a mark of `backprop new` for text that is still to be written."""
    table = readme.file_of(course)
    lines = [
        *unwritten_in(course.syllabus),
        *(unwritten_in(table) if table else ()),
        *(line for slug in course.lessons for line in unwritten(course, slug)),
    ]
    return [
        Problem(f"{course.relative(path)}:{number}", "still to be written", text[text.index(UNWRITTEN) :])
        for path, number, text in lines
    ]


def points_tier_and_hints(course: Course) -> list[Problem]:
    """The syllabus gives each exercise points, a tier and at least two hints, none of them empty."""
    problems = []
    for exercise in _exercises(course):
        if exercise.points <= 0:
            problems.append(
                Problem(
                    course.relative(course.syllabus),
                    f"{exercise.full_name} has {exercise.points} points",
                    "give it some",
                )
            )
        if exercise.tier not in TIERS:
            what = f"{exercise.full_name} has the tier {exercise.tier!r}"
            problems.append(Problem(course.relative(course.syllabus), what, f"make it one of {', '.join(TIERS)}"))
        hints = [hint for hint in exercise.hints if hint.strip()]
        if len(hints) < LEAST_HINTS or len(hints) < len(exercise.hints):
            what = f"{exercise.full_name} has {len(hints)} hints of {max(len(exercise.hints), LEAST_HINTS)}"
            problems.append(Problem(course.relative(course.syllabus), what, "write the others"))
    return problems


def reasons(course: Course) -> list[Problem]:
    """The syllabus gives a reason for each model solution, in one sentence."""
    problems = []
    for exercise in _exercises(course):
        why = exercise.why.strip()
        if not why.endswith("."):
            what = f"{exercise.full_name} has no sentence on why its solution is as it is"
            problems.append(
                Problem(course.relative(course.syllabus), what, "write why: what makes it right, cheap or stable")
            )
        elif len(why) > LONGEST_WHY or "\n" in why:
            what = f"{exercise.full_name}: why has {len(why)} characters in {why.count(chr(10)) + 1} lines"
            problems.append(
                Problem(
                    course.relative(course.syllabus), what, f"make it a sentence of {LONGEST_WHY} at most, in one line"
                )
            )
    return problems


def named_checks(course: Course) -> list[Problem]:
    """Each check is in a file of its exercise, else it would never run; the checks that the syllabus names exist."""
    problems = []
    for slug, lesson in course.lessons.items():
        for file in modules_in(course.checks(slug)):
            for check in checks_in(file):
                what, do = _misplaced(check.name, check.exercise, lesson, file)
                problems += [Problem(course.relative(file), what, do)] if what else []
    for exercise in _exercises(course):
        files = files_of(course.checks(exercise.lesson), [exercise.name])
        if not files:
            continue  # `drift.listed_files` says so
        there = {check.name for file in files for check in checks_in(file) if check.exercise == exercise.name}
        for kind in ("technique", "point", "weights"):
            for name in getattr(exercise, kind):
                if name not in there:
                    what = f"{exercise.full_name}: {kind} names {name}, which is no check of it"
                    problems.append(
                        Problem(course.relative(course.syllabus), what, f"name one of {course.relative(files[0])}")
                    )
    return problems


@dataclass(frozen=True)
class Written:
    """A check as it is written in its file."""

    name: str
    exercise: str
    visible: bool
    """Whether it runs on visible inputs."""
    hidden: bool
    """Whether it runs on hidden inputs."""


def checks_in(path: Path) -> list[Written]:
    """The checks of a file; none if it is not Python."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError:  # `drift.files_are_python` reports it
        return []
    found = []
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "exercise":
                name = ast.literal_eval(decorator.args[0])
                visible = all(ast.unparse(one) != "visible=False" for one in decorator.keywords)
                drawn = "rng" in [argument.arg for argument in function.args.args]
                found.append(Written(function.name, name, visible, drawn or not visible))
    return found


def three_misconceptions(course: Course) -> list[Problem]:
    """Each exercise has at least three misconceptions, each with a unique name and a message."""
    problems = []
    for slug, lesson in course.lessons.items():
        folder = course.mistakes(slug)
        entries: list[Misconception] = []
        broken = set()
        for path in modules_in(folder):
            file = course.relative(path)
            try:
                found = misconceptions_in(load_module(path))
            except Exception as error:
                problems.append(Problem(file, f"it cannot be imported: {type(error).__name__}: {error}", "mend it"))
                broken.add(path)
                continue
            problems += [problem for entry in found for problem in _problems_of_mistake(course, lesson, entry, path)]
            problems += _defined_twice(course, [path])
            entries += found
        for exercise in lesson.exercises:
            path = file_of(folder, exercise.name)
            count = sum(entry.exercise == exercise.name for entry in entries)
            if count < LEAST_MISCONCEPTIONS and path.is_file() and path not in broken:  # else it is reported already
                what = f"{exercise.name} has {count} misconceptions of {LEAST_MISCONCEPTIONS}"
                problems.append(Problem(course.relative(path), what, "write down what learners get wrong"))
    return problems


def _problems_of_mistake(course: Course, lesson: Lesson, entry: Misconception, path: Path) -> Iterator[Problem]:
    file, source = course.relative(path), course.source(lesson.slug)
    what, do = _misplaced(entry.name, entry.exercise, lesson, path)
    if what:
        yield Problem(file, what, do)
    try:
        edited(source.read_text(encoding="utf-8"), entry.edits)
    except (EditError, OSError) as error:
        what = f"{entry.name} is no edit of {course.relative(source)}: {error}"
        yield Problem(file, what, "quote the reference as it is now")
    if not entry.says.strip():
        yield Problem(file, f"{entry.name} says nothing", "tell the learner what is wrong")


def _misplaced(name: str, exercise: str, lesson: Lesson, path: Path) -> tuple[str, str]:
    """What is wrong if a check or mistake of `exercise` is in the file `path`, and what to do; "" and "" if nothing."""
    if exercise not in {one.name for one in lesson.whole.exercises}:
        return f"{name} is of {exercise!r}, which is no exercise of {lesson.slug}", "mend the name"
    own = file_of(path.parent, exercise)
    if path not in files_of(path.parent, [exercise]):
        return f"{name} is of {exercise!r}, which has {own.name}", "move it there"
    return "", ""


def scenarios_are_one_text(course: Course) -> list[Problem]:
    """No name is defined twice in a lesson's scenarios: they run in the submission's process as one text."""
    folders = map(course.scenarios, course.lessons)
    return [problem for folder in folders for problem in _defined_twice(course, modules_in(folder))]


def contracts(course: Course) -> list[Problem]:
    """Each exercise has a Markdown cell with its contract, which links the section that teaches it."""
    problems = []
    for slug, lesson in course.lessons.items():
        source = course.source(slug)
        if not source.is_file() or course.chapter(slug) not in course.files(slug):
            continue  # `drift.listed_files` says so; and there may be no chapter to link
        linked = set(LINK.findall(_markdown(source.read_text(encoding="utf-8"))))
        for exercise in lesson.exercises:
            if (slug, exercise.anchor) not in linked:
                what = f"no Markdown cell links ../book/{slug}.md#{exercise.anchor}"
                do = f"write the contract of {exercise.name}, which ends with that link"
                problems.append(Problem(course.relative(source), what, do))
    return problems


def live_anchors(course: Course) -> list[Problem]:
    """Each exercise's label is on one heading of its chapter, and no link from a source to a chapter is broken."""
    labels = {slug: _labels(course, slug) for slug in course.lessons if course.chapter(slug).is_file()}
    problems = []
    for exercise in _exercises(course):
        if course.chapter(exercise.lesson) not in course.files(exercise.lesson):
            continue
        times = labels.get(exercise.lesson, [exercise.anchor]).count(exercise.anchor)
        if times != 1:
            chapter = course.relative(course.chapter(exercise.lesson))
            what = f"the label ({exercise.anchor})= is " + (f"there {times} times" if times else "on no heading")
            problems.append(Problem(chapter, what, f"put it before the heading that teaches {exercise.name}"))
    for slug in course.lessons:
        source = course.source(slug)
        for chapter, anchor in LINK.findall(source.read_text(encoding="utf-8")) if source.is_file() else ():
            there = chapter in course.lessons and course.chapter(chapter) in course.files(chapter)
            there = there or (course.of(chapter) is not course and course.chapter(chapter).is_file())
            if not there or (anchor and anchor not in labels.get(chapter, [anchor])):
                what = f"the link to ../book/{chapter}.md{'#' if anchor else ''}{anchor} leads nowhere"
                problems.append(Problem(course.relative(source), what, "mend the link or the label"))
    return problems


def _markdown(source: str) -> str:
    cells = re.split(r"^# %%", source, flags=re.MULTILINE)
    return "\n".join(cell for cell in cells if cell.partition("\n")[0].strip().startswith("[markdown]"))


def _exercises(course: Course) -> Iterator[Exercise]:
    for lesson in course.lessons.values():
        yield from lesson.exercises


def _defined_twice(course: Course, paths: Sequence[Path]) -> Iterator[Problem]:
    """Names that are defined twice at the top level of these files: joined into one text, the second would win."""
    first: dict[str, Path] = {}
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            names += [target.id for target in _targets(node) if isinstance(target, ast.Name)]
            for name in names:
                if name in first:
                    what = f"{name} is defined twice" + ("" if first[name] == path else f", in {first[name].name}, too")
                    yield Problem(course.relative(path), what, "rename one")
                first.setdefault(name, path)


def _targets(node: ast.stmt) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []


def _labels(course: Course, slug: str) -> list[str]:
    """The labels on headings of a chapter, leaving out fenced blocks."""
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
