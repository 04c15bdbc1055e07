"""Lines of plan_checkpoints, and an enumeration of all plans."""

from __future__ import annotations

from itertools import combinations, pairwise

NO_LAYERS_YET = "plans = {(0, 0, 0): (0, [])}"


def all_plans(n):
    """All plans of n layers, the empty one first."""
    return [list(plan) for k in range(n + 1) for plan in combinations(range(n), k)]


def runs_of_plan(plan, sizes):
    """The sizes of the runs of layers before, between and after the kept ones."""
    ends = [-1, *plan, len(sizes)]
    return [sum(sizes[a + 1 : b]) for a, b in pairwise(ends)]


def plan_fits(plan, sizes, budget):
    return sum(sizes[i] for i in plan) + max(runs_of_plan(plan, sizes)) <= budget


def _spent(plan, costs):
    return sum(cost for i, cost in enumerate(costs) if i not in plan)


def cheapest_plan(plans, costs):
    if not plans:
        raise ValueError("nothing fits")
    return min(plans, key=lambda plan: _spent(plan, costs))
