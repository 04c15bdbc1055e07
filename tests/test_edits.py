"""Misconceptions as edits of the reference: what an edit replaces, and the error if it finds nothing."""

from __future__ import annotations

import pytest

from autograder.authoring.mistaken import mistaken_cells, solved_cells
from autograder.authoring.tree import Course
from autograder.diagnosis import Edit, EditError, Misconception, edited, misconceptions_in, mistake
from autograder.judging.checking.reference import function_of, misconceptions_of

SOURCE = '''\
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    y = x + x  # of x
    if y:
        y = y * 1.0
    return y * 1.0
    ### END SOLUTION


class Node:
    def add(self, other):
        return self.value + other.value

    def sub(self, other):
        return self.value - other.value

    def copy(self):
        return self

    def detached(self):
        return self


@contextmanager
def block():
    yield
'''


SWAPPED = """\
def step(total, x):
    total = total + x
    x = total * 2
    return total, x
"""


@pytest.mark.parametrize(
    ("edit", "there"),
    [
        (Edit("double", "y = x + x", "y = x"), "    y = x\n    if y:"),
        (Edit("double", "return y * 1.0", "return -y"), "    return -y\n"),
        (
            Edit("double", "if y:\ny = y * 1.0", "while y:\n    y = 0"),
            "    while y:\n        y = 0\n",
        ),
        (Edit("double", "if y:\n    y = y * 1.0", ""), "# of x\n    return y * 1.0\n"),
        (Edit("Node.sub", "return self.value - other.value", "return 0"), "other):\n        return 0\n"),
        (Edit("Node", "return self.value + other.value", "return 1"), "add(self, other):\n        return 1\n"),
        (Edit("block", "@contextmanager", ""), "\n\ndef block():"),
    ],
)
def test_an_edit_changes_its_lines_and_no_others(edit: Edit, there: str) -> None:
    text = edit.applied(SOURCE)
    assert there in text
    compile(text, "the edited source", "exec")
    kept = [line for line in SOURCE.splitlines() if line in text.splitlines()]
    assert len(SOURCE.splitlines()) - len(kept) <= len(edit.before.splitlines())


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Edit("double", "y = x * x", "y = x"), "double has no line 'y = x * x'"),
        (Edit("Node", "return self", "return 0"), "Node has 2 times the line 'return self'"),
        (Edit("treble", "y = x + x", "y = x"), "there is no treble"),
        (Edit("Node.add", "return self.value - other.value", "return 0"), "Node.add has no line"),
    ],
)
def test_an_edit_that_finds_nothing_says_what_and_where(edit: Edit, said: str) -> None:
    with pytest.raises(EditError, match=said.replace("*", r"\*").replace("+", r"\+")):
        edit.applied(SOURCE)


def test_edits_find_the_lines_of_the_original() -> None:
    """Formerly swapping two lines failed: the first edit made a second line like the one that the other looks for."""
    first, second = (line.strip() for line in SWAPPED.splitlines()[1:3])
    swap = [Edit("step", first, second), Edit("step", second, first)]
    for edits in (swap, swap[::-1]):
        lines = edited(SWAPPED, edits).splitlines()
        assert lines == [SWAPPED.splitlines()[i] for i in (0, 2, 1, 3)]
    with pytest.raises(EditError, match="no line 'y = x'"):
        edited(SOURCE, [Edit("double", "y = x + x", "y = x"), Edit("double", "y = x", "y = 3 * x")])
    with pytest.raises(EditError, match="are the same line"):
        edited(SWAPPED, [Edit("step", first, "pass"), Edit("step", f"{first}\n{second}", "pass")])


def test_a_mistake_is_named_after_its_variable() -> None:
    class Register:
        """Stands for a module."""

    Register.forgets_the_sum = mistake("add_vjp", {"a": "b"}, says="You forgot the sum.")  # type: ignore[attr-defined]
    (found,) = misconceptions_in(Register)
    assert (found.name, found.exercise, found.edits) == ("forgets_the_sum", "add_vjp", (Edit("add_vjp", "a", "b"),))


NOT_SUMMED = Misconception(
    "add_vjp", "not_summed", "…", (Edit("add_vjp", "return unbroadcast(g, a), unbroadcast(g, b)", "return g, g"),)
)


def test_a_mistake_works_as_a_function_and_in_a_submission() -> None:
    """Both as a gradient checker's argument and in a submission."""
    assert function_of(NOT_SUMMED, "ch06_vjps")(1, 2, 3) == (1, 1)
    names: dict[str, object] = {}
    course, slug = Course.at(), "ch06_vjps"
    for cell in mistaken_cells(solved_cells(course, slug), [NOT_SUMMED], course.mistakes(slug)):
        exec(cell, names)
    assert names["add_vjp"](1, 2, 3) == (1, 1)  # type: ignore[operator]


@pytest.mark.parametrize("slug", list(Course.at().lessons))
def test_functions_of_a_register_can_be_handed_in(slug: str) -> None:
    """If it did not run without the grader, the solution above it would count and earn full marks."""
    course = Course.at()
    functions = [known for known in misconceptions_of(slug) if known.function is not None]
    names: dict[str, object] = {}
    cells = mistaken_cells([], functions[:1], course.mistakes(slug))
    for cell in cells:
        exec(cell.rpartition("\n")[0], names)  # without the line that replaces the solution
    assert not functions or hasattr(names["wrong"], functions[0].name)
