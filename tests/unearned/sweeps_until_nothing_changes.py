"""reverse_sweep without an order: all nodes again and again, until no gradient changes. It had 4 points."""


# %%
def reverse_sweep(output):
    """No topological order: sweeps over the nodes as they are found, again and again until nothing changes."""
    nodes, uses = [output], {output: []}
    for node in nodes:
        for parent, local in zip(node.parents, node.local_gradients, strict=True):
            if parent not in uses:
                uses[parent] = []
                nodes.append(parent)
            uses[parent].append((node, float(local)))  # a copy, which may be used as often as one likes
    gradients = dict.fromkeys(nodes, 0.0)
    gradients[output] = 1.0
    changed = True
    while changed:
        changed = False
        for node in nodes[1:]:
            g = 0.0
            for child, local in uses[node]:
                g += gradients[child] * local
            if g != gradients[node]:
                gradients[node], changed = g, True
    return gradients
