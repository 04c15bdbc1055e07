"""The reference of peak_activations against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise


@exercise("peak_activations")
def test_peak_against_a_walk_through_the_segments(reference):
    """Cut the layers up, and count what is held while each segment is run again."""
    for n_layers in range(1, 41):
        for segments in range(1, n_layers + 1):
            cut = [list(part) for part in np.array_split(np.arange(n_layers), segments)]
            assert max(map(len, cut)) - min(map(len, cut)) <= 1
            inputs = {part[0] for part in cut}
            held = [len(inputs) + len(part) for part in cut]
            got = reference.peak_activations(n_layers, segments)
            assert type(got) is int
            assert got == max(held)


@exercise("peak_activations")
def test_peak_of_32_layers(reference):
    """The least peak of 32 layers is 12, with 4 to 8 segments."""
    peaks = {segments: reference.peak_activations(32, segments) for segments in range(1, 33)}
    assert min(peaks.values()) == 12
    assert [segments for segments, peak in peaks.items() if peak == 12] == [4, 5, 6, 7, 8]
