"""Networks in one piece, for comparison with split ones."""

from __future__ import annotations

import torch

from course.process_groups import in_threads


def rows(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(len(shape)))


def mlps(reference):
    """Column, tanh, Row on several numbers of ranks, and the same MLP in one piece."""
    W1, b1, W2, b2, x, g = rows(6, 3), rows(6), rows(2, 6), rows(2), rows(4, 3), rows(4, 2)
    leaves = [tensor.clone().requires_grad_() for tensor in (W1, b1, W2, b2, x)]
    y = torch.tanh(leaves[4] @ leaves[0].T + leaves[1]) @ leaves[2].T + leaves[3]
    grads = torch.autograd.grad(y, leaves, g)
    whole = {"y": y.detach(), **dict(zip(("dW1", "db1", "dW2", "db2", "dx"), grads, strict=True))}

    def step(group):
        column = reference.implementations["ColumnParallelLinear"](W1, b1, group)
        row = reference.implementations["RowParallelLinear"](W2, b2, group)
        here = x.clone().requires_grad_()
        out = row(torch.tanh(column(here)))
        out.backward(g)
        found = {"dW1": column.weight.grad, "db1": column.bias.grad, "dW2": row.weight.grad, "db2": row.bias.grad}
        return {"y": out.detach(), "dx": here.grad, **found}

    for size in (1, 2, 3):
        yield in_threads(step, size), whole
