"""The widget of pipeline schedules: what each stage computes and holds at each moment, and how long it was idle."""

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
"""The values of the sliders."""


@dataclass(frozen=True)
class Schedule:
    """A schedule's name on the controls, the durations of its jobs, and the number of model parts on each stage."""

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
"""Forward takes one unit of time and backward two, as one job or as two."""


def orders(schedule: str, stages: int, microbatches: int) -> Orders:
    """The jobs of each stage. `KeyError` if the schedule is not in `SCHEDULES`."""
    if schedule == "interleaved":
        return interleaved(stages, microbatches, SCHEDULES[schedule].chunks)
    makers = {"gpipe": gpipe, "1f1b": one_forward_one_backward, "apart": weights_apart}
    return makers[schedule](stages, microbatches)


def simulated(schedule: str, stages: int, microbatches: int) -> list[Run]:
    """Every job with its times. `ValueError` if it cannot be scheduled, as in `course.experiments.pipeline`."""
    of = SCHEDULES[schedule]
    return simulate(orders(schedule, stages, microbatches), of.durations, of.chunks)


def possible(schedule: str, stages: int, microbatches: int) -> bool:
    """Whether the schedule exists: interleaving needs a multiple of `stages` micro-batches."""
    return schedule != "interleaved" or microbatches % stages == 0


@cache
def tables() -> dict[str, list[str]]:
    """The runs of each stage as texts, by "schedule/stages/micro-batches"; a run has four characters.

    They are the kind, in lower case for the second part of the model; the micro-batch; and, in two characters, the
    start in half units of time. Numbers are in base 36.
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
    """Pipeline schedules as timelines, with sliders for stages, micro-batches and time.

    It starts with these settings, at the first moment at which a stage holds the most. All numbers come from
    `course.experiments.pipeline`. `ValueError` if a setting is not a value of its control, or the micro-batches cannot
    be interleaved.
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
