"""Wrong answers to gradient_through, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch01_computation_graph.mistakes.walks import PATIENCE, steps_of

BEHIND = "behind = reverse_sweep(node).get(leaf, 0.0)  # over the ways from leaf to node"
AHEAD = "ahead = reverse_sweep(output).get(node, 0.0)  # over the ways from node to output"
PART = "return behind * ahead"

whole_gradient = mistake(
    "gradient_through",
    {PART: "return reverse_sweep(output).get(leaf, 0.0)"},
    says="This is the whole derivative with respect to leaf. Only the paths that lead through node count.",
)

only_up_to_the_node = mistake(
    "gradient_through",
    {PART: "return behind"},
    says="This is the derivative of node with respect to leaf: the first half of the paths. Each goes on from node to "
    "output.",
)

only_from_the_node = mistake(
    "gradient_through",
    {PART: "return ahead"},
    says="This is the derivative of output with respect to node: the second half of the paths. Each begins at leaf.",
)

halves_added = mistake(
    "gradient_through",
    {PART: "return behind + ahead"},
    says="The two halves of the paths were added. Along a path gradients multiply.",
)

whole_for_the_first_half = mistake(
    "gradient_through",
    {BEHIND: "behind = reverse_sweep(output).get(leaf, 0.0)"},
    says="The first half goes from leaf to node, so its derivative is that of node, not of output. Start that sweep at "
    "node.",
)

sweep_from_the_leaf = mistake(
    "gradient_through",
    {BEHIND: "behind = reverse_sweep(leaf).get(node, 0.0)"},
    says="The sweep for the first half started at leaf. It has to start at node: a sweep goes from a result back to "
    "what it was computed from.",
)

no_entry_looked_up = mistake(
    "gradient_through",
    {
        BEHIND: "behind = reverse_sweep(node)[leaf]",
        AHEAD: "ahead = reverse_sweep(output)[node]",
    },
    says="The dict of a sweep has no entry for a node that the sweep does not reach. There is no path, so the part is "
    "0.0.",
)

nothing_through_an_end = mistake(
    "gradient_through",
    {PART: "return 0.0 if node is leaf or node is output else behind * ahead"},
    says="A path leads through its own two ends, too. If node is leaf or output, the part is the whole derivative.",
)


@misconception(
    "gradient_through",
    says="Only one of the ways through node was counted. Add up all of them: every way from leaf to node, with every "
    "way from node to output.",
)
def one_way_through(output, node, leaf):
    def first(start, end):
        if start is end:
            return 1.0
        for parent, local in steps_of(start):
            rest = first(parent, end)
            if rest != 0.0:
                return local * rest
        return 0.0

    return first(output, node) * first(node, leaf)


@misconception(
    "gradient_through",
    says="The paths are walked one by one, and each diamond doubles their number. Find "
    "sums that a sweep gives at once.",
)
def path_by_path(output, node, leaf):
    steps = 0

    def part(start, passed):
        nonlocal steps
        steps += 1
        if steps > PATIENCE:
            raise TimeoutError
        passed = passed or start is node
        if start is leaf:
            return float(passed)
        return sum((local * part(parent, passed) for parent, local in steps_of(start)), 0.0)

    return part(output, False)


told_apart_by_name = mistake(
    "gradient_through",
    {
        BEHIND: "behind = {one.name: g for one, g in reverse_sweep(node).items()}.get(leaf.name, 0.0)",
        AHEAD: "ahead = {one.name: g for one, g in reverse_sweep(output).items()}.get(node.name, 0.0)",
    },
    says="The nodes were told apart by their names, and several may have one name, or none. The nodes themselves are "
    "the keys.",
)

CUT = (
    "The node was cut off from its parents. Nothing is written to the nodes, not even for a while: the graph is not "
    "yours. Two sweeps of the whole graph give both halves of the paths."
)
"""Said of two mistakes that fail the same check."""

cut_and_left = mistake(
    "gradient_through",
    {
        PART: """\
whole = reverse_sweep(output).get(leaf, 0.0)
if node is leaf:
    return whole
node.parents, node.local_gradients = (), ()
if leaf not in reverse_sweep(output):
    return whole
return whole - reverse_sweep(output)[leaf]"""
    },
    says=CUT,
)

cut_for_a_while = mistake(
    "gradient_through",
    {
        PART: """\
whole = reverse_sweep(output).get(leaf, 0.0)
if node is leaf:
    return whole
parents, local_gradients = node.parents, node.local_gradients
node.parents, node.local_gradients = (), ()
try:
    return whole - reverse_sweep(output).get(leaf, 0.0)
finally:
    node.parents, node.local_gradients = parents, local_gradients"""
    },
    says=CUT,
)
