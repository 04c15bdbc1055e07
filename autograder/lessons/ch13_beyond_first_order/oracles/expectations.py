"""Exact integrals."""

from __future__ import annotations

from numpy.polynomial.hermite_e import hermegauss


def expectation(estimate):
    """E over a standard normal eps, by Gauss-Hermite quadrature: exact for polynomials of degree 79 or less."""
    nodes, weights = hermegauss(40)
    return (weights * estimate(nodes)).sum() / weights.sum()
