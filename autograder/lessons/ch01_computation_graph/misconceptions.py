"""Wrong answers to ch01_computation_graph that learners write.

Some would take for ever on a graph with many paths. They give up, as the judge would.
"""

from __future__ import annotations

from collections import deque

from autograder.diagnosis import misconception, mistake

PATIENCE = 100_000
"""Steps after which an answer that visits every path gives up."""


# forward

squared_each_term = mistake(
    "forward",
    {"L = e**2": "L = d**2 + c**2"},
    says="The terms were squared one by one. The sum is squared as a whole: L = e², where e is d + c.",
)

doubled_for_squared = mistake(
    "forward",
    {"L = e**2": "L = 2 * e"},
    says="L is twice e here. A square is e times e: e**2 or e * e.",
)

no_square = mistake(
    "forward",
    {"L = e**2": "L = e"},
    says="The square is missing: L is e², not e.",
)

c_after_the_square = mistake(
    "forward",
    {"L = e**2": "L = d**2 + c"},
    says="c was added after the square. It is part of what is squared: L = (a·b + c)².",
)

sum_for_product = mistake(
    "forward",
    {"d = a * b": "d = a + b"},
    says="d is the sum of a and b here; it is their product.",
)

brackets_around_the_sum = mistake(
    "forward",
    {"e = d + c": "e = a * (b + c)"},
    says="a multiplies c as well: e is a·b + c, not a·(b + c).",
)


# backward_by_hand

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


# neuron_gradients

ALL_FOUR = 'return {"w": g * x, "x": g * w, "b": g, "y": -g}'

y_without_its_sign = mistake(
    "neuron_gradients",
    {ALL_FOUR: 'return {"w": g * x, "x": g * w, "b": g, "y": g}'},
    says="The sign of y is wrong: y is subtracted, so its gradient is −2(w·x + b − y).",
)

swapped_w_and_x = mistake(
    "neuron_gradients",
    {ALL_FOUR: 'return {"w": g * w, "x": g * x, "b": g, "y": -g}'},
    says="The gradients of w and x are swapped. The derivative of w·x with respect to w is x: each gets the other.",
)

square_without_its_two = mistake(
    "neuron_gradients",
    {"g = 2 * error": "g = error"},
    says="A factor of 2 is missing: the derivative of r² is 2r.",
)

target_without_gradient = mistake(
    "neuron_gradients",
    {ALL_FOUR: 'return {"w": g * x, "x": g * w, "b": g, "y": 0.0}'},
    says="y got a gradient of 0. A target is data and never trained, but L depends on it all the same: −2(w·x + b − "
    "y).",
)

error_the_other_way_round = mistake(
    "neuron_gradients",
    {
        "error = w * x + b - y": "error = y - (w * x + b)",
        ALL_FOUR: 'return {"w": g * x, "x": g * w, "b": g, "y": g}',
    },
    says="The error was taken as y − (w·x + b), and its inner derivative, −1, was left out. With w·x + b − y the "
    "sign is right by itself.",
)

error_without_target = mistake(
    "neuron_gradients",
    {"error = w * x + b - y": "error = w * x + b"},
    says="The target is missing from the error: the gradient that arrives is 2(w·x + b − y).",
)

b_as_a_factor = mistake(
    "neuron_gradients",
    {ALL_FOUR: 'return {"w": g * x, "x": g * w, "b": g * b, "y": -g}'},
    says="b was treated as a factor. It is added, so it gets the gradient as it is.",
)


# topological_order

FOUND_A_CYCLE = 'raise ValueError(f"{parent} depends on itself")'


def _told_apart_by(what):
    """Of several nodes with the same `what`, the first stays."""
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
    """A right order, without recursion; a ValueError for a cycle."""
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
    says="The nodes were marked as visited, and the marks stay: the next call finds them. Keep a set instead.",
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


# gradient_by_paths

STEPS = "steps = zip(output.parents, output.local_gradients, strict=True)"
SUM_OVER_PARENTS = "return sum((local * gradient_by_paths(parent, leaf) for parent, local in steps), 0.0)"

BY_INDEX = (
    "parents.index finds the first place of a parent. One that is there twice has two local gradients: go through "
    "parents and local gradients side by side, with zip."
)


def _twins(what):
    """A parent that is there twice counts once."""
    return (
        f"A parent that is there twice {what}: a set or a dict of parents keeps only one of the two. Go through "
        "parents and local gradients side by side, with zip."
    )


def _steps(node):
    return list(zip(node.parents, node.local_gradients, strict=True))


first_path_only = mistake(
    "gradient_by_paths",
    {
        SUM_OVER_PARENTS: """\
for parent, local in steps:
    rest = gradient_by_paths(parent, leaf)
    if rest != 0.0:
        return local * rest
return 0.0"""
    },
    says="Only one path counts here, the first that is found. The derivative is the sum over all of them: do not "
    "return from inside the loop.",
)

last_parent_only = mistake(
    "gradient_by_paths",
    {
        SUM_OVER_PARENTS: """\
total = 0.0
for parent, local in steps:
    total = local * gradient_by_paths(parent, leaf)
return total"""
    },
    says="Each parent's part replaced the one before it, so only the last counts. Add them up: += instead of =.",
)

paths_multiplied = mistake(
    "gradient_by_paths",
    {
        SUM_OVER_PARENTS: """\
product, found = 1.0, False
for parent, local in steps:
    rest = gradient_by_paths(parent, leaf)
    if rest != 0.0:
        product, found = product * local * rest, True
return product if found else 0.0"""
    },
    says="The products of the paths were multiplied. Along a path gradients multiply; over different paths they add "
    "up.",
)


@misconception(
    "gradient_by_paths",
    says="The local gradients along a path were added. They multiply: each scales what the steps after it do.",
)
def added_along_the_path(output, leaf):
    def sums(node):
        if node is leaf:
            return [0.0]
        return [local + rest for parent, local in _steps(node) for rest in sums(parent)]

    return 1.0 if output is leaf else sum(sums(output), 0.0)


number_of_paths = mistake(
    "gradient_by_paths",
    {SUM_OVER_PARENTS: "return sum((gradient_by_paths(parent, leaf) for parent, _ in steps), 0.0)"},
    says="This is the number of paths. Each counts with the product of its local gradients, not 1.",
)


@misconception(
    "gradient_by_paths",
    says="A node that one path went through is closed to the others. Paths may share nodes, so keep no set of "
    "visited ones.",
)
def each_node_once(output, leaf):
    seen = set()

    def gradient(node):
        if node is leaf:
            return 1.0
        if node in seen:
            return 0.0
        seen.add(node)
        return sum((local * gradient(parent) for parent, local in _steps(node)), 0.0)

    return gradient(output)


twin_parents_counted_once = mistake(
    "gradient_by_paths",
    {STEPS: "steps = dict(zip(output.parents, output.local_gradients, strict=True)).items()"},
    says=_twins("was counted once"),
)

local_gradient_by_index = mistake(
    "gradient_by_paths",
    {STEPS: "steps = [(p, output.local_gradients[output.parents.index(p)]) for p in output.parents]"},
    says=BY_INDEX,
)

nothing_for_the_output_itself = mistake(
    "gradient_by_paths",
    {
        "return 1.0": "return 0.0",
        SUM_OVER_PARENTS: """\
rest = {parent: 1.0 if parent is leaf else gradient_by_paths(parent, leaf) for parent in output.parents}
return sum((local * rest[parent] for parent, local in steps), 0.0)""",
    },
    says="Where output and leaf are one node, the answer is 1.0: a number moves as much as itself. The empty path "
    "counts.",
)

paths_to_any_leaf = mistake(
    "gradient_by_paths",
    {"if output is leaf:": "if not output.parents:"},
    says="Paths to other leaves were counted, too. A path counts only if it ends at the node that was given; ask `is "
    "leaf`, not whether there are parents.",
)

recognised_by_value = mistake(
    "gradient_by_paths",
    {"if output is leaf:": "if output.value == leaf.value:"},
    says="The leaf was recognised by its value, and another node may have the same. Ask `is leaf`.",
)

recognised_by_name = mistake(
    "gradient_by_paths",
    {"if output is leaf:": "if output.name == leaf.name:"},
    says="The leaf was recognised by its name, and another node may have the same, or none. Ask `is leaf`.",
)


# reverse_sweep

EACH_USE = "for parent, local in zip(node.parents, node.local_gradients, strict=True):"
ADDS_UP = "gradients[parent] += gradients[node] * local"


def _entries(condition):
    """Some entries of the dict are missing."""
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
        for parent, local in _steps(node):
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
        for parent, local in _steps(node):
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
        for parent, local in _steps(node):
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
        for parent, local in _steps(node):
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
        for parent, local in _steps(node):
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
        for parent, local in _steps(node):
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
    says=_twins("got one contribution"),
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
    """Kahn's order: a node comes when all of its uses have, and of several the one that became ready last."""
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
        for parent, local in _steps(node):
            gradients[parent] = gradients[node] * local
    return gradients


# read_torch_graph

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
