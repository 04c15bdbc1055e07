"""Whose a hand-in is: the names that platforms give to hand-ins, found in a roster."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from autograder.classroom.student_names import UNKNOWN
from autograder.gradebook.roster import Person, comparable, folded, words_of
from autograder.wording import clean, enumeration, quoted

NUMBERED = re.compile(r"(?P<name>.*?)_(?:submission_)?(?P<number>\d+)", re.DOTALL)
"""Canvas's `kingada_4711`, Moodle's `Ada King_123` of two who are called so, and `Participant_123` where
marking is anonymous, Gradescope's `Ada King_submission_9`."""


@dataclass(eq=False)
class Student:
    """One row of a class: somebody on the roster, or a name that is on none."""

    shown: str
    """What reports call them; nobody else is called so."""
    person: Person | None = None
    own: list[str] = field(default_factory=list)
    """The names that their hand-ins have."""
    of_team: list[str] = field(default_factory=list)
    """The names that hand-ins of their team have."""

    @property
    def names(self) -> Iterator[str]:
        """All by which they may be asked for."""
        yield self.shown
        yield from self.own
        if self.person is not None:
            yield from (self.person.name, self.person.sortable, *(value for _, value in self.person.all_ids))


class People:
    """A roster with the class's hand-ins beside it."""

    def __init__(self, people: list[Person], hand_ins: Iterable[str]) -> None:
        self.problems: list[str] = []
        """A line for each name that could be several people's, or is nobody's on the roster."""
        self.problems += [*_shared(people), *_footers(people)]
        self._index(people)
        shown = _labels(people)
        self.students = [Student(shown[person], person) for person in people]
        by_person = {student.person: student for student in self.students}
        teams: dict[str, list[Student]] = defaultdict(list)
        for student in self.students:
            if student.person is not None and student.person.team:
                teams[folded(student.person.team)].append(student)
        strangers = []
        for name in hand_ins:
            found = self._called(name)
            if len(found) == 1:
                by_person[found[0]].own.append(name)
            elif members := [] if found else self._team(name, teams):
                for student in members:
                    student.of_team.append(name)
            else:
                strangers.append(Student(name, None, [name]))
                if people and name != UNKNOWN:
                    self.problems.append(_why(name, found))
        for members in teams.values():
            for student in members:
                student.of_team += [name for other in members if other is not student for name in other.own]
        self.students = sorted([*self.students, *strangers], key=_place)

    def called(self, name: str) -> list[Student]:
        """The students who are meant by what somebody calls them."""
        asked = folded(name)
        exact = [one for one in self.students if asked in map(folded, one.names)]
        return exact or [one for one in self.students if words_of(name) == words_of(one.shown)]

    def _index(self, people: list[Person]) -> None:
        self._ids: dict[str, set[Person]] = defaultdict(set)
        self._canvas: dict[str, Person] = {}
        self._participants: dict[str, set[Person]] = defaultdict(set)
        self._words: dict[frozenset[str], set[Person]] = defaultdict(set)
        self._squeezed: dict[str, set[Person]] = defaultdict(set)
        for person in people:
            for kind, value in person.all_ids:
                self._ids[folded(f"{person.name} ({value})")].add(person)  # as results call namesakes
                if kind != "canvas":  # a small number, that may be another thing's elsewhere
                    self._ids[folded(value)].add(person)
                else:
                    self._canvas[value] = person
            for number in person.participants:
                self._participants[number].add(person)
            self._words[_words(person.name or person.sortable)].add(person)
            last, _, first = person.name.rpartition(" ")
            for text in {person.sortable, f"{first}{last}" if last else person.name}:
                if text:
                    self._squeezed[_squeezed(text)].add(person)

    def _called(self, name: str) -> list[Person]:
        """Whose name a hand-in has: one person's, several people's, or nobody's."""
        if found := self._ids.get(folded(name)):
            return list(found)
        match = NUMBERED.fullmatch(name)
        if match:
            words, number = words_of(match["name"]), match["number"]
            numbered = self._canvas.get(number)
            if numbered is not None and _squeezed(match["name"]) in (
                _squeezed(numbered.sortable),
                _squeezed(numbered.name),
            ):
                return [numbered]
            listed = self._participants.get(number, ())
            known = [one for one in listed if one.words == words or number in one.words <= words | {number}]
            if known:
                return known
        for text in filter(None, (name, match["name"] if match else name)):
            found = self._words.get(_words(text)) or self._squeezed.get(_squeezed(text))
            if found:
                return list(found)
        return [numbered] if match and numbered is not None else []  # whose name has changed since

    def _team(self, name: str, teams: dict[str, list[Student]]) -> list[Student]:
        match = NUMBERED.fullmatch(name)
        return teams.get(folded(name)) or teams.get(folded(match["name"]) if match else "", [])


def _place(student: Student) -> tuple[str, str]:
    """What sorts a class as platforms do: by last names, where a roster says them."""
    if student.person is None:
        return student.shown, ""
    first, _, last = student.person.name.rpartition(" ")
    return folded(student.person.sortable or f"{last}, {first}"), student.shown


def _squeezed(name: str) -> str:
    """As Canvas writes a name before a file's; a name without letters as it is, as it is not that of all others."""
    return re.sub(r"[\W]+", "", folded(name)) or folded(name)


def _words(name: str) -> frozenset[str]:
    """The words of a name; one without letters is its own."""
    return words_of(name) or frozenset((folded(name),))


def _labels(people: list[Person]) -> dict[Person, str]:
    """A name for each: namesakes get what else tells them apart."""
    counts = Counter(folded(person.name) for person in people)
    labels = {}
    for place, person in enumerate(people, 1):
        alone = counts[folded(person.name)] == 1 and person.name
        labels[person] = (
            person.name if alone else f"{person.name} ({person.key})" if person.ids else f"{person.name} ({place})"
        )
    return labels


def _shared(people: list[Person]) -> Iterator[str]:
    """A line for each id that two people have."""
    owners: dict[tuple[str, str], list[Person]] = defaultdict(list)
    for person in people:
        for key in dict.fromkeys(comparable(person)):
            owners[key].append(person)
    labels = _labels(people)
    for (kind, value), found in owners.items():
        if len(found) > 1:
            called = {"mail": "mail address", "number": "number", "github": "GitHub name"}.get(kind, "id")
            who = enumeration([clean(labels[one]) for one in found])
            given = "what is handed in under it is given to none of them"
            yield f"{clean(value)} is the {called} of {who} on the roster: {given}"


def _footers(people: list[Person]) -> Iterator[str]:
    """A line for each table that goes on below its students."""
    for table in dict.fromkeys(table for person in people for table, _, _ in person.rows):
        for line in table.footer:
            yield f"{table.file}: its last line, {quoted(line)}, is no student's; passed over"


def _why(name: str, found: list[Person]) -> str:
    if len({person.key for person in found}) < len(found):
        labels = _labels(found)
        who = enumeration(sorted(clean(labels[one]) for one in found))
        return f"{name} could be any of {who}: the roster has one id for them; give each an id of their own there"
    if found:
        who = ", ".join(sorted(person.key for person in found))
        number = f" ({match['number']} here)" if (match := NUMBERED.fullmatch(name)) else ""
        return (
            f"{name} could be any of {who}: their platform calls them alike; give --roster a table that says whose "
            f"number it is, with the columns Identifier{number}, Full name and Email address (Moodle's grading "
            "worksheet of this assignment is one)"
        )
    return f"{name} is nobody on the roster, and has a row of their own"
