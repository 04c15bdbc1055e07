"""The reference of embedding_vjp against something independent."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("embedding_vjp")
def test_embedding(reference, rng):
    for ids in [np.array(2), np.array([0, 0, 3]), rng.integers(4, size=(2, 3)), rng.integers(4, size=(2, 1, 5))]:
        table, g = rng.normal(size=(4, 3)), rng.normal(size=(*ids.shape, 3))
        theirs = autograd(lambda t, i=ids: functional.embedding(torch.tensor(i), t), g, table)
        assert_agree(reference.embedding_vjp(g, table, ids), theirs)
