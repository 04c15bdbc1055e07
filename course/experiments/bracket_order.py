"""All bracketings of a product of Jacobians, step by step, and their FLOPs, 2 per multiply-add.

In a chain with widths n_0, n_1, ..., n_k, Jacobian i is n_i × n_(i-1), and the product is J_k ... J_2 J_1, with the
output end on the left, as in the chapter on the chain rule. The widget `bracket_order` computes the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

Tree: TypeAlias = "int | tuple[Tree, Tree]"
"""A Jacobian by its number, or the product of two trees."""


class Product(NamedTuple):
    """One matrix product: the numbers of the first and last Jacobian in it, output end first, and its sizes."""

    first: int
    last: int
    rows: int
    inner: int
    columns: int

    @property
    def flops(self) -> int:
        """One multiplication and one addition for each row, column and inner index."""
        return 2 * self.rows * self.inner * self.columns


def bracketings(first: int, last: int = 1) -> list[Tree]:
    """All bracketings of J_first ... J_last. The first starts at the output end, the last at the input end."""
    if first == last:
        return [first]
    return [
        (left, right)
        for cut in range(last, first)
        for left in bracketings(first, cut + 1)
        for right in bracketings(cut, last)
    ]


def products(tree: Tree, widths: Sequence[int]) -> list[Product]:
    """The products of a bracketing, in order; of two independent ones, that nearer to the output end comes first."""
    if isinstance(tree, int):
        return []
    left, right = tree
    first, cut, last = ends(left)[0], ends(right)[0], ends(right)[1]
    step = Product(first, last, widths[first], widths[cut], widths[last - 1])
    return [*products(left, widths), *products(right, widths), step]


def ends(tree: Tree) -> tuple[int, int]:
    """The numbers of the first and the last Jacobian of a tree, output end first."""
    return (tree, tree) if isinstance(tree, int) else (ends(tree[0])[0], ends(tree[1])[1])


def flops(tree: Tree, widths: Sequence[int]) -> int:
    """The FLOPs of all products of a bracketing."""
    return sum(step.flops for step in products(tree, widths))


def written(tree: Tree) -> str:
    """A bracketing as text: (J₄J₃)J₂ for ((4, 3), 2)."""
    if isinstance(tree, int):
        return "J" + str(tree).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
    return "".join(written(part) if isinstance(part, int) else f"({written(part)})" for part in tree)
