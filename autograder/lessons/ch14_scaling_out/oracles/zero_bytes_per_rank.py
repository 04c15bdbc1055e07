"""The reference of zero_bytes_per_rank against something independent."""

from __future__ import annotations

import pytest

from autograder.judging import exercise


@exercise("zero_bytes_per_rank")
def test_bytes_against_the_paper(reference):
    """Figure 1 of Rajbhandari et al. 2020: 7.5 billion parameters on 64 devices."""
    for stage, gigabytes in enumerate([120, 31.4, 16.6, 1.9]):
        got = reference.implementations["zero_bytes_per_rank"](7_500_000_000, 64, stage)
        assert got / 1e9 == pytest.approx(gigabytes, abs=0.05)
