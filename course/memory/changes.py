"""What to change so that a step fits, the cheapest first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from course.memory.account import Memory, fits, predict_memory, step_flops
from course.memory.training import RECOMPUTE, Training

LOSS_ROWS = 1024
"""Tokens of a chunk, where the loss is computed in chunks and nothing else is said."""
MOST_GPUS = 65_536
"""Where the search for a number of GPUs ends."""
_NUMBERS = (2, 4, *range(8, MOST_GPUS + 1, 8))


@dataclass(frozen=True)
class Remedy:
    """A change after which the step fits."""

    training: Training
    """The step with the change."""
    memory: Memory
    changes: tuple[str, ...]
    """What is different, in words."""
    extra_flops: float
    """FLOPs of a step with the change, as a share of those without it for as many tokens, less 1."""


def largest_batch(training: Training, gpu_bytes: float, most: int = 2**20) -> int:
    """The most sequences at once for which a step like this one fits, up to `most`; 0 if not even one does."""
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
    """What makes a step fit, the cheapest first; empty if it does, or if nothing that is known here helps.

    First what needs no other machine, by the FLOPs that it adds: a higher stage of ZeRO (none, but stage 3 has half as
    much communication again), fewer sequences at once with their gradients accumulated (none), recomputation, the loss
    in chunks. None is listed with more beside it than it needs, and fewer sequences only once. If the batch cannot stay
    as it is, or nothing is enough, more GPUs follow: 2, 4, 8 or a multiple of 8, the least number for the step as it
    is, and the least number with whatever else makes it less.
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
    """What remedies are ranked by: FLOPs, how many changes, what each is like; then by the larger batch."""
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
    """The least number of GPUs as it is, and with whatever makes it least."""
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
    """The least number of GPUs, more than now, on which the step fits; 0 if none up to `MOST_GPUS` is enough."""

    def enough(number: int) -> bool:
        return fits(predict_memory(replace(training, gpus=number)), gpu_bytes)

    first = bisect_left(_NUMBERS, True, lo=bisect_right(_NUMBERS, training.gpus), key=enough)
    return _NUMBERS[first] if first < len(_NUMBERS) else 0


def as_remedy(before: Training, after: Training) -> Remedy:
    """What changes from one step to another, whether it is enough or not."""
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


# words to numbers
