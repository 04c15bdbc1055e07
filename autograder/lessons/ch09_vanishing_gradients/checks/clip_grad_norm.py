"""Checks of clip_grad_norm."""

from __future__ import annotations

import math

import numpy as np

from autograder.judging import F32, F64, exercise, expect_close, expect_raises, fine
from autograder.lessons.ch09_vanishing_gradients.checks.tolerances import EXACT


def check_clipped(learner, reference, arrays, max_norm, case, rtol=1e-9):
    """Check the norm to 1e-9, for gradients of any dtype, and the clipped gradients to `rtol`."""
    import torch

    grads = [torch.tensor(array) for array in arrays]
    got, expected = (who.clip_grad_norm(grads, max_norm) for who in (learner, reference))
    if not isinstance(got, tuple | list) or len(got) != 2:
        expect_close(got, expected, names=("clip_grad_norm",), case=case, rtol=rtol, atol=0.0)
        return
    expect_close(got[1], expected[1], names=("total_norm",), case=case, **EXACT)
    expect_close(got[0], expected[0], names=("clipped",), case=case, rtol=rtol, atol=0.0)


def gradients(rng, *shapes, dtype=F64, scale=1.0):
    return [np.asarray(rng.normal(size=shape) * scale, dtype=dtype) for shape in shapes]


def norm_of(arrays):
    return math.sqrt(sum(float((array.astype(F64) ** 2).sum()) for array in arrays))


@exercise("clip_grad_norm")
def test_clipped_to_the_norm(learner, reference, rng):
    """Several tensors, one norm, one factor: afterwards the norm is max_norm."""
    for case, shapes, share in [
        ("one gradient, clipped to half", [(3,)], 0.5),
        ("two gradients, clipped to half", [(2,), (3,)], 0.5),
        ("weights and biases, clipped to a tenth", [(3, 2), (3,), (4, 3), (4,)], 0.1),
        ("a 0-d and an empty gradient among them", [(), (0, 3), (2, 1)], 0.3),
    ]:
        grads = gradients(rng, *shapes)
        check_clipped(learner, reference, grads, share * norm_of(grads), case)


@exercise("clip_grad_norm")
def test_no_need_to_clip(learner, reference, rng):
    """A norm below max_norm: nothing is scaled up."""
    grads = gradients(rng, (2,), (3, 2))
    check_clipped(learner, reference, grads, 0.9 * norm_of(grads), "max_norm 10 % below the norm")
    check_clipped(learner, reference, grads, 1.1 * norm_of(grads), "max_norm 10 % above the norm")
    check_clipped(learner, reference, grads, 1e3, "max_norm far above the norm")
    check_clipped(learner, reference, [np.array([3.0]), np.array([-4.0])], 5.0, "the norm is max_norm exactly")


@exercise("clip_grad_norm")
def test_nothing_there(learner, reference, rng):
    """Zeros and empty lists: 0 / 0 has to be kept from happening."""
    grads = gradients(rng, (2,))
    check_clipped(learner, reference, grads, 0.5 * norm_of(grads), "one gradient, clipped to half")
    check_clipped(learner, reference, [np.zeros(2), np.zeros((1, 3))], 1.0, "all gradients are zero")
    check_clipped(learner, reference, [np.zeros(2), *gradients(rng, (3,))], 0.1, "one gradient is zero")
    check_clipped(learner, reference, [], 1.0, "no gradients")


@exercise("clip_grad_norm")
def test_small_norms_without_epsilon(learner, reference, rng):
    """Gradients of 1e-8, float64: an epsilon of 1e-6 in the denominator would be larger than they are."""
    for scale in (1.0, 1e-4, 1e-8):
        grads = gradients(rng, (3,), (2, 2), scale=scale)
        case = f"gradients of about {scale:g}, clipped to a quarter"
        check_clipped(learner, reference, grads, 0.25 * norm_of(grads), case)


@exercise("clip_grad_norm")
def test_extreme_float32(learner, reference, rng):
    """Squares that float32 cannot hold: of 1e-27, of 1e30."""
    for scale in (1.0, 1e-27, 1e30):
        grads = gradients(rng, (3,), (2, 2), dtype=F32, scale=scale)
        case = f"float32 gradients of about {scale:g}, clipped to a quarter"
        check_clipped(learner, reference, grads, 0.25 * norm_of(grads), case, rtol=1e-5)


@exercise("clip_grad_norm")
def test_each_dtype_stays(learner, reference, rng):
    """float32, float16 and float64, each in its own dtype, also in one list."""
    for case, dtypes in [("float32", [F32, F32]), ("float16 and float32", [np.float16, F32]), ("mixed", [F64, F32])]:
        grads = [gradients(rng, (3,), dtype=dtype)[0] for dtype in dtypes]
        check_clipped(learner, reference, grads, 0.5 * norm_of(grads), f"{case}, clipped to half", rtol=2e-3)
        check_clipped(learner, reference, grads, 2 * norm_of(grads), f"{case}, not clipped", rtol=2e-3)


@exercise("clip_grad_norm", promise="instrumented")
def test_norms_that_are_not_finite(learner, reference, rng):
    """inf and nan anywhere are a ValueError."""
    import torch

    grads = gradients(rng, (2,), (2, 3))
    check_clipped(learner, reference, grads, 0.5 * norm_of(grads), "finite gradients, clipped to half")
    for name, value in {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.items():
        for i, where in enumerate(("the first gradient", "the second gradient")):
            tensors = [torch.tensor(grad) for grad in gradients(rng, (2,), (2, 3))]
            tensors[i].view(-1)[int(rng.integers(tensors[i].numel()))] = value
            expect_raises(ValueError, learner.clip_grad_norm, tensors, 1.0, case=f"an entry of {where} is {name}")


WITHIN = {"in float16": {"rtol": 2e-3, "atol": 1e-6}, "in bfloat16": {"rtol": 1e-2, "atol": 1e-30}}


@exercise("clip_grad_norm")
def test_every_kind_of_gradient(learner, reference, kinds):
    """All pairs of shapes, layouts, precisions; 0, -0, denormal, small and large entries; one tensor twice."""
    for kind in kinds:
        arguments = kind.drawn["grads"], kind.options["share"], kind.options["scale"], kind.states
        got, expected = (who.scenario.clipped_in_states(*arguments) for who in (learner, reference))
        if fine(got, expected, case=kind.label):
            norms = got["total_norm"], expected["total_norm"]
            expect_close(*norms, names=("total_norm",), case=kind.label, **EXACT)
            tolerance = WITHIN.get(kind.states["grads precision"], {"rtol": 1e-6, "atol": 1e-40})
            expect_close(got["clipped"], expected["clipped"], names=("clipped",), case=kind.label, **tolerance)
