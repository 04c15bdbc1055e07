"""Parses and writes numbers in platforms' formats, with decimal commas or thousands separators."""

from __future__ import annotations

import re

from autograder.wording import in_points

GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
SPACES = re.compile(r"[\s\u00a0\u202f'’]")
"""Thousands separators of French and Swiss numbers."""


def number(text: str, likely: float = 0.0) -> float:
    """The number in a cell; 0 for anything else.

    Of two kinds of separators the last is the decimal one, as in Canvas's own parser (`decimal_comma_to_period` in
    gradebook_importer.rb). A single separator before exactly three digits separates thousands, unless reading it as
    decimal gives the `likely` number: Moodle may show three decimals, and no assignment is worth 1.000 of a point.
    """
    digits = SPACES.sub("", text).removesuffix("%")
    if not re.fullmatch(r"-?[\d.,]+", digits):
        return 0.0
    if decimal := _decimal(digits):
        whole, _, fraction = digits.rpartition(decimal)
        as_decimal = _float(re.sub("[.,]", "", whole) + "." + fraction)
        if not GROUPED.fullmatch(digits) or len(set(re.findall("[.,]", digits))) > 1 or as_decimal == likely:
            return as_decimal
    return _float(re.sub("[.,]", "", digits))


def has_decimal_comma(text: str) -> bool:
    """Whether a number has a decimal comma, so that numbers in other cells should have one, too."""
    return _decimal(SPACES.sub("", text)) == "," and not GROUPED.fullmatch(text.strip())


def written(points: float, comma: bool = False) -> str:
    """Points with at most two decimals, without thousands separators."""
    text = in_points(points)
    return text.replace(".", ",") if comma else text


def _decimal(digits: str) -> str:
    """The possible decimal separator: the last one, unless it occurs twice."""
    found = re.findall("[.,]", digits)
    return found[-1] if found and found.count(found[-1]) == 1 else ""


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
