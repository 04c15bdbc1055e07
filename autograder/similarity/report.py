"""Reports similar answers of a class: on the terminal, as a page and as JSON."""

from __future__ import annotations

import difflib
import keyword
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.judging.records.results import whole_file
from autograder.reports.pages import environment
from autograder.similarity.class_answers import Answer, ClassAnswers, called
from autograder.similarity.findings import UNUSUAL, ExerciseFindings, Finding, compare
from autograder.wording import clean, counted, enumeration, printable_json
from course.syllabus import syllabus

NO_PROOF = (
    "Similarity is no proof. Two answers may be alike because a book, a lecture or a tutor was the same, or because "
    "there are few ways to write them. Look at both, and ask the two, before you say anything."
)
MOST_ON_A_PAGE = 200
"""Most findings; JSON has more."""
MOST_IN_JSON = 5000
MOST_ON_A_TERMINAL = 15
MOST_GROUPS_ON_A_TERMINAL = 10
MOST_NAMED = 12
"""Most students of one finding that a page names."""
MOST_OF_A_GROUP = 12
"""Findings with more hand-ins do not count for pairs: in a large group, nobody shared with anyone in particular."""
MOST_PAIRS = 30
NAME = re.compile(r"(?<![.\w])[^\W\d]\w*")
"""A name in a line of code that is not an attribute."""
FEW = 6
"""With fewer hand-ins, a class cannot show what is usual."""
MOST_LINES = 150
"""Most lines of an answer that are shown."""


@dataclass
class Similarity:
    """All findings about a class."""

    exercises: list[ExerciseFindings] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Of all exercises, the most unusual first."""
    pairs: list[tuple[float, str, str, list[str]]] = field(default_factory=list)
    """The pairs that share most: their weight, their two names, and the exercises."""
    groups: list[tuple[float, list[str], list[str]]] = field(default_factory=list)
    """Pairs that share the same exercises and overlap, merged into one row: their weight, names and exercises."""
    remarks: list[str] = field(default_factory=list)
    has_reference: bool = True


def similarity_of(found: ClassAnswers) -> Similarity:
    """Compare all answers of a class."""
    result = Similarity(remarks=list(found.remarks), has_reference=found.has_reference)
    for exercise in found.exercises:
        kept = {part for one in syllabus()[exercise.lesson].exercises for part in one.name.split(".")}
        compared = compare(exercise, kept)
        exercise.answers.clear()  # the findings keep the answers that they need
        if compared.answers:
            result.exercises.append(compared)
        result.findings += compared.findings
        result.remarks += [f"{exercise.lesson}/{exercise.exercise}, {line}" for line in compared.not_compared]
    result.findings.sort(key=lambda one: -one.unusual)
    pairs = _pairs(result.findings)
    result.pairs, result.groups = pairs[:MOST_PAIRS], _groups(pairs)[:MOST_PAIRS]
    return result


def _groups(pairs: Iterable[tuple[float, str, str, list[str]]]) -> list[tuple[float, list[str], list[str]]]:
    """Merge overlapping pairs that share exactly the same exercises; the weight is that of the best pair."""
    sharing: dict[tuple[str, ...], list[tuple[float, set[str]]]] = {}
    for weight, first, second, where in pairs:
        groups = sharing.setdefault(tuple(where), [])
        linked = [one for one in groups if one[1] & {first, second}]
        best = max([weight, *(other for other, _ in linked)])
        joined = (best, {first, second}.union(*(names for _, names in linked)))
        groups[:] = [*(one for one in groups if one not in linked), joined]
    found = [(weight, sorted(names), list(where)) for where, groups in sharing.items() for weight, names in groups]
    return sorted(found, key=lambda one: (-one[0], one[1]))


def _pairs(findings: Iterable[Finding]) -> list[tuple[float, str, str, list[str]]]:
    """Unusual pairs over all exercises, in descending order of what they share."""
    weights: Counter[tuple[str, str]] = Counter()
    where: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        hand_ins = {one.whose: one for one in finding.answers}
        if len(hand_ins) > MOST_OF_A_GROUP:
            continue
        for two in combinations(sorted(hand_ins.values(), key=lambda one: one.called), 2):
            if finding.is_of_the_reference and all(one.student is not None for one in two):
                continue  # they share the solution, not each other's work
            pair = two[0].called, two[1].called
            exercise = f"{finding.lesson.partition('_')[0]}/{finding.exercise}"
            if exercise not in where.setdefault(pair, []):
                weights[pair] += finding.unusual  # type: ignore[assignment]
                where[pair].append(exercise)
    most = [(pair, weight) for pair, weight in weights.most_common() if weight >= UNUSUAL]
    return [(round(weight, 1), *pair, where[pair]) for pair, weight in most]


def side_by_side(finding: Finding) -> tuple[Answer, Answer]:
    """The two answers that show the likeness best: the model solution, else two with identical text, else any."""
    if not finding.equal:
        return finding.first[0], finding.second[0]
    reference = [one for one in finding.first if one.student is None]
    others = [one for one in finding.first if one.student is not None]
    first = reference[0] if reference else others[0]
    whose = [one for one in others if one.whose != first.whose]
    same = [one for one in whose if one.code.strip() == first.code.strip()]
    return first, (same or whose)[0]


def in_words(finding: Finding) -> str:
    """Describe a finding in a sentence, with a warning if there are too few hand-ins to say what is usual."""
    return _description(finding) + (" With so few hand-ins nobody can say what is usual." if finding.of < FEW else "")


def _description(finding: Finding) -> str:
    of = f"{finding.having} of {counted(finding.of, 'hand-in')} {'has' if finding.having == 1 else 'have'} it"
    if finding.is_of_the_reference:
        how = "Equal to the model solution" if finding.equal else f"Near the model solution ({finding.likeness:.0%})"
        same = "letter by letter" if finding.verbatim else "but for names and order"
        return f"{how}, {same}; {of}." if finding.equal else f"{how}."
    if not finding.equal:
        return f"{finding.likeness:.0%} of their pieces are the same."
    if finding.verbatim:
        some = "" if finding.verbatim >= finding.having else f", {finding.verbatim} of them"
        return f"Equal{some} letter by letter, names and comments too; {of}."
    return f"Equal but for names and order; {of}."


def show(screen: Console, found: Similarity) -> None:
    """Print the most unusual findings as a table."""
    table = Table(box=None, pad_edge=False)
    for title, justify in (("unusual", "right"), ("exercise", "left"), ("who", "left"), ("what", "left")):
        table.add_column(title, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for one in found.findings[:MOST_ON_A_TERMINAL]:
        where = f"{one.lesson.partition('_')[0]}/{one.exercise}"
        table.add_row(f"{one.unusual:.0f}", where, Text(_named(one, 4)), in_words(one))
    if found.findings:
        screen.print(table)
    more = len(found.findings) - MOST_ON_A_TERMINAL
    if more > 0:
        screen.print(f"and {more:,} more")
    if not found.findings:
        screen.print("Nothing that is alike is unusual.")
    for weight, names, exercises in found.groups[:MOST_GROUPS_ON_A_TERMINAL]:
        if len(exercises) > 1:
            who = _listed(names, 4)
            screen.print(f"{who}: {counted(len(exercises), 'exercise')} alike, unusual by {weight:.0f}")
    answers = sum(one.answers for one in found.exercises)
    screen.print(f"\n{counted(answers, 'answer')} to {counted(len(found.exercises), 'exercise')} were compared.")
    screen.print(NO_PROOF)


def _named(finding: Finding, most: int) -> str:
    return _listed(map(called, finding.students), most)


def _listed(students: Iterable[str], most: int) -> str:
    names = [clean(name, 40) for name in students]
    return enumeration(names if len(names) <= most + 1 else [*names[:most], f"{len(names) - most} more"])


def write_page(found: Similarity, out: Path, title: str) -> Path:
    """Write `index.html`, with two answers side by side for each finding."""
    file = out / "index.html"
    rows = []
    for one in found.findings[:MOST_ON_A_PAGE]:
        first, second = side_by_side(one)
        who, says = _named(one, MOST_NAMED), in_words(one)
        rows.append({"finding": one, "who": who, "says": says, "sides": _sides(first, second)})
    shown = {
        "title": title,
        "no_proof": NO_PROOF,
        "found": found,
        "groups": [(weight, _listed(names, MOST_NAMED), where) for weight, names, where in found.groups],
        "rows": rows,
        "more": max(0, len(found.findings) - MOST_ON_A_PAGE),
        "remarks": [clean(line, 300) for line in found.remarks[:MOST_ON_A_PAGE]],
        "more_remarks": max(0, len(found.remarks) - MOST_ON_A_PAGE),
    }
    with whole_file(file) as page:
        page.writelines(environment().get_template("similarity.html.j2").generate(shown))
    return file


def _sides(first: Answer, second: Answer) -> list[dict[str, Any]]:
    """Both answers line by line; each line says whether the other answer has it too."""
    texts = [one.code.strip("\n").expandtabs(4).split("\n")[:MOST_LINES] for one in (first, second)]
    plain = [[_without_names(line) for line in lines] for lines in texts]
    matched: tuple[set[int], set[int]] = (set(), set())
    for block in difflib.SequenceMatcher(None, plain[0], plain[1], autojunk=False).get_matching_blocks():
        matched[0].update(range(block.a, block.a + block.size))
        matched[1].update(range(block.b, block.b + block.size))
    return [
        {
            "who": clean(one.called, 80),
            "lines": [
                (clean(line, 300), number in same and bool(_without_names(line))) for number, line in enumerate(lines)
            ],
            "cut": one.code.strip("\n").count("\n") + 1 > MOST_LINES,
        }
        for one, lines, same in zip((first, second), texts, matched, strict=True)
    ]


def _without_names(line: str) -> str:
    """A line without its comment and with all names alike, because copies are changed there first."""
    code = line.partition("#")[0].strip()
    return NAME.sub(lambda match: match[0] if keyword.iskeyword(match[0]) else "·", code)


def as_json(found: Similarity) -> str:
    """Everything as JSON, except the answers themselves."""
    exercises = [
        {
            "lesson": one.lesson,
            "exercise": one.exercise,
            "answers": one.answers,
            "different": one.different,
            "most_common": one.most_common,
            "as_the_model_solution": one.as_the_reference if found.has_reference else None,
            "worth_a_look": len(one.findings),
        }
        for one in found.exercises
    ]
    findings = [
        {
            "lesson": one.lesson,
            "exercise": one.exercise,
            "kind": "equal" if one.equal else "near",
            "likeness": one.likeness,
            "unusual": one.unusual,
            "students": one.students,
            "model_solution": one.is_of_the_reference,
            "letter_by_letter": one.verbatim,
            "having": one.having,
            "of": one.of,
        }
        for one in found.findings[:MOST_IN_JSON]
    ]
    pairs = [{"unusual": weight, "students": [a, b], "exercises": where} for weight, a, b, where in found.pairs]
    groups = [{"unusual": weight, "students": names, "exercises": where} for weight, names, where in found.groups]
    data = {
        "note": NO_PROOF,
        "exercises": exercises,
        "findings": findings,
        "left_out": max(0, len(found.findings) - MOST_IN_JSON),
        "pairs": pairs,
        "groups": groups,
        "not_compared": found.remarks,
    }
    return printable_json(data, indent=1)
