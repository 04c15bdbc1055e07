"""Checks that the commands on the pages print what a successful command of their kind prints."""

from __future__ import annotations

import re

PRINTS = {
    r"(cd|cp|mkdir|export|unset|dask) .*|backprop salt > .*": None,
    r"(cat|cut|grep|head|iconv|ls|tail) .*": r"\S",
    r"backprop grade .* --diff": r"Nothing is overwritten\. To do that: +backprop grade",
    r"backprop grade .*--out (?P<out>\S+).*": r"Full results: +{out}/students/<student>/<lesson>\.json",
    r"backprop report \S+ --student (?P<who>\S+)": r"\d of \d+ points",
    r"backprop report .*--format (?P<format>\w+).*": r"{format}",
    r"backprop similarity .*": r"\w and \w",
    r"backprop release (?P<out>\S+) .*": r"{out}",
    r"backprop nbgrader (?P<out>\S+) .*": r"Next, in {out}: +nbgrader generate_assignment",
    r"nbgrader (generate_\w+) (?P<lesson>\w+)": r"{lesson}",
    r"nbgrader export": r"[Ee]xport",
}
"""Pattern of a command to pattern of its output; None if it prints nothing."""
REFUSAL = r"^backprop: \S"


def unexpected(command: str, printed: str, status: int) -> str:
    """Why the output is not that of a successful command (or, with exit status 2, of a refused one); "" if it is."""
    text = re.sub(r"\s+#.*| *\\\n *", "", command.strip())
    known = ((match, pattern) for looks, pattern in PRINTS.items() if (match := re.fullmatch(looks, text)))
    match, pattern = next(known, (None, None))
    if match is None:
        return f"`{text}` is of no kind that expected_output.py knows: add it there"
    pattern = REFUSAL if status == 2 else pattern
    words = {name: re.escape(word) for name, word in match.groupdict().items()}
    if printed == "" if pattern is None else re.search(pattern.format(**words), printed):
        return ""
    return f"`{text}` prints {printed[-500:]!r}"
