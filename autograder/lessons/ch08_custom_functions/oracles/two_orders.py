"""First and second derivatives, compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.judging import EXACT


def second_order(f: Any, x: np.ndarray, g: np.ndarray, h: np.ndarray) -> list[np.ndarray]:
    """y, dx, and the gradients of dx · h with respect to x and g."""
    leaf, upstream = torch.tensor(x, requires_grad=True), torch.tensor(g, requires_grad=True)
    y = f(leaf)
    (dx,) = torch.autograd.grad(y, leaf, upstream, create_graph=True)
    again = torch.autograd.grad(dx, (leaf, upstream), torch.tensor(h), allow_unused=True, materialize_grads=True)
    return [tensor.detach().numpy() for tensor in (y, dx, *again)]


def draws(rng: Any) -> Any:
    """x, g and h of several shapes, small and large numbers."""
    for scale in (1, 5, 300):
        for shape in [(), (1,), (0, 2), (3, 4), (50,)]:
            yield tuple(np.asarray(rng.normal(scale=s, size=shape)) for s in (scale, 1, 1))


def compare_orders(reference: Any, rng: Any, name: str, theirs: Any) -> None:
    for x, g, h in draws(rng):
        mine = second_order(reference.implementations[name].apply, x, g, h)
        for got, expected in zip(mine, second_order(theirs, x, g, h), strict=True):
            np.testing.assert_allclose(got, expected, **EXACT)
