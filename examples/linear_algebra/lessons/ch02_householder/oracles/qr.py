"""The reference of qr against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise


@exercise("qr")
def test_lapack(reference, rng):
    for shape in ((5, 3), (4, 4), (1, 1), (3, 1)):
        A = rng.normal(size=shape)
        Q, R = reference.qr(A)
        of_lapack, _ = np.linalg.qr(A, mode="complete")
        signs = np.sign(np.sum(Q * of_lapack, axis=0))
        np.testing.assert_allclose(Q[:, : shape[1]], (of_lapack * signs)[:, : shape[1]], atol=1e-13)
        np.testing.assert_allclose(Q @ R, A, atol=1e-13)
        np.testing.assert_allclose(Q.T @ Q, np.eye(len(A)), atol=1e-13)
