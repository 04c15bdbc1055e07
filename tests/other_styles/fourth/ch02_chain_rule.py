"""Text of a StrEnum."""
import math
from functools import reduce
from itertools import accumulate
from typing import NamedTuple
import numpy as np


def numerical_gradient(f, x, eps=1e-6):
    x = np.array(x)
    out = np.empty_like(x)
    for i in np.ndindex(x.shape):
        old = x[i]
        x[i] = old + eps
        up = f(x)
        x[i] = old - eps
        out[i] = (up - f(x)) / (2 * eps)
        x[i] = old
    return out


def jvp_chain(Ws, v):
    return reduce(lambda u, W: W.dot(u), Ws, v)


def vjp_chain(Ws, u):
    return reduce(lambda w, W: np.dot(W.T, w), Ws[::-1], u)


def weight_gradients(Ws, x, u):
    hs = accumulate(Ws, lambda h, W: W.dot(h), initial=x)
    gs = list(accumulate(Ws[::-1], lambda g, W: np.dot(g, W), initial=u))
    return [np.multiply.outer(g, h) for g, h in zip(gs[-2::-1], hs)]


def jacobian_cost(dims, mode):
    return {"forward": dims[0], "reverse": dims[-1]}[mode] * sum(map(int.__mul__, dims[:-1], dims[1:]))


def cheaper_mode(dims):
    return ("reverse", "forward")[dims[0] < dims[-1]]


class Dual(NamedTuple):
    value: float
    tangent: float = 0.0

    def __add__(self, o):
        o = lift(o)
        return Dual(self.value + o.value, self.tangent + o.tangent)

    __radd__ = __add__

    def __neg__(self):
        return Dual(-self.value, -self.tangent)

    def __sub__(self, o):
        return self + -lift(o)

    def __rsub__(self, o):
        return lift(o) + -self

    def __mul__(self, o):
        o = lift(o)
        return Dual(self.value * o.value, self.tangent * o.value + self.value * o.tangent)

    __rmul__ = __mul__

    def __truediv__(self, o):
        o = lift(o)
        q = self.value / o.value
        return Dual(q, (self.tangent - q * o.tangent) / o.value)

    def __rtruediv__(self, o):
        return lift(o) / self

    def __pow__(self, o):
        if not isinstance(o, Dual):
            return Dual(self.value**o, o * self.value ** (o - 1) * self.tangent if o else 0.0)
        y = self.value**o.value
        return Dual(y, y * (o.tangent * math.log(self.value) + o.value * self.tangent / self.value))

    def __rpow__(self, o):
        y = o**self.value
        return Dual(y, y * math.log(o) * self.tangent)

    def sin(self):
        return Dual(math.sin(self.value), math.cos(self.value) * self.tangent)

    def exp(self):
        y = math.exp(self.value)
        return Dual(y, y * self.tangent)

    def log(self):
        return Dual(math.log(self.value), self.tangent / self.value)


def lift(x):
    return x if isinstance(x, Dual) else Dual(x)


def derivative(f, x):
    match f(Dual(x, 1.0)):
        case Dual(_, t):
            return float(t)
        case _:
            return 0.0


def jacobian_from_jvp(jvp, n_in):
    return np.apply_along_axis(jvp, 0, np.eye(n_in))


def jacobian_from_vjp(vjp, n_out):
    return np.apply_along_axis(vjp, 1, np.identity(n_out))


def gradcheck(f, vjp, inputs, rng):
    inputs = tuple(np.array(x, dtype=float) for x in inputs)
    g = rng.uniform(0.5, 2.0, np.shape(f(*inputs))) * rng.choice([-1.0, 1.0], np.shape(f(*inputs)))
    claimed = vjp(g.copy(), *(x.copy() for x in inputs))
    if len(claimed) < len(inputs):
        return False
    for i, x in enumerate(inputs):
        true = numerical_gradient(lambda z: np.vdot(g, f(*inputs[:i], z.copy(), *inputs[i + 1 :])), x)
        got = np.asarray(claimed[i])
        if got.shape != x.shape or not np.all(np.isfinite(got)):
            return False
        if np.any(np.abs(got - true) > 1e-3 * np.abs(true) + 3e-9 * (1 + np.abs(np.vdot(g, f(*inputs))))):
            return False
    return True


from enum import StrEnum, Enum
class Mode(StrEnum):
    FORWARD = 'forward'
    REVERSE = 'reverse'
def cheaper_mode(dims):
    return Mode.FORWARD if dims[0] < dims[-1] else Mode.REVERSE
