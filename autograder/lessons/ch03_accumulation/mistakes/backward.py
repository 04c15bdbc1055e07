"""Wrong answers to backward, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch03_accumulation.mistakes.walks import RECURSIVE, SEEN_IN_A_LIST

IN_REVERSE = "for node in reversed(topological_order(output)):"
SENDS = "gradients[parent] = gradients.get(parent, 0.0) + g * local"
USES = "zip(node.parents, node.local_gradients, strict=True)"
ADDS = "node.grad = g if node.grad is None else node.grad + g"

SEEDED_WITH_THE_OLD = (
    "The sweep started with output.grad + 1, and what earlier calls left in output.grad went down a second time. "
    "It starts with 1; the old .grad is added at the end"
)
BEFORE_ALL_ITS_USES = "A node passed on its gradient before all its uses had sent theirs: nodes were taken"


def _in_grad_alone(seed, sends):
    """An edit: pass on .grad instead of keeping this call's gradients in a dict."""
    return {
        "gradients = {output: 1.0}": seed,
        "g = gradients[node]": "g = node.grad",
        SENDS: sends,
        f"for node, g in gradients.items():\n    {ADDS}": "",
    }


def _as_they_are_found(taken):
    """An edit: instead of the reversed order, take nodes from a list of those found, by `taken`."""
    walk = f"""
found, seen = [output], {{output}}
while found:
    node = found.{taken}
    new = [parent for parent in dict.fromkeys(node.parents) if parent not in seen]
    seen.update(new)
    found.extend(new)
"""
    return {IN_REVERSE: walk}


passes_on_old_gradients = mistake(
    "backward",
    _in_grad_alone("output.grad = 1.0", "parent.grad = (parent.grad or 0.0) + g * local"),
    says="Nodes pass on their .grad, and .grad still holds what earlier calls left there, which goes down a second "
    "time. Collect the gradients of this call apart, and add them to .grad at the end. (The output's own .grad was "
    "overwritten, too.)",
)

passes_on_old_gradients_and_seed = mistake(
    "backward",
    _in_grad_alone("output.grad = (output.grad or 0.0) + 1.0", "parent.grad = (parent.grad or 0.0) + g * local"),
    says="Nodes pass on their .grad, and .grad still holds what earlier calls left there, the output's included. "
    "Collect the gradients of this call apart, and add them to .grad at the end.",
)

seeded_with_the_old_gradient = mistake(
    "backward",
    {"gradients = {output: 1.0}": "gradients = {output: (output.grad or 0.0) + 1.0}"},
    says=f"{SEEDED_WITH_THE_OLD}, on every node.",
)

seeded_and_kept_the_old_gradient = mistake(
    "backward",
    {
        "gradients = {output: 1.0}": "gradients = {output: (output.grad or 0.0) + 1.0}",
        ADDS: "node.grad = g if node.grad is None or node is output else node.grad + g",
    },
    says=f"{SEEDED_WITH_THE_OLD}, as on all the other nodes.",
)

added_to_none = mistake(
    "backward",
    {ADDS: "node.grad += g"},
    says="A .grad of None counts as 0, and None + a number is refused: node.grad = (node.grad or 0.0) + g.",
)

added_to_none_on_the_way = mistake(
    "backward",
    _in_grad_alone("output.grad = 1.0", "parent.grad += g * local"),
    says="A .grad of None counts as 0, and None + a number is refused. And keep the gradients of this call in a dict: "
    "what stands in .grad from earlier calls must not be passed on.",
)

looked_up_too_early = mistake(
    "backward",
    {IN_REVERSE: "for node in topological_order(output):"},
    says="A node was looked up in the dict before it had a gradient. Either `reversed` is missing, as a topological "
    "order begins with the leaves, or += met a parent for the first time: gradients.get(parent, 0.0).",
)

passed_on_too_early = mistake(
    "backward",
    {
        IN_REVERSE: "for node in topological_order(output):",
        "g = gradients[node]": "",
        SENDS: "gradients[parent] = gradients.get(parent, 0.0) + gradients[node] * local",
    },
    says="A node was looked up in the dict before it had a gradient: is `reversed` missing? A topological order begins "
    "with the leaves, and the gradients with the output.",
)

seen_in_a_list = mistake(
    "backward",
    {
        "order, seen, stack = [], set(), [(output, False)]": "order, seen, stack = [], [], [(output, False)]",
        "seen.add(node)": "seen.append(node)",
    },
    says=SEEN_IN_A_LIST,
    where="topological_order",
)

overwrites_grad = mistake(
    "backward",
    {ADDS: "node.grad = g"},
    says="The gradients of this call replaced what stood in .grad: it was overwritten, or cleared first. Calls add "
    "up: node.grad += this call's gradient, with None as 0.",
)

fills_only_none = mistake(
    "backward",
    {ADDS: "if node.grad is None:\n    node.grad = g"},
    says="Only a .grad of None was filled; one that was there stayed as it was. This call's gradient is added to it.",
)

intermediates_start_afresh = mistake(
    "backward",
    {ADDS: "node.grad = g if node.grad is None or node.parents else node.grad + g"},
    says="The gradients of leaves add up over calls, those of the nodes between start afresh with each. Here every "
    "node keeps what it had, and adds.",
)

overwrites_fan_out = mistake(
    "backward",
    {SENDS: "gradients[parent] = g * local"},
    says="A node that was used several times got the gradient of one use only: = where += belongs. Add what each use "
    "sends back.",
)

repeated_parent_counted_once = mistake(
    "backward",
    {f"for parent, local in {USES}:": f"for parent, local in dict({USES}).items():"},
    says="A parent that stands twice in .parents, as in a * a, was counted once: in a dict or a set of parents one of "
    "the two is lost. Walk over parents and local gradients together, with zip.",
)

depth_first = mistake(
    "backward",
    _as_they_are_found("pop()"),
    says=f"{BEFORE_ALL_ITS_USES} from a stack as they were found. Walk in reverse topological order, where every use "
    "of a node comes before it.",
)

breadth_first = mistake(
    "backward",
    _as_they_are_found("pop(0)"),
    says=f"{BEFORE_ALL_ITS_USES} level by level, breadth first, and a node may be reached by a short path before a "
    "long one. Walk in reverse topological order.",
)

from_the_leaves_up = mistake(
    "backward",
    {IN_REVERSE: "for node in topological_order(output):", "g = gradients[node]": "g = gradients.get(node, 0.0)"},
    says="The walk went from the leaves to the output, when nobody had a gradient to pass on yet. A topological order "
    "has parents first: walk it in reverse.",
)


@misconception(
    "backward",
    says="Every path was walked on its own: the right sum, but the number of paths doubles with every node that is "
    "used twice. Come to each node once, and pass on the sum when it is complete.",
)
def path_by_path(output):
    stack = [(output, 1.0)]
    while stack:
        node, g = stack.pop()
        node.grad = (node.grad or 0.0) + g
        uses = zip(node.parents, node.local_gradients, strict=True)
        stack.extend((parent, g * local) for parent, local in uses)


@misconception("backward", replaces="topological_order", says=RECURSIVE)
def recursive(output):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(output)
    return order


leaves_only = mistake(
    "backward",
    {ADDS: f"if not node.parents:\n    {ADDS}"},
    says="Only leaves got a .grad, as in PyTorch. Here every node that was reached gets one.",
)

not_the_output = mistake(
    "backward",
    {ADDS: f"if node is not output:\n    {ADDS}"},
    says="The output itself got no gradient: d(output)/d(output) is 1, and is added like the rest.",
)

seeded_with_the_value = mistake(
    "backward",
    {"gradients = {output: 1.0}": "gradients = {output: output.value}"},
    says="The sweep started with the output's value. It starts with d(output)/d(output), which is 1.",
)

marks_left_on_nodes = mistake(
    "backward",
    {"elif node not in seen:": "elif not hasattr(node, 'visited'):", "seen.add(node)": "node.visited = True"},
    says="Nodes were marked as visited, and the marks were still there in the next call, which then did not enter "
    "them. Keep what has been seen in a set of this call's own.",
    where="topological_order",
)


@misconception(
    "backward",
    says="Each time a node is reached it passes on all of its .grad, so that what came first is counted again. Let a "
    "node wait until all contributions are there: reverse topological order, each node once.",
)
def passed_on_each_time(output):
    output.grad = 1.0 if output.grad is None else output.grad + 1.0
    stack, steps = [output], 0
    while stack:
        node = stack.pop()
        for parent, local in zip(node.parents, node.local_gradients, strict=True):
            parent.grad = (parent.grad or 0.0) + node.grad * local
            stack.append(parent)
            steps += 1
        if steps > 100_000:
            raise TimeoutError
