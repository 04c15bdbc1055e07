"""Reads and writes a learner's progress, a file beside the notebooks that several processes may write at once.

`progress.json` has an entry for each exercise that was tried, or for which hints were shown: the result and time of the
last try, the number of tries, the time of the first pass, and how many hints were shown. The file belongs to the
learner; no grade depends on it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from autograder.moments import moment_of
from autograder.new_files import refuse_link, refuse_way_out
from autograder.places import Places
from course.syllabus import Exercise, Lesson

if TYPE_CHECKING:
    from autograder.judging.records.results import SubmissionResult

FILE = "progress.json"
KEPT = "kept"
"""The folder of backups: answers that were reset, and damaged progress files."""
LOCK = ".progress.lock"
"""The lock file. It is never removed, because another process may be waiting for a lock on it."""
PATIENCE = 10.0
"""Seconds to wait for the lock, which is normally held for some milliseconds."""
MOST_BYTES = 2**20
MOST_POINTS, MOST_TRIES = 10**6, 10**9
"""Limits for one exercise; entries beyond them count as damaged."""
ABOUT = "How far you are: `backprop` writes this at every check, and `backprop status` shows it."

Entries = dict[str, dict[str, Any]]
"""The entries of the file by the exercise's full name."""


@dataclass(frozen=True)
class Tried:
    """The entry of one exercise."""

    status: str
    """The status of the last try, an `ExerciseStatus`; `reset` after `backprop reset`."""
    points: float
    """The points of the last try."""
    tried: str
    """The time of the last try in ISO 8601; without a try, of the last hint."""
    tries: int = 1
    """The number of tries; 0 if only hints were shown."""
    passed: str = ""
    """The time of the first pass, in ISO 8601; empty if it never passed."""
    hints: int = 0
    """The number of hints that `backprop hint` has shown."""
    loaded: bool = False
    """Whether the result comes from a loaded file, and was not checked here."""


@dataclass(frozen=True)
class Progress:
    """The progress kept in a folder."""

    exercises: dict[str, Tried] = field(default_factory=dict)
    """The exercises that were tried, by full name (`ch06_vjps/relu_vjp`), in no particular order."""
    problem: str = ""
    """A line on what is wrong with the file; empty if nothing is."""

    def of(self, exercise: Exercise) -> Tried | None:
        """The entry of an exercise; None if it was not tried."""
        return self.exercises.get(exercise.full_name)

    def passes(self, exercise: Exercise) -> bool:
        """Whether an exercise passed when it was last tried."""
        tried = self.of(exercise)
        return tried is not None and tried.status == "passed"

    def has_passed(self, exercise: Exercise) -> bool:
        """Whether an exercise has ever passed."""
        tried = self.of(exercise)
        return tried is not None and bool(tried.passed)

    def points(self, exercise: Exercise) -> float:
        """The points that the last try earned, at most those of the exercise; 0 if it was not tried."""
        tried = self.of(exercise)
        return min(tried.points, exercise.points) if tried else 0.0


def read(folder: Path) -> Progress:
    """The progress kept in `folder`; empty if there is no file. From a damaged file, what can be read."""
    try:
        entries, problem = _read(folder / FILE)
    except OSError as error:
        return Progress({}, f"{folder / FILE} cannot be read ({error.strerror})")
    return Progress({name: tried for name, entry in entries.items() if (tried := _tried(entry))}, problem)


def record(folder: Path, result: SubmissionResult) -> str:
    """Record in `folder` the outcome of a check, for each exercise of `result`.

    Exercises that could not be graded here are left out, and so are stubs that were never tried. In the course's own
    folder of notebooks nothing is recorded.

    Returns:
        A line to show if the file was damaged or cannot be written; empty otherwise.
    """
    now = datetime.now().astimezone().isoformat(timespec="seconds")

    def note(entries: Entries) -> None:
        for exercise in result.exercises:
            name = f"{result.lesson}/{exercise.name}"
            before = entries.get(name)
            if exercise.status == "error" or (exercise.status == "missing" and before is None):
                continue
            old = _tried(before or {})
            entry = {**(before or {}), "status": exercise.status, "points": exercise.points}
            entry.pop("loaded", None)
            entry |= {"of": exercise.max_points, "file": result.file}
            if exercise.status != "missing":
                entry |= {"tried": now, "tries": (old.tries if old else 0) + 1}
                if exercise.status == "passed" and not (old and old.passed):
                    entry["passed"] = now
            entries[name] = entry

    return _change(folder, note) if result.status == "graded" and result.exercises else ""


def take_over(
    folder: Path,
    lesson: Lesson,
    results: Mapping[str, Mapping[str, Any]],
    file: str,
    replaced: Collection[str] = (),
) -> str:
    """Record the results of a loaded file, by exercise.

    A result of a check here stays, unless its answer was `replaced`: then the file's result counts, or none.

    Returns:
        A line as `record` does.
    """
    now = datetime.now().astimezone().isoformat(timespec="seconds")

    def note(entries: Entries) -> None:
        for exercise in lesson.exercises:
            result, before = results.get(exercise.name), entries.get(exercise.full_name, {})
            tried, is_new = _tried(before), exercise.name in replaced
            if result is None or result["status"] == "missing":
                if is_new and tried and tried.tries:
                    entries[exercise.full_name] |= {"status": "reset", "points": 0.0}
                continue
            was_checked = tried and tried.tries and not tried.loaded and tried.status != "reset"
            if was_checked and not is_new:
                continue
            entry = {**before, "status": result["status"], "of": exercise.points}
            entry |= {"points": min(result["points"], exercise.points)}
            entry |= {"file": file, "tried": now, "tries": 1, "loaded": True}
            if result["best"] >= exercise.points:
                entry["passed"] = now
            entries[exercise.full_name] = entry

    return _change(folder, note) if results or replaced else ""


def forget(folder: Path, exercise: Exercise) -> str:
    """Record that an exercise is a stub again, keeping the times of its tries. Returns a line as `record` does."""

    def note(entries: Entries) -> None:
        if exercise.full_name in entries:
            entries[exercise.full_name] |= {"status": "reset", "points": 0.0}

    return _change(folder, note)


def note_hints(folder: Path, exercise: Exercise, shown: int) -> str:
    """Record that the first `shown` hints of an exercise were shown. Returns a line as `record` does."""

    def note(entries: Entries) -> None:
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        new = {"status": "missing", "points": 0.0, "of": exercise.points, "tried": now, "tries": 0}
        entry = entries.setdefault(exercise.full_name, new)
        entry["hints"] = shown
        if not entry["tries"]:
            entry["tried"] = now

    return _change(folder, note)


def keep(folder: Path, name: str, ending: str) -> Path:
    """A new path in the folder of backups, with the time in its name; nothing exists there yet.

    Raises:
        OSError: that folder is a symbolic link, or one leads there out of the working directory, so somebody else could
            decide where backups go.
    """
    refuse_way_out(folder)
    refuse_link(folder / KEPT)
    (folder / KEPT).mkdir(exist_ok=True)
    stem = f"{name}.{datetime.now():%Y-%m-%d_%H-%M-%S}"
    path, number = folder / KEPT / f"{stem}{ending}", 1
    while os.path.lexists(path):
        number += 1
        path = folder / KEPT / f"{stem}_{number}{ending}"
    return path


def _change(folder: Path, note: Callable[[Entries], None]) -> str:
    """Read, change and replace the file while holding the lock. Returns a line as `record` does."""
    from autograder.judging.records.results import write_json

    if folder.resolve() == Places().notebooks:
        return ""
    file, problem = folder / FILE, ""
    try:
        refuse_way_out(folder)
        with _held(folder):
            entries, problem = _read(file)
            if problem:
                aside = keep(folder, "progress", ".json")
                os.replace(file, aside)
                problem = f"{problem}; the old file is kept as {aside.relative_to(folder).as_posix()}"
            note(entries)
            write_json(file, {"about": ABOUT, "exercises": entries})
    except TimeoutError:
        return f"nothing was noted in {file}: another process has held {folder / LOCK} for {PATIENCE:g} seconds"
    except OSError as error:
        return f"nothing was noted in {file}: {error.strerror}"
    return problem


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    refuse_link(folder / LOCK)
    lock = FileLock(folder / LOCK, timeout=PATIENCE)
    try:
        lock.acquire()
    except Timeout:
        raise TimeoutError from None
    try:
        yield
    finally:
        lock.release()


def _read(file: Path) -> tuple[Entries, str]:
    """Return a file's valid entries, and a line that says what is wrong with it, empty if nothing. Raises `OSError`."""
    try:
        text = text_of(file, MOST_BYTES)
        if text is None:
            return {}, f"{file} is damaged (it is no file of its size), so what it said is not counted"
        data = json.loads(text)
    except FileNotFoundError:
        return {}, ""
    except (ValueError, RecursionError):
        return {}, f"{file} is damaged (it is not JSON), so what it said is not counted"
    entries = data.get("exercises") if isinstance(data, dict) else None
    if not isinstance(entries, dict):
        return {}, f"{file} is damaged (it has no exercises), so what it said is not counted"
    whole = {name: entry for name, entry in entries.items() if _tried(entry)}
    broken = [name for name in entries if name not in whole]
    return whole, f"{file} is damaged at {broken[0]}, so what it said there is not counted" if broken else ""


def text_of(file: Path, most: int) -> str | None:
    """The text of a file; None if it is a pipe, a device or too large, as somebody else may have put it there."""
    with open(file, "rb", opener=lambda path, flags: os.open(path, flags | getattr(os, "O_NONBLOCK", 0))) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            return None
        data = opened.read(most + 1)
    return None if len(data) > most else data.decode("utf-8-sig")


def _tried(entry: Any) -> Tried | None:
    """An entry as data; None if it is not what `record` writes."""
    if not isinstance(entry, dict):
        return None
    status, points, tries, hints = entry.get("status"), entry.get("points"), entry.get("tries"), entry.get("hints", 0)
    tried, passed = entry.get("tried"), entry.get("passed", "")
    if not isinstance(status, str) or not _is_date(tried) or (passed != "" and not _is_date(passed)):
        return None
    if isinstance(points, bool) or not isinstance(points, int | float) or not 0 <= points <= MOST_POINTS:
        return None
    if not _is_count(tries) or not _is_count(hints):
        return None
    return Tried(status, float(points), tried, tries, passed, hints, entry.get("loaded") is True)


def _is_count(n: Any) -> TypeGuard[int]:
    return isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= MOST_TRIES


def _is_date(text: Any) -> TypeGuard[str]:
    when = moment_of(text) if isinstance(text, str) else None
    return when is not None and when.tzinfo is not None
