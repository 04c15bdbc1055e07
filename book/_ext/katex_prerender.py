"""Renders formulas to HTML and MathML with KaTeX in node during the build, so that readers fetch and run nothing.

Needs node, and `npm ci` in the book's folder. A formula that KaTeX cannot parse is a warning with its page and line, so
it fails a build with -W. The configuration value `katex_macros` has the macros; `#1` marks an argument.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)
RENDERER = Path(__file__).with_suffix(".js")
PUNCTUATION = re.compile(r"[.,;:!?)\]’”…–-]+")
OLDER_FONTS = re.compile(r',url\([^)]*\) format\("(?:woff|truetype)"\)')


class Katex:
    """A node process that renders formulas; it ends when this process ends, because its stdin closes."""

    def __init__(self, folder: Path) -> None:
        command = ["node", str(RENDERER), str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def render(self, formula: str, options: dict[str, Any]) -> str:
        """The HTML of `formula`. Raises `ValueError` with KaTeX's message if it cannot be parsed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"formula": formula, "options": options}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "node has ended"}')
        if "error" in answer:
            raise ValueError(answer["error"])
        return str(answer["html"])

    def close(self) -> None:
        self.process.communicate()


def render(self: HTML5Translator, node: nodes.Element, display: bool) -> str:
    """The HTML of the formula in `node`; if KaTeX finds an error, warn and return the escaped source."""
    macros = dict(self.config.katex_macros)
    options = {"displayMode": display, "throwOnError": True, "strict": "error", "macros": macros}
    try:
        return str(self.builder.app.katex.render(node.astext(), options))
    except ValueError as error:
        logger.warning("%s", error, location=node, type="katex")
        return f'<span class="katex-error">{html.escape(node.astext())}</span>'


def visit_math(self: HTML5Translator, node: nodes.Element) -> None:
    formula = self.starttag(node, "span", "", CLASS="math") + render(self, node, display=False) + "</span>"
    mark = html.escape(node.get("mark", ""))
    if mark and formula.count('class="base"') <= 1:  # a longer formula may wrap within itself
        formula = f'<span class="math-and-mark">{formula}{mark}</span>'
    else:
        formula += mark
    self.body.append(formula)
    raise nodes.SkipNode


def keep_marks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Attach punctuation that directly follows a formula to it, so that no line begins with punctuation."""
    for node in list(doctree.findall(nodes.math)):
        after = node.next_node(descend=False, siblings=True)
        found = PUNCTUATION.match(after.astext()) if isinstance(after, nodes.Text) else None
        if found is not None:
            node["mark"] = found[0]
            after.parent.replace(after, nodes.Text(after.astext()[found.end() :]))


def visit_displaymath(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Permalink to this equation")
        self.body.append("</span>")
    self.body.append(render(self, node, display=True) + "</div>\n")
    raise nodes.SkipNode


def katex_folder(app: Sphinx) -> Path:
    """The folder of KaTeX. Raises `ExtensionError`, which says how to install it or node if it is missing."""
    if not shutil.which("node"):
        raise ExtensionError("the formulas are rendered by node, which is not installed (Debian: nodejs npm)")
    folder = Path(app.srcdir, "node_modules", "katex", "dist")
    if not folder.is_dir():
        raise ExtensionError(f"KaTeX is not installed in {app.srcdir}: run `npm ci` there")
    return folder


def start(app: Sphinx) -> None:
    app.katex = Katex(katex_folder(app))  # type: ignore[attr-defined]
    app.add_css_file("katex/katex.min.css")


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Copy the stylesheet and its fonts into the book, fonts only as WOFF2, which every current browser reads."""
    app.katex.close()  # type: ignore[attr-defined]
    if exception:
        return
    source = katex_folder(app)
    target = Path(app.outdir, "_static", "katex")
    older = shutil.ignore_patterns("*.woff", "*.ttf")
    shutil.copytree(source / "fonts", target / "fonts", ignore=older, dirs_exist_ok=True)
    css = (source / "katex.min.css").read_text(encoding="utf-8")
    (target / "katex.min.css").write_text(OLDER_FONTS.sub("", css), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("katex_macros", {}, "html")
    app.add_html_math_renderer("katex_prerender", (visit_math, None), (visit_displaymath, None))
    app.connect("builder-inited", start)
    app.connect("doctree-resolved", keep_marks)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
