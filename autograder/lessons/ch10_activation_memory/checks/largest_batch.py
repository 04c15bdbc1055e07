"""Checks of largest_batch."""

from __future__ import annotations

from autograder.judging import EXACT, exercise, expect_close
from autograder.lessons.ch10_activation_memory.checks.sizes import RECOMPUTE, sizes

FAR, STEPS = 10**30, 7
"""Bytes of a card so large that the states are negligible; number of halvings to find them to 1 % of a sequence."""


def card(reference, config, s, recompute, sequences: float) -> int:
    """Bytes of a card with room for the states and this many sequences, found by querying the reference.

    The formula itself must not appear here, because learners can read the checks.
    """

    def fit(gpu_bytes: int) -> int:
        return reference.scenario.batch(*config.values(), s, gpu_bytes, recompute)

    peak = FAR // fit(FAR)
    states = FAR - fit(FAR) * peak  # and less than a peak too many
    low, high = 0, peak
    for _ in range(STEPS):
        half = (low + high) // 2
        low, high = (half, high) if fit(states - half + 2 * peak) == 2 else (low, half)
    return states - low + int(sequences * peak)


def agree_on_batch(learner, reference, config, s, recompute, sequences, case) -> None:
    gpu_bytes = card(reference, config, s, recompute, sequences)
    agree_on_card(learner, reference, config, s, gpu_bytes, recompute, case)


def agree_on_card(learner, reference, config, s, gpu_bytes, recompute, case) -> None:
    got, expected = (who.scenario.batch(*config.values(), s, gpu_bytes, recompute) for who in (learner, reference))
    expect_close(got, expected, names=("the batch",), case=case, **EXACT)


@exercise("largest_batch")
def test_some_fit(learner, reference, rng):
    """A little more and a little less than a whole number of sequences."""
    for recompute in RECOMPUTE:
        for n in (1, *(int(n) for n in rng.integers(2, 25, size=3))):
            for share, told in ((1 + 0.3 / n, "a little more"), (1 - 0.3 / n, "a little less")):
                config, s = sizes(rng), int(rng.integers(500, 9000))
                case = f"{recompute}, {told} room than for {n}"
                agree_on_batch(learner, reference, config, s, recompute, n * share, case)


@exercise("largest_batch")
def test_every_parameter_has_states(learner, reference, rng):
    """One token a sequence: its activations are a few numbers for each of `hidden`, and each norm's states show."""
    for recompute in RECOMPUTE:
        for layers in (1, 4):
            config = {**sizes(rng), "layers": layers, "vocab": int(rng.integers(8, 64))}
            for share, told in [(0.05, "a little more"), (-0.05, "a little less"), (0.05, "a little more")]:
                n = int(rng.integers(1, 5))  # as few as leave room for the 1 % of a block's bytes
                depth = f"{layers} layer{'s' * (layers > 1)}"
                case = f"{recompute}, sequences of one token, {depth}, {told} room than for {n}"
                agree_on_batch(learner, reference, config, 1, recompute, n + share, case)


@exercise("largest_batch")
def test_where_the_peak_is(learner, reference, rng):
    """A large vocabulary, where it is the loss; a tiny one, where it is a block that is computed again."""
    for recompute in RECOMPUTE:
        for vocab in (8, 200_000):
            for layers in (1, 3):
                config = {**sizes(rng), "vocab": vocab, "layers": layers}
                s, n = int(rng.integers(500, 9000)), int(rng.integers(2, 25))
                for share in (1 + 0.3 / n, 1 - 0.3 / n):
                    case = f"{recompute}, {layers} layers, vocabulary of {vocab:,}"
                    agree_on_batch(learner, reference, config, s, recompute, n * share, case)


@exercise("largest_batch")
def test_nothing_fits(learner, reference, rng):
    """0 where the states alone are too large, and where no sequence has room beside them."""
    config, s = {**sizes(rng), "vocab": int(rng.integers(2000, 5000))}, 1024
    for recompute in RECOMPUTE:
        for told, sequences in {
            "half a sequence has room": 0.5,
            "not even the states have room": -3.5,
            "beside that: some fit": int(rng.integers(2, 30)) + 0.5,
        }.items():
            gpu_bytes = max(0, card(reference, config, s, recompute, sequences))
            agree_on_card(learner, reference, config, s, gpu_bytes, recompute, f"{recompute}, {told}")
        agree_on_card(learner, reference, config, s, 0, recompute, f"{recompute}, a card without memory")
