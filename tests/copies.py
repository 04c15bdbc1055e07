"""Finds functions that resemble an answer, even with names or a few lines changed.

As in `backprop similarity`, only rare similarities count: a piece of a syntax tree shared by one file and one answer
weighs 1, a piece that many files have weighs nothing.
"""

from __future__ import annotations

import ast
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from autograder.similarity.trees import NotCompared, tree_of

Pieces = frozenset[int]

EVERYWHERE = 30
"""A piece in so many files and answers weighs nothing."""
UNUSUAL, PART = 12.0, 0.1
"""Minimum weight of shared pieces for a match, and their minimum share of the answer's weight."""
MOST, LEAST = 0.5, 2.0
"""For short answers, this share suffices, with a small minimum weight."""


def pieces(code: str) -> Pieces:
    """The pieces of a program's syntax tree; none if it is too large or too deep to compare."""
    try:
        return frozenset(tree_of(code, ()).shingles) if code else frozenset()
    except NotCompared:
        return frozenset()


def copies(files: Mapping[str, str], answers: Mapping[str, tuple[str, str]]) -> set[tuple[str, str, str]]:
    """Find similar `(file, function, answer)`.

    Args:
        files: Python sources by name.
        answers: by name, each with the stub handed out for it, which is not secret.
    """
    theirs = {name: pieces(code) - pieces(handed_out) for name, (code, handed_out) in answers.items()}
    functions = {(file, name): pieces(code) for file, text in files.items() for name, code in _functions(text)}
    having = Counter(piece for secret in theirs.values() for piece in secret)
    in_file: dict[str, set[int]] = defaultdict(set)
    for (file, _), of_function in functions.items():
        in_file[file] |= of_function
    for whole_file in in_file.values():
        having.update(whole_file)

    def weight(shared: Pieces) -> float:
        return sum(max(0.0, 1 - math.log(max(having[piece] - 1, 1)) / math.log(EVERYWHERE)) for piece in shared)

    found = set()
    for answer, secret in theirs.items():
        whole = weight(secret)
        for place, code in functions.items():
            shared = weight(secret & code)
            if (shared >= UNUSUAL and shared >= PART * whole) or (shared >= LEAST and shared >= MOST * whole):
                found.add((*place, answer))
    return found


def _functions(text: str) -> Iterator[tuple[str, str]]:
    """The functions and classes at the top level of a module, with everything inside them."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ast.unparse(node)
