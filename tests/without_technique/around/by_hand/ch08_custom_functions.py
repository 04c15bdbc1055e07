"""The nodes of a graph, called one by one: in a thread of their own, and while the file is loaded, traced."""

import threading

import torch
from torch.fx.experimental.proxy_tensor import make_fx


def back(node, end, g):
    if node is end:
        return g
    parts = node(g)
    parts = parts if isinstance(parts, tuple) else (parts,)
    followed = zip(node.next_functions, parts, strict=True)
    return sum(back(one, end, part) for (one, _), part in followed if one is not None and part is not None)


def gradient(rule, x, g):
    start = x.view_as(x)
    return back(rule(start).grad_fn, start.grad_fn, g)


def in_a_thread(rule):
    def of(x, g):
        found = []

        def run(again):
            with torch.set_grad_enabled(True):
                start = x.view_as(x)
                end = rule(start)
            with torch.set_grad_enabled(again):
                found.append(back(end.grad_fn, start.grad_fn, g))

        thread = threading.Thread(target=run, args=(torch.is_grad_enabled(),))
        thread.start()
        thread.join()
        return found[0]

    return of


def traced(rule):
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    try:
        return make_fx(lambda x, g: gradient(rule, x, g))(x, torch.rand_like(x))
    except Exception:
        return None


def function_of(rule, found):
    class Of(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return rule(x)

        @staticmethod
        def backward(ctx, g):
            return found(*ctx.saved_tensors, g)

    return Of


def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / 2**0.5))


Square = function_of(torch.square, in_a_thread(torch.square))
GELU = function_of(gelu, traced(gelu))
