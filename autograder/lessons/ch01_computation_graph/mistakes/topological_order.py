"""Wrong answers to topological_order, with what is said of them."""

from __future__ import annotations

from collections import deque

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch01_computation_graph.mistakes.walks import PATIENCE

FOUND_A_CYCLE = 'raise ValueError(f"{parent} depends on itself")'


def _told_apart_by(what):
    """The mistake of keeping only the first of several nodes with the same `what`."""
    return mistake(
        "topological_order",
        {
            "return order": f"""\
firsts = {{}}
for node in order:
    firsts.setdefault(node.{what}, node)
return list(firsts.values())"""
        },
        says=f"Nodes were told apart by their {what}s, and {what}s repeat. Put the nodes themselves into the set.",
    )


def _right_order(output):
    """A topological order, computed without recursion. Raises ValueError for a cycle."""
    order, placed, waiting = [], set(), set()
    stack = [output]
    while stack:
        node = stack[-1]
        if node in placed or node in waiting:
            stack.pop()
            if node in waiting:
                waiting.remove(node)
                placed.add(node)
                order.append(node)
        else:
            waiting.add(node)
            if waiting.intersection(node.parents):
                raise ValueError("a node depends on itself")
            stack.extend(node.parents)
    return order


output_first = mistake(
    "topological_order",
    {"return order": "return order[::-1]"},
    says="The order is backwards: the output comes first. Parents come first, the output last.",
)


@misconception(
    "topological_order",
    says="The function calls itself once per step of the chain, and Python allows about 1,000 calls inside calls. "
    "Keep the nodes that still wait in a list of your own.",
)
def recursive(output):
    order, placed, waiting = [], set(), set()

    def visit(node):
        if node in placed:
            return
        if node in waiting:
            raise ValueError("a node depends on itself")
        waiting.add(node)
        for parent in node.parents:
            visit(parent)
        placed.add(node)
        order.append(node)

    visit(output)
    return order


@misconception(
    "topological_order",
    says="This is a breadth-first search, turned round. It orders nodes by their shortest way to the output; a node "
    "that also has a longer way then comes too late. Place a node when all its parents are placed.",
)
def breadth_first_backwards(output):
    _right_order(output)
    order, seen, queue = [], {output}, deque([output])
    while queue:
        node = queue.popleft()
        order.append(node)
        for parent in node.parents:
            if parent not in seen:
                seen.add(parent)
                queue.append(parent)
    return order[::-1]


@misconception(
    "topological_order",
    says="These are the nodes in the order in which a search with a stack finds them, turned round. A node that is "
    "found early by one way may lie behind later ones by another. Place a node when all its parents are placed, not "
    "when it is found.",
)
def found_order_backwards(output):
    _right_order(output)
    order, seen, stack = [], {output}, [output]
    while stack:
        node = stack.pop()
        order.append(node)
        for parent in node.parents:
            if parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return order[::-1]


placed_before_the_visit = mistake(
    "topological_order",
    {
        "order.append(node)": "",
        "open_nodes.add(node)": "open_nodes.add(node)\norder.append(node)",
        "return order": "return order[::-1]",
    },
    says="A node is put into the list before its parents are visited, and the list is turned round. That is not the "
    "same as putting it in after them: a node with several children can land before a parent. Append it when its "
    "parents are done.",
)


@misconception(
    "topological_order",
    says="A node is visited again by every way that leads to it, so it is in the list several times, and a graph "
    "with many ways never ends. Remember in a set which nodes are placed.",
)
def visited_by_every_way(output):
    order = []

    def visit(node):
        for parent in node.parents:
            visit(parent)
        order.append(node)
        if len(order) > PATIENCE:
            raise TimeoutError

    visit(output)
    return order


cycles_go_unnoticed = mistake(
    "topological_order",
    {FOUND_A_CYCLE: "continue"},
    says="A cycle goes unnoticed: raise a ValueError. A node is on one if you reach it again before its parents are "
    "all placed, so keep apart the nodes that are waiting from those that are placed.",
)

lost_in_a_cycle = mistake(
    "topological_order",
    {FOUND_A_CYCLE: "raise TimeoutError"},
    says="A cycle keeps your loop going for ever: its nodes wait for each other, and none is ever placed. Note which "
    "nodes are waiting for their parents; if a parent is one of them, raise a ValueError.",
)

lists_in_place_of_sets = mistake(
    "topological_order",
    {"placed, open_nodes = set(), set()": "placed, open_nodes = order, set()", "placed.add(node)": ""},
    says="Each step looks through all nodes so far: that is what `in` does on a list, and so does a copy. With 100,000 "
    "nodes these are billions of comparisons. Keep the nodes that are placed, and those that wait, in a set: it finds "
    "a node at once.",
)

only_cycles_through_the_output = mistake(
    "topological_order",
    {"if parent in open_nodes:": "if parent is output:"},
    says="Only a cycle through the output is noticed. One further down is an error, too.",
)

a_second_visit_is_a_cycle = mistake(
    "topological_order",
    {
        "stack = [output]": "stack, seen = [output], {output}",
        "if parent in open_nodes:": "if parent in seen:",
        "stack.append(parent)": "seen.add(parent)\nstack.append(parent)",
    },
    says="A node that is reached a second time was taken for a cycle. It may simply have two children; it is a cycle "
    "only if the node is reached again while its own parents are being visited.",
)

a_known_parent_is_a_cycle = mistake(
    "topological_order",
    {"open_nodes.remove(node)": ""},
    says="A parent that is known already was taken for a sign of a cycle. It may be placed, because another child "
    "needed it. It is a cycle only if the parent is still waiting for its own parents: ask for that state.",
)

told_apart_by_name = _told_apart_by("name")

told_apart_by_value = _told_apart_by("value")

marks_on_the_nodes = mistake(
    "topological_order",
    {"placed.add(node)": "placed.add(node)\nnode.visited = True"},
    says="The nodes themselves are marked as visited. A mark changes the caller's graph: keep a set instead.",
)

leaves_left_out = mistake(
    "topological_order",
    {"return order": "return [node for node in order if node.parents]"},
    says="The leaves are missing. They have no parents, and they belong to the order all the same.",
)

output_left_out = mistake(
    "topological_order",
    {"return order": "return order[:-1]"},
    says="The output itself is missing: it is the last of the list.",
)


@misconception(
    "topological_order",
    says="A parent that is there twice was waited for twice and ticked off once, so its child never gets its turn. "
    "Count either different parents or all uses, on both sides.",
)
def waited_twice_ticked_off_once(output):
    nodes = _right_order(output)
    children = {node: set() for node in nodes}
    for node in nodes:
        for parent in node.parents:
            children[parent].add(node)
    waits_for = {node: len(node.parents) for node in nodes}
    order = [node for node in nodes if not node.parents]
    for node in order:  # grows while it is read
        for child in children[node]:
            waits_for[child] -= 1
            if waits_for[child] == 0:
                order.append(child)
    if len(order) < len(nodes):
        raise ValueError("a node depends on itself")
    return order
