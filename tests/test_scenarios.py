"""Scenarios: our code in the submission's process uses objects, methods and graphs that cannot be sent."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from autograder.authoring.local import examine
from autograder.collection import with_judge
from autograder.isolation import PackageMissing, Workers
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.lessons.ch08_custom_functions.scenarios.run_gradcheck import verdict
from autograder.submission import Submission
from course.syllabus import Environment, Exercise, Lesson

pytestmark = pytest.mark.slow
SLUG, NUMPY, TORCH = "ch01_objects", Environment(("numpy",), ()), Environment(("numpy", "torch"), ())
SOLUTION = """
import torch

class Counter:
    def __init__(self, start):
        self.n = start

def increase(self, by):
    if by < 0:
        raise ValueError("down")
    self.n += by
    return self
Counter.increase = increase

def tripled(x):
    return 3 * x
"""
SCENARIOS = """
MAY_CALL = ("torch.mul",)

def counted(submission, start, steps):
    counter = submission.Counter(start)
    for step in steps:
        counter = counter.increase(step)
    return float(counter.n)

def told(submission, start, listen):
    return listen(submission.Counter(start).increase(1).n)

def gradient(submission, x, g):
    import torch
    leaf = torch.tensor(x, requires_grad=True)
    torch.mul(submission.tripled(leaf), torch.tensor(g)).sum().backward()  # what the exercise forbids, we may call
    return leaf.grad
"""
CHECKS = """
from autograder.judging import exercise, expect, expect_close, expect_raises

def agree(learner, reference, rng):
    for n in (1, 3):
        start, steps = float(rng.normal()), rng.uniform(size=n).tolist()
        mine, theirs = learner.scenario.counted(start, steps), reference.scenario.counted(start, steps)
        expect_close(mine, theirs, names=("n",), case=f"{n} steps", rtol=1e-9, atol=1e-12)

@exercise("Counter")
def test_counter(learner, reference, rng):
    agree(learner, reference, rng)

@exercise("Counter.increase")
def test_increase(learner, reference, rng):
    agree(learner, reference, rng)
    expect_raises(ValueError, learner.scenario.counted, 0.0, [-1.0])

@exercise("Counter.increase")
def test_listener(learner, rng):
    heard = []
    start = float(rng.normal())
    learner.scenario.told(start, heard.append)
    expect(len(heard) == 1 and abs(heard[0] - start - 1) < 1e-9, "The count is not what it should be.")

@exercise("tripled")
def test_tripled(learner, reference, rng):
    x, g = rng.normal(size=3), rng.normal(size=3)
    mine, theirs = learner.scenario.gradient(x, g), reference.scenario.gradient(x, g)
    expect_close(mine, theirs, names=("dx",), rtol=1e-9, atol=1e-12)
"""
MISCONCEPTIONS = """
from autograder.diagnosis import misconception

@misconception("Counter", replaces="Counter.__init__", says="It always starts at 0.")
def from_zero(self, start):
    self.n = 0

@misconception("Counter.increase", says="It replaces the count.")
def replaces(self, by):
    if by < 0:
        raise ValueError
    return type(self)(by)

@misconception("Counter.increase", says="It counts down as well.")
def both_ways(self, by):
    return type(self)(self.n + by)

@misconception("tripled", says="It is doubled.")
def doubled(x):
    return 2 * x
"""
RIGHT = """
class Counter:
    def __init__(self, start): self.n = start
    def increase(self, by):
        if by < 0: raise ValueError
        return Counter(self.n + by)
"""
WITH_TORCH = "import torch\ndef tripled(x): return torch.add(x, 2 * x)"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("course-of-objects")
    for name, text in {
        f"solutions/{SLUG}.py": SOLUTION,
        f"autograder/lessons/{SLUG}/checks/counter.py": CHECKS,
        f"autograder/lessons/{SLUG}/scenarios/counters.py": SCENARIOS,
        f"autograder/lessons/{SLUG}/mistakes/counter.py": MISCONCEPTIONS,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def lesson(torch: Environment = TORCH) -> Lesson:
    environments = {"Counter": NUMPY, "Counter.increase": NUMPY, "tripled": torch}
    exercises = [Exercise(SLUG, name, 2, "core", ("a", "b"), environment) for name, environment in environments.items()]
    calls = "torch.mul", "torch.einsum", "torch.ops.aten.lerp", "torch.nn.Dropout", "torch.no_such_thing"
    exercises[-1] = replace(exercises[-1], forbidden=calls)
    return Lesson(SLUG, "Objects", "Part", 5, NUMPY, tuple(exercises))


@pytest.fixture(scope="module", params=["process", "sandbox"])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    started = Workers(lesson(), request.param)
    yield started
    started.stop()


@pytest.fixture
def grade(root: Path, workers: Workers) -> Callable[..., SubmissionResult]:
    def run(*cells: str, workers: Workers = workers) -> SubmissionResult:
        submission = Submission.of_cells("a test", [textwrap.dedent(cell) for cell in cells])
        return with_judge(workers.lesson, lambda judge: judge.grade(submission, workers), salt="salt", root=root)

    return run


def by_name(result: SubmissionResult) -> dict[str, ExerciseResult]:
    return {exercise.name: exercise for exercise in result.exercises}


def statuses(result: SubmissionResult) -> list[str]:
    return [exercise.status for exercise in result.exercises]


def test_the_checks_are_good(root: Path) -> None:
    found = with_judge(lesson(), examine, root=root)
    assert (found.reference, found.accepted, found.unnamed, found.trivial) == ([], [], [], [])


def test_right_objects_earn_everything(grade: Callable[..., SubmissionResult]) -> None:
    results = grade(RIGHT, WITH_TORCH)
    assert statuses(results) == ["passed", "passed", "passed"]
    assert results.message == ""  # that NumPy's worker has no torch is no problem of the notebook's


def test_mistakes_are_named(grade: Callable[..., SubmissionResult]) -> None:
    wrong = RIGHT.replace("self.n + by", "by")
    results = grade(wrong, WITH_TORCH.replace("2 * x", "x"))
    assert by_name(results)["Counter.increase"].misconceptions == ["replaces"]
    assert by_name(results)["tripled"].misconceptions == ["doubled"]


def test_what_is_not_there_is_missing(grade: Callable[..., SubmissionResult]) -> None:
    results = grade("class Counter:\n    def __init__(self, start): self.n = start")
    assert by_name(results)["Counter.increase"].status == "missing"
    assert "Counter.increase is not defined" in by_name(results)["Counter.increase"].message


def test_a_stub_that_another_exercise_needs_is_named(grade: Callable[..., SubmissionResult]) -> None:
    stub = 'def increase(self, by):\n    raise NotImplementedError("Counter.increase: your code here")'
    results = grade(
        f"class Counter:\n    def __init__(self, start): self.n = start\n{stub}\nCounter.increase = increase"
    )
    assert by_name(results)["Counter"].message.startswith("Counter uses Counter.increase, which is not written yet.")
    assert by_name(results)["Counter.increase"].message == "Counter.increase is not written yet."


def test_an_odd_object_is_said_to_be_odd(grade: Callable[..., SubmissionResult]) -> None:
    results = grade(RIGHT.replace("return Counter(self.n + by)", "self.n += by"))
    message = by_name(results)["Counter.increase"].message
    assert "The check of Counter.increase could not go on: 'NoneType' object has no attribute" in message
    assert "Does a function of yours end without `return`?" in message


def test_what_is_not_implemented_elsewhere_is_not_called_a_stub(grade: Callable[..., SubmissionResult]) -> None:
    """PyTorch raises NotImplementedError for a missing method of a Function, without a line of the submission."""
    code = RIGHT.replace("return Counter(self.n + by)", 'raise NotImplementedError("You must" + " implement it")')
    message = by_name(grade(code))["Counter.increase"].message
    assert "raised NotImplementedError: You must implement it" in message
    stub = RIGHT.replace("return Counter(self.n + by)", 'raise NotImplementedError("to do")')
    assert "not written yet" in by_name(grade(stub))["Counter.increase"].message


def test_a_tuple_of_gradients_that_is_multiplied_is_asked_about(grade: Callable[..., SubmissionResult]) -> None:
    """PyTorch takes the tuple for an index, in a line without one."""
    said = "only integer tensors of a single element can be converted to an index"
    code = RIGHT.replace("return Counter(self.n + by)", f"raise TypeError({said!r})  # grad(y)")
    message = by_name(grade(code))["Counter.increase"].message
    assert "\nIs one factor a tuple? torch.autograd.grad gives one" in message


def test_numpy_exercises_cannot_use_torch(grade: Callable[..., SubmissionResult]) -> None:
    results = grade(RIGHT.replace("self.n = start", "import torch; self.n = start"), WITH_TORCH)
    assert statuses(results) == ["forbidden", "forbidden", "passed"]


MADE_FORBIDDEN = {
    "called": "import torch\ndef tripled(x): return torch.mul(3, x)",
    "by another name": "from torch import mul as m\ndef tripled(x): return m(x, 3)",
    "through a library": "import torch, functools\ndef tripled(x): return functools.partial(torch.mul, 3)(x)",
    "in a thread": """
        import torch, concurrent.futures
        def tripled(x):
            with concurrent.futures.ThreadPoolExecutor() as pool:
                return pool.submit(torch.mul, 3, x).result()""",
    "in backward": """
        import torch
        class Tripled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): return 3 * x
            @staticmethod
            def backward(ctx, g): return torch.mul(g, 3)
        tripled = Tripled.apply""",
}


@pytest.mark.parametrize("cell", MADE_FORBIDDEN.values(), ids=list(MADE_FORBIDDEN))
def test_a_call_that_does_the_work_is_refused(grade: Callable[..., SubmissionResult], cell: str) -> None:
    result = by_name(grade(RIGHT, cell))["tripled"]
    assert (result.status, result.points) == ("forbidden", 0)
    assert result.message.startswith("tripled calls torch.mul, which does this exercise's work")


GONE_AROUND = {
    "an operation, where it is": ("import torch\ndef tripled(x): return torch.ops.aten.lerp(0 * x, x, 3.0)", "lerp"),
    "an operation, by its other name": ("import torch\ndef tripled(x): return torch.lerp(0 * x, x, 3.0)", "lerp"),
    "an operation, with modes switched off": (
        """
        import torch
        from torch.utils._python_dispatch import _disable_current_modes
        def tripled(x):
            with _disable_current_modes():
                return torch.lerp(0 * x, x, 3.0)""",
        "lerp",
    ),
    "an operation's kernel": (
        """
        import torch
        from torch._C import DispatchKey, DispatchKeySet
        lerp = torch.ops.aten.lerp.Scalar
        def tripled(x): return lerp.redispatch(DispatchKeySet(DispatchKey.CPU), 0 * x.detach(), x.detach(), 3.0)""",
        "lerp",
    ),
    "nothing in between": (
        "import functools, torch\ntripled = functools.partial(torch.einsum, '...,->...', torch.tensor(3.0).double())",
        "einsum",
    ),
    "nothing but a backward pass in between": (
        """
        import functools, torch
        def tripled(x):
            y = 3 * x.detach() + (x - x.detach())
            y.register_hook(functools.partial(torch.mul, 3))
            return y""",
        "mul",
    ),
    "where the watch was taken off": (
        """
        import torch
        einsum = getattr(torch.einsum, "__wrapped__", torch.einsum)
        def tripled(x): return 3 * einsum("...->...", x)""",
        "einsum",
    ),
    "under another file's name": (
        """
        import torch
        code = "import torch\\ndef tripled(x): return 3 * torch.einsum('...->...', x)"
        exec(compile(code, torch.__file__, "exec"), globals())""",
        "einsum",
    ),
    "under the name of what checks": (
        """
        import sys, torch
        code = "import torch\\ndef mine(x): return 3 * torch.einsum('...->...', x)"
        def tripled(x):
            frame = sys._getframe()
            while "MAY_CALL" not in frame.f_globals:
                frame = frame.f_back
            exec(compile(code, frame.f_code.co_filename, "exec"), frame.f_globals)
            return frame.f_globals["mine"](x)""",
        "einsum",
    ),
    "the source once more": (
        """
        import inspect, torch
        copy = dict(vars(torch.functional))
        exec(inspect.getsource(torch.einsum), copy)
        def tripled(x): return 3 * copy["einsum"]("...->...", x)""",
        "einsum",
    ),
    "the code in another function": (
        """
        import importlib.util, torch, types
        loader = importlib.util.find_spec("torch.functional").loader
        code = next(c for c in loader.get_code("torch.functional").co_consts if getattr(c, "co_name", "") == "einsum")
        copy = types.FunctionType(code, vars(torch.functional))
        def tripled(x): return 3 * copy("...->...", x)""",
        "einsum",
    ),
}


@pytest.mark.parametrize(("cell", "name"), GONE_AROUND.values(), ids=list(GONE_AROUND))
def test_a_way_around_is_refused(grade: Callable[..., SubmissionResult], cell: str, name: str) -> None:
    result = by_name(grade(RIGHT, cell))["tripled"]
    assert (result.status, result.points) == ("forbidden", 0), result.message
    assert f"{name}, which does this exercise's work" in result.message


@pytest.mark.parametrize(
    "way",
    [
        "torch.einsum.__code__ = (lambda *a: a[1]).__code__",
        "gate, = filter(callable, torch.einsum.__code__.co_consts); gate.__closure__[0].cell_contents = lambda: None",
    ],
)
def test_a_watch_that_was_taken_off_is_noticed(grade: Callable[..., SubmissionResult], way: str) -> None:
    result = by_name(grade(RIGHT, f"import torch\n{way}\ndef tripled(x): return 3 * torch.einsum('...->...', x)"))[
        "tripled"
    ]
    assert result.points == 0
    assert "The submission replaces torch.einsum: what is measured would not be true" in result.message


def test_making_a_forbidden_class_is_refused(grade: Callable[..., SubmissionResult]) -> None:
    cell = "import torch\ndef tripled(x):\n    return 3 * torch.nn.Dropout(0.0)(x)"
    result = by_name(grade(RIGHT, cell))["tripled"]
    assert result.status == "forbidden"
    assert "torch.nn.Dropout, which does this exercise's work (cell 2, line 3). Write it yourself." in result.message


def test_a_package_that_is_not_installed_costs_its_exercises_only(
    grade: Callable[..., SubmissionResult],
) -> None:
    lacking = Environment(("numpy", "no-such-package"), ())
    workers = Workers(lesson(lacking), "process")
    with pytest.raises(
        PackageMissing, match="no-such-package is needed and not installed; pip install no-such-package"
    ):
        workers.start()
    try:
        results = grade(RIGHT, workers=workers)
    finally:
        workers.stop()
    assert statuses(results) == ["passed", "passed", "error"]
    assert "pip install" in by_name(results)["tripled"].message


def test_what_gradgradcheck_draws_is_the_same_for_the_same_question() -> None:
    """Near the tolerances the verdict depends on the draw, and so would a mistake's name."""
    drawn: list[list[float]] = []
    known: dict[str, Any] = {"points": [np.ones((1, 2))], "raises": {}}

    def run_gradcheck(fn: Any, *tensors: torch.Tensor) -> bool:
        drawn.append(torch.rand(3).tolist())
        return True

    for seed in (1, 2):
        torch.manual_seed(seed)
        verdict(SimpleNamespace(run_gradcheck=run_gradcheck), known, pytest.fail, [np.ones(2)], [True], 0)
    assert drawn[0] == drawn[1]
