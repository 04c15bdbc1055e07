"""`python -P -m autograder.authoring.salts LESSON [FILE ...] --salts 100` finds checks that reject right answers.

Runs the hidden checks of a lesson with many salts on files of right answers, or on the reference if no file is named,
in this process and without isolation: trusted code only. A check that rejects a right answer with one salt in a hundred
has a tolerance that ignores a cancellation, or tests a property that only most inputs have.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from autograder.authoring.arguments import Arguments
from autograder.collection import with_judge
from autograder.judging.asking.local_run import LocalRun
from autograder.judging.checking.plugin import identify
from autograder.judging.checking.reference import load_module
from autograder.judging.records.summary import summary
from autograder.judging.session import Judge
from course.syllabus import Lesson

REFERENCE = "the reference"


@dataclass
class Lost:
    """The failures of one right answer in one check."""

    salts: list[str] = field(default_factory=list)
    """The salts with which the check rejects the answer."""
    says: str = ""
    """The check's message with the first of these salts."""


Losses = dict[tuple[str, str, str], Lost]
"""By answer, exercise and check."""


def losses(
    lesson: Lesson, files: Iterable[Path], salts: Iterable[str], *, only: str = "", visible: bool = False
) -> Losses:
    """The checks that reject one of the right answers in `files`, or the reference if there are none.

    Args:
        only: the exercise to test; all if empty.
        visible: run the visible checks too, with the first salt: for answers that no test grades.
    """
    files = list(files)
    found: defaultdict[tuple[str, str, str], Lost] = defaultdict(Lost)
    for number, salt in enumerate(salts):
        look = partial(_refused, files=files, only=only, visible=visible and not number)
        for key, says in with_judge(lesson, look, salt=salt):
            found[key].salts.append(salt)
            found[key].says = found[key].says or says
    return dict(found)


def _refused(judge: Judge, files: list[Path], only: str, visible: bool) -> list[tuple[tuple[str, str, str], str]]:
    found = []
    for answer, exercise, run in _answers(judge, files):
        if only and exercise != only:
            continue
        items = [item for item in judge.items_of(exercise) if visible or not _is_visible(item)]
        for item, record in zip(items, judge.observe(items, run), strict=True):
            if not record.passed:
                found.append(((answer, exercise, item.name), " ".join(summary(record).split())))
    return found


def _answers(judge: Judge, files: list[Path]) -> Iterator[tuple[str, str, LocalRun]]:
    """For each answer and each exercise that it defines: the answer's name, the exercise, and a run of it."""
    names = [exercise.name for exercise in judge.lesson.exercises]
    for name in () if files else names:
        yield REFERENCE, name, judge.reference.local()
    for file in files:
        defined = set(re.findall(r"^(?:def|class) (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE))
        module = load_module(file)
        functions = {}
        for name in (name for name in names if name.partition(".")[0] in defined):
            owner, _, method = name.rpartition(".")
            there = getattr(module, owner) if owner else module
            if hasattr(there, method):
                functions[name] = getattr(there, method)
        for name in functions:
            yield f"{file.parent.name}/{file.name}", name, LocalRun(functions, module, judge.reference.scenarios)


def _is_visible(item: object) -> bool:
    check = identify(item)
    return check is not None and check.visible


def main(arguments: list[str]) -> int:
    parser = Arguments("salts", __doc__)
    parser.add_argument("lesson", help="ch13_beyond_first_order, or ch13_beyond_first_order/hvp")
    parser.add_argument("files", nargs="*", type=Path, help="right answers, one or more exercises each")
    parser.add_argument("--salts", type=int, default=100, help="how many")
    parser.add_argument("--visible", action="store_true", help="the visible checks, too, once")
    options = parser.read(arguments)
    slug, _, only = options.lesson.partition("/")
    salts = [f"salt {number}" for number in range(options.salts)]
    found = losses(parser.lesson(slug), options.files, salts, only=only, visible=options.visible)
    for (answer, exercise, check), lost in sorted(found.items()):
        print(f"{answer}: {exercise}, {check}: {len(lost.salts)} of {len(salts)}, first {lost.salts[0]!r}: {lost.says}")
    print(f"{slug}: {len(found)} checks refuse a right answer with some of {len(salts)} salts")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
