"""A small course with nothing wrong, to break in one place."""

from __future__ import annotations

from pathlib import Path

from autograder.authoring.rules import (
    Problem,
)
from autograder.authoring.tree import Course

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


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def file_in(course: Course, kind: str) -> Path:
    """A file of ch01_double."""
    path: Path = getattr(course, kind)("ch01_double")
    return path / "double.py" if path.is_dir() else path


def only(problems: list[Problem]) -> str:
    """The one problem there is, as its line."""
    assert len(problems) == 1, [str(problem) for problem in problems]
    line = str(problems[0])
    assert "\n" not in line
    return line
