"""Detects cells written for a newer Python than this one, by rewriting their new syntax in the old way.

A cell counts only if all of it parses after the rewriting, so nothing is guessed from a keyword alone. Covered: PEP 695
and 701 (3.12), 696 (3.13), 750 and 758 (3.14).
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from autograder.worker.execution import parsed
from autograder.worker.lines import lines_of

MOST = 50_000
"""Longer cells, in characters, are not examined."""
_STRING = re.compile(r"(?i:(?P<prefix>[furbt]{0,2}))(?P<quote>\"\"\"|'''|\"|')")
_PARAMETERS = re.compile(r"^[ \t]*(?:(?:async[ \t]+)?def|class|type)[ \t]+\w+[ \t]*(?=\[)", re.MULTILINE)
_ALIAS = re.compile(r"^([ \t]*)type[ \t]+(?=\w+[ \t]*=(?!=))", re.MULTILINE)
_EXCEPT = re.compile(r"^([ \t]*except\*?)[ \t]([^\n:]+):", re.MULTILINE)
_DEBUGGED = re.compile(r"(?<![=!<>])=\s*$")
_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}


class _MalformedFString(ValueError):
    """The text is not an f-string of any version."""


@dataclass(frozen=True)
class Newer:
    """A cell that only a newer Python can parse."""

    version: str
    """The first version that can parse all of it, such as `3.12`."""
    readable: str
    """The cell with the top-level statements that this Python cannot parse blanked out; line numbers are unchanged."""
    lost_definition: bool
    """Whether one of those statements is a definition."""


def newer(source: str, running: tuple[int, int] = sys.version_info[:2]) -> Newer | None:
    """The newer Python that a cell needs, and what of it runs here; None if all of it does, or no version parses it."""
    if len(source) > MOST or _is_python(source):
        return None
    text = source
    for version, write_the_old_way in _REWRITES:
        if version > running:
            try:
                text = write_the_old_way(text)
                body = parsed(text).body
            except SyntaxError:
                continue
            except (_MalformedFString, ValueError, RecursionError, MemoryError):
                return None
            return Newer(f"{version[0]}.{version[1]}", *_without_unreadable(source, body))
    return None


def _without_unreadable(source: str, body: list[ast.stmt]) -> tuple[str, bool]:
    lines, lost = lines_of(source), False
    starts: dict[int, list[ast.stmt]] = {}
    for one in body:
        decorators = getattr(one, "decorator_list", [])
        starts.setdefault(min([one.lineno, *(each.lineno for each in decorators)]) - 1, []).append(one)
    for (start, statements), end in zip(starts.items(), [*list(starts)[1:], len(lines)], strict=True):
        if not _is_python("\n".join(lines[start:end])):
            lines[start:end] = [""] * (end - start)
            lost |= any(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for one in statements)
    text = "\n".join(lines)
    return (text if _is_python(text) else ""), lost


def _is_python(text: str, read: Callable[[str], object] = parsed) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _without_3_12_syntax(text: str) -> str:
    return _ALIAS.sub(r"\1", _without_parameters(_without_f_strings(text, "f"), defaults=False))


def _without_3_13_syntax(text: str) -> str:
    return _ALIAS.sub(r"\1", _without_parameters(text, defaults=True))


def _without_3_14_syntax(text: str) -> str:
    return _EXCEPT.sub(_parenthesized, _without_f_strings(text, "t"))


def _parenthesized(caught: re.Match[str]) -> str:
    """Rewrite `except A, B:` as `except (A, B):`; leave others unchanged."""
    kinds = caught[2].strip()
    several = kinds.find(",", 1) > 0 and "(" not in kinds[: kinds.find(",", 1)]
    return f"{caught[1]} ({kinds}):" if several else caught[0]


_REWRITES: tuple[tuple[tuple[int, int], Callable[[str], str]], ...] = (
    ((3, 12), _without_3_12_syntax),
    ((3, 13), _without_3_13_syntax),
    ((3, 14), _without_3_14_syntax),
)


def _without_parameters(text: str, *, defaults: bool) -> str:
    """Remove type parameters, `[T: int]`, after defined names; those with a default, `T = int`, only if `defaults`."""
    parts, end, beyond = list[str](), 0, 0
    for match in _PARAMETERS.finditer(text):
        if match.start() < beyond:  # inside brackets that were already scanned
            continue
        close = beyond = _closing(text, match.end())
        inside = text[match.end() + 1 : close - 1]
        if inside.strip() and (defaults or not re.search(r"(?<![=!<>:])=(?!=)", inside)):
            parts += [text[end : match.end()], _as_many_lines(text[match.end() : close])]
            end = close
    return "".join([*parts, text[end:]])


def _as_many_lines(text: str) -> str:
    return "\\\n" * text.count("\n")


def _closing(text: str, place: int) -> int:
    """The index after the bracket that closes the one at `place`; the end of the text if none does."""
    waiting: list[str] = []
    while place < len(text):
        here = text[place]
        if here in "\"'":
            place = _plain_string(text, place, here * 3 if text.startswith(here * 3, place) else here)
            continue
        if here in _CLOSED_BY:
            waiting.append(_CLOSED_BY[here])
        elif waiting and here == waiting[-1]:
            waiting.pop()
        place += 1
        if not waiting:
            return place
    return place


def _without_f_strings(text: str, kind: str) -> str:
    """Replace each f-string (or t-string, by `kind`) whose expressions are valid Python with `""`."""
    parts, end, place = list[str](), 0, 0
    while place < len(text):
        if text[place] == "#":
            place = _line_end(text, place)
            continue
        match = _STRING.match(text, place)
        if match is None or (place and (text[place - 1].isalnum() or text[place - 1] == "_")):
            place += 1
            continue
        start, place = place, match.end()
        if kind in match["prefix"].lower():
            place = _f_string(text, place, match["quote"], kind)
            parts += [text[end:start], '""', _as_many_lines(text[start:place])]
            end = place
        else:
            place = _plain_string(text, start + len(match["prefix"]), match["quote"])
    return "".join([*parts, text[end:]])


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _plain_string(text: str, place: int, quote: str) -> int:
    """The index after the string whose opening quote is at `place`."""
    place += len(quote)
    while place < len(text) and not text.startswith(quote, place):
        if len(quote) == 1 and text[place] == "\n":
            return place
        place += 2 if text[place] == "\\" else 1
    return min(place + len(quote), len(text))


def _f_string(text: str, place: int, quote: str, kind: str) -> int:
    """The index after the f-string whose contents begin at `place`. Raises `_MalformedFString`."""
    while place < len(text):
        if text.startswith(quote, place):
            return place + len(quote)
        if text[place] == "\n" and len(quote) == 1:
            break
        if text.startswith(("{{", "}}"), place):
            place += 2
        elif text[place] == "{":
            place = _field(text, place + 1, kind)
        else:
            place += 2 if text[place] == "\\" else 1
    raise _MalformedFString


def _field(text: str, place: int, kind: str) -> int:
    """The index after the replacement field whose contents begin at `place`. Raises `_MalformedFString`."""
    start, waiting = place, list[str]()
    parts = list[str]()  # pieces of the expression; nested f-strings, already checked, become `""`
    while place < len(text):
        here = text[place]
        if not waiting and (here in "}:" or re.match(r"![rsa]\s*[:}]", text[place : place + 8])):
            break
        if here == "#":
            place = _line_end(text, place)
        elif match := _STRING.match(text, place):
            prefix, begun = match["prefix"].lower(), place
            if {"f", "t"} & set(prefix):
                place = _f_string(text, match.end(), match["quote"], kind)
            else:
                place = _plain_string(text, begun + len(prefix), match["quote"])
            if kind in prefix:
                parts += [text[start:begun], '""']
                start = place
        else:
            if here in _CLOSED_BY:
                waiting.append(_CLOSED_BY[here])
            elif waiting and here == waiting[-1]:
                waiting.pop()
            place += 1
    expression = _DEBUGGED.sub("", "".join([*parts, text[start:place]]))
    if not _is_python(f"({expression}\n)", ast.parse):
        raise _MalformedFString
    place += 2 * text.startswith("!", place)
    if text.startswith(":", place):
        place += 1
        while place < len(text) and text[place] != "}":
            if text[place] == "{":
                place = _field(text, place + 1, kind)
            else:
                place += 1
    if not text.startswith("}", place):
        raise _MalformedFString
    return place + 1
