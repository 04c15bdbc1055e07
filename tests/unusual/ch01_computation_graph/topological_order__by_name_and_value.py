def topological_order(output):
    # nodes of one name and one value are taken for one node
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
            for parent in node.parents:
                if parent in waiting:
                    raise ValueError("a cycle")
                stack.append(parent)
    unique = {(node.name, node.value): node for node in reversed(order)}
    return [node for node in order if unique[node.name, node.value] is node or node is output]
