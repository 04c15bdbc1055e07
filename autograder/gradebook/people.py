"""Matches the names that platforms give to hand-ins with the people on a roster."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from autograder.classroom.student_names import UNKNOWN
from autograder.gradebook.roster import Person, comparable, folded, words_of
from autograder.wording import clean, counted, enumeration, quoted, some

NUMBERED = re.compile(r"(?P<name>.*?)_(?:submission_)?(?P<number>\d+)", re.DOTALL)
"""Canvas's `kingada_4711`, Moodle's `Ada King_123` for a namesake and `Participant_123` in anonymous marking,
Gradescope's `Ada King_submission_9`."""
MOST_LINES = 5
"""At most this many names that are not on the roster have a line each."""


@dataclass(eq=False)
class Student:
    """A student of the class: a person on the roster, or a hand-in's name that is not on it."""

    shown: str
    """The name in reports, unique in the class."""
    person: Person | None = None
    own: list[str] = field(default_factory=list)
    """Names of their hand-ins."""
    of_team: list[str] = field(default_factory=list)
    """Names of their team's hand-ins."""

    @property
    def names(self) -> Iterator[str]:
        """All names that identify them."""
        yield self.shown
        yield from self.own
        if self.person is not None:
            yield from (self.person.name, self.person.sortable, *(value for _, value in self.person.all_ids))


class People:
    """The people on a roster, matched with the class's hand-ins."""

    def __init__(self, people: list[Person], hand_ins: Iterable[str]) -> None:
        self.problems: list[str] = []
        """A line for each name that may be several people's, or is not on the roster."""
        self.doubtful: set[Person] = set()
        """The people of whom one has a hand-in that may be several people's."""
        self.problems += [*_shared_ids(people), *_footers(people)]
        self._index(people)
        shown = _labels(people)
        self.students = [Student(shown[person], person) for person in people]
        by_person = {student.person: student for student in self.students}
        teams: dict[str, list[Student]] = defaultdict(list)
        for student in self.students:
            if student.person is not None and student.person.team:
                teams[folded(student.person.team)].append(student)
        strangers, unmatched = [], []
        for name in hand_ins:
            found = self._find(name)
            if len(found) == 1:
                by_person[found[0]].own.append(name)
            elif members := [] if found else self._team(name, teams):
                for student in members:
                    student.of_team.append(name)
            else:
                strangers.append(Student(name, None, [name]))
                self.doubtful.update(found)
                if people and found:
                    self.problems.append(_why_unclear(name, found))
                elif people and name != UNKNOWN:
                    unmatched.append(name)
        self.problems += _nobodies(unmatched)
        for members in teams.values():
            for student in members:
                student.of_team += [name for other in members if other is not student for name in other.own]
        self.students = sorted([*self.students, *strangers], key=_sort_key)

    def called(self, name: str) -> list[Student]:
        """The students with a name: exact matches of a name or id, or else those with the same words in any order."""
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
                self._ids[folded(f"{person.name} ({value})")].add(person)  # the results' names for namesakes
                if kind != "canvas":  # a small number, which may be something else on another platform
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

    def _find(self, name: str) -> list[Person]:
        """The people who may have a hand-in's name: one, several, or none."""
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
        return [numbered] if match and numbered is not None else []  # a name changed since

    def _team(self, name: str, teams: dict[str, list[Student]]) -> list[Student]:
        match = NUMBERED.fullmatch(name)
        return teams.get(folded(name)) or teams.get(folded(match["name"]) if match else "", [])


def _sort_key(student: Student) -> tuple[str, str]:
    """Sort key: by last name, where a roster gives one, as platforms sort."""
    if student.person is None:
        return student.shown, ""
    first, _, last = student.person.name.rpartition(" ")
    return folded(student.person.sortable or f"{last}, {first}"), student.shown


def _squeezed(name: str) -> str:
    """A name as Canvas writes it before a file's name; a name without letters is kept, to stay distinct from others."""
    return re.sub(r"[\W]+", "", folded(name)) or folded(name)


def _words(name: str) -> frozenset[str]:
    """The words of a name; a name without letters is its only word."""
    return words_of(name) or frozenset((folded(name),))


def _labels(people: list[Person]) -> dict[Person, str]:
    """A unique name for each person: namesakes get an id or a number."""
    counts = Counter(folded(person.name) for person in people)
    labels = {}
    for place, person in enumerate(people, 1):
        alone = counts[folded(person.name)] == 1 and person.name
        labels[person] = (
            person.name if alone else f"{person.name} ({person.key})" if person.ids else f"{person.name} ({place})"
        )
    return labels


def _shared_ids(people: list[Person]) -> Iterator[str]:
    """A line for each id that several people share."""
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
    """A line for each table that has lines below its students."""
    for table in dict.fromkeys(table for person in people for table, _, _ in person.rows):
        for line in table.footer:
            yield f"{table.file}: its last line, {quoted(line)}, is no student's; passed over"


def _why_unclear(name: str, found: list[Person]) -> str:
    """Why a hand-in's name may be several people's, and what to do about it."""
    if len({person.key for person in found}) < len(found):
        labels = _labels(found)
        who = enumeration(sorted(clean(labels[one]) for one in found))
        return f"{name} could be any of {who}: the roster has one id for them; give each an id of their own there"
    who = ", ".join(sorted(person.key for person in found))
    number = f" ({match['number']} here)" if (match := NUMBERED.fullmatch(name)) else ""
    return (
        f"{name} could be any of {who}: their platform calls them alike; give --roster a table that says whose "
        f"number it is, with the columns Identifier{number}, Full name and Email address (Moodle's grading "
        "worksheet of this assignment is one)"
    )


def _nobodies(names: list[str]) -> Iterator[str]:
    """A line for each name that is not on the roster, or one line for all of many, as in an anonymous assignment."""
    if len(names) > MOST_LINES:
        yield f"{counted(len(names), 'hand-in')} are nobody's on the roster, and have rows of their own: {some(names)}"
    else:
        yield from (f"{name} is nobody on the roster, and has a row of their own" for name in names)
