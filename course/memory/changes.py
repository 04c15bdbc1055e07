"""Searches for changes that make a step fit, the cheapest first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from course.memory.account import Memory, fits, predict_memory, step_flops
from course.memory.training import RECOMPUTE, Training

LOSS_ROWS = 1024
"""The default number of tokens in a chunk, if the loss is computed in chunks."""
MOST_GPUS = 65_536
"""The largest number of GPUs in the search."""
_NUMBERS = (2, 4, *range(8, MOST_GPUS + 1, 8))


@dataclass(frozen=True)
class Remedy:
    """A change of a training step."""

    training: Training
    """The step after the change."""
    memory: Memory
    changes: tuple[str, ...]
    """The changes in words."""
    extra_flops: float
    """The relative increase in FLOPs per token."""


def largest_batch(training: Training, gpu_bytes: float, most: int = 2**20) -> int:
    """The largest batch, up to `most`, for which a step like this one fits; 0 if not even one sequence fits."""
    low, high = 0, 1
    while high < most and fits(predict_memory(replace(training, batch=high)), gpu_bytes):
        low, high = high, 2 * high
    high = min(high, most)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(predict_memory(replace(training, batch=middle)), gpu_bytes):
            low = middle
        else:
            high = middle - 1
    return low


def remedies(training: Training, gpu_bytes: float) -> list[Remedy]:
    """Changes that make a step fit, the cheapest first; empty if it fits already, or if nothing helps.

    Changes on the same GPUs come first, ordered by the FLOPs that they add: a higher stage of ZeRO (none, but stage 3
    has 1.5 times the communication), a smaller batch with accumulated gradients (none), recomputation, and the loss in
    chunks. No remedy contains another one, and only one has a smaller batch. If no remedy keeps the batch, more GPUs
    follow, 2, 4, 8 or a multiple of 8: the least number for the step as it is, and the least number with any changes.
    """
    if fits(predict_memory(training), gpu_bytes):
        return []
    found: list[Remedy] = []
    for candidate in sorted(_same_machine(training, gpu_bytes), key=lambda each: (price(each), -each.training.batch)):
        smaller = candidate.training.batch < training.batch
        if smaller and any(earlier.training.batch < training.batch for earlier in found):
            continue
        if not any(set(earlier.changes) <= set(candidate.changes) for earlier in found):
            found.append(candidate)
    if any(remedy.training.batch == training.batch for remedy in found):
        return found
    return found + _more_gpus(training, gpu_bytes)


def price(remedy: Remedy) -> tuple[float, int, int]:
    """The sort key of remedies: extra FLOPs, the number of changes, and how much effort they take."""
    words = " ".join(remedy.changes)
    effort = 1 * ("accumulated" in words) + 2 * ("recompute" in words) + 3 * ("stage 3" in words)
    return round(remedy.extra_flops, 9), len(remedy.changes), effort


def _same_machine(training: Training, gpu_bytes: float) -> Iterator[Remedy]:
    stages = range(training.zero, 4) if training.gpus > 1 else [training.zero]
    for zero, loss_rows, how in product(stages, _chunks(training), RECOMPUTE):
        changed = replace(training, zero=zero, loss_rows=loss_rows, recompute=how)
        batch = largest_batch(changed, gpu_bytes, training.batch)
        if batch:
            yield as_remedy(training, replace(changed, batch=batch))


def _chunks(training: Training) -> list[int | None]:
    smaller = training.loss_rows is None and training.tokens > LOSS_ROWS
    return [training.loss_rows, LOSS_ROWS] if smaller else [training.loss_rows]


def _more_gpus(training: Training, gpu_bytes: float) -> list[Remedy]:
    """The least number of GPUs for the step as it is, and the least with any changes if that is smaller."""
    zero = 3 if training.gpus == 1 else training.zero
    as_it_is = _least_gpus(replace(training, zero=zero), gpu_bytes)
    others = [
        replace(training, zero=stage, loss_rows=loss_rows, recompute=how)
        for stage, loss_rows, how in product(range(zero, 4), _chunks(training), RECOMPUTE)
    ]
    numbers = [(gpus, step_flops(other), other) for other in others if (gpus := _least_gpus(other, gpu_bytes))]
    found = [replace(training, zero=zero, gpus=as_it_is)] if as_it_is else []
    if numbers:
        gpus, _, other = min(numbers, key=lambda each: each[:2])
        if not as_it_is or gpus < as_it_is:
            found.append(replace(other, gpus=gpus))
    return [as_remedy(training, changed) for changed in found]


def _least_gpus(training: Training, gpu_bytes: float) -> int:
    """The least number of GPUs, above the current one, on which the step fits; 0 if `MOST_GPUS` are not enough."""

    def enough(number: int) -> bool:
        return fits(predict_memory(replace(training, gpus=number)), gpu_bytes)

    first = bisect_left(_NUMBERS, True, lo=bisect_right(_NUMBERS, training.gpus), key=enough)
    return _NUMBERS[first] if first < len(_NUMBERS) else 0


def as_remedy(before: Training, after: Training) -> Remedy:
    """The remedy that turns one step into another, whether it fits or not."""
    flops = [step_flops(one) / one.tokens for one in (before, after)]
    return Remedy(after, predict_memory(after), tuple(_changes(before, after)), flops[1] / flops[0] - 1)


def _changes(before: Training, after: Training) -> Iterator[str]:
    if after.gpus != before.gpus:
        yield f"{after.gpus:,} GPUs"
    if after.zero != before.zero:
        yield f"ZeRO stage {after.zero}"
    if after.batch != before.batch:
        yield f"batch {after.batch:,}, accumulated"
    if after.loss_rows != before.loss_rows:
        yield f"loss in chunks of {after.loss_rows:,} tokens"
    if after.recompute != before.recompute:
        yield f"recompute {after.recompute}"
