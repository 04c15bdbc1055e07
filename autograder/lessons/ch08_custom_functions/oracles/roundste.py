"""The reference of RoundSTE against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch08_custom_functions.oracles.two_orders import compare_orders


@exercise("RoundSTE")
def test_rounding_against_detach(reference, rng):
    compare_orders(reference, rng, "RoundSTE", lambda x: x + (torch.round(x) - x).detach())
