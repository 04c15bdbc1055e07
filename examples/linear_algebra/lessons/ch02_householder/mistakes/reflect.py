"""Wrong answers to reflect, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

RETURN = "return A - 2 * np.outer(v, v @ A)"

reflect_projects = mistake(
    "reflect",
    {RETURN: "return A - np.outer(v, v @ A)"},
    says="That projects on the mirror. A reflection goes as far again behind it: subtract twice as much.",
)
reflect_opposite = mistake(
    "reflect",
    {RETURN: "return 2 * np.outer(v, v @ A) - A"},
    says="That is the reflection with all signs turned: it keeps v, and turns what lies in the mirror.",
)


@misconception("reflect", says="You reflect the rows, A (I − 2 v vᵀ). The columns are to be: (I − 2 v vᵀ) A.")
def reflect_rows(v, A):
    return A - 2 * (A @ v)[:, None] * v
