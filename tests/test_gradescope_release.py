"""`backprop release --gradescope`: the zip's own scripts, in a folder laid out as theirs, at each of their ends."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from autograder.authoring.gradescope_release import release_gradescope
from autograder.authoring.tree import AuthoringError, Course
from course.syllabus import find_lesson

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="Gradescope's scripts run as root"),
]

ROOT = Path(__file__).resolve().parents[1]
SLUG = "ch07_mlp_backprop"
LESSON = find_lesson(SLUG)
PERFECT = ROOT / "autograder" / "sample_class" / "ada-perfect" / f"{SLUG}.ipynb"
SCHEMA = json.loads(Path(__file__).with_name("gradescope_results.schema.json").read_text())
METADATA = {
    "created_at": "2027-03-01T14:22:32.365935-07:00",
    "users": [{"email": "ada@x.edu", "id": 1, "name": "Ada"}, {"email": "bob@x.edu", "id": 2, "name": "Bob"}],
    "previous_submissions": [{"score": 0.0}],
}
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
OLD = (sys.executable, str(ROOT / "tests" / "old_kernel.py"), "0")
"""Before a command: a kernel without Landlock."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "gradescope.zip"
    release_gradescope(Course.at(), out, [SLUG], salt="a salt of the tests", search=False, say=lambda line: None)
    return out


@pytest.fixture(scope="module")
def autograder(archive: Path) -> Iterator[Path]:
    """`/autograder`, as it is once the image is built. Its folders let others through, as theirs do."""
    with tempfile.TemporaryDirectory(prefix="backprop-gradescope-") as folder:
        Path(folder).chmod(0o755)
        yield laid_out(archive, Path(folder))


def interpreter(folder: Path) -> str:
    """A Python with all packages that every user of this machine may run, as the image's is."""
    program = [sys.executable, "-c", "import numpy"]
    with suppress(PermissionError):
        if subprocess.run(program, user=61001, group=61001, extra_groups=[], check=False).returncode == 0:
            return sys.executable
    systems = Path(f"/usr/bin/python3.{sys.version_info[1]}")
    if not systems.exists():
        pytest.skip("no Python here that another user may run")
    subprocess.run([systems, "-m", "venv", "--without-pip", folder / "python"], check=True)
    (packages,) = (folder / "python" / "lib").glob("python*/site-packages")
    (packages / "those-of-the-tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return str(folder / "python" / "bin" / "python")


def laid_out(archive: Path, folder: Path) -> Path:
    place = folder / "autograder"
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(place / "source")
        modes = {entry.filename: entry.external_attr >> 16 for entry in zipped.infolist()}
    assert modes["setup.sh"] & modes["run_autograder"] & stat.S_IXUSR
    assert modes["salt"] & 0o077 == 0
    shutil.copy(place / "source" / "run_autograder", place)
    environment = {**os.environ, "AUTOGRADER": str(place), "BACKPROP_PYTHON": interpreter(folder)}
    subprocess.run(["bash", place / "source" / "setup.sh"], env=environment, check=True)
    return place


def run(
    place: Path, files: dict[str, str], *, seconds: int = 300, through: tuple[str, ...] = (), metadata: Any = None
) -> dict[str, Any]:
    """What Gradescope reads after a submission of these files."""
    for name in ("submission", "results"):
        shutil.rmtree(place / name, ignore_errors=True)
        (place / name).mkdir()
    for name, text in files.items():
        file = place / "submission" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (place / "submission_metadata.json").write_text(json.dumps(METADATA if metadata is None else metadata))
    environment = {**os.environ, "AUTOGRADER": str(place), "BACKPROP_SECONDS": str(seconds)}
    environment.pop("BACKPROP_SALT", None)
    script = ["bash", str(place / "source" / "run_autograder")]
    done = subprocess.run([*through, *script], cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads((place / "results" / "results.json").read_text())
    jsonschema.validate(results, SCHEMA)
    print(done.stdout[-2000:], done.stderr[-2000:])
    assert not list(place.glob("backprop-*"))
    return results


def test_a_right_answer_has_all_points_of_hidden_cases_too(autograder: Path) -> None:
    results = run(autograder, {f"{SLUG}.ipynb": PERFECT.read_text()})
    assert results["score"] == LESSON.points
    assert "Attempt 2, handed in 2027-03-01T14:22:32.365935-07:00, for Ada, Bob." in results["output"]
    assert any("(hidden input)" in test["name"] for test in results["tests"])
    assert "visible cases" not in results["output"]


@pytest.mark.parametrize(
    ("files", "score", "says"),
    [
        ({}, 0, f"No file was handed in. Submit {SLUG}.ipynb."),
        ({"notes.pdf": "x", "data/more.csv": "y"}, 0, "not recognised"),
        ({"homework.ipynb": PERFECT.read_text()}, LESSON.points, "homework.ipynb"),
        ({f"{SLUG}.ipynb": "{"}, 0, "unreadable"),
        ({f"{SLUG}.py": "pass", f"deep/{SLUG}.ipynb": PERFECT.read_text()}, LESSON.points, "was handed in, too"),
    ],
    ids=["nothing", "no lesson", "another name", "no notebook", "several"],
)
def test_whatever_is_handed_in_has_a_result(autograder: Path, files: dict[str, str], score: float, says: str) -> None:
    results = run(autograder, files)
    assert results["score"] == score
    assert says in json.dumps(results)


def test_time_is_up(autograder: Path) -> None:
    results = run(autograder, {f"{SLUG}.ipynb": PERFECT.read_text()}, seconds=1)
    assert results["score"] == 0
    assert "longer than this assignment allows" in results["output"]


def test_a_crash_of_its_own_is_not_the_students(autograder: Path) -> None:
    module = autograder / "source" / "grader" / "autograder" / "commands" / "grade.py"
    kept = module.read_bytes()
    module.write_text("raise RuntimeError('broken')")
    try:
        results = run(autograder, {f"{SLUG}.ipynb": PERFECT.read_text()}, metadata=[])
    finally:
        module.write_bytes(kept)
    assert results["output"] == "The grader itself failed, and not by your work. Your teacher can run it again."


def test_where_the_kernel_confines_nothing_there_is_nothing_to_steal(autograder: Path) -> None:
    """An older kernel: another user, who can read neither solutions nor salt; visible cases alone, and none counts."""
    results = run(autograder, {f"{SLUG}.ipynb": PERFECT.read_text()}, through=OLD)
    assert results["score"] == 0
    assert sum(test.get("score", 0) for test in results["tests"]) == LESSON.points
    assert "nothing counts here. These are the visible cases" in results["output"]
    assert not any("(hidden input)" in test["name"] for test in results["tests"])
    thief = THIEF.format(source=str(autograder / "source"), exercise=LESSON.exercises[0].name)
    results = run(autograder, {f"{SLUG}.py": thief}, through=OLD)
    assert results["score"] == 0
    assert "nothing to steal" in json.dumps(results)
    assert "stolen" not in json.dumps(results)


@pytest.mark.parametrize("instead", ["a result", "a link"])
def test_where_the_kernel_confines_nothing_a_result_of_ones_own_counts_nothing(autograder: Path, instead: str) -> None:
    """A program there is the user who grades, and can leave a result, or a link to what root alone may read."""
    forger = FORGER.format(instead=instead, secret=str(autograder / "source" / "salt"))
    results = run(autograder, {f"{SLUG}.py": forger}, through=OLD)
    assert results["score"] == 0
    assert "a salt of the tests" not in json.dumps(results)
    if instead == "a result":
        assert [test["name"] for test in results["tests"]] == ["forged"], "it left one, or this shows nothing"


def test_a_zip_is_new_and_a_zip(archive: Path) -> None:
    for out in (archive, archive.with_suffix(".tar")):
        with pytest.raises(AuthoringError, match=r"is there already|name a zip"):
            release_gradescope(Course.at(), out, [SLUG], salt="x")
