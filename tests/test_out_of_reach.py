"""Instruments that the measured program cannot reach give the same readings."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from course.instruments.flops import FlopCounter
from course.instruments.live import LiveStorages
from course.instruments.meter import SavedTensorMeter
from course.instruments.out_of_reach import out_of_reach
from course.instruments.traced import TracedStorages


@pytest.mark.parametrize("make", [LiveStorages, FlopCounter, TracedStorages], ids=lambda make: str(make.__name__))
def test_an_instrument_out_of_reach_measures_the_same(make: Any) -> None:
    def readings(enter: Callable[[Any], Any]) -> dict[str, Any]:
        x = torch.ones(10, 10, requires_grad=True)
        instrument = make(given=[x]) if make is TracedStorages else make()
        with enter(instrument):
            (x @ x).exp().sum().backward()
        names = ("bytes", "peak", "timeline", "total", "untraced")
        return {name: getattr(instrument, name) for name in names if hasattr(instrument, name)}

    assert readings(out_of_reach) == readings(lambda instrument: instrument)


def test_nothing_that_is_active_leads_to_what_measures() -> None:
    """Via attributes, a program could set its own reading: `mode.bytes = 0`."""
    live, counter, meter, x = LiveStorages(), FlopCounter(), SavedTensorMeter(), torch.ones(100, requires_grad=True)
    with out_of_reach(live), out_of_reach(counter), meter:
        kept = (x * 2).exp()
        todo = [
            *_get_current_dispatch_mode_stack(),
            *torch._C._autograd._top_saved_tensors_default_hooks(False),
            *(info.func for info in weakref.finalize._registry.values()),  # type: ignore[attr-defined]
        ]
    assert live.bytes == meter.bytes == 400
    assert len(todo) >= 2 + 2 + 2
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if id(one) not in seen:
            seen.add(id(one))
            todo += [*getattr(one, "__dict__", {}).values(), *filter(None, [getattr(one, "__self__", None)])]
    assert not seen & {id(live), id(counter), id(meter), id(meter._known), id(meter._entries)}
    del kept
