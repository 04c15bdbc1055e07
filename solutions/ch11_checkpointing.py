# %% [markdown]
# # Gradient checkpointing
#
# Store less, recompute more. A `checkpoint` of your own, a planner that says what to keep, and what each way of saving
# memory costs in bytes and FLOPs. PyTorch; the five planning exercises are plain Python.
# Read along in [the chapter](../book/ch11_checkpointing.md).

# %%
import torch

# %% [markdown]
# ## `checkpoint`
#
# `checkpoint(fn, *args)` returns what `fn(*args)` returns, one tensor, and keeps nothing of what `fn` computes on its
# way. The backward pass runs `fn` once more. Write it as a `torch.autograd.Function` of your own; the name and the
# signature of the class below are a suggestion, `checkpoint` is what is called.
#
# Values and gradients are those of `fn(*args)` itself, under `.backward()`:
#
# - of the arguments. They may be tensors in the middle of a graph, tensors without a gradient (indices, masks), one and
#   the same tensor twice, and anything that is no tensor. What requires no gradient gets none.
# - of the parameters that `fn` uses beside its arguments, **also where no argument requires a gradient**. All that `fn`
#   uses beside its arguments are leaves or constants.
#
# What is measured:
#
# - Between the passes it keeps the arguments themselves, no copies, and PyTorch's random state. Tensors go through
#   `ctx.save_for_backward`: then autograd notices if one of them is changed in place in between.
# - `fn` runs exactly twice, once in each pass; once where gradients are off (`torch.no_grad()`), and then the result
#   has no graph.
# - `fn` may be random (dropout): both runs draw the same numbers. For whoever draws numbers afterwards it is as if
#   there were no checkpoint: the forward pass leaves the random state where `fn` leaves it, the backward pass leaves it
#   as it was.
# - A checkpoint may be inside of another one, whose second run then runs it once more; and several may be in one graph.
#
# In a graph in which gradients are on, an argument or a parameter of `fn` requires a gradient. `torch.autograd.grad`
# is not asked for: it gives gradients of what it is asked for, and the parameters that only `fn` knows are not among
# that. Nor are double backward, other devices than the CPU, autocast. Not allowed: `torch.utils.checkpoint`.
#
# **Points count only where the backward pass computes it again.**
# [Chapter section](../book/ch11_checkpointing.md#ch11-checkpoint)


# %% exercise="checkpoint"
class Recompute(torch.autograd.Function):
    """fn(*args) without its graph; the backward pass makes that graph and goes through it."""

    @staticmethod
    def forward(ctx, fn, anchor, *args):
        ### BEGIN SOLUTION
        ctx.fn, ctx.random_state = fn, torch.get_rng_state()
        ctx.args = [None if isinstance(arg, torch.Tensor) else arg for arg in args]
        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return fn(*args)
        ### END SOLUTION

    @staticmethod
    def backward(ctx, g):
        ### BEGIN SOLUTION
        args = list(ctx.args)
        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = tensor.detach().requires_grad_(ctx.needs_input_grad[2 + i])
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random_state)
            out = ctx.fn(*args)
        out.backward(g)  # adds to the gradients of the parameters, and puts those of the arguments into .grad
        return None, None, *(arg.grad if isinstance(arg, torch.Tensor) else None for arg in args)
        ### END SOLUTION


def checkpoint(fn, *args):
    """fn(*args), one tensor; keeps the arguments alone and runs fn again in the backward pass."""
    ### BEGIN SOLUTION
    anchor = torch.empty(0, requires_grad=True)  # without it no gradient would be asked of an fn on constants
    return Recompute.apply(fn, anchor, *args)
    ### END SOLUTION


# %% [markdown]
# ## `checkpoint_sequential`
#
# `layers` is a list of n modules, each from a tensor to a tensor. Return what `x` becomes when it goes through all of
# them. Cut the list into `segments` segments of neighbours, whose sizes differ by at most one, and checkpoint **every**
# segment, the last one included. `1 <= segments <= n`.
#
# Values and gradients, those of the parameters too, are those of the plain loop, also where `x` requires no gradient,
# and where layers are random. Every layer runs twice, once in each pass. What is kept between the passes is the input
# of each segment, and the result.
#
# `torch.utils.checkpoint.checkpoint` may be used here (with `use_reentrant=False`), and so may your own `checkpoint`.
# Not allowed: `torch.utils.checkpoint.checkpoint_sequential`.
#
# **Points count only where the backward pass computes segments again.**
# [Chapter section](../book/ch11_checkpointing.md#ch11-checkpoint-sequential)

# %%
from itertools import pairwise

import torch.utils.checkpoint


# %% exercise="checkpoint_sequential"
def checkpoint_sequential(layers, x, segments):
    """x through all layers, every one of the segments checkpointed; their sizes differ by at most one."""
    ### BEGIN SOLUTION
    ends = [len(layers) * i // segments for i in range(segments + 1)]
    for start, end in pairwise(ends):
        run = torch.nn.Sequential(*layers[start:end])
        x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=False)
    return x
    ### END SOLUTION


# %% [markdown]
# ## `peak_activations`
#
# A stack of `n_layers` layers, where every activation costs 1. Cut it into `segments` segments whose lengths differ by
# at most one, and keep the input of each segment. The backward pass takes the segments one by one, last one first: it
# runs the segment's layers again and holds the activation of each of them until it has gone through. Return the most
# that is held at once: the inputs of all `segments` segments, and the `⌈n_layers / segments⌉` activations of the
# longest one. (Inputs that the backward pass has used up still count.)
#
# `1 <= segments <= n_layers <= 1,000,000`, both are ints. The result is an int, not a float.
# [Chapter section](../book/ch11_checkpointing.md#ch11-peak-activations)


# %% exercise="peak_activations"
def peak_activations(n_layers, segments):
    """Activations held at once: one for each segment, and those of the longest segment; an int."""
    ### BEGIN SOLUTION
    return segments + -(-n_layers // segments)
    ### END SOLUTION


# %% [markdown]
# ## `best_segments`
#
# A number of segments, from 1 to `n_layers`, with the least peak `segments + ⌈n_layers / segments⌉`: an int. Several
# numbers may share the least peak; return any one of them. Segments need not be equally long: 7 layers in 3 segments
# are 3, 2 and 2. `n_layers` is an int from 1 to 500,000. Trying all numbers is fast enough.
# [Chapter section](../book/ch11_checkpointing.md#ch11-best-segments)


# %% exercise="best_segments"
def best_segments(n_layers):
    """A number of segments, 1 to n_layers, with the least segments + ⌈n_layers / segments⌉; an int."""
    ### BEGIN SOLUTION
    return min(range(1, n_layers + 1), key=lambda segments: segments + -(-n_layers // segments))
    ### END SOLUTION


# %% [markdown]
# ## `plan_by_seconds`
#
# What should one layer keep, if a clock decides? The layer runs n operations in order. Operation i makes one result,
# which takes `sizes[i]` bytes, and a GPU needed `times[i]` microseconds for it. `reads[i]` lists the operations whose
# results it reads, all of them before i. Weights and the layer's input are always there.
#
# Backward needs result i where `needed[i]` is True. It can be kept, or computed again in backward. An operation can run
# again only when everything that it reads is there, kept or computed again. It runs again at most once, even if several
# operations read its result.
#
# **Any** result may be kept, needed or not. Kept results may take at most `budget` bytes together; those computed again
# do not count. Return a plan that adds the least time: the numbers of the results to keep, a list of ints, ascending,
# counted from 0. Several plans may add the least time; return any one of them.
#
# `reads`, `needed`, `sizes` and `times` are lists of n entries, n from 0 to 10. Sizes, times and the budget are ints,
# at least 0, so a plan that keeps nothing always fits. Trying all 2¹⁰ plans is fast enough.
# [Chapter section](../book/ch11_checkpointing.md#ch11-plan-by-seconds)


# %% exercise="plan_by_seconds"
def plan_by_seconds(reads, needed, sizes, times, budget):
    """The results to keep, ascending: within budget, and the least time to compute again what backward lacks."""
    ### BEGIN SOLUTION
    n = len(reads)

    def added(plan):
        total, wanted = 0, set()
        for i in reversed(range(n)):
            if i not in plan and (needed[i] or i in wanted):
                total += times[i]
                wanted.update(reads[i])
        return total

    plans = ([i for i in range(n) if mask >> i & 1] for mask in range(2**n))
    fitting = [plan for plan in plans if sum(sizes[i] for i in plan) <= budget]
    return min(fitting, key=added)
    ### END SOLUTION


# %% [markdown]
# ## `minimal_forwards`
#
# The other end of the trade: memory for a few states only, and as little recomputation as that allows.
#
# A chain of `n_steps` steps leads from state 0 to state `n_steps`. The backward pass takes the steps in reverse, the
# last one first. To take step i back you need state i − 1 at hand: from there you run step i with its tape and go back
# through it. That run is not counted. What is counted is every step that you **advance without taping**, to get from a
# stored state to the one you need, or to one that you want to store.
#
# There are `slots` places for states. **State 0 is in one of them** from the beginning. A slot is free again once the
# steps from its state on are taken back, and may be used for another state. The state at hand needs no slot.
#
# Return the least number of counted steps, an int. Take 3 steps and 1 slot: advance to state 2 (2 steps), take step 3
# back; advance from state 0 to state 1 (1 step), take step 2 back; take step 1 back. That makes 3. With 2 slots store
# state 1 on the way: 2.
#
# `1 <= n_steps <= 200` and `1 <= slots <= 10`; there may be more slots than steps. A recurrence that remembers what it
# has computed is fast enough. Griewank and Walther have a formula, too.
# [Chapter section](../book/ch11_checkpointing.md#ch11-minimal-forwards)

# %%
import math


# %% exercise="minimal_forwards"
def minimal_forwards(n_steps, slots):
    """Fewest steps advanced without taping to take n_steps back with `slots` stored states, state 0 among them."""
    ### BEGIN SOLUTION
    sweeps = 0  # no step is advanced over more often than this
    while math.comb(slots + sweeps, slots) < n_steps:
        sweeps += 1
    return sweeps * n_steps - math.comb(slots + sweeps, slots + 1)
    ### END SOLUTION


# %% [markdown]
# ## `plan_checkpoints`
#
# Real layers differ. The output of layer i takes `sizes[i]` of memory and `costs[i]` to compute from the output of the
# layer before it; `budget` is the memory that there is. Which outputs should be kept?
#
# - Whatever is not kept is recomputed, once. The plan costs **Σ `costs` of the layers not kept**.
# - The kept outputs cut the stack into runs of layers that are not kept: one before the first kept layer, one between
#   each two, one after the last kept one. The backward pass recomputes one run at a time. So the plan needs
#   **Σ `sizes` kept + the largest Σ `sizes` of a run**, and that must be at most `budget`.
#
# The input of the stack is held anyway and counts nowhere. The last layer is a layer like the others. A run may have no
# layers; where all are kept the largest run is 0, and where none is kept it is the whole stack.
#
# Return a plan of least cost: the numbers of the layers to keep, a list of ints, ascending, counted from 0. Several
# plans may share the least cost; return any one of them. Raise a `ValueError` where no plan fits.
#
# `costs` and `sizes` are lists of equal length, from 0 to 12 layers; no layers need no memory, and the plan is `[]`.
# All numbers are ints or floats, at least 0, and small multiples of 1/8: their sums are exact. Trying all 2¹² plans is
# fast enough.
# [Chapter section](../book/ch11_checkpointing.md#ch11-plan-checkpoints)


# %% exercise="plan_checkpoints"
def plan_checkpoints(costs, sizes, budget):
    """The layers to keep, ascending: least Σ costs of the others, within budget. ValueError if nothing fits."""
    ### BEGIN SOLUTION
    plans = {(0, 0, 0): (0, [])}  # size kept, largest run, run that is open: the cheapest such plan, what it keeps
    for i, (cost, size) in enumerate(zip(costs, sizes, strict=True)):
        longer = {}
        for (kept, largest, run), (spent, plan) in plans.items():
            keep = (kept + size, largest, 0), (spent, [*plan, i])
            drop = (kept, max(largest, run + size), run + size), (spent + cost, plan)
            for state, entry in (keep, drop):
                if state[0] + state[1] <= budget and (state not in longer or entry < longer[state]):
                    longer[state] = entry
        plans = longer
    if not plans:
        raise ValueError(f"no plan fits into {budget}")
    return min(plans.values())[1]
    ### END SOLUTION


# %% [markdown]
# ## `offload_to_cpu`
#
# `with offload_to_cpu(): y = model(x)` keeps what autograd saves inside of the block in the memory of the CPU; `y` and
# all gradients are the same, bit for bit. A context manager: `torch.autograd.graph.saved_tensors_hooks(pack, unpack)`
# is one.
#
# - What is saved becomes a **copy** in the CPU's memory, also where it is there already: `tensor.to("cpu", copy=True)`.
#   The original is let go. So the gradients are right even if the original is changed in place later on.
# - Parameters stay where they are, and so do views of them: they are on the device anyway. The given
#   `is_of_parameter(tensor)` tells.
# - For the backward pass a tensor comes back to the device that it was on, with its shape and dtype.
# - What is saved after the block is not copied, whether the block ended or raised. Blocks may be nested, and the
#   backward pass may run inside or outside.
#
# Not allowed: `torch.autograd.graph.save_on_cpu`.
#
# **Points count only where a copy is kept, and the original let go.**
# [Chapter section](../book/ch11_checkpointing.md#ch11-offload-to-cpu)

# %%
from course.instruments.saved import is_of_parameter


# %% exercise="offload_to_cpu"
def offload_to_cpu():
    """A context manager: what autograd saves inside is kept as copies in the CPU's memory, parameters aside."""
    ### BEGIN SOLUTION

    def pack(tensor):
        return tensor if is_of_parameter(tensor) else (tensor.device, tensor.to("cpu", copy=True))

    def unpack(kept):
        if isinstance(kept, torch.Tensor):
            return kept
        device, copy = kept
        return copy.to(device)

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
    ### END SOLUTION


# %% [markdown]
# ## `reversible_block`
#
# Return the tuple (y1, y2) with `y1 = x1 + f(x2)` and `y2 = x2 + g(y1)`. `f` and `g` are modules, or any functions from
# a tensor to one of the same shape; here `g` is a function, and the upstream gradients are called dy1 and dy2. x1, x2,
# y1, y2 have one shape and dtype.
#
# Between the passes keep y1 and y2 through `ctx.save_for_backward` and **nothing else**: no inputs, nothing of what f
# and g compute. What the backward pass needs beside them follows from them: x2 = y2 − g(y1). Each of f and g runs
# twice, once in each pass.
#
# Gradients under `.backward()`: of x1, of x2, and of the parameters of f and g, to rounding. At least one of x1 and x2
# requires a gradient, the other may not. One of y1 and y2 may be left unused. f and g are not random; what they use
# beside their argument are leaves or constants.
#
# **Points count only where x2 is computed back.**
# [Chapter section](../book/ch11_checkpointing.md#ch11-reversible-block)


# %% exercise="reversible_block"
class Reversible(torch.autograd.Function):
    """y1 = x1 + f(x2), y2 = x2 + g(y1); keeps y1 and y2."""

    @staticmethod
    def forward(ctx, f, g, x1, x2):
        ### BEGIN SOLUTION
        y1 = x1 + f(x2)
        y2 = x2 + g(y1)
        ctx.f, ctx.g = f, g
        ctx.save_for_backward(y1, y2)
        return y1, y2
        ### END SOLUTION

    @staticmethod
    def backward(ctx, dy1, dy2):
        ### BEGIN SOLUTION
        y1, y2 = ctx.saved_tensors
        with torch.enable_grad():
            y1 = y1.detach().requires_grad_()
            g_of_y1 = ctx.g(y1)
        g_of_y1.backward(dy2)
        with torch.enable_grad():
            x2 = (y2 - g_of_y1).detach().requires_grad_()
            f_of_x2 = ctx.f(x2)
        dx1 = dy1 + y1.grad  # y1 has two ways to the loss
        f_of_x2.backward(dx1)
        return None, None, dx1, dy2 + x2.grad
        ### END SOLUTION


def reversible_block(f, g, x1, x2):
    """(x1 + f(x2), x2 + g(y1)); the backward pass computes x2 back from y1 and y2."""
    ### BEGIN SOLUTION
    return Reversible.apply(f, g, x1, x2)
    ### END SOLUTION


# %% [markdown]
# ## `measure`
#
# The experiment: what does each policy cost? `measure(policy, device)` runs one step of a small stack of Llama layers
# and returns a dict.
#
# | key | what it is |
# | --- | --- |
# | `saved_bytes` | `live.bytes` between the passes, an int |
# | `peak_bytes` | `live.peak` after the backward pass, an int; of both passes, so nothing is reset in between |
# | `flops` | `counter.total` of both passes, an int |
# | `seconds` | wall time of both passes of another step, without the instruments (they slow it down); a float above 0 |
#
# A step is `out = forward(x)` and `out.backward(g)` with a **fresh** stack, x and g, made before the instruments are
# entered: so `LiveStorages` counts what the step makes, and neither weights nor inputs. `out` lives to the end.
#
# The policy decides what `forward` does. L is the number of layers; checkpoint with
# `torch.utils.checkpoint.checkpoint(…, use_reentrant=False)` and leave its other options as they are.
#
# | policy | `forward` |
# | --- | --- |
# | `none` | the stack, as it is |
# | `every_layer` | each block is checkpointed |
# | `attention_core` | each block's `attention_core` is checkpointed, and nothing else |
# | `attention_block` | each block's `attention_branch` is checkpointed, and nothing else |
# | `selective` | each block is checkpointed, but the results of the operations in `ATTENTION` are kept |
# | `sqrt_segments` | segments of neighbouring blocks are checkpointed; there are round(√L) |
# | `best_segments` | the same with the n segments that need least by the model n · B + ⌈L / n⌉ · K |
# | `offload` | the stack; what it saves for backward is in the memory of the host |
# | `reversible` | two streams, described below |
#
# B is the size of `x` in bytes, K what a layer keeps, the given `layer_bytes(stack)`. The sizes of segments differ by
# at most one. Where several n need equally little, take any.
#
# FLOPs are compared exactly, `saved_bytes` to 1 %, `peak_bytes` to 2 %; the peak of `reversible` to a third, as it
# depends on what your backward pass still holds. The gradient that the step leaves in `x.grad` is compared, too;
# seconds are not.
#
# Four cells follow. The check calls `measure` alone; the other three are there to keep it short, and you may cut it in
# another way. It draws other sizes for `CONFIG` and `SEQ`, so take L and B from the stack and from x. In its blocks the
# MLP is applied to only some of the tokens, and the gradient tells which run of a part it comes from. They are called
# as these are, but no formula has their costs: measure what runs. A policy that is not written yet costs only its own
# points. To see your table:
# ```python
# for policy in POLICIES:
#     print(policy, measure(policy, "cpu"))
# ```
# [Chapter section](../book/ch11_checkpointing.md#ch11-measure)

# %%
import time
from functools import partial

from torch.utils.checkpoint import create_selective_checkpoint_contexts

from course.instruments.flops import FlopCounter
from course.instruments.live import LiveStorages
from course.llama import LlamaConfig, Stack

POLICIES = ["none", "every_layer", "attention_core", "attention_block", "selective"]
POLICIES += ["sqrt_segments", "best_segments", "offload", "reversible"]
CONFIG = LlamaConfig(hidden=64, layers=20, heads=4, kv_heads=1, ffn=32, vocab=1)
SEQ = 32
ATTENTION = [
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default,
    torch.ops.aten._scaled_dot_product_flash_attention.default,
    torch.ops.aten._scaled_dot_product_efficient_attention.default,
]


def fresh(device):
    """A stack, its input x (1, SEQ, hidden) and an upstream gradient g, in float32, the same numbers each time.

    The gradients of the weights are let go as soon as they are there, as if an optimizer had used them.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        stack = Stack(CONFIG, SEQ, dtype=torch.float32)
        x, g = torch.randn(2, 1, SEQ, CONFIG.hidden).unbind()
    for weight in stack.parameters():
        weight.register_post_accumulate_grad_hook(let_go)
    return stack.to(device), x.to(device, copy=True).requires_grad_(), g.to(device)


def let_go(weight):
    """Forget a weight's gradient."""
    weight.grad = None


def layer_bytes(stack):
    """What a layer of a stack keeps for backward if nothing is done about it, in bytes, at 32 bits per number."""
    config, tokens = stack.config, stack.cos.shape[0]
    numbers = 6 * config.hidden + 2 * config.kv_heads * config.head_dim + 4 * config.ffn + config.heads + 2
    return 4 * tokens * numbers


# %% [markdown]
# **Checkpointing.** `checkpointing(policy, stack)` returns `forward` for one of the first seven policies. A block is
# called as `block(x, stack.cos, stack.sin)`. Its `attention_core` and `attention_branch` are methods that the block
# calls itself; set an attribute of that name on the block, and it calls that. For `selective` give `checkpoint` the
# keyword `context_fn`, a function without arguments that returns what `create_selective_checkpoint_contexts(ATTENTION)`
# returns.


# %% exercise="measure" part="checkpointing"
def checkpointing(policy, stack):
    """forward(x) for a policy from none to best_segments."""
    ### BEGIN SOLUTION
    run = partial(torch.utils.checkpoint.checkpoint, use_reentrant=False)
    n_layers = len(stack.blocks)

    def through(start, end, x):
        for block in stack.blocks[start:end]:
            x = block(x, stack.cos, stack.sin)
        return x

    def in_segments(x, n, **options):
        for start, end in pairwise(n_layers * i // n for i in range(n + 1)):
            x = run(through, start, end, x, **options)
        return x

    def in_best_segments(x):
        def need(n):
            return n * x.nbytes + -(-n_layers // n) * layer_bytes(stack)

        return in_segments(x, min(range(1, n_layers + 1), key=need))

    for block in stack.blocks:
        if policy == "attention_core":
            block.attention_core = partial(run, block.attention_core)
        if policy == "attention_block":
            block.attention_branch = partial(run, block.attention_branch)
    return {
        "every_layer": partial(in_segments, n=n_layers),
        "selective": partial(
            in_segments, n=n_layers, context_fn=lambda: create_selective_checkpoint_contexts(ATTENTION)
        ),
        "sqrt_segments": partial(in_segments, n=round(n_layers**0.5)),
        "best_segments": in_best_segments,
    }.get(policy, stack)
    ### END SOLUTION


# %% [markdown]
# **Offloading.** `offloading(stack, live)` returns `forward` for `offload`. On a CPU the host's memory is the device's,
# so the books have to be kept apart. Make the copies inside of `with live.not_counting():`, then they do not count.
# What comes back for the backward pass is a new copy, on the device, and counts: on a CPU that is `.clone()`.
# Parameters stay where they are.


# %% exercise="measure" part="offloading"
def offloading(stack, live):
    """forward(x): the stack, with what it saves in the memory of the host, where `live` does not count it."""
    ### BEGIN SOLUTION

    def pack(tensor):
        if is_of_parameter(tensor):
            return tensor
        with live.not_counting():
            return tensor.device, tensor.to("cpu", copy=True)

    def unpack(kept):
        if isinstance(kept, torch.Tensor):
            return kept
        device, copy = kept
        return copy.to(device, copy=True)

    def forward(x):
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            return stack(x)

    return forward
    ### END SOLUTION


# %% [markdown]
# **Reversing.** `reversing(stack)` returns `forward` for `reversible`. Both streams start as x. In each block
# `x1 = x1 + attention_branch(x2, cos, sin)`, then `x2 = x2 + mlp_branch(x1)`; the result is the last `x1 + x2`. Between
# the passes nothing is kept but these two and their sum, however many blocks there are: one `Function` for the whole
# stack, whose backward pass goes from block to block. (It is another function than the stack's, made of the same
# layers: a model has to be trained this way from the start.)


# %% exercise="measure" part="reversing"
class Streams(torch.autograd.Function):
    """Two streams through all blocks of a stack; keeps where they end."""

    @staticmethod
    def forward(ctx, x1, x2, stack):
        ### BEGIN SOLUTION
        for block in stack.blocks:
            x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
            x2 = x2 + block.mlp_branch(x1)
        ctx.stack = stack
        ctx.save_for_backward(x1, x2)
        return x1, x2
        ### END SOLUTION

    @staticmethod
    def backward(ctx, dx1, dx2):
        ### BEGIN SOLUTION
        def back(branch, x, y, dx, dy):
            """From y = u + branch(x): u, and dx with what comes through the branch."""
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                out = branch(x)
            u = y - out.detach()
            out.backward(dy)
            return u, dx + x.grad

        stack = ctx.stack
        x1, x2 = ctx.saved_tensors
        for block in reversed(stack.blocks):
            x2, dx1 = back(block.mlp_branch, x1, x2, dx1, dx2)
            x1, dx2 = back(partial(block.attention_branch, cos=stack.cos, sin=stack.sin), x2, x1, dx2, dx1)
        return dx1, dx2, None
        ### END SOLUTION


def reversing(stack):
    """forward(x): both streams start as x, and the result is their sum."""
    ### BEGIN SOLUTION
    return lambda x: torch.add(*Streams.apply(x, x, stack))
    ### END SOLUTION


# %% [markdown]
# **Measuring.** On a GPU wait for it before you read the clock: `torch.cuda.synchronize()`.


# %% exercise="measure" part="measuring"
def measure(policy, device):
    """What a step costs: a dict with saved_bytes, flops, seconds, peak_bytes."""
    ### BEGIN SOLUTION
    live, counter = LiveStorages(), FlopCounter()
    forward, x, g = prepared(policy, device, live)
    with live, counter:
        out = forward(x)
        saved_bytes = live.bytes
        out.backward(g)
    forward, x, g = prepared(policy, device, LiveStorages())
    start = now(device)
    forward(x).backward(g)
    seconds = now(device) - start
    return {"saved_bytes": saved_bytes, "flops": counter.total, "seconds": seconds, "peak_bytes": live.peak}


def prepared(policy, device, live):
    stack, x, g = fresh(device)
    if policy == "offload":
        return offloading(stack, live), x, g
    if policy == "reversible":
        return reversing(stack), x, g
    return checkpointing(policy, stack), x, g


def now(device):
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    return time.perf_counter()
    ### END SOLUTION
