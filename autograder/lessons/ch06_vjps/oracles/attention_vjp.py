"""The reference of attention_vjp against something independent."""

from __future__ import annotations

from torch.nn import functional

from autograder.judging import exercise
from autograder.lessons.ch06_vjps.oracles.autograd import assert_agree, autograd


@exercise("attention_vjp")
def test_attention(reference, rng):
    for leading, n, m, d, e, causal in [
        ((), 1, 1, 1, 1, False),
        ((), 3, 5, 4, 2, False),
        ((2, 3), 4, 2, 3, 3, False),
        ((), 4, 4, 3, 2, True),
        ((2, 2), 3, 3, 3, 3, True),
    ]:
        q, k = rng.normal(size=(*leading, n, d)), rng.normal(size=(*leading, m, d))
        v, g = rng.normal(size=(*leading, m, e)), rng.normal(size=(*leading, n, e))
        theirs = autograd(lambda *t, c=causal: functional.scaled_dot_product_attention(*t, is_causal=c), g, q, k, v)
        assert_agree(reference.attention_vjp(g, q, k, v, causal), theirs)
