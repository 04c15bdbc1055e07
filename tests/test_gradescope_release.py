"""`backprop release --gradescope`: runs the zip's own scripts in Gradescope's layout, with every outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from books import write_books
from conftest import run_backprop
from gradescope_image import NEEDS_IMAGE, OLD, Image

from autograder.authoring.gradescope_release import release_gradescope
from autograder.authoring.tree import AuthoringError, Course
from course.syllabus import find_lesson

pytestmark = [pytest.mark.slow, NEEDS_IMAGE]

ROOT = Path(__file__).resolve().parents[1]
SLUG = "ch07_mlp_backprop"
LESSON = find_lesson(SLUG)
FIRST = LESSON.exercises[0].name
SALT = "a salt of the tests"
PERFECT = ROOT / "autograder" / "sample_class" / "ada-perfect" / f"{SLUG}.ipynb"


def sample(student: str) -> str:
    return (ROOT / "autograder" / "sample_class" / student / f"{SLUG}.ipynb").read_text()


THIEF = """
import os
found = []
for place in ("grader", "salt", "visible"):
    path = os.path.join({source!r}, place)
    for folder, _, names in [(path, [], [""])] if os.path.isfile(path) else os.walk(path):
        for name in names:
            if place == "visible" and "solutions" not in folder:
                continue
            try:
                open(os.path.join(folder, name)).read(1)
                found.append(name)
            except OSError:
                pass
said = "stolen " + ",".join(found) if found else "nothing to steal"


def {exercise}(*arguments, **named):
    raise ValueError(said)
"""


FORGER = """
import glob, json, os
(place,) = glob.glob(os.path.dirname(os.path.dirname({secret!r})) + "/backprop-*")
folder = os.path.join(place, "visible", "results", "__reports__", "gradescope")
os.makedirs(folder)
target = os.path.join(folder, "results.json")
if {instead!r} == "a link":
    os.symlink({secret!r}, target)
else:
    with open(target, "w") as file:
        json.dump({{"score": 99, "output": "", "tests": [{{"name": "forged", "score": 99, "max_score": 99}}]}}, file)
    os.chmod(target, 0o400)  # the grader is the same user, and cannot write its own now
os.chmod(folder, 0o500)
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "gradescope.zip"
    write_books(SLUG)
    release_gradescope(Course.at(), out, [SLUG], salt=SALT, say=lambda line: None)
    return out


@pytest.fixture
def image(gradescope: Image, archive: Path) -> Image:
    return gradescope.holding(archive)


def test_a_right_answer_gets_all_points_including_hidden_cases(image: Image) -> None:
    """This first test pays for the image, in which only the zip's own `setup.sh` installs anything.

    Only this module grades with the zip of our own lessons on a machine that has nothing of the course otherwise.
    """
    results = image.grade({f"{SLUG}.ipynb": PERFECT.read_text()})
    assert results["score"] == LESSON.points
    assert "Attempt 2, handed in 2027-03-01T14:22:32.365935-07:00, for Ada, Bob." in results["output"]
    assert any("(hidden input)" in test["name"] for test in results["tests"])
    assert "visible cases" not in results["output"]


HAND_INS: dict[str, tuple[dict[str, str], str]] = {
    "nothing": ({}, f"No file was handed in. Submit {SLUG}.ipynb."),
    "no lesson": ({"notes.pdf": "x", "data/more.csv": "y"}, "not recognised"),
    "misnamed": ({"homework.ipynb": PERFECT.read_text()}, "homework.ipynb"),
    "no notebook": ({f"{SLUG}.ipynb": "{"}, "unreadable"),
    "several": ({f"{SLUG}.py": "pass", f"deep/{SLUG}.ipynb": PERFECT.read_text()}, "was handed in, too"),
    "wrong": ({f"{SLUG}.ipynb": sample("finn-network-slips")}, '"status": "failed"'),
    "untouched": ({f"{SLUG}.ipynb": sample("cleo-untouched")}, "is not written yet"),
    "hostile": ({f"{SLUG}.py": THIEF.format(source="/autograder/source", exercise=FIRST)}, "nothing to steal"),
    "endless": ({f"{SLUG}.py": f"import time\n\n\ndef {FIRST}(*arguments):\n    time.sleep(1e6)\n"}, "seconds"),
}
"""Hand-ins, each with its expected message."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The same hand-ins graded as a class by `backprop grade`."""
    folder = tmp_path_factory.mktemp("graded")
    for student, (files, _) in HAND_INS.items():
        for name, text in files.items():
            file = folder / "class" / student / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    run_backprop("grade", "class", "--out", "results", cwd=folder, env={"BACKPROP_SALT": SALT})
    results = {student: folder / "results" / "students" / student / f"{SLUG}.json" for student in HAND_INS}
    return {student: json.loads(file.read_text()) for student, file in results.items() if file.exists()}


@pytest.mark.parametrize("hand_in", HAND_INS)
def test_every_hand_in_gets_the_same_as_from_grade(
    image: Image, graded: dict[str, dict[str, Any]], hand_in: str
) -> None:
    files, says = HAND_INS[hand_in]
    results = image.grade(files)
    told = json.dumps(results)
    assert says in told
    assert "a salt of the tests" not in told
    assert "stolen" not in told
    alone = graded.get(hand_in, {"points": 0, "exercises": []})
    assert results["score"] == alone["points"]
    for exercise in alone["exercises"]:
        of_it = [test for test in results["tests"] if test["name"].startswith(exercise["name"])]
        assert sum(test.get("score", 0) for test in of_it) == pytest.approx(exercise["points"], abs=0.01)
    assert hand_in in graded or hand_in in ("nothing", "no lesson")


def test_nothing_of_this_checkout_is_in_the_image(image: Image) -> None:
    """Formerly it was: the tests passed, and every student of a class had 0 points."""
    looks = "import importlib.metadata, sys; print(*sys.path, *(d.name for d in importlib.metadata.distributions()))"
    found = image("/opt/backprop/bin/python", "-c", looks)
    assert found.returncode == 0, found.stderr
    assert "numpy" in found.stdout
    assert "backprop-course" not in found.stdout
    assert not image("ls", str(ROOT)).stdout


def test_a_timeout_is_reported(image: Image) -> None:
    results = image.grade({f"{SLUG}.ipynb": PERFECT.read_text()}, seconds=1)
    assert results["score"] == 0
    assert "longer than this assignment allows" in results["output"]


def test_a_crash_of_the_autograder_is_not_blamed_on_the_student(image: Image) -> None:
    module = image.place / "source" / "grader" / "autograder" / "commands" / "grade.py"
    kept = module.read_bytes()
    module.write_text("raise RuntimeError('broken')")
    try:
        results = image.grade({f"{SLUG}.ipynb": PERFECT.read_text()}, metadata=[])
    finally:
        module.write_bytes(kept)
    assert results["output"] == "The grader itself failed, and not by your work. Your teacher can run it again."


def test_without_landlock_a_submission_can_read_no_secrets(image: Image) -> None:
    """On an older kernel a user without access to solutions and salt runs only visible cases, and none counts."""
    results = image.grade({f"{SLUG}.ipynb": PERFECT.read_text()}, through=OLD)
    assert results["score"] == 0
    assert sum(test.get("score", 0) for test in results["tests"]) == LESSON.points
    assert "nothing counts here. These are the visible cases" in results["output"]
    assert not any("(hidden input)" in test["name"] for test in results["tests"])
    thief = THIEF.format(source="/autograder/source", exercise=LESSON.exercises[0].name)
    results = image.grade({f"{SLUG}.py": thief}, through=OLD)
    assert results["score"] == 0
    assert "nothing to steal" in json.dumps(results)
    assert "stolen" not in json.dumps(results)


@pytest.mark.parametrize("instead", ["a result", "a link"])
def test_without_landlock_a_forged_result_counts_nothing(image: Image, instead: str) -> None:
    """There, a submission runs as the grading user, and can leave a forged result, or a link to a root-only file."""
    forger = FORGER.format(instead=instead, secret="/autograder/source/salt")
    results = image.grade({f"{SLUG}.py": forger}, through=OLD)
    assert results["score"] == 0
    assert "a salt of the tests" not in json.dumps(results)
    if instead == "a result":
        assert [test["name"] for test in results["tests"]] == ["forged"], "it left one, or this shows nothing"


def test_the_output_must_be_a_new_zip(archive: Path) -> None:
    for out in (archive, archive.with_suffix(".tar")):
        with pytest.raises(AuthoringError, match=r"is there already|name a zip"):
            release_gradescope(Course.at(), out, [SLUG], salt="x")
