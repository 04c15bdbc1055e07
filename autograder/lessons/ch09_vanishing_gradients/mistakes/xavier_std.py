"""Wrong answers to xavier_std, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch09_vanishing_gradients.mistakes.powers import POWER_OF_ONE

XAVIER = "return math.sqrt(2 / (fan_in + fan_out))"

xavier_variance = mistake(
    "xavier_std",
    {XAVIER: "return 2 / (fan_in + fan_out)"},
    says="This is the variance, 2 / (fan_in + fan_out). The standard deviation is its root.",
)
xavier_uniform_bound = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(6 / (fan_in + fan_out))"},
    says="This is the bound of the uniform distribution, sqrt(6 / (fan_in + fan_out)). Its standard deviation is the "
    "bound over sqrt(3).",
)
one_over_the_sum = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(1 / (fan_in + fan_out))"},
    says="The 2 is missing: one over the mean of the fans is 2 / (fan_in + fan_out), under the root.",
)
half_of_the_variance = mistake(
    "xavier_std",
    {XAVIER: "return (2 / (fan_in + fan_out)) ** 1 / 2"},
    says=POWER_OF_ONE,
)
fan_in_alone_divides = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(2 / fan_in + fan_out)"},
    says="fan_out is added to the quotient, as / comes before +. The sum of the fans needs parentheses.",
)
half_of_one_over_the_sum = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(1 / (fan_in + fan_out) / 2)"},
    says="1 / (fan_in + fan_out) / 2 is half of one over the sum. The mean has its own parentheses: 1 / ((fan_in + "
    "fan_out) / 2).",
)
xavier_of_fan_in_alone = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(1 / fan_in)"},
    says="This is 1/sqrt(fan_in), LeCun's. Xavier takes both fans, for the way back as well.",
)
he_for_xavier = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(2 / fan_in)"},
    says="This is He's sqrt(2 / fan_in). Xavier's has the sum of both fans below the 2.",
)
two_outside_the_root = mistake(
    "xavier_std",
    {XAVIER: "return 2 / math.sqrt(fan_in + fan_out)"},
    says="The 2 is outside the root. It belongs inside: sqrt(2 / (fan_in + fan_out)).",
)
product_of_fans = mistake(
    "xavier_std",
    {XAVIER: "return 1 / math.sqrt(fan_in * fan_out)"},
    says="The fans were multiplied. Their mean is (fan_in + fan_out) / 2.",
)
mean_of_the_variances = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt((1 / fan_in + 1 / fan_out) / 2)"},
    says="The mean was taken of 1/fan_in and 1/fan_out. Take one over the mean of the fans.",
)
xavier_whole_numbers = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(2 // (fan_in + fan_out))"},
    says="`//` throws the fraction away: 2 // (fan_in + fan_out) is 0. Use `/`.",
)
xavier_whole_mean = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(1 / ((fan_in + fan_out) // 2))"},
    says="`//` throws the half away: where fan_in + fan_out is odd, their mean is not a whole number. Use `/`.",
)
xavier_with_a_gain = mistake(
    "xavier_std",
    {XAVIER: "return 5 / 3 * math.sqrt(2 / (fan_in + fan_out))"},
    says="There is a gain in it, 5/3 for tanh. Leave the gain out.",
)
