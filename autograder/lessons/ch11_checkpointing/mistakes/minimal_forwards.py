"""Wrong answers to minimal_forwards, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

PATIENCE = 300_000
"""Number of calls after which an exponential answer gives up, as the judge would."""


NO_SWEEPS = "sweeps = 0"
TOO_FEW_SWEEPS = "while math.comb(slots + sweeps, slots) < n_steps:"
FORWARDS = "return sweeps * n_steps - math.comb(slots + sweeps, slots + 1)"
FORMULA = f"{NO_SWEEPS}\n{TOO_FEW_SWEEPS}\nsweeps += 1\n{FORWARDS}"


def _recurrence(steps, states="range(1, n)", one_step="0", one_slot="n * (n - 1) // 2"):
    """An edit: T(n, s) as the minimum of `steps` over the states j that may be stored."""
    return {
        FORMULA: f"""\
from functools import cache

@cache
def least(n, s):
    if n == 1:
        return {one_step}
    if s == 1:
        return {one_slot}
    return min({steps} for j in {states})

return least(n_steps, slots)"""
    }


def _wrong_binomial(which):
    return f"The wrong binomial is subtracted: C(s + r, s + 1), not {which}."


taped_steps_counted = mistake(
    "minimal_forwards",
    {FORWARDS: f"{FORWARDS} + n_steps"},
    says="The taped run of each step was counted, too: that is n_steps too many. Count only what is advanced without "
    "taping.",
)
state_0_outside_the_slots = mistake(
    "minimal_forwards",
    {NO_SWEEPS: f"slots += 1\n{NO_SWEEPS}"},
    says="One slot too many: state 0 is in one of the slots, so there are slots − 1 for other states. Many texts count "
    "the starting state apart.",
)
state_at_hand_in_a_slot = mistake(
    "minimal_forwards",
    {NO_SWEEPS: f"slots = max(slots - 1, 1)\n{NO_SWEEPS}"},
    says="One slot too few: the state at hand needs none of its own.",
)
subtracted_the_same_binomial = mistake(
    "minimal_forwards",
    {FORWARDS: "return sweeps * n_steps - math.comb(slots + sweeps, slots)"},
    says=_wrong_binomial("C(s + r, s)"),
)
subtracted_the_binomial_before = mistake(
    "minimal_forwards",
    {FORWARDS: "return sweeps * n_steps - math.comb(slots + sweeps, slots - 1)"},
    says=_wrong_binomial("C(s + r, s − 1)"),
)
subtracted_one_row_further = mistake(
    "minimal_forwards",
    {FORWARDS: "return sweeps * n_steps - math.comb(slots + sweeps + 1, slots + 1)"},
    says=_wrong_binomial("C(s + r + 1, s + 1)"),
)
subtracted_one_row_before = mistake(
    "minimal_forwards",
    {FORWARDS: "return sweeps * n_steps - math.comb(slots + sweeps - 1, slots + 1)"},
    says=_wrong_binomial("C(s + r − 1, s + 1)"),
)
r_one_too_large = mistake(
    "minimal_forwards",
    {FORWARDS: f"sweeps += 1\n{FORWARDS}"},
    says="r is one too large: the least number with C(s + r, s) ≥ n, and r may be 0.",
)
r_one_too_small = mistake(
    "minimal_forwards",
    {TOO_FEW_SWEEPS: "while math.comb(slots + sweeps + 1, slots) <= n_steps:"},
    says="r is one too small: it is the least number with C(s + r, s) ≥ n, not the largest with C(s + r, s) ≤ n.",
)
r_of_another_binomial = mistake(
    "minimal_forwards",
    {TOO_FEW_SWEEPS: "while math.comb(sweeps, slots) < n_steps:"},
    says="r was looked for in C(r, s) ≥ n: it is C(s + r, s).",
)
from_state_0_every_time = mistake(
    "minimal_forwards",
    {FORMULA: "return n_steps * (n_steps - 1) // 2"},
    says="The slots do not matter here: every step back starts again at state 0. Store states on the way, and start "
    "from the nearest one.",
)
one_sweep = mistake(
    "minimal_forwards",
    {FORMULA: "return n_steps - 1"},
    says="These are the steps of a single sweep. With fewer slots than states some have to be advanced over again.",
)
first_sweep_free = mistake(
    "minimal_forwards",
    {FORWARDS: f"{FORWARDS} - (n_steps - 1)"},
    says="The first sweep, which stores the states, was not counted. Its steps are advanced without taping like the "
    "others.",
)


@misconception(
    "minimal_forwards",
    says="These are equal segments, one for each slot, and inside each you start from its beginning every time. "
    "Slots whose states are used up are free: use them for the segment that comes next.",
)
def equal_segments(n_steps, slots):
    segments = min(slots, n_steps)
    lengths = [n_steps // segments + (i < n_steps % segments) for i in range(segments)]
    return n_steps - lengths[-1] + sum(length * (length - 1) // 2 for length in lengths)


slots_used_once = mistake(
    "minimal_forwards",
    _recurrence("j + least(n - j, s - 1) + j * (j - 1) // 2"),
    says="A slot is used only once here. Once the right part is taken back its slots are free: the left part has all "
    "slots, too.",
)
left_part_without_the_slot = mistake(
    "minimal_forwards",
    _recurrence("j + least(n - j, s - 1) + least(j, s - 1)"),
    says="The left part got one slot less. When its turn comes, the slot that the right part began in is free again: "
    "T(j, s).",
)
right_part_with_all_slots = mistake(
    "minimal_forwards",
    _recurrence("j + least(n - j, s) + least(j, s)"),
    says="The right part got all the slots. While it runs, one of them holds state 0: T(n − j, s − 1). The left part "
    "runs afterwards, and has all of them.",
)
always_in_the_middle = mistake(
    "minimal_forwards",
    _recurrence("j + least(n - j, s - 1) + least(j, s)", states="[n // 2]"),
    says="The state was always stored in the middle. That is not the best place: the right part has fewer slots. Try "
    "every j.",
)
way_to_the_state_free = mistake(
    "minimal_forwards",
    _recurrence("least(n - j, s - 1) + least(j, s)"),
    says="The advance to the stored state was not counted: j steps cost j.",
)


@misconception(
    "minimal_forwards",
    says="The same T(n, s) is computed again and again, exponentially often. Remember what you computed: "
    "functools.cache, or a table.",
)
def nothing_remembered(n_steps, slots):
    calls = 0

    def least(n, s):
        nonlocal calls
        calls += 1
        if calls > PATIENCE:
            raise TimeoutError
        if n == 1 or s == 1:
            return n * (n - 1) // 2
        return min(j + least(n - j, s - 1) + least(j, s) for j in range(1, n))

    return least(n_steps, slots)


one_step_too_many_with_one_slot = mistake(
    "minimal_forwards",
    _recurrence("j + least(n - j, s - 1) + least(j, s)", one_slot="n * (n + 1) // 2"),
    says="With one slot n steps cost n (n − 1) / 2, not n (n + 1) / 2: the step that is taken back is taped, and taped "
    "runs do not count.",
)
one_step_costs_one = mistake(
    "minimal_forwards",
    _recurrence("j + least(n - j, s - 1) + least(j, s)", one_step="1"),
    says="One step back is one taped run: T(1, s) is 0, not 1.",
)
forwards_as_a_float = mistake(
    "minimal_forwards",
    {FORWARDS: "return float(sweeps * n_steps - math.comb(slots + sweeps, slots + 1))"},
    says="A float. A number of steps is an int: // where / was written, math.comb for the binomials.",
)
