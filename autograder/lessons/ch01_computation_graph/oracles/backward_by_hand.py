"""The reference of backward_by_hand against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch01_computation_graph.oracles.graphs import leaf


@exercise("backward_by_hand")
def test_backward_against_autograd(reference, rng):
    for numbers in [(2.0, -3.0, 10.0), (0.0, 2.0, -1.0), (2.0, 3.0, -6.0), *rng.normal(size=(20, 3)).tolist()]:
        a, b, c = map(leaf, numbers)
        d = a * b
        e = d + c
        L = e**2
        names = {"a": a, "b": b, "c": c, "d": d, "e": e, "L": L}
        expected = torch.autograd.grad(L, list(names.values()))
        got = reference.backward_by_hand(*numbers)
        assert set(got) == set(names)
        for name, gradient in zip(names, expected, strict=True):
            np.testing.assert_allclose(got[name], gradient, **EXACT)
    known = reference.backward_by_hand(2.0, -3.0, 10.0)
    assert [known[name] for name in "abc"] == [-24.0, 16.0, 8.0]
