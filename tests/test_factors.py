"""Factors of arguments: rows that cover all pairs of levels, what checks have, and what only such rows find."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_courses import ENVIRONMENT, LESSON, of_one, written

from autograder.authoring.factors import covering
from autograder.authoring.factors.seen import levels_of
from autograder.authoring.factors.space import Space, pairs_of, spaces_in
from autograder.authoring.rules.factors import UNDER_THE_RULE, factors_in_step, unvaried
from autograder.authoring.tree import AuthoringError, Course
from autograder.collection import with_judge
from autograder.judging.checking.kinds import Cover, Kind, covers_in, kinds_in
from autograder.worker.layout import arranged, laid_out
from course.syllabus import Exercise

COURSE = Course.at()


# Rows


@pytest.mark.parametrize("slug", UNDER_THE_RULE)
def test_rows_have_each_pair_that_can_occur(slug: str) -> None:
    covers = covers_in(COURSE.covering(slug))
    for exercise, space in spaces_in(COURSE.factors(slug)).items():
        rows = covers[exercise].rows if space.drawn else []
        assert all(allowed(row) for row in rows for _, allowed in space.constraints), exercise
        of_author = {f"{name} values" for name in space.values}
        for pair in pairs_of({name: levels for name, levels in space.levels.items() if name not in of_author}):
            there = any(all(row[factor] == level for factor, level in pair) for row in rows)
            assert there or not completed(space, dict(pair)), (exercise, pair)


def completed(space: Space, row: dict[str, str]) -> bool:
    """Whether a row that has these levels fits all constraints."""
    if any(row.keys() >= set(names) and not allowed(row) for names, allowed in space.constraints):
        return False
    missing = next((factor for factor in space.levels if factor not in row), None)
    return missing is None or any(completed(space, {**row, missing: level}) for level in space.levels[missing])


def test_values_that_an_author_asks_for_have_two_further_rows() -> None:
    cases: dict[str, dict[str, Any]] = {"a number": {"x": []}, "a vector": {"x": [9]}}
    space = Space("f", {"x": "float"}, cases, values={"x": ("neighbours", "offset")})
    rows = list(space.further)
    assert [(row["case"], row["x values"], row["x dtype"]) for row in rows] == [
        ("a vector", values, dtype) for values in ("neighbours", "offset") for dtype in ("float64", "float32")
    ]
    cover = Cover(space.arrays, cases, rows)
    for row in rows:
        x = Kind(cover, row, np.random.default_rng(3)).drawn["x"]
        assert x.dtype == row["x dtype"]
        assert np.unique(x).size == 9
        near = np.sort(x)
        if row["x values"] == "neighbours":
            assert (np.nextafter(near[:-1], np.inf, dtype=x.dtype) == near[1:]).all()
        else:
            assert np.ptp(x) < 5 < np.sqrt(1 / np.finfo(x.dtype).eps) < near[0]


def test_rows_are_made_again_only_for_other_factors() -> None:
    pytest.importorskip("covertable")
    space = Space("f", {"x": "float"}, {"a vector": {"x": [3]}, "a matrix": {"x": [2, 3]}})
    text = covering.covering_text({"f": space}, {})
    assert covering.covering_text({"f": space}, {}) == text, "the same factors have the same rows"
    kept = {"f": {"of": space.digest, "rows": ["9 9 9"]}}
    assert '    "9 9 9",' in covering.covering_text({"f": space}, kept)
    other = Space("f", {"x": "float"}, {"a vector": {"x": [4]}})
    assert '    "9 9 9",' not in covering.covering_text({"f": other}, kept)


# What calls had


@pytest.mark.parametrize(
    ("array", "layout", "levels"),
    [
        (np.array(0.0), "rows", "0-d, one entry, float64, rows, zero"),
        (np.zeros((0, 3), np.float32), "columns", "2 axes, empty, float32, rows"),
        (np.array([1.0, -1.0, -0.0]), "columns", "1 axis, float64, rows, zero, minus zero, ties"),
        (np.array([[5e-324, 1.0]]), "sliced", "2 axes, several axes, float64, sliced, denormal"),
        (np.array([1e-6, 1.0]), "repeated", "1 axis, float64, repeated, mixed"),
        (np.array([[[1e-45], [2.0]]], np.float32), "columns", "more axes, several axes, float32, rows, denormal"),
        (np.array([2, 2], np.int32), "rows", "1 axis, int32, rows, equal"),
    ],
)
def test_levels_of_an_array(array: np.ndarray, layout: str, levels: str) -> None:
    assert sorted(level for _, level in levels_of(array, layout)) == sorted(levels.split(", "))


def test_each_argument_has_a_layout_of_its_own() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    (a, b, c), options = arranged([x, y, x], {"axis": 0}, "columns,repeated,=0,rows")
    assert a.flags.f_contiguous
    assert b.strides == (0, 8)
    assert not b.flags.writeable
    assert c is a
    assert options == {"axis": 0}
    assert laid_out(x, "repeated") is x, "nothing repeats in it"
    zeros = np.array([0.0, -0.0])
    assert laid_out(zeros, "repeated") is zeros, "that would change a sign"
    assert laid_out(x, "sliced").strides == (-48, -16)


def test_tensors_repeat_too() -> None:
    torch = pytest.importorskip("torch")
    assert laid_out(torch.ones(2, 3), "repeated").stride() == (0, 1)
    assert laid_out(torch.ones(2, 3), "sliced").stride() == (6, 2)


# The rule

CHECK = """
from autograder.judging import check_kinds, exercise, expect_close, random

@exercise("double")
def test_vector(learner, reference, rng):
    x = random(rng, (3,))
    expect_close(learner.double(x), reference.double(x), rtol=1e-9, atol=1e-12)
"""
DRAWN = """
@exercise("double")
def test_every_kind_of_input(learner, reference, kinds):
    check_kinds(learner, reference, kinds, "double")
"""
CASES = """
[double]
arrays = { x = "float" }
cases."a number" = { x = [] }
cases."one entry" = { x = [1] }
cases."a vector" = { x = [6] }
cases."a matrix" = { x = [2, 6] }
cases."a stack" = { x = [2, 2, 3] }
"""
SCENARIO = """
def doubled(submission, number, states):
    return submission.double(number)
"""
IN_STATES = """
@exercise("double")
def test_every_state(learner, reference, kinds):
    for kind in kinds:
        number, states = float(kind.rng.normal()), kind.states
        got, expected = (who.scenario.doubled(number, states) for who in (learner, reference))
        expect_close(got, expected, case=kind.label, rtol=1e-9, atol=1e-12)
"""
A_BOX = """
[kinds.box]
lid = ["open"]
label = ["torn", "wet"]

[double]
objects = { box = "box" }
cases."a number" = {}
cases."another number" = {}
without."*: shape" = "x is a vector"
without."*: values" = "x is drawn"
without."*: dtype" = "x is drawn"
without."*: layout" = "x is drawn"
"""
EMPTY = 'without."x: shape empty" = "there is nothing to double"\n'


@pytest.fixture
def missing(tmp_path: Path) -> Callable[[str, str], list[str]]:
    """The problems that the rule finds in a course whose lesson has these factors and further checks."""
    lesson = of_one(Exercise(LESSON, "double", 3, "core", ("a", "b"), ENVIRONMENT))
    folder = f"autograder/lessons/{LESSON}"

    def found(factors: str, checks: str) -> list[str]:
        files = {f"solutions/{LESSON}.py": "def double(x):\n    return 2 * x\n", f"{folder}/factors.toml": factors}
        files[f"{folder}/scenarios/double.py"] = SCENARIO
        root = written(tmp_path, {**files, f"{folder}/checks/double.py": CHECK + checks})
        course = Course(root, {LESSON: lesson})
        for path, text in covering.generated(course).items():
            path.write_text(text, encoding="utf-8")
        problems = factors_in_step(course) or with_judge(lesson, lambda judge: unvaried(course, judge), root=root)
        return [str(problem) for problem in problems]

    return found


def test_levels_that_no_check_has_are_named(missing: Callable[[str, str], list[str]]) -> None:
    said = "\n".join(missing("", ""))
    assert "double: no check with hidden or visible inputs has “x: dtype float32”" in said
    assert "“x: values zero, minus zero, denormal, mixed, ties”" in said
    assert "“x: shape 0-d, empty, one entry, 2 axes, more axes”" in said


def test_drawn_rows_have_all_levels_and_pairs(missing: Callable[[str, str], list[str]]) -> None:
    pytest.importorskip("covertable")
    assert missing(CASES + EMPTY, DRAWN) == []
    assert "“x: shape empty”" in missing(CASES, DRAWN)[0]


def test_a_pair_that_no_check_has_is_named(missing: Callable[[str, str], list[str]]) -> None:
    pytest.importorskip("covertable")
    levels = {"0-d": "[]", "one": "[1]", "stack": "[2, 2, 3]"}
    cases = "".join(f'cases."{name}" = {{ x = {shape} }}\n' for name, shape in levels.items())
    reasons = EMPTY + 'without."x: shape 2 axes" = "three stand for two"\n'
    table = f'[double]\narrays = {{ x = "float" }}\n{cases}{reasons}'
    assert "“x: layout repeated & x: shape 1 axis”" in missing(table, DRAWN)[0]
    layouts = f'{table}without."x: shape 1 axis & layout" = "a"\n'
    assert missing(layouts, DRAWN) != [], "pairs of that shape and values are missing, too"
    assert missing(f'{layouts}without."x: shape 1 axis & values" = "a"\n', DRAWN) == []


def test_states_that_no_scenario_has_are_named(missing: Callable[[str, str], list[str]]) -> None:
    said = "\n".join(missing(A_BOX, ""))
    assert "no check with hidden or visible inputs has “box: lid open”" in said
    assert "“box: label torn, wet”" in said


def test_states_of_objects_are_drawn(missing: Callable[[str, str], list[str]]) -> None:
    pytest.importorskip("covertable")
    assert missing(A_BOX, IN_STATES) == []
    assert missing(f'{A_BOX}without."box: lid open & label wet" = "it would leak"\n', IN_STATES) == []
    dry = f'{A_BOX}without."call: case a number & box: label wet" = "it would leak"\n'
    assert missing(dry, IN_STATES) == []
    without = f'{A_BOX}without."box: label wet" = "it would leak"\n'
    assert missing(without, IN_STATES) == []


def test_a_pair_of_states_that_no_scenario_has_is_named(missing: Callable[[str, str], list[str]]) -> None:
    pytest.importorskip("covertable")
    assert "“box: label wet & box: lid open”" in missing(A_BOX, IN_STATES.replace("kind.states", UNLIKE))[0]


UNLIKE = '{**kind.states, **({"box label": "plain"} if kind.levels["box lid"] == "open" else {})}'
"""States in which no open box has a label of note."""


def test_numbers_are_drawn(missing: Callable[[str, str], list[str]]) -> None:
    pytest.importorskip("covertable")
    one = '[double]\narrays = { x = "number" }\ncases."a number" = {}\n'
    assert missing(f'{one}without."x: values ties" = "it is alone"\n', DRAWN) == []
    said = "\n".join(missing(one, DRAWN))
    assert "“x: values ties”" in said, "no other argument has its value"
    assert "large" not in said


def test_a_reason_for_what_is_there_is_named(missing: Callable[[str, str], list[str]]) -> None:
    pytest.importorskip("covertable")
    said = missing(f'{CASES}{EMPTY}without."x: shape 0-d & dtype float32" = "a"\n', DRAWN)
    what = "double: a check has “x: shape 0-d & dtype float32”, or it is nothing to ask for; delete the reason"
    assert said == [f"autograder/lessons/{LESSON}/factors.toml: {what}"]


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ("[double", "it cannot be read"),
        ("[double]\nshapes = 3\n", "double has no 'shapes': there are arrays, cases, objects, same, values, without"),
        ('[double]\narrays = { x = "int8" }\n', "double: x is 'int8', which is none of float, float64, whole, number"),
        ('[double]\nobjects = { x = "net" }\n', "double: x is 'net', which is none of module"),
        ('[double]\nwithout."layout" = "a"\n', "“layout” names no argument: write “x: layout columns”"),
        ("[halve]\n", "halve is no exercise of the lesson"),
    ],
)
def test_a_wrong_file_is_named(missing: Callable[[str, str], list[str]], factors: str, says: str) -> None:
    try:
        said = missing(factors, "")
    except AuthoringError as error:  # `backprop build` says so
        said = [str(error)]
    assert says in said[0]


def test_a_check_without_rows_is_named(missing: Callable[[str, str], list[str]]) -> None:
    with pytest.raises(Exception, match=r"double has no rows in covering\.toml: list it in factors\.toml and run"):
        missing("", DRAWN)


def test_labels_say_what_is_special() -> None:
    rows = kinds_in(COURSE.covering("ch06_vjps"), "relu_vjp", np.random.default_rng(0))
    labels = [row.label for row in rows]
    assert all(re.match(r"(a 0-d array|one entry|a vector|three axes|an empty array)(;|$)", one) for one in labels)
    assert any("x float32 and backwards with gaps in memory" in one for one in labels)
