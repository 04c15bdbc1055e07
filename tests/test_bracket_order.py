"""FLOPs of every bracketing agree with PyTorch's counter, and the cheapest with the classic recurrence."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import cache

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from course.experiments.bracket_order import Tree, bracketings, ends, flops, products, written


def multiplied(tree: Tree, jacobians: dict[int, torch.Tensor]) -> torch.Tensor:
    if isinstance(tree, int):
        return jacobians[tree]
    left, right = (multiplied(part, jacobians) for part in tree)
    return left @ right


def least(widths: Sequence[int]) -> int:
    """The cheapest cost, by the recurrence over the last product."""

    @cache
    def cheapest(first: int, last: int) -> int:
        cuts = range(last, first)
        each = (
            cheapest(first, cut + 1) + cheapest(cut, last) + 2 * widths[first] * widths[cut] * widths[last - 1]
            for cut in cuts
        )
        return min(each, default=0)

    return cheapest(len(widths) - 1, 1)


@pytest.mark.parametrize("jacobians", [2, 3, 4, 5])
def test_each_order_costs_what_pytorch_counts_and_gives_the_same_product(jacobians: int) -> None:
    draw = random.Random(jacobians)
    for _ in range(3):
        widths = [draw.choice((1, 2, 3, 5, 8, 16)) for _ in range(jacobians + 1)]
        of = {
            i: torch.randn(widths[i], widths[i - 1], dtype=torch.float64, generator=torch.Generator().manual_seed(i))
            for i in range(1, jacobians + 1)
        }
        expected = torch.linalg.multi_dot([*reversed(of.values())])
        for tree in bracketings(jacobians):
            with FlopCounterMode(display=False) as counter:
                result = multiplied(tree, of)
            assert counter.get_total_flops() == flops(tree, widths), (widths, written(tree))
            torch.testing.assert_close(result, expected)


def test_every_order_occurs_once() -> None:
    """Their number is Catalan's; a single Jacobian needs no product."""
    for jacobians in range(1, 7):
        found = bracketings(jacobians)
        assert len(set(found)) == len(found) == math.comb(2 * jacobians - 2, jacobians - 1) // jacobians
        assert {ends(tree) for tree in found} == {(jacobians, 1)}
    assert [written(tree) for tree in bracketings(4)] == [
        "((J₄J₃)J₂)J₁",
        "(J₄(J₃J₂))J₁",
        "(J₄J₃)(J₂J₁)",
        "J₄((J₃J₂)J₁)",
        "J₄(J₃(J₂J₁))",
    ]


def test_the_first_order_is_reverse_mode_and_the_last_forward_mode() -> None:
    trees, widths = bracketings(4), (7, 5, 4, 3, 2)
    assert [step[:2] for step in products(trees[0], widths)] == [(4, 3), (4, 2), (4, 1)]
    assert [step[:2] for step in products(trees[-1], widths)] == [(2, 1), (3, 1), (4, 1)]
    assert flops(trees[0], widths) == 2 * 2 * (3 * 4 + 4 * 5 + 5 * 7)  # n_4 rows through all the others
    assert flops(trees[-1], widths) == 2 * 7 * (5 * 4 + 4 * 3 + 3 * 2)  # n_0 columns


def test_the_cheapest_order_agrees_with_the_recurrence() -> None:
    draw = random.Random(0)
    for _ in range(50):
        widths = [2 ** draw.randrange(11) for _ in range(draw.randrange(3, 7))]
        assert min(flops(tree, widths) for tree in bracketings(len(widths) - 1)) == least(widths)
