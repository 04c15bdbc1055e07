"""Says how long a chapter and its sections take, and where readers can stop.

Lines say so below the chapter's title, below the heading of each section with an exercise, and after each sitting;
the titles of boxes that go deeper have their minutes. A chapter has at most `MOST_WORDS` that every reader sees.

The minutes of the text are counted (`text_minutes`), those of exercises follow from their points (`course/times.py`).
Commands, README.md and the front page take them from `course/times.toml`. The build refuses a record that differs from
the page, a time that somebody has written by hand, and a sitting that is too long.

With `BACKPROP_WRITE_TIMES` set (`make times`), it writes the record instead.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from docutils import nodes
from page_blocks import Block, block
from sphinx.application import Sphinx
from sphinx.util import logging
from text_minutes import Part, folded, parts_of

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from course.syllabus import Lesson, syllabus  # noqa: E402
from course.times import RECORD, TextTimes, as_toml, in_hours, own_minutes, read_times  # noqa: E402

logger = logging.getLogger(__name__)
LEAST, MOST = 20, 30
"""Minutes of a sitting."""
LONG_EXERCISE = 20
"""Minutes above which an exercise may make a sitting too long: its section cannot be divided."""
MOST_WORDS = 3500
"""Words of prose of a chapter; what only some readers need is in a box that is closed at first."""
DEEPER = "Going deeper"
"""How the title of such a box begins."""
NEARLY_NOTHING = 1
"""Minutes of text below which a section that only introduces its subsections is not the end of a sitting."""
TOLERATED = 2, 0.05
"""How far the record may be from the page: so many minutes, or this part of them. Small edits need no new record."""
WRITE = "BACKPROP_WRITE_TIMES"
BY_HAND = re.compile(r"^.*\b[Rr]eading time\b.*\bminutes?\b.*$", re.MULTILINE)


def give_exercises(parts: Sequence[Part], lesson: Lesson) -> None:
    """Note in each part the exercises at its end: those that the page has there, else those with its label."""
    labels = {label: part for part in parts for label in part.section["ids"]}
    shown = {name: part for part in parts for name in _shown_in(part.section)}
    for exercise in lesson.exercises:
        part = shown.get(exercise.name) or labels.get(exercise.anchor)
        if part is not None:
            part.exercises.append(exercise.name)


def _shown_in(section: nodes.section) -> Iterator[str]:
    for child in section.children:
        if not isinstance(child, nodes.section):
            for one in child.findall(Block):
                if one["attributes"].get("class") == "exercise":
                    yield one["attributes"]["data-exercise"]


def minutes_of(part: Part, lesson: Lesson) -> float:
    """Minutes of a part with its exercises."""
    return part.text + own_minutes(sum(lesson.exercise(name).points for name in part.exercises))


def divided(parts: Sequence[Part], lesson: Lesson) -> list[list[Part]]:
    """The parts of a chapter as sittings of `LEAST` to `MOST` minutes where sections allow, with each section and its
    exercises in one.

    Of all divisions in which no sitting of several sections is longer, it is the one with the least squared distances
    from the middle: a greedy one leaves four minutes for the end.
    """
    units = _undivided(parts)
    best: list[tuple[float, int]] = [(0.0, 0)]  # of the units so far: cost, begin of the last sitting
    for end in range(1, len(units) + 1):
        costs = []
        for begin in range(end):
            minutes = sum(_whole(unit, lesson) for unit in units[begin:end])
            if minutes <= MOST or begin == end - 1:
                costs.append((best[begin][0] + (minutes - (LEAST + MOST) / 2) ** 2, begin))
        best.append(min(costs))
    found: list[list[Part]] = []
    end = len(units)
    while end:
        begin = best[end][1]
        found.insert(0, [part for unit in units[begin:end] for part in unit])
        end = begin
    return found


def _undivided(parts: Sequence[Part]) -> list[list[Part]]:
    """What no sitting divides: a part, after those that only introduce it."""
    units: list[list[Part]] = []
    begun: list[Part] = []
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        begun.append(part)
        introduces = following is not None and following.depth > part.depth
        if not (introduces and part.text < NEARLY_NOTHING and not part.exercises):
            units.append(begun)
            begun = []
    return units


def _whole(parts: Sequence[Part], lesson: Lesson) -> float:
    return sum(minutes_of(part, lesson) for part in parts)


def too_long(sitting: Sequence[Part], lesson: Lesson) -> str:
    """Why a sitting is refused; "" if it is not: one long exercise may take longer, because it is not divided."""
    whole = _whole(sitting, lesson)
    longest = max((own_minutes(lesson.exercise(name).points) for part in sitting for name in part.exercises), default=0)
    if whole <= MOST or longest > LONG_EXERCISE:
        return ""
    title = max(sitting, key=lambda part: minutes_of(part, lesson)).section[0].astext()
    return f"the section {title!r} takes {whole:.0f} minutes, more than a sitting of {MOST}: divide it"


def counted(parts: Sequence[Part], lesson: Lesson) -> TextTimes:
    """The minutes of a chapter's text, as the record has them."""
    labels = {label: part for part in parts for label in part.section["ids"]}
    own = [exercise.anchor for exercise in lesson.exercises if exercise.anchor in labels]
    return TextTimes(round(sum(part.text for part in parts)), {label: round(labels[label].text) for label in own})


def differs(recorded: TextTimes | None, now: TextTimes) -> str:
    """How a record is wrong; "" if it is near enough."""
    if recorded is None:
        return "has no times"
    pairs = {"the text": (recorded.text, now.text)}
    pairs |= {label: (recorded.sections.get(label, 0), minutes) for label, minutes in now.sections.items()}
    for what, (said, true) in pairs.items():
        if abs(said - true) > max(TOLERATED[0], TOLERATED[1] * true):
            return f"says {said} minutes for {what}, which takes {true}"
    gone = recorded.sections.keys() - now.sections.keys()
    return f"has a section that the page has not: {min(gone)}" if gone else ""


def say_times(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add the lines to a chapter, and hold it against the record."""
    lesson = syllabus().get(docname)
    if lesson is None or app.builder.format != "html":
        return
    source = Path(app.env.doc2path(docname)).read_text(encoding="utf-8")
    if hand := BY_HAND.search(source):
        logger.warning("times are computed; leave out: %s", hand[0].strip(), location=docname, type="times")
    parts = list(parts_of(doctree))
    give_exercises(parts, lesson)
    now = counted(parts, lesson)
    app.env.metadata[docname]["times"] = now
    if not os.environ.get(WRITE) and (wrong := differs(lesson.times, now)):
        logger.warning("course/times.toml %s: run `make times`", wrong, location=docname, type="times")
    sittings = divided(parts, lesson)
    for sitting in sittings:
        if wrong := too_long(sitting, lesson):
            logger.warning("%s", wrong, location=sitting[0].section, type="times")
    if wrong := too_many(sum(part.words for part in parts)):
        logger.warning("%s", wrong, location=docname, type="times")
    for title, minutes in folded(doctree, DEEPER):
        title.append(nodes.inline("", f" ({in_hours(max(1, minutes))})"))
    _add_lines(parts, sittings, lesson)


def too_many(words: int) -> str:
    """Why so many words are refused; "" if they are not."""
    if words <= MOST_WORDS:
        return ""
    return f"{words:,} words are read by everyone, at most {MOST_WORDS:,} may be: cut, or fold what only some need"


def _add_lines(parts: Sequence[Part], sittings: Sequence[Sequence[Part]], lesson: Lesson) -> None:
    so_far, whole = 0.0, _whole(parts, lesson)
    for number, sitting in enumerate(sittings[:-1], 1):
        so_far += _whole(sitting, lesson)
        words = f"A good place to stop: sitting {number} of {len(sittings)} ends here. About {_about(so_far)}"
        _after_own(sitting[-1].section, _line("sitting-end", f"{words} so far, {_about(whole - so_far)} to go."))
    for part in parts:
        if part.exercises:
            own = own_minutes(sum(lesson.exercise(name).points for name in part.exercises))
            line = _line("section-time", f"About {in_hours(minutes_of(part, lesson))}, {round(own)} of them for ")
            for at, name in enumerate(part.exercises):
                line += [nodes.Text(", " if at else ""), nodes.literal("", name)]
            if minutes_of(part, lesson) > MOST:
                line += nodes.Text(": more than one sitting")
            part.section.insert(1, line)
    if parts:
        parts[0].section.insert(1, _line("chapter-time", chapter_words(parts, len(sittings), lesson)))


def chapter_words(parts: Sequence[Part], sittings: int, lesson: Lesson) -> str:
    """The line below a chapter's title."""
    text = in_hours(round(sum(part.text for part in parts), -1))
    words = f"About {text} to read, {in_hours(lesson.minutes)} with all exercises"
    if any(exercise.tier != "core" for exercise in lesson.exercises):
        words += f", {in_hours(lesson.core_minutes)} with the core ones"
    return f"{words}; in {sittings} sittings of about {(LEAST + MOST) // 2} minutes."


def _about(minutes: float) -> str:
    """A time in words; one of hours is rounded to 5 minutes."""
    return in_hours(minutes if minutes < 60 else 5 * round(minutes / 5))


def _line(name: str, words: str) -> nodes.Element:
    return block("p", nodes.Text(words), class_=name)


def _after_own(section: nodes.section, line: nodes.Element) -> None:
    """Put a line at the end of a section's own content, before its subsections."""
    at = next((at for at, child in enumerate(section.children) if isinstance(child, nodes.section)), len(section))
    section.insert(at, line)


def write_record(app: Sphinx, error: Exception | None) -> None:
    """With `WRITE` set, write what was counted for the pages of this build into the record."""
    if error is not None or not os.environ.get(WRITE):
        return
    found = {name: data["times"] for name, data in app.env.metadata.items() if "times" in data}
    RECORD.write_text(as_toml(read_times(RECORD) | found), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("page_blocks")
    app.connect("doctree-resolved", say_times)
    app.connect("build-finished", write_record)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
