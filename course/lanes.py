"""One training step in two lanes, compute and network, to see what hides behind what (chapter 14).

The model is the chapter's: a layer with ψ parameters computes 2ψ FLOPs per token in forward and 4ψ in backward, a
message takes its bytes divided by the bandwidth, and each lane does one job at a time. Latency is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from course.figures import BACKWARD, FORWARD, INK, NEUTRAL, WRONG

Kind = Literal["forward", "backward", "gather", "sum"]
LOOK: dict[str, tuple[str, str, str]] = {
    "forward": (FORWARD, "", "forward"),
    "backward": (BACKWARD, "///", "backward"),
    "gather": (NEUTRAL, "", "all-gather"),
    "sum": (WRONG, "...", "all-reduce or reduce-scatter"),
}
"""The color and hatching of each kind of job, and its name in the legend."""


@dataclass(frozen=True)
class Job:
    """One box of the drawing: what runs, for which layer, and when, in seconds."""

    kind: Kind
    layer: int
    start: float
    end: float

    @property
    def lane(self) -> Literal["compute", "network"]:
        """Where it runs."""
        return "compute" if self.kind in ("forward", "backward") else "network"


class _Lanes:
    """Jobs as they are added: each starts when its lane is free and what it waits for has ended."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.free = {"compute": 0.0, "network": 0.0}

    def run(self, kind: Kind, layer: int, takes: float, after: float = 0.0) -> Job:
        lane = Job(kind, layer, 0, 0).lane
        start = max(self.free[lane], after)
        job = Job(kind, layer, start, start + takes)
        self.free[lane] = job.end
        self.jobs.append(job)
        return job


def data_parallel(layers: int, forward: float, half: float) -> list[Job]:
    """A step of DDP with a bucket for each layer.

    Args:
        layers: how many.
        forward: seconds of a layer's forward; its backward takes twice as long.
        half: seconds of an all-gather or a reduce-scatter of a layer's weights; an all-reduce takes twice as long.
    """
    lanes = _Lanes()
    for layer in range(layers):
        lanes.run("forward", layer, forward)
    for layer in reversed(range(layers)):
        done = lanes.run("backward", layer, 2 * forward)
        lanes.run("sum", layer, 2 * half, done.end)
    return lanes.jobs


def zero_3(layers: int, forward: float, half: float) -> list[Job]:
    """A step of ZeRO's stage 3, which fetches the next layer's weights while a layer computes; arguments as above."""
    lanes = _Lanes()
    order: list[tuple[Kind, int]] = [("forward", layer) for layer in range(layers)]
    order += [("backward", layer) for layer in reversed(range(layers))]
    here = lanes.run("gather", 0, half)
    for at, (kind, layer) in enumerate(order):
        start = max(lanes.free["compute"], here.end)
        if at + 1 < len(order):
            here = lanes.run("gather", order[at + 1][1], half, start)
        done = lanes.run(kind, layer, forward if kind == "forward" else 2 * forward, start)
        if kind == "backward":
            lanes.run("sum", layer, half, done.end)
    return lanes.jobs


def tensor_parallel(layers: int, forward: float, all_reduce: float) -> list[Job]:
    """A step of tensor parallelism: two all-reduces per layer and direction, for which the next product waits.

    Args:
        layers: how many.
        forward: seconds of a rank's share of a layer's forward; its share of backward takes twice as long.
        all_reduce: seconds of one all-reduce of the layer's activations.
    """
    lanes = _Lanes()
    here = 0.0
    passes: list[tuple[Kind, int, float]] = [("forward", layer, forward) for layer in range(layers)]
    passes += [("backward", layer, 2 * forward) for layer in reversed(range(layers))]
    for kind, layer, takes in passes:
        for _ in ("attention", "MLP"):
            done = lanes.run(kind, layer, takes / 2, here)
            here = lanes.run("sum", layer, all_reduce, done.end).end
    return lanes.jobs


def waiting(jobs: Sequence[Job]) -> float:
    """Seconds of the step in which nothing is computed."""
    return max(job.end for job in jobs) - sum(job.end - job.start for job in jobs if job.lane == "compute")


def draw_lanes(steps: Sequence[tuple[str, Sequence[Job]]]) -> Figure:
    """Draw each step, a title and its jobs, in two lanes over milliseconds; numbers in the boxes are layers."""
    fig, axes = plt.subplots(len(steps), 1, figsize=(5.0, 1.5 * len(steps) + 0.6))
    for ax, (title, jobs) in zip(axes, steps, strict=True):
        end = 1e3 * max(job.end for job in jobs)
        for job in jobs:
            color, hatch, _ = LOOK[job.kind]
            y, wide = (1.0 if job.lane == "compute" else 0.0), 1e3 * (job.end - job.start)
            corner = 1e3 * job.start, y - 0.4
            ax.add_patch(Rectangle(corner, wide, 0.8, facecolor=color, hatch=hatch, edgecolor="white", linewidth=0.8))
            if wide > 0.03 * end:
                back = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85}
                at = 1e3 * job.start + wide / 2, y
                ax.text(*at, str(job.layer + 1), ha="center", va="center", fontsize=8, color=INK, bbox=back)
        ax.set(xlim=(0, end * 1.01), ylim=(-0.55, 1.55), yticks=[1, 0], yticklabels=["compute", "network"])
        ax.grid(visible=False)
        ax.set_title(title, fontsize=10)
    axes[-1].set_xlabel("milliseconds")
    kinds = [Patch(facecolor=c, hatch=h, edgecolor="white", label=name) for c, h, name in LOOK.values()]
    fig.legend(handles=kinds, loc="outside lower center", ncols=2, fontsize=8)
    return fig
