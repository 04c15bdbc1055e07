"""`python -P -m autograder.authoring.two_mistakes LESSON[/EXERCISE] --draws 20` counts messages that are true.

For each exercise it draws pairs of two known mistakes, and pairs of a known mistake and a slip that is not listed;
makes both in the reference, and reads what a learner would be told. A name in the message is true if that mistake was
made, or gives the same answers in all visible checks, so that no check can tell the difference. It runs in this process
and without isolation: trusted code only.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from autograder.authoring.arguments import Arguments
from autograder.authoring.rejections import visible_checks
from autograder.collection import with_judge
from autograder.diagnosis import EditError, Misconception, edited
from autograder.diagnosis.mutation.cells import parts_of
from autograder.diagnosis.mutation.text import Source
from autograder.diagnosis.mutation.variants import variants
from autograder.judging.asking.time_budget import unhurried
from autograder.judging.explaining.diagnosis import Diagnosis
from autograder.judging.explaining.searching import WORTH_SEARCHING, state_kept
from autograder.judging.records.record import Record
from autograder.judging.session import Judge
from autograder.worker.interrupts import TooLong, at_most
from course.syllabus import Exercise

SEED = 20261127
CHECK_SECONDS = 20.0
"""Limit in processor time for one check: code with two mistakes may loop forever. Such pairs are not counted."""
TRUE, FALSE, BY_NUMBERS = "true", "false", "by numbers only"


@dataclass(frozen=True)
class Drawn:
    """An answer with two mistakes."""

    text: str
    """The source of the lesson's solutions with both mistakes."""
    known: tuple[Misconception, ...]
    """The known ones among the two, one or both."""
    slip: str = ""
    """The second mistake in words, if it is a slip."""

    @property
    def words(self) -> str:
        """The names of both."""
        return " + ".join([*(known.name for known in self.known), *filter(None, [self.slip])])


def drawn(judge: Judge, exercise: Exercise, draws: int, rng: random.Random) -> Iterator[Drawn]:
    """At most `draws` pairs of known mistakes, and as many of a known mistake and a slip."""
    known = [one for one in judge.mistakes.known if one.exercise == exercise.name and one.edits]
    text = judge.reference.text
    pairs = [(one, other) for i, one in enumerate(known) for other in known[i + 1 :]]
    for one, other in rng.sample(pairs, min(draws, len(pairs))):
        with suppress(EditError, SyntaxError):
            yield Drawn(edited(edited(text, one.edits), other.edits), (one, other))
    source = Source(text)
    slips = variants(source, parts_of(source, text, exercise.name), exercise=exercise.name)
    for _ in range(draws if known and slips else 0):
        one, slip = rng.choice(known), rng.choice(slips)
        with suppress(EditError, SyntaxError):
            yield Drawn(edited(slip.splice.applied(source.bytes), one.edits), (one,), slip.words)


def verdict(pair: Drawn, diagnosis: Diagnosis, known: list[Misconception]) -> str:
    """`TRUE` if the mistakes that the message names were made or give the same answers, `FALSE`, or `BY_NUMBERS`."""
    first = diagnosis.message.partition("\n")[0]
    if diagnosis.misconceptions or first.startswith("The same values come out of a right answer with one slip"):
        return TRUE  # such a name is given only if all visible checks see the same
    named = {one.says for one in known if one.says in diagnosis.message}
    return (TRUE if named <= {one.says for one in pair.known} else FALSE) if named else BY_NUMBERS


def told(judge: Judge, exercise: Exercise, pair: Drawn) -> Diagnosis | None:
    """The diagnosis of these mistakes; None if no visible check rejects them, or a check does not end."""
    items = judge.items_of(exercise.name)[: len(visible_checks(judge, exercise.name))]
    records: list[Record] = []
    try:
        run = judge.reference.local_text(pair.text)
        for item in items:
            with at_most(CHECK_SECONDS), state_kept():
                records += unhurried(partial(judge.observe, [item], run))
    except (Exception, TooLong):
        return None
    return None if all(record.passed for record in records) else judge.mistakes.explain(exercise, records)


def measured(judge: Judge, only: str, draws: int) -> dict[tuple[str, str], Counter[str]]:
    """Counts of the verdicts, by exercise and kind of pair; prints the pairs whose message is false."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for exercise in judge.lesson.exercises:
        if (only and exercise.name != only) or exercise.seconds > WORTH_SEARCHING:
            continue
        rng = random.Random(f"{SEED} {exercise.name}")
        known = [one for one in judge.mistakes.known if one.exercise == exercise.name]
        for pair in drawn(judge, exercise, draws, rng):
            diagnosis = told(judge, exercise, pair)
            if diagnosis is None:
                continue
            said = verdict(pair, diagnosis, known)
            kind = "known and slip" if pair.slip else "two known"
            found.setdefault((exercise.name, kind), Counter())[said] += 1
            if said == FALSE:
                print(f"false: {exercise.name}: {pair.words}\n    {diagnosis.message.splitlines()[0]}", flush=True)
    return found


def main(arguments: list[str]) -> int:
    parser = Arguments("two_mistakes", __doc__)
    parser.add_argument("lesson", help="ch06_vjps, or ch06_vjps/softmax_vjp")
    parser.add_argument("--draws", type=int, default=20, help="pairs of each kind for each exercise")
    options = parser.read(arguments)
    slug, _, only = options.lesson.partition("/")
    lesson = parser.lesson(slug)
    found = with_judge(lesson, lambda judge: measured(judge, only, options.draws))
    together: dict[str, Counter[str]] = {}
    for (_, kind), counts in found.items():
        together.setdefault(kind, Counter()).update(counts)
    for kind, counts in together.items():
        told = ", ".join(f"{counts[said]} {said}" for said in (TRUE, FALSE, BY_NUMBERS))
        print(f"{lesson.slug}, {kind}: {told}, of {counts.total()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
