"""The reference of decay_per_layer against something independent."""

from __future__ import annotations

import itertools
import math
import statistics
from fractions import Fraction

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judging import exercise

SEEDS = range(5)


@exercise("decay_per_layer")
def test_decay_against_exact_arithmetic(reference):
    """The product of the ratios, as fractions, and its root."""

    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.floats(1e-150, 1e150), min_size=2, max_size=12))
    def check(norms):
        product = math.prod(Fraction(one) / Fraction(other) for one, other in itertools.pairwise(norms))
        logarithm = (math.log(product.numerator) - math.log(product.denominator)) / (len(norms) - 1)
        decay = reference.implementations["decay_per_layer"](norms)
        assert math.isclose(decay, math.exp(logarithm), rel_tol=1e-10)

    check()
    assert math.isclose(reference.decay_per_layer([1.0, 2.0, 8.0]), statistics.geometric_mean([1 / 2, 2 / 8]))
    assert math.isclose(reference.decay_per_layer([5e-324, 1.0, 1e300]), 10 ** ((math.log10(5e-324) - 300) / 2))


@exercise("decay_per_layer")
def test_decay_of_the_experiment(reference):
    """Theory for default weights: sigmoid's slope is at most 1/4 and a weight's deviation 1/sqrt(3n), so 0.144."""
    make, norms_of = (reference.implementations[name] for name in ("make_mlp", "layer_gradient_norms"))
    decays = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        norms = norms_of(make(64, 10), torch.randn(256, 64), torch.randint(0, 10, (256,)))
        decays.append(reference.decay_per_layer(norms[1:-1]))
    assert abs(statistics.median(decays) - 0.14) < 0.01
