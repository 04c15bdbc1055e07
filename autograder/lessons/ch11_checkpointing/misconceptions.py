"""Wrong answers to ch11_checkpointing that learners write."""

from __future__ import annotations

from itertools import combinations, pairwise
from textwrap import indent

from autograder.diagnosis import misconception, mistake

PATIENCE = 300_000
"""Calls after which an answer that takes exponentially many gives up, as the judge would after a while."""

# checkpoint

SAVE_TENSORS = "ctx.save_for_backward(*(args[i] for i in ctx.places))"
RUN = "return fn(*args)"
SAVED_TENSORS = "for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):"
DETACH = "args[i] = tensor.detach().requires_grad_(ctx.needs_input_grad[2 + i])"
STATE = "ctx.fn, ctx.random_state = fn, torch.get_rng_state()"
SET_STATE = "torch.set_rng_state(ctx.random_state)"
WITH_STATE_AND_GRAPH = "with torch.random.fork_rng(devices=[]), torch.enable_grad():"
RUN_AGAIN = "out = ctx.fn(*args)"
BACKWARD = "out.backward(g)"
GRADIENTS = "return None, None, *(arg.grad if isinstance(arg, torch.Tensor) else None for arg in args)"
ANCHOR = "anchor = torch.empty(0, requires_grad=True)"
APPLY = "return Recompute.apply(fn, anchor, *args)"

just_fn = mistake(
    "checkpoint",
    {f"{ANCHOR}\n{APPLY}": RUN},
    says="This is fn itself: autograd keeps all that it computes, and nothing is saved. Run fn without a graph, in the "
    "forward of a Function.",
)
no_grad_alone = mistake(
    "checkpoint",
    {f"{ANCHOR}\n{APPLY}": f"with torch.no_grad():\n    {RUN}"},
    says="fn ran under no_grad, outside of a Function: the result has no graph, and nobody runs fn again.",
)
no_anchor = mistake(
    "checkpoint",
    {ANCHOR: "anchor = None"},
    says="Where no argument requires a gradient the result has none either, so backward is never called and the "
    "parameters that fn uses get nothing. Pass one more input that requires a gradient, an empty tensor.",
)
switched_on_the_argument = mistake(
    "checkpoint",
    {
        ANCHOR: """\
anchor = None
for arg in args:
    if isinstance(arg, torch.Tensor) and arg.is_floating_point() and arg.is_leaf:
        arg.requires_grad_()"""
    },
    says="The caller's x was switched to requires_grad, so that the result has a graph. It stays that way. Let a "
    "tensor of your own do this, an empty one that requires a gradient.",
)
gradients_of_arguments_alone = mistake(
    "checkpoint",
    {
        BACKWARD: """\
wanted = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad]
for arg, gradient in zip(wanted, torch.autograd.grad(out, wanted, g)):
    arg.grad = gradient"""
    },
    says="The parameters that fn uses get no gradient: torch.autograd.grad gives those of the arguments alone. "
    "out.backward(g) adds to the parameters' .grad by itself.",
    where="Recompute",
)
not_detached = mistake(
    "checkpoint",
    {DETACH: "args[i] = tensor"},
    says="The saved arguments were used as they are, with the graph they come from: out.backward goes through that "
    "graph, too, and everything before fn gets its gradient twice. Detach them.",
    where="Recompute",
)
no_graph_in_backward = mistake(
    "checkpoint",
    {WITH_STATE_AND_GRAPH: "with torch.random.fork_rng(devices=[]):"},
    says="backward runs without gradients: what is computed there has no graph to go back through. Run fn, and what "
    "you make of its result, under torch.enable_grad().",
    where="Recompute",
)
upstream_ignored = mistake(
    "checkpoint",
    {BACKWARD: "out.backward(torch.ones_like(g))"},
    says="The upstream gradient g is not used: this is right only where g is all ones. out.backward(g).",
    where="Recompute",
)
indices_require_gradients = mistake(
    "checkpoint",
    {DETACH: "args[i] = tensor.detach().requires_grad_()"},
    says="Every tensor was made to require a gradient. Indices and masks cannot. Ask ctx.needs_input_grad, or look at "
    "requires_grad of what was passed.",
    where="Recompute",
)
first_argument_alone = mistake(
    "checkpoint",
    {GRADIENTS: "return None, None, args[0].grad, *[None] * (len(args) - 1)"},
    says="Only the first argument gets its gradient. backward returns one value for each input of forward.",
    where="Recompute",
)
another_mask = mistake(
    "checkpoint",
    {f"{WITH_STATE_AND_GRAPH}\n{SET_STATE}": "with torch.enable_grad():"},
    says="The second run draws other random numbers than the first: dropout's gradient belongs to another mask than "
    "its values. Keep torch.get_rng_state() from before fn ran, and set it in backward.",
    where="Recompute",
)
another_mask_and_state_put_back = mistake(
    "checkpoint",
    {SET_STATE: ""},
    says="The second run draws numbers of its own, so another dropout mask than the first. Before it, set the random "
    "state that forward began with: torch.set_rng_state.",
    where="Recompute",
)
state_taken_too_late = mistake(
    "checkpoint",
    {
        STATE: "ctx.fn = fn",
        RUN: "out = fn(*args)\nctx.random_state = torch.get_rng_state()\nreturn out",
    },
    says="The random state was kept after fn had run, so the second run goes on with other numbers. Take it before.",
    where="Recompute",
)
state_not_put_back = mistake(
    "checkpoint",
    {WITH_STATE_AND_GRAPH: "with torch.enable_grad():"},
    says="backward leaves the random state where its run of fn left it: whoever draws numbers next draws some that "
    "were drawn before. Put the state back, or use torch.random.fork_rng.",
    where="Recompute",
)
a_fixed_seed = mistake(
    "checkpoint",
    {STATE: "ctx.fn = fn\ntorch.manual_seed(0)", SET_STATE: "torch.manual_seed(0)"},
    says="A fixed seed makes both runs equal, and every checkpoint and every step, too: the same mask for ever. Use "
    "the random state that there is.",
    where="Recompute",
)
kept_clones = mistake(
    "checkpoint",
    {SAVE_TENSORS: "ctx.save_for_backward(*(args[i].clone() for i in ctx.places))"},
    says="The arguments were cloned, so each is held twice. Keep them as they are; save_for_backward sees to it that "
    "nobody changes them unnoticed.",
    where="Recompute",
)
tensors_in_an_attribute = mistake(
    "checkpoint",
    {
        SAVE_TENSORS: "ctx.tensors = [args[i] for i in ctx.places]",
        SAVED_TENSORS: "for i, tensor in zip(ctx.places, ctx.tensors, strict=True):",
    },
    says="The tensors are kept in an attribute of ctx. If one is changed in place before the backward pass, fn runs on "
    "the new values, and the gradient is silently wrong. ctx.save_for_backward notices.",
    where="Recompute",
)
kept_a_graph = mistake(
    "checkpoint",
    {RUN: "out = fn(*args)\nwith torch.enable_grad():\n    ctx.kept = fn(*args)\nreturn out"},
    says="forward runs fn with gradients on and keeps the result with its graph: all that fn computes is kept. That "
    "run belongs into backward.",
    where="Recompute",
)
runs_fn_again = mistake(
    "checkpoint",
    {RUN_AGAIN: f"{RUN_AGAIN}\nctx.fn(*args)"},
    says="fn runs more often than needed: once in each pass is enough, and each run costs.",
    where="Recompute",
)
graph_under_no_grad = mistake(
    "checkpoint",
    {APPLY: f"with torch.enable_grad():\n    {APPLY}"},
    says="Gradients are switched on around the Function, so it makes a graph under torch.no_grad(), too. apply sees by "
    "itself whether gradients are on.",
)
one_place_for_all = mistake(
    "checkpoint",
    {
        STATE: "Recompute.fn, Recompute.random_state = fn, torch.get_rng_state()",
        SET_STATE: "torch.set_rng_state(Recompute.random_state)",
        RUN_AGAIN: "out = Recompute.fn(*args)",
    },
    says="fn is kept in a place that all checkpoints share, so every backward runs the last one's. Keep it on ctx.",
    where="Recompute",
)


# checkpoint_sequential

ENDS = "ends = [len(layers) * i // segments for i in range(segments + 1)]"
SEGMENT = "run = torch.nn.Sequential(*layers[start:end])"
CHECKPOINTED = "x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=False)"

the_plain_loop = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: "x = run(x)"},
    says="Nothing is checkpointed: the loop keeps what every layer computes.",
)
last_segment_as_it_is = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: f"if end == len(layers):\n    return run(x)\n{CHECKPOINTED}"},
    says="The last segment is not checkpointed (PyTorch's own checkpoint_sequential leaves it out, too). Here every "
    "segment is.",
)
first_segment_as_it_is = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: f"if start == 0:\n    x = run(x)\nelse:\n    {CHECKPOINTED}"},
    says="The first segment is not checkpointed. Every segment is to be.",
)
rest_to_the_last = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [*(len(layers) // segments * i for i in range(segments)), len(layers)]"},
    says="All that n // segments leaves over went to the last segment, which may then be far longer than the others. "
    "Let segment i end at n (i + 1) // segments.",
)
rounded_up = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [*range(0, len(layers), -(-len(layers) // segments)), len(layers)]"},
    says="Segments of ⌈n / segments⌉ layers are too few segments, or the last one is too short: 7 layers in 3 segments "
    "are 3, 2 and 2, not 3, 3 and 1.",
)
rest_left_out = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [len(layers) // segments * i for i in range(segments + 1)]"},
    says="The layers that n // segments leaves over do not run at all. The last segment ends with the last layer.",
)
segments_as_a_length = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [*range(0, len(layers), segments), len(layers)]"},
    says="`segments` was taken for the length of a segment. It is how many there are.",
)
each_layer_alone = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = range(len(layers) + 1)"},
    says="Each layer has a checkpoint of its own, whatever `segments` is: every layer's input is kept.",
)
one_segment_for_all = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [0, len(layers)]"},
    says="All layers are one segment: the backward pass holds everything at once, as if there were no checkpoint.",
)
bound_too_late = mistake(
    "checkpoint_sequential",
    {
        f"{SEGMENT}\n{CHECKPOINTED}": """\
def run(x):
    for layer in layers[start:end]:
        x = layer(x)
    return x

x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=True)"""
    },
    says="The function looks up where its segment starts and ends when it is called. In the backward pass the loop is "
    "over, and every segment runs the last one's layers. Bind the values: functools.partial, or default arguments.",
)
the_reentrant_one = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: "x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=True)"},
    says="The first segment's parameters get no gradient where x requires none. With use_reentrant=True they do not, "
    "nor with a checkpoint of your own whose inputs require none. With use_reentrant=False they do.",
)
random_state_not_kept = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: CHECKPOINTED.replace("use_reentrant", "preserve_rng_state=False, use_reentrant")},
    says="The random state is not kept, so dropout draws another mask in the backward pass. Leave preserve_rng_state "
    "on.",
)


# peak_activations

PEAK = "return segments + -(-n_layers // segments)"

rounded_down = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers // segments"},
    says="The length of the longest segment was rounded down: 10 layers in 4 segments are 3, 3, 2 and 2. The longest "
    "has ⌈n_layers / segments⌉ layers.",
)
the_larger_of_the_two = mistake(
    "peak_activations",
    {PEAK: "return max(segments, -(-n_layers // segments))"},
    says="This is the larger of the two. Both are there at once: the inputs of all segments, and the layers of the "
    "segment that runs again. Add them.",
)
rounded_to_the_nearest = mistake(
    "peak_activations",
    {PEAK: "return segments + round(n_layers / segments)"},
    says="n_layers / segments was rounded to the nearest. The longest segment has ⌈n_layers / segments⌉ layers, "
    "rounded up.",
)
one_more_than_rounded_down = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers // segments + 1"},
    says="One layer too many in the longest segment: n // segments + 1 is too large where the segments come out even. "
    "⌈n / segments⌉ is -(-n // segments), or math.ceil.",
)
stack_input_counted_twice = mistake(
    "peak_activations",
    {PEAK: "return segments + -(-n_layers // segments) + 1"},
    says="One too many is counted: the stack's input is the input of the first segment, and is in.",
)
first_input_not_counted = mistake(
    "peak_activations",
    {PEAK: "return segments - 1 + -(-n_layers // segments)"},
    says="One too few: the first segment keeps its input, too. There are as many kept inputs as segments.",
)
last_of_a_segment_not_counted = mistake(
    "peak_activations",
    {PEAK: "return segments + (n_layers - 1) // segments if segments < n_layers else segments"},
    says="One too few: all the layers of the longest segment count, its last one included.",
)
kept_alone = mistake(
    "peak_activations",
    {PEAK: "return segments"},
    says="This is what is kept from the forward pass. The peak comes in the backward pass, when a segment is run "
    "again: its layers are held as well.",
)
longest_segment_alone = mistake(
    "peak_activations",
    {PEAK: "return -(-n_layers // segments)"},
    says="These are the activations of the longest segment alone. The inputs of all segments are held at the same "
    "time.",
)
multiplied = mistake(
    "peak_activations",
    {PEAK: "return segments * -(-n_layers // segments)"},
    says="The two terms were multiplied. The kept inputs and one segment's activations are held together: add them.",
)
all_segments_at_once = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers"},
    says="Every segment's activations were added up. Segments are run again one at a time, and let go after each: only "
    "the longest one counts.",
)
rule_of_thumb = mistake(
    "peak_activations",
    {PEAK: "return math.ceil(2 * math.sqrt(n_layers))"},
    says="This is the rule of thumb 2 √n_layers, the peak with about √n_layers segments. Use the number of segments "
    "that is given.",
)
rest_in_the_last_segment = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers // segments + n_layers % segments"},
    says="All the layers left over went into the last segment. Lengths differ by at most one: 11 layers in 4 segments "
    "are 3, 3, 3 and 2.",
)
a_float = mistake(
    "peak_activations",
    {PEAK: "return float(segments + -(-n_layers // segments))"},
    says="This is a float. A number of activations is an int: n_layers / segments is a float, and np.ceil gives one, "
    "too; math.ceil gives an int.",
)
not_rounded = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers / segments"},
    says="This is a float that was not even rounded: a segment has whole layers. Round n_layers / segments up.",
)


# best_segments

BEST = "return min(range(1, n_layers + 1), key=lambda segments: segments + -(-n_layers // segments))"

the_peak_itself = mistake(
    "best_segments",
    {BEST: "return min(segments + -(-n_layers // segments) for segments in range(1, n_layers + 1))"},
    says="This is the least peak itself. Return the number of segments that has it.",
)
only_divisors = mistake(
    "best_segments",
    {
        BEST: """\
divisors = [segments for segments in range(1, n_layers + 1) if n_layers % segments == 0]
return min(divisors, key=lambda segments: segments + n_layers // segments)"""
    },
    says="Only divisors of n_layers were tried. Segments need not be equally long: 7 layers in 3 segments are 3, "
    "2 and 2.",
)
position_in_the_list = mistake(
    "best_segments",
    {
        BEST: """\
peaks = [segments + -(-n_layers // segments) for segments in range(1, n_layers + 1)]
return peaks.index(min(peaks))"""
    },
    says="This is the position of the best number in a list that begins with 1 segment: add 1.",
)
range_too_short = mistake(
    "best_segments",
    {BEST: "return min(range(1, n_layers), key=lambda segments: segments + -(-n_layers // segments))"},
    says="range(1, n_layers) ends before n_layers: with 1 layer there is nothing to try. range(1, n_layers + 1).",
)
square_root_not_rounded = mistake(
    "best_segments",
    {BEST: "return math.sqrt(n_layers)"},
    says="This is √n_layers, a float. Segments are whole: round it. Down, up or to the nearest has the least peak all "
    "the same.",
)
a_rounded_float = mistake(
    "best_segments",
    {BEST: "return float(math.isqrt(n_layers))"},
    says="A float. A number of segments is an int: int(…), or math.isqrt for the root.",
)
twice_the_root = mistake(
    "best_segments",
    {BEST: "return min(math.ceil(2 * math.sqrt(n_layers)), n_layers)"},
    says="This is the whole of 2 √n_layers, which is the least peak. The number of segments is half of it.",
)
half_of_the_layers = mistake(
    "best_segments",
    {BEST: "return max(1, n_layers // 2)"},
    says="Half as many segments as layers: two layers each. Their inputs alone are n/2; about √n_layers is best.",
)
a_segment_each = mistake(
    "best_segments",
    {BEST: "return n_layers"},
    says="A segment for each layer keeps every activation. That recomputes most and, with unit costs, saves nothing: "
    "the peak is n_layers + 1.",
)
one_segment = mistake(
    "best_segments",
    {BEST: "return 1"},
    says="One segment runs the whole stack again and holds all of it: the peak is n_layers + 1.",
)
tried_with_rounding_down = mistake(
    "best_segments",
    {BEST: "return min(range(n_layers, 0, -1), key=lambda segments: segments + n_layers // segments)"},
    says="The length of the longest segment was rounded down while trying, so numbers that seem to be best are not. "
    "It is ⌈n_layers / segments⌉.",
)
logarithm = mistake(
    "best_segments",
    {BEST: "return max(1, round(math.log2(n_layers)))"},
    says="The logarithm of n_layers. It is the least of segments + n_layers / segments, which is at √n_layers.",
)
power_of_two = mistake(
    "best_segments",
    {BEST: "return 2 ** round(math.log2(math.sqrt(n_layers)))"},
    says="The nearest power of two is not always a best number: try the others as well.",
)
all_of_the_best = mistake(
    "best_segments",
    {
        BEST: """\
least = math.ceil(2 * math.sqrt(n_layers))
return [segments for segments in range(1, n_layers + 1) if segments + -(-n_layers // segments) == least]"""
    },
    says="These are all the best numbers, or several. Return one of them, an int.",
)
number_and_peak = mistake(
    "best_segments",
    {BEST: "segments = math.isqrt(n_layers)\nreturn segments, segments + -(-n_layers // segments)"},
    says="The number and its peak, in a tuple. Return the number alone.",
)
one_more_than_the_root = mistake(
    "best_segments",
    {BEST: "return min(math.isqrt(n_layers - 1) + 2, n_layers)"},
    says="One more than the root, rounded up: that is one too many for many numbers of layers, 4 among them.",
)


# minimal_forwards

NO_SWEEPS = "sweeps = 0"
TOO_FEW_SWEEPS = "while math.comb(slots + sweeps, slots) < n_steps:"
FORWARDS = "return sweeps * n_steps - math.comb(slots + sweeps, slots + 1)"
FORMULA = f"{NO_SWEEPS}\n{TOO_FEW_SWEEPS}\nsweeps += 1\n{FORWARDS}"


def _recurrence(steps, states="range(1, n)", one_step="0", one_slot="n * (n - 1) // 2"):
    """An edit: T(n, s), the least of these steps over the states j that may be stored."""
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
    says="Equal segments, one for each slot, and inside of each from its start again every time. Slots whose states "
    "are used up are free: use them for the segment that comes next.",
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
    says="The right part got all the slots, too. While it runs, one of them holds state 0: T(n − j, s − 1).",
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
    says="The way to the state that is stored was not counted: advancing j steps costs j.",
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


# plan_checkpoints

NO_LAYERS_YET = "plans = {(0, 0, 0): (0, [])}"
KEEP = "keep = (kept + size, largest, 0), (spent, [*plan, i])"
DROP = "drop = (kept, max(largest, run + size), run + size), (spent + cost, plan)"
FITS = "if state[0] + state[1] <= budget and (state not in longer or entry < longer[state]):"
NOTHING_FITS = 'if not plans:\nraise ValueError(f"no plan fits into {budget}")'
PLAN = "return min(plans.values())[1]"


def _of_plan(expression):
    """An edit: another result, from the best plan and what it costs."""
    return {PLAN: f"cost, plan = min(plans.values())\nreturn {expression}"}


def _plans(n):
    """All plans of n layers, the empty one first."""
    return [list(plan) for k in range(n + 1) for plan in combinations(range(n), k)]


def _runs(plan, sizes):
    """The sizes of the runs that are not kept: before, between and after the kept layers."""
    ends = [-1, *plan, len(sizes)]
    return [sum(sizes[a + 1 : b]) for a, b in pairwise(ends)]


def _fits(plan, sizes, budget):
    return sum(sizes[i] for i in plan) + max(_runs(plan, sizes)) <= budget


def _spent(plan, costs):
    return sum(cost for i, cost in enumerate(costs) if i not in plan)


def _cheapest(plans, costs):
    if not plans:
        raise ValueError("nothing fits")
    return min(plans, key=lambda plan: _spent(plan, costs))


def _greedy(costs, sizes, budget, key):
    """The layers in the order of `key`, each kept where the plan fits with it, or did not fit without."""
    plan = []
    for i in sorted(range(len(costs)), key=key):
        longer = sorted([*plan, i])
        if _fits(longer, sizes, budget) or not _fits(plan, sizes, budget):
            plan = longer
    if not _fits(plan, sizes, budget):
        raise ValueError("nothing fits")
    return plan


@misconception(
    "plan_checkpoints",
    says="The run after the last kept layer was forgotten: it is recomputed like the others and needs its memory.",
)
def forgot_the_last_run(costs, sizes, budget):
    fitting = [
        plan
        for plan in _plans(len(sizes))
        if sum(sizes[i] for i in plan) + max(_runs(plan, sizes)[:-1], default=0) <= budget
    ]
    return _cheapest(fitting, costs)


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
    says="This is what comes of adding up the runs. One is recomputed at a time, and let go before the next: only the "
    "largest counts.",
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

    return _cheapest([plan for plan in _plans(len(sizes)) if needed(plan) <= budget], costs)


@misconception(
    "plan_checkpoints",
    says="The kept layer that ends a run was counted with the run: its output is kept, and counted there.",
)
def run_with_the_layer_that_ends_it(costs, sizes, budget):
    def needed(plan):
        ends = [-1, *plan, len(sizes)]
        return sum(sizes[i] for i in plan) + max(sum(sizes[a + 1 : b + 1]) for a, b in pairwise(ends))

    return _cheapest([plan for plan in _plans(len(sizes)) if needed(plan) <= budget], costs)


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

    return _cheapest([plan for plan in _plans(len(sizes)) if needed(plan) <= budget], costs)


@misconception(
    "plan_checkpoints",
    says="A plan that needs exactly the budget was left out: at most the budget, ≤, not <.",
)
def less_than_the_budget(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if sum(sizes[i] for i in plan) + max(_runs(plan, sizes)) < budget]
    return _cheapest(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="The cost of what is kept was made least. What is not kept is recomputed: make that least.",
)
def least_cost_kept(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)]
    if not fitting:
        raise ValueError("nothing fits")
    return min(fitting, key=lambda plan: sum(costs[i] for i in plan))


most_layers_kept = mistake(
    "plan_checkpoints",
    {
        KEEP: "keep = (kept + size, largest, 0), (spent - 1, [*plan, i])",
        DROP: "drop = (kept, max(largest, run + size), run + size), (spent, plan)",
    },
    says="As many layers as possible are kept. Layers cost differently: it is Σ costs of the others that has to be "
    "least.",
)


@misconception(
    "plan_checkpoints",
    says="The plan that needs the least memory was chosen. The budget may be used up: of all plans that fit, the one "
    "that recomputes least.",
)
def least_memory(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)]
    if not fitting:
        raise ValueError("nothing fits")
    return min(fitting, key=lambda plan: sum(sizes[i] for i in plan) + max(_runs(plan, sizes)))


@misconception(
    "plan_checkpoints",
    says="The plan that keeps the most memory was chosen. Sizes only decide what fits; what counts is Σ costs of the "
    "layers not kept.",
)
def most_memory_kept(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)]
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


@misconception(
    "plan_checkpoints",
    says="Greedy, the dearest layer first, is not optimal: one that is dear and large may push out two that are dearer "
    "together. And what is kept first decides which runs are left. Compare whole plans.",
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
    "may make it larger first, and another order may end cheaper. Compare whole plans.",
)
def dropped_the_cheapest(costs, sizes, budget):
    plan = list(range(len(costs)))
    while not _fits(plan, sizes, budget):
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
    return _cheapest([plan for plan in plans if _fits(plan, sizes, budget)], costs)


@misconception(
    "plan_checkpoints",
    says="The last layer was always kept. It is a layer like the others: what follows the last kept layer is a run, "
    "too.",
)
def last_always_kept(costs, sizes, budget):
    last = len(sizes) - 1
    fitting = [plan for plan in _plans(len(sizes)) if last in [*plan, -1] and _fits(plan, sizes, budget)]
    return _cheapest(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="The first layer was always kept. The stack's input is held anyway: the first layer can be recomputed from "
    "it.",
)
def first_always_kept(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if (not sizes or 0 in plan) and _fits(plan, sizes, budget)]
    return _cheapest(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="No layers are no error. With no layers the plan that keeps nothing is the only one, and it fits: return [].",
)
def empty_plan_not_tried(costs, sizes, budget):
    return _cheapest([plan for plan in _plans(len(sizes)) if plan and _fits(plan, sizes, budget)], costs)


@misconception(
    "plan_checkpoints",
    says="The plan that keeps every layer was not tried: combinations of 0 to n layers, n included.",
)
def full_plan_not_tried(costs, sizes, budget):
    n = len(sizes)
    return _cheapest([plan for plan in _plans(n) if (len(plan) < n or not n) and _fits(plan, sizes, budget)], costs)


the_layers_not_kept = mistake(
    "plan_checkpoints",
    _of_plan("[i for i in range(len(sizes)) if i not in plan]"),
    says="This lists the layers that are recomputed. The layers to keep are asked.",
)
a_mask = mistake(
    "plan_checkpoints",
    _of_plan("[i in plan for i in range(len(sizes))]"),
    says="This is one True or False for each layer. The numbers of the layers to keep are asked: [1, 3], not "
    "[False, True, False, True].",
)
a_mask_of_ones = mistake(
    "plan_checkpoints",
    _of_plan("[int(i in plan) for i in range(len(sizes))]"),
    says="This is a 1 or 0 for each layer. The numbers of the layers to keep are asked: [1, 3], not [0, 1, 0, 1].",
)


@misconception("plan_checkpoints", says="Layers are counted from 0. Here they are counted from 1.")
def counted_from_one(costs, sizes, budget):
    plan = _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)], costs)
    return [i + 1 for i in plan]


the_cost_of_the_plan = mistake(
    "plan_checkpoints",
    _of_plan("cost"),
    says="This is what the plan costs. Return the plan: the layers to keep.",
)
a_set = mistake(
    "plan_checkpoints",
    _of_plan("set(plan)"),
    says="The right layers, but a set of them. A list is asked, ascending: sorted(…).",
)


@misconception(
    "plan_checkpoints",
    says="The right layers in the wrong order: found from the last one back. Ascending, please: sorted(…).",
)
def from_the_last_one_back(costs, sizes, budget):
    return _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)], costs)[::-1]


empty_where_nothing_fits = mistake(
    "plan_checkpoints",
    {NOTHING_FITS: "if not plans:\n    return []"},
    says="Where nothing fits a ValueError is asked. An empty plan, the lightest one or None is taken for an answer and "
    "noticed too late.",
)


@misconception(
    "plan_checkpoints",
    says="costs and sizes are swapped: the sizes of the layers not kept were made least, and costs were held to the "
    "budget.",
)
def costs_and_sizes_swapped(costs, sizes, budget):
    return _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, costs, budget)], sizes)


all_sizes_alike = mistake(
    "plan_checkpoints",
    {NO_LAYERS_YET: f"sizes = [1] * len(sizes)\n{NO_LAYERS_YET}"},
    says="Sizes were counted as 1 each. Layers differ: add up sizes.",
)


@misconception(
    "plan_checkpoints",
    says="The dearest layers are kept first, as long as they fit. What fits best depends on all of them: sizes count, "
    "too, and so does the largest run that is computed again.",
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


# offload_to_cpu

PACK = 'return tensor if is_of_parameter(tensor) else (tensor.device, tensor.to("cpu", copy=True))'
UNPACK = "device, copy = kept\nreturn copy.to(device)"
HOOKS = "return torch.autograd.graph.saved_tensors_hooks(pack, unpack)"


def _block(lines):
    """An edit: a generator that enters and leaves the hooks in its own way."""
    return {
        HOOKS: f"""\
from contextlib import contextmanager

@contextmanager
def block():
    hooks = torch.autograd.graph.saved_tensors_hooks(pack, unpack)
{indent(lines, "    ")}

return block()"""
    }


no_copy_on_a_cpu = mistake(
    "offload_to_cpu",
    {PACK: "return tensor if is_of_parameter(tensor) else (tensor.device, tensor.cpu())"},
    says="Nothing is copied. What is on the CPU already stays the same memory under .cpu(), .to('cpu') and .detach(): "
    "ask for copy=True.",
)
parameters_too = mistake(
    "offload_to_cpu",
    {PACK: 'return tensor.device, tensor.to("cpu", copy=True)'},
    says="Parameters are copied, too. They are on the device anyway, so that frees nothing: leave what "
    "is_of_parameter(tensor) says.",
)
views_of_parameters = mistake(
    "offload_to_cpu",
    {PACK: PACK.replace("is_of_parameter(tensor)", "isinstance(tensor, torch.nn.Parameter)")},
    says="Views of parameters are copied: a linear layer saves its weight transposed, and that is no nn.Parameter. "
    "is_of_parameter knows views.",
)
stays_on_the_cpu = mistake(
    "offload_to_cpu",
    {UNPACK: "return kept[1]"},
    says="What comes back stays on the CPU. The backward pass needs it where it was: keep tensor.device beside the "
    "copy.",
)
keeps_the_original_too = mistake(
    "offload_to_cpu",
    {PACK: PACK.replace("tensor.device", "tensor"), UNPACK: "original, copy = kept\nreturn copy.to(original.device)"},
    says="The original is kept beside the copy, so nothing is freed. pack returns the device and the copy, not the "
    "tensor.",
)
in_half_precision = mistake(
    "offload_to_cpu",
    {
        PACK: """\
if is_of_parameter(tensor):
    return tensor
small = tensor.half() if tensor.is_floating_point() else tensor.clone()
return tensor.device, tensor.dtype, small""",
        UNPACK: "device, dtype, copy = kept\nreturn copy.to(device, dtype)",
    },
    says="The copies are kept in half precision, which saves half of the memory and changes the gradients. Keep the "
    "dtype.",
)
all_of_it_float32 = mistake(
    "offload_to_cpu",
    {UNPACK: "device, copy = kept\nreturn copy.to(device, torch.float32)"},
    says="All that comes back is float32, indices, masks and float64 as well. A tensor comes back with its own dtype.",
)
hooks_stay_after_an_exception = mistake(
    "offload_to_cpu",
    _block("hooks.__enter__()\nyield\nhooks.__exit__(None, None, None)"),
    says="The hooks are not removed where the block raises. Use `with`, or try … finally.",
)
hooks_stay_for_good = mistake(
    "offload_to_cpu",
    _block("hooks.__enter__()\nyield"),
    says="The hooks are never removed: all that is saved afterwards is copied, too.",
)
swallows_exceptions = mistake(
    "offload_to_cpu",
    _block("with hooks:\n    try:\n        yield\n    except Exception:\n        return"),
    says="Exceptions of the block are swallowed. An error in the forward pass has to come out.",
)


# reversible_block

Y1, Y2 = "y1 = x1 + f(x2)", "y2 = x2 + g(y1)"
SAVE_YS, SAVED_YS = "ctx.save_for_backward(y1, y2)", "y1, y2 = ctx.saved_tensors"
RUN_G = "with torch.enable_grad():\ny1 = y1.detach().requires_grad_()\ng_of_y1 = ctx.g(y1)"
BACK_THROUGH_G = "g_of_y1.backward(dy2)"
X2 = "x2 = (y2 - g_of_y1).detach().requires_grad_()"
RUN_F = f"with torch.enable_grad():\n{X2}\nf_of_x2 = ctx.f(x2)"
DX1 = "dx1 = dy1 + y1.grad"
BACK_THROUGH_F = "f_of_x2.backward(dx1)"
DX1_AND_DX2 = "return None, None, dx1, dy2 + x2.grad"

left_to_autograd = mistake(
    "reversible_block",
    {"return Reversible.apply(f, g, x1, x2)": f"{Y1}\n{Y2}\nreturn y1, y2"},
    says="This is right, and autograd keeps x1, x2 and all that f and g compute. It takes a Function that saves y1 and "
    "y2 alone.",
)
keeps_x2 = mistake(
    "reversible_block",
    {
        SAVE_YS: "ctx.save_for_backward(y1, y2, x2)",
        SAVED_YS: "y1, y2, x2 = ctx.saved_tensors",
        X2: "x2 = x2.detach().requires_grad_()",
    },
    says="x2 is saved as well. It follows from what is there: x2 = y2 − g(y1).",
    where="Reversible",
)
a_checkpoint = mistake(
    "reversible_block",
    {
        SAVE_YS: "ctx.save_for_backward(x1, x2)",
        "\n".join([SAVED_YS, RUN_G, BACK_THROUGH_G, RUN_F, DX1, BACK_THROUGH_F, DX1_AND_DX2]): """\
x1, x2 = (x.detach().requires_grad_() for x in ctx.saved_tensors)
with torch.enable_grad():
    y1 = x1 + ctx.f(x2)
    y2 = x2 + ctx.g(y1)
torch.autograd.backward([y1, y2], [dy1, dy2])
return None, None, x1.grad, x2.grad""",
    },
    says="x1 and x2 are saved: that is a checkpoint. In a stack each block would keep its inputs. Save the outputs, "
    "and compute the inputs back.",
    where="Reversible",
)
keeps_what_f_and_g_compute = mistake(
    "reversible_block",
    {
        Y1: "f_of_x2 = f(x2)\ny1 = x1 + f_of_x2",
        Y2: "g_of_y1 = g(y1)\ny2 = x2 + g_of_y1",
        SAVE_YS: "ctx.save_for_backward(y1, y2, f_of_x2, g_of_y1)",
        SAVED_YS: "y1, y2, *_ = ctx.saved_tensors",
    },
    says="More is kept than y1 and y2, inputs or what f and g compute. Nothing else is needed: backward computes all "
    "of it again.",
    where="Reversible",
)
results_in_an_attribute = mistake(
    "reversible_block",
    {SAVE_YS: "ctx.ys = y1.detach(), y2.detach()", SAVED_YS: "y1, y2 = ctx.ys"},
    says="y1 and y2 are kept in an attribute of ctx: nobody notices if one of them is changed in place. "
    "ctx.save_for_backward does.",
    where="Reversible",
)
both_from_the_inputs = mistake(
    "reversible_block",
    {
        Y2: "y2 = x2 + g(x1)",
        SAVED_YS: f"{SAVED_YS}\ny1 = y1 - ctx.f(y2)",
        BACK_THROUGH_F: "f_of_x2.backward(dy1)",
    },
    says="y2 = x2 + g(x1): g has to get y1, the stream that has just been changed. Otherwise nothing can be computed "
    "back.",
    where="Reversible",
)
added_once_more = mistake(
    "reversible_block",
    {X2: "x2 = (y2 + g_of_y1).detach().requires_grad_()"},
    says="x2 was computed back as y2 + g(y1). The forward pass added: subtract.",
    where="Reversible",
)
f_at_y2 = mistake(
    "reversible_block",
    {X2: "x2 = y2.detach().requires_grad_()"},
    says="f's gradient was taken at y2. f saw x2: compute it back first, y2 − g(y1).",
    where="Reversible",
)
dx1_without_g = mistake(
    "reversible_block",
    {DX1: "dx1 = dy1"},
    says="dx1 = dy1 lacks what comes back through g: y1 goes to the loss, and into y2.",
    where="Reversible",
)
dy1_into_f = mistake(
    "reversible_block",
    {BACK_THROUGH_F: "f_of_x2.backward(dy1)"},
    says="f's upstream gradient is that of y1 in full, what comes through g included: dx1, not dy1.",
    where="Reversible",
)
dx2_without_f = mistake(
    "reversible_block",
    {DX1_AND_DX2: "return None, None, dx1, dy2"},
    says="dx2 = dy2 lacks what comes back through f: x2 goes into y2, and into y1.",
    where="Reversible",
)
dx2_through_f_alone = mistake(
    "reversible_block",
    {DX1_AND_DX2: "return None, None, dx1, x2.grad"},
    says="dx2 lacks dy2: x2 is also added to y2 as it is, and that way has the derivative 1.",
    where="Reversible",
)
dy1_into_g = mistake(
    "reversible_block",
    {BACK_THROUGH_G: "g_of_y1.backward(dy1 + dy2)"},
    says="g's upstream gradient is dy2 alone: y1 = x1 + f(x2) does not contain g.",
    where="Reversible",
)
half_blocks_in_the_other_order = mistake(
    "reversible_block",
    {Y1: "y2 = x2 + g(x1)", Y2: "y1 = x1 + f(y2)"},
    says="The half-blocks are in the other order: y2 was computed first, and f got it. y1 = x1 + f(x2) comes "
    "first, and g gets y1.",
    where="Reversible",
)
f_of_x1 = mistake(
    "reversible_block",
    {Y1: "y1 = x1 + f(x1)"},
    says="y1 = x1 + f(x1): f gets x2, the other stream. Otherwise x1 cannot be computed back.",
    where="Reversible",
)
subtracted_in_forward = mistake(
    "reversible_block",
    {Y2: "y2 = x2 - g(y1)"},
    says="y2 is x2 − g(y1). The forward pass adds, x2 + g(y1); only computing x2 back subtracts.",
    where="Reversible",
)
inputs_swapped = mistake(
    "reversible_block",
    {"return Reversible.apply(f, g, x1, x2)": "return Reversible.apply(f, g, x2, x1)"},
    says="x1 and x2 are swapped on their way into the Function.",
)
f_and_g_swapped = mistake(
    "reversible_block",
    {"return Reversible.apply(f, g, x1, x2)": "return Reversible.apply(g, f, x1, x2)"},
    says="f and g are swapped on their way into the Function.",
)
saved_in_another_order = mistake(
    "reversible_block",
    {SAVE_YS: "ctx.save_for_backward(y2, y1)"},
    says="y1 and y2 come out of ctx.saved_tensors in another order than they were saved in, so backward takes one for "
    "the other.",
    where="Reversible",
)
dy2_into_f = mistake(
    "reversible_block",
    {BACK_THROUGH_F: "f_of_x2.backward(dy2)"},
    says="dy2 went back through f. f(x2) is a term of y1, so its upstream gradient is that of y1: dx1.",
    where="Reversible",
)
dy1_through_g = mistake(
    "reversible_block",
    {BACK_THROUGH_G: "g_of_y1.backward(dy1)"},
    says="dy1 went back through g. g(y1) is a term of y2, so its upstream gradient is dy2.",
    where="Reversible",
)
nothing_recorded_in_backward = mistake(
    "reversible_block",
    {RUN_G: "y1 = y1.detach().requires_grad_()\ng_of_y1 = ctx.g(y1)"},
    says="Nothing is recorded inside of a Function's backward, so g(y1) has no graph to go back through. Run g and f "
    "again under torch.enable_grad().",
    where="Reversible",
)
gradients_swapped = mistake(
    "reversible_block",
    {DX1_AND_DX2: "return None, None, dy2 + x2.grad, dx1"},
    says="The gradients of x1 and x2 are swapped.",
    where="Reversible",
)
no_gradients_of_parameters = mistake(
    "reversible_block",
    {
        BACK_THROUGH_G: "(through_g,) = torch.autograd.grad(g_of_y1, y1, dy2)",
        DX1: "dx1 = dy1 + through_g",
        BACK_THROUGH_F: "(through_f,) = torch.autograd.grad(f_of_x2, x2, dx1)",
        DX1_AND_DX2: "return None, None, dx1, dy2 + through_f",
    },
    says="The parameters of f and g get no gradient: torch.autograd.grad gives those of x1 and x2 alone. Call "
    "backward on g(y1) and f(x2): it adds to the parameters' .grad.",
    where="Reversible",
)
g_runs_again = mistake(
    "reversible_block",
    {X2: "x2 = (y2 - ctx.g(y1)).detach().requires_grad_()"},
    says="g runs once to compute x2 back and once more for its gradient. One run does for both: y2 − its result, "
    "detached.",
    where="Reversible",
)

dx1_through_g_alone = mistake(
    "reversible_block",
    {"dx1 = dy1 + y1.grad": "dx1 = y1.grad"},
    says="dx1 lacks dy1: y1 goes to the loss directly, too, and not only through g.",
    where="Reversible",
)


# measure

INSTRUMENTS = "live, counter = LiveStorages(), FlopCounter()"
PREPARED = "forward, x, g = prepared(policy, device, live)"
PREPARED_AGAIN = "forward, x, g = prepared(policy, device, LiveStorages())"
SAVED_BYTES = "saved_bytes = live.bytes"
STEP_BACK = "out.backward(g)"
NUMBERS = 'return {"saved_bytes": saved_bytes, "flops": counter.total, "seconds": seconds, "peak_bytes": live.peak}'

EVERY_LAYER = '"every_layer": partial(in_segments, n=n_layers),'
CORE = "block.attention_core = partial(run, block.attention_core)"
BRANCH = "block.attention_branch = partial(run, block.attention_branch)"
NEED = "return n * x.nbytes + -(-n_layers // n) * layer_bytes(stack)"
SELECTIVE = """\
"selective": partial(
in_segments, n=n_layers, context_fn=lambda: create_selective_checkpoint_contexts(ATTENTION)
),"""
SQRT_SEGMENTS = '"sqrt_segments": partial(in_segments, n=round(n_layers**0.5)),'
BEST_SEGMENTS = '"best_segments": in_best_segments,'

COPY = 'return tensor.device, tensor.to("cpu", copy=True)'
BLOCKS = "for block in stack.blocks:"
ALL_STREAMS_HELD = f"kept = []\n{BLOCKS}\n    kept += [x1, x2]"
STREAMS = "return lambda x: torch.add(*Streams.apply(x, x, stack))"
X1_ON = "x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)"
X2_ON = "x2 = x2 + block.mlp_branch(x1)"


bytes_at_the_end = mistake(
    "measure",
    {NUMBERS: NUMBERS.replace("live.peak", "live.bytes")},
    says="peak_bytes is what is left at the end of the step. live.peak has the most of all times.",
)
peak_of_the_forward_pass = mistake(
    "measure",
    {SAVED_BYTES: "saved_bytes, peak = live.bytes, live.peak", NUMBERS: NUMBERS.replace("live.peak", "peak")},
    says="peak_bytes was read before the backward pass, where recomputation makes its peak.",
)
peak_for_saved = mistake(
    "measure",
    {SAVED_BYTES: "saved_bytes = live.peak"},
    says="saved_bytes is live.peak, the most that the forward pass ever held. What is kept between the passes is "
    "live.bytes.",
)
saved_after_backward = mistake(
    "measure",
    {f"{SAVED_BYTES}\n{STEP_BACK}": f"{STEP_BACK}\n{SAVED_BYTES}"},
    says="saved_bytes was read after the backward pass. It is what is alive between the passes.",
)
flops_of_the_forward_pass = mistake(
    "measure",
    {SAVED_BYTES: "saved_bytes, flops = live.bytes, counter.total", NUMBERS: NUMBERS.replace("counter.total", "flops")},
    says="flops are those of the forward pass alone. The step has two passes.",
)
backward_outside_of_the_instruments = mistake(
    "measure",
    {STEP_BACK: "", PREPARED_AGAIN: f"{STEP_BACK}\n{PREPARED_AGAIN}"},
    says="The backward pass runs outside of `with live, counter:`, so neither its FLOPs nor its peak is seen.",
)
no_backward_pass = mistake(
    "measure",
    {STEP_BACK: ""},
    says="The measured step has no backward pass: call out.backward(g) while live and counter are active.",
)
flops_of_the_backward_pass = mistake(
    "measure",
    {
        SAVED_BYTES: "saved_bytes, flops = live.bytes, counter.total",
        NUMBERS: NUMBERS.replace("counter.total", "counter.total - flops"),
    },
    says="flops are those of the backward pass alone. The step has two passes.",
)
ones_for_g = mistake(
    "measure",
    {STEP_BACK: "out.sum().backward()"},
    says="The step goes back from out.sum(), so the upstream gradient is all ones. Use the g of fresh: "
    "out.backward(g).",
)
weights_count = mistake(
    "measure",
    {f"{PREPARED}\nwith live, counter:": f"with live, counter:\n    {PREPARED}"},
    says="The stack was made while LiveStorages was active, so its weights count. Make stack, x and g first.",
)
one_x_for_both_steps = mistake(
    "measure",
    {
        PREPARED: """\
stack, x, g = fresh(device)

def of_policy(live):
    if policy == "offload":
        return offloading(stack, live)
    return reversing(stack) if policy == "reversible" else checkpointing(policy, stack)

forward = of_policy(live)""",
        PREPARED_AGAIN: "forward = of_policy(LiveStorages())",
    },
    says="Both steps use one x, so its gradients add up, and one stack, whose parts are wrapped twice. Call fresh for "
    "each step.",
)
no_seconds = mistake(
    "measure",
    {"seconds = now(device) - start": "seconds = 0.0"},
    says="seconds is 0: it was not measured, or was cut to a whole number. The difference of two readings of "
    "time.perf_counter(), before and after a step, is a float.",
)
seconds_with_the_instruments = mistake(
    "measure",
    {
        "with live, counter:": "start = now(device)\nwith live, counter:",
        f"{PREPARED_AGAIN}\nstart = now(device)\nforward(x).backward(g)\n": "",
    },
    says="seconds are those of the step that the instruments watch, and they slow it down. Take the time of another "
    "step: call fresh again, and run both passes without them.",
)
policy_ignored = mistake(
    "measure",
    {INSTRUMENTS: f'{INSTRUMENTS}\npolicy = "none"'},
    says="The policy makes no difference here: what is measured is always the plain stack.",
)
the_reentrant_checkpoint = mistake(
    "measure",
    {
        EVERY_LAYER: EVERY_LAYER.replace("),", ", use_reentrant=True),"),
        SQRT_SEGMENTS: SQRT_SEGMENTS.replace("),", ", use_reentrant=True),"),
    },
    says="use_reentrant=True runs every layer again in full and needs more at the peak. With use_reentrant=False a "
    "recomputation ends as soon as backward has all it needs.",
    where="checkpointing",
)
no_early_stop = mistake(
    "measure",
    {EVERY_LAYER: EVERY_LAYER.replace("),", ", early_stop=False),")},
    says="early_stop=False was set: each recomputation goes on to its end. Leave checkpoint's other options as "
    "they are.",
    where="checkpointing",
)
branch_for_core = mistake(
    "measure",
    {CORE: BRANCH},
    says="Each layer's attention branch is checkpointed where attention_core alone should be: q, k and v are kept "
    "then.",
    where="checkpointing",
)
mlp_for_attention = mistake(
    "measure",
    {BRANCH: "block.mlp_branch = partial(run, block.mlp_branch)"},
    says="attention_block checkpoints the MLP here. It is the attention branch that is to run again.",
    where="checkpointing",
)
one_part_for_all_blocks = mistake(
    "measure",
    {
        CORE: "core = block.attention_core\nblock.attention_core = lambda *args: run(core, *args)",
        BRANCH: "branch = block.attention_branch\nblock.attention_branch = lambda *args: run(branch, *args)",
    },
    says="Every block calls the last block's part: a function made in a loop looks its names up when it is called. "
    "Bind it, with partial or with a default argument.",
    where="checkpointing",
)
first_layer_alone = mistake(
    "measure",
    {
        EVERY_LAYER: """\
"every_layer": lambda x: through(1, n_layers, run(through, 0, 1, x)),"""
    },
    says="every_layer checkpoints the first layer alone.",
    where="checkpointing",
)
block_for_branch = mistake(
    "measure",
    {
        f'if policy == "attention_block":\n{BRANCH}': "",
        EVERY_LAYER: f"{EVERY_LAYER}\n{EVERY_LAYER.replace('every_layer', 'attention_block')}",
    },
    says="attention_block is the attention branch of each block, and its MLP is kept. Here whole blocks are "
    "checkpointed.",
    where="checkpointing",
)
selective_as_in_2022 = mistake(
    "measure",
    {'if policy == "attention_core":': 'if policy in ("attention_core", "selective"):', SELECTIVE: ""},
    says="selective recomputes attention here and keeps the rest (the meaning of 2022). It is the other way round:"
    " keep the result of attention, and recompute the rest of each layer.",
    where="checkpointing",
)
nothing_selected = mistake(
    "measure",
    {SELECTIVE: EVERY_LAYER.replace("every_layer", "selective")},
    says="selective recomputes everything, attention too. Give checkpoint a context_fn that keeps the results of the "
    "operations in ATTENTION.",
    where="checkpointing",
)
last_segment_not_checkpointed = mistake(
    "measure",
    {
        "x = run(through, start, end, x, **options)": """\
if policy == "sqrt_segments" and end == n_layers:
    return through(start, end, x)
x = run(through, start, end, x, **options)"""
    },
    says="The last segment is not checkpointed. Every segment is to be.",
    where="checkpointing",
)
one_segment_more = mistake(
    "measure",
    {SQRT_SEGMENTS: SQRT_SEGMENTS.replace("0.5)", "0.5) + 1")},
    says="√L was taken for the number of layers in a segment, and one segment more was made, or fewer.",
    where="checkpointing",
)
ENDS_OF_SEGMENTS = "for start, end in pairwise(n_layers * i // n for i in range(n + 1)):"
last_segment_gets_the_rest = mistake(
    "measure",
    {ENDS_OF_SEGMENTS: "for start, end in pairwise([*(n_layers // n * i for i in range(n)), n_layers]):"},
    says="All that L // n leaves over went to the last segment, which may then be far longer than the others. Let "
    "segment i end at L (i + 1) // n.",
    where="checkpointing",
)
last_layers_never_run = mistake(
    "measure",
    {ENDS_OF_SEGMENTS: "for start, end in pairwise(n_layers // n * i for i in range(n + 1)):"},
    says="Segments of L // n layers leave out the last ones where n does not divide L: those never run.",
    where="checkpointing",
)
length_rounded_up = mistake(
    "measure",
    {ENDS_OF_SEGMENTS: "for start, end in pairwise([*range(0, n_layers, -(-n_layers // n)), n_layers]):"},
    says="Segments of ⌈L / n⌉ layers leave too little for the last one, or make fewer segments than n: sizes may "
    "differ by one at most.",
    where="checkpointing",
)
root_cut_off = mistake(
    "measure",
    {SQRT_SEGMENTS: SQRT_SEGMENTS.replace("round", "int")},
    says="√L was cut off to an int. It is rounded: 7 layers are 3 segments, not 2.",
    where="checkpointing",
)
root_for_best = mistake(
    "measure",
    {BEST_SEGMENTS: SQRT_SEGMENTS.replace("sqrt", "best")},
    says="best_segments takes √L, which is best only where a segment's input and a layer cost the same. A layer "
    "keeps far more than its input: minimise n · B + ⌈L / n⌉ · K.",
    where="checkpointing",
)
every_layer_for_best = mistake(
    "measure",
    {BEST_SEGMENTS: EVERY_LAYER.replace("every_layer", "best_segments")},
    says="best_segments takes a segment for each layer. In a deep stack whose layers keep little, segments of two "
    "layers need less: minimise n · B + ⌈L / n⌉ · K.",
    where="checkpointing",
)
not_rounded_up = mistake(
    "measure",
    {NEED: "return n * x.nbytes + n_layers / n * layer_bytes(stack)"},
    says="The longest segment has ⌈L / n⌉ layers: with L / n, not rounded up, segments look shorter than they are.",
    where="checkpointing",
)
copies_count = mistake(
    "measure",
    {f"with live.not_counting():\n{COPY}": COPY},
    says="The copies count as if they were on the device. Make them inside of `with live.not_counting():`.",
    where="offloading",
)
originals_kept = mistake(
    "measure",
    {COPY: 'return tensor.device, tensor.to("cpu")'},
    says="What is saved was not let go: the tensor itself is still held. On a CPU .cpu() and .to('cpu') return it as "
    "it is: ask for copy=True, and keep nothing but the copy.",
    where="offloading",
)
nothing_comes_back = mistake(
    "measure",
    {"return copy.to(device, copy=True)": "return copy"},
    says="What comes back does not count: it is the host's own copy, or a clone made inside of not_counting. Clone it "
    "outside: then it is on the device when backward uses it.",
    where="offloading",
)
parameters_moved = mistake(
    "measure",
    {"if is_of_parameter(tensor):\nreturn tensor": ""},
    says="Parameters were moved, and come back as copies. They stay where they are: is_of_parameter tells.",
    where="offloading",
)
not_offloaded = mistake(
    "measure",
    {"with torch.autograd.graph.saved_tensors_hooks(pack, unpack):\nreturn stack(x)": "return stack(x)"},
    says="Nothing is offloaded: there are no hooks around the stack.",
    where="offloading",
)
block_by_block = mistake(
    "measure",
    {
        STREAMS: """\
from types import SimpleNamespace

def forward(x):
    streams = x, x
    for block in stack.blocks:
        streams = Streams.apply(*streams, SimpleNamespace(blocks=[block], cos=stack.cos, sin=stack.sin))
    return torch.add(*streams)

return forward"""
    },
    says="Each block is a Function of its own, so each keeps its outputs. One Function for the whole stack keeps "
    "the last.",
    where="reversing",
)
streams_left_to_autograd = mistake(
    "measure",
    {
        STREAMS: """\
def forward(x):
    x1 = x2 = x
    for block in stack.blocks:
        x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
        x2 = x2 + block.mlp_branch(x1)
    return x1 + x2

return forward"""
    },
    says="The two streams are left to autograd, which keeps everything. It takes a Function that computes back.",
    where="reversing",
)
inputs_of_every_block = mistake(
    "measure",
    {
        BLOCKS: ALL_STREAMS_HELD,
        "ctx.save_for_backward(x1, x2)": "ctx.save_for_backward(x1, x2, *kept)",
        "x1, x2 = ctx.saved_tensors": "x1, x2, *_ = ctx.saved_tensors",
    },
    says="The inputs of every block are saved. They are computed back from its outputs.",
    where="Streams",
)
branches_run_again = mistake(
    "measure",
    {"u = y - out.detach()": "u = y - branch(x)"},
    says="Each branch runs once to compute back and once more for its gradient. One run does for both.",
    where="Streams",
)
nothing_through_the_branches = mistake(
    "measure",
    {"return u, dx + x.grad": "return u, dx"},
    says="What comes back through the branches is not added to the gradients of the streams.",
    where="Streams",
)
one_stream = mistake(
    "measure",
    {STREAMS: "return stack"},
    says="This is the plain stack. reversible has two streams.",
    where="reversing",
)
first_stream_alone = mistake(
    "measure",
    {STREAMS: "return lambda x: Streams.apply(x, x, stack)[0]"},
    says="The result is the first stream alone. It is the sum of the two.",
    where="reversing",
)
blocks_not_reversed = mistake(
    "measure",
    {"for block in reversed(stack.blocks):": "for block in stack.blocks:"},
    says="The backward pass takes the blocks from first to last. It has to undo the last one first: reversed(…).",
    where="Streams",
)
weights_of_streams_get_no_gradient = mistake(
    "measure",
    {
        "out.backward(dy)": "(through,) = torch.autograd.grad(out, x, dy)",
        "return u, dx + x.grad": "return u, dx + through",
    },
    says="torch.autograd.grad gives the gradients of the streams alone, and the weights get none. out.backward adds to "
    "those as well.",
    where="Streams",
)
mlp_before_attention = mistake(
    "measure",
    {
        f"{X1_ON}\n{X2_ON}": f"{X2_ON}\n{X1_ON}",
    },
    says="mlp_branch runs first in the forward pass. In a block x1 = x1 + attention_branch(x2) comes first, and "
    "mlp_branch gets the x1 that this gives.",
    where="Streams",
)
