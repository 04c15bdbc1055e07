"""Inserts a lesson's exercises into its chapter, each at the end of the section with its label (`ch06-relu-vjp`).

It inserts the directive `exercise`, which a chapter's source may also contain itself. Contract, stub and given code
come from the lesson's notebook.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from exercise_rules import fold
from page_blocks import block
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

BOOK = Path(__file__).resolve().parents[1]
ROOT = BOOK.parent
sys.path.insert(0, str(ROOT))

from autograder.reading.labels import below_the_title, sections, title_of  # noqa: E402
from course.syllabus import Exercise, find_lesson  # noqa: E402

_HEADING = re.compile(r"^#{1,6} ")
OF_LESSONS = "\n## The lessons\n"
"""The reader's progress goes below this heading of the front page, or at the page's end if there is none."""
NEXT = "## Next up"
"""The heading of a chapter above which a summary of its exercises goes."""
_CHECK = re.compile(r'run\s`check\("[\w.]+"\)`')
"""The notebook's instruction that a button replaces in a page."""
_RUN_AGAIN = re.compile(r" ?After a change in the class cell run all cells below it again\.")
"""What a notebook asks for and a page does by itself."""
_BUILDS_ON = re.compile(r"^Builds on your .*$", re.MULTILINE)
_SECTION = re.compile(r"^Chapter section:.*$", re.MULTILINE)


def in_pages(slug: str) -> list[Exercise]:
    """The exercises of a lesson that need no PyTorch, so that a page can grade them."""
    return [one for one in find_lesson(slug).exercises if "torch" not in one.environment.packages]


def cell_ids(slug: str) -> list[tuple[str, str]]:
    """The ids of the cells for answers in a lesson's notebook, each with its exercise."""
    cells = json.loads((ROOT / "exercises" / f"{slug}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [(cell["id"], cell["metadata"]["exercise"]) for cell in cells if cell["metadata"].get("exercise")]


def put_exercises(app: Sphinx, docname: str, source: list[str]) -> None:
    """Insert each exercise where its section's own text ends: before the section's first subheading or the next one."""
    if docname == app.config.root_doc and app.config.page_lessons:
        before, heading, after = source[0].partition(OF_LESSONS)
        source[0] = f"{before}{heading}\n```{{exercise-progress}}\n```\n{after}"
    if docname not in app.config.page_lessons:
        return
    lines = source[0].splitlines()
    places = _places(docname, source[0])
    top, first = below_the_title(lines), min(places, default=0)
    last = lines.index(NEXT) if NEXT in lines else None
    for at in sorted({*places, top, *([] if last is None else [last])}, reverse=True):
        put = ["", "```{exercise-progress} " + docname, "```", ""] if at == top else []
        put += ["", "```{exercise-end} " + docname, "```", ""] if at == last else []
        if places and at == first:
            put += ["", "```{exercise-rules} " + docname, "```", ""]
        for one in places.get(at, ()):
            put += ["", "```{exercise} " + f"{one.lesson} {one.name}", "```", ""]
        lines[at:at] = put
    source[0] = "\n".join(lines) + "\n"


def _places(slug: str, chapter: str) -> dict[int, list[Exercise]]:
    """The exercises that belong into a chapter, by the number of the line before which they are inserted.

    An exercise is placed at the end of its section, or further down if an exercise that it builds on comes later: a
    reader who comes from above has solved that one.
    """
    lines, found, needs = chapter.splitlines(), sections(chapter), _named_as_needed(slug)
    at: dict[str, int] = {}
    places: dict[int, list[Exercise]] = {}
    for exercise in in_pages(slug):
        if exercise.anchor in found:
            below = [at[name] for name in needs.get(exercise.name, ()) if name in at]
            at[exercise.name] = max(_end(lines, exercise.anchor), *below, 0)
            places.setdefault(at[exercise.name], []).append(exercise)
    return places


def _named_as_needed(slug: str) -> dict[str, list[str]]:
    """By exercise: those that its text in the notebook says it builds on."""
    cells = json.loads((ROOT / "exercises" / f"{slug}.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    heads = [(head[1], _BUILDS_ON.search(text)) for text in texts if (head := re.match(r"## `([\w.]+)`", text))]
    return {name: re.findall(r"`([\w.]+)`", line[0]) for name, line in heads if line}


def in_page_order(slug: str) -> list[Exercise]:
    """The exercises of a lesson's page from its top to its end, which is not always the syllabus's order."""
    chapter = BOOK / f"{slug}.md"
    if not chapter.is_file():
        return in_pages(slug)
    places = _places(slug, chapter.read_text(encoding="utf-8"))
    return [exercise for _, here in sorted(places.items()) for exercise in here]


def _end(lines: list[str], label: str) -> int:
    """The number of the line where the text of a label's section ends, without its subsections."""
    fence, begun = "", False
    for number in range(lines.index(f"({label})="), len(lines)):
        line = lines[number]
        mark = re.match(r"^ {0,3}(`{3,}|~{3,}|:{3,})", line)
        if mark and (not fence or (line.strip().startswith(fence) and not line.strip().strip(fence[0]))):
            fence = "" if fence else mark[1]
        elif not fence and _HEADING.match(line):
            if begun:
                return _above_labels(lines, number)
            begun = True
    return len(lines)


def _above_labels(lines: list[str], heading: int) -> int:
    while re.match(r"^\([\w-]+\)=$", lines[heading - 1]):
        heading -= 1
    return heading


class ExerciseCell(SphinxDirective):
    """`exercise ch06_vjps relu_vjp`: the exercise's contract, and its cells, which the page's script makes editable."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        slug, name = self.arguments
        exercise = find_lesson(slug).exercise(name)
        file = ROOT / "exercises" / f"{slug}.ipynb"
        self.env.note_dependency(str(file))
        notebook = json.loads(file.read_text(encoding="utf-8"))["cells"]
        cells = _cells_of(notebook, name)
        points = f"{exercise.points:g} {'point' if exercise.points == 1 else 'points'}"
        head = block("p", class_="exercise-head")
        head += block("span", nodes.Text("Exercise"), class_="exercise-kind")
        head += [nodes.Text(" "), nodes.literal("", name), nodes.Text(" ")]
        head += block("span", nodes.Text(f"{exercise.tier}, {points}"), class_="exercise-worth")
        link = {"class_": "headerlink", "href": f"#{name}", "title": "Link to this exercise"}
        head += [nodes.Text(" "), block("a", nodes.Text("#"), **link), block("span", class_="exercise-mark")]
        worth = {"data_points": f"{exercise.points:g}", "data_tier": exercise.tier}
        section = block("div", head, class_="exercise", id_=name, data_exercise=name, data_lesson=slug, **worth)
        for at, cell in enumerate(cells):
            section += self.of_cell(cell, name)
            if at == 0:
                section += fold(notebook)
        short = f"{slug.partition('_')[0]}/{name}"
        where = nodes.paragraph(classes=["exercise-elsewhere"])
        where += [nodes.Text("Solve it in the notebook "), nodes.literal("", f"exercises/{slug}.ipynb")]
        where += [nodes.Text("; "), nodes.literal("", f"backprop check {short}"), nodes.Text(" checks it.")]
        section += where
        return [section]

    def of_cell(self, cell: dict[str, Any], name: str) -> list[nodes.Node]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            body = nodes.container(classes=["exercise-contract"])
            text = _SECTION.sub("", re.sub(r"^#{1,6} .*$", "", source, flags=re.MULTILINE)).strip()
            text = _linked(_RUN_AGAIN.sub("", _CHECK.sub("press Check", text)), self.arguments[0])
            self.state.nested_parse(StringList(text.splitlines(), self.env.docname), self.content_offset, body)
            return [body] if text else []
        code = nodes.literal_block(source, source, language="python3")
        part = cell["metadata"].get("part", "")
        if not cell["metadata"].get("exercise"):
            given = block("details", block("summary", nodes.Text("Given")), code, class_="exercise-given")
            return [given]
        label = f"Your {name}" + (f", {part}" if part else "")
        return [block("div", code, class_="exercise-part", data_cell=cell["id"], data_label=label)]


def _linked(text: str, slug: str) -> str:
    """The text with links to the exercises that it builds on, for those that the page has."""
    here = {one.name: one.anchor for one in in_pages(slug)}

    def link(name: re.Match[str]) -> str:
        return f"[{name[0]}](#{here[name[1]]})" if name[1] in here else name[0]

    return _BUILDS_ON.sub(lambda line: re.sub(r"`([\w.]+)`", link, line[0]), text)


def _cells_of(cells: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """One exercise's text and code cells, from its heading to its last part, without check and setup cells."""
    own = [i for i, cell in enumerate(cells) if cell["metadata"].get("exercise") == name]
    first = next(i for i in range(own[0], -1, -1) if "".join(cells[i]["source"]).startswith(f"## `{name}`"))
    return [
        cell for cell in cells[first : own[-1] + 1] if not {"check", "setup"} & set(cell["metadata"].get("tags", ()))
    ]


class Progress(SphinxDirective):
    """A placeholder for the reader's progress in one lesson, or in all lessons with exercises in their pages."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.arguments:
            data = {"data_lesson": self.arguments[0], "data_exercises": json.dumps(rows(self.arguments[0]))}
        else:
            data = {"data_lessons": "", "hidden": ""}
        return [block("div", class_="page-progress", **data)]


class End(SphinxDirective):
    """A placeholder, at a chapter's end, for what the reader has solved and skipped, and for what is next."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [block("div", class_="page-end", data_end=self.arguments[0])]


def rows(slug: str) -> list[list[Any]]:
    """The exercises in a lesson's page, in its order: name, points, and the title of the section that teaches it."""
    return [[one.name, one.points, title_of(one)] for one in in_page_order(slug)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("page_blocks")
    app.setup_extension("exercise_rules")
    app.add_directive("exercise", ExerciseCell)
    app.add_directive("exercise-progress", Progress)
    app.add_directive("exercise-end", End)
    app.connect("source-read", put_exercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
