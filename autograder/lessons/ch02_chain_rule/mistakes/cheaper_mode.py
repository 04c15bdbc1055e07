"""Wrong answers to cheaper_mode, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

CHEAPER = 'return "forward" if dims[0] < dims[-1] else "reverse"'

the_dearer_mode = mistake(
    "cheaper_mode",
    {CHEAPER: 'return "forward" if dims[0] > dims[-1] else "reverse"'},
    says="The wrong way round. With few inputs there are few columns, and forward mode makes a column in each pass.",
)

forward_in_a_tie = mistake(
    "cheaper_mode",
    {CHEAPER: 'return "forward" if dims[0] <= dims[-1] else "reverse"'},
    says='On a tie, return "reverse": forward mode must be cheaper, not just as cheap.',
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
    says="You compare the input's width with the next one. What counts is the output's width, at the other end.",
)

compares_the_end_products = mistake(
    "cheaper_mode",
    {CHEAPER: 'return "forward" if dims[0] * dims[1] < dims[-1] * dims[-2] else "reverse"'},
    says="You compare the first product with the last one. Every pass goes through all of them, in both modes: only "
    "the number of passes differs.",
)
