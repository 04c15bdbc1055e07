"""Wrong answers that learners give in ch02_chain_rule, each one mistake away from right, with what to say about it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from autograder.diagnosis import misconception

# numerical_gradient


def _differences(f, x, eps, difference):
    """An array of `difference(x, step)` for each entry; `step` is eps in that entry."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = eps
        gradient[index] = difference(x, step)
    return gradient


@misconception(
    "numerical_gradient",
    says="The differences are one-sided: (f(x + eps) − f(x)) / eps is off by about eps · f″/2. Step both ways, and the "
    "two errors cancel.",
)
def one_sided(f, x, eps=1e-6):
    return _differences(f, x, eps, lambda x, step: (f(x + step) - f(x)) / eps)


@misconception(
    "numerical_gradient",
    says="The differences are one-sided, from a value at x that is kept. That saves calls and costs digits: the error "
    "is about eps · f″/2. Step both ways, and the two errors cancel.",
)
def one_sided_from_one_value(f, x, eps=1e-6):
    here = f(x)
    return _differences(f, x, eps, lambda x, step: (f(x + step) - here) / eps)


@misconception("numerical_gradient", says="From x − eps to x + eps it is 2·eps: divide by that, not by eps.")
def divided_by_eps(f, x, eps=1e-6):
    return _differences(f, x, eps, lambda x, step: (f(x + step) - f(x - step)) / eps)


@misconception("numerical_gradient", says="The differences are not divided by the distance between the points, 2·eps.")
def not_divided(f, x, eps=1e-6):
    return _differences(f, x, eps, lambda x, step: f(x + step) - f(x - step))


@misconception("numerical_gradient", says="The sign is the wrong way round: f(x + eps) − f(x − eps).")
def minus_the_gradient(f, x, eps=1e-6):
    return _differences(f, x, eps, lambda x, step: (f(x - step) - f(x + step)) / (2 * eps))


@misconception(
    "numerical_gradient",
    says="All entries are moved at once, which gives the sum of the gradient's entries. Move one entry at a time.",
)
def all_entries_at_once(f, x, eps=1e-6):
    return _differences(f, x, eps, lambda x, step: (f(x + eps) - f(x - eps)) / (2 * eps))


@misconception(
    "numerical_gradient",
    says="All entries are moved at once, which gives one number, the sum of the gradient's entries. Move one entry at "
    "a time, and fill an array of the shape of x.",
)
def one_number_for_all_entries(f, x, eps=1e-6):
    return (f(x + eps) - f(x - eps)) / (2 * eps)


@misconception(
    "numerical_gradient",
    says="An entry that was moved stays moved, so the next differences are taken at another point. Start each entry "
    "from x itself.",
)
def entries_stay_moved(f, x, eps=1e-6):
    gradient, point = np.zeros_like(x), x.copy()
    for index in np.ndindex(x.shape):
        point[index] += eps
        up = f(point.copy())
        point[index] -= 2 * eps
        gradient[index] = (up - f(point.copy())) / (2 * eps)
    return gradient


@misconception(
    "numerical_gradient",
    says="x is moved in place and moved back by arithmetic, which rounds: it comes back a little different. Keep the "
    "old entry and put it back, or work on a copy.",
)
def moved_back_by_arithmetic(f, x, eps=1e-6):
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        x[index] += eps
        up = f(x.copy())
        x[index] -= 2 * eps
        gradient[index] = (up - f(x.copy())) / (2 * eps)
        x[index] += eps
    return gradient


@misconception(
    "numerical_gradient",
    says="`y = x` makes no copy, only a second name for the same array: both calls of f see the same point, and the "
    "difference is 0. x.copy() is an array of its own.",
)
def second_name_for_x(f, x, eps=1e-6):
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        up = x
        up[index] += eps
        down = x
        down[index] -= eps
        gradient[index] = (f(up) - f(down)) / (2 * eps)
    return gradient


@misconception(
    "numerical_gradient",
    says="The gradient is flat. Give it the shape of x: loop over np.ndindex(x.shape), or reshape at the end.",
)
def flat_gradient(f, x, eps=1e-6):
    return _differences(f, x, eps, lambda x, step: (f(x + step) - f(x - step)) / (2 * eps)).ravel()


@misconception(
    "numerical_gradient",
    says="You loop over the first axis only. range(len(x)) moves whole rows of a matrix, and a 0-d array has no "
    "length: loop over np.ndindex(x.shape).",
)
def first_axis_only(f, x, eps=1e-6):
    gradient = np.zeros_like(x)
    for i in range(len(x)):
        step = np.zeros_like(x)
        step[i] = eps
        gradient[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return gradient


@misconception("numerical_gradient", says="The argument eps is not used: the step is as small whatever eps is.")
def ignores_eps(f, x, eps=1e-6):
    return _differences(f, x, 1e-6, lambda x, step: (f(x + step) - f(x - step)) / 2e-6)


@misconception(
    "numerical_gradient",
    says="The step is eps times the entry. Here it is eps itself, for every entry: a relative step is 0 where x is 0.",
)
def relative_step(f, x, eps=1e-6):
    def difference(x, step):
        with np.errstate(all="ignore"):
            return (f(x + step * x) - f(x - step * x)) / np.sum(2 * step * np.abs(x))

    return _differences(f, x, eps, difference)


@misconception(
    "numerical_gradient",
    says="f is called more often than twice for each entry. f(x) itself is not needed: the two steps around it do.",
)
def also_called_at_x(f, x, eps=1e-6):
    f(x)
    return _differences(f, x, eps, lambda x, step: (f(x + step) - f(x - step)) / (2 * eps))


# jvp_chain and vjp_chain


@misconception(
    "jvp_chain",
    says="You multiply the matrices first, and the vector last. A product of two n × n matrices takes n³ "
    "multiply–adds, one with a vector n²: start with the vector.",
)
def jvp_matrices_first(Ws, v):
    J = np.eye(len(v)) if not Ws else Ws[0]
    for W in Ws[1:]:
        J = W @ J
    return J @ v


@misconception(
    "jvp_chain",
    says="The Jacobian is built column by column, by one JVP for each basis vector, and then multiplied by v. A single "
    "JVP with v itself is all.",
)
def jvp_from_the_jacobian(Ws, v):
    columns = []
    for e in np.eye(len(v)):
        for W in Ws:
            e = W @ e
        columns.append(e)
    return np.stack(columns, axis=1) @ v


@misconception("jvp_chain", says="The last matrix comes first in your loop. W_1 stands next to x, so v meets it first.")
def jvp_in_reverse_order(Ws, v):
    for W in reversed(Ws):
        v = W @ v
    return v


@misconception(
    "jvp_chain",
    says="This is the VJP: it starts at the output's end, with transposes. A JVP starts at the input's end: v = W @ v.",
)
def jvp_is_the_vjp(Ws, v):
    for W in reversed(Ws):
        v = W.T @ v
    return v


@misconception("jvp_chain", says="The matrices are transposed. A JVP multiplies by W itself: v = W @ v.")
def jvp_transposed(Ws, v):
    for W in Ws:
        v = W.T @ v
    return v


@misconception(
    "jvp_chain",
    says="Every matrix meets the original v, and only the last product is kept. Each product is the next one's vector: "
    "v = W @ v.",
)
def jvp_not_passed_on(Ws, v):
    y = v
    for W in Ws:
        y = W @ v
    return y


@misconception(
    "jvp_chain",
    says="Only the first matrix is used: with `return` inside of the loop, the loop ends there. An empty chain gives "
    "None.",
)
def jvp_returned_in_the_loop(Ws, v):
    for W in Ws:
        return W @ v
    return None


@misconception("jvp_chain", says="The last matrix of the chain is left out.")
def jvp_without_the_last(Ws, v):
    for W in Ws[:-1]:
        v = W @ v
    return v


@misconception(
    "jvp_chain",
    says="The result is a column of shape (n, 1). A vector in, a vector out: shape (n,).",
)
def jvp_as_a_column(Ws, v):
    v = v.reshape(-1, 1)
    for W in Ws:
        v = W @ v
    return v


@misconception(
    "vjp_chain",
    says="You multiply the matrices first, and the vector last. A product of two n × n matrices takes n³ "
    "multiply–adds, one with a vector n²: start with the vector.",
)
def vjp_matrices_first(Ws, u):
    J = np.eye(len(u)) if not Ws else Ws[0]
    for W in Ws[1:]:
        J = W @ J
    return u @ J


@misconception(
    "vjp_chain",
    says="The Jacobian is built row by row, by one VJP for each basis vector, and then multiplied by u. A single VJP "
    "with u itself is all.",
)
def vjp_from_the_jacobian(Ws, u):
    rows = []
    for e in np.eye(len(u)):
        for W in reversed(Ws):
            e = W.T @ e
        rows.append(e)
    return u @ np.stack(rows)


@misconception(
    "vjp_chain",
    says="The first matrix comes first in your loop. u stands at the output's end, next to W_k: begin there.",
)
def vjp_in_forward_order(Ws, u):
    for W in Ws:
        u = W.T @ u
    return u


@misconception(
    "vjp_chain",
    says="The order is right, but the transpose is missing. u on the left of W is W.T @ u, or u @ W.",
)
def vjp_not_transposed(Ws, u):
    for W in reversed(Ws):
        u = W @ u
    return u


@misconception(
    "vjp_chain",
    says="This is the JVP: it starts at the input's end. A VJP starts at the output's end: u @ W_k first.",
)
def vjp_is_the_jvp(Ws, u):
    for W in Ws:
        u = W @ u
    return u


@misconception(
    "vjp_chain",
    says="Every matrix meets the original u, and only the last product is kept. Each product is the next one's vector: "
    "u = W.T @ u.",
)
def vjp_not_passed_on(Ws, u):
    y = u
    for W in reversed(Ws):
        y = W.T @ u
    return y


@misconception(
    "vjp_chain",
    says="Only the last matrix is used: with `return` inside of the loop, the loop ends there. An empty chain gives "
    "None.",
)
def vjp_returned_in_the_loop(Ws, u):
    for W in reversed(Ws):
        return W.T @ u
    return None


@misconception("vjp_chain", says="The first matrix of the chain, W_1, is left out.")
def vjp_without_the_first(Ws, u):
    for W in reversed(Ws[1:]):
        u = W.T @ u
    return u


@misconception(
    "vjp_chain",
    says="Ws.reverse() turns the caller's list around. reversed(Ws) leaves it as it is.",
)
def vjp_reverses_the_list(Ws, u):
    Ws.reverse()
    for W in Ws:
        u = W.T @ u
    return u


@misconception(
    "vjp_chain",
    says="The result is a row of shape (1, n). A vector in, a vector out: shape (n,).",
)
def vjp_as_a_row(Ws, u):
    u = u.reshape(1, -1)
    for W in reversed(Ws):
        u = u @ W
    return u


# jacobian_cost


def _one_pass(dims):
    return sum(n * m for n, m in pairwise(dims))


def _passes(dims, mode):
    return dims[0] if mode == "forward" else dims[-1]


@misconception(
    "jacobian_cost",
    says="The two modes are swapped. A JVP gives a column, and there are n_0 of them; a VJP gives a row, and there are "
    "n_k.",
)
def modes_swapped(dims, mode):
    return _one_pass(dims) * (dims[-1] if mode == "forward" else dims[0])


@misconception(
    "jacobian_cost",
    says="This is one pass. The whole Jacobian takes one for each column, n_0, or one for each row, n_k.",
)
def one_pass_only(dims, mode):
    return _one_pass(dims)


@misconception(
    "jacobian_cost",
    says="The first product of each pass is missing. It is with a basis vector, mostly zeros, but it counts in full "
    "here.",
)
def first_product_free(dims, mode):
    rest = dims[1:] if mode == "forward" else dims[:-1]
    return _passes(dims, mode) * _one_pass(rest)


@misconception(
    "jacobian_cost",
    says="The last matrix is left out. From n_0 to n_k there are k matrices: one for each two neighbours in dims.",
)
def last_matrix_left_out(dims, mode):
    return _passes(dims, mode) * _one_pass(dims[:-1])


@misconception("jacobian_cost", says="These are FLOPs: a multiply and an add. Count each multiply–add once.")
def counts_flops(dims, mode):
    return 2 * _passes(dims, mode) * _one_pass(dims)


@misconception(
    "jacobian_cost",
    says="All widths are multiplied with each other. Each product costs n_i · n_{i+1}, and the costs of a pass add up.",
)
def product_of_all_widths(dims, mode):
    return _passes(dims, mode) * math.prod(dims)


@misconception(
    "jacobian_cost",
    says="A matrix costs n_i + n_{i+1} here. Each of its n_i · n_{i+1} entries takes one multiply–add.",
)
def sums_of_widths(dims, mode):
    return _passes(dims, mode) * sum(n + m for n, m in pairwise(dims))


@misconception("jacobian_cost", says="This is what the cheaper mode costs, whichever mode was asked for.")
def always_the_cheaper(dims, mode):
    return min(dims[0], dims[-1]) * _one_pass(dims)


@misconception(
    "jacobian_cost",
    says="NumPy's integers have 64 bits, and overflow beyond 9.2e18 without a word. Compute with Python's own int.",
)
def overflows(dims, mode):
    widths = np.array(dims)
    with np.errstate(all="ignore"):
        return int(_passes(widths, mode) * np.sum(widths[:-1] * widths[1:]))


@misconception("jacobian_cost", says="A float holds 16 digits: large counts are rounded. Stay with int throughout.")
def through_a_float(dims, mode):
    return int(float(_passes(dims, mode)) * float(_one_pass(dims)))


# cheaper_mode


@misconception(
    "cheaper_mode",
    says="The wrong way round. With few inputs there are few columns, and forward mode makes a column in each pass.",
)
def the_dearer_mode(dims):
    return "forward" if dims[0] > dims[-1] else "reverse"


@misconception("cheaper_mode", says='A tie is "reverse": forward mode must be cheaper, not as cheap.')
def forward_in_a_tie(dims):
    return "forward" if dims[0] <= dims[-1] else "reverse"


@misconception(
    "cheaper_mode",
    says="Reverse mode does not always win. It wins for a loss, one output; with fewer inputs than outputs, forward "
    "does.",
)
def always_reverse(dims):
    return "reverse"


@misconception("cheaper_mode", says="Forward mode does not always win: with many inputs it takes many passes.")
def always_forward(dims):
    return "forward"


@misconception(
    "cheaper_mode",
    says="You compare the input's width with the next one. It is the output's width, at the other end, that counts.",
)
def compares_neighbours(dims):
    return "forward" if dims[0] < dims[1] else "reverse"


@misconception(
    "cheaper_mode",
    says="You compare the first product with the last one. Every pass goes through all of them, in both modes: only "
    "the number of passes differs.",
)
def compares_the_end_products(dims):
    return "forward" if dims[0] * dims[1] < dims[-1] * dims[-2] else "reverse"


# Dual


def _parts(number: Any) -> tuple[Any, Any]:
    """Value and tangent of a Dual, or of a number, which is a constant."""
    return getattr(number, "value", number), getattr(number, "tangent", 0.0)


@misconception(
    "Dual",
    says="The sum is written into the left operand, which the caller may still need. Make a new Dual.",
    replaces="Dual.__add__",
)
def adds_in_place(self, other):
    value, tangent = _parts(other)
    self.value += value
    self.tangent += tangent
    return self


@misconception(
    "Dual", says="The tangent of -x is that of x, with the sign changed: -self.tangent.", replaces="Dual.__neg__"
)
def tangent_not_negated(self):
    return type(self)(-self.value, self.tangent)


@misconception(
    "Dual",
    says="A difference takes the tangents' difference, too, not their sum. Where - is made of + and unary minus, look "
    "at __neg__.",
    replaces="Dual.__sub__",
)
def tangents_added_in_a_difference(self, other):
    value, tangent = _parts(other)
    return type(self)(self.value - value, self.tangent + tangent)


@misconception(
    "Dual",
    says="__rsub__ is called for other - self: the number stands on the left. You return self - other.",
    replaces="Dual.__rsub__",
)
def difference_not_reversed(self, other):
    return self - other


@misconception(
    "Dual",
    says="The tangents are multiplied with each other. The product rule adds two terms: each tangent times the other "
    "value.",
    replaces="Dual.__mul__",
)
def product_of_tangents(self, other):
    value, tangent = _parts(other)
    return type(self)(self.value * value, self.tangent * tangent)


@misconception(
    "Dual",
    says="One term of the product rule is missing. Both factors may change: the second one's tangent counts as well.",
    replaces="Dual.__mul__",
)
def product_rule_with_one_term(self, other):
    value, _ = _parts(other)
    return type(self)(self.value * value, self.tangent * value)


@misconception(
    "Dual",
    says="Each tangent is multiplied by its own value. It is the other value that stays: x′y + xy′.",
    replaces="Dual.__mul__",
)
def tangents_times_their_own_values(self, other):
    value, tangent = _parts(other)
    return type(self)(self.value * value, self.tangent * self.value + value * tangent)


@misconception(
    "Dual",
    says="The quotient rule divides by the square of the denominator: (x′y − xy′) / y².",
    replaces="Dual.__truediv__",
)
def quotient_without_the_square(self, other):
    value, tangent = _parts(other)
    return type(self)(self.value / value, (self.tangent * value - self.value * tangent) / value)


@misconception(
    "Dual",
    says="The numerator of the quotient rule has the wrong sign: x′y − xy′, the numerator's own tangent first.",
    replaces="Dual.__truediv__",
)
def quotient_with_the_wrong_sign(self, other):
    value, tangent = _parts(other)
    return type(self)(self.value / value, (self.value * tangent - self.tangent * value) / value**2)


@misconception(
    "Dual",
    says="The quotient rule has a minus where you have a plus: (x′y − xy′) / y².",
    replaces="Dual.__truediv__",
)
def quotient_with_a_plus(self, other):
    value, tangent = _parts(other)
    return type(self)(self.value / value, (self.tangent * value + self.value * tangent) / value**2)


@misconception(
    "Dual",
    says="The denominator is treated as a constant. Its tangent counts as well: (x′y − xy′) / y².",
    replaces="Dual.__truediv__",
)
def constant_denominator(self, other):
    value, _ = _parts(other)
    return type(self)(self.value / value, self.tangent / value)


@misconception(
    "Dual",
    says="__rtruediv__ is called for other / self: the number stands on top. You return self / other.",
    replaces="Dual.__rtruediv__",
)
def quotient_not_reversed(self, other):
    return self / other


def _power(x, other, slope, through_exponent=True):
    """x ** other with `slope(value, n)` for the derivative of value ** n; right but for that."""
    n, tangent = _parts(other)
    result = slope(x.value, n) * x.tangent
    if tangent and through_exponent:
        result += math.log(x.value) * x.value**n * tangent
    return type(x)(x.value**n, result)


def _slope(value, n):
    return n * value ** (n - 1) if n else 0.0


@misconception(
    "Dual", says="The exponent comes down, but is not lowered: the slope of xⁿ is n xⁿ⁻¹.", replaces="Dual.__pow__"
)
def exponent_not_lowered(self, other):
    return _power(self, other, lambda value, n: n * value**n)


@misconception(
    "Dual",
    says="The factor n is missing in the slope of xⁿ: it is n xⁿ⁻¹.",
    replaces="Dual.__pow__",
)
def exponent_does_not_come_down(self, other):
    return _power(self, other, lambda value, n: value ** (n - 1) if n else 0.0)


@misconception(
    "Dual",
    says="The slope n xⁿ⁻¹ is right, but it is not multiplied by the tangent of x: the chain rule.",
    replaces="Dual.__pow__",
)
def power_without_the_tangent(self, other):
    n, tangent = _parts(other)
    result = _slope(self.value, n) + (math.log(self.value) * self.value**n * tangent if tangent else 0.0)
    return type(self)(self.value**n, result)


@misconception(
    "Dual",
    says="In x ** n with a number n the slope n xⁿ⁻¹ is right, but it is not multiplied by the tangent of x: the chain "
    "rule.",
    replaces="Dual.__pow__",
)
def power_of_a_number_without_the_tangent(self, other):
    if hasattr(other, "value"):
        return _power(self, other, _slope)
    return type(self)(self.value**other, _slope(self.value, other))


@misconception(
    "Dual",
    says="x ** n goes through log(x) even where n is a number, and a negative number or 0 has no logarithm. For a "
    "number, use n xⁿ⁻¹.",
    replaces="Dual.__pow__",
)
def power_through_the_logarithm(self, other):
    n, tangent = _parts(other)
    value = self.value**n
    return type(self)(value, value * (tangent * math.log(self.value) + n * self.tangent / self.value))


@misconception(
    "Dual",
    says="x ** 0 at x = 0: your slope is 0 · 0⁻¹, and 0⁻¹ does not exist. With n = 0 the tangent is 0.",
    replaces="Dual.__pow__",
)
def zeroth_power_of_zero(self, other):
    return _power(self, other, lambda value, n: n * value ** (n - 1))


@misconception(
    "Dual",
    says="The exponent is treated as a constant. Where it is a Dual, its tangent adds log(x) · xʸ · y′.",
    replaces="Dual.__pow__",
)
def constant_exponent(self, other):
    return _power(self, other, _slope, through_exponent=False)


@misconception(
    "Dual",
    says="Your __pow__ takes the exponent for a number, but it can be a Dual: 2 ** x and x ** y. For a Dual y, xʸ has "
    "the tangent y xʸ⁻¹ x′ + log(x) xʸ y′, from plain numbers: y is other.value there.",
    replaces="Dual.__pow__",
)
def exponent_taken_for_a_number(self, other):
    slope = other * self.value ** (other - 1) if other != 0 else 0.0
    return type(self)(self.value**other, slope * self.tangent)


@misconception(
    "Dual",
    says="log(x) is missing in the term of the exponent: the derivative of xʸ with respect to y is log(x) · xʸ.",
    replaces="Dual.__pow__",
)
def exponent_without_the_logarithm(self, other):
    n, tangent = _parts(other)
    return type(self)(self.value**n, _slope(self.value, n) * self.tangent + self.value**n * tangent)


@misconception(
    "Dual",
    says="__rpow__ is called for other ** self: the number is the base. You return self ** other.",
    replaces="Dual.__rpow__",
)
def power_not_reversed(self, other):
    return self**other


@misconception(
    "Dual", says="The tangent of the sine is the cosine alone. Multiply it by the tangent of x.", replaces="Dual.sin"
)
def sine_without_the_tangent(self):
    return type(self)(math.sin(self.value), math.cos(self.value))


@misconception("Dual", says="The derivative of sin is cos, without a minus: that is cos′ = −sin.", replaces="Dual.sin")
def sine_with_a_minus(self):
    return type(self)(math.sin(self.value), -math.cos(self.value) * self.tangent)


@misconception(
    "Dual",
    says="The function is applied to the tangent. A tangent is multiplied by the derivative at the value: cos(x) · x′.",
    replaces="Dual.sin",
)
def sine_of_the_tangent(self):
    return type(self)(math.sin(self.value), math.cos(self.tangent))


@misconception("Dual", says="The tangent of exp is exp(x) alone. Multiply it by the tangent of x.", replaces="Dual.exp")
def exponential_without_the_tangent(self):
    return type(self)(math.exp(self.value), math.exp(self.value))


@misconception(
    "Dual", says="The tangent goes through exp unchanged. Multiply it by the derivative, exp(x).", replaces="Dual.exp"
)
def exponential_keeps_the_tangent(self):
    return type(self)(math.exp(self.value), self.tangent)


@misconception("Dual", says="The tangent of log is 1/x alone. Multiply it by the tangent of x.", replaces="Dual.log")
def logarithm_without_the_tangent(self):
    return type(self)(math.log(self.value), 1 / self.value)


class _Dual:
    """Right dual numbers."""

    def __init__(self, value, tangent=0.0):
        self.value = value
        self.tangent = tangent

    def __add__(self, other):
        value, tangent = _parts(other)
        return type(self)(self.value + value, self.tangent + tangent)

    def __mul__(self, other):
        value, tangent = _parts(other)
        return type(self)(self.value * value, self.tangent * value + self.value * tangent)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self):
        return type(self)(-self.value, -self.tangent)

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return other + -self

    def __pow__(self, other):
        return _power(self, other, _slope)

    def __rpow__(self, other):
        return type(self)(other) ** self

    def __truediv__(self, other):
        return self * other**-1

    def __rtruediv__(self, other):
        return other * self**-1

    def sin(self):
        return type(self)(math.sin(self.value), math.cos(self.value) * self.tangent)

    def exp(self):
        return type(self)(math.exp(self.value), math.exp(self.value) * self.tangent)

    def log(self):
        return type(self)(math.log(self.value), self.tangent / self.value)


@misconception(
    "Dual",
    says="sin, exp and log have the derivative alone for a tangent. The chain rule: multiply it by the tangent of x.",
)
class functions_without_the_tangent(_Dual):  # noqa: N801
    def sin(self):
        return type(self)(math.sin(self.value), math.cos(self.value))

    def exp(self):
        return type(self)(math.exp(self.value), math.exp(self.value))

    def log(self):
        return type(self)(math.log(self.value), 1 / self.value)


@misconception(
    "Dual",
    says="A plain number has neither value nor tangent. Lift it at the start of each operation: other = lift(other).",
)
class numbers_not_lifted(_Dual):  # noqa: N801
    def __add__(self, other):
        return type(self)(self.value + other.value, self.tangent + other.tangent)

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return type(self)(self.value - other.value, self.tangent - other.tangent)

    def __rsub__(self, other):
        return other - self.value

    def __mul__(self, other):
        return type(self)(self.value * other.value, self.tangent * other.value + self.value * other.tangent)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        tangent = (self.tangent * other.value - self.value * other.tangent) / other.value**2
        return type(self)(self.value / other.value, tangent)

    def __rtruediv__(self, other):
        return other / self.value


# derivative


@misconception("derivative", says="This is f(x). The derivative is the tangent of what f returns.")
def the_value(f, x):
    return float(_parts(f(_Dual(x, 1.0)))[0])


@misconception(
    "derivative",
    says="The tangent of x is never set, so everything is constant and the derivative is 0. dx/dx is 1: Dual(x, 1.0).",
)
def no_seed(f, x):
    return float(_parts(f(_Dual(x)))[1])


@misconception("derivative", says="The tangent starts as x. dx/dx is 1: start from Dual(x, 1.0).")
def seeded_with_x(f, x):
    return float(_parts(f(_Dual(x, x)))[1])


@misconception("derivative", says="You return a Dual. The derivative is its tangent, a float.")
def returns_a_dual(f, x):
    return f(_Dual(x, 1.0))


@misconception(
    "derivative",
    says="A constant f returns a plain number, and that has no tangent. Its derivative is 0.0.",
)
def constants_have_no_tangent(f, x):
    return float(f(_Dual(x, 1.0)).tangent)


@misconception(
    "derivative",
    says="This is a finite difference: it is off by some 1e-10, and f takes a Dual, not a number. Run f once, on "
    "Dual(x, 1.0).",
)
def by_differences(f, x):
    return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6


# jacobian_from_jvp and jacobian_from_vjp


@misconception(
    "jacobian_from_jvp",
    says="The Jacobian is transposed. A JVP with a basis vector is a column: stack them along axis 1.",
)
def columns_as_rows(jvp, n_in):
    return np.stack([jvp(e) for e in np.eye(n_in)])


@misconception(
    "jacobian_from_jvp",
    says="One call more than needed, to learn the number of outputs. Collect the columns in a list and stack them: "
    "each has it.",
)
def jvp_called_for_the_shape(jvp, n_in):
    J = np.zeros((len(jvp(np.zeros(n_in))), n_in))
    for j, e in enumerate(np.eye(n_in)):
        J[:, j] = jvp(e)
    return J


@misconception(
    "jacobian_from_jvp",
    says="A JVP with all ones is the sum of the columns. Take one basis vector at a time: a single 1, the rest 0.",
)
def jvp_with_ones(jvp, n_in):
    return np.stack([jvp(np.ones(n_in)) for _ in range(n_in)], axis=1)


@misconception(
    "jacobian_from_jvp",
    says="The 1 of the last basis vector is still there when the next one is set, so the columns add up. Start each "
    "vector from zeros.",
)
def columns_add_up(jvp, n_in):
    e, columns = np.zeros(n_in), []
    for j in range(n_in):
        e[j] = 1
        columns.append(jvp(e.copy()))
    return np.stack(columns, axis=1)


@misconception(
    "jacobian_from_jvp",
    says="A JVP is linear: it needs no differences. jvp(e) alone is the column, in half the calls.",
)
def differences_of_jvps(jvp, n_in):
    return np.stack([(jvp(e) - jvp(-e)) / 2 for e in np.eye(n_in)], axis=1)


@misconception(
    "jacobian_from_vjp",
    says="The Jacobian is transposed. A VJP with a basis vector is a row: stack them along axis 0.",
)
def rows_as_columns(vjp, n_out):
    return np.stack([vjp(e) for e in np.eye(n_out)], axis=1)


@misconception(
    "jacobian_from_vjp",
    says="One call more than needed, to learn the number of inputs. Collect the rows in a list and stack them: each "
    "has it.",
)
def vjp_called_for_the_shape(vjp, n_out):
    J = np.zeros((n_out, len(vjp(np.zeros(n_out)))))
    for i, e in enumerate(np.eye(n_out)):
        J[i] = vjp(e)
    return J


@misconception(
    "jacobian_from_vjp",
    says="A VJP with all ones is the sum of the rows. Take one basis vector at a time: a single 1, the rest 0.",
)
def vjp_with_ones(vjp, n_out):
    return np.stack([vjp(np.ones(n_out)) for _ in range(n_out)])


@misconception(
    "jacobian_from_vjp",
    says="The 1 of the last basis vector is still there when the next one is set, so the rows add up. Start each "
    "vector from zeros.",
)
def rows_add_up(vjp, n_out):
    u, rows = np.zeros(n_out), []
    for i in range(n_out):
        u[i] = 1
        rows.append(vjp(u.copy()))
    return np.stack(rows)


@misconception(
    "jacobian_from_vjp",
    says="A VJP is linear: it needs no differences. vjp(e) alone is the row, in half the calls.",
)
def differences_of_vjps(vjp, n_out):
    return np.stack([(vjp(e) - vjp(-e)) / 2 for e in np.eye(n_out)])


# gradcheck


def _close(gradient, expected):
    """Right: the shape, and each entry by a relative and a small absolute tolerance."""
    return np.shape(gradient) == expected.shape and bool(np.allclose(gradient, expected, rtol=1e-5, atol=1e-8))


def _numerical(f, g, inputs, i, eps=1e-6, one_sided=False, weighted=True):
    """The gradient of (g * f).sum() with respect to input i, right with its defaults."""

    def objective(x):
        outputs = f(*inputs[:i], x, *inputs[i + 1 :])
        return np.sum(g * outputs) if weighted else np.sum(outputs)

    x = inputs[i]
    if one_sided:
        return _differences(objective, x, eps, lambda x, step: (objective(x + step) - objective(x)) / eps)
    return _differences(objective, x, eps, lambda x, step: (objective(x + step) - objective(x - step)) / (2 * eps))


def _verdicts(f, vjp, inputs, g, close=_close, **numerical):
    """Whether each input's gradient is right, in order."""
    gradients = vjp(g, *inputs)
    if len(gradients) != len(inputs):
        return [False]
    return [close(gradients[i], _numerical(f, g, inputs, i, **numerical)) for i in range(len(inputs))]


def _checked(f, vjp, inputs, rng, close=_close, **numerical):
    """A right gradient checker, but for `close` and the options of `_numerical`."""
    g = rng.normal(size=np.shape(f(*inputs)))
    return all(_verdicts(f, vjp, inputs, g, close, **numerical))


def _same_shape(close):
    """`close` where the shapes are equal, else False."""
    return lambda gradient, expected: np.shape(gradient) == expected.shape and bool(close(gradient, expected))


@misconception(
    "gradcheck",
    says="g is all ones, which hides mistakes: a VJP that ignores g is right for it, and every VJP of a softmax that "
    "gives 0. Draw g at random.",
)
def ones_for_g(f, vjp, inputs, rng):
    return all(_verdicts(f, vjp, inputs, np.ones(np.shape(f(*inputs)))))


@misconception(
    "gradcheck",
    says="g is one random number for all outputs. What is wrong in how they are weighted against each other stays "
    "hidden: draw one for each.",
)
def one_number_for_g(f, vjp, inputs, rng):
    return all(_verdicts(f, vjp, inputs, rng.normal() * np.ones(np.shape(f(*inputs)))))


@misconception(
    "gradcheck",
    says="g picks the first output only. A VJP may be wrong in all others: draw a random g for all outputs.",
)
def first_output_only(f, vjp, inputs, rng):
    g = np.zeros(np.shape(f(*inputs)))
    g.flat[0] = rng.normal()
    return all(_verdicts(f, vjp, inputs, g))


@misconception(
    "gradcheck",
    says="The differences are of f's plain sum, the VJP is with g: right VJPs are rejected. Differentiate "
    "(g * f(*inputs)).sum().",
)
def differences_without_g(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, weighted=False)


@misconception(
    "gradcheck",
    says="The differences are one-sided. Where f is curved they are off by eps · f″/2, and a right VJP is rejected: "
    "take central ones.",
)
def one_sided_differences(f, vjp, inputs, rng):
    close = _same_shape(lambda a, n: np.allclose(a, n, rtol=1e-3, atol=1e-8 + 1e-3 * np.abs(n).max(initial=0.0)))
    return _checked(f, vjp, inputs, rng, close, one_sided=True)


@misconception(
    "gradcheck",
    says="The step is so large that central differences are off where f changes fast. Use about 1e-6.",
)
def step_too_large(f, vjp, inputs, rng):
    close = _same_shape(lambda a, n: np.allclose(a, n, rtol=2e-3, atol=1e-8))
    return _checked(f, vjp, inputs, rng, close, eps=1e-2)


@misconception(
    "gradcheck",
    says="Right VJPs are rejected: central differences have nine digits or so, and fewer with a step below 1e-8. Ask "
    "for about five.",
)
def tolerance_too_tight(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, _same_shape(lambda a, n: np.allclose(a, n, rtol=1e-13, atol=1e-15)))


@misconception(
    "gradcheck",
    says="The tolerance is so large that a mistake of one percent passes. Central differences are good to nine digits "
    "or so: ask for about five.",
)
def tolerance_too_loose(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, _same_shape(lambda a, n: np.allclose(a, n, rtol=0.1, atol=1e-8)))


@misconception(
    "gradcheck",
    says="The tolerance is absolute: it passes everything that is small, and rejects what is right and large. Compare "
    "relative to the size of the gradient.",
)
def absolute_tolerance(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, _same_shape(lambda a, n: np.allclose(a, n, rtol=0.0, atol=1e-5)))


@misconception(
    "gradcheck",
    says="The absolute tolerance is larger than the gradients themselves can be, so anything small passes. Keep it to "
    "1e-8 or so, next to a relative one.",
)
def large_absolute_tolerance(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, _same_shape(lambda a, n: np.allclose(a, n, rtol=1e-5, atol=1e-5)))


@misconception(
    "gradcheck",
    says="The error is divided by the gradient's size, and 0 / 0 is nan where both gradients are 0. Write "
    "|a − n| ≤ rtol · |n| + atol instead of a quotient.",
)
def zero_by_zero(f, vjp, inputs, rng):
    def close(a, n):
        with np.errstate(all="ignore"):
            return np.all(np.abs(a - n) / (np.abs(a) + np.abs(n)) < 1e-5)

    return _checked(f, vjp, inputs, rng, _same_shape(close))


@misconception(
    "gradcheck",
    says="Where the gradient is 0, differences are still off by about 1e-10, and relative to that 0 anything is too "
    "much. Allow an absolute error of 1e-9 or so as well.",
)
def no_room_for_rounding(f, vjp, inputs, rng):
    close = _same_shape(lambda a, n: np.all(np.abs(a - n) <= 1e-5 * (np.abs(a) + np.abs(n))))
    return _checked(f, vjp, inputs, rng, close)


@misconception(
    "gradcheck", says="Only the first input's gradient is checked. Check those of all inputs, one after the other."
)
def first_input_only(f, vjp, inputs, rng):
    return _verdicts(f, vjp, inputs, rng.normal(size=np.shape(f(*inputs))))[0]


@misconception(
    "gradcheck",
    says="Each input's result replaces the one before, so only the last one counts. Return False at the first gradient "
    "that is wrong.",
)
def last_input_only(f, vjp, inputs, rng):
    return _verdicts(f, vjp, inputs, rng.normal(size=np.shape(f(*inputs))))[-1]


@misconception("gradcheck", says="One right gradient is enough for True in your check. All of them must be right.")
def any_input(f, vjp, inputs, rng):
    return any(_verdicts(f, vjp, inputs, rng.normal(size=np.shape(f(*inputs)))))


@misconception("gradcheck", says="Only the first entry of each gradient is compared. Compare all of them.")
def first_entry_only(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, _same_shape(lambda a, n: _close(np.ravel(a)[:1], np.ravel(n)[:1])))


@misconception(
    "gradcheck",
    says="One right entry is enough for True in your check. All of them must be right: np.all, not np.any.",
)
def any_entry(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, _same_shape(lambda a, n: np.isclose(a, n, rtol=1e-5, atol=1e-8).any()))


@misconception(
    "gradcheck",
    says="The norms of the two gradients are compared. Equal norms say nothing about the direction, not even the sign: "
    "take the norm of the difference.",
)
def norms_only(f, vjp, inputs, rng):
    return _checked(
        f, vjp, inputs, rng, _same_shape(lambda a, n: _close(np.linalg.norm(a), np.asarray(np.linalg.norm(n))))
    )


@misconception(
    "gradcheck",
    says="The sums of the two gradients are compared, where mistakes cancel. Compare entry by entry.",
)
def sums_only(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, _same_shape(lambda a, n: _close(np.sum(a), np.asarray(np.sum(n)))))


@misconception(
    "gradcheck",
    says="The directions are compared, not the lengths: a gradient that is twice too large passes. Compare entry by "
    "entry.",
)
def directions_only(f, vjp, inputs, rng):
    def close(a, n):
        lengths = np.linalg.norm(a) * np.linalg.norm(n)
        return np.sum(a * n) >= (1 - 1e-9) * lengths if lengths else np.linalg.norm(a) == 0

    return _checked(f, vjp, inputs, rng, _same_shape(close))


@misconception(
    "gradcheck",
    says="A difference in size does not count for you if it is negative: compare |a − n|, not a − n.",
)
def without_the_absolute_value(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, _same_shape(lambda a, n: np.all(a - n <= 1e-5 * np.abs(n) + 1e-8)))


@misconception(
    "gradcheck",
    says="The shapes are not compared. NumPy broadcasts (3,) against (1, 3), and where it cannot it raises: compare "
    "np.shape(gradient) with x.shape first.",
)
def shapes_broadcast(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, lambda a, n: bool(np.allclose(a, n, rtol=1e-5, atol=1e-8)))


@misconception(
    "gradcheck",
    says="The gradients are flattened before they are compared, so a wrong shape passes, or raises. Compare "
    "np.shape(gradient) with x.shape first.",
)
def shapes_flattened(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, lambda a, n: bool(np.allclose(np.ravel(a), n.ravel(), rtol=1e-5, atol=1e-8)))


@misconception(
    "gradcheck",
    says="zip stops at the shorter one: a gradient that is missing is never looked at. Compare the lengths first, or "
    "zip with strict=True in mind.",
)
def missing_gradients_pass(f, vjp, inputs, rng):
    g = rng.normal(size=np.shape(f(*inputs)))
    gradients = vjp(g, *inputs)
    return all(_close(gradient, _numerical(f, g, inputs, i)) for i, gradient in enumerate(gradients))


@misconception(
    "gradcheck",
    says="A gradient may be missing, and gradients[i] then raises. Compare len(gradients) with len(inputs) first: the "
    "answer is False.",
)
def missing_gradients_raise(f, vjp, inputs, rng):
    g = rng.normal(size=np.shape(f(*inputs)))
    gradients = vjp(g, *inputs)
    return all(_close(gradients[i], _numerical(f, g, inputs, i)) for i in range(len(inputs)))


@misconception(
    "gradcheck",
    says="zip with strict=True raises where a gradient is missing. Compare the lengths first: the answer is False.",
)
def strict_zip_raises(f, vjp, inputs, rng):
    g = rng.normal(size=np.shape(f(*inputs)))
    pairs = zip(vjp(g, *inputs), range(len(inputs)), strict=True)
    return all(_close(gradient, _numerical(f, g, inputs, i)) for gradient, i in pairs)


@misconception(
    "gradcheck",
    says="A nan passes: every comparison with nan is false, so `if error > tolerance: return False` never fires. Ask "
    "whether the error is within the tolerance instead.",
)
def nan_passes(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, rng, _same_shape(lambda a, n: not np.any(np.abs(a - n) > 1e-5 * np.abs(n) + 1e-8)))


@misconception(
    "gradcheck",
    says="The random numbers do not come from rng, so every run is another one. Draw g from rng.",
)
def another_generator(f, vjp, inputs, rng):
    return _checked(f, vjp, inputs, np.random.default_rng())


@misconception(
    "gradcheck",
    says="The inputs are moved in place and moved back by arithmetic, which rounds: they come back a little different. "
    "Work on copies.",
)
def inputs_moved_in_place(f, vjp, inputs, rng):
    g = rng.normal(size=np.shape(f(*inputs)))
    gradients = vjp(g, *inputs)
    if len(gradients) != len(inputs):
        return False
    for x, gradient in zip(inputs, gradients, strict=True):
        expected = np.zeros_like(x)
        for index in np.ndindex(x.shape):
            x[index] += 1e-6
            up = np.sum(g * f(*inputs))
            x[index] -= 2e-6
            expected[index] = (up - np.sum(g * f(*inputs))) / 2e-6
            x[index] += 1e-6
        if not _close(gradient, expected):
            return False
    return True


@misconception("gradcheck", says="Your check never says False, so it checks nothing. A wrong VJP must fail.")
def always_true(f, vjp, inputs, rng):
    return True


@misconception("gradcheck", says="Your check never says True. A right VJP must pass.")
def always_false(f, vjp, inputs, rng):
    return False
