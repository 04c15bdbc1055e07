"""Pipeline schedules: each job once, none before what it needs, and the bubbles of the papers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from course.experiments.pipeline import (
    Orders,
    Run,
    gpipe,
    idle_share,
    interleaved,
    most_held,
    one_forward_one_backward,
    simulate,
    weights_apart,
)

TIMES = {"F": 1, "B": 2}
THIRDS = {"F": 1, "B": 1, "W": 1}
SIZES = [(1, 1), (1, 5), (2, 1), (3, 2), (4, 3), (4, 4), (4, 8), (8, 30)]
SCHEDULES = [gpipe, one_forward_one_backward]


def close(share: float, exact: Fraction) -> bool:
    return abs(share - exact) < 1e-12


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_both_have_the_bubble_of_the_formula(schedule, stages: int, microbatches: int) -> None:  # type: ignore[no-untyped-def]
    runs = simulate(schedule(stages, microbatches), TIMES)
    assert close(idle_share(runs), Fraction(stages - 1, microbatches + stages - 1))
    assert max(run.end for run in runs) == 3 * (microbatches + stages - 1)


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_what_is_held_is_all_or_no_more_than_stages(stages: int, microbatches: int) -> None:
    assert most_held(simulate(gpipe(stages, microbatches), TIMES)) == [microbatches] * stages
    held = most_held(simulate(one_forward_one_backward(stages, microbatches), TIMES))
    assert held == [min(stages - stage, microbatches) for stage in range(stages)]


@pytest.mark.parametrize(("stages", "microbatches", "chunks"), [(2, 2, 2), (4, 8, 2), (4, 16, 4), (8, 64, 2)])
def test_parts_divide_the_bubble_and_hold_more(stages: int, microbatches: int, chunks: int) -> None:
    runs = simulate(interleaved(stages, microbatches, chunks), TIMES, chunks)
    assert close(idle_share(runs), Fraction(stages - 1, chunks * microbatches + stages - 1))
    plain = most_held(simulate(one_forward_one_backward(stages, microbatches), TIMES))
    assert all(more >= less for more, less in zip(most_held(runs), plain, strict=True))


@pytest.mark.parametrize(("stages", "microbatches"), SIZES)
def test_weights_apart_fill_the_bubble_and_hold_no_more(stages: int, microbatches: int) -> None:
    runs = simulate(weights_apart(stages, microbatches), THIRDS)
    plain = simulate(one_forward_one_backward(stages, microbatches), TIMES)
    assert idle_share(runs) <= idle_share(plain)
    assert max(most_held(runs)) <= max(most_held(plain))
    assert stages == 1 or idle_share(runs) < idle_share(plain)
    if microbatches >= stages:  # the paper's: (p − 1)(T_F + T_B − T_W) beside 3m of work
        assert close(idle_share(runs), Fraction(stages - 1, 3 * microbatches + stages - 1))


def all_schedules() -> dict[str, tuple[list[Run], int]]:
    return {
        "gpipe": (simulate(gpipe(3, 6), TIMES), 1),
        "1f1b": (simulate(one_forward_one_backward(3, 6), TIMES), 1),
        "interleaved": (simulate(interleaved(3, 6, 2), TIMES, 2), 2),
        "weights apart": (simulate(weights_apart(3, 6), THIRDS), 1),
    }


@pytest.mark.parametrize("name", list(all_schedules()))
def test_each_job_runs_once_and_not_before_what_it_needs(name: str) -> None:
    runs, chunks = all_schedules()[name]
    kinds = "FBW" if name == "weights apart" else "FB"
    at = {(run.kind, run.chunk * 3 + run.stage, run.microbatch): run for run in runs}
    assert len(at) == len(runs) == len(kinds) * 3 * chunks * 6
    for (kind, part, i), run in at.items():
        if kind == "F":
            before = [("F", part - 1, i)]
        else:
            before = [("F", part, i), ("B", part + 1, i)] if kind == "B" else [("B", part, i)]
        assert all(at[key].end <= run.start for key in before if key in at)
    for stage in range(3):
        own = sorted((run.start, run.end) for run in runs if run.stage == stage)
        assert all(end <= start for (_, end), (start, _) in pairwise(own))


def test_stages_that_wait_for_each_other_are_an_error() -> None:
    orders: Orders = [[("B", 0, 0), ("F", 0, 0)], [("F", 0, 0), ("B", 0, 0)]]
    with pytest.raises(ValueError, match="wait for each other"):
        simulate(orders, TIMES)


def test_numbers_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="0 microbatches"):
        gpipe(2, 0)
    with pytest.raises(ValueError, match="0 stages"):
        one_forward_one_backward(0, 2)
    with pytest.raises(ValueError, match="3 micro-batches do not come in groups of 2"):
        interleaved(2, 3, 2)
