"""A clinic: a training program with one fault at a time, and tests that help to find the fault.

Every curve, print-out and outcome comes from a run. Each outcome has a *reading*, its meaning in a few words. A test
cannot distinguish two faults with the same reading.
"""

from __future__ import annotations

import copy
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.data import load_digits_train
from course.debugging import gradient_report, repeated_batches

STEPS = 300
SIZE = 32
CLASSES = 10
UNINFORMED = math.log(CLASSES)
"""The loss of a classifier that gives every class the same probability."""
_TRAINED = 1100

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Program:
    """A training program. Each field corresponds to a line of it; a fault changes one."""

    lr: float = 0.3
    start: float = 1.0
    """The factor on the default initial weights."""
    clears: bool = True
    takes_softmax: bool = False
    detaches: bool = False
    own_parameters: bool = True
    reseeds: bool = False
    shuffles_labels: bool = False


@dataclass(frozen=True)
class Fault:
    """A fault's name, and the line as it should be and as it is."""

    name: str
    program: Program = field(default_factory=Program)
    should: str = ""
    line: str = ""


FAULTS = {
    "labels": Fault("labels out of order", Program(shuffles_labels=True), "X, y = X[p], y[p]", "X, y = X[p], y"),
    "zeros": Fault(
        "all weights start at 0", Program(start=0.0), "nn.Linear(64, 64)", "nn.init.zeros_(p)  # for each p"
    ),
    "copy": Fault(
        "the optimizer has a copy",
        Program(own_parameters=False),
        "SGD(model.parameters(), lr=0.3)",
        "SGD(copy.deepcopy(model).parameters(), lr=0.3)",
    ),
    "softmax": Fault(
        "softmax before the loss",
        Program(takes_softmax=True),
        "F.cross_entropy(logits, y)",
        "F.cross_entropy(logits.softmax(1), y)",
    ),
    "detached": Fault(
        "the features are detached", Program(detaches=True), "h = relu(hidden(x))", "h = relu(hidden(x)).detach()"
    ),
    "slow": Fault("learning rate too small", Program(lr=0.03), "lr=0.3", "lr=0.03"),
    "stale": Fault("gradients never cleared", Program(clears=False), "optimizer.zero_grad()", "# (missing)"),
    "fast": Fault("learning rate too large", Program(lr=10.0), "lr=0.3", "lr=10"),
    "wide": Fault("weights start too large", Program(start=20.0), "nn.Linear(64, 64)", "p.mul_(20)  # for each p"),
    "batch": Fault(
        "the same batch in every step",
        Program(reseeds=True),
        "torch.manual_seed(0)  # once",
        "torch.manual_seed(0)  # in every step",
    ),
    "none": Fault("nothing is wrong"),
}
"""All faults by a short key; "none" is the healthy program."""

PATIENTS = ("copy", "softmax", "batch", "labels", "stale", "detached", "none", "zeros", "wide", "slow", "fast")
"""The faults in an order that gives nothing away."""


class Trained(NamedTuple):
    """The loss of every step, inf or nan if the run diverged, and the accuracy on unseen digits."""

    losses: list[float]
    right: float


class Outcome(NamedTuple):
    """The text that a test prints, and its reading."""

    printed: str
    reading: str


class Run:
    """A running program: model, optimizer and loader, on the course's digits."""

    def __init__(self, program: Program, dtype: torch.dtype = torch.float32) -> None:
        images, digits = load_digits_train()
        self.program = program
        self.inputs, self.labels = torch.tensor(images, dtype=dtype), torch.tensor(digits)
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES)).to(dtype)
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.mul_(program.start)
        trained = self.model if program.own_parameters else copy.deepcopy(self.model)
        self.optimizer = torch.optim.SGD(trained.parameters(), lr=program.lr)
        self.seen = self.labels[:_TRAINED]
        if program.shuffles_labels:
            self.seen = self.seen[torch.randperm(_TRAINED, generator=torch.Generator().manual_seed(1))]

    def batches(self, n: int) -> Iterator[Batch]:
        """Yield `n` batches of `SIZE` digits."""
        generator = torch.Generator().manual_seed(0)
        for _ in range(n):
            if self.program.reseeds:
                generator.manual_seed(0)
            rows = torch.randint(0, _TRAINED, (SIZE,), generator=generator)
            yield self.inputs[rows], self.seen[rows]

    def logits(self, inputs: Tensor) -> Tensor:
        hidden = self.model[:2](inputs)
        return self.model[2](hidden.detach() if self.program.detaches else hidden)

    def loss(self, inputs: Tensor, targets: Tensor) -> Tensor:
        logits = self.logits(inputs)
        return F.cross_entropy(logits.softmax(1) if self.program.takes_softmax else logits, targets)

    def backward(self, inputs: Tensor, targets: Tensor) -> float:
        """Clear gradients and run forward and backward; return the loss."""
        loss = self.loss(inputs, targets)
        if self.program.clears:
            self.optimizer.zero_grad()
            self.model.zero_grad()
        loss.backward()
        return loss.item()

    def train(self, batches: Iterator[Batch]) -> list[float]:
        losses = []
        for batch in batches:
            losses.append(self.backward(*batch))
            self.optimizer.step()
        return losses

    def right(self) -> float:
        with torch.no_grad():
            found = self.logits(self.inputs[_TRAINED:]).argmax(1)
        return (found == self.labels[_TRAINED:]).double().mean().item()


@cache
def trained(key: str) -> Trained:
    """The program with this fault, run for `STEPS` steps."""
    run = Run(FAULTS[key].program)
    losses = run.train(run.batches(STEPS))
    return Trained(losses, run.right())


def curve(key: str) -> Outcome:
    """The program's own print-out, and the shape of its loss curve."""
    losses, right = trained(key)
    lines = [f"step {at:3}  loss {_loss(losses[at])}" for at in (0, 1, 2, 50, 100, 200, STEPS - 1)]
    lines.append(f"unseen digits right: {right:.0%}")
    end = statistics.median(losses[-50:])
    if not losses[0] < 2 * UNINFORMED:
        return Outcome("\n".join(lines), "starts far above ln 10")
    if not max(losses) < 2 * UNINFORMED:
        return Outcome("\n".join(lines), "rises far above its start")
    if end > 0.9 * UNINFORMED:
        return Outcome("\n".join(lines), "stays near ln 10")
    return Outcome("\n".join(lines), "falls to near 0" if end < 0.3 else "falls, but slowly")


# ---- the tests


def initial(key: str) -> Outcome:
    """Compares the loss of the untrained model on 1,100 digits with ln 10."""
    run = Run(FAULTS[key].program)
    with torch.no_grad():
        loss = run.loss(run.inputs[:_TRAINED], run.seen).item()
    printed = f"untrained  {_loss(loss)}\nln 10      {UNINFORMED:.3f}"
    return Outcome(printed, "ln 10" if abs(loss - UNINFORMED) < 0.1 else "far from ln 10")


def overfit(key: str) -> Outcome:
    """Trains on a single batch for `STEPS` steps."""
    run = Run(FAULTS[key].program)
    (batch,) = run.batches(1)
    losses = run.train(batch for _ in range(STEPS))
    printed = "\n".join(f"step {at:3}  loss {_loss(losses[at])}" for at in (0, 100, STEPS - 1))
    if losses[-1] < 0.1:
        return Outcome(printed, "by heart")
    return Outcome(printed, "hardly falls" if not losses[-1] < 0.75 * losses[0] else "falls, not to 0")


def norms(key: str) -> Outcome:
    """The gradient norm of every parameter in the second step."""
    run = _second_step(key)
    report = gradient_report(run.model)
    printed = [
        f"{one['name']:9}{one['status']:5}{'' if one['norm'] is None else format(one['norm'], '7.3g')}"
        for one in report
    ]
    return Outcome("\n".join(printed), _grouped({one["name"]: one["status"] for one in report}))


def slopes(key: str) -> Outcome:
    """The slope in a random direction by `.grad` and by a difference of losses, in the second step, in float64."""
    run = _second_step(key, torch.float64)
    *_, batch = run.batches(2)
    generator = torch.Generator().manual_seed(0)
    claimed, ends, eps = 0.0, [], 1e-6
    directions = [torch.randn(p.shape, generator=generator, dtype=p.dtype) for p in run.model.parameters()]
    starts = [p.detach().clone() for p in run.model.parameters()]
    for parameter, direction in zip(run.model.parameters(), directions, strict=True):
        if parameter.grad is not None:
            claimed += (parameter.grad * direction).sum().item()
    with torch.no_grad():
        for sign in (1, -1):
            for parameter, start, direction in zip(run.model.parameters(), starts, directions, strict=True):
                parameter.copy_(start + sign * eps * direction)
            ends.append(F.cross_entropy(run.model(batch[0]), batch[1]).item())
    nudged = (ends[0] - ends[1]) / (2 * eps)
    printed = f"by .grad    {claimed:8.4g}\nby the loss {nudged:8.4g}"
    agree = abs(claimed - nudged) <= 1e-3 * max(abs(claimed), abs(nudged))
    return Outcome(printed, "agree" if agree else "differ")


def moved(key: str) -> Outcome:
    """The distance that the first step moves each parameter, relative to the parameter's norm."""
    run = Run(FAULTS[key].program)
    before = [p.detach().clone() for p in run.model.parameters()]
    run.train(run.batches(1))
    lines, readings = [], {}
    for (name, after), old in zip(run.model.named_parameters(), before, strict=True):
        step, size = (after.detach() - old).norm().item(), old.norm().item()
        if not step:
            shown, reading = "0", "still"
        else:
            relative = step / size if size else math.inf
            shown, reading = (f"{relative:.2g}" if size else "from 0"), _pace(relative)
        lines.append(f"{name:9}{shown:>8}")
        readings[name] = reading
    return Outcome("\n".join(lines), _grouped(readings))


def repeats(key: str) -> Outcome:
    """Compares ten batches of the loader, entry by entry."""
    pairs = repeated_batches(list(Run(FAULTS[key].program).batches(10)))
    return Outcome(f"{len(pairs)} of 45 pairs equal", "repeated" if pairs else "all differ")


def shuffled(key: str) -> Outcome:
    """The median loss of the last 50 steps, with the program's labels and with shuffled labels."""
    run = Run(FAULTS[key].program)
    run.seen = run.seen[torch.randperm(_TRAINED, generator=torch.Generator().manual_seed(2))]
    usual, other = (statistics.median(losses[-50:]) for losses in (trained(key).losses, run.train(run.batches(STEPS))))
    printed = f"as they are  {_loss(usual)}\nshuffled     {_loss(other)}"
    return Outcome(printed, "worse" if other > usual + 0.2 else "no worse")


class Test(NamedTuple):
    """A test's name, the question that it answers, and the function that runs it for a fault's key."""

    name: str
    asks: str
    run: Callable[[str], Outcome]


TESTS = {
    "initial": Test("Loss before step 1", "Is the loss of the untrained model ln 10?", initial),
    "overfit": Test("Overfit one batch", "Can it learn 32 digits by heart?", overfit),
    "norms": Test("Gradient norms", "Is a gradient None, zero, huge?", norms),
    "slopes": Test("Check the gradient", "Is .grad the slope of the loss that was meant?", slopes),
    "moved": Test("What moved?", "How far did one step move each parameter?", moved),
    "repeats": Test("Compare batches", "Are two batches equal?", repeats),
    "shuffled": Test("Shuffle the labels", "Is the loss worse with wrong labels?", shuffled),
}
"""The tests by a short key."""


@cache
def outcome(test: str, key: str) -> Outcome:
    """The outcome of a test, or of the "curve", for the program with this fault."""
    return curve(key) if test == "curve" else TESTS[test].run(key)


def suspects(key: str, tests: tuple[str, ...]) -> list[str]:
    """The faults with the same curve and the same reading in each of these tests."""
    return [
        other
        for other in FAULTS
        if all(outcome(test, other).reading == outcome(test, key).reading for test in ("curve", *tests))
    ]


def fewest(key: str) -> list[tuple[str, ...]]:
    """The smallest sets of tests that, together with the curve, identify this fault.

    Raises:
        ValueError: no set of tests does.
    """
    for size in range(len(TESTS) + 1):
        found = [tests for tests in combinations(TESTS, size) if suspects(key, tests) == [key]]
        if found:
            return found
    raise ValueError(f"no tests tell {key} from all others")


def record(order: Sequence[str] = PATIENTS) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data of the faults, in this order, and of the tests, as arguments for `course.widgets.clinic`."""
    cases = {
        key: {
            "name": FAULTS[key].name,
            "should": FAULTS[key].should,
            "line": FAULTS[key].line,
            "losses": trained(key).losses,
            "printed": outcome("curve", key).printed,
            "reading": outcome("curve", key).reading,
            "fewest": [list(tests) for tests in fewest(key)],
        }
        for key in order
    }
    tests = {
        name: {"name": test.name, "asks": test.asks, "outcomes": {key: list(outcome(name, key)) for key in order}}
        for name, test in TESTS.items()
    }
    return cases, tests


def _second_step(key: str, dtype: torch.dtype = torch.float32) -> Run:
    """The program after its first step and the backward pass of the second."""
    run = Run(FAULTS[key].program, dtype)
    first, second = run.batches(2)
    run.train(iter([first]))
    run.backward(*second)
    return run


def _grouped(words: Mapping[str, str]) -> str:
    """The parameters grouped by word: "all ok", or "none: 0.weight, 0.bias; ok: 2.weight, 2.bias"."""
    groups: dict[str, list[str]] = {}
    for name, word in words.items():
        groups.setdefault(word, []).append(name)
    if len(groups) == 1:
        return f"all {next(iter(groups))}"
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in groups.items())


def _loss(value: float) -> str:
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf"
    return f"{value:.3f}" if value < 100 else f"{value:.3g}"


def _pace(relative: float) -> str:
    return "tiny" if relative < 1e-3 else "moved" if relative < 1 else "leapt"
