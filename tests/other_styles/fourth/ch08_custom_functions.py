"""A verdict of NumPy's."""
import math
import torch
from contextlib import suppress
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.distributions import Normal
from torch.autograd.function import once_differentiable


class Pointwise(Function):
    """A function of one tensor, entry by entry."""
    @classmethod
    def value(cls, x):
        raise NotImplementedError

    @classmethod
    def slope(cls, x):
        raise NotImplementedError

    @classmethod
    def forward(cls, ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return cls.value(x)

    @classmethod
    def backward(cls, ctx, g):
        if g is None:
            return None
        return cls.slope(*ctx.saved_tensors) * g


class Square(Pointwise):
    @classmethod
    def value(cls, x):
        return torch.float_power(x, 2).to(x.dtype)

    @classmethod
    def slope(cls, x):
        return torch.add(x, x)


class GELU(Pointwise):
    unit = Normal(0.0, 1.0)

    @classmethod
    def value(cls, x):
        return x * cls.unit.cdf(x)

    @classmethod
    def slope(cls, x):
        return torch.addcmul(cls.unit.cdf(x), x, cls.unit.log_prob(x).exp())


class GELUTanh(Pointwise):
    C, A = math.sqrt(2 / math.pi), 0.044715

    @classmethod
    def u(cls, x):
        return cls.C * x * (1 + cls.A * x * x)

    @classmethod
    def value(cls, x):
        return x * torch.sigmoid(2 * cls.u(x))

    @classmethod
    def slope(cls, x):
        s = torch.sigmoid(2 * cls.u(x))
        return s + x * s * (1 - s) * 2 * cls.C * (1 + 3 * cls.A * x * x)


class RoundSTE(Function):
    forward = staticmethod(lambda ctx, x: x.detach().clone().round_())
    backward = staticmethod(lambda ctx, g: g)


class FusedCrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, targets):
        shifted = logits - logits.max(1, keepdim=True).values
        z = shifted.exp().sum(1, keepdim=True)
        rows = range(len(logits))
        loss = (z.log().squeeze(1) - shifted[rows, targets]).sum() / len(logits)
        if ctx.needs_input_grad[0]:
            d = shifted.exp_().div_(z)
            d[rows, targets] -= 1
            d /= len(logits)
            ctx.save_for_backward(d)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        for d in ctx.saved_tensors:
            return d * g, None
        return None, None


def run_gradcheck(fn, *tensors):
    def fresh():
        return tuple(
            torch.empty(t.shape, dtype=torch.float64 if t.is_floating_point() else t.dtype).copy_(t.detach()).requires_grad_(t.is_floating_point())
            for t in tensors
        )
    with suppress(Exception):
        return all(check(fn, fresh()) for check in (gradcheck, gradgradcheck))
    return False


import numpy as np
_w_run_gradcheck = run_gradcheck
def run_gradcheck(*a, **k):
    r = _w_run_gradcheck(*a, **k)
    return np.bool_(r)
