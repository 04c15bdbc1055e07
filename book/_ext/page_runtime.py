"""Assembles Python for the book's pages during the build; pages fetch it when a reader uses it.

The built book's `_static/page/` has the scripts (`_page/`, bundled by esbuild), Pyodide from npm with NumPy's wheel,
the grader, and an archive for each lesson of `page_lessons`. If NumPy's wheel is unavailable, pages work without
Python, and their exercises say where else to solve them; with `$CI` set, that is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from exercise_cells import cell_ids, rows
from page_archives import MOST_BYTES, before_a_verdict, with_data, write
from page_wheel import NoWheel, entry_of, wheel
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

BOOK = Path(__file__).resolve().parents[1]
ROOT = BOOK.parent
sys.path.insert(0, str(ROOT))

from course.syllabus import syllabus  # noqa: E402

logger = logging.getLogger(__name__)
SCRIPTS = BOOK / "_page"
ENTRIES = ("cells.js", "sidebar.js")
WORKER = "worker.js"
CORE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")


def lessons_of(app: Sphinx) -> list[str]:
    """The lessons in `page_lessons` that this book contains; `one_page` builds a book of few pages."""
    contents = getattr(app.config, "external_site_map", None)
    there = [slug for slug in app.config.page_lessons if Path(app.srcdir, f"{slug}.md").is_file()]
    return [slug for slug in there if contents is None or slug in contents]


def _chapters(app: Sphinx) -> list[dict[str, Any]]:
    """The chapters of this book in order, each with the exercises on its page, none where they need PyTorch."""
    contents = getattr(app.config, "external_site_map", None)
    here, live = [one for one in syllabus().values() if contents is None or one.slug in contents], lessons_of(app)

    def told(slug: str) -> dict[str, Any]:
        return {"slug": slug, "exercises": rows(slug) if slug in live else []}

    return [{"title": one.title, **told(one.slug)} for one in here]


def look(app: Sphinx) -> None:
    """Get NumPy's wheel and bundle the scripts before pages are written, because pages depend on them."""
    app.page_wheel = None
    if app.builder.format != "html" or not lessons_of(app):
        return
    styles = Path(app.outdir, "_static", "page")
    styles.mkdir(parents=True, exist_ok=True)
    shutil.copy(SCRIPTS / "cells.css", styles)  # exercises are in pages without Python as well
    try:
        app.page_wheel = wheel(_pyodide(app), ROOT.parent / "shared" / "wheels", BOOK / "_build" / "wheels")
    except (NoWheel, OSError, ValueError) as error:
        message = f"pages are built without Python: {error}"
        if os.environ.get("CI"):
            raise ExtensionError(message) from error
        logger.info(message)
        return
    bundle(Path(app.outdir), _pyodide(app).parent, _version(_pyodide(app)), _chapters(app))


def _pyodide(app: Sphinx) -> Path:
    return Path(app.srcdir, "node_modules", "pyodide")


def _version(pyodide: Path) -> str:
    return str(json.loads((pyodide / "package.json").read_text(encoding="utf-8"))["version"])


def bundle(out: Path, modules: Path, version: str, lessons: list[dict[str, Any]]) -> None:
    """Bundle each script with its imports; the editor becomes a separate chunk, which a page loads when needed."""
    esbuild, folder = modules / ".bin" / "esbuild", out / "_static" / "page"
    for old in folder.glob("*-*.js"):
        old.unlink()  # chunks of an earlier build
    common = [str(esbuild), "--bundle", "--minify", f"--outdir={folder}", "--log-level=error", "--legal-comments=none"]
    cells = {one["slug"]: cell_ids(one["slug"]) for one in lessons}
    common += [f'--define:PYODIDE="{version}"', f"--define:LESSONS={json.dumps(lessons)}", "--target=es2022"]
    common += [f"--define:CELLS={json.dumps(cells)}"]
    parts = [*ENTRIES, "--splitting", "--format=esm", "--chunk-names=[name]-[hash]"]
    for command in ([*common, *parts], [*common, WORKER, "--format=iife"]):  # the worker cannot import
        run = subprocess.run(
            command, cwd=SCRIPTS, capture_output=True, text=True, env={**os.environ, "NODE_PATH": str(modules)}
        )
        if run.returncode:
            raise ExtensionError(f"esbuild: {run.stderr.strip()}")


def add_script(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the scripts and their styles to the pages that use them."""
    lessons = lessons_of(app)
    if not lessons:
        return
    app.add_css_file("page/cells.css")
    if app.page_wheel:
        app.add_js_file("page/sidebar.js", type="module")
        if pagename in lessons or pagename == app.config.root_doc:
            app.add_js_file("page/cells.js", type="module")


def assemble(app: Sphinx, error: Exception | None) -> None:
    """Write the files that the scripts fetch."""
    if error is not None or not app.page_wheel:
        return
    out, pyodide, slugs = Path(app.outdir, "_static", "page"), _pyodide(app), lessons_of(app)
    python = out / f"python-{_version(pyodide)}"
    python.mkdir(exist_ok=True)
    for name in CORE:
        shutil.copyfile(pyodide / name, python / name)
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    entry = entry_of(lock)
    lock["packages"] = {"numpy": entry}
    (python / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    (python / entry["file_name"]).write_bytes(app.page_wheel)
    parts, digits = _write_archives(out, slugs)
    sizes = {"python": sum((python / name).stat().st_size for name in CORE), "numpy": len(app.page_wheel)}
    solved = _write_solutions(out, slugs)
    sizes |= {part: len(content) for part, content in parts.items()}
    _hold_to_budget(before_a_verdict(sizes, digits))
    version = hashlib.sha256(b"".join(parts.values()) + entry["sha256"].encode()).hexdigest()[:16]
    manifest = {"sizes": sizes, "solved": solved, "data": digits, "version": version}
    (out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    _write_service_worker(Path(app.outdir))


def _hold_to_budget(found: dict[str, int]) -> None:
    heavy = max(found, key=lambda part: found[part])
    message = f"the first check of {heavy} fetches {found[heavy]:,} bytes of grader, checks and answers"
    if found[heavy] > MOST_BYTES and os.environ.get("CI"):
        raise ExtensionError(f"{message}, and at most {MOST_BYTES:,} are wanted: let its checks ask for less")
    logger.info(message)


def _write_archives(out: Path, slugs: list[str]) -> tuple[dict[str, bytes], list[str]]:
    """Write the archives, made from a release without solutions; return them, and the exercises that need the digits.

    Answer books that have to be written stay in `.cache/books` alone: beside the checks, they would be used by tests.
    """
    sys.path.insert(0, str(ROOT))
    from autograder.authoring.release import release
    from autograder.authoring.tree import Course

    with tempfile.TemporaryDirectory() as folder:
        released = Path(folder, "release")
        release(Course.at(), released, slugs, beside=False, say=logger.info)
        return write(released, slugs, out), [part for slug in slugs for part in with_data(released, slug)]


def _write_solutions(out: Path, slugs: list[str]) -> list[str]:
    """Write the solutions, which pages show after a pass and use in cells that call them; a release omits the files."""
    from autograder.learning.solutions import solution_of
    from course.syllabus import find_lesson

    for slug in slugs:
        own = {one.name: {"text": solution_of(one), "why": one.why} for one in find_lesson(slug).exercises}
        module = (ROOT / "solutions" / f"{slug}.py").read_text(encoding="utf-8")
        (out / f"{slug}.solved.json").write_text(json.dumps({"module": module, "exercises": own}), encoding="utf-8")
    return slugs


def _write_service_worker(out: Path) -> None:
    """Write `sw.js` with a hash of the book into its top folder, because a service worker covers its own folder."""
    digest = hashlib.sha256()
    for file in sorted(file for file in out.rglob("*") if file.is_file() and file.name != "sw.js"):
        digest.update(file.relative_to(out).as_posix().encode() + file.read_bytes())
    text = (SCRIPTS / "sw.js").read_text(encoding="utf-8")
    (out / "sw.js").write_text(text.replace("${VERSION}", digest.hexdigest()[:12]), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("page_lessons", [], "env")
    app.connect("builder-inited", look)
    app.connect("html-page-context", add_script)
    app.connect("build-finished", assemble)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
