"""The reference of GELU against something independent."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.nn.functional import gelu

from autograder.judging import EXACT, exercise
from autograder.lessons.ch08_custom_functions.oracles.two_orders import compare_orders


@exercise("GELU")
def test_gelu_against_pytorch(reference, rng):
    compare_orders(reference, rng, "GELU", gelu)
    phi = reference.implementations["GELU"].apply(torch.tensor([1.0, -2.0], dtype=torch.float64))
    np.testing.assert_allclose(phi, [0.5 * math.erfc(-1 / math.sqrt(2)), -math.erfc(math.sqrt(2))], **EXACT)
