"""Checks of bucketed_all_reduce."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, F32, F64, agree, exercise, random


def reduction(rng):
    """What each message is multiplied by, and what is added for each of its entries."""
    return [float(factor) for factor in 2 + np.arange(40) + rng.uniform(-0.3, 0.3, size=40)], float(rng.uniform(0.5, 1))


def agree_on_buckets(learner, reference, rng, shapes, bucket_bytes, case, dtypes=(F64,), bfloat16=(), **tolerance):
    grads = [random(rng, shape, dtypes[i % len(dtypes)]) for i, shape in enumerate(shapes)]
    arguments = grads, bucket_bytes, *reduction(rng), {}, list(bfloat16)
    agree("buckets", learner, reference, *arguments, case=case, **{**EXACT, **tolerance})


@exercise("bucketed_all_reduce")
def test_one_bucket(learner, reference, rng):
    """All of them in one message; no message for no tensors."""
    for shapes in ([(1,)], [(2,), (3,)], [(), (2, 3), (1, 1, 2)]):
        case = f"{len(shapes)} tensor{'s' * (len(shapes) > 1)}, room for all"
        agree_on_buckets(learner, reference, rng, shapes, 1000, case)
    agree_on_buckets(learner, reference, rng, [], 1000, "no tensors")


@exercise("bucketed_all_reduce")
def test_several_buckets(learner, reference, rng):
    """As many tensors in each as have room, in order; a bucket may be full to the last byte."""
    agree_on_buckets(learner, reference, rng, [(2,), (2,), (1,)], 32, "the first two fit exactly")
    agree_on_buckets(learner, reference, rng, [(2,), (2,), (1,)], 31, "a byte too little for the first two")
    agree_on_buckets(learner, reference, rng, [(3,), (2,), (1,), (2,)], 32, "what fits into an earlier bucket")
    for _ in range(3):
        sizes = [(int(n),) for n in rng.integers(1, 9, size=9)]
        agree_on_buckets(learner, reference, rng, sizes, int(rng.integers(64, 130)), "nine tensors")


@exercise("bucketed_all_reduce")
def test_large_tensors(learner, reference, rng):
    """A tensor that is larger than a bucket goes alone and whole."""
    agree_on_buckets(learner, reference, rng, [(9,)], 16, "one tensor, larger than a bucket")
    agree_on_buckets(learner, reference, rng, [(1,), (3, 3), (1,), (1,)], 16, "a large tensor between small ones")
    agree_on_buckets(learner, reference, rng, [(1,), (2,), (1,)], 0, "buckets of 0 bytes")
    sizes = [(int(n),) for n in rng.integers(1, 12, size=8)]
    agree_on_buckets(learner, reference, rng, sizes, 48, "eight tensors, some larger than a bucket")


@exercise("bucketed_all_reduce")
def test_mixed_dtypes(learner, reference, rng):
    """A message has one dtype; a bucket that was closed stays closed, and bytes depend on the dtype."""
    single = {"rtol": 1e-5, "atol": 1e-5}
    for shapes, dtypes, told in [
        ([(2,), (3,)], (F32, F64), "float32, float64"),
        ([(2,), (1,), (2,), (1,)], (F64, F32), "float64 and float32 in turn"),
        ([(1,), (2,), (2,), (1,), (3,)], (F32, F32, F64), "float32, float32, float64 in turn"),
    ]:
        for bucket_bytes in (1000, 12):
            case = f"{told}, buckets of {bucket_bytes} bytes"
            agree_on_buckets(learner, reference, rng, shapes, bucket_bytes, case, dtypes, **single)
    agree_on_buckets(learner, reference, rng, [(2,), (2,), (2,)], 16, "float32, two of three fit", (F32,), **single)
    half = {"rtol": 1e-2, "atol": 1e-2}
    agree_on_buckets(
        learner, reference, rng, [(4,), (4,), (1,)], 16, "float16, two of three fit", (np.float16,), **half
    )
    case, brain = "float16 and bfloat16 in turn, which are equally long", {"rtol": 5e-2, "atol": 5e-2}
    agree_on_buckets(learner, reference, rng, [(2,), (1,), (3,)], 1000, case, (np.float16,), bfloat16=(1,), **brain)


@exercise("bucketed_all_reduce")
def test_every_kind_of_tensor(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; one tensor twice."""
    for kind in kinds:
        (grads,), bucket_bytes = kind.drawn.values(), kind.options["bucket_bytes"]
        arguments = grads, bucket_bytes, *reduction(rng), kind.states
        agree("buckets", learner, reference, *arguments, case=kind.label, **kind.tolerance((), grads))
