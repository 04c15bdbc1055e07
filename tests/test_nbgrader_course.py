"""nbgrader's own commands, without configuration, on our notebooks; and our results in its gradebook."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
import small_results
from conftest import run_module
from lxml import html
from nbgrader.api import Gradebook, SubmittedNotebook

from autograder.cell_names import check_id
from autograder.classroom.class_record import ClassRecord, HandedIn
from autograder.judging.records.results import SubmissionResult
from autograder.nbgrader_course.folder import write_course
from autograder.nbgrader_course.gradebook import CourseGradebook
from autograder.nbgrader_course.shown import CannotBeShownError, show
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

Command = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[1]
SLUG = "ch03_accumulation"
LESSON = find_lesson(SLUG)
PERFECT = ROOT / "autograder" / "sample_class" / "ada-perfect" / f"{SLUG}.ipynb"
UNTOUCHED = ROOT / "exercises" / f"{SLUG}.ipynb"


class Nbgrader:
    """Runs nbgrader's commands in a course folder, without any configuration of the account."""

    def __init__(self, course: Path, home: Path) -> None:
        self.course, self.exchange = course, home / "exchange"
        self.exchange.mkdir(parents=True)
        self.exchange.chmod(0o777)
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),  # it calls alembic
            **{name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")},
            "IPYTHONDIR": str(home / "ipython"),
        }
        for name in ("NBGRADER_EXECUTION", "BACKPROP_SALT"):
            self.environment.pop(name, None)

    def __call__(
        self, *arguments: str, at: Path | None = None, user: str = "", cold: bool = False
    ) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **({"JUPYTERHUB_USER": user, "USER": user} if user else {})}
        done = run_module("nbgrader", *arguments, cwd=at or self.course, env=environment, cold=cold)
        assert done.returncode == 0, f"nbgrader {' '.join(arguments)}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done

    def gradebook(self) -> Gradebook:
        return Gradebook(f"sqlite:///{self.course / 'gradebook.db'}")


def sources(file: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(file, as_version=4).cells]


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> Nbgrader:
    """A course folder into which somebody put our notebook, and typed nbgrader's commands."""
    folder = tmp_path_factory.mktemp("default")
    source = folder / "course" / "source" / SLUG
    source.mkdir(parents=True)
    shutil.copy(UNTOUCHED, source)
    run = Nbgrader(folder / "course", folder / "home")
    run("generate_assignment", SLUG, cold=True)
    return run


def test_the_default_release_has_every_word_of_every_exercise(default: Nbgrader) -> None:
    released = default.course / "release" / SLUG / f"{SLUG}.ipynb"
    assert sources(released) == sources(UNTOUCHED)
    assert "YOUR CODE HERE" not in released.read_text(encoding="utf-8")


def test_all_of_the_default_pipeline(default: Nbgrader, backprop: Command, tmp_path: Path) -> None:
    """Release, fetch, submit, collect; a platform's zip; autograde, feedback, export; and validate.

    Only this test runs our notebooks through all of nbgrader's commands. Its time goes to four kernels, in each of
    which every check starts a worker.
    """
    exchange = ("--course=backprop", f"--Exchange.root={default.exchange}")
    default("release_assignment", SLUG, *exchange)
    desk = tmp_path / "desk"
    desk.mkdir()
    default("fetch_assignment", SLUG, *exchange, at=desk, user="ada")
    assert sources(desk / SLUG / f"{SLUG}.ipynb") == sources(UNTOUCHED)
    said = default("validate", str(desk / SLUG / f"{SLUG}.ipynb"))
    assert "VALIDATION FAILED" in said.stdout.upper() or "failed" in said.stdout
    shutil.copy(PERFECT, desk / SLUG / f"{SLUG}.ipynb")
    said = default("validate", str(desk / SLUG / f"{SLUG}.ipynb"))
    assert "Success! Your notebook passes all the tests." in said.stdout
    default("submit", SLUG, *exchange, at=desk, user="ada")
    default("collect", SLUG, *exchange)
    handed_in = next((default.course / "submitted").glob(f"*/{SLUG}"))
    ada = handed_in.parent.name
    archive = default.course / "downloaded" / SLUG / "archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "all.zip", "w") as packed:
        packed.write(UNTOUCHED, f"bob_attempt_2027-01-30 20:30:10 UTC_{SLUG}.ipynb")
    called = r".*/(?P<student_id>\w+)_attempt_(?P<timestamp>[-0-9: UTC]+)_(?P<file_id>\w+)"
    default("zip_collect", SLUG, f"--FileNameCollectorPlugin.named_regexp={called}")
    default("autograde", SLUG, "--Execute.timeout=120")
    default("generate_feedback", SLUG)
    default("export")
    with (default.course / "grades.csv").open() as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert scores == {ada: LESSON.points, "bob": 0.0}
    assert (default.course / "feedback" / ada / SLUG / f"{SLUG}.html").is_file()
    graded = backprop("grade", default.course / "submitted", "--out", tmp_path / "results")
    assert graded.returncode == 0, graded.stderr
    ours = {
        name: json.loads((tmp_path / "results" / "students" / name / f"{SLUG}.json").read_text())
        for name in (ada, "bob")
    }
    assert {name: result["points"] for name, result in ours.items()} == scores
    record = json.loads((tmp_path / "results" / ".hand-ins.json").read_text())
    (folder,) = record["folders"].values()
    assert ["bob", SLUG, "2027-01-30T20:30:10+00:00", False] in folder["times"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Nbgrader:
    """The folder that `backprop nbgrader` writes, two hand-ins, and their results beside it."""
    from conftest import run_backprop

    folder = tmp_path_factory.mktemp("ours")
    written = run_backprop("nbgrader", folder / "course", "ch03", cwd=folder)
    assert written.returncode == 0, written.stderr
    run = Nbgrader(folder / "course", folder / "home")
    run("generate_assignment", SLUG)
    for student, file in (("ada", PERFECT), ("bob", UNTOUCHED)):
        target = run.course / "submitted" / student / SLUG
        target.mkdir(parents=True)
        shutil.copy(file, target / f"{SLUG}.ipynb")
    assert run_backprop("grade", run.course / "submitted", "--out", folder / "results", cwd=folder).returncode == 0
    imported = run_backprop(*_import(folder), cwd=folder)
    assert imported.returncode == 0, imported.stderr
    assert "2 submissions in sqlite:///" in imported.stderr
    return run


def _import(folder: Path) -> tuple[str | Path, ...]:
    return "report", folder / "results", "--format", "nbgrader", "--gradebook", folder / "course"


def test_our_course_folder_releases_exercises_as_they_are(course: Nbgrader) -> None:
    assert sources(course.course / "release" / SLUG / f"{SLUG}.ipynb") == sources(UNTOUCHED)


def test_results_are_in_the_gradebook_with_what_is_said(course: Nbgrader) -> None:
    with course.gradebook() as gradebook:
        scores = {one.student.id: (one.score, one.max_score) for one in gradebook.assignment_submissions(SLUG)}
        assert scores == {"ada": (LESSON.points, LESSON.points), "bob": (0.0, LESSON.points)}
        bob = gradebook.find_submission_notebook(SLUG, SLUG, "bob")
        assert not bob.needs_manual_grade
        first = LESSON.exercises[0]
        comments = {comment.name: comment.comment for comment in bob.comments}
        assert f"0 of {first.points:g} points" in (comments[first.name] or "")
        assert f"{first.name} is not written yet." in (comments[first.name] or "")
    course("generate_feedback", SLUG)
    page = html.parse(str(course.course / "feedback" / "ada" / SLUG / f"{SLUG}.html")).getroot().text_content()
    assert f"{LESSON.points:g}" in page
    course("export")


def test_what_people_gave_there_survives(course: Nbgrader, backprop: Command) -> None:
    """A manual score, a comment and a penalty are unchanged after another import."""
    first = check_id(LESSON.exercises[0].name)
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade(first, SLUG, SLUG, "bob")
        grade.manual_score, grade.extra_credit = 1.0, 0.5
        notebook = gradebook.find_submission_notebook(SLUG, SLUG, "bob")
        notebook.late_submission_penalty = 0.25
        notebook.comments[0].manual_comment = "see me"
        name = notebook.comments[0].name
        gradebook.db.commit()
    again = backprop(*_import(course.course.parent))
    assert again.returncode == 0, again.stderr
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade(first, SLUG, SLUG, "bob")
        assert (grade.auto_score, grade.manual_score, grade.score) == (0.0, 1.0, 1.5)
        assert grade.needs_manual_grade
        notebook = gradebook.find_submission_notebook(SLUG, SLUG, "bob")
        assert notebook.late_submission_penalty == 0.25
        assert gradebook.find_comment(name, SLUG, SLUG, "bob").comment == "see me"


def test_a_gradebook_that_never_heard_of_the_lesson_and_an_address(
    course: Nbgrader, backprop: Command, tmp_path: Path
) -> None:
    address = f"sqlite:///{tmp_path / 'other.db'}"
    results = course.course.parent / "results"
    done = backprop("report", results, "--format", "nbgrader", "--gradebook", address)
    assert done.returncode == 0, done.stderr
    with Gradebook(address) as gradebook:
        assert gradebook.find_submission(SLUG, "ada").score == LESSON.points


def test_who_handed_in_nothing_is_called_as_the_others_are(course: Nbgrader, backprop: Command, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'other.db'}"
    roster = tmp_path / "class.csv"
    roster.write_text("id,name,mail\nada,Ada King,a.king@x.edu\nbob,Bob Lee,b.lee@x.edu\neve,Eve Roy,e.roy@x.edu\n")
    results = course.course.parent / "results"
    done = backprop("report", results, "--format", "nbgrader", "--gradebook", address, "--roster", roster)
    assert done.returncode == 0, done.stderr
    with Gradebook(address) as gradebook:
        assert {student.id for student in gradebook.students} >= {"ada", "bob", "eve"}
        assert not [student.id for student in gradebook.students if "@" in student.id]


@pytest.mark.parametrize(
    "cell",
    [
        {"metadata": {"exercise": ["x"]}},
        {"metadata": {"nbgrader": [1]}},
        {"metadata": {"nbgrader": {"grade": True, "grade_id": ["x"], "locked": False, "solution": False}}},
        {"metadata": [1]},
        {"metadata": {}, "cell_type": 1},
    ],
)
def test_a_notebook_that_nbgrader_cannot_read_is_not_shown_and_ends_nothing(
    tmp_path: Path, cell: dict[str, Any]
) -> None:
    """The report used to end there, so that later students had no points."""
    plain: dict[str, Any] = {"cell_type": "code", "id": "a", "source": "x = 1", "outputs": [], "execution_count": None}
    told = _hand_in(tmp_path, "ann", [plain | cell])
    with pytest.raises(CannotBeShownError):
        show(tmp_path, "ann", told)
    gradebook = CourseGradebook(f"sqlite:///{tmp_path / 'gradebook.db'}")
    gradebook.folder = tmp_path
    gradebook.write("ann", "", "", "", [told])
    gradebook.write("zoe", "", "", "", [_hand_in(tmp_path, "zoe", [plain | {"metadata": {}}])])
    assert (gradebook.odd, gradebook.shown) == ([("ann", told.lesson)], {("zoe", told.lesson)})


@pytest.mark.parametrize("name", ["nbgrader_config.py", "source", f"source/{SLUG}", f"source/{SLUG}/{SLUG}.ipynb"])
def test_a_course_folder_is_not_written_through_a_link(tmp_path: Path, name: str) -> None:
    link = tmp_path / "course" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=f"{link.name} is a link, and none is followed; remove it"):
        write_course(tmp_path / "course", [SLUG])
    assert not (tmp_path / "elsewhere").exists()


def test_half_an_emoji_is_shown_as_what_can_be_written(tmp_path: Path) -> None:
    told = _hand_in(tmp_path, "ann", [{"cell_type": "markdown", "id": "m", "metadata": {}, "source": "half: \ud83d"}])
    assert show(tmp_path, "ann", told)
    (shown,) = (tmp_path / "autograded").rglob("*.ipynb")
    assert sources(shown) == ["half: ?"]


def _hand_in(folder: Path, student: str, cells: list[dict[str, Any]]) -> SubmissionResult:
    """A notebook of these cells in a course folder, and a result of it."""
    told = small_results.a_result(student)
    file = folder / "submitted" / student / told.lesson / f"{told.lesson}.ipynb"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return replace(told, sha256=hashlib.sha256(file.read_bytes()).hexdigest())


class TestWhatIsTakenBack:
    """A report removes outdated entries of an earlier report, but nothing that a person entered."""

    @pytest.fixture
    def run(self, tmp_path: Path) -> Nbgrader:
        write_course(tmp_path / "course", [small_results.SLUG])
        return Nbgrader(tmp_path / "course", tmp_path / "home")

    @pytest.fixture
    def reported(self, run: Nbgrader, backprop: Command, tmp_path: Path) -> Callable[[str], tuple[float, str]]:
        """Report by these rules; the score that nbgrader's own export gives, and what was said."""
        late = {"ann": HandedIn("2027-03-03T11:00:00+00:00")}  # two days, one of them free: 10 %
        results = small_results.write(tmp_path / "results", small_results.a_result("ann"), at=late)

        def report(rules: str) -> tuple[float, str]:
            (results / "rules.toml").write_text(rules)
            done = backprop("report", results, "--format", "nbgrader", "--gradebook", run.course)
            assert done.returncode == 0, done.stderr
            run("export")
            with (run.course / "grades.csv").open() as file:
                (row,) = csv.DictReader(file)
            return float(row["score"]), done.stderr

        return report

    @contextmanager
    def notebook(self, run: Nbgrader) -> Iterator[SubmittedNotebook]:
        with run.gradebook() as gradebook:
            yield gradebook.find_submission_notebook(small_results.SLUG, small_results.SLUG, "ann")
            gradebook.db.commit()

    def test_a_penalty_that_no_longer_holds(
        self, run: Nbgrader, reported: Callable[[str], tuple[float, str]], tmp_path: Path
    ) -> None:
        rules = small_results.RULES
        more_time = rules + '[[extension]]\nstudent = "ann"\nlesson = "ch06"\ndays = 3\n'
        assert reported(rules)[0] == pytest.approx(0.9 * small_results.WORTH)
        assert reported(rules)[0] == pytest.approx(0.9 * small_results.WORTH)
        assert reported(more_time)[0] == small_results.WORTH
        with self.notebook(run) as notebook:
            assert not [one.auto_comment for one in notebook.comments if "Taken off" in (one.auto_comment or "")]
        assert reported(rules.replace("penalty = 10", "penalty = 20"))[0] == pytest.approx(0.8 * small_results.WORTH)
        with self.notebook(run) as notebook:
            notebook.late_submission_penalty = 0.0  # a person lets it pass
        for _ in range(2):
            score, said = reported(rules)
            assert score == small_results.WORTH
            assert "a late penalty there is not ours, and stays, though the rules say another: ann in ch06" in said
        with self.notebook(run) as notebook:
            notebook.late_submission_penalty = 2.5
        for again in (rules, more_time):
            assert reported(again)[0] == small_results.WORTH - 2.5

    def test_points_beyond_the_exercises(
        self, run: Nbgrader, reported: Callable[[str], tuple[float, str]], tmp_path: Path
    ) -> None:
        core, decided = small_results.RULES + 'exercises = "core"\n', tmp_path / "results" / "overrides.toml"
        worth = small_results.WORTH
        decided.write_text(f'[[override]]\nstudent = "ann"\nlesson = "ch06"\npoints = {worth}\n')
        assert [reported(core)[0], reported(core)[0]] == [worth, worth]
        for more, score in ((2, worth + 2), (-2, worth)):
            with self.notebook(run) as notebook:
                notebook.grades[0].extra_credit += more  # a person's
            assert (reported(core)[0], "not ours, and stays: ann in ch06" in reported(core)[1]) == (score, more > 0)
        decided.unlink()
        assert reported(core)[0] < 50

    def test_the_scores_of_a_hand_in_that_is_gone(
        self, run: Nbgrader, reported: Callable[[str], tuple[float, str]], tmp_path: Path
    ) -> None:
        first = small_results.LESSON.exercises[0]
        assert reported(small_results.RULES)[0] == pytest.approx(0.9 * small_results.WORTH)
        shown = run.course / "autograded" / "ann" / small_results.SLUG / f"{small_results.SLUG}.ipynb"
        shown.parent.mkdir(parents=True)
        shown.write_text('{"metadata": {"backprop": {"sha256": "of an earlier file"}}}')
        with self.notebook(run) as notebook:
            next(one for one in notebook.grades if one.name == check_id(first.name)).manual_score = 1.0
        record = ClassRecord(tmp_path / "results")
        for folder in record._folders.values():
            folder.handed_in.discard(("ann", small_results.SLUG))
        record.write()
        score, said = reported(small_results.RULES)
        assert score == 1, "what a person gave stays"
        assert "scores taken back, since what was handed in is gone or excused: ann in ch06_vjps" in said
        assert not shown.exists()
        with self.notebook(run) as notebook:
            assert not [one.auto_comment for one in notebook.comments if one.auto_comment]
            assert not notebook.late_submission_penalty

    def test_scores_and_comments_of_nbgraders_own(
        self, run: Nbgrader, reported: Callable[[str], tuple[float, str]], tmp_path: Path
    ) -> None:
        """As after `nbgrader autograde`: with its plugin's penalty and without our comments."""
        reported(small_results.RULES)
        with self.notebook(run) as notebook:
            notebook.late_submission_penalty = 3.0
            for comment in notebook.comments:
                comment.auto_comment = "No response."
        for _ in range(2):
            assert reported(small_results.RULES)[0] == small_results.WORTH - 3


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nowhere", "nowhere has no nbgrader_config.py: 'backprop nbgrader nowhere' makes it a course folder"),
        ("sqlite:////nowhere/at/all.db", "the gradebook cannot be used"),
    ],
)
def test_a_gradebook_that_cannot_be_used_is_a_line(course: Nbgrader, backprop: Command, place: str, says: str) -> None:
    results = course.course.parent / "results"
    done = backprop("report", results, "--format", "nbgrader,csv", "--gradebook", place, "--out", "reports")
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") <= 4
    assert "csv: " in done.stderr
