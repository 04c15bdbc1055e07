"""Scenarios of fix_11."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _network, _state
from autograder.lessons.ch12_debugging.scenarios.programs import GRAPH, NOTHING, _batches, _changed, _has_graph, _series
from autograder.worker.returned import plain
from course.instruments.out_of_reach import out_of_reach

PRODUCTS = {"mm": 0, "bmm": 0, "linear": 0, "addmm": 1, "baddbmm": 1, "addbmm": 1}
"""Operations that multiply matrices, with the index of the first matrix among their arguments."""


class _Products(TorchDispatchMode):
    """Records the dtypes of matrix products, forward and backward, and weights the terms of those in float16.

    The terms of each entry's sum get the weights 1 − `tilt` and 1 + `tilt` alternately, which has the same effect on a
    product and its transpose, and on every way to write a linear layer. A gradient computed by other products lacks the
    weights and has another direction, even if float16 products run as well.
    """

    def __init__(self, tilt: float) -> None:
        super().__init__()
        self.tilt = tilt
        self.dtypes: set[torch.dtype] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # like the course's instruments; True would import PyTorch's compiler

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        place = PRODUCTS.get(func._schema.name.removeprefix("aten::"))
        if place is not None and len(args) > place:
            first = args[place]
            self.dtypes.add(first.dtype)
            if first.dtype == torch.float16 and self.tilt:
                weights = 1 + self.tilt * (2 * (torch.arange(first.shape[-1]) % 2) - 1)
                args = (*args[:place], first * weights.half(), *args[place + 1 :])
        return func(*args, **(kwargs or {}))


def half_precision(
    submission: Any, layers: list[dict], data: list, n_tokens: float, lr: float, tilt: float
) -> dict[str, Any]:
    """fix_11, with the dtypes of matrix products; terms of float16 products are weighted by `tilt`.

    With a tilt of 0, this is the program that learners run.
    """
    with _fresh():
        model, batches = _network(layers), _batches(data)
        products = _Products(tilt)
        with out_of_reach(products):
            losses = plain(submission.fix_11(model, batches, n_tokens, lr))
        return {
            NOTHING: losses is None,
            GRAPH: _has_graph(losses),
            **_changed(batches, data),
            "the dtype of the matrix products": ", ".join(sorted(map(str, products.dtypes))),
            "losses": _series(losses),
            "parameters": _state(model),
        }
