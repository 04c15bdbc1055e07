"""Marks the code cells that a reader can run in the page: those that need neither PyTorch nor Matplotlib.

They get a class with their number among the page's code cells, such as `live-cell-12`. `_static/page/NAME.cells.json`
has the sources of all code cells, including hidden ones. Other cells get a line that says where they can be run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from docutils import nodes
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from page_notebooks import ANCHOR
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from autograder.page.live import plan  # noqa: E402

HIDDEN = {"remove-cell", "remove-input", "hide-input", "hide-cell"}
"""Tags of cells whose code the page hides."""


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Add classes to the live cells of a page, and write its code to `NAME.cells.json`."""
    name = app.env.docname
    if name not in app.config.page_lessons or not app.page_wheel:
        return
    text = Path(app.env.doc2path(name)).read_text(encoding="utf-8")
    notebook = read_myst_markdown_notebook(text, config=MdParserConfig(), add_source_map=False)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    sources = [cell.source for cell in cells]
    shown = [i for i, cell in enumerate(cells) if "remove-cell" not in cell.metadata.get("tags", ())]
    containers = doctree.findall(nodes.container)
    found = [node for node in containers if node.get("nb_element") == "cell_code"]
    if len(found) != len(shown):
        raise ValueError(f"{name}: {len(found)} code cells in the page, and {len(shown)} in its source")
    for at, node in zip(shown, found, strict=True):
        if HIDDEN & set(cells[at].metadata.get("tags", ())):
            continue
        elsewhere = plan(sources, at, app.config.page_lessons).elsewhere
        if elsewhere:
            note = nodes.paragraph(classes=["live-elsewhere"])
            there = nodes.reference("", "notebook of this page", refid=ANCHOR, internal=True)
            note += [nodes.Text(f"With {elsewhere}, which a browser lacks: it runs in the "), there, nodes.Text(".")]
            node.insert(1, note)
        else:
            node["classes"].append(f"live-cell-{at}")
    out = Path(app.outdir, "_static", "page")
    out.mkdir(parents=True, exist_ok=True)
    data = {"cells": sources, "lessons": app.config.page_lessons}
    (out / f"{name}.cells.json").write_text(json.dumps(data), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
