"""Terms: the first mention before a term's introduction is a link, and a build fails where none can be made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from bs4 import BeautifulSoup, Tag

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

SOURCE = Path(__file__).parents[2] / "book"
CONFIGURATION = """
extensions = ["myst_nb", "sphinx_external_toc", "katex_prerender", "quiz", "terms", "library_names"]
nb_execution_mode = "off"
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
exclude_patterns = ["node_modules"]
html_math_renderer = "katex_prerender"
katex_macros = {}
"""
TOC = "root: index\nentries:\n" + "".join(f"  - file: {name}\n" for name in ("before", "ch01_a", "ch02_b", "glossary"))
GLOSSARY = """# Glossary

```{glossary}
:sorted:

tape
  The record that an engine writes. [](#ch01-tape)

chain rule
  Rates multiply. [](#ch02-chain)

chain
  Operations in a row. [](#ch01-tape)

dual number
  A number with a rate beside it.

Σ
sum sign
  Adds up. [](#ch02-chain)

`np.einsum`
  Products by their indices. [](#ch02-chain)
```
"""
AFTER = "\n(ch01-tape)=\n## The tape\n\nA tape, and a chain.\n"
SECOND = "# Second\n\nThe tape again.\n\n(ch02-chain)=\n## The chain rule\n\nThe chain rule, and $\\sum_i$.\n"


class Built(NamedTuple):
    code: int
    warnings: str
    pages: dict[str, BeautifulSoup]

    def links(self, page: str) -> list[str]:
        return [one.text for one in self.pages[page].select("article a.term, [role=main] a.term")]


def build(folder: Path, first: str, second: str = SECOND) -> Built:
    """Build a book of two chapters, warnings as errors; `first` is the text above the first chapter's only section."""
    source, output = folder / "source", folder / "html"
    source.mkdir()
    texts = {
        "index": "# Book\n",
        "before": "# Before\n\nYou know `np.zeros`.\n",
        "ch01_a": f"# First\n\n{first}\n{AFTER}",
        "ch02_b": second,
        "glossary": GLOSSARY,
    }
    for name, text in texts.items():
        (source / f"{name}.md").write_text(
            f"---\nfile_format: mystnb\nkernelspec: {{name: python3, language: python}}\n---\n\n{text}"
        )
    (source / "_toc.yml").write_text(TOC)
    (source / "conf.py").write_text(f"import sys\nsys.path.insert(0, {str(SOURCE / '_ext')!r})\n{CONFIGURATION}")
    (source / "node_modules").symlink_to(SOURCE / "node_modules")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(source), str(output)]
    run = subprocess.run(command, capture_output=True, text=True)
    pages = {one.stem: BeautifulSoup(one.read_text(encoding="utf-8"), "html.parser") for one in output.glob("*.html")}
    return Built(run.returncode, run.stderr, pages)


def test_the_first_mention_before_the_introduction_is_a_link(tmp_path: Path) -> None:
    built = build(
        tmp_path,
        "Tapes are read backwards. A tape is written once. The chain rule is not a chain.\n\n"
        "(ch01-way)=\n## The way to the tape\n\nNo dual numbers here, but a tape, and dual numbers.",
    )
    assert built.code == 0, built.warnings
    assert built.links("ch01_a") == ["Tapes", "chain rule", "chain", "dual numbers", "tape"]
    link = built.pages["ch01_a"].select_one("a.term")
    assert isinstance(link, Tag)
    assert link["href"] == "glossary.html#term-tape"
    assert built.links("ch02_b") == [], "it has been introduced, on this page or an earlier one"


def test_a_term_without_a_section_of_its_own_is_linked_once_on_each_page(tmp_path: Path) -> None:
    built = build(tmp_path, "A dual number.\n\n## More\n\nA dual number.", SECOND + "\nDual numbers.\n")
    assert built.code == 0, built.warnings
    assert built.links("ch01_a") == ["dual number"]
    assert built.links("ch02_b") == ["Dual numbers"]


def test_a_link_elsewhere_explains_nothing(tmp_path: Path) -> None:
    built = build(tmp_path, "[Away](https://example.org/) and a dual number.")
    assert built.code == 0, built.warnings
    assert built.links("ch01_a") == ["dual number"]


def test_terms_of_a_question_are_linked_below_it(tmp_path: Path) -> None:
    quiz = ":::{quiz} What is read?\n- A tape.\n  + Yes.\n- A book.\n  - No.\n:::\n"
    built = build(tmp_path, quiz)
    assert built.code == 0, built.warnings
    words = built.pages["ch01_a"].select_one(".quiz .question-words")
    assert words is not None
    assert words.text == "Words: tape."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("It is $\\sum_i x_i$.", "'Σ' comes before what explains it"),
        ("```{image} a.png\n:alt: A tape.\n```", "'tape' comes before what explains it: A tape."),
    ],
)
def test_a_build_fails_where_no_link_can_be_made(tmp_path: Path, text: str, told: str) -> None:
    built = build(tmp_path, text)
    assert built.code == 1
    assert told in built.warnings
    assert "ch01_a" in built.warnings


def test_a_link_above_it_is_enough_for_a_formula(tmp_path: Path) -> None:
    assert build(tmp_path, "The sum sign: $\\sum_i x_i$.").code == 0


def test_names_in_code_are_linked_and_must_be_explained(tmp_path: Path) -> None:
    cell = "```{code-cell} python3\nnp.zeros(3); np.einsum('i,i', a, b)\nnp.einsum('i->', a)\n```\n"
    built = build(tmp_path, cell)
    assert built.code == 0, built.warnings
    assert built.links("ch01_a") == ["einsum"]
    (tmp_path / "more").mkdir()
    built = build(tmp_path / "more", cell.replace("np.zeros", "np.ravel_multi_index"))
    assert built.code == 1
    assert "no entry of the glossary explains np.ravel_multi_index" in built.warnings
