"""Wrong answers to Tensor, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch05_autograd_engine.mistakes.vjps_of_operations import not_unbroadcast, wrong_vjps

# Tensor: the tape

KEEP_FLOATS = "self.data = data if np.issubdtype(data.dtype, np.floating) else data.astype(np.float64)"

float64_for_all = mistake(
    "Tensor",
    {KEEP_FLOATS: "self.data = np.asarray(data, dtype=np.float64)"},
    where="Tensor.__init__",
    says="All data becomes float64. What is floating already keeps its dtype: float32 stays float32.",
)
integers_stay = mistake(
    "Tensor",
    {KEEP_FLOATS: "self.data = data"},
    where="Tensor.__init__",
    says="Integers stay integers. Gradients need floating numbers: what is not floating becomes float64.",
)
data_copied = mistake(
    "Tensor",
    {"data = np.asarray(data)": "data = np.array(data)"},
    where="Tensor.__init__",
    says="The data is copied. A floating array is kept as it is: np.asarray copies only where it must, "
    "np.array always.",
)
grad_of_zeros = mistake(
    "Tensor",
    {"self.grad = None": "self.grad = np.zeros_like(self.data)"},
    where="Tensor.__init__",
    says="A fresh tensor has a grad of zeros. It is None until a backward pass has been there: zero is an "
    "answer, None says that there is none yet.",
)

KEEP = "kept = tuple(edge for edge in edges if edge[0].requires_grad) if Tensor.recording else ()"
KEEP_ALSO_OFF = "kept = tuple(edge for edge in edges if edge[0].requires_grad)"
RESULT = "result = Tensor(data, requires_grad=bool(kept))"

requires_grad_stops = mistake(
    "Tensor",
    {RESULT: "result = Tensor(data)"},
    where="record",
    says="Results never require a gradient, so nothing above them is recorded: in `record`, the result "
    "requires one if one of the parents does.",
)
edges_not_kept = mistake(
    "Tensor",
    {"result.edges = kept": ""},
    where="record",
    says="`record` returns a Tensor whose edges are empty: the backward pass would end there. Keep them in it: "
    "result.edges = the tuple of the pairs whose parent requires a gradient.",
)
requires_grad_of_all = mistake(
    "Tensor",
    {KEEP: "kept = edges if Tensor.recording and all(edge[0].requires_grad for edge in edges) else ()"},
    where="record",
    says="A result requires a gradient only if all of its parents do. One is enough: any, not all.",
)
edges_of_constants = mistake(
    "Tensor",
    {
        KEEP: "kept = edges if Tensor.recording else ()",
        RESULT: "result = Tensor(data, requires_grad=any(edge[0].requires_grad for edge in kept))",
    },
    where="record",
    says="Edges to parents that require no gradient are kept, too: they cost memory, and their VJPs time. Keep "
    "those whose parent requires a gradient.",
)
every_edge_kept = mistake(
    "Tensor",
    {KEEP: "kept = edges if Tensor.recording else ()"},
    where="record",
    says="All edges are kept, whatever their parent: even a result of constants requires a gradient. Keep those whose "
    "parent requires one.",
)
edges_of_constants_beside_others = mistake(
    "Tensor",
    {KEEP: "kept = edges if Tensor.recording and any(edge[0].requires_grad for edge in edges) else ()"},
    where="record",
    says="Once one parent requires a gradient, the edges to all parents are kept. Choose edge by edge: keep those "
    "whose parent requires a gradient, no others.",
)
requires_grad_while_off = mistake(
    "Tensor",
    {KEEP: KEEP_ALSO_OFF, "result.edges = kept": "result.edges = kept if Tensor.recording else ()"},
    where="record",
    says="While Tensor.recording is False no edge is kept, but the result still requires a gradient, as if it were a "
    "leaf. It requires one only if an edge was kept.",
)
edges_while_off = mistake(
    "Tensor",
    {KEEP: KEEP_ALSO_OFF, RESULT: "result = Tensor(data, requires_grad=bool(kept) and Tensor.recording)"},
    where="record",
    says="While Tensor.recording is False the result requires no gradient, but its edges are kept, and with them all "
    "that its VJPs hold. Keep none: edges is () then.",
)
recording_ignored = mistake(
    "Tensor",
    {KEEP: KEEP_ALSO_OFF},
    where="record",
    says="Edges are recorded while Tensor.recording is False: look at it in `record`.",
)


add_not_unbroadcast = wrong_vjps("add", a="g", b="g", says=not_unbroadcast("a + b"))
subtract_not_unbroadcast = wrong_vjps("subtract", a="g", b="-g", says=not_unbroadcast("a - b"))
multiply_not_unbroadcast = wrong_vjps(
    "multiply",
    a="g * b.data",
    b="g * a.data",
    says="In a * b, the gradient of a broadcast operand has the shape of the result: pass both products through "
    "unbroadcast.",
)
multiply_after_unbroadcast = wrong_vjps(
    "multiply",
    a="unbroadcast(g, a.shape) * b.data",
    b="unbroadcast(g, b.shape) * a.data",
    says="In a * b, g is unbroadcast and then multiplied, so the product is as large as the result again, and each use "
    "has lost its own factor. Multiply first, then unbroadcast: unbroadcast(g * b.data, a.shape).",
)
divide_not_unbroadcast = wrong_vjps(
    "divide", a="g / b.data", b="-g * a.data / b.data**2", says=not_unbroadcast("a / b")
)
divide_after_unbroadcast = wrong_vjps(
    "divide",
    a="unbroadcast(g, a.shape) / b.data",
    b="unbroadcast(-g, b.shape) * a.data / b.data**2",
    says="In a / b, g is unbroadcast before the division. Divide first, then unbroadcast: unbroadcast(g / b.data, "
    "a.shape), and likewise for b.",
)
not_lifted = mistake(
    "Tensor",
    {
        "if not isinstance(b, Tensor):\n"
        "    b = Tensor(np.asarray(b, dtype=a.data.dtype if isinstance(b, int | float) else None))": ""
    },
    where="lift",
    says="An operand that is a number or an array is used as if it were a Tensor. Call lift first in every operation "
    "on two operands: a, b = lift(a, b).",
)
subtract_without_sign = wrong_vjps(
    "subtract", b="unbroadcast(g, b.shape)", says="In a - b, the gradient of b is -g: the sign is lost."
)


@misconception(
    "Tensor",
    replaces="Tensor.__rsub__",
    says="`2 - tensor` comes out as `tensor - 2`. When Python calls the reflected method, self stands on the right.",
)
def reflected_subtraction_swapped(tensor, a):
    return tensor - a


@misconception(
    "Tensor",
    replaces="Tensor.__rtruediv__",
    says="`2 / tensor` comes out as `tensor / 2`. When Python calls the reflected method, self stands on the right.",
)
def reflected_division_swapped(tensor, a):
    return tensor / a


multiply_by_itself = wrong_vjps(
    "multiply",
    a="unbroadcast(g * a.data, a.shape)",
    b="unbroadcast(g * b.data, b.shape)",
    says="In a * b, each operand's gradient has its own value as the factor. The factor is the other operand: g * b "
    "for a.",
)
multiply_after_summing = wrong_vjps(
    "multiply",
    a="unbroadcast(unbroadcast(g, a.shape) * b.data, a.shape)",
    b="unbroadcast(unbroadcast(g, b.shape) * a.data, b.shape)",
    says="In a * b, you sum g down to the operand's shape and then multiply. The product comes first: each use of a "
    "broadcast entry has a factor of its own.",
)
multiply_with_tensors = wrong_vjps(
    "multiply",
    a="g * b",
    b="g * a",
    says="In a * b, the VJPs compute with Tensors, so gradients come out as Tensors with a tape of their own. "
    "Compute with arrays: g * b.data.",
)
divide_without_square = wrong_vjps(
    "divide",
    b="unbroadcast(-g * a.data / b.data, b.shape)",
    says="In a / b, the gradient of b is -g a / b²: the square is missing.",
)
divide_without_sign = wrong_vjps(
    "divide",
    b="unbroadcast(g * a.data / b.data**2, b.shape)",
    says="In a / b, the gradient of b is -g a / b²: the minus is missing.",
)
