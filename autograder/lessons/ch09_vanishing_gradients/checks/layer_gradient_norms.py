"""Checks of layer_gradient_norms."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, agree, compare, exercise, expect_close
from autograder.lessons.ch09_vanishing_gradients.checks.layers import batch, layers
from autograder.lessons.ch09_vanishing_gradients.checks.tolerances import EXACT

SINGLE = {"rtol": 1e-3, "atol": 0.0}  # gradients of 30 float32 layers, added up in any order, differ by less than 1e-5


def check_norms(learner, reference, kind, stack, X, y, training=True, *, case, rtol=1e-9):
    arguments = kind, stack, X, y, training
    got, expected = (who.scenario.gradient_norms(*arguments) for who in (learner, reference))
    expect_close(got, expected, names=("layer_gradient_norms",), case=case, rtol=rtol, atol=0.0)


@exercise("layer_gradient_norms")
def test_one_norm_for_each_linear(learner, reference, rng):
    """The Linears of a chain, first to last; a single Linear is a model, too."""
    for case, kind, widths, n in [
        ("two Linears", "tanh", (2, 3, 2), 3),
        ("the model is a single Linear", "one linear", (2, 3), 4),
        ("one example, three Linears", "sigmoid", (3, 2, 4, 3), 1),
        ("five Linears", "tanh", (4, 5, 3, 5, 2, 3), 6),
    ]:
        X, y = batch(rng, n, widths[0], widths[-1])
        check_norms(learner, reference, kind, layers(rng, *widths), X, y, case=case)


@exercise("layer_gradient_norms")
def test_thirty_sigmoid_layers(learner, reference, rng):
    """Gradients of 1e-27 in float32: their squares are 0.0, and they are not."""
    for case, depth in [("30 hidden sigmoid layers, float32", 30), ("20 hidden sigmoid layers, float32", 20)]:
        stack = layers(rng, 6, *[8] * (depth + 1), 4, dtype=F32)
        X, y = batch(rng, 16, 6, 4, F32)
        check_norms(learner, reference, "sigmoid", stack, X, y, case=case, rtol=SINGLE["rtol"])


@exercise("layer_gradient_norms")
def test_large_gradients(learner, reference, rng):
    """Gradients of 1e25 in float32: their squares are inf, and they are not."""
    stack = layers(rng, 3, 4, dtype=F32)
    X, y = batch(rng, 8, 3, 4, F32)
    y = (np.arange(8) % 4).astype(y.dtype)
    for case, scale in [("moderate inputs, float32", 1), ("inputs of 1e25, float32", 1e25)]:
        arguments = stack, X * F32(scale), y
        check_norms(learner, reference, "one linear", *arguments, case=case, rtol=SINGLE["rtol"])


@exercise("layer_gradient_norms")
def test_order_of_modules(learner, reference, rng):
    """The order of modules(), not that of the forward pass; modules inside of modules are found."""
    X, y = batch(rng, 5, 2, 3)
    check_norms(learner, reference, "head first", layers(rng, 2, 4, 3, 3), X, y, case="nested modules, head first")


@exercise("layer_gradient_norms")
def test_a_linear_that_runs_twice(learner, reference, rng):
    """One module, one weight, one norm: of the sum of both gradients. Two modules with one weight have two norms."""
    for case, kind in [("a Linear that runs twice", "recurrent"), ("two Linears that have one weight", "tied")]:
        X, y = batch(rng, 5, 2, 3)
        check_norms(learner, reference, kind, layers(rng, 2, 4, 4, 3), X, y, case=case)


@exercise("layer_gradient_norms")
def test_other_weights_do_not_count(learner, reference, rng):
    """LayerNorm and convolutions have weights, too."""
    X, y = batch(rng, 5, 2, 3)
    check_norms(learner, reference, "embedded", layers(rng, 2, 4, 3), X, y, case="a model with LayerNorm and Conv1d")


@exercise("layer_gradient_norms")
def test_linears_of_derived_classes(learner, reference, rng):
    """An instance of a class derived from Linear is a Linear, like out_proj in PyTorch's attention."""
    for case, kind, widths in [
        ("Linears of a class of the caller's", "derived", (2, 3, 3)),
        ("a model with MultiheadAttention, whose out_proj is a Linear", "attention", (2, 4, 4, 3)),
    ]:
        X, y = batch(rng, 5, widths[0], widths[-1])
        check_norms(learner, reference, kind, layers(rng, *widths), X, y, case=case)


@exercise("layer_gradient_norms")
def test_the_mode_of_the_model(learner, reference, rng):
    """BatchNorm normalises with the batch in train mode and with running statistics in eval mode."""
    for mode in ("train", "eval"):
        stack = layers(rng, 2, 5, 3)
        X, y = batch(rng, 6, 2, 3)
        case = f"BatchNorm, the model is in {mode} mode"
        check_norms(learner, reference, "batchnorm", stack, X, y, mode == "train", case=case)


@exercise("layer_gradient_norms")
def test_calling_twice(learner, reference, rng):
    """The second call gives the same: nothing adds up in .grad."""
    for widths in ((2, 3, 2), (3, 4, 4, 3)):
        X, y = batch(rng, 4, widths[0], widths[-1])
        arguments = layers(rng, *widths), X, y
        got, expected = (who.scenario.gradient_norms_twice(*arguments) for who in (learner, reference))
        for call, norms in expected.items():
            expect_close(got[call], norms, names=(call,), case=f"two calls, {len(widths) - 1} Linears", **EXACT)


@exercise("layer_gradient_norms", promise="instrumented")
def test_the_model_afterwards(learner, reference, rng):
    """Parameters, .grad and mode are those from before, in a model that has gradients already."""
    for case, kind, widths, dtype, training in [
        ("a model with gradients in some .grad", "tanh", (2, 3, 2), F64, True),
        ("a model in eval mode", "batchnorm", (2, 4, 3), F64, False),
        ("float32, a model in train mode", "tanh", (2, 3, 2), F32, True),
    ]:
        X, y = batch(rng, 5, widths[0], widths[-1], dtype)
        arguments = kind, layers(rng, *widths, dtype=dtype), X, y, training
        got, expected = (who.scenario.after_gradient_norms(*arguments) for who in (learner, reference))
        compare(got, expected, case=case, rtol=1e-3 if dtype is F32 else 1e-9, atol=0)


@exercise("layer_gradient_norms")
def test_every_kind_of_model(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; frozen biases, old grads, modes, a Linear at two places; gradients of 0."""
    for kind in kinds:
        arguments = *kind.drawn.values(), kind.options["classes"], kind.options["times"], kind.states
        single = kind.levels["X dtype"] == "float32"
        tolerance = {"rtol": SINGLE["rtol"] if single else 1e-9, "atol": 1e-5 if single else 1e-12}
        agree("norms_in_states", learner, reference, *arguments, case=kind.label, **tolerance)
