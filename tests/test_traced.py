"""TracedStorages: distinguishes results computed from given tensors from other results."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable

import pytest
import torch
from test_instruments import N, vector
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from course.instruments.out_of_reach import out_of_reach
from course.instruments.traced import TracedStorages


def test_what_operations_make_of_what_is_given_is_traced() -> None:
    a = vector().detach()
    with TracedStorages([a]) as live:
        out = torch.zeros(100)
        for start in range(0, 100, 32):
            out[start : start + 32] = torch.exp(a[start : start + 32] * 0.5) - torch.tensor(1.0)
        out /= out.sum()
        torch._foreach_mul_([out], 2.0)
    assert live.is_traced(out, out[:10], out.view(10, 10).mT)


def test_indices_and_a_constant_that_is_made_again_are_no_numbers_from_python() -> None:
    a = torch.linspace(0, 1, 2000)
    with TracedStorages([a]) as live:
        out = torch.zeros(2000)
        for i in range(2000):
            out[i : i + 1] = a[i] * torch.tensor(2.0) + a.narrow(0, i, 1) + a.index_select(0, torch.argmin(a)[None])
            torch.zeros(i)
    assert live.is_traced(out)


def _from_numpy(a: Tensor) -> Tensor:
    return torch.from_numpy(a.numpy() * 2)


def _into_memory(a: Tensor) -> Tensor:
    out = torch.empty_like(a)
    out.numpy()[...] = a.numpy() * 2
    return out


def _without_modes(a: Tensor) -> Tensor:
    with _disable_current_modes():
        return a * 2


def _written_without_modes(a: Tensor) -> Tensor:
    out = torch.zeros_like(a)
    with _disable_current_modes():
        out.add_(a)
    return out


def _number_by_number(a: Tensor) -> Tensor:
    return torch.stack([torch.tensor(2.0 * value) for value in a.tolist()])


def _as_storage(a: Tensor) -> Tensor:
    return torch.empty(0).set_(_from_numpy(a).untyped_storage(), 0, a.shape, a.stride())


def _as_written_storage(a: Tensor) -> Tensor:
    storage = torch.UntypedStorage(a.nbytes)
    for i, byte in enumerate((a.numpy() * 2).tobytes()):
        storage[i] = byte
    return torch.empty(0).set_(storage, 0, a.shape, a.stride())


def _from_a_buffer(a: Tensor) -> Tensor:
    return torch.frombuffer(bytearray((a.numpy() * 2).tobytes()), dtype=torch.float32)


def _from_a_file(a: Tensor) -> Tensor:
    with tempfile.NamedTemporaryFile() as file:
        (a.numpy() * 2).tofile(file.name)
        return torch.from_file(file.name, size=len(a))


def _loaded(a: Tensor) -> Tensor:
    file = io.BytesIO()
    with _disable_current_modes():
        torch.save(a * 2, file)
    file.seek(0)
    return torch.load(file)


def _behind_a_few_numbers(a: Tensor) -> Tensor:
    return torch.from_numpy((a.numpy() * 2)[:: len(a) - 1]).as_strided(a.shape, (1,))


def _numbers_in_a_list(a: Tensor) -> Tensor:
    return torch.stack(torch._foreach_add(list(torch.zeros_like(a)), [2 * value for value in a.tolist()]))


def _pairs_of_numbers(a: Tensor) -> Tensor:
    complexes = (complex(*pair) for pair in (a.numpy() * 2).reshape(-1, 2).tolist())
    return torch.view_as_real(torch.stack([torch.full((), pair) for pair in complexes])).flatten()


def _constants(a: Tensor) -> Tensor:
    out = torch.zeros(2000)
    for i in range(2000):
        out[i] = 1.5 * i
    return out


def _random_bounds(a: Tensor) -> Tensor:
    """The bounds of `randint` are integers that determine its result."""
    return torch.stack([torch.randint(i, i + 1, ()) for i in range(len(a))]) * 2.0


def test_freed_memory_that_holds_the_result_already_is_not_traced() -> None:
    def empty(a: Tensor) -> Tensor:
        return torch.empty_like(a)

    def resized(a: Tensor) -> Tensor:
        return torch.empty(0).resize_(a.shape)

    for allocate in (empty, resized):
        for _ in range(100):
            a = torch.linspace(0, 1, 2000)
            freed = [a * 2 for _ in range(8)]
            del freed
            with TracedStorages([a]) as live:
                out = allocate(a)
                out.numpy()[...] = a.numpy() * 2
            assert not live.is_traced(out)
            del out, live  # or no memory is used again


def test_what_is_resized_keeps_its_numbers() -> None:
    a = vector().detach()
    with TracedStorages([a]) as live:
        out = a * 2
        out.resize_(200)
    assert live.is_traced(out)
    assert out[:100].equal(a * 2)


def test_what_is_written_back_into_memory_that_was_let_go_is_lost() -> None:
    """The storage is shrunk during an operation, and its contents are kept elsewhere meanwhile."""
    a = torch.linspace(0, 1, 2000)
    with TracedStorages([a]) as live:
        out = a * 2
        with _disable_current_modes():
            kept = out.clone()
        out.untyped_storage().resize_(0)
        out.detach()
        out.untyped_storage().resize_(a.nbytes)
        with _disable_current_modes():
            out.copy_(kept)
    assert not live.is_traced(out)
    with out_of_reach(live):
        assert (out * 1).isnan().all()


@pytest.mark.parametrize("n_bytes", [N // 2, N, 2 * N])
def test_memory_that_is_let_go_and_used_again_is_traced(n_bytes: int) -> None:
    a = vector().detach()
    with TracedStorages([a]) as live:
        out = torch.exp(a, out=torch.empty(0))
        out.untyped_storage().resize_(0)
        assert live.bytes == 0
        out.untyped_storage().resize_(n_bytes)
        torch.exp(a[: n_bytes // 4], out=out[: n_bytes // 4])
    assert live.is_traced(out)


@pytest.mark.parametrize(
    "compute",
    [
        *(_from_numpy, _into_memory, _without_modes, _written_without_modes, _number_by_number, _constants),
        *(_as_storage, _as_written_storage, _from_a_buffer, _from_a_file, _loaded, _behind_a_few_numbers),
        *(_numbers_in_a_list, _pairs_of_numbers, _random_bounds),
    ],
    ids=lambda function: function.__name__,
)
def test_what_comes_from_elsewhere_is_not_traced(compute: Callable[[Tensor], Tensor]) -> None:
    """Returned directly, or after an observed operation. A few numbers may come from Python, but not this many."""
    for after in (lambda out: out, lambda out: out * 1):
        a = torch.linspace(0, 1, 2000)
        with TracedStorages([a]) as live:
            out = after(compute(a))
        assert not live.is_traced(out)
