"""The two lanes of chapter 14: each does one job at a time, and what waits, waits as the chapter's formula says."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest

from course.lanes import Job, data_parallel, tensor_parallel, waiting, zero_3

STEPS = {"DDP": data_parallel, "ZeRO-3": zero_3, "tensor parallel": tensor_parallel}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("message", [0.3, 1.0, 2.5])
def test_a_lane_does_one_job_at_a_time(step: Callable[[int, float, float], list[Job]], message: float) -> None:
    jobs = step(5, 1.0, message)
    for lane in ("compute", "network"):
        for before, after in pairwise(job for job in jobs if job.lane == lane):
            assert before.end <= after.start
    assert math.isclose(sum(job.end - job.start for job in jobs if job.lane == "compute"), 15)


def test_messages_are_those_of_the_chapter() -> None:
    def sent(jobs: list[Job]) -> float:
        return sum(job.end - job.start for job in jobs if job.lane == "network")

    assert math.isclose(sent(data_parallel(5, 1.0, 0.5)), 2 * 5 * 0.5)
    assert math.isclose(sent(zero_3(5, 1.0, 0.5)), 3 * 5 * 0.5)
    assert math.isclose(sent(tensor_parallel(5, 1.0, 0.5)), 4 * 5 * 0.5)


def test_above_the_threshold_only_the_ends_wait() -> None:
    for layers in (2, 5, 30):
        assert math.isclose(waiting(data_parallel(layers, 1.0, 1.0)), 2)
        assert math.isclose(waiting(zero_3(layers, 1.0, 1.0)), 2)
    assert waiting(data_parallel(30, 1.0, 1.1)) > waiting(data_parallel(5, 1.0, 1.1)) > 2.2
    assert waiting(zero_3(30, 1.0, 1.1)) > waiting(zero_3(5, 1.0, 1.1)) > 2.2


def test_nothing_hides_an_all_reduce_of_activations() -> None:
    for message in (0.1, 1.0, 3.0):
        assert math.isclose(waiting(tensor_parallel(7, 1.0, message)), 4 * 7 * message)


@pytest.mark.parametrize("step", [data_parallel, zero_3])
def test_a_layer_sends_its_gradient_after_its_backward(step: Callable[[int, float, float], list[Job]]) -> None:
    jobs = step(4, 1.0, 1.7)
    ends = {job.layer: job.end for job in jobs if job.kind == "backward"}
    assert all(job.start >= ends[job.layer] for job in jobs if job.kind == "sum")


def test_weights_are_there_before_a_layer_computes_and_one_layer_early_at_most() -> None:
    jobs = zero_3(4, 1.0, 0.7)
    gathers = [job for job in jobs if job.kind == "gather"]
    computes = [job for job in jobs if job.lane == "compute"]
    assert [job.layer for job in gathers] == [job.layer for job in computes]
    assert all(g.end <= c.start for g, c in zip(gathers, computes, strict=True))
    assert all(g.start >= c.start for g, c in zip(gathers[1:], computes, strict=False))
