"""Checks of Tensor.register_hook."""

from __future__ import annotations

import numpy as np

from autograder.judging import SINGLE, exercise
from autograder.lessons.ch05_autograd_engine.checks.code_cells import check_program, normal
from autograder.lessons.ch05_autograd_engine.checks.every_kind import check_every_kind

LOOK = "seen.append(g + 0.0)"


@exercise("Tensor.register_hook")
def test_complete_gradient_once(learner, reference, rng):
    """A hook is called once in a pass, with the sum over all uses."""
    for case, code in {
        "on a result": "h = a * b\nt = h\ny = h.tanh()",
        "on a result used twice": "h = a * b\nt = h\ny = h * h + h",
        "on a leaf used twice": "t = a\ny = a * b + a.tanh()",
        "on the root": "y = a * b\nt = y",
    }.items():
        whole = f"seen = []\n{code}\nt.register_hook(lambda g: {LOOK})\ny.backward(g)"
        ask = ["seen", "a.grad", "b.grad"]
        check_program(learner, reference, whole, normal(rng, "a", "b"), ask, normal(rng, "g"), case=case)


@exercise("Tensor.register_hook")
def test_gradient_of_this_pass(learner, reference, rng):
    """Each pass calls it with its own gradient, not with what has added up in `grad`."""
    for case, code in {
        "a leaf, two passes": "a.register_hook(look)\n(a * a).backward(g)\n(a * 2).backward(g)",
        "a result, two passes": "h = a * a\nh.register_hook(look)\ny = h * a\ny.backward(g, retain_graph=True)\n"
        "y.backward(g)",
        "registered after the first pass": "(a * a).backward(g)\na.register_hook(look)\n(a * 3).backward(g)",
        "not reached": "h = a * a\nh.register_hook(look)\na.register_hook(look)\n(a * 3).backward(g)",
    }.items():
        whole = f"seen = []\nlook = lambda g: {LOOK}\n{code}"
        check_program(learner, reference, whole, normal(rng, "a"), ["seen", "a.grad"], normal(rng, "g"), case=case)


@exercise("Tensor.register_hook")
def test_replacement(learner, reference, rng):
    """What a hook returns is the gradient from there on; None leaves it."""
    for case, code in {
        "on a result": "h = a * b\nh.register_hook(lambda g: 3 * g)\ny = h.tanh()",
        "zeros": "h = a * b\nh.register_hook(lambda g: 0 * g)\ny = h + a",
        "on a leaf": "a.register_hook(lambda g: -g)\ny = a * b",
        "on the root": "y = a * b\ny.register_hook(lambda g: g * g)",
        "a hook that returns None": "h = a * b\nh.register_hook(lambda g: None)\ny = h * 2",
    }.items():
        whole = f"{code}\ny.backward(g)"
        check_program(
            learner, reference, whole, normal(rng, "a", "b"), ["a.grad", "b.grad"], normal(rng, "g"), case=case
        )
    code = "a.register_hook(lambda g: c * g)\ny = a * a\ny.backward(g)"
    leaves, given = {"a": rng.normal(size=2).astype(np.float32)}, normal(rng, "c")
    given["g"] = rng.normal(size=2).astype(np.float32)
    check_program(learner, reference, code, leaves, ["a.grad"], given, case="float64 on a float32 leaf", **SINGLE)


@exercise("Tensor.register_hook")
def test_several_hooks(learner, reference, rng):
    """They run in order, and each sees what the one before left; tensors have their own."""
    for case, code in {
        "two on one tensor": "h.register_hook(lambda g: 3 * g)\nh.register_hook(lambda g: g + 1)",
        "the second only looks": f"h.register_hook(lambda g: 3 * g)\nh.register_hook(lambda g: {LOOK})",
        "the first only looks": f"h.register_hook(lambda g: {LOOK})\nh.register_hook(lambda g: 3 * g)",
        "one on each of two": f"h.register_hook(lambda g: {LOOK})\na.register_hook(lambda g: 2 * g)",
    }.items():
        whole = f"seen = []\nh = a * b\n{code}\ny = h.tanh()\ny.backward(g)"
        ask = ["seen", "a.grad", "b.grad"]
        check_program(learner, reference, whole, normal(rng, "a", "b"), ask, normal(rng, "g"), case=case)


@exercise("Tensor.register_hook")
def test_argument_is_the_hooks_own(learner, reference, rng):
    """A hook that writes into its argument changes nothing: not g, nor what another tensor or the next hook gets."""
    for case, code in {
        "on the root": "y = a + b\ny.register_hook(spoil)",
        "on one of two leaves": "a.register_hook(spoil)\ny = a + b",
        "on a result": "h = a + b\nh.register_hook(spoil)\ny = h + a",
        "before a hook that looks": f"a.register_hook(spoil)\na.register_hook(lambda g: {LOOK})\ny = a + b",
    }.items():
        whole = f"seen = []\ndef spoil(g):\n    {LOOK}\n    g *= 0\n{code}\ny.backward(g)"
        ask = ["seen", "a.grad", "b.grad", "g"]
        leaves, given = normal(rng, "a", "b"), normal(rng, "g")
        check_program(learner, reference, whole, leaves, ask, given, case=case, by_hook=True)


@exercise("Tensor.register_hook")
def test_every_kind_of_hook(learner, reference, kinds):
    """All pairs of tensors, what a hook does and returns, one function twice; dtypes and layouts of all arrays."""
    check_every_kind("hooked_in_states", learner, reference, kinds, by_hook=True)
