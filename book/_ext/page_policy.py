"""A Content-Security-Policy for every page of the book, in the page itself: for any file server, and from a disk.

Scripts are the book's own files, and those inline ones that the build knows by their hashes; no handler stands in an
attribute, and a page with one fails the build. A page can send nothing to another host. The worker of a page's Python
comes from a `data:` address, so that its origin is opaque and this policy holds in it as well; WebAssembly is compiled,
and no text becomes a program. Styles are inline: formulas and figures are made of them.
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
"""What pages with Python have beside it."""
PROGRAMS = {"", "module", "text/javascript", "application/javascript"}
"""Types of scripts that browsers run; others are data."""
HIGHLIGHT = "sphinx_highlight.js"
MARK = '<meta http-equiv="Content-Security-Policy"'
_HEAD = re.compile(r"<head[^>]*>", re.IGNORECASE)


class _Scripts(HTMLParser):
    """Hashes of a page's inline scripts, whether it has Python, and what no policy of ours lets run."""

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
    """The page with its policy as the first thing in its head. `ValueError` names handlers that it has."""
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
    """Leave out Sphinx's script that marks the words of a search: it writes a `javascript:` link."""
    context["script_files"] = [one for one in context["script_files"] if HIGHLIGHT not in str(one)]


def add_policies(app: Sphinx, exception: Exception | None) -> None:
    """Give all pages that were built their policies, before anybody takes note of what is in the built book."""
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
