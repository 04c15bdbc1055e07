"""Groups of threads and of processes: what a collective gives, whatever the layout."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from groups import Run, both

from autograder.judging.checking.reference import load_module
from autograder.places import Places
from course.process_groups import Call, Group, GroupError, in_processes, in_threads
from course.process_groups.group import DTYPES

pytestmark = pytest.mark.slow


# What a group does
def all_three(group: Group) -> Any:
    x = torch.arange(6.0).reshape(2, 3) * (group.rank + 1)
    y = x.clone()
    assert group.all_reduce(y) is None  # type: ignore[func-returns-value]
    return y, group.all_gather(x), group.reduce_scatter([x + rank for rank in range(group.size)]), group.calls


@both
@pytest.mark.parametrize("size", [1, 2, 3])
def test_collectives(run: Run, size: int) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    times = size * (size + 1) / 2
    for rank, (summed, gathered, scattered, calls) in enumerate(run(all_three, size)):
        assert torch.equal(summed, times * x)
        assert len(gathered) == size
        assert all(torch.equal(tensor, (i + 1) * x) for i, tensor in enumerate(gathered))
        assert torch.equal(scattered, times * x + size * rank)
        assert calls == [
            Call("all_reduce", (2, 3), "float32", 24),
            Call("all_gather", (2, 3), "float32", 24),
            Call("reduce_scatter", (2, 3), "float32", 24 * size),
        ]


def unusual(group: Group) -> Any:
    strided = (torch.arange(6.0).reshape(2, 3) + group.rank).T
    leaf = torch.ones(2, requires_grad=True)
    middle = leaf * 3
    integers = torch.tensor(group.rank + 1)
    for tensor in (strided, middle, leaf, integers):
        group.all_reduce(tensor)
    middle.sum().backward()
    gathered = group.all_gather(middle)
    return strided, leaf.detach(), leaf.grad, integers, [tensor.requires_grad for tensor in gathered]


@both
def test_strides_graphs_and_integers(run: Run) -> None:
    """A collective leaves no trace in a graph, and writes to the entries of a view."""
    for strided, leaf, grad, integers, with_graph in run(unusual):
        assert torch.equal(strided, (2 * torch.arange(6.0).reshape(2, 3) + 1).T)
        assert torch.equal(leaf, torch.tensor([2.0, 2.0]))
        assert torch.equal(grad, torch.tensor([3.0, 3.0]))
        assert integers == 3
        assert with_graph == [False, False]


Made = Callable[[int], torch.Tensor]


def matrix(rank: int) -> torch.Tensor:
    return torch.arange(24.0).reshape(4, 6) + 100 * rank


LAYOUTS: dict[str, Made] = {
    "a column": lambda rank: matrix(rank)[:, 1],
    "every other column": lambda rank: matrix(rank)[:, ::2],
    "the diagonal": lambda rank: matrix(rank).diagonal(),
    "transposed": lambda rank: matrix(rank).T,
    "transposed on one rank": lambda rank: matrix(rank) if rank else matrix(rank).T.contiguous().T,
    "permuted on one rank": lambda rank: (
        matrix(rank).reshape(2, 3, 4) if rank else matrix(rank).reshape(4, 3, 2).permute(2, 1, 0)
    ),
    "channels last on one rank": lambda rank: (
        matrix(rank)
        .reshape(1, 2, 3, 4)
        .contiguous(memory_format=torch.channels_last if rank else torch.contiguous_format)
    ),
    "with an offset": lambda rank: matrix(rank)[1, 2:5],
    "no rows": lambda rank: matrix(rank)[:0],
    "no columns": lambda rank: matrix(rank)[:, :0],
    "one number": lambda rank: matrix(rank)[1, 1],
    "a negative view": lambda rank: torch._neg_view(matrix(rank)),
    "conjugate": lambda rank: torch.complex(matrix(rank), matrix(rank)).conj(),
    "bfloat16, strided": lambda rank: (matrix(rank) % 7).bfloat16()[:, 1::2],
    "bool": lambda rank: matrix(rank) % (2 + rank) == 0,
    "uint8": lambda rank: matrix(rank).to(torch.uint8)[:, 2],
}


@both
@pytest.mark.parametrize("made", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_a_layout_changes_no_result(run: Run, made: Made) -> None:
    """Entries count, not where they lie: gloo adds whatever lies side by side in memory."""

    def step(group: Group) -> Any:
        reduced = made(group.rank)
        group.all_reduce(reduced)
        scattered = group.reduce_scatter([made(group.rank), made(group.rank + 2)])
        return reduced, scattered, group.all_gather(made(group.rank))

    def packed(rank: int) -> torch.Tensor:
        return made(rank).resolve_conj().resolve_neg().contiguous()

    brought = [packed(0), packed(1)]
    for rank, (reduced, scattered, gathered) in enumerate(run(step, 2)):
        torch.testing.assert_close(reduced, brought[0] + brought[1], rtol=0, atol=0)
        torch.testing.assert_close(scattered, packed(2 * rank) + packed(2 * rank + 1), rtol=0, atol=0)
        for tensor, own in zip(gathered, brought, strict=True):
            torch.testing.assert_close(tensor, own, rtol=0, atol=0)


@both
def test_what_lies_between_the_entries_stays(run: Run) -> None:
    def step(group: Group) -> torch.Tensor:
        whole = matrix(group.rank)
        group.all_reduce(whole[:, 1])
        return whole

    for rank, whole in enumerate(run(step, 2)):
        expected = matrix(rank)
        expected[:, 1] = matrix(0)[:, 1] + matrix(1)[:, 1]
        assert torch.equal(whole, expected)


@both
def test_an_expanded_tensor_can_be_brought_but_not_written(run: Run) -> None:
    def read(group: Group) -> Any:
        row = torch.tensor([1.0 + group.rank]).expand(5)
        return group.all_gather(row)[1], group.reduce_scatter([row, row])

    for gathered, scattered in run(read, 2):
        assert gathered.tolist() == [2.0] * 5
        assert scattered.tolist() == [3.0] * 5
    with pytest.raises(
        GroupError, match="ValueError: all_reduce writes into its tensor, and an expanded one has no room"
    ):
        run(lambda group: group.all_reduce(torch.ones(1).expand(5)))


@both
def test_autograd_hears_of_the_change_in_place(run: Run) -> None:
    """exp keeps its result: once that is another one, backward must refuse."""

    def step(group: Group) -> str:
        y = torch.ones(3, requires_grad=True).exp()
        group.all_reduce(y)
        with pytest.raises(RuntimeError) as caught:
            y.sum().backward()
        return str(caught.value)

    assert all("modified by an inplace operation" in told for told in run(step))


@both
def test_tensors_that_gloo_does_not_take(run: Run) -> None:
    with pytest.raises(GroupError, match="TypeError: all_gather takes no int16, which gloo does not know"):
        run(lambda group: group.all_gather(torch.ones(2, dtype=torch.int16)))
    with pytest.raises(
        GroupError, match="ValueError: all_reduce takes dense tensors on the CPU; it was given one that"
    ):
        run(lambda group: group.all_reduce(torch.eye(2).to_sparse()))
    with pytest.raises(GroupError, match="it was given one that is strided on meta"):
        run(lambda group: group.all_gather(torch.ones(2, device="meta")))
    with pytest.raises(GroupError, match="ValueError: reduce_scatter takes tensors of one shape and dtype"):
        run(lambda group: group.reduce_scatter([torch.ones(2), torch.ones(2).double()]))


def test_every_dtype_of_gloo_is_known() -> None:
    def taken(group: Group) -> set[torch.dtype]:
        found = set()
        for dtype in DTYPES:
            group.all_reduce(torch.ones(2).to(dtype))
            found.add(dtype)
        return found

    assert in_processes(taken)[0] == in_threads(taken)[1] == DTYPES


def test_bytes_around_a_ring() -> None:
    assert Call("all_reduce", (10,), "float32", 40).sent_bytes(4) == 60
    assert Call("all_gather", (10,), "float32", 40).sent_bytes(4) == 120
    assert Call("reduce_scatter", (10,), "float32", 160).sent_bytes(4) == 120


def test_gradients_are_on_where_they_are_on_outside() -> None:
    with torch.no_grad():
        assert in_threads(lambda group: torch.is_grad_enabled()) == [False, False]
        assert in_processes(lambda group: torch.is_grad_enabled()) == [False, False]
    assert in_threads(lambda group: torch.is_grad_enabled()) == [True, True]


def test_processes_are_processes() -> None:
    here = torch.zeros(1)

    def change(group: Group) -> tuple[int, int]:
        here.add_(1)
        return os.getpid(), torch.distributed.get_world_size()

    found = in_processes(change)
    assert {size for _, size in found} == {2}
    assert len({os.getpid(), *(pid for pid, _ in found)}) == 3
    assert here == 0


# The references of ch14 in both
def drawn(seed: int, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    """Random numbers of a generator's own: threads share PyTorch's."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def gradients(group: Group) -> Any:
    reference = load_module(Places().source("ch14_scaling_out"))
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    for parameter, numbers in zip(model.parameters(), drawn(0, (4, 3), (4,), (2, 4), (2,)), strict=True):
        parameter.data = numbers
    rows = drawn(1, (5, 3))[0].split([3, 0, 2])[group.rank]
    if len(rows):
        model(rows).square().mean().backward()
    reference.all_reduce_gradients(model, group, len(rows))
    return [parameter.grad for parameter in model.parameters()]


def buckets(group: Group) -> Any:
    reference = load_module(Places().source("ch14_scaling_out"))
    grads = drawn(group.rank, (2, 3), (4,), (), (7,))
    grads[1] = grads[1].double()
    return [*reference.bucketed_all_reduce(grads, 24, group.all_reduce), *map(str, group.calls)]


def layers(group: Group) -> Any:
    reference = load_module(Places().source("ch14_scaling_out"))
    W1, b1, W2, b2, x = drawn(0, (6, 4), (6,), (2, 6), (2,), (3, 4))
    column = reference.ColumnParallelLinear(W1, b1, group)
    row = reference.RowParallelLinear(W2, b2, group)
    y = row(torch.tanh(column(x.requires_grad_())))
    y.square().sum().backward()
    grads = [parameter.grad for layer in (column, row) for parameter in layer.parameters()]
    return [y.detach(), x.grad, *grads, *map(str, group.calls)]


@pytest.mark.parametrize("step", [gradients, buckets, layers], ids=lambda step: step.__name__)
def test_references_in_processes_and_in_threads(step: Callable[[Group], Any]) -> None:
    for real, beside in zip(in_processes(step, 3), in_threads(step, 3), strict=True):
        for mine, its in zip(real, beside, strict=True):
            if isinstance(mine, str):
                assert mine == its
            else:
                torch.testing.assert_close(mine, its)
