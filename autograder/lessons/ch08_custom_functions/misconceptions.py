"""Wrong answers to ch08_custom_functions that learners write."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from autograder.diagnosis import misconception

# Square


@misconception(
    "Square",
    replaces="Square.backward",
    says="g is missing: this is dy/dx. What comes back is 2x times the upstream g.",
)
def square_without_g(ctx, g):
    (x,) = ctx.saved_tensors
    return 2 * x


@misconception(
    "Square",
    replaces="Square.backward",
    says="The factor 2 is missing: x² = x · x, and each of the two x has its share.",
)
def square_without_the_two(ctx, g):
    (x,) = ctx.saved_tensors
    return x * g


@misconception(
    "Square",
    replaces="Square.backward",
    says="g is multiplied by x², the function itself. Its derivative is 2x.",
)
def square_times_itself(ctx, g):
    (x,) = ctx.saved_tensors
    return x * x * g


@misconception(
    "Square", replaces="Square.backward", says="g comes back as it is, as if y were x. Multiply it by dy/dx, 2x."
)
def square_lets_g_through(ctx, g):
    return g


@misconception("Square", replaces="Square.forward", says="forward returns 2x, the derivative. It computes x².")
def square_returns_the_derivative(ctx, x):
    ctx.save_for_backward(x)
    return 2 * x


@misconception(
    "Square",
    replaces="Square.backward",
    says="The first derivative is right, and the second one wrong without a word: detached, or read from .data, x is a "
    "constant to the double backward. Compute with the saved x as it is: it has its graph.",
)
def square_of_a_detached_input(ctx, g):
    (x,) = ctx.saved_tensors
    return 2 * x.detach() * g


@misconception(
    "Square",
    says="The first derivative is right, and the second one wrong without a word: what is saved was made in forward "
    "(2x, or a copy of x). Nothing is recorded there, so the double backward takes it for a constant. Save x itself.",
)
class SquareSavesTheDerivative(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(2 * x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (slope,) = ctx.saved_tensors
        return slope * g


@misconception(
    "Square",
    replaces="Square.backward",
    says="backward leaves autograd: in NumPy, or under no_grad, nothing is recorded, and the gradient cannot be "
    "differentiated again. Write it with tensor operations.",
)
def square_backward_in_numpy(ctx, g):
    (x,) = ctx.saved_tensors
    return torch.tensor(2 * x.detach().numpy() * g.detach().numpy())


@misconception(
    "Square",
    replaces="Square.backward",
    says="backward leaves autograd: what NumPy computes is not recorded, and the gradient cannot be differentiated "
    "again. Write it with tensor operations, which take 0-d tensors, too.",
)
def square_backward_from_numpy(ctx, g):
    (x,) = ctx.saved_tensors
    return torch.from_numpy(2 * x.detach().numpy() * g.detach().numpy())


@misconception(
    "Square",
    says="The root of what was saved, x², is |x|: the sign of x is lost. And x² is a constant to the double backward, "
    "because forward computed it. Save x itself.",
)
class SquareSavesTheSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x * x
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (y,) = ctx.saved_tensors
        return 2 * torch.sqrt(y) * g


@misconception(
    "Square",
    replaces="Square.backward",
    says="@once_differentiable forbids the double backward. It is asked for here, and needs nothing more than tensor "
    "operations on x and g.",
)
@once_differentiable
def square_only_once(ctx, g):
    (x,) = ctx.saved_tensors
    return 2 * x * g


@misconception(
    "Square",
    says="x is kept as ctx.x. Then autograd cannot tell when x is changed in place before the backward pass. "
    "ctx.save_for_backward(x) watches it.",
)
class SquareKeepsAnAttribute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * ctx.x * g


@misconception(
    "Square",
    says="x is kept on the class, so the next call of apply overwrites it. Each call has a ctx of its own: "
    "ctx.save_for_backward(x).",
)
class SquareKeepsItOnTheClass(torch.autograd.Function):
    x: Any = None

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        SquareKeepsItOnTheClass.x = x
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * SquareKeepsItOnTheClass.x * g


@misconception(
    "Square",
    says="The result is saved as well, and backward does not need it. It would stay in memory until the backward pass.",
)
class SquareSavesTheResult(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, _ = ctx.saved_tensors
        return 2 * x * g


@misconception(
    "Square",
    replaces="Square.backward",
    says="backward writes into g, which belongs to autograd: others may still read it. Return a new tensor.",
)
def square_writes_into_g(ctx, g):
    (x,) = ctx.saved_tensors
    with torch.no_grad():
        g.mul_(2 * x)
    return g


# GELU


def _cdf(x):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def _pdf(x):
    return torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


@misconception("GELU", replaces="GELU.backward", says="g is missing: multiply the derivative by the upstream g.")
def gelu_without_g(ctx, g):
    (x,) = ctx.saved_tensors
    return _cdf(x) + x * _pdf(x)


@misconception(
    "GELU",
    replaces="GELU.backward",
    says="Half of the product rule: x stands inside Φ, too. (x Φ(x))′ = Φ(x) + x φ(x).",
)
def gelu_first_term_only(ctx, g):
    (x,) = ctx.saved_tensors
    return g * _cdf(x)


@misconception(
    "GELU",
    replaces="GELU.backward",
    says="Half of the product rule: the factor x has a derivative, too, and that term is Φ(x).",
)
def gelu_second_term_only(ctx, g):
    (x,) = ctx.saved_tensors
    return g * x * _pdf(x)


@misconception(
    "GELU", replaces="GELU.backward", says="The product rule lacks a factor x: the second term is x φ(x), not φ(x)."
)
def gelu_density_without_x(ctx, g):
    (x,) = ctx.saved_tensors
    return g * (_cdf(x) + _pdf(x))


@misconception("GELU", replaces="GELU.backward", says="A sign: the derivative is Φ(x) + x φ(x), with a plus.")
def gelu_minus(ctx, g):
    (x,) = ctx.saved_tensors
    return g * (_cdf(x) - x * _pdf(x))


@misconception(
    "GELU", replaces="GELU.backward", says="The two are swapped: Φ(x) stands alone and φ(x) has the factor x."
)
def gelu_swapped(ctx, g):
    (x,) = ctx.saved_tensors
    return g * (_pdf(x) + x * _cdf(x))


@misconception("GELU", replaces="GELU.backward", says="The density is not normalised: divide exp(−x²/2) by √(2π).")
def gelu_density_not_normalised(ctx, g):
    (x,) = ctx.saved_tensors
    return g * (_cdf(x) + x * torch.exp(-0.5 * x * x))


@misconception("GELU", replaces="GELU.backward", says="The exponent is −x²/2: a half is missing.")
def gelu_density_without_the_half(ctx, g):
    (x,) = ctx.saved_tensors
    return g * (_cdf(x) + x * torch.exp(-x * x) / math.sqrt(2 * math.pi))


@misconception(
    "GELU",
    replaces="GELU.backward",
    says="The derivative of erf(x/√2) has the inner derivative 1/√2, which is missing: the density is "
    "exp(−x²/2) / √(2π).",
)
def gelu_without_the_inner_derivative(ctx, g):
    (x,) = ctx.saved_tensors
    return g * (_cdf(x) + x * torch.exp(-0.5 * x * x) / math.sqrt(math.pi))


@misconception("GELU", says="erf takes x/√2: Φ(x) = ½ (1 + erf(x/√2)). Without √2 it is another distribution.")
class GELUWithoutTheRoot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.erf(x))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * (0.5 * (1 + torch.erf(x)) + x * torch.exp(-x * x) / math.sqrt(math.pi))


@misconception(
    "GELU",
    replaces="GELU.forward",
    says="erf takes x/√2 in forward, too: Φ(x) = ½ (1 + erf(x/√2)). backward has the √2.",
)
def gelu_forward_without_the_root(ctx, x):
    ctx.save_for_backward(x)
    return 0.5 * x * (1 + torch.erf(x))


@misconception("GELU", says="erf takes x/√2, in both passes: Φ(x) = ½ (1 + erf(x/√2)). The density is right.")
class GELUWithoutTheRootInErf(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.erf(x))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * (0.5 * (1 + torch.erf(x)) + x * _pdf(x))


@misconception(
    "GELU",
    replaces="GELU.forward",
    says="forward is the tanh approximation, and backward the derivative of the exact function. A rule belongs to one "
    "function: use erf in both.",
)
def gelu_forward_by_tanh(ctx, x):
    ctx.save_for_backward(x)
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@misconception(
    "GELU", says="This is the tanh approximation, some 0.0005 off. The exact function is x · ½ (1 + erf(x/√2))."
)
class GELUByTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        t = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
        return g * 0.5 * (1 + t + x * (1 - t * t) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2))


@misconception(
    "GELU",
    replaces="GELU.backward",
    says="forward is exact, and backward the derivative of the tanh approximation. A rule belongs to one function: use "
    "erf and its density in both.",
)
def gelu_backward_of_tanh(ctx, g):
    (x,) = ctx.saved_tensors
    t = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return g * 0.5 * (1 + t + x * (1 - t * t) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2))


@misconception("GELU", says="x σ(1.702 x) is a rough approximation. The exact function is x · ½ (1 + erf(x/√2)).")
class GELUBySigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * torch.sigmoid(1.702 * x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(1.702 * x)
        return g * (s + 1.702 * x * s * (1 - s))


@misconception(
    "GELU",
    replaces="GELU.backward",
    says="The first derivative is right, and the second one wrong without a word: detached, or read from .data, x is a "
    "constant to the double backward. Compute with the saved x as it is: it has its graph.",
)
def gelu_of_a_detached_input(ctx, g):
    (x,) = ctx.saved_tensors
    x = x.detach()
    return g * (_cdf(x) + x * _pdf(x))


@misconception(
    "GELU",
    says="The derivative is computed in forward and saved. That is one tensor, but the double backward takes it for a "
    "constant, and gives 0. Save x, compute the derivative in backward.",
)
class GELUSavesTheDerivative(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(_cdf(x) + x * _pdf(x))
        return x * _cdf(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (slope,) = ctx.saved_tensors
        return g * slope


@misconception(
    "GELU",
    says="Φ(x) is saved beside x. That is twice the memory, and to the double backward Φ(x) is a constant, because "
    "nothing is recorded inside forward. Save x alone and compute Φ(x) again.",
)
class GELUSavesTheDistribution(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        cdf = _cdf(x)
        ctx.save_for_backward(x, cdf)
        return x * cdf

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, cdf = ctx.saved_tensors
        return g * (cdf + x * _pdf(x))


@misconception(
    "GELU",
    says="Φ(x) is saved beside x: twice the memory. The exercise is to keep the input alone and to compute Φ(x) again.",
)
class GELUSavesMoreThanItUses(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        cdf = _cdf(x)
        ctx.save_for_backward(x, cdf)
        return x * cdf

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, _ = ctx.saved_tensors
        return g * (_cdf(x) + x * _pdf(x))


@misconception(
    "GELU",
    says="x is kept as ctx.x. It holds the same memory, but autograd does not know of it: it cannot tell when x is "
    "changed in place, and no meter sees it. ctx.save_for_backward(x).",
)
class GELUKeepsAnAttribute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x = x
        return x * _cdf(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * (_cdf(ctx.x) + ctx.x * _pdf(ctx.x))


@misconception(
    "GELU",
    says="x is kept on the class, so the next call of apply overwrites it. Each call has a ctx of its own: "
    "ctx.save_for_backward(x).",
)
class GELUKeepsItOnTheClass(torch.autograd.Function):
    x: Any = None

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        GELUKeepsItOnTheClass.x = x
        return x * _cdf(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x = GELUKeepsItOnTheClass.x
        return g * (_cdf(x) + x * _pdf(x))


@misconception(
    "GELU",
    replaces="GELU.backward",
    says="@once_differentiable forbids the double backward. It is asked for here, and needs nothing more than tensor "
    "operations on x and g.",
)
@once_differentiable
def gelu_only_once(ctx, g):
    (x,) = ctx.saved_tensors
    return g * (_cdf(x) + x * _pdf(x))


@misconception(
    "GELU",
    replaces="GELU.backward",
    says="backward runs under no_grad, or in NumPy: nothing is recorded, and the gradient cannot be differentiated "
    "again.",
)
def gelu_backward_without_grad(ctx, g):
    (x,) = ctx.saved_tensors
    with torch.no_grad():
        return g * (_cdf(x) + x * _pdf(x))


@misconception(
    "GELU",
    replaces="GELU.backward",
    says="Constants of torch.tensor(…) are float32, and right to 8 digits only, which float64 and gradcheck notice. "
    "Take math.sqrt(2) and math.pi.",
)
def gelu_constants_in_float32(ctx, g):
    (x,) = ctx.saved_tensors
    root_of_two, root_of_two_pi = torch.sqrt(torch.tensor(2.0)), torch.sqrt(torch.tensor(2 * math.pi))
    return g * (0.5 * (1 + torch.erf(x / root_of_two)) + x * torch.exp(-0.5 * x * x) / root_of_two_pi)


# GELUTanh


C = math.sqrt(2 / math.pi)


def _tanh(x):
    return torch.tanh(C * (x + 0.044715 * x**3))


def _slope(x):
    return C * (1 + 3 * 0.044715 * x**2)


@misconception(
    "GELUTanh", replaces="GELUTanh.backward", says="g is missing: multiply the derivative by the upstream g."
)
def tanh_without_g(ctx, g):
    (x,) = ctx.saved_tensors
    t = _tanh(x)
    return 0.5 * (1 + t + x * (1 - t**2) * _slope(x))


@misconception(
    "GELUTanh",
    replaces="GELUTanh.backward",
    says="This is the derivative of the exact GELU. forward computes the approximation, and backward has to be its "
    "derivative: gradcheck compares the two.",
)
def tanh_backward_of_the_exact(ctx, g):
    (x,) = ctx.saved_tensors
    return g * (_cdf(x) + x * _pdf(x))


@misconception(
    "GELUTanh",
    says="This is the exact GELU. The exercise is the approximation ½ x (1 + tanh u).",
)
class TanhExact(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * _cdf(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * (_cdf(x) + x * _pdf(x))


@misconception(
    "GELUTanh",
    replaces="GELUTanh.backward",
    says="Half of the product rule: x stands inside tanh, too. The second term is ½ x (1 − tanh² u) u′.",
)
def tanh_first_term_only(ctx, g):
    (x,) = ctx.saved_tensors
    return g * 0.5 * (1 + _tanh(x))


@misconception(
    "GELUTanh",
    replaces="GELUTanh.backward",
    says="The chain rule stops at tanh: its derivative 1 − tanh² u has to be multiplied by u′ = √(2/π) (1 + 3 · "
    "0.044715 x²).",
)
def tanh_without_the_inner_derivative(ctx, g):
    (x,) = ctx.saved_tensors
    t = _tanh(x)
    return g * 0.5 * (1 + t + x * (1 - t**2))


@misconception(
    "GELUTanh", replaces="GELUTanh.backward", says="The derivative of x³ is 3x²: the factor 3 is missing in u′."
)
def tanh_without_the_three(ctx, g):
    (x,) = ctx.saved_tensors
    t = _tanh(x)
    return g * 0.5 * (1 + t + x * (1 - t**2) * C * (1 + 0.044715 * x**2))


@misconception("GELUTanh", replaces="GELUTanh.backward", says="u′ has the factor √(2/π), as u has: it is missing here.")
def tanh_without_the_root(ctx, g):
    (x,) = ctx.saved_tensors
    t = _tanh(x)
    return g * 0.5 * (1 + t + x * (1 - t**2) * (1 + 3 * 0.044715 * x**2))


@misconception(
    "GELUTanh", replaces="GELUTanh.backward", says="The derivative of tanh u is 1 − tanh² u: the square is missing."
)
def tanh_derivative_without_the_square(ctx, g):
    (x,) = ctx.saved_tensors
    t = _tanh(x)
    return g * 0.5 * (1 + t + x * (1 - t) * _slope(x))


@misconception(
    "GELUTanh",
    replaces="GELUTanh.backward",
    says="u′ has 3 · 0.044715 x², from 0.044715 x³: this is another power of x.",
)
def tanh_cube_not_differentiated(ctx, g):
    (x,) = ctx.saved_tensors
    t = _tanh(x)
    return g * 0.5 * (1 + t + x * (1 - t**2) * C * (1 + 3 * 0.044715 * x**3))


@misconception(
    "GELUTanh",
    says="tanh u was computed in forward and saved, so the double backward takes it for a constant: the second "
    "derivative is wrong without a word. Compute it again in backward, from the saved x.",
)
class TanhSavesItsTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        t = _tanh(x)
        ctx.save_for_backward(x, t)
        return 0.5 * x * (1 + t)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, t = ctx.saved_tensors
        return g * 0.5 * (1 + t + x * (1 - t**2) * _slope(x))


@misconception(
    "GELUTanh",
    replaces="GELUTanh.backward",
    says="The first derivative is right, and the second one wrong without a word: detached, or saved as a finished "
    "derivative, what backward uses is a constant to the double backward. Compute from the saved x as it is.",
)
def tanh_of_a_detached_input(ctx, g):
    (x,) = ctx.saved_tensors
    x = x.detach()
    t = _tanh(x)
    return g * 0.5 * (1 + t + x * (1 - t**2) * _slope(x))


@misconception(
    "GELUTanh",
    replaces="GELUTanh.backward",
    says="1 / cosh² u overflows where u is large: inf / inf in the second derivative is nan. 1 − tanh² u is the same, "
    "and finite.",
)
def tanh_by_cosh(ctx, g):
    (x,) = ctx.saved_tensors
    u = C * (x + 0.044715 * x**3)
    return g * 0.5 * (1 + torch.tanh(u) + x * _slope(x) / torch.cosh(u) ** 2)


@misconception(
    "GELUTanh",
    replaces="GELUTanh.backward",
    says="@once_differentiable forbids the double backward. It is asked for here, and needs nothing more than tensor "
    "operations on x and g.",
)
@once_differentiable
def tanh_only_once(ctx, g):
    (x,) = ctx.saved_tensors
    t = _tanh(x)
    return g * 0.5 * (1 + t + x * (1 - t**2) * _slope(x))


@misconception(
    "GELUTanh",
    says="x is kept as ctx.x. Then autograd cannot tell when x is changed in place before the backward pass. "
    "ctx.save_for_backward(x) watches it.",
)
class TanhKeepsAnAttribute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x = x
        return 0.5 * x * (1 + _tanh(x))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        t = _tanh(ctx.x)
        return g * 0.5 * (1 + t + ctx.x * (1 - t**2) * _slope(ctx.x))


@misconception(
    "GELUTanh",
    replaces="GELUTanh.backward",
    says="The second term of the product rule has the ½, too: ½ (1 + tanh u) + ½ x (1 − tanh² u) u′.",
)
def tanh_second_term_without_the_half(ctx, g):
    (x,) = ctx.saved_tensors
    t = _tanh(x)
    return g * (0.5 * (1 + t) + x * (1 - t**2) * _slope(x))


@misconception(
    "GELUTanh",
    replaces="GELUTanh.forward",
    says="The ½ is missing in forward: ½ x (1 + tanh u). backward has it.",
)
def tanh_forward_without_the_half(ctx, x):
    ctx.save_for_backward(x)
    return x * (1 + _tanh(x))


@misconception("GELUTanh", says="The ½ is missing, in both passes: the function is ½ x (1 + tanh u).")
class TanhWithoutTheHalf(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * (1 + _tanh(x))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        t = _tanh(x)
        return g * (1 + t + x * (1 - t**2) * _slope(x))


@misconception("GELUTanh", says="The factor of u is √(2/π), some 0.8. This is √(2π), some 2.5.")
class TanhWithTheOtherRoot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 * math.pi) * (x + 0.044715 * x**3)))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        root = math.sqrt(2 * math.pi)
        t = torch.tanh(root * (x + 0.044715 * x**3))
        return g * 0.5 * (1 + t + x * (1 - t**2) * root * (1 + 3 * 0.044715 * x**2))


@misconception("GELUTanh", says="The constant is 0.044715: this is ten times as much, 0.44715.")
class TanhWithTenTimesTheConstant(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.tanh(C * (x + 0.44715 * x**3)))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        t = torch.tanh(C * (x + 0.44715 * x**3))
        return g * 0.5 * (1 + t + x * (1 - t**2) * C * (1 + 3 * 0.44715 * x**2))


@misconception("GELUTanh", says="The constant is 0.044715; a digit is missing.")
class TanhWithARoundedConstant(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.tanh(C * (x + 0.0447 * x**3)))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        t = torch.tanh(C * (x + 0.0447 * x**3))
        return g * 0.5 * (1 + t + x * (1 - t**2) * C * (1 + 3 * 0.0447 * x**2))


# RoundSTE


@misconception(
    "RoundSTE",
    replaces="RoundSTE.backward",
    says="The gradient is zero: that is the derivative of round, and gradcheck would accept it. Straight through means "
    "that g comes back as it is.",
)
def ste_derivative_of_round(ctx, g):
    return torch.zeros_like(g)


@misconception("RoundSTE", replaces="RoundSTE.backward", says="This rounds the gradient, too. g comes back as it is.")
def ste_rounds_the_gradient(ctx, g):
    return torch.round(g)


@misconception(
    "RoundSTE", replaces="RoundSTE.backward", says="Ones come back, the derivative of x. Multiply: g · 1 = g."
)
def ste_returns_ones(ctx, g):
    return torch.ones_like(g)


@misconception(
    "RoundSTE",
    replaces="RoundSTE.backward",
    says="backward returns None, so x gets no gradient at all. Return g.",
)
def ste_returns_none(ctx, g):
    return None


@misconception("RoundSTE", replaces="RoundSTE.backward", says="The sign is wrong: g comes back as it is, not −g.")
def ste_minus(ctx, g):
    return -g


@misconception(
    "RoundSTE",
    says="The gradient is clipped: it passes only where |x| ≤ 1. That estimator exists, for signs; this one lets g "
    "through everywhere, and needs no x.",
)
class ClippedSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.round(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1)


@misconception(
    "RoundSTE", replaces="RoundSTE.forward", says="Halves are rounded up here. torch.round goes to the even neighbour."
)
def ste_halves_up(ctx, x):
    return torch.floor(x + 0.5)


@misconception(
    "RoundSTE",
    replaces="RoundSTE.forward",
    says="Halves are rounded away from 0 here. torch.round goes to the even neighbour.",
)
def ste_halves_away_from_zero(ctx, x):
    return torch.sign(x) * torch.floor(x.abs() + 0.5)


@misconception(
    "RoundSTE",
    replaces="RoundSTE.backward",
    says="g.detach() has the value of g and no graph: a second derivative through g is lost. Return g itself.",
)
def ste_detaches_g(ctx, g):
    return g.detach()


@misconception("RoundSTE", replaces="RoundSTE.forward", says="This cuts the decimals off. Use torch.round.")
def ste_cut_off(ctx, x):
    return torch.trunc(x)


@misconception("RoundSTE", replaces="RoundSTE.forward", says="This rounds down. Use torch.round.")
def ste_rounds_down(ctx, x):
    return torch.floor(x)


@misconception(
    "RoundSTE",
    replaces="RoundSTE.forward",
    says="Nothing is rounded: forward returns x. Only backward is the identity.",
)
def ste_rounds_nothing(ctx, x):
    return x.clone()


@misconception(
    "RoundSTE",
    replaces="RoundSTE.forward",
    says="x is saved, and backward does not need it: it would stay in memory for nothing.",
)
def ste_saves_its_input(ctx, x):
    ctx.save_for_backward(x)
    return torch.round(x)


@misconception(
    "RoundSTE",
    replaces="RoundSTE.forward",
    says="x itself was rounded, in place, and the caller has lost it. torch.round(x) makes a new tensor.",
)
def ste_in_place(ctx, x):
    return x.round_().clone()


# FusedCrossEntropy


def _forward(ctx, logits, targets):
    """What is right, for the mistakes that are elsewhere."""
    log_p = torch.log_softmax(logits, dim=1)
    if ctx.needs_input_grad[0]:
        ctx.save_for_backward(log_p, targets)
    return -log_p.gather(1, targets.unsqueeze(1)).mean()


def _difference(ctx):
    """p − y, a new tensor."""
    log_p, targets = ctx.saved_tensors
    p = log_p.exp()
    p[torch.arange(len(targets)), targets] -= 1
    return p, len(targets)


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.backward",
    says="g is not used: right only where the loss is the end of the graph. Multiply by it: g (p − y) / n.",
)
def entropy_without_g(ctx, g):
    if not ctx.needs_input_grad[0]:
        return None, None
    p, n = _difference(ctx)
    return p / n, None


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.backward",
    says="The loss is a mean over n rows, and the gradient is that of the sum: divide by n.",
)
def entropy_not_divided(ctx, g):
    if not ctx.needs_input_grad[0]:
        return None, None
    p, _ = _difference(ctx)
    return g * p, None


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.backward",
    says="Divided by the number of logits. The mean is over the n rows: divide by n.",
)
def entropy_divided_by_all(ctx, g):
    if not ctx.needs_input_grad[0]:
        return None, None
    p, _ = _difference(ctx)
    return g * p / p.numel(), None


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.backward",
    says="The sign is wrong: y − p. The loss falls where the target's logit rises, so the gradient is p − y.",
)
def entropy_minus(ctx, g):
    if not ctx.needs_input_grad[0]:
        return None, None
    p, n = _difference(ctx)
    return -g / n * p, None


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.backward",
    says="This is p alone: the target's logit stands in the loss by itself, too, which takes 1 off: p − y.",
)
def entropy_without_the_target(ctx, g):
    if not ctx.needs_input_grad[0]:
        return None, None
    log_p, targets = ctx.saved_tensors
    return g / len(targets) * log_p.exp(), None


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.backward",
    says="p[:, targets] −= 1 takes 1 off every row in each of these columns. Each row has one target: "
    "p[torch.arange(n), targets] −= 1.",
)
def entropy_whole_columns(ctx, g):
    if not ctx.needs_input_grad[0]:
        return None, None
    log_p, targets = ctx.saved_tensors
    p = log_p.exp()
    p[:, targets] -= 1
    return g / len(targets) * p, None


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.backward",
    says="backward returns one gradient for two inputs. Return a pair: the logits' gradient, and None for targets.",
)
def entropy_one_gradient(ctx, g):
    if not ctx.needs_input_grad[0]:
        return None
    p, n = _difference(ctx)
    return g / n * p


@misconception(
    "FusedCrossEntropy",
    says="backward takes the 1 off in the saved tensor itself. The second backward pass finds it changed, and autograd "
    "refuses. Work on a copy: p.clone().",
)
class EntropyWritesIntoWhatItSaved(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(log_p.exp(), targets)
        return -log_p.gather(1, targets.unsqueeze(1)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        if not ctx.needs_input_grad[0]:
            return None, None
        p, targets = ctx.saved_tensors
        p[torch.arange(len(targets)), targets] -= 1
        return g / len(targets) * p, None


@misconception(
    "FusedCrossEntropy",
    says="A tensor is an attribute of ctx. The gradients are right, but autograd does not know of it: it cannot tell "
    "when the tensor is changed in place. Any tensor that backward needs goes through ctx.save_for_backward.",
)
class EntropyKeepsAnAttribute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        if ctx.needs_input_grad[0]:
            ctx.targets = targets
            ctx.save_for_backward(log_p)
        return -log_p.gather(1, targets.unsqueeze(1)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        if not ctx.needs_input_grad[0]:
            return None, None
        (log_p,) = ctx.saved_tensors
        p = log_p.exp()
        p[torch.arange(len(p)), ctx.targets] -= 1
        return g / len(p) * p, None


@misconception(
    "FusedCrossEntropy",
    says="A tensor is an attribute of ctx, and it is put there although ctx.needs_input_grad[0] is False. Any tensor "
    "that backward needs goes through ctx.save_for_backward, and only where the logits need a gradient.",
)
class EntropyKeepsAnAttributeAlways(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        ctx.targets = targets
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(log_p)
        return -log_p.gather(1, targets.unsqueeze(1)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        if not ctx.needs_input_grad[0]:
            return None, None
        (log_p,) = ctx.saved_tensors
        p = log_p.exp()
        p[torch.arange(len(p)), ctx.targets] -= 1
        return g / len(p) * p, None


@misconception(
    "FusedCrossEntropy",
    says="p is an attribute of ctx, and backward takes the 1 off in it: the second backward pass takes it off again, "
    "and nobody notices. Save with ctx.save_for_backward, and work on a copy.",
)
class EntropyWritesIntoAnAttribute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        if ctx.needs_input_grad[0]:
            ctx.p, ctx.targets = log_p.exp(), targets
        return -log_p.gather(1, targets.unsqueeze(1)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        if not ctx.needs_input_grad[0]:
            return None, None
        n = len(ctx.targets)
        ctx.p[torch.arange(n), ctx.targets] -= 1
        return g / n * ctx.p, None


@misconception(
    "FusedCrossEntropy",
    says="The gradient is scaled by g where it is kept, so the second backward pass scales it again. Multiply into a "
    "new tensor: g * gradient.",
)
class EntropyScalesWhatItSaved(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        if ctx.needs_input_grad[0]:
            gradient = log_p.exp()
            gradient[torch.arange(len(targets)), targets] -= 1
            ctx.save_for_backward(gradient / len(targets))
        return -log_p.gather(1, targets.unsqueeze(1)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        if not ctx.needs_input_grad[0]:
            return None, None
        (gradient,) = ctx.saved_tensors
        return gradient.mul_(g), None


@misconception(
    "FusedCrossEntropy",
    says="Two (n, c) tensors are kept, the logits and their softmax. One is enough: each can be computed from what "
    "is saved of the other.",
)
class EntropySavesTwo(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(logits, log_p.exp(), targets)
        return -log_p.gather(1, targets.unsqueeze(1)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        if not ctx.needs_input_grad[0]:
            return None, None
        _, p, targets = ctx.saved_tensors
        y = torch.zeros_like(p).scatter_(1, targets.unsqueeze(1), 1)
        return g / len(targets) * (p - y), None


@misconception(
    "FusedCrossEntropy",
    says="The one-hot targets are kept as a second (n, c) tensor. The n integers say as much: build the rest in "
    "backward.",
)
class EntropySavesTheOneHots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        y = torch.zeros_like(log_p).scatter_(1, targets.unsqueeze(1), 1)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(log_p.exp(), y)
        return -(y * log_p).sum(dim=1).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        if not ctx.needs_input_grad[0]:
            return None, None
        p, y = ctx.saved_tensors
        return g / len(p) * (p - y), None


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.forward",
    says="exp of 1000 is infinite, and inf / inf is nan. Take the maximum of each row off first, or use "
    "torch.log_softmax, which does.",
)
def entropy_overflows(ctx, logits, targets):
    e = torch.exp(logits)
    log_p = torch.log(e / e.sum(dim=1, keepdim=True))
    if ctx.needs_input_grad[0]:
        ctx.save_for_backward(log_p, targets)
    return -log_p.gather(1, targets.unsqueeze(1)).mean()


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.forward",
    says="softmax is stable, and its log is not: where p is 0 the loss is infinite. torch.log_softmax never forms p.",
)
def entropy_log_of_softmax(ctx, logits, targets):
    log_p = torch.log(torch.softmax(logits, dim=1))
    if ctx.needs_input_grad[0]:
        ctx.save_for_backward(log_p, targets)
    return -log_p.gather(1, targets.unsqueeze(1)).mean()


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.forward",
    says="A small number under the log hides the overflow and bends the loss: where p is 0 it stops at −log of that "
    "number. torch.log_softmax needs none.",
)
def entropy_with_an_epsilon(ctx, logits, targets):
    p = torch.softmax(logits, dim=1)
    if ctx.needs_input_grad[0]:
        ctx.save_for_backward(torch.log_softmax(logits, dim=1), targets)
    return -torch.log(p.gather(1, targets.unsqueeze(1)) + 1e-9).mean()


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.forward",
    says="The loss is a sum over the rows. It has to be their mean.",
)
def entropy_sum(ctx, logits, targets):
    return _forward(ctx, logits, targets) * len(targets)


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.forward",
    says="The softmax runs over dim 0, the rows. Each row is a distribution of its own: dim=1.",
)
def entropy_along_the_rows(ctx, logits, targets):
    log_p = torch.log_softmax(logits, dim=0)
    if ctx.needs_input_grad[0]:
        ctx.save_for_backward(log_p, targets)
    return -log_p.gather(1, targets.unsqueeze(1)).mean()


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.forward",
    says="The loss of each row comes back, a vector. It has to be their mean, a 0-d tensor.",
)
def entropy_not_reduced(ctx, logits, targets):
    log_p = torch.log_softmax(logits, dim=1)
    if ctx.needs_input_grad[0]:
        ctx.save_for_backward(log_p, targets)
    return -log_p.gather(1, targets.unsqueeze(1)).squeeze(1)


@misconception(
    "FusedCrossEntropy",
    says="ctx.needs_input_grad is never asked: where the logits need no gradient, forward saves all the same, and "
    "backward computes what nobody uses.",
)
class EntropyNeverAsks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        ctx.save_for_backward(log_p, targets)
        return -log_p.gather(1, targets.unsqueeze(1)).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        p, n = _difference(ctx)
        return g / n * p, None


@misconception(
    "FusedCrossEntropy",
    replaces="FusedCrossEntropy.backward",
    says="backward asks for saved tensors before it asks ctx.needs_input_grad: where the logits need no gradient, "
    "nothing was saved. Ask first.",
)
def entropy_asks_too_late(ctx, g):
    p, n = _difference(ctx)
    return (g / n * p if ctx.needs_input_grad[0] else None), None


# run_gradcheck


def _copies(tensors):
    """What is right, for the mistakes that are elsewhere."""
    return tuple(t.detach().clone().double().requires_grad_() if t.is_floating_point() else t.clone() for t in tensors)


def _both(fn, inputs, **options):
    check, check_again = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    try:
        return check(fn, inputs, **options) and check_again(fn, inputs, **options)
    except Exception:
        return False


@misconception(
    "run_gradcheck",
    says="Only the first order is checked. A gradient that is right, but wrong when differentiated again, passes: "
    "gradgradcheck as well.",
)
def first_order_only(fn, *tensors):
    try:
        return torch.autograd.gradcheck(fn, _copies(tensors))
    except Exception:
        return False


@misconception(
    "run_gradcheck",
    says="gradgradcheck alone checks whether the second order fits to the first. Where the first one is wrong, both "
    "can be wrong together: gradcheck as well.",
)
def second_order_only(fn, *tensors):
    try:
        return torch.autograd.gradgradcheck(fn, _copies(tensors))
    except Exception:
        return False


@misconception(
    "run_gradcheck", says="One of the two checks is enough to pass here. Both orders have to be right: and, not or."
)
def either_order(fn, *tensors):
    copies = _copies(tensors)
    for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        try:
            if check(fn, copies):
                return True
        except Exception:
            continue
    return False


@misconception(
    "run_gradcheck",
    says="float32 tensors are passed on as they are. Differences of float32 numbers are mostly noise, so a right fn is "
    "rejected: check float64 copies.",
)
def float32_passes_through(fn, *tensors):
    return _both(
        fn, tuple(t.detach().clone().requires_grad_() if t.is_floating_point() else t.clone() for t in tensors)
    )


@misconception(
    "run_gradcheck",
    says="The tolerances are wide: a gradient that is some percent off passes. Copy to float64 and keep the defaults, "
    "which are meant for it.",
)
def wide_tolerances(fn, *tensors):
    return _both(fn, _copies(tensors), atol=0.2, rtol=0.2)


@misconception(
    "run_gradcheck",
    says="With tolerances of 1e-2 a gradient that is 0.5 percent off passes. Keep the defaults, rtol=1e-3 and "
    "atol=1e-5: they are meant for float64.",
)
def tolerances_of_a_percent(fn, *tensors):
    return _both(fn, _copies(tensors), atol=1e-2, rtol=1e-2)


@misconception(
    "run_gradcheck",
    says="fast_mode=True compares one random combination of all entries. One wrong entry of many drowns in it. The "
    "full check takes longer and sees every entry: leave fast_mode off.",
)
def fast_mode(fn, *tensors):
    return _both(fn, _copies(tensors), fast_mode=True)


@misconception(
    "run_gradcheck",
    says="fast_mode=True in gradgradcheck compares one random combination of all entries. One wrong entry of many "
    "drowns in it: leave fast_mode off there, too.",
)
def fast_mode_for_the_second_order(fn, *tensors):
    copies = _copies(tensors)
    try:
        return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies, fast_mode=True)
    except Exception:
        return False


@misconception(
    "run_gradcheck",
    says="Only the first tensor requires a gradient, so the gradients of the others are never checked. Let every "
    "floating copy require one.",
)
def only_the_first_requires_grad(fn, *tensors):
    copies = [t.detach().clone().double() if t.is_floating_point() else t.clone() for t in tensors]
    next(copy for copy in copies if copy.is_floating_point()).requires_grad_()
    return _both(fn, tuple(copies))


@misconception(
    "run_gradcheck",
    says=".double() copies nothing where the tensor is float64 already: then requires_grad_ changes the caller's own "
    "tensor, and an fn that writes into its argument would write into it. detach, clone, then the rest.",
)
def the_callers_own_tensors(fn, *tensors):
    return _both(fn, tuple(t.double().requires_grad_() if t.is_floating_point() else t.clone() for t in tensors))


@misconception(
    "run_gradcheck",
    says="detach() and double() share memory with a float64 tensor. An fn that writes into its argument writes into "
    "the caller's tensor, and expanded rows stay one row: clone.",
)
def detached_but_shared(fn, *tensors):
    return _both(
        fn, tuple(t.detach().double().requires_grad_() if t.is_floating_point() else t.clone() for t in tensors)
    )


@misconception(
    "run_gradcheck",
    says="Tensors that are not floating are passed on themselves: an fn that writes into its indices writes into the "
    "caller's. Clone them, too, in their own dtype.",
)
def integers_are_shared(fn, *tensors):
    return _both(
        fn, tuple(t.detach().clone().double().requires_grad_() if t.is_floating_point() else t for t in tensors)
    )


@misconception(
    "run_gradcheck",
    says="The copies require a gradient only where the caller's tensors did. The gradients of the others are not "
    "checked, and where none requires one, gradcheck refuses even a right fn. Let every floating copy require one.",
)
def only_what_required_grad(fn, *tensors):
    copies = (
        t.detach().clone().double().requires_grad_(t.requires_grad) if t.is_floating_point() else t.clone()
        for t in tensors
    )
    return _both(fn, tuple(copies))


@misconception(
    "run_gradcheck",
    says="Indices and masks become float64 as well, and fn can no longer use them. Convert only what "
    "is_floating_point().",
)
def all_become_float64(fn, *tensors):
    return _both(fn, tuple(t.detach().clone().double().requires_grad_() for t in tensors))


@misconception(
    "run_gradcheck",
    says="A check that fails raises, and nothing catches it: the caller gets an exception. The answer is False.",
)
def nothing_is_caught(fn, *tensors):
    copies = _copies(tensors)
    return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies)


@misconception(
    "run_gradcheck",
    says="raise_exception=False silences gradcheck's own verdict alone. What fn raises comes through, and that is a "
    "False, too: catch Exception.",
)
def raise_exception_is_false(fn, *tensors):
    copies = _copies(tensors)
    options = {"raise_exception": False}
    return torch.autograd.gradcheck(fn, copies, **options) and torch.autograd.gradgradcheck(fn, copies, **options)


@misconception(
    "run_gradcheck",
    says="Only RuntimeError is caught, which is what gradcheck raises. fn may raise anything: catch Exception.",
)
def runtime_errors_only(fn, *tensors):
    copies = _copies(tensors)
    try:
        return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies)
    except RuntimeError:
        return False


@misconception(
    "run_gradcheck", says="What was caught counts as a pass. An fn that cannot be checked is not right: False."
)
def caught_is_true(fn, *tensors):
    copies = _copies(tensors)
    try:
        return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies)
    except Exception:
        return True


@misconception("run_gradcheck", says="There is no answer where a check fails: None. Return False there.")
def none_for_false(fn, *tensors):
    return _both(fn, _copies(tensors)) or None


@misconception(
    "run_gradcheck",
    says="Both checks run, but their answer is not returned. True or False is asked for.",
)
def no_answer(fn, *tensors):
    _both(fn, _copies(tensors))
