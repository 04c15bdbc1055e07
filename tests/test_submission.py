"""Reading submissions: their cells, and one clear line for invalid files."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import pytest

from autograder.begun import holds_work
from autograder.classroom.blackboard_names import Usernames
from autograder.judging.asking.newer_python import MOST, newer
from autograder.judging.asking.source_text import SourceText
from autograder.judging.asking.transport import FUNCTION
from autograder.notebook.executed import ExecutedCells
from autograder.submission import MAX_BYTES, SubmissionError, lines_of, parse_submission, read_submission
from autograder.worker import lines
from autograder.worker.execution import parsed


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def code(source: Any, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": []}


def test_notebook_cells_keep_their_numbers_and_the_courses_own_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.ipynb"
    file.write_text(
        notebook(
            code("setup", tags=["setup"]),
            {"cell_type": "markdown", "source": "text", "metadata": {}},
            code(["a = 1\n", "b = 2"], exercise="add_vjp"),
            code("check()", tags=["check"]),
            code("c = 3", tags="not a list"),
        )
    )
    submission = read_submission(file)
    assert [(cell.number, cell.source, cell.label, cell.exercise) for cell in submission.cells] == [
        (3, "a = 1\nb = 2", "cell 3 (add_vjp)", "add_vjp"),
        (5, "c = 3", "cell 5", ""),
    ]
    assert submission.module == "__main__"


def test_python_files_count_lines_from_the_top(tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.py"
    head = "import numpy as np\n\n# %% [markdown]\n# text\n"
    file.write_text(head + '# %% exercise="add_vjp"\ndef add_vjp():\n    pass\n# %% tags=["check"]\ncheck("add_vjp")\n')
    cells = read_submission(file).cells
    assert [(cell.label, cell.offset, cell.exercise) for cell in cells] == [("line 1", 0, ""), ("line 6", 5, "add_vjp")]
    assert cells[1].source == "def add_vjp():\n    pass\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"\x89PNG\r\n\xff\xfe", "UTF-8"),
        (b'{"cells": [\n {"cell_type"', "line 2 is not JSON"),
        (b'{"cells": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> main\n]}', "both sides of a merge conflict"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "Git LFS's pointer to the notebook"),
        (b"[" * 100_000, "notebook"),
        (b'{"worksheets": []}', "list of cells"),
        (b"3", "list of cells"),
        (notebook(code(5)).encode(), "cell 1 has no readable source"),
        (b'{"cells": [' + b"{}," * 3000 + b"{}]}", "3001 cells"),
        (b"{" + b" " * MAX_BYTES + b"}", "limit"),
    ],
)
def test_what_is_no_notebook_gets_one_clear_line(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "ch06_vjps.ipynb"
    file.write_bytes(content)
    with pytest.raises(SubmissionError, match=says) as caught:
        read_submission(file)
    assert "\n" not in str(caught.value)


def test_a_python_file_in_another_encoding_is_not_called_a_notebook(tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.py"
    file.write_bytes("x = 'é'\n".encode("utf-16"))
    with pytest.raises(SubmissionError, match=r"not UTF-8 text, as Python's files are; save it as UTF-8$"):
        read_submission(file)


def test_a_python_file_may_say_in_which_encoding_it_is(tmp_path: Path) -> None:
    """Python reads it, but it used to be refused as "not UTF-8 text, as Python's files are"."""
    file = tmp_path / "ch06_vjps.py"
    file.write_bytes("# coding: latin-1\nx = 'é'\n".encode("latin-1"))
    assert "x = 'é'" in read_submission(file).cells[0].source
    file.write_bytes(b"# coding: utf-7\nx = '\xff'\n")
    with pytest.raises(SubmissionError, match="not UTF-8"):
        read_submission(file)


def test_odd_cells_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.ipynb"
    file.write_text(json.dumps({"cells": [1, None, {"cell_type": "raw"}, code("x = 1") | {"metadata": None}]}))
    assert [cell.source for cell in read_submission(file).cells] == ["x = 1"]


def test_a_file_that_is_swapped_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The opened file is examined, not what its path refers to a moment later."""
    ann, bob = tmp_path / "ann", tmp_path / "bob"
    for folder in (ann, bob):
        folder.mkdir()
        (folder / "mine.ipynb").write_text(notebook(code(f"x = '{folder.name}'")))
    file = bob / "ch06_vjps.ipynb"
    file.symlink_to(ann / "mine.ipynb")
    opened = os.open

    def swap(path: Any, flags: int, *args: Any) -> int:
        descriptor = opened(path, flags, *args)
        if Path(path) == file:
            file.unlink()
            file.symlink_to(bob / "mine.ipynb")
        return descriptor

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(SubmissionError, match="link"):
        read_submission(file, inside=bob)
    assert [cell.source for cell in read_submission(file, inside=bob).cells] == ["x = 'bob'"]


def test_a_folder_that_becomes_another_students_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "ch06_vjps.ipynb").write_text(notebook(code("x = 1")))
    (tmp_path / "bob").symlink_to(tmp_path / "ann")
    with pytest.raises(SubmissionError, match="link"):
        read_submission(tmp_path / "bob" / "ch06_vjps.ipynb", inside=tmp_path / "bob")


def test_more_cells_than_anyone_writes_are_refused_while_they_are_split(tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.py"
    file.write_text("# %%\n" * 10**6)
    with pytest.raises(SubmissionError, match="is the limit"):
        read_submission(file)


def test_only_regular_files_inside_their_folder_are_read(tmp_path: Path) -> None:
    ann, bob = tmp_path / "ann", tmp_path / "bob"
    ann.mkdir()
    bob.mkdir()
    (ann / "ch06_vjps.ipynb").write_text(notebook(code("x = 1")))
    (bob / "ch06_vjps.ipynb").symlink_to(ann / "ch06_vjps.ipynb")
    with pytest.raises(SubmissionError, match="link"):
        read_submission(bob / "ch06_vjps.ipynb", inside=bob)
    assert read_submission(bob / "ch06_vjps.ipynb").cells, "your own link on your own machine is fine"
    (bob / "dir.ipynb").mkdir()
    os.mkfifo(bob / "pipe.ipynb")
    for name in ("dir.ipynb", "pipe.ipynb", "missing.ipynb"):
        with pytest.raises(SubmissionError):
            read_submission(bob / name, inside=bob)


LONG = 120_000
"""Number of characters: within the limit of a hand-in, but so many that a quadratic algorithm takes minutes."""
REPEATED = (
    *("<!---->", "<!--", "import marimo\n", "# %%\n", " ", "\n", "\r", "a", "a, ", "? ", "%time -a ", "%%time\n"),
    *('"""', "'''", "f ", "f().", "(", "check() ", "check()#", "def f[a=1,\n", 'f"{', "except a,,,   ", "Name: ("),
)


@contextmanager
def processor_time(most: float) -> Iterator[None]:
    """Interrupt the block after this many seconds of processor time, even within a regular expression."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise TimeoutError(f"more than {most} s of processor time")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def read_in_every_way(text: str, folder: Path) -> None:
    """Read a hand-in and make its messages in every way that does not need the judge."""
    for name, content in (("a.py", text), ("a.ipynb", text), ("b.ipynb", notebook(code(text)))):
        with suppress(SubmissionError):
            submission = parse_submission(name, content.encode())
            submission.names("f.g")
            holds_work(submission.cells, "ch06_vjps")
            source = SourceText(submission, [])
            source.why_missing("f")
            source.why_missing("f.g")
            source.calls("f", ["g"])
            source.other_order("f", ["a", "b"])
            source.defined_again("f")
            source.kept_out("f")
    with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
        parsed(text)
    FUNCTION.sub("", text)
    ExecutedCells().add(text, None, 1)
    (folder / "l_ann_attempt_2026-11-12-22-54-01.txt").write_text(text)
    Usernames([], folder.iterdir())


@pytest.mark.skipif(not hasattr(signal, "ITIMER_VIRTUAL"), reason="no clock of processor time")
@pytest.mark.parametrize("repeated", REPEATED, ids=ascii)
def test_no_text_keeps_its_reader(repeated: str, tmp_path: Path) -> None:
    """A regular expression with quadratic or exponential backtracking used to keep a class waiting forever."""
    many = repeated * (LONG // len(repeated))
    with processor_time(20):
        read_in_every_way(f"def f{many}\nx", tmp_path)
        read_in_every_way(many, tmp_path)
        for before in ("", "def f", "try:\n  pass\nexcept a", 'f"{'):
            newer((before + many)[:MOST])


def test_lines_are_those_of_python() -> None:
    """`str.splitlines` splits at more characters, so that text in a comment used to be run."""
    separators = [chr(number) for number in range(sys.maxunicode + 1) if len(f"a{chr(number)}b".splitlines()) > 1]
    assert len(separators) > 8
    for text in [f"# a{one}b = 1\n\n# c\r\nd = 1\re = 2" for one in separators]:
        assert len(lines_of(text)) == len(lines.lines_of(text)) == parsed(text).body[-1].lineno
        assert "".join(lines_of(text)) == text
        assert [line.rstrip("\r\n") for line in lines_of(text)] == lines.lines_of(text)
        assert [one.lineno for one in parsed(f"%magic\n{text}").body[1:]] == [x.lineno + 1 for x in parsed(text).body]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('def f():\n    """Why?\n\n    So."""\n    return 1\n\ny = (1,\n', 7),
        ('%matplotlib inline\ndef f():\n    """Why?\n\n    So."""\n    return 1\n\ny = (1,\n', 8),
        ("!echo '\nx = 1\n\ny = (1\n", 4),
    ],
)
def test_an_error_is_where_python_sees_it(source: str, line: int) -> None:
    """A line of a docstring that ends in `?` used to be blanked like `name?`, which caused an error later."""
    with pytest.raises(SyntaxError, match=r"'\(' was never closed") as error:
        parsed(source)
    assert error.value.lineno == line
