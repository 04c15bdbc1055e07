"""Wrong answers to forward, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

squared_each_term = mistake(
    "forward",
    {"L = e**2": "L = d**2 + c**2"},
    says="The terms were squared one by one. The sum is squared as a whole: L = e², where e is d + c.",
)

doubled_for_squared = mistake(
    "forward",
    {"L = e**2": "L = 2 * e"},
    says="L is twice e here. A square is e times e: e**2 or e * e.",
)

no_square = mistake(
    "forward",
    {"L = e**2": "L = e"},
    says="The square is missing: L is e², not e.",
)

c_after_the_square = mistake(
    "forward",
    {"L = e**2": "L = d**2 + c"},
    says="c was added after the square. It is part of what is squared: L = (a·b + c)².",
)

sum_for_product = mistake(
    "forward",
    {"d = a * b": "d = a + b"},
    says="d is the sum of a and b here; it is their product.",
)

brackets_around_the_sum = mistake(
    "forward",
    {"e = d + c": "e = a * (b + c)"},
    says="a multiplies c as well: e is a·b + c, not a·(b + c).",
)
