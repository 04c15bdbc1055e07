"""A chapter as a notebook: plain Markdown with its numbers, and a first cell that says where it can run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from course.published import Published
from course.syllabus import syllabus

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
CHAPTER = r"""---
file_format: mystnb
kernelspec: {name: python3, display_name: Python 3}
---

```{code-cell} python3
:tags: [remove-cell]
import math
```

(ch06)=
# VJPs

About {glue:text}`ch06-time`, and {glue:text}`ch06-none`. Here $\partial\loss = \grad{W}$, see [](#ch06).

:::{admonition} TL;DR
$$
\relu(x) \\[4pt] \norm{g}
$$ (eq-a)
:::

```{code-cell} python3
print(math.pi)
```
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    import page_notebooks  # type: ignore[import-not-found]

    return page_notebooks


def sources(made: dict[str, list[dict[str, str]]], kind: str) -> list[str]:
    return [cell["source"] for cell in made["cells"] if cell["cell_type"] == kind]


def test_its_text_is_what_a_notebook_can_show(module: ModuleType, tmp_path: Path) -> None:
    glued = tmp_path / "ch06_vjps.glue.json"
    glued.write_text(json.dumps({"ch06-time": {"data": {"text/plain": "'3 h'"}}}))
    made = module.notebook("ch06_vjps", CHAPTER, module.numbers_of(glued), Published())
    text = "\n".join(sources(made, "markdown"))
    assert r"About 3 h, and […]. Here $\partial L = \frac{\partial L}{\partial W}$, see VJPs, one op at a time." in text
    assert "> $$\n> \\operatorname{relu}(x) \\\\[4pt] \\left\\lVert g \\right\\rVert\n> $$" in text
    assert "{glue" not in text
    assert "(ch06)=" not in text
    assert sources(made, "code")[1:] == ["import math", "print(math.pi)"]
    hidden = [cell["metadata"].get("jupyter") for cell in made["cells"] if cell["cell_type"] == "code"]
    assert hidden == [None, {"source_hidden": True}, None]


def test_outside_of_a_checkout_its_first_cell_says_where_it_belongs(module: ModuleType, tmp_path: Path) -> None:
    setup = sources(module.notebook("ch06_vjps", CHAPTER, {}, Published()), "code")[0]
    run = subprocess.run([sys.executable, "-c", setup], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode
    assert run.stderr.strip() == (
        "This notebook runs in the folder book of a checkout of the course, after `make setup` there."
    )
    there = subprocess.run([sys.executable, "-c", setup], cwd=ROOT / "book", capture_output=True, text=True)
    assert (there.returncode, there.stderr) == (0, "")


def test_it_is_offered_at_the_end_of_every_chapter(module: ModuleType) -> None:
    for slug in syllabus():
        text = (ROOT / "book" / f"{slug}.md").read_text(encoding="utf-8")
        source = [text]
        module.offer(None, slug, source)
        assert source[0] == text.rstrip("\n") + "\n\n```{page-notebook}\n```\n", slug


def test_with_a_repository_it_fetches_the_course(module: ModuleType) -> None:
    places = Published("https://someone.github.io/course", "https://github.com/someone/course")
    made = module.notebook("ch06_vjps", CHAPTER, {}, places)
    assert "git clone --quiet --depth 1 https://github.com/someone/course " in sources(made, "code")[0]
    assert "[the page](https://someone.github.io/course/ch06_vjps.html)" in sources(made, "markdown")[0]


@pytest.mark.slow
def test_a_chapter_runs_as_its_notebook(module: ModuleType, tmp_path: Path) -> None:
    """Jupyter runs all cells of a short chapter in the folder where a reader puts it."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    slug = "ch02_chain_rule"
    text = (ROOT / "book" / f"{slug}.md").read_text(encoding="utf-8")
    made = nbformat.from_dict(module.notebook(slug, text, {}, Published()))
    client = nbclient.NotebookClient(made, timeout=300, resources={"metadata": {"path": str(ROOT / "book")}})
    client.execute(env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert any(output.get("data", {}).get("image/svg+xml") for cell in made.cells for output in cell.get("outputs", []))
