"""The foot of every page: how to report a mistake, and the link to the page about accessibility.

Readers without a script get the address of a new issue, if `course/published.toml` names a repository, else what to
write.
`_reader/report.js` makes a dialog of it, with the section and the selected text.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from page_shell import bundled
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from course.published import Published, published
from course.version import RELEASE

ACCESSIBILITY = "accessibility"
ASKS = "What is wrong, and what would be right:\n"


def facts(page: str) -> str:
    """What a report says about a page, a line for each fact."""
    return f"Page: {page}.html\nVersion: {RELEASE}\n"


def foot(page: str, places: Published) -> dict[str, str]:
    """What the template `foot.html` shows: the page, the version, and the address of an issue, if there is one.

    `form` is that address with {title} and {text} for the dialog to fill in.
    """
    issue = places.new_issue(f"Mistake in {page}", f"{facts(page)}\n{ASKS}")
    form = places.new_issue("TITLE", "TEXT").replace("=TITLE", "={title}").replace("=TEXT", "={text}")
    return {"page": f"{page}.html", "version": RELEASE, "issue": issue, "form": form}


def add_foot(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    context["foot"] = foot(pagename, published())
    context["accessibility"] = ACCESSIBILITY if ACCESSIBILITY in app.env.found_docs else ""


def bundle(app: Sphinx) -> None:
    if app.builder.format == "html":
        bundled(app, "report.js", ASKS=ASKS)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", bundle)
    app.connect("html-page-context", add_foot)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
