"""Wrong answers to he_std, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch09_vanishing_gradients.mistakes.powers import POWER_OF_ONE

HE = "return math.sqrt(2 / fan_in)"

half_of_hes_variance = mistake(
    "he_std",
    {HE: "return (2 / fan_in) ** 1 / 2"},
    says=POWER_OF_ONE,
)

he_variance = mistake(
    "he_std",
    {HE: "return 2 / fan_in"},
    says="This is the variance, 2 / fan_in. The standard deviation is its root.",
)
without_the_two = mistake(
    "he_std",
    {HE: "return math.sqrt(1 / fan_in)"},
    says="This is 1/sqrt(fan_in). ReLU throws half of the mean square away: the variance is 2 / fan_in.",
)
he_uniform_bound = mistake(
    "he_std",
    {HE: "return math.sqrt(6 / fan_in)"},
    says="This is the bound of the uniform distribution, sqrt(6 / fan_in). The standard deviation is sqrt(2 / fan_in).",
)
he_two_outside = mistake(
    "he_std",
    {HE: "return 2 / math.sqrt(fan_in)"},
    says="The 2 is outside the root. It belongs inside: sqrt(2 / fan_in).",
)
he_fan_outside = mistake(
    "he_std",
    {HE: "return math.sqrt(2) / fan_in"},
    says="fan_in is outside the root. It belongs inside: sqrt(2 / fan_in).",
)
he_upside_down = mistake(
    "he_std",
    {HE: "return math.sqrt(fan_in / 2)"},
    says="The fraction is upside down: sqrt(2 / fan_in), smaller the more inputs there are.",
)
he_whole_numbers = mistake(
    "he_std",
    {HE: "return math.sqrt(2 // fan_in)"},
    says="`//` throws the fraction away: 2 // fan_in is 0 from 3 on. Use `/`.",
)
default_of_linear = mistake(
    "he_std",
    {HE: "return math.sqrt(1 / (3 * fan_in))"},
    says="This is what torch.nn.Linear does by default, 1/sqrt(3 fan_in): its call of kaiming_uniform_ has a = "
    "sqrt(5), which is not He's. The variance is 2 / fan_in.",
)
half_the_wrong_way = mistake(
    "he_std",
    {HE: "return math.sqrt(1 / (2 * fan_in))"},
    says="The 2 is below the line: ½ fan_in is what ReLU leaves, and one over it is 2 / fan_in.",
)
