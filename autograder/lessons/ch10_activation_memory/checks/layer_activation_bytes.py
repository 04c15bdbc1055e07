"""Checks of layer_activation_bytes."""

from __future__ import annotations

from typing import Any

from autograder.judging import EXACT, exercise, expect_close

# On seven devices this layer's shared bytes, its scores and their sum are all fractional.
NOTHING_WHOLE = 3, 1, 8, 2


def agree_on_layer(learner, reference, rng, case: str, arguments: tuple[int, ...] = (), **options: Any) -> None:
    if not arguments:
        a = int(rng.integers(2, 40))
        arguments = int(rng.integers(3, 4000)), int(rng.integers(2, 9)), a * int(rng.integers(8, 129)), a
    expected = reference.layer_activation_bytes(*arguments, **options)
    got = learner.layer_activation_bytes(*arguments, **options)
    expect_close(got, expected, names=("the bytes",), case=case, **EXACT)


@exercise("layer_activation_bytes")
def test_one_device(learner, reference, rng):
    """Fused attention and un-fused, one device."""
    for case, arguments in {"one token, all sizes 1": (1, 1, 1, 1), "two tokens": (2, 1, 4, 2)}.items():
        for flash in (True, False):
            got, expected = (who.layer_activation_bytes(*arguments, flash) for who in (learner, reference))
            expect_close(got, expected, names=("the bytes",), case=f"{case}, flash={flash}", **EXACT)
    for _ in range(2):
        agree_on_layer(learner, reference, rng, "flash=False", flash=False)
        agree_on_layer(learner, reference, rng, "flash=True", flash=True)
        agree_on_layer(learner, reference, rng, "flash left out: it is used")


@exercise("layer_activation_bytes")
def test_tensor_parallel(learner, reference, rng):
    """Several devices: 10 of the 34 are not divided."""
    for flash in (True, False):
        for t in (1, 2, 8, 3):
            case = f"tensor_parallel={t}, flash={flash}"
            agree_on_layer(learner, reference, rng, case, flash=flash, tensor_parallel=t)
        case = f"tensor_parallel=7, flash={flash}"
        agree_on_layer(learner, reference, rng, case, NOTHING_WHOLE, flash=flash, tensor_parallel=7)


@exercise("layer_activation_bytes")
def test_sequence_parallel(learner, reference, rng):
    """With sequence parallelism all 34 are."""
    for flash in (True, False):
        for t in (1, 2, 8, 3):
            case = f"tensor_parallel={t}, sequence_parallel=True, flash={flash}"
            options = {"flash": flash, "tensor_parallel": t, "sequence_parallel": True}
            agree_on_layer(learner, reference, rng, case, **options)
        case = f"tensor_parallel=7, sequence_parallel=True, flash={flash}"
        options = {"flash": flash, "tensor_parallel": 7, "sequence_parallel": True}
        agree_on_layer(learner, reference, rng, case, NOTHING_WHOLE, **options)
