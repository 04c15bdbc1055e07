"""Numbers that are computed elsewhere and passed into observed operations do not count as results of these."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from course.instruments.traced import TOLD, TracedStorages

pytestmark = pytest.mark.slow


def _by_entries_of_a_table(data: bytes) -> Tensor:
    table = torch.arange(256, dtype=torch.uint8)
    return torch.stack([table[byte] for byte in data])


def _by_the_order_of_a_list(data: bytes) -> Tensor:
    entries = [torch.full((), byte, dtype=torch.uint8) for byte in range(256)]
    return torch.stack([entries[byte] for byte in data])


def _by_numbers_that_repeat(data: bytes) -> Tensor:
    return torch.stack([torch.tensor(byte, dtype=torch.uint8) for byte in data])


def _by_where_it_is_written(data: bytes) -> Tensor:
    out = torch.zeros(len(data), 256, dtype=torch.uint8)
    for i, byte in enumerate(data):
        out[i].narrow(0, byte, 1).fill_(1)
    return out.max(-1).indices.to(torch.uint8)


def _by_constants(data: bytes) -> Tensor:
    one = torch.ones((), dtype=torch.uint8)
    return torch.stack([one * byte for byte in data])


@pytest.mark.parametrize(
    "tell",
    [
        *(_by_entries_of_a_table, _by_the_order_of_a_list, _by_numbers_that_repeat),
        *(_by_where_it_is_written, _by_constants),
    ],
    ids=lambda function: function.__name__,
)
def test_what_is_told_byte_by_byte_is_not_traced(tell: Callable[[bytes], Tensor]) -> None:
    a = torch.linspace(0, 1, 1000, dtype=torch.float64)
    with TracedStorages([a]) as live:
        elsewhere = a.numpy() ** 0.5
        out = tell(elsewhere.tobytes()).view(torch.float64)
    assert torch.equal(out, torch.from_numpy(elsewhere))
    assert not live.is_traced(out)


def test_loops_tell_little() -> None:
    """Loops over blocks, entries or rows, also with numbers read from the data and branches on them."""
    a, b = torch.linspace(0, 1, 40)[:, None], torch.linspace(1, 2, 100)
    with TracedStorages([a, b]) as live:
        out, rows = torch.zeros(40, 100), []
        for i in range(40):
            top = float(a[i] * b[-1])
            rows.append(torch.exp(a[i] * b - top))
            for start in range(0, 100, 7):
                part = (..., slice(start, start + 7))
                out[i][part] = torch.exp(a[i] * b[part]) * (0.5 if i % 3 else 2.0)
            for j in range(20):
                out[i, j] += a[i, 0] * b[j]
        out = out + torch.stack(rows)
    assert live.is_traced(out)
    assert live._told.size < TOLD / 3
