"""Checks of peak_activations."""

from __future__ import annotations

from math import isqrt

from autograder.judging import (
    exercise,
)
from autograder.lessons.ch11_checkpointing.checks.integers import MOST_LAYERS, check_equal


@exercise("peak_activations")
def test_equal_segments(learner, reference, rng):
    """All segments equally long."""
    for segments, length in [(2, 3), (3, 2), (2, 5), *rng.integers(2, 1_000, size=(6, 2)).tolist()]:
        check_equal("peak_activations", learner, reference, segments * length, segments, case="equal segments")


@exercise("peak_activations")
def test_unequal_segments(learner, reference, rng):
    """The number of layers is no multiple of the number of segments: the longest segment counts."""
    drawn = [(s * k + int(rng.integers(1, s)), s) for s, k in rng.integers(2, 1_000, size=(6, 2)).tolist()]
    for n_layers, segments in [(3, 2), (10, 4), (11, 4), *drawn]:
        check_equal("peak_activations", learner, reference, n_layers, segments, case="unequal segments")


@exercise("peak_activations")
def test_one_segment_and_one_layer_each(learner, reference, rng):
    """The ends of the range: a single segment, and as many as layers."""
    for n_layers in [2, 1, 3, *rng.integers(4, MOST_LAYERS, size=4).tolist()]:
        for segments, case in [(1, "one segment"), (n_layers, "a segment for each layer")]:
            check_equal("peak_activations", learner, reference, n_layers, segments, case=case)


@exercise("peak_activations")
def test_about_the_root(learner, reference, rng):
    """About √n segments, where the peak is lowest and changes least: 4 to 8 segments of 32 layers all have 12."""
    for segments in (5, 4, 6, 7, 8):
        check_equal("peak_activations", learner, reference, 32, segments, case="32 layers")
    for n_layers in rng.integers(100, MOST_LAYERS, size=4).tolist():
        segments = int(isqrt(n_layers) * rng.uniform(0.5, 2))
        check_equal("peak_activations", learner, reference, n_layers, segments, case="about the root of n segments")


@exercise("peak_activations")
def test_many_layers(learner, reference, rng):
    """Hundreds of thousands of layers."""
    for segments in [int(rng.integers(1, most)) for most in (100, 10_000, 500_000)]:
        n_layers = int(rng.integers(500_000, MOST_LAYERS + 1))
        check_equal("peak_activations", learner, reference, n_layers, segments, case="very many layers")
