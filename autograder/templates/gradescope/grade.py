"""Grades the files in submission/, and writes results/results.json however that ends. Run as root, without the course.

Submissions run in the sandbox, as a user who may read the solutions: the sandbox may not. Where the kernel cannot
confine them, they run as another user who can read neither solutions nor salt. Visible cases alone are shown then, and
count for nothing: a program that nobody confines could write its own result.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GRADER, LEARNER = 61001, 61002
LESSONS = "@{lessons}".split()  # noqa: SIM905  # filled in when the zip is written
OWN_COURSE = "@{own}"
"""The folder of a course of somebody's own, beside the grader."""
SUFFIXES = (".ipynb", ".py")
CANNOT_CONFINE = "submissions cannot be confined"
MOST_BYTES = 16 * 2**20


def main(place: Path) -> None:
    target = place / "results" / "results.json"
    try:
        results = graded(place)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")  # in Gradescope's stdout, for the teacher
        results = ended("The grader itself failed, and not by your work. Your teacher can run it again.")
    part = target.with_suffix(".part")
    part.write_text(json.dumps(results), encoding="utf-8")
    part.replace(target)


def ended(said: str) -> dict:
    """A result without points that says why."""
    return {"score": 0, "output": said, "output_format": "text", "stdout_visibility": "hidden", "tests": []}


def graded(place: Path) -> dict:
    submission = place / "submission"
    files = [file for file in sorted(submission.rglob("*")) if file.is_file() and not file.is_symlink()]
    expected = " or ".join(f"{lesson}.ipynb" for lesson in LESSONS)
    if not files:
        return ended(f"No file was handed in. Submit {expected}.")
    with tempfile.TemporaryDirectory(prefix="backprop-", dir=place) as folder:
        os.chmod(folder, 0o711)
        for user, course in ((GRADER, "grader"), (LEARNER, "visible")):
            results, said = graded_by(place, Path(folder), files, user, course)
            if results is not None:
                break
            if CANNOT_CONFINE not in said:
                print(said)
                return ended("The grader itself failed, and not by your work. Your teacher can run it again.")
        else:
            print(said)
            return ended("The grader cannot run on this machine. Your teacher has to look at it.")
    about = [f"No file is recognised as {expected}: call it so."] if not results["tests"] else []
    if course == "visible":
        results = {"score": 0, "output": results.get("output", ""), "tests": results["tests"]}
        about.append(
            "This machine cannot confine programs, so that nothing counts here. These are the visible cases, to learn "
            "from; your teacher has the work graded elsewhere."
        )
    about += said_of(place)
    results["output"] = "\n".join([*about, results.get("output", "")]).strip()
    return results


def graded_by(place: Path, folder: Path, files: list[Path], user: int, course: str) -> tuple[dict | None, str]:
    """The results as one user gets them, with one copy of the course; None where there are none, and what was said."""
    work = folder / course
    mine = work / "class" / "submission"
    for file in files:
        copy = mine / file.relative_to(place / "submission")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    for path in (work, *work.rglob("*")):
        os.chown(path, user, user)
    os.chmod(work, 0o700)
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(work),
        "TMPDIR": str(work),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(place / "source" / course),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if OWN_COURSE:
        environment["BACKPROP_COURSE"] = str(place / "source" / course / OWN_COURSE)
    if course == "grader":
        environment["BACKPROP_SALT"] = (place / "source" / "salt").read_text(encoding="ascii").strip()
        commands = [
            ["grade", "class", "--out", "results", "--jobs", "1"],
            ["report", "results", "--format", "gradescope", "--due", ",".join(LESSONS), "--hidden", "@{hidden}"],
        ]
    else:
        chosen = lessons_among(sorted(file for file in mine.rglob("*") if file.is_file()))
        commands = [["check", *chosen, "--format", "gradescope", "--out", "results/__reports__"]] if chosen else []
        if not chosen:
            return {"score": 0, "tests": []}, "no lesson among the files"
    said = ""
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "autograder", *command],
            cwd=work,
            env=environment,
            user=user,
            group=user,
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        said += done.stdout[-4000:] + done.stderr[-4000:]
    found = work / "results" / "__reports__" / "gradescope" / "results.json"
    return (json.loads(read_as(user, found)) if found.is_file() else None), said


def read_as(user: int, file: Path) -> bytes:
    """Read the file as the user who wrote it, because their program may have replaced it by a link."""
    command = ["head", "--bytes", str(MOST_BYTES), str(file)]
    read = subprocess.run(command, user=user, group=user, extra_groups=[], capture_output=True, timeout=60, check=True)
    return read.stdout


def lessons_among(files: list[Path]) -> list[str]:
    """The files that are called after a lesson, the first of each; else the only notebook or program."""
    called = {file.stem: str(file) for file in reversed(files) if file.suffix in SUFFIXES and file.stem in LESSONS}
    only = [str(file) for file in files if file.suffix in SUFFIXES]
    return list(called.values()) or (only if len(only) == 1 else [])


def said_of(place: Path) -> list[str]:
    """A sentence with the attempt's number, time and students, from Gradescope's metadata."""
    try:
        known = json.loads((place / "submission_metadata.json").read_text(encoding="utf-8"))
        attempt = len(known.get("previous_submissions") or []) + 1
        users = [str(user.get("name") or user.get("email")) for user in known.get("users") or []]
        said = f"Attempt {attempt}, handed in {known.get('created_at') or 'at an unknown time'}"
        return [f"{said}, for {', '.join(users)}." if len(users) > 1 else f"{said}."]
    except (OSError, ValueError, AttributeError, TypeError):
        return []


main(Path(sys.argv[1]))
