"""The reference of Tensor.register_hook against something independent."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.judging import EXACT, exercise
from autograder.lessons.ch05_autograd_engine.oracles.engines import THOROUGH, compute, graphs, same, torch_leaf


@exercise("Tensor.register_hook")
def test_hooks_against_torch(reference, rng):
    """Hooks on random tensors of random graphs: what they see, what they replace."""
    Tensor = reference.module.Tensor

    @THOROUGH
    @given(graphs(), st.lists(st.tuples(st.integers(0, 20), st.sampled_from([None, -1.0, 0.0, 2.5])), max_size=5))
    def check(graph, hooks):
        arrays = [rng.normal(size=shape) for shape in graph[0]]
        seen = ([], [])
        engines = [compute(graph, arrays, leaf) for leaf in (lambda a: Tensor(a, requires_grad=True), torch_leaf)]
        for (_, known), into in zip(engines, seen, strict=True):
            for number, (where, factor) in enumerate(hooks):

                def hook(g, into=into, number=number, factor=factor):
                    into.append((number, np.array(g)))
                    return None if factor is None else g * factor

                known[where % len(known)].register_hook(hook)
        (leaves, ours), (theirs_leaves, theirs) = engines
        g = rng.normal(size=ours[-1].shape)
        ours[-1].backward(g)
        theirs[-1].backward(torch.tensor(g))
        for got, expected in zip(leaves, theirs_leaves, strict=True):
            same(got.grad, expected.grad)
        mine, others = (sorted(calls, key=lambda call: call[0]) for calls in seen)  # each engine has its order
        assert [number for number, _ in mine] == [number for number, _ in others]
        for (_, got), (_, expected) in zip(mine, others, strict=True):
            np.testing.assert_allclose(got, expected, **EXACT)

    check()
