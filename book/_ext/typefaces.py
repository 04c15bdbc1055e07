"""The book's typefaces: one for text and one for code, from npm, and a font with the theme's icons that pages use."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

FACES = [
    ("Book Text", "source-serif-4", "normal", "200 900"),
    ("Book Text", "source-serif-4", "italic", "200 900"),
    ("Book Code", "jetbrains-mono", "normal", "100 800"),
]
THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
ICONS = THEME / "vendor" / "fontawesome" / "webfonts" / "fa-solid-900.ttf"
_FAMILY = re.compile(r"@font-face\{[^}]*font-family:(Font Awesome\\? ?[^;}]*Free);[^}]*font-weight:900")
_GLYPH = re.compile(r"((?:\.fa-[\w-]+:before,?)+)\{content:\"\\+([0-9a-f]+)\"")
_RULE = re.compile(r"((?:\.fa-[\w-]+:before,?)+)\{content:\"[^\"]*\"\}")
_USED = re.compile(r"\bfa-[a-z0-9-]+")
_OTHER = re.compile(r"[\uf000-\uf8ff]|(?<=\"\\)f[0-9a-f]{3}(?=\")")
"""An icon without its own class in a style sheet, as a character or an escape, such as an admonition's."""


def ship(app: Sphinx) -> None:
    """Copy the typefaces and write their style sheet; the icons follow when all pages are written."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static", "typefaces")
    folder.mkdir(parents=True, exist_ok=True)
    rules = []
    for family, name, style, weights in FACES:
        package = Path(app.srcdir, "node_modules", "@fontsource-variable", name)
        file = package / "files" / f"{name}-latin-wght-{style}.woff2"
        if not file.is_file():
            raise ExtensionError(f"the typeface {name} is not installed in {app.srcdir}: run `npm ci` there")
        shutil.copy(file, folder)
        shutil.copy(package / "LICENSE", folder / f"{name}-LICENSE.txt")
        rules.append(
            f'@font-face {{ font-family: "{family}"; font-style: {style}; font-weight: {weights}; font-display: swap;'
            f' src: url({file.name}) format("woff2"); }}'
        )
    (folder / "typefaces.css").write_text("\n".join(rules) + "\n", encoding="utf-8")
    (folder / "icons.css").write_text("", encoding="utf-8")
    app.add_css_file("typefaces/typefaces.css")
    app.add_css_file("typefaces/icons.css", priority=900)


def ship_icons(app: Sphinx, error: Exception | None) -> None:
    """Write a font with only the icons that pages use, and the theme's styles without the names of all others.

    The theme's font has 156 KB, and the names of its icons are a third of its styles.
    """
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    styles = (THEME / "styles" / "pydata-sphinx-theme.css").read_text(encoding="utf-8")
    text = "".join(page.read_text(encoding="utf-8") for page in out.glob("*.html"))
    text += "".join(script.read_text(encoding="utf-8") for script in (THEME / "scripts").glob("pydata*.js"))
    used = set(_USED.findall(text))
    glyphs = {
        int(code, 16)
        for names, code in _GLYPH.findall(styles)
        if used & {name[1:].removesuffix(":before") for name in names.split(",")}
    }
    sheets = out.joinpath("_static").rglob("*.css")

    def if_used(rule: re.Match[str]) -> str:
        return rule[0] if used & {name[1:].removesuffix(":before") for name in rule[1].split(",")} else ""

    ours = out / "_static" / "styles" / "pydata-sphinx-theme.css"
    ours.write_text(_RULE.sub(if_used, styles), encoding="utf-8")
    others = "".join(_GLYPH.sub("", sheet.read_text(encoding="utf-8")) for sheet in sheets)
    glyphs |= {int(found, 16) if len(found) > 1 else ord(found) for found in _OTHER.findall(others)}
    font = TTFont(ICONS)
    cutter = subset.Subsetter()
    cutter.populate(unicodes=glyphs)
    cutter.subset(font)
    font.flavor = "woff"
    folder = out / "_static" / "typefaces"
    font.save(folder / "icons.woff")
    family = _FAMILY.search(styles)
    if family is None:
        raise ExtensionError("the theme's style sheet has another icon font than typefaces.py knows")
    rule = f"@font-face {{ font-family: {family[1]}; font-weight: 900; font-display: block;"
    (folder / "icons.css").write_text(f'{rule} src: url(icons.woff) format("woff"); }}\n', encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", ship)
    app.connect("build-finished", ship_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
