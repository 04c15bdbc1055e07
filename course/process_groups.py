"""Process groups to try distributed training with on one machine: real processes over gloo, or threads side by side.

    def step(group):
        gradient = torch.full((3,), float(group.rank))
        group.all_reduce(gradient)
        return gradient

    in_processes(step, 2)  # two processes and torch.distributed's gloo
    in_threads(step, 2)  # the same function, the same results, in this process

Both call `step` once for each rank, with that rank's `Group`, and return the results in the order of the ranks. Where
the ranks' calls do not fit together, which on a cluster is a program that hangs, both say which rank waits for what.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import Tensor

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

Result = TypeVar("Result")

DTYPES = frozenset(
    {torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex128, torch.complex64}
    | {torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool}
)
"""What gloo sends and adds, and threads therefore, too."""

GRACE = 1.0
"""Seconds to wait, when gloo fails in one rank, for the calls of the others: they may say why."""


class GroupError(RuntimeError):
    """A rank raised an exception, ended early or waits in vain; the message says which, and in which call."""


@dataclass(frozen=True)
class Call:
    """One call of a collective, as one rank makes it."""

    name: str
    """`all_reduce`, `all_gather` or `reduce_scatter`."""
    shape: tuple[int, ...]
    """Of the tensor; for `reduce_scatter` that of each tensor in the list."""
    dtype: str
    n_bytes: int
    """Of what the rank brings: one tensor, or for `reduce_scatter` all of its list."""

    def sent_bytes(self, size: int) -> float:
        """Bytes that each of `size` ranks sends if the collective is done around a ring.

        With p ranks and n bytes: (p − 1)/p · n for `reduce_scatter`, (p − 1) · n for `all_gather`, and for
        `all_reduce`, which is one after the other, 2 (p − 1)/p · n (Patarasuk and Yuan 2009). No algorithm sends less.
        """
        share = (size - 1) / size
        return self.n_bytes * {"all_reduce": 2 * share, "reduce_scatter": share, "all_gather": size - 1.0}[self.name]

    def __str__(self) -> str:
        return f"{self.name} of {self.shape} {self.dtype}"


class Group(ABC):
    """One rank's view of the ranks that compute together, with three collectives.

    A collective waits until every rank has called it, with tensors of one shape and dtype. Tensors are dense, on the
    CPU and of a dtype that gloo knows; they may require a gradient, have any strides, and other strides on each rank.
    Autograd does not see a collective: its result has no graph, and a tensor that is changed in place keeps the graph
    that it has. Results are contiguous.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank = rank
        """Which rank this is, from 0."""
        self.size = size
        """How many there are."""
        self.calls: list[Call] = []
        """The collectives that this rank has called, in order."""

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace `tensor`, in place, by the sum of all ranks' tensors.

        Raises `ValueError` for an expanded tensor, several of whose entries are one place in memory.
        """
        with self._calling("all_reduce", [tensor]):
            # gloo runs through memory in its order, and changes it behind the back of autograd's version counter.
            total = self._all_reduce(_packed(tensor))
            tensor.detach().copy_(total)

    def all_gather(self, tensor: Tensor) -> list[Tensor]:
        """All ranks' tensors, in the order of the ranks: new ones, also of this rank."""
        with self._calling("all_gather", [tensor]):
            return self._all_gather(_packed(tensor))

    def reduce_scatter(self, tensors: Sequence[Tensor]) -> Tensor:
        """The sum of what all ranks have for this one: `tensors[r]` of each rank is for rank r.

        Raises `ValueError` unless there is one tensor for each rank, all of one shape and dtype.
        """
        if len(tensors) != self.size:
            given = len(tensors)
            raise ValueError(f"reduce_scatter takes {self.size} tensors, one for each rank; it was given {given}")
        if len({(tensor.shape, tensor.dtype) for tensor in tensors}) > 1:
            raise ValueError("reduce_scatter takes tensors of one shape and dtype")
        with self._calling("reduce_scatter", tensors):
            return self._reduce_scatter([_packed(tensor) for tensor in tensors])

    @contextlib.contextmanager
    def _calling(self, name: str, tensors: Sequence[Tensor]) -> Iterator[None]:
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{name} takes tensors; it was given {type(tensor).__name__}")
            if tensor.layout != torch.strided or tensor.device.type != "cpu":
                given = f"{str(tensor.layout).removeprefix('torch.')} on {tensor.device}"
                raise ValueError(f"{name} takes dense tensors on the CPU; it was given one that is {given}")
            if tensor.dtype not in DTYPES:
                raise TypeError(f"{name} takes no {_told(tensor.dtype)}, which gloo does not know")
            if name == "all_reduce" and any(
                n > 1 and not s for n, s in zip(tensor.shape, tensor.stride(), strict=True)
            ):
                raise ValueError(f"{name} writes into its tensor, and an expanded one has no room: clone it first")
        first = tensors[0]
        n_bytes = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        call = Call(name, tuple(first.shape), _told(first.dtype), n_bytes)
        self.calls.append(call)
        self._enter(call)
        with torch.no_grad():
            yield
        self._leave()

    @abstractmethod
    def _enter(self, call: Call) -> None: ...

    @abstractmethod
    def _leave(self) -> None: ...

    @abstractmethod
    def _all_reduce(self, tensor: Tensor) -> Tensor:
        """The sum; `tensor` may be used for it. Here and below tensors are copies: contiguous and without a graph."""

    @abstractmethod
    def _all_gather(self, tensor: Tensor) -> list[Tensor]: ...

    @abstractmethod
    def _reduce_scatter(self, tensors: list[Tensor]) -> Tensor: ...


def _packed(tensor: Tensor) -> Tensor:
    """A copy that has its entries, and nothing else, in memory in row order."""
    return torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach())


def _told(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


class _Ledger:
    """What all ranks have called, and why they cannot go on."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.calls: list[list[Call]] = [[] for _ in range(size)]
        self.waiting = [False] * size
        self.ended = [False] * size
        self._agreed = 0
        """Calls that all ranks have made alike."""

    def enter(self, rank: int, call: Call) -> None:
        self.calls[rank].append(call)
        self.waiting[rank] = True

    def leave(self, rank: int) -> None:
        self.waiting[rank] = False

    def problem(self) -> str | None:
        """Two ranks whose calls differ, or one that waits for a rank that has ended; the earliest call counts."""
        for i in range(self._agreed, max(map(len, self.calls))):
            calls = {rank: calls[i] for rank, calls in enumerate(self.calls) if len(calls) > i}
            first, asked = next(iter(calls.items()))
            for rank, call in calls.items():
                if (call.name, call.shape, call.dtype) != (asked.name, asked.shape, asked.dtype):
                    return f"The ranks' calls number {i + 1} differ: rank {first} calls {asked}, rank {rank} {call}."
            gone = [rank for rank in range(self.size) if self.ended[rank] and rank not in calls]
            waiting = [rank for rank in calls if self.waiting[rank] and len(self.calls[rank]) == i + 1]
            if gone and waiting:
                return f"The ranks' calls do not fit: {self.told(waiting[0])}, and {self.told(gone[0])}."
            if len(calls) == self.size:
                self._agreed = i + 1
        return None

    def told(self, rank: int) -> str:
        """Where a rank is."""
        n_calls = len(self.calls[rank])
        if self.waiting[rank]:
            return f"rank {rank} waits in its call number {n_calls}, {self.calls[rank][-1]}"
        what = "has ended" if self.ended[rank] else "computes"
        return f"rank {rank} {what} after {n_calls} call{'s' * (n_calls != 1)}"

    def all_told(self) -> str:
        """Where all of them are."""
        return "; ".join(map(self.told, range(self.size)))


# In threads


class _Stopped(BaseException):
    """Ends a rank that waits in vain; no `except Exception` of its own holds it up."""


class _Meeting:
    """Where threads exchange tensors: each call number has what every rank brings."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.ledger = _Ledger(size)
        self.problem: str | None = None
        """Why no rank may go on; "" where the ranks' exceptions say it."""
        self._changed = threading.Condition()
        self._brought: dict[int, list[list[Tensor]]] = {}

    def exchange(self, rank: int, call: Call, tensors: list[Tensor]) -> list[list[Tensor]]:
        """Bring tensors, wait, and take what all ranks have brought to their call of this number."""
        with self._changed:
            number = len(self.ledger.calls[rank])
            self.ledger.enter(rank, call)
            brought = self._brought.setdefault(number, [[] for _ in range(self.size)])
            brought[rank] = tensors
            self._look()
            while self.problem is None and not all(brought):
                self._changed.wait()
            if self.problem is not None:
                raise _Stopped
            self.ledger.leave(rank)
            self._brought.pop(number, None)  # whoever has still to leave holds the list
            return brought

    def end(self, rank: int) -> None:
        """A rank has returned."""
        with self._changed:
            self.ledger.ended[rank] = True
            self._look()

    def stop(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            if self.problem is None:
                self.problem = ""
            self._changed.notify_all()

    def _look(self) -> None:
        if self.problem is None:
            self.problem = self.ledger.problem()
        self._changed.notify_all()


class _ThreadGroup(Group):
    def __init__(self, rank: int, meeting: _Meeting) -> None:
        super().__init__(rank, meeting.size)
        self._meeting = meeting

    def _enter(self, call: Call) -> None:
        """The meeting notes it."""

    def _leave(self) -> None:
        """The meeting has noted it."""

    def _all_reduce(self, tensor: Tensor) -> Tensor:
        brought = self._meeting.exchange(self.rank, self.calls[-1], [tensor])
        return _added([one for (one,) in brought])

    def _all_gather(self, tensor: Tensor) -> list[Tensor]:
        brought = self._meeting.exchange(self.rank, self.calls[-1], [tensor])
        return [one.clone() for (one,) in brought]

    def _reduce_scatter(self, tensors: list[Tensor]) -> Tensor:
        brought = self._meeting.exchange(self.rank, self.calls[-1], tensors)
        return _added([theirs[self.rank] for theirs in brought])


def _added(tensors: list[Tensor]) -> Tensor:
    """The sum, in the order of the ranks: the same to the last bit for each of them."""
    total = tensors[0].clone()
    for tensor in tensors[1:]:
        total += tensor
    return total


def in_threads(function: Callable[[Group], Result], size: int = 2, *, timeout: float = 60.0) -> list[Result]:
    """Run `function(group)` for each of `size` ranks, in threads of this process; the results in the ranks' order.

    Deterministic: what the ranks bring is added in their order. Gradients are on in each rank where they are on here.
    The ranks share this process's memory: what one rank changes in place, another one sees. They share PyTorch's random
    state as well, so that who draws first is chance: let each rank draw from a `torch.Generator` of its own.

    Raises:
        GroupError: a rank raised (that exception is the cause), the ranks' calls do not fit together, or `timeout`
            seconds are over. A rank that is then still computing goes on in its thread: Python cannot stop it.
    """
    meeting = _Meeting(size)
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}
    with_gradients = torch.is_grad_enabled()

    def run(rank: int) -> None:
        torch.set_grad_enabled(with_gradients)  # each thread has a switch of its own
        try:
            results[rank] = function(_ThreadGroup(rank, meeting))
        except _Stopped:
            pass
        except BaseException as error:
            errors[rank] = error
            meeting.stop()
        else:
            meeting.end(rank)

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    deadline = time.monotonic() + timeout
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            raise GroupError(f"After {timeout:g} seconds {meeting.ledger.all_told()}.")
    finally:
        meeting.stop()
    for rank in sorted(errors):
        raise GroupError(_raised(rank, errors[rank])) from errors[rank]
    if meeting.problem:
        raise GroupError(meeting.problem)
    return [results[rank] for rank in range(size)]


def _raised(rank: int, error: BaseException) -> str:
    told = str(error)
    return f"rank {rank} raised {type(error).__name__}{': ' if told else ''}{told}"


# In processes


class _GlooGroup(Group):
    """The default group of `torch.distributed` in this process, which tells its parent what it calls."""

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
    """Run `function(group)` for each of `size` ranks, each in a process of its own; the results in the ranks' order.

    `group` is a thin wrapper around the default group of `torch.distributed`, with gloo. That group is set up, so
    functions of the module work as well, with their own rules: give them contiguous tensors. (PyTorch's `all_reduce` of
    a column of a matrix adds other entries than those of the column, over gloo, without an error.)

    The processes are forks of this one: they find everything that is defined here, with its values, the random state
    included, and what they change stays theirs. Each computes with one thread. Results come back by pickle.

    Nothing is left behind: the ranks meet in a file that is removed, talk over the loopback interface, and have ended
    when this function returns or raises, whatever happened in them.

    Raises:
        GroupError: a rank raised (its traceback is a note) or died, its result cannot be pickled, the ranks' calls do
            not fit together, or `timeout` seconds are over; also where the system starts no processes by fork.
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
            return _followed(ranks, timeout)
        finally:
            for process, connection in ranks:
                process.kill()
                process.join()
                process.close()
                connection.close()


def _followed(ranks: Sequence[tuple[ForkProcess, Connection]], timeout: float) -> list[Any]:
    """What the ranks return. `GroupError` as soon as one of them fails, or their calls do not fit."""
    from multiprocessing.connection import wait

    deadline = time.monotonic() + timeout
    ledger = _Ledger(len(ranks))
    running: dict[Any, int] = {connection: rank for rank, (_, connection) in enumerate(ranks)}
    results: dict[int, Any] = {}
    failure: GroupError | None = None
    in_a_call = False
    """Whether what failed was within a collective."""
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
                # What fails within a collective, gloo has made fail: what the others call, or their end, may say why.
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
    """What a rank's process does: meet the others, call the function, tell the parent, and wait until all are done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent ends this one
    _end_with_the_parent()
    for connection in not_its:
        connection.close()
    torch.set_num_threads(1)  # OpenMP's other threads are not there after a fork: whoever asked them would wait forever
    os.environ["GLOO_SOCKET_IFNAME"] = "lo0" if sys.platform == "darwin" else "lo"
    distributed = torch.distributed
    try:
        patience = timedelta(seconds=timeout + 60)  # the parent's ends before
        meet = f"file://{store}"
        distributed.init_process_group("gloo", init_method=meet, timeout=patience, rank=rank, world_size=size)
        parent.send(("result", _pickled(function(_GlooGroup(rank, size, parent)))))
    except BaseException as error:
        frames = error.__traceback__.tb_next if error.__traceback__ else None  # without this function's
        lines = traceback.format_exception(type(error), error, frames)
        parent.send(("error", (_raised(rank, error), "".join(lines).rstrip())))
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(EOFError):
        parent.recv()  # until then the others may still have to hear from this rank's gloo
    if distributed.is_initialized():
        distributed.destroy_process_group()


def _pickled(result: Any) -> bytes:
    try:
        return pickle.dumps(result)
    except Exception as error:
        raise TypeError(f"the result cannot be sent to the process that started this one: {error}") from None


def _end_with_the_parent() -> None:
    """Let the kernel kill this process when its parent dies, where it can: Linux."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
