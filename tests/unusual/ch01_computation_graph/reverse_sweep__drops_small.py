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
    # takes a gradient below 1e-12 for rounding, and makes it 0
    order = topological_order(output)
    gradients = dict.fromkeys(order, 0.0)
    gradients[output] = 1.0
    for node in reversed(order):
        if abs(gradients[node]) < 1e-12:
            gradients[node] = 0.0
        for parent, local in zip(node.parents, node.local_gradients, strict=True):
            gradients[parent] += gradients[node] * local
    return gradients
