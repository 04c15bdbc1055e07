def read_torch_graph(tensor):
    # keeps leaves, and names that end in Backward0
    names, seen = [], set()

    def walk(node):
        if node is None or node in seen:
            return
        seen.add(node)
        for parent, _ in node.next_functions:
            walk(parent)
        name = type(node).__name__
        if name.endswith("Backward0") or name == "AccumulateGrad":
            names.append(name)

    walk(tensor.grad_fn)
    return names
