"""Schedules of a pipeline, moment by moment: what each stage computes, what it holds, and how long it has been idle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from IPython.display import HTML

from course.experiments.pipeline import (
    Orders,
    Run,
    gpipe,
    interleaved,
    one_forward_one_backward,
    simulate,
    weights_apart,
)
from course.widgets import require_stops, show
from course.widgets.frames import Frame

STAGES = (2, 4, 8)
MICROBATCHES = (1, 2, 4, 8, 16, 32)
"""Where the sliders stop."""


@dataclass(frozen=True)
class Schedule:
    """A schedule's name on the controls, how long its jobs take, and the parts of the model on a stage."""

    words: str
    durations: dict[str, float]
    chunks: int = 1


_WHOLE, _APART = {"F": 1.0, "B": 2.0}, {"F": 1.0, "B": 1.0, "W": 1.0}
SCHEDULES = {
    "gpipe": Schedule("GPipe", _WHOLE),
    "1f1b": Schedule("1F1B", _WHOLE),
    "interleaved": Schedule("1F1B, interleaved", _WHOLE, 2),
    "apart": Schedule("1F1B, weights apart", _APART),
}
"""Forward takes one unit of time, and backward two, in one job or in two."""


def orders(schedule: str, stages: int, microbatches: int) -> Orders:
    """The jobs of each stage. A schedule that is not in `SCHEDULES` is a `KeyError`."""
    if schedule == "interleaved":
        return interleaved(stages, microbatches, SCHEDULES[schedule].chunks)
    makers = {"gpipe": gpipe, "1f1b": one_forward_one_backward, "apart": weights_apart}
    return makers[schedule](stages, microbatches)


def simulated(schedule: str, stages: int, microbatches: int) -> list[Run]:
    """Every job with its time. What cannot be scheduled is a `ValueError`, as in `course.experiments.pipeline`."""
    of = SCHEDULES[schedule]
    return simulate(orders(schedule, stages, microbatches), of.durations, of.chunks)


def possible(schedule: str, stages: int, microbatches: int) -> bool:
    """Interleaving takes micro-batches in groups of one for each stage."""
    return schedule != "interleaved" or microbatches % stages == 0


@cache
def tables() -> dict[str, list[str]]:
    """By "schedule/stages/micro-batches", the runs of each stage in four characters each.

    They are the kind, small for the second part of the model, the micro-batch and, in two characters, the start in half
    units of time, all to the base of 36.
    """
    found = {}
    for schedule in SCHEDULES:
        for stages in STAGES:
            for microbatches in MICROBATCHES:
                if possible(schedule, stages, microbatches):
                    texts = [""] * stages
                    for run in simulated(schedule, stages, microbatches):
                        texts[run.stage] += _written(run)
                    found[f"{schedule}/{stages}/{microbatches}"] = texts
    return found


def _written(run: Run) -> str:
    microbatch, start = (np.base_repr(n, 36).lower() for n in (run.microbatch, round(2 * run.start)))
    return (run.kind.lower() if run.chunk else run.kind) + microbatch + start.zfill(2)


def pipeline(
    schedule: str = "gpipe", stages: int = 4, microbatches: int = 8, figure: str = "", frame: Frame | None = None
) -> HTML:
    """Schedules of a pipeline as timelines, with sliders for stages and micro-batches, and one for time.

    Shown first with these settings, at the first moment at which a stage holds the most. Everything comes from
    `course.experiments.pipeline`. A value at which no control can be set, or a number of micro-batches that cannot be
    interleaved, is a `ValueError`.
    """
    start = {"schedule": schedule, "stages": stages, "microbatches": microbatches}
    stops = {"schedule": tuple(SCHEDULES), "stages": STAGES, "microbatches": MICROBATCHES}
    require_stops(start, stops)
    if not possible(schedule, stages, microbatches):
        raise ValueError(f"{microbatches} micro-batches do not come in groups of {stages}, one for each stage")
    kinds = {
        name: {"words": of.words, "durations": of.durations, "chunks": of.chunks} for name, of in SCHEDULES.items()
    }
    return show("pipeline", {"tables": tables(), "schedules": kinds, "stops": stops, "start": start}, figure, frame)
