"""`backprop save` and `backprop load`: answers go into a file of progress and out of it, and nothing is lost."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

from autograder.learning import progress, whole
from autograder.learning.answer_cells import AnswerError
from autograder.learning.carried import answers_of, put_answers
from autograder.learning.progress import Progress
from autograder.learning.whole import Page, WholeError
from autograder.places import Places
from autograder.workbook import copy_lessons
from course.syllabus import find_lesson

VJPS = find_lesson("ch06_vjps")
ENGINE = find_lesson("ch05_autograd_engine")
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = "def relu_vjp(g, x):\n    return 2\n"
RESULT = {"status": "passed", "points": 2, "of": 2, "best": 2}


@pytest.fixture(params=["ipynb", "py"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A fresh work file of ch06."""
    copy_lessons(tmp_path, request.param, [VJPS])
    return tmp_path / f"ch06_vjps.{request.param}"


def taken(file: Path) -> Page:
    page, problems = answers_of(file, VJPS, Progress())
    assert problems == []
    return page


def test_an_answer_goes_in_and_comes_out(file: Path) -> None:
    assert taken(file) == Page()
    page = Page({"ch06-relu_vjp": RIGHT}, [("relu_vjp/", "helper = 1")])
    done = put_answers(file, VJPS, page, keep_mine=False)
    assert (done.new, done.cells, done.backups, done.problems) == (["relu_vjp"], 1, [], [])
    assert taken(file) == page
    again = put_answers(file, VJPS, page, keep_mine=False)
    assert (again.new, again.cells, again.backups) == ([], 0, [])


def test_what_is_replaced_is_kept_and_may_stay(file: Path) -> None:
    put_answers(file, VJPS, Page({"ch06-relu_vjp": RIGHT}), keep_mine=False)
    other = Page({"ch06-relu_vjp": WRONG, "ch06-tanh_vjp": "# t\n"})
    stayed = put_answers(file, VJPS, other, keep_mine=True)
    assert (stayed.new, stayed.mine) == (["tanh_vjp"], ["relu_vjp"])
    assert taken(file).answers["ch06-relu_vjp"] == RIGHT
    done = put_answers(file, VJPS, other, keep_mine=False)
    assert taken(file).answers["ch06-relu_vjp"] == WRONG
    assert RIGHT.strip() in done.backups[0].read_text(encoding="utf-8")
    assert "before `backprop load`" in done.backups[0].read_text(encoding="utf-8")


def test_an_exercise_in_parts_goes_into_its_cells(tmp_path: Path) -> None:
    copy_lessons(tmp_path, "ipynb", [ENGINE])
    file = tmp_path / f"{ENGINE.slug}.ipynb"
    put_answers(file, ENGINE, Page({"ch05-Tensor-power": "# power\n"}), keep_mine=False)
    page, _ = answers_of(file, ENGINE, Progress())
    assert page.answers == {"ch05-Tensor-power": "# power\n"}


def test_the_file_keeps_what_a_page_has_beside_the_answers(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    page = {"answers": {"ch06-add_vjp": "# a"}, "choices": {"quiz-1": {"first": True, "chosen": [0]}}, "read": "0" * 25}
    page |= {"results": {"add_vjp": RESULT}, "own": [{"before": "", "source": "helper = 1"}]}
    file.write_text(json.dumps({"format": whole.FORMAT, "version": 1, "pages": {"ch06_vjps": page, "index": page}}))
    whole.write(
        file, {"ch06_vjps": Page({"ch06-relu_vjp": RIGHT}, [("relu_vjp/", "helper = 2")], {"relu_vjp": RESULT})}
    )
    data, pages = whole.read(file)
    now = data["pages"]["ch06_vjps"]
    assert (now["choices"], now["read"]) == (page["choices"], page["read"])
    assert pages["ch06_vjps"].answers == {"ch06-add_vjp": "# a", "ch06-relu_vjp": RIGHT}
    assert pages["ch06_vjps"].own == [("relu_vjp/", "helper = 2"), ("", "helper = 1")]
    assert set(pages["ch06_vjps"].results) == {"add_vjp", "relu_vjp"}
    assert data["pages"]["index"] == page


def test_results_of_a_file_are_said_to_be_unchecked_until_a_check(backprop: Command, tmp_path: Path) -> None:
    copy_lessons(tmp_path, "ipynb", [VJPS])
    whole.write(tmp_path / "all.json", {VJPS.slug: Page({"ch06-relu_vjp": RIGHT}, results={"relu_vjp": RESULT})})
    backprop("load", "all.json", cwd=tmp_path)
    relu = VJPS.exercise("relu_vjp")
    known = progress.read(tmp_path)
    assert (known.passes(relu), known.points(relu)) == (True, 2)
    assert "1 result from a loaded file; 'backprop check' checks" in backprop("status", cwd=tmp_path).stdout
    backprop("check", "ch06/relu_vjp", cwd=tmp_path)
    assert "loaded file" not in backprop("status", cwd=tmp_path).stdout


def test_a_replaced_answer_has_no_result_of_a_check_any_more(backprop: Command, tmp_path: Path) -> None:
    copy_lessons(tmp_path, "py", [VJPS])
    put_answers(tmp_path / "ch06_vjps.py", VJPS, Page({"ch06-relu_vjp": RIGHT}), keep_mine=False)
    backprop("check", "relu_vjp")
    relu = VJPS.exercise("relu_vjp")
    assert progress.read(tmp_path).passes(relu)
    whole.write(tmp_path / "all.json", {VJPS.slug: Page({"ch06-relu_vjp": WRONG})})
    assert "kept in" in backprop("load", "all.json").stdout
    assert not progress.read(tmp_path).passes(relu)
    failed = RESULT | {"status": "failed", "points": 0, "best": 0}
    for result, passes in ((RESULT, True), (failed, False)):  # what was loaded is no check, so the newer file counts
        whole.write(tmp_path / "new.json", {VJPS.slug: Page({"ch06-relu_vjp": WRONG}, results={"relu_vjp": result})})
        backprop("load", "new.json")
        assert progress.read(tmp_path).passes(relu) is passes


def test_an_answer_that_cannot_be_placed_brings_no_result(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "ch06_vjps.py").write_text(f"# %%\n{RIGHT}\n# %%\n{WRONG}", encoding="utf-8")
    both = Page({"ch06-relu_vjp": RIGHT, "ch99-x": "# x"}, results={"relu_vjp": RESULT})
    whole.write(tmp_path / "all.json", {VJPS.slug: both, "ch98_gone": Page({"ch98-y": "# y"})})
    done = backprop("load", "all.json")
    assert "relu_vjp is defined in" in done.stderr
    assert "no cell for 1 answer of the file, such as ch99-x: left out" in done.stderr
    assert "this course has no lesson ch98_gone: 1 answer of the file left out" in done.stderr
    assert not progress.read(tmp_path).passes(VJPS.exercise("relu_vjp"))


def test_a_file_without_cells_gives_and_takes_definitions(tmp_path: Path) -> None:
    """The whole file used to be saved as the answer to each exercise."""
    file = tmp_path / "ch06_vjps.py"
    add = "def add_vjp(g, a, b):\n    return g, g\n"
    file.write_text(f"import numpy as np\n\n\n{WRONG}\n\n{add}", encoding="utf-8")
    page, _ = answers_of(file, VJPS, Progress())
    assert page.answers == {"ch06-relu_vjp": WRONG, "ch06-add_vjp": add}
    done = put_answers(file, VJPS, Page({"ch06-relu_vjp": RIGHT, "ch06-add_vjp": add}), keep_mine=False)
    assert done.new == ["relu_vjp"]
    assert "(x > 0)" in file.read_text(encoding="utf-8")
    again = put_answers(file, VJPS, Page({"ch06-relu_vjp": RIGHT}), keep_mine=False)
    assert (again.new, again.backups) == ([], [])


def test_hints_alone_are_no_result(tmp_path: Path) -> None:
    copy_lessons(tmp_path, "ipynb", [VJPS])
    progress.note_hints(tmp_path, VJPS.exercise("relu_vjp"), 1)
    page, _ = answers_of(tmp_path / "ch06_vjps.ipynb", VJPS, progress.read(tmp_path))
    assert page.results == {}


def test_no_linked_notebook_is_filled(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "elsewhere.py").write_text(WRONG, encoding="utf-8")
    (tmp_path / "work" / "ch06_vjps.py").symlink_to(tmp_path / "elsewhere.py")
    with pytest.raises(AnswerError, match="a link that leads out of its folder"):
        put_answers(tmp_path / "work" / "ch06_vjps.py", VJPS, Page({"ch06-relu_vjp": RIGHT}), keep_mine=False)
    assert (tmp_path / "elsewhere.py").read_text(encoding="utf-8") == WRONG


def a_file(page: Any = None, **more: Any) -> str:
    pages = {"ch06_vjps": page} if page is not None else {}
    return json.dumps({"format": whole.FORMAT, "version": 1, "pages": pages, **more})


REFUSED = {
    "nothing": ("null", "not a progress file"),
    "a notebook": ('{"cells": []}', "not a progress file"),
    "no JSON": ("{", "not JSON"),
    "deep": ("[" * 100_000, "not JSON"),
    "a newer version": (a_file(version=2), "a newer edition"),
    "no version": (a_file(version=True), "no version"),
    "no pages": (a_file(pages=[]), "pages"),
    "a page's name": (a_file(pages={"../x": {}}), "pages"),
    "a page": (a_file(7), "is not a page"),
    "answers": (a_file({"answers": 7}), "answers of ch06_vjps"),
    "an answer": (a_file({"answers": {"a": 7}}), "the answer a"),
    "a long answer": (a_file({"answers": {"a": "#" * 50_001}}), "the answer a"),
    "many answers": (a_file({"answers": {f"a{n}": "#" for n in range(201)}}), "at most 200"),
    "long answers": (a_file({"answers": {f"a{n}": "#" * 50_000 for n in range(31)}}), "1,550,002 characters"),
    "long scratch": (a_file({"scratch": {f"a{n}": "#" * 50_000 for n in range(31)}}), "1,550,002 characters"),
    "wide letters": (a_file({"answers": {"a": "\U0001f600" * 25_001}}), "the answer a"),
    "own cells": (a_file({"own": [{"before": 1, "source": ""}]}), "cells of your own"),
    "many own cells": (a_file({"own": [{"before": "", "source": "#"}] * 201}), "cells of your own"),
    "long own cells": (a_file({"own": [{"before": "", "source": "#" * 199_999}] * 2}), "cells of your own"),
    "a status": (a_file({"results": {"relu_vjp": RESULT | {"status": "won"}}}), "relu_vjp"),
    "points": (a_file({"results": {"relu_vjp": RESULT | {"best": 1e9}}}), "relu_vjp"),
    "points that are no number": (a_file({"results": {"relu_vjp": RESULT | {"best": float("nan")}}}), "relu_vjp"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_of_other_content_is_refused_in_a_line(what: str, tmp_path: Path) -> None:
    text, says = REFUSED[what]
    (tmp_path / "all.json").write_text(text)
    with pytest.raises(WholeError, match=re.escape(says)):
        whole.read(tmp_path / "all.json")
    with pytest.raises(WholeError):
        whole.write(tmp_path / "all.json", {})
    assert (tmp_path / "all.json").read_text() == text


def test_no_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "all.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(OSError, match="link"):
        whole.write(tmp_path / "all.json", {})


def test_page_and_command_have_the_same_limits() -> None:
    folder = ROOT / "book" / "_page"
    program = (
        f"Promise.all(['limits', 'statuses'].map((one) => import({json.dumps(folder.as_uri())} + `/${{one}}.js`)))"
        ".then(([{ MOST }, { STATUSES }]) => console.log(JSON.stringify([MOST, STATUSES])))"
    )
    run = subprocess.run(["node", "--no-warnings", "-e", program], capture_output=True, text=True, check=True)
    most, statuses = json.loads(run.stdout)
    assert tuple(statuses) == whole.STATUSES
    assert [most[one] for one in ("answer", "cells", "own", "everything")] == [
        *(whole.MOST_ANSWER, whole.MOST_CELLS, whole.MOST_OWN, whole.MOST_ALL)
    ]


def test_every_cell_of_an_answer_has_an_id_that_a_file_may_have() -> None:
    for lesson in (VJPS, ENGINE):
        cells = json.loads(Places().notebook(lesson.slug).read_text(encoding="utf-8"))["cells"]
        ids = [cell["id"] for cell in cells if cell["metadata"].get("exercise")]
        assert [one for one in ids if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", one)] == []
