"""Hand-ins whose result belongs to another class folder: not graded until the instructor passes --replace.

In many places students choose their names, so a hand-in must not overwrite a classmate's result without the
instructor's consent. A later download of the same export is recognised by the platform's identifiers (`downloads`); its
files replace the earlier results, and a line says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from autograder.classroom.class_folder import ClassFolder, Work
from autograder.classroom.class_record import ClassRecord
from autograder.classroom.downloads import shared_with
from autograder.classroom.grading import file_sha256
from autograder.classroom.hand_in_files import Unrecognised
from autograder.classroom.lesson_names import lessons_named
from autograder.classroom.results_folder import LOCK, read_result, result_file
from autograder.classroom.student_names import alike
from autograder.submission import stem_of
from autograder.wording import clean, counted, some

CLAIMED = "its result is that of {other}, and stays: type --replace to grade this file in its place"


def another_class(found: ClassFolder, record: ClassRecord, folder: Path, results: Path) -> str:
    """Why the class at this path is not the one graded from it before.

    Canvas calls every export `submissions.zip`, so another assignment's may have the same path. Empty if at least half
    of the entries are the same, or no platform named them.
    """
    before = record.entries_at(folder)
    same = len(found.entries & before)
    if not found.entries or 2 * same >= len(before):
        return ""
    alike = f"{same:,} of {counted(len(before), 'entry is', 'entries are')} the same"
    return (
        f"{folder} is not the export that was graded into {results} before ({alike}), so nothing is graded: give "
        "another assignment's export another name, and another class another --out; if it is the same assignment, and "
        "most students have handed in again, type --replace"
    )


def set_claims_aside(found: ClassFolder, record: ClassRecord, folder: Path, results: Path, *, replace: bool) -> None:
    """Remove from `found` the work that would overwrite another folder's result.

    Each gets a row in `found.not_recognised` and `found.claimed`. With `replace` it takes over those results, and
    `record` remembers the replaced files, so that grading their folder again does not restore them.
    """
    may_be_taken = _find_collisions(found, record, results)
    work = []
    earlier: dict[str, list[str]] = defaultdict(list)
    for item in found.work:
        place = (item.student, item.lesson)
        if taken_by := may_be_taken(item.student):
            _claimed(
                found, item, f"the folder of results cannot tell {item.student} from {taken_by}; rename one of them"
            )
            continue
        others = record.owners(place, beside=folder)
        if not others:
            work.append(item)
            continue
        recorded = read_result(result_file(results, *place))
        sha256 = file_sha256(item)
        if recorded is not None and sha256 and recorded.sha256 == sha256:
            work.append(item)  # the same file in two folders is one hand-in
        elif replace:
            record.give_up(place, beside=folder, sha256=recorded.sha256 if recorded is not None else "")
            line = f"{item.student}/{item.lesson}: the result of {others[0]} is replaced, as --replace says"
            found.remarks.append(line)
            work.append(item)
        elif record.was_given_up(place, folder, sha256):
            found.given_up += 1
        elif known := next((one for one in others if shared_with(found.entries, record.entries_of(one))), ""):
            record.give_up(place, beside=folder, sha256=recorded.sha256 if recorded is not None else "")
            earlier[known].append(clean(item.student))
            work.append(item)
        else:
            named = item.lesson in lessons_named(stem_of(item.file.name) or "")
            holds = "" if named else f"it holds {item.lesson}, and "
            _claimed(found, item, holds + CLAIMED.format(other=others[0]))
    found.work = work
    for other, students in earlier.items():
        before = record.entries_of(other)
        alike = f"{shared_with(found.entries, before):,} of {counted(len(before), 'entry is', 'entries are')} the same"
        found.remarks.append(
            f"{folder} is a later download of {other} ({alike}): its files replace the results of {some(students)}"
        )


def _claimed(found: ClassFolder, item: Work, why: str) -> None:
    row = Unrecognised(item.student, item.file.name, why, is_work=True)
    found.not_recognised.append(row)
    found.claimed.append(row)


def _find_collisions(found: ClassFolder, record: ClassRecord, results: Path) -> Callable[[str], str]:
    """A function from a student to another student whose folder would be the same; "" if there is none."""
    if not _knows_no_capitals(results):
        return lambda student: ""
    first: dict[str, str] = {}
    for student in (*sorted({student for student, _ in record.handed_in}), *(item.student for item in found.work)):
        first.setdefault(alike(student), student)
    return lambda student: "" if first[alike(student)] == student else first[alike(student)]


def _knows_no_capitals(results: Path) -> bool:
    """Whether the results' file system ignores case: it finds the lock file, there during grading, in capitals, too."""
    return (results / LOCK).exists() and (results / LOCK.upper()).exists()
