"""Checks that attention in blocks, forward and backward, share."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, F64, agree, random
from autograder.judging.checking.kinds import LARGEST


def queries(rng, n_q, n_k, d, d_v, lead=()):
    return [random(rng, (*lead, *shape)) for shape in ((n_q, d), (n_k, d), (n_k, d_v))]


def counts(n_q, n_k, block) -> str:
    keys = f"{n_k} key{'s' * (n_k > 1)}"
    return f"{n_q} quer{'ies' if n_q > 1 else 'y'}, {keys}, blocks of {block}"


def agree_on_attention(learner, reference, rng, name, sizes, block, told="", lead=()):
    q, k, v = queries(rng, *sizes, lead)
    g = [random(rng, (*lead, sizes[0], sizes[3]))] if name == "chunked_attention_vjp" else []
    case = f"{told}{', ' * bool(told)}{counts(*sizes[:2], block)}"
    scenario = "attention_vjp" if g else "attention"
    agree(scenario, learner, reference, *g, q, k, v, block, case=case, **EXACT)


def check_one_block(learner, reference, rng, name):
    """All keys in one block, or in fewer than a block has."""
    for sizes, block in [((1, 1, 1, 1), 1), ((1, 2, 2, 1), 2), ((2, 3, 4, 2), 3), ((3, 2, 2, 3), 5)]:
        agree_on_attention(learner, reference, rng, name, sizes, block)


def check_several_blocks(learner, reference, rng, name):
    """Blocks of one key and of more."""
    for sizes, block in [((1, 2, 1, 1), 1), ((2, 4, 2, 3), 2), ((3, 6, 5, 2), 1), ((4, 9, 3, 2), 3)]:
        agree_on_attention(learner, reference, rng, name, sizes, block)


def check_shorter_last_block(learner, reference, rng, name):
    """The number of keys is no multiple of the block."""
    for sizes, block in [((1, 3, 1, 1), 2), ((2, 5, 2, 3), 3), ((3, 7, 3, 2), 4), ((2, 5, 2, 2), 4)]:
        agree_on_attention(learner, reference, rng, name, sizes, block)


def check_leading_axes(learner, reference, rng, name):
    """A batch, and heads."""
    for lead in [(1,), (2, 3), (2, 1, 2), (1, 2, 1, 2)]:
        agree_on_attention(learner, reference, rng, name, (3, 5, 2, 3), 2, f"leading axes {lead}", lead)


def check_large_scores(learner, reference, rng, name):
    """Scores of ±1000 and more: growing from block to block, shrinking, and all far below 0 or far above."""
    for told, first, last in [
        ("scores from 1000 to −1000", 1000, -1000),
        ("scores from −1000 to 1000", -1000, 1000),
        ("all scores about −1000", -1001, -1000),
        ("all scores below −20,000", -20_001, -20_000),
        ("all scores above 20,000", 20_000, 20_001),
    ]:
        for n_k, block in [(2, 1), (6, 2)]:
            q = np.abs(random(rng, (2, 1))) + 1
            k = np.linspace(first, last, n_k)[:, None] + random(rng, (n_k, 1))
            v = random(rng, (n_k, 3))
            case = f"{told}, {counts(2, n_k, block)}"
            if name == "chunked_attention":
                agree("attention", learner, reference, q, k, v, block, case=case, **EXACT)
            else:
                g = random(rng, (2, 3))
                # dq is a sum of ds · k, whose terms cancel, and each ds has the rounding of a score
                atol = 1e-9 if abs(first) < 2000 else 1e-5
                agree("attention_vjp", learner, reference, g, q, k, v, block, case=case, rtol=1e-7, atol=atol)
    if name == "chunked_attention":
        for told, first in [("all scores below −900,000", -1e6), ("all scores above 1,000,000", 1e6)]:
            k = first + rng.permutation(5).astype(F64)[:, None]  # whole numbers: the scores are exact
            arguments = np.array([[1.0], [2.0]]), k, random(rng, (5, 3)), 2
            agree("attention", learner, reference, *arguments, case=f"{told}, {counts(2, 5, 2)}", **EXACT)


def check_every_kind_of_tensor(learner, reference, kinds, name):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; one tensor for k and v.

    A probability has the rounding of a score, which is that of a product of two of the largest entries; its gradient is
    multiplied by three more of them.
    """
    scenario, scale = ("attention", LARGEST**3) if name == "chunked_attention" else ("attention_vjp", LARGEST**5)
    for kind in kinds:
        arguments = *kind.drawn.values(), kind.options["block"], kind.states
        agree(scenario, learner, reference, *arguments, case=kind.label, **kind.tolerance((), [scale]))
