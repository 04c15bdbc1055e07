"""Wrong answers to backward_by_hand, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

swapped_factors = mistake(
    "backward_by_hand",
    {"da = dd * b": "da = dd * a", "db = dd * a": "db = dd * b"},
    says="The gradients of a and b are swapped. The derivative of a·b with respect to a is b: each factor gets the "
    "other.",
)

forgot_the_two = mistake(
    "backward_by_hand",
    {"de = dL * 2 * e": "de = dL * e"},
    says="A factor of 2 is missing: the derivative of e² is 2e.",
)

local_gradients_only = mistake(
    "backward_by_hand",
    {
        'return {"a": da, "b": db, "c": dc, "d": dd, "e": de, "L": dL}': (
            'return {"a": b, "b": a, "c": 1.0, "d": 1.0, "e": de, "L": dL}'
        )
    },
    says="These are the local gradients: how each number moves the next one. Multiply each by the gradient that "
    "arrives from the output, and pass the product on.",
)

started_from_the_value = mistake(
    "backward_by_hand",
    {"dL = 1.0": "dL = e**2"},
    says="The sweep starts from the value of L. It starts from dL/dL, which is 1: L moves as much as itself.",
)

c_as_a_factor = mistake(
    "backward_by_hand",
    {"dc = de": "dc = de * c"},
    says="c was treated as a factor. It is added, and the derivative of d + c with respect to c is 1: c gets what e "
    "has.",
)

shared_at_the_sum = mistake(
    "backward_by_hand",
    {"dd = de": "dd = de / 2", "dc = de": "dc = de / 2"},
    says="The gradient was split between the two terms of the sum. An addition does not share: d and c both get all "
    "of it.",
)

squared_d = mistake(
    "backward_by_hand",
    {"e = a * b + c": "e = a * b"},
    says="The square is one of e, not of d: its derivative is 2e, with c in it.",
)


@misconception(
    "backward_by_hand",
    says="This is how much L changes when a number grows by 1. A derivative is the slope for ever smaller steps; L "
    "curves, so a step of 1 gives something else.",
)
def a_step_of_one(a, b, c):
    def loss(a, b, c):
        return (a * b + c) ** 2

    e = a * b + c
    L, step = e**2, (e + 1) ** 2 - e**2
    return {
        "a": loss(a + 1, b, c) - L,
        "b": loss(a, b + 1, c) - L,
        "c": step,
        "d": step,
        "e": step,
        "L": 1.0,
    }
