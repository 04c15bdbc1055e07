"""The mutation operators, which checks run on mutants, and the report on survivors."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from autograder.authoring.mutation.equivalents import EquivalentsError, out_of_date, read_equivalents
from autograder.authoring.mutation.lessons import mutate_lesson
from autograder.authoring.mutation.mutants import Mutant, mutants_of
from autograder.authoring.mutation.trials import KILLED, SURVIVED, Outcome, TrialError
from autograder.authoring.tree import Course
from autograder.diagnosis import Edit
from autograder.diagnosis.mutation.operators import mutations
from autograder.diagnosis.mutation.text import Source, Splice
from autograder.places import Places, file_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
Command = Callable[..., subprocess.CompletedProcess[str]]


def mutated(statement: str) -> set[str]:
    """The mutants of one statement."""
    source = Source(statement + "\n")
    edits = {edit for node in source.tree.body for edit in mutations(source, node)}
    return {edit.applied(source.bytes).strip() for edit in edits}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y = a + b", {"y = a - b", "y = a * b", "y = a", "y = b", "y = -(a + b)"}),
        ("y = a - b", {"y = a + b", "y = b - a", "y = a", "y = b"}),
        ("y = (a + b) / c", {"y = c / (a + b)", "y = (a + b) * c", "y = (a + b)", "y = (a) / c"}),
        ("y = a * b / c", {"y = c / (a * b)"}),
        ("y = x**2", {"y = x**3", "y = x**1", "y = x**4", "y = x*2", "y = x"}),
        ("y = A @ B", {"y = A.T @ B", "y = A @ B.T", "y = B @ A", "y = A * B"}),
        ("y = -x", {"y = x"}),
        ("y += x", {"y -= x", "y = x", "pass"}),
        ("y = a < b", {"y = a <= b", "y = a > b"}),
        ("y = a is not None and b", {"y = a is None and b", "y = a is not None or b", "y = b"}),
        ("y = not (a or b)", {"y = a or b", "y = not (a and b)", "y = not (a)", "y = not (b)"}),
        ("y = x.sum(axis=0)", {"y = x.sum(axis=1)", "y = x.sum(axis=-1)", "y = x.sum(axis=None)", "y = x.sum()"}),
        ("y = x.sum(axis=(0, 2))", {"y = x.sum(axis=(2,))", "y = x.sum(axis=(0,))", "y = x.mean(axis=(0, 2))"}),
        ("y = x.max(keepdims=True)", {"y = x.max(keepdims=False)", "y = x.min(keepdims=True)"}),
        ("y = A.T", {"y = A"}),
        ("y = A.swapaxes(-1, -2)", {"y = A", "y = A.T"}),
        ("y = x.copy()", {"y = x"}),
        ("y = np.zeros_like(x)", {"y = np.ones_like(x)"}),
        ("y = f(a, b)", {"y = f(b, a)", "y = a"}),
        ("y = a, b", {"y = b, a"}),
        ("y = {'a': a, 'b': b}", {"y = {'a': b, 'b': a}", "y = {'a': -a, 'b': b}"}),
        ("y = x[1:n]", {"y = x[:n]", "y = x[1:]", "y = x[2:n]", "y = x[0:n]"}),
        ("y = x[i, j]", {"y = x[j, i]"}),
        ("y = x[::-1]", {"y = x[:]"}),
        ("y = 2.5 * x", {"y = 3.5 * x", "y = 1.5 * x", "y = 5.0 * x", "y = 0.0 * x"}),
        ("y = a if c else b", {"y = a if True else b", "y = a if False else b"}),
        ("y = [a for a in x if c]", {"y = [a for a in x if True]", "y = [a for a in x if False]"}),
        ("for i in range(n):\n    f(i)", {"for i in range(n - 1):\n    f(i)", "for i in range(n):\n    pass"}),
        ("while a:\n    break", {"while False:\n    break", "while a:\n    pass", "while a:\n    continue"}),
        ("with no_grad():\n    f()", {"if True:\n    f()"}),
        ("if a:\n    raise ValueError('no')", {"if a:\n    pass", "if a:\n    raise ArithmeticError('no')"}),
        ("x.grad = None", {"pass"}),
        ('y = np.einsum("ij,jk->ik", a, b)', {'y = np.einsum("ij,jk->ki", a, b)', 'y = np.einsum("ji,jk->ik", a, b)'}),
    ],
)
def test_operators(statement: str, expected: set[str]) -> None:
    assert expected <= mutated(statement)


@pytest.mark.parametrize(
    ("statement", "untouched"),
    [
        ('def f(x: 1 + 1) -> 2 + 2:\n    """1 + 1"""', "all of it"),
        ("raise ValueError(f'{a + b} of {1}')", "what it says"),
        ("y = zip(a, b, strict=True)", "strict"),
    ],
)
def test_invisible_changes_are_not_made(statement: str, untouched: str) -> None:
    allowed = {
        "all of it": set(),
        "what it says": {"pass"},
        "strict": {"y = zip(b, a, strict=True)", "y = -zip(a, b, strict=True)"},
    }
    kept = {text for text in mutated(statement) if not text.startswith("raise ArithmeticError(f'{a + b} of {1}')")}
    assert kept <= allowed[untouched]


SYLLABUS = """\
[[lesson]]
slug = "ch01_double"
title = "Doubling"
part = "I"
minutes = 10
packages = ["numpy"]
modules = []

[[lesson.exercise]]
name = "double"
points = 2
tier = "core"
hints = ["Look at the title.", "It is 2 * x."]

[[lesson.exercise]]
name = "count"
points = 2
tier = "core"
hints = ["Look at the title.", "It is a loop."]
"""

SOURCE = '''\
# %% [markdown]
# # Doubling

# %%
import numpy as np

GIVEN = 1 + 1


# %% tags=["solution"]
def twice(x):
    """x and x."""
    return x + x


# %% exercise="double"
def double(x):
    """2 x; both parts of the sum are 1 × 1 matrices."""
    ### BEGIN SOLUTION
    y = twice(x)  # a comment · of more bytes than letters
    return y * 1.0
    ### END SOLUTION


# %% exercise="count"
def count(n):
    """n, by counting."""
    ### BEGIN SOLUTION
    steps = 0
    while n > 0:
        n -= 1
        steps += 1
    return steps
    ### END SOLUTION
'''

CHECKS = '''\
"""Checks."""

import numpy as np

from autograder.judging import exercise, expect_close


@exercise("double")
def test_double(learner, reference, rng):
    """Twice the number."""
    x = rng.normal(size=3)
    got = learner.double(x)
    expect_close(LEFT, RIGHT, rtol=1e-9, atol=0)


@exercise("count")
def test_count(learner, reference):
    """As many as there are."""
    expect_close(learner.count(5), reference.count(5), rtol=0, atol=0)
'''

EQUIVALENT = """\
[[equivalent]]
where = "double"
before = "return y * 1.0"
after = "return y"
why = "1.0 changes nothing."

[[equivalent]]
where = "double"
before = "return y * 1.0"
after = "return y / 1.0"
why = "1.0 changes nothing."
"""


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Course]:
    """A course of one lesson, whose checks notice every sign."""
    for folder in ("course", "solutions", "autograder/lessons/ch01_double/checks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "course" / "syllabus.toml").write_text(SYLLABUS)
    (tmp_path / "solutions" / "ch01_double.py").write_text(SOURCE)
    write_checks(tmp_path)
    yield Course.at(tmp_path)
    shutil.rmtree(tmp_path)


def write_checks(root: Path, got: str = "got", expected: str = "reference.double(x)") -> None:
    text = CHECKS.replace("LEFT", got).replace("RIGHT", expected)
    file_of(Places(root).checks("ch01_double"), "double").write_text(text)


def write_equivalents(root: Path, text: str) -> None:
    Places(root).equivalents("ch01_double").write_text(text)


def mutants(course: Course) -> dict[str, list[Mutant]]:
    lesson = course.lessons["ch01_double"]
    return mutants_of(lesson, course.source(lesson.slug).read_text())


def mutate(course: Course, only: str = "") -> tuple[bool, str]:
    """Whether the lesson has no problems, and the printed output."""
    printed = io.StringIO()
    screen = Console(file=printed, width=120, markup=False, highlight=False)
    lesson = course.lessons["ch01_double"]
    well = mutate_lesson(course, lesson, only, jobs=1, screen=screen, progress=Console(quiet=True), seconds=1)
    return well, printed.getvalue()


def test_mutants_of_a_lesson(course: Course) -> None:
    found = mutants(course)
    assert list(found) == ["twice", "double", "count"]  # no given code, signature or docstring
    everything = [mutant for part in found.values() for mutant in part]
    assert len({mutant.id for mutant in everything}) == len(everything)
    assert found == mutants(course)
    unwrapped = next(mutant for mutant in found["double"] if mutant.change.after == "y = x")
    assert (unwrapped.line, unwrapped.change.before, unwrapped.change.where) == (20, "y = twice(x)", "double")
    assert all(mutant.exercises[0] == "double" for mutant in found["twice"])  # only `double` uses the helper
    assert all(mutant.exercises[0] == "count" for mutant in found["count"])


def test_a_lesson_with_good_checks(course: Course) -> None:
    write_equivalents(course.root, EQUIVALENT)
    well, printed = mutate(course)
    assert well, printed
    assert "no check notices" not in printed
    rows = {line.split()[0]: line.split() for line in printed.splitlines() if line.strip()}
    found = mutants(course)
    for part in found:
        assert int(rows[part][1]) == len(found[part])
    assert rows["double"][5] == "2"  # equivalent
    assert rows["all"][-2:] == ["100.0", "%"]
    # Endless loops, such as `n += 1` and `n -= 0`, are ended, and the run continues.
    assert int(rows["count"][1]) == int(rows["count"][2])
    assert int(rows["count"][4]) >= 2


def test_a_check_that_misses_a_sign(course: Course) -> None:
    write_equivalents(course.root, EQUIVALENT)
    write_checks(course.root, "abs(got)", "abs(reference.double(x))")
    well, printed = mutate(course, "double")
    assert not well
    assert "solutions/ch01_double.py:21: no check notices  (ch01_double/double/" in printed
    assert "    return y * 1.0\n    ->\n    return -(y * 1.0)\n" in printed
    assert "return y / 1.0" not in printed  # it is listed


def test_outdated_entries(course: Course) -> None:
    changes = [("/ 1.0", "+ 1.0"), ("/ 1.0", "% 1.0"), ('where = "double"', 'where = "triple"')]
    first, second = EQUIVALENT.split("\n\n")
    entries = [EQUIVALENT, first, *(second.replace(*change) for change in changes)]
    write_equivalents(course.root, "\n\n".join(entries))
    well, printed = mutate(course, "double")
    assert not well
    complaints = [
        "double: return y * 1.0  ->  return y: it is listed twice",
        "double: return y * 1.0  ->  return y + 1.0: it is not equivalent, a check notices it (killed)",
        "double: return y * 1.0  ->  return y % 1.0: no mutant that survives reads like that",
        "triple: return y * 1.0  ->  return y / 1.0: no mutant that survives reads like that",
    ]
    told = [
        line for line in printed.splitlines() if line.startswith("autograder/lessons/ch01_double/equivalents.toml: ")
    ]
    assert len(told) == len(complaints)
    for line, complaint in zip(told, complaints, strict=True):
        assert complaint in line


def test_one_entry_for_all_mutants_of_a_line(course: Course) -> None:
    anything = '[[equivalent]]\nwhere = "double"\nbefore = "return y * 1.0"\nafter = "*"\nwhy = "It is free."\n'
    write_equivalents(course.root, anything)
    assert mutate(course, "double")[0]


def outcome(nth: int, verdict: str) -> Outcome:
    mutant = Mutant("l/p/1", "p", Edit("f", "a = b", "pass"), ("p",), 1, nth, Splice(0, 1, ""))
    return Outcome(mutant, verdict)


def test_similar_mutants_are_distinguished(tmp_path: Path) -> None:
    file = tmp_path / "equivalents.toml"
    entry = '[[equivalent]]\nwhere = "f"\nbefore = "a = b"\nafter = "pass"\nwhy = "So."\n'
    outcomes = [outcome(1, KILLED), outcome(2, SURVIVED)]
    tried = [o.mutant for o in outcomes]
    file.write_text(entry)
    assert out_of_date(read_equivalents(file), outcomes, tried) != []
    file.write_text(entry + "nth = 2\n")
    assert out_of_date(read_equivalents(file), outcomes, tried) == []


def test_entries_of_untried_parts_are_not_judged(tmp_path: Path) -> None:
    file = tmp_path / "equivalents.toml"
    file.write_text('[[equivalent]]\nwhere = "f"\nbefore = "a = b"\nafter = "pass"\nwhy = "So."\n')
    assert out_of_date(read_equivalents(file), [], [outcome(1, KILLED).mutant]) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[equivalent", "not TOML"),
        ("[equal]\n", r"it must consist of \[\[equivalent\]\] entries"),
        ('[[equivalent]]\nwhere = "f"\n', "entry 1 must have where, before, after, why"),
        ('[[equivalent]]\nwhere = "f"\nbefore = "a"\nafter = "b"\nwhy = " "\n', "why of entry 1 must be text"),
        ('[[equivalent]]\nwhere = "f"\nbefore = "a"\nafter = "b"\nwhy = "c"\nnth = "2"\n', "nth of entry 1"),
    ],
)
def test_an_unreadable_list(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "equivalents.toml"
    file.write_text(text)
    with pytest.raises(EquivalentsError, match=complaint):
        read_equivalents(file)


def test_a_reference_that_fails_its_checks(course: Course) -> None:
    write_checks(course.root, "got + 1")
    with pytest.raises(TrialError, match="the reference fails the checks of double"):
        mutate(course, "double")


def test_the_command(backprop: Command) -> None:
    done = backprop("build", "--mutate", "ch06/relu_vjp", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100.0 %" in done.stdout
    assert "ch06_vjps: 10 mutants" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["ch06"], "only --check and --mutate take lessons"),
        (["--check", "--nbgrader", "ch06"], "--nbgrader are about all of them"),
        (["--check", "ch06/nothing"], "ch06_vjps has no exercise 'nothing'; it has add_vjp, "),
        (["--mutate", "--check"], "--mutate and --check are two runs"),
        (["--mutate", "--jobs", "0"], "--jobs must be at least 1"),
        (["--mutate", "ch99"], "there is no lesson 'ch99'; there are ch01_computation_graph, "),
        (["--mutate", "ch06/nothing"], "there is no exercise or helper 'nothing' to mutate; there are unbroadcast, "),
    ],
)
def test_the_command_refuses_bad_arguments(backprop: Command, arguments: list[str], complaint: str) -> None:
    done = backprop("build", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") <= 2  # one line, possibly wrapped, and no traceback


def test_the_lists_fit_the_solutions() -> None:
    """Every entry quotes a line of its function that has such mutants, which can be checked without running them."""
    course = Course.at(ROOT)
    for slug, lesson in course.lessons.items():
        listed = read_equivalents(course.equivalents(slug))
        found = [mutant for part in mutants_of(lesson, course.source(slug).read_text()).values() for mutant in part]
        assert out_of_date(listed, [Outcome(mutant, SURVIVED) for mutant in found], found) == []
