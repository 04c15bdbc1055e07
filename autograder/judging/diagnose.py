"""From what an exercise's checks saw to what the learner is told.

In this order: the known mistake that computes the same, the relation between the answer and the right one, and
the smallest failing case with both side by side.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.diagnosis import Misconception
from autograder.diagnosis.case import HEIGHT
from autograder.diagnosis.equality import mismatch
from autograder.diagnosis.relations import explain_outputs
from autograder.diagnosis.sketches import Sketch
from autograder.judging.errors import Crashed, Missing, Raised, TimedOut
from autograder.judging.expectations import Call, Comparison, Record, paired
from autograder.judging.reference import Reference
from autograder.judging.shown_case import call_shown, code_of, is_numeric, is_wrong, smallest_case
from autograder.judging.withheld import said_of
from autograder.values import summarise

TELLING = ("RecursionError", "TimeoutError")
"""Ways to end that say what went wrong, where a check compared nothing."""
DATA = (np.ndarray, np.generic, bool, int, float, complex, str, bytes, type(None))
"""What has a value to compare, or is made of such."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PLAIN_WORD = re.compile(r"(?<!\S)[a-z]+(?=[,.:;]?(?:\s|$))")
"""A word of a message that is no name of the learner's, most likely: all lower case, and nothing but letters."""
PASSING_IS_WORTH = 0.25
"""How many known mistakes a check that passes rules out, beside one that fails: by this, and by what each takes, the
order is decided in which they are looked at."""
_NUMBERS = re.compile(r"[√\d./]+")
_RIGHT_AND_WRONG = re.compile(r" (?:is|are) right; .+ (?:is|are) not\.$")
TELLING_ENTRIES = 6
"""A case with fewer entries than that need not show a relation."""
MOST_TRIED = 8
"""Failing cases on which relations are looked for."""
MOST_LINES = HEIGHT - 1
"""Of a message: who puts it together may add a line, on a helper that is wrong."""
MOST_PROBLEMS = 2
"""Outputs of which it is said in words that they are wrong."""


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with an exercise."""

    message: str
    misconceptions: tuple[str, ...] = ()
    code: str = ""
    """A program that makes the call which is shown, with every digit; empty where none can be written."""


@dataclass(frozen=True)
class Told:
    """What was found that explains an answer, and the known mistakes that it is made of, if any."""

    message: str
    misconceptions: tuple[str, ...] = ()


class Evidence(Sequence[Record]):
    """What the checks see of a known mistake: one record a check, made when it is first looked at.

    Most mistakes differ from the learner's in the first failing check, so the others need not be run, and early in it,
    so it need not be run to its end.

    Args:
        observe: runs the check of a number until what it saw is enough.
        rejected_by: the numbers of the visible checks that the mistake fails, where that is known beforehand.
    """

    def __init__(
        self,
        checks: int,
        observe: Callable[[int, Callable[[Record], bool] | None], Record],
        rejected_by: frozenset[int] | None = None,
    ) -> None:
        self._observe = observe
        self._rejected_by = rejected_by
        self._records: list[Record | None] = [None] * checks
        self._begun: dict[int, Record] = {}
        """Of checks that ended early, what was seen till then."""

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, i: Any) -> Any:
        if self._records[i] is None:
            self._records[i] = self._observe(i, None)
        return self._records[i]

    def accepted_by(self, checks: int) -> list[int]:
        """The first checks, visible ones, that are known to accept the mistake; none where that is not known."""
        return [] if self._rejected_by is None else [i for i in range(checks) if i not in self._rejected_by]

    def presume(self, i: int, record: Record) -> None:
        """Let check `i`, which is known to accept the mistake, have seen this of it, and not be run."""
        assert self._rejected_by is not None
        assert i not in self._rejected_by
        self._records[i] = record

    def may_be_in(self, records: Sequence[Record]) -> bool:
        """Whether the answer of these records fails all visible checks that the mistake is known to fail."""
        return self._rejected_by is None or all(
            not record.passed for i, record in enumerate(records) if record.visible and i in self._rejected_by
        )

    def may_be_all_of(self, records: Sequence[Record]) -> bool:
        """Whether the mistake is known to fail all visible checks that this answer fails, but for its dtype maybe."""
        return self._rejected_by is None or all(
            i in self._rejected_by
            for i, record in enumerate(records)
            if record.visible and not record.passed and record.cost == 1.0
        )

    def is_known_to_pass(self, mine: Record, i: int) -> bool:
        """Whether check `i`, of which `mine` is the answer's record, is known to be passed by the mistake."""
        return self._rejected_by is not None and mine.visible and i not in self._rejected_by

    def same_as(self, mine: Record, i: int) -> bool:
        """Whether check `i` saw of the learner's answer, in `mine`, what it sees of the mistake.

        It ends where it sees something else, once: run again for another answer, it goes on to its end.
        """
        if self._records[i] is None and i not in self._begun:
            record = self._observe(i, lambda theirs: not _last_is_same(mine, theirs))
            if record.cut:
                self._begun[i] = record
            else:
                self._records[i] = record
        if self._records[i] is None and not _begins_like(mine, self._begun[i]):
            return False
        return _same_record(mine, self[i])

    def agrees_until(self, mine: Record, i: int, last: int) -> bool:
        """Whether the mistake gives the same in check `i` up to comparison `last`, and something wrong."""
        if self._records[i] is None and not self._reaches(i, last):
            self.same_as(mine, i)
        begun = self._records[i] or self._begun[i]
        if not all(map(same_comparison, mine.comparisons[: last + 1], begun.comparisons)):
            return False
        theirs = begun if len(begun.comparisons) > last else self[i]
        first = theirs.comparisons[: last + 1]
        some_wrong = len(first) > last and any(one.problems for one in first)
        return some_wrong and all(map(same_comparison, mine.comparisons, first))

    def _reaches(self, i: int, last: int) -> bool:
        return i in self._begun and len(self._begun[i].comparisons) > last


def _last_is_same(mine: Record, begun: Record) -> bool:
    number = len(begun.comparisons)
    return number <= len(mine.comparisons) and same_comparison(mine.comparisons[number - 1], begun.comparisons[-1])


def _begins_like(mine: Record, begun: Record) -> bool:
    """Whether all comparisons of a check that ended early are the first ones of another record."""
    fewer = len(begun.comparisons) <= len(mine.comparisons)
    return fewer and all(map(same_comparison, mine.comparisons, begun.comparisons))


def diagnose(
    records: list[Record],
    misconceptions: dict[Misconception, Evidence],
    reference: Reference,
    *,
    thorough: bool = True,
    guess: bool = True,
    search: Callable[[], Told | None] | None = None,
) -> Diagnosis:
    """The diagnosis of the checks' `records`; `misconceptions` maps each known mistake to what the checks see of it.

    Without `guess`, nothing is said of how the answer is related to the right one. `search` is asked where no known
    mistake gives the answer.

    Not `thorough`, where a check takes long: known mistakes are tried on the failing check that is shown, and one that
    differs there is not tried on others.
    """
    found, explained = _explaining(records, misconceptions, thorough)
    named = list(dict.fromkeys(known.says for known in found))
    named = named if len(named) <= 2 else []
    lines = list(named)
    if len(named) == 2:
        lines = [f"Two mistakes would give exactly this. Either: {lines[0]}", f"Or: {lines[1]}"]
    told = search() if search and not found else None
    if told:
        lines = told.message.splitlines()
    failing = sorted((record for record in records if not record.passed), key=_order_of_showing)
    shown = explained or failing[0]
    last = [] if failing[0] is shown else [f"Another check says: {summary(failing[0])}"]
    if not isinstance(shown.ended_by, Missing) and isinstance(failing[-1].ended_by, Missing):
        last.append(summary(failing[-1]))
    called: Call | None = None
    if not shown.visible:
        lines += [] if any(record.visible for record in failing) else ["The visible cases pass."]
        lines.append(said_of(shown))
    elif (first := shown.failures[0] if shown.failures else None) is None:
        lines.append(str(shown.ended_by or "The check compared nothing."))
        if isinstance(shown.ended_by, Raised | TimedOut | Crashed) and shown.calls:
            called = shown.calls[-1]
            lines += call_shown(called, [], shown, reference, _room(lines, last), case=shown.asked)
    else:
        problems = list(first.problems)
        more = len(problems) - MOST_PROBLEMS
        lines += problems if more <= 1 else [*problems[:MOST_PROBLEMS], f"… and {more} more."]
        if guess and not (named or told) and not first.property_only:
            others = [record for record in failing if record.visible and record is not shown]
            failures = [failure for record in (shown, *others) for failure in record.failures]
            lines += _likeliest_relations(failures, reference)
        called = None if first.property_only else first.call
        lines += smallest_case(first, shown, reference, _room(lines, last))
    return Diagnosis(
        "\n".join([*lines, *last]),
        told.misconceptions if told else tuple(known.name for known in found),
        code=code_of(called) if shown.visible else "",
    )


def _room(lines: Sequence[str], last: Sequence[str]) -> int:
    """How many lines a case may have between those that stand before it and those that stand after it."""
    return MOST_LINES - sum(line.count("\n") + 1 for line in (*lines, *last))


def _order_of_showing(record: Record) -> tuple[bool, bool]:
    """What is wrong before what is not written yet, visible cases before hidden ones."""
    return isinstance(record.ended_by, Missing) and not record.failures, not record.visible


def summary(record: Record) -> str:
    """One line on why a check failed."""
    if not record.visible:
        return said_of(record)
    if record.failures:
        first = record.failures[0]
        where = f" ({first.case})" if first.case else ""
        return f"{first.problems[0]}{where}"
    return str(record.ended_by or "The check compared nothing.")


def _likeliest_relations(failures: list[Comparison], reference: Reference) -> list[str]:
    """What relates an answer to the right one: only what every failing case has that is large enough to tell.

    Small cases suggest coincidences: twice too large on two rows may be a forgotten mean or a forgotten half. So does
    what holds on one of several.
    """
    largest = sorted((one for one in failures if not one.property_only), key=_entries, reverse=True)[:MOST_TRIED]
    said = [(failure, _relations(failure, reference)) for failure in largest]
    said = [(failure, found) for failure, found in said if found or _entries(failure) >= TELLING_ENTRIES]
    counts = Counter(_kind_of(found[0]) for _, found in said if found)
    if not counts:
        return []
    kind = counts.most_common(1)[0][0]
    failure, chosen = next((failure, found) for failure, found in said if found and _kind_of(found[0]) == kind)
    everywhere = [sentence for sentence in chosen if all(_holds(sentence, failure, *other) for other in said)]
    if failure is failures[0] or not failure.case or not everywhere:
        return everywhere
    # in one line: what is right there may be wrong on the case that is shown below it
    return [f"On {failure.case.removeprefix('on ')}: {' '.join(everywhere)}"]


def _holds(sentence: str, of: Comparison, other: Comparison, found: list[str]) -> bool:
    """Whether another case, of which so much was `found`, has the relation that a sentence says of one."""
    if other.names == of.names and _RIGHT_AND_WRONG.search(sentence):
        return _wrong_outputs(other) == _wrong_outputs(of)
    return other is of or any(_kind_of(one) == _kind_of(sentence) for one in found)


def _kind_of(sentence: str) -> str:
    """What a sentence says without the numbers of its case, and without what may follow from them."""
    return _NUMBERS.sub("#", re.split(r"[:(;,]", sentence)[0])


def _wrong_outputs(comparison: Comparison) -> set[str]:
    triples = paired(comparison.got, comparison.expected, comparison.names)
    return {name for name, got, expected in triples if is_wrong(name, got, expected, comparison)}


def _entries(comparison: Comparison) -> int:
    triples = paired(comparison.expected, comparison.expected, comparison.names)
    return sum(np.size(value) for _, value, _ in triples if is_numeric(value))


def _relations(comparison: Comparison, reference: Reference) -> list[str]:
    if comparison.property_only:
        return []
    triples = paired(comparison.got, comparison.expected, comparison.names)
    if not all(is_numeric(got) and is_numeric(want) for _, got, want in triples):
        return []
    names, got, expected = zip(*triples, strict=True)
    call = comparison.call
    return explain_outputs(
        [np.asarray(value) for value in got],
        [np.asarray(value) for value in expected],
        list(names),
        rtol=comparison.rtol,
        atol=comparison.atol,
        inputs=dict(call.arguments) if call else None,
        with_unit_g=unit_gradients(comparison, reference),
    )


def unit_gradients(comparison: Comparison, reference: Reference) -> Callable[[], list[np.ndarray]] | None:
    """The right answers had the upstream gradient been all ones; None where there is no upstream gradient."""
    call = comparison.call
    if call is None or call.scenario or not call.arguments or call.arguments[0][0] != "g":
        return None

    def compute() -> list[np.ndarray]:
        values = [value for _, value in call.arguments]
        answer = getattr(reference, call.function)(np.ones_like(values[0]), *values[1:])
        return [np.asarray(value) for _, _, value in paired(answer, answer, comparison.names)]

    return compute


def _explaining(
    records: list[Record], misconceptions: dict[Misconception, Evidence], thorough: bool
) -> tuple[list[Misconception], Record | None]:
    """The known mistakes that give every value that the learner's functions returned.

    `records` may be of the first checks alone, the visible ones.

    Two mistakes in one function are no known mistake. Then those count that give every value of a check that fails,
    and are contradicted by none; the first such check that has just one, whose record comes with it. A mistake that a
    check does not see does not explain why it fails: there, a dtype alone may be wrong.
    """
    failing = sorted((i for i, r in enumerate(records) if not r.passed), key=lambda i: _order_of_showing(records[i]))
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


def _same_record(a: Record, b: Record) -> bool:
    """Whether a check saw two implementations return the same values, call by call."""
    if ending(a) != ending(b) or len(a.comparisons) != len(b.comparisons):
        return False
    if isinstance(a.ended_by, Raised) and isinstance(b.ended_by, Raised) and not _same_words(a.ended_by, b.ended_by):
        return False
    return all(map(same_comparison, a.comparisons, b.comparisons))


def says_why(record: Record) -> bool:
    """Whether a check ended with an exception that says more than its kind, by which a known mistake can be told."""
    return isinstance(record.ended_by, Raised) and bool(_words(record.ended_by))


def _words(raised: Raised) -> list[str]:
    """Without the plural's s, which a number decides: after 0 calls, after 1 call."""
    return [word.removesuffix("s") for word in _PLAIN_WORD.findall(_QUOTED.sub("", raised.failure.message))]


def _same_words(a: Raised, b: Raised) -> bool:
    """Whether two exceptions of one kind say the same but for names and numbers: PyTorch has one kind for all it finds.

    One that says nothing is told apart by its kind alone, and so is a recursion without end: what it was at when the
    stack was full depends on how much of that was in use before.
    """
    if a.failure.kind == "RecursionError":
        return True
    mine, theirs = _words(a), _words(b)
    return not mine or not theirs or mine == theirs


def ending(record: Record) -> str:
    """How a check ended: a misconception that stands for an endless loop raises `TimeoutError`."""
    if isinstance(record.ended_by, Raised):
        return record.ended_by.failure.kind
    return "TimeoutError" if isinstance(record.ended_by, TimedOut) else type(record.ended_by).__name__


def same_comparison(a: Comparison, b: Comparison) -> bool:
    if a.property_only or b.property_only:
        return (a.property_only, a.got, a.place) == (b.property_only, b.got, b.place)
    if isinstance(b.got, Sketch):
        return b.got.fits([a.got], [(a.rtol, a.atol)])
    triples, others = paired(a.got, a.expected, a.names), paired(b.got, b.expected, b.names)
    return len(triples) == len(others) and all(
        _alike(mine, its, a) for (_, mine, _), (_, its, _) in zip(triples, others, strict=True)
    )


def _alike(mine: Any, its: Any, comparison: Comparison) -> bool:
    """Whether two values are the same; of objects that are no data, all there is to compare is the kind."""
    if isinstance(mine, tuple | list) and isinstance(its, tuple | list):
        pairs = zip(mine, its, strict=False)  # a tuple and a list: the checks take one for the other, too
        return len(mine) == len(its) and all(_alike(*pair, comparison) for pair in pairs)
    if isinstance(mine, dict) and isinstance(its, dict):
        return mine.keys() == its.keys() and all(_alike(mine[key], its[key], comparison) for key in mine)
    if not isinstance(mine, DATA) and not isinstance(its, DATA):
        return summarise(mine) == summarise(its)
    same = mismatch(mine, _in_dtype_of(mine, its), name="", rtol=comparison.rtol, atol=comparison.atol)
    return same is None


def _in_dtype_of(mine: Any, its: Any) -> Any:
    """A mistake is the same mistake whether or not the dtype is also wrong."""
    if isinstance(mine, np.ndarray) and isinstance(its, np.ndarray) and {mine.dtype.kind, its.dtype.kind} <= set("fi"):
        with np.errstate(all="ignore"):
            return its.astype(mine.dtype)
    return its
