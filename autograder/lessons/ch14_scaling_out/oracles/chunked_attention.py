"""The reference of chunked_attention against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch14_scaling_out.oracles.attention import attended
from autograder.lessons.ch14_scaling_out.oracles.parallel_layers import rows


@exercise("chunked_attention")
def test_attention_against_pytorch(reference):
    q, k, v = rows(2, 3, 5, 4), rows(2, 3, 7, 4), rows(2, 3, 7, 6)
    for block in (1, 3, 7, 10):
        out, lse = reference.implementations["chunked_attention"](q, k, v, block, return_lse=True)
        torch.testing.assert_close(out, attended(q, k, v))
        torch.testing.assert_close(lse, torch.logsumexp(q @ k.mT / 2, dim=-1))
