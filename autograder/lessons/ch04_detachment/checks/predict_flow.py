"""Checks of predict_flow."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import exercise, expect, expect_close
from autograder.values import summarise


def check_program(learner, reference, program: str):
    """The learner's answer for one of the six programs."""
    answer, right = learner.predict_flow(), reference.predict_flow()
    if has_program(answer, program, program):
        got, expected = (_called_in_full(program, flows) for flows in (answer[program], right[program]))
        expect_close(got, expected, names=(program,), case=program, rtol=0, atol=0)


def has_program(answer: Any, program: str, case: str) -> bool:
    """Expect that the answer contains this program; return whether it does."""
    there = isinstance(answer, dict) and program in answer
    expect(there, f"predict_flow returned {summarise(answer)}; a dict with the key '{program}' expected", case=case)
    return there


def _called_in_full(program: str, flows: Any) -> Any:
    """The answers for one program, with the program's name before each tensor's name."""
    return {f"{program}: {name}": flow for name, flow in flows.items()} if isinstance(flows, dict) else flows


@exercise("predict_flow")
def test_dead_unit(learner, reference):
    """A unit that relu switches off, a term times 0, and a leaf that is not used."""
    check_program(learner, reference, "dead_unit")


@exercise("predict_flow")
def test_side_branch(learner, reference):
    """A detach on one of two branches, and one that is subtracted."""
    check_program(learner, reference, "side_branch")


@exercise("predict_flow")
def test_no_grad_block(learner, reference):
    """A product and a leaf that are made under no_grad."""
    check_program(learner, reference, "no_grad_block")


@exercise("predict_flow")
def test_late_request(learner, reference):
    """requires_grad_ after the tensor was used."""
    check_program(learner, reference, "late_request")


@exercise("predict_flow")
def test_choice(learner, reference):
    """A condition, what it chose and what it did not choose."""
    check_program(learner, reference, "choice")


@exercise("predict_flow")
def test_half_a_step(learner, reference):
    """autograd.grad, and a step that makes a new tensor."""
    check_program(learner, reference, "half_a_step")


STEPS = {  # what a program shows, and its steps; what no step makes is a leaf, or a constant if its name is k
    "a product of two leaves": "L = a * b",
    "a leaf that is not used": "c = leaf; L = a * b",
    "a constant": "L = a * k",
    "a result on the way": "h = a * b; L = h * c",
    "a product under no_grad": "h = a * b under no_grad; L = h * c",
    "a detached result": "h = a * b; d = detach h; L = d * c",
    "a detached leaf, and the leaf itself": "d = detach a; L = a * d",
    "a constant that asks before it is used": "request k; L = a * k",
    "a constant that asks after it was used": "h = a * k; request k; L = h * b",
    "a constant that asks between two uses": "h = a * k; request k; L = h * k",
    "a result that asks, and led to leaves before": "h = a * b; request h; L = h * c",
    "a detached result that asks": "h = a * b; d = detach h; request d; L = d * c",
    "a product under no_grad that asks": "h = a * b under no_grad; request h; L = h * c",
    "two ways, one detached": "h = a * b; d = detach h; e = h * c; L = d * e",
    "a product of constants": "h = k * k; L = h * a",
    "a step that the loss does not use": "h = a * b; e = h * c; L = h * a",
    "a leaf alone, which is the loss": "L = leaf",
    "a last step that is a leaf": "h = a * b; L = leaf",
}


def steps_of(rng, text: str) -> list[tuple[str, ...]]:
    """The steps of a program that is written as in `STEPS`, its tensors renamed at random."""
    steps: list[tuple[str, ...]] = []
    for statement in text.split("; "):
        name, _, rest = statement.partition(" = ")
        step: tuple[str, ...]
        words = rest.removesuffix(" under no_grad").replace(" *", "").split()
        if name.startswith("request "):
            step = (name.removeprefix("request "), "request")
        elif words[0] == "detach":
            step = (name, "detach", words[1])
        elif words == ["leaf"]:
            step = (name, "leaf")
        else:
            step = (name, "product under no_grad" if "no_grad" in rest else "product", *words)
        known = {made for made, *_ in steps}
        new = [used for used in (step[2:] or step[:1]) if used not in known and step[1] != "leaf"]
        steps += [(used, "constant" if used == "k" else "leaf") for used in dict.fromkeys(new)]
        steps.append(step)
    letters = rng.permutation(list("abcdefghijkmnopqrstuvwxyz")).tolist()
    names = {name: letters.pop() for name in dict.fromkeys(step[0] for step in steps)}
    return [(names[name], how, *(names[used] for used in inputs)) for name, how, *inputs in steps]


def random_steps(rng, size: int) -> list[tuple[str, ...]]:
    """A random program with `size` steps after its leaves; its loss depends on at least one leaf."""
    leaves = [f"w{i}" for i in range(3)]
    steps: list[tuple[str, ...]] = [*((name, "leaf") for name in leaves), ("k", "constant")]
    for i in range(size):
        known = list(dict.fromkeys(name for name, *_ in steps))
        near = [*known, *known[-3:], *known[-1:]]
        how = str(rng.choice(["product", "product", "product", "product under no_grad", "detach", "request"]))
        one, other = rng.choice(near, size=2).tolist()
        steps.append(
            (one, "request") if how == "request" else (f"h{i}", how, one, *([other] if "product" in how else []))
        )
    if rng.integers(4) == 0:
        return [*steps, ("loss", "leaf")]
    last = [name for name, *_ in steps][-1]
    return [*steps, ("loss", "product", last, str(rng.choice(leaves)))]


def check_steps(learner, reference, programs: dict[str, list[tuple[str, ...]]]):
    """The learner's answers for programs that are given as steps."""
    answer, right = learner.predict_flow(programs), reference.predict_flow(programs)
    for program, steps in programs.items():
        told = "; ".join(" ".join(step) for step in steps)
        if has_program(answer, program, f"{program}: {told}"):
            expect_close(answer[program], right[program], names=("the answer",), case=program, rtol=0, atol=0)


@exercise("predict_flow")
def test_steps(learner, reference):
    """Programs given as steps, each with one thing to know; with other letters they are the same ones."""
    rng = np.random.default_rng(4)
    for case, text in STEPS.items():
        check_steps(learner, reference, {case: steps_of(rng, text)})


@exercise("predict_flow")
def test_random_steps(learner, reference, rng):
    """Short programs given as steps, without any plan; several at once, and none."""
    for size in (2, 3, 4):
        check_steps(learner, reference, {f"{size} steps, program {i}": random_steps(rng, size) for i in range(3)})
    expect_close(learner.predict_flow({}), {}, case="no programs", rtol=0, atol=0)


@exercise("predict_flow")
def test_every_kind_of_program(learner, reference, kinds, rng):
    """All pairs of what asks for a gradient late, one name twice in a product, words of steps as names, spare steps."""
    for kind in kinds:
        letters = dict(zip("abkhpstuvwL", rng.permutation(list("abcdefghijklmnop")).tolist(), strict=False))
        arguments = kind.options["steps"], letters, kind.states
        got, expected = (who.scenario.predict_flow_in_states(*arguments) for who in (learner, reference))
        expect_close(got, expected, names=("the answer",), case=kind.label, rtol=0, atol=0)


@exercise("predict_flow")
def test_longer_programs(learner, reference, rng):
    """Longer programs given as steps."""
    for size in (5, 6, 8, 12):
        check_steps(learner, reference, {f"{size} steps, program {i}": random_steps(rng, size) for i in range(3)})
