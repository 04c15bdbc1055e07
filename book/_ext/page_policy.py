"""Adds a Content-Security-Policy to the head of every page, so that it holds on any file server and from a disk.

It allows the book's own script files and inline scripts with hashes known to the build. Event handlers in attributes
fail the build. A page can send nothing to another host. The worker of a page's Python comes from a `data:` address, so
that its origin is opaque and it inherits this policy, which allows WebAssembly but not `eval`. Inline styles are
allowed, because formulas and figures need them.
"""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

EVERYWHERE = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "frame-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}
WITH_PYTHON = {"script-src": "'wasm-unsafe-eval'", "worker-src": "data:"}
"""Further sources for pages with Python."""
PROGRAMS = {"", "module", "text/javascript", "application/javascript"}
"""Types of scripts that browsers execute; other types are data."""
HIGHLIGHT = "sphinx_highlight.js"
MARK = '<meta http-equiv="Content-Security-Policy"'
_HEAD = re.compile(r"<head[^>]*>", re.IGNORECASE)


class _Scripts(HTMLParser):
    """Collects hashes of a page's inline scripts, whether it has Python, and scripts that our policy refuses."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.hashes: list[str] = []
        self.python = False
        self.refused: list[str] = []
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.refused += [f"{name}={value!r}" for name, value in values.items() if name.startswith("on")]
        links = (values.get(name, "") for name in ("href", "src", "action", "xlink:href"))
        self.refused += [link for link in links if re.match(r"\s*javascript:", link, re.IGNORECASE)]
        if tag == "script":
            self.python |= "page/cells.js" in values.get("src", "")
            if "src" not in values and values.get("type", "").lower() in PROGRAMS:
                self._text = []

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._text is not None:
            digest = hashlib.sha256("".join(self._text).encode()).digest()
            self.hashes.append(f"'sha256-{base64.b64encode(digest).decode()}'")
            self._text = None


def with_policy(html: str) -> str:
    """Add the policy at the start of a page's head. Raises `ValueError` with the handlers that a page has."""
    if MARK in html:
        return html
    page = _Scripts()
    page.feed(html)
    page.close()
    if page.refused:
        raise ValueError(", ".join(dict.fromkeys(page.refused)))
    policy = dict(EVERYWHERE)
    for name, sources in WITH_PYTHON.items():
        policy[name] += f" {sources}" if page.python else ""
    policy["script-src"] = " ".join([policy["script-src"], *dict.fromkeys(page.hashes)])
    text = "; ".join(f"{name} {sources}" for name, sources in policy.items())
    return _HEAD.sub(lambda head: f'{head[0]}{MARK} content="{text}"/>', html, count=1)


def without_handlers(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Remove Sphinx's script that highlights search words, because it writes a `javascript:` link."""
    context["script_files"] = [one for one in context["script_files"] if HIGHLIGHT not in str(one)]


def add_policies(app: Sphinx, exception: Exception | None) -> None:
    """Add policies to all built pages; runs before the service worker hashes them."""
    if exception or app.builder.format != "html":
        return
    refused = []
    for page in sorted(Path(app.outdir).rglob("*.html")):
        try:
            page.write_text(with_policy(page.read_text(encoding="utf-8")), encoding="utf-8")
        except ValueError as error:
            refused.append(f"{page.relative_to(app.outdir)}: {error}")
    if refused:
        raise ExtensionError("a page's policy lets no handler run that stands in an attribute:\n" + "\n".join(refused))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", without_handlers, priority=900)
    app.connect("build-finished", add_policies, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
