"""From what an exercise's checks saw to what the learner is told.

The message has, in this order: the known mistake that gives the same values, the relation between the answer and the
right one, and the smallest failing case with both side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.diagnosis import Misconception
from autograder.diagnosis.case import HEIGHT
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.attribution import explaining, order_of_showing
from autograder.judging.explaining.contrasts import contrast
from autograder.judging.explaining.evidence import Evidence
from autograder.judging.explaining.mended import NOT_MENDED, Mended
from autograder.judging.explaining.relations import likeliest_relations
from autograder.judging.explaining.right_answers import right_answer
from autograder.judging.explaining.shown_case import call_shown, case_of, code_of, smallest_case
from autograder.judging.records.errors import Crashed, Missing, Raised, TimedOut
from autograder.judging.records.record import CHANGED, Call, Comparison, Record
from autograder.judging.records.summary import summary
from autograder.judging.records.withheld import said_of

MOST_LINES = HEIGHT - 1
"""Most lines of a message; the caller may add one about a wrong helper."""
ANOTHER = "Another mistake: "
MOST_PROBLEMS = 2
"""Most wrong outputs that are described in words."""


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with an exercise."""

    message: str
    misconceptions: tuple[str, ...] = ()
    code: str = ""
    """A program that makes the shown call, with every digit; empty if none can be written."""
    case: str = ""
    """The same call and what was compared, as `case_of` writes it."""


@dataclass(frozen=True)
class Explanation:
    """An explanation found by a search, and the known mistakes that it combines, if any."""

    message: str
    misconceptions: tuple[str, ...] = ()
    shown: Record | None = None
    """The record with the case that the message is about; None if it holds for all."""


def diagnose(
    records: list[Record],
    misconceptions: dict[Misconception, Evidence],
    reference: Reference,
    *,
    thorough: bool = True,
    guess: bool = True,
    search: Callable[[Sequence[Misconception]], Explanation | None] | None = None,
    repair: Mended = NOT_MENDED,
) -> Diagnosis:
    """Diagnose an exercise from its checks' `records`; `misconceptions` maps each known mistake to its evidence.

    Without `guess`, no relation between the answer and the right one is reported. `search` is called if no known
    mistake gives the answer, with those that give a part of it. If not `thorough`, because checks take long, a mistake
    that differs from the answer in the failing check that is shown is not tried on the other checks. `repair` tells
    where an edit of the learner's own code makes the visible checks pass; it is said if no known mistakes give all that
    these saw.
    """
    explained = explaining(records, misconceptions, thorough)
    explanation = search(explained.known) if search and not explained.whole else None
    replaced = bool(explanation and explained.known) or (guess and repair.replaces(explained))
    found = [] if replaced else explained.all
    named = list(dict.fromkeys(known.says for known in found))
    named = named if len(named) <= 2 else []
    lines = list(named)
    if len(named) == 2:
        one, other = lines
        lines = [f"Two mistakes would give exactly this. Either: {one}", f"Or: {other}"]
        if explained.second:
            lines = [f"There are two mistakes. First: {one}", f"Then: {other}"]
    if repair.message and guess and not found and not (explanation and explanation.misconceptions):
        explanation = Explanation(repair.message, repair.misconceptions)
    if explanation:
        lines = explanation.message.splitlines()
    failing = sorted((record for record in records if not record.passed), key=order_of_showing)
    shown = (found and explained.record) or (explanation and explanation.shown) or failing[0]
    last = [] if failing[0] is shown else [f"Another check says: {summary(failing[0])}"]
    if len(named) == 1 and explained.left and not explanation:
        left = records[explained.left[0]]
        if left is failing[0] and left is not shown:  # simpler cases come first, whether or not a known mistake fits
            shown, lines, last = left, [], [f"{ANOTHER}{named[0]}"]
        else:
            apart = f"Apart from that: {summary(left)}"
            last = [apart] if summary(failing[0]) in apart else [*last, apart]
    unwritten = [record for record in failing if isinstance(record.ended_by, Missing)]
    if not isinstance(shown.ended_by, Missing) and unwritten:
        lacking = summary(next((record for record in unwritten if record.visible), unwritten[-1]))
        last += [] if any(lacking in line for line in last) else [lacking]
    called: Call | None = None
    first: Comparison | None = None
    if not shown.visible:
        lines += [] if any(record.visible for record in failing) else ["The visible cases pass."]
        lines.append(said_of(shown))
    elif (first := shown.failures[0] if shown.failures else None) is None:
        lines.append(str(shown.ended_by or "The check compared nothing."))
        if isinstance(shown.ended_by, Raised | TimedOut | Crashed) and shown.calls:
            called = shown.calls[-1]
            expected = right_answer(called, reference) if isinstance(shown.ended_by, Raised) else []
            room = _room([*lines, *expected], last)
            lines += [*call_shown(called, [], shown, reference, room, case=shown.asked), *expected]
    else:
        problems = list(first.problems)
        more = len(problems) - MOST_PROBLEMS
        lines += problems if more <= 1 else [*problems[:MOST_PROBLEMS], f"… and {more} more."]
        if guess and not (named or explanation) and not first.property_only:
            others = [record for record in failing if record.visible and record is not shown]
            failures = [failure for record in (shown, *others) for failure in record.failures]
            relations = likeliest_relations(failures, reference)
            lines += relations or (_contrast(records, shown, reference) if first.cost != CHANGED else [])
        called = None if first.property_only else first.call
        lines += smallest_case(first, shown, reference, _room(lines, last))
    return Diagnosis(
        "\n".join([*lines, *last]),
        explanation.misconceptions if explanation else tuple(known.name for known in found),
        code=code_of(called) if shown.visible else "",
        case=case_of(called, first) if shown.visible else "",
    )


def _contrast(records: Sequence[Record], shown: Record, reference: Reference) -> list[str]:
    """What sets the failing visible cases apart, a line or none."""
    scenarios = any(call.scenario for record in records for call in record.calls)  # others' arguments are all shown
    signature = reference.signatures.get(shown.exercise) if scenarios else None
    said = contrast(records, signature.parameters if signature else ())
    return [said] if said else []


def _room(lines: Sequence[str], last: Sequence[str]) -> int:
    """Lines left for a case between the `lines` above it and those below it, `last`."""
    return MOST_LINES - sum(line.count("\n") + 1 for line in (*lines, *last))
