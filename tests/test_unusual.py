"""Wrong answers that only an unusual argument shows: no check rejected them before the rows of factors were drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring.salts import losses
from course.syllabus import find_lesson

UNUSUAL = Path(__file__).with_name("unusual")
"""A folder for each lesson; a file's name begins with its exercise."""


@pytest.mark.parametrize("slug", sorted(folder.name for folder in UNUSUAL.iterdir()))
def test_only_rows_of_factors_find_these_wrong_answers(slug: str) -> None:
    pytest.importorskip("torch")
    files = sorted((UNUSUAL / slug).glob("*.py"))
    found = losses(find_lesson(slug), files, ["a salt"], visible=True)
    for file in files:
        of_file = {key[2] for key in found if key[0] == f"{slug}/{file.name}" and key[1] == _exercise(file)}
        assert {name.rpartition("[")[2] for name in of_file} == {"visible]", "hidden]"}, file.name
        assert {name.startswith("test_every_kind_of_") for name in of_file} == {True}, file.name


def _exercise(file: Path) -> str:
    return file.name.partition("__")[0]
