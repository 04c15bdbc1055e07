"""The reference of ch14_scaling_out against one process, autograd, and schedules that are simulated."""

from __future__ import annotations

import copy

import pytest
import torch

from autograder.judging import exercise
from course.experiments.pipeline import gpipe, idle_share, one_forward_one_backward, simulate
from course.process_groups import in_threads


def rows(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(len(shape)))


@exercise("all_reduce_gradients")
def test_gradients_against_one_process(reference):
    whole = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    X, y = rows(7, 3), rows(7, 2)
    for ends in ([3, 7], [7, 7], [0, 2, 7]):
        alone = copy.deepcopy(whole)
        (alone(X) - y).square().mean().backward()

        def step(group, ends=ends):
            start, end = [0, *ends][group.rank], ends[group.rank]
            mine = copy.deepcopy(whole)
            if end > start:
                (mine(X[start:end]) - y[start:end]).square().mean().backward()
            reference.implementations["all_reduce_gradients"](mine, group, end - start)
            return [parameter.grad for parameter in mine.parameters()]

        for grads in in_threads(step, len(ends)):
            for grad, parameter in zip(grads, alone.parameters(), strict=True):
                torch.testing.assert_close(grad, parameter.grad)


@exercise("bucketed_all_reduce")
def test_buckets_against_sums(reference):
    shapes = [(2, 3), (), (5,), (1, 4), (2, 2)]
    for bucket_bytes in (0, 40, 1000):

        def step(group, bucket_bytes=bucket_bytes):
            grads = [(group.rank + 1) * rows(*shape) for shape in shapes]
            return reference.implementations["bucketed_all_reduce"](grads, bucket_bytes, group.all_reduce)

        for reduced in in_threads(step, 3):
            for tensor, shape in zip(reduced, shapes, strict=True):
                torch.testing.assert_close(tensor, 6 * rows(*shape))


@exercise("ColumnParallelLinear")
def test_first_layer_against_one_mlp(reference):
    for found, whole in mlps(reference):
        for of in found:
            torch.testing.assert_close(of["dx"], whole["dx"])
        for name, axis in [("dW1", 0), ("db1", 0)]:
            torch.testing.assert_close(torch.cat([of[name] for of in found], dim=axis), whole[name])


@exercise("RowParallelLinear")
def test_second_layer_against_one_mlp(reference):
    for found, whole in mlps(reference):
        for of in found:
            torch.testing.assert_close(of["y"], whole["y"])
            torch.testing.assert_close(of["db2"], whole["db2"])
        torch.testing.assert_close(torch.cat([of["dW2"] for of in found], dim=1), whole["dW2"])


def mlps(reference):
    """Column, tanh, Row on several numbers of ranks, and the MLP in one piece."""
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


def attended(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


@exercise("chunked_attention")
def test_attention_against_pytorch(reference):
    q, k, v = rows(2, 3, 5, 4), rows(2, 3, 7, 4), rows(2, 3, 7, 6)
    for block in (1, 3, 7, 10):
        out, lse = reference.implementations["chunked_attention"](q, k, v, block, return_lse=True)
        torch.testing.assert_close(out, attended(q, k, v))
        torch.testing.assert_close(lse, torch.logsumexp(q @ k.mT / 2, dim=-1))


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


@exercise("zero_bytes_per_rank")
def test_bytes_against_the_paper(reference):
    """Figure 1 of Rajbhandari et al. 2020: 7.5 billion parameters on 64 devices."""
    for stage, gigabytes in enumerate([120, 31.4, 16.6, 1.9]):
        got = reference.implementations["zero_bytes_per_rank"](7_500_000_000, 64, stage)
        assert got / 1e9 == pytest.approx(gigabytes, abs=0.05)


@exercise("zero_step")
def test_zero_step_against_pytorch(reference):
    """torch.optim.SGD and clip_grad_norm_ in one process that has the rows of all ranks."""
    X, y = rows(12, 3), rows(12, 2)
    for size in (1, 2, 3, 4):
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()

        def step(group, model=model):
            mine = copy.deepcopy(model)
            own, n = [part.chunk(group.size)[group.rank] for part in (X, y)], sum(p.numel() for p in mine.parameters())
            momentum = torch.zeros(-(-n // group.size), dtype=torch.float64)
            for _ in range(3):
                grads = torch.autograd.grad((mine(own[0]) - own[1]).square().mean(), list(mine.parameters()))
                zero_step = reference.implementations["zero_step"]
                zero_step(list(mine.parameters()), list(grads), momentum, group, 0.1, 0.9, 0.05)
            return [parameter.detach() for parameter in mine.parameters()]

        alone = copy.deepcopy(model)
        optimizer = torch.optim.SGD(alone.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            (alone(X) - y).square().mean().backward()
            assert torch.nn.utils.clip_grad_norm_(alone.parameters(), 0.05) > 0.05
            optimizer.step()
        for params in in_threads(step, size):
            for parameter, whole in zip(params, alone.parameters(), strict=True):
                torch.testing.assert_close(parameter, whole, rtol=1e-4, atol=1e-6)


@exercise("pipeline_bubble")
def test_bubble_against_schedules(reference):
    for stages in (1, 2, 5):
        for microbatches in (1, 2, 5, 8):
            for orders in (gpipe(stages, microbatches), one_forward_one_backward(stages, microbatches)):
                idle = idle_share(simulate(orders, {"F": 1.0, "B": 2.0}))
                assert reference.implementations["pipeline_bubble"](stages, microbatches) == pytest.approx(idle)
