"""The checks as plain functions, for graders that run them beside the submission: nbgrader, Otter and the floor."""

import numpy as np


def agree(got, expected, rtol, atol):
    """Raise `AssertionError` unless shape, dtype and values (or those of all parts) are as expected."""
    if isinstance(expected, tuple):
        assert isinstance(got, tuple | list), f"expected {len(expected)} values"
        assert len(got) == len(expected), f"expected {len(expected)} values, got {len(got)}"
        for mine, theirs in zip(got, expected, strict=True):
            agree(mine, theirs, rtol, atol)
    elif isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for name in expected:
            agree(got[name], expected[name], rtol, atol)
    else:
        got, expected = np.asarray(got), np.asarray(expected)
        assert got.shape == expected.shape, f"expected shape {expected.shape}, got {got.shape}"
        assert got.dtype == expected.dtype, f"expected {expected.dtype}, got {got.dtype}"
        assert np.allclose(got, expected, rtol=rtol, atol=atol), "the values differ"
