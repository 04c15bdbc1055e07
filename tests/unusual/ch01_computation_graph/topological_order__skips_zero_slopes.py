def topological_order(output):
    # a parent whose local gradient is 0 is left out
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
            for parent, local in zip(node.parents, node.local_gradients, strict=True):
                if parent in waiting:
                    raise ValueError("a cycle")
                if local != 0:
                    stack.append(parent)
    return order
