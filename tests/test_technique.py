"""What an exercise forbids, and what measures its technique: replaced instruments, refused calls, harmless experiments.

`test_unearned` grades a class of answers without the technique.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.submission import Submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

RIGHT = """
import math, torch
class GELU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi))
"""
LAST_ALONE = """
def last_alone(self, tensor, *, counts):
    self._bytes = tensor.untyped_storage().nbytes() if counts else self._bytes
"""
AN_INSTRUMENT = f"""{LAST_ALONE}
import course.instruments.live as live
live.LiveStorages._notice = last_alone
"""
CODE = f"""{LAST_ALONE}
import course.instruments.live as live
live.LiveStorages._notice.__code__ = last_alone.__code__
"""
A_SCENARIO = """
def replace():
    import sys
    frame = sys._getframe()
    while "_still_alive" not in frame.f_globals:
        frame = frame.f_back
    frame.f_globals["_still_alive"] = lambda live, result: 0
"""
A_METHOD = """
import torch
right = torch.Tensor.untyped_storage
torch.Tensor.untyped_storage = lambda self: right(self if self.is_leaf and self.requires_grad else torch.empty(0))
"""
READINGS = """
import sys, weakref
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack
def settle(instrument):
    if hasattr(instrument, "bytes") and hasattr(instrument, "peak"):
        instrument.bytes -= sys._getframe(2).f_locals["x"].nbytes
"""
BY_MODES = f"""{READINGS}
def replace():
    for mode in _get_current_dispatch_mode_stack():
        settle(mode)
"""
BY_FINALIZERS = f"""{READINGS}
def replace():
    held = sys._getframe(1).f_locals["x"] + 0  # whose end is waited for
    for info in list(weakref.finalize._registry.values()):
        if info.func.__name__ == "_free":
            settle(info.func.__self__)
            break
"""
THE_SHELL = """
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack
def replace():
    for mode in _get_current_dispatch_mode_stack():
        type(mode).__torch_dispatch__ = lambda self, func, types, args=(), kwargs=None: func(*args, **(kwargs or {}))
"""
KEEPS_A_COPY = """
import math, torch
def replace(): pass
%s
class GELU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        replace()
        ctx.save_for_backward(x)
        ctx.copy = [lambda copy=x.clone(): copy]
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        cdf = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
        return g * (cdf + x * torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi))
"""


@pytest.fixture(scope="module")
def graded_whole() -> Iterator[Callable[..., SubmissionResult]]:
    workers = Workers(find_lesson("ch08_custom_functions"), "process")

    def grade(*cells: str, only: list[str] | None = None) -> SubmissionResult:
        submission = Submission.of_cells("a test", list(cells))
        return with_judge(workers.lesson, lambda judge: judge.grade(submission, workers, only=only))

    yield grade
    workers.stop()


@pytest.fixture
def graded(graded_whole: Callable[..., SubmissionResult]) -> Callable[..., ExerciseResult]:
    return lambda cell, name="GELU": graded_whole(cell, only=[name]).exercises[0]


def test_why_there_are_no_points_is_said_once(graded: Callable[..., ExerciseResult]) -> None:
    """The line that the case begins with stood at its end as well. Where no value is right, nothing is said of it."""
    forward = "    @staticmethod\n    def forward(ctx, x):\n        return y"
    message = graded(f"import torch\nclass GELU(torch.autograd.Function):\n{forward}").message
    assert "No points" not in message
    lines = message.splitlines()
    assert len(set(lines)) == len(lines)


def test_what_else_is_wrong_is_said_as_well(graded: Callable[..., ExerciseResult]) -> None:
    """A graph inside of forward, which the technique forbids, and a second derivative that takes x for a constant."""
    cell = (KEEPS_A_COPY % "").replace("= ctx.saved_tensors", "= ctx.saved_tensors; x = x.detach()")
    in_forward = "with torch.enable_grad(): x.detach().requires_grad_().square()"
    result = graded(cell.replace("ctx.copy = [lambda copy=x.clone(): copy]", in_forward))
    assert result.points == 0
    assert "No points, even for what is right: GELU is about how it is done" in result.message


def test_a_finer_point_costs_its_own_check_only(graded: Callable[..., ExerciseResult]) -> None:
    result = graded(KEEPS_A_COPY % "")
    assert {check.name for check in result.checks if not check.passed} == {"test_keeps"}
    assert 0 < result.points < result.max_points


@pytest.mark.parametrize(
    ("patch", "name"),
    [
        (AN_INSTRUMENT, "course.instruments.live.LiveStorages._notice"),
        (A_SCENARIO, "_still_alive"),
        (CODE, "LiveStorages._notice"),
        (A_METHOD, "torch.Tensor.untyped_storage"),
        (THE_SHELL, "course.instruments.out_of_reach.Shell.__torch_dispatch__"),
    ],
    ids=["an instrument", "a scenario", "code", "a method of PyTorch's", "the mode that is active"],
)
def test_what_measures_is_not_replaced(graded: Callable[..., ExerciseResult], patch: str, name: str) -> None:
    result = graded(KEEPS_A_COPY % patch)
    kept = next(check for check in result.checks if check.name == "test_keeps" and check.visible)
    assert not kept.passed
    assert result.points == 0
    assert f"The submission replaces {name}: what is measured would not be true" in kept.message


@pytest.mark.parametrize("patch", [BY_MODES, BY_FINALIZERS], ids=["modes", "finalizers"])
def test_what_is_measured_is_not_written(graded: Callable[..., ExerciseResult], patch: str) -> None:
    """PyTorch and Python tell anybody what is active; it has no readings, and leads to none."""
    result = graded(KEEPS_A_COPY % patch)
    assert {check.name for check in result.checks if not check.passed} == {"test_keeps"}


def test_names_of_ones_own_replace_nothing(graded: Callable[..., ExerciseResult]) -> None:
    own = "import torch.utils.checkpoint\ntorch.my_own = len\ntorch.Tensor.twice = lambda x: 2 * x\ndef kept(): pass\n"
    result = graded(own + (KEEPS_A_COPY % "").replace("ctx.copy = [lambda copy=x.clone(): copy]", "pass"))
    assert (result.status, result.message) == ("passed", "")


def test_keeping_nothing_is_worth_nothing_where_no_value_is_right(graded: Callable[..., ExerciseResult]) -> None:
    result = graded(
        """
import torch
class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()

    @staticmethod
    def backward(ctx, g): return 0 * g
""",
        "RoundSTE",
    )
    assert {check.name for check in result.checks if check.passed} == {"test_calls"}
    assert (result.points, result.status) == (0, "failed")


def test_experiments_with_what_an_exercise_forbids_cost_nothing(graded_whole: Callable[..., SubmissionResult]) -> None:
    """The statement ends that makes the call, and those that need what it would have bound."""
    experiments = """
x = torch.linspace(-1, 1, 3, requires_grad=True)
y = GELU.apply(x).sum()
y.backward()
theirs, = torch.autograd.grad(torch.nn.functional.gelu(x).sum(), x)
print(theirs)
half = x.detach() / 2
"""
    last = "class Mine(GELU): pass\nGELU = Mine if len(half) == 3 else None"
    result = graded_whole(RIGHT, experiments, "print(half, theirs)", last)
    assert result.message == ""
    assert (result.exercises[1].name, result.exercises[1].points) == ("GELU", 4)


def test_what_fails_after_a_refused_call_says_so(graded_whole: Callable[..., SubmissionResult]) -> None:
    result = graded_whole(RIGHT, "x = torch.ones(1, requires_grad=True)\nx.backward()\nx.grad + 1")
    assert result.exercises[1].status == "passed"
    assert "cell 2, line 3 raised TypeError: unsupported operand" in result.message
    assert "; before it, a call was refused (cell 2, line 2: torch.Tensor.backward is forbidden in" in result.message


@pytest.mark.parametrize(
    ("before", "use"),
    [
        ("theirs = torch.nn.functional.gelu(torch.ones(1))", "theirs"),
        ("class Of:\n    theirs = torch.nn.functional.gelu(torch.ones(1))", "Of.theirs"),
        ("def theirs(x=torch.nn.functional.gelu(torch.ones(1))): return x", "theirs()"),
        ("tangent = torch.func.grad(torch.sum)", "tangent(x)"),
    ],
    ids=["a value", "in a class", "a default", "a function"],
)
def test_what_a_refused_call_would_have_made_is_not_there(
    graded: Callable[..., ExerciseResult], before: str, use: str
) -> None:
    result = graded(f"import torch\n{before}\n{RIGHT.replace('return 0.5 * x', f'{use}; return 0.5 * x')}")
    assert result.points == 0
    assert re.search(r"Before that, cell 1, line [23] raised ForbiddenCall: torch\.[\w.]+ is forbidden", result.message)
    assert "so it is refused while the cells run" in result.message
