"""Wrong answers to predicted_factor, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

SQUARED = "squared = fan_out * variance * (left**2 + right**2) / 2"
NO_SKIP = "if branch is None:"
PLAIN = "return math.sqrt(squared)"
BRANCH = "return math.sqrt(1 + branch**2 * squared)"

factor_of_the_squares = mistake(
    "predicted_factor",
    {PLAIN: "return squared", BRANCH: "return 1 + branch**2 * squared"},
    says="This is the factor of the mean square. The root mean square changes by its root.",
)
factor_of_fan_in = mistake(
    "predicted_factor",
    {SQUARED: "squared = fan_in * variance * (left**2 + right**2) / 2"},
    says="You count the inputs. Going back, an input's gradient adds up one term for each output that it has a part "
    "in: there are fan_out of them.",
)
factor_of_both_fans = mistake(
    "predicted_factor",
    {SQUARED: "squared = (fan_in + fan_out) / 2 * variance * (left**2 + right**2) / 2"},
    says="You take the mean of the two fans, Xavier's compromise between the directions. Going back, the sum has "
    "fan_out terms.",
)
factor_without_the_fan = mistake(
    "predicted_factor",
    {SQUARED: "squared = variance * (left**2 + right**2) / 2"},
    says="This is one term of the sum. An input's gradient adds up fan_out of them, and the means of their squares "
    "add up too.",
)
factor_of_the_mean_slope = mistake(
    "predicted_factor",
    {SQUARED: "squared = fan_out * variance * ((left + right) / 2) ** 2"},
    says="You square the mean of the slopes. What enters is the mean of their squares: square each slope first.",
)
factor_of_the_right_slope = mistake(
    "predicted_factor",
    {SQUARED: "squared = fan_out * variance * right**2"},
    says="Only the slope on the right counts here. Half of the z are negative: there the slope is the left one.",
)
factor_of_halved_right_slope = mistake(
    "predicted_factor",
    {SQUARED: "squared = fan_out * variance * right**2 / 2"},
    says="This is right where the left slope is 0, as for ReLU. Half of the z are negative, and the square of the left "
    "slope counts for them.",
)
factor_of_the_larger_slope = mistake(
    "predicted_factor",
    {SQUARED: "squared = fan_out * variance * max(left**2, right**2)"},
    says="You take the larger slope for all z. Each slope holds for half of the z: take the mean of their squares.",
)
factor_of_both_slopes_in_full = mistake(
    "predicted_factor",
    {SQUARED: "squared = fan_out * variance * (left**2 + right**2)"},
    says="Each square of a slope counts for half of the z: take the mean of the two, not their sum.",
)
factor_of_slopes_not_squared = mistake(
    "predicted_factor",
    {SQUARED: "squared = fan_out * variance * (abs(left) + abs(right)) / 2"},
    says="The slopes are not squared. Each entry is multiplied by its slope, so its square is multiplied by the "
    "slope's square.",
)
factor_of_variance_for_deviation = mistake(
    "predicted_factor",
    {SQUARED: "squared = fan_out * variance**2 * (left**2 + right**2) / 2"},
    says="You square the variance. The variance is the mean of a weight's square already.",
)
factor_of_the_root_of_the_variance = mistake(
    "predicted_factor",
    {SQUARED: "squared = fan_out * math.sqrt(variance) * (left**2 + right**2) / 2"},
    says="You take the root of the variance before the root of the whole. Squares are added up here, and the mean "
    "square of a weight is the variance.",
)
factor_skip_outside_the_root = mistake(
    "predicted_factor",
    {BRANCH: "return 1 + abs(branch) * math.sqrt(squared)"},
    says="You add the sizes of the skip's gradient and of the branch's. The two are independent, so their squares add "
    "up: the 1 belongs under the root.",
)
factor_branch_signed = mistake(
    "predicted_factor",
    {BRANCH: "return 1 + branch * math.sqrt(squared)"},
    says="You add the skip's gradient and the branch's as if they had one direction. They are independent, so their "
    "squares add up: the 1 belongs under the root, and branch is squared there.",
)
factor_branch_not_squared = mistake(
    "predicted_factor",
    {BRANCH: "return math.sqrt(1 + abs(branch) * squared)"},
    says="branch is not squared. It multiplies the gradient, so it is squared in the mean square.",
)
factor_branch_left_out = mistake(
    "predicted_factor",
    {BRANCH: "return math.sqrt(1 + squared)"},
    says="The number branch has no effect. It multiplies what comes back through f.",
)
factor_skip_left_out = mistake(
    "predicted_factor",
    {BRANCH: "return abs(branch) * math.sqrt(squared)"},
    says="The skip is missing. With a branch the output is x + branch * f(x), so the gradient also arrives unchanged.",
)
factor_skip_always = mistake(
    "predicted_factor",
    {PLAIN: "return math.sqrt(1 + squared)"},
    says="You count a skip where there is none: with branch=None the output is f(x) alone.",
)
factor_skip_never = mistake(
    "predicted_factor",
    {BRANCH: PLAIN},
    says="branch makes no difference to your result. With a branch the output is x + branch * f(x).",
)
factor_zero_taken_for_none = mistake(
    "predicted_factor",
    {NO_SKIP: "if not branch:"},
    says="`not branch` is true of 0 as well as of None. With branch=0 the skip is there and the output is x: ask "
    "`branch is None`.",
)
factor_skip_of_floats_alone = mistake(
    "predicted_factor",
    {NO_SKIP: "if not isinstance(branch, float):"},
    says="A branch that is an int is taken for none. Only None means that there is no skip: ask `branch is None`.",
)
factor_sorts_the_slopes = mistake(
    "predicted_factor",
    {SQUARED: f"if isinstance(slopes, list):\n    slopes.sort()\n{SQUARED}"},
    says="You sort the caller's list of slopes. Leave it as it is.",
)
factor_per_branch_and_skip_halved = mistake(
    "predicted_factor",
    {BRANCH: "return math.sqrt((1 + branch**2 * squared) / 2)"},
    says="You take the mean of the skip's square and the branch's. The gradient is the sum of both: their squares add "
    "up.",
)
