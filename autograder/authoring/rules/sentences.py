"""A rule: every sentence of a contract has checks that fail if it is ignored, or a reason why no check tests it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from autograder.authoring.contracts import Row, have_contracts, rows_of, sentences_of, witnesses
from autograder.authoring.rules.described import Written, checks_in
from autograder.authoring.rules.problem import Problem
from autograder.authoring.tree import Course
from autograder.judging.explaining.rejections import written
from autograder.places import files_of
from autograder.wording import enumeration
from course.syllabus import Exercise

BEGIN = "run `backprop build` to begin them, then fill them in"
"""What to do about sentences without rows."""


def sentences_have_cases(course: Course) -> list[Problem]:
    """The lesson's `contract.toml` has the same sentences as its contracts, and names existing checks.

    If one lesson of a course has the file, every lesson must have it.
    """
    problems = []
    wanted = have_contracts(course)
    for slug, lesson in course.lessons.items():
        path = course.contract(slug)
        if not wanted or not (course.source(slug).is_file() and course.checks(slug).is_dir()):
            continue  # `drift.listed_files` says what is missing
        file = course.relative(path)
        if not path.is_file():
            problems.append(Problem(file, "this file is missing", "run `backprop build`, and fill it in"))
            continue
        try:
            rows = rows_of(path)
        except (tomllib.TOMLDecodeError, TypeError) as error:
            problems.append(Problem(file, f"it cannot be read ({error})", "mend it"))
            continue
        sentences = sentences_of(course.source(slug).read_text(encoding="utf-8"))
        known = {(row.exercise, row.says) for row in rows}
        there = {(exercise, says) for exercise, of_it in sentences.items() for says in of_it}
        begun = {
            exercise: [says for says in of_it if (exercise, says) not in known] for exercise, of_it in sentences.items()
        }
        problems += [
            Problem(file, f"{exercise}: no row for {_quoted(says)}", BEGIN) for exercise, says in begun.items() if says
        ]
        for exercise, says in sorted(known - there):
            do = "move the row's checks to the sentence that replaced it, and delete the row"
            problems.append(Problem(file, f"{exercise} has no sentence “{says}”", do))
        rejections = written(course, slug)
        judged = {one.name for one in lesson.exercises}  # checks of exercises left out by the course were not run
        for row in rows:
            problems += [
                Problem(file, f"{row.exercise}, “{row.says}”: {what}", do) for what, do in _problems_of_row(row)
            ]
            if row.wrong and rejections and row.exercise in judged and row.wrong not in witnesses(row, rejections):
                what = f"{row.exercise}, “{row.says}”: {row.wrong} is not what these checks alone reject"
                problems.append(Problem(file, what, "name another known mistake, or none"))
        for one in lesson.exercises:
            if begun.get(one.name):
                continue  # the rows that `backprop build` begins will name these checks
            problems += [Problem(file, what, do) for what, do in _problems_of_checks(course, one, rows)]
            problems += _problems_of_points(course, one, rows)
    return problems


def _quoted(sentences: list[str]) -> str:
    return enumeration([f"“{one}”" for one in sentences])


def _problems_of_row(row: Row) -> list[tuple[str, str]]:
    if bool(row.checks) == bool(row.unasked):
        do = "name the checks that fail when an answer ignores it, or say in `unasked` why none does"
        return [("it needs `checks` or `unasked`", do)]
    return []


def _problems_of_checks(course: Course, exercise: Exercise, rows: list[Row]) -> list[tuple[str, str]]:
    """What is wrong with the checks that an exercise's rows name, and what to do."""
    mine = [row for row in rows if row.exercise == exercise.name]
    names = [check.name for check in _checks_of(course, exercise)]
    found = [
        (f"{exercise.name}: {name} is no check of it", "name one that is")
        for name in sorted({name for row in mine for name in row.checks} - set(names))
    ]
    asked = {name for row in mine for name in row.checks}
    unfinished = any(not row.checks and not row.unasked for row in mine)  # those rows may name the other checks
    found += [
        (f"{exercise.name}: no sentence asks for what {name} checks", "name it, write the sentence, or drop the check")
        for name in names
        if name not in asked and not unfinished
    ]
    if not any(row.point for row in mine):
        found.append((f"{exercise.name}: no sentence is its point", "write `point = true` where it is"))
    return found


def _problems_of_points(course: Course, exercise: Exercise, rows: list[Row]) -> Iterator[Problem]:
    """Problems for sentences that are the exercise's point, if ignoring one of them could cost next to nothing."""
    for row in rows:
        if row.exercise == exercise.name and row.point and not {*row.checks} & {*exercise.technique, *exercise.point}:
            yield Problem(
                course.relative(course.syllabus),
                f"{exercise.name}: “{row.says}” is its point, and none of its checks is in `point`",
                f"list those of {enumeration(row.checks)} there that fail when an answer ignores it",
            )


def _checks_of(course: Course, exercise: Exercise) -> list[Written]:
    files = files_of(course.checks(exercise.lesson), [exercise.name])
    return [check for file in files for check in checks_in(file) if check.exercise == exercise.name]
