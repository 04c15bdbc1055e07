"""Reads the people of a class from any table that a platform exports or a teacher keeps.

    Canvas       the gradebook's export (Student, ID, SIS Login ID, Section), or a group set's (canvas_user_id)
    Moodle       a grading worksheet (Identifier, Full name, Email address, Group; with anonymous marking only
                 Identifier), or the participants' list
    Gradescope   the roster or the grades (Name or First Name, Last Name, SID, Email, Section)
    Blackboard   the Grade Center's download (Last Name, First Name, Username, Student ID), UTF-16 with tabs
    Brightspace  the grades' export (OrgDefinedId, Username, … Points Grade, End-of-Line Indicator)
    GitHub       Classroom's classroom_roster.csv (identifier, github_username)
    any          a CSV whose header names some of: name, id, mail, login, section, team

Rows of several tables belong to one person if they share an id, a login, a mail address, or a name that is unique in
both tables.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.gradebook.roster_file import RosterError, is_footer, rows_of

MOST_ROWS = 100_000
FIELDS = {
    "name": ("student", "name", "full name", "full_name", "student name", "user full name"),
    "last": ("last name", "lastname", "last_name", "surname", "family name"),
    "first": ("first name", "firstname", "first_name", "given name"),
    "mail": ("email", "e-mail", "mail", "email address", "mail address", "e-mail address"),
    "login": ("sis login id", "login_id", "login", "username", "user name", "user id"),
    "sis": ("sis user id", "user_id"),
    "canvas": ("canvas_user_id",),
    "number": ("sid", "id", "orgdefinedid", "student id", "student_id", "id number", "student number"),
    "participant": ("identifier",),
    "github": ("github_username", "github username", "github"),
    "section": ("section", "sections"),
    "team": ("team", "group", "groups", "group_name", "group name"),
}
"""By field: the titles of its columns, in lower case."""
IDS = ("canvas", "sis", "login", "number", "mail", "github")
"""Fields that identify one person; a participant's number does so only within one assignment of Moodle's."""
NO_TEAM = ("default group", "no group", "none", "-")
"""Moodle's texts for students without a group."""
NOT_A_STUDENT = re.compile(r"\s*(Points Possible|Student, Test|Test Student)\s*", re.IGNORECASE)
"""Rows of Canvas that are not students."""


@dataclass(frozen=True)
class Table:
    """A platform's table as it came, so that a file written for the platform has the same columns."""

    platform: str
    """The platform, `canvas groups` for Canvas's table of groups; empty for a table from elsewhere."""
    file: str
    header: tuple[str, ...]
    head_rows: tuple[tuple[str, ...], ...] = ()
    """Rows above the students, as in Canvas's tables."""
    kept: bool = False
    """Whether it is the copy that `grade` keeps, which may be older than the platform's data."""
    footer: tuple[str, ...] = ()
    """Lines that a registrar's system wrote below the students."""


@dataclass(eq=False)
class Person:
    """One student, with data from all tables."""

    name: str = ""
    """First name first: Ada King."""
    sortable: str = ""
    """Last name first: King, Ada."""
    ids: dict[str, str] = field(default_factory=dict)
    """By kind: the first value that a table gave, which files for platforms repeat."""
    also: dict[str, list[str]] = field(default_factory=dict)
    """By kind: further values, such as a second mail address or a renamed account."""
    section: str = ""
    team: str = ""
    participants: set[str] = field(default_factory=set)
    """Moodle's numbers, one per assignment."""
    handed_in: dict[str, str] = field(default_factory=dict)
    """By participant's number: when they handed in, from Moodle's worksheet."""
    rows: list[tuple[Table, int, tuple[str, ...]]] = field(default_factory=list)
    """The tables that list them, each with the row's index and the row."""

    @property
    def words(self) -> frozenset[str]:
        """The words of the name, in any order and without punctuation: `King, Ada` equals `Ada King`."""
        return words_of(self.name or self.sortable)

    @property
    def all_ids(self) -> Iterator[tuple[str, str]]:
        """Every id with its kind."""
        yield from self.ids.items()
        yield from ((kind, value) for kind, values in self.also.items() for value in values)

    @property
    def mail(self) -> str:
        """The mail address, or a login that is one, as Canvas's often are; empty if unknown."""
        login = self.ids.get("login", "")
        return self.ids.get("mail") or (login if "@" in login else "")

    @property
    def key(self) -> str:
        """An id that identifies the person, preferably the mail address; the name if there is none."""
        return next(
            (self.ids[kind] for kind in ("mail", "login", "sis", "number", "canvas", "github") if kind in self.ids),
            self.name,
        )


def words_of(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", folded(name)))


def folded(text: str) -> str:
    """Text in lower case and Unicode's NFC, for comparison."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def read_rosters(files: Iterable[Path]) -> list[Person]:
    """The people of all tables without duplicates, in the order of the tables.

    Raises:
        RosterError: a table cannot be read, or has no column that names people.
    """
    people: list[Person] = []
    for file in files:
        join(people, read_roster(file))
    return people


def read_roster(file: Path) -> list[Person]:
    """The people of one table, one per row."""
    rows = rows_of(file)
    header = next(rows, None)
    if header is None:
        raise RosterError(f"{file}: it is empty; a roster has a header and a row for each student")
    columns = _columns(header)
    if not columns.keys() & {"name", "last", "participant", *IDS}:
        raise RosterError(
            f"{file}: no column of its first row names people ({', '.join(header[:6])[:120]}); "
            "a roster has name, id, mail, login, section or team"
        )
    platform = _platform(header, columns)
    if platform == "canvas" and "number" in columns:  # Canvas's ID column has its own ids
        columns["canvas"] = columns.pop("number")
    if platform == "github" and "name" not in columns:  # the identifier is the teacher's name for a student
        columns |= {"name": columns["participant"]} if "participant" in columns else {}
    above, people = [], []
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        padded = (*row, *[""] * (len(header) - len(row)))
        first = padded[columns.get("name", columns.get("last", 0))]
        if platform == "canvas" and (NOT_A_STUDENT.fullmatch(first) or not first.strip()):
            if "student" not in first.lower():
                above.append(padded)
            continue
        person = _person(padded, columns, platform)
        if platform == "canvas" and person.name == "Test Student":
            continue
        people.append((person, padded))
        if len(people) > MOST_ROWS:
            raise RosterError(f"{file}: more than {MOST_ROWS:,} rows")
    footer = list[str]()
    while not platform and people and is_footer(people[-1][1]):
        footer.insert(0, " ".join(" ".join(people.pop()[1]).split()))
    kept = file.parent.name.startswith(".")  # in the folder of results: class_files.ROSTERS
    table = Table(platform, file.name, tuple(header), tuple(above), kept, tuple(footer))
    for place, (person, padded) in enumerate(people):
        person.rows.append((table, place, padded))
    return [person for person, _ in people if person.words or person.ids]


def join(people: list[Person], more: list[Person]) -> None:
    """Add the people of another table to `people`, merging those that are known already."""
    by_id: dict[tuple[str, str], list[Person]] = {}
    names: dict[frozenset[str], list[Person]] = {}
    for person in people:
        names.setdefault(person.words, []).append(person)
        for key in comparable(person):
            by_id.setdefault(key, []).append(person)
    new_names: dict[frozenset[str], int] = {}
    for person in more:
        new_names[person.words] = new_names.get(person.words, 0) + 1
    for person in more:
        alike = [one for key in comparable(person) for one in by_id.get(key, ())]
        known = next((one for one in alike if not _are_different(one, person)), None)
        called = names.get(person.words, [])
        if not alike and person.words and len(called) == 1 and new_names[person.words] == 1:
            known = None if _have_different_ids(called[0], person) else called[0]
        if known is None:
            people.append(person)
            known = person
            names.setdefault(person.words, []).append(person)
        else:
            _merge(known, person)
        for key in comparable(person):
            if known not in by_id.setdefault(key, []):
                by_id[key].append(known)


def comparable(person: Person) -> Iterator[tuple[str, str]]:
    """A person's ids by kind for comparison; a login that is a mail address counts as one."""
    for kind, value in person.all_ids:
        yield ("mail" if kind == "login" and "@" in value else kind), folded(value)


def _are_different(known: Person, person: Person) -> bool:
    """Whether two rows that share an id are two people, because other ids differ, or their names do within one table.

    Tables of different platforms may use one number for different people, and write one name differently.
    """
    same_table = bool(person.rows) and any(table is person.rows[0][0] for table, _, _ in known.rows)
    mine, theirs = set(comparable(known)), set(comparable(person))
    for kind in ("canvas", "sis", "number", "login") if same_table else ("canvas", "sis"):
        of_mine, of_theirs = {one for one in mine if one[0] == kind}, {one for one in theirs if one[0] == kind}
        if of_mine and of_theirs and not of_mine & of_theirs:
            return True
    return same_table and not (known.words <= person.words or person.words <= known.words)


def _have_different_ids(one: Person, other: Person) -> bool:
    """Whether ids of one kind show that namesakes are two people. GitHub's are ignored: accounts can be renamed."""
    mine, theirs = ({kind for kind, _ in comparable(person)} - {"github"} for person in (one, other))
    return bool(mine & theirs)


def _merge(known: Person, more: Person) -> None:
    for kind, value in more.all_ids:
        if kind not in known.ids:
            known.ids[kind] = value
        elif folded(value) not in {folded(one) for of, one in known.all_ids if of == kind}:
            known.also.setdefault(kind, []).append(value)
    known.name, known.sortable = known.name or more.name, known.sortable or more.sortable
    known.section, known.team = known.section or more.section, more.team or known.team
    known.participants |= more.participants
    known.handed_in |= more.handed_in
    known.rows += more.rows


def _columns(header: list[str]) -> dict[str, int]:
    """The column of each field: the first with one of its titles."""
    places: dict[str, int] = {}
    for place, title in enumerate(header):
        said = title.strip().strip('"').lower()
        for name, titles in FIELDS.items():
            if said in titles:
                places.setdefault(name, place)
    return places


def _platform(header: list[str], columns: dict[str, int]) -> str:
    titles = {title.strip().lower() for title in header}
    if header[0].strip() in ("Student", "LastName") and {"id", "section"} <= titles:
        return "canvas"
    if {"canvas_user_id", "group_name"} <= titles:
        return "canvas groups"
    if "identifier" in titles and ("full name" in titles or "grade" in titles):
        return "moodle"
    if "github_username" in titles:
        return "github"
    if "orgdefinedid" in titles or "end-of-line indicator" in titles:
        return "brightspace"
    if {"last name", "first name", "username"} <= titles:
        return "blackboard"
    if {"sid", "email"} <= titles:
        return "gradescope"
    return "moodle" if {"email address", "groups"} <= titles else ""


def _person(row: tuple[str, ...], columns: dict[str, int], platform: str) -> Person:
    said = {name: " ".join(row[place].split()) for name, place in columns.items()}
    if platform == "brightspace":  # Brightspace puts # before ids, for spreadsheets
        said = {name: text.removeprefix("#") for name, text in said.items()}
    name = said.get("name", "")
    if not name and (said.get("last") or said.get("first")):
        name = f"{said.get('last', '')}, {said.get('first', '')}".strip(", ")
    last, comma, first = name.partition(", ")
    person = Person(f"{first} {last}" if comma else name, name if comma else "", section=said.get("section", ""))
    if platform == "github" and "@" in (identifier := said.get("participant", "") or name):
        said.setdefault("mail", identifier)
    person.ids = {kind: said[kind] for kind in IDS if said.get(kind)}
    if said.get("team", "").lower() not in NO_TEAM:
        person.team = said.get("team", "")
    if platform == "moodle" and (number := re.search(r"\d+$", said.get("participant", ""))):
        person.participants.add(number[0])
        if "name" not in columns:  # with anonymous marking (mod/assign/gradingtable.php, `is_blind_marking`)
            person.name = said["participant"]
    return person
