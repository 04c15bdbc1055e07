"""Wrong answers to reverse_sweep, with what is said of them."""

from __future__ import annotations

from collections import deque

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch01_computation_graph.mistakes.walks import BY_INDEX, PATIENCE, steps_of, twins

EACH_USE = "for parent, local in zip(node.parents, node.local_gradients, strict=True):"
ADDS_UP = "gradients[parent] += gradients[node] * local"


def _entries(condition):
    """An edit: keep only the entries that meet `condition`."""
    return {"return gradients": f"return {{node: gradient for node, gradient in gradients.items() if {condition}}}"}


replaced_contributions = mistake(
    "reverse_sweep",
    {ADDS_UP: "gradients[parent] = gradients[node] * local"},
    says="A later contribution replaced the earlier ones. A node that is used several times gets their sum: += "
    "instead of =.",
)


@misconception(
    "reverse_sweep",
    says="A node passed its gradient on before all contributions had arrived; what came later never reached its "
    "parents. Take the nodes in reverse topological order.",
)
def first_found_first_passed_on(output):
    gradients, seen, stack = {output: 1.0}, {output}, [output]
    while stack:
        node = stack.pop()
        for parent, local in steps_of(node):
            gradients[parent] = gradients.get(parent, 0.0) + gradients[node] * local
            if parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return gradients


@misconception(
    "reverse_sweep",
    says="The nodes were taken level by level, by their shortest way to the output. A node that a longer way reaches "
    "as well passed its gradient on too early. Take the nodes in reverse topological order.",
)
def level_by_level(output):
    gradients, seen, queue = {output: 1.0}, {output}, deque([output])
    while queue:
        node = queue.popleft()
        for parent, local in steps_of(node):
            gradients[parent] = gradients.get(parent, 0.0) + gradients[node] * local
            if parent not in seen:
                seen.add(parent)
                queue.append(parent)
    return gradients


@misconception(
    "reverse_sweep",
    says="Each time a contribution arrives, the node passes on all it has so far, so the first contributions are "
    "counted again. Let it wait until all are there: reverse topological order, each node once.",
)
def passed_on_at_every_arrival(output):
    gradients, stack, steps = {output: 1.0}, [output], 0
    while stack:
        node = stack.pop()
        for parent, local in steps_of(node):
            gradients[parent] = gradients.get(parent, 0.0) + gradients[node] * local
            stack.append(parent)
            steps += 1
        if steps > PATIENCE:
            raise TimeoutError
    return gradients


@misconception(
    "reverse_sweep",
    says="The walk goes on into a parent as soon as one contribution is there, with all that the parent has so far, so "
    "the first contributions are counted again at the next. Let a node wait until all of its contributions are "
    "there: reverse topological order, each node once.",
)
def walked_on_at_once(output):
    gradients, steps = {output: 1.0}, 0

    def visit(node):
        nonlocal steps
        for parent, local in steps_of(node):
            gradients[parent] = gradients.get(parent, 0.0) + gradients[node] * local
            steps += 1
            if steps > PATIENCE:
                raise TimeoutError
            visit(parent)

    visit(output)
    return gradients


@misconception(
    "reverse_sweep",
    says="A node passes its gradient on when it is reached for the first time, and never again: what arrives later "
    "does not reach its parents. Let a node wait until all contributions are there: reverse topological order.",
)
def passed_on_at_the_first_visit(output):
    gradients, visited = {output: 1.0}, set()

    def visit(node):
        visited.add(node)
        for parent, local in steps_of(node):
            gradients[parent] = gradients.get(parent, 0.0) + gradients[node] * local
            if parent not in visited:
                visit(parent)

    visit(output)
    return gradients


nothing_to_add_to = mistake(
    "reverse_sweep",
    {"gradients = dict.fromkeys(order, 0.0)": "gradients = {}"},
    says="A node has no entry yet when += wants to add to it. Give every node a 0.0 first, or read the old value with "
    "gradients.get(parent, 0.0).",
)


@misconception(
    "reverse_sweep",
    says="Every path is walked on its own, and there are far more paths than edges. Wait until a node's gradient is "
    "complete, then pass it on once.",
)
def path_by_path(output):
    gradients, steps = {}, 0

    def visit(node, gradient):
        nonlocal steps
        gradients[node] = gradients.get(node, 0.0) + gradient
        for parent, local in steps_of(node):
            steps += 1
            if steps > PATIENCE:
                raise TimeoutError
            visit(parent, gradient * local)

    visit(output, 1.0)
    return gradients


swept_parents_first = mistake(
    "reverse_sweep",
    {"for node in reversed(order):": "for node in order:"},
    says="The nodes were taken parents first, when their own gradients were still 0. Backward starts at the output: "
    "reversed(topological_order(output)).",
)

twin_parents_once = mistake(
    "reverse_sweep",
    {EACH_USE: "for parent, local in dict(zip(node.parents, node.local_gradients, strict=True)).items():"},
    says=twins("got one contribution"),
)

found_by_index = mistake(
    "reverse_sweep",
    {EACH_USE: "for parent in node.parents:\n    local = node.local_gradients[node.parents.index(parent)]"},
    says=BY_INDEX,
)

without_the_upstream_gradient = mistake(
    "reverse_sweep",
    {ADDS_UP: "gradients[parent] += local"},
    says="Parents got the local gradients alone. Multiply each by the gradient of the node that passes it on.",
)

leaves_only = mistake(
    "reverse_sweep",
    _entries("not node.parents"),
    says="Only the leaves are in the dict. Every node below the output has an entry.",
)

no_entry_for_the_output = mistake(
    "reverse_sweep",
    _entries("node is not output"),
    says="The output has no entry. It is 1.0: the output moves as much as itself.",
)

no_entry_for_zero = mistake(
    "reverse_sweep",
    _entries("gradient != 0.0"),
    says="A node whose gradient is 0 has no entry. That L does not depend on it is an answer, too: 0.0.",
)

stored_on_the_nodes = mistake(
    "reverse_sweep",
    {"return gradients": "for node in order:\n    node.grad = gradients[node]\nreturn gradients"},
    says="The gradients were stored on the nodes. Here they go into a dict, and the nodes stay as they are; adding "
    "up in .grad is for a later chapter.",
)


@misconception("reverse_sweep", says=replaced_contributions.says)
def replaced_in_another_order(output):
    """The same where nodes without open uses are taken, the last one first."""
    return _overwritten(output, _kahn(output))


@misconception("reverse_sweep", says=replaced_contributions.says)
def replaced_in_recursive_order(output):
    """The same in the order of a recursive walk, parents from left to right."""
    order, seen = [], set()

    def visit(node):
        seen.add(node)
        for parent in node.parents:
            if parent not in seen:
                visit(parent)
        order.append(node)

    visit(output)
    return _overwritten(output, reversed(order))


def _kahn(output):
    """Kahn's order: a node follows all of its uses; of several ready nodes, the latest to become ready comes first."""
    uses, todo = {output: 0}, [output]
    for node in todo:
        for parent in node.parents:
            if parent not in uses:
                todo.append(parent)
            uses[parent] = uses.get(parent, 0) + 1
    ready, order = [output], []
    while ready:
        node = ready.pop()
        order.append(node)
        for parent in node.parents:
            uses[parent] -= 1
            if not uses[parent]:
                ready.append(parent)
    return order


def _overwritten(output, order):
    gradients = {output: 1.0}
    for node in order:
        for parent, local in steps_of(node):
            gradients[parent] = gradients[node] * local
    return gradients
