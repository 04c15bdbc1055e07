"""Wrong answers to plan_checkpoints: greedy plans, and results of another form."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch11_checkpointing.mistakes.plans import NO_LAYERS_YET, all_plans, cheapest_plan, plan_fits

NOTHING_FITS = 'if not plans:\nraise ValueError(f"no plan fits into {budget}")'
PLAN = "return min(plans.values())[1]"


def _of_plan(expression):
    """An edit: another result, computed from the best plan and its cost."""
    return {PLAN: f"cost, plan = min(plans.values())\nreturn {expression}"}


def _greedy(costs, sizes, budget, key):
    """Keep layers greedily in the order of `key`, if the plan fits with the layer or did not fit without it."""
    plan = []
    for i in sorted(range(len(costs)), key=key):
        longer = sorted([*plan, i])
        if plan_fits(longer, sizes, budget) or not plan_fits(plan, sizes, budget):
            plan = longer
    if not plan_fits(plan, sizes, budget):
        raise ValueError("nothing fits")
    return plan


@misconception(
    "plan_checkpoints",
    says="Greedy, the most expensive layer first, is not optimal: one that is expensive and large may push out two "
    "that cost more together. And what is kept first decides which runs are left. Compare whole plans.",
)
def dearest_first(costs, sizes, budget):
    return _greedy(costs, sizes, budget, key=lambda i: -costs[i])


@misconception(
    "plan_checkpoints",
    says="Greedy, the most cost per byte first, is not optimal: it leaves room unused, and runs that are too large. "
    "Compare whole plans.",
)
def most_cost_per_byte_first(costs, sizes, budget):
    return _greedy(costs, sizes, budget, key=lambda i: -costs[i] / max(sizes[i], 1e-9))


@misconception(
    "plan_checkpoints",
    says="Greedy, the smallest output first, is not optimal: small outputs may be cheap to recompute. Compare whole "
    "plans.",
)
def smallest_first(costs, sizes, budget):
    return _greedy(costs, sizes, budget, key=lambda i: sizes[i])


@misconception(
    "plan_checkpoints",
    says="Greedy: from all kept, the layer that is cheapest to recompute was dropped until the plan fitted. Dropping "
    "a layer may need more memory at first, and another order may end cheaper. Compare whole plans.",
)
def dropped_the_cheapest(costs, sizes, budget):
    plan = list(range(len(costs)))
    while not plan_fits(plan, sizes, budget):
        if not plan:
            raise ValueError("nothing fits")
        plan.remove(min(plan, key=lambda i: costs[i]))
    return plan


@misconception(
    "plan_checkpoints",
    says="Only evenly spaced plans were tried, every k-th layer. Layers differ: the best plan need not be even.",
)
def every_kth_layer(costs, sizes, budget):
    n = len(sizes)
    plans = [list(range(start, n, k)) for k in range(1, n + 1) for start in range(k)] + [[]]
    return cheapest_plan([plan for plan in plans if plan_fits(plan, sizes, budget)], costs)


@misconception(
    "plan_checkpoints",
    says="The last layer was always kept. It is a layer like the others: what follows the last kept layer is a run, "
    "too.",
)
def last_always_kept(costs, sizes, budget):
    last = len(sizes) - 1
    fitting = [plan for plan in all_plans(len(sizes)) if last in [*plan, -1] and plan_fits(plan, sizes, budget)]
    return cheapest_plan(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="The first layer was always kept. The stack's input is held anyway: the first layer can be recomputed from "
    "it.",
)
def first_always_kept(costs, sizes, budget):
    fitting = [plan for plan in all_plans(len(sizes)) if (not sizes or 0 in plan) and plan_fits(plan, sizes, budget)]
    return cheapest_plan(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="An empty stack is not an error. With no layers the plan that keeps nothing is the only one, and it fits: "
    "return [].",
)
def empty_plan_not_tried(costs, sizes, budget):
    return cheapest_plan([plan for plan in all_plans(len(sizes)) if plan and plan_fits(plan, sizes, budget)], costs)


@misconception(
    "plan_checkpoints",
    says="The plan that keeps every layer was not tried: combinations of 0 to n layers, n included.",
)
def full_plan_not_tried(costs, sizes, budget):
    n = len(sizes)
    return cheapest_plan(
        [plan for plan in all_plans(n) if (len(plan) < n or not n) and plan_fits(plan, sizes, budget)], costs
    )


the_layers_not_kept = mistake(
    "plan_checkpoints",
    _of_plan("[i for i in range(len(sizes)) if i not in plan]"),
    says="This lists the layers that are recomputed. Return the layers to keep.",
)
a_mask = mistake(
    "plan_checkpoints",
    _of_plan("[i in plan for i in range(len(sizes))]"),
    says="This is one True or False for each layer. Return the numbers of the layers to keep: [1, 3], not [False, "
    "True, False, True].",
)
a_mask_of_ones = mistake(
    "plan_checkpoints",
    _of_plan("[int(i in plan) for i in range(len(sizes))]"),
    says="This is a 1 or 0 for each layer. Return the numbers of the layers to keep: [1, 3], not [0, 1, 0, 1].",
)


@misconception("plan_checkpoints", says="Layers are counted from 0. Here they are counted from 1.")
def counted_from_one(costs, sizes, budget):
    plan = cheapest_plan([plan for plan in all_plans(len(sizes)) if plan_fits(plan, sizes, budget)], costs)
    return [i + 1 for i in plan]


the_cost_of_the_plan = mistake(
    "plan_checkpoints",
    _of_plan("cost"),
    says="This is what the plan costs. Return the plan: the layers to keep.",
)
a_set = mistake(
    "plan_checkpoints",
    _of_plan("set(plan)"),
    says="The right layers, but as a set. Return a list, ascending: sorted(…).",
)


@misconception(
    "plan_checkpoints",
    says="The right layers in the wrong order: found from the last one back. Ascending, please: sorted(…).",
)
def from_the_last_one_back(costs, sizes, budget):
    return cheapest_plan([plan for plan in all_plans(len(sizes)) if plan_fits(plan, sizes, budget)], costs)[::-1]


empty_where_nothing_fits = mistake(
    "plan_checkpoints",
    {NOTHING_FITS: "if not plans:\n    return []"},
    says="Where nothing fits, raise a ValueError. An empty plan, the lightest one or None looks like an answer, and "
    "the caller notices too late.",
)


@misconception(
    "plan_checkpoints",
    says="costs and sizes are swapped: the sizes of the layers not kept were made least, and costs were held to the "
    "budget.",
)
def costs_and_sizes_swapped(costs, sizes, budget):
    return cheapest_plan([plan for plan in all_plans(len(sizes)) if plan_fits(plan, costs, budget)], sizes)


all_sizes_alike = mistake(
    "plan_checkpoints",
    {NO_LAYERS_YET: f"sizes = [1] * len(sizes)\n{NO_LAYERS_YET}"},
    says="Sizes were counted as 1 each. Layers differ: add up sizes.",
)


@misconception(
    "plan_checkpoints",
    says="The most expensive layers are kept first, as long as they fit. What fits best depends on all of them: "
    "sizes count, too, and so does the largest run that is computed again.",
)
def dearest_that_still_fit(costs, sizes, budget):
    def need(plan):
        largest = run = 0
        for i, size in enumerate(sizes):
            run = 0 if i in plan else run + size
            largest = max(largest, run)
        return sum(sizes[i] for i in plan) + largest

    plan = set()
    for i in sorted(range(len(costs)), key=lambda i: (-costs[i], i)):
        if need(plan | {i}) <= budget:
            plan.add(i)
    if need(plan) > budget:
        raise ValueError(f"no plan fits into {budget}")
    return sorted(plan)
