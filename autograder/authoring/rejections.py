"""Writes rejections.toml, the table of known mistakes and the visible checks that reject them.

`autograder.judging.explaining.rejections` reads it.
"""

from __future__ import annotations

from itertools import islice

from autograder.judging.checking.plugin import identify
from autograder.judging.explaining.rejections import ACCEPTED, REJECTED, Rejections, digest
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.toml_text import toml_key


def rejections(judge: Judge) -> Rejections:
    """The visible checks that reject each known mistake of the judge's lesson, found by running them."""
    found: Rejections = {}
    for exercise in judge.lesson.exercises:
        names = visible_checks(judge, exercise.name)
        for known in judge.mistakes.known:
            if known.exercise == exercise.name:
                seen = islice(judge.mistakes.evidence(known), len(names))
                found[known.exercise, known.name] = frozenset(
                    name for name, record in zip(names, seen, strict=True) if not record.passed
                )
    return found


def visible_checks(judge: Judge, exercise: str) -> list[str]:
    """The names of an exercise's visible checks, in the order in which they run."""
    checks = [identify(item) for item in judge.items_of(exercise)]
    return [check.name for check in checks if check and check.visible]


def rejections_text(judge: Judge, places: Places) -> str:
    """The text of the lesson's rejections.toml: one mark per visible check for each known mistake."""
    found = rejections(judge)
    lines = [
        "# Which visible checks reject which known mistake, in the order of `checks`. Written by `backprop build`.",
        f'of = "{digest(places, judge.lesson.slug)}"',
    ]
    for exercise in judge.lesson.exercises:
        names = visible_checks(judge, exercise.name)
        lines += ["", "[[exercise]]", f'name = "{exercise.name}"', "checks = ["]
        lines += [*(f'    "{name}",' for name in names), "]", "[exercise.rejected]"]
        for (of, mistake), rejecting in found.items():
            if of == exercise.name:
                marks = "".join(REJECTED if name in rejecting else ACCEPTED for name in names)
                lines.append(f'{toml_key(mistake)} = "{marks}"')
    return "\n".join(lines) + "\n"
