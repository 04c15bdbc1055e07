"""Each health rule is seen to fail on a course that breaks it, and to be silent on one that is whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from autograder.authoring import rules
from autograder.authoring.rejections import rejections_text
from autograder.authoring.rules import (
    Problem,
    described,
    drift,
    in_class,
    judged,
    memorised,
    nbgrader_scores,
    notebooks,
    order,
)
from autograder.authoring.stubs import notebook_text, solved_notebook, stub_notebook
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.commands import app
from autograder.places import file_of
from course.syllabus import Exercise, syllabus

pytestmark = pytest.mark.slow

SYLLABUS = """\
[[lesson]]
slug = "ch01_double"
title = "Doubling"
part = "I"
minutes = 10
packages = ["numpy"]
modules = ["course.data"]

[[lesson.exercise]]
name = "double"
points = 2
tier = "core"
hints = ["Look at the title.", "It is 2 * x."]
why = "One product is all that a double takes."

[[lesson]]
slug = "ch02_square"
title = "Squaring"
part = "I"
minutes = 10
packages = ["numpy"]
modules = []

[[lesson.exercise]]
name = "square"
points = 3
tier = "stretch"
hints = ["Look at the title.", "It is x * x."]
why = "A product of two needs no power."
"""

SOURCE = '''\
# %% [markdown]
# # TITLE
# [Chapter](../book/SLUG.md)

# %%
import numpy as np

# %% [markdown]
# ## `NAME`
# An array like x. [Chapter section](../book/SLUG.md#ANCHOR)


# %% exercise="NAME"
def NAME(x):
    """An array like x."""
    ### BEGIN SOLUTION
    return np.asarray(ANSWER)
    ### END SOLUTION
'''

WRONG = "autograder/lessons/ch01_double/mistakes/double.py"
REJECTIONS = "autograder/lessons/ch01_double/rejections.toml"
CHAPTER = """\
# TITLE

```{code-cell}
:tags: [hide-input]
import numpy as np
%matplotlib inline
```

(ANCHOR)=
## The section
"""

CHECKS = '''\
from autograder.judging import exercise, expect_close


@exercise("NAME")
def test_values(learner, reference, rng):
    """NAME(x) is ANSWER."""
    x = rng.normal(size=3)
    expect_close(learner.NAME(x), reference.NAME(x), case="three numbers", rtol=1e-9, atol=1e-12)


@exercise("NAME")
def test_matrix(learner, reference, rng):
    """Any shape."""
    x = rng.normal(size=(2, 3))
    expect_close(learner.NAME(x), reference.NAME(x), case="a matrix", rtol=1e-9, atol=1e-12)
'''

MISCONCEPTIONS = """\
from autograder.diagnosis import misconception


@misconception("NAME", says="Nothing was done.")
def unchanged(x):
    return 1.0 * x


@misconception("NAME", says="The sign is wrong.")
def negated(x):
    return -(ANSWER)


@misconception("NAME", says="One is added.")
def one_more(x):
    return ANSWER + 1
"""

ORACLES = """\
import numpy as np

from autograder.judging import exercise


@exercise("NAME")
def test_entry_by_entry(reference, rng):
    x = rng.normal(size=4)
    np.testing.assert_allclose(reference.NAME(x), [LITERAL for x in x], rtol=1e-12)
"""

LESSONS = {
    "ch01_double": {"NAME": "double", "ANSWER": "2 * x", "LITERAL": "x + x"},
    "ch02_square": {"NAME": "square", "ANSWER": "x * x", "LITERAL": "x**2"},
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small course with nothing wrong."""
    root = tmp_path_factory.mktemp("template")
    (root / "course").mkdir()
    (root / "course" / "syllabus.toml").write_text(SYLLABUS, encoding="utf-8")
    course = Course.at(root)
    for slug, words in LESSONS.items():
        lesson = course.lessons[slug]
        words = {"SLUG": slug, "TITLE": lesson.title, "ANCHOR": lesson.exercises[0].anchor, **words}
        for path, text in (
            (course.source(slug), SOURCE),
            (course.chapter(slug), CHAPTER),
            (file_of(course.checks(slug), words["NAME"]), CHECKS),
            (file_of(course.mistakes(slug), words["NAME"]), MISCONCEPTIONS),
            (file_of(course.oracles(slug), words["NAME"]), ORACLES),
        ):
            for word, value in words.items():
                text = text.replace(word, value)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        notebook = course.notebook(slug)
        notebook.parent.mkdir(exist_ok=True)
        notebook.write_text(notebook_text(stub_notebook(lesson, root / "solutions")), encoding="utf-8")
        rejections = with_judge(lesson, partial(rejections_text, places=course), root=root)
        course.rejections(slug).write_text(rejections, encoding="utf-8")
    return root


@pytest.fixture
def whole(template: Path, tmp_path: Path) -> Course:
    """A copy of the small course, to break."""
    without_bytecode = shutil.ignore_patterns("__pycache__")  # it is taken for that of a text of one time and size
    return Course.at(Path(shutil.copytree(template, tmp_path / "course", ignore=without_bytecode)))


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def _file(course: Course, kind: str) -> Path:
    """A file of ch01_double."""
    path: Path = getattr(course, kind)("ch01_double")
    return path / "double.py" if path.is_dir() else path


def _with_exercise(course: Course, **changes: object) -> Course:
    """The course with another first exercise of ch01_double in its syllabus."""
    lesson = course.lessons["ch01_double"]
    first: Exercise = replace(lesson.exercises[0], **changes)  # type: ignore[arg-type]
    return Course(course.root, {**course.lessons, "ch01_double": replace(lesson, exercises=(first,))})


def _only(problems: list[Problem]) -> str:
    """The one problem there is, as its line."""
    assert len(problems) == 1, [str(problem) for problem in problems]
    line = str(problems[0])
    assert "\n" not in line
    return line


@pytest.mark.parametrize("rule", rules.READ + rules.JUDGED, ids=lambda rule: rule.__name__)
def test_no_rule_complains_of_a_whole_course(whole: Course, rule: Callable[[Course], list[Problem]]) -> None:
    assert rule(whole) == []


@pytest.fixture
def build(whole: Course, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`backprop build ARGS` on the small course."""
    monkeypatch.setattr(Course, "at", lambda: whole)
    return lambda *args: CliRunner().invoke(app, ["build", *args])


def test_build_writes_what_changed_and_check_writes_nothing(whole: Course, build: Callable[..., Any]) -> None:
    folders = "autograder/lessons/ch01_double", "autograder/lessons/ch02_square"
    files = "exercises/ch01_double.ipynb", "exercises/ch02_square.ipynb", *(f"{at}/rejections.toml" for at in folders)
    unchanged = "".join(f"{file}: unchanged\n" for file in files)
    assert build().output == unchanged
    _edit(whole.source("ch01_double"), "An array like x. [", "An array of the shape of x. [")
    before = whole.notebook("ch01_double").read_bytes()
    checked = build("--check")
    assert checked.exit_code == 1
    assert checked.output.splitlines() == [str(problem) for problem in drift.notebooks_in_step(whole)]
    assert whole.notebook("ch01_double").read_bytes() == before
    assert build().output == unchanged.replace("unchanged", "written", 1)
    assert b"of the shape of x" in whole.notebook("ch01_double").read_bytes()
    assert build().output == unchanged
    rejections = whole.rejections("ch01_double")
    before = rejections.read_bytes()
    rejections.unlink()
    assert build().output == f"{REJECTIONS}: written".join(unchanged.split(f"{REJECTIONS}: unchanged"))
    assert rejections.read_bytes() == before


def test_build_says_in_one_line_what_is_wrong_with_a_source(whole: Course, build: Callable[..., Any]) -> None:
    _edit(whole.source("ch02_square"), "def square", "def squared")
    result = build()
    assert result.exit_code == 1
    said = "solutions/ch02_square.py: the cell of exercise 'square' does not define square"
    assert result.output == f"backprop: {said}\n"


def test_build_without_its_extra_says_what_to_install(
    build: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "autograder.authoring.stubs")
    monkeypatch.setitem(sys.modules, "jupytext", None)
    result = build()
    assert result.exit_code == 2
    assert result.output == "backprop: build needs jupytext: pip install 'backprop-course[instructor,torch,dev]'\n"


def test_the_commands_start_without_what_only_authors_need() -> None:
    code = "import sys, autograder.commands; print([name for name in ('jupytext', 'nbgrader') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_missing_file_is_named(whole: Course) -> None:
    (whole.oracles("ch02_square") / "square.py").unlink()
    assert _only(drift.listed_files(whole)).startswith(
        "autograder/lessons/ch02_square/oracles/square.py: this file is missing;"
    )


@pytest.mark.parametrize(
    "file",
    [
        "solutions/ch03_cube.py",
        "exercises/ch03_cube.ipynb",
        "autograder/lessons/ch03_cube/checks/cube.py",
        "book/ch03_cube.md",
    ],
)
def test_a_file_that_no_lesson_has_is_named(whole: Course, file: str) -> None:
    (whole.root / file).parent.mkdir(parents=True, exist_ok=True)
    (whole.root / file).write_text("", encoding="utf-8")
    (whole.lessons_folder / "conftest.py").write_text("", encoding="utf-8")
    (whole.root / "book/index.md").write_text("", encoding="utf-8")
    named = file.removesuffix("/checks/cube.py")
    assert _only(drift.listed_files(whole)).startswith(f"{named}: no lesson of course/syllabus.toml has this;")


def test_a_notebook_that_differs_from_its_source_is_named(whole: Course) -> None:
    _edit(whole.source("ch01_double"), "An array like x. [", "An array of the shape of x. [")
    line = _only(drift.notebooks_in_step(whole))
    assert line == "exercises/ch01_double.ipynb: it is not what solutions/ch01_double.py gives; run `backprop build`"


def test_a_notebook_saved_by_jupyter_differs_too(whole: Course) -> None:
    _edit(whole.notebook("ch01_double"), '"name": "python"', '"name": "python", "version": "3.11"')
    assert "it is not what" in _only(drift.notebooks_in_step(whole))


def test_a_missing_notebook_is_named(whole: Course) -> None:
    whole.notebook("ch01_double").unlink()
    assert _only(drift.notebooks_in_step(whole)).startswith("exercises/ch01_double.ipynb: this notebook is missing;")


def test_a_source_that_gives_no_notebook_is_named(whole: Course) -> None:
    _edit(whole.source("ch01_double"), "### END SOLUTION", "")
    line = _only(drift.notebooks_in_step(whole))
    assert line.startswith("solutions/ch01_double.py: exercise 'double' needs ### BEGIN SOLUTION and ### END SOLUTION")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"points": 0}, "ch01_double/double has 0 points"),
        ({"tier": "hard"}, "ch01_double/double has the tier 'hard'"),
        ({"hints": ("one",)}, "ch01_double/double has 1 hints of 2"),
        ({"hints": ("one", " ", "three")}, "ch01_double/double has 2 hints of 3"),
    ],
)
def test_points_tier_and_hints_are_asked_for(whole: Course, changes: dict[str, object], said: str) -> None:
    line = _only(described.points_tier_and_hints(_with_exercise(whole, **changes)))
    assert line.startswith(f"course/syllabus.toml: {said};")


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("", "ch01_double/double has no sentence on why its solution is as it is"),
        ("one product", "ch01_double/double has no sentence on why its solution is as it is"),
        ("x" * 160 + ".", "ch01_double/double: why has 161 characters in 1 lines"),
        ("One product.\nNo sum.", "ch01_double/double: why has 20 characters in 2 lines"),
    ],
)
def test_a_sentence_on_each_solution_is_asked_for(whole: Course, why: str, said: str) -> None:
    assert described.reasons(whole) == []
    line = _only(described.reasons(_with_exercise(whole, why=why)))
    assert line.startswith(f"course/syllabus.toml: {said};")
    assert described.reasons in rules.READ


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"technique": ("test_matrix", "test_doubling")}, "technique names test_doubling"),
        ({"weights": {"test_doubling": 2.0}}, "weights names test_doubling"),
    ],
)
def test_a_check_that_is_not_there_is_named(whole: Course, changes: dict[str, object], said: str) -> None:
    line = _only(described.named_checks(_with_exercise(whole, **changes)))
    assert line == (
        f"course/syllabus.toml: ch01_double/double: {said}, which is no check of it; "
        "name one of autograder/lessons/ch01_double/checks/double.py"
    )


def test_a_check_of_another_exercise_is_none(whole: Course) -> None:
    _edit(
        whole.checks("ch01_double") / "double.py",
        '@exercise("double")\ndef test_matrix',
        '@exercise("treble")\ndef test_matrix',
    )
    never, named = described.named_checks(_with_exercise(whole, technique=("test_values", "test_matrix")))
    assert "names test_matrix" in str(named)
    assert str(never).endswith(
        "checks/double.py: test_matrix is of 'treble', which is no exercise of ch01_double; mend the name"
    )


@pytest.mark.parametrize(
    "old", ["[Chapter section](../book/ch01_double.md#ch01-double)", "# %% [markdown]\n# ## `double`"]
)
def test_a_contract_is_asked_for(whole: Course, old: str) -> None:
    _edit(whole.source("ch01_double"), old, "# %%" if old.startswith("#") else "")
    line = _only(described.contracts(whole))
    assert line.startswith("solutions/ch01_double.py: no Markdown cell links ../book/ch01_double.md#ch01-double; ")
    assert "write the contract of double" in line


@pytest.mark.parametrize("kind", ["source", "checks", "mistakes", "oracles"])
def test_a_file_that_is_no_python_is_named_before_all_else(whole: Course, kind: str, build: Callable[..., Any]) -> None:
    path = _file(whole, kind)
    path.write_text(path.read_text() + "\ndef f(:\n")
    done = build("--check")
    line = len(path.read_text().splitlines())
    assert done.output == f"{whole.relative(path)}: it is no Python (line {line}: invalid syntax); mend it\n"
    assert done.exit_code == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('@misconception("double", says="Nothing was done.")\n', "", "double has 2 misconceptions of 3"),
        ("Nothing was done.", " ", "unchanged says nothing"),
        ("def one_more(x)", "def negated(x)", "negated is defined twice"),
        ("1.0 * x", "1.0 * * x", "it cannot be imported: SyntaxError"),
    ],
)
def test_three_misconceptions_are_asked_for(whole: Course, old: str, new: str, said: str) -> None:
    _edit(whole.mistakes("ch01_double") / "double.py", old, new)
    lines = [str(problem) for problem in described.three_misconceptions(whole)]
    assert any(line.startswith(f"{WRONG}: {said}") for line in lines), lines


def test_what_stands_in_the_file_of_another_exercise_is_named(whole: Course) -> None:
    """It would never be collected, or be known to nobody who is asked about its exercise alone."""
    other = whole.checks("ch01_double") / "sums.py"
    other.write_text((whole.checks("ch01_double") / "double.py").read_text())
    first, _ = described.named_checks(whole)
    assert str(first).endswith("sums.py: test_values is of 'double', which has double.py; move it there")
    other = whole.mistakes("ch01_double") / "sums.py"
    other.write_text((whole.mistakes("ch01_double") / "double.py").read_text())
    assert len(described.three_misconceptions(whole)) == 3


def test_a_name_that_two_files_of_scenarios_have_is_named(whole: Course) -> None:
    """They run as one text, in which the second would replace the first."""
    for name in ("double", "sums"):
        file = whole.scenarios("ch01_double") / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text("LIMIT = 3\n\ndef doubled(submission): ...\n")
    limit, doubled = described.scenarios_are_one_text(whole)
    assert str(limit).endswith("scenarios/sums.py: LIMIT is defined twice, in double.py, too; rename one")
    assert "doubled is defined twice" in str(doubled)


def test_a_misconception_of_no_exercise_is_named(whole: Course) -> None:
    path = whole.mistakes("ch01_double") / "double.py"
    path.write_text(path.read_text() + '\n\n@misconception("treble", says="No.")\ndef thrice(x): ...\n')
    assert "thrice is of 'treble', which is no exercise" in _only(described.three_misconceptions(whole))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("(ch02-square)=\n", "", "is on no heading"),
        ("(ch02-square)=\n## The section", "```\n(ch02-square)=\n## The section\n```", "is on no heading"),
        ("## The section", "Some text.", "is on no heading"),
        ("(ch02-square)=\n", "(ch02-square)=\n# A\n(ch02-square)=\n", "is there 2 times"),
    ],
)
def test_the_anchor_must_be_live(whole: Course, old: str, new: str, said: str) -> None:
    _edit(whole.chapter("ch02_square"), old, new)
    lines = [str(problem) for problem in described.live_anchors(whole)]
    assert lines[0].startswith(f"book/ch02_square.md: the label (ch02-square)= {said};")


def test_several_labels_may_stand_on_one_heading(whole: Course) -> None:
    _edit(whole.chapter("ch02_square"), "(ch02-square)=\n", "(ch02-square)=\n(another)=\n\n")
    assert described.live_anchors(whole) == []


def test_a_link_to_a_chapter_must_lead_somewhere(whole: Course) -> None:
    _edit(whole.source("ch02_square"), "#ch02-square", "#ch02-sqare")
    line = _only(described.live_anchors(whole))
    assert line.startswith("solutions/ch02_square.py: the link to ../book/ch02_square.md#ch02-sqare leads nowhere;")


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("import torch.nn", "torch.nn"),
        ("from scipy import stats", "scipy"),
        ("from course import data", "course.data"),
        ("from course.graph import Node", "course.graph"),
        ("from . import ch01_double", "."),
    ],
)
def test_a_source_may_import_only_what_its_lesson_has(whole: Course, line: str, module: str) -> None:
    _edit(whole.source("ch02_square"), "import numpy as np", f"import numpy as np\n{line}")
    said = _only(order.imports_of_the_lesson(whole))
    assert said.startswith(f"solutions/ch02_square.py: line 7 imports {module}, which is not among")


def test_what_the_lesson_has_may_be_imported(whole: Course) -> None:
    lines = "import math\nimport numpy.linalg\nfrom course import data\nfrom course.data import load_digits_train"
    _edit(whole.source("ch01_double"), "import numpy as np", lines)
    assert order.imports_of_the_lesson(whole) == []


@pytest.mark.parametrize("folder", ["checks", "mistakes", "oracles"])
def test_nothing_may_use_a_later_lesson(whole: Course, folder: str) -> None:
    path = _file(whole, folder)
    _edit(path, "from autograder", 'LATER = "solutions/ch02_square.py"\nfrom autograder')
    assert f"{path.name}: its code uses ch02_square, a later lesson;" in _only(order.nothing_from_a_later_lesson(whole))


def test_a_source_may_not_need_another_lesson(whole: Course) -> None:
    _edit(whole.source("ch02_square"), "import numpy as np", "from solutions.ch01_double import double")
    said = _only(order.nothing_from_a_later_lesson(whole))
    assert said.startswith("solutions/ch02_square.py: its code uses ch01_double, another lesson;")


def test_a_chapter_may_use_earlier_lessons_and_name_later_ones(whole: Course) -> None:
    _edit(whole.chapter("ch02_square"), "import numpy as np", "from solutions.ch01_double import double")
    _edit(whole.chapter("ch01_double"), "## The section", "## The section\nNext up: [](ch02_square.md)")
    assert order.nothing_from_a_later_lesson(whole) == []
    _edit(whole.chapter("ch01_double"), "import numpy as np", "from solutions.ch02_square import square")
    said = _only(order.nothing_from_a_later_lesson(whole))
    assert said.startswith("book/ch01_double.md: its code uses ch02_square, a later lesson;")


MATRIX_CHECK = 'expect_close(learner.double(x), reference.double(x), case="a matrix"'


def test_points_for_an_untouched_stub_are_named(whole: Course) -> None:
    _edit(whole.checks("ch01_double") / "double.py", MATRIX_CHECK, 'expect_close(x, x, case="a matrix"')
    said = _only(in_class.a_class_is_graded_rightly(whole))
    assert said.startswith(
        "autograder/lessons/ch01_double/checks/double.py: the untouched stub of double earns 1 points by test_"
    )


def test_points_for_an_answer_without_work_are_named(whole: Course) -> None:
    _edit(
        whole.checks("ch01_double") / "double.py",
        MATRIX_CHECK,
        'expect_close(learner.double(0 * x), 0 * x, case="zeros"',
    )
    lines = [str(problem) for problem in judged.checks_tell_right_from_wrong(whole)]
    start = "autograder/lessons/ch01_double/checks/double.py: an answer without work passes: double: "
    assert any(line.startswith(f"{start}zeros like the first argument passes test_matrix") for line in lines), lines


def test_points_for_raising_an_error_whatever_is_asked_are_named(whole: Course) -> None:
    """A check that asks for errors alone is passed by an answer that is nothing but an error."""
    checks = whole.checks("ch01_double") / "double.py"
    alone = 'expect_raises(TypeError, learner.double, "a", case="a")'
    text = checks.read_text(encoding="utf-8")
    checks.write_text(
        f"{text}\n\nfrom autograder.judging import expect_raises\n\n"
        f'@exercise("double")\ndef test_of_text(learner):\n    {alone}\n',
        encoding="utf-8",
    )
    lines = [str(problem) for problem in judged.checks_tell_right_from_wrong(whole)]
    start = "autograder/lessons/ch01_double/checks/double.py: an answer without work passes: double: "
    assert any(line.startswith(f"{start}a TypeError passes test_of_text") for line in lines), lines


def test_a_reference_that_fails_its_check_is_named(whole: Course) -> None:
    _edit(whole.checks("ch01_double") / "double.py", 'reference.double(x), case="a matrix"', '3 * x, case="a matrix"')
    said = [str(problem) for problem in in_class.a_class_is_graded_rightly(whole)]
    assert said[0].startswith("solutions/ch01_double.py: solved, double earns 1 of 2: ")


def test_a_reference_that_disagrees_with_its_oracle_is_named(whole: Course) -> None:
    _edit(whole.source("ch01_double"), "np.asarray(2 * x)", "np.asarray(3 * x)")
    assert in_class.a_class_is_graded_rightly(whole) == []
    said = _only(judged.oracles_agree(whole))
    assert said.startswith("autograder/lessons/ch01_double/oracles: test_entry_by_entry: ")


def test_an_exercise_without_an_oracle_is_named(whole: Course) -> None:
    _edit(whole.oracles("ch01_double") / "double.py", '@exercise("double")\n', "")
    assert "ch01_double/oracles/double.py: double: no oracle;" in _only(judged.oracles_agree(whole))


def test_a_misconception_that_is_accepted_is_named(whole: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    _edit(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "x + x")
    said = _only(judged.checks_tell_right_from_wrong(whole))
    assert said.startswith(f"{WRONG}: the checks accept it: double: one_more;")
    monkeypatch.setattr(in_class, "DRAWN", 3)
    said = str(in_class.a_class_is_graded_rightly(whole)[0])
    start = f"{WRONG}: the checks accept double: one_more, in a class with the salt "
    assert said.startswith(start)


def test_rejections_are_written_of_the_lesson_as_it_is(whole: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    path = whole.rejections("ch01_double")
    assert (
        path.read_text().partition("[exercise.rejected]\n")[2] == 'unchanged = "xx"\nnegated = "xx"\none_more = "xx"\n'
    )
    _edit(path, 'negated = "xx"', 'negated = "x."')
    monkeypatch.setattr(judged, "LOOKED_AT", 0.0)  # as where it is not drawn
    assert judged.checks_tell_right_from_wrong(whole) == []
    monkeypatch.setattr(judged, "LOOKED_AT", 1.0)
    said = _only(judged.checks_tell_right_from_wrong(whole))
    assert said == f"{REJECTIONS}: other checks reject it than are written down: double: negated; run `backprop build`"
    _edit(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "2 * x + 2")
    assert judged.checks_tell_right_from_wrong(whole) == []  # what was made of another text counts for nothing
    assert _only(drift.rejections_in_step(whole)) == f"{REJECTIONS}: it was made of another text; run `backprop build`"
    path.write_text("of = ")
    assert judged.checks_tell_right_from_wrong(whole) == []
    assert _only(drift.rejections_in_step(whole)) == f"{REJECTIONS}: it was made of another text; run `backprop build`"
    path.unlink()
    assert judged.checks_tell_right_from_wrong(whole) == []
    assert _only(drift.rejections_in_step(whole)) == f"{REJECTIONS}: this file is missing; run `backprop build`"


def test_what_is_written_to_reject_is_looked_at_each_time(whole: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misconception that one check accepts, written down as if that one rejected it."""
    monkeypatch.setattr(judged, "LOOKED_AT", 0.0)
    _edit(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "2 * x + (x.ndim > 1)")
    path, lesson = whole.rejections("ch01_double"), whole.lessons["ch01_double"]
    text = with_judge(lesson, partial(rejections_text, places=whole), root=whole.root)
    written = 'one_more = "x."' if 'one_more = "x."' in text else 'one_more = ".x"'
    path.write_text(text)
    assert judged.checks_tell_right_from_wrong(whole) == []
    _edit(path, written, 'one_more = "xx"')
    said = [str(problem) for problem in judged.checks_tell_right_from_wrong(whole)]  # it has no name then, either
    assert (
        said[-1]
        == f"{REJECTIONS}: other checks reject it than are written down: double: one_more; run `backprop build`"
    )


def test_a_misconception_that_hidden_draws_alone_reject_is_named(whole: Course) -> None:
    """Another class draws other numbers, by which it may get all points."""
    _edit(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "2 * x + (x.ndim > 1)")
    matrix = '@exercise("double")\ndef test_matrix'
    _edit(whole.checks("ch01_double") / "double.py", matrix, matrix.replace('"double"', '"double", visible=False'))
    said = _only(judged.checks_tell_right_from_wrong(whole))
    assert said.startswith(f"{WRONG}: the checks accept it: double: one_more (hidden cases alone")


def test_a_misconception_that_is_not_named_by_the_diagnosis_is_named(
    whole: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    _edit(whole.mistakes("ch01_double") / "double.py", "return 2 * x + 1", "raise ValueError")
    said = _only(judged.checks_tell_right_from_wrong(whole))
    start = f"{WRONG}: the diagnosis does not name it: double: one_more"
    assert said.startswith(start)
    monkeypatch.setattr(in_class, "DRAWN", 3)
    said = str(in_class.a_class_is_graded_rightly(whole)[0])
    start = f"{WRONG}: the diagnosis does not name double: one_more, in a class with"
    assert said.startswith(start)


def test_a_misconception_that_answers_differently_each_time_is_named(whole: Course) -> None:
    """As a learner's answer it would be another one again."""
    _edit(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", 'x + __import__("random").random()')
    said = _only(judged.checks_tell_right_from_wrong(whole))
    assert said.startswith(f"{WRONG}: the diagnosis does not name it: double: one_more")


def test_misconceptions_that_many_answer_alike_are_named(whole: Course) -> None:
    """Where more than two fit, a learner is told none of them."""
    _edit(whole.mistakes("ch01_double") / "double.py", "1.0 * x", "2 * x + 1")
    _edit(whole.mistakes("ch01_double") / "double.py", "-(2 * x)", "2 * x + 1")
    said = [str(problem) for problem in judged.checks_tell_right_from_wrong(whole)]
    assert [line.partition(" is called")[0] for line in said] == [
        f"{WRONG}: the diagnosis does not name it: double: {name}" for name in ("unchanged", "negated", "one_more")
    ]


def test_two_misconceptions_that_answer_alike_are_both_given(whole: Course) -> None:
    _edit(whole.mistakes("ch01_double") / "double.py", "2 * x + 1", "-2 * x")
    assert in_class.a_class_is_graded_rightly(whole) == []


def test_a_reference_that_needs_more_than_its_lesson_has_is_named(whole: Course) -> None:
    _edit(whole.source("ch01_double"), "import numpy as np", "import importlib\n\nimport numpy as np")
    _edit(whole.source("ch01_double"), "np.asarray(2 * x)", 'importlib.import_module("yaml") and np.asarray(2 * x)')
    assert order.imports_of_the_lesson(whole) == []
    said = _only(in_class.a_class_is_graded_rightly(whole))
    assert said.startswith("solutions/ch01_double.py: solved, double earns 0 of 2: double imports yaml")


@pytest.mark.parametrize("kind", ["source", "checks", "mistakes"])
def test_a_file_that_cannot_be_imported_is_named(whole: Course, kind: str) -> None:
    path = _file(whole, kind)
    path.write_text(path.read_text() + "\n1 / 0\n")
    said = _only(in_class.a_class_is_graded_rightly(whole))
    assert said.startswith(f"{whole.relative(path.parent if kind == 'checks' else path)}: ")
    assert "ZeroDivisionError" in said
    assert path.name in said


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({}, None),
        (
            {"x = rng.normal(size=(2, 3))": "x = 0 * rng.normal(size=(2, 3)) + 1.5"},
            "answers that were memorised earn 67% of double, by test_matrix[hidden];",
        ),
        (
            {"learner, reference, rng": "learner, reference", "rng.normal(": "reference.module.np.ones("},
            "answers that were memorised earn 100% of double, which has no hidden inputs;",
        ),
    ],
)
def test_points_for_memorised_answers_are_named(whole: Course, edits: dict[str, str], said: str | None) -> None:
    for old, new in edits.items():
        _edit(whole.checks("ch01_double") / "double.py", old, new)
    found = memorised.memorised_answers_earn_a_third(whole)
    if said is None:
        assert found == []
    else:
        assert _only(found).startswith(f"autograder/lessons/ch01_double/checks/double.py: {said}")


RELU = """\
# %%
import numpy as np

# %% exercise="relu_vjp"
def relu_vjp(g, x):
    ### BEGIN SOLUTION
    return (g * (x > 0)).astype(x.dtype)
    ### END SOLUTION
"""


@pytest.fixture
def relu_alone(tmp_path: Path) -> Course:
    """One of our own lessons, cut down to an exercise: a kernel's `lesson` knows no other course."""
    lesson = syllabus()["ch06_vjps"]
    course = Course(tmp_path, {"ch06_vjps": replace(lesson, exercises=(lesson.exercise("relu_vjp"),))})
    for path in (course.source("ch06_vjps"), course.notebook("ch06_vjps")):
        path.parent.mkdir()
        path.write_text(RELU, encoding="utf-8")
    return course


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x > 0", "x > 0", None),
        ("x > 0", "x >= 0", "the cell ch06-check-relu_vjp shows "),
        ("import numpy as np", "import numpy as np\n1 / 0", "the cell ch06-given-relu_vjp-1 raises ZeroDivisionError"),
    ],
)
def test_a_solved_notebook_must_pass_in_a_real_kernel(relu_alone: Course, old: str, new: str, said: str | None) -> None:
    _edit(relu_alone.source("ch06_vjps"), old, new)
    lines = [str(problem) for problem in notebooks.solved_notebooks_pass(relu_alone)]
    if said is None:
        assert lines == []
    else:
        assert lines[0].startswith(f"solutions/ch06_vjps.py: solved, in a Jupyter kernel, {said}"), lines


def test_scores_that_nbgrader_does_not_give_are_named(relu_alone: Course) -> None:
    """An honest notebook, and one that puts a `check` of its own in the place of ours: nbgrader believes it."""
    notebook = solved_notebook(relu_alone.lessons["ch06_vjps"], relu_alone.root / "solutions")
    sly = "check = lambda exercise: 2.0\nrelu_vjp = lambda g, x: -g"
    for student, work in (("honest", ""), ("sly", sly)):
        for cell in notebook.cells:
            if cell.metadata.get("exercise"):
                cell.source = work or cell.source
        folder = relu_alone.root / "autograder" / "sample_class" / student
        folder.mkdir(parents=True)
        (folder / "ch06_vjps.ipynb").write_text(notebook_text(notebook), encoding="utf-8")
    said = _only(nbgrader_scores.same_scores_as_nbgrader(relu_alone))
    start = "autograder/sample_class/sly/ch06_vjps.ipynb: relu_vjp earns"
    assert said.startswith(f"{start} 0 points from us and 2 from nbgrader;")


def test_what_earns_everything_raises_nothing_with_nbgrader(relu_alone: Course) -> None:
    """Where nbgrader runs a solved notebook, no other rule does."""
    _edit(relu_alone.source("ch06_vjps"), "import numpy as np", "import numpy as np\n1 / 0")
    notebook = solved_notebook(relu_alone.lessons["ch06_vjps"], relu_alone.root / "solutions")
    file = relu_alone.root / "autograder" / "sample_class" / "perfect" / "ch06_vjps.ipynb"
    file.parent.mkdir(parents=True)
    file.write_text(notebook_text(notebook), encoding="utf-8")
    said = _only(nbgrader_scores.same_scores_as_nbgrader(relu_alone))
    start = "autograder/sample_class/perfect/ch06_vjps.ipynb: graded by nbgrader, the cell ch06-given-relu_vjp-1 raises"
    assert said.startswith(f"{start} ZeroDivisionError")
