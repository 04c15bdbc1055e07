"""Which known mistakes explain what the checks saw of an answer."""

from __future__ import annotations

from collections import Counter

from autograder.diagnosis import Misconception
from autograder.judging.explaining.evidence import Evidence, ending, same_comparison
from autograder.judging.records.errors import Missing
from autograder.judging.records.record import Comparison, Record

TELLING = ("RecursionError", "TimeoutError")
"""Ways to end that say what went wrong, where a check compared nothing."""
PASSING_IS_WORTH = 0.25
"""How many known mistakes a check that passes rules out, beside one that fails: by this, and by what each takes, the
order is decided in which they are looked at."""


def explaining(
    records: list[Record], misconceptions: dict[Misconception, Evidence], thorough: bool
) -> tuple[list[Misconception], Record | None]:
    """The known mistakes that give every value that the learner's functions returned.

    `records` may be of the first checks alone, the visible ones.

    Two mistakes in one function are no known mistake. Then those count that give every value of a check that fails,
    and are contradicted by none; the first such check that has just one, whose record comes with it. A mistake that a
    check does not see does not explain why it fails: there, a dtype alone may be wrong.
    """
    failing = sorted((i for i, r in enumerate(records) if not r.passed), key=lambda i: order_of_showing(records[i]))
    possible = {known: theirs for known, theirs in misconceptions.items() if theirs.may_be_in(records)}
    # what else fails is tried last where a check takes long: most mistakes do not get there
    last = [] if thorough else failing[1:]
    order = _cheapest_first(records, failing, last)
    found = [
        (known, theirs)
        for known, theirs in possible.items()
        if theirs.may_be_all_of(records)
        and all(
            (records[i].passed and theirs.is_known_to_pass(records[i], i)) or theirs.same_as(records[i], i)
            for i in order
        )
        and any(not theirs[i].passed for i in failing)
    ]
    if found:  # where the dtype is wrong as well, a check that fails for the dtype alone does not show the mistake
        telling = [i for i in failing if not found[0][1][i].passed]
        return [known for known, _ in found], records[telling[0]]
    values_wrong = [j for j in failing if has_wrong_values(records[j])]
    for i in failing if thorough else failing[:1]:
        if not _tells(records[i]) or _is_one_bit(records[i]):
            continue
        # what a property alone tells may follow from wrong values, so it has to account for those as well
        properties_alone = records[i].ended_by is None and not has_wrong_values(records[i])
        to_explain = values_wrong if properties_alone else []
        order = _cheapest_first(records, [i], last)
        alike = [
            known
            for known, theirs in possible.items()
            if not theirs.is_known_to_pass(records[i], i)
            and all(
                j not in to_explain
                if theirs.is_known_to_pass(records[j], j)
                else (j != i or (theirs.same_as(records[i], i) and not theirs[i].passed))
                and _may_be_beside(records[j], theirs[j])
                and not (j in to_explain and theirs[j].passed)
                for j in order
            )
        ]
        if len({known.says for known in alike}) == 1:
            return alike, records[i]
    return [], None


def _cheapest_first(records: list[Record], telling: list[int], last: list[int]) -> list[int]:
    """The numbers of all checks in the order that rules out most in least time, but `last`; `telling` tell most.

    All have to fit a known mistake, so the order decides on what is run, and on nothing else.
    """
    takes = {i: record.seconds / (1 if i in telling else PASSING_IS_WORTH) for i, record in enumerate(records)}
    return sorted(takes, key=lambda i: (i in last, takes[i], i))


def _tells(record: Record) -> bool:
    """Whether what one check saw can tell a mistake from another: that something was raised, many have in common."""
    if record.ended_by is None or ending(record) in TELLING:
        return True
    return has_wrong_values(record)


def _is_one_bit(record: Record) -> bool:
    """Whether all that a check has against an answer is one property that does not hold: many mistakes have that."""
    return len(record.failures) == 1 < len(record.comparisons) and record.failures[0].property_only


def has_wrong_values(record: Record) -> bool:
    return any(not failure.property_only for failure in record.failures)


def _may_be_beside(mine: Record, theirs: Record) -> bool:
    """Whether nothing that a check saw contradicts a known mistake.

    Where that mistake makes nothing wrong, another one may; what was not answered contradicts nothing.
    """
    if theirs.ended_by is not None and mine.ended_by is None:
        return False
    counterparts = _by_case(theirs)
    return all(
        (bool(my.problems) and not their.problems) or same_comparison(my, their)
        for key, my in _by_case(mine).items()
        if (their := counterparts.get(key)) is not None
    )


def _by_case(record: Record) -> dict[tuple[str, bool, int], Comparison]:
    """Comparisons by case, kind and number: where a property fails its case may end, and the next ones come earlier."""
    counts: Counter[tuple[str, bool]] = Counter()
    found = {}
    for comparison in record.comparisons:
        key = comparison.case, comparison.property_only
        found[*key, counts[key]] = comparison
        counts[key] += 1
    return found


def order_of_showing(record: Record) -> tuple[bool, bool]:
    """What is wrong before what is not written yet, visible cases before hidden ones."""
    return isinstance(record.ended_by, Missing) and not record.failures, not record.visible
