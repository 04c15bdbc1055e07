"""`backprop read`: the right section, as Markdown that a terminal can show, or the page in a browser."""

from __future__ import annotations

import re
import unicodedata
import webbrowser
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from autograder.commands import app
from autograder.places import Places
from autograder.reading import browser
from autograder.reading.formulas import MACROS, readable
from autograder.reading.labels import book, sections
from autograder.reading.plain import COMPUTED, plain
from course.published import VARIABLE
from course.syllabus import find_lesson, syllabus

CHAPTER = """\
---
file_format: mystnb
---
(ch01)=
# First

(ch01-why)=
## Why

```{code-cell} python3
# no heading
(ch01-code)=
```

(ch01-long-name)=
(ch01-short)=
### Deeper

In it.

(ch01-then)=
## Then
"""
SOURCE = r"""
(ch01-a)=
## A *title*

% a remark of the authors
A number, {glue:text}`x:.2f`, of {cite:p}`someone2020`, in {numref}`fig-a` and {eq}`eq-a`: $a_1 * b_1$ and `$HOME * 2`.
See [](#ch01-b), [here](ch02.md#ch01-c) and [a page](https://example.org/$x$).

$$
a_1 = b_1 * c_1
$$ (eq-a)

```{code-cell} python3
:tags: [remove-cell]
secret = 1
```

```{code-cell} python3
:tags: [hide-input]
:mystnb:
:  figure:
:    name: fig-a
:    caption: 'The $a$: seen.'
:  image:
:    alt: A line.
plot()
```

```{code-cell} python3
shown = "$5 and $6"  # {glue:text}`x`
```

:::{admonition} Beware of $x$
:class: tip
- one
:::

::::{grid} 1 1 2 2
:gutter: 3
:::{grid-item-card} Card
:link: ch01
inside
:::
::::

:::{quiz} What is $dx$?
- The same.
  - No. It is
    not.
- Its sum.
  + Yes. Add
    up.
:::

| a | b |
| --- | --- |
| $x$ | [t](#ch01-b) |
"""


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a display, a built book or a browser."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(webbrowser, "open", lambda address: pytest.fail(f"opened {address}"))


def test_a_section_ends_where_the_next_one_begins() -> None:
    found = sections(CHAPTER)
    assert list(found) == ["ch01", "ch01-why", "ch01-long-name", "ch01-short", "ch01-then"]
    assert found["ch01"].lines[-1] == "## Then"
    assert found["ch01-why"].lines[0] == "## Why"
    assert found["ch01-why"].lines[-2:] == ("In it.", "")
    assert found["ch01-short"].lines == found["ch01-long-name"].lines == ("### Deeper", "", "In it.", "")
    assert found["ch01-then"].title == "Then"


def test_every_exercise_has_a_section() -> None:
    chapters = book(Places())
    for lesson in syllabus().values():
        assert lesson.slug[:4] in chapters[lesson.slug]
        for exercise in lesson.exercises:
            assert exercise.anchor in chapters[lesson.slug], exercise.full_name


def test_myst_becomes_markdown() -> None:
    text = plain(SOURCE.splitlines(), {"ch01-b": "The b"})
    assert text.startswith("## A *title*\n\nA number, […], of (someone2020), in Figure (fig-a) and (eq-a): ")
    assert "`a_1 * b_1` and `$HOME * 2`" in text
    assert "See The b, here and [a page](https://example.org/$x$)." in text
    assert "```latex\na_1 = b_1 * c_1\n```\n(eq-a)" in text
    assert "secret" not in text
    assert "plot()" not in text
    assert "> **Figure (fig-a).** The `a`: seen. *A line.*" in text
    assert '```python\nshown = "$5 and $6"  # {glue:text}`x`\n```' in text
    assert "> **Beware of `x`**\n>\n> - one" in text
    assert "> **Card**\n>\n> inside" in text
    assert "> - (a) Its sum.\n> - (b) The same.\n>\n> Answer: (a) Yes. Add up." in text
    assert "No. It is" not in text
    assert "| `x` | t |" in text


def test_a_fence_that_nobody_closed_loses_nothing() -> None:
    assert "the rest" in plain([":::{admonition} A", "the rest"], {})
    assert "x = 1" in plain(["```{code-cell} python3", "x = 1"], {})
    assert "a = b" in plain(["$$", "a = b"], {})


@pytest.mark.parametrize("slug", syllabus())
def test_nothing_of_myst_is_left_in_a_chapter(slug: str) -> None:
    chapters = book(Places())
    titles = {one.label: one.title for found in chapters.values() for one in found.values()}
    lines = chapters[slug][slug[:4]].lines
    text = plain(lines, titles)
    assert _leftovers(text) == []
    assert len(text) > len("\n".join(lines)) / 4, "most of the rest are cells that only draw"


def test_leftovers_would_be_found() -> None:
    for line in (":::{note}", "a {glue:text} b", "costs $x$", "(ch01-a)=", r"so \alpha is", "[x](#ch01-b)"):
        assert _leftovers(f"before\n{line}\nafter"), line


def _leftovers(markdown: str) -> list[str]:
    prose = re.sub(r"^(?:> )?```.*?^(?:> )?```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]+`", "", prose)
    signs = r":::|\{[a-z:]+\}|\$|^\([\w-]+\)=|\\[a-zA-Z]+|\]\((?!http)|`"
    return re.findall(rf".{{0,30}}(?:{signs}).{{0,30}}", prose, flags=re.MULTILINE)


@pytest.fixture(autouse=True)
def not_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide this machine's built book, which other processes may be building, from the test."""
    monkeypatch.setattr(Places, "pages", property(lambda self: tmp_path / "not built"))


def read(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["read", *arguments], env={"COLUMNS": "200"})
    assert "Traceback" not in done.output
    return done.exit_code, done.output


def test_a_section_is_shown_in_the_terminal() -> None:
    for target in ("ch06/relu_vjp", "6/relu_vjp", "ch06-relu-vjp", "ch06_vjps/relu_vjp"):
        code, shown = read(target, "--no-browser")
        assert code == 0
        assert shown.startswith("relu: a mask"), target
        assert "sigmoid" not in shown, "the next section"
    assert max(map(len, shown.splitlines())) <= import_module("autograder.commands.read").WIDEST


def test_a_chapter_is_meant_by_its_lesson_and_by_its_notebook() -> None:
    for target in ("ch06", "ch06_vjps.ipynb"):
        code, shown = read(target, "--no-browser")
        assert code == 0
        assert "VJPs, one op at a time" in shown.splitlines()[0]
        assert f"{COMPUTED} stands for a number" in shown


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("ch06/relu", "ch06_vjps has no exercise 'relu'"),
        ("ch06-whi", "ch06_vjps has no section 'ch06-whi'; there are ch06-why"),
        ("ch99", "there is no lesson 'ch99'"),
        ("forward", "forward is an exercise of several lessons: say ch01/forward or ch07/forward"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(target: str, said: str) -> None:
    code, shown = read(target)
    assert code == 2
    assert shown.startswith(f"backprop: {said}")
    assert shown.count("\n") == 1


def test_an_installation_without_the_book_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Places, "chapters", property(lambda self: tmp_path / "book"))
    code, shown = read("ch06/relu_vjp")
    assert (code, shown.count("\n")) == (2, 1)
    assert shown.endswith("is not there: this installation came without the book\n")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built book and a display."""
    page = tmp_path / "ch06_vjps.html"
    page.write_text("<h1>VJPs</h1>")
    monkeypatch.setattr(Places, "pages", property(lambda self: tmp_path))
    monkeypatch.setenv("DISPLAY", ":9")
    return page


def _take_note(monkeypatch: pytest.MonkeyPatch, opened: list[str]) -> None:
    """A fake browser that records the addresses that it opens."""

    def note(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", note)


def test_a_page_that_is_built_opens_at_the_section(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    _take_note(monkeypatch, opened)
    code, shown = read("ch06/relu_vjp")
    assert (code, shown) == (0, f"backprop: opened {built}\n")
    lead_in = built.with_name(browser.LEAD_IN)
    assert opened == [lead_in.as_uri()], "desktops drop the anchor of a file's address"
    assert f"url={built.as_uri()}#ch06-relu-vjp" in lead_in.read_text()


@pytest.mark.parametrize("arguments", [["--no-browser"], []])
def test_without_a_browser_the_page_is_named_and_the_section_shown(
    built: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    if not arguments:
        monkeypatch.delenv("DISPLAY")
    code, shown = read("ch06/relu_vjp", *arguments)
    assert code == 0
    assert f"{built}#ch06-relu-vjp" in shown
    assert "relu: a mask" in shown


def test_a_published_page_opens_where_the_network_is(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(Places, "pages", property(lambda self: Path("/nowhere")))
    _take_note(monkeypatch, opened)
    monkeypatch.setenv(VARIABLE, "https://book.invalid")
    monkeypatch.setenv("BROWSER", "firefox")
    monkeypatch.setattr(browser, "reachable", lambda address: False)
    assert "relu: a mask" in read("ch06/relu_vjp")[1]
    assert opened == []
    monkeypatch.setattr(browser, "reachable", lambda address: True)
    page = "https://book.invalid/ch06_vjps.html#ch06-relu-vjp"
    assert read("ch06/relu_vjp") == (0, f"backprop: opened {page}\n")
    assert opened == [page]


def test_a_host_that_does_not_answer_is_no_network() -> None:
    assert not browser.reachable("http://127.0.0.1:9/page", 0.2)
    assert not browser.reachable("https://[broken", 0.2)
    assert not browser.reachable("https://book.invalid:notaport/", 0.2)


def test_the_commands_of_notebooks_are_targets() -> None:
    from autograder.sections import read_command

    exercise = find_lesson("ch05_autograd_engine").exercise("Tensor.backward")
    said = read_command(exercise.lesson, exercise.anchor)
    assert said == "backprop read ch05/Tensor.backward"
    assert read(said.split()[-1], "--no-browser")[0] == 0


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\loss", "L"),
        (r"\grad{W}", "∂L/∂W"),
        (r"\pd{\loss}{z_1} = 1", "∂L/∂z_1 = 1"),
        (r"\vjp(g) = X\T g", "vjp(g) = Xᵀ g"),
        (r"\E[z\T H z]", "E[zᵀ H z]"),
        (r"\norm{x} \le \frac{a + b}{\sqrt{n}}", "‖x‖ ≤ (a + b)/√n"),
        (r"\theta \in \R^{n}", "θ ∈ R^n"),
        (r"\hat{y}_i", "ŷ_i"),
        (r"\underbrace{x}_{y}", r"\underbrace{x}_y"),
        (r"\frac{\partial", "(∂)/()"),
        (r"\frac{\partial f}{\partial x}\T g", "(∂f/∂x)ᵀ g"),
        (r"\frac{1}{\sigma}(x - \mu)", "(1/σ)(x - μ)"),
        (r"\frac{x}{\sqrt{2\pi}}", "x/(√(2π))"),
        (r"\left(\frac{\partial f}{\partial x}\right)\T g", "(∂f/∂x)ᵀ g"),
        (r"a \\ b", r"a \\ b"),
        ("{", "{"),
    ],
)
def test_formulas_are_readable(latex: str, shown: str) -> None:
    assert unicodedata.normalize("NFC", readable(latex)) == shown


def test_the_macros_are_those_of_the_book() -> None:
    config = yaml.safe_load((Places().root / "book" / "_config.yml").read_text(encoding="utf-8"))
    macros = config["sphinx"]["config"]["katex_macros"]
    assert {name.removeprefix("\\"): value for name, value in macros.items()} == MACROS


@pytest.mark.parametrize("slug", sorted(syllabus()))
def test_no_section_shows_a_macro(slug: str) -> None:
    """`\\loss` means nothing to a reader, because it is defined in the book's settings."""
    shown = "".join(plain(section.lines, {}) for section in book(Places())[slug].values())
    formulas = re.findall(r"`[^`\n]+`|```latex\n.*?```", shown, re.DOTALL)
    assert not re.findall(rf"\\(?:{'|'.join(MACROS)})(?![a-zA-Z])", "\n".join(formulas))
