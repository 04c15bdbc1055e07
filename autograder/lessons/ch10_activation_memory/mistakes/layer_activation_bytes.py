"""Wrong answers to layer_activation_bytes, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

TOTAL = "return float(s * b * h * (whole + (shared + square) / tensor_parallel))"
PARTS = "whole, shared = (0, 34) if sequence_parallel else (10, 24)"
SQUARE = "square = 0 if flash else 5 * a * s / h"
CUT = "The result is cut to an int, as // or int() do, which loses what a division leaves over. Return a float."

taken_for_elements = mistake(
    "layer_activation_bytes",
    {TOTAL: TOTAL.replace("float(", "float(2 * ")},
    says="This is twice the formula: 34 sbh is in bytes already, the two bytes of a number are in it.",
)
heads_for_tokens = mistake(
    "layer_activation_bytes",
    {SQUARE: "square = 0 if flash else 5 * a * a / h"},
    says="The square has a² here. There are a matrices of s × s, one for each head: 5as/h in units of sbh.",
)
square_kept_with_flash = mistake(
    "layer_activation_bytes",
    {SQUARE: "square = 5 * a * s / h"},
    says="The term 5as/h is there with flash=True, too. Fused attention keeps no s × s matrix: leave it out.",
)
flash_turned_round = mistake(
    "layer_activation_bytes",
    {SQUARE: "square = 5 * a * s / h if flash else 0"},
    says="flash is the wrong way round: it is the fused attention that has no square.",
)
all_divided = mistake(
    "layer_activation_bytes",
    {PARTS: "whole, shared = 0, 34"},
    says="Tensor parallelism alone divides 24 of the 34. Inputs of norms and blocks, and masks after them, 10, are "
    "whole on each device until sequence parallelism divides them as well.",
)
sequence_divides_part = mistake(
    "layer_activation_bytes",
    {PARTS: "whole, shared = 10, 24"},
    says="With sequence parallelism the 10 are divided as well: 34/t.",
)
square_whole = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (whole + shared / tensor_parallel + square))"},
    says="The square is not divided. Each device has its share of the heads, and keeps the matrices of those.",
)

not_divided = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (34 + square))"},
    says="tensor_parallel is not used. Each of t devices keeps 24/t of the 34, or 34/t, and 1/t of the square.",
)
conditional_takes_in_the_sum = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (whole + shared / tensor_parallel + 0 if flash else square / tensor_parallel))"},
    says="`x + 0 if flash else y` is x + 0, or y alone: a conditional takes in the sum before it. Put it into "
    "parentheses: x + (0 if flash else y).",
)
square_times_devices = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (whole + shared / tensor_parallel + square * tensor_parallel))"},
    says="The square is multiplied by t. `/ h * t` and `/ (h / t)` do so: 5as is divided by both, / (h * t).",
)
cut_to_an_int = mistake(
    "layer_activation_bytes",
    {TOTAL: TOTAL.replace("float(", "int(")},
    says=CUT,
)
parts_cut_to_ints = mistake(
    "layer_activation_bytes",
    {
        TOTAL: """\
scores = 0 if flash else 5 * a * b * s * s
return s * b * h * whole + s * b * h * shared // tensor_parallel + scores // tensor_parallel"""
    },
    says=CUT,
)

square_added_to_the_product = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (whole + shared / tensor_parallel) + square / tensor_parallel)"},
    says="5as/h is added to the product. It stands in the brackets with the 34, and sbh multiplies it as well.",
)
heads_upside_down = mistake(
    "layer_activation_bytes",
    {SQUARE: "square = 0 if flash else 5 * s * h / a"},
    says="a and h have changed places: it is 5as/h, a matrices of s × s, not 5sh/a.",
)
