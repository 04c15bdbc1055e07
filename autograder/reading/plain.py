"""Converts MyST to plain Markdown, for a terminal or a notebook, with words in place of what these cannot show.

A terminal gets formulas in Unicode symbols, a notebook in LaTeX.

MyST's own parser comes with Jupyter Book, which learners do not install. The chapters use a small part of MyST: fenced
directives, roles, formulas and labels. Whatever the book's build computes is missing here: a picture is replaced by its
caption, a number in a sentence by `COMPUTED`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from autograder.reading.formulas import expanded, readable
from autograder.reading.quizzes import parse

COMPUTED = "[…]"
"""Stands where the book has a number that its build computes."""
_OPEN = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}|:{3,})(?:\{(?P<name>[\w:-]+)\})? *(?P<argument>.*)$")
_LABEL = re.compile(r"^\([\w-]+\)=$")
_DISPLAY = re.compile(r"^\$\$ *(?:\((?P<label>[\w-]+)\))?$")
_INLINE = re.compile(
    r"(?P<role>\{(?P<name>[\w:]+)\}`(?P<content>[^`]+)`)"
    r"|(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|\$\$?(?P<math>[^\s$](?:[^$]*[^\s$])?)\$\$?(?!\d)"
    r"|(?<!!)\[(?P<words>[^\]\[]*)\]\((?P<address>[^)\s]*)\)",
    re.DOTALL,
)
_HIDDEN = {"remove-cell", "remove-input", "hide-input"}


@dataclass(frozen=True)
class Manner:
    """How Markdown is written."""

    titles: Mapping[str, str]
    """The headings of the book by their labels, for links without words."""
    numbers: Mapping[str, str]
    """What the build has computed, by its names."""
    latex: bool
    """Whether who shows it can show formulas."""

    def inline(self, latex: str) -> str:
        return f"${expanded(latex)}$" if self.latex else f"`{' '.join(readable(latex).split())}`"

    def display(self, lines: Sequence[str]) -> list[str]:
        if self.latex:
            return ["$$", *map(expanded, lines), "$$"]
        return ["```latex", *map(readable, lines), "```"]


def plain(
    lines: Sequence[str], titles: Mapping[str, str], numbers: Mapping[str, str] | None = None, *, latex: bool = False
) -> str:
    """The Markdown of a section, of which `lines` are the MyST source; the rest is as a `Manner` has it."""
    blocks = _blocks(list(lines), Manner(titles, numbers or {}, latex))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(blocks)).strip() + "\n"


def _blocks(lines: list[str], manner: Manner) -> list[str]:
    done: list[str] = []
    text: list[str] = []

    def flush() -> None:
        done.extend(_inline("\n".join(text), manner).split("\n") if text else [])
        text.clear()

    at = 0
    while at < len(lines):
        line = lines[at]
        if (opened := _OPEN.match(line)) and not (opened["fence"][0] == "`" and "`" in opened["argument"]):
            end = _closing(lines, at, opened["fence"])
            flush()
            done += ["", *_fenced(opened, lines[at + 1 : end], manner), ""]
            at = end + 1
        elif line == "$$":
            end = next((i for i in range(at + 1, len(lines)) if _DISPLAY.match(lines[i])), len(lines))
            flush()
            closing = _DISPLAY.match(lines[end]) if end < len(lines) else None
            number = [f"({closing['label']})"] if closing and closing["label"] else []
            done += ["", *manner.display(lines[at + 1 : end]), *number, ""]
            at = end + 1
        else:
            if not (_LABEL.match(line) or line.startswith(("% ", "+++"))):
                text.append(line)
            at += 1
    flush()
    return done


def _closing(lines: list[str], start: int, fence: str) -> int:
    """The line that closes the fence opened at `start`; the end of the text if none does."""
    closing = re.compile(rf" *{re.escape(fence[0])}{{{len(fence)},}} *")
    return next((i for i in range(start + 1, len(lines)) if closing.fullmatch(lines[i])), len(lines))


def _fenced(opened: re.Match[str], body: list[str], manner: Manner) -> list[str]:
    name, argument = opened["name"], opened["argument"].strip()
    if name is None and opened["fence"][0] != ":":
        return [f"```{argument}", *body, "```"]
    options, body = _options(body)
    if name == "code-cell":
        return _cell(options, body, manner)
    if name == "math":
        return manner.display(body)
    if name in ("quiz", "predict"):
        return _quiz(name.capitalize(), argument, body, manner)
    if name == "rule":
        argument = f"Rule for `{argument}`"
    title = [f"**{_inline(argument, manner)}**", ""] if argument else []
    inside = [*title, *_blocks(body, manner)]
    return inside if name == "grid" else [f"> {line}".rstrip() for line in inside]


def _options(body: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What the lines at the head of a directive say, and the rest of it."""
    count = next((i for i, line in enumerate(body) if not line.startswith(":") or line.startswith(":::")), len(body))
    try:
        said = yaml.safe_load("\n".join(line[1:] for line in body[:count]))
    except yaml.YAMLError:
        said = None
    return (said if isinstance(said, dict) else {}), body[count:]


def _entries(options: dict[str, Any], key: str) -> dict[str, Any]:
    found = options.get(key)
    return found if isinstance(found, dict) else {}


def _cell(options: dict[str, Any], code: list[str], manner: Manner) -> list[str]:
    """The code that the book shows, and for a picture what it shows."""
    tags = set(options.get("tags") or ())
    shown = [] if tags & _HIDDEN else ["```python", *code, "```"]
    render = _entries(options, "mystnb")
    figure, image = _entries(render, "figure"), _entries(render, "image")
    if figure.get("caption") and "remove-cell" not in tags:
        alt = f" *{image['alt']}*" if image.get("alt") else ""
        told = f"**Figure ({figure.get('name', '')}).** {_inline(str(figure['caption']), manner)}{alt}"
        shown += ["", f"> {told}"]
    return shown


def _quiz(kind: str, question: str, body: list[str], manner: Manner) -> list[str]:
    """The question with its options a, b, c, and the answer below them, so that one can think first."""
    quiz = parse(question, body)
    lettered = list(zip("abcdefgh", quiz.options, strict=False))
    asked = [f"- ({letter}) {option.text}" for letter, option in lettered]
    answers = [f"Answer: ({letter}) {option.answer}" for letter, option in lettered if option.right]
    shown = [f"**{kind}.** {question}", *quiz.lead, "", *asked, "", *answers]
    return [f"> {line}".rstrip() for line in _inline("\n".join(shown), manner).split("\n")]


def _inline(text: str, manner: Manner) -> str:
    """Render the roles, formulas and links of running text; code stays unchanged."""

    def told(found: re.Match[str]) -> str:
        if found["role"]:
            return _role(found["name"], found["content"], manner)
        if found["math"]:
            return manner.inline(found["math"])
        if found["code"]:
            return found["code"]
        words, address = found["words"], found["address"]
        if "://" in address:
            return found[0]
        return _inline(words, manner) or manner.titles.get(address.rpartition("#")[2], address)

    return _INLINE.sub(told, text)


def _role(name: str, content: str, manner: Manner) -> str:
    if name.startswith("glue"):
        return manner.numbers.get(content.partition(":")[0], COMPUTED)
    if name.startswith("cite"):
        return f"({content})"
    if name == "numref":
        return f"Figure ({content})"
    if name == "eq":
        return f"({content})"
    return f"`{content}`"
