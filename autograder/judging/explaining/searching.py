"""Searches for one slip in the reference, or two known mistakes, that give a submission's visible answers.

Each candidate is the reference, edited in memory; nothing of the submission runs. A candidate is tried on the fastest
failing visible check and dropped at the first differing value, so most cost a millisecond. What checks see of a
candidate is the same for every submission, and cached.
"""

from __future__ import annotations
import __future__

import ast
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import combinations
from types import CodeType, MappingProxyType

import numpy as np

from autograder.diagnosis import EditError, Misconception, edited
from autograder.diagnosis.equality import mismatch
from autograder.diagnosis.mutation.cells import parts_of
from autograder.diagnosis.mutation.text import Source
from autograder.diagnosis.mutation.variants import Variant, variants
from autograder.diagnosis.relations.evidence import as_floats, telling
from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.run import Run
from autograder.judging.asking.time_budget import can_interrupt
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.attribution import has_wrong_values
from autograder.judging.explaining.diagnosis import Explanation
from autograder.judging.explaining.evidence import Evidence, ending, same_comparison
from autograder.judging.explaining.work import ENDLESS_CALLS, SEARCH_CALLS, SearchEnded, Work, calls_of, calls_to_differ
from autograder.judging.records.errors import LearnerError
from autograder.judging.records.record import Comparison, Record, paired
from autograder.worker.interrupts import TooLong, at_most

CHANGE_SECONDS = 0.5
"""Processor time per candidate and check: a slip in a loop's condition may never end."""
SLOW_CHANGE_SECONDS = 0.1
"""The same for the smallest failing check of exercises whose calls may be slow; taking longer ends their search."""
WORTH_SEARCHING = 10.0
"""Exercises whose calls may take more seconds than this are slow: they are searched for two known mistakes alone."""
SAY_LITTLE = (
    *("a constant 0", "an index", "a condition", "an assignment", "one of several", "a slice", "a `with`"),
    *("two entries", "a function applied twice", "a constant of the other sign"),
)
"""Vague slips, named only if no other slip gives the same: a term times 0 is better described as a term left out."""
OF_THE_REFERENCE = {"`or` in the place of `and`", "`and` in the place of `or`"}
"""Slips that make sense only with the condition as the reference has it: in other code there may be neither word."""
SIGNS = {
    *("`+` in the place of `-`", "`-` in the place of `+`", "`-=` in the place of `+=`", "`+=` in the place of `-=`"),
    *("the operands of `-` in each other's place", "the sign turned round", "a minus sign left out"),
}
"""Slips that change a sign; often several of them give the same."""
DECORATED = (ast.FunctionDef, ast.ClassDef)
Observe = Callable[[Run, int, Callable[[Record], bool] | None], Record]


@dataclass(frozen=True)
class Candidate:
    """An edited reference: the name of its slip, or the known mistakes that it combines."""

    words: str
    evidence: Evidence
    known: tuple[Misconception, ...] = ()
    endless: set[int] = field(default_factory=set, compare=False)
    """The checks in which it had to be interrupted."""

    def explains(self, order: list[tuple[int, Record]], work: Work) -> bool:
        """Whether this gives what the visible checks saw; exceptions are compared by kind only.

        Raises `SearchEnded` when the work is done that a search may do.
        """
        for i, mine in order:
            work.spend(i)
            gives = (
                self.evidence[i].passed
                if mine.passed
                else self.evidence.same_as(mine, i)
                if mine.ended_by is None
                else _ends_like(mine, self.evidence[i])
            )
            if i in self.endless:
                work.spend(i, endless=True)
            if not gives:
                return False
        return True


class NoAnswer(LearnerError):
    """Placeholder for what a candidate that did not finish would have given."""


class Search:
    """The candidates for one exercise, and what the checks see of each.

    Args:
        known: the exercise's known mistakes.
        visible: the number of visible checks, which come first.
        observe: runs a check, by its number, on a run.
        slow: whether calls may be slow.
    """

    slow = False
    endless_calls = ENDLESS_CALLS
    first = -1
    """The first check of a search, which has to be fast in exercises whose calls may be slow."""
    limits: Mapping[int, float] = MappingProxyType({})
    """Processor time per candidate, by check, where it is not `CHANGE_SECONDS`."""

    def __init__(
        self,
        reference: Reference,
        exercise: str,
        known: Sequence[Misconception],
        visible: int,
        observe: Observe,
        *,
        slow: bool = False,
    ) -> None:
        self.slow = slow
        self.endless_calls = SEARCH_CALLS + 1 if slow else ENDLESS_CALLS
        self._warm = set[int]()
        self._reference = reference
        self._exercise = exercise
        self._known = known
        self._visible = visible
        self._observe = observe
        self._variants: list[Candidate] | None = None
        self._pairs: list[Candidate] | None = None

    def variants(self) -> Sequence[Candidate]:
        """The candidates with one slip each. Raises `SearchEnded` where none can be interrupted."""
        return _interruptible(self.all_variants)

    def all_variants(self) -> list[Candidate]:
        """The candidates with one slip each, also where they cannot be interrupted."""
        if self._variants is None:
            program = Program(self._reference)
            self._variants = [
                self._candidate(variant.words, partial(program.with_variant, variant))
                for variant in variants(
                    program.source, parts_of(program.source, program.text, self._exercise), exercise=self._exercise
                )
            ]
        return self._variants

    def pairs(self) -> Sequence[Candidate]:
        """The candidates with two known mistakes each. Raises `SearchEnded` where none can be interrupted."""
        return _interruptible(self.all_pairs)

    def all_pairs(self) -> list[Candidate]:
        """The candidates with two known mistakes each whose edits do not overlap."""
        if self._pairs is None:
            text = self._reference.text
            self._pairs = []
            for one, other in combinations([known for known in self._known if known.edits], 2):
                with suppress(EditError, SyntaxError):  # one edit may invalidate the other
                    both = edited(edited(text, one.edits), other.edits)
                    make = partial(self._reference.local_text, both)
                    self._pairs.append(self._candidate("", make, (one, other)))
        return self._pairs

    def _candidate(self, words: str, make: Callable[[], LocalRun], known: tuple[Misconception, ...] = ()) -> Candidate:
        run, endless = cache(make), set[int]()
        evidence = Evidence(self._visible, lambda i, enough: self._bounded_record(run, i, enough, endless))
        return Candidate(words, evidence, known, endless)

    def _warm_up(self, i: int) -> None:
        """Run a check on the reference if candidates have little time: the first run imports and compiles."""
        if self.slow and i not in self._warm:
            self._warm.add(i)
            self._observe(self._reference.local(), i, None)

    def _bounded_record(
        self, run: Callable[[], LocalRun], i: int, enough: Callable[[Record], bool] | None, endless: set[int]
    ) -> Record:
        """One check's record, within limits; an unmatchable record if the candidate fails or takes too long."""
        self._warm_up(i)
        try:
            with at_most(CHANGE_SECONDS):
                made = run()
            most = SLOW_CHANGE_SECONDS if self.slow and i == self.first else self.limits.get(i, CHANGE_SECONDS)
            with at_most(most), state_kept():
                return self._observe(made, i, enough)
        except LearnerError:  # the submission's time ran out
            raise
        except TooLong:
            endless.add(i)
        except Exception:
            pass
        return Record(ended_by=NoAnswer("A changed reference gave no answer."))


def _interruptible(candidates: Callable[[], Sequence[Candidate]]) -> Sequence[Candidate]:
    if not can_interrupt():
        raise SearchEnded
    return candidates()


def found_by_search(
    records: Sequence[Record],
    search: Search,
    known: dict[Misconception, Evidence],
    *,
    first: Collection[Misconception] = (),
    slips: bool = True,
) -> Explanation | None:
    """Explain an answer that no known mistake gives: by two known mistakes, one slip, or the first of several.

    Args:
        records: of all checks; only visible ones are used.
        known: what the checks see of each known mistake.
        first: known mistakes that give what some checks saw; then only pairs with one of these are tried.
        slips: whether to look further than for two known mistakes.
    """
    if found := two_known(records, search, known, first):
        return found
    failing, order = _in_order(records)
    if first or not slips or not failing or not has_wrong_values(failing[0][1]):
        return None
    return _one_variant(order, search) or _first_of_several(failing, known, records)


def two_known(
    records: Sequence[Record],
    search: Search,
    known: dict[Misconception, Evidence],
    first: Collection[Misconception] = (),
) -> Explanation | None:
    """Explain an answer by two known mistakes, one of them among the `first` ones if there are any."""
    failing, order = _in_order(records)
    if not failing or not (first or has_wrong_values(failing[0][1])):
        return None
    possible = {one: theirs for one, theirs in known.items() if theirs.may_be_in(records)}
    costly = [(i, record) for i, record in failing if record.cost == 1.0]

    def may_be(pair: Sequence[Misconception]) -> bool:
        return (
            (not first or not set(first).isdisjoint(pair))
            and all(one in possible for one in pair)
            and not any(all(possible[one].is_known_to_pass(record, i) for one in pair) for i, record in costly)
        )

    search.first = order[0][0]
    if search.slow:  # what a candidate has in memory is measured among all that the judge has
        order = [(i, record) for i, record in order if not (record.measured and record.passed)]
    found = _two_known(order, search, may_be)
    return None if first and found and not found.misconceptions else found


def _in_order(records: Sequence[Record]) -> tuple[list[tuple[int, Record]], list[tuple[int, Record]]]:
    """The failing visible checks with their numbers, the most telling first; and all visible ones, these first."""
    visible = [(i, record) for i, record in enumerate(records) if record.visible]
    failing = sorted((pair for pair in visible if not pair[1].passed), key=lambda pair: _most_telling_first(pair[1]))
    passing = sorted((pair for pair in visible if pair[1].passed), key=lambda pair: calls_of(pair[1]))
    return failing, [*failing, *passing]


def _most_telling_first(record: Record) -> tuple[bool, int]:
    return not has_wrong_values(record), calls_to_differ(record)


def _ends_like(mine: Record, theirs: Record) -> bool:
    """Whether two records agree up to exceptions of the same kind; messages may differ with the code's style."""
    if ending(mine) != ending(theirs) or len(mine.comparisons) != len(theirs.comparisons):
        return False
    return all(map(same_comparison, mine.comparisons, theirs.comparisons))


def _one_variant(order: list[tuple[int, Record]], search: Search) -> Explanation | None:
    found: set[str] = set()
    work = Work(order)
    try:
        for candidate in search.variants():
            if candidate.words not in found and candidate.explains(order, work):
                found.add(candidate.words)
    except SearchEnded:
        return None
    if not found.isdisjoint(OF_THE_REFERENCE):
        return None
    telling = {words for words in found if not words.startswith(SAY_LITTLE)} or found
    if telling and telling <= SIGNS:
        telling = {"a sign turned round"}
    if len(telling) != 1:
        return None
    return Explanation(
        f"The same values come out of a right answer with one slip, however yours is written: {telling.pop()}."
    )


def _two_known(
    order: list[tuple[int, Record]], search: Search, may_be: Callable[[Sequence[Misconception]], bool]
) -> Explanation | None:
    found: dict[frozenset[str], tuple[Misconception, ...]] = {}
    work = Work(order, search.endless_calls)
    try:
        for candidate in search.pairs():
            if may_be(candidate.known) and candidate.explains(order, work):
                found.setdefault(frozenset(known.says for known in candidate.known), candidate.known)
    except SearchEnded:
        return None
    if not found:
        return None
    in_all = frozenset.intersection(*found)
    if len(found) == 1:
        ((says, known),) = found.items()
        if len(says) == 2:
            one, other = known
            message = f"Two mistakes together give exactly this. First: {one.says}\nThen: {other.says}"
            return Explanation(message, tuple(one.name for one in known))
    return (
        Explanation(f"First: {next(iter(in_all))}\nThere is more, which one sees then.") if len(in_all) == 1 else None
    )


def _first_of_several(
    failing: list[tuple[int, Record]], known: dict[Misconception, Evidence], records: Sequence[Record]
) -> Explanation | None:
    """The only known mistake that gives every value of the smallest failing case, if a value there is distinctive."""
    i, mine = failing[0]
    first = next(n for n, comparison in enumerate(mine.comparisons) if comparison.problems)
    case = mine.comparisons[first].case
    last = first
    while last + 1 < len(mine.comparisons) and mine.comparisons[last + 1].case == case:
        last += 1
    if not any(_is_distinctive(comparison) for comparison in mine.comparisons[first : last + 1]):
        return None
    alike = {
        one.says
        for one, theirs in known.items()
        if theirs.may_be_in(records) and not theirs.is_known_to_pass(mine, i) and theirs.agrees_until(mine, i, last)
    }
    if len(alike) != 1:
        return None
    message = (
        f"First, it seems: {alike.pop()}\nThis explains the case below exactly, but not every other case that fails."
    )
    return Explanation(message, shown=mine)


def _is_distinctive(comparison: Comparison) -> bool:
    """Whether a wrong output has a number that two mistakes would hardly share by chance, unlike 96 or True."""
    if not comparison.problems or comparison.property_only:
        return False
    triples = paired(comparison.got, comparison.expected, comparison.names)
    return any(
        mismatch(got, expected, name=name, rtol=comparison.rtol, atol=comparison.atol) is not None
        and (floats := as_floats(np.asarray(got))) is not None
        and telling(floats)
        for name, got, expected in triples
        if isinstance(got, np.ndarray | np.generic | int | float)
    )


class Program:
    """A lesson's source, compiled statement by statement, so that a slip recompiles only the statement it changes."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self.text = reference.text
        self.source = Source(self.text)
        self._codes = [_compiled(node) for node in self.source.tree.body]

    def with_variant(self, variant: Variant) -> LocalRun:
        """Run the source with one slip in it, in this process."""
        changed = self.source.statement(variant.splice.start)
        start, end, splice = self.source.start(changed), self.source.end(changed), variant.splice
        text = self.source.slice(start, splice.start) + splice.text + self.source.slice(splice.end, end)
        (statement,) = ast.parse(text).body
        if isinstance(changed, DECORATED) and isinstance(statement, DECORATED):
            statement.decorator_list = changed.decorator_list  # the sliced text begins after the decorators
        at = self.source.tree.body.index(changed)
        run = self._reference.local_codes([*self._codes[:at], _compiled(statement), *self._codes[at + 1 :]])
        run.edited = at, statement
        return run


def _compiled(statement: ast.stmt) -> CodeType:
    flags = __future__.annotations.compiler_flag
    return compile(ast.Module([statement], []), "<reference>", "exec", flags, dont_inherit=True)


@contextmanager
def state_kept() -> Iterator[None]:
    """Restore PyTorch's global switches, which an edited reference may fail to reset."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "is_grad_enabled"):
        yield
        return
    grad, anomaly, generator = torch.is_grad_enabled(), torch.is_anomaly_enabled(), torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_grad_enabled(grad)
        torch.autograd.set_detect_anomaly(anomaly)
        torch.set_rng_state(generator)
