"""The book's Sphinx extensions: quizzes, formulas rendered at build time, and builds that fail when they should."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

SOURCE = Path(__file__).parents[2] / "book"
CONFIGURATION = """
extensions = ["myst_parser", "katex_prerender", "quiz"]
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
exclude_patterns = ["node_modules"]
html_math_renderer = "katex_prerender"
katex_macros = {r"\\R": r"\\mathbb{R}", r"\\norm": r"\\lVert #1 \\rVert"}
"""


class Build(NamedTuple):
    code: int
    warnings: str
    page: BeautifulSoup
    output: Path


def build(folder: Path, text: str) -> Build:
    """Build one page with the book's extensions alone, warnings as errors."""
    source, output = folder / "source", folder / "html"
    source.mkdir()
    (source / "index.md").write_text(f"# Page\n\n{text}\n")
    (source / "conf.py").write_text(f"import sys\nsys.path.insert(0, {str(SOURCE / '_ext')!r})\n{CONFIGURATION}")
    (source / "node_modules").symlink_to(SOURCE / "node_modules")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(source), str(output)]
    run = subprocess.run(command, capture_output=True, text=True)
    page = output / "index.html"
    html = page.read_text(encoding="utf-8") if page.exists() else ""
    return Build(run.returncode, run.stderr, BeautifulSoup(html, "html.parser"), output)


QUIZ = """
:::{quiz} What is the shape of $dW$?
- The shape of $W$.
  + Yes. A gradient has the shape of its input.
- A single number.
  - No. $L$ is a single number.
    Its gradient is not.
:::
"""


def test_a_quiz_answers_back(tmp_path: Path) -> None:
    built = build(tmp_path, QUIZ)
    assert built.code == 0, built.warnings
    question = built.page.select_one(".quiz .quiz-question")
    assert question is not None
    assert question.get_text().startswith("What is the shape of")
    assert question.select(".katex")
    right, wrong = built.page.select(".quiz > details.quiz-option")
    assert "right" in right["class"]
    assert "wrong" in wrong["class"]
    assert wrong.select_one("summary").get_text() == "A single number."  # type: ignore[union-attr]
    assert wrong.select_one(".quiz-answer").get_text().strip().endswith("Its gradient is not.")  # type: ignore[union-attr]


NO_QUIZZES = {
    "- One.\n  - No.\n- Two.\n  - No.": "at least one of them right",
    "- One.\n  + Yes.": "at least two options",
    "- One.\n- Two.\n  + Yes.": "an option is a text and one answer",
    "- One.\n  + Yes.\n  - No.\n- Two.\n  - No.": "an option is a text and one answer",
    ":holds: '2 + 2 == 5'\n\n- Five.\n  + Yes.\n- Four.\n  - No.": "what the quiz computes is not true: 2 + 2 == 5",
}


def test_a_quiz_that_is_no_quiz_fails_the_build(tmp_path: Path) -> None:
    built = build(tmp_path, "\n".join(f":::{{quiz}} Which?\n{options}\n:::\n" for options in NO_QUIZZES))
    assert built.code == 1
    said = [line for line in built.warnings.splitlines() if "quiz" in line or "option" in line]
    assert len(said) == len(NO_QUIZZES)
    assert all(message in line for message, line in zip(NO_QUIZZES.values(), said, strict=True))
    assert "index.md:3" in said[0]


FORMULAS = r"""
Inline $x \in \R^n$.

$$
\norm{x} = 1
$$ (eq-norm)

\begin{align*}
a &= b \\
c &= d
\end{align*}

See {eq}`eq-norm`.
"""


def test_formulas_are_rendered(tmp_path: Path) -> None:
    built = build(tmp_path, FORMULAS)
    assert built.code == 0, built.warnings
    assert len(built.page.select("span.math .katex-html")) == 1
    assert len(built.page.select("div.math .katex-display")) == 2
    assert len(built.page.select("math")) == 3  # for those who listen
    assert built.page.select_one("#equation-eq-norm .eqno") is not None
    stylesheet = built.output / "_static" / "katex" / "katex.min.css"
    assert built.page.select_one('link[href^="_static/katex/katex.min.css"]') is not None
    fonts = re.findall(r"url\(([^)]+)\)", stylesheet.read_text())
    assert fonts
    assert all((stylesheet.parent / font).is_file() for font in fonts)


def test_punctuation_stays_with_its_formula(tmp_path: Path) -> None:
    built = build(tmp_path, "So $x$, then $y = x + 1$. And ($z$) too.")
    assert built.code == 0, built.warnings
    assert [joined.get_text()[-1] for joined in built.page.select(".math-and-mark")] == [",", ")"]
    text = built.page.select_one("p").get_text()  # type: ignore[union-attr]
    assert "x, then" in text
    assert "1. And (" in text
    assert ",," not in text


def test_a_formula_that_katex_cannot_read_fails_the_build(tmp_path: Path) -> None:
    built = build(tmp_path, "Fine: $x$.\n\nNot fine: $\\nosuchmacro{x}$.")
    assert built.code == 1
    assert "index.md:5" in built.warnings
    assert "nosuchmacro" in built.warnings


PRINTING = """---
file_format: mystnb
kernelspec: {name: python3}
---
# Page

```{code-cell} python3
import sys, time
for piece in ("one", " line\\n", "and ", "another"):
    sys.stdout.write(piece)
    sys.stdout.flush()
    time.sleep(0.3)
```
"""

FAILING = """---
file_format: mystnb
kernelspec: {name: python3}
---
# Page

{ref}`gone`

```{code-cell} python3
1 / 0
```
"""


def jupyter_book(folder: Path, page: str) -> subprocess.CompletedProcess[str]:
    """Build a book of one page with our book's configuration."""
    for name in ("_ext", "_static", "node_modules"):
        (folder / name).symlink_to(SOURCE / name)
    shutil.copy(SOURCE / "_config.yml", folder)
    shutil.copy(SOURCE / "references.bib", folder)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (folder / "index.md").write_text(page)
    builder = str(Path(sys.executable).with_name("jupyter-book"))
    return subprocess.run([builder, "build", "-W", "-n", "--keep-going", str(folder)], capture_output=True, text=True)


def test_what_a_cell_prints_stays_whole(tmp_path: Path) -> None:
    run = jupyter_book(tmp_path, PRINTING)
    assert run.returncode == 0, run.stderr
    page = BeautifulSoup((tmp_path / "_build" / "html" / "index.html").read_text(), "html.parser")
    assert [output.get_text() for output in page.select(".cell_output .output pre")] == ["one line\nand another\n"]


def test_a_failing_cell_and_a_dead_reference_fail_the_book(tmp_path: Path) -> None:
    run = jupyter_book(tmp_path, FAILING)
    assert run.returncode == 1
    assert "undefined label: 'gone'" in run.stderr
    assert "ZeroDivisionError" in run.stderr


def test_figures_lose_only_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SOURCE / "_ext"))
    rounded = importlib.import_module("light_figures").rounded
    path = "M 1.234567 20 \nL 3.1 4.999999 \nL 3.1 5 \nL 3.1 5 \nL -0.000001 7 \nz"
    assert rounded(path) == "M 1.23 20 \nL 3.1 5 \nL -0 7 \nz"


def test_one_page_needs_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SOURCE / "_ext"))
    main = importlib.import_module("one_page").main
    assert str(main(["ch66"])).startswith("there is no page 'ch66'; there are accessibility, before, bibliography, ")
    assert str(main([])).startswith("there is no page ''; ")


def test_a_book_of_one_page_has_the_python_of_that_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The archives of the other lessons, and their answer books, would take most of its time."""
    monkeypatch.syspath_prepend(str(SOURCE / "_ext"))
    lessons_of = importlib.import_module("page_runtime").lessons_of
    lessons = ["ch01_computation_graph", "ch06_vjps", "ch99_gone"]
    config = SimpleNamespace(page_lessons=lessons)
    assert lessons_of(SimpleNamespace(srcdir=SOURCE, config=config)) == lessons[:2]
    config.external_site_map = {"index", "ch06_vjps"}
    assert lessons_of(SimpleNamespace(srcdir=SOURCE, config=config)) == ["ch06_vjps"]


def test_no_style_of_ours_reaches_into_a_formula() -> None:
    """Formerly `.rule`, a box of exercises, drew a black block over KaTeX's vertical dots, a span of that class."""
    files = [file for folder in ("_static", "_page") for file in sorted((SOURCE / folder).glob("*.css"))]
    texts = [re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.DOTALL) for file in files]
    theirs = (SOURCE / "node_modules" / "katex" / "dist" / "katex.min.css").read_text(encoding="utf-8")
    names = set(re.findall(r"\.([A-Za-z][\w-]*)", re.sub(r"\{[^{}]*\}", "{}", theirs)))
    written = [re.sub(r":not\([^()]*\)", "", many) for text in texts for many in re.findall(r"([^{}]+)\{", text)]
    selectors = [one.strip() for many in written for one in many.split(",")]
    lasts = {one: found for one in selectors if (found := _last_class(one))}
    assert "rule" in names
    assert {file.name for file in files} >= {"course.css", "reader.css", "cells.css"}
    assert len(lasts) > 100
    assert {one for one, name in lasts.items() if name in names - {"katex", "katex-display"}} == set()


def _last_class(selector: str) -> str:
    """The last class that a selector names; "" if there is none, or if its element is no span: formulas have spans."""
    parts = [part for part in re.split(r"[\s>+~]+", selector) if re.search(r"\.[A-Za-z]", part)]
    if not parts or re.match(r"(?!span\b)[a-z]", parts[-1]):
        return ""
    return re.findall(r"\.([A-Za-z][\w-]*)", parts[-1])[-1]
