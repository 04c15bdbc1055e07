"""What a learner is told of repairs: the place and the kind of edit, with the code there, but not the edit."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autograder.diagnosis import Misconception
from autograder.judging.explaining.own_code import Edit
from autograder.wording import enumeration

LEFT_OUT, CONSTANT = "without one operand", "with another constant"
"""Kinds of edits, as `mutation.repairs` calls them."""


def left_after(edits: Sequence[Edit], known: Sequence[Misconception]) -> str:
    """What is said where each of these edits leaves a known mistake: nothing if they are at more than one place."""
    if len({edit.place for edit in edits}) != 1:
        return ""
    quote, kind = _quote_and_kind(edits)
    place = _capital(edits[0].place)
    return f"Two mistakes. {place}, `{quote}`: {kind.rstrip(',')}, one is left.\nThat one: {known[0].says}"


def mended(edits: Sequence[Edit]) -> str:
    """What is said where each of these edits mends the code: nothing if the likeliest are at more than two places."""
    places = _by_place(edits)
    if len(places) > 2:
        places = _by_place([edit for edit in edits if edit.repair.rank == edits[0].repair.rank])
    places = dict(sorted(places.items(), key=lambda at: (at[1][0].statement, at[1][0].repair.splice)))
    said = [_quote_and_kind(at) for at in places.values()]
    if len(said) == 1:
        quote, kind = said[0]
        return f"{_capital(edits[0].place)}, `{quote}`: {kind} every visible case passes."
    if len(said) == 2:
        either = (f"{place}, `{quote}`, {kind.rstrip(',')}" for place, (quote, kind) in zip(places, said, strict=True))
        return f"{_capital(', or '.join(either))}: either way every visible case passes."
    return ""


def _by_place(edits: Sequence[Edit]) -> dict[str, list[Edit]]:
    places: dict[str, list[Edit]] = {}
    for edit in edits:
        places.setdefault(edit.place, []).append(edit)
    return places


def mended_in_part(mending: Sequence[tuple[Edit, Collection[str]]], wrong: Sequence[str]) -> str:
    """What is said where edits make some outputs right: nothing if they are at more than one place.

    Args:
        mending: the edits, each with the outputs that it makes right.
        wrong: the outputs that are wrong without them.
    """
    if len({edit.place for edit, _ in mending}) != 1:
        return ""
    most = max((outputs for _, outputs in mending), key=len)
    edits = [edit for edit, outputs in mending if outputs == most]
    quote, kind = _quote_and_kind(edits)
    right, rest = [one for one in wrong if one in most], [one for one in wrong if one not in most]
    return (
        f"{_capital(edits[0].place)}, `{quote}`: {kind.rstrip(',')}, {enumeration(right)} {_are(right)} right in every "
        f"visible case; {enumeration(rest)} {_are(rest)} not yet."
    )


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _quote_and_kind(edits: Sequence[Edit]) -> tuple[str, str]:
    """The code to quote of edits at one place, and their kind in words."""
    likeliest = [edit for edit in edits if edit.repair.rank == edits[0].repair.rank]
    if {edit.kind for edit in likeliest} == {LEFT_OUT}:  # another constant changes less, if it leaves nothing out, too
        likeliest = [edit for edit in edits if _is_another_constant(edit)] or likeliest
    quotes, kinds = ({getattr(edit, of) for edit in likeliest} for of in ("quote", "kind"))
    quote = quotes.pop() if len(quotes) == 1 else edits[0].line
    return quote, kinds.pop() if len(kinds) == 1 else "with one change here"


def _is_another_constant(edit: Edit) -> bool:
    return edit.kind == CONSTANT and edit.repair.splice.text.strip("()") not in ("0", "1", "0.0", "1.0", "None")


def mended_together(*edits: Edit) -> str:
    """What is said where two edits mend the code together."""
    one, other = sorted(edits, key=lambda edit: (edit.statement, edit.repair.splice))
    return (
        f"Two places: {one.place}, `{one.quote}`, and {other.place}, `{other.quote}`. "
        "With a change at each every visible case passes."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
