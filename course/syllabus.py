"""Reads and validates `syllabus.toml`, the list of lessons and exercises, and the files of other courses."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Set
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from course.own import FILE, OURS, CourseError, extends_ours, own_course, title_of
from course.times import ROUNDED_TO, TextTimes, lesson_minutes, own_minutes, text_times

SYLLABUS = Path(__file__).with_name("syllabus.toml")
OWN_SLUG = re.compile(r"ch\d\d_[a-z][a-z0-9_]*")
OF_OWN = {"title", "extends", "without", "change"}
"""Top-level keys in the file of a course of your own, beside its lessons."""
TIERS = ("core", "stretch")
OF_A_LESSON = {"slug", "title", "part", "minutes", "packages", "modules", "exercise"}
OF_AN_EXERCISE = {
    *("name", "points", "tier", "hints", "why", "packages", "modules"),
    *("seconds", "forbidden", "weights", "technique", "point", "parts"),
}


class SyllabusError(CourseError):
    """`syllabus.toml`, or another course's file, is wrong; the message names the entry."""


@dataclass(frozen=True)
class Environment:
    """The packages and modules that a submission's code may import, beside the standard library."""

    packages: tuple[str, ...]
    """Distributions; their dependencies may be imported too."""
    modules: tuple[str, ...]
    """Modules of `course`."""


@dataclass(frozen=True)
class Exercise:
    """One exercise. Its name is the function, class or method (`Tensor.backward`) that the learner defines."""

    lesson: str
    name: str
    points: float
    tier: str
    hints: tuple[str, ...]
    environment: Environment
    seconds: float = 10.0
    """Wall-clock limit of one call, in seconds."""
    forbidden: tuple[str, ...] = ()
    """Full names of functions that the submission's own code may not call; the file may name groups of them."""
    weights: dict[str, float] = field(default_factory=dict)
    """Weights of check functions among those on the same kind of input, visible or hidden; 1 by default."""
    technique: tuple[str, ...] = ()
    """Check functions that test the required method: if one fails, right values earn nothing."""
    point: tuple[str, ...] = ()
    """Check functions of what the exercise is for: if one fails, the rest earns less than two thirds of the points."""
    parts: tuple[str, ...] = ()
    """The parts of an answer in several cells, by the names in their stubs: "Tensor (power): your code here"."""
    why: str = field(default="", repr=False)  # not in the repr, which `version` hashes: it decides no points
    """What makes the model solution right, cheap or stable, in a sentence shown only beside the solution."""

    @property
    def full_name(self) -> str:
        return f"{self.lesson}/{self.name}"

    @property
    def anchor(self) -> str:
        """The label of its section in the chapter: `ch05_autograd_engine/Tensor.backward` is `ch05-tensor-backward`."""
        return re.sub("[_.]", "-", f"{self.lesson.split('_')[0]}-{self.name}".lower())


@dataclass(frozen=True)
class Lesson:
    """One lesson. Its chapter, source, notebook and folder are named by its slug."""

    slug: str
    title: str
    part: str
    minutes: int = field(repr=False)  # not in the repr, which `version` hashes: an edited sentence regrades nobody
    """A reader's time with all exercises. Of our lessons it is computed (`course/times.py`)."""
    environment: Environment
    """The environment of its exercises, unless they have their own."""
    exercises: tuple[Exercise, ...]
    times: TextTimes | None = field(default=None, repr=False, compare=False)
    """The recorded times of its chapter's text, if it is one of our lessons."""
    taken_out: tuple[Exercise, ...] = field(default=(), repr=False)  # not in the repr, which `version` hashes
    """Exercises of its source that the served course leaves out."""

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self.exercises)

    @property
    def core_minutes(self) -> int:
        """A reader's time with the core exercises alone."""
        stretch = sum(exercise.points for exercise in self.exercises if exercise.tier != "core")
        own = own_minutes(stretch) if self.times else self.minutes * stretch / self.points
        return max(round((self.minutes - own) / ROUNDED_TO), 1) * ROUNDED_TO

    @property
    def whole(self) -> Lesson:
        """The lesson with all exercises of its source: those that the course leaves out come last."""
        return replace(self, exercises=(*self.exercises, *self.taken_out), taken_out=())

    @property
    def environments(self) -> tuple[Environment, ...]:
        """The distinct environments of its exercises; grading needs a worker for each."""
        return tuple(dict.fromkeys(exercise.environment for exercise in self.exercises))

    def exercise(self, name: str) -> Exercise:
        """The exercise called `name`; `KeyError` with the known names if there is none."""
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        names = [exercise.name for exercise in self.exercises]
        padded = re.sub(r"\d+", lambda digits: digits[0].zfill(2), name)  # fix_2 means fix_02, but looks like fix_12
        close = difflib.get_close_matches(padded, names, n=1)
        guess = f" Did you mean {close[0]}?" if close else ""
        raise KeyError(f"{self.slug} has no exercise {name!r}; it has {', '.join(names)}.{guess}")


@cache
def _raw_ours() -> dict[str, Any]:
    return tomllib.loads(SYLLABUS.read_text(encoding="utf-8"))


def read_syllabus(path: Path) -> dict[str, Lesson]:
    """Read a syllabus file; lessons by slug, in order. `SyllabusError` names the entry that is wrong."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SyllabusError(f"{path.name} is no TOML: {error}") from None
    return _lessons_of_own_course(path, raw) if path.name == FILE else _listed_lessons(raw, path.name)


def _listed_lessons(raw: dict[str, Any], name: str) -> dict[str, Lesson]:
    """The lessons that a syllabus lists. A course that extends this one may use our groups of forbidden functions."""
    _refuse_unknown_keys("", raw, {"forbidden", "lesson"} | (OF_OWN if name == FILE else set()))
    ours = _raw_ours().get("forbidden", {}) if raw.get("extends") == OURS else {}
    groups = ours | raw.get("forbidden", {})
    lessons = [_lesson(entry, groups, is_ours=name != FILE) for entry in raw.get("lesson", [])]
    slugs = [lesson.slug for lesson in lessons]
    if len(set(slugs)) != len(slugs):
        raise SyllabusError(f"{name}: a lesson is listed twice: {', '.join(slugs)}")
    return {lesson.slug: lesson for lesson in lessons}


def _lessons_of_own_course(file: Path, raw: dict[str, Any]) -> dict[str, Lesson]:
    """The lessons of a course of your own; slugs must be like `ch01_topic`, with different numbers."""
    title_of(file.parent)
    try:
        lessons = _listed_lessons(raw, file.name)
        if extends_ours(file.parent):
            lessons = _extended(read_syllabus(SYLLABUS), raw, lessons)
        elif raw.keys() & {"without", "change"}:
            raise SyllabusError('without and change are for a course that extends = "backprop"')
    except SyllabusError as error:
        raise SyllabusError(f"{file}: {error}") from None
    except (TypeError, AttributeError) as error:
        raise SyllabusError(f"{file}: a value is of another kind than ours are ({error})") from None
    if not lessons:
        raise SyllabusError(f"{file}: there is no [[lesson]]; examples/linear_algebra shows two")
    for slug in lessons:
        if not OWN_SLUG.fullmatch(str(slug)):
            raise SyllabusError(f"{file}: the slug {slug!r} must be a number and a topic, as ch01_power_iteration")
    first: dict[str, str] = {}
    for slug in lessons:
        other = first.setdefault(slug[:4], slug)
        if other != slug:
            raise SyllabusError(f"{file}: two lessons are {slug[:4]}, {other} and {slug}; give one another number")
    return lessons


def _extended(ours: dict[str, Lesson], raw: dict[str, Any], own: dict[str, Lesson]) -> dict[str, Lesson]:
    """This course's lessons after the file's removals and changes, together with the file's own lessons.

    An own lesson with the slug of one of ours replaces it.
    """
    listed = ours | own
    exercises = {f"{slug[:4]}/{one.name}": one for slug, lesson in listed.items() for one in lesson.exercises}
    gone = [
        _full_name(str(name), {slug[:4]: slug for slug in ours} | {name: name for name in exercises}, "without")
        for name in raw.get("without", [])
    ]
    changed = {
        _full_name(name, {name: name for name in exercises}, "change"): entry
        for name, entry in raw.get("change", {}).items()
    }
    for name, entry in changed.items():
        _refuse_wrong_change(f"change {name}", entry)
    found = {}
    for slug, lesson in listed.items():
        if slug in gone and slug not in own:
            continue
        kept = [one for one in lesson.exercises if f"{slug[:4]}/{one.name}" not in gone]
        asked = tuple(_changed(one, changed.get(f"{slug[:4]}/{one.name}", {})) for one in kept)
        if asked == lesson.exercises:
            found[slug] = lesson
        elif asked:
            left = tuple(one for one in lesson.exercises if one not in kept)
            points = sum(one.points for one in kept)
            share = round(lesson.minutes * points / lesson.points)
            minutes = lesson_minutes(lesson.times.text, points) if lesson.times else share
            found[slug] = replace(lesson, exercises=asked, minutes=minutes, taken_out=left)
    return dict(sorted(found.items()))


def _changed(exercise: Exercise, entry: dict[str, Any]) -> Exercise:
    weights = exercise.weights | entry.get("weights", {})
    return replace(exercise, **{**entry, "weights": weights})


def _refuse_wrong_change(where: str, entry: dict[str, Any]) -> None:
    _refuse_unknown_keys(where, entry, {"points", "tier", "weights"}, ("points",))
    if entry.get("points", 1) <= 0 or entry.get("tier", TIERS[0]) not in TIERS:
        raise SyllabusError(f"{where}: points must be positive, and the tier {' or '.join(TIERS)}")
    weights = entry.get("weights", {})
    _refuse_unknown_keys(f"{where}: weights", weights, set(weights), tuple(weights))
    if any(weight < 0 for weight in weights.values()):
        raise SyllabusError(f"{where}: no weight can be below 0")


def _full_name(name: str, names: dict[str, str], what: str) -> str:
    """The full name of a lesson or an exercise, given by `name`. `SyllabusError` if there is none."""
    slug, slash, exercise = name.partition("/")
    meant = names.get(f"{slug[:4]}{slash}{exercise}")
    if meant is None:
        close = difflib.get_close_matches(name, names, n=1)
        guess = f"; did you mean {close[0]}?" if close else ""
        raise SyllabusError(f"{what}: the course that this one extends has no {name}{guess}")
    return meant


def whole_lessons() -> dict[str, Lesson]:
    """All lessons available to the served course, also those of this course that it leaves out."""
    own = own_course()
    if own is None or not extends_ours(own):
        return syllabus()
    whole = {slug: lesson for slug, lesson in _syllabus(own).items() if not lesson.taken_out}
    return _syllabus(None) | whole | _own_lessons(own)


def syllabus() -> dict[str, Lesson]:
    """The lessons of the course that this process serves, by slug."""
    return _syllabus(own_course())


@cache
def _syllabus(own: Path | None) -> dict[str, Lesson]:
    return read_syllabus(SYLLABUS if own is None else own / FILE)


@cache
def _own_lessons(own: Path) -> dict[str, Lesson]:
    """The lessons that the file of a course lists itself, with all of their exercises."""
    return _listed_lessons(tomllib.loads((own / FILE).read_text(encoding="utf-8")), FILE)


def course_title() -> str:
    """The title of the course that this process serves."""
    return _title(own_course())


_title = cache(title_of)


def find_lesson(slug: str) -> Lesson:
    """The lesson `slug`; `KeyError` with the known slugs if there is none."""
    try:
        return syllabus()[slug]
    except KeyError:
        raise KeyError(f"there is no lesson {slug!r}; there are {', '.join(syllabus())}") from None


def _refuse_unknown_keys(where: str, entry: dict[str, Any], keys: Set[str], numbers: tuple[str, ...] = ()) -> None:
    """Raise `SyllabusError` for a key that is not in `keys`, or a value of `numbers` that is not a finite number."""
    begin = f"{where}: " if where else ""
    for key in entry.keys() - keys:
        close = difflib.get_close_matches(key, keys, n=1)
        raise SyllabusError(f"{begin}{key!r} means nothing here" + (f"; did you mean {close[0]}?" if close else ""))
    for key in numbers:
        value = entry.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise SyllabusError(f"{begin}{key} must be a number, and is {value!r}")


def _lesson(entry: dict[str, Any], groups: dict[str, list[str]], *, is_ours: bool) -> Lesson:
    slug = entry.get("slug", "?")
    _refuse_unknown_keys(f"lesson {slug}", entry, OF_A_LESSON, ("minutes",))
    times = text_times(slug) if is_ours else None
    try:
        environment = Environment(tuple(entry["packages"]), tuple(entry["modules"]))
        exercises = tuple(_exercise(slug, item, environment, groups) for item in entry["exercise"])
        lesson = Lesson(
            slug=slug,
            title=_words(slug, entry, "title"),
            part=_words(slug, entry, "part"),
            minutes=_minutes(slug, entry, exercises, times),
            times=times,
            environment=environment,
            exercises=exercises,
        )
    except KeyError as missing:
        raise SyllabusError(f"lesson {slug}: {missing.args[0]} is missing") from None
    names = [exercise.name for exercise in exercises]
    if len(set(names)) != len(names):
        raise SyllabusError(f"lesson {slug}: an exercise is listed twice")
    return lesson


def _minutes(slug: str, entry: dict[str, Any], exercises: tuple[Exercise, ...], times: TextTimes | None) -> int:
    """A lesson's minutes: computed if the times of its chapter are recorded, else the entry's."""
    if times is None:
        return int(entry["minutes"])
    if "minutes" in entry:
        raise SyllabusError(f"lesson {slug}: minutes is computed from its chapter (course/times.toml); leave it out")
    return lesson_minutes(times.text, sum(exercise.points for exercise in exercises))


def _words(slug: str, entry: dict[str, Any], key: str) -> str:
    """The text of an entry on one line, for tables and headings. `SyllabusError` if it is not text."""
    if not isinstance(entry[key], str) or not entry[key].strip():
        raise SyllabusError(f"lesson {slug}: {key} must be text, and is {entry[key]!r}")
    return " ".join(entry[key].split())


def _exercise(slug: str, entry: dict[str, Any], environment: Environment, groups: dict[str, list[str]]) -> Exercise:
    name = entry.get("name", "?")
    _refuse_unknown_keys(f"{slug}/{name}", entry, OF_AN_EXERCISE, ("points", "seconds"))
    try:
        exercise = Exercise(
            lesson=slug,
            name=name,
            points=entry["points"],
            tier=entry["tier"],
            hints=tuple(entry["hints"]),
            environment=Environment(
                tuple(entry.get("packages", environment.packages)), tuple(entry.get("modules", environment.modules))
            ),
            seconds=entry.get("seconds", 10.0),
            forbidden=tuple(call for name in entry.get("forbidden", ()) for call in groups.get(name, [name])),
            weights=entry.get("weights", {}),
            technique=tuple(entry.get("technique", ())),
            point=tuple(entry.get("point", ())),
            parts=tuple(entry.get("parts", ())),
            why=entry.get("why", ""),
        )
    except KeyError as missing:
        raise SyllabusError(f"{slug}/{name}: {missing.args[0]} is missing") from None
    if exercise.tier not in TIERS:
        raise SyllabusError(f"{slug}/{name}: tier {exercise.tier!r} is not one of {', '.join(TIERS)}")
    for call in exercise.forbidden:
        if "." not in call:
            raise SyllabusError(f"{slug}/{name}: forbidden {call!r} is neither a group nor a full name")
    if not isinstance(exercise.why, str):
        raise SyllabusError(f"{slug}/{name}: why must be text")
    for key, kind in (("technique", "checks"), ("point", "checks"), ("parts", "parts")):
        if not isinstance(entry.get(key, []), list):
            raise SyllabusError(f"{slug}/{name}: {key} must be a list of names of {kind}")
    if exercise.points <= 0:
        raise SyllabusError(f"{slug}/{name}: points must be positive")
    return exercise
