"""What sets the visible cases that fail apart from those that pass, for answers that nothing else explains.

A sentence names a property of the arguments, or words of the cases' names, that every failing case has and no passing
one, or the reverse. Cases whose right answer has no entries, or that only changed an argument, are left out. Small
samples separate by chance, so two failing cases are needed, or two cases that differ in this property alone. Only cases
whose answers are compared alike count: where an answer's memory is not measured, that it is right says nothing of its
memory. Nothing is said where a check ended early, as the cases that it did not reach might be otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from autograder.judging.explaining.case_properties import (
    DTYPE,
    LATER,
    MOST_ENTRIES,
    OPTION,
    SHAPE,
    VALUES,
    WORDS,
    Named,
    Property,
    arrays_in,
    flat,
    properties_of,
)
from autograder.judging.records.record import CHANGED, Call, Comparison, Record
from autograder.values import number
from autograder.wording import enumeration

LEAST = 2
"""Fewest cases on each side of a contrast."""
MOST_CASES = 400
FAR = 10.0
"""Entries are told to be large, or small, if they are so by this factor at least."""
MOST_LEVELS = 4
"""An argument with more values is no option: one value of many is had by few cases."""
MANY = 5
"""A single case's name tells something if so many others are right."""
MOST_KINDS = 2
"""If more kinds of properties separate the cases, none of them is the one to name."""


@dataclass
class Case:
    """One call and whether all that was compared of its answer was right."""

    call: Call
    names: list[str]
    """What the check calls it."""
    first: bool
    """Whether it is the first call of its check."""
    wrong: bool = False
    changed: bool = False
    """Whether the call changed an argument."""
    empty: bool = True
    """Whether the answer has no entries, so that it is right however they are computed."""
    compared: set[tuple[str, ...]] = field(default_factory=set)
    """The names of the values that were compared; of a wrong case, of those that were wrong."""
    properties: set[Named] = field(default_factory=set)


def contrast(records: Iterable[Record], parameters: Iterable[str]) -> str:
    """A sentence on what separates the failing visible cases from the passing ones; empty if nothing does.

    Args:
        records: of all checks; only visible ones are used.
        parameters: the names of the exercise's arguments. Other arguments of scenarios are the check's own.
    """
    visible = [record for record in records if record.visible]
    if any(record.ended_by is not None for record in visible):
        return ""
    cases = [case for case in _cases(visible) if case.wrong or not case.empty]
    wrong = [case for case in cases if case.wrong]
    compared = {names for case in wrong for names in case.compared}
    right = [case for case in cases if not case.wrong and case.compared & compared]
    cases = [*wrong, *right]
    if not wrong or len(right) < LEAST or len(cases) > MOST_CASES:
        return ""
    known = frozenset(parameters)
    for case in cases:
        case.properties = set(properties_of(case.call, case.names, known, first=case.first))
    _without_rare_options(cases)
    one, other = _separating(wrong, right), _separating(right, wrong) if len(wrong) > LEAST else []
    other = [] if any(had.trivial for had, _ in other) else other
    if one:
        return f"Wrong in {_all(len(wrong))} {_said(one)}; right in {_others(len(right))}."
    return f"Right in {_all(len(right))} {_said(other)}; wrong in {_others(len(wrong))}." if other else ""


def _all(count: int) -> str:
    return {1: "the one visible case", 2: "both visible cases"}.get(count, f"all {count} visible cases")


def _without_rare_options(cases: list[Case]) -> None:
    """Leave out that an argument has one of many values: that separates a few cases by chance."""
    values: dict[str, set[Property]] = {}
    for case in cases:
        for had, name in case.properties:
            if had.tier == OPTION and name:
                values.setdefault(name, set()).add(had)
    rare = {name for name, of_it in values.items() if len(of_it) > MOST_LEVELS}
    for case in cases:
        case.properties = {(had, name) for had, name in case.properties if had.tier != OPTION or name not in rare}


def _others(count: int) -> str:
    return "the other" if count == 1 else f"the {count} others"


def _cases(records: list[Record]) -> list[Case]:
    """The calls of the exercise that some checks make, each with what was compared of it."""
    cases: dict[int, Case] = {}
    for record in records:
        calls = [call for call in record.calls if call.scenario or call.function == record.exercise]
        for place, call in enumerate(calls):
            cases.setdefault(id(call), Case(call, [], place == 0))
        for comparison in record.comparisons:
            case = cases.get(id(comparison.call))
            if case is not None:
                is_wrong = bool(comparison.problems)
                case.changed |= is_wrong and comparison.cost == CHANGED
                if is_wrong and not case.wrong:
                    case.wrong, case.compared = True, set()
                if is_wrong == case.wrong:
                    case.compared.add((*comparison.names, *([comparison.case] if comparison.property_only else [])))
                case.names.append(comparison.case)
                case.empty &= _is_empty(comparison)
    return [case for case in cases.values() if case.names and not case.changed]


def _is_empty(comparison: Comparison) -> bool:
    return not comparison.property_only and not any(np.size(one) for one in flat(comparison.expected))


def _separating(these: list[Case], others: list[Case]) -> list[tuple[Property, list[str]]]:
    """The properties that all of some cases have and none of the others, each with the arguments that have it."""
    common = set.intersection(*(case.properties for case in these))
    common -= set[Named]().union(*(case.properties for case in others))
    if len(these) >= LEAST:
        common |= set(_by_size(these, others))
    else:
        nearest = [other for other in others if other.call.function == these[0].call.function]
        differences = [{had[0] for had in other.properties ^ these[0].properties} for other in nearest]
        telling = {had for had, _ in common if had.tier in (VALUES, SHAPE, DTYPE)}
        common = {
            had
            for had in common
            if {had[0]} in differences or telling == {had[0]} or (had[0].tier == WORDS and len(others) >= MANY)
        }
    found: dict[Property, list[str]] = {}
    order = [name for name, _ in these[0].call.arguments]
    for had, name in sorted(common, key=lambda one: (one[0].tier, order.index(one[1]) if one[1] in order else -1, one)):
        found.setdefault(had, []).append(name)
    of_arguments = [had for had in found if had.tier == min(one.tier for one in found) and had.tier < WORDS]
    if of_arguments and len(of_arguments) <= MOST_KINDS:
        return [(had, found[had]) for had in of_arguments]
    words = sorted((had for had in found if had.tier >= WORDS), key=lambda had: (had.tier, -len(had.one), had.one))
    return [(words[0], [])] if words else []


def _said(found: list[tuple[Property, list[str]]]) -> str:
    """The separating properties as what follows on "cases"; empty if there are none."""
    if not found:
        return ""
    tier = found[0][0].tier
    if tier == LATER:
        return "that are not the first call of their check"
    if tier == WORDS:
        return f"of {enumeration([f'“{had.one}”' for had, _ in found], 'or')}"
    return " and ".join(f"where {_in_words(had, names)}" for had, names in found)


def _in_words(had: Property, names: list[str]) -> str:
    if not had.several:
        return had.one
    return f"{names[0]} {had.one}" if len(names) == 1 else f"{enumeration(names)} {had.several}"


def _by_size(these: list[Case], others: list[Case]) -> Iterator[Named]:
    """Arguments whose largest entry is far larger in all of some cases than in any of the others, or the smallest."""
    of_these, of_others = ([dict(_sizes(case)) for case in cases] for cases in (these, others))
    for name in set.intersection(*(set(of_it) for of_it in of_these)):
        there = [of_it[name] for of_it in of_others if name in of_it]
        if len(there) < LEAST:
            continue
        largest = min(of_it[name][1] for of_it in of_these)
        if largest > FAR * (most := max(one for _, one in there)):
            words = f"size {number(largest)} or more (elsewhere at most {number(most)})"
            yield Property(VALUES, f"has an entry of {words}", f"have entries of {words}"), name
        smallest = max(of_it[name][0] for of_it in of_these)
        if smallest * FAR < (least := min(one for one, _ in there)):
            words = f"size {number(smallest)} or less (elsewhere at least {number(least)})"
            yield Property(VALUES, f"has an entry of {words}", f"have entries of {words}"), name


def _sizes(case: Case) -> Iterator[tuple[str, tuple[float, float]]]:
    """The smallest and the largest absolute value of each argument's entries that are not 0."""
    for name, value in case.call.arguments:
        entries = [np.abs(one[np.isfinite(one) & (one != 0)]) for one in arrays_in(value) if one.dtype.kind == "f"]
        sizes = np.concatenate([one.astype(np.float64).ravel() for one in entries]) if entries else np.zeros(0)
        if sizes.size and not case.call.scenario and sizes.size <= MOST_ENTRIES:
            yield name, (float(sizes.min()), float(sizes.max()))
