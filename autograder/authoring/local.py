"""`python -P -m autograder.authoring.local LESSON` tests a lesson's checks, in this process and without isolation.

The reference must pass, every misconception must fail under its own name, the oracles must agree with the reference,
and trivial answers must earn nothing.
"""

from __future__ import annotations

import builtins
import random
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.arguments import Arguments
from autograder.collection import run_pytest, with_judge
from autograder.diagnosis import Misconception
from autograder.diagnosis.case import HEIGHT
from autograder.judging.checking.plugin import Checks, identify
from autograder.judging.checking.reference import Reference
from autograder.judging.records.errors import CheckError
from autograder.judging.records.record import Record
from autograder.judging.records.summary import summary
from autograder.judging.scoring import earned_share
from autograder.judging.session import Judge
from autograder.places import Places, files_of, modules_in
from autograder.threads import one_thread
from autograder.worker.uncompiled import without_compiler
from course.syllabus import Lesson


def _unwritten(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError


TRIVIAL: dict[str, Callable[..., Any]] = {
    "nothing written": _unwritten,
    "None": lambda *args, **kwargs: None,
    "the first argument": lambda *args, **kwargs: args[0],
    "the second argument": lambda *args, **kwargs: args[1] if len(args) > 1 else None,
    "the arguments after g": lambda *args, **kwargs: tuple(args[1:]),
    "zeros like the first argument": lambda *args, **kwargs: _zeros(args[0]),
    "zeros like the second argument": lambda *args, **kwargs: _zeros(args[1]) if len(args) > 1 else 0.0,
    "zeros like the arguments after g": lambda *args, **kwargs: tuple(_zeros(value) for value in args[1:]),
    "0": lambda *args, **kwargs: 0.0,
    "True": lambda *args, **kwargs: True,
    "an empty dict": lambda *args, **kwargs: {},
    "an empty list": lambda *args, **kwargs: [],
    "random numbers like the first argument": lambda *args, **kwargs: _noise(args[0]) if args else 0.5,
    "random numbers like the second argument": lambda *args, **kwargs: _noise(args[1]) if len(args) > 1 else 0.5,
}


@dataclass
class Findings:
    """What is wrong with a lesson's checks; all lists are empty if nothing is."""

    reference: list[str] = field(default_factory=list)
    """Checks that the reference fails."""
    accepted: list[str] = field(default_factory=list)
    """Misconceptions that pass, or that fail on hidden inputs only, which is luck."""
    unnamed: list[str] = field(default_factory=list)
    """Misconceptions whose diagnosis does not name them."""
    long: list[str] = field(default_factory=list)
    """Misconceptions whose message is longer than `HEIGHT` lines."""
    trivial: list[str] = field(default_factory=list)
    """Checks that a trivial answer passes."""


def examine(judge: Judge, *, looked_at: float = 1.0) -> Findings:
    """Run the reference, the misconceptions and trivial answers through the checks.

    Args:
        looked_at: the share, sampled anew in each run, of the acceptances in rejections.toml that are verified by
            running the check on the misconception. Rejections are always verified.
    """
    findings = Findings(trivial=without_work(judge))
    seen_of_reference: dict[str, list[Record]] = {}
    for exercise in judge.lesson.exercises:
        items = judge.items_of(exercise.name)
        if not items:
            findings.reference.append(f"{exercise.name}: no checks")
        records = seen_of_reference[exercise.name] = judge.observe(items, judge.reference.local())
        for item, record in zip(items, records, strict=True):
            if not record.passed:
                findings.reference.append(f"{exercise.name}: {item.name}: {' '.join(summary(record).split())}")
    visible_of = {
        exercise.name: [item for item in judge.items_of(exercise.name) if (check := identify(item)) and check.visible]
        for exercise in judge.lesson.exercises
    }
    draw = random.SystemRandom()
    for known in judge.mistakes.known:  # complete all evidence first: naming a mistake compares it with the others'
        evidence, checks = judge.mistakes.evidence(known), len(visible_of[known.exercise])
        for i in evidence.accepted_by(checks):
            if draw.random() >= looked_at:
                judge.mistakes.presume(known, i, seen_of_reference[known.exercise][i])
        list(islice(evidence, checks))
    for known in judge.mistakes.known:
        items, visible = judge.items_of(known.exercise), visible_of[known.exercise]
        seen, named, said = _verdict(judge, known, visible)
        rejected = seen
        if known.name not in named:  # otherwise save the time that the hidden checks take
            rejected, named, said = _verdict(judge, known, items)
        if said.count("\n") >= HEIGHT:
            findings.long.append(f"{known.exercise}: {known.name}")
        if not rejected:
            findings.accepted.append(f"{known.exercise}: {known.name}")
        elif not seen:  # with another salt the hidden inputs might not reject it
            findings.accepted.append(f"{known.exercise}: {known.name} (hidden cases alone reject it, by luck)")
        elif known.name not in named:
            findings.unnamed.append(f"{known.exercise}: {known.name} is called {named or 'nothing'}")
    return findings


def without_work(judge: Judge) -> list[str]:
    """Checks that a trivial answer passes, each with the exercise and the answer."""
    found = []
    for exercise in judge.lesson.exercises:
        items = judge.items_of(exercise.name)
        raising = _functions_that_raise(items)
        for name, function in (TRIVIAL | raising | _trivial_classes(judge.reference, exercise.name)).items():
            records = judge.observe(items, judge.reference.local(exercise.name, function), enough=_cannot_earn)
            earns = earned_share(exercise, items, records)
            if name not in TRIVIAL | raising and not earns:
                continue  # a trivial class may pass single checks, such as that nothing is saved
            passing = [item.name for item, record in zip(items, records, strict=True) if record.passed]
            found += [f"{exercise.name}: {name} passes {check}" for check in passing]
            if earns and not passing:  # a share, for right values of a wrong dtype or with changed arguments
                found.append(f"{exercise.name}: {name} earns {earns:.0%}")
    return found


def _cannot_earn(record: Record) -> bool:
    """Whether the last comparison failed so that the check cannot pass, nor earn a share of its points."""
    return any(failure.cost == 1 for failure in record.comparisons[-1:] if failure.problems)


def _verdict(judge: Judge, known: Misconception, items: list[pytest.Item]) -> tuple[bool, tuple[str, ...], str]:
    """Whether the given checks reject a misconception, the names that the diagnosis gives it, and the message.

    Args:
        items: the first checks of the exercise, or all of them.

    Returns no names if the message does not have the misconception's text, because too many names fit.
    """
    evidence = judge.mistakes.evidence(known)
    records = [evidence[i] for i in range(len(items))]
    failing = [i for i, record in enumerate(records) if not record.passed]
    if not failing:
        return False, (), ""
    # rerun one check: a misconception whose answers change from run to run cannot be named
    records[failing[0]] = judge.observe([items[failing[0]]], judge.reference.mistaken(known))[0]
    diagnosis = judge.mistakes.explain(judge.lesson.exercise(known.exercise), records)
    return True, diagnosis.misconceptions if known.says in diagnosis.message else (), diagnosis.message


def failing_oracles(lesson: Lesson, root: Path | None = None, only: str = "") -> list[str]:
    """Oracles that disagree with the reference, and exercises without oracle, in a lesson or in the exercise `only`."""

    class Outcomes:
        failed: list[str] = []  # noqa: RUF012
        covered: set[str] = set()  # noqa: RUF012

        def pytest_collection_finish(self, session: pytest.Session) -> None:
            self.covered |= {check.exercise for item in session.items if (check := identify(item))}

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                what = " ".join(crash.message.split()) if crash else report.longreprtext.strip()[-500:]
                self.failed.append(f"{report.nodeid.split('::')[-1]}: {what}")

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                self.failed.append(report.longreprtext[-500:])

    one_thread()
    without_compiler()
    outcomes = Outcomes()
    places = Places() if root is None else Places(root)
    reference = Reference(lesson, places.root)
    wanted = [only] if only else [exercise.name for exercise in lesson.exercises]
    files = files_of(places.oracles(lesson.slug), wanted)
    if files:  # without arguments pytest would search the current folder
        run_pytest(files, [Checks(lesson, reference, ""), outcomes])
    without = [f"{name}: no oracle" for name in wanted if name not in outcomes.covered]
    return outcomes.failed + without


def _functions_that_raise(items: list[pytest.Item]) -> dict[str, Callable[..., Any]]:
    """Functions that always raise: one for each builtin exception that the lesson's checks mention."""
    files = [file for folder in {item.path.parent for item in items} for file in modules_in(folder)]
    words = {word for file in files for word in re.findall(r"\w+", file.read_text("utf-8"))}
    kinds = [kind for word in sorted(words) if isinstance(kind := getattr(builtins, word, None), type)]

    def answer(kind: type[Exception]) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            raise kind("no")

        return function

    return {f"a {kind.__name__}": answer(kind) for kind in kinds if issubclass(kind, Exception)}


def _zeros(value: Any) -> Any:
    import numpy as np

    return np.zeros_like(value) if isinstance(value, np.ndarray) else 0.0


def _noise(value: Any) -> Any:
    """Random numbers of the same type, shape and dtype as a value; 0.5 for anything but an array or a tensor."""
    import numpy as np

    if "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor):
        return sys.modules["torch"].rand(value.shape).to(value.dtype)
    if isinstance(value, np.ndarray):
        return np.asarray(np.random.default_rng(0).normal(size=value.shape), dtype=value.dtype)
    return 0.5


def _trivial_classes(reference: Reference, exercise: str) -> dict[str, type]:
    """Trivial answers for an exercise that asks for a `torch.autograd.Function`; none for other exercises."""
    torch = sys.modules.get("torch")
    known = reference.implementations.get(exercise)
    if torch is None or not (isinstance(known, type) and issubclass(known, torch.autograd.Function)):
        return {}

    def function(value: Callable[[Any], Any], slope: float) -> type:
        def forward(ctx: Any, x: Any, *others: Any) -> Any:
            ctx.others = len(others)
            return value(x)

        def backward(ctx: Any, g: Any) -> Any:
            return slope * g, *(None,) * ctx.others

        methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        return type(exercise, (torch.autograd.Function,), methods)

    return {
        "a Function that returns its input, and no gradient": function(lambda x: x.clone(), 0.0),
        "a Function that returns zeros, and no gradient": function(lambda x: 0.0 * x, 0.0),
        "a Function that returns the sum of its input, and no gradient": function(lambda x: x.sum(), 0.0),
    }


def main(words: list[str]) -> int:
    arguments = Arguments("local", __doc__)
    arguments.add_argument("lesson", help="ch06_vjps, say")
    lesson = arguments.lesson(arguments.read(words).lesson)
    findings = with_judge(lesson, examine)
    problems = {
        "the reference fails": findings.reference,
        "accepted misconceptions": findings.accepted,
        "misconceptions that are not named": findings.unnamed,
        f"messages of more than {HEIGHT} lines": findings.long,
        "checks passed without work": findings.trivial,
        "oracles": failing_oracles(lesson),
    }
    for title, lines in problems.items():
        print(f"{title}: {len(lines) or 'none'}")
        for line in lines:
            print("   ", line)
    return int(any(problems.values()))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CheckError as error:
        sys.exit(str(error))
