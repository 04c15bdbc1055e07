"""Which functions of some files look like an answer: renamed, or with a slice or a line more or less.

As in `backprop similarity`, it is not likeness that counts but likeness in what is rare: a piece of a tree that a
single file shares with a single answer weighs 1, one that many files have weighs nothing.
"""

from __future__ import annotations

import ast
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from autograder.similarity.trees import NotCompared, tree_of

Pieces = frozenset[int]

EVERYWHERE = 30
"""Files and answers with a piece that weighs nothing any more."""
UNUSUAL, PART = 12.0, 0.1
"""What shared pieces weigh together that is worth a look, and what part of the answer's weight that has to be."""
MOST, LEAST = 0.5, 2.0
"""Of short answers, most of the weight is worth a look, unless it is next to nothing."""


def pieces(code: str) -> Pieces:
    """The pieces of a program's tree; none of what is too large or deep to compare."""
    try:
        return frozenset(tree_of(code, ()).shingles) if code else frozenset()
    except NotCompared:
        return frozenset()


def copies(files: Mapping[str, str], answers: Mapping[str, tuple[str, str]]) -> set[tuple[str, str, str]]:
    """The `(file, function, answer)` that look alike.

    Args:
        files: Python by name.
        answers: by name, each with what is handed out in its place, which is nobody's secret.
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
    """The functions and classes at the top level of a module, what is inside of them included."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ast.unparse(node)
