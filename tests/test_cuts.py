"""Programs with cut edges agree with the same programs written by hand, and with the paths in their graphs."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pytest
import torch
from torch import Tensor

from course.experiments.cuts import PROGRAMS, Program, run

Use = Callable[[Tensor, str], Tensor]


def teacher(s: Tensor, b: Tensor, t: Tensor, use: Use) -> Tensor:
    hidden = (use(s, "s-h") * 2).clamp(min=0)
    student, taught = use(hidden, "h-o") + use(b, "b-o"), use(t, "t-u") + use(t, "t-u")
    return (use(student, "o-L") - use(taught, "u-L")).square()


def target(w: Tensor, b: Tensor, use: Use) -> Tensor:
    value = torch.stack([use(w, "w-v"), use(b, "b-v")]) @ torch.tensor([3.0, 1.0])
    after = torch.stack([use(w, "w-y"), use(b, "b-y")]) @ torch.tensor([2.0, 1.0])
    return (use(value, "v-L") - use(3 + after / 2, "y-L")).square()


def mean(w: Tensor, b: Tensor, use: Use) -> Tensor:
    h = torch.addcmul(use(b, "b-h"), torch.tensor([1.0, 2.0, 3.0]), use(w, "w-h"))
    middle = use(h, "h-m").sum() / 3
    centered = use(h, "h-c") - use(middle, "m-c")
    return torch.dist(use(centered, "c-L"), torch.tensor([0.0, 1.0, 2.0])).square()


BY_HAND: dict[str, Callable[..., Tensor]] = {"teacher": teacher, "target": target, "mean": mean}


def by_hand(name: str, cuts: Collection[tuple[str, str]]) -> tuple[float, dict[str, float | None]]:
    """The loss, and each leaf's gradient by `torch.autograd.grad`."""
    leaves = {leaf: torch.tensor(value, requires_grad=True) for leaf, value in PROGRAMS[name].leaves.items()}
    stopped = {"-".join(edge) for edge in cuts}
    loss = BY_HAND[name](*leaves.values(), use=lambda tensor, key: tensor.detach() if key in stopped else tensor)
    if not loss.requires_grad:
        return loss.item(), dict.fromkeys(leaves)
    slopes = torch.autograd.grad(loss, [*leaves.values()], allow_unused=True)
    return loss.item(), {leaf: None if g is None else g.item() for leaf, g in zip(leaves, slopes, strict=True)}


def has_path(program: Program, cuts: Collection[tuple[str, str]], name: str) -> bool:
    ends = [end for used, end in program.edges if used == name and (used, end) not in cuts]
    return name == "L" or any(has_path(program, cuts, end) for end in ends)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_combination_of_cuts_is_the_program_by_hand(name: str) -> None:
    program = PROGRAMS[name]
    whole = run(program).values
    assert len(set(program.cuts)) == 2 ** len(program.edges)
    for at, cuts in enumerate(program.cuts):
        assert at == sum(2**i for i, edge in enumerate(program.edges) if edge in cuts)
        outcome = run(program, cuts)
        loss, grads = by_hand(name, cuts)
        assert outcome.values == whole, cuts
        assert outcome.values["L"] == pytest.approx(loss, rel=1e-6), cuts
        for leaf, slope in grads.items():
            assert outcome.grads[leaf] == (None if slope is None else pytest.approx(slope, abs=1e-5)), (cuts, leaf)
            assert (slope is not None) == has_path(program, cuts, leaf), (cuts, leaf)
        assert bool(outcome.error) == (outcome.grads["L"] is None) == all(slope is None for slope in grads.values())


def test_a_cut_turns_zeros_into_none_or_values_and_makes_no_zeros() -> None:
    def kind(grad: object) -> str:
        return "None" if grad is None else "0" if grad == 0 else "a value"

    seen = {
        (kind(run(program).grads[leaf]), kind(run(program, cuts).grads[leaf]))
        for program in PROGRAMS.values()
        for cuts in program.cuts
        for leaf in program.leaves
    }
    assert seen == {("0", "None"), ("0", "0"), ("0", "a value"), ("a value", "None"), ("a value", "a value")}


def test_a_cut_is_written_at_one_use() -> None:
    program = PROGRAMS["mean"]
    assert program.text([("h", "c")])[2:5] == ["h = x * w + b", "m = h.mean()", "c = h.detach() - m"]
    with pytest.raises(ValueError, match=r"no edges of the program: \[\('c', 'h'\)\]"):
        run(program, [("c", "h")])
