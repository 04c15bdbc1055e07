"""The people of a class, out of whatever table a platform exports or a teacher keeps.

    Canvas       the gradebook's export (Student, ID, SIS Login ID, Section), or a group set's (canvas_user_id)
    Moodle       a grading worksheet (Identifier, Full name, Email address, Group), or the participants' list
    Gradescope   the roster or the grades (Name or First Name, Last Name, SID, Email, Section)
    Blackboard   the Grade Center's download (Last Name, First Name, Username, Student ID), UTF-16 with tabs
    Brightspace  the grades' export (OrgDefinedId, Username, … Points Grade, End-of-Line Indicator)
    GitHub       Classroom's classroom_roster.csv (identifier, github_username)
    any          a CSV whose header names some of: name, id, mail, login, section, team

Rows of several tables are one person's where an id, a login or a mail address is the same, or a name that is nobody
else's.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

MOST_BYTES = 32 * 2**20
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
"""The columns that say something, in small letters."""
IDS = ("canvas", "sis", "login", "number", "mail", "github")
"""What is one person's alone; a participant's number is so in one assignment of Moodle's."""
NO_TEAM = ("default group", "no group", "none", "-")
"""What Moodle writes for who is in no group."""
PLATFORMS = ("canvas", "canvas groups", "moodle", "gradescope", "blackboard", "brightspace", "github")
NOT_A_STUDENT = re.compile(r"\s*(Points Possible|Student, Test|Test Student)\s*", re.IGNORECASE)
"""What Canvas has among its students."""


class RosterError(ValueError):
    """A table that is no roster; the message says which, and what is wrong with it."""


@dataclass(frozen=True)
class Table:
    """A platform's table as it came: a file that goes back to it has the same columns."""

    platform: str
    """One of `PLATFORMS`; empty for a table of somebody's own."""
    file: str
    header: tuple[str, ...]
    head_rows: tuple[tuple[str, ...], ...] = ()
    """Rows above the students', as Canvas has them."""
    kept: bool = False
    """Whether it is the copy that `grade` keeps: the platform may have changed since."""


@dataclass(eq=False)
class Person:
    """One student, by all that is known."""

    name: str = ""
    """As people say it: Ada King."""
    sortable: str = ""
    """King, Ada."""
    ids: dict[str, str] = field(default_factory=dict)
    section: str = ""
    team: str = ""
    participants: set[str] = field(default_factory=set)
    """Moodle's numbers, each of one assignment."""
    handed_in: dict[str, str] = field(default_factory=dict)
    """When, as Moodle's worksheet says it, by the participant's number."""
    rows: list[tuple[Table, int, tuple[str, ...]]] = field(default_factory=list)
    """Each table in which they stand, with the row's place there and the row."""

    @property
    def words(self) -> frozenset[str]:
        """The name without its order and its signs: `King, Ada` is `Ada King`."""
        return words_of(self.name or self.sortable)

    @property
    def key(self) -> str:
        """What tells a person from all others, as they would write it."""
        return next(
            (self.ids[kind] for kind in ("mail", "login", "sis", "number", "canvas", "github") if kind in self.ids),
            self.name,
        )


def words_of(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", folded(name)))


def folded(text: str) -> str:
    """Without capitals, and with one way to write ü."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def read_rosters(files: Iterable[Path]) -> list[Person]:
    """The people of all tables, each once, in the order in which they come.

    Raises:
        RosterError: a table cannot be read, or has no column that names people.
    """
    people: list[Person] = []
    for file in files:
        join(people, read_roster(file))
    return people


def read_roster(file: Path) -> list[Person]:
    """The people of one table, a row each."""
    rows = _rows(file)
    header = next(rows, None)
    if header is None:
        raise RosterError(f"{file}: it is empty; a roster has a header and a row for each student")
    columns = _columns(header)
    if not columns.keys() & {"name", "last", *IDS}:
        raise RosterError(
            f"{file}: no column of its first row names people ({', '.join(header[:6])[:120]}); "
            "a roster has name, id, mail, login, section or team"
        )
    platform = _platform(header, columns)
    if platform == "canvas" and "number" in columns:  # there, ID is Canvas's own
        columns["canvas"] = columns.pop("number")
    if platform == "github" and "participant" in columns:  # there, it is whatever the teacher called them
        columns.setdefault("name", columns.pop("participant"))
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
    kept = file.parent.name.startswith(".")  # of the folder of results: class_files.ROSTERS
    table = Table(platform, file.name, tuple(header), tuple(above), kept)
    for place, (person, padded) in enumerate(people):
        person.rows.append((table, place, padded))
    return [person for person, _ in people if person.words or person.ids]


def join(people: list[Person], more: list[Person]) -> None:
    """Add the people of another table; who is known already gets what it says, too."""
    by_id = {(kind, folded(value)): person for person in people for kind, value in _comparable(person)}
    names: dict[frozenset[str], list[Person]] = {}
    for person in people:
        names.setdefault(person.words, []).append(person)
    new_names: dict[frozenset[str], int] = {}
    for person in more:
        new_names[person.words] = new_names.get(person.words, 0) + 1
    for person in more:
        known = next(
            (by_id[key] for kind, value in _comparable(person) if (key := (kind, folded(value))) in by_id), None
        )
        alike = names.get(person.words, [])
        if known is None and person.words and len(alike) == 1 and new_names[person.words] == 1:
            known = None if _differ(alike[0], person) else alike[0]
        if known is None:
            people.append(person)
            known = person
            names.setdefault(person.words, []).append(person)
        else:
            _learn(known, person)
        by_id |= {(kind, folded(value)): known for kind, value in _comparable(known)}


def _comparable(person: Person) -> Iterator[tuple[str, str]]:
    """A person's ids; a login is compared with mail addresses as well: many platforms take these."""
    for kind, value in person.ids.items():
        yield ("mail" if kind == "login" and "@" in value else kind), value


def _differ(one: Person, other: Person) -> bool:
    """Whether two of the same name cannot be one person."""
    mine, theirs = dict(_comparable(one)), dict(_comparable(other))
    return any(folded(mine[kind]) != folded(theirs[kind]) for kind in mine.keys() & theirs.keys())


def _learn(known: Person, more: Person) -> None:
    for kind, value in more.ids.items():
        known.ids.setdefault(kind, value)
    known.name, known.sortable = known.name or more.name, known.sortable or more.sortable
    known.section, known.team = known.section or more.section, more.team or known.team
    known.participants |= more.participants
    known.handed_in |= more.handed_in
    known.rows += more.rows


def _rows(file: Path) -> Iterator[list[str]]:
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise RosterError(f"{file} cannot be read ({error.strerror})") from None
    if len(data) > MOST_BYTES:
        raise RosterError(f"{file}: more than {MOST_BYTES >> 20} MiB are no roster")
    text = _text(data)
    if "\0" in text:
        raise RosterError(f"{file}: it is no text; save the table as CSV")
    head = text.partition("\n")[0]
    delimiter = max("\t;,", key=head.count)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=False)
    except csv.Error as error:
        raise RosterError(f"{file}: it is no table ({error})") from None


def _text(data: bytes) -> str:
    """Blackboard writes UTF-16, Excel its own alphabet where the name of a format says nothing."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _columns(header: list[str]) -> dict[str, int]:
    """Where each field stands: the first column of any of its names."""
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
    if platform == "brightspace":  # it marks ids, for spreadsheets
        said = {name: text.removeprefix("#") for name, text in said.items()}
    name = said.get("name", "")
    if not name and (said.get("last") or said.get("first")):
        name = f"{said.get('last', '')}, {said.get('first', '')}".strip(", ")
    last, comma, first = name.partition(", ")
    person = Person(f"{first} {last}" if comma else name, name if comma else "", section=said.get("section", ""))
    person.ids = {kind: said[kind] for kind in IDS if said.get(kind)}
    if said.get("team", "").lower() not in NO_TEAM:
        person.team = said.get("team", "")
    if platform == "moodle" and (number := re.search(r"\d+$", said.get("participant", ""))):
        person.participants.add(number[0])
    return person
