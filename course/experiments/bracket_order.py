"""Every way to bracket a product of Jacobians, step by step, and the FLOPs of each, 2 per multiply-add.

Jacobian i of a chain with the widths n_0, n_1, ..., n_k is n_i × n_(i-1), and the chain is the product J_k ... J_2 J_1,
as the chapter on the chain rule writes it: the output end is on the left. The widget `bracket_order` computes the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

Tree: TypeAlias = "int | tuple[Tree, Tree]"
"""A Jacobian by its number, or the product of two trees."""


class Product(NamedTuple):
    """One step: the numbers of the first and last Jacobian in it, output end first, and its sizes."""

    first: int
    last: int
    rows: int
    inner: int
    columns: int

    @property
    def flops(self) -> int:
        """A multiply and an add for each row, column and inner index."""
        return 2 * self.rows * self.inner * self.columns


def bracketings(first: int, last: int = 1) -> list[Tree]:
    """All brackets of J_first ... J_last. The first starts from the output end, the last from the input end."""
    if first == last:
        return [first]
    return [
        (left, right)
        for cut in range(last, first)
        for left in bracketings(first, cut + 1)
        for right in bracketings(cut, last)
    ]


def products(tree: Tree, widths: Sequence[int]) -> list[Product]:
    """The steps of this order. Where two do not wait for each other, the one nearer to the output end comes first."""
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
    """The FLOPs of all steps."""
    return sum(step.flops for step in products(tree, widths))


def written(tree: Tree) -> str:
    """((4, 3), 2) as (J₄J₃)J₂."""
    if isinstance(tree, int):
        return "J" + str(tree).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
    return "".join(written(part) if isinstance(part, int) else f"({written(part)})" for part in tree)
