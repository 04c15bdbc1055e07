"""A class of hostile submissions, graded once by the real command: nobody gets a point that they did not earn.

Each file of `red_team/` is one attack and says what must happen. The test appends the cells of `honest_part.py`, so
that each submission has four points to earn; honest classmates stand between them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hostile_class import (
    HONEST,
    HONEST_PART,
    LESSON,
    OUTCOMES,
    RED_TEAM,
    REPOSITORY,
    STUDENTS,
    UNREADABLE,
    Graded,
    Servers,
    backprop,
    exercises_of,
    make_class,
    results_in,
    texts,
    visible_answers,
)
from traces import left_behind, look, processes_of

from autograder.worker.landlock import landlock_abi
from course.syllabus import find_lesson

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graded]:
    """Grades the class, and its honest students once more by themselves: more than 20 s of processor time.

    Only this class attacks the sandbox and the channel in a NumPy lesson, by the real command. The dearest attacks fill
    the disk, the memory and the answers up to their limits.
    """
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("red")))
    for name in ("tmp", "home", "outside"):
        (folder / name).mkdir()
    (folder / "outside" / "secret").write_text("saved_bytes = lambda *sizes: 1")
    bystander = psutil.Popen(["sleep", "1000"], env={})
    servers = Servers(folder)
    replacements = {
        "CLASS": str(folder / "class"),
        "RESULTS": str(folder / "results"),
        "OUTSIDE": str(folder / "outside"),
        "REPOSITORY": str(REPOSITORY),
        "BYSTANDER": str(bystander.pid),
        "PORT": str(servers.port),
        "UNIX": servers.unix,
        "ABSTRACT": servers.abstract,
        "TABLE": repr(visible_answers("saved_bytes")),
    }
    students = make_class(folder, replacements)
    watched = [students, folder / "outside", folder / "outside" / "secret", folder / "home"]
    watched += [*students.glob("*honest*/*.py"), REPOSITORY / "solutions", REPOSITORY / "solutions" / f"{LESSON}.py"]
    before = {path: look(path) for path in watched}
    undisturbed = folder / "undisturbed"
    for name in HONEST:
        shutil.copytree(students / name, undisturbed / name)
    left_before = left_behind()
    try:
        limits = bystander.rlimit(psutil.RLIMIT_CPU), bystander.nice(), bystander.cpu_affinity()
        command = backprop("grade", students, "--out", folder / "results", "--jobs", 3, folder=folder)
        as_before = bystander.is_running() and limits == (
            bystander.rlimit(psutil.RLIMIT_CPU),
            bystander.nice(),
            bystander.cpu_affinity(),
        )
        time.sleep(0.5)
        left_running = processes_of(folder)
        results = results_in(folder / "results")
        touched = {path: value for path, value in before.items() if look(path) != value}
        new = sorted(left_behind() - left_before)
        backprop("grade", undisturbed, "--out", folder / "apart", folder=folder)
        apart = results_in(folder / "apart")
        yield Graded(folder, command, results, servers.connections, as_before, touched, left_running, new, apart)
    finally:
        bystander.kill()
        bystander.wait()
        shutil.rmtree(folder, ignore_errors=True)


def test_every_attack_has_an_outcome() -> None:
    assert {file.stem for file in RED_TEAM.glob("*.py")} - {HONEST_PART} == set(OUTCOMES)


@pytest.mark.parametrize("attack", OUTCOMES)
def test_an_attack_earns_its_honest_part_only(graded: Graded, attack: str) -> None:
    wanted, result = OUTCOMES[attack], graded.results[attack]
    exercises = exercises_of(result)
    honest = {"saved_bytes": round(wanted.points - 2, 2), "mse_loss": wanted.mse_loss}
    if wanted.beside:
        honest["cross_entropy_loss"] = wanted.beside
    assert result["status"] == "graded"
    assert {name: e["points"] for name, e in exercises.items() if e["points"]} == honest, result["message"]
    assert result["points"] == round(wanted.points - 2 + wanted.mse_loss + wanted.beside, 2)
    assert {name: exercises[name]["status"] for name in wanted.statuses} == wanted.statuses
    told = " ".join([result["message"], *(exercise["message"] for exercise in exercises.values())])
    for text in wanted.says:
        assert text in told
    told = re.sub(r"That line is: .*", "", told)  # the attack's own source
    assert told.count("reached: ") == told.count("reached: nothing"), told


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_notebook_is_said_in_one_line(graded: Graded, name: str) -> None:
    result = graded.results[name.partition(".")[0]]
    assert (result["status"], result["points"], result["exercises"]) == ("unreadable", 0, [])
    assert result["message"].startswith(f"{LESSON}.ipynb: ")
    assert len(result["message"].splitlines()) == 1


@pytest.mark.parametrize(
    ("student", "says"),
    [
        ("link_to_a_classmate", "a link that leads out of its folder"),
        ("link_to_a_device", "a link that leads out of its folder"),
        ("link_to_nothing", "cannot be read"),
        ("link_to_itself", "cannot be read"),
        ("fifo", "not a regular file"),
        ("folder", "this is a folder"),
        ("large", "100 MiB"),
    ],
)
def test_what_is_not_a_file_of_the_student_is_not_read(graded: Graded, student: str, says: str) -> None:
    result = graded.results[student]
    assert (result["status"], result["points"]) == ("unreadable", 0)
    assert says in result["message"]


def test_links_in_the_place_of_folders_are_rows_and_not_followed(graded: Graded) -> None:
    links = {"linked_folder", "outside", "a_loop"}
    assert not {*links, "a_file"} & set(graded.results)
    rows = [line for line in graded.command.stderr.splitlines() if "a link, which is not followed" in line]
    assert {name for name in links if any(name in row for row in rows)} == links
    assert len(rows) == len(links)
    assert "a_file: not a student's folder" in graded.command.stderr


@pytest.mark.parametrize("student", STUDENTS, ids=STUDENTS.get)
def test_a_strange_name_is_a_name(graded: Graded, student: str) -> None:
    assert graded.results[student]["student"] == student
    assert graded.results[student]["points"] == 4


@pytest.mark.parametrize("student", HONEST)
def test_honest_classmates_get_what_they_earned(graded: Graded, student: str) -> None:
    result = graded.results[student]
    assert (result["status"], result["message"]) == ("graded", "")
    assert result["points"] == (4 if student == "mm_honest" else find_lesson(LESSON).points)


@pytest.mark.parametrize("student", HONEST)
def test_hostile_classmates_change_nothing_for_the_honest(graded: Graded, student: str) -> None:
    here, apart = (json.loads(json.dumps(results[student])) for results in (graded.results, graded.undisturbed))
    for result in (here, apart):
        for exercise in result["exercises"]:
            del exercise["seconds"]
    assert here == apart


def test_the_command_ends_as_always(graded: Graded) -> None:
    assert graded.command.returncode == 3, "links are not recognised"
    assert "Traceback" not in graded.command.stderr + graded.command.stdout
    students = [path for path in (graded.folder / "class").iterdir() if path.is_dir() and not path.is_symlink()]
    assert set(graded.results) == {path.name for path in students}
    summary = json.loads((graded.folder / "results" / "class.json").read_text(encoding="utf-8"))
    assert len(summary["submissions"]) == len(students)
    progress = [line for line in graded.command.stderr.splitlines() if not line.startswith("backprop: ")]
    assert 20 <= len(progress) <= len(students), "the grader's own lines alone"


def test_hidden_inputs_are_not_told(graded: Graded) -> None:
    assert "hidden: " not in json.dumps(graded.results["tells_hidden_inputs"])


def test_nothing_on_the_terminal_is_a_control_character(graded: Graded) -> None:
    for text in (graded.command.stdout, graded.command.stderr):
        assert not [c for c in text if not c.isprintable() and c != "\n"]


def test_results_are_short_and_printable(graded: Graded) -> None:
    for result in graded.results.values():
        assert len(json.dumps(result)) < 60_000
        assert len(result["message"].splitlines()) <= 1
        told = {key: value for key, value in result.items() if key != "student"}
        assert not [text for text in texts(told) if not text.replace("\n", "").isprintable()]


def test_nothing_outside_was_reached(graded: Graded) -> None:
    assert graded.connections == []
    assert graded.bystander_as_before
    assert graded.touched == {}


def test_nothing_is_left_behind(graded: Graded) -> None:
    assert graded.left_running == []
    assert graded.left_behind == []
    assert os.listdir(graded.folder / "tmp") == []
    assert os.listdir(graded.folder / "home") == []


def test_a_second_run_grades_nothing_again(graded: Graded) -> None:
    """Results and attacks are the same files as before, so every grade stays as it is."""
    again = backprop("grade", graded.folder / "class", "--out", graded.folder / "results", folder=graded.folder)
    assert again.returncode == 3
    assert f"{len(graded.results)} submissions are graded already" in again.stderr
    assert again.stdout == graded.command.stdout


def test_reports_are_printable(graded: Graded) -> None:
    for student in ("escape_codes", "hostile_exceptions", "hostile_replies", "strange_values", *list(STUDENTS)[:3]):
        shown = backprop("report", graded.folder / "results", f"--student={student}", folder=graded.folder)
        assert shown.returncode == 0
        assert not [c for c in shown.stdout + shown.stderr if not c.isprintable() and c != "\n"]
