"""Wrong answers to read_torch_graph, with what is said of them."""

from __future__ import annotations

from collections import deque

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch01_computation_graph.mistakes.walks import PATIENCE

START = "stack = [] if tensor.grad_fn is None else [tensor.grad_fn]"
FOLLOW = "stack.extend(parent for parent, _ in node.next_functions if parent is not None)"
LISTED = "names.append(type(node).__name__)"


def _next(node):
    return [parent for parent, _ in node.next_functions if parent is not None]


own_node_first = mistake(
    "read_torch_graph",
    {"return names": "return names[::-1]"},
    says="The order is backwards: the tensor's own node comes first. Parents first, it comes last.",
)


@misconception(
    "read_torch_graph",
    says="A node is listed again by every way that leads to it. Each is there once: remember the nodes in a set.",
)
def listed_by_every_way(tensor):
    names = []

    def visit(node):
        for parent in _next(node):
            visit(parent)
        names.append(type(node).__name__)
        if len(names) > PATIENCE:
            raise TimeoutError

    if tensor.grad_fn is not None:
        visit(tensor.grad_fn)
    return names


without_the_leaves = mistake(
    "read_torch_graph",
    {"return names": 'return [name for name in names if name != "AccumulateGrad"]'},
    says="The AccumulateGrad nodes are missing. They stand for the leaves that require a gradient and belong to the "
    "graph.",
)

first_input_only = mistake(
    "read_torch_graph",
    {FOLLOW: "stack.extend([parent for parent, _ in node.next_functions if parent is not None][:1])"},
    says="Only the first input of each operation was followed. Go through all of next_functions.",
)

each_name_once = mistake(
    "read_torch_graph",
    {"return names": "return list(dict.fromkeys(names))"},
    says="Each name is there once. Two nodes of one name are still two nodes: remember nodes, not names.",
)


@misconception(
    "read_torch_graph",
    says="This is a breadth-first search, turned round. A node that a longer way reaches as well comes too late: "
    "before one of its parents. List a node when all its parents are listed.",
)
def search_backwards(tensor):
    order, seen = [], set()
    queue = deque([] if tensor.grad_fn is None else [tensor.grad_fn])
    while queue:
        node = queue.popleft()
        if node not in seen:
            seen.add(node)
            order.append(type(node).__name__)
            queue.extend(_next(node))
    return order[::-1]


stack_search_backwards = mistake(
    "read_torch_graph",
    {
        f"if node not in placed:\n    placed.add(node)\n    {LISTED}": "",
        "seen.add(node)": f"seen.add(node)\n{LISTED}",
        "return names": "return names[::-1]",
    },
    says="The nodes were listed in the order in which a search with a stack finds them, turned round. A node with "
    "several children can land before a parent. List a node when all its parents are listed.",
)

none_is_a_node = mistake(
    "read_torch_graph",
    {
        START: "stack = [tensor.grad_fn]",
        FOLLOW: 'stack.extend(parent for parent, _ in getattr(node, "next_functions", ()))',
    },
    says="None was taken for a node. In next_functions it says that an input needs no gradient; and a leaf's grad_fn "
    "is None: no nodes at all.",
)

a_leaf_is_its_own_graph = mistake(
    "read_torch_graph",
    {
        START: f"""\
if tensor.grad_fn is None and tensor.requires_grad:
    return ["AccumulateGrad"]
{START}"""
    },
    says="A leaf has no grad_fn, so its list is empty. Its AccumulateGrad appears only behind what is computed from "
    "it.",
)
