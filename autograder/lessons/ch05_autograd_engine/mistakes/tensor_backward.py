"""Wrong answers to Tensor.backward, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch05_autograd_engine.mistakes.adding_up import ADD_TO_GRAD, MEET

FREE = "if not retain_graph:\n    node.edges = None"

FREE_AT_THE_END = {
    "def backward(self, g=None, retain_graph=False):": """
def backward(self, g=None, retain_graph=False):
    order = topological_order(self)
    walk(self, g, retain_graph=True)
    for node in order:
        if node.edges and not retain_graph:
            node.edges = None


def walk(self, g, retain_graph):"""
}

gradients_left_in_the_graph = mistake(
    "Tensor.backward",
    {
        ADD_TO_GRAD: "",
        "g = gradients.pop(node)": f"g = gradients.pop(node)\n{ADD_TO_GRAD}\ng = node.grad",
    },
    where="backward",
    says="Results keep their gradient in `grad`, and the next pass adds to it and sends the sum down once "
    "more: after two passes a leaf has more than twice its gradient. Keep what flows in a dict of this call.",
)
grad_on_every_tensor = mistake(
    "Tensor.backward",
    {"if not node.edges:": "if node.edges:\n    node.grad = np.array(g)\nelse:"},
    where="backward",
    says="Every tensor on the way gets a grad. Only leaves keep one: results would hold memory that nobody asked for.",
)
grad_overwritten = mistake(
    "Tensor.backward",
    {ADD_TO_GRAD: "node.grad = np.array(g)"},
    where="backward",
    says="A leaf's grad is overwritten by the second pass, or reset at its start: add to what is there. Whoever "
    "wants to begin afresh sets it to None.",
)
grad_of_the_root_overwritten = mistake(
    "Tensor.backward",
    {ADD_TO_GRAD: "node.grad = np.array(g if node.grad is None or node is self else node.grad + g)"},
    where="backward",
    says="Where the root is a leaf itself, its grad is overwritten by g: there, too, it adds up.",
)
last_gradient_only = mistake(
    "Tensor.backward",
    {MEET: "gradients[parent] = dx"},
    where="backward",
    says="Of several gradients that meet in one tensor only the last is kept: `=` where `+=` is meant. Add them up.",
)
first_gradient_only = mistake(
    "Tensor.backward",
    {MEET: "gradients.setdefault(parent, dx)"},
    where="backward",
    says="Of several gradients that meet in one tensor only the first is kept: a tensor that was seen already "
    "still has to add what comes later.",
)
gradient_flows_too_early = mistake(
    "Tensor.backward",
    {
        "order = topological_order(self)": """
order, seen = [self], {self}
for node in order:  # it grows meanwhile
    for parent, _ in node.edges:
        if parent not in seen:
            seen.add(parent)
            order.append(parent)
order = sorted(reversed(order), key=lambda node: bool(node.edges))  # leaves are walked last""",
        **FREE_AT_THE_END,
    },
    where="backward",
    says="A tensor passes its gradient on as soon as it is reached, and what comes later from other uses is "
    "lost below it. It has to wait for all that was computed from it: topological order.",
)
path_by_path = mistake(
    "Tensor.backward",
    {
        "gradients = {self: g}": "gradients = [g]",
        "order = topological_order(self)": (
            "edges = {node: node.edges for node in topological_order(self)}\norder = [self]"
        ),
        "g = gradients.pop(node)": "g = gradients.pop()",
        "if not node.edges:": "if not edges[node]:",
        "for parent, vjp in node.edges:": "for parent, vjp in edges[node]:",
        MEET: "order.append(parent)\ngradients.append(dx)",
    },
    where="backward",
    says="Each path is walked by itself: VJPs are called once per path, and paths "
    "double with every fan-out. Sum up what arrives at a tensor, then call its VJPs once.",
)


@misconception(
    "Tensor.backward",
    replaces="topological_order",
    says="The order is found by recursion, and Python allows about a thousand nested calls. A list as a stack has no "
    "such limit.",
)
def recursive_order(root):
    order, seen = [], set()

    def visit(node):
        if node in seen:
            return
        seen.add(node)
        if node.edges is None:
            raise RuntimeError("freed: retain_graph=True would have kept it")
        for parent, _ in reversed(node.edges):
            visit(parent)
        order.append(node)

    visit(root)
    return order


aliased_gradients = mistake(
    "Tensor.backward",
    {ADD_TO_GRAD: "node.grad = np.asarray(g if node.grad is None else node.grad + g)"},
    where="backward",
    says="A leaf's grad is the very array that flowed: both operands of a sum share it, or it is g itself, and "
    "whoever scales one in place scales the other. Copy it into grad.",
)
added_in_place = mistake(
    "Tensor.backward",
    {
        MEET: "if parent in gradients and gradients[parent].flags.writeable:\n"
        "    gradients[parent] += dx\n"
        "else:\n"
        f"    {MEET}"
    },
    where="backward",
    says="Gradients are added in place with +=. The array that arrived first may be g itself, or what another "
    "tensor was given as well: add into a new array.",
)
nothing_freed = mistake(
    "Tensor.backward",
    {FREE: ""},
    where="backward",
    says="Nothing is freed: the edges and all that their VJPs kept live as long as the result does. Set a "
    "result's edges to None once its VJPs have been called, unless retain_graph.",
)
freed_at_the_end = mistake(
    "Tensor.backward",
    FREE_AT_THE_END,
    where="backward",
    says="Everything is freed, but only when the walk is over: until then all of it is alive. Let go of each "
    "result's edges as soon as its VJPs have been called.",
)
order_held = mistake(
    "Tensor.backward",
    {"order = topological_order(self)": "order = topological_order(self)\nheld = list(order)"},
    where="backward",
    says="The edges are freed in time, but something holds all tensors to the end, and their arrays with them: the "
    "sorted list, or a set or dict of those seen. Take each tensor out as you come to it (pop).",
)
freed_looks_like_a_leaf = mistake(
    "Tensor.backward",
    {"node.edges = None": "node.edges = ()"},
    where="backward",
    says="A freed result looks like a leaf: its edges are (), None is expected. A second pass ends there without a "
    "word, and the gradients below are missing. Mark it (edges = None), and raise a RuntimeError when a pass meets it.",
)
leaves_freed = mistake(
    "Tensor.backward",
    {"continue": f"{FREE}\ncontinue"},
    where="backward",
    says="Leaves are freed, too: their edges become None, and the next pass takes them for freed results. Only results "
    "are freed; a leaf keeps ().",
)
grad_becomes_a_number = mistake(
    "Tensor.backward",
    {ADD_TO_GRAD: "node.grad = np.array(g) if node.grad is None else node.grad + g"},
    where="backward",
    says="The grad of a leaf without axes becomes a NumPy number when a second gradient is added: the sum of two such "
    "arrays is one. Wrap it: np.array(leaf.grad + g).",
)
g_of_any_shape = mistake(
    "Tensor.backward",
    {'if g.shape != self.shape:\n    raise ValueError(f"g has the shape {g.shape}, the tensor {self.shape}")': ""},
    where="backward",
    says="The shape of g is not looked at, and NumPy broadcasts a wrong one, or complains far below. Compare it with "
    "self.shape, and raise a ValueError.",
)
error_without_a_word = mistake(
    "Tensor.backward",
    {
        '"this graph has been freed by an earlier backward pass: give that one retain_graph=True, "\n'
        '"or compute the result again"': '"no"'
    },
    where="topological_order",
    says="The error of a second pass does not say what to do: name retain_graph in its message.",
)
always_freed = mistake(
    "Tensor.backward",
    {FREE: "node.edges = None"},
    where="backward",
    says="retain_graph is ignored: with retain_graph=True nothing is freed, and a second pass works.",
)
ones_for_any_root = mistake(
    "Tensor.backward",
    {
        "if self.data.size != 1:\n"
        '    raise ValueError(f"a tensor of shape {self.shape} holds more than one number: backward needs g")': ""
    },
    where="backward",
    says="A root of several numbers without g is differentiated as if g were all ones: the gradient of a sum "
    "that nobody wrote. Raise a ValueError.",
)
only_shapeless_roots = mistake(
    "Tensor.backward",
    {
        "if not self.requires_grad:": """
if g is None and self.shape != ():
    raise ValueError("not one number")
if not self.requires_grad:"""
    },
    where="backward",
    says="A root of shape (1,) or (1, 1) holds one number, too: ask for its size, not for its shape.",
)
g_broadcast = mistake(
    "Tensor.backward",
    {
        "g = np.asarray(g, dtype=self.data.dtype)": (
            "g = np.asarray(np.broadcast_to(g, self.shape), dtype=self.data.dtype)"
        )
    },
    where="backward",
    says="A g of another shape is broadcast to the root's without a word. Raise a ValueError: it is usually a mistake.",
)
g_not_used = mistake(
    "Tensor.backward",
    {"gradients = {self: g}": "gradients = {self: np.ones_like(g)}"},
    where="backward",
    says="g is not used: the pass starts from ones. Start from g where there is one.",
)
silent_without_gradient = mistake(
    "Tensor.backward",
    {'raise RuntimeError("this tensor requires no gradient: nothing it was computed from does")': "return"},
    where="backward",
    says="A root that requires no gradient is passed over without a word. Raise a RuntimeError: nothing below "
    "it could have got a gradient.",
)
dtype_of_the_computation = mistake(
    "Tensor.backward",
    {"dx = np.asarray(vjp(g), dtype=parent.data.dtype)": "dx = np.asarray(vjp(g))"},
    where="backward",
    says="A gradient keeps the dtype that it was computed in: where float32 and float64 meet, the float32 leaf "
    "gets float64. Cast to the dtype of the tensor that it belongs to.",
)
