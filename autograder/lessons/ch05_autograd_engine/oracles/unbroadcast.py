"""The reference of unbroadcast against something independent."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.judging import exercise
from autograder.lessons.ch05_autograd_engine.oracles.engines import THOROUGH, same

SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@exercise("unbroadcast")
def test_unbroadcast_against_expand(reference, rng):
    """PyTorch's own gradient of an expanded tensor."""

    @THOROUGH
    @given(of_g=SHAPES, dropped=st.integers(0, 4), ones=st.lists(st.booleans(), min_size=4, max_size=4))
    def check(of_g, dropped, ones):
        shape = tuple(1 if one else size for size, one in zip(of_g, ones, strict=False))[dropped:]
        x, g = torch.zeros(shape, dtype=torch.float64, requires_grad=True), rng.normal(size=of_g)
        x.expand(of_g).backward(torch.tensor(g))
        same(reference.unbroadcast(g, shape), x.grad)

    check()
