"""Writes each chapter as a notebook, for code that no browser runs: `_static/page/NAME_chapter.ipynb` in the book.

Its text is plain Markdown with the numbers that the build computed. Its first cells check that it runs in a checkout of
the course or, if `published.toml` names a repository, clone that.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from autograder.places import Places  # noqa: E402
from autograder.reading.labels import book  # noqa: E402
from autograder.reading.plain import plain  # noqa: E402
from course.published import Published, published  # noqa: E402
from course.syllabus import syllabus  # noqa: E402

ANCHOR = "page-notebook"
COLAB = "https://colab.research.google.com/#upload=true"
FOLDED = {"remove-cell", "remove-input", "hide-input", "hide-cell"}
"""Tags of cells whose code the page hides; the notebook folds it."""
IN_A_CHECKOUT = """\
from pathlib import Path

if not Path("../solutions").is_dir():
    raise SystemExit("This notebook runs in the folder book of a checkout of the course, after `make setup` there.")
"""
FROM_ITS_REPOSITORY = """\
from pathlib import Path

if not Path("../solutions").is_dir():  # as in Colab: fetch the course, and go to where its chapters are
    !git clone --quiet --depth 1 REPOSITORY course-checkout
    %pip install --quiet './course-checkout[torch,book]'
    %cd course-checkout/book
"""


def file_of(name: str) -> str:
    """The file name of a chapter's notebook, which differs from that of its exercises' notebook."""
    return f"{name}_chapter.ipynb"


def notebook(name: str, text: str, numbers: dict[str, str], places: Published) -> dict[str, Any]:
    """The notebook of a chapter, whose MyST source is `text`."""
    source = read_myst_markdown_notebook(text, config=MdParserConfig(), add_source_map=False)
    titles = {one.label: one.title for found in book(Places()).values() for one in found.values()}
    address = places.page(name)
    page = f"[the page]({address})" if address else "the page"
    first = (
        f"*This chapter as a notebook: run its cells from the first one on. Its exercises are in {page} of the book,"
    )
    setup = FROM_ITS_REPOSITORY.replace("REPOSITORY", places.repository) if places.repository else IN_A_CHECKOUT
    cells = [new_markdown_cell(f"{first} and in `exercises/{name}.ipynb`.*"), new_code_cell(setup)]
    for cell in source.cells:
        if cell.cell_type == "code":
            tags = cell.metadata.get("tags", [])
            folded = {"jupyter": {"source_hidden": True}} if FOLDED & set(tags) else {}
            cells.append(new_code_cell(cell.source, metadata=folded))
        elif shown := plain(cell.source.splitlines(), titles, numbers, latex=True).strip():
            cells.append(new_markdown_cell(shown))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same at each build
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    made = new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})
    nbformat.validate(made)
    return dict(made)


def numbers_of(glued: Path) -> dict[str, str]:
    """The values that a chapter's cells glued during the build, as text by name."""
    if not glued.is_file():
        return {}
    found = {}
    for name, output in json.loads(glued.read_text(encoding="utf-8")).items():
        text = output["data"].get("text/plain", "")
        try:
            found[name] = str(ast.literal_eval(text))
        except (ValueError, SyntaxError):
            found[name] = text
    return found


class PageNotebook(SphinxDirective):
    """The line of a chapter that links to its notebook."""

    def run(self) -> list[nodes.Node]:
        file, places = file_of(self.env.docname), published()
        text = (
            f'This page as a notebook, with its PyTorch and its figures: <a href="_static/page/{file}" download>'
            "download it</a> into the folder `book` of a checkout of the course, then `make setup` and"
            f" `.venv/bin/jupyter lab book/{file}`."
        )
        if colab := places.colab(self.env.docname):
            text += f" Or upload it to [Colab]({COLAB}), which opens [its exercises]({colab}) as well."
        line = nodes.container(classes=["page-small"], ids=[ANCHOR])
        self.state.nested_parse(StringList([text]), self.content_offset, line)
        return [line]


def offer(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add that line to the chapter's end: readers need it late, and cells that do not run in the page link to it."""
    if docname in syllabus():
        source[0] = source[0].rstrip("\n") + "\n\n```{page-notebook}\n```\n"


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the notebooks of all chapters that the book has."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir, "_static", "page")
    executed = Path(app.outdir).parent / "jupyter_execute"
    for name in sorted(app.env.found_docs & syllabus().keys()):
        text = Path(app.env.doc2path(name)).read_text(encoding="utf-8")
        made = notebook(name, text, numbers_of(executed / f"{name}.glue.json"), published())
        out.mkdir(parents=True, exist_ok=True)
        nbformat.write(nbformat.from_dict(made), out / file_of(name))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("page-notebook", PageNotebook)
    app.connect("source-read", offer)
    app.connect("build-finished", write, priority=400)  # before the service worker lists all files
    return {"parallel_read_safe": True, "parallel_write_safe": True}
