"""The picture of a tape in a page: of the course's engine and of the reader's own; anything else is dropped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from live_pages import Reader

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
PAGE = "ch05_autograd_engine.html"
CELL = ".with-picture"
DRAFTS = "backprop:draft:"


def mark(reader: Reader) -> None:
    reader.js(
        "[...document.querySelectorAll(\"[class*='live-cell-']\")].find((one) =>"
        " one.querySelector('pre').textContent.includes('picture(program')).classList.add('with-picture')"
    )


def visit(reader: Reader) -> None:
    reader.visit(PAGE)
    mark(reader)


def drawn(reader: Reader) -> list[str]:
    """Press Run, and return the texts in the picture."""
    reader.js(f"document.querySelector({CELL + ' .live-out'!r})?.replaceChildren()")
    reader.press(CELL, "Run")
    reader.until(f"document.querySelector({CELL + ' .live-out'!r})?.childElementCount > 0")
    reader.until(f"document.querySelector({CELL + ' .live-tools button'!r}).hidden === false")
    texts = f"[...document.querySelectorAll({CELL + ' .live-picture text'!r})].map((one) => one.textContent)"
    return list(reader.js(texts))


def write_own(reader: Reader, source: str, *unwritten: str) -> None:
    """Write a whole engine into the first cell of `Tensor`; empty the others, except those `unwritten`."""
    notebook = json.loads((ROOT / "exercises" / "ch05_autograd_engine.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["metadata"].get("exercise", "").startswith("Tensor")]
    texts = {cell["id"]: "# above" for cell in cells if cell["metadata"]["exercise"] not in unwritten}
    texts[cells[0]["id"]] = source
    for name, text in texts.items():
        reader.js(f"localStorage.setItem({DRAFTS + name!r}, {json.dumps(text)})")


def test_the_courses_engine_until_ones_own_is_written(reader: Reader) -> None:
    visit(reader)
    before = reader.js(f"document.querySelector({CELL + ' .cell_output svg'!r}).textContent")
    texts = drawn(reader)
    assert {"x", "y_ = multiply", "grad 16", "3: 2", "1: 1"} <= set(texts)
    assert "".join(texts) == before
    assert "Used the course's Tensor: yours is not written yet." in reader.text(f"{CELL} .page-line")
    assert reader.js(f"document.querySelector({CELL + ' .live-picture svg'!r}).getAttribute('role')") == "img"
    text = reader.js(f"document.querySelector({CELL + ' .live-out details'!r}).textContent")
    assert "x: 2, grad 16" in text
    assert reader.complaints() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_phone(reader: Reader, theme: str) -> None:
    reader.remain(PAGE, 390, theme)
    mark(reader)
    drawn(reader)
    assert reader.js("document.documentElement.scrollWidth") <= 390
    ink = reader.js(f"getComputedStyle(document.querySelector({CELL + ' .live-picture'!r})).color")
    assert ink == reader.js("getComputedStyle(document.querySelector('article')).color")


def test_nothing_but_shapes_and_texts_gets_into_the_page(reader: Reader) -> None:
    reader.remain(PAGE)
    mark(reader)
    hostile = (
        '<svg xmlns="http://www.w3.org/2000/svg" onload="window.caught = 1" width="50" height="50" style="color: red">'
        '<script>window.caught = 2</script><image href="https://example.org/a.png"/><foreignObject><p>in</p></foreignObject>'
        '<a href="javascript:1"><text>link</text></a><rect width="9" height="9" fill="url(https://example.org/b)"/>'
        '<text x="1" y="9" onclick="window.caught = 3">kept</text></svg>'
    )
    reader.fill(CELL, f"class Sly:\n    def _repr_svg_(self):\n        return {hostile!r}\n\nSly()\n")
    assert drawn(reader) == ["kept"]
    inside = reader.js(f"document.querySelector({CELL + ' .live-picture'!r}).innerHTML")
    for word in ("script", "onload", "onclick", "href", "url(", "style", "foreignObject", "example"):
        assert word not in inside, word
    assert reader.js("window.caught") is None
    reader.fill(
        CELL,
        "class No:\n    def _repr_svg_(self):\n        return 'no <svg'\n"
        "    def __repr__(self):\n        return 'plain'\nNo()\n",
    )
    reader.press(CELL, "Run")
    try:
        reader.until(f"document.querySelector({CELL + ' .live-out'!r}).innerText === 'plain'")
    finally:
        reader.press(CELL, "Reset")


def test_the_readers_own_engine(reader: Reader) -> None:
    own = (ROOT / "tests" / "other_styles" / "ch05_autograd_engine.py").read_text(encoding="utf-8")
    visit(reader)
    write_own(reader, own)
    try:
        visit(reader)
        texts = drawn(reader)
        assert {"x", "y_ = mul", "grad 16"} <= set(texts)
        assert "Used the course's" not in reader.text(f"{CELL} .page-line")
        without = own.replace("    def backward(", "    def not_backward(")
        assert without != own
        write_own(reader, without, "Tensor.backward")
        reader.js(f"localStorage.removeItem({DRAFTS + 'ch05-Tensor-backward'!r})")
        visit(reader)
        said = " ".join(drawn(reader))
        assert "`Tensor.backward` is not written yet." in said
        assert "y_ = mul" in said
    finally:
        reader.js(
            f"Object.keys(localStorage).filter((one) => one.startsWith({DRAFTS!r}))"
            ".forEach((one) => localStorage.removeItem(one))"
        )
