"""A reversible block of views."""
import math
import torch
import torch.utils.checkpoint
from contextlib import contextmanager
from functools import lru_cache, reduce
import numpy as np
from course.instruments.saved import is_of_parameter


def checkpoint(fn, *args):
    if not torch.is_grad_enabled():
        return fn(*args)
    spots = [i for i, a in enumerate(args) if torch.is_tensor(a)]
    fixed = [None if torch.is_tensor(a) else a for a in args]

    def call(tensors):
        full = list(fixed)
        for i, t in zip(spots, tensors):
            full[i] = t
        return fn(*full)

    class Closure(torch.autograd.Function):
        @staticmethod
        def forward(ctx, _, *tensors):
            ctx.save_for_backward(*tensors)
            ctx.state = torch.get_rng_state()
            return call(tensors)

        @staticmethod
        def backward(ctx, g):
            now = torch.get_rng_state()
            try:
                torch.set_rng_state(ctx.state)
                leaves = []
                for t, needs in zip(ctx.saved_tensors, ctx.needs_input_grad[1:]):
                    leaf = t.detach()
                    leaf.requires_grad = needs
                    leaves.append(leaf)
                with torch.enable_grad():
                    call(leaves).backward(g)
            finally:
                torch.set_rng_state(now)
            return None, *(leaf.grad for leaf in leaves)

    return Closure.apply(torch.zeros((), requires_grad=True), *[args[i] for i in spots])


def checkpoint_sequential(layers, x, segments):
    if segments == 0:
        return x
    size = len(layers) // segments
    head, tail = list(layers[:size]), layers[size:]
    x = checkpoint(lambda t: reduce(lambda u, layer: layer(u), head, t), x)
    return checkpoint_sequential(tail, x, segments - 1)


def peak_activations(n_layers, segments):
    return max(len(range(i, n_layers, segments)) for i in range(segments)) + segments if segments < 1000 else segments + math.ceil(n_layers / segments)


def best_segments(n_layers):
    r = math.isqrt(n_layers)
    return min((r, r + 1, max(r - 1, 1)), key=lambda n: peak_activations(n_layers, n) if n <= n_layers else math.inf)


def minimal_forwards(n_steps, slots):
    r = next(r for r in range(n_steps + 1) if math.comb(slots + r, slots) >= n_steps)
    return r * n_steps - math.comb(slots + r, slots + 1)


def plan_checkpoints(costs, sizes, budget):
    n = len(costs)
    best = [math.inf, None]

    def go(i, kept, held, run, longest, cost):
        if cost >= best[0] or held + max(longest, run) > budget:
            return
        if i == n:
            best[:] = cost, kept
            return
        go(i + 1, kept + [i], held + sizes[i], 0, max(longest, run), cost)
        go(i + 1, kept, held, run + sizes[i], longest, cost + costs[i])

    go(0, [], 0, 0, 0, 0)
    if best[1] is None:
        raise ValueError(f"{budget} is too little")
    return best[1]


@contextmanager
def offload_to_cpu():
    def pack(t):
        if is_of_parameter(t):
            return lambda: t
        home = t.device
        copy = torch.empty_like(t, device="cpu", requires_grad=False).copy_(t.detach())
        return lambda: copy.to(home)

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda thunk: thunk()):
        yield


class Rev(torch.autograd.Function):
    @staticmethod
    def forward(ctx, fg, x1, x2):
        ctx.set_materialize_grads(False)
        ctx.fg = fg
        f, g = fg
        y1 = f(x2) + x1
        y2 = g(y1) + x2
        ctx.save_for_backward(y1, y2)
        return y1, y2

    @staticmethod
    @torch.enable_grad()
    def backward(ctx, dy1, dy2):
        f, g = ctx.fg
        y1, y2 = ctx.saved_tensors
        dy1 = torch.zeros_like(y1) if dy1 is None else dy1
        dy2 = torch.zeros_like(y2) if dy2 is None else dy2
        y1 = y1.detach().clone().requires_grad_(True)
        out = g(y1)
        with torch.no_grad():
            x2 = y2 - out
        out.backward(dy2)
        total = torch.add(dy1, y1.grad)
        x2.requires_grad_(True)
        f(x2).backward(total)
        return None, total, dy2 + x2.grad


def reversible_block(f, g, x1, x2):
    y1, y2 = Rev.apply((f, g), x1, x2)
    return y1, y2
import time
import math
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
    """What a layer of a stack keeps for backward if nothing is done about it, in bytes, at 32 bits a number."""
    config, tokens = stack.config, stack.cos.shape[0]
    numbers = 6 * config.hidden + 2 * config.kv_heads * config.head_dim + 4 * config.ffn + config.heads + 2
    return 4 * tokens * numbers

def _segments(blocks, n):
    sizes = [len(blocks) // n + (i < len(blocks) % n) for i in range(n)]
    it = iter(blocks)
    return [[next(it) for _ in range(size)] for size in sizes]


def checkpointing(policy, stack):
    save = partial(torch.utils.checkpoint.checkpoint, use_reentrant=False)
    name = {"attention_core": "attention_core", "attention_block": "attention_branch"}.get(policy)
    if name:
        for block in stack.blocks:
            def wrapped(*args, part=getattr(block, name)):
                return save(part, *args)
            setattr(block, name, wrapped)
    if name or policy == "none":
        return lambda x: stack(x)
    L = len(stack.blocks)

    def forward(x):
        if policy == "sqrt_segments":
            n = round(L**0.5)
        elif policy == "best_segments":
            n = sorted(range(1, L + 1), key=lambda n: (n * x.numel() * x.element_size() + math.ceil(L / n) * layer_bytes(stack), -n))[0]
        else:
            n = L
        more = {"context_fn": lambda: create_selective_checkpoint_contexts(ATTENTION)} if policy == "selective" else {}

        class Part(torch.nn.Module):
            def __init__(self, blocks):
                super().__init__()
                self.blocks = torch.nn.ModuleList(blocks)

            def forward(self, x):
                for block in self.blocks:
                    x = block(x, stack.cos, stack.sin)
                return x

        for blocks in _segments(list(stack.blocks), n):
            x = save(Part(blocks), x, **more)
        return x

    return forward


class _Host(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self, live):
        def pack(t):
            if is_of_parameter(t):
                return "device", t, None
            with live.not_counting():
                return "host", torch.clone(t.detach()).cpu(), t.device

        def unpack(packed):
            where, t, device = packed
            if where == "device":
                return t
            return t.to(device, copy=True)

        super().__init__(pack, unpack)


def offloading(stack, live):
    def forward(x):
        with _Host(live):
            return stack(x)

    return forward


class Streams(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x1, x2, stack):
        ctx.stack = stack
        for block in stack.blocks:
            x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
            x2 = x2 + block.mlp_branch(x1)
        ctx.save_for_backward(x1, x2)
        return x1, x2

    @staticmethod
    def backward(ctx, dx1, dx2):
        stack = ctx.stack
        x1, x2 = ctx.saved_tensors

        def undo(part, other, stream, d_other, d_stream, *more):
            """stream_before = stream - part(other); d_other += part'(other)^T d_stream."""
            with torch.enable_grad():
                at = other.detach().requires_grad_()
                out = part(at, *more)
                out.backward(d_stream)
            return stream - out.detach(), d_other + at.grad

        for block in list(stack.blocks)[::-1]:
            x2, dx1 = undo(block.mlp_branch, x1, x2, dx1, dx2)
            x1, dx2 = undo(block.attention_branch, x2, x1, dx2, dx1, stack.cos, stack.sin)
        return dx1, dx2, None


def reversing(stack):
    return lambda x: torch.add(*Streams.apply(x, x, stack))


def measure(policy, device):
    def start(live=None):
        stack, x, g = fresh(device)
        if policy == "offload":
            from contextlib import nullcontext
            if live is None:
                class Nothing:
                    not_counting = staticmethod(nullcontext)
                live = Nothing()
            return offloading(stack, live), x, g
        return (reversing(stack) if policy == "reversible" else checkpointing(policy, stack)), x, g

    def wait():
        if torch.device(device).type == "cuda":
            torch.cuda.synchronize()

    out = {}
    live = LiveStorages()
    forward, x, g = start(live)
    with live:
        with FlopCounter() as counter:
            y = forward(x)
            out["saved_bytes"] = live.bytes
            y.backward(g)
            out["peak_bytes"] = live.peak
            out["flops"] = counter.total
    del y, forward, x, g
    forward, x, g = start()
    wait()
    begin = time.perf_counter()
    forward(x).backward(g)
    wait()
    return dict(out, seconds=time.perf_counter() - begin)



class RevBack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x1, x2, y1, y2, f, g):
        ctx.f, ctx.g = f, g
        a, b = y1.view_as(y1), y2.view_as(y2)
        ctx.save_for_backward(a, b)
        return a, b
    @staticmethod
    def backward(ctx, d1, d2):
        y1, y2 = ctx.saved_tensors
        with torch.enable_grad():
            a = y1.detach().requires_grad_()
            ga = ctx.g(a)
        torch.autograd.backward(ga, d2)
        x2 = (y2 - ga.detach()).requires_grad_()
        d1 = d1 + a.grad
        with torch.enable_grad():
            fx = ctx.f(x2)
        torch.autograd.backward(fx, d1)
        return d1, d2 + x2.grad, None, None, None, None
def reversible_block(f, g, x1, x2):
    with torch.no_grad():
        y1 = x1 + f(x2)
        y2 = x2 + g(y1)
    return RevBack.apply(x1, x2, y1, y2, f, g)
