"""topological_order by recursion, with a limit of a million calls inside calls. It had 5 points."""

# %%
import sys


def topological_order(output):
    sys.setrecursionlimit(10**6)
    order, placed, waiting = [], set(), set()

    def visit(node):
        if node in waiting:
            raise ValueError("a node depends on itself")
        if node in placed:
            return
        waiting.add(node)
        for parent in node.parents:
            visit(parent)
        waiting.remove(node)
        placed.add(node)
        order.append(node)

    visit(output)
    return order
