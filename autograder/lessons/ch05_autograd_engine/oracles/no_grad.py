"""The reference of no_grad against something independent."""

from __future__ import annotations

import contextlib

import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.judging import exercise
from autograder.lessons.ch05_autograd_engine.oracles.engines import THOROUGH, torch_leaf


@exercise("no_grad")
def test_nesting_against_torch(reference, rng):
    """Random nesting, with and without exceptions: whether a result requires a gradient, at every point."""

    def flags(make, no_grad, tree) -> list[bool]:
        """Before, inside and after each block of the tree; a block that is None raises."""
        seen = [(make([1.0]) * 2).requires_grad]
        for block in tree:
            with contextlib.suppress(KeyError), no_grad():
                if block is None:
                    raise KeyError
                seen += flags(make, no_grad, block)
            seen.append((make([1.0]) * 2).requires_grad)
        return seen

    module = reference.module
    trees = st.recursive(st.just([]), lambda inner: st.lists(st.none() | inner, max_size=3), max_leaves=6)

    @THOROUGH
    @given(trees)
    def check(tree):
        ours = flags(lambda data: module.Tensor(data, requires_grad=True), module.no_grad, tree)
        assert ours == flags(torch_leaf, torch.no_grad, tree)

    check()
