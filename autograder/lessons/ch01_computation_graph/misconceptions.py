"""Wrong answers to ch01_computation_graph that learners write.

Some would take for ever on a graph with many paths. They give up, as the judge would.
"""

from __future__ import annotations

from collections import deque

from autograder.diagnosis import misconception

PATIENCE = 100_000
"""Steps after which an answer that visits every path gives up."""


# forward


@misconception(
    "forward", says="The terms were squared one by one. The sum is squared as a whole: L = e², where e is d + c."
)
def squared_each_term(a, b, c):
    return {"d": a * b, "e": a * b + c, "L": (a * b) ** 2 + c**2}


@misconception("forward", says="L is twice e here. A square is e times e: e**2 or e * e.")
def doubled_for_squared(a, b, c):
    return {"d": a * b, "e": a * b + c, "L": 2 * (a * b + c)}


@misconception("forward", says="The square is missing: L is e², not e.")
def no_square(a, b, c):
    return {"d": a * b, "e": a * b + c, "L": a * b + c}


@misconception("forward", says="c was added after the square. It is part of what is squared: L = (a·b + c)².")
def c_after_the_square(a, b, c):
    return {"d": a * b, "e": a * b + c, "L": (a * b) ** 2 + c}


@misconception("forward", says="d is the sum of a and b here; it is their product.")
def sum_for_product(a, b, c):
    return {"d": a + b, "e": a + b + c, "L": (a + b + c) ** 2}


@misconception("forward", says="a multiplies c as well: e is a·b + c, not a·(b + c).")
def brackets_around_the_sum(a, b, c):
    e = a * (b + c)
    return {"d": a * b, "e": e, "L": e**2}


# backward_by_hand


def _by_hand(a, b, de, dd, dc, dL=1.0):
    return {"a": dd * b, "b": dd * a, "c": dc, "d": dd, "e": de, "L": dL}


@misconception(
    "backward_by_hand",
    says="The gradients of a and b are swapped. The derivative of a·b with respect to a is b: each factor gets the "
    "other.",
)
def swapped_factors(a, b, c):
    g = 2 * (a * b + c)
    return {"a": g * a, "b": g * b, "c": g, "d": g, "e": g, "L": 1.0}


@misconception("backward_by_hand", says="A factor of 2 is missing: the derivative of e² is 2e.")
def forgot_the_two(a, b, c):
    e = a * b + c
    return _by_hand(a, b, e, e, e)


@misconception(
    "backward_by_hand",
    says="These are the local gradients: how each number moves the next one. Multiply each by the gradient that "
    "arrives from the output, and pass the product on.",
)
def local_gradients_only(a, b, c):
    return {"a": b, "b": a, "c": 1.0, "d": 1.0, "e": 2 * (a * b + c), "L": 1.0}


@misconception(
    "backward_by_hand",
    says="The sweep starts from the value of L. It starts from dL/dL, which is 1: L moves as much as itself.",
)
def started_from_the_value(a, b, c):
    e = a * b + c
    g = e**2 * 2 * e
    return _by_hand(a, b, g, g, g, e**2)


@misconception(
    "backward_by_hand",
    says="c was treated as a factor. It is added, and the derivative of d + c with respect to c is 1: c gets what e "
    "has.",
)
def c_as_a_factor(a, b, c):
    g = 2 * (a * b + c)
    return _by_hand(a, b, g, g, g * c)


@misconception(
    "backward_by_hand",
    says="The gradient was split between the two terms of the sum. An addition does not share: d and c both get all "
    "of it.",
)
def shared_at_the_sum(a, b, c):
    g = 2 * (a * b + c)
    return _by_hand(a, b, g, g / 2, g / 2)


@misconception("backward_by_hand", says="The square is one of e, not of d: its derivative is 2e, with c in it.")
def squared_d(a, b, c):
    g = 2 * a * b
    return _by_hand(a, b, g, g, g)


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


@misconception("neuron_gradients", says="The sign of y is wrong: y is subtracted, so its gradient is −2(w·x + b − y).")
def y_without_its_sign(w, x, b, y):
    g = 2 * (w * x + b - y)
    return {"w": g * x, "x": g * w, "b": g, "y": g}


@misconception(
    "neuron_gradients",
    says="The gradients of w and x are swapped. The derivative of w·x with respect to w is x: each gets the other.",
)
def swapped_w_and_x(w, x, b, y):
    g = 2 * (w * x + b - y)
    return {"w": g * w, "x": g * x, "b": g, "y": -g}


@misconception("neuron_gradients", says="A factor of 2 is missing: the derivative of r² is 2r.")
def square_without_its_two(w, x, b, y):
    g = w * x + b - y
    return {"w": g * x, "x": g * w, "b": g, "y": -g}


@misconception(
    "neuron_gradients",
    says="y got a gradient of 0. A target is data and never trained, but L depends on it all the same: −2(w·x + b − "
    "y).",
)
def target_without_gradient(w, x, b, y):
    g = 2 * (w * x + b - y)
    return {"w": g * x, "x": g * w, "b": g, "y": 0.0}


@misconception(
    "neuron_gradients",
    says="The error was taken as y − (w·x + b), and its inner derivative, −1, was left out. With w·x + b − y the "
    "sign is right by itself.",
)
def error_the_other_way_round(w, x, b, y):
    g = 2 * (y - w * x - b)
    return {"w": g * x, "x": g * w, "b": g, "y": g}


@misconception(
    "neuron_gradients", says="The target is missing from the error: the gradient that arrives is 2(w·x + b − y)."
)
def error_without_target(w, x, b, y):
    g = 2 * (w * x + b)
    return {"w": g * x, "x": g * w, "b": g, "y": -g}


@misconception("neuron_gradients", says="b was treated as a factor. It is added, so it gets the gradient as it is.")
def b_as_a_factor(w, x, b, y):
    g = 2 * (w * x + b - y)
    return {"w": g * x, "x": g * w, "b": g * b, "y": -g}


# topological_order


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


def _any_order(output):
    """An order that is right unless there is a cycle, which it does not see."""
    order, placed, seen = [], set(), set()
    stack = [output]
    while stack:
        node = stack[-1]
        if node in seen:
            stack.pop()
            if node not in placed:
                placed.add(node)
                order.append(node)
        else:
            seen.add(node)
            stack.extend(parent for parent in node.parents if parent not in seen)
    return order


@misconception(
    "topological_order", says="The order is backwards: the output comes first. Parents come first, the output last."
)
def output_first(output):
    return _right_order(output)[::-1]


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


@misconception(
    "topological_order",
    says="A node is put into the list before its parents are visited, and the list is turned round. That is not the "
    "same as putting it in after them: a node with several children can land before a parent. Append it when its "
    "parents are done.",
)
def placed_before_the_visit(output):
    _right_order(output)
    order, seen, stack = [], set(), [output]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            stack.extend(node.parents)
    return order[::-1]


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


@misconception(
    "topological_order",
    says="A cycle goes unnoticed: raise a ValueError. A node is on one if you reach it again before its parents are "
    "all placed, so keep apart the nodes that are waiting from those that are placed.",
)
def cycles_go_unnoticed(output):
    return _any_order(output)


@misconception(
    "topological_order",
    says="A cycle keeps your loop going for ever: its nodes wait for each other, and none is ever placed. Note which "
    "nodes are waiting for their parents; if a parent is one of them, raise a ValueError.",
)
def lost_in_a_cycle(output):
    try:
        return _right_order(output)
    except ValueError:
        raise TimeoutError from None


@misconception(
    "topological_order",
    says="Each step looks through all nodes so far: that is what `in` does on a list, and so does a copy. With 100,000 "
    "nodes these are billions of comparisons. Keep the nodes that are placed, and those that wait, in a set: it finds "
    "a node at once.",
)
def lists_in_place_of_sets(output):
    order = _right_order(output)
    if len(order) >= PATIENCE:
        raise TimeoutError
    return order


@misconception(
    "topological_order",
    says="Only a cycle through the output is noticed. One further down is an error, too.",
)
def only_cycles_through_the_output(output):
    order = _any_order(output)
    if any(output in node.parents for node in order):
        raise ValueError("the output depends on itself")
    return order


@misconception(
    "topological_order",
    says="A node that is reached a second time was taken for a cycle. It may simply have two children; it is a cycle "
    "only if the node is reached again while its own parents are being visited.",
)
def a_second_visit_is_a_cycle(output):
    seen = {output}
    order = _right_order(output)
    for node in order:
        for parent in node.parents:
            if parent in seen:
                raise ValueError("a node depends on itself")
            seen.add(parent)
    return order


@misconception(
    "topological_order",
    says="A parent that is known already was taken for a sign of a cycle. It may be placed, because another child "
    "needed it. It is a cycle only if the parent is still waiting for its own parents: ask for that state.",
)
def a_known_parent_is_a_cycle(output):
    order, known, placed, stack = [], set(), set(), [output]
    while stack:
        node = stack[-1]
        if node in known:
            stack.pop()
            if node not in placed:
                placed.add(node)
                order.append(node)
        else:
            known.add(node)
            if known.intersection(node.parents):
                raise ValueError("a node depends on itself")
            stack.extend(node.parents)
    return order


@misconception(
    "topological_order",
    says="Nodes were told apart by their names, and names repeat. Put the nodes themselves into the set.",
)
def told_apart_by_name(output):
    order, names = [], set()
    for node in _right_order(output):
        if node.name not in names:
            names.add(node.name)
            order.append(node)
    return order


@misconception(
    "topological_order",
    says="Nodes were told apart by their values, and values repeat. Put the nodes themselves into the set.",
)
def told_apart_by_value(output):
    order, values = [], set()
    for node in _right_order(output):
        if node.value not in values:
            values.add(node.value)
            order.append(node)
    return order


@misconception(
    "topological_order",
    says="The nodes were marked as visited, and the marks stay: the next call finds them. Keep a set instead.",
)
def marks_on_the_nodes(output):
    order = _right_order(output)
    for node in order:
        node.visited = True
    return order


@misconception(
    "topological_order", says="The leaves are missing. They have no parents, and they belong to the order all the same."
)
def leaves_left_out(output):
    return [node for node in _right_order(output) if node.parents]


@misconception("topological_order", says="The output itself is missing: it is the last of the list.")
def output_left_out(output):
    return _right_order(output)[:-1]


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


def _steps(node):
    return list(zip(node.parents, node.local_gradients, strict=True))


@misconception(
    "gradient_by_paths",
    says="Only one path counts here, the first that is found. The derivative is the sum over all of them: do not "
    "return from inside the loop.",
)
def first_path_only(output, leaf):
    if output is leaf:
        return 1.0
    for parent, local in _steps(output):
        rest = first_path_only(parent, leaf)
        if rest != 0.0:
            return local * rest
    return 0.0


@misconception(
    "gradient_by_paths",
    says="Each parent's part replaced the one before it, so only the last counts. Add them up: += instead of =.",
)
def last_parent_only(output, leaf):
    if output is leaf:
        return 1.0
    total = 0.0
    for parent, local in _steps(output):
        total = local * last_parent_only(parent, leaf)
    return total


@misconception(
    "gradient_by_paths",
    says="The products of the paths were multiplied. Along a path gradients multiply; over different paths they add "
    "up.",
)
def paths_multiplied(output, leaf):
    if output is leaf:
        return 1.0
    product, found = 1.0, False
    for parent, local in _steps(output):
        rest = paths_multiplied(parent, leaf)
        if rest != 0.0:
            product, found = product * local * rest, True
    return product if found else 0.0


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


@misconception(
    "gradient_by_paths", says="This is the number of paths. Each counts with the product of its local gradients, not 1."
)
def number_of_paths(output, leaf):
    if output is leaf:
        return 1.0
    return sum((number_of_paths(parent, leaf) for parent in output.parents), 0.0)


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


@misconception(
    "gradient_by_paths",
    says="A parent that is there twice was counted once: a set or a dict of parents keeps only one of the two. Go "
    "through parents and local gradients side by side, with zip.",
)
def twin_parents_counted_once(output, leaf):
    if output is leaf:
        return 1.0
    steps = dict(_steps(output))
    return sum((local * twin_parents_counted_once(parent, leaf) for parent, local in steps.items()), 0.0)


@misconception(
    "gradient_by_paths",
    says="parents.index finds the first place of a parent. One that is there twice has two local gradients: go "
    "through parents and local gradients side by side, with zip.",
)
def local_gradient_by_index(output, leaf):
    if output is leaf:
        return 1.0
    total = 0.0
    for parent in output.parents:
        local = output.local_gradients[output.parents.index(parent)]
        total += local * local_gradient_by_index(parent, leaf)
    return total


@misconception(
    "gradient_by_paths",
    says="Where output and leaf are one node, the answer is 1.0: a number moves as much as itself. The empty path "
    "counts.",
)
def nothing_for_the_output_itself(output, leaf):
    def gradient(node):
        return 1.0 if node is leaf else sum((local * gradient(parent) for parent, local in _steps(node)), 0.0)

    return 0.0 if output is leaf else gradient(output)


@misconception(
    "gradient_by_paths",
    says="Paths to other leaves were counted, too. A path counts only if it ends at the node that was given; ask `is "
    "leaf`, not whether there are parents.",
)
def paths_to_any_leaf(output, leaf):
    if not output.parents:
        return 1.0
    return sum((local * paths_to_any_leaf(parent, leaf) for parent, local in _steps(output)), 0.0)


@misconception(
    "gradient_by_paths",
    says="The leaf was recognised by its value, and another node may have the same. Ask `is leaf`.",
)
def recognised_by_value(output, leaf):
    if output.value == leaf.value:
        return 1.0
    return sum((local * recognised_by_value(parent, leaf) for parent, local in _steps(output)), 0.0)


@misconception(
    "gradient_by_paths",
    says="The leaf was recognised by its name, and another node may have the same, or none. Ask `is leaf`.",
)
def recognised_by_name(output, leaf):
    if output.name == leaf.name:
        return 1.0
    return sum((local * recognised_by_name(parent, leaf) for parent, local in _steps(output)), 0.0)


# reverse_sweep


@misconception(
    "reverse_sweep",
    says="A later contribution replaced the earlier ones. A node that is used several times gets their sum: += "
    "instead of =.",
)
def replaced_contributions(output):
    gradients = {output: 1.0}
    for node in reversed(_right_order(output)):
        for parent, local in _steps(node):
            gradients[parent] = gradients[node] * local
    return gradients


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


@misconception(
    "reverse_sweep",
    says="A node has no entry yet when += wants to add to it. Give every node a 0.0 first, or read the old value with "
    "gradients.get(parent, 0.0).",
)
def nothing_to_add_to(output):
    gradients = {output: 1.0}
    for node in reversed(_right_order(output)):
        for parent, local in _steps(node):
            gradients[parent] += gradients[node] * local
    return gradients


@misconception(
    "reverse_sweep",
    says="The values are right, but every path is walked on its own, and there are far more paths than edges. Wait "
    "until a node's gradient is complete, then pass it on once.",
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


def _swept(output, steps=_steps, order=lambda output: reversed(_right_order(output))):
    gradients = dict.fromkeys(_right_order(output), 0.0)
    gradients[output] = 1.0
    for node in order(output):
        for parent, local in steps(node):
            gradients[parent] += gradients[node] * local
    return gradients


@misconception(
    "reverse_sweep",
    says="The nodes were taken parents first, when their own gradients were still 0. Backward starts at the output: "
    "reversed(topological_order(output)).",
)
def swept_parents_first(output):
    return _swept(output, order=_right_order)


@misconception(
    "reverse_sweep",
    says="A parent that is there twice got one contribution: a set or a dict of parents keeps only one of the two. "
    "Go through parents and local gradients side by side, with zip.",
)
def twin_parents_once(output):
    return _swept(output, lambda node: list(dict(_steps(node)).items()))


@misconception(
    "reverse_sweep",
    says="parents.index finds the first place of a parent. One that is there twice has two local gradients: go "
    "through parents and local gradients side by side, with zip.",
)
def found_by_index(output):
    return _swept(output, lambda node: [(p, node.local_gradients[node.parents.index(p)]) for p in node.parents])


@misconception(
    "reverse_sweep",
    says="Parents got the local gradients alone. Multiply each by the gradient of the node that passes it on.",
)
def without_the_upstream_gradient(output):
    gradients = dict.fromkeys(_right_order(output), 0.0)
    gradients[output] = 1.0
    for node in reversed(_right_order(output)):
        for parent, local in _steps(node):
            gradients[parent] += local
    return gradients


@misconception("reverse_sweep", says="Only the leaves are in the dict. Every node below the output has an entry.")
def leaves_only(output):
    return {node: gradient for node, gradient in _swept(output).items() if not node.parents}


@misconception("reverse_sweep", says="The output has no entry. It is 1.0: the output moves as much as itself.")
def no_entry_for_the_output(output):
    return {node: gradient for node, gradient in _swept(output).items() if node is not output}


@misconception(
    "reverse_sweep",
    says="A node whose gradient is 0 has no entry. That L does not depend on it is an answer, too: 0.0.",
)
def no_entry_for_zero(output):
    return {node: gradient for node, gradient in _swept(output).items() if gradient != 0.0}


@misconception(
    "reverse_sweep",
    says="The gradients were stored on the nodes. Here they go into a dict, and the nodes stay as they are; adding "
    "up in .grad is for a later chapter.",
)
def stored_on_the_nodes(output):
    gradients = _swept(output)
    for node, gradient in gradients.items():
        node.grad = gradient
    return gradients


# read_torch_graph


def _next(node):
    return [parent for parent, _ in node.next_functions if parent is not None]


def _nodes(tensor, following=_next):
    """The autograd nodes behind a tensor, parents first, each once."""
    order, seen, placed = [], set(), set()
    stack = [] if tensor.grad_fn is None else [tensor.grad_fn]
    while stack:
        node = stack[-1]
        if node not in seen:
            seen.add(node)
            stack.extend(following(node))
        else:
            stack.pop()
            if node not in placed:
                placed.add(node)
                order.append(node)
    return order


def _named(nodes):
    return [type(node).__name__ for node in nodes]


@misconception(
    "read_torch_graph", says="The order is backwards: the tensor's own node comes first. Parents first, it comes last."
)
def own_node_first(tensor):
    return _named(_nodes(tensor))[::-1]


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


@misconception(
    "read_torch_graph",
    says="The AccumulateGrad nodes are missing. They stand for the leaves that require a gradient and belong to the "
    "graph.",
)
def without_the_leaves(tensor):
    return [name for name in _named(_nodes(tensor)) if name != "AccumulateGrad"]


@misconception(
    "read_torch_graph",
    says="Only the first input of each operation was followed. Go through all of next_functions.",
)
def first_input_only(tensor):
    return _named(_nodes(tensor, lambda node: _next(node)[:1]))


@misconception(
    "read_torch_graph",
    says="Each name is there once. Two nodes of one name are still two nodes: remember nodes, not names.",
)
def each_name_once(tensor):
    return list(dict.fromkeys(_named(_nodes(tensor))))


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
            order.append(node)
            queue.extend(_next(node))
    return _named(order[::-1])


@misconception(
    "read_torch_graph",
    says="The nodes were listed in the order in which a search with a stack finds them, turned round. A node with "
    "several children can land before a parent. List a node when all its parents are listed.",
)
def stack_search_backwards(tensor):
    order, seen, stack = [], set(), [] if tensor.grad_fn is None else [tensor.grad_fn]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            stack.extend(_next(node))
    return _named(order[::-1])


@misconception(
    "read_torch_graph",
    says="None was taken for a node. In next_functions it says that an input needs no gradient; and a leaf's grad_fn "
    "is None: no nodes at all.",
)
def none_is_a_node(tensor):
    names, seen, placed = [], set(), set()
    stack = [tensor.grad_fn]
    while stack:
        node = stack[-1]
        if node not in seen:
            seen.add(node)
            stack.extend(parent for parent, _ in getattr(node, "next_functions", ()))
        else:
            stack.pop()
            if node not in placed:
                placed.add(node)
                names.append(type(node).__name__)
    return names


@misconception(
    "read_torch_graph",
    says="A leaf has no grad_fn, so its list is empty. Its AccumulateGrad appears only behind what is computed from "
    "it.",
)
def a_leaf_is_its_own_graph(tensor):
    if tensor.grad_fn is None and tensor.requires_grad:
        return ["AccumulateGrad"]
    return _named(_nodes(tensor))
