"""Right answers pass with several salts, and the tool finds a check that rejects one."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring.salts import losses, main
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

STYLES = sorted((Path(__file__).parent / "other_styles").glob("*/ch13_beyond_first_order.py"))
NEARLY = """\
import torch


def gumbel_softmax_st(logits, tau, gumbels):
    scores = logits + gumbels
    soft = torch.softmax(scores / tau * (1 + 1e-7), dim=-1)
    hard = torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1])
    return hard + (soft - soft.detach())
"""


def test_a_softmax_may_round_anywhere() -> None:
    """Before the tolerance followed g / tau, these lost with 5 to 86 salts of 100."""
    lesson, salts = find_lesson("ch13_beyond_first_order"), [f"salt {number}" for number in range(12, 18)]
    assert losses(lesson, STYLES, salts, only="gumbel_softmax_st") == {}


def test_what_is_not_right_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "nearly.py"
    file.write_text(NEARLY, encoding="utf-8")
    assert main(["ch13_beyond_first_order/gumbel_softmax_st", "--salts", "2", str(file)]) == 1
    told = capsys.readouterr().out
    assert f"{tmp_path.name}/nearly.py: gumbel_softmax_st, test_choices[hidden]: 2 of 2, first 'salt 0'" in told


def test_the_reference_where_no_file_is_named() -> None:
    assert losses(find_lesson("ch06_vjps"), [], ["salt"], only="relu_vjp", visible=True) == {}
