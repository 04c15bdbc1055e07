"""The syllabus: the meaning of its entries, and messages for wrong ones."""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path
from types import ModuleType

import pytest

from autograder.lessons.ch06_vjps.scenarios.many_entries import _SHAPES
from autograder.notebook import card
from autograder.places import ROOT, Places
from autograder.worker.functions import resolve
from autograder.worker.kernels import is_pattern, operations_like
from course.syllabus import Lesson, SyllabusError, find_lesson, read_syllabus, syllabus

LESSON = """
[[lesson]]
slug = "ch01_x"
title = "X"
part = "P"
minutes = 5
packages = ["numpy"]
modules = []
"""
EXERCISE = """
[[lesson.exercise]]
name = "f"
points = 1
tier = "core"
hints = ["a", "b"]
"""


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return Reader(tmp_path / "syllabus.toml")


class Reader:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, *parts: str) -> Lesson:
        self.path.write_text("".join(parts))
        return read_syllabus(self.path)["ch01_x"]


def test_an_exercise_has_what_its_lesson_says_unless_it_says_otherwise(read: Reader) -> None:
    torch = EXERCISE.replace('"f"', '"g"') + 'packages = ["numpy", "torch"]\nseconds = 30\n'
    f, g = read(LESSON, EXERCISE, torch).exercises
    assert (f.environment.packages, f.seconds) == (("numpy",), 10)
    assert (g.environment.packages, g.seconds) == (("numpy", "torch"), 30)


def test_forbidden_calls_stand_alone_or_in_groups(read: Reader) -> None:
    groups = '[forbidden]\nautograd = ["torch.autograd.grad", "torch.func.grad"]\n'
    both = 'forbidden = ["torch.mul", "autograd"]\n'
    assert read(groups, LESSON, EXERCISE, both).exercise("f").forbidden == (
        *("torch.mul", "torch.autograd.grad", "torch.func.grad"),
    )
    assert read(LESSON, EXERCISE).exercise("f").forbidden == ()
    with pytest.raises(SyllabusError, match=r"ch01_x/f: forbidden 'autograd' is neither a group nor a full name"):
        read(LESSON, EXERCISE, both)


def test_a_technique_is_a_list_of_checks(read: Reader) -> None:
    assert read(LESSON, EXERCISE, 'technique = ["test_f"]\n').exercise("f").technique == ("test_f",)
    assert read(LESSON, EXERCISE).exercise("f").technique == ()
    with pytest.raises(SyllabusError, match="ch01_x/f: technique must be a list of names of checks"):
        read(LESSON, EXERCISE, 'technique = "test_f"\n')


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('tier = "core"\n', "ch01_x/f: tier is missing"),
        ("points = 1\n", "ch01_x/f: points is missing"),
    ],
)
def test_what_is_missing_is_said(read: Reader, line: str, complaint: str) -> None:
    with pytest.raises(SyllabusError, match=complaint):
        read(LESSON, EXERCISE.replace(line, ""))


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        (
            (LESSON, EXERCISE, 'forbiden = ["torch.mul"]\n'),
            "ch01_x/f: 'forbiden' means nothing here; did you mean forbidden?",
        ),
        ((LESSON, EXERCISE.replace("points = 1", 'points = "two"')), "ch01_x/f: points must be a number, and is 'two'"),
        ((LESSON, EXERCISE, "seconds = true\n"), "ch01_x/f: seconds must be a number, and is True"),
        ((LESSON, EXERCISE, "why = 3\n"), "ch01_x/f: why must be text"),
        ((LESSON.replace("minutes", "minuets"), EXERCISE), "lesson ch01_x: 'minuets' means nothing here"),
        ((LESSON, EXERCISE.replace('"core"', "core")), "syllabus.toml is no TOML: Invalid value"),
    ],
)
def test_what_means_nothing_is_said(read: Reader, parts: tuple[str, ...], complaint: str) -> None:
    """A misspelled ban used to have no effect."""
    with pytest.raises(SyllabusError) as found:
        read(*parts)
    assert str(found.value).startswith(complaint)


def test_an_unknown_tier_and_a_name_twice(read: Reader) -> None:
    with pytest.raises(SyllabusError, match="ch01_x/f: tier 'middle' is not one of core, stretch"):
        read(LESSON, EXERCISE.replace("core", "middle"))
    with pytest.raises(SyllabusError, match="lesson ch01_x: an exercise is listed twice"):
        read(LESSON, EXERCISE, EXERCISE)


@pytest.mark.parametrize("name", ["fix_2", "fix2", "fix_002"])
def test_a_number_without_its_zero_is_not_another_number(name: str) -> None:
    """`check("fix_2")` used to suggest fix_12."""
    with pytest.raises(KeyError, match=r"Did you mean fix_02\?"):
        find_lesson("ch12_debugging").exercise(name)


def test_all_that_the_syllabus_forbids_is_there() -> None:
    for exercise in (exercise for lesson in syllabus().values() for exercise in lesson.exercises):
        for name in exercise.forbidden:
            if is_pattern(name):
                assert operations_like(name), f"{exercise.full_name} forbids {name}, which fits nothing"
                continue
            target = resolve(name)[2]
            assert callable(target) or isinstance(target, ModuleType), f"{exercise.full_name} forbids {name}"


@pytest.mark.parametrize(
    ("lesson", "name", "operations"),
    [
        (
            "ch08_custom_functions",
            "GELU",
            ("infinitely_differentiable_gelu_backward", "gelu_", "gelu_backward", "_addmm_activation"),
        ),
        (
            "ch08_custom_functions",
            "FusedCrossEntropy",
            (
                "cross_entropy_loss",
                "nll_loss2d_backward",
                "_sparse_log_softmax_backward_data",
                "_masked_softmax_backward",
                "mse_loss_backward",
            ),
        ),
    ],
)
def test_all_operations_of_a_kind_are_forbidden(lesson: str, name: str, operations: tuple[str, ...]) -> None:
    """A list of names used to be incomplete. Allowed operations stay: softmax, log_softmax and nll_loss forward."""
    forbidden = find_lesson(lesson).exercise(name).forbidden
    found = {operation for one in forbidden if is_pattern(one) for operation in operations_like(one)}
    assert {f"torch.ops.aten.{operation}" for operation in operations} <= found
    assert not found & {
        f"torch.ops.aten.{allowed}" for allowed in ("softmax", "log_softmax", "nll_loss", "erf", "tanh")
    }


def test_every_rule_of_ch06_is_asked_for_many_entries() -> None:
    """An answer with one step per entry earns nothing; `test_unearned.py` grades some of them."""
    exercises = {exercise.name: exercise.technique for exercise in find_lesson("ch06_vjps").exercises}
    assert exercises == dict.fromkeys(_SHAPES, ("test_many_entries",))
    assert min(sum(prod(shape) for shape in shapes[1:]) for shapes in _SHAPES.values()) > 7_000


def test_a_technique_is_asked_for_where_the_exercise_is_described() -> None:
    """Notebooks say that any way counts unless a text says *Points count only*: fix_06 and fix_11 did not say it."""
    silent = []
    for lesson in syllabus().values():
        text = (ROOT / "solutions" / f"{lesson.slug}.py").read_text(encoding="utf-8")
        introduction, *sections = re.split(r"^# ## (?=`)", text, flags=re.MULTILINE)
        described = {section.split("`")[1]: section for section in sections}
        silent += [
            exercise.full_name
            for exercise in lesson.exercises
            if exercise.technique and "Points count only" not in introduction + described[exercise.name]
        ]
    assert silent == []


def test_parts_of_an_exercise_are_those_of_its_stubs() -> None:
    """A check that ends at the stub of a part costs less, so a submission must not name parts of its own."""
    for lesson in syllabus().values():
        cells = json.loads(Places().notebook(lesson.slug).read_text(encoding="utf-8"))["cells"]
        for exercise in lesson.exercises:
            own = [cell for cell in cells if cell["metadata"].get("exercise") == exercise.name]
            code = "".join("".join(cell["source"]) for cell in own)
            named = re.findall(rf"{re.escape(exercise.name)} \(([^)]*)\): your code here", code)
            assert tuple(dict.fromkeys(named)) == exercise.parts, exercise.full_name


def test_code_in_hints_stands_between_backticks() -> None:
    """A card set all of a hint as prose, in which `over zip(output.parents, …)` is hard to read."""
    hints = [hint for lesson in syllabus().values() for one in lesson.exercises for hint in one.hints]
    bare = [re.sub(r"`[^`]+`", "", hint) for hint in hints]
    assert all("`" not in hint for hint in bare)
    calls = re.compile(r"\w\.[a-z]\w+\(|\w_\w+\(|\w\w_\w\w+\.|\w\.[a-z]+_[a-z]+|\w\.[a-z]+\[")
    assert not [hint for hint in bare if calls.search(hint)]


def test_a_hint_sets_its_code_in_the_font_of_code() -> None:
    assert "<code>a &lt; b</code> is" in card.hints(["`a < b` is <it>"], 1)
    assert "<code>a &lt; b</code> is &lt;it&gt;" in card.hints(["`a < b` is <it>"], 0)
