"""A small class in the export formats of all platforms, for the commands on the teachers' pages and for tests.

Hand-ins are ch06 from the bundled sample class: right answers, normalisation slips, or a mixture. In each of two teams
one member handed in; two students are late, one handed in nothing, and one copied another's work and renamed all names.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from course.syllabus import find_lesson

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "autograder" / "sample_class"
LESSON, FILE = "ch06_vjps", "ch06_vjps.py"
WORTH = find_lesson(LESSON).points
LAST = ("Adams", "Baker", "Cole", "Díaz", "Evans", "Fox", "Gray", "Hill", "Ivanov", "Jones", "Kim", "Lee")
FIRST = ("Ann", "Ben", "Cleo", "Dan", "Emi", "Finn", "Gus", "Hana", "Ivo", "Jo", "Kit", "Lea")
OF_ONES_OWN = """\
# %% exercise="sigmoid_vjp"
def sigmoid_vjp(g, x):
    small = np.exp(-np.abs(x))
    rise = small / np.square(small + 1)
    return np.asarray(np.multiply(rise, g), dtype=x.dtype)

# %% exercise="tanh_vjp"
def tanh_vjp(g, x):
    small = np.exp(-2 * np.abs(x))
    rise = 4 * small / np.square(small + 1)
    return np.asarray(np.multiply(rise, g), dtype=x.dtype)

"""
"""Right answers in an unusual style, so that a copy of them is evident."""
RENAMED = {"small": "e", "rise": "slope"}


@dataclass(frozen=True)
class SmallClass:
    """The class; students are numbered by place."""

    size: int = 10
    teams = (("Gradients", (2, 3)), ("Tensors", (5, 6)))
    late = (7, 8)
    nothing = 9
    copied = (4, 1)
    """The student who copied, and the author of the copied work."""

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        """Last and first names; in a large class the last two students have the same name."""
        names = [(LAST[i % len(LAST)], FIRST[(i + i // len(LAST)) % len(FIRST)]) for i in range(self.size)]
        return [*names[:-1], names[-2]] if self.size > 10 else names

    def user(self, place: int) -> str:
        last, first = self.names[place]
        name = re.sub(r"\W", "", f"{first[0]}{last}".lower().replace("í", "i"))
        return name if self.size == 10 else f"{name}{place}"

    def team(self, place: int) -> str:
        return next((team for team, members in self.teams if place in members), "")

    def handed_in(self) -> Iterator[tuple[int, str, str, str]]:
        """Place, first name, last name and text of each hand-in; for a team, only its first member's."""
        for place, (last, first) in enumerate(self.names):
            if place != self.nothing and not any(place in members[1:] for _, members in self.teams):
                yield place, first, last, self.answer(place)

    def answer(self, place: int) -> str:
        """A student's hand-in: each exercise comes from one of two students of the sample class."""
        copier, source = self.copied
        written = source if place == copier else place
        right, slips = (
            re.split(r"(?m)^(?=# %%)", (SAMPLE / who / FILE).read_text("utf-8"))
            for who in ("lea-other-style", "emi-normalisation-slips")
        )
        other = {block.partition("\n")[0]: block for block in slips if "exercise=" in block}
        chosen = [
            other[head] if (head := block.partition("\n")[0]) in other and (written * 7 + i) % 5 == 0 else block
            for i, block in enumerate(right)
        ]
        if written == source:
            own = {block.partition("\n")[0]: block for block in re.split(r"(?m)^(?=# %%)", OF_ONES_OWN) if block}
            chosen = [own.get(block.partition("\n")[0], block) for block in chosen]
        text = "".join(chosen)
        if place == copier:
            for old, new in RENAMED.items():
                text = re.sub(rf"\b{old}\b", new, text)
        return text


def zipped(file: Path, contents: dict[str, str]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in contents.items():
            archive.writestr(name, text)


def table(file: Path, rows: list[list[object]], *, delimiter: str = ",", encoding: str = "utf-8") -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    file.write_text(text.getvalue(), encoding=encoding, newline="")


def sample(folder: Path, _: SmallClass) -> None:
    """A link to this checkout, in the place of a clone."""
    (folder / "course").symlink_to(ROOT)


def canvas(folder: Path, who: SmallClass) -> None:
    """The zip of an assignment (lib/content_zipper.rb), the gradebook, and the group set."""
    files = {}
    for place, first, last, text in who.handed_in():
        late = "_LATE" if place in who.late else ""
        squeezed = re.sub(r"\W", "", f"{last}{first}".lower())
        files[f"{squeezed}{late}_{100 + place}_{9000 + place}_{FILE}"] = text
    zipped(folder / "submissions.zip", files)
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ch06: VJPs (501)", "Reading (502)"]
    rows: list[list[object]] = [head, ["    Points Possible", "", "", "", "", f"{WORTH:.2f}", "10.00"]]
    groups: list[list[object]] = [
        ["name", "canvas_user_id", "user_id", "login_id", "sections", "group_name", "canvas_group_id", "group_id"]
    ]
    for place, (last, first) in enumerate(who.names):
        ids = [100 + place, f"s{place}", f"{who.user(place)}@x.edu"]
        rows.append([f"{last}, {first}", *ids, f"Lab {place % 2 + 1}", "", "7"])
        if who.team(place):
            groups.append([f"{last}, {first}", *ids, f"Lab {place % 2 + 1}", who.team(place), 1, ""])
    table(folder / "canvas.csv", [*rows, ["Student, Test", 999, "", "c0ffee", "Lab 1", "", ""]])
    table(folder / "groups.csv", groups)


def moodle(folder: Path, who: SmallClass, *, blind: bool = False) -> None:
    """The zip of all submissions (mod/assign/classes/downloader.php) and the grading worksheet; `blind`: anonymous."""
    zipped(
        folder / "submissions.zip",
        {
            f"{'Participant' if blind else f'{first} {last}'}_{70 + place}_assignsubmission_file_/{FILE}": text
            for place, first, last, text in who.handed_in()
        },
    )
    people = [] if blind else ["Full name", "ID number", "Email address"]  # gradingtable.php, `is_blind_marking`
    head = ["Identifier", *people, "Status", "Group", "Grade", "Maximum grade"]
    head += ["Grade can be changed", "Last modified (submission)", "Last modified (grade)", "Feedback comments"]
    rows: list[list[object]] = [head]
    for place, (last, first) in enumerate(who.names):
        group = who.team(place) or "Default group"
        at = f"{'Wednesday, 3' if place in who.late else 'Monday, 1'} March 2027, 9:00 AM"
        there = [["Submitted for grading", at], ["No submission", "-"]][place == who.nothing]
        ids = [] if blind else [f"{first} {last}", f"s{place}", f"{who.user(place)}@x.edu"]
        rows.append([f"Participant {70 + place}", *ids, there[0], group, "", f"{WORTH:.2f}", "Yes", there[1], "-", ""])
    table(folder / "ch06.csv", rows, encoding="utf-8-sig")


def blackboard(folder: Path, who: SmallClass) -> None:
    """The zip of Assignment File Download, with receipts, and the Grade Center's download."""
    files = {}
    for place, first, last, text in who.handed_in():
        at = f"2027-03-0{3 if place in who.late else 1}-09-00-00"
        name = f"ch06_{who.user(place)}_attempt_{at}"
        files[f"{name}_{FILE}"] = text
        files[f"{name}.txt"] = f"Name: {first} {last} ({who.user(place)})\nAssignment: ch06\n"
    zipped(folder / "gradebook_ch06.zip", files)
    head = ["Last Name", "First Name", "Username", "Student ID", f"ch06 VJPs [Total Pts: {WORTH:g} Score] |12345"]
    rows: list[list[object]] = [head]
    rows += [[last, first, who.user(place), f"s{place}", ""] for place, (last, first) in enumerate(who.names)]
    table(folder / "gc_download.xls", rows, delimiter="\t", encoding="utf-16")


def brightspace(folder: Path, who: SmallClass) -> None:
    """The zip of Submissions, Download, and the export of Grades with both key fields."""
    files = {}
    for place, first, last, text in who.handed_in():
        day = 3 if place in who.late else 1
        files[f"{500 + place}-{900 + place} - {first} {last} - Mar {day}, 2027 900 AM/{FILE}"] = text
    zipped(folder / "ch06 Download Mar 4, 2027.zip", files)
    item = f"ch06 VJPs Points Grade <Numeric MaxPoints:{WORTH:g} Weight:10>"
    rows: list[list[object]] = [["OrgDefinedId", "Username", "Last Name", "First Name", item, "End-of-Line Indicator"]]
    rows += [[f"#s{i}", f"#{who.user(i)}", last, first, "", "#"] for i, (last, first) in enumerate(who.names)]
    table(folder / "grades.csv", rows)


def gradescope(folder: Path, who: SmallClass) -> None:
    """The zip of Export Submissions, with partners in its list, and the roster."""
    files, listed = {}, ["---"]
    for place, _, _, text in who.handed_in():
        files[f"assignment_6_export/submission_{place}/{FILE}"] = text
        members = next((members for _, members in who.teams if place in members), (place,))
        listed += [f"submission_{place}:", "  :submitters:"]
        for one in members:
            last, first = who.names[one]
            listed += [f"  - :name: {first} {last}", f"    :sid: s{one}", f"    :email: {who.user(one)}@x.edu"]
        listed.append(f"  :created_at: 2027-03-0{3 if place in who.late else 1} 09:00:00.000000000 Z")
    files["assignment_6_export/submission_metadata.yml"] = "\n".join([*listed, ""])
    zipped(folder / "assignment_6_export.zip", files)
    rows: list[list[object]] = [["First Name", "Last Name", "SID", "Email", "Role"]]
    rows += [[first, last, f"s{i}", f"{who.user(i)}@x.edu", "Student"] for i, (last, first) in enumerate(who.names)]
    table(folder / "roster.csv", rows)


def nbgrader(folder: Path, who: SmallClass) -> None:
    """A course folder with hand-ins as `nbgrader collect` stores them."""
    for name, student in (("ada", "ada-perfect"), ("nina", "nina-chain-slips")):
        target = folder / "course" / "submitted" / name / "ch02_chain_rule" / "ch02_chain_rule.ipynb"
        target.parent.mkdir(parents=True)
        target.write_bytes((SAMPLE / student / target.name).read_bytes())


def github(folder: Path, who: SmallClass) -> None:
    """Cloned repositories in one folder, and a table of names with GitHub users."""
    rows: list[list[object]] = [["name", "github"]]
    for place, first, last, text in who.handed_in():
        file = folder / "class" / who.user(place) / FILE
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        rows.append([f"{first} {last}", who.user(place)])
    table(folder / "class.csv", rows)


SETUPS: dict[str, Callable[[Path, SmallClass], None]] = {
    "class": sample,
    "canvas": canvas,
    "moderation": canvas,
    "moodle": moodle,
    "anonymous": partial(moodle, blind=True),
    "blackboard": blackboard,
    "brightspace": brightspace,
    "gradescope": gradescope,
    "nbgrader": nbgrader,
    "github": github,
    "scale": github,
    "empty": lambda folder, who: None,
}
"""By session: the function that fills the folder in which its commands run."""
