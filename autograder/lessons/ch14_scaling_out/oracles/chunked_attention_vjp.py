"""The reference of chunked_attention_vjp against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch14_scaling_out.oracles.attention import attended
from autograder.lessons.ch14_scaling_out.oracles.parallel_layers import rows


@exercise("chunked_attention_vjp")
def test_gradients_against_autograd(reference):
    leaves = [rows(*shape).requires_grad_() for shape in ((2, 5, 4), (2, 7, 4), (2, 7, 6))]
    out, g = attended(*leaves), rows(2, 5, 6)
    expected = torch.autograd.grad(out, leaves, g)
    plain = [leaf.detach() for leaf in leaves]
    for block in (1, 3, 7, 10):
        kept = reference.implementations["chunked_attention"](*plain, block, return_lse=True)
        got = reference.implementations["chunked_attention_vjp"](g, *plain, *kept, block)
        for mine, theirs in zip(got, expected, strict=True):
            torch.testing.assert_close(mine, theirs)
