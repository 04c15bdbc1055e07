"""A learner's progress: the progress file, the next exercise, model solutions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.records.status import ExerciseStatus
from autograder.learning import order, progress
from autograder.learning.edited import Edits
from autograder.learning.solutions import NoSolutions, in_a_line, solution_of
from autograder.places import Places
from autograder.reading.labels import title_of
from course.syllabus import Exercise, find_lesson, syllabus

VJPS = find_lesson("ch06_vjps")
RELU = VJPS.exercise("relu_vjp")
STUB = (Places().notebook("ch06_vjps")).read_text(encoding="utf-8")
ANSWER = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)"


def result(exercise: Exercise, status: ExerciseStatus = "passed", points: float | None = None) -> SubmissionResult:
    earned = points if points is not None else exercise.points if status == "passed" else 0.0
    one = ExerciseResult(exercise.name, earned, exercise.points, status, "", None, "", 0.0)
    return SubmissionResult("", exercise.lesson, "x.py", "", "", "", earned, exercise.points, "graded", "", [one])


def passed(folder: Path, *exercises: Exercise) -> progress.Progress:
    for exercise in exercises:
        assert progress.record(folder, result(exercise)) == ""
    return progress.read(folder)


# progress


def test_tries_are_recorded_in_a_readable_file(tmp_path: Path) -> None:
    assert progress.read(tmp_path) == progress.Progress()
    progress.record(tmp_path, result(RELU, "partial", 1.13))
    progress.record(tmp_path, result(RELU))
    progress.record(tmp_path, result(RELU, "failed"))
    known = progress.read(tmp_path)
    tried = known.exercises["ch06_vjps/relu_vjp"]
    assert (tried.status, tried.points, tried.tries) == ("failed", 0.0, 3)
    assert known.has_passed(RELU)
    assert not known.passes(RELU)
    assert known.points(RELU) == 0
    text = (tmp_path / "progress.json").read_text()
    assert '"about": "How far you are' in text
    assert '"status": "failed"' in text


def test_stubs_and_ungraded_submissions_are_not_tries(tmp_path: Path) -> None:
    progress.record(tmp_path, result(RELU, "missing"))
    assert progress.read(tmp_path).exercises == {}
    before = passed(tmp_path, RELU)
    progress.record(tmp_path, result(RELU, "error"))
    assert progress.read(tmp_path) == before
    progress.record(tmp_path, result(RELU, "missing"))
    after = progress.read(tmp_path)
    assert (after.passes(RELU), after.has_passed(RELU)) == (False, True)
    assert after.exercises[RELU.full_name].tries == 1


def test_a_reset_exercise_has_no_points_but_has_passed(tmp_path: Path) -> None:
    passed(tmp_path, RELU)
    progress.forget(tmp_path, RELU)
    known = progress.read(tmp_path)
    assert (known.passes(RELU), known.points(RELU), known.has_passed(RELU)) == (False, 0, True)


@pytest.mark.parametrize(
    "text",
    ['{"exercises": {', "[]", '{"exercises": [1]}', "\x00\xff", "[" * 100_000, '{"exercises": {"a/b": {"status": 3}}}'],
    ids=["cut off", "a list", "no entries", "no text", "deep", "an entry"],
)
def test_a_damaged_file_is_reported_and_kept(tmp_path: Path, text: str) -> None:
    file = tmp_path / "progress.json"
    file.write_bytes(text.encode("latin-1"))
    known = progress.read(tmp_path)
    assert "progress.json is damaged" in known.problem
    assert "\n" not in known.problem
    assert file.read_bytes() == text.encode("latin-1"), "reading changes nothing"
    problem = progress.record(tmp_path, result(RELU))
    (kept,) = (tmp_path / "kept").iterdir()
    assert problem.endswith(f"the old file is kept as kept/{kept.name}")
    assert kept.read_bytes() == text.encode("latin-1")
    assert progress.read(tmp_path).passes(RELU)
    assert progress.read(tmp_path).problem == ""


@pytest.mark.parametrize(
    "entry",
    [
        {"points": 10**400},
        {"points": -1},
        {"tries": 10**400},
        {"tried": "0001-01-01T00:00:00+00:00"},
        {"passed": "9999-12-31T23:59:59-14:00"},
    ],
    ids=["points", "negative", "tries", "year 1", "year 9999"],
)
def test_an_impossible_value_is_damage(tmp_path: Path, entry: dict[str, Any]) -> None:
    """Formerly `next` ended with a traceback in a classmate's folder."""
    passed(tmp_path, RELU)
    file = tmp_path / "progress.json"
    data = json.loads(file.read_text())
    data["exercises"][RELU.full_name] |= entry
    file.write_text(json.dumps(data))
    known = progress.read(tmp_path)
    assert known.exercises == {}
    assert f"damaged at {RELU.full_name}" in known.problem


@pytest.mark.parametrize("what", ["a link to a device", "a pipe", "too large"])
def test_special_and_huge_files_are_not_read(tmp_path: Path, what: str) -> None:
    file = tmp_path / "progress.json"
    if what == "a pipe":
        os.mkfifo(file)
    elif what == "too large":
        file.write_bytes(b" " * (progress.MOST_BYTES + 1))
    else:
        file.symlink_to("/dev/zero")
    assert "is damaged (it is no file of its size)" in progress.read(tmp_path).problem
    assert "the old file is kept as kept/" in progress.record(tmp_path, result(RELU))
    assert progress.read(tmp_path).passes(RELU)


def test_whole_entries_of_a_damaged_file_still_count(tmp_path: Path) -> None:
    passed(tmp_path, RELU, VJPS.exercise("add_vjp"))
    file = tmp_path / "progress.json"
    data = json.loads(file.read_text())
    data["exercises"]["ch06_vjps/add_vjp"]["tried"] = "yesterday"
    file.write_text(json.dumps(data))
    assert "damaged at ch06_vjps/add_vjp" in progress.record(tmp_path, result(VJPS.exercise("mul_vjp")))
    assert set(progress.read(tmp_path).exercises) == {"ch06_vjps/relu_vjp", "ch06_vjps/mul_vjp"}


def test_entries_of_later_versions_are_kept(tmp_path: Path) -> None:
    passed(tmp_path, RELU)
    file = tmp_path / "progress.json"
    data = json.loads(file.read_text())
    data["exercises"]["ch06_vjps/relu_vjp"]["note"] = "mine"
    data["exercises"]["ch99_later/new"] = data["exercises"]["ch06_vjps/relu_vjp"]
    file.write_text(json.dumps(data))
    passed(tmp_path, RELU)
    after = json.loads(file.read_text())["exercises"]
    assert after["ch06_vjps/relu_vjp"]["note"] == "mine"
    assert "ch99_later/new" in after


@pytest.mark.slow
def test_a_watch_and_a_kernel_may_write_at_once(tmp_path: Path) -> None:
    """Without the lock, most of these entries are lost."""
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[3])\n"
        "from test_learning import result, progress, VJPS\n"
        "for exercise in VJPS.exercises[int(sys.argv[2])::3]:\n"
        "    assert progress.record(Path(sys.argv[1]), result(exercise)) == ''"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    writers = [subprocess.Popen([*command, str(i), str(Path(__file__).parent)]) for i in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert set(progress.read(tmp_path).exercises) == {exercise.full_name for exercise in VJPS.exercises}


def test_an_unwritable_folder_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "progress.json").mkdir()
    problem = progress.record(tmp_path, result(RELU))
    assert "nothing was noted in" in problem
    assert "\n" not in problem
    assert "cannot be read" in progress.read(tmp_path).problem
    assert not (tmp_path / "kept").exists()


def test_a_lock_held_by_another_process_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    with FileLock(tmp_path / progress.LOCK):
        assert "another process has held" in progress.record(tmp_path, result(RELU))


def test_nothing_is_recorded_in_the_courses_own_folder() -> None:
    folder = Places().notebooks
    assert progress.record(folder, result(RELU)) == ""
    assert not (folder / progress.FILE).exists()
    assert not (folder / progress.LOCK).exists()


# The next exercise


def test_a_newcomer_begins_at_the_beginning_and_core_comes_first(tmp_path: Path) -> None:
    graph = find_lesson("ch01_computation_graph")
    names = []
    exercise = order.next_exercise(progress.read(tmp_path), syllabus())
    while exercise is not None and exercise.lesson == graph.slug:
        names.append(exercise.name)
        exercise = order.next_exercise(passed(tmp_path, exercise), syllabus(), after=exercise)
    assert names == [one.name for one in graph.exercises if one.tier == "core"]
    assert exercise == find_lesson("ch02_chain_rule").exercises[0]
    assert order.optional(progress.read(tmp_path), graph) == [one for one in graph.exercises if one.tier == "stretch"]


def test_starting_in_the_middle_continues_there_and_returns_later(tmp_path: Path) -> None:
    known = passed(tmp_path, RELU)
    following = order.next_exercise(known, syllabus())
    assert following is not None
    core = [one for one in VJPS.exercises if one.tier == "core"]
    assert following == core[core.index(RELU) + 1]
    known = passed(tmp_path, *(one for one in core if one.name != "add_vjp"))
    assert order.next_exercise(known, syllabus()) == VJPS.exercise("add_vjp"), "the one before, of the same lesson"


def test_the_last_failure_comes_first_even_if_stretch(tmp_path: Path) -> None:
    hard = VJPS.exercise("conv2d_vjp")
    progress.record(tmp_path, result(hard, "failed"))
    known = progress.read(tmp_path)
    assert order.next_exercise(known, syllabus()) == hard
    assert order.next_exercise(known, syllabus(), after=hard) != hard


def test_absent_lessons_come_last(tmp_path: Path) -> None:
    first = order.next_exercise(progress.read(tmp_path), syllabus(), present=["ch06_vjps"])
    assert first == VJPS.exercises[0]
    known = passed(tmp_path, *VJPS.exercises)
    after = order.next_exercise(known, syllabus(), present=["ch06_vjps", "ch03_accumulation"])
    assert after is not None
    assert after.lesson == "ch03_accumulation"


def test_stretch_exercises_follow_when_all_core_ones_pass_and_then_nothing(tmp_path: Path) -> None:
    moment = datetime.now().astimezone()
    everything = [one for lesson in syllabus().values() for one in lesson.exercises]

    def known(*tiers: str) -> progress.Progress:
        done = [one for one in everything if one.tier in tiers]
        when = [(moment + timedelta(seconds=i)).isoformat() for i in range(len(done))]
        return progress.Progress(
            {one.full_name: progress.Tried("passed", 1, at, 1, at) for one, at in zip(done, when, strict=True)}
        )

    following = order.next_exercise(known("core"), syllabus())
    assert following is not None
    assert following.tier == "stretch"
    assert order.next_exercise(known("core", "stretch"), syllabus()) is None


def test_exercises_and_their_sections_take_no_longer_than_the_lesson() -> None:
    for lesson in syllabus().values():
        total = sum(order.about_minutes(one, lesson) for one in lesson.exercises)
        assert 0.5 * lesson.minutes <= total <= 1.1 * lesson.minutes, lesson.slug


def test_every_exercise_has_a_section_with_a_heading() -> None:
    assert all(title_of(exercise) for lesson in syllabus().values() for exercise in lesson.exercises)


# Answers, and which one is being edited


def test_an_edit_is_found_in_marked_cells_and_in_plain_files(tmp_path: Path) -> None:
    for name, before, after in (
        ("ch06_vjps.ipynb", STUB, STUB.replace("relu_vjp: your code here", "relu_vjp: soon")),
        ("ch06_vjps.py", f"import numpy\n\n{ANSWER}\n", f"import numpy\n\n{ANSWER.replace('>', '>=')}\n"),
    ):
        file, edits = tmp_path / name, Edits()
        file.write_text(before)
        assert edits.look(file, VJPS) == []
        file.write_text(after)
        assert edits.look(file, VJPS) == ["relu_vjp"]
        assert edits.look(file, VJPS) == []
        file.write_text("{" if name.endswith("b") else "def relu_vjp(:")
        assert edits.look(file, VJPS) == []


# The model solution


def test_a_model_solution_is_code_without_marks_and_with_its_helpers() -> None:
    for lesson in syllabus().values():
        for exercise in lesson.exercises:
            code = solution_of(exercise)
            compile(code, exercise.full_name, "exec")
            assert "###" not in code, exercise.full_name
            assert in_a_line(exercise), exercise.full_name
    assert "def unbroadcast" in solution_of(VJPS.exercise("add_vjp"))
    assert "def unbroadcast" not in solution_of(RELU)
    mended = solution_of(find_lesson("ch12_debugging").exercise("fix_02"))
    assert "branch = branch + h" in mended
    assert "branch += h" not in mended, "that is what was handed out"


def test_explanations_of_solutions_are_in_no_notebook() -> None:
    for lesson in syllabus().values():
        handed_out = json.dumps(json.loads(Places().notebook(lesson.slug).read_text("utf-8")), ensure_ascii=False)
        for exercise in lesson.exercises:
            assert exercise.why, exercise.full_name
            assert exercise.why not in handed_out
            assert exercise.why not in exercise.hints


def test_a_release_has_no_model_solutions(tmp_path: Path) -> None:
    with pytest.raises(NoSolutions, match="comes without model solutions"):
        solution_of(RELU, Places(tmp_path))
