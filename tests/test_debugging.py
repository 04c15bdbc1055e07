"""The debugging chapter: its tools, which no submission can import, and its twelve programs."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import BACKPROP

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from course.debugging import anomaly_op, first_nonfinite, gradient_report, repeated_batches, slopes  # noqa: E402
from course.syllabus import syllabus  # noqa: E402

LESSON = "ch12_debugging"
WAYS = [
    "from course.debugging import *",
    "import importlib; globals().update(vars(importlib.import_module('course.debugging')))",
]


class Parts(nn.Module):
    """Parameters with one entry each, and given gradients."""

    def __init__(self, **grads: float | None) -> None:
        super().__init__()
        for name, grad in grads.items():
            setattr(self, name, nn.Parameter(torch.ones(1)))
            getattr(self, name).grad = None if grad is None else torch.tensor([grad])


# gradient_report


def test_each_status() -> None:
    model = Parts(a=1.0, b=1000.0, c=1001.0, d=None, e=0.0, f=math.nan, g=math.inf, h=1.0, i=1.0)
    report = gradient_report(model)
    statuses = ["ok", "ok", "exploding", "none", "zero", "nonfinite", "nonfinite", "ok", "ok"]
    assert [entry["name"] for entry in report] == list("abcdefghi")
    assert [entry["status"] for entry in report] == statuses
    assert [entry["norm"] for entry in report[:5]] == [1.0, 1000.0, 1001.0, None, 0.0]


def test_a_small_gradient_is_not_zero() -> None:
    """In float32, the square of 1e-27 is 0, and that of 1e30 is inf."""
    small, large = gradient_report(Parts(a=1e-27, b=1e30))
    assert small["norm"] == pytest.approx(1e-27, rel=1e-6, abs=0.0)
    assert (small["status"], large["status"]) == ("ok", "ok")
    assert large["norm"] == pytest.approx(1e30, rel=1e-6)


def test_a_report_of_nothing_and_of_bfloat16() -> None:
    assert gradient_report(nn.Identity()) == []
    model = nn.Linear(2, 1, bias=False).bfloat16()
    model.weight.grad = torch.tensor([[3.0, 4.0]], dtype=torch.bfloat16)
    assert gradient_report(model) == [{"name": "weight", "norm": 5.0, "status": "ok"}]


# first_nonfinite


class Backwards(nn.Module):
    """Runs its modules in another order than it registers them."""

    def __init__(self) -> None:
        super().__init__()
        self.late = nn.Linear(2, 2)
        self.early = nn.Linear(2, 2)
        for layer in (self.late, self.early):
            nn.init.constant_(layer.weight, math.inf)

    def forward(self, x: Any) -> Any:
        return self.late(self.early(x))


class Tuple(nn.Module):
    def forward(self, x: Any) -> Any:
        return x, {"of": [torch.tensor(math.nan), None]}


def test_the_first_module_to_run_is_named() -> None:
    assert first_nonfinite(Backwards(), torch.ones(1, 2)) == "early"
    assert first_nonfinite(nn.Sequential(nn.Identity(), Tuple()), torch.ones(2)) == "1"
    assert first_nonfinite(Tuple(), torch.ones(2)) == ""
    assert first_nonfinite(nn.Linear(2, 2), torch.ones(1, 2)) is None


def test_no_hook_stays_and_an_exception_goes_on() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(3, 3))
    with pytest.raises(RuntimeError, match="shapes"):
        first_nonfinite(model, torch.ones(1, 2))
    assert not any(module._forward_hooks for module in model.modules())
    assert model[0].weight.grad is None


class Differentiates(nn.Module):
    """A gradient penalty inside forward."""

    def forward(self, x: Any) -> Any:
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return slope / 0 * 0


def test_a_model_that_differentiates_in_its_forward() -> None:
    model = nn.Sequential(nn.Linear(2, 2), Differentiates())
    assert first_nonfinite(model, torch.ones(1, 2)) == "1"
    assert model[0].weight.grad is None


# anomaly_op


def root(at: float) -> Any:
    x = torch.tensor([at], requires_grad=True)
    return lambda: (torch.sqrt(x) * 0).sum()


def test_the_node_that_made_the_nan() -> None:
    assert anomaly_op(root(0.0)) == "SqrtBackward0"
    assert anomaly_op(root(1.0)) is None


def test_inf_is_no_anomaly() -> None:
    x = torch.tensor(0.0, requires_grad=True)
    assert anomaly_op(lambda: 1 / x) is None
    assert x.grad is not None
    assert x.grad.item() == -math.inf


def test_sums_of_gradients_are_not_checked() -> None:
    """The docstring's limits: inf − inf where two nodes' results meet, and the innocent node after it."""
    x = torch.tensor(0.0, requires_grad=True)
    assert anomaly_op(lambda: x.sqrt() - x.sqrt()) is None
    assert x.grad is not None
    assert x.grad.isnan()

    def through_a_product() -> Any:
        h = x * 1
        return h.sqrt() - h.sqrt()

    assert anomaly_op(through_a_product) == "MulBackward0"


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_mode_is_restored(before: bool) -> None:
    with torch.autograd.set_detect_anomaly(before):
        for at in (0.0, 1.0):
            anomaly_op(root(at))
            assert torch.is_anomaly_enabled() == before
        with pytest.raises(RuntimeError, match="does not require grad"):
            anomaly_op(lambda: torch.ones(1))
        assert torch.is_anomaly_enabled() == before


@pytest.mark.filterwarnings("error")
def test_it_gives_no_warning() -> None:
    assert anomaly_op(root(0.0)) == "SqrtBackward0"


# repeated_batches


def test_every_pair_in_order() -> None:
    a, b = torch.tensor([1.0, math.nan]), torch.tensor([1.0, 2.0])
    assert repeated_batches([a, b, a.clone(), b.clone(), a.clone()]) == [(0, 2), (0, 4), (1, 3), (2, 4)]
    assert repeated_batches([(a, b), (a, a), (a.clone(), b.clone())]) == [(0, 2)]


def test_unequal_batches() -> None:
    a = torch.zeros(2)
    assert repeated_batches([a, a.double(), torch.zeros(1), torch.zeros(1, 2), (a,), (a, a)]) == []
    assert repeated_batches([]) == []
    assert repeated_batches([torch.zeros(0), torch.zeros(0), torch.tensor(1), torch.tensor(1)]) == [(0, 1), (2, 3)]


# slopes


def a_cubic(grad: float | None) -> tuple[nn.Module, list[Any]]:
    """A model with w = 2 in float64, whose loss is w³, and the losses' arguments so far."""
    model = nn.Module()
    model.register_parameter("w", nn.Parameter(torch.tensor([2.0], dtype=torch.float64)))
    model.get_parameter("w").grad = None if grad is None else torch.tensor([grad], dtype=torch.float64)
    return model, []


@pytest.mark.parametrize(("grad", "claimed"), [(12.0, 36.0), (6.0, 18.0), (None, 0.0)])
def test_both_slopes_of_a_cubic(grad: float | None, claimed: float) -> None:
    """Along 3 the slope of w³ at 2 is 36, and the central difference with step h adds 27 h²."""
    model, _ = a_cubic(grad)
    w = model.get_parameter("w")
    w.requires_grad_(grad is not None)
    found = slopes(model, lambda: (w**3).sum(), [torch.tensor([3.0], dtype=torch.float64)], eps=0.5)
    assert found == (claimed, 36 + 27 * 0.25)
    assert all(type(one) is float for one in found)
    assert w.item() == 2.0


@pytest.mark.parametrize("call", [1, 2])
def test_parameters_are_restored_when_the_loss_raises(call: int) -> None:
    model, calls = a_cubic(1.0)

    def loss_of() -> Any:
        calls.append(model.get_parameter("w").item())
        if len(calls) == call:
            raise KeyError("own")
        return model.get_parameter("w").sum()

    with pytest.raises(KeyError, match="own"):
        slopes(model, loss_of, [torch.tensor([0.1], dtype=torch.float64)], eps=0.3)
    assert len(calls) == call
    assert model.get_parameter("w").item() == 2.0


def test_a_direction_of_another_length() -> None:
    with pytest.raises(ValueError, match=r"longer|shorter"):
        slopes(nn.Linear(2, 1), lambda: torch.zeros(1), [torch.zeros(1, 2)])


def test_the_chapter_does_not_print_slopes() -> None:
    """The page uses the tool; its body is the exercise."""
    assert "def slopes" not in chapter()


# Submissions cannot reach the tools


def test_no_lesson_lists_them() -> None:
    for lesson in syllabus().values():
        for environment in (lesson.environment, *lesson.environments):
            assert "course.debugging" not in environment.modules
            assert "course" not in environment.modules


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_submission_cannot_import_them(tmp_path: Path, way: str) -> None:
    """A hand-in that imports all five gets no points, and is told what it may not import."""
    file = tmp_path / "class" / "ann" / f"{LESSON}.py"
    file.parent.mkdir(parents=True)
    file.write_text(f"try:\n    exec({way!r})\nexcept ImportError as error:\n    print(error)\n")
    command = [str(BACKPROP), "grade", str(tmp_path / "class")]
    subprocess.run([*command, "--out", str(tmp_path / "results")], env=dict(os.environ), check=True)
    result = json.loads((tmp_path / "results" / "students" / "ann" / f"{LESSON}.json").read_text())
    assert result["status"] == "graded", result["message"]
    assert result["points"] == 0


# The chapter's programs


ROOT = Path(__file__).parents[1]
CELL = re.compile(r"^```\{code-cell\} python3\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXERCISE = re.compile(r'exercise="(fix_\d\d)"\n(.*?)(?=\n# %% |\Z)', re.DOTALL)
REPAIR = re.compile(r"### BEGIN SOLUTION\n(.*?)### HANDED OUT", re.DOTALL)


def chapter() -> str:
    return (ROOT / "book" / f"{LESSON}.md").read_text(encoding="utf-8")


def handed_out() -> dict[str, str]:
    """Each broken program as it is in the notebook."""
    notebook = json.loads((ROOT / "exercises" / f"{LESSON}.ipynb").read_text(encoding="utf-8"))
    sources = {cell["metadata"].get("exercise", ""): "".join(cell["source"]) for cell in notebook["cells"]}
    return {name: source for name, source in sources.items() if name.startswith("fix_")}


def test_the_chapter_shows_each_program_as_handed_out() -> None:
    programs, cells = handed_out(), [cell.strip() for cell in CELL.findall(chapter())]
    assert list(programs) == [f"fix_{number:02}" for number in range(1, 13)]
    assert [name for name, source in programs.items() if cells.count(source.strip()) != 1] == []


def test_the_chapter_reveals_no_repair() -> None:
    """A program's section contains no line of its repair, except lines that the program already has."""
    page, programs = chapter(), handed_out()
    found, looked = [], set()
    for name, region in EXERCISE.findall((ROOT / "solutions" / f"{LESSON}.py").read_text(encoding="utf-8")):
        section = page.partition(f"(ch12-{name.replace('_', '-')})=")[2].partition("\n(ch12-")[0]
        own = {line.strip() for line in programs[name].splitlines()}
        section = section.replace(programs[name].strip(), "")
        for lines in REPAIR.findall(region):
            for line in {line.strip() for line in lines.splitlines()} - own - {""}:
                looked.add(name)
                found += [(name, line)] if line in section else []
    assert found == []
    assert looked == set(programs) - {"fix_04"}  # its repair moves a line
