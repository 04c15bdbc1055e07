"""The reference of GELUTanh against something independent."""

from __future__ import annotations

from torch.nn.functional import gelu

from autograder.judging import exercise
from autograder.lessons.ch08_custom_functions.oracles.two_orders import compare_orders


@exercise("GELUTanh")
def test_gelu_tanh_against_pytorch(reference, rng):
    compare_orders(reference, rng, "GELUTanh", lambda x: gelu(x, approximate="tanh"))
