"""Checks of Tensor.detach."""

from __future__ import annotations

import numpy as np

from autograder.judging import SINGLE, exercise
from autograder.lessons.ch05_autograd_engine.checks.code_cells import check_program, normal
from autograder.lessons.ch05_autograd_engine.checks.every_kind import check_every_kind


@exercise("Tensor.detach")
def test_detached_is_a_leaf(learner, reference, rng):
    """The same data, no gradient required, no edges."""
    ask = ["d.data", "d.requires_grad", "d.edges", "d.grad", "d is h"]
    for case, code in {"of a result": "h = a * a\nd = h.detach()", "of a leaf": "h = a\nd = h.detach()"}.items():
        check_program(learner, reference, code, normal(rng, "a"), ask, case=case)


@exercise("Tensor.detach")
def test_detached_shares_data(learner, reference, rng):
    """Without a copy: what is written into one is seen in the other."""
    code = "h = a * a\nd = h.detach()\nd.data[0] = 7"
    for shape in [(2,), (2, 2)]:
        ask = ["h.data", "np.shares_memory(d.data, h.data)", "d is h"]
        check_program(learner, reference, code, normal(rng, "a", shape=shape), ask, case="d.data[0] = 7")
    single = {"a": rng.normal(size=2).astype(np.float32)}
    check_program(learner, reference, code, single, ["d.data", "h.data"], case="float32", **SINGLE)


@exercise("Tensor.detach")
def test_detached_is_a_constant(learner, reference, rng):
    """No gradient flows through it, and all of it through the tensor itself, which stays as it was."""
    for code in ("y = a * a.detach()", "h = a * a\ny = h * h.detach()", "h = a * a\nd = h.detach()\ny = h * a"):
        ask = ["a.grad", "y.data"]
        case = code.split("\n")[-1]
        check_program(learner, reference, f"{code}\ny.backward(g)", normal(rng, "a"), ask, normal(rng, "g"), case=case)
    ask = ["h.requires_grad", "len(h.edges)", "bool((d * 2).requires_grad)", "bool((h * 2).requires_grad)"]
    check_program(learner, reference, "h = a.tanh()\nd = h.detach()", normal(rng, "a"), ask, case="h = a.tanh()")


@exercise("Tensor.detach")
def test_every_kind_of_tensor(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; leaves, results, freed ones, and tensors with a grad."""
    check_every_kind("detached_in_states", learner, reference, kinds)
