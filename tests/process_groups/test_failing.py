"""What goes wrong in a group is said, with the rank; nothing is left behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from multiprocessing import Pipe
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from groups import Run, both

from course.process_groups import Call, Group, GroupError, in_processes, in_threads
from course.process_groups.processes import followed

pytestmark = pytest.mark.slow


def another_collective(group: Group) -> None:
    x = torch.ones(2, 3)
    group.all_reduce(x)
    if group.rank == 0:
        group.all_reduce(x)
    else:
        group.all_gather(x)


def another_shape(group: Group) -> None:
    group.all_reduce(torch.ones(3, 2) if group.rank == 0 else torch.ones(2, 3))


def another_dtype(group: Group) -> None:
    group.all_gather(torch.ones(2, dtype=torch.float32 if group.rank == 0 else torch.float64))


def ends_early(group: Group) -> None:
    group.all_reduce(torch.ones(2))
    if group.rank == 0:
        group.all_reduce(torch.ones(2))


def raises(group: Group) -> None:
    if group.rank == 1:
        raise ValueError("a bad shard")
    group.all_reduce(torch.ones(2))


def swallows(group: Group) -> None:
    try:
        ends_early(group)
    except Exception:
        while True:
            group.all_reduce(torch.ones(2))


def too_few_tensors(group: Group) -> None:
    group.reduce_scatter([torch.ones(1)])


def no_tensor(group: Group) -> None:
    group.all_reduce(1.0)  # type: ignore[arg-type]


@both
@pytest.mark.parametrize(
    ("step", "told"),
    [
        (
            another_collective,
            "The ranks' calls number 2 differ: rank 0 calls all_reduce of (2, 3) float32, "
            "rank 1 all_gather of (2, 3) float32.",
        ),
        (
            another_shape,
            "The ranks' calls number 1 differ: rank 0 calls all_reduce of (3, 2) float32, "
            "rank 1 all_reduce of (2, 3) float32.",
        ),
        (
            another_dtype,
            "The ranks' calls number 1 differ: rank 0 calls all_gather of (2,) float32, "
            "rank 1 all_gather of (2,) float64.",
        ),
        (
            ends_early,
            "The ranks' calls do not fit: rank 0 waits in its call number 2, all_reduce of (2,) float32, "
            "and rank 1 has ended after 1 call.",
        ),
        (
            swallows,
            "The ranks' calls do not fit: rank 0 waits in its call number 2, all_reduce of (2,) float32, "
            "and rank 1 has ended after 1 call.",
        ),
        (raises, "rank 1 raised ValueError: a bad shard"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_wrong_is_said(run: Run, step: Callable[[Group], None], told: str) -> None:
    with pytest.raises(GroupError) as caught:
        run(step)
    assert str(caught.value) == told


@both
def test_arguments_that_are_none(run: Run) -> None:
    with pytest.raises(
        GroupError, match="ValueError: reduce_scatter takes 2 tensors, one for each rank; it was given 1"
    ):
        run(too_few_tensors)
    with pytest.raises(GroupError, match="TypeError: all_reduce takes tensors; it was given float"):
        run(no_tensor)


@both
def test_a_hang_says_where_each_rank_is(run: Run) -> None:
    released = threading.Event()

    def late(group: Group) -> None:
        if group.rank == 1:
            released.wait(120)  # a process is ended before, in which nobody sets it
        group.all_reduce(torch.ones(2))

    with pytest.raises(GroupError) as caught:
        run(late, timeout=5)
    released.set()
    told = "rank 0 waits in its call number 1, all_reduce of (2,) float32; rank 1 computes after 0 calls."
    assert str(caught.value) == f"After 5 seconds {told}"


def test_where_a_rank_raised() -> None:
    """In its own process, a traceback goes with the error; in a thread the exception itself."""
    with pytest.raises(GroupError) as caught:
        in_processes(raises)
    (note,) = caught.value.__notes__
    assert note.startswith("Traceback")
    assert 'raise ValueError("a bad shard")' in note
    assert "_run_rank" not in note
    with pytest.raises(GroupError) as caught:
        in_threads(raises)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_process_that_dies() -> None:
    def dies(group: Group) -> None:
        if group.rank == 1:
            os._exit(3)
        group.all_reduce(torch.ones(2))

    with pytest.raises(GroupError, match="rank 1's process ended with exit code 3"):
        in_processes(dies)


def test_who_hears_of_a_death_first_is_not_blamed() -> None:
    """gloo in rank 0 has been faster than the end of rank 1's pipe: "rank 0 raised RuntimeError: … Read error"."""
    (ours, its), (other, dead) = Pipe(), Pipe()
    its.send(("enters", Call("all_reduce", (2,), "float32", 8)))
    its.send(("error", ("rank 0 raised RuntimeError: Connection reset by peer", "")))
    process: Any = SimpleNamespace(join=lambda: None, exitcode=3)
    threading.Timer(0.2, dead.close).start()
    with pytest.raises(GroupError, match="rank 1's process ended with exit code 3"):
        followed([(process, ours), (process, other)], 60.0)
    for connection in (ours, its, other):
        connection.close()


def test_a_result_that_cannot_be_sent() -> None:
    with pytest.raises(GroupError, match="raised TypeError: the result cannot be sent to the process that started"):
        in_processes(lambda group: lambda: group)


def test_an_interrupt_ends_all_ranks() -> None:
    def interrupted(group: Group) -> None:
        if group.rank == 0:
            os.kill(os.getppid(), 2)
        time.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        in_processes(interrupted)
