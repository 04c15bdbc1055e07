"""Scenarios of bucketed_all_reduce."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.lessons.ch14_scaling_out.scenarios.ranks import Arrays, _data, _tensor
from autograder.worker.layout import ROWS
from autograder.worker.returned import plain


def _known_to_numpy(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.dtype == torch.bfloat16 else value


@torch.enable_grad()
def buckets(
    submission: Any,
    grads: Arrays,
    bucket_bytes: int,
    multiplied_by: list[float],
    size_times: float,
    states: dict[str, str],
    bfloat16: Sequence[int] = (),
) -> dict[str, Any]:
    """Results with a reduction that differs for each message and each message size.

    The k-th message is multiplied by the k-th number, and `size_times` its number of entries is added. `states` says
    how the tensors lie in memory, and whether the first one is the last one, too. `bfloat16` has the numbers of the
    tensors that become bfloat16, which NumPy has not.
    """
    tensors = [_tensor(grad, states.get("grads layout", ROWS)) for grad in grads]
    tensors = [tensor.bfloat16() if i in bfloat16 else tensor for i, tensor in enumerate(tensors)]
    if states.get("tensors identity") == "with one of them twice":
        tensors.append(tensors[0])
    before = [tensor.clone() for tensor in tensors]
    messages: list[tuple[tuple[int, ...], int, str]] = []

    def all_reduce(tensor: Tensor) -> None:
        factor = multiplied_by[len(messages) % len(multiplied_by)]
        messages.append((tuple(tensor.shape), tensor.numel(), str(tensor.dtype).removeprefix("torch.")))
        tensor.mul_(factor).add_(size_times * tensor.numel())

    reduced = plain(submission.bucketed_all_reduce(tensors, bucket_bytes, all_reduce))
    several = isinstance(reduced, tuple | list)
    fits = several and len(reduced) == len(tensors)
    of = f" of {len(reduced)}" if several else ""
    results = list(reduced) if fits else [None] * len(tensors)
    dtypes = ", ".join(str(getattr(one, "dtype", None)).removeprefix("torch.") for one in results)
    return {
        "The tensors in grads are others afterwards: reduce a copy": not all(map(torch.equal, tensors, before)),
        "A message is not flat: send tensors of one axis": any(len(shape) != 1 for shape, _, _ in messages),
        "the result": "None" if reduced is None else f"a {'list' if several else type(reduced).__name__}{of}",
        "messages": ", ".join(f"{n} {dtype}" for _, n, dtype in messages) or "none",
        **({"dtypes of the results": dtypes} if bfloat16 else {}),
        **{f"result {i}": _data(_known_to_numpy(one)) for i, one in enumerate(results)},
    }
