"""Sweeps over a copy of the graph, to which anything may be written."""

from course.graph import Node


def topological_order(output):
    order, marked = [], set()
    stack = [(output, iter(output.parents))]
    open_nodes = {output}
    while stack:
        node, parents = stack[-1]
        for parent in parents:
            if parent in open_nodes:
                raise ValueError("a cycle")
            if parent not in marked:
                open_nodes.add(parent)
                stack.append((parent, iter(parent.parents)))
                break
        else:
            stack.pop()
            open_nodes.discard(node)
            marked.add(node)
            order.append(node)
    return order


def reverse_sweep(output):
    order = topological_order(output)
    gradients = {node: 0.0 for node in order}
    gradients[output] = 1.0
    for node in order[::-1]:
        for parent, local in zip(node.parents, node.local_gradients):
            gradients[parent] += local * gradients[node]
    return gradients


def _swept(output):
    for node in topological_order(output):
        node.grad = 0.0
    output.grad = 1.0
    for node in topological_order(output)[::-1]:
        for parent, local in zip(node.parents, node.local_gradients):
            parent.grad += node.grad * local


def gradient_through(output, node, leaf):
    copies = {}
    for root in (leaf, node, output):
        for each in topological_order(root):
            if each not in copies:
                parents = [copies[parent] for parent in each.parents]
                copies[each] = Node(each.value, parents, each.local_gradients, each.name)
    output, node, leaf = (copies[each] for each in (output, node, leaf))
    for each in (output, node, leaf):
        each.grad = 0.0
    _swept(output)
    ahead = node.grad
    leaf.grad = 0.0
    _swept(node)
    return ahead * leaf.grad
