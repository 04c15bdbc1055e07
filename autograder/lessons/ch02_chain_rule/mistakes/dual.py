"""Wrong answers to Dual, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

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
    says="A difference takes the tangents' difference, too, not their sum. If you made - of + and unary minus, look "
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
    says="Each tangent is multiplied by its own value. It belongs to the other value: x′y + xy′.",
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
    says="The tangents of sin, exp and log are the derivative alone. The chain rule: multiply it by the tangent of x.",
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
powers_by_the_logarithm_unless_whole = mistake(
    "Dual",
    {
        "if not isinstance(other, Dual):  # no logarithm here: the base may be negative or 0": (
            "if isinstance(other, float) and other != 0:\n"
            "    return (self.log() * other).exp()\n"
            "if not isinstance(other, Dual):"
        )
    },
    where="Dual.__pow__",
    says="An exponent that is a float goes through exp(n log x), which a negative base or 0 does not allow: x ** 3.0 "
    "is as good as x ** 3. The rule n x^(n − 1) needs no logarithm, for any number n.",
)
