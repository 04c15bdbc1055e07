"""Right checkpointing with fork_rng, own loops and dynamic programming."""

import torch


class Recompute(torch.autograd.Function):
    @staticmethod
    def forward(ctx, fn, anchor, *args):
        ctx.fn = fn
        ctx.rng = torch.get_rng_state()
        ctx.where = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
        ctx.rest = [None if isinstance(a, torch.Tensor) else a for a in args]
        ctx.save_for_backward(*[args[i] for i in ctx.where])
        with torch.no_grad():
            return fn(*args)

    @staticmethod
    def backward(ctx, g):
        args = list(ctx.rest)
        for i, t in zip(ctx.where, ctx.saved_tensors):
            args[i] = t.detach().requires_grad_(t.requires_grad)
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.rng)
            y = ctx.fn(*args)
        torch.autograd.backward(y, g)
        return (None, None, *[a.grad if isinstance(a, torch.Tensor) else None for a in args])


def checkpoint(fn, *args):
    return Recompute.apply(fn, torch.empty(0, requires_grad=True), *args)


from itertools import pairwise

import torch.utils.checkpoint


def checkpoint_sequential(layers, x, segments):
    n = len(layers)
    ends = [i * n // segments for i in range(segments + 1)]
    for a, b in pairwise(ends):

        def run(x, part=layers[a:b]):
            for layer in part:
                x = layer(x)
            return x

        x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=False)
    return x


def peak_activations(n_layers, segments):
    return segments + -(-n_layers // segments)


def best_segments(n_layers):
    return min(range(1, n_layers + 1), key=lambda s: s + -(-n_layers // s))


import math

from functools import cache


@cache
def minimal_forwards(n_steps, slots):
    if n_steps == 1:
        return 0
    if slots == 0:
        return math.inf
    return min(j + minimal_forwards(n_steps - j, slots - 1) + minimal_forwards(j, slots) for j in range(1, n_steps))


def plan_by_seconds(reads, needed, sizes, times, budget):
    def again(kept):
        ran = set()

        def make(i):
            if i in kept or i in ran:
                return 0
            ran.add(i)
            return times[i] + sum(make(j) for j in reads[i])

        return sum(make(i) for i in range(len(reads)) if needed[i])

    best, plan = again(()), []

    def grow(kept, first, room):  # kept and every way to add results from first on
        nonlocal best, plan
        cost = again(kept)
        if cost < best:
            best, plan = cost, kept
        for i in range(first, len(reads)):
            if sizes[i] <= room:
                grow([*kept, i], i + 1, room - sizes[i])

    grow([], 0, budget)
    return plan


def plan_checkpoints(costs, sizes, budget):
    n = len(costs)
    best, plan = None, None
    for mask in range(2**n):
        kept = [i for i in range(n) if mask >> i & 1]
        run = longest = held = cost = 0
        for i in range(n):
            if i in kept:
                held += sizes[i]
                run = 0
            else:
                run += sizes[i]
                cost += costs[i]
                longest = max(longest, run)
        if held + longest <= budget and (best is None or cost < best):
            best, plan = cost, kept
    if plan is None:
        raise ValueError("no plan fits")
    return plan


from course.instruments.saved import is_of_parameter


def offload_to_cpu():
    def pack(t):
        if is_of_parameter(t):
            return t
        return t.device, t.to("cpu", copy=True)

    def unpack(p):
        if isinstance(p, torch.Tensor):
            return p
        return p[1].to(p[0])

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)


class Reversible(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, g, x1, x2):
        y1 = x1 + f(x2)
        y2 = x2 + g(y1)
        ctx.f, ctx.g = f, g
        ctx.save_for_backward(y1, y2)
        return y1, y2

    @staticmethod
    def backward(ctx, dy1, dy2):
        y1, y2 = ctx.saved_tensors
        y1 = y1.detach().requires_grad_()
        with torch.enable_grad():
            gy = ctx.g(y1)
        torch.autograd.backward(gy, dy2)
        x2 = (y2 - gy).detach().requires_grad_()
        dy1 = dy1 + y1.grad
        with torch.enable_grad():
            fx = ctx.f(x2)
        torch.autograd.backward(fx, dy1)
        return None, None, dy1, dy2 + x2.grad


def reversible_block(f, g, x1, x2):
    return Reversible.apply(f, g, x1, x2)


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


def checkpointing(policy, stack):
    ckpt = partial(torch.utils.checkpoint.checkpoint, use_reentrant=False)
    blocks, L = list(stack.blocks), len(stack.blocks)
    if policy == "attention_core":
        for b in blocks:
            b.attention_core = partial(ckpt, b.attention_core)
    if policy == "attention_block":
        for b in blocks:
            b.attention_branch = partial(ckpt, b.attention_branch)
    if policy in ("none", "attention_core", "attention_block"):
        return stack
    if policy == "selective":
        ckpt = partial(ckpt, context_fn=partial(create_selective_checkpoint_contexts, ATTENTION))

    def run(part, x):
        for b in part:
            x = b(x, stack.cos, stack.sin)
        return x

    def forward(x):
        if policy in ("every_layer", "selective"):
            n = L
        elif policy == "sqrt_segments":
            n = round(math.sqrt(L))
        else:
            K = layer_bytes(stack)
            n = min(range(1, L + 1), key=lambda n: n * x.nbytes + -(-L // n) * K)
        for a, b in pairwise([i * L // n for i in range(n + 1)]):
            x = ckpt(run, blocks[a:b], x)
        return x

    return forward


def offloading(stack, live):
    def pack(t):
        if is_of_parameter(t):
            return t
        with live.not_counting():
            return t.device, t.to("cpu", copy=True)

    def unpack(p):
        if isinstance(p, torch.Tensor):
            return p
        device, t = p
        return t.clone() if device.type == "cpu" else t.to(device)

    def forward(x):
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            return stack(x)

    return forward


class Streams(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x1, x2, stack):
        for b in stack.blocks:
            x1 = x1 + b.attention_branch(x2, stack.cos, stack.sin)
            x2 = x2 + b.mlp_branch(x1)
        ctx.stack = stack
        ctx.save_for_backward(x1, x2)
        return x1, x2

    @staticmethod
    def backward(ctx, dx1, dx2):
        y1, y2 = ctx.saved_tensors
        stack = ctx.stack
        for b in reversed(stack.blocks):
            y1 = y1.detach().requires_grad_()
            with torch.enable_grad():
                gy = b.mlp_branch(y1)
            torch.autograd.backward(gy, dx2)
            y2 = (y2 - gy).detach().requires_grad_()
            dx1 = dx1 + y1.grad
            with torch.enable_grad():
                fx = b.attention_branch(y2, stack.cos, stack.sin)
            torch.autograd.backward(fx, dx1)
            y1 = (y1 - fx).detach()
            dx2 = dx2 + y2.grad
        return dx1, dx2, None


def reversing(stack):
    def forward(x):
        a, b = Streams.apply(x, x, stack)
        return a + b

    return forward


def measure(policy, device):
    def setup(live):
        stack, x, g = fresh(device)
        if policy == "offload":
            forward = offloading(stack, live)
        elif policy == "reversible":
            forward = reversing(stack)
        else:
            forward = checkpointing(policy, stack)
        return forward, x, g

    live = LiveStorages()
    forward, x, g = setup(live)
    with live, FlopCounter() as counter:
        out = forward(x)
        saved = live.bytes
        out.backward(g)
    peak = live.peak
    forward, x, g = setup(LiveStorages())

    def sync():
        if device != "cpu":
            torch.cuda.synchronize()

    sync()
    start = time.perf_counter()
    out = forward(x)
    out.backward(g)
    sync()
    seconds = time.perf_counter() - start
    return {"saved_bytes": saved, "peak_bytes": peak, "flops": counter.total, "seconds": seconds}
