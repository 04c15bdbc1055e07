"""Checks of saved_bytes."""

from __future__ import annotations

from autograder.judging import exercise, expect_close


@exercise("saved_bytes")
def test_small_networks(learner, reference, rng):
    """One row, then a batch: batch · (d + 2m + o) · itemsize."""
    for case, batch in [("one row, one byte per number", 1), ("a batch, one byte per number", int(rng.integers(2, 9)))]:
        sizes = [batch, *(int(size) for size in rng.integers(2, 20, size=3)), 1]
        expect_close(learner.saved_bytes(*sizes), reference.saved_bytes(*sizes), case=case, rtol=0, atol=0)


@exercise("saved_bytes")
def test_item_sizes(learner, reference, rng):
    """2, 4 and 8 bytes per number: float16, float32, float64."""
    for itemsize in (2, 4, 8):
        sizes = [*(int(size) for size in rng.integers(1, 200, size=4)), itemsize]
        got, case = learner.saved_bytes(*sizes), f"{itemsize} bytes per number"
        expect_close(got, reference.saved_bytes(*sizes), case=case, rtol=0, atol=0)


@exercise("saved_bytes")
def test_large_networks(learner, reference, rng):
    """More bytes than a 32-bit integer counts, to the byte."""
    for _ in range(2):
        sizes = [int(size) for size in rng.integers(10**5, 10**6, size=4)]
        got = learner.saved_bytes(*sizes, 4)
        expect_close(got, reference.saved_bytes(*sizes, 4), case="a very large network", rtol=0, atol=0)
