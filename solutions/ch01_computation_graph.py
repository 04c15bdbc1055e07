# %% [markdown]
# # The computation graph
#
# Eight short functions. The first three need no more than school algebra; then you build what every deep learning
# library has at its heart: an ordering of the graph, and one backward sweep through it.
# Read along in [the chapter](../book/ch01_computation_graph.md).

# %% [markdown]
# ## `forward`
#
# Compute `L = (a·b + c)²` in three small steps, `d = a·b`, `e = d + c` and `L = e²`, and return all three results in a
# dict with the keys `"d"`, `"e"` and `"L"`. The arguments are floats.
#
# `forward(2.0, -3.0, 10.0)` is `{"d": -6.0, "e": 4.0, "L": 16.0}`.
# [Chapter section](../book/ch01_computation_graph.md#ch01-forward)


# %% exercise="forward"
def forward(a, b, c):
    """The dict of d = a·b, e = d + c and L = e²."""
    ### BEGIN SOLUTION
    d = a * b
    e = d + c
    L = e**2
    return {"d": d, "e": e, "L": L}
    ### END SOLUTION


# %% [markdown]
# ## `backward_by_hand`
#
# The same three steps, backwards. Return a dict with the keys `"a"`, `"b"`, `"c"`, `"d"`, `"e"` and `"L"`: under each
# name the derivative of `L` with respect to that number, so under `"L"` it is 1. Use the exact derivatives, not a small
# step and a difference. You may call your `forward`.
#
# `backward_by_hand(2.0, -3.0, 10.0)` has -24 for `a`, 16 for `b` and 8 for `c`.
# [Chapter section](../book/ch01_computation_graph.md#ch01-backward-by-hand)


# %% exercise="backward_by_hand"
def backward_by_hand(a, b, c):
    """The dict of dL/da, dL/db, dL/dc, dL/dd, dL/de and dL/dL, for d = a·b, e = d + c, L = e²."""
    ### BEGIN SOLUTION
    e = a * b + c
    dL = 1.0
    de = dL * 2 * e  # L = e²
    dd = de  # e = d + c: an addition passes the gradient on as it is
    dc = de
    da = dd * b  # d = a·b: a product passes it on times the other factor
    db = dd * a
    return {"a": da, "b": db, "c": dc, "d": dd, "e": de, "L": dL}
    ### END SOLUTION


# %% [markdown]
# ## `neuron_gradients`
#
# One neuron with one input: it predicts `w·x + b`, and its error is `L = (w·x + b − y)²`, where `y` is the target.
# Return a dict with the keys `"w"`, `"x"`, `"b"` and `"y"`: the derivative of `L` with respect to each. The arguments
# are floats. Training needs only two of the four; the graph gives all.
# [Chapter section](../book/ch01_computation_graph.md#ch01-neuron-gradients)


# %% exercise="neuron_gradients"
def neuron_gradients(w, x, b, y):
    """The dict of dL/dw, dL/dx, dL/db and dL/dy of L = (w·x + b − y)²."""
    ### BEGIN SOLUTION
    error = w * x + b - y
    g = 2 * error
    return {"w": g * x, "x": g * w, "b": g, "y": -g}
    ### END SOLUTION


# %% [markdown]
# ## `Node`
#
# From here on a graph is made of `Node` objects, which are given:
#
# - `node.value` is a number, `node.name` a name for people to read;
# - `node.parents` is a tuple of the nodes that it was computed from, empty for an input (a *leaf*);
# - `node.local_gradients` is a tuple with one finite number per parent: the derivative of `node.value` with respect to
#   it.
#
# A node that was used twice, as in `b = a + a`, appears in `parents` twice, with a local gradient for each place. Call
# `worked_graph()` in a cell of your own and look at its `parents`, and at theirs; later, call your functions with it.
#
# In feedback, a graph is written as `b from a, a; c from b, b`: b was computed from a and a, then c from b and b. The
# last one is the output. Local gradients are listed in the same order as these parents.

# %%
from course.graph import Node, add, mul, power


def worked_graph():
    """The output L of a graph: L = (a·b + c)² at a = 2, b = −3, c = 10."""
    a, b, c = Node(2.0, name="a"), Node(-3.0, name="b"), Node(10.0, name="c")
    d = mul(a, b, name="d")
    e = add(d, c, name="e")
    return power(e, 2, name="L")


# %% [markdown]
# ## `topological_order`
#
# Return a list of all nodes that `output` depends on, directly or through others, and `output` itself, so that every
# node comes **after its parents**. Each node appears once, and `output` is last. If several orders are valid, any is
# accepted.
#
# - Two nodes are the same only if they are one object: a `set` or a `dict` of nodes knows that. Names and values may
#   repeat.
# - A chain of 20,000 nodes works. Python gives up after about 1,000 calls inside calls, so do without recursion.
# - If a node depends on itself, no order exists: raise a `ValueError`. It may be its own parent, be the output, or lie
#   deep below it.
# - Nothing is written to the nodes, not even for a while. Each call may take up to 10 seconds.
#
# [Chapter section](../book/ch01_computation_graph.md#ch01-topological-order)


# %% exercise="topological_order"
def topological_order(output):
    """The list of output and all nodes it depends on, each once and after its parents."""
    ### BEGIN SOLUTION
    order = []
    placed, open_nodes = set(), set()  # open: waiting for its parents to be placed
    stack = [output]
    while stack:
        node = stack[-1]
        if node in placed:
            stack.pop()
        elif node in open_nodes:  # seen for the second time: its parents are placed
            stack.pop()
            open_nodes.remove(node)
            placed.add(node)
            order.append(node)
        else:
            open_nodes.add(node)
            for parent in node.parents:
                if parent in open_nodes:
                    raise ValueError(f"{parent} depends on itself")
                stack.append(parent)
    return order
    ### END SOLUTION


# %% [markdown]
# ## `gradient_by_paths`
#
# The derivative of `output` with respect to `leaf`, straight from the definition: multiply the local gradients along a
# path from `output` to `leaf`, and add up the products of all paths. Return that number.
#
# - A parent that is there twice makes two paths.
# - If no path leads to `leaf`, the derivative is 0.0; if `output` is `leaf`, it is 1.0.
# - `leaf` may also be a node in the middle. It is the one object, not another with its name or value.
# - The graphs are small here, so recursion is fine.
#
# [Chapter section](../book/ch01_computation_graph.md#ch01-gradient-by-paths)


# %% exercise="gradient_by_paths"
def gradient_by_paths(output, leaf):
    """d(output)/d(leaf): over all paths, the sum of the products of local gradients."""
    ### BEGIN SOLUTION
    if output is leaf:
        return 1.0
    steps = zip(output.parents, output.local_gradients, strict=True)
    return sum((local * gradient_by_paths(parent, leaf) for parent, local in steps), 0.0)
    ### END SOLUTION


# %% [markdown]
# ## `reverse_sweep`
#
# The derivatives of `output` with respect to **all** nodes at once. Return a dict from node to float, with an entry for
# `output`, which is 1.0, and for every node that `output` depends on.
#
# - Each local gradient is used **exactly once**: multiplied or otherwise computed with. Uses are counted; reading
#   `parents` or `local_gradients` costs nothing. A graph with a billion paths is swept in no time.
# - A graph of 6,000 nodes, each used by the next two and by the output, takes under a second. A matrix of all nodes is
#   too slow.
# - The answer goes into the dict. Nothing is written to the nodes, not even for a while.
# - You may call your `topological_order`. If that is wrong, so is the sweep: write it first.
#
# **Points count only for a sweep that gets through 6,000 nodes.**
# [Chapter section](../book/ch01_computation_graph.md#ch01-reverse-sweep)


# %% exercise="reverse_sweep"
def reverse_sweep(output):
    """The dict of d(output)/d(node) for output and every node it depends on, each local gradient used once."""
    ### BEGIN SOLUTION
    order = topological_order(output)
    gradients = dict.fromkeys(order, 0.0)
    gradients[output] = 1.0
    for node in reversed(order):  # when its turn comes, everything that used it has had its own
        for parent, local in zip(node.parents, node.local_gradients, strict=True):
            gradients[parent] += gradients[node] * local
    return gradients
    ### END SOLUTION


# %% [markdown]
# ## `gradient_through`
#
# How much of the gradient of `leaf` comes through `node`? The derivative of `output` with respect to `leaf` is a sum
# over paths. Return the part of that sum whose paths lead through `node`, as a float.
#
# - If no path leads through `node`, the answer is 0.0. Where `node` is `leaf` or `output` itself, every path leads
#   through it.
# - `leaf` may also be a node in the middle. All three are objects, not names or values.
# - A graph of 30 diamonds in a row, with a billion paths, takes under a second.
# - Nothing is written to the nodes, not even for a while. You may call your `reverse_sweep`; if that is
#   wrong, so is this.
#
# [Chapter section](../book/ch01_computation_graph.md#ch01-gradient-through)


# %% exercise="gradient_through"
def gradient_through(output, node, leaf):
    """The part of d(output)/d(leaf) that the paths through node add up to."""
    ### BEGIN SOLUTION
    behind = reverse_sweep(node).get(leaf, 0.0)  # over the ways from leaf to node
    ahead = reverse_sweep(output).get(node, 0.0)  # over the ways from node to output
    return behind * ahead
    ### END SOLUTION


# %% [markdown]
# ## `read_torch_graph`
#
# PyTorch records the same graph. The node that made a tensor is `tensor.grad_fn`, and `node.next_functions` is a tuple
# of pairs `(parent, number)`. Return the names of all nodes that `tensor.grad_fn` leads to, its own included, as a
# list of text: parents first, each node once, the tensor's own node last. Any right order will do.
#
# - A node's name is `type(node).__name__`, such as `MulBackward0`. (`node.name()` is accepted, too.)
# - A leaf that requires a gradient is a node called `AccumulateGrad`. It belongs to the list.
# - Where an input needs no gradient, the parent is `None`. That is no node.
# - A tensor without a `grad_fn`, a leaf for one, gives `[]`.
#
# Two nodes of one name are still two. Keep the nodes themselves in your set rather than `id(node)`: older versions of
# PyTorch drop such a Python object when nobody holds it, and its `id` may go to another. Recursion is fine.
#
# With `a = torch.tensor(2.0, requires_grad=True)`, `a * a` gives `["AccumulateGrad", "MulBackward0"]`. This exercise
# needs PyTorch; all others do without.
# [Chapter section](../book/ch01_computation_graph.md#ch01-read-torch-graph)

# %%
import torch


# %% exercise="read_torch_graph"
def read_torch_graph(tensor):
    """Names of the autograd nodes behind a tensor, parents first, each node once; [] if there are none."""
    ### BEGIN SOLUTION
    names = []
    seen, placed = set(), set()
    stack = [] if tensor.grad_fn is None else [tensor.grad_fn]
    while stack:
        node = stack[-1]
        if node not in seen:
            seen.add(node)
            stack.extend(parent for parent, _ in node.next_functions if parent is not None)
        else:  # its parents are placed
            stack.pop()
            if node not in placed:
                placed.add(node)
                names.append(type(node).__name__)
    return names
    ### END SOLUTION
