"""A graph inside of backward, and PyTorch's engine without the functions that call it."""

import torch

ENGINE = torch.autograd.Variable._execution_engine


def gradient(rule, x, g):
    x = x.detach()
    with torch.enable_grad():
        x.requires_grad_()
        return ENGINE.run_backward((rule(x),), (g,), False, False, (x,), True, False)[0]


def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / 2**0.5))


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return gradient(torch.square, *ctx.saved_tensors, g)


class GELU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gelu(x)

    @staticmethod
    def backward(ctx, g):
        return gradient(gelu, *ctx.saved_tensors, g)


class GELUTanh(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return gelu_tanh(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x = inputs[0].detach()
        with torch.enable_grad():
            ctx.x = x.requires_grad_()
            ctx.y = gelu_tanh(x)

    @staticmethod
    def backward(ctx, g):
        return ENGINE.run_backward((ctx.y,), (g,), True, False, (ctx.x,), True, False)[0]


class FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        ctx.save_for_backward(logits, targets)
        return (torch.logsumexp(logits, 1) - logits[torch.arange(len(logits)), targets]).mean()

    @staticmethod
    def backward(ctx, g):
        logits, targets = ctx.saved_tensors
        rows = torch.arange(len(logits))
        return gradient(lambda x: (torch.logsumexp(x, 1) - x[rows, targets]).mean(), logits, g), None
