"""Simulates pipeline schedules: when each stage runs which micro-batch, how long it idles, and what it holds.

A job is `(kind, chunk, microbatch)`. Kinds are "F", forward, and "B", backward; if the weights' gradients are separate
jobs "W", then "B" computes only the input's gradient. A stage holds `chunks` parts of the model: part `chunk` of stage
`stage` is the `chunk * stages + stage`-th part of the model. Orders have the list of jobs of each stage. `simulate`
starts each job as soon as its stage is free and its inputs have arrived.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Job = tuple[str, int, int]
Orders = list[list[Job]]


@dataclass(frozen=True)
class Run:
    """A job that ran on a stage, from `start` to `end`."""

    stage: int
    kind: str
    chunk: int
    microbatch: int
    start: float
    end: float


def gpipe(stages: int, microbatches: int) -> Orders:
    """All forwards, then all backwards, the last micro-batch first (Huang et al. 2019, arXiv 1811.06965)."""
    _positive(stages=stages, microbatches=microbatches)
    forward = [("F", 0, i) for i in range(microbatches)]
    backward = [("B", 0, i) for i in reversed(range(microbatches))]
    return [forward + backward for _ in range(stages)]


def one_forward_one_backward(stages: int, microbatches: int) -> Orders:
    """1F1B: a stage runs a backward as soon as it can (Narayanan et al. 2019; 2021, arXiv 2104.04473, section 2.2).

    Stage s, from 0, runs `stages - s - 1` forwards ahead, then one forward and one backward in turn.
    """
    return interleaved(stages, microbatches, 1)


def interleaved(stages: int, microbatches: int, chunks: int) -> Orders:
    """1F1B with several parts of the model on each stage (Narayanan et al. 2021, section 2.2.2).

    Micro-batches are processed in groups of `stages`, each group by all parts in turn.

    Raises:
        ValueError: `chunks` is more than 1 and `stages` does not divide `microbatches`, or a number is not positive.
    """
    _positive(stages=stages, microbatches=microbatches, chunks=chunks)
    if chunks > 1 and microbatches % stages:
        raise ValueError(f"{microbatches} micro-batches do not come in groups of {stages}, one for each stage")
    group = stages if chunks > 1 else microbatches
    through = [
        (chunk, first + i)
        for first in range(0, microbatches, group)
        for chunk in range(chunks)
        for i in range(min(group, microbatches - first))
    ]
    forward = [("F", chunk, i) for chunk, i in through]
    backward = [("B", chunks - 1 - chunk, i) for chunk, i in through]
    orders = []
    for stage in range(stages):
        ahead = stages - stage - 1 if chunks == 1 else 2 * (stages - stage - 1) + (chunks - 1) * stages
        ahead = min(ahead, len(forward))
        order = forward[:ahead]
        for both in zip(forward[ahead:], backward[: len(forward) - ahead], strict=True):
            order += both
        orders.append(order + backward[len(forward) - ahead :])
    return orders


def weights_apart(stages: int, microbatches: int) -> Orders:
    """1F1B with the weights' gradients as separate jobs: ZB-H1 of Qi et al. 2024 (arXiv 2401.10241).

    Stage s, from 0, runs `stages - s` forwards ahead, and its weights' gradients lag s backwards behind. So no stage
    holds more micro-batches than the first stage does in 1F1B, and the delayed jobs fill the idle time at the end.
    """
    _positive(stages=stages, microbatches=microbatches)
    orders: Orders = []
    for stage in range(stages):
        ahead = min(stages - stage, microbatches)
        order: list[Job] = [("F", 0, i) for i in range(ahead)]
        for i in range(microbatches):
            order.append(("B", 0, i))
            if i >= stage:
                order.append(("W", 0, i - stage))
            if ahead + i < microbatches:
                order.append(("F", 0, ahead + i))
        orders.append(order + [("W", 0, i) for i in range(max(0, microbatches - stage), microbatches)])
    return orders


def simulate(orders: Orders, durations: Mapping[str, float], chunks: int = 1) -> list[Run]:
    """All jobs with their times, sorted by start.

    Args:
        orders: the jobs of each stage, in the order in which it runs them.
        durations: the time of a job of each kind for all `chunks` of a stage together; sending takes no time.

    Raises:
        ValueError: the orders deadlock.
    """
    stages, at = len(orders), [0] * len(orders)
    ends, free, runs = dict[tuple[int, Job], float](), [0.0] * stages, list[Run]()
    while any(at[stage] < len(orders[stage]) for stage in range(stages)):
        before = len(runs)
        for stage, order in enumerate(orders):
            while at[stage] < len(order):
                job = order[at[stage]]
                needed = _needs(stage, job, stages, chunks)
                if any(one not in ends for one in needed):
                    break
                start = max([free[stage], *(ends[one] for one in needed)])
                free[stage] = ends[stage, job] = start + durations[job[0]] / chunks
                runs.append(Run(stage, *job, start, free[stage]))
                at[stage] += 1
        if len(runs) == before:
            raise ValueError("the stages wait for each other")
    return sorted(runs, key=lambda run: (run.start, run.stage))


def _needs(stage: int, job: Job, stages: int, chunks: int) -> list[tuple[int, Job]]:
    """The jobs, each with its stage, that must end before a job can start, apart from those earlier in its order."""
    kind, chunk, i = job
    part = chunk * stages + stage
    if kind == "W":
        return [(stage, ("B", chunk, i))]
    if kind == "F":
        return [((part - 1) % stages, ("F", (part - 1) // stages, i))] if part else []
    own = [(stage, ("F", chunk, i))]
    last = part == chunks * stages - 1
    return own if last else [*own, ((part + 1) % stages, ("B", (part + 1) // stages, i))]


def idle_share(runs: Sequence[Run]) -> float:
    """The bubble: the share of the stages' total time, from the first start to the last end, in which they idle."""
    stages = 1 + max(run.stage for run in runs)
    total = max(run.end for run in runs) - min(run.start for run in runs)
    return 1 - sum(run.end - run.start for run in runs) / (stages * total)


def most_held(runs: Sequence[Run]) -> list[float]:
    """For each stage, the maximum number of micro-batches whose activations it holds, from "F" to the last "B" or "W".

    With several chunks, a micro-batch's activations in one chunk count as 1 / chunks.
    """
    stages, chunks = 1 + max(run.stage for run in runs), 1 + max(run.chunk for run in runs)
    last = "W" if any(run.kind == "W" for run in runs) else "B"
    most = [0] * stages
    for stage in range(stages):
        changes = [(run.start, 1) for run in runs if run.stage == stage and run.kind == "F"]
        changes += [(run.end, -1) for run in runs if run.stage == stage and run.kind == last]
        held = 0
        for _, change in sorted(changes):
            held += change
            most[stage] = max(most[stage], held)
    return [held / chunks for held in most]


def _positive(**numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise ValueError(f"{value} {name}: at least one is needed")
