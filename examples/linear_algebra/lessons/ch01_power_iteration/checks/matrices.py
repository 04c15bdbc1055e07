"""What the checks of this lesson draw."""

from __future__ import annotations

import numpy as np


def symmetric(rng, eigenvalues):
    """A symmetric matrix with these eigenvalues, and its eigenvectors as columns."""
    vectors, _ = np.linalg.qr(rng.normal(size=(len(eigenvalues), len(eigenvalues))))
    return (vectors * np.array(eigenvalues)) @ vectors.T, vectors
