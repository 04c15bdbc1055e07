"""Checks of SavedTensorMeter."""

from __future__ import annotations

from autograder.judging import F32, F64, agree, exercise, random


def agree_on_meter(learner, reference, rng, kinds: tuple[str, ...], devices: tuple[str, ...] = ("cpu", "meta")) -> None:
    for kind in kinds:
        for device in devices:
            n, m = (int(size) for size in rng.integers(2, 40, size=2))
            case = f"{kind}, x is {n} x {m}" + (", on the meta device" if device == "meta" else "")
            agree("metered", learner, reference, kind, n, m, device, case=case)


@exercise("SavedTensorMeter")
def test_what_is_saved(learner, reference, rng):
    """Nothing, a result, both factors; several storages of one size; other dtypes."""
    kinds = "one result", "two factors", "several storages of one size", "another dtype", "nothing", "no numbers"
    agree_on_meter(learner, reference, rng, kinds)


@exercise("SavedTensorMeter")
def test_constants_count(learner, reference, rng):
    """What requires no gradient and is saved all the same: a factor, the data of a layer, indices, a mask."""
    agree_on_meter(learner, reference, rng, ("a constant factor", "data in front of a layer", "indices and a mask"))


@exercise("SavedTensorMeter")
def test_storages_count_once(learner, reference, rng):
    """What two operations save, and views of one storage."""
    kinds = "one storage, saved by two operations", "two views that begin at different places"
    agree_on_meter(learner, reference, rng, kinds)


@exercise("SavedTensorMeter")
def test_storages_count_whole(learner, reference, rng):
    """A view of one column keeps the whole matrix, one that repeats a row keeps the row."""
    agree_on_meter(
        learner, reference, rng, ("a view of a part", "a view of a part, detached", "a view that repeats one row")
    )


@exercise("SavedTensorMeter")
def test_parameters_do_not_count(learner, reference, rng):
    """Neither a parameter nor a view of one, frozen or not."""
    agree_on_meter(learner, reference, rng, ("parameters and their views", "a frozen parameter and its views"))


@exercise("SavedTensorMeter")
def test_the_block(learner, reference, rng):
    """Before it, after it, when it raises, one in another, one after another; tensors made before it count."""
    for how in ("plain", "raises", "nested", "one after the other"):
        n, m = (int(size) for size in rng.integers(2, 40, size=2))
        agree("block_of_the_meter", learner, reference, n, m, how, case=f"the block: {how}, x is {n} x {m}")


@exercise("SavedTensorMeter")
def test_gradients(learner, reference, rng):
    """Those without a meter, float32 and float64."""
    for shape, dtype in [((1,), F64), ((2, 3), F64), ((3,), F32)]:
        arguments = random(rng, shape, dtype), random(rng, shape, dtype)
        case = f"gradients under the meter, {dtype.__name__}, x has shape {shape}"
        agree("gradients_under_the_meter", learner, reference, *arguments, case=case, rtol=1e-5, atol=1e-6)


@exercise("SavedTensorMeter")
def test_networks(learner, reference, rng):
    """What the meter is for: embeddings, attention with a mask, dropout, a norm, frozen layers, a cross-entropy."""
    for kind in ("a classifier of data", "a language model", "a frozen body and a head"):
        n, m = (int(size) for size in rng.integers(3, 20, size=2))
        agree("metered", learner, reference, kind, n, m, "cpu", case=f"{kind}, sizes {n} and {m}")


@exercise("SavedTensorMeter", promise="instrumented")
def test_memory_is_let_go(learner, reference, rng):
    """Storages that come and go at one address count each; none is kept alive."""
    for rounds in (1, 20):
        n = int(rng.integers(20, 60))
        case = f"a result that is let go within the block, {rounds} times, {n} x {n}"
        agree("let_go", learner, reference, n, rounds, case=case)


@exercise("SavedTensorMeter")
def test_every_kind_of_block(learner, reference, kinds, rng):
    """All pairs of what is saved, all of it or a part; where the block is, and how it ends."""
    for kind in kinds:
        n = kind.options["low"] + int(rng.integers(20))
        agree("metered_in_states", learner, reference, n, kind.states, case=f"{kind.label}, {n} entries")
