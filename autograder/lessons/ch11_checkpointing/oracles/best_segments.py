"""The reference of best_segments against something independent."""

from __future__ import annotations

import math

from autograder.judging import exercise


@exercise("best_segments")
def test_best_against_the_bound(reference):
    """⌈2 √n⌉ is the least peak; √n rounded down, up or to the nearest reaches it, and so does what is returned."""
    for n_layers in [*range(1, 1200), 9_999, 10_000]:
        root = math.isqrt(n_layers)
        bound = 1 + math.isqrt(4 * n_layers - 1)  # ⌈√(4 n)⌉
        segments = reference.best_segments(n_layers)
        assert type(segments) is int
        assert 1 <= segments <= n_layers
        for candidate in (segments, root, root + (root * root < n_layers), round(math.sqrt(n_layers))):
            assert candidate + math.ceil(n_layers / candidate) == bound
        if n_layers < 300:
            assert bound == min(s + math.ceil(n_layers / s) for s in range(1, n_layers + 1))
