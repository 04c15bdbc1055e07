"""A minimal computation graph: numbers with their parents and local gradients."""

from __future__ import annotations

from collections.abc import Sequence


class Node:
    """A number in a computation graph. Nodes are equal only if they are the same object.

    Args:
        value: the number.
        parents: the nodes it was computed from. A node that was used twice appears twice.
        local_gradients: the derivative of `value` with respect to each parent, in the same order.
        name: its name in drawings.

    Raises:
        ValueError: the numbers of parents and local gradients differ.
    """

    def __init__(
        self,
        value: float,
        parents: Sequence[Node] = (),
        local_gradients: Sequence[float] = (),
        name: str = "",
    ) -> None:
        if len(parents) != len(local_gradients):
            raise ValueError(f"{len(parents)} parents and {len(local_gradients)} local gradients")
        self.value = value
        self.parents = tuple(parents)
        self.local_gradients = tuple(local_gradients)
        self.name = name
        self.grad: float | None = None
        """d(output)/d(this node), once a backward pass has set it."""

    def __repr__(self) -> str:
        return f"Node({self.value:g})" if not self.name else f"Node({self.name} = {self.value:g})"


MOST_COMPARISONS = 1_000_000
"""The limit on comparisons of nodes in one graph; sets and dicts need hardly any."""


class CountedNode(Node):
    """A node that counts comparisons, to stop searches through long lists.

    Set `comparisons` to one shared list, `[0]`, for all nodes of a graph. Comparing raises a `RuntimeError` after
    `MOST_COMPARISONS`.
    """

    comparisons: list[int]
    """The number of comparisons in the whole graph so far, in a list."""

    __hash__ = Node.__hash__

    def __eq__(self, other: object) -> bool:
        self.comparisons[0] += 1
        if self.comparisons[0] > MOST_COMPARISONS:
            raise RuntimeError(
                f"nodes were compared {MOST_COMPARISONS:,} times: `in` goes through all of a list, again for each "
                "node. Keep what has been seen in a set"
            )
        return self is other


def add(a: Node, b: Node, name: str = "") -> Node:
    """a + b."""
    return Node(a.value + b.value, (a, b), (1.0, 1.0), name)


def mul(a: Node, b: Node, name: str = "") -> Node:
    """a · b."""
    return Node(a.value * b.value, (a, b), (b.value, a.value), name)


def power(a: Node, exponent: float, name: str = "") -> Node:
    """a to the power of a Python number."""
    return Node(a.value**exponent, (a,), (exponent * a.value ** (exponent - 1),), name)
