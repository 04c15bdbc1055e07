"""Wrong answers to deflate, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

UNIT = "v = vector / np.linalg.norm(vector)"
RETURN = "return A - value * np.outer(v, v)"

deflate_any_length = mistake(
    "deflate",
    {UNIT: "v = vector"},
    says="The outer product projects on v only if v has the length 1: divide the vector by its norm first.",
)
deflate_inner_product = mistake(
    "deflate",
    {RETURN: "return A - value * (v @ v)"},
    says="v · v is a number, and is taken from every entry. Subtract the outer product of v with itself.",
)
deflate_identity = mistake(
    "deflate",
    {RETURN: "return A - value * np.eye(len(v))"},
    says="You shift all eigenvalues by `value`. One alone is to become 0: subtract it along v only.",
)
deflate_added = mistake(
    "deflate",
    {RETURN: "return A + value * np.outer(v, v)"},
    says="You add the eigenvalue's part, which doubles it. Subtract it.",
)
