"""A lesson's source becomes the expected notebook, and an invalid source is refused with a message."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import ClearSolutions
from nbgrader.utils import compute_checksum

from autograder.authoring.stubs import notebook_text, solved_notebook, stub_notebook
from autograder.authoring.tree import AuthoringError
from autograder.workbook import as_python
from course.syllabus import Environment, Exercise, Lesson

SOURCE = '''\
# %% [markdown]
# # A small lesson
#
# Prose with $g^T$ and “ö”.

# %%
import numpy as np

# %% [markdown]
# ## `double`

# %% exercise="double"
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return _times(x, 2)
    ### END SOLUTION


# %% tags=["solution"]
# only the reference needs this
def _times(x, n):
    return np.multiply(x, n)


# %% tags=["demo"]
# A demo: no check runs it.
ones = np.ones(3)

# %% exercise="Counter"
class Counter:
    """Counts."""

    def __init__(self):
        ### BEGIN SOLUTION
        self.n = 0
        ### END SOLUTION

    def step(self):
        ### BEGIN SOLUTION
        self.n += 1
        ### END SOLUTION
'''


IN_BRACKETS = """\
    return (
        ### BEGIN SOLUTION
        2 * x
        ### END SOLUTION
    )"""


def _exercise(name: str, points: float) -> Exercise:
    return Exercise("ch01_small", name, points, "core", ("a", "b"), ENVIRONMENT)


ENVIRONMENT = Environment(("numpy",), ())
LESSON = Lesson("ch01_small", "Small", "I", 10, ENVIRONMENT, (_exercise("double", 2), _exercise("Counter", 3)))


@pytest.fixture
def solutions(tmp_path: Path) -> Path:
    (tmp_path / "ch01_small.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def _refused(solutions: Path, old: str, new: str) -> str:
    """The message about the source with `old` replaced by `new`."""
    path = solutions / "ch01_small.py"
    assert old in SOURCE
    path.write_text(SOURCE.replace(old, new), encoding="utf-8")
    with pytest.raises(AuthoringError) as refusal:
        stub_notebook(LESSON, solutions)
    message = str(refusal.value)
    assert message.startswith("solutions/ch01_small.py: ")
    assert "\n" not in message
    return message


def test_the_cells_stand_in_the_order_of_the_source(solutions: Path) -> None:
    cells = stub_notebook(LESSON, solutions).cells
    assert [cell.id for cell in cells] == [
        "ch01-setup",
        "ch01-text-double-1",
        "ch01-how",
        "ch01-given-double-1",
        "ch01-text-double-2",
        "ch01-double",
        "ch01-check-double",
        "ch01-given-Counter-1",
        "ch01-Counter",
        "ch01-check-Counter",
    ]
    assert cells[0].source == 'from autograder import lesson\n\ncheck = lesson("ch01_small")'
    assert cells[0].metadata.tags == ["setup"]
    assert cells[6].source.startswith('check("double")  # core, ')
    assert cells[6].metadata.tags == ["check", "raises-exception"]
    assert cells[7].metadata.tags == ["demo"]
    assert cells[1].source.endswith("Prose with $g^T$ and “ö”.")
    assert cells[2].source.startswith("**How an exercise works.** Write your code in the place of")
    assert 'check("double", hint=1)' in cells[2].source
    assert cells[2].metadata.nbgrader.locked


def test_the_solution_is_replaced_by_a_line_that_names_the_exercise(solutions: Path) -> None:
    text = notebook_text(stub_notebook(LESSON, solutions))
    cells = {cell.id: cell for cell in nbformat.reads(text, as_version=4).cells}
    stub = 'raise NotImplementedError("double: your code here")'
    assert cells["ch01-double"].source == f'def double(x):\n    """Twice x."""\n    {stub}'
    assert cells["ch01-Counter"].source.count('raise NotImplementedError("Counter: your code here")') == 2
    for trace in ("SOLUTION", "_times", "np.multiply", "self.n"):
        assert trace not in text


def test_nbgrader_knows_every_cell_but_those_that_it_would_clear(solutions: Path) -> None:
    notebook = stub_notebook(LESSON, solutions)
    MetadataValidator().validate_nb(notebook)
    cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    known = {cell.metadata.nbgrader.grade_id: cell for cell in cells}
    assert len(known) == len(cells)
    assert all(("nbgrader" in cell.metadata) is ("exercise" not in cell.metadata) for cell in notebook.cells)
    cleared, _ = ClearSolutions().preprocess(copy.deepcopy(notebook), {})
    assert cleared.cells == notebook.cells
    kinds = {name: _kind(cell.metadata.nbgrader) for name, cell in known.items()}
    assert kinds.pop("check-double") == kinds.pop("check-Counter") == (True, False, True)
    assert set(kinds.values()) == {(False, False, True)}
    assert known["check-double"].metadata.nbgrader.points == 2
    assert known["check-Counter"].metadata.nbgrader.points == 3
    for cell in cells:
        assert cell.metadata.nbgrader.checksum == compute_checksum(cell)
        assert cell.metadata.editable is False
        assert cell.metadata.deletable is False


def _kind(nbgrader: dict[str, bool]) -> tuple[bool, bool, bool]:
    return nbgrader["grade"], nbgrader["solution"], nbgrader["locked"]


def test_the_text_of_a_notebook_is_always_the_same(solutions: Path) -> None:
    first, second = (notebook_text(stub_notebook(LESSON, solutions)) for _ in range(2))
    assert first == second
    assert first.endswith("}\n")
    assert notebook_text(nbformat.reads(first, as_version=4)) == first
    content = json.loads(first)
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    assert all(
        set(cell["metadata"]) <= {"exercise", "tags", "nbgrader", "deletable", "editable"} for cell in content["cells"]
    )
    assert all(cell.get("outputs", []) == [] and cell.get("execution_count") is None for cell in content["cells"])


def test_the_solved_notebook_runs_and_has_the_cells_of_the_stub(solutions: Path) -> None:
    solved, stub = solved_notebook(LESSON, solutions), stub_notebook(LESSON, solutions)
    namespace: dict[str, Any] = {}
    namespace["check"] = lambda name: namespace[name](3) if name == "double" else namespace[name]().step()
    for cell in solved.cells[1:]:
        if cell.cell_type == "code":
            exec(cell.source, namespace)
    assert namespace["double"](3) == 6
    cells = [cell for cell in solved.cells if "solution" not in cell.metadata.get("tags", [])]
    assert [cell.id for cell in cells] == [cell.id for cell in stub.cells]


def test_the_stub_as_a_python_file_is_the_same_lesson(solutions: Path) -> None:
    stub = stub_notebook(LESSON, solutions)
    text = as_python(notebook_text(stub))
    assert '# %% exercise="double"\ndef double(x):' in text
    assert '# %% tags=["check", "raises-exception"]\ncheck("double")' in text
    compile(text, "ch01_small.py", "exec")
    again = jupytext.reads(text, fmt="py:percent")
    assert [(cell.cell_type, cell.source) for cell in again.cells] == [
        (cell.cell_type, cell.source) for cell in stub.cells
    ]
    for cell, original in zip(again.cells, stub.cells, strict=True):
        for key in ("exercise", "tags"):
            assert cell.metadata.get(key) == original.metadata.get(key)


def test_exercises_must_be_those_of_the_syllabus(solutions: Path) -> None:
    marker = '# %% exercise="double"'
    assert "'triple' is not in course/syllabus.toml" in _refused(solutions, marker, '# %% exercise="triple"')
    assert "'double' of course/syllabus.toml is missing" in _refused(solutions, marker, "# %%\n\n# %% [markdown]")
    assert "'double' has 2 cells" in _refused(solutions, marker, f"{marker}\nX = 1\n{marker}")
    first, second = (exercise.name for exercise in LESSON.exercises)
    swapped = SOURCE.replace(f'"{first}"', '"_"').replace(f'"{second}"', f'"{first}"').replace('"_"', f'"{second}"')
    assert "'Counter' stands where course/syllabus.toml has 'double'" in _refused(solutions, SOURCE, swapped)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    ### BEGIN SOLUTION\n    return _times(x, 2)\n    ### END SOLUTION", "    return 2 * x", "'double' needs"),
        ("    return _times(x, 2)\n    ### END SOLUTION", "    return _times(x, 2)", "'double' needs"),
        ("    ### BEGIN SOLUTION\n    return _times", "    return _times", "'double' needs"),
        ("def double(x)", "def twice(x)", "'double' does not define double"),
        ("def double(x):", "def double(x)", "'double' is not Python"),
        (
            "    ### BEGIN SOLUTION\n    return _times(x, 2)\n    ### END SOLUTION",
            IN_BRACKETS,
            "the stub of exercise 'double' is not Python",
        ),
        ("import numpy as np", "import numpy as np\n### BEGIN SOLUTION\n### END SOLUTION", "'import numpy as np' has"),
        ("import numpy as np", "import numpy as np\n# %matplotlib inline", "'import numpy as np' is not Python"),
        ('tags=["demo"]', 'tags=["check"]', "'# A demo: no check runs it.' has the tag 'check'"),
        (
            '    """Counts."""\n\n    def __init__(self):\n        ### BEGIN SOLUTION\n',
            '    """Counts."""\n\n    ### BEGIN SOLUTION\n    def __init__(self):\n',
            "the stub of exercise 'Counter' raises when its cell runs: begin its region inside a function",
        ),
        ("# A demo: no check runs it.\n", "", "has the tag 'demo' and does not begin with '# A demo'"),
        ('tags=["demo"]', "", "begins with '# A demo' and has no tag 'demo'"),
    ],
)
def test_a_source_that_would_make_a_wrong_notebook_is_refused(solutions: Path, old: str, new: str, said: str) -> None:
    assert said in _refused(solutions, old, new)


def test_a_missing_source_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(AuthoringError, match=r"solutions/ch01_small.py: there is no such file"):
        stub_notebook(LESSON, tmp_path)


PARTS = '''\
# %% exercise="Counter" part="starting"
class Counter:
    """Counts."""

    def __init__(self):
        ### BEGIN SOLUTION
        self.n = 0
        ### END SOLUTION

# %% [markdown]
# Now it counts.

# %% exercise="Counter" part="counting up"
def step(self):
    ### BEGIN SOLUTION
    self.n += 1
    ### END SOLUTION

Counter.step = step

# %% exercise="Counter.back"
def back(self):
    ### BEGIN SOLUTION
    self.n -= 1
    ### END SOLUTION

Counter.back = back
'''
_UP, _BACK = PARTS.index('# %% exercise="Counter" part="counting up"'), PARTS.index('# %% exercise="Counter.back"')
APART = PARTS[_BACK:] + "\n" + PARTS[_UP:_BACK]
"""The second exercise, followed by the second part of the first."""
IN_PARTS = Lesson("ch01_small", "Small", "I", 10, ENVIRONMENT, (_exercise("Counter", 2), _exercise("Counter.back", 1)))


def test_an_exercise_in_parts_has_one_check_after_the_last(tmp_path: Path) -> None:
    (tmp_path / "ch01_small.py").write_text(PARTS)
    cells = {cell.id: cell.source for cell in stub_notebook(IN_PARTS, tmp_path).cells}
    assert list(cells) == [
        "ch01-setup",
        "ch01-how",
        "ch01-Counter-starting",
        "ch01-text-Counter-1",
        "ch01-Counter-counting-up",
        "ch01-check-Counter",
        "ch01-Counter-back",
        "ch01-check-Counter-back",
    ]
    assert 'raise NotImplementedError("Counter (counting up): your code here")' in cells["ch01-Counter-counting-up"]
    assert cells["ch01-check-Counter-back"].startswith('check("Counter.back")')
    assert "Counter.back = back" in cells["ch01-Counter-back"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('part="counting up"', 'part="starting"', "part 'starting' of exercise 'Counter' has 2 cells"),
        ("class Counter:", "class Count:", "'Counter' does not define Counter"),
        (PARTS[_UP:], APART, "the parts of exercise 'Counter' are not one after the other"),
        ("Counter.back = back", "Counter.forth = back", "'Counter.back' does not define Counter.back"),
    ],
)
def test_parts_that_cannot_be_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in PARTS
    (tmp_path / "ch01_small.py").write_text(PARTS.replace(old, new))
    with pytest.raises(AuthoringError, match=said):
        stub_notebook(IN_PARTS, tmp_path)


BROKEN = '''\
# %% exercise="double"
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    ### HANDED OUT
    # if x < 0:
    #     return x
    ### END SOLUTION
    y = x
    ### BEGIN SOLUTION
    y += x
    ### HANDED OUT
    ### END SOLUTION
    return y

# %% exercise="Counter"
class Counter:
    def __init__(self):
        ### BEGIN SOLUTION
        self.n = 0
        ### HANDED OUT
        # self.n = 1
        ### END SOLUTION

    def step(self):
        ### BEGIN SOLUTION
        self.n += 1
        ### END SOLUTION
'''


def test_a_program_to_mend_is_handed_out(tmp_path: Path) -> None:
    (tmp_path / "ch01_small.py").write_text(BROKEN)
    cells = {cell.id: cell.source for cell in stub_notebook(LESSON, tmp_path).cells}
    assert cells["ch01-double"] == (
        'def double(x):\n    """Twice x."""\n    if x < 0:\n        return x\n    y = x\n    return y'
    )
    stub = 'raise NotImplementedError("Counter: your code here")'
    assert cells["ch01-Counter"] == (
        f"class Counter:\n    def __init__(self):\n        self.n = 1\n\n    def step(self):\n        {stub}"
    )
    solved = {cell.id: cell.source for cell in solved_notebook(LESSON, tmp_path).cells}
    assert "HANDED OUT" not in "".join(solved.values())
    assert "if x < 0" not in solved["ch01-double"]
    assert "self.n = 1" not in solved["ch01-Counter"]
    namespace: dict[str, Any] = {}
    exec(solved["ch01-double"], namespace)
    assert namespace["double"](-3) == -6


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "    ### BEGIN SOLUTION\n    ### HANDED OUT",
            "    ### HANDED OUT\n    ### BEGIN SOLUTION",
            "not the one of its",
        ),
        ("    ### HANDED OUT\n    # if", "    ### HANDED OUT\n    ### HANDED OUT\n    # if", "not the one of its"),
        ("    # if x < 0:", "    y = 0", "no comment behind ### HANDED OUT: 'y = 0'"),
        ("    #     return x", "    # return x", "the stub of exercise 'double' is not Python"),
    ],
)
def test_what_cannot_be_handed_out_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in BROKEN
    (tmp_path / "ch01_small.py").write_text(BROKEN.replace(old, new))
    with pytest.raises(AuthoringError, match=said):
        stub_notebook(LESSON, tmp_path)
