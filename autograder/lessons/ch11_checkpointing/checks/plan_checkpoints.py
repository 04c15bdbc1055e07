"""Checks of plan_checkpoints."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

from autograder.judging import (
    exercise,
    expect,
    expect_close,
    expect_raises,
)
from autograder.judging.records.errors import Raised
from autograder.judging.records.record import current_record
from autograder.lessons.ch11_checkpointing.checks.integers import IDENTICAL, is_int
from autograder.values import number, summarise

MOST_PLANNED = 12


def memory_of(plan: list[int], sizes: list[float]) -> tuple[float, float]:
    """The size of a plan's kept layers, and of its largest run of layers that are not kept."""
    ends = [-1, *plan, len(sizes)]
    return sum(sizes[i] for i in plan), max(sum(sizes[a + 1 : b]) for a, b in pairwise(ends))


def cost_of(plan: list[int], costs: list[float]) -> float:
    """The cost of the layers that a plan recomputes."""
    return sum(cost for i, cost in enumerate(costs) if i not in plan)


def told_memory(plan: list[int], costs: list[float], sizes: list[float], budget: float) -> str:
    """A sentence that says whether a plan fits, and why."""
    kept, run = memory_of(plan, sizes)
    verdict = "fits" if kept + run <= budget else "does not fit"
    return (
        f"{plan} {verdict}: {number(kept)} for what it keeps and {number(run)} for its largest run are "
        f"{number(kept + run)}, the budget is {number(budget)} (costs {costs}, sizes {sizes})."
    )


def check_plan(learner, reference, costs: list[float], sizes: list[float], budget: float, *, case: str):
    """Expect a plan that fits at minimal cost; any of several is accepted."""
    show = current_record().visible
    best = reference.plan_checkpoints(costs, sizes, budget)
    try:
        got = learner.plan_checkpoints(costs, sizes, budget)
    except Raised as raised:
        if "ValueError" not in raised.failure.bases:
            raise
        fits = told_memory(best, costs, sizes, budget) if show else "there is a plan that fits."
        expect(False, f"{raised} But {fits}", case=case)
        return
    listed = isinstance(got, list | tuple) and all(map(is_int, got))
    message = f"plan_checkpoints returned {summarise(got, show_numbers=show)}; a list of layer numbers expected."
    expect(listed, message, case=case, instead="number" if isinstance(got, int | float) else type(got).__name__)
    if not listed:
        return
    plan = [int(i) for i in got]
    told = str(plan) if show and len(plan) <= MOST_PLANNED else "The list"
    known = all(0 <= i < len(costs) for i in plan)
    expect(known, f"{told} names a layer that is not there: they are counted from 0 to n − 1.", case=case)
    if not known:
        return
    ascending = plan == sorted(set(plan))
    expect(ascending, f"{told} is not in ascending order, each layer once.", case=case)
    if not ascending:
        return
    kept, run = memory_of(plan, sizes)
    message = told_memory(plan, costs, sizes, budget) if show else "The plan needs more memory than the budget."
    expect(kept + run <= budget, message, case=case)
    if kept + run <= budget:
        name = f"the cost of {plan}" if show else "the cost of the plan"
        expect_close(float(cost_of(plan, costs)), float(cost_of(best, costs)), names=(name,), case=case, **IDENTICAL)


def integers(rng, n: int, low: int = 1, high: int = 9) -> list[int]:
    return rng.integers(low, high + 1, size=n).tolist()


def tight_budget(rng, sizes: list[float], tries: int = 6) -> float:
    """The exact memory of the lightest of some random plans."""
    plans = (np.flatnonzero(rng.random(len(sizes)) < rng.uniform(0.2, 0.7)).tolist() for _ in range(tries))
    return min(sum(memory_of(plan, sizes)) for plan in plans)


def least_memory(sizes: list[float]) -> float:
    """The memory of the lightest plan of all."""
    n = len(sizes)
    return min(sum(memory_of(list(plan), sizes)) for k in range(n + 1) for plan in combinations(range(n), k))


def public() -> np.random.Generator:
    """A generator for checks on visible inputs only, whose plan is the same for all numbers drawn."""
    return np.random.default_rng(11)


@exercise("plan_checkpoints")
def test_one_kept_of_three(learner, reference):
    """Three layers of one size, and room for two of them: the middle one has to be kept."""
    rng = public()
    for size in (1, int(rng.integers(2, 9))):
        for costs in ([1, 1, 1], integers(rng, 3), [1, 1, 9]):
            check_plan(learner, reference, costs, [size] * 3, 2 * size, case="three layers, room for two")


@exercise("plan_checkpoints")
def test_room_for_all(learner, reference):
    """Where all outputs fit, all are kept."""
    rng = public()
    for n in (1, 2, 5):
        costs, sizes = integers(rng, n), integers(rng, n)
        for more, words in [(0, "just room"), (int(rng.integers(1, 20)), "more than room")]:
            case = f"{n} layer{'s' * (n > 1)}, {words} for all"
            check_plan(learner, reference, costs, sizes, sum(sizes) + more, case=case)


@exercise("plan_checkpoints")
def test_runs_at_both_ends(learner, reference):
    """The run before the first kept layer and the one after the last count like the others."""
    rng = public()
    for _ in range(2):
        size, cheap, dear = int(rng.integers(1, 5)), integers(rng, 1, 1, 3), integers(rng, 2, 4, 9)
        costs, sizes = cheap + dear, [5 * size, size, size]
        check_plan(learner, reference, costs, sizes, 6 * size, case="a large layer at the beginning")
        check_plan(learner, reference, costs[::-1], sizes[::-1], 6 * size, case="a large layer at the end")


@exercise("plan_checkpoints")
def test_layers_of_one_kind(learner, reference):
    """Equal layers, as in a transformer: the fewer fit, the more evenly they have to be spread."""
    rng = public()
    for n in (4, 6, 9):
        cost, size = integers(rng, 2)
        least = least_memory([1] * n)
        for budget in (least, least + 1, n - 1):
            case = f"{n} equal layers, room for {budget} and a half"
            check_plan(learner, reference, [cost] * n, [size] * n, (budget + 0.5) * size, case=case)


@exercise("plan_checkpoints")
def test_layers_that_differ(learner, reference, rng):
    """Random costs and sizes, a budget that some plan meets with a little to spare."""
    for n in (2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8):
        costs, sizes = integers(rng, n), integers(rng, n)
        check_plan(learner, reference, costs, sizes, tight_budget(rng, sizes) + 0.5, case=f"{n} layers")


@exercise("plan_checkpoints")
def test_small_and_large_outputs(learner, reference, rng):
    """Small outputs between large ones that are cheap or dear to compute again: attention and matrix products."""
    for blocks in (2, 3, 4):
        costs = [c for _ in range(blocks) for c in (*integers(rng, 1, 5, 9), *integers(rng, 1, 1, 4))]
        sizes = [s for _ in range(blocks) for s in (*integers(rng, 1, 1, 3), *integers(rng, 1, 8, 16))]
        for _ in range(2):
            case = f"{blocks} blocks, each a small and a large output"
            check_plan(learner, reference, costs, sizes, tight_budget(rng, sizes) + 0.5, case=case)
            costs.reverse(), sizes.reverse()


@exercise("plan_checkpoints")
def test_zeros(learner, reference, rng):
    """What takes no memory is kept for nothing; what costs nothing need not be kept."""
    for n in (2, 4, 6):
        costs, sizes = integers(rng, n), integers(rng, n)
        free = int(rng.integers(n))
        without = [0 if i == free else size for i, size in enumerate(sizes)]
        check_plan(learner, reference, costs, without, tight_budget(rng, without), case=f"{n} layers, one of size 0")
        check_plan(learner, reference, costs, [0] * n, 0, case=f"{n} layers of size 0, a budget of 0")
        cheap = [0 if i == free else cost for i, cost in enumerate(costs)]
        check_plan(learner, reference, cheap, sizes, tight_budget(rng, sizes), case=f"{n} layers, one of cost 0")


@exercise("plan_checkpoints")
def test_fractions(learner, reference, rng):
    """Costs, sizes and budgets that are floats."""
    for n in (2, 3, 4, 5, 6):
        costs, sizes = ([value / 8 for value in integers(rng, n, 1, 40)] for _ in range(2))
        check_plan(learner, reference, costs, sizes, tight_budget(rng, sizes), case=f"{n} layers, fractions")
    for eighths, words in [((1, 5), "just above"), ((3, 7), "just below")]:  # what rounding makes smaller, and larger
        costs = [value / 8 for value in integers(rng, 5, 1, 40)]
        sizes = [float(rng.integers(1, 5)) + float(rng.choice(eighths)) / 8 for _ in range(5)]
        least, case = least_memory(sizes), f"5 layers, sizes {words} a half or a whole number"
        check_plan(learner, reference, costs, sizes, least, case=f"{case}, a budget that the lightest plan just meets")
        case = f"{case}, a budget that is 1/8 too small"
        expect_raises(ValueError, learner.plan_checkpoints, costs, sizes, least - 1 / 8, case=case)


@exercise("plan_checkpoints")
def test_nothing_fits(learner, reference, rng):
    """A ValueError where even the lightest plan needs more than the budget, and a plan where it just fits."""
    for n in (1, 2, 3, 5, 7, 9):
        costs, sizes = integers(rng, n), integers(rng, n)
        least = least_memory(sizes)
        words = f"{n} layer{'s' * (n > 1)}"
        for less in (1, int(rng.integers(1, least + 1)), least):
            case = f"{words}, a budget that no plan meets"
            expect_raises(ValueError, learner.plan_checkpoints, costs, sizes, least - less, case=case)
        check_plan(learner, reference, costs, sizes, least, case=f"{words}, a budget that the lightest plan just meets")


@exercise("plan_checkpoints")
def test_no_layers(learner, reference):
    """One layer or none."""
    rng = public()
    cost, size = integers(rng, 2)
    check_plan(learner, reference, [cost], [size], size, case="one layer that fits")
    for budget in (0, int(rng.integers(1, 9))):
        check_plan(learner, reference, [], [], budget, case="no layers")


@exercise("plan_checkpoints")
def test_twelve_layers(learner, reference, rng):
    """As many layers as there may be."""
    for high in (5, 30):
        costs, sizes = integers(rng, MOST_PLANNED, 1, high), integers(rng, MOST_PLANNED, 1, high)
        check_plan(learner, reference, costs, sizes, tight_budget(rng, sizes, 20) + 0.5, case=f"{MOST_PLANNED} layers")
