def topological_order(output):
    order, placed, waiting, stack = [], set(), set(), [output]
    while stack:
        node = stack[-1]
        if node in placed:
            stack.pop()
        elif node in waiting:
            stack.pop()
            waiting.remove(node)
            placed.add(node)
            order.append(node)
        else:
            waiting.add(node)
            stack.extend(node.parents)
    return order


def reverse_sweep(output):
    # begins with the grads that the nodes have
    order = topological_order(output)
    gradients = {node: node.grad or 0.0 for node in order}
    gradients[output] = 1.0
    for node in reversed(order):
        for parent, local in zip(node.parents, node.local_gradients, strict=True):
            gradients[parent] += gradients[node] * local
    return gradients
