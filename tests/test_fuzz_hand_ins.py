"""Any bytes handed in are parsed into cells, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fuzzed import INTEGERS, fuzz
from hypothesis import example, given
from hypothesis import strategies as st

from autograder.submission import Cell, SubmissionError, read_submission

pytestmark = pytest.mark.slow


# Hand-ins.
MARKS = st.sampled_from(
    [
        *("# %%", "# %% [markdown]", '# %% exercise="f"', '# %% tags=["check"]', "# %%" + "[" * 50, "#%%", " # %%"),
        *("\n", "\r", "\r\n", "\n\r", "\x0c", "\x0b", "\x1c", "\x85", "\u2028", "\0", "\ufeff", "\x1a", "\\\n", "'''"),
        *("x = 1", "def f():", "    pass", "%magic", "!ls", "\t", "é", "\U0001f600", "\x1b[31m"),
    ]
)


@fuzz
@given(st.lists(MARKS | st.text(max_size=6), max_size=30).map("".join))
@example("x = 1\n\x0c\ny = '\u2028# %% no mark'\n# %%\nz = 2\n")
@example("a\r\n# %%\rb\n\r# %% x\r\nc")
def test_a_python_files_cells_are_at_the_lines_that_they_say(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ch07_mlp_backprop.py"
    file.write_bytes(text.encode())
    try:
        submission = read_submission(file)
    except SubmissionError as error:
        assert_one_line(error)
        return
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for cell in submission.cells:
        own = cell.source.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
        assert lines[cell.offset : cell.offset + len(own)] == own
        assert_printable(cell)


ANYTHING = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
SOURCES = st.text(st.characters(), max_size=20) | st.lists(st.text(max_size=5) | ANYTHING, max_size=3) | ANYTHING
CELLS = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.just("code") | ANYTHING,
        "source": SOURCES,
        "metadata": st.fixed_dictionaries(
            {}, optional={"tags": st.lists(st.just("check") | ANYTHING) | ANYTHING, "exercise": ANYTHING}
        )
        | ANYTHING,
    },
)


@fuzz
@given(st.fixed_dictionaries({}, optional={"cells": st.lists(CELLS | ANYTHING, max_size=4) | ANYTHING}) | ANYTHING)
def test_notebook_like_json_is_cells_or_a_submission_error(tmp_path: Path, notebook: Any) -> None:
    assert_read_or_refused(tmp_path, json.dumps(notebook).encode())


@fuzz
@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda noise: b'{"cells": [' + noise + b"]}"))
@example(b'{"cells": [1e999, -1e999, NaN, Infinity]}')
@example(b'{"cells": [{"cell_type": "code", "source": "a", "source": "b", "cells": 1, "cells": []}]}')
@example(b'{"cells": ' + b"9" * 100_000 + b"}")
@example(b"\xef\xbb\xbf\xef\xbb\xbf{}")
@example(b'{"cells": ' + b'{"cells": ' * 50_000)
@example(b'{"cells": [{"cell_type": "code", "source": "\\ud800", "metadata": {"exercise": "\\udfff\\u0000"}}]}')
def test_any_bytes_are_cells_or_a_submission_error(tmp_path: Path, data: bytes) -> None:
    assert_read_or_refused(tmp_path, data)


def assert_read_or_refused(folder: Path, data: bytes) -> None:
    for suffix in ("ipynb", "py"):
        file = folder / f"ch07_mlp_backprop.{suffix}"
        file.write_bytes(data)
        try:
            cells = read_submission(file, inside=folder).cells
        except SubmissionError as error:
            assert_one_line(error)
        else:
            for cell in cells:
                assert_printable(cell)
                cell.source.encode()


def assert_one_line(error: Exception) -> None:
    assert str(error).isprintable()
    assert len(str(error)) < 300


def assert_printable(cell: Cell) -> None:
    assert cell.label.isprintable()
    assert len(cell.label) < 100


def test_a_link_to_itself_is_reported_in_one_line(tmp_path: Path) -> None:
    """Formerly it stopped the grading of the whole class."""
    file = tmp_path / "ch07_mlp_backprop.ipynb"
    file.symlink_to(file.name)
    with pytest.raises(SubmissionError, match="symbolic links"):
        read_submission(file, inside=tmp_path)
