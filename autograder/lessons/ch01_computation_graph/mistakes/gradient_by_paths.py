"""Wrong answers to gradient_by_paths, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch01_computation_graph.mistakes.walks import BY_INDEX, steps_of, twins

STEPS = "steps = zip(output.parents, output.local_gradients, strict=True)"
SUM_OVER_PARENTS = "return sum((local * gradient_by_paths(parent, leaf) for parent, local in steps), 0.0)"


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
        return [local + rest for parent, local in steps_of(node) for rest in sums(parent)]

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
        return sum((local * gradient(parent) for parent, local in steps_of(node)), 0.0)

    return gradient(output)


twin_parents_counted_once = mistake(
    "gradient_by_paths",
    {STEPS: "steps = dict(zip(output.parents, output.local_gradients, strict=True)).items()"},
    says=twins("was counted once"),
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
