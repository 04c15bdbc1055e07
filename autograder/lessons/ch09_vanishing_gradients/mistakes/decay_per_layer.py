"""Wrong answers to decay_per_layer, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch09_vanishing_gradients.mistakes.powers import POWER_OF_ONE

REFUSES = "if len(norms) < 2 or not all(0 < norm < math.inf for norm in norms):"
RAISES = 'raise ValueError("two or more positive, finite norms expected")'
DECAY = "return math.exp((math.log(norms[0]) - math.log(norms[-1])) / (len(norms) - 1))"
LOG_RATIOS = "logs = [math.log(one) - math.log(following) for one, following in zip(norms, norms[1:])]"
ROOT_OF_THE_QUOTIENT = "return (norms[0] / norms[-1]) ** (1 / (len(norms) - 1))"
NOT_THE_NTH_ROOT = "n norms have n − 1 ratios between them: the root is the (n − 1)-th, not the n-th."

upside_down = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log(norms[-1]) - math.log(norms[0])) / (len(norms) - 1))"},
    says="The ratios are upside down: this is norms[i + 1] / norms[i]. With norms[i] / norms[i + 1] the factor is "
    "below 1 where the gradient vanishes towards the first layer.",
)
arithmetic_mean = mistake(
    "decay_per_layer",
    {DECAY: f"{LOG_RATIOS}\nreturn sum(math.exp(min(log, 700.0)) for log in logs) / len(logs)"},
    says="This is the arithmetic mean of the ratios. Factors multiply: take the geometric mean, the root of their "
    "product.",
)
root_of_n = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log(norms[0]) - math.log(norms[-1])) / len(norms))"},
    says=NOT_THE_NTH_ROOT,
)
root_of_n_of_the_quotient = mistake(
    "decay_per_layer",
    {DECAY: "return (norms[0] / norms[-1]) ** (1 / len(norms))"},
    says=f"{NOT_THE_NTH_ROOT} And the first norm over the last can be too small or too large for a float: subtract "
    "logarithms.",
)
no_root = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp(min(math.log(norms[0]) - math.log(norms[-1]), 700.0))"},
    says="This is the whole change from the last layer to the first. The factor per layer is its (n − 1)-th root.",
)
divided_instead_of_rooted = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp(min(math.log(norms[0]) - math.log(norms[-1]), 700.0)) / (len(norms) - 1)"},
    says="This is the (n − 1)-th part of the whole change. Factors multiply, so it is the (n − 1)-th root.",
)
no_exp = mistake(
    "decay_per_layer",
    {DECAY: "return (math.log(norms[0]) - math.log(norms[-1])) / (len(norms) - 1)"},
    says="This is the mean of the logarithms. Take exp of it.",
)
two_bases = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log10(norms[0]) - math.log10(norms[-1])) / (len(norms) - 1))"},
    says="The logarithms are to base 10 and exp undoes those to base e. Use one base for both.",
)
quotient_first = mistake(
    "decay_per_layer",
    {DECAY: ROOT_OF_THE_QUOTIENT},
    says="The product of all ratios, which is the first norm over the last, can be too small or too large for a float "
    "although the factor per layer is not. Subtract logarithms, divide by n − 1, then exp.",
)
quotient_without_a_look_at_the_norms = mistake(
    "decay_per_layer",
    {f"{REFUSES}\n{RAISES}": "", DECAY: ROOT_OF_THE_QUOTIENT},
    says="Two things are missing. The first norm over the last can be too small or too large for a float although the "
    "factor per layer is not: subtract logarithms. And norms that have no ratio are a ValueError.",
)
small_number_added = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log(norms[0] + 1e-12) - math.log(norms[-1] + 1e-12)) / (len(norms) - 1))"},
    says="A small number was added to the norms against division by 0. It hides what you want to see: gradients of "
    "1e-27. A norm of 0 is a ValueError.",
)
first_ratio_only = mistake(
    "decay_per_layer",
    {DECAY: "return norms[0] / norms[1]"},
    says="Only the first two layers were compared. All n − 1 ratios count.",
)
median_of_ratios = mistake(
    "decay_per_layer",
    {DECAY: f"import statistics\n\n{LOG_RATIOS}\nreturn math.exp(statistics.median(logs))"},
    says="This is the median of the ratios. Take the geometric mean, the root of their product.",
)
smallest_over_largest = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log(min(norms)) - math.log(max(norms))) / (len(norms) - 1))"},
    says="The largest norm was compared with the smallest. Compare the first layer with the last: a gradient that "
    "explodes has to give more than 1.",
)
only_the_ends_refused = mistake(
    "decay_per_layer",
    {REFUSES: "if len(norms) < 2 or not (0 < norms[0] < math.inf and 0 < norms[-1] < math.inf):"},
    says="Norms that have no ratio went through. Fewer than two norms, and any that is 0, negative, inf or nan, are a "
    "ValueError: look at all of them.",
)
zeros_left_out = mistake(
    "decay_per_layer",
    {REFUSES: f"norms = [norm for norm in norms if norm != 0]\n{REFUSES}"},
    says="Zeros were left out. A norm of 0 has no ratio and is a ValueError; most often it is a square that "
    "underflowed.",
)
zero_for_a_zero = mistake(
    "decay_per_layer",
    {REFUSES: f"if any(norm == 0 for norm in norms):\n    return 0.0\n{REFUSES}"},
    says="A norm of 0 gave the factor 0. It has no ratio to its neighbours: that is a ValueError.",
)
nan_let_through = mistake(
    "decay_per_layer",
    {REFUSES: "if len(norms) < 2 or any(norm <= 0 for norm in norms):"},
    says="nan and inf went through: nan <= 0 is False, and so is inf <= 0. Test for what you want: 0 < norm < "
    "math.inf.",
)
one_for_a_single_norm = mistake(
    "decay_per_layer",
    {REFUSES: f"if len(norms) == 1 and 0 < norms[0] < math.inf:\n    return 1.0\n{REFUSES}"},
    says="A single norm gave 1. It has no neighbour and so no ratio: that is a ValueError.",
)


last_logarithm_divided = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp(min(math.log(norms[0]) - math.log(norms[-1]) / (len(norms) - 1), 700.0))"},
    says="Only the last logarithm is divided, as / comes before −. Put the difference into parentheses.",
)
power_of_one = mistake(
    "decay_per_layer",
    {DECAY: "return (norms[0] / norms[-1]) ** 1 / (len(norms) - 1)"},
    says=f"{POWER_OF_ONE} Here the root is the power (1 / (n − 1)).",
)
power_of_ten = mistake(
    "decay_per_layer",
    {DECAY: DECAY.replace("math.exp(", "10 ** (")},
    says="10 ** was taken of natural logarithms. math.exp undoes math.log; 10 ** undoes math.log10.",
)
