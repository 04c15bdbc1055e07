"""Checks of expert_layer_bytes."""

from __future__ import annotations

from typing import Any

from autograder.judging import EXACT, exercise, expect_close

MIXTRAL = 32_768, 4096, 14_336, 8, 2
"""Tokens of eight sequences, and the sizes of Mixtral 8x7B: hundreds of GB, so nobody runs the layer to measure it."""


def agree_on_experts(learner, reference, sizes: tuple[int, ...], case: str, **options: Any) -> None:
    got, expected = (who.expert_layer_bytes(*sizes, **options) for who in (learner, reference))
    expect_close(got, expected, names=("the bytes",), case=case, **EXACT)


def drawn(rng, k: int | None = None) -> tuple[int, ...]:
    """n, h, f, experts, k: more experts than a token has, k more than 1 if none is given, and no two sizes alike."""
    k = int(rng.integers(2, 7)) if k is None else k
    sizes = int(rng.integers(1000, 3000)), int(rng.integers(100, 200)), int(rng.integers(300, 700))
    return *sizes, k + int(rng.integers(3, 60)), k


@exercise("expert_layer_bytes")
def test_everything_trained(learner, reference, rng):
    """The smallest layer, drawn ones, and one of a real model."""
    for case, sizes in {
        "all sizes 1": (1,) * 5,
        "one expert": (5, 3, 4, 1, 1),
        "every expert": (3, 2, 5, 4, 4),
    }.items():
        agree_on_experts(learner, reference, sizes, case)
    agree_on_experts(learner, reference, drawn(rng, k=1), "several experts, k=1")
    layers = [drawn(rng) for _ in range(3)]
    for sizes in layers:
        agree_on_experts(learner, reference, sizes, "everything is trained")
    agree_on_experts(learner, reference, layers[0], "everything is trained, the first layer again")
    agree_on_experts(learner, reference, MIXTRAL, "the sizes of Mixtral 8x7B")


@exercise("expert_layer_bytes")
def test_frozen_experts(learner, reference, rng):
    """gate, up and down require no gradient."""
    agree_on_experts(learner, reference, (1,) * 5, "all sizes 1, experts frozen", experts_trained=False)
    for k in (None, 1):
        agree_on_experts(learner, reference, drawn(rng, k), "experts frozen", experts_trained=False)
    agree_on_experts(learner, reference, MIXTRAL, "the sizes of Mixtral 8x7B, experts frozen", experts_trained=False)


@exercise("expert_layer_bytes")
def test_frozen_router(learner, reference, rng):
    """The router requires no gradient, the experts or none of both."""
    for trained in (True, False):
        case = "router frozen" if trained else "all frozen"
        options = {"router_trained": False, "experts_trained": trained}
        for sizes in ((1,) * 5, drawn(rng), drawn(rng, k=1)):
            agree_on_experts(learner, reference, sizes, case, **options)


@exercise("expert_layer_bytes")
def test_other_numbers(learner, reference, rng):
    """Numbers of 1, 4 and 8 bytes, with every part trained and frozen; indices have 8."""
    for number_bytes in (1, 4, 8):
        for router, experts in ((True, True), (True, False), (False, True), (False, False)):
            case = f"number_bytes={number_bytes}, router_trained={router}, experts_trained={experts}"
            options = {"number_bytes": number_bytes, "router_trained": router, "experts_trained": experts}
            agree_on_experts(learner, reference, drawn(rng), case, **options)
