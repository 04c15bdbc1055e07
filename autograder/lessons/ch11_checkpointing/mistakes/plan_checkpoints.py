"""Wrong answers to plan_checkpoints, with what is said of them."""

from __future__ import annotations

from itertools import pairwise

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch11_checkpointing.mistakes.plans import (
    NO_LAYERS_YET,
    all_plans,
    cheapest_plan,
    plan_fits,
    runs_of_plan,
)

KEEP = "keep = (kept + size, largest, 0), (spent, [*plan, i])"
DROP = "drop = (kept, max(largest, run + size), run + size), (spent + cost, plan)"
FITS = "if state[0] + state[1] <= budget and (state not in longer or entry < longer[state]):"


@misconception(
    "plan_checkpoints",
    says="The run after the last kept layer was forgotten: it is recomputed like the others and needs its memory.",
)
def forgot_the_last_run(costs, sizes, budget):
    fitting = [
        plan
        for plan in all_plans(len(sizes))
        if sum(sizes[i] for i in plan) + max(runs_of_plan(plan, sizes)[:-1], default=0) <= budget
    ]
    return cheapest_plan(fitting, costs)


forgot_the_first_run = mistake(
    "plan_checkpoints",
    {NO_LAYERS_YET: "plans = {(0, 0, -math.inf): (0, [])}"},
    says="The run before the first kept layer was forgotten: it is recomputed from the input and needs its memory.",
)
forgot_both_ends = mistake(
    "plan_checkpoints",
    {
        NO_LAYERS_YET: "plans = {(0, 0, -math.inf): (0, [])}",
        KEEP: "keep = (kept + size, max(largest, run), 0), (spent, [*plan, i])",
        DROP: "drop = (kept, largest, run + size), (spent + cost, plan)",
    },
    says="Only runs between two kept layers were counted. The one before the first and the one after the last need "
    "memory, too.",
)
runs_added_up = mistake(
    "plan_checkpoints",
    {DROP: "drop = (kept, largest + size, 0), (spent + cost, plan)"},
    says="The runs were added up. One run is recomputed at a time, and freed before the next: only the largest counts.",
)
runs_not_counted = mistake(
    "plan_checkpoints",
    {FITS: FITS.replace("state[0] + state[1]", "state[0]")},
    says="Only what is kept was counted. While a run is recomputed its outputs are held as well: add the largest run.",
)
kept_not_counted = mistake(
    "plan_checkpoints",
    {FITS: FITS.replace("state[0] + state[1]", "state[1]")},
    says="The largest run alone was counted. What is kept is held all the time: add it.",
)


@misconception(
    "plan_checkpoints",
    says="Kept outputs were counted twice: the kept layers at the ends of a run do not belong to the run.",
)
def kept_counted_twice(costs, sizes, budget):
    def needed(plan):
        ends = [-1, *plan, len(sizes)]
        return sum(sizes[i] for i in plan) + max(sum(sizes[max(a, 0) : b]) for a, b in pairwise(ends))

    return cheapest_plan([plan for plan in all_plans(len(sizes)) if needed(plan) <= budget], costs)


@misconception(
    "plan_checkpoints",
    says="The kept layer that ends a run was counted with the run: its output is kept, and counted there.",
)
def run_with_the_layer_that_ends_it(costs, sizes, budget):
    def needed(plan):
        ends = [-1, *plan, len(sizes)]
        return sum(sizes[i] for i in plan) + max(sum(sizes[a + 1 : b + 1]) for a, b in pairwise(ends))

    return cheapest_plan([plan for plan in all_plans(len(sizes)) if needed(plan) <= budget], costs)


largest_layer_for_the_largest_run = mistake(
    "plan_checkpoints",
    {DROP: "drop = (kept, max(largest, size), 0), (spent + cost, plan)"},
    says="The largest single layer that is not kept was counted. A whole run is held at once: add up its sizes.",
)


@misconception(
    "plan_checkpoints",
    says="The run with the most layers was taken for the largest. Sizes differ: the largest Σ sizes counts.",
)
def longest_run_for_the_largest(costs, sizes, budget):
    def needed(plan):
        ends = [-1, *plan, len(sizes)]
        a, b = max(pairwise(ends), key=lambda pair: pair[1] - pair[0])
        return sum(sizes[i] for i in plan) + sum(sizes[a + 1 : b])

    return cheapest_plan([plan for plan in all_plans(len(sizes)) if needed(plan) <= budget], costs)


@misconception(
    "plan_checkpoints",
    says="A plan that needs exactly the budget was left out: at most the budget, ≤, not <.",
)
def less_than_the_budget(costs, sizes, budget):
    fitting = [
        plan for plan in all_plans(len(sizes)) if sum(sizes[i] for i in plan) + max(runs_of_plan(plan, sizes)) < budget
    ]
    return cheapest_plan(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="The cost of what is kept was minimized. What is not kept is recomputed: minimize the cost of that.",
)
def least_cost_kept(costs, sizes, budget):
    fitting = [plan for plan in all_plans(len(sizes)) if plan_fits(plan, sizes, budget)]
    if not fitting:
        raise ValueError("nothing fits")
    return min(fitting, key=lambda plan: sum(costs[i] for i in plan))


most_layers_kept = mistake(
    "plan_checkpoints",
    {
        KEEP: "keep = (kept + size, largest, 0), (spent - 1, [*plan, i])",
        DROP: "drop = (kept, max(largest, run + size), run + size), (spent, plan)",
    },
    says="As many layers as possible are kept. Layers cost differently: minimize Σ costs of the others.",
)


@misconception(
    "plan_checkpoints",
    says="The plan that needs the least memory was chosen. The budget may be used up: of all plans that fit, the one "
    "that recomputes least.",
)
def least_memory(costs, sizes, budget):
    fitting = [plan for plan in all_plans(len(sizes)) if plan_fits(plan, sizes, budget)]
    if not fitting:
        raise ValueError("nothing fits")
    return min(fitting, key=lambda plan: sum(sizes[i] for i in plan) + max(runs_of_plan(plan, sizes)))


@misconception(
    "plan_checkpoints",
    says="The plan that keeps the most memory was chosen. Sizes only decide what fits; what counts is Σ costs of the "
    "layers not kept.",
)
def most_memory_kept(costs, sizes, budget):
    fitting = [plan for plan in all_plans(len(sizes)) if plan_fits(plan, sizes, budget)]
    if not fitting:
        raise ValueError("nothing fits")
    return max(fitting, key=lambda plan: sum(sizes[i] for i in plan))


first_that_fits = mistake(
    "plan_checkpoints",
    {
        KEEP: "keep = (kept + size, largest, 0), (spent + 1, [*plan, i])",
        DROP: "drop = (kept, max(largest, run + size), run + size), (spent, plan)",
    },
    says="The first plan that fits was returned, the one with the fewest layers. Compare the costs of all that fit.",
)
