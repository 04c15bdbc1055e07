"""Recognises cells that IPython does not run in the notebook's namespace, because of their cell magics."""

from __future__ import annotations

import re

RUN_THE_BODY = frozenset({"capture", "debug", "prun", "time"})
"""The cell magics of IPython that run the rest of the cell in the notebook's namespace.

All others, known or unknown to IPython, leave the namespace unchanged: `%%script`, `%%writefile`, `%%timeit`.
`tests/test_magics.py` compares these with IPython.
"""
OF_IPYTHON = RUN_THE_BODY | frozenset(
    {
        *("!", "HTML", "SVG", "bash", "cmd", "code_wrap", "file", "html", "javascript", "js", "latex", "markdown"),
        *("perl", "pypy", "python", "python2", "python3", "ruby", "script", "sh", "svg", "sx", "system", "timeit"),
        "writefile",
    }
)
"""IPython's own cell magics. We cannot know what a magic of another package does with a cell."""
_FIRST_LINE = re.compile(r"\s*%%(?!\w+\?)(\S*)[ \t]*(.*)(?:\r?\n|\Z)")


def takes_the_body(source: str) -> str:
    """The cell magic, such as `%%script`, that keeps a cell's code out of the notebook's namespace; "" if none does."""
    rest = 0
    while found := _FIRST_LINE.match(source, rest):
        name, options = found[1], found[2]
        statement = name == "time" and any(not word.startswith("-") for word in options.split())
        if name not in RUN_THE_BODY or statement:  # `%%time x = 1` above more lines is a usage error
            return f"%%{name}"
        rest = found.end()
        if rest == len(source):
            return ""
    return ""


def why_not_run(source: str) -> str:
    """The reason why such a cell does not run, to complete a sentence about its first words."""
    if takes_the_body(source).removeprefix("%%") in OF_IPYTHON:
        return "and Jupyter does not run what follows in the notebook"
    return "no magic of IPython's own, so the cell was not run here"
