"""Wrong answers to zero_grad, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch03_accumulation.mistakes.walks import RECURSIVE, SEEN_IN_A_LIST

EVERY_NODE = "for node in topological_order(output):"

nothing_cleared = mistake(
    "zero_grad",
    {"node.grad = None": "node.grad"},
    says="Nothing was cleared: every node has the .grad that it had before. Set .grad to None or 0 on each.",
)

only_the_output = mistake(
    "zero_grad",
    {EVERY_NODE: "for node in [output]:"},
    says="Only the output was cleared. Everything that it depends on holds a gradient, too: walk the graph.",
)

one_level_down = mistake(
    "zero_grad",
    {EVERY_NODE: "for node in [output, *output.parents]:"},
    says="Only the output and its parents were cleared: the parents have parents. Walk on until there are none.",
)

only_leaves = mistake(
    "zero_grad",
    {"node.grad = None": "if not node.parents:\n    node.grad = None"},
    says="Only the leaves were cleared. The nodes between them and the output have a .grad as well here.",
)

not_the_leaves = mistake(
    "zero_grad",
    {"node.grad = None": "if node.parents:\n    node.grad = None"},
    says="The leaves were not cleared: they are nodes like the others, without parents.",
)

all_but_the_output = mistake(
    "zero_grad",
    {"node.grad = None": "if node is not output:\n    node.grad = None"},
    says="The output itself was not cleared: it holds its own gradient.",
)


@misconception(
    "zero_grad", says="Only the first parent of each node was followed. A node may have several: go to all of them."
)
def along_first_parents(output):
    node = output
    while node is not None:
        node.grad = None
        node = node.parents[0] if node.parents else None


@misconception(
    "zero_grad",
    says="The walk stopped at nodes whose .grad was None or 0 already, and what stands below them may not be. "
    "Remember what you have seen in a set, not in .grad.",
)
def stops_where_there_is_nothing(output):
    stack = [output]
    while stack:
        node = stack.pop()
        if node.grad:
            node.grad = None
            stack.extend(node.parents)


@misconception(
    "zero_grad",
    says="The walk stopped at nodes whose .grad was None already, and what stands below them may have one. Remember "
    "what you have seen in a set, not in .grad.",
)
def stops_at_none(output):
    stack = [output]
    while stack:
        node = stack.pop()
        if node.grad is not None:
            node.grad = None
            stack.extend(node.parents)


@misconception("zero_grad", says=SEEN_IN_A_LIST)
def cleared_in_a_list(output):
    stack, seen = [output], []
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.append(node)
            node.grad = None
            stack.extend(node.parents)


@misconception("zero_grad", says=RECURSIVE)
def recursive_clearing(output, seen=None):
    seen = set() if seen is None else seen
    if output not in seen:
        seen.add(output)
        output.grad = None
        for parent in output.parents:
            recursive_clearing(parent, seen)


@misconception(
    "zero_grad",
    says="Every path was walked on its own, and the number of paths doubles with every node that is used twice. "
    "Remember which nodes you have seen, and enter each once.",
)
def clearing_path_by_path(output):
    stack = [output]
    while stack:
        node = stack.pop()
        node.grad = None
        stack.extend(node.parents)


@misconception(
    "zero_grad",
    says="Nodes were marked as cleared, and the marks were still there in the next call, which then did nothing. Keep "
    "what has been seen in a set of this call's own.",
)
def clearing_marks_left(output):
    stack = [output]
    while stack:
        node = stack.pop()
        if not hasattr(node, "cleared"):
            node.cleared = True
            node.grad = None
            stack.extend(node.parents)


deletes_the_attribute = mistake(
    "zero_grad",
    {"node.grad = None": "del node.grad"},
    says="The attribute was deleted. Set .grad to None or 0: whoever reads it next finds nothing there.",
)
