"""PyTorch's engine, begun by an operation, by a program in TorchScript, and by what stands behind its functions."""

import torch

behind = torch.autograd.graph._engine_run_backward


@torch.jit.script
def in_a_program(y: torch.Tensor, x: torch.Tensor, g: torch.Tensor, again: bool):
    upstream: list[torch.Tensor | None] = [g]
    return torch.autograd.grad([y], [x], upstream, True, again, True)


def by_an_operation(y, x, g, again):
    return torch.ops.aten.grad([y], [x], [g], True, again, True)


def by_what_stands_behind(y, x, g, again):
    return behind((y,), (g,), True, again, (x,), True, accumulate_grad=False)


def unseen(rule, x):
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda kept: kept):
        return rule(x)


def function_of(rule, begin):
    class Of(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return rule(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            again = torch.is_grad_enabled()
            if not again:
                x = x.detach().requires_grad_()
            return begin(unseen(rule, x), x, g, again)[0]

    return Of


Square = function_of(torch.square, by_an_operation)
GELU = function_of(lambda x: 0.5 * x * (1 + torch.erf(x / 2**0.5)), by_what_stands_behind)
GELUTanh = function_of(
    lambda x: 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))), in_a_program
)
