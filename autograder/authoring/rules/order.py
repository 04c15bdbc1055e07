"""Rule 5: a lesson uses nothing from a later lesson, and none needs another lesson's solution.

These rules only read the files; `in_class.py` also runs each solved lesson with only its own packages and modules.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from autograder.authoring.rules.problem import Problem
from autograder.authoring.tree import Course
from course.syllabus import Lesson

CODE_CELL = re.compile(r"^(`{3,}|:{3,})\{code-cell\}[^\n]*\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"^:[\w-]+:[^\n]*$|\A---\n.*?^---$|^\s*[%!][^\n]*$", re.MULTILINE | re.DOTALL)
"""The parts of a code cell that are not Python: MyST's options and IPython's magics."""


def imports_of_the_lesson(course: Course) -> list[Problem]:
    """A source imports only the standard library and the packages and modules that the syllabus gives the lesson."""
    problems = []
    for slug, lesson in course.lessons.items():
        for module, line in _imported(_parsed(course.source(slug))):
            if not _allowed(module, lesson.whole):
                problems.append(
                    Problem(
                        course.relative(course.source(slug)),
                        f"line {line} imports {module}, which is not among the lesson's packages and modules",
                        f"do without it or list it in {course.relative(course.syllabus)}",
                    )
                )
    return problems


def nothing_from_a_later_lesson(course: Course) -> list[Problem]:
    """No code of a lesson mentions a later lesson, and its source mentions no other lesson at all."""
    problems = []
    slugs = list(course.lessons)
    for index, slug in enumerate(slugs):
        later = set(slugs[index + 1 :])
        for path in (course.source(slug), *course.modules(slug), course.chapter(slug)):
            others = set(slugs) - {slug} if path == course.source(slug) else later
            trees = _code_cells(path) if path == course.chapter(slug) else [_parsed(path)]
            for other in sorted(_named(trees, others)):
                relation = "later" if other in later else "other"
                what = f"its code uses {other}, {'a later' if relation == 'later' else 'another'} lesson"
                problems.append(
                    Problem(
                        course.relative(path),
                        what,
                        "let each have its own, or write it into the chapter"
                        if course.is_own
                        else "move what both need to course/",
                    )
                )
    return problems


def _allowed(module: str, lesson: Lesson) -> bool:
    package = module.split(".")[0]
    if package == "course":
        given = {name for environment in lesson.environments for name in environment.modules}
        return any(module == name or module.startswith(f"{name}.") for name in given)
    return package in sys.stdlib_module_names or any(
        package in environment.packages for environment in lesson.environments
    )


def _imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The modules that a file imports, with line numbers; `from course import data` counts as `course.data`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "course" and not node.level:
            yield from ((f"course.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno


def _named(trees: list[ast.Module], slugs: set[str]) -> set[str]:
    """The lessons among `slugs` that the code mentions, in an import or in a string other than a docstring."""
    words = []
    for tree in trees:
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        words += [module for module, _ in _imported(tree)]
        words += [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
        ]
    any_of_them = re.compile(rf"\b(?:{'|'.join(slugs)})\b") if slugs else None
    return {slug for word in words for slug in any_of_them.findall(word)} if any_of_them else set()


def _parsed(path: Path) -> ast.Module:
    """The syntax tree of a file; empty if the file is missing or not Python, which other rules report."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return ast.Module([], [])


def _code_cells(chapter: Path) -> list[ast.Module]:
    """The syntax trees of a chapter's code cells, without those that do not parse: the book's build reports them."""
    if not chapter.is_file():
        return []
    trees = []
    for match in CODE_CELL.finditer(chapter.read_text(encoding="utf-8")):
        try:
            trees.append(ast.parse(OPTION.sub("", match[2])))
        except SyntaxError:
            continue
    return trees
