"""Wrong answers that learners give in ch02_chain_rule, each one mistake away from right, with what to say about it.

In capitals: what several of them say, and lines of the reference that several of them change.
"""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception, mistake

# numerical_gradient

ZEROS = "gradient = np.zeros(x.shape)"
STEP = "step = np.zeros(x.shape)\nstep[index] = eps"
CENTRAL = "gradient[index] = (f(x + step) - f(x - step)) / (2 * eps)"


def _entry(value):
    """Another value in the place of the central difference."""
    return {CENTRAL: f"gradient[index] = {value}"}


one_sided = mistake(
    "numerical_gradient",
    _entry("(f(x + step) - f(x)) / eps"),
    says="The differences are one-sided: (f(x + eps) − f(x)) / eps is off by about eps · f″/2. Step both ways, and the "
    "two errors cancel.",
)

one_sided_from_one_value = mistake(
    "numerical_gradient",
    {ZEROS: f"here = f(x)\n{ZEROS}", **_entry("(f(x + step) - here) / eps")},
    says="The differences are one-sided, from a value at x that is kept. That saves calls and costs digits: the error "
    "is about eps · f″/2. Step both ways, and the two errors cancel.",
)

divided_by_eps = mistake(
    "numerical_gradient",
    _entry("(f(x + step) - f(x - step)) / eps"),
    says="From x − eps to x + eps it is 2·eps: divide by that, not by eps.",
)

second_value_divided = mistake(
    "numerical_gradient",
    _entry("f(x + step) - f(x - step) / (2 * eps)"),
    says="Only the second value is divided, as / comes before −. Put the difference into parentheses: "
    "(f(x + eps) − f(x − eps)) / (2 * eps).",
)

multiplied_by_eps = mistake(
    "numerical_gradient",
    _entry("(f(x + step) - f(x - step)) / 2 * eps"),
    says="`/ 2 * eps` divides by 2 and multiplies by eps. The distance between the points needs parentheses: / (2 * "
    "eps).",
)

not_divided = mistake(
    "numerical_gradient",
    _entry("f(x + step) - f(x - step)"),
    says="The differences are not divided by the distance between the points, 2·eps.",
)

minus_the_gradient = mistake(
    "numerical_gradient",
    _entry("(f(x - step) - f(x + step)) / (2 * eps)"),
    says="The sign is the wrong way round: f(x + eps) − f(x − eps).",
)

all_entries_at_once = mistake(
    "numerical_gradient",
    _entry("(f(x + eps) - f(x - eps)) / (2 * eps)"),
    says="All entries are moved at once, which gives the sum of the gradient's entries. Move one entry at a time.",
)


@misconception(
    "numerical_gradient",
    says="All entries are moved at once, which gives one number, the sum of the gradient's entries. Move one entry at "
    "a time, and fill an array of the shape of x.",
)
def one_number_for_all_entries(f, x, eps=1e-6):
    return (f(x + eps) - f(x - eps)) / (2 * eps)


entries_stay_moved = mistake(
    "numerical_gradient",
    {CENTRAL: f"{CENTRAL}\nx = x - step"},
    says="An entry that was moved stays moved, so the next differences are taken at another point. Start each entry "
    "from x itself.",
)

step_not_cleared = mistake(
    "numerical_gradient",
    {ZEROS: f"{ZEROS}\nstep = np.zeros(x.shape)", STEP: "step[index] = eps"},
    says="The step keeps the entries of the rounds before, so each entry moves together with all before it. Start each "
    "step from zeros.",
)

gradient_cleared = mistake(
    "numerical_gradient",
    {STEP: f"{ZEROS}\n{STEP}"},
    says="The array for the gradient is made anew in each round, and only the last entry stays. Make it before the "
    "loop.",
)

gradient_returned_in_the_loop = mistake(
    "numerical_gradient",
    {CENTRAL: f"{CENTRAL}\nreturn gradient"},
    says="Only the first entry is computed: with `return` inside of the loop, the loop ends there.",
)

moved_back_by_arithmetic = mistake(
    "numerical_gradient",
    {
        f"{STEP}\n{CENTRAL}": """
x[index] += eps
up = f(x.copy())
x[index] -= 2 * eps
gradient[index] = (up - f(x.copy())) / (2 * eps)
x[index] += eps
"""
    },
    says="x is moved in place and moved back by arithmetic, which rounds: it comes back a little different. Keep the "
    "old entry and put it back, or work on a copy.",
)

second_name_for_x = mistake(
    "numerical_gradient",
    {
        f"{STEP}\n{CENTRAL}": """
up = x
up[index] += eps
down = x
down[index] -= eps
gradient[index] = (f(up) - f(down)) / (2 * eps)
"""
    },
    says="`y = x` makes no copy, only a second name for the same array: both calls of f see the same point, and the "
    "difference is 0. x.copy() is an array of its own.",
)

flat_gradient = mistake(
    "numerical_gradient",
    {"return gradient": "return gradient.ravel()"},
    says="The gradient is flat. Give it the shape of x: loop over np.ndindex(x.shape), or reshape at the end.",
)

first_axis_only = mistake(
    "numerical_gradient",
    {"for index in np.ndindex(x.shape):": "for index in range(len(x)):"},
    says="You loop over the first axis only. range(len(x)) moves whole rows of a matrix, and a 0-d array has no "
    "length: loop over np.ndindex(x.shape).",
)

ignores_eps = mistake(
    "numerical_gradient",
    {"step[index] = eps": "step[index] = 1e-6", **_entry("(f(x + step) - f(x - step)) / 2e-6")},
    says="The argument eps is not used: the step is as small whatever eps is.",
)

relative_step = mistake(
    "numerical_gradient",
    {
        "step[index] = eps": "step[index] = eps * x[index]",
        CENTRAL: """
with np.errstate(all="ignore"):
    gradient[index] = (f(x + step) - f(x - step)) / (2 * abs(step[index]))
""",
    },
    says="The step is eps times the entry. Here it is eps itself, for every entry: a relative step is 0 where x is 0.",
)

also_called_at_x = mistake(
    "numerical_gradient",
    {ZEROS: f"f(x)\n{ZEROS}"},
    says="f is called more often than twice for each entry. f(x) itself is not needed: the two steps around it do.",
)


# jvp_chain and vjp_chain

MATRICES_FIRST = (
    "You multiply the matrices first, and the vector last. A product of two n × n matrices takes n³ "
    "multiply–adds, one with a vector n²: start with the vector."
)
RETURN_ENDS_THE_LOOP = "with `return` inside of the loop, the loop ends there. An empty chain gives None."
CALLERS_LIST = (
    "The list is the caller's: Ws.reverse() turns it around, and Ws.pop() takes from it. reversed(Ws) leaves it as it "
    "is."
)
A_VECTOR_OUT = "A vector in, a vector out: shape (n,)."


@misconception("jvp_chain", says=MATRICES_FIRST)
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


jvp_in_reverse_order = mistake(
    "jvp_chain",
    {"for W in Ws:": "for W in reversed(Ws):"},
    says="The last matrix comes first in your loop. W_1 stands next to x, so v meets it first.",
)

jvp_is_the_vjp = mistake(
    "jvp_chain",
    {"for W in Ws:": "for W in reversed(Ws):", "v = W @ v": "v = W.T @ v"},
    says="This is the VJP: it starts at the output's end, with transposes. A JVP starts at the input's end: v = W @ v.",
)

jvp_transposed = mistake(
    "jvp_chain",
    {"v = W @ v": "v = W.T @ v"},
    says="The matrices are transposed. A JVP multiplies by W itself: v = W @ v.",
)

jvp_not_passed_on = mistake(
    "jvp_chain",
    {"v = W @ v": "y = W @ v", "return v": "return y if Ws else v"},
    says="Every matrix meets the original v, and only the last product is kept. Each product is the next one's vector: "
    "v = W @ v.",
)

jvp_returned_in_the_loop = mistake(
    "jvp_chain",
    {"v = W @ v": "return W @ v", "return v": ""},
    says=f"Only the first matrix is used: {RETURN_ENDS_THE_LOOP}",
)

jvp_without_the_last = mistake(
    "jvp_chain",
    {"for W in Ws:": "for W in Ws[:-1]:"},
    says="The last matrix of the chain is left out.",
)

jvp_as_a_column = mistake(
    "jvp_chain",
    {"for W in Ws:": "v = v.reshape(-1, 1)\nfor W in Ws:"},
    says=f"The result is a column of shape (n, 1). {A_VECTOR_OUT}",
)


@misconception("vjp_chain", says=MATRICES_FIRST)
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


vjp_in_forward_order = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "for W in Ws:"},
    says="The first matrix comes first in your loop. u stands at the output's end, next to W_k: begin there.",
)

vjp_not_transposed = mistake(
    "vjp_chain",
    {"u = W.T @ u": "u = W @ u"},
    says="The order is right, but the transpose is missing. u on the left of W is W.T @ u, or u @ W.",
)

vjp_is_the_jvp = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "for W in Ws:", "u = W.T @ u": "u = W @ u"},
    says="This is the JVP: it starts at the input's end. A VJP starts at the output's end: u @ W_k first.",
)

vjp_not_passed_on = mistake(
    "vjp_chain",
    {"u = W.T @ u": "y = W.T @ u", "return u": "return y if Ws else u"},
    says="Every matrix meets the original u, and only the last product is kept. Each product is the next one's vector: "
    "u = W.T @ u.",
)

vjp_returned_in_the_loop = mistake(
    "vjp_chain",
    {"u = W.T @ u": "return W.T @ u", "return u": ""},
    says=f"Only the last matrix is used: {RETURN_ENDS_THE_LOOP}",
)

vjp_without_the_first = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "for W in reversed(Ws[1:]):"},
    says="The first matrix of the chain, W_1, is left out.",
)

vjp_reverses_the_list = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "Ws.reverse()\nfor W in Ws:"},
    says=CALLERS_LIST,
)

vjp_empties_the_list = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "while Ws:", "u = W.T @ u": "u = Ws.pop().T @ u"},
    says=CALLERS_LIST,
)

vjp_as_a_row = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "u = u.reshape(1, -1)\nfor W in reversed(Ws):", "u = W.T @ u": "u = u @ W"},
    says=f"The result is a row of shape (1, n). {A_VECTOR_OUT}",
)


# jacobian_cost

ONE_PASS = "one_pass = sum(dims[i] * dims[i + 1] for i in range(len(dims) - 1))"
PASSES = 'passes = dims[0] if mode == "forward" else dims[-1]'
COST = "return passes * one_pass"

modes_swapped = mistake(
    "jacobian_cost",
    {PASSES: 'passes = dims[-1] if mode == "forward" else dims[0]'},
    says="The two modes are swapped. A JVP gives a column, and there are n_0 of them; a VJP gives a row, and there are "
    "n_k.",
)

one_pass_only = mistake(
    "jacobian_cost",
    {COST: "return one_pass"},
    says="This is one pass. The whole Jacobian takes one for each column, n_0, or one for each row, n_k.",
)

first_product_free = mistake(
    "jacobian_cost",
    {
        COST: """
first = dims[0] * dims[1] if mode == "forward" else dims[-1] * dims[-2]
return passes * (one_pass - first)
"""
    },
    says="The first product of each pass is missing. It is with a basis vector, mostly zeros, but it counts in full "
    "here.",
)

last_matrix_left_out = mistake(
    "jacobian_cost",
    {ONE_PASS: "one_pass = sum(dims[i] * dims[i + 1] for i in range(len(dims) - 2))"},
    says="The last matrix is left out. From n_0 to n_k there are k matrices: one for each two neighbours in dims.",
)

counts_flops = mistake(
    "jacobian_cost",
    {COST: "return 2 * passes * one_pass"},
    says="These are FLOPs: a multiply and an add. Count each multiply–add once.",
)

product_of_all_widths = mistake(
    "jacobian_cost",
    {ONE_PASS: "one_pass = math.prod(dims)"},
    says="All widths are multiplied with each other. Each product costs n_i · n_{i+1}, and the costs of a pass add up.",
)

sums_of_widths = mistake(
    "jacobian_cost",
    {ONE_PASS: "one_pass = sum(dims[i] + dims[i + 1] for i in range(len(dims) - 1))"},
    says="A matrix costs n_i + n_{i+1} here. Each of its n_i · n_{i+1} entries takes one multiply–add.",
)

always_the_cheaper = mistake(
    "jacobian_cost",
    {PASSES: "passes = min(dims[0], dims[-1])"},
    says="This is what the cheaper mode costs, whichever mode was asked for.",
)

overflows = mistake(
    "jacobian_cost",
    {
        ONE_PASS: "dims = np.array(dims)\none_pass = np.sum(dims[:-1] * dims[1:])",
        COST: 'with np.errstate(all="ignore"):\n    return int(passes * one_pass)',
    },
    says="NumPy's integers have 64 bits, and overflow beyond 9.2e18 without a word. Compute with Python's own int.",
)

through_a_float = mistake(
    "jacobian_cost",
    {COST: "return int(float(passes) * float(one_pass))"},
    says="A float holds 16 digits: large counts are rounded. Stay with int throughout.",
)


# cheaper_mode

CHEAPER = 'return "forward" if dims[0] < dims[-1] else "reverse"'

the_dearer_mode = mistake(
    "cheaper_mode",
    {CHEAPER: 'return "forward" if dims[0] > dims[-1] else "reverse"'},
    says="The wrong way round. With few inputs there are few columns, and forward mode makes a column in each pass.",
)

forward_in_a_tie = mistake(
    "cheaper_mode",
    {CHEAPER: 'return "forward" if dims[0] <= dims[-1] else "reverse"'},
    says='A tie is "reverse": forward mode must be cheaper, not as cheap.',
)

always_reverse = mistake(
    "cheaper_mode",
    {CHEAPER: 'return "reverse"'},
    says="Reverse mode does not always win. It wins for a loss, one output; with fewer inputs than outputs, forward "
    "does.",
)

always_forward = mistake(
    "cheaper_mode",
    {CHEAPER: 'return "forward"'},
    says="Forward mode does not always win: with many inputs it takes many passes.",
)

compares_neighbours = mistake(
    "cheaper_mode",
    {CHEAPER: 'return "forward" if dims[0] < dims[1] else "reverse"'},
    says="You compare the input's width with the next one. It is the output's width, at the other end, that counts.",
)

compares_the_end_products = mistake(
    "cheaper_mode",
    {CHEAPER: 'return "forward" if dims[0] * dims[1] < dims[-1] * dims[-2] else "reverse"'},
    says="You compare the first product with the last one. Every pass goes through all of them, in both modes: only "
    "the number of passes differs.",
)


# Dual

SUM = "return Dual(self.value + other.value, self.tangent + other.tangent)"
DIFFERENCE = "return Dual(self.value - other.value, self.tangent - other.tangent)"
PRODUCT = "return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)"
QUOTIENT = "tangent = (self.tangent * other.value - self.value * other.tangent) / other.value**2"
SLOPE = "slope = other * self.value ** (other - 1) if other != 0 else 0.0"
POWER = "return Dual(self.value**other, slope * self.tangent)"
THROUGH_BASE = "through_base = other.value * self.value ** (other.value - 1) * self.tangent"
THROUGH_EXPONENT = "through_exponent = math.log(self.value) * value * other.tangent"
SIN = "return Dual(math.sin(self.value), math.cos(self.value) * self.tangent)"
EXP = "return Dual(math.exp(self.value), math.exp(self.value) * self.tangent)"
LOG = "return Dual(math.log(self.value), self.tangent / self.value)"

SIN_ALONE = {SIN: "return Dual(math.sin(self.value), math.cos(self.value))"}
EXP_ALONE = {EXP: "return Dual(math.exp(self.value), math.exp(self.value))"}
LOG_ALONE = {LOG: "return Dual(math.log(self.value), 1 / self.value)"}


def _called_for(method, sign, number_stands):
    return f"{method} is called for other {sign} self: the number {number_stands}. You return self {sign} other."


def _alone(function, derivative):
    return f"The tangent of {function} is {derivative} alone. Multiply it by the tangent of x."


adds_in_place = mistake(
    "Dual",
    {SUM: "self.value += other.value\nself.tangent += other.tangent\nreturn self"},
    says="The sum is written into the left operand, which the caller may still need. Make a new Dual.",
    where="Dual.__add__",
)

tangent_not_negated = mistake(
    "Dual",
    {"return Dual(-self.value, -self.tangent)": "return Dual(-self.value, self.tangent)"},
    says="The tangent of -x is that of x, with the sign changed: -self.tangent.",
    where="Dual.__neg__",
)

tangents_added_in_a_difference = mistake(
    "Dual",
    {DIFFERENCE: "return Dual(self.value - other.value, self.tangent + other.tangent)"},
    says="A difference takes the tangents' difference, too, not their sum. Where - is made of + and unary minus, look "
    "at __neg__.",
    where="Dual.__sub__",
)

quotient_multiplied_again = mistake(
    "Dual",
    {QUOTIENT: QUOTIENT.replace("other.value**2", "other.value * other.value")},
    says="`/ v * v` divides by v and multiplies by it again. The square below the tangent of a quotient needs "
    "parentheses: / (v * v).",
    where="Dual.__truediv__",
)

difference_not_reversed = mistake(
    "Dual",
    {"return lift(other) - self": "return self - other"},
    says=_called_for("__rsub__", "-", "stands on the left"),
    where="Dual.__rsub__",
)

product_of_tangents = mistake(
    "Dual",
    {PRODUCT: "return Dual(self.value * other.value, self.tangent * other.tangent)"},
    says="The tangents are multiplied with each other. The product rule adds two terms: each tangent times the other "
    "value.",
    where="Dual.__mul__",
)

product_rule_with_one_term = mistake(
    "Dual",
    {PRODUCT: "return Dual(self.value * other.value, self.tangent * other.value)"},
    says="One term of the product rule is missing. Both factors may change: the second one's tangent counts as well.",
    where="Dual.__mul__",
)

tangents_times_their_own_values = mistake(
    "Dual",
    {PRODUCT: "return Dual(self.value * other.value, self.tangent * self.value + other.value * other.tangent)"},
    says="Each tangent is multiplied by its own value. It is the other value that stays: x′y + xy′.",
    where="Dual.__mul__",
)

quotient_without_the_square = mistake(
    "Dual",
    {QUOTIENT: "tangent = (self.tangent * other.value - self.value * other.tangent) / other.value"},
    says="The quotient rule divides by the square of the denominator: (x′y − xy′) / y².",
    where="Dual.__truediv__",
)

quotient_with_the_wrong_sign = mistake(
    "Dual",
    {QUOTIENT: "tangent = (self.value * other.tangent - self.tangent * other.value) / other.value**2"},
    says="The numerator of the quotient rule has the wrong sign: x′y − xy′, the numerator's own tangent first.",
    where="Dual.__truediv__",
)

quotient_with_a_plus = mistake(
    "Dual",
    {QUOTIENT: "tangent = (self.tangent * other.value + self.value * other.tangent) / other.value**2"},
    says="The quotient rule has a minus where you have a plus: (x′y − xy′) / y².",
    where="Dual.__truediv__",
)

constant_denominator = mistake(
    "Dual",
    {QUOTIENT: "tangent = self.tangent / other.value"},
    says="The denominator is treated as a constant. Its tangent counts as well: (x′y − xy′) / y².",
    where="Dual.__truediv__",
)

quotient_not_reversed = mistake(
    "Dual",
    {"return lift(other) / self": "return self / other"},
    says=_called_for("__rtruediv__", "/", "stands on top"),
    where="Dual.__rtruediv__",
)

exponent_not_lowered = mistake(
    "Dual",
    {
        SLOPE: "slope = other * self.value**other",
        THROUGH_BASE: "through_base = other.value * self.value**other.value * self.tangent",
    },
    says="The exponent comes down, but is not lowered: the slope of xⁿ is n xⁿ⁻¹.",
    where="Dual.__pow__",
)

exponent_does_not_come_down = mistake(
    "Dual",
    {
        SLOPE: "slope = self.value ** (other - 1) if other != 0 else 0.0",
        THROUGH_BASE: "through_base = self.value ** (other.value - 1) * self.tangent",
    },
    says="The factor n is missing in the slope of xⁿ: it is n xⁿ⁻¹.",
    where="Dual.__pow__",
)

power_without_the_tangent = mistake(
    "Dual",
    {
        POWER: "return Dual(self.value**other, slope)",
        THROUGH_BASE: "through_base = other.value * self.value ** (other.value - 1)",
    },
    says="The slope n xⁿ⁻¹ is right, but it is not multiplied by the tangent of x: the chain rule.",
    where="Dual.__pow__",
)

power_of_a_number_without_the_tangent = mistake(
    "Dual",
    {POWER: "return Dual(self.value**other, slope)"},
    says="In x ** n with a number n the slope n xⁿ⁻¹ is right, but it is not multiplied by the tangent of x: the chain "
    "rule.",
    where="Dual.__pow__",
)

power_through_the_logarithm = mistake(
    "Dual",
    {
        f"if not isinstance(other, Dual):\n{SLOPE}\n{POWER}": "other = lift(other)",
        THROUGH_BASE: "",
        THROUGH_EXPONENT: f"{THROUGH_EXPONENT}\nthrough_base = value * other.value * self.tangent / self.value",
    },
    says="x ** n goes through log(x) even where n is a number, and a negative number or 0 has no logarithm. For a "
    "number, use n xⁿ⁻¹.",
    where="Dual.__pow__",
)

zeroth_power_of_zero = mistake(
    "Dual",
    {SLOPE: "slope = other * self.value ** (other - 1)"},
    says="x ** 0 at x = 0: your slope is 0 · 0⁻¹, and 0⁻¹ does not exist. With n = 0 the tangent is 0.",
    where="Dual.__pow__",
)

constant_exponent = mistake(
    "Dual",
    {THROUGH_EXPONENT: "through_exponent = 0.0"},
    says="The exponent is treated as a constant. Where it is a Dual, its tangent adds log(x) · xʸ · y′.",
    where="Dual.__pow__",
)


@misconception(
    "Dual",
    says="Your __pow__ takes the exponent for a number, but it can be a Dual: 2 ** x and x ** y. For a Dual y, xʸ has "
    "the tangent y xʸ⁻¹ x′ + log(x) xʸ y′, from plain numbers: y is other.value there.",
    replaces="Dual.__pow__",
)
def exponent_taken_for_a_number(self, other):
    slope = other * self.value ** (other - 1) if other != 0 else 0.0
    return type(self)(self.value**other, slope * self.tangent)


exponent_without_the_logarithm = mistake(
    "Dual",
    {THROUGH_EXPONENT: "through_exponent = value * other.tangent"},
    says="log(x) is missing in the term of the exponent: the derivative of xʸ with respect to y is log(x) · xʸ.",
    where="Dual.__pow__",
)

power_not_reversed = mistake(
    "Dual",
    {"return lift(other) ** self": "return self**other"},
    says=_called_for("__rpow__", "**", "is the base"),
    where="Dual.__rpow__",
)

sine_without_the_tangent = mistake(
    "Dual",
    SIN_ALONE,
    says=_alone("the sine", "the cosine"),
    where="Dual.sin",
)

sine_with_a_minus = mistake(
    "Dual",
    {SIN: "return Dual(math.sin(self.value), -math.cos(self.value) * self.tangent)"},
    says="The derivative of sin is cos, without a minus: that is cos′ = −sin.",
    where="Dual.sin",
)

sine_of_the_tangent = mistake(
    "Dual",
    {SIN: "return Dual(math.sin(self.value), math.cos(self.tangent))"},
    says="The function is applied to the tangent. A tangent is multiplied by the derivative at the value: cos(x) · x′.",
    where="Dual.sin",
)

exponential_without_the_tangent = mistake(
    "Dual",
    EXP_ALONE,
    says=_alone("exp", "exp(x)"),
    where="Dual.exp",
)

exponential_keeps_the_tangent = mistake(
    "Dual",
    {EXP: "return Dual(math.exp(self.value), self.tangent)"},
    says="The tangent goes through exp unchanged. Multiply it by the derivative, exp(x).",
    where="Dual.exp",
)

logarithm_without_the_tangent = mistake(
    "Dual",
    LOG_ALONE,
    says=_alone("log", "1/x"),
    where="Dual.log",
)

functions_without_the_tangent = mistake(
    "Dual",
    {**SIN_ALONE, **EXP_ALONE, **LOG_ALONE},
    says="sin, exp and log have the derivative alone for a tangent. The chain rule: multiply it by the tangent of x.",
)

numbers_not_lifted = mistake(
    "Dual",
    {
        **{f"other = lift(other)\n{line}": line for line in (SUM, DIFFERENCE, PRODUCT, QUOTIENT)},
        "return lift(other) - self": "return other - self.value",
        "return lift(other) / self": "return other / self.value",
    },
    says="A plain number has neither value nor tangent. Lift it at the start of each operation: other = lift(other).",
)

reflected_division_by_minus_one = mistake(
    "Dual",
    {"return lift(other) / self": "return lift(other) * (self * -1)"},
    where="Dual.__rtruediv__",
    says="other / self multiplies by −self. It is other · self⁻¹: self ** -1, or lift(other) / self.",
)


# derivative

DERIVATIVE = "return float(lift(f(Dual(x, 1.0))).tangent)"

the_value = mistake(
    "derivative",
    {DERIVATIVE: "return float(lift(f(Dual(x, 1.0))).value)"},
    says="This is f(x). The derivative is the tangent of what f returns.",
)

no_seed = mistake(
    "derivative",
    {DERIVATIVE: "return float(lift(f(Dual(x))).tangent)"},
    says="The tangent of x is never set, so everything is constant and the derivative is 0. dx/dx is 1: Dual(x, 1.0).",
)

seeded_with_x = mistake(
    "derivative",
    {DERIVATIVE: "return float(lift(f(Dual(x, x))).tangent)"},
    says="The tangent starts as x. dx/dx is 1: start from Dual(x, 1.0).",
)

value_for_tangent = mistake(
    "derivative",
    {DERIVATIVE: "return float(lift(f(Dual(1.0, x))).tangent)"},
    says="Value and tangent of x are swapped: Dual(x, 1.0) is the number x, whose tangent is 1.",
)

returns_a_dual = mistake(
    "derivative",
    {DERIVATIVE: "return f(Dual(x, 1.0))"},
    says="You return a Dual. The derivative is its tangent, a float.",
)

constants_have_no_tangent = mistake(
    "derivative",
    {DERIVATIVE: "return float(f(Dual(x, 1.0)).tangent)"},
    says="A constant f returns a plain number, and that has no tangent. Its derivative is 0.0.",
)

by_differences = mistake(
    "derivative",
    {DERIVATIVE: "return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6"},
    says="This is a finite difference: it is off by some 1e-10, and f takes a Dual, not a number. Run f once, on "
    "Dual(x, 1.0).",
)


# jacobian_from_jvp and jacobian_from_vjp

COLUMNS = "columns = [jvp(e) for e in np.eye(n_in)]"
ROWS = "rows = [vjp(e) for e in np.eye(n_out)]"
ONE_AT_A_TIME = "Take one basis vector at a time: a single 1, the rest 0."

columns_as_rows = mistake(
    "jacobian_from_jvp",
    {"return np.stack(columns, axis=1)": "return np.stack(columns)"},
    says="The Jacobian is transposed. A JVP with a basis vector is a column: stack them along axis 1.",
)


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


columns_in_one_row = mistake(
    "jacobian_from_jvp",
    {"return np.stack(columns, axis=1)": "return np.concatenate(columns)"},
    says="The columns stand one after the other, on one axis: np.hstack and np.concatenate add none. "
    "np.stack(columns, axis=1) sets them side by side.",
)

jvp_with_ones = mistake(
    "jacobian_from_jvp",
    {COLUMNS: "columns = [jvp(np.ones(n_in)) for _ in range(n_in)]"},
    says=f"A JVP with all ones is the sum of the columns. {ONE_AT_A_TIME}",
)

columns_add_up = mistake(
    "jacobian_from_jvp",
    {
        COLUMNS: """
e, columns = np.zeros(n_in), []
for j in range(n_in):
    e[j] = 1
    columns.append(jvp(e.copy()))
"""
    },
    says="The 1 of the last basis vector is still there when the next one is set, so the columns add up. Start each "
    "vector from zeros.",
)

differences_of_jvps = mistake(
    "jacobian_from_jvp",
    {COLUMNS: "columns = [(jvp(e) - jvp(-e)) / 2 for e in np.eye(n_in)]"},
    says="A JVP is linear: it needs no differences. jvp(e) alone is the column, in half the calls.",
)

rows_as_columns = mistake(
    "jacobian_from_vjp",
    {"return np.stack(rows)": "return np.stack(rows, axis=1)"},
    says="The Jacobian is transposed. A VJP with a basis vector is a row: stack them along axis 0.",
)


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


rows_in_one_row = mistake(
    "jacobian_from_vjp",
    {"return np.stack(rows)": "return np.concatenate(rows)"},
    says="The rows stand one after the other, on one axis: np.hstack and np.concatenate add none. np.stack(rows) sets "
    "them below each other.",
)

vjp_with_ones = mistake(
    "jacobian_from_vjp",
    {ROWS: "rows = [vjp(np.ones(n_out)) for _ in range(n_out)]"},
    says=f"A VJP with all ones is the sum of the rows. {ONE_AT_A_TIME}",
)

rows_add_up = mistake(
    "jacobian_from_vjp",
    {
        ROWS: """
u, rows = np.zeros(n_out), []
for i in range(n_out):
    u[i] = 1
    rows.append(vjp(u.copy()))
"""
    },
    says="The 1 of the last basis vector is still there when the next one is set, so the rows add up. Start each "
    "vector from zeros.",
)

differences_of_vjps = mistake(
    "jacobian_from_vjp",
    {ROWS: "rows = [(vjp(e) - vjp(-e)) / 2 for e in np.eye(n_out)]"},
    says="A VJP is linear: it needs no differences. vjp(e) alone is the row, in half the calls.",
)


# gradcheck

DRAWN = "g = rng.normal(size=np.shape(f(*inputs)))"
LENGTHS = "if len(gradients) != len(inputs):\n    return False"
EACH_INPUT = "for i, x in enumerate(inputs):"
OBJECTIVE = "return np.sum(g * f(*inputs[:i], moved, *inputs[i + 1 :]))"
EXPECTED = "expected = numerical_gradient(objective, x)"
COMPARED = "if np.shape(gradients[i]) != x.shape or not np.allclose(gradients[i], expected, rtol=1e-5, atol=1e-8):"
RIGHT = "np.shape(gradients[i]) == x.shape and np.allclose(gradients[i], expected, rtol=1e-5, atol=1e-8)"


def _wrong_if(apart):
    """A gradient `a` is wrong if its shape is, or if this is true of it and of the differences `n`."""
    return {COMPARED: f"a, n = gradients[i], expected\nif np.shape(a) != x.shape or {apart}:"}


def _differences(*lines):
    """Differences of `objective` in the place of those by numerical_gradient: an entry takes these lines."""
    loop = ["expected = np.zeros(x.shape)", "for index in np.ndindex(x.shape):", *(f"    {line}" for line in lines)]
    return {EXPECTED: "\n".join(loop)}


ones_for_g = mistake(
    "gradcheck",
    {DRAWN: "g = np.ones(np.shape(f(*inputs)))"},
    says="g is all ones, which hides mistakes: a VJP that ignores g is right for it, and every VJP of a softmax that "
    "gives 0. Draw g at random.",
)

one_number_for_g = mistake(
    "gradcheck",
    {DRAWN: "g = rng.normal() * np.ones(np.shape(f(*inputs)))"},
    says="g is one random number for all outputs. What is wrong in how they are weighted against each other stays "
    "hidden: draw one for each.",
)

first_output_only = mistake(
    "gradcheck",
    {DRAWN: "g = np.zeros(np.shape(f(*inputs)))\ng.flat[0] = rng.normal()"},
    says="g picks the first output only. A VJP may be wrong in all others: draw a random g for all outputs.",
)

differences_without_g = mistake(
    "gradcheck",
    {OBJECTIVE: "return np.sum(f(*inputs[:i], moved, *inputs[i + 1 :]))"},
    says="The differences are of f's plain sum, the VJP is with g: right VJPs are rejected. Differentiate "
    "(g * f(*inputs)).sum().",
)

one_sided_differences = mistake(
    "gradcheck",
    {
        **_differences(
            "step = np.zeros(x.shape)",
            "step[index] = 1e-6",
            "expected[index] = (objective(x + step) - objective(x)) / 1e-6",
        ),
        **_wrong_if("not np.allclose(a, n, rtol=1e-3, atol=1e-8 + 1e-3 * np.abs(n).max(initial=0.0))"),
    },
    says="The differences are one-sided. Where f is curved they are off by eps · f″/2, and a right VJP is rejected: "
    "take central ones.",
)

step_too_large = mistake(
    "gradcheck",
    {
        EXPECTED: "expected = numerical_gradient(objective, x, eps=1e-2)",
        **_wrong_if("not np.allclose(a, n, rtol=2e-3, atol=1e-8)"),
    },
    says="The step is so large that central differences are off where f changes fast. Use about 1e-6.",
)

tolerance_too_tight = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(a, n, rtol=1e-13, atol=1e-15)"),
    says="Right VJPs are rejected: central differences have nine digits or so, and fewer with a step below 1e-8. Ask "
    "for about five.",
)

tolerance_too_loose = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(a, n, rtol=0.1, atol=1e-8)"),
    says="The tolerance is so large that a mistake of one percent passes. Central differences are good to nine digits "
    "or so: ask for about five.",
)

absolute_tolerance = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(a, n, rtol=0.0, atol=1e-5)"),
    says="The tolerance is absolute: it passes everything that is small, and rejects what is right and large. Compare "
    "relative to the size of the gradient.",
)

large_absolute_tolerance = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(a, n, rtol=1e-5, atol=1e-5)"),
    says="The absolute tolerance is larger than the gradients themselves can be, so anything small passes. Keep it to "
    "1e-8 or so, next to a relative one.",
)

zero_by_zero = mistake(
    "gradcheck",
    {
        COMPARED: """
a, n = gradients[i], expected
with np.errstate(all="ignore"):
    right = np.shape(a) == x.shape and np.all(np.abs(a - n) / (np.abs(a) + np.abs(n)) < 1e-5)
if not right:
"""
    },
    says="The error is divided by the gradient's size, and 0 / 0 is nan where both gradients are 0. Write "
    "|a − n| ≤ rtol · |n| + atol instead of a quotient.",
)

no_room_for_rounding = mistake(
    "gradcheck",
    _wrong_if("not np.all(np.abs(a - n) <= 1e-5 * (np.abs(a) + np.abs(n)))"),
    says="Where the gradient is 0, differences are still off by about 1e-10, and relative to that 0 anything is too "
    "much. Allow an absolute error of 1e-9 or so as well.",
)

first_input_only = mistake(
    "gradcheck",
    {EACH_INPUT: "for i, x in enumerate(inputs[:1]):"},
    says="Only the first input's gradient is checked. Check those of all inputs, one after the other.",
)

last_input_only = mistake(
    "gradcheck",
    {f"{COMPARED}\nreturn False": f"right = {RIGHT}", "return True": "return right"},
    says="Each input's result replaces the one before, so only the last one counts. Return False at the first gradient "
    "that is wrong.",
)

any_input = mistake(
    "gradcheck",
    {"return True": "return False", f"{COMPARED}\nreturn False": f"if {RIGHT}:\n    return True"},
    says="One right gradient is enough for True in your check. All of them must be right.",
)

first_entry_only = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(np.ravel(a)[:1], np.ravel(n)[:1], rtol=1e-5, atol=1e-8)"),
    says="Only the first entry of each gradient is compared. Compare all of them.",
)

any_entry = mistake(
    "gradcheck",
    _wrong_if("not np.isclose(a, n, rtol=1e-5, atol=1e-8).any()"),
    says="One right entry is enough for True in your check. All of them must be right: np.all, not np.any.",
)

norms_only = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(np.linalg.norm(a), np.linalg.norm(n), rtol=1e-5, atol=1e-8)"),
    says="The norms of the two gradients are compared. Equal norms say nothing about the direction, not even the sign: "
    "take the norm of the difference.",
)

sums_only = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(np.sum(a), np.sum(n), rtol=1e-5, atol=1e-8)"),
    says="The sums of the two gradients are compared, where mistakes cancel. Compare entry by entry.",
)

directions_only = mistake(
    "gradcheck",
    {
        COMPARED: """
a, n = gradients[i], expected
lengths = np.linalg.norm(a) * np.linalg.norm(n)
if np.shape(a) != x.shape or not (np.sum(a * n) >= (1 - 1e-9) * lengths if lengths else np.linalg.norm(a) == 0):
"""
    },
    says="The directions are compared, not the lengths: a gradient that is twice too large passes. Compare entry by "
    "entry.",
)

without_the_absolute_value = mistake(
    "gradcheck",
    _wrong_if("not np.all(a - n <= 1e-5 * np.abs(n) + 1e-8)"),
    says="A difference in size does not count for you if it is negative: compare |a − n|, not a − n.",
)

shapes_broadcast = mistake(
    "gradcheck",
    {COMPARED: "if not np.allclose(gradients[i], expected, rtol=1e-5, atol=1e-8):"},
    says="The shapes are not compared. NumPy broadcasts (3,) against (1, 3), and where it cannot it raises: compare "
    "np.shape(gradient) with x.shape first.",
)

shapes_flattened = mistake(
    "gradcheck",
    {COMPARED: "if not np.allclose(np.ravel(gradients[i]), expected.ravel(), rtol=1e-5, atol=1e-8):"},
    says="The gradients are flattened before they are compared, so a wrong shape passes, or raises. Compare "
    "np.shape(gradient) with x.shape first.",
)

missing_gradients_pass = mistake(
    "gradcheck",
    {LENGTHS: "", EACH_INPUT: "for i, (x, _) in enumerate(zip(inputs, gradients)):"},
    says="zip stops at the shorter one: a gradient that is missing is never looked at. Compare the lengths first, or "
    "zip with strict=True in mind.",
)

missing_gradients_raise = mistake(
    "gradcheck",
    {LENGTHS: ""},
    says="A gradient may be missing, and gradients[i] then raises. Compare len(gradients) with len(inputs) first: the "
    "answer is False.",
)

strict_zip_raises = mistake(
    "gradcheck",
    {LENGTHS: "", EACH_INPUT: "for i, (x, _) in enumerate(zip(inputs, gradients, strict=True)):"},
    says="zip with strict=True raises where a gradient is missing. Compare the lengths first: the answer is False.",
)

nan_passes = mistake(
    "gradcheck",
    _wrong_if("np.any(np.abs(a - n) > 1e-5 * np.abs(n) + 1e-8)"),
    says="A nan passes: every comparison with nan is false, so `if error > tolerance: return False` never fires. Ask "
    "whether the error is within the tolerance instead.",
)

another_generator = mistake(
    "gradcheck",
    {DRAWN: "g = np.random.default_rng().normal(size=np.shape(f(*inputs)))"},
    says="The random numbers do not come from rng, so every run is another one. Draw g from rng.",
)

inputs_moved_in_place = mistake(
    "gradcheck",
    _differences(
        "x[index] += 1e-6",
        "up = objective(x)",
        "x[index] -= 2e-6",
        "expected[index] = (up - objective(x)) / 2e-6",
        "x[index] += 1e-6",
    ),
    says="The inputs are moved in place and moved back by arithmetic, which rounds: they come back a little different. "
    "Work on copies.",
)


@misconception("gradcheck", says="Your check never says False, so it checks nothing. A wrong VJP must fail.")
def always_true(f, vjp, inputs, rng):
    return True


@misconception("gradcheck", says="Your check never says True. A right VJP must pass.")
def always_false(f, vjp, inputs, rng):
    return False
