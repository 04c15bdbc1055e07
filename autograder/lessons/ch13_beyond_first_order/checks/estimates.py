"""Checks that both estimates of a gradient share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.judging import EXACT, expect, expect_close, random
from autograder.judging.checking.kinds import LARGEST


class Once:
    """A function of an array that runs and counts its calls in this process."""

    def __init__(self, name: str, f: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
        self.name, self.f, self.shape, self.calls = name, f, shape, 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        x = np.asarray(x)
        if x.shape != self.shape:
            raise ValueError(
                f"{self.name} takes all x at once, of shape {self.shape}, and was called with shape {x.shape}"
            )
        return np.asarray(self.f(x), dtype=x.dtype)


def smooth(rng) -> Callable[[Any], Any]:
    a, b, c = (float(number) for number in rng.uniform(0.5, 1.5, size=3))
    return lambda x: a + b * x**2 + c * np.sin(x)


def agree_on_estimates(
    learner, reference, rng, name, shape, case, f=smooth, mu=None, sigma=None, eps=None, layout="", **tolerance
):
    """Compare the estimates sample by sample; they are not random once eps is given."""
    mu = float(rng.uniform(-2, 2)) if mu is None else mu
    sigma = float(rng.uniform(1.2, 2.5)) if sigma is None else sigma
    function, eps = f(rng), random(rng, shape) if eps is None else eps
    what = "df" if name == "reparameterized_gradient" else "f"
    asked = Once(what, function, eps.shape)
    got = getattr(learner.in_layout(layout) if layout else learner, name)(asked, mu, sigma, eps)
    expected = getattr(reference, name)(Once(what, function, eps.shape), mu, sigma, eps)
    expect_close(got, expected, names=("the array of estimates",), case=case, **{**EXACT, **tolerance})
    expect(asked.calls == 1, f"{what} was called {asked.calls} times; once, with all x, is expected.", case=case)


def check_estimates(learner, reference, rng, name):
    """One estimate for each sample, from one sample on."""
    for n in (1, 2, 6):
        case = f"{n} sample{'s' * (n > 1)}"
        agree_on_estimates(learner, reference, rng, name, n, case)


def check_spreads(learner, reference, rng, name):
    """Other means and standard deviations, small ones and large ones."""
    for case, mu, sigma in [
        ("sigma = 1", None, 1.0),
        ("sigma is small", None, float(rng.uniform(0.02, 0.1))),
        ("sigma is large", None, float(rng.uniform(20, 50))),
        ("mu = 0", 0.0, None),
        ("mu is large", float(rng.uniform(20, 50)), None),
    ]:
        agree_on_estimates(learner, reference, rng, name, 4, case, mu=mu, sigma=sigma)


def check_shapes_of_eps(learner, reference, rng, name):
    """Matrices of samples, one sample in three axes, many axes, none."""
    for shape in [(2, 3), (1, 1, 1), (2, 1, 1, 3), (1, 2, 1, 1, 2), (0,), (3, 0)]:
        agree_on_estimates(learner, reference, rng, name, shape, f"eps has shape {shape}")
    agree_on_estimates(learner, reference, rng, name, (3, 2), "eps has shape (3, 2)")


def check_every_kind_of_eps(learner, reference, kinds, rng, name):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries."""
    for kind in kinds:
        eps, layout = kind.drawn["eps"], kind.layout_of("f", "mu", "sigma", "eps")
        tolerance = kind.tolerance((), [LARGEST**3])  # f squares what it is given, and the score is as large again
        agree_on_estimates(
            learner, reference, rng, name, eps.shape, kind.label, eps=eps, layout=layout, sigma=1.5, **tolerance
        )
