# %% [markdown]
# # The chain rule, two ways round
#
# The derivative of a composition is a product of Jacobians. This lesson multiplies it from either end, counts what each
# costs, and checks gradients against finite differences. Eleven exercises, NumPy only.
# Read along in [the chapter](../book/ch02_chain_rule.md).
#
# Everything is float64. No function changes its arguments. An array may be a view, such as a transpose.

# %%
import math

import numpy as np

# %% [markdown]
# ## `numerical_gradient`
#
# `f` takes an array of the shape of `x` and returns a number. Return its gradient at `x` by central differences, an
# array of the shape of `x`: entry `i` is `(f(x + eps·eᵢ) − f(x − eps·eᵢ)) / (2·eps)`, where `x ± eps·eᵢ` differs from
# `x` in that one entry.
#
# `x` has any shape, `()` and empty ones included, and is the same afterwards. `f` is expensive: call it exactly
# `2 * x.size` times.
# [Chapter section](../book/ch02_chain_rule.md#ch02-numerical-gradient)


# %% exercise="numerical_gradient"
def numerical_gradient(f, x, eps=1e-6):
    """Gradient of f at x, in the shape of x, by central differences: two calls of f for each entry."""
    ### BEGIN SOLUTION
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = eps
        gradient[index] = (f(x + step) - f(x - step)) / (2 * eps)
    return gradient
    ### END SOLUTION


# %% [markdown]
# ## `jvp_chain`
#
# `y = W_k … W_2 W_1 x`, with the matrices listed in the order in which they act: `Ws = [W_1, …, W_k]`, `W_i` of shape
# `(n_i, n_{i−1})`. The Jacobian is the product of all matrices. Return it times `v`, a JVP, shape `(n_k,)`, for a `v`
# of shape `(n_0,)`; the empty chain returns `v`.
#
# Never multiply two matrices: one matrix–vector product for each `W` is enough. Some checks count, with matrices that
# allow `W @ v`, `v @ W`, `W.dot(v)`, `np.dot(W, v)` and the same with `W.T`, for a `v` with one axis, tell their shape
# (`W.shape`, `len(W)`, `np.zeros_like(W)`), and refuse the rest: matrix times matrix, columns `(n, 1)`, `einsum`. For
# `v.dot(W)` write `v @ W`.
#
# **Points count only if the grader, which counts products in one call, sees no product of two matrices.**
# [Chapter section](../book/ch02_chain_rule.md#ch02-jvp-chain)


# %% exercise="jvp_chain"
def jvp_chain(Ws, v):
    """The Jacobian of y = W_k … W_1 x times v, shape (n_k,): one matrix–vector product for each W."""
    ### BEGIN SOLUTION
    for W in Ws:
        v = W @ v
    return v
    ### END SOLUTION


# %% [markdown]
# ## `vjp_chain`
#
# The same chain. Return `u` times the Jacobian, a VJP, shape `(n_0,)`, for a `u` of shape `(n_k,)`; the empty chain
# returns `u`. Again one matrix–vector product for each `W`, on the same kind of matrices.
#
# **Points count only if the grader, which counts products in one call, sees no product of two matrices.**
# [Chapter section](../book/ch02_chain_rule.md#ch02-vjp-chain)


# %% exercise="vjp_chain"
def vjp_chain(Ws, u):
    """u times the Jacobian of y = W_k … W_1 x, shape (n_0,): one matrix–vector product for each W."""
    ### BEGIN SOLUTION
    for W in reversed(Ws):
        u = W.T @ u
    return u
    ### END SOLUTION


# %% [markdown]
# ## `weight_gradients`
#
# The same chain, with a loss at its end: `L = u · (W_k … W_1 x)`, for an `x` of shape `(n_0,)` and a `u` of shape
# `(n_k,)`. Return the gradient of `L` with respect to every matrix: a list with one array for each `W`, in the order of
# `Ws` and in the shape of that `W`. The empty chain returns `[]`.
#
# Walk forward once and back once: each `W` multiplies at most one vector as `W @ v` and at most one as `v @ W`, which
# is `W.T @ v`. Some checks count, with the matrices of `jvp_chain`.
#
# **Points count only if the grader sees at most these two products for each matrix, and none of two matrices.**
# [Chapter section](../book/ch02_chain_rule.md#ch02-weight-gradients)


# %% exercise="weight_gradients"
def weight_gradients(Ws, x, u):
    """The gradients of L = u · (W_k … W_1 x), a list with an array in the shape of each W: one walk there and back."""
    ### BEGIN SOLUTION
    entered = []
    for W in Ws:
        entered.append(x)
        x = W @ x
    gradients = []
    for W, h in zip(reversed(Ws), reversed(entered), strict=True):
        gradients.append(np.outer(u, h))
        u = W.T @ u
    return gradients[::-1]
    ### END SOLUTION


# %% [markdown]
# ## `jacobian_cost`
#
# A chain of matrices with widths `dims = [n_0, …, n_k]`: two of them or more, each at least 1. One pass through it,
# `jvp_chain` or `vjp_chain`, takes `n_i · n_{i+1}` multiply–adds for each matrix. How many does the full Jacobian take?
#
# - `mode="forward"`: a JVP for each of the `n_0` columns;
# - `mode="reverse"`: a VJP for each of the `n_k` rows.
#
# Every product counts in full, including the first of each pass, although its vector is mostly zeros. Return an exact
# `int`; Python's own have no upper limit.
# [Chapter section](../book/ch02_chain_rule.md#ch02-jacobian-cost)


# %% exercise="jacobian_cost"
def jacobian_cost(dims, mode):
    """Multiply–adds, an int, for the Jacobian of a chain of widths dims, in mode "forward" or "reverse"."""
    ### BEGIN SOLUTION
    one_pass = sum(dims[i] * dims[i + 1] for i in range(len(dims) - 1))
    passes = dims[0] if mode == "forward" else dims[-1]
    return passes * one_pass
    ### END SOLUTION


# %% [markdown]
# ## `cheaper_mode`
#
# Return the mode that needs fewer multiply–adds, `"forward"` or `"reverse"`; `"reverse"` if both need as many.
# [Chapter section](../book/ch02_chain_rule.md#ch02-cheaper-mode)


# %% exercise="cheaper_mode"
def cheaper_mode(dims):
    """The mode in which the Jacobian of a chain of widths dims is cheaper; a tie is "reverse"."""
    ### BEGIN SOLUTION
    return "forward" if dims[0] < dims[-1] else "reverse"
    ### END SOLUTION


# %% [markdown]
# ## `Dual`
#
# Forward mode on numbers. A `Dual` carries a `value` and a `tangent`, its derivative in some direction; each operation
# makes a new `Dual` from the values by the operation itself, and from the tangents by its rule. Write these:
#
# - `+`, `-`, `*`, `/` and `**`, with a `Dual` or a number on either side, and unary minus. A number is a constant: its
#   tangent is 0. `lift` turns it into a `Dual`: without it, `x + 3` fails, because 3 has no tangent.
# - the methods `sin()`, `exp()` and `log()`. Values are plain numbers, and `math` is imported.
#
# In `x ** n` with a number `n`, the base may be negative (where `n` is whole) or 0 (where `n` is 0 or at least 1);
# `x ** 0` is 1, with tangent 0, whatever `x` is. In `a ** x` and `x ** y` the base is positive.
# [Chapter section](../book/ch02_chain_rule.md#ch02-dual)


# %%
def lift(x):
    """x itself if it is a Dual, else a Dual that is constant."""
    return x if isinstance(x, Dual) else Dual(x)


# %% exercise="Dual"
class Dual:
    """A number and its derivative in one direction: value + tangent·ε, where ε² = 0."""

    def __init__(self, value, tangent=0.0):
        self.value = value
        self.tangent = tangent

    def __repr__(self):
        return f"Dual({self.value}, {self.tangent})"

    def __add__(self, other):
        """self + other."""
        ### BEGIN SOLUTION
        other = lift(other)
        return Dual(self.value + other.value, self.tangent + other.tangent)
        ### END SOLUTION

    def __radd__(self, other):
        """other + self, where other is a number: Python asks the right operand when the left one does not know how."""
        return self + other

    def __neg__(self):
        """-self."""
        ### BEGIN SOLUTION
        return Dual(-self.value, -self.tangent)
        ### END SOLUTION

    def __sub__(self, other):
        """self - other."""
        ### BEGIN SOLUTION
        other = lift(other)
        return Dual(self.value - other.value, self.tangent - other.tangent)
        ### END SOLUTION

    def __rsub__(self, other):
        """other - self, where other is a number."""
        ### BEGIN SOLUTION
        return lift(other) - self
        ### END SOLUTION

    def __mul__(self, other):
        """self * other."""
        ### BEGIN SOLUTION
        other = lift(other)
        return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)
        ### END SOLUTION

    def __rmul__(self, other):
        """other * self, where other is a number."""
        return self * other

    def __truediv__(self, other):
        """self / other."""
        ### BEGIN SOLUTION
        other = lift(other)
        tangent = (self.tangent * other.value - self.value * other.tangent) / other.value**2
        return Dual(self.value / other.value, tangent)
        ### END SOLUTION

    def __rtruediv__(self, other):
        """other / self, where other is a number."""
        ### BEGIN SOLUTION
        return lift(other) / self
        ### END SOLUTION

    def __pow__(self, other):
        """self ** other."""
        ### BEGIN SOLUTION
        if not isinstance(other, Dual):  # no logarithm here: the base may be negative or 0
            slope = other * self.value ** (other - 1) if other != 0 else 0.0
            return Dual(self.value**other, slope * self.tangent)
        value = self.value**other.value
        through_base = other.value * self.value ** (other.value - 1) * self.tangent
        through_exponent = math.log(self.value) * value * other.tangent
        return Dual(value, through_base + through_exponent)
        ### END SOLUTION

    def __rpow__(self, other):
        """other ** self, where other is a number."""
        ### BEGIN SOLUTION
        return lift(other) ** self
        ### END SOLUTION

    def sin(self):
        """The sine."""
        ### BEGIN SOLUTION
        return Dual(math.sin(self.value), math.cos(self.value) * self.tangent)
        ### END SOLUTION

    def exp(self):
        """The exponential."""
        ### BEGIN SOLUTION
        return Dual(math.exp(self.value), math.exp(self.value) * self.tangent)
        ### END SOLUTION

    def log(self):
        """The natural logarithm of a positive number."""
        ### BEGIN SOLUTION
        return Dual(math.log(self.value), self.tangent / self.value)
        ### END SOLUTION


# %% [markdown]
# ## `derivative`
#
# `f` takes a `Dual` and returns one, made by the operations above. Return the derivative of `f` at the number `x`, a
# `float`, exact up to rounding while no number on the way over- or underflows. A constant `f` may return a plain
# number; its derivative is 0.0. It needs your `Dual`.
# [Chapter section](../book/ch02_chain_rule.md#ch02-derivative)


# %% exercise="derivative"
def derivative(f, x):
    """f′(x), a float, by forward mode."""
    ### BEGIN SOLUTION
    return float(lift(f(Dual(x, 1.0))).tangent)
    ### END SOLUTION


# %% [markdown]
# ## `jacobian_from_jvp`
#
# `jvp(v)` returns a Jacobian times `v`: it takes an array `(n_in,)` and returns one `(n_out,)`. Return the Jacobian
# itself, `(n_out, n_in)`, by exactly `n_in` calls. `n_in` is at least 1; there may be zero outputs.
# [Chapter section](../book/ch02_chain_rule.md#ch02-jacobian-from-jvp)


# %% exercise="jacobian_from_jvp"
def jacobian_from_jvp(jvp, n_in):
    """The Jacobian (n_out, n_in) of which jvp(v) is the product with v, by n_in calls."""
    ### BEGIN SOLUTION
    columns = [jvp(e) for e in np.eye(n_in)]
    return np.stack(columns, axis=1)
    ### END SOLUTION


# %% [markdown]
# ## `jacobian_from_vjp`
#
# `vjp(u)` returns `u` times a Jacobian: it takes an array `(n_out,)` and returns one `(n_in,)`. Return the Jacobian
# itself, `(n_out, n_in)`, by exactly `n_out` calls. `n_out` is at least 1; there may be zero inputs.
# [Chapter section](../book/ch02_chain_rule.md#ch02-jacobian-from-vjp)


# %% exercise="jacobian_from_vjp"
def jacobian_from_vjp(vjp, n_out):
    """The Jacobian (n_out, n_in) of which vjp(u) is the product with u on the left, by n_out calls."""
    ### BEGIN SOLUTION
    rows = [vjp(e) for e in np.eye(n_out)]
    return np.stack(rows)
    ### END SOLUTION


# %% [markdown]
# ## `gradcheck`
#
# Is a VJP right? `f(*inputs)` returns an array of any shape, and `vjp(g, *inputs)` claims to return the gradients of
# `(g * f(*inputs)).sum()`, a tuple with one array for each input. `inputs` is a tuple of arrays of any shapes, `()`
# included. Return `True` if every entry of every gradient agrees with central differences, and `False` if not.
#
# - The `g` that you choose must not hide a mistake: not all ones, not all equal. Draw all random numbers from `rng`, a
#   `numpy.random.Generator`, so that the same seed gives the same answer.
# - A gradient of the wrong shape (even one that would broadcast), a nan or an infinity in it, and a missing gradient
#   give `False`, not an exception.
# - `inputs` are the same afterwards.
#
# The grader asks about many VJPs. The right ones agree with central differences (`eps=1e-6`) to six digits or so; the
# wrong ones are wrong by one percent or more in an entry above 1e-6, or by half or more where all gradients are below.
# Gradients may be as small as 1e-7 and as large as 1e6, so the tolerance must be relative. Where a gradient is exactly
# 0, the differences of a function of size 1 are still off by about 1e-10, so a small absolute tolerance is needed as
# well. No function has a kink close to its inputs.
# [Chapter section](../book/ch02_chain_rule.md#ch02-gradcheck)


# %% exercise="gradcheck"
def gradcheck(f, vjp, inputs, rng):
    """Whether vjp(g, *inputs), a tuple, is the gradient of (g * f(*inputs)).sum() with respect to each input."""
    ### BEGIN SOLUTION
    g = rng.normal(size=np.shape(f(*inputs)))
    gradients = vjp(g, *inputs)
    if len(gradients) != len(inputs):
        return False
    for i, x in enumerate(inputs):

        def objective(moved, i=i):
            return np.sum(g * f(*inputs[:i], moved, *inputs[i + 1 :]))

        expected = numerical_gradient(objective, x)
        if np.shape(gradients[i]) != x.shape or not np.allclose(gradients[i], expected, rtol=1e-5, atol=1e-8):
            return False
    return True
    ### END SOLUTION
