"""Ranks as forked processes that communicate with gloo."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import Tensor

from course.process_groups.group import Call, Group, GroupError, raised
from course.process_groups.ledger import Ledger

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

Result = TypeVar("Result")

GRACE = 1.0
"""Seconds to wait, after gloo has failed in one rank, for messages of the others that may explain why."""


class _GlooGroup(Group):
    """Wraps the default group of `torch.distributed`, and reports each call to the parent process."""

    def __init__(self, rank: int, size: int, parent: Connection) -> None:
        super().__init__(rank, size)
        self._parent = parent

    def _enter(self, call: Call) -> None:
        self._parent.send(("enters", call))

    def _leave(self) -> None:
        self._parent.send(("leaves", None))

    def _all_reduce(self, tensor: Tensor) -> Tensor:
        torch.distributed.all_reduce(tensor)
        return tensor

    def _all_gather(self, tensor: Tensor) -> list[Tensor]:
        gathered = [torch.empty_like(tensor) for _ in range(self.size)]
        torch.distributed.all_gather(gathered, tensor)
        return gathered

    def _reduce_scatter(self, tensors: list[Tensor]) -> Tensor:
        reduced = torch.empty_like(tensors[self.rank])
        torch.distributed.reduce_scatter(reduced, tensors)
        return reduced


def in_processes(function: Callable[[Group], Result], size: int = 2, *, timeout: float = 60.0) -> list[Result]:
    """Run `function(group)` for each of `size` ranks in separate processes; return the results in rank order.

    `group` is a thin wrapper around the default group of `torch.distributed`, with gloo. The functions of
    `torch.distributed` work as well, but give them contiguous tensors: over gloo, `all_reduce` of a column of a matrix
    silently adds other entries than the column's.

    The processes are forks of this one: they see everything that is defined here, including the random state, and their
    changes stay in them. Each computes with one thread. Results are returned by pickle. The ranks meet by a temporary
    file, communicate over the loopback interface, and have ended when this function returns or raises.

    Raises:
        GroupError: a rank raised (the error has its traceback as a note) or died, its result cannot be pickled, the
            ranks' calls do not match, `timeout` seconds are over, or this system cannot fork processes.
    """
    import multiprocessing

    if "fork" not in multiprocessing.get_all_start_methods() or not torch.distributed.is_available():
        raise GroupError("Processes with gloo need Linux; in_threads runs the same function here.")
    context = multiprocessing.get_context("fork")
    ranks: list[tuple[ForkProcess, Connection]] = []
    with tempfile.TemporaryDirectory(prefix="gloo-") as folder:
        try:
            for rank in range(size):
                ours, theirs = context.Pipe()
                not_its = [*(connection for _, connection in ranks), ours]
                store = os.path.join(folder, "store")
                arguments = function, rank, size, store, timeout, theirs, not_its
                process = context.Process(target=_run_rank, args=arguments, daemon=True)
                try:
                    process.start()
                except OSError as error:
                    ours.close()
                    raise GroupError(f"rank {rank}'s process could not be started: {error}") from error
                finally:
                    theirs.close()
                ranks.append((process, ours))
            return followed(ranks, timeout)
        finally:
            for process, connection in ranks:
                process.kill()
                process.join()
                process.close()
                connection.close()


def followed(ranks: Sequence[tuple[ForkProcess, Connection]], timeout: float) -> list[Any]:
    """Wait for the ranks and return their results. `GroupError` as soon as one fails or their calls do not match."""
    from multiprocessing.connection import wait

    deadline = time.monotonic() + timeout
    ledger = Ledger(len(ranks))
    running: dict[Any, int] = {connection: rank for rank, (_, connection) in enumerate(ranks)}
    results: dict[int, Any] = {}
    failure: GroupError | None = None
    in_a_call = False
    """Whether the failure came from inside a collective."""
    while running and (failure is None or time.monotonic() < deadline):
        ready = wait(list(running), max(0.0, deadline - time.monotonic()))
        if not ready and failure is None:
            raise GroupError(f"After {timeout:g} seconds {ledger.all_told()}.")
        for connection in ready:
            rank = running[connection]
            try:
                kind, value = cast("Connection", connection).recv()
            except (EOFError, ConnectionResetError):
                process = ranks[rank][0]
                process.join()
                kind, value = "error", (f"rank {rank}'s process ended with exit code {process.exitcode}", "")
            if kind == "enters":
                ledger.enter(rank, value)
            elif kind == "leaves":
                ledger.leave(rank)
            else:
                del running[connection]
            if kind == "result":
                ledger.ended[rank] = True
                results[rank] = pickle.loads(value)
            elif kind == "error" and (failure is None or (in_a_call and not ledger.waiting[rank])):
                failure, in_a_call = GroupError(value[0]), ledger.waiting[rank]
                if value[1]:
                    failure.add_note(value[1])
                # A collective fails because of another rank, whose calls or end may explain it: wait for them.
                deadline = min(deadline, time.monotonic() + (GRACE if in_a_call else 0))
        problem = ledger.problem() if failure is None or time.monotonic() < deadline else None
        if problem:
            raise GroupError(problem)
    if failure is not None:
        raise failure
    for _, connection in ranks:
        connection.send("all have ended")
    for process, _ in ranks:
        process.join(max(0.0, deadline - time.monotonic()))
    return [results[rank] for rank in range(len(ranks))]


def _run_rank(
    function: Callable[[Group], Any],
    rank: int,
    size: int,
    store: str,
    timeout: float,
    parent: Connection,
    not_its: list[Connection],
) -> None:
    """The main function of a rank's process: join the group, call `function`, report, and wait for the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, but the parent ends this one
    _die_with_parent()
    for connection in not_its:
        connection.close()
    torch.set_num_threads(1)  # OpenMP's threads do not survive a fork, and waiting for them would never end
    os.environ["GLOO_SOCKET_IFNAME"] = "lo0" if sys.platform == "darwin" else "lo"
    distributed = torch.distributed
    try:
        patience = timedelta(seconds=timeout + 60)  # longer than the parent's
        meet = f"file://{store}"
        distributed.init_process_group("gloo", init_method=meet, timeout=patience, rank=rank, world_size=size)
        parent.send(("result", _pickled(function(_GlooGroup(rank, size, parent)))))
    except BaseException as error:
        frames = error.__traceback__.tb_next if error.__traceback__ else None  # without this function's
        lines = traceback.format_exception(type(error), error, frames)
        parent.send(("error", (raised(rank, error), "".join(lines).rstrip())))
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(EOFError):
        parent.recv()  # until all have ended, other ranks may still need this one's gloo
    if distributed.is_initialized():
        distributed.destroy_process_group()


def _pickled(result: Any) -> bytes:
    try:
        return pickle.dumps(result)
    except Exception as error:
        raise TypeError(f"the result cannot be sent to the process that started this one: {error}") from None


def _die_with_parent() -> None:
    """On Linux, let the kernel kill this process when its parent dies."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
