"""Closed forms of three estimators agree with sums over a fine grid, and their clouds have the predicted noise."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from course.experiments.estimators import CASES, CLOUD, clouds, noise

GRID = np.linspace(-12, 12, 240_001)
WEIGHTS = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()


@pytest.mark.parametrize("case", CASES)
def test_closed_forms_agree_with_the_integrals(case: str) -> None:
    of = CASES[case]
    for mu, sigma in product((-1.5, 0.0, 0.75), (0.25, 1.0, 2.0)):
        x, exact = mu + sigma * GRID, of.exact(mu, sigma)
        f, slope = of.f(x), of.slope(x)

        def mean(values: np.ndarray) -> float:
            return float((values * WEIGHTS).sum())

        assert exact.mean == pytest.approx(mean(f), abs=1e-4)
        assert exact.gradient == pytest.approx(mean(f * GRID) / sigma, abs=1e-4)
        assert exact.path_mean == pytest.approx(mean(slope), abs=1e-4)
        assert exact.path_variance == pytest.approx(mean(slope**2) - mean(slope) ** 2, abs=1e-4)
        for b in (0.0, 2.5, exact.once):
            score = (f - b) * GRID / sigma
            assert exact.score_variance(sigma, b) == pytest.approx(
                mean(score**2) - mean(score) ** 2, rel=1e-4, abs=1e-4
            )
        least = exact.score_variance(sigma, exact.once)
        assert least <= min(exact.score_variance(sigma, exact.once + by) for by in (-0.1, 0.1))


def test_the_noise_is_normal_and_draws_differ() -> None:
    eps = noise(1, 200_000)
    assert [float(abs((eps**k).mean() - moment)) < 0.05 for k, moment in ((1, 0), (2, 1), (3, 0), (4, 3))] == [True] * 4
    assert abs(np.corrcoef(eps[1:], eps[:-1])[0, 1]) < 0.01
    assert abs(np.corrcoef(eps, noise(2, 200_000))[0, 1]) < 0.01
    assert np.array_equal(noise(1, 50), eps[:50])


@pytest.mark.parametrize("case", CASES)
def test_clouds_scatter_as_predicted(case: str) -> None:
    mu, sigma, b = 0.5, 1.0, 1.0
    exact = CASES[case].exact(mu, sigma)
    for n in (1, 16):
        found = clouds(case, mu, sigma, b, n, draw=3)
        wanted = {
            "score": (exact.gradient, exact.score_variance(sigma)),
            "baseline": (exact.gradient, exact.score_variance(sigma, b)),
            "path": (exact.path_mean, exact.path_variance),
        }
        for name, (mean, variance) in wanted.items():
            assert found[name].shape == (CLOUD,)
            assert found[name].mean() == pytest.approx(mean, abs=4 * (variance / n / CLOUD) ** 0.5 + 1e-12)
            assert found[name].var() == pytest.approx(variance / n, rel=0.6, abs=1e-12)
