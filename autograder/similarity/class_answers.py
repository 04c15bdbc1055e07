"""Collects what the students of a class wrote for each exercise."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.begun import exercises_with_work, has_own_code
from autograder.classroom.class_folder import Work, find_work
from autograder.gradebook.class_files import participants
from autograder.gradebook.people import People, Student
from autograder.gradebook.roster import Person, folded
from autograder.learning.answers import answers
from autograder.learning.solutions import own_answers
from autograder.places import Places
from autograder.similarity.trees import MOST_CHARACTERS
from autograder.submission import Cell, Submission, SubmissionError, read_submission
from autograder.wording import counted, enumeration
from course.syllabus import Lesson, syllabus

MODEL_SOLUTION = "the model solution"
"""What reports call the course's own answer; its `student` is None."""
MOST_IN_A_CELL = 2 * MOST_CHARACTERS
"""Characters; a longer cell is not an answer to one exercise."""
MOST_NAMED = 6
"""Most exercises or students named on one line."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One exercise of one hand-in."""

    student: str | None
    """The name in the class's results; None for the model solution."""
    whose: str | None
    """The hand-in, which members of a team share; None for the model solution."""
    code: str

    @property
    def called(self) -> str:
        """The name that reports show."""
        return called(self.student)


def called(student: str | None) -> str:
    """What reports call a student or the model solution; the two never look the same."""
    if student is None:
        return MODEL_SOLUTION
    alike = folded(" ".join(student.split())) == MODEL_SOLUTION
    return f"student {student}" if alike else student


@dataclass
class ExerciseAnswers:
    """One exercise across a class."""

    lesson: str
    exercise: str
    handed_out: str
    """What the course hands out for this exercise."""
    answers: list[Answer] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class HandedIn:
    """The code of one hand-in, for programs that compare whole files."""

    lesson: str
    student: str | None
    """None for the model solution."""
    at: str
    code: str


@dataclass
class ClassAnswers:
    """The answers of a class."""

    exercises: list[ExerciseAnswers] = field(default_factory=list)
    """In the order of the syllabus."""
    hand_ins: list[HandedIn] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """One line for each thing that is not compared."""
    has_reference: bool = True


@dataclass(frozen=True)
class Source:
    """Where a class's hand-ins are, and how to read them."""

    folder: Path
    scratch: Path
    """Where archives are unpacked."""
    export: bool | None = None


def read_class(
    sources: Iterable[Source], people: list[Person], at_student: Callable[[str], None] | None = None
) -> ClassAnswers:
    """The answers of a class, from one or more class folders or exports.

    Raises:
        ClassUnclearError, ArchiveError, OSError: as `find_work` does.
    """
    found = ClassAnswers()
    work: list[Work] = []
    for source in sources:
        there = find_work(
            source.folder,
            scratch=source.scratch,
            export=source.export,
            participants=participants(people),
            at_student=at_student,
        )
        work += there.work
        found.remarks += there.remarks
        found.remarks += [f"{row.student}/{row.file}: {row.why}" for row in there.not_recognised]
    who = _Names(people, work)
    found.remarks += who.problems
    lessons = {item.lesson for item in work}
    places = Places()
    by_exercise: dict[tuple[str, str], ExerciseAnswers] = {}
    for slug, lesson in syllabus().items():
        if slug in lessons:
            by_exercise |= _exercises(slug, lesson, places)
            found.has_reference &= places.source(slug).is_file()
    same: dict[tuple[str, str], dict[str, tuple[str, Work]]] = defaultdict(dict)
    for item in work:
        if at_student is not None:
            at_student(item.student)
        try:
            submission = read_submission(item.file, inside=item.file.parent)
        except SubmissionError as error:
            found.remarks.append(f"{item.student}/{item.lesson}: {error}")
            continue
        theirs, unseen = _answers(submission, item.lesson)
        student, whose = who.of(item)
        found.remarks += [f"{student}/{item.lesson}: {line}" for line in unseen]
        same[item.lesson, submission.sha256].setdefault(whose, (student, item))
        for name, code in theirs.items():
            by_exercise[item.lesson, name].answers.append(Answer(student, whose, code))
        if theirs:
            code = "\n\n\n".join(theirs.values()) + "\n"
            found.hand_ins.append(HandedIn(item.lesson, student, item.at, code))
    found.exercises = list(by_exercise.values())
    twice = [line for group in same.values() if len(group) > 1 for line in _identical_files(group.values())]
    found.remarks[:0] = twice  # first, because a terminal shows only a few
    return found


def _exercises(slug: str, lesson: Lesson, places: Places) -> dict[tuple[str, str], ExerciseAnswers]:
    try:
        stubs = answers(read_submission(places.notebook(slug)), lesson)
    except SubmissionError:
        stubs = {}
    reference = own_answers(slug, places)
    found = {}
    for exercise in lesson.exercises:
        one = ExerciseAnswers(slug, exercise.name, stubs.get(exercise.name, ""))
        if code := reference.get(exercise.name):
            one.answers.append(Answer(None, None, code))
        found[slug, exercise.name] = one
    return found


def _answers(submission: Submission, slug: str) -> tuple[dict[str, str], list[str]]:
    """The exercises that a hand-in has work on, and lines that say why others are not compared."""
    lesson = syllabus()[slug]
    cells = tuple(cell for cell in submission.cells if len(cell.source) <= MOST_IN_A_CELL)
    begun, within = exercises_with_work(cells, slug), _within_bounds(cells)
    found = answers(replace(submission, cells=within), lesson)
    named = [one.name for one in lesson.exercises if one.name not in found and submission.names(one.name)]
    unseen = []
    if left_out := len(submission.cells) - len(within):
        unseen.append(
            f"{counted(left_out, 'cell is', 'cells are')} not compared: too long, or after too much code; look at the "
            "file"
        )
    elif named:
        several = [*named[:MOST_NAMED], *([f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else [])]
        unseen.append(f"not compared, since no cell defines it at its top level: {enumeration(several)}")
    elif not found and has_own_code(within, slug):
        unseen.append("not compared, since it defines no exercise at the top level of a cell")
    return {name: code for name, code in found.items() if name in begun}, unseen


def _identical_files(group: Collection[tuple[str, Work]]) -> list[str]:
    """A line on hand-ins that are the same file, if the file contains any code by students."""
    (_, item), *_ = group
    try:
        cells = read_submission(item.file, inside=item.file.parent).cells
    except SubmissionError:
        return []
    if not has_own_code(cells, item.lesson):
        return []
    names = [called(student) for student, _ in group]
    several = [*names[:MOST_NAMED], *([f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else [])]
    return [f"{item.lesson}: {enumeration(several)} handed in the same file, byte for byte"]


def _within_bounds(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The cells that are read: a file may have ten million characters of them."""
    kept, characters = [], 0
    for cell in cells:
        characters += len(cell.source)
        if characters > 10 * MOST_IN_A_CELL:
            break
        kept.append(cell)
    return tuple(kept)


class _Names:
    """Maps hand-ins to the students' names in reports and to the teams that share them."""

    def __init__(self, people: list[Person], work: list[Work]) -> None:
        found = People(people, sorted({item.student for item in work}))
        self.problems = found.problems
        self._students: dict[str, Student] = {name: one for one in found.students for name in one.own}
        self._files = Counter(item.file for item in work)

    def of(self, item: Work) -> tuple[str, str]:
        """A student's name and their hand-in: partners on Gradescope share a file, teams in a roster share a name."""
        student = self._students.get(item.student)
        person = student.person if student else None
        shown = student.shown if student else item.student
        if person is not None and person.team:
            return shown, f"team {folded(person.team)}"
        if self._files[item.file] > 1:
            return shown, f"file {item.file}"
        return shown, f"student {shown}"
