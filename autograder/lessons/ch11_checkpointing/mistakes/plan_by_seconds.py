"""Wrong answers to plan_by_seconds, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

WANTED = "if i not in plan and (needed[i] or i in wanted):"
READ = "wanted.update(reads[i])"
FITS = "fitting = [plan for plan in plans if sum(sizes[i] for i in plan) <= budget]"
BEST = "return min(fitting, key=added)"

what_it_reads_is_there = mistake(
    "plan_by_seconds",
    {READ: "pass"},
    says="What an operation reads was taken to be there. If it is not kept, it has to be computed again first.",
)
all_that_is_not_kept = mistake(
    "plan_by_seconds",
    {WANTED: "if i not in plan:"},
    says="Everything that is not kept was computed again. What backward does not need, and nothing that runs again "
    "reads, need not run.",
)
through_what_is_kept = mistake(
    "plan_by_seconds",
    {
        READ: "pass",
        WANTED: """\
if needed[i] or i in wanted:
    wanted.update(reads[i])
if i not in plan and (needed[i] or i in wanted):""",
    },
    says="What a kept result was made from was computed again. A kept result is there: it needs nothing before it.",
)
exactly_the_budget_left_out = mistake(
    "plan_by_seconds",
    {FITS: FITS.replace("<= budget", "< budget or not plan")},
    says="A plan that takes exactly the budget was left out: at most the budget, ≤, not <.",
)
only_needed_ones_kept = mistake(
    "plan_by_seconds",
    {FITS: FITS.replace("<= budget]", "<= budget and all(needed[i] for i in plan)]")},
    says="Only results that backward needs were kept. Any may be: a small one that several slow operations lead to "
    "can spare the most.",
)
recomputed_ones_returned = mistake(
    "plan_by_seconds",
    {BEST: "return [i for i in range(n) if i not in min(fitting, key=added)]"},
    says="These are the results that are not kept. Return those to keep.",
)
most_bytes_kept = mistake(
    "plan_by_seconds",
    {BEST: "return max(fitting, key=lambda plan: sum(sizes[i] for i in plan))"},
    says="The plan that keeps the most bytes was chosen. Bytes only decide what fits; the time added is what counts.",
)
slowest_kept = mistake(
    "plan_by_seconds",
    {BEST: "return max(fitting, key=lambda plan: sum(times[i] for i in plan))"},
    says="The plan whose kept results took the most time was chosen. What counts is the time of everything that runs "
    "again, with what it reads.",
)


@misconception(
    "plan_by_seconds",
    says="Only what a recomputed operation reads itself was computed again. What that reads has to be there, too.",
)
def one_step_back(reads, needed, sizes, times, budget):
    n = len(reads)

    def added(plan):
        lacking = {i for i in range(n) if needed[i] and i not in plan}
        lacking |= {j for i in lacking for j in reads[i] if j not in plan}
        return sum(times[i] for i in lacking)

    plans = ([i for i in range(n) if mask >> i & 1] for mask in range(2**n))
    return min((plan for plan in plans if sum(sizes[i] for i in plan) <= budget), key=added)


@misconception(
    "plan_by_seconds",
    says="An operation whose result several others read was counted once for each. It runs again at most once.",
)
def counted_for_each_reader(reads, needed, sizes, times, budget):
    n = len(reads)

    def added(plan):
        def again(i):
            return 0 if i in plan else times[i] + sum(again(j) for j in reads[i])

        return sum(again(i) for i in range(n) if needed[i])

    plans = ([i for i in range(n) if mask >> i & 1] for mask in range(2**n))
    return min((plan for plan in plans if sum(sizes[i] for i in plan) <= budget), key=added)


@misconception(
    "plan_by_seconds",
    says="Results were kept in order of microseconds per byte, as long as there was room. Compare whole plans: two "
    "small results can spare more than the best one, and what runs again depends on all that is kept.",
)
def most_time_per_byte_first(reads, needed, sizes, times, budget):
    plan, left = [], budget
    for i in sorted(range(len(reads)), key=lambda i: -times[i] / max(sizes[i], 1e-9)):
        if needed[i] and sizes[i] <= left:
            plan.append(i)
            left -= sizes[i]
    return sorted(plan)


@misconception(
    "plan_by_seconds",
    says="Results were kept from the first on, as long as there was room. Compare all plans that fit.",
)
def first_ones_kept(reads, needed, sizes, times, budget):
    plan, left = [], budget
    for i in range(len(reads)):
        if needed[i] and sizes[i] <= left:
            plan.append(i)
            left -= sizes[i]
    return plan
