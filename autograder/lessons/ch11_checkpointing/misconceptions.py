"""Wrong answers to ch11_checkpointing that learners write."""

from __future__ import annotations

import math
from contextlib import contextmanager
from functools import cache, partial
from itertools import combinations, pairwise
from typing import Any

import torch
import torch.utils.checkpoint

from autograder.diagnosis import misconception
from course.instruments.flops import FlopCounter
from course.instruments.live import LiveStorages
from course.instruments.saved import is_of_parameter

PATIENCE = 300_000
"""Calls after which an answer that takes exponentially many gives up, as the judge would after a while."""

# checkpoint


class _Recompute(torch.autograd.Function):
    """Right, but for what `wrong` names."""

    @staticmethod
    def forward(ctx, wrong, fn, anchor, *args):
        state = torch.get_rng_state()
        out = fn(*args)
        if "calls fn twice" in wrong:
            fn(*args)
        ctx.wrong, ctx.fn = wrong, fn
        ctx.random_state = torch.get_rng_state() if "state after fn" in wrong else state
        ctx.plain = list(args)
        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        if "attributes" not in wrong:
            tensors = [args[i].clone() if "clones" in wrong else args[i] for i in ctx.places]
            ctx.save_for_backward(*tensors)
            for i in ctx.places:
                ctx.plain[i] = None
        if "keeps the result of another run" in wrong:
            with torch.enable_grad():
                ctx.kept = fn(*args)
        return out

    @staticmethod
    def backward(ctx, g):
        wrong, args = ctx.wrong, list(ctx.plain)
        saved = [ctx.plain[i] for i in ctx.places] if "attributes" in wrong else ctx.saved_tensors
        for i, tensor in zip(ctx.places, saved, strict=True):
            args[i] = tensor
            if "does not detach" not in wrong:
                wanted = ctx.needs_input_grad[3 + i] if "all require gradients" not in wrong else True
                args[i] = tensor.detach().requires_grad_(wanted)
        before = torch.get_rng_state()
        if "no random state" not in wrong:
            torch.set_rng_state(ctx.random_state)
        with torch.set_grad_enabled("gradients off" not in wrong):
            out = ctx.fn(*args)
        if "calls fn twice in backward" in wrong:
            ctx.fn(*args)
        if "state not put back" not in wrong:
            torch.set_rng_state(before)
        if "grad of arguments" in wrong:
            inputs = [args[i] for i in ctx.places if args[i].requires_grad]
            found = iter(torch.autograd.grad(out, inputs, g))
            return None, None, None, *(next(found) if _wants(arg) else None for arg in args)
        out.backward(torch.ones_like(g) if "ignores g" in wrong else g)
        gradients = [arg.grad if isinstance(arg, torch.Tensor) else None for arg in args]
        if "first argument alone" in wrong:
            gradients[1:] = [None] * (len(gradients) - 1)
        return None, None, None, *gradients


def _wants(arg):
    return isinstance(arg, torch.Tensor) and arg.requires_grad


def _checkpoint(fn, args, *wrong):
    return _Recompute.apply(wrong, fn, torch.empty(0, requires_grad=True), *args)


@misconception(
    "checkpoint",
    says="This is fn itself: autograd keeps all that it computes, and nothing is saved. Run fn without a graph, in the "
    "forward of a Function.",
)
def just_fn(fn, *args):
    return fn(*args)


@misconception(
    "checkpoint",
    says="fn ran under no_grad, outside of a Function: the result has no graph, and nobody runs fn again.",
)
def no_grad_alone(fn, *args):
    with torch.no_grad():
        return fn(*args)


@misconception(
    "checkpoint",
    says="Where no argument requires a gradient the result has none either, so backward is never called and the "
    "parameters that fn uses get nothing. Pass one more input that requires a gradient, an empty tensor.",
)
def no_anchor(fn, *args):
    return _Recompute.apply((), fn, None, *args)


@misconception(
    "checkpoint",
    says="The caller's x was switched to requires_grad, so that the result has a graph. It stays that way. Let a "
    "tensor of your own do this, an empty one that requires a gradient.",
)
def switched_on_the_argument(fn, *args):
    for arg in args:
        if isinstance(arg, torch.Tensor) and arg.is_floating_point() and arg.is_leaf:
            arg.requires_grad_()
    return _Recompute.apply((), fn, None, *args)


@misconception(
    "checkpoint",
    says="The parameters that fn uses get no gradient: torch.autograd.grad gives those of the arguments alone. "
    "out.backward(g) adds to the parameters' .grad by itself.",
)
def gradients_of_arguments_alone(fn, *args):
    return _checkpoint(fn, args, "grad of arguments")


@misconception(
    "checkpoint",
    says="The saved arguments were used as they are, with the graph they come from: out.backward goes through that "
    "graph, too, and everything before fn gets its gradient twice. Detach them.",
)
def not_detached(fn, *args):
    return _checkpoint(fn, args, "does not detach")


@misconception(
    "checkpoint",
    says="backward runs without gradients: what is computed there has no graph to go back through. Run fn, and what "
    "you make of its result, under torch.enable_grad().",
)
def no_graph_in_backward(fn, *args):
    return _checkpoint(fn, args, "gradients off")


@misconception(
    "checkpoint",
    says="The upstream gradient g is not used: this is right only where g is all ones. out.backward(g).",
)
def upstream_ignored(fn, *args):
    return _checkpoint(fn, args, "ignores g")


@misconception(
    "checkpoint",
    says="Every tensor was made to require a gradient. Indices and masks cannot. Ask ctx.needs_input_grad, or look at "
    "requires_grad of what was passed.",
)
def indices_require_gradients(fn, *args):
    return _checkpoint(fn, args, "all require gradients")


@misconception(
    "checkpoint",
    says="Only the first argument gets its gradient. backward returns one value for each input of forward.",
)
def first_argument_alone(fn, *args):
    return _checkpoint(fn, args, "first argument alone")


@misconception(
    "checkpoint",
    says="The second run draws other random numbers than the first: dropout's gradient belongs to another mask than "
    "its values. Keep torch.get_rng_state() from before fn ran, and set it in backward.",
)
def another_mask(fn, *args):
    return _checkpoint(fn, args, "no random state", "state not put back")


@misconception(
    "checkpoint",
    says="The second run draws numbers of its own, so another dropout mask than the first. Before it, set the random "
    "state that forward began with: torch.set_rng_state.",
)
def another_mask_and_state_put_back(fn, *args):
    return _checkpoint(fn, args, "no random state")


@misconception(
    "checkpoint",
    says="The random state was kept after fn had run, so the second run goes on with other numbers. Take it before.",
)
def state_taken_too_late(fn, *args):
    return _checkpoint(fn, args, "state after fn")


@misconception(
    "checkpoint",
    says="backward leaves the random state where its run of fn left it: whoever draws numbers next draws some that "
    "were drawn before. Put the state back, or use torch.random.fork_rng.",
)
def state_not_put_back(fn, *args):
    return _checkpoint(fn, args, "state not put back")


class _Seeded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, fn, anchor, *args):
        torch.manual_seed(0)
        return _Recompute.forward(ctx, (), fn, anchor, *args)

    @staticmethod
    def backward(ctx, g):
        ctx.needs_input_grad_of_all = ctx.needs_input_grad
        state = torch.get_rng_state()
        args = list(ctx.plain)
        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = tensor.detach().requires_grad_(ctx.needs_input_grad[2 + i])
        with torch.enable_grad():
            torch.manual_seed(0)
            out = ctx.fn(*args)
        torch.set_rng_state(state)
        out.backward(g)
        return None, None, *(arg.grad if isinstance(arg, torch.Tensor) else None for arg in args)


@misconception(
    "checkpoint",
    says="A fixed seed makes both runs equal, and every checkpoint and every step, too: the same mask for ever. Use "
    "the random state that there is.",
)
def a_fixed_seed(fn, *args):
    return _Seeded.apply(fn, torch.empty(0, requires_grad=True), *args)


@misconception(
    "checkpoint",
    says="The arguments were cloned, so each is held twice. Keep them as they are; save_for_backward sees to it that "
    "nobody changes them unnoticed.",
)
def kept_clones(fn, *args):
    return _checkpoint(fn, args, "clones")


@misconception(
    "checkpoint",
    says="The tensors are kept in an attribute of ctx. If one is changed in place before the backward pass, fn runs on "
    "the new values, and the gradient is silently wrong. ctx.save_for_backward notices.",
)
def tensors_in_an_attribute(fn, *args):
    return _checkpoint(fn, args, "attributes")


@misconception(
    "checkpoint",
    says="forward runs fn with gradients on and keeps the result with its graph: all that fn computes is kept. That "
    "run belongs into backward.",
)
def kept_a_graph(fn, *args):
    return _checkpoint(fn, args, "keeps the result of another run")


@misconception("checkpoint", says="fn runs more often than needed: once in each pass is enough, and each run costs.")
def runs_fn_again(fn, *args):
    return _checkpoint(fn, args, "calls fn twice in backward")


@misconception(
    "checkpoint",
    says="Gradients are switched on around the Function, so it makes a graph under torch.no_grad(), too. apply sees by "
    "itself whether gradients are on.",
)
def graph_under_no_grad(fn, *args):
    with torch.enable_grad():
        return _checkpoint(fn, args)


_LAST: dict[str, Any] = {}


class _OfAClass(torch.autograd.Function):
    @staticmethod
    def forward(ctx, fn, anchor, *args):
        _LAST["fn"], _LAST["state"] = fn, torch.get_rng_state()
        ctx.plain = args
        ctx.save_for_backward(*(arg for arg in args if isinstance(arg, torch.Tensor)))
        return fn(*args)

    @staticmethod
    def backward(ctx, g):
        saved, wants = iter(ctx.saved_tensors), ctx.needs_input_grad[2:]
        args = [
            next(saved).detach().requires_grad_(want) if isinstance(arg, torch.Tensor) else arg
            for arg, want in zip(ctx.plain, wants, strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(_LAST["state"])
            out = _LAST["fn"](*args)
        out.backward(g)
        return None, None, *(arg.grad if isinstance(arg, torch.Tensor) else None for arg in args)


@misconception(
    "checkpoint",
    says="fn is kept in a place that all checkpoints share, so every backward runs the last one's. Keep it on ctx.",
)
def one_place_for_all(fn, *args):
    return _OfAClass.apply(fn, torch.empty(0, requires_grad=True), *args)


# checkpoint_sequential


def _segment(layers, x, **options):
    options = {"use_reentrant": False, **options}
    return torch.utils.checkpoint.checkpoint(torch.nn.Sequential(*layers), x, **options)


def _cut(n_layers, segments):
    ends = [n_layers * i // segments for i in range(segments + 1)]
    return list(pairwise(ends))


@misconception(
    "checkpoint_sequential",
    says="Nothing is checkpointed: the loop keeps what every layer computes.",
)
def the_plain_loop(layers, x, segments):
    for layer in layers:
        x = layer(x)
    return x


@misconception(
    "checkpoint_sequential",
    says="The last segment is not checkpointed (PyTorch's own checkpoint_sequential leaves it out, too). Here every "
    "segment is.",
)
def last_segment_as_it_is(layers, x, segments):
    *before, (start, end) = _cut(len(layers), segments)
    for first, last in before:
        x = _segment(layers[first:last], x)
    return torch.nn.Sequential(*layers[start:end])(x)


@misconception("checkpoint_sequential", says="The first segment is not checkpointed. Every segment is to be.")
def first_segment_as_it_is(layers, x, segments):
    (start, end), *others = _cut(len(layers), segments)
    x = torch.nn.Sequential(*layers[start:end])(x)
    for first, last in others:
        x = _segment(layers[first:last], x)
    return x


@misconception(
    "checkpoint_sequential",
    says="All that n // segments leaves over went to the last segment, which may then be far longer than the others. "
    "Let segment i end at n (i + 1) // segments.",
)
def rest_to_the_last(layers, x, segments):
    size = len(layers) // segments
    for i in range(segments):
        x = _segment(layers[i * size : (i + 1) * size if i < segments - 1 else len(layers)], x)
    return x


@misconception(
    "checkpoint_sequential",
    says="Segments of ⌈n / segments⌉ layers are too few segments, or the last one is too short: 7 layers in 3 segments "
    "are 3, 2 and 2, not 3, 3 and 1.",
)
def rounded_up(layers, x, segments):
    size = math.ceil(len(layers) / segments)
    for start in range(0, len(layers), size):
        x = _segment(layers[start : start + size], x)
    return x


@misconception(
    "checkpoint_sequential",
    says="The layers that n // segments leaves over do not run at all. The last segment ends with the last layer.",
)
def rest_left_out(layers, x, segments):
    size = len(layers) // segments
    for i in range(segments):
        x = _segment(layers[i * size : (i + 1) * size], x)
    return x


@misconception(
    "checkpoint_sequential",
    says="`segments` was taken for the length of a segment. It is how many there are.",
)
def segments_as_a_length(layers, x, segments):
    for start in range(0, len(layers), segments):
        x = _segment(layers[start : start + segments], x)
    return x


@misconception(
    "checkpoint_sequential",
    says="Each layer has a checkpoint of its own, whatever `segments` is: every layer's input is kept.",
)
def each_layer_alone(layers, x, segments):
    for layer in layers:
        x = _segment([layer], x)
    return x


@misconception(
    "checkpoint_sequential",
    says="All layers are one segment: the backward pass holds everything at once, as if there were no checkpoint.",
)
def one_segment_for_all(layers, x, segments):
    return _segment(layers, x)


@misconception(
    "checkpoint_sequential",
    says="The function looks up where its segment starts and ends when it is called. In the backward pass the loop is "
    "over, and every segment runs the last one's layers. Bind the values: functools.partial, or default arguments.",
)
def bound_too_late(layers, x, segments):
    for start, end in _cut(len(layers), segments):

        def run(x):
            for layer in layers[start:end]:  # noqa: B023
                x = layer(x)
            return x

        x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=True)
    return x


@misconception(
    "checkpoint_sequential",
    says="The first segment's parameters get no gradient where x requires none: that is use_reentrant=True. With "
    "use_reentrant=False they do.",
)
def the_reentrant_one(layers, x, segments):
    for start, end in _cut(len(layers), segments):
        x = _segment(layers[start:end], x, use_reentrant=True)
    return x


@misconception(
    "checkpoint_sequential",
    says="The random state is not kept, so dropout draws another mask in the backward pass. Leave preserve_rng_state "
    "on.",
)
def random_state_not_kept(layers, x, segments):
    for start, end in _cut(len(layers), segments):
        x = _segment(layers[start:end], x, preserve_rng_state=False)
    return x


# peak_activations


@misconception(
    "peak_activations",
    says="The length of the longest segment was rounded down: 10 layers in 4 segments are 3, 3, 2 and 2. The longest "
    "has ⌈n_layers / segments⌉ layers.",
)
def rounded_down(n_layers, segments):
    return segments + n_layers // segments


@misconception(
    "peak_activations",
    says="This is the larger of the two. Both are there at once: the inputs of all segments, and the layers of the "
    "segment that runs again. Add them.",
)
def the_larger_of_the_two(n_layers, segments):
    return max(segments, -(-n_layers // segments))


@misconception(
    "peak_activations",
    says="n_layers / segments was rounded to the nearest. The longest segment has ⌈n_layers / segments⌉ layers, "
    "rounded up.",
)
def rounded_to_the_nearest(n_layers, segments):
    return segments + round(n_layers / segments)


@misconception(
    "peak_activations",
    says="One layer too many in the longest segment: n // segments + 1 is too large where the segments come out even. "
    "⌈n / segments⌉ is -(-n // segments), or math.ceil.",
)
def one_more_than_rounded_down(n_layers, segments):
    return segments + n_layers // segments + 1


@misconception(
    "peak_activations", says="One too many is counted: the stack's input is the input of the first segment, and is in."
)
def stack_input_counted_twice(n_layers, segments):
    return segments + -(-n_layers // segments) + 1


@misconception(
    "peak_activations",
    says="One too few: the first segment keeps its input, too. There are as many kept inputs as segments.",
)
def first_input_not_counted(n_layers, segments):
    return segments - 1 + -(-n_layers // segments)


@misconception(
    "peak_activations",
    says="One too few: all the layers of the longest segment count, its last one included.",
)
def last_of_a_segment_not_counted(n_layers, segments):
    return segments + (n_layers - 1) // segments if segments < n_layers else segments


@misconception(
    "peak_activations",
    says="This is what is kept from the forward pass. The peak comes in the backward pass, when a segment is run "
    "again: its layers are held as well.",
)
def kept_alone(n_layers, segments):
    return segments


@misconception(
    "peak_activations",
    says="These are the activations of the longest segment alone. The inputs of all segments are held at the same "
    "time.",
)
def longest_segment_alone(n_layers, segments):
    return -(-n_layers // segments)


@misconception(
    "peak_activations",
    says="The two terms were multiplied. The kept inputs and one segment's activations are held together: add them.",
)
def multiplied(n_layers, segments):
    return segments * -(-n_layers // segments)


@misconception(
    "peak_activations",
    says="Every segment's activations were added up. Segments are run again one at a time, and let go after each: only "
    "the longest one counts.",
)
def all_segments_at_once(n_layers, segments):
    return segments + n_layers


@misconception(
    "peak_activations",
    says="This is the rule of thumb 2 √n_layers, the peak with about √n_layers segments. Use the number of segments "
    "that is given.",
)
def rule_of_thumb(n_layers, segments):
    return math.ceil(2 * math.sqrt(n_layers))


@misconception(
    "peak_activations",
    says="All the layers left over went into the last segment. Lengths differ by at most one: 11 layers in 4 segments "
    "are 3, 3, 3 and 2.",
)
def rest_in_the_last_segment(n_layers, segments):
    return segments + n_layers // segments + n_layers % segments


@misconception(
    "peak_activations",
    says="This is a float. A number of activations is an int: n_layers / segments is a float, and np.ceil gives one, "
    "too; math.ceil gives an int.",
)
def a_float(n_layers, segments):
    return float(segments + -(-n_layers // segments))


@misconception(
    "peak_activations",
    says="This is a float that was not even rounded: a segment has whole layers. Round n_layers / segments up.",
)
def not_rounded(n_layers, segments):
    return segments + n_layers / segments


# best_segments


@misconception("best_segments", says="This is the least peak itself. Return the number of segments that has it.")
def the_peak_itself(n_layers):
    return min(segments + -(-n_layers // segments) for segments in range(1, n_layers + 1))


@misconception(
    "best_segments",
    says="Only divisors of n_layers were tried. Segments need not be equally long: 7 layers in 3 segments are 3, "
    "2 and 2.",
)
def only_divisors(n_layers):
    divisors = [segments for segments in range(1, n_layers + 1) if n_layers % segments == 0]
    return min(divisors, key=lambda segments: segments + n_layers // segments)


@misconception(
    "best_segments",
    says="This is the position of the best number in a list that begins with 1 segment: add 1.",
)
def position_in_the_list(n_layers):
    peaks = [segments + -(-n_layers // segments) for segments in range(1, n_layers + 1)]
    return peaks.index(min(peaks))


@misconception(
    "best_segments",
    says="range(1, n_layers) ends before n_layers: with 1 layer there is nothing to try. range(1, n_layers + 1).",
)
def range_too_short(n_layers):
    return min(range(1, n_layers), key=lambda segments: segments + -(-n_layers // segments))


@misconception(
    "best_segments",
    says="This is √n_layers, a float. Segments are whole: round it. Down, up or to the nearest has the least peak all "
    "the same.",
)
def square_root_not_rounded(n_layers):
    return math.sqrt(n_layers)


@misconception("best_segments", says="A float. A number of segments is an int: int(…), or math.isqrt for the root.")
def a_rounded_float(n_layers):
    return float(math.isqrt(n_layers))


@misconception(
    "best_segments",
    says="This is the whole of 2 √n_layers, which is the least peak. The number of segments is half of it.",
)
def twice_the_root(n_layers):
    return min(math.ceil(2 * math.sqrt(n_layers)), n_layers)


@misconception(
    "best_segments",
    says="Half as many segments as layers: two layers each. Their inputs alone are n/2; about √n_layers is best.",
)
def half_of_the_layers(n_layers):
    return max(1, n_layers // 2)


@misconception(
    "best_segments",
    says="A segment for each layer keeps every activation. That recomputes most and, with unit costs, saves nothing: "
    "the peak is n_layers + 1.",
)
def a_segment_each(n_layers):
    return n_layers


@misconception(
    "best_segments",
    says="One segment runs the whole stack again and holds all of it: the peak is n_layers + 1.",
)
def one_segment(n_layers):
    return 1


@misconception(
    "best_segments",
    says="The length of the longest segment was rounded down while trying, so numbers that seem to be best are not. "
    "It is ⌈n_layers / segments⌉.",
)
def tried_with_rounding_down(n_layers):
    return min(range(n_layers, 0, -1), key=lambda segments: segments + n_layers // segments)


@misconception(
    "best_segments",
    says="The logarithm of n_layers. It is the least of segments + n_layers / segments, which is at √n_layers.",
)
def logarithm(n_layers):
    return max(1, round(math.log2(n_layers)))


@misconception(
    "best_segments",
    says="The nearest power of two is not always a best number: try the others as well.",
)
def power_of_two(n_layers):
    return 2 ** round(math.log2(math.sqrt(n_layers)))


@misconception(
    "best_segments",
    says="These are all the best numbers, or several. Return one of them, an int.",
)
def all_of_the_best(n_layers):
    least = math.ceil(2 * math.sqrt(n_layers))
    return [segments for segments in range(1, n_layers + 1) if segments + -(-n_layers // segments) == least]


@misconception(
    "best_segments",
    says="The number and its peak, in a tuple. Return the number alone.",
)
def number_and_peak(n_layers):
    segments = math.isqrt(n_layers)
    return segments, segments + -(-n_layers // segments)


@misconception(
    "best_segments",
    says="One more than the root, rounded up: that is one too many for many numbers of layers, 4 among them.",
)
def one_more_than_the_root(n_layers):
    return min(math.isqrt(n_layers - 1) + 2, n_layers)


# minimal_forwards


@misconception(
    "minimal_forwards",
    says="The taped run of each step was counted, too: that is n_steps too many. Count only what is advanced without "
    "taping.",
)
def taped_steps_counted(n_steps, slots):
    r = next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r, slots + 1) + n_steps


@misconception(
    "minimal_forwards",
    says="One slot too many: state 0 is in one of the slots, so there are slots − 1 for other states. Many texts count "
    "the starting state apart.",
)
def state_0_outside_the_slots(n_steps, slots):
    slots += 1
    r = next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r, slots + 1)


@misconception(
    "minimal_forwards",
    says="One slot too few: the state at hand needs none of its own.",
)
def state_at_hand_in_a_slot(n_steps, slots):
    slots = max(slots - 1, 1)
    r = next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r, slots + 1)


@misconception(
    "minimal_forwards",
    says="The wrong binomial is subtracted: C(s + r, s + 1), not C(s + r, s).",
)
def subtracted_the_same_binomial(n_steps, slots):
    r = next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r, slots)


@misconception(
    "minimal_forwards",
    says="The wrong binomial is subtracted: C(s + r, s + 1), not C(s + r, s − 1).",
)
def subtracted_the_binomial_before(n_steps, slots):
    r = next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r, slots - 1)


@misconception(
    "minimal_forwards",
    says="The wrong binomial is subtracted: C(s + r, s + 1), not C(s + r + 1, s + 1).",
)
def subtracted_one_row_further(n_steps, slots):
    r = next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r + 1, slots + 1)


@misconception(
    "minimal_forwards",
    says="The wrong binomial is subtracted: C(s + r, s + 1), not C(s + r − 1, s + 1).",
)
def subtracted_one_row_before(n_steps, slots):
    r = next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(max(slots + r - 1, 0), slots + 1)


@misconception(
    "minimal_forwards",
    says="r is one too large: the least number with C(s + r, s) ≥ n, and r may be 0.",
)
def r_one_too_large(n_steps, slots):
    r = 1 + next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r, slots + 1)


@misconception(
    "minimal_forwards",
    says="r is one too small: it is the least number with C(s + r, s) ≥ n, not the largest with C(s + r, s) ≤ n.",
)
def r_one_too_small(n_steps, slots):
    r = next(r for r in range(n_steps + 1) if math.comb(slots + r + 1, slots) > n_steps)
    return r * n_steps - math.comb(slots + r, slots + 1)


@misconception(
    "minimal_forwards",
    says="r was looked for in C(r, s) ≥ n: it is C(s + r, s).",
)
def r_of_another_binomial(n_steps, slots):
    r = next(r for r in range(slots, n_steps + slots) if math.comb(r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r, slots + 1)


@misconception(
    "minimal_forwards",
    says="The slots do not matter here: every step back starts again at state 0. Store states on the way, and start "
    "from the nearest one.",
)
def from_state_0_every_time(n_steps, slots):
    return n_steps * (n_steps - 1) // 2


@misconception(
    "minimal_forwards",
    says="These are the steps of a single sweep. With fewer slots than states some have to be advanced over again.",
)
def one_sweep(n_steps, slots):
    return n_steps - 1


@misconception(
    "minimal_forwards",
    says="The first sweep, which stores the states, was not counted. Its steps are advanced without taping like the "
    "others.",
)
def first_sweep_free(n_steps, slots):
    r = next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r, slots + 1) - (n_steps - 1)


@misconception(
    "minimal_forwards",
    says="Equal segments, one for each slot, and inside of each from its start again every time. Slots whose states "
    "are used up are free: use them for the segment that comes next.",
)
def equal_segments(n_steps, slots):
    segments = min(slots, n_steps)
    lengths = [n_steps // segments + (i < n_steps % segments) for i in range(segments)]
    return n_steps - lengths[-1] + sum(length * (length - 1) // 2 for length in lengths)


@misconception(
    "minimal_forwards",
    says="A slot is used only once here. Once the right part is taken back its slots are free: the left part has all "
    "slots, too.",
)
def slots_used_once(n_steps, slots):
    @cache
    def least(n, s):
        if n == 1 or s == 1:
            return n * (n - 1) // 2
        return min(j + least(n - j, s - 1) + j * (j - 1) // 2 for j in range(1, n))

    return least(n_steps, slots)


@misconception(
    "minimal_forwards",
    says="The left part got one slot less. When its turn comes, the slot that the right part began in is free again: "
    "T(j, s).",
)
def left_part_without_the_slot(n_steps, slots):
    @cache
    def least(n, s):
        if n == 1 or s == 1:
            return n * (n - 1) // 2
        return min(j + least(n - j, s - 1) + least(j, s - 1) for j in range(1, n))

    return least(n_steps, slots)


@misconception(
    "minimal_forwards",
    says="The right part got all the slots, too. While it runs, one of them holds state 0: T(n − j, s − 1).",
)
def right_part_with_all_slots(n_steps, slots):
    @cache
    def least(n, s):
        if n == 1 or s == 1:
            return n * (n - 1) // 2
        return min(j + least(n - j, s) + least(j, s) for j in range(1, n))

    return least(n_steps, slots)


@misconception(
    "minimal_forwards",
    says="The state was always stored in the middle. That is not the best place: the right part has fewer slots. Try "
    "every j.",
)
def always_in_the_middle(n_steps, slots):
    @cache
    def least(n, s):
        if n == 1 or s == 1:
            return n * (n - 1) // 2
        j = n // 2
        return j + least(n - j, s - 1) + least(j, s)

    return least(n_steps, slots)


@misconception(
    "minimal_forwards",
    says="The way to the state that is stored was not counted: advancing j steps costs j.",
)
def way_to_the_state_free(n_steps, slots):
    @cache
    def least(n, s):
        if n == 1 or s == 1:
            return n * (n - 1) // 2
        return min(least(n - j, s - 1) + least(j, s) for j in range(1, n))

    return least(n_steps, slots)


@misconception(
    "minimal_forwards",
    says="The recurrence is right, and computes the same T(n, s) again and again, exponentially often. Remember what "
    "you computed: functools.cache, or a table.",
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


@misconception(
    "minimal_forwards",
    says="With one slot n steps cost n (n − 1) / 2, not n (n + 1) / 2: the step that is taken back is taped, and taped "
    "runs do not count.",
)
def one_step_too_many_with_one_slot(n_steps, slots):
    @cache
    def least(n, s):
        if n == 1:
            return 0
        if s == 1:
            return n * (n + 1) // 2
        return min(j + least(n - j, s - 1) + least(j, s) for j in range(1, n))

    return least(n_steps, slots)


@misconception(
    "minimal_forwards",
    says="One step back is one taped run: T(1, s) is 0, not 1.",
)
def one_step_costs_one(n_steps, slots):
    @cache
    def least(n, s):
        if n == 1:
            return 1
        if s == 1:
            return n * (n - 1) // 2
        return min(j + least(n - j, s - 1) + least(j, s) for j in range(1, n))

    return least(n_steps, slots)


@misconception(
    "minimal_forwards",
    says="A float. A number of steps is an int: // where / was written, math.comb for the binomials.",
)
def forwards_as_a_float(n_steps, slots):
    r = next(r for r in range(n_steps) if math.comb(slots + r, slots) >= n_steps)
    return float(r * n_steps - math.comb(slots + r, slots + 1))


# plan_checkpoints


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


@misconception(
    "plan_checkpoints",
    says="The run before the first kept layer was forgotten: it is recomputed from the input and needs its memory.",
)
def forgot_the_first_run(costs, sizes, budget):
    fitting = [
        plan
        for plan in _plans(len(sizes))
        if sum(sizes[i] for i in plan) + max(_runs(plan, sizes)[1:], default=0) <= budget
    ]
    return _cheapest(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="Only runs between two kept layers were counted. The one before the first and the one after the last need "
    "memory, too.",
)
def forgot_both_ends(costs, sizes, budget):
    fitting = [
        plan
        for plan in _plans(len(sizes))
        if sum(sizes[i] for i in plan) + max(_runs(plan, sizes)[1:-1], default=0) <= budget
    ]
    return _cheapest(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="The runs were added up. One is recomputed at a time, and let go before the next: only the largest counts.",
)
def runs_added_up(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if sum(sizes) <= budget]
    return _cheapest(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="Only what is kept was counted. While a run is recomputed its outputs are held as well: add the largest run.",
)
def runs_not_counted(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if sum(sizes[i] for i in plan) <= budget]
    return _cheapest(fitting, costs)


@misconception(
    "plan_checkpoints",
    says="The largest run alone was counted. What is kept is held all the time: add it.",
)
def kept_not_counted(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if max(_runs(plan, sizes)) <= budget]
    return _cheapest(fitting, costs)


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


@misconception(
    "plan_checkpoints",
    says="The largest single layer that is not kept was counted. A whole run is held at once: add up its sizes.",
)
def largest_layer_for_the_largest_run(costs, sizes, budget):
    fitting = [
        plan
        for plan in _plans(len(sizes))
        if sum(sizes[i] for i in plan) + max((s for i, s in enumerate(sizes) if i not in plan), default=0) <= budget
    ]
    return _cheapest(fitting, costs)


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


@misconception(
    "plan_checkpoints",
    says="As many layers as possible are kept. Layers cost differently: it is Σ costs of the others that has to be "
    "least.",
)
def most_layers_kept(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)]
    if not fitting:
        raise ValueError("nothing fits")
    return max(fitting, key=len)


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


@misconception(
    "plan_checkpoints",
    says="The first plan that fits was returned, the one with the fewest layers. Compare the costs of all that fit.",
)
def first_that_fits(costs, sizes, budget):
    for plan in _plans(len(sizes)):
        if _fits(plan, sizes, budget):
            return plan
    raise ValueError("nothing fits")


@misconception(
    "plan_checkpoints",
    says="Greedy, the dearest layer first, is not optimal: one that is dear and large may push out two that are dearer "
    "together. And what is kept first decides which runs are left. Compare whole plans.",
)
def dearest_first(costs, sizes, budget):
    plan = []
    for i in sorted(range(len(costs)), key=lambda i: -costs[i]):
        longer = sorted([*plan, i])
        if _fits(longer, sizes, budget) or not _fits(plan, sizes, budget):
            plan = longer
    if not _fits(plan, sizes, budget):
        raise ValueError("nothing fits")
    return plan


@misconception(
    "plan_checkpoints",
    says="Greedy, the most cost per byte first, is not optimal: it leaves room unused, and runs that are too large. "
    "Compare whole plans.",
)
def most_cost_per_byte_first(costs, sizes, budget):
    plan = []
    for i in sorted(range(len(costs)), key=lambda i: -costs[i] / max(sizes[i], 1e-9)):
        longer = sorted([*plan, i])
        if _fits(longer, sizes, budget) or not _fits(plan, sizes, budget):
            plan = longer
    if not _fits(plan, sizes, budget):
        raise ValueError("nothing fits")
    return plan


@misconception(
    "plan_checkpoints",
    says="Greedy, the smallest output first, is not optimal: small outputs may be cheap to recompute. Compare whole "
    "plans.",
)
def smallest_first(costs, sizes, budget):
    plan = []
    for i in sorted(range(len(costs)), key=lambda i: sizes[i]):
        longer = sorted([*plan, i])
        if _fits(longer, sizes, budget) or not _fits(plan, sizes, budget):
            plan = longer
    if not _fits(plan, sizes, budget):
        raise ValueError("nothing fits")
    return plan


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


@misconception(
    "plan_checkpoints",
    says="This lists the layers that are recomputed. The layers to keep are asked.",
)
def the_layers_not_kept(costs, sizes, budget):
    plan = _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)], costs)
    return [i for i in range(len(sizes)) if i not in plan]


@misconception(
    "plan_checkpoints",
    says="This is one True or False for each layer. The numbers of the layers to keep are asked: [1, 3], not "
    "[False, True, False, True].",
)
def a_mask(costs, sizes, budget):
    plan = _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)], costs)
    return [i in plan for i in range(len(sizes))]


@misconception(
    "plan_checkpoints",
    says="This is a 1 or 0 for each layer. The numbers of the layers to keep are asked: [1, 3], not [0, 1, 0, 1].",
)
def a_mask_of_ones(costs, sizes, budget):
    plan = _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)], costs)
    return [int(i in plan) for i in range(len(sizes))]


@misconception("plan_checkpoints", says="Layers are counted from 0. Here they are counted from 1.")
def counted_from_one(costs, sizes, budget):
    plan = _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)], costs)
    return [i + 1 for i in plan]


@misconception("plan_checkpoints", says="This is what the plan costs. Return the plan: the layers to keep.")
def the_cost_of_the_plan(costs, sizes, budget):
    return _spent(_cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)], costs), costs)


@misconception("plan_checkpoints", says="The right layers, but a set of them. A list is asked, ascending: sorted(…).")
def a_set(costs, sizes, budget):
    return set(_cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)], costs))


@misconception(
    "plan_checkpoints",
    says="The right layers in the wrong order: found from the last one back. Ascending, please: sorted(…).",
)
def from_the_last_one_back(costs, sizes, budget):
    return _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)], costs)[::-1]


@misconception(
    "plan_checkpoints",
    says="Where nothing fits a ValueError is asked. An empty plan, the lightest one or None is taken for an answer and "
    "noticed too late.",
)
def empty_where_nothing_fits(costs, sizes, budget):
    fitting = [plan for plan in _plans(len(sizes)) if _fits(plan, sizes, budget)]
    return _cheapest(fitting, costs) if fitting else []


@misconception(
    "plan_checkpoints",
    says="costs and sizes are swapped: the sizes of the layers not kept were made least, and costs were held to the "
    "budget.",
)
def costs_and_sizes_swapped(costs, sizes, budget):
    return _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, costs, budget)], sizes)


@misconception(
    "plan_checkpoints",
    says="Sizes were counted as 1 each. Layers differ: add up sizes.",
)
def all_sizes_alike(costs, sizes, budget):
    ones = [1] * len(sizes)
    return _cheapest([plan for plan in _plans(len(sizes)) if _fits(plan, ones, budget)], costs)


# offload_to_cpu

_hooks = torch.autograd.graph.saved_tensors_hooks


def _to_cpu(tensor):
    return tensor if is_of_parameter(tensor) else (tensor.device, tensor.to("cpu", copy=True))


def _from_cpu(kept):
    return kept if isinstance(kept, torch.Tensor) else kept[1].to(kept[0])


@misconception(
    "offload_to_cpu",
    says="Nothing is copied. What is on the CPU already stays the same memory under .cpu(), .to('cpu') and .detach(): "
    "ask for copy=True.",
)
def no_copy_on_a_cpu():
    return _hooks(lambda t: t if is_of_parameter(t) else (t.device, t.cpu()), _from_cpu)


@misconception(
    "offload_to_cpu",
    says="Parameters are copied, too. They are on the device anyway, so that frees nothing: leave what "
    "is_of_parameter(tensor) says.",
)
def parameters_too():
    return _hooks(lambda t: (t.device, t.to("cpu", copy=True)), _from_cpu)


@misconception(
    "offload_to_cpu",
    says="Views of parameters are copied: a linear layer saves its weight transposed, and that is no nn.Parameter. "
    "is_of_parameter knows views.",
)
def views_of_parameters():
    def pack(tensor):
        return tensor if isinstance(tensor, torch.nn.Parameter) else (tensor.device, tensor.to("cpu", copy=True))

    return _hooks(pack, _from_cpu)


@misconception(
    "offload_to_cpu",
    says="What comes back stays on the CPU. The backward pass needs it where it was: keep tensor.device beside the "
    "copy.",
)
def stays_on_the_cpu():
    return _hooks(lambda t: t if is_of_parameter(t) else (t.device, t.to("cpu", copy=True)), _second)


def _second(kept):
    return kept if isinstance(kept, torch.Tensor) else kept[1]


@misconception(
    "offload_to_cpu",
    says="The original is kept beside the copy, so nothing is freed. pack returns the device and the copy, not the "
    "tensor.",
)
def keeps_the_original_too():
    def pack(tensor):
        return tensor if is_of_parameter(tensor) else (tensor, tensor.to("cpu", copy=True))

    return _hooks(pack, lambda kept: kept if isinstance(kept, torch.Tensor) else kept[1].to(kept[0].device))


@misconception(
    "offload_to_cpu",
    says="The copies are kept in half precision, which saves half of the memory and changes the gradients. Keep the "
    "dtype.",
)
def in_half_precision():
    def pack(tensor):
        if is_of_parameter(tensor):
            return tensor
        small = tensor.half() if tensor.is_floating_point() else tensor.clone()
        return tensor.device, tensor.dtype, small

    def unpack(kept):
        return kept if isinstance(kept, torch.Tensor) else kept[2].to(kept[0], kept[1])

    return _hooks(pack, unpack)


@misconception(
    "offload_to_cpu",
    says="All that comes back is float32, indices, masks and float64 as well. A tensor comes back with its own dtype.",
)
def all_of_it_float32():
    def unpack(kept):
        return kept if isinstance(kept, torch.Tensor) else kept[1].to(kept[0], torch.float32)

    return _hooks(_to_cpu, unpack)


@misconception(
    "offload_to_cpu",
    says="The hooks are not removed where the block raises. Use `with`, or try … finally.",
)
@contextmanager
def hooks_stay_after_an_exception():
    hooks = _hooks(_to_cpu, _from_cpu)
    hooks.__enter__()
    yield
    hooks.__exit__(None, None, None)


@misconception("offload_to_cpu", says="The hooks are never removed: all that is saved afterwards is copied, too.")
@contextmanager
def hooks_stay_for_good():
    _hooks(_to_cpu, _from_cpu).__enter__()
    yield


@misconception(
    "offload_to_cpu",
    says="Exceptions of the block are swallowed. An error in the forward pass has to come out.",
)
@contextmanager
def swallows_exceptions():
    with _hooks(_to_cpu, _from_cpu):
        try:
            yield
        except Exception:
            return


# reversible_block


class _Back(torch.autograd.Function):
    """Right, but for what `wrong` names."""

    @staticmethod
    def forward(ctx, wrong, f, g, x1, x2):
        f_of_x2 = f(x2)
        y1 = x1 + f_of_x2
        g_of_y1 = g(x1 if "g of x1" in wrong else y1)
        y2 = x2 + g_of_y1
        ctx.wrong, ctx.f, ctx.g = wrong, f, g
        if "attributes" in wrong:
            ctx.ys = y1.detach(), y2.detach()
        elif "keeps inputs" in wrong:
            ctx.save_for_backward(y1, y2, x2)
        elif "keeps inputs alone" in wrong:
            ctx.save_for_backward(x1, x2)
        elif "keeps values" in wrong:
            ctx.save_for_backward(y1, y2, f_of_x2, g_of_y1)
        else:
            ctx.save_for_backward(y1, y2)
        return y1, y2

    @staticmethod
    def backward(ctx, dy1, dy2):
        wrong, f, g = ctx.wrong, ctx.f, ctx.g
        y1, y2, *more = ctx.ys if "attributes" in wrong else ctx.saved_tensors
        if "keeps inputs alone" in wrong:
            with torch.enable_grad():
                x1, x2 = (x.detach().requires_grad_() for x in (y1, y2))
                y1 = x1 + f(x2)
                y2 = x2 + g(y1)
            torch.autograd.backward([y1, y2], [dy1, dy2])
            return None, None, None, x1.grad, x2.grad
        at_g = y1 - f(y2) if "g of x1" in wrong else y1
        with torch.set_grad_enabled("nothing recorded" not in wrong):
            at_g = at_g.detach().requires_grad_()
            g_of_y1 = g(at_g)
        x2 = y2 + g_of_y1 if "adds" in wrong else y2 - g_of_y1
        x2 = y2 if "uses y2" in wrong else x2
        x2 = y2 - g(y1) if "runs again" in wrong else x2
        x2 = more[0] if "keeps inputs" in wrong else x2
        with torch.enable_grad():
            x2 = x2.detach().requires_grad_()
            f_of_x2 = f(x2)
        if "grad of inputs" in wrong:
            (through_g,) = torch.autograd.grad(g_of_y1, at_g, dy2)
            (through_f,) = torch.autograd.grad(f_of_x2, x2, dy1 + through_g)
            return None, None, None, dy1 + through_g, dy2 + through_f
        g_of_y1.backward(dy1 + dy2 if "dy1 through g" in wrong else dy2)
        dx1 = dy1 if "dx1 is dy1" in wrong else dy1 + at_g.grad
        f_of_x2.backward(dy1 if "dy1 through f" in wrong or "g of x1" in wrong else dx1)
        dx2 = dy2 if "dx2 is dy2" in wrong else dy2 + x2.grad
        dx2 = x2.grad if "no straight way" in wrong else dx2
        return (None, None, None, dx2, dx1) if "swapped" in wrong else (None, None, None, dx1, dx2)


@misconception(
    "reversible_block",
    says="This is right, and autograd keeps x1, x2 and all that f and g compute. It takes a Function that saves y1 and "
    "y2 alone.",
)
def left_to_autograd(f, g, x1, x2):
    y1 = x1 + f(x2)
    return y1, x2 + g(y1)


@misconception(
    "reversible_block",
    says="x2 is saved as well. It follows from what is there: x2 = y2 − g(y1).",
)
def keeps_x2(f, g, x1, x2):
    return _Back.apply(["keeps inputs"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="x1 and x2 are saved: that is a checkpoint. In a stack each block would keep its inputs. Save the outputs, "
    "and compute the inputs back.",
)
def a_checkpoint(f, g, x1, x2):
    return _Back.apply(["keeps inputs alone"], f, g, x1, x2)


@misconception("reversible_block", says="f(x2) and g(y1) are saved as well. They are computed again in backward.")
def keeps_what_f_and_g_compute(f, g, x1, x2):
    return _Back.apply(["keeps values"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="y1 and y2 are kept in an attribute of ctx: nobody notices if one of them is changed in place. "
    "ctx.save_for_backward does.",
)
def results_in_an_attribute(f, g, x1, x2):
    return _Back.apply(["attributes"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="y2 = x2 + g(x1): g has to get y1, the stream that has just been changed. Otherwise nothing can be computed "
    "back.",
)
def both_from_the_inputs(f, g, x1, x2):
    return _Back.apply(["g of x1"], f, g, x1, x2)


@misconception("reversible_block", says="x2 was computed back as y2 + g(y1). The forward pass added: subtract.")
def added_once_more(f, g, x1, x2):
    return _Back.apply(["adds"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="f's gradient was taken at y2. f saw x2: compute it back first, y2 − g(y1).",
)
def f_at_y2(f, g, x1, x2):
    return _Back.apply(["uses y2"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="dx1 = dy1 lacks what comes back through g: y1 goes to the loss, and into y2.",
)
def dx1_without_g(f, g, x1, x2):
    return _Back.apply(["dx1 is dy1"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="f's upstream gradient is that of y1 in full, what comes through g included: dx1, not dy1.",
)
def dy1_into_f(f, g, x1, x2):
    return _Back.apply(["dy1 through f"], f, g, x1, x2)


@misconception("reversible_block", says="dx2 = dy2 lacks what comes back through f: x2 goes into y2, and into y1.")
def dx2_without_f(f, g, x1, x2):
    return _Back.apply(["dx2 is dy2"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="dx2 lacks dy2: x2 is also added to y2 as it is, and that way has the derivative 1.",
)
def dx2_through_f_alone(f, g, x1, x2):
    return _Back.apply(["no straight way"], f, g, x1, x2)


@misconception("reversible_block", says="g's upstream gradient is dy2 alone: y1 = x1 + f(x2) does not contain g.")
def dy1_into_g(f, g, x1, x2):
    return _Back.apply(["dy1 through g"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="Nothing is recorded inside of a Function's backward, so g(y1) has no graph to go back through. Run g and f "
    "again under torch.enable_grad().",
)
def nothing_recorded_in_backward(f, g, x1, x2):
    return _Back.apply(["nothing recorded"], f, g, x1, x2)


@misconception("reversible_block", says="The gradients of x1 and x2 are swapped.")
def gradients_swapped(f, g, x1, x2):
    return _Back.apply(["swapped"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="The parameters of f and g get no gradient: torch.autograd.grad gives those of x1 and x2 alone. Call "
    "backward on g(y1) and f(x2): it adds to the parameters' .grad.",
)
def no_gradients_of_parameters(f, g, x1, x2):
    return _Back.apply(["grad of inputs"], f, g, x1, x2)


@misconception(
    "reversible_block",
    says="g runs once to compute x2 back and once more for its gradient. One run does for both: y2 − its result, "
    "detached.",
)
def g_runs_again(f, g, x1, x2):
    return _Back.apply(["runs again"], f, g, x1, x2)


# measure

_ATTENTION = [torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default]


def _through(stack, start, end, x):
    for block in stack.blocks[start:end]:
        x = block(x, stack.cos, stack.sin)
    return x


def _segments(stack, n, last=True, **options):
    """forward(x) in n segments; the last one as it is if `last` is False."""
    options = {"use_reentrant": False, **options}
    cuts = _cut(len(stack.blocks), n)

    def forward(x):
        for start, end in cuts:
            if end < len(stack.blocks) or last:
                x = torch.utils.checkpoint.checkpoint(_through, stack, start, end, x, **options)
            else:
                x = _through(stack, start, end, x)
        return x

    return forward


def _best(stack, need):
    """forward(x) in the number of segments that needs least: need(n, bytes of x, bytes of a layer)."""
    config, tokens, n_layers = stack.config, stack.cos.shape[0], len(stack.blocks)
    numbers = 6 * config.hidden + 2 * config.kv_heads * config.head_dim + 4 * config.ffn + config.heads + 2

    def forward(x):
        counts = range(1, n_layers + 1)
        return _segments(stack, min(counts, key=lambda n: need(n, x.nbytes, 4 * tokens * numbers)))(x)

    return forward


def _part(stack, name):
    for block in stack.blocks:
        run = partial(torch.utils.checkpoint.checkpoint, getattr(block, name), use_reentrant=False)
        setattr(block, name, run)
    return stack


def _checkpointing(policy, stack, **instead):
    """Right, but for the policies that `instead` has."""
    n = len(stack.blocks)
    right = {
        "none": lambda: stack,
        "every_layer": lambda: _segments(stack, n),
        "attention_core": lambda: _part(stack, "attention_core"),
        "attention_block": lambda: _part(stack, "attention_branch"),
        "selective": lambda: _segments(stack, n, context_fn=_contexts),
        "sqrt_segments": lambda: _segments(stack, round(n**0.5)),
        "best_segments": lambda: _best(stack, lambda k, x, layer: k * x + math.ceil(n / k) * layer),
    }
    return {**right, **instead}[policy]()


def _contexts():
    return torch.utils.checkpoint.create_selective_checkpoint_contexts(_ATTENTION)


def _offloading(stack, live, params=False, counts=False, back=True):
    def pack(tensor):
        if is_of_parameter(tensor) and not params:
            return tensor
        if counts:
            return [tensor.clone()]
        with live.not_counting():
            return [tensor.clone()]

    def unpack(kept):
        if isinstance(kept, torch.Tensor):
            return kept
        return kept[0].clone() if back else kept[0]

    def forward(x):
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            return stack(x)

    return forward


class _Streams(torch.autograd.Function):
    """Right, but for what `wrong` names; for the blocks from start to end of a stack."""

    @staticmethod
    def forward(ctx, wrong, x1, x2, stack, start, end):
        ctx.wrong, ctx.stack, ctx.place = wrong, stack, (start, end)
        kept = []
        for block in stack.blocks[start:end]:
            kept += [x1, x2]
            x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
            x2 = x2 + block.mlp_branch(x1)
        ctx.save_for_backward(x1, x2, *(kept if "keeps inputs" in wrong else []))
        return x1, x2

    @staticmethod
    def backward(ctx, dx1, dx2):
        def back(branch, x, y, dx, dy):
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                out = branch(x)
            u = y - (branch(x) if "runs again" in ctx.wrong else out.detach())
            out.backward(dy)
            return u, dx if "lost" in ctx.wrong else dx + x.grad

        stack, (start, end) = ctx.stack, ctx.place
        x1, x2, *_ = ctx.saved_tensors
        for block in reversed(stack.blocks[start:end]):
            x2, dx1 = back(block.mlp_branch, x1, x2, dx1, dx2)
            x1, dx2 = back(partial(block.attention_branch, cos=stack.cos, sin=stack.sin), x2, x1, dx2, dx1)
        return None, dx1, dx2, None, None, None


def _reversing(stack, *wrong):
    return lambda x: torch.add(*_Streams.apply(wrong, x, x, stack, 0, len(stack.blocks)))


def _forward(policy, stack, live):
    if policy == "offload":
        return _offloading(stack, live)
    return _reversing(stack) if policy == "reversible" else _checkpointing(policy, stack)


def _measured(policy, stack, x, g):
    live, counter = LiveStorages(), FlopCounter()
    forward = _forward(policy, stack, live)
    with live, counter:
        out = forward(x)
        saved = live.bytes
        out.backward(g)
    return {"saved_bytes": saved, "flops": counter.total, "seconds": 1.0, "peak_bytes": live.peak}


def fresh(device):
    """The notebook's, which takes the place of this name while a check runs."""
    raise NotImplementedError


@misconception(
    "measure", says="peak_bytes is what is left at the end of the step. live.peak has the most of all times."
)
def bytes_at_the_end(policy, device):
    stack, x, g = fresh(device)
    live, counter = LiveStorages(), FlopCounter()
    forward = _forward(policy, stack, live)
    with live, counter:
        out = forward(x)
        saved = live.bytes
        out.backward(g)
    return {"saved_bytes": saved, "flops": counter.total, "seconds": 1.0, "peak_bytes": live.bytes}


@misconception(
    "measure",
    says="peak_bytes was read before the backward pass, where recomputation makes its peak.",
)
def peak_of_the_forward_pass(policy, device):
    stack, x, g = fresh(device)
    live, counter = LiveStorages(), FlopCounter()
    forward = _forward(policy, stack, live)
    with live, counter:
        out = forward(x)
        saved, peak = live.bytes, live.peak
        out.backward(g)
    return {"saved_bytes": saved, "flops": counter.total, "seconds": 1.0, "peak_bytes": peak}


@misconception("measure", says="saved_bytes was read after the backward pass. It is what is alive between the passes.")
def saved_after_backward(policy, device):
    stack, x, g = fresh(device)
    live, counter = LiveStorages(), FlopCounter()
    forward = _forward(policy, stack, live)
    with live, counter:
        out = forward(x)
        out.backward(g)
    return {"saved_bytes": live.bytes, "flops": counter.total, "seconds": 1.0, "peak_bytes": live.peak}


@misconception("measure", says="flops are those of the forward pass alone. The step has two passes.")
def flops_of_the_forward_pass(policy, device):
    stack, x, g = fresh(device)
    live, counter = LiveStorages(), FlopCounter()
    forward = _forward(policy, stack, live)
    with live:
        with counter:
            out = forward(x)
        saved = live.bytes
        out.backward(g)
    return {"saved_bytes": saved, "flops": counter.total, "seconds": 1.0, "peak_bytes": live.peak}


@misconception(
    "measure",
    says="The stack was made while LiveStorages was active, so its weights count. Make stack, x and g first.",
)
def weights_count(policy, device):
    live, counter = LiveStorages(), FlopCounter()
    with live, counter:
        stack, x, g = fresh(device)
        forward = _forward(policy, stack, live)
        out = forward(x)
        saved = live.bytes
        out.backward(g)
    return {"saved_bytes": saved, "flops": counter.total, "seconds": 1.0, "peak_bytes": live.peak}


@misconception(
    "measure",
    says="Both steps use one x, so its gradients add up, and one stack, whose parts are wrapped twice. Call fresh for "
    "each step.",
)
def one_x_for_both_steps(policy, device):
    stack, x, g = fresh(device)
    numbers = _measured(policy, stack, x, g)
    _forward(policy, stack, LiveStorages())(x).backward(g)
    return numbers


@misconception("measure", says="seconds is not measured: it is 0. Read time.perf_counter() before and after a step.")
def no_seconds(policy, device):
    return {**_measured(policy, *fresh(device)), "seconds": 0.0}


@misconception("measure", says="The policy makes no difference here: what is measured is always the plain stack.")
def policy_ignored(policy, device):
    return _measured("none", *fresh(device))


@misconception(
    "measure",
    replaces="checkpointing",
    says="use_reentrant=True runs every layer again in full and needs more at the peak. With use_reentrant=False a "
    "recomputation ends as soon as backward has all it needs.",
)
def the_reentrant_checkpoint(policy, stack):
    n = len(stack.blocks)
    return _checkpointing(
        policy,
        stack,
        every_layer=lambda: _segments(stack, n, use_reentrant=True),
        sqrt_segments=lambda: _segments(stack, round(n**0.5), use_reentrant=True),
    )


@misconception(
    "measure",
    replaces="checkpointing",
    says="early_stop=False was set: each recomputation goes on to its end. Leave checkpoint's other options as "
    "they are.",
)
def no_early_stop(policy, stack):
    n = len(stack.blocks)
    return _checkpointing(policy, stack, every_layer=lambda: _segments(stack, n, early_stop=False))


@misconception(
    "measure",
    replaces="checkpointing",
    says="Each layer's attention branch is checkpointed where attention_core alone should be: q, k and v are kept "
    "then.",
)
def branch_for_core(policy, stack):
    return _checkpointing(policy, stack, attention_core=lambda: _part(stack, "attention_branch"))


@misconception(
    "measure",
    replaces="checkpointing",
    says="attention_block is the attention branch of each block, and its MLP is kept. Here whole blocks are "
    "checkpointed.",
)
def block_for_branch(policy, stack):
    return _checkpointing(policy, stack, attention_block=lambda: _segments(stack, len(stack.blocks)))


@misconception(
    "measure",
    replaces="checkpointing",
    says="selective recomputes attention here and keeps the rest (the meaning of 2022). It is the other way round:"
    " keep the result of attention, and recompute the rest of each layer.",
)
def selective_as_in_2022(policy, stack):
    return _checkpointing(policy, stack, selective=lambda: _part(stack, "attention_core"))


@misconception(
    "measure",
    replaces="checkpointing",
    says="selective recomputes everything, attention too. Give checkpoint a context_fn that keeps the results of the "
    "operations in ATTENTION.",
)
def nothing_selected(policy, stack):
    return _checkpointing(policy, stack, selective=lambda: _segments(stack, len(stack.blocks)))


@misconception(
    "measure", replaces="checkpointing", says="The last segment is not checkpointed. Every segment is to be."
)
def last_segment_not_checkpointed(policy, stack):
    n = len(stack.blocks)
    return _checkpointing(policy, stack, sqrt_segments=lambda: _segments(stack, round(n**0.5), last=False))


@misconception(
    "measure",
    replaces="checkpointing",
    says="√L was taken for the number of layers in a segment, and one segment more was made, or fewer.",
)
def one_segment_more(policy, stack):
    n = len(stack.blocks)
    return _checkpointing(policy, stack, sqrt_segments=lambda: _segments(stack, round(n**0.5) + 1))


@misconception(
    "measure", replaces="checkpointing", says="√L was cut off to an int. It is rounded: 7 layers are 3 segments, not 2."
)
def root_cut_off(policy, stack):
    n = len(stack.blocks)
    return _checkpointing(policy, stack, sqrt_segments=lambda: _segments(stack, int(n**0.5)))


@misconception(
    "measure",
    replaces="checkpointing",
    says="best_segments takes √L, which is best only where a segment's input and a layer cost the same. A layer "
    "keeps far more than its input: minimise n · B + ⌈L / n⌉ · K.",
)
def root_for_best(policy, stack):
    n = len(stack.blocks)
    return _checkpointing(policy, stack, best_segments=lambda: _segments(stack, round(n**0.5)))


@misconception(
    "measure",
    replaces="checkpointing",
    says="best_segments takes a segment for each layer. In a deep stack whose layers keep little, segments of two "
    "layers need less: minimise n · B + ⌈L / n⌉ · K.",
)
def every_layer_for_best(policy, stack):
    return _checkpointing(policy, stack, best_segments=lambda: _segments(stack, len(stack.blocks)))


@misconception(
    "measure",
    replaces="checkpointing",
    says="The longest segment has ⌈L / n⌉ layers: with L / n, not rounded up, segments look shorter than they are.",
)
def not_rounded_up(policy, stack):
    n_layers = len(stack.blocks)
    return _checkpointing(
        policy, stack, best_segments=lambda: _best(stack, lambda n, x, layer: n * x + n_layers / n * layer)
    )


@misconception(
    "measure",
    replaces="offloading",
    says="The copies count as if they were on the device. Make them inside of `with live.not_counting():`.",
)
def copies_count(stack, live):
    return _offloading(stack, live, counts=True)


@misconception(
    "measure",
    replaces="offloading",
    says="What comes back is the host's own copy, so nothing is on the device when backward uses it. Clone it: "
    "that counts.",
)
def nothing_comes_back(stack, live):
    return _offloading(stack, live, back=False)


@misconception(
    "measure",
    replaces="offloading",
    says="Parameters were moved, and come back as copies. They stay where they are: is_of_parameter tells.",
)
def parameters_moved(stack, live):
    return _offloading(stack, live, params=True)


@misconception("measure", replaces="offloading", says="Nothing is offloaded: there are no hooks around the stack.")
def not_offloaded(stack, live):
    return stack


@misconception(
    "measure",
    replaces="reversing",
    says="Each block is a Function of its own, so each keeps its outputs. One Function for the whole stack keeps "
    "the last.",
)
def block_by_block(stack):
    def forward(x):
        streams = x, x
        for i in range(len(stack.blocks)):
            streams = _Streams.apply((), *streams, stack, i, i + 1)
        return torch.add(*streams)

    return forward


@misconception(
    "measure",
    replaces="reversing",
    says="The two streams are left to autograd, which keeps everything. It takes a Function that computes back.",
)
def streams_left_to_autograd(stack):
    def forward(x):
        x1 = x2 = x
        for block in stack.blocks:
            x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
            x2 = x2 + block.mlp_branch(x1)
        return x1 + x2

    return forward


@misconception(
    "measure",
    replaces="reversing",
    says="The inputs of every block are saved. They are computed back from its outputs.",
)
def inputs_of_every_block(stack):
    return _reversing(stack, "keeps inputs")


@misconception(
    "measure",
    replaces="reversing",
    says="Each branch runs once to compute back and once more for its gradient. One run does for both.",
)
def branches_run_again(stack):
    return _reversing(stack, "runs again")


@misconception(
    "measure",
    replaces="reversing",
    says="What comes back through the branches is not added to the gradients of the streams.",
)
def nothing_through_the_branches(stack):
    return _reversing(stack, "lost")


@misconception("measure", replaces="reversing", says="This is the plain stack. reversible has two streams.")
def one_stream(stack):
    return stack
