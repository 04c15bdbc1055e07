"""A contributor's way: an exercise begun by `backprop new`, written, and found whole."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import IMPORTED, run_module
from page_commands import commands_in
from small_courses import fill_in_rows
from warm import FORKS, Warm

from autograder.authoring.skeleton import UNWRITTEN, new_exercise
from autograder.authoring.tree import AuthoringError, Course
from autograder.places import ROOT

pytestmark = pytest.mark.slow

LESSON = "autograder/lessons/ch06_vjps"
DOCUMENTS = "README.md", "SECURITY.md"
AUTOGRAD = f"from {LESSON.replace('/', '.')}.oracles.autograd import assert_agree, autograd"
WRITTEN = {
    "course/syllabus.toml": {
        "WRITE ME: where to look.": "What is the slope on either side of 0?",
        "WRITE ME: how to do it, for those still stuck.": "g times the sign of x, which is 0 at 0.",
        "WRITE ME: what makes the reference right, cheap or stable, in 160 characters.": "np.sign is 0 at 0, as asked.",
    },
    "solutions/ch06_vjps.py": {
        "WRITE ME: the contract: what it takes, what it returns, shapes and dtypes.": "`y = |x|`, entry by entry.",
        "WRITE ME: what it returns, in a line.": "dx of y = |x|, in the dtype of x.",
        'raise NotImplementedError("WRITE ME: the reference")': "return (g * np.sign(x)).astype(x.dtype)",
    },
    "book/ch06_vjps.md": {
        "WRITE ME: what it computes.": "$y = |x|$, entry by entry.",
        "WRITE ME: the rule that learners implement.": "The gradient is $g$ times the sign of $x$.",
        "WRITE ME: a question or code that fails; the idea in a sentence; a derivation; code.": "A kink at 0.",
    },
    f"{LESSON}/factors.toml": {
        'cases."WRITE ME: cases of no axis, one and several, of one entry and none, as above" = '
        "{ g = [3, 6], x = [3, 6] }": "\n".join(
            f"cases.{case} = {{ g = {shape}, x = {shape} }}"
            for case, shape in {"number": [], "one": [1], "vector": [6], "stack": [2, 3, 2], "empty": [0, 3]}.items()
        )
    },
    f"{LESSON}/checks/abs_vjp.py": {
        "WRITE ME: what this check asks. Smallest case first, numbers from rng; then float32 and degenerate shapes.": (
            "The sign of x, times g."
        ),
        "EXACT)": "EXACT)\n    g, x = g.astype(np.float32), x.astype(np.float32)\n"
        '    expect_close(learner.abs_vjp(g, x), reference.abs_vjp(g, x), case="float32", **SINGLE)',
        "import EXACT, check_kinds": "import EXACT, SINGLE, check_kinds",
        "from autograder.judging": "import numpy as np\n\nfrom autograder.judging",
    },
    f"{LESSON}/mistakes/abs_vjp.py": {
        "WRITE ME: a whole line of the reference": "return (g * np.sign(x)).astype(x.dtype)",
        "WRITE ME: what people write for it": "return (g * (x > 0)).astype(x.dtype)",
        "WRITE ME: what they did, what to do.": "That is relu's mask: below 0 the slope of |x| is -1.",
        "WRITE ME: what others write": "return np.sign(x).astype(x.dtype)",
        "WRITE ME: as a teacher says it.": "Multiply by g: the sign alone is the local derivative.",
        "WRITE ME: a third mistake": "return (g * np.abs(x)).astype(x.dtype)",
        "WRITE ME: in a sentence or two.": "You multiply by |x|: multiply by its slope, the sign of x.",
    },
    f"{LESSON}/oracles/abs_vjp.py": {
        'raise NotImplementedError("WRITE ME: compare it with PyTorch, or with brute force")': (
            "x, g = rng.normal(size=(2, 4))\n    assert_agree(reference.abs_vjp(g, x), autograd(torch.abs, g, x))"
        ),
        "from autograder.judging": "import torch\n\nfrom autograder.judging",
        "import exercise\n": f"import exercise\n{AUTOGRAD}\n",
    },
}
"""What a contributor writes into the files of `abs_vjp` in the place of what is there."""
ROWS = """
[[abs_vjp]]
says = "`y = |x|`, entry by entry."
checks = ["test_smallest_case"]
point = true

[[abs_vjp]]
says = "dx of y = |x|, in the dtype of x."
checks = ["test_smallest_case", "test_every_kind_of_input"]
"""


NEW, CHECK, BUILD = (
    command.split()[1:]
    for command in commands_in((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    if command.startswith("backprop ")
)
"""The commands of CONTRIBUTING.md."""


GENERATED = "contract", "covering", "rejections"
REPORTS = ("gradebook", "gradebook_reports", "rosters", "weeks", "learning", "class_exports", "promises")
"""Modules of tests that are about reports, whatever exercises and points the course has."""


def checkout(folder: Path) -> Path:
    """A copy of what a contributor's commands read."""
    for name in (*DOCUMENTS, "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    for part in ("autograder", "course", "solutions", "exercises", "book", "tests"):
        left = shutil.ignore_patterns("__pycache__", "_build", "node_modules", "*.book")
        shutil.copytree(ROOT / part, folder / part, ignore=left)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A contributor's copy of the course."""
    return checkout(tmp_path)


@pytest.fixture
def backprop(root: Path) -> Iterator[Callable[..., str]]:
    """Run the command of the copy in it, with an exit status; return its output."""
    env = {**os.environ, "PYTHONPATH": str(root), "COLUMNS": "200"}
    warm = Warm(*IMPORTED, env=env) if FORKS else None

    def run(*arguments: str, code: int = 0, cold: bool = False) -> str:
        done = run_module("autograder", *arguments, cwd=root, env=env, cold=cold, warm=warm)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    yield run
    if warm:
        warm.stop()


def test_an_exercise_is_begun_written_and_whole(root: Path, backprop: Callable[..., str]) -> None:
    """A copy with one exercise more is whole by CONTRIBUTING.md's commands, and no test of reports breaks."""
    begun = backprop(*NEW, cold=True)
    assert begun.split("\n\n")[0].splitlines() == list(WRITTEN)
    listed = backprop(*CHECK, code=1).splitlines()
    where = [(f"{name}:{i}", line) for name in WRITTEN for i, line in unwritten(root / name)]
    assert [line.split(": ")[0] for line in listed] == [at for at, _ in where]

    for name, texts in WRITTEN.items():
        text = (root / name).read_text(encoding="utf-8")
        for before, after in texts.items():
            assert before in text
            text = text.replace(before, after, 1)
        (root / name).write_text(text, encoding="utf-8")
    built = backprop(*BUILD)
    made = "exercises/ch06_vjps.ipynb", *(f"{LESSON}/{one}.toml" for one in GENERATED), *DOCUMENTS
    assert all(f"{name}: written\n" in built for name in made), built
    readme = (root / "README.md").read_text(encoding="utf-8")
    (root / "README.md").write_text((ROOT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    still = backprop(*CHECK, code=1)
    assert f"{LESSON}/contract.toml: abs_vjp, “`y = |x|`, entry by entry.”: it needs `checks`" in still
    assert "README.md: its figures or its table of lessons are old; run `backprop build`" in still
    fill_in_rows(root / LESSON / "contract.toml", ROWS)
    (root / "README.md").write_text(readme, encoding="utf-8")
    assert "ch06/abs_vjp: nothing is wrong." in backprop(*CHECK)
    names = re.findall(r'exercise="(\w+)"', (root / "solutions/ch06_vjps.py").read_text(encoding="utf-8"))
    assert names[names.index("relu_vjp") + 1] == "abs_vjp"
    reports_pass(root)


def reports_pass(root: Path) -> None:
    """Tests of reports pass in a course with one exercise more: 39 had the points of ours written into them."""
    modules = [f"tests/test_{name}.py" for name in REPORTS]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:xdist", *modules]
    env = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def unwritten(path: Path) -> list[tuple[int, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(i, line) for i, line in enumerate(lines, 1) if UNWRITTEN in line]


@pytest.mark.parametrize(
    ("name", "after", "why"),
    [
        ("relu_vjp", "", "has an exercise relu_vjp already"),
        ("Tensor.abs", "", "is no name of a function"),
        ("abs_vjp", "relu", "has no exercise 'relu'"),
        ("activations", "", "checks/activations.py is there already"),
    ],
)
def test_what_cannot_be_begun_is_said_and_nothing_is_written(name: str, after: str, why: str) -> None:
    course = Course.at()
    before = {path: path.read_bytes() for path in (course.source("ch06_vjps"), course.chapter("ch06_vjps"))}
    with pytest.raises((AuthoringError, KeyError), match=re.escape(why)):
        new_exercise(course, "ch06_vjps", name, after=after)
    assert before == {path: path.read_bytes() for path in before}
