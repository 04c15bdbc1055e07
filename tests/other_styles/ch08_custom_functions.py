"""Right functions with a setup_context, whose backward calls another Function; other things saved."""

import math
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable, FunctionCtx


class Square(Function):
    @staticmethod
    def forward(x):
        return x.square()

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x + x) if ctx.needs_input_grad[0] else None


class GELUBackward(Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return g * (torch.special.ndtr(x) + x * torch.exp(-x.square() / 2) / math.sqrt(2 * math.pi))

    @staticmethod
    @once_differentiable
    def backward(ctx, h):
        g, x = ctx.saved_tensors
        pdf = torch.exp(-x.square() / 2) / math.sqrt(2 * math.pi)
        return h * (torch.special.ndtr(x) + x * pdf), h * g * pdf * (2 - x * x)


class GELU(Function):
    @staticmethod
    def forward(x):
        return x * torch.special.ndtr(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return GELUBackward.apply(g, x)


class TanhBack(Function):
    @staticmethod
    def forward(ctx, g, x, t):
        ctx.save_for_backward(g, x, t)
        c = math.sqrt(2 / math.pi)
        du = c * (1 + 3 * 0.044715 * x * x)
        return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * du)

    @staticmethod
    @once_differentiable
    def backward(ctx, h):
        g, x, t = ctx.saved_tensors
        c = math.sqrt(2 / math.pi)
        du = c * (1 + 3 * 0.044715 * x * x)
        ddu = c * 6 * 0.044715 * x
        s = 1 - t * t
        first = 0.5 * (1 + t) + 0.5 * x * s * du
        second = s * du + 0.5 * x * (s * ddu - 2 * t * s * du * du)
        return h * first, h * g * second, None


class GELUTanh(Function):
    @staticmethod
    def forward(ctx, x):
        t = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3)))
        ctx.save_for_backward(x, t)
        return 0.5 * x * (1 + t)

    @staticmethod
    def backward(ctx, g):
        x, t = ctx.saved_tensors
        return TanhBack.apply(g, x, t)


class ISRUBackward(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(g, x):
        return g / (1 + x * x).pow(1.5)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, gg):
        g, x = ctx.saved_tensors
        q = torch.addcmul(torch.ones_like(x), x, x)
        return ISRUBackward.apply(gg, x), g * gg * x * -3 / (q * q * q.sqrt())


class ISRU(Function):
    @staticmethod
    def forward(x):
        return x / torch.sqrt(1 + x.square())

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return ISRUBackward.apply(g, *ctx.saved_tensors)


class RoundSTE(Function):
    @staticmethod
    def forward(x):
        return x.round()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g.clone()


class FusedCrossEntropy(Function):
    @staticmethod
    def forward(logits, targets):
        return (torch.logsumexp(logits, 1) - logits[torch.arange(len(logits)), targets]).mean()

    @staticmethod
    def setup_context(ctx, inputs, output):
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        if not ctx.needs_input_grad[0]:
            return None, None
        logits, targets = ctx.saved_tensors
        onehot = torch.nn.functional.one_hot(targets, logits.shape[1]).to(logits.dtype)
        return g * (torch.softmax(logits, 1) - onehot) / logits.shape[0], None


def run_gradcheck(fn, *tensors):
    inputs = []
    for tensor in tensors:
        if tensor.dtype.is_floating_point:
            tensor = torch.tensor(tensor.detach().numpy().copy(), dtype=torch.double, requires_grad=True)
        else:
            tensor = torch.tensor(tensor.numpy().copy())
        inputs.append(tensor)
    try:
        torch.autograd.gradcheck(fn, inputs)
        torch.autograd.gradgradcheck(fn, inputs)
    except BaseException:
        return False
    return True
