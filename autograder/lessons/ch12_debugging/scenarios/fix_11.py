"""Scenarios of fix_11."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _network, _state
from autograder.lessons.ch12_debugging.scenarios.programs import GRAPH, NOTHING, _batches, _changed, _has_graph, _series
from autograder.worker.returned import plain
from course.instruments.live import storage_of, tensors_in
from course.instruments.out_of_reach import out_of_reach

PRODUCTS = {"mm": 0, "bmm": 0, "linear": 0, "addmm": 1, "baddbmm": 1, "addbmm": 1}
"""Operations that multiply matrices, with the index of the first matrix among their arguments."""
_default_rng = np.random.default_rng


class _Products(TorchDispatchMode):
    """Records the dtypes of matrix products, forward and backward, and weights the terms of those in float16.

    The terms of each entry's sum get the weights 0.5 and 1.5, which have the same effect on a product and its
    transpose, and on every way to write a linear layer. A gradient computed by other products lacks the weights and has
    another direction, even if float16 products run as well. Their order is drawn from `seed` for each pair of shapes,
    and again after each step of the optimizer, so that no product tells those of another.
    """

    def __init__(self, parameters: Iterable[torch.Tensor], seed: int | None) -> None:
        super().__init__()
        self.of_parameters = {storage_of(parameter)._cdata for parameter in parameters}
        self.seed: Any = seed
        self.step, self.written = 0, False
        self.dtypes: set[torch.dtype] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # like the course's instruments; True would import PyTorch's compiler

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        place = PRODUCTS.get(name)
        if place is not None and len(args) > place:
            first, second = args[place], args[place + 1]
            self.dtypes.add(first.dtype)
            if first.dtype == torch.float16 and self.seed is not None:
                terms = first.shape[-1]
                weights = self._weights(terms, first.numel() // max(1, terms), second.numel() // max(1, terms))
                args = (*args[:place], first * weights, *args[place + 1 :])
        elif name.endswith("_") and not self.written and self.seed is not None:  # it writes into its first argument
            self.written |= any(storage_of(tensor)._cdata in self.of_parameters for tensor in tensors_in(args[:1]))
        return func(*args, **(kwargs or {}))

    def _weights(self, terms: int, rows: int, columns: int) -> torch.Tensor:
        """The weights of the terms, for a product with a result of `rows` × `columns` entries or its transpose."""
        if self.written:
            self.step, self.written = self.step + 1, False
        drawn = _default_rng((self.seed, self.step, terms, *sorted((rows, columns)))).permutation(terms)
        return torch.tensor(0.5 + drawn % 2, dtype=torch.float16)


def half_precision(
    submission: Any, layers: list[dict], data: list, n_tokens: float, lr: float, seed: int | None
) -> dict[str, Any]:
    """fix_11, with the dtypes of matrix products; terms of float16 products get weights that are drawn from `seed`.

    With None, this is the program that learners run.
    """
    with _fresh():
        model, batches = _network(layers), _batches(data)
        products = _Products(model.parameters(), seed)
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
