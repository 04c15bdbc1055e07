"""Adds the reader's script, and a description and address for links on other sites, to every page.

esbuild bundles `_reader/` into one small script, which also runs from the disk. The front page gets the lessons with
their quizzes and exercises as JSON, for the progress on its cards.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from exercise_cells import in_pages
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

BOOK = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BOOK.parent))

from course.published import published_here  # noqa: E402
from course.syllabus import syllabus  # noqa: E402

SCRIPTS = BOOK / "_reader"
DUE = "due"
"""The page of repetitions, which has a script of its own."""
_QUESTION = re.compile(r'\bid="((?:quiz|predict)-[0-9a-f]{8})"')
LONGEST = 300
"""Maximum length of a description in characters; sites that show links cut it there or earlier."""


def use_templates(app: Sphinx, config: Config) -> None:
    config.templates_path.append(str(BOOK / "_templates"))


def bundled(app: Sphinx, entry: str, **constants: object) -> None:
    """Bundle a module of `_reader/` with its imports into `_static/ENTRY`; `constants` are names that it uses."""
    modules = Path(app.srcdir, "node_modules")
    target = Path(app.outdir, "_static", entry)
    command = [str(modules / ".bin" / "esbuild"), entry, "--bundle", "--format=iife", "--minify", f"--outfile={target}"]
    command += [f"--define:{name}={json.dumps(value)}" for name, value in constants.items()]
    command += ["--log-level=error", "--legal-comments=none", "--target=es2022"]
    try:
        run = subprocess.run(command, cwd=SCRIPTS, capture_output=True, text=True, env={**os.environ})
    except FileNotFoundError as error:
        raise ExtensionError(f"esbuild is not installed in {app.srcdir}: run `npm ci` there") from error
    if run.returncode:
        raise ExtensionError(f"esbuild: {run.stderr.strip()}")


def bundle(app: Sphinx) -> None:
    if app.builder.format == "html":
        bundled(app, "reader.js")
        if Path(app.srcdir, f"{DUE}.md").is_file():
            bundled(app, "due.js", KATEX_MACROS=app.config.katex_macros)
        app.add_js_file("reader.js", loading_method="defer")


def describe(app: Sphinx, doctree: nodes.document) -> None:
    """Store the quizzes of a page and its description, which is its TL;DR or else its first paragraph."""
    quizzes = [box["ids"][0] for box in doctree.findall(nodes.container) if "quiz" in box["classes"]]
    told = [one[1:] for one in doctree.findall(nodes.admonition) if len(one) > 1 and one[0].astext() == "TL;DR"]
    paragraphs = told[0] if told else [next(iter(doctree.findall(nodes.paragraph)), nodes.paragraph())]
    text = " ".join(" ".join(one.astext() for one in paragraphs).split())
    if len(text) > LONGEST:
        text = text[:LONGEST].rsplit(" ", 1)[0] + " …"
    app.env.metadata[app.env.docname].update(quizzes=quizzes, words=text)


def list_questions(app: Sphinx, error: Exception | None) -> None:
    """Write `_static/page/questions.json`: by page, the ids of its questions and predictions.

    A file of a reader's progress is held against it, so that nothing is stored that no page can show.
    """
    if error is not None or app.builder.format != "html":
        return
    pages = {page: Path(app.outdir, f"{page}.html") for page in sorted(app.env.found_docs)}
    found = {
        page: _QUESTION.findall(file.read_text(encoding="utf-8")) for page, file in pages.items() if file.is_file()
    }
    folder = Path(app.outdir, "_static", "page")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "questions.json").write_text(json.dumps({page: ids for page, ids in found.items() if ids}))


def add_to_head(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Set the description and address for the page's head; add the lessons to the front page."""
    known = app.env.metadata.get(pagename, {})
    if pagename == DUE:
        app.add_js_file("due.js", loading_method="defer")
    context["page_description"] = known.get("words", "")
    context["page_address"] = published_here().page(pagename, "") if pagename in app.env.found_docs else ""
    if pagename == app.config.root_doc:
        data = json.dumps(lessons(app)).replace("</", "<\\/")
        context["body"] += f'<script type="application/json" id="lessons-of-the-book">{data}</script>'


def lessons(app: Sphinx) -> list[dict[str, Any]]:
    """Slug, quizzes and exercises (with points) of each lesson in the book.

    The exercises are those of its page, as the side bar counts them, or all of a lesson that has none there.
    """
    found = []
    for slug, lesson in syllabus().items():
        if slug in app.env.found_docs:
            exercises = [[one.name, one.points] for one in in_pages(slug) or lesson.exercises]
            quizzes = app.env.metadata[slug].get("quizzes", [])
            found.append({"slug": slug, "quizzes": quizzes, "exercises": exercises})
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", use_templates)
    app.connect("builder-inited", bundle)
    app.connect("doctree-read", describe)
    app.connect("html-page-context", add_to_head)
    app.connect("build-finished", list_questions, priority=400)  # before the service worker lists all files
    return {"parallel_read_safe": True, "parallel_write_safe": True}
