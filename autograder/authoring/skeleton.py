"""Creates the files and entries of a new exercise, with `WRITE ME` where the author has to write."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from autograder.authoring import class_skeleton
from autograder.authoring.taken_over import taken_over
from autograder.authoring.tree import AuthoringError, Course
from autograder.places import Places, file_of
from course.syllabus import Lesson

UNWRITTEN = "WRITE ME"
"""Marks what the author has still to write; a health rule reports it."""

ENTRY = """\
[[lesson.exercise]]
name = "{name}"
points = 2
point = ["test_smallest_case"]
tier = "{tier}"
hints = [
    "WRITE ME: where to look.",
    "WRITE ME: how to do it, for those still stuck.",
]
why = "WRITE ME: what makes the reference right, cheap or stable, in 160 characters."

"""
CELLS = '''\
# %% [markdown]
# ## `{name}`
#
# WRITE ME: the contract: what it takes, what it returns, shapes and dtypes.
{link}

# %% exercise="{name}"
def {name}(g, x):
    """WRITE ME: what it returns, in a line."""
    ### BEGIN SOLUTION
    raise NotImplementedError("WRITE ME: the reference")
    ### END SOLUTION


'''
SECTION = """\
({anchor})=
### {name}

:::{{rule}} {name}
- WRITE ME: what it computes.
- WRITE ME: the rule that learners implement.
:::

WRITE ME: a question or code that fails; the idea in a sentence; a derivation; code.

"""
CHECKS = '''\
"""Checks of {name}."""

from __future__ import annotations

from autograder.judging import EXACT, exercise, expect_close


@exercise("{name}")
def test_smallest_case(learner, reference, rng):
    """WRITE ME: what this check asks. Smallest case first, numbers from rng; then float32 and degenerate shapes."""
    g, x = rng.normal(size=(2, 3))
    expect_close(learner.{name}(g, x), reference.{name}(g, x), case="three entries", **EXACT)
'''
ALL_KINDS = '''

@exercise("{name}")
def test_every_kind_of_input(learner, reference, kinds):
    """Each two kinds of arguments in factors.toml."""
    check_kinds(learner, reference, kinds, "{name}")
'''
"""A further check, in lessons that have a `factors.toml`."""
FACTORS = """
[{name}]
arrays = {{ g = "float", x = "float" }}
cases."WRITE ME: cases of no axis, one and several, of one entry and none, as above" = {{ g = [3, 6], x = [3, 6] }}
"""
MISTAKES = '''\
"""Wrong answers to {name}, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

LINE = "WRITE ME: a whole line of the reference"

first = mistake("{name}", {{LINE: "WRITE ME: what people write for it"}}, says="WRITE ME: what they did, what to do.")
second = mistake("{name}", {{LINE: "WRITE ME: what others write"}}, says="WRITE ME: as a teacher says it.")
third = mistake("{name}", {{LINE: "WRITE ME: a third mistake"}}, says="WRITE ME: in a sentence or two.")
'''
ORACLES = '''\
"""The reference of {name} against something independent."""

from __future__ import annotations

from autograder.judging import exercise


@exercise("{name}")
def test_{lower}(reference, rng):
    raise NotImplementedError("WRITE ME: compare it with PyTorch, or with brute force")
'''


def new_exercise(course: Course, slug: str, name: str, *, after: str = "", tier: str = "core") -> list[Path]:
    """Create the exercise `name` of a lesson, and return the files written or changed.

    A lesson that belongs to the course which this one extends is copied first; the copies are not returned.

    Args:
        after: the exercise before it in syllabus, solution and chapter; the lesson's last if not given.

    Raises:
        AuthoringError: the exercise cannot be created; then nothing is written.
    """
    lesson = course.lessons[slug]
    if any(one.name == name for one in lesson.whole.exercises):
        raise AuthoringError(f"{slug} has an exercise {name} already")
    if course.of(slug) is not course:
        with taken_over(course, slug) as own:
            return new_exercise(own, slug, name, after=after, tier=tier)
    after = after or lesson.exercises[-1].name
    before = lesson.whole.exercise(after)
    has_chapter = course.chapter(slug).exists()  # a course of your own may have none
    words, new = exercise_files(course, slug, name, tier=tier, has_chapter=has_chapter)
    changed = {
        course.syllabus: _with_entry(lesson, after, ENTRY.format(**words)),
        course.source(slug): _with_cells(after, cells_of(name).format(**words)),
    }
    if has_chapter:
        changed[course.chapter(slug)] = _with_section(before.anchor, SECTION.format(**words))
    if course.factors(slug).is_file() and not _is_class(name):
        changed[course.factors(slug)] = lambda text, _: text + FACTORS.format(**words)
        checks = file_of(course.checks(slug), name)
        new[checks] = new[checks].replace("import EXACT, exercise", "import EXACT, check_kinds, exercise")
        new[checks] += ALL_KINDS.format(**words)
    texts = {path: change(path.read_text(encoding="utf-8"), course.relative(path)) for path, change in changed.items()}
    return written_or_nothing(course, texts, new)


def exercise_files(
    places: Places, slug: str, name: str, *, tier: str, has_chapter: bool
) -> tuple[dict[str, str], dict[Path, str]]:
    """The words to fill into the templates, and the text of each file of an exercise; a class gets a scenario too.

    Raises:
        AuthoringError: `name` cannot be the name of a function.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise AuthoringError(f"{name!r} is no name of a function or a class; a method is written by hand, as in ch05")
    anchor = re.sub("[_.]", "-", f"{slug.split('_')[0]}-{name}".lower())
    link = f"# [Chapter section](../book/{slug}.md#{anchor})\n" if has_chapter else ""
    words = {"name": name, "lower": name.lower(), "slug": slug, "anchor": anchor, "tier": tier, "link": link}
    words["scenario"] = f"use_{re.sub('(?<=[a-z0-9])(?=[A-Z])', '_', name).lower()}"
    folders = {places.checks(slug): CHECKS, places.mistakes(slug): MISTAKES, places.oracles(slug): ORACLES}
    if _is_class(name):
        folders |= {places.checks(slug): class_skeleton.CHECKS, places.oracles(slug): class_skeleton.ORACLES}
        folders[places.scenarios(slug)] = class_skeleton.SCENARIOS
    return words, {file_of(folder, name): template.format(**words) for folder, template in folders.items()}


def cells_of(name: str) -> str:
    """The template of an exercise's cells in its lesson's source."""
    return class_skeleton.CELLS if _is_class(name) else CELLS


def _is_class(name: str) -> bool:
    return name[:1].isupper()


def written_or_nothing(course: Course, changed: Mapping[Path, str], new: Mapping[Path, str]) -> list[Path]:
    """Write changed and new files, by their texts; if anything raises, restore all of them. Returns their paths.

    Raises:
        AuthoringError: one of the new files exists already.
    """
    for path in new:
        if path.exists():
            raise AuthoringError(f"{course.relative(path)} is there already")
    before = {path: path.read_bytes() for path in changed}
    folders = [folder for path in new for folder in reversed(path.parents) if not folder.exists()]
    try:
        for path, text in {**new, **changed}.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        for folder in reversed(list(dict.fromkeys(folders))):
            with suppress(OSError):
                folder.rmdir()
        for path, content in before.items():
            path.write_bytes(content)
        raise
    return [*changed, *new]


def unwritten(course: Course, slug: str) -> Iterator[tuple[Path, int, str]]:
    """File, line number and text of each line of a lesson that has the mark `WRITE ME`."""
    for path in (course.source(slug), course.chapter(slug), course.factors(slug), *course.modules(slug)):
        if path.is_file():
            yield from unwritten_in(path)


def unwritten_in(path: Path) -> Iterator[tuple[Path, int, str]]:
    """File, line number and text of each such line in one file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if UNWRITTEN in line:
            yield path, number, line.strip()


Change = Callable[[str, str], str]
"""Takes a file's text and, for messages, its name; returns the new text."""


def _with_entry(lesson: Lesson, after: str, entry: str) -> Change:
    def change(text: str, name: str) -> str:
        lines = text.splitlines(keepends=True)
        start = _index(lines, f'slug = "{lesson.slug}"', 0, name)
        start = _index(lines, f'name = "{after}"', start, name)
        end = next((i for i in range(start, len(lines)) if lines[i].startswith("[[")), len(lines))
        return "".join([*lines[:end], *_missing_blank_line(lines[:end]), entry, *lines[end:]])

    return change


def _with_cells(after: str, cells: str) -> Change:
    def change(text: str, name: str) -> str:
        lines = text.splitlines(keepends=True)
        last = max((i for i, line in enumerate(lines) if f'exercise="{after}"' in line), default=None)
        if last is None:
            raise AuthoringError(f"{name} has no cell of {after}")
        end = next((i for i in range(last + 1, len(lines)) if lines[i].startswith("# %%")), None)
        if end is None:
            return text.rstrip("\n") + "\n\n\n" + cells.rstrip("\n") + "\n"
        return "".join([*lines[:end], cells, *lines[end:]])

    return change


def _with_section(anchor: str, section: str) -> Change:
    def change(text: str, name: str) -> str:
        lines = text.splitlines(keepends=True)
        start = _index(lines, f"({anchor})=", 0, name)
        heads = [i for i in _headings(lines) if i > start]
        level = _level(lines[heads[0]]) if heads else 0
        end = next((i for i in heads[1:] if _level(lines[i]) <= level), len(lines))
        while end > start + 1 and re.match(r"\([\w-]+\)=\s*$", lines[end - 1]):  # the next section's label
            end -= 1
        return "".join([*lines[:end], *_missing_blank_line(lines[:end]), section, *lines[end:]])

    return change


def _headings(lines: Sequence[str]) -> Iterator[int]:
    """The indices of lines that are headings; lines like `# …` in fenced code are comments."""
    fence = ""
    for i, line in enumerate(lines):
        mark = re.match(r"(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line[len(mark[1]) :].strip():
            fence = ""
        elif not fence and re.match(r"#{1,6} ", line):
            yield i


def _level(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#"))


def _index(lines: Sequence[str], wanted: str, start: int, name: str) -> int:
    for i in range(start, len(lines)):
        if lines[i].strip() == wanted:
            return i
    raise AuthoringError(f"{name} has no line {wanted}")


def _missing_blank_line(lines: Sequence[str]) -> list[str]:
    return ["\n"] if lines and lines[-1].strip() else []
