"""Similar answers in a class: what is found, what must not accuse anybody, and exports for other programs."""

from __future__ import annotations

import csv
import io
import json
import random
import subprocess
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import html

from autograder.learning.solutions import own_answers
from autograder.places import Places
from autograder.similarity.class_answers import (
    MODEL_SOLUTION,
    MOST_IN_A_CELL,
    Answer,
    ExerciseAnswers,
    Source,
    read_class,
)
from autograder.similarity.exports import BASE, MODEL
from autograder.similarity.findings import ExerciseFindings, Finding, compare
from autograder.similarity.report import NO_PROOF, Similarity, _groups, _pairs, _sides, in_words, side_by_side
from autograder.similarity.trees import MOST_CHARACTERS, NotCompared, tree_of

Command = Callable[..., subprocess.CompletedProcess[str]]

SLUG = "ch06_vjps"
PLAIN = "def relu_vjp(g, x):\n    return g * (x > 0)\n"
ODD = """\
def softmax_vjp(g, y, axis=-1):
    # rows are weights
    shifted = g - g.max(axis=axis, keepdims=True)
    weights = y / y.sum(axis=axis, keepdims=True)
    total = np.zeros_like(y)
    for k in range(y.shape[axis]):
        total += np.take(shifted * weights, [k], axis=axis)
    return weights * (shifted - total)
"""
DISGUISED = '''\
import numpy as np

def softmax_vjp(grad: np.ndarray, out, axis: int = -1) -> np.ndarray:
    """The gradient, by hand."""
    w = out / out.sum(keepdims=True, axis=axis)
    moved = grad - grad.max(axis=axis, keepdims=True)
    acc = np.zeros_like(out)
    for i in range(out.shape[axis]):
        acc += np.take(w * moved, [i], axis=axis)
    print(acc)
    result = (moved - acc) * w
    return result
'''
USUAL = "def softmax_vjp(g, y, axis=-1):\n    return y * (g - (g * y).sum(axis=axis, keepdims=True))\n"


def alike(first: str, second: str) -> bool:
    kept = {"f", "softmax_vjp"}
    return tree_of(first, kept).digest == tree_of(second, kept).digest


def compared(answers: dict[str, str], exercise: str = "softmax_vjp", reference: str = USUAL) -> ExerciseFindings:
    """The findings of a class; a name like `team/ada` belongs to a team."""
    listed = [Answer(None, None, reference)]
    listed += [Answer(name.rpartition("/")[2], name.partition("/")[0], code) for name, code in answers.items()]
    return compare(ExerciseAnswers(SLUG, exercise, "", listed), {exercise})


def others(count: int) -> dict[str, str]:
    """This many students with different answers."""
    draw = random.Random(7)
    words = ["np.exp", "np.log", "np.sum", "np.max", "np.abs", "np.sqrt"]
    return {
        f"other{i}": "def softmax_vjp(g, y, axis=-1):\n"
        + "".join(f"    v{j} = {draw.choice(words)}(g - {draw.random():.3f} * y)\n" for j in range(6))
        + f"    return v{draw.randrange(6)} / v{draw.randrange(6)}\n"
        for i in range(count)
    }


def a_class(folder: Path, answers: dict[str, dict[str, str]]) -> Path:
    for student, theirs in answers.items():
        cells = [{"cell_type": "code", "metadata": {"exercise": name}, "source": s} for name, s in theirs.items()]
        file = folder / student / f"{SLUG}.ipynb"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"cells": cells, "nbformat": 4}), encoding="utf-8")
    return folder


# Trees


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ODD, DISGUISED),
        ("def f(a, b):\n    return a + b * 2", "def f(x, y):\n    return 2.0 * y + x"),
        (
            "def f(a):\n    p = a.x\n    q = a.y\n    return p - q",
            "def f(a):\n    q = a.y\n    p = a.x\n    return p - q",
        ),
        ("def f(a):\n    return a > 0", "def f(a):\n    return 0 < a"),
        ("def h(a):\n    return a\ndef f(a):\n    return h(a)", "def f(b):\n    return g(b)\ndef g(b):\n    return b"),
        ("def f(a):\n    raise ValueError('no')", "def f(a):\n    raise ValueError(f'{a} is wrong')"),
    ],
)
def test_what_a_copy_is_disguised_by_makes_no_difference(first: str, second: str) -> None:
    assert alike(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("def f(a, b):\n    return a - b", "def f(a, b):\n    return b - a"),
        ("def f(a, b):\n    return a < b", "def f(a, b):\n    return b < a"),
        (
            "def f(a):\n    a = a + 1\n    b = a\n    return b, a",
            "def f(a):\n    b = a\n    a = a + 1\n    return b, a",
        ),
        ("def f(a):\n    a += 1\n    return a", "def f(a):\n    a = a + 1\n    return a"),
        ("def f(a):\n    return np.sum(a, axis=0)", "def f(a):\n    return np.sum(a, axis=1)"),
        ("def f(a):\n    return np.exp(a)", "def f(a):\n    return np.log(a)"),
        ("def f(a, b):\n    return a * a", "def f(a, b):\n    return a * b"),
    ],
)
def test_another_computation_is_another_answer(first: str, second: str) -> None:
    assert not alike(first, second)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("(" * 5000, "not Python"),
        ("x = " + "-" * 20_000 + "1", "too deeply"),
        ("x = " + "1 + " * 9_000 + "1", "too deeply"),
        ("x = [" + "1, " * 9_000 + "]", "nodes"),
        ("x = 1\n" * MOST_CHARACTERS, "characters"),
        ("\0", "not Python"),
        ("def f(:", "not Python (line 1)"),
        ("x = '\ud800'", "not Python"),
    ],
)
def test_what_is_made_to_hurt_is_not_compared(code: str, why: str) -> None:
    with pytest.raises(NotCompared) as error:
        tree_of(code, ())
    assert why in str(error.value)


# Findings


def test_two_who_share_what_nobody_else_wrote_are_found_first() -> None:
    found = compared({**others(20), "ada": ODD, "bob": DISGUISED, **{f"usual{i}": USUAL for i in range(20)}})
    first = found.findings[0]
    assert (first.students, first.equal, first.having, first.of) == (["ada", "bob"], True, 2, 42)
    assert not any("usual0" in one.students for one in found.findings)
    assert (found.most_common, found.as_the_reference) == (20, 20)


def test_where_most_write_the_same_nobody_is_accused() -> None:
    answers = {f"s{i}": PLAIN.replace("x", "xyzuvw"[i % 6]) for i in range(30)}
    found = compared(answers, "relu_vjp", PLAIN)
    assert found.findings == []
    assert (found.answers, found.different, found.most_common, found.as_the_reference) == (30, 1, 30, 30)


def test_few_ways_to_write_an_exercise_accuse_nobody() -> None:
    ways = [
        PLAIN,
        "def relu_vjp(g, x):\n    return np.where(x > 0, g, 0)\n",
        "def relu_vjp(g, x):\n    return g * (x >= 0)\n",
    ]
    found = compared({f"s{i}": ways[min(i // 2, 2)] for i in range(30)}, "relu_vjp", PLAIN)
    assert [one.students for one in found.findings] == []


def test_an_answer_that_was_changed_a_little_is_near() -> None:
    changed = ODD.replace("total = np.zeros_like(y)", "total = 0 * y\n    y = y + 0")
    found = compared({**others(20), "ada": ODD, "bob": changed})
    near = found.findings[0]
    assert near.students == ["ada", "bob"]
    assert not near.equal
    assert 0.6 <= near.likeness < 1
    assert in_words(near) == f"{near.likeness:.0%} of their pieces are the same."


def test_a_team_has_one_hand_in() -> None:
    assert not compared({**others(20), "team/ada": ODD, "team/bob": ODD}).findings
    three = compared({**others(20), "team/ada": ODD, "team/bob": ODD, "eve": ODD}).findings
    assert [(one.students, one.having) for one in three] == [(["ada", "bob", "eve"], 2)]


def test_a_copy_of_the_model_solution_is_said() -> None:
    found = compared({**others(20), "ada": DISGUISED}, reference=ODD)
    assert [(one.students, one.is_of_the_reference) for one in found.findings] == [(["ada"], True)]
    assert (
        in_words(found.findings[0]) == "Equal to the model solution, but for names and order; 1 of 21 hand-ins has it."
    )
    long = own_answers(SLUG)["conv2d_vjp"]
    mass = compared({f"s{i}": long for i in range(30)}, "conv2d_vjp", long)
    assert [len(one.students) for one in mass.findings] == [30]  # however many: nobody writes that by chance


def test_a_student_called_as_the_model_solution_is_a_student() -> None:
    """An equal hand-in is reported with the student's name, not as the model solution."""
    listed = [Answer(None, None, USUAL), Answer(MODEL_SOLUTION, MODEL_SOLUTION, ODD), Answer("bob", "bob", ODD)]
    listed += [Answer(name, name, code) for name, code in others(20).items()]
    found = compare(ExerciseAnswers(SLUG, "softmax_vjp", "", listed), {"softmax_vjp"})
    (one,) = found.findings
    assert (one.students, one.is_of_the_reference, found.as_the_reference) == ([MODEL_SOLUTION, "bob"], False, 0)
    assert in_words(one).startswith("Equal letter by letter")
    assert {side.called for side in side_by_side(one)} == {f"student {MODEL_SOLUTION}", "bob"}


def test_a_ring_is_one_group_and_hides_no_pair() -> None:
    """Nine equal hand-ins make 36 pairs, more than are listed."""
    ring, two = [f"ring{i}" for i in range(9)], ["ada", "bob"]
    found = Similarity()
    for exercise in ("add_vjp", "mul_vjp"):
        for names, weight in ((ring, 90.0), (two, 40.0)):
            equal = tuple(Answer(name, name, ODD) for name in names)
            found.findings.append(Finding(SLUG, exercise, equal, equal, True, 1.0, weight, len(names), 50))
    where = ["ch06/add_vjp", "ch06/mul_vjp"]
    assert _groups(_pairs(found.findings)) == [(180.0, ring, where), (80.0, two, where)]


def test_lines_of_a_renamed_copy_are_marked() -> None:
    first, second = (Answer(name, name, code) for name, code in (("ada", ODD), ("bob", DISGUISED)))
    marked = [[same for _, same in side["lines"]] for side in _sides(first, second)]
    assert min(map(sum, marked)) >= 2, "DISGUISED has other names, and another order"


def test_the_same_letters_are_said() -> None:
    found = compared({**others(20), "ada": ODD, "bob": ODD + "\n", "eve": DISGUISED})
    assert in_words(found.findings[0]) == (
        "Equal, 2 of them letter by letter, names and comments too; 3 of 23 hand-ins have it."
    )


def test_of_a_few_nobody_knows_what_is_usual() -> None:
    (found,) = compared({"ada": ODD, "bob": DISGUISED}).findings
    assert in_words(found).endswith("2 of 2 hand-ins have it. With so few hand-ins nobody can say what is usual.")


# The command


def test_a_class_is_compared_and_nothing_of_it_runs(backprop: Command, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    runs = f"open({str(ran)!r}, 'w')\n"
    folder = a_class(
        tmp_path / "class",
        {
            "Zoë Ünal": {"softmax_vjp": ODD + "# <script>alert(1)</script>\n", "relu_vjp": PLAIN},
            "Bo": {"softmax_vjp": DISGUISED, "relu_vjp": PLAIN},
            "Eve": {"relu_vjp": runs + PLAIN, "softmax_vjp": "x = " + "-" * 20_000 + "1"},
            **{name: {"softmax_vjp": code} for name, code in others(6).items()},
        },
    )
    binary = folder / "Max" / f"{SLUG}.ipynb"
    binary.parent.mkdir()
    binary.write_bytes(b"\x00\xff\xfe" * 1000)
    run = backprop("similarity", "class", "--format", "terminal,html,json")
    assert run.returncode == 0, run.stderr
    assert not ran.exists()
    assert "Bo and Zoë Ünal" in run.stdout
    assert "Similarity is no proof" in run.stdout
    assert "Eve: it is nested too deeply" in run.stderr
    assert "Max/ch06_vjps: the file is not UTF-8 text" in run.stderr
    out = tmp_path / "results" / "__reports__" / "similarity"
    page = html.fromstring((out / "index.html").read_text(encoding="utf-8"))
    assert NO_PROOF in page.text_content()
    assert page.xpath("//figcaption")[0].text_content() == "Bo"
    assert "alert(1)" not in "".join(page.xpath("//script/text()"))
    data = json.loads((out / "similarity.json").read_text(encoding="utf-8"))
    assert data["note"] == NO_PROOF
    assert data["findings"][0]["students"] == ["Bo", "Zoë Ünal"]


def test_what_has_no_text_to_compare_is_said_and_whole_files_are_compared(tmp_path: Path) -> None:
    """Two identical files with full points used to be neither compared nor mentioned."""
    filler = "".join(f"# %%\n#{'x' * (MOST_IN_A_CELL - 10)}\n" for _ in range(11))
    ways = {
        "nested": "import numpy as np\nif True:\n" + textwrap.indent(PLAIN, "    "),
        "after": f"{filler}\n# %%\n{PLAIN}",
        "long": f"# %%\n{PLAIN}\n#{'x' * MOST_IN_A_CELL}",
        "hidden": "exec(bytes([112, 97]))\n",
    }
    stubs = Places().notebook(SLUG).read_text(encoding="utf-8")
    for name, text in {**ways, "untouched": stubs, "plain": PLAIN}.items():
        for number in "12":
            (tmp_path / f"{name}{number}").mkdir()
            file = f"{SLUG}.{'ipynb' if name == 'untouched' else 'py'}"
            (tmp_path / f"{name}{number}" / file).write_text(text, encoding="utf-8")
    remarks = read_class([Source(tmp_path, tmp_path / "scratch")], []).remarks
    assert len(remarks) == 2 * len(ways) + len(ways) + 1, "one for each hand-in, and for each file"
    for name in (*ways, "plain"):
        assert f"{SLUG}: {name}1 and {name}2 handed in the same file, byte for byte" in remarks
    not_compared = "not compared, since"
    assert f"nested1/{SLUG}: {not_compared} no cell defines it at its top level: relu_vjp" in remarks
    assert f"hidden1/{SLUG}: {not_compared} it defines no exercise at the top level of a cell" in remarks
    for name in ("after1", "long1"):
        assert any(line.startswith(f"{name}/") and "look at the file" in line for line in remarks)
    assert not [line for line in remarks if "untouched" in line]


def test_a_roster_says_who_is_a_team(backprop: Command, tmp_path: Path) -> None:
    a_class(tmp_path / "class", {name: {"softmax_vjp": ODD} for name in ("Ada King", "Bo Ek")})
    roster = tmp_path / "roster.csv"
    roster.write_text("name,team\nAda King,red\nBo Ek,red\n")
    assert "Ada King and Bo Ek" in backprop("similarity", "class").stdout
    assert "Nothing that is alike is unusual" in backprop("similarity", "class", "--roster", roster).stdout


def test_dolos_and_jplag_get_what_they_read(backprop: Command, tmp_path: Path) -> None:
    a_class(tmp_path / "class", {name: {"softmax_vjp": ODD, "relu_vjp": PLAIN} for name in ("ada", "Zoë Ünal", "=1+1")})
    run = backprop("similarity", "class", "--format", "dolos,jplag", "--out", "out")
    assert run.returncode == 0, run.stderr
    with zipfile.ZipFile(tmp_path / "out" / "dolos" / f"{SLUG}.zip") as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("info.csv").decode())))
        assert {row["filename"] for row in rows} == set(archive.namelist()) - {"info.csv"}
        assert list(rows[0]) == ["filename", "full_name", "label", "created_at"]
        assert {row["full_name"] for row in rows} == {"ada", "Zoë Ünal", "'=1+1", MODEL_SOLUTION}
        assert ODD in archive.read("ada.py").decode()
    root = tmp_path / "out" / "jplag" / SLUG
    assert {path.name for path in root.iterdir()} >= {"ada", BASE, MODEL}
    assert all([file.name for file in folder.iterdir()] == [f"{SLUG}.py"] for folder in root.iterdir())


def test_bad_input_is_one_line(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, says in (
        (("similarity", "empty"), "there are no answers in empty"),
        (("similarity", "nowhere"), "nowhere cannot be used"),
        (("similarity", "empty", "--format", "pdf"), "there is no format 'pdf'; there are terminal, html, json, dolos"),
    ):
        run = backprop(*arguments)
        assert run.returncode == 2
        assert says in run.stderr
        assert run.stderr.count("\n") == 1
