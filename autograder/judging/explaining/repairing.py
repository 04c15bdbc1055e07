"""The smallest repair of a learner's own code: one edit, or two, with which every visible case passes.

Each edit runs as the submission does, in a process of its own, and is asked visible inputs alone. A learner is told the
place and the kind of edit, not the edit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from typing import Any

from autograder.diagnosis import Misconception
from autograder.judging.asking.prefetched import request_key
from autograder.judging.asking.run import Run
from autograder.judging.asking.variants import (
    TOGETHER,
    TRACED_SECONDS,
    UNCHANGED_SECONDS,
    Changes,
    NoVariants,
    RunsVariants,
)
from autograder.judging.checking.expectations import as_arrays, problems_of
from autograder.judging.explaining.evidence import by_case, ending, same_comparison
from autograder.judging.explaining.mended import NOT_MENDED, Mended
from autograder.judging.explaining.own_code import Edit, Lines, Outputs, OwnCode
from autograder.judging.explaining.repair_words import left_after, mended, mended_in_part, mended_together
from autograder.judging.explaining.shown_case import is_wrong
from autograder.judging.explaining.work import calls_of, calls_to_differ
from autograder.judging.records.errors import Crashed
from autograder.judging.records.record import Comparison, Record, paired
from autograder.worker.interrupts import TooLong
from autograder.worker.messages import Answer, Call

MOST_CALLS = 1_500
"""Calls that the single edits of one answer may make; starting a variant counts as one."""
CALLS_IF_VALUES_ARE_RIGHT = 600
"""The same where only checks of how the values come about fail: an edit that mends this is among the likely ones, and
each call is measured, which takes long."""
SCENARIO_CALLS = 5
"""A scenario counts as this many calls: most build networks, but it is asked on the smallest case."""
MOST_TRACED = 25
"""Right comparisons of which the lines are looked at."""
ENTERED = 300
"""A call counts as one for each so many Python functions that the answer as it is enters, those of PyTorch included:
most enter far fewer, but one that traces or compiles enters tens of thousands, and a thousand variants would take
minutes."""
ENDLESS_CALLS = 200
"""What a variant that had to be interrupted counts as."""
CALLS_FOR_PARTS = 400
"""Calls for edits that leave a known mistake, for pairs of edits, and for those that mend only some outputs."""
MOST_PARTIAL = 6
"""Edits that mend a part of which pairs are tried, or all outputs looked at."""
Observe = Callable[[Run, int, Callable[[Record], bool] | None], Record]


@dataclass(frozen=True, order=True)
class Progress:
    """How far a variant gets through the checks, in their order."""

    checks: int
    """Checks that pass before the first that fails."""
    comparisons: int
    """Comparisons of that one that are right before the first wrong one."""
    right: int
    """Minus the number of wrong outputs in that comparison."""


class SearchOver(Exception):
    """The variants have made as many calls as they may."""


class Repairer:
    """Looks for the edits that repair one exercise of a submission.

    Args:
        records: of the visible checks, in their order.
        run: runs the variants.
        observe: runs a check, by its number, on a run.
        giving_all: the known mistakes that give all that visible checks saw, if they have one message.
        first: numbers of the failing checks that are to be repaired first.
    """

    def __init__(
        self,
        code: OwnCode,
        records: Sequence[Record],
        run: RunsVariants,
        observe: Observe,
        giving_all: Callable[[list[Record]], Sequence[Misconception]],
        first: Collection[int] = (),
    ) -> None:
        self._code = code
        self._records = records
        self._run = run
        self._observe = observe
        self._giving_all = giving_all
        failing = sorted((i not in first, calls_to_differ(one), i) for i, one in enumerate(records) if not one.passed)
        passing = sorted((False, calls_of(one), i) for i, one in enumerate(records) if one.passed)
        self._order = [i for *_, i in (*failing, *passing)]
        self._calls_left = MOST_CALLS
        if all(one.measured for one in records if not one.passed):
            self._calls_left = CALLS_IF_VALUES_ARE_RIGHT
        self._weight = 1
        """What a call counts as."""
        self._outputs_wrong: Collection[str] = ()
        self._last: Record

    def found(self, others: Collection[str]) -> Mended:
        """What a learner is told of the repair; nothing if there is none, or too many.

        Args:
            others: names of definitions that are left as they are.
        """
        try:
            before = self._attempted((), traced=True)
            if before is None or not self._fails_as_recorded():
                return NOT_MENDED
            self._weight = self._weighed()
            names, self._outputs_wrong = self._outputs()
            ran, failed, call = self._run.lines(), self._last, self._run.last
            suspects = self._suspects(ran)
            self._last, self._run.last = failed, call
            edits = self._code.edits(ran, others, (names, self._outputs_wrong), suspects)
            mending, partial = self._singles(edits, before)
            if mending:
                return Mended(mended(mending), causes=1)
            telling = [(progress, edit) for progress, edit in partial if _is_telling(progress, edit, before)]
            if (left := self._one_left(telling)).message:
                return left
            pair = self._pair(telling)
            return Mended(mended_together(*pair), causes=2) if pair else Mended(self._in_part(partial))
        except (NoVariants, SearchOver):
            return NOT_MENDED

    def _weighed(self) -> int:
        """What each call counts as, by the functions that the answer as it is has entered."""
        calls = 1 + sum(_calls_of(call.scenario) for call in self._last.calls)
        if self._run.entered() >= 2 * ENTERED * calls:
            self._attempted((), traced=True)  # the first time, PyTorch imports what it needs: that does not come again
        return max(1, self._run.entered() // (ENTERED * calls))

    def _one_left(self, partial: Sequence[tuple[Progress, Edit]]) -> Mended:
        """What is said of edits that mend a part, break nothing and leave exactly one known mistake."""
        found: list[tuple[Edit, Sequence[Misconception]]] = []
        once = sum(1 + _calls_of(call.scenario) for record in self._records for call in record.calls)
        self._calls_left = CALLS_FOR_PARTS + once * self._weight
        with suppress(SearchOver):
            for edit in _by_turns(partial)[:MOST_PARTIAL]:
                self._run.take(self._code.changes(edit) or ())
                records = [self._observed(i) for i in range(len(self._records))]
                breaks = any(map(_breaks, self._records, records))
                known = () if breaks else self._giving_all(records)
                if known and not any(self._code.takes_out(edit, one) for one in known):
                    found.append((edit, known))
        if len({known[0].says for _, known in found}) != 1:
            return NOT_MENDED
        known = found[0][1]
        return Mended(left_after([edit for edit, _ in found], known), (known[0].name,), causes=2)

    def _suspects(self, ran: Lines) -> Lines:
        """Those of the lines which the failing call ran that no right call runs; empty if there are none."""
        left = set(ran)
        self._traces_left = MOST_TRACED

        def has_seen_enough(record: Record) -> bool:
            if record.comparisons[-1].problems:
                return True
            left.difference_update(self._run.lines())
            self._traces_left -= 1
            return not left or self._traces_left <= 0

        self._run.take((), traced=True, seconds=TRACED_SECONDS)
        for i in self._order:
            if left and self._traces_left > 0:
                self._observe(self._run, i, has_seen_enough)
        return left

    def _outputs(self) -> Outputs:
        """The outputs of the call that failed first, and those that some check finds wrong."""
        compared = [one for record in self._records for one in record.comparisons if not one.property_only]
        names = self._last.failures[0].names if self._last.failures else ()
        wrong = {name for one in compared if one.names == names for name in _wrong_outputs(one)}
        return names, [name for name in names if name in wrong]

    def _singles(self, edits: Sequence[Edit], before: Progress) -> tuple[list[Edit], list[tuple[Progress, Edit]]]:
        """The edits with which all checks pass, and those that get further than `before`."""
        mending: list[Edit] = []
        partial: list[tuple[Progress, Edit]] = []
        try:
            for edit, changes in self._screened(edits, mending):
                progress = self._attempted(changes)
                if progress is None:
                    continue
                if progress.checks == len(self._order):
                    mending.append(edit)
                elif progress > before:
                    partial.append((progress, edit))
        except (NoVariants, SearchOver):
            pass
        return mending, partial

    def _screened(self, edits: Sequence[Edit], mending: Sequence[Edit]) -> Iterator[tuple[Edit, Changes]]:
        """The edits worth trying on all checks; less likely tiers are left out once an edit is `mending`.

        The failing call alone is made of many variants at once, if what the check compares is its answer.
        """
        failed, call = next(iter(self._last.failures), None), self._run.last
        screens = call if failed and call and self._shows(failed, call) else None
        size = max(1, TOGETHER // self._weight) if screens else 1
        for start in range(0, len(edits), size):
            if mending and edits[start].tier > mending[0].tier:
                return
            some = [(one, made) for one in edits[start : start + size] if (made := self._code.changes(one))]
            if screens is None or failed is None:
                yield from some
                continue
            self._spend(len(some) * (1 + _calls_of(screens["do"] == "scenario")))
            for one, answer in zip(some, self._run.screen([made for _, made in some], screens), strict=True):
                if _is_endless(answer):
                    self._spend(endless=True)
                if answer is not None and "value" in answer and _is_better(answer["value"], failed):
                    yield one

    def _shows(self, failed: Comparison, call: Call) -> bool:
        """Whether the answer to a call is what a check compared and found wrong."""
        if failed.property_only or request_key(call) is None:
            return False
        (control,) = self._run.screen([()], call)
        return control is not None and same_comparison(failed, replace(failed, got=as_arrays(control.get("value"))))

    def _pair(self, partial: Sequence[tuple[Progress, Edit]]) -> tuple[Edit, Edit] | None:
        """Two edits at two places, each of which mends a part, with which all checks pass; the likeliest first."""
        self._calls_left = CALLS_FOR_PARTS
        with suppress(SearchOver):
            for one, other in combinations(_by_turns(partial)[:MOST_PARTIAL], 2):
                elsewhere = (one.place, one.quote) != (other.place, other.quote)
                changes = self._code.changes(one, other) if elsewhere else None
                progress = self._attempted(changes)
                if progress is not None and progress.checks == len(self._order):
                    return one, other
        return None

    def _in_part(self, partial: Sequence[tuple[Progress, Edit]]) -> str:
        """What is said of edits that make some outputs of the call right in all checks, whatever these call them."""
        wrong = {name for record in self._records for name in _wrong_in(record)}
        named = [name for name in self._outputs_wrong if name in wrong]
        found: list[tuple[Edit, list[str]]] = []
        self._calls_left = CALLS_FOR_PARTS
        likely = [edit for progress, edit in partial if edit.is_likely and not progress.checks]
        for edit in likely[:MOST_PARTIAL] if len(named) > 1 else ():
            if found and edit.tier > found[0][0].tier:
                break
            self._run.take(self._code.changes(edit) or ())
            records = [self._observe(self._run, i, None) for i in self._order]
            self._spend(sum(1 + _calls_of(call.scenario) for record in records for call in record.calls))
            left = {name for record in records for name in _wrong_in(record)}
            right = [name for name in named if name not in left]
            if right and len(right) < len(named) and left < wrong and not any(record.ended_by for record in records):
                found.append((edit, right))
        return mended_in_part(found, named) if found else ""

    def _attempted(self, changes: Changes | None, *, traced: bool = False) -> Progress | None:
        """How far a variant gets; None if it cannot run. Raises `SearchOver` when its calls are spent."""
        if changes is None:
            return None
        self._run.take(changes, traced=traced, seconds=UNCHANGED_SECONDS if traced else None)
        for place, i in enumerate(self._order):
            self._last = self._observe(self._run, i, _has_failed)
            self._spend(1 + sum(_calls_of(call.scenario) for call in self._last.calls))
            if ending(self._last) == TooLong.__name__:
                self._spend(endless=True)
            if not self._last.passed:
                wrong = self._last.failures
                right = len(self._last.comparisons) - len(wrong)
                return Progress(place, right, -len(wrong[0].problems) if wrong else -1_000)
        return Progress(len(self._order), 0, 0)

    def _observed(self, i: int) -> Record:
        """The record of a whole check on the variant; raises `SearchOver` when the calls are spent."""
        record = self._observe(self._run, i, None)
        endless = ending(record) in (TooLong.__name__, Crashed.__name__)  # what a timer cannot end, a deadline does
        self._spend(sum(1 + _calls_of(call.scenario) for call in record.calls), endless)
        return record

    def _spend(self, calls: int = 0, endless: bool = False) -> None:
        """Take calls from the budget; an interrupted one costs its own, whatever it did until then."""
        self._calls_left -= calls * self._weight + ENDLESS_CALLS * endless
        if self._calls_left < 0:
            raise SearchOver

    def _fails_as_recorded(self) -> bool:
        """Whether the unchanged code failed in the same way as when it was judged."""
        mine, its = self._records[self._order[0]], self._last
        if mine.failures and its.failures:
            return mine.failures[0].problems == its.failures[0].problems
        return not mine.failures and not its.failures and ending(mine) == ending(its)


def _by_turns(partial: Sequence[tuple[Progress, Edit]]) -> list[Edit]:
    """One edit of each place, those that get furthest first, then another one of each."""
    places: dict[tuple[str, str], list[Edit]] = {}
    for _, edit in sorted(partial, key=lambda pair: pair[0], reverse=True):
        places.setdefault((edit.place, edit.quote), []).append(edit)
    return [edit for turn in zip_longest(*places.values()) for edit in turn if edit is not None]


def _is_telling(progress: Progress, edit: Edit, before: Progress) -> bool:
    """Whether an edit mends an output of the call that failed first, or is a likely one; others may help by chance."""
    same_call = (progress.checks, progress.comparisons) == (before.checks, before.comparisons)
    return edit.is_likely or (same_call and progress.right > before.right)


def _calls_of(scenario: bool) -> int:
    return SCENARIO_CALLS if scenario else 1


def _is_endless(answer: Answer | None) -> bool:
    failure = None if answer is None else answer.get("failure")
    return answer is None or (isinstance(failure, dict) and failure.get("kind") == TooLong.__name__)


def _is_better(got: Any, failed: Comparison) -> bool:
    """Whether a value in place of the one that failed has fewer wrong outputs."""
    try:
        problems = problems_of(as_arrays(got), failed.expected, failed.names, failed.rtol, failed.atol, failed.call)
        return len(list(problems)) < len(failed.problems)
    except Exception:  # a value that cannot be compared
        return True


def _breaks(before: Record, after: Record) -> bool:
    """Whether an edit makes something wrong that was right."""
    if before.passed:
        return not after.passed
    olds = by_case(before)
    return any(
        not set(_wrong_outputs(new)) <= set(_wrong_outputs(old)) if old.problems else bool(new.problems)
        for key, new in by_case(after).items()
        if (old := olds.get(key)) is not None and not new.property_only
    )


def _wrong_in(record: Record) -> list[str]:
    compared = (one for one in record.comparisons if not one.property_only and len(one.names) > 1)
    return [name for one in compared for name in _wrong_outputs(one)]


def _wrong_outputs(comparison: Comparison) -> list[str]:
    """The names of a comparison's wrong outputs."""
    if not comparison.problems:
        return []
    triples = paired(comparison.got, comparison.expected, comparison.names)
    if len(triples) < len(comparison.names):  # an output is missing, or there is one too many
        return list(comparison.names)
    return [name for name, got, expected in triples if is_wrong(name, got, expected, comparison)]


def _has_failed(record: Record) -> bool:
    return bool(record.comparisons[-1].problems)
