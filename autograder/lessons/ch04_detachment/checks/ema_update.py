"""Checks of ema_update."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, SINGLE, agree, exercise, random

LAYERS = {  # what kind of module: shapes of the parameters, smallest first
    "one number": {"scale": ()},
    "one layer": {"weight": (2, 3), "bias": (2,)},
    "nested layers": {"scale": (1,), "layer1.weight": (3, 2), "layer1.bias": (3,), "layer2.norm.bias": (2,)},
}


def modules(rng, shapes, count=2, dtype=F64):
    """The parameters of some modules with these shapes."""
    return [{name: random(rng, shape, dtype) for name, shape in shapes.items()} for _ in range(count)]


def some_decay(rng):
    """Between 0.6 and 0.9, so that decay and 1 − decay are told apart."""
    return float(rng.uniform(0.6, 0.9))


@exercise("ema_update")
def test_one_update(learner, reference, rng):
    """decay · target + (1 − decay) · online."""
    for case, shapes in LAYERS.items():
        agree("averaged", learner, reference, *modules(rng, shapes), some_decay(rng), case=case)


@exercise("ema_update")
def test_every_kind_of_module(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts, values; frozen and tied parameters, old grads, eval mode, buffers."""
    for kind in kinds:
        arguments = *kind.drawn.values(), kind.options["decay"], kind.states
        tolerance = kind.tolerance((), list(kind.drawn.values()))
        agree("averaged_in_states", learner, reference, *arguments, case=kind.label, **tolerance)


@exercise("ema_update")
def test_extreme_decays(learner, reference, rng):
    """decay = 0 copies online, decay = 1 leaves target, 0.999 hardly moves it."""
    for decay in (0.0, 0.999, 1.0, 0.5):
        arguments = modules(rng, LAYERS["one layer"])
        agree("averaged", learner, reference, *arguments, decay, case=f"decay = {decay:g}")


@exercise("ema_update")
def test_many_updates(learner, reference, rng):
    """Each update starts from what the last one left."""
    for count in (2, 5):
        target, *onlines = modules(rng, LAYERS["one layer"], count + 1)
        arguments = target, onlines, some_decay(rng)
        agree("averaged_again", learner, reference, *arguments, case=f"{count} updates")


@exercise("ema_update", promise="instrumented")
def test_in_place(learner, reference, rng):
    """The parameters are the same objects in the same memory."""
    for case, shapes in LAYERS.items():
        arguments = *modules(rng, shapes), some_decay(rng)
        agree("averaged_in_place", learner, reference, *arguments, case=f"in place, {case}")


@exercise("ema_update", promise="instrumented")
def test_no_graph(learner, reference, rng):
    """Leaves before, leaves afterwards, with the requires_grad that they had."""
    for case, flags in {
        "target requires no gradient": (False, True),
        "both require gradients": (True, True),
        "online requires no gradient": (True, False),
        "neither requires gradients": (False, False),
    }.items():
        arguments = *modules(rng, LAYERS["one layer"]), some_decay(rng), *flags
        agree("averaged_with_flags", learner, reference, *arguments, case=case)


@exercise("ema_update")
def test_online_and_buffers_stay(learner, reference, rng):
    """online is only read, and buffers are left alone."""
    shapes = {"running_mean": (2,), "norm.running_var": (3,)}
    for case, layers in [("one layer and buffers", "one layer"), ("nested layers and buffers", "nested layers")]:
        target, online = modules(rng, LAYERS[layers])
        target_buffers, online_buffers = modules(rng, shapes)
        for buffers in (target_buffers, online_buffers):
            buffers["steps"] = np.array(rng.integers(100))
        arguments = target, online, target_buffers, online_buffers, some_decay(rng)
        agree("averaged_beside", learner, reference, *arguments, case=case)


@exercise("ema_update")
def test_shared_weights_once(learner, reference, rng):
    """A parameter with two names is averaged once."""
    target, online = modules(rng, {"embed.weight": (2, 3), "body.weight": (3,)})
    tied = ["embed.weight", "head.weight", "tail.weight"]
    for case, names in {"a weight with two names": tied[:2], "a weight with three names": tied}.items():
        agree("averaged_shared", learner, reference, target, online, names, some_decay(rng), case=case)


@exercise("ema_update")
def test_averages_in_float32(learner, reference, rng):
    """float32 modules stay float32."""
    arguments = *modules(rng, LAYERS["one layer"], dtype=F32), some_decay(rng)
    agree("averaged", learner, reference, *arguments, case="float32", **SINGLE)
