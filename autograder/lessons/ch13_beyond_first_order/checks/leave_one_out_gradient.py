"""Checks of leave_one_out_gradient."""

from __future__ import annotations

from autograder.judging import exercise, expect, expect_close, random
from autograder.judging.checking.kinds import LARGEST
from autograder.lessons.ch13_beyond_first_order.checks.estimates import Once, smooth
from autograder.lessons.ch13_beyond_first_order.checks.score_function_gradient import stairs

NAMES = ("d_mu", "d_sigma")
NEAR = {"rtol": 1e-9, "atol": 1e-9}
"""Differences of rewards lose the digits that the rewards have in common: those of spreads are up to 1e5."""


def agree_on_both(
    learner, reference, rng, shape, case, f=smooth, mu=None, sigma=None, eps=None, layout="", offset=0.0, **tolerance
):
    """Compare both arrays of estimates sample by sample; they are not random once eps is given."""
    mu = float(rng.uniform(-2, 2)) if mu is None else mu
    sigma = float(rng.uniform(1.2, 2.5)) if sigma is None else sigma
    plain, eps = f(rng), random(rng, shape) if eps is None else eps
    asked = Once("f", lambda x: plain(x) + offset, eps.shape)
    got = (learner.in_layout(layout) if layout else learner).leave_one_out_gradient(asked, mu, sigma, eps)
    expected = reference.leave_one_out_gradient(Once("f", lambda x: plain(x) + offset, eps.shape), mu, sigma, eps)
    expect_close(got, expected, names=NAMES, case=case, **{**NEAR, **tolerance})
    expect(asked.calls == 1, f"f was called {asked.calls} times; once, with all x, is expected.", case=case)


@exercise("leave_one_out_gradient")
def test_estimates(learner, reference, rng):
    """One row of samples, from two samples on."""
    for n in (2, 3, 6):
        agree_on_both(learner, reference, rng, (n,), f"{n} samples")


@exercise("leave_one_out_gradient")
def test_rows_of_samples(learner, reference, rng):
    """Each row has a baseline of its own; many axes, rows of two, no rows."""
    for shape in [(2, 3), (3, 2), (2, 1, 1, 3), (1, 2, 1, 1, 2), (1, 4), (0, 3)]:
        agree_on_both(learner, reference, rng, shape, f"eps has shape {shape}")


@exercise("leave_one_out_gradient")
def test_spreads(learner, reference, rng):
    """Other means and standard deviations, small ones and large ones."""
    for case, mu, sigma in [
        ("sigma = 1", None, 1.0),
        ("sigma is small", None, float(rng.uniform(0.02, 0.1))),
        ("sigma is large", None, float(rng.uniform(20, 50))),
        ("mu = 0", 0.0, None),
        ("mu is large", float(rng.uniform(20, 50)), None),
    ]:
        agree_on_both(learner, reference, rng, (4,), case, mu=mu, sigma=sigma)


@exercise("leave_one_out_gradient")
def test_rewards_far_from_zero(learner, reference, rng):
    """A constant that is added to every reward changes no estimate."""
    offset = float(rng.uniform(1e3, 2e3))
    for shape in [(2,), (5,), (2, 3)]:
        case = f"a constant of more than 1,000 in every f(x), eps has shape {shape}"
        agree_on_both(learner, reference, rng, shape, case, offset=offset, rtol=1e-8, atol=1e-8)


@exercise("leave_one_out_gradient")
def test_every_kind_of_eps(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries."""
    for kind in kinds:
        eps, layout = kind.drawn["eps"], kind.layout_of("f", "mu", "sigma", "eps")
        tolerance = kind.tolerance((), [LARGEST**4])  # f squares what it is given, and so does the score of sigma
        agree_on_both(learner, reference, rng, eps.shape, kind.label, eps=eps, layout=layout, sigma=1.5, **tolerance)


@exercise("leave_one_out_gradient")
def test_functions_without_a_derivative(learner, reference, rng):
    """f is a staircase: its derivative is 0 wherever it has one, and the estimates are not."""
    for shape in [(2,), (5,), (2, 3)]:
        agree_on_both(learner, reference, rng, shape, f"f is a staircase, eps has shape {shape}", f=stairs)
