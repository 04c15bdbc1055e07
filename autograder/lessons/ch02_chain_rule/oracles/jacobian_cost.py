"""The reference of jacobian_cost against something independent."""

from __future__ import annotations

import itertools

import torch

from autograder.judging import exercise
from autograder.lessons.ch02_chain_rule.oracles.chains import counted


@exercise("jacobian_cost")
def test_cost_against_counting(reference, rng):
    for _ in range(20):
        dims = [int(width) for width in rng.integers(1, 7, size=rng.integers(2, 6))]
        for mode in ("forward", "reverse"):
            cost = reference.jacobian_cost(dims, mode)
            assert type(cost) is int
            assert cost == counted(dims, mode)


@exercise("jacobian_cost")
def test_cost_against_counted_flops(reference, rng):
    """PyTorch counts two FLOPs for each multiply–add of the matrix–vector products, here as products of n × 1."""
    from torch.utils.flop_counter import FlopCounterMode

    dims = [int(width) for width in rng.integers(1, 20, size=4)]
    Ws = [torch.zeros(rows, columns) for columns, rows in itertools.pairwise(dims)]
    with FlopCounterMode(display=False) as forward:
        for e in torch.eye(dims[0]):
            column = e[:, None]
            for W in Ws:
                column = W @ column
    with FlopCounterMode(display=False) as reverse:
        for e in torch.eye(dims[-1]):
            row = e[None]
            for W in reversed(Ws):
                row = row @ W
    assert reference.jacobian_cost(dims, "forward") * 2 == forward.get_total_flops()
    assert reference.jacobian_cost(dims, "reverse") * 2 == reverse.get_total_flops()
