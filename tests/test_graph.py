"""The graph given to learners: its local gradients are right, and a node equals only itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from course.graph import Node, add, mul, power


@pytest.mark.parametrize(
    ("build", "value", "local"),
    [
        (lambda a, b: add(a, b), 0.5, (1.0, 1.0)),
        (lambda a, b: mul(a, b), -7.5, (-2.5, 3.0)),
        (lambda a, b: power(a, 2), 9.0, (6.0,)),
        (lambda a, b: mul(b, b), 6.25, (-2.5, -2.5)),
    ],
)
def test_values_and_local_gradients(
    build: Callable[[Node, Node], Node], value: float, local: tuple[float, ...]
) -> None:
    """a = 3, b = -2.5; a node that is used twice is listed twice."""
    node = build(Node(3.0), Node(-2.5))
    assert (node.value, node.local_gradients) == (value, local)
    assert len(node.parents) == len(local)


def test_a_node_equals_only_itself() -> None:
    one, other = Node(1.0, name="a"), Node(1.0, name="a")
    assert one != other
    assert len({one, other, one}) == 2
    assert one.grad is None
    assert repr(one) == "Node(a = 1)"


def test_parents_and_local_gradients_have_equal_length() -> None:
    with pytest.raises(ValueError, match="1 parents and 2 local gradients"):
        Node(1.0, [Node(2.0)], [1.0, 1.0])
