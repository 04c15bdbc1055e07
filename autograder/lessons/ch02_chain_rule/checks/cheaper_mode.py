"""Checks of cheaper_mode."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.judging import exercise, expect_close
from autograder.lessons.ch02_chain_rule.checks.chains import widths


def agree_on_mode(learner, reference, rng, cases):
    """Check the mode of each case, then of 20 more in random order, because a choice of two is easily guessed."""
    chains = [(case, dims()) for case, dims in cases.items()]
    chains += [(case, cases[case]()) for case in rng.choice(list(cases), size=20).tolist()]
    for case, dims in chains:
        expect_close(learner.cheaper_mode(dims), reference.cheaper_mode(dims), case=case, rtol=0, atol=0)


@exercise("cheaper_mode")
def test_cheaper_mode_of_one_matrix(learner, reference, rng):
    """The end that is narrower."""
    cases = {
        "a scalar output": lambda: [*widths(rng, 1), 1],
        "a scalar input": lambda: [1, *widths(rng, 1)],
        "more outputs than inputs": lambda: sorted(widths(rng, 2)),
        "more inputs than outputs": lambda: sorted(widths(rng, 2), reverse=True),
    }
    agree_on_mode(learner, reference, rng, cases)


@exercise("cheaper_mode")
def test_cheaper_mode_of_a_chain(learner, reference, rng):
    """Only the two ends count, whatever lies between."""
    orders = {  # four widths from the narrowest, 0, to the widest, 3
        "more outputs, wide next to the input": (1, 3, 0, 2),
        "more inputs, wide next to the output": (2, 0, 3, 1),
        "more outputs, widest in the middle": (0, 3, 1),
        "more inputs, narrowest in the middle": (3, 0, 2),
        "more outputs, narrowest in the middle": (1, 0, 3),
        "more inputs, widest in the middle": (2, 3, 1),
    }

    def ordered(order: tuple[int, ...]) -> list[int]:
        return np.sort(widths(rng, 4))[list(order)].tolist()

    agree_on_mode(learner, reference, rng, {case: partial(ordered, order) for case, order in orders.items()})


@exercise("cheaper_mode")
def test_cheaper_mode_in_a_tie(learner, reference, rng):
    """As many inputs as outputs: "reverse"; one input fewer: "forward"."""

    def ends(first: int, last: int, between: int) -> list[int]:
        n, *others = widths(rng, 1 + between)
        return [n + first, *others, n + last]

    cases = {
        "one number": lambda: [1, 1],
        "a square matrix": partial(ends, 0, 0, 0),
        "a tie": partial(ends, 0, 0, 1),
        "a tie in a longer chain": partial(ends, 0, 0, 2),
        "one input fewer": partial(ends, 0, 1, 2),
        "one output fewer": partial(ends, 1, 0, 2),
        "one input fewer, one matrix": partial(ends, 0, 1, 0),
        "one input fewer, two matrices": partial(ends, 0, 1, 1),
    }
    agree_on_mode(learner, reference, rng, cases)
