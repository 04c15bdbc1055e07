"""`python -P -m autograder.authoring.judged`: rates of rejection and of true causes, on a folder of answers."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.authoring.judged import AnswersError, Row, answers_in, main, rates, with_verdicts, written

RIGHT = "# exercise: relu_vjp\n# right\ndef relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = "# exercise: relu_vjp\n# mistake: one at 0\ndef relu_vjp(g, x):\n    return (g * (x >= 0)).astype(x.dtype)\n"
SLUG = "ch06_vjps"


def answers(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        kind, _, answer = name.partition("/")
        (folder / kind / SLUG).mkdir(parents=True, exist_ok=True)
        (folder / kind / SLUG / f"{answer}.py").write_text(text)
    return folder


@pytest.mark.slow
def test_answers_are_graded_and_verdicts_are_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = answers(
        tmp_path / "answers",
        {"right/mask": RIGHT, "right/kink": WRONG, "wrong/kink": WRONG, "wrong/none": RIGHT},
    )
    table = tmp_path / "table.csv"
    assert main([str(folder), "--table", str(table)]) == 0
    said = capfd.readouterr().out
    assert "wrong: 1 of 2 (50.0%) are rejected" in said
    assert "right: 1 of 2 (50.0%) have all points" in said
    assert f"accepted: wrong/{SLUG}/none" in said
    assert f"lost points: right/{SLUG}/kink: " in said
    table.write_text(table.read_text().replace('""\n', '"told"\n').replace('""\r\n', '"told"\r\n'))
    assert main([str(folder), "--table", str(table)]) == 0
    assert "verdicts on 1 message: told 1 of 1 (100.0%)" in capfd.readouterr().out
    with table.open(newline="") as file:
        (row,) = (one for one in csv.DictReader(file) if one["kind"] == "wrong" and one["answer"] == "kink")
    assert (row["mistake"], row["named"], row["verdict"]) == ("one at 0", "relu_one_at_zero", "told")


def test_a_verdict_does_not_outlive_its_message(tmp_path: Path) -> None:
    row = Row("wrong", SLUG, "kink", "relu_vjp", "", "0.50", "", "dx is wrong", "told")
    written([row], tmp_path / "table.csv")
    again = [replace(row, share="0.65", message=message, verdict="") for message in ("dx is wrong", "0 is let through")]
    assert [one.verdict for one in with_verdicts(again, tmp_path / "table.csv")] == ["told", ""]
    written([replace(row, verdict="true")], tmp_path / "table.csv")
    with pytest.raises(AnswersError, match="the verdict 'true' is none of told, one, numbers, false"):
        with_verdicts([], tmp_path / "table.csv")


def test_a_message_that_the_table_disarms_keeps_its_verdict(tmp_path: Path) -> None:
    """A spreadsheet could read "; -6" as a formula, so the table has a quote there; the verdict used to be lost."""
    row = Row("wrong", SLUG, "kink", "relu_vjp", "", "0.50", "", "d is 4; -6 expected", "told")
    written([row], tmp_path / "table.csv")
    (again,) = with_verdicts([replace(row, verdict="")], tmp_path / "table.csv")
    assert (again.message, again.verdict) == (row.message, "told")


def test_nothing_that_was_not_graded_counts() -> None:
    lines = list(rates([Row("two", SLUG, "lost", "relu_vjp", "", "", "", "time ran out")]))
    assert lines == [f"not graded: two/{SLUG}/lost: time ran out"]


def test_a_file_without_its_exercise_is_named(tmp_path: Path) -> None:
    with pytest.raises(AnswersError, match=r"kink\.py: its first line must name its exercise"):
        answers_in(answers(tmp_path, {"wrong/kink": WRONG.partition("\n")[2]}))
    with pytest.raises(AnswersError, match="there is no wrong/, two/, right/"):
        answers_in(tmp_path / "elsewhere")
