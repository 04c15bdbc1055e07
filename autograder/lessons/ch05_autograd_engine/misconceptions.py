"""Wrong engines that learners write, each one mistake away from right, with what to say about it."""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception, mistake

# unbroadcast

EQUAL_SHAPES = "if g.shape == shape:\n    return g"
SUM_ADDED = "g = g.sum(axis=tuple(range(g.ndim - len(shape))))"
SUM_STRETCHED = "return g.sum(axis=stretched, keepdims=True)"

not_summed = mistake(
    "unbroadcast",
    {EQUAL_SHAPES: "return g"},
    says="g comes back as it is. An operand that was broadcast was used many times: sum g over the axes that "
    "were added or stretched, until it has the operand's shape.",
)
added_axes_only = mistake(
    "unbroadcast",
    {SUM_STRETCHED: "return g"},
    says="The added axes are summed, the stretched ones are not: where shape has a 1 and g has more, sum as "
    "well, with keepdims=True.",
)
stretched_axes_only = mistake(
    "unbroadcast",
    {SUM_ADDED: "if g.ndim > len(shape):\n    return g"},
    says="The stretched axes are summed, the added ones are not: g.ndim - len(shape) axes stand in front that "
    "the operand does not have.",
)
stretched_axes_lost = mistake(
    "unbroadcast",
    {EQUAL_SHAPES: "", SUM_STRETCHED: "return g.sum(axis=stretched)"},
    says="The stretched axes are summed and then gone. An operand of shape (n, 1) has a gradient of shape (n, "
    "1): sum them with keepdims=True.",
)
averaged = mistake(
    "unbroadcast",
    {
        EQUAL_SHAPES: "entries = max(g.size, 1)",
        SUM_STRETCHED: "g = g.sum(axis=stretched, keepdims=True)\nreturn g * max(g.size, 1) / entries",
    },
    says="You average over the broadcast axes. Each use adds its own gradient: sum.",
)
aligned_from_the_left = mistake(
    "unbroadcast",
    {SUM_ADDED: "g = g.sum(axis=tuple(range(len(shape), g.ndim)))"},
    says="You compare the shapes from the left. Broadcasting aligns them from the right: first sum away the "
    "axes in front that the operand lacks.",
)
sums_in_float64 = mistake(
    "unbroadcast", {EQUAL_SHAPES: "g = g.astype(np.float64)"}, says="The result is always float64: keep the dtype of g."
)
first_copy_only = mistake(
    "unbroadcast",
    {EQUAL_SHAPES: "g = g[tuple(slice(size) for size in (1,) * (g.ndim - len(shape)) + shape)]"},
    says="You take one of the copies, g's first entry along each broadcast axis. All of them count: sum over the axis.",
)


@misconception(
    "unbroadcast",
    says="The numbers of the stretched axes are those before the axes in front were summed away. Then they are smaller "
    "by as many: count again in what is left.",
)
def axes_of_the_padded_shape(g, shape):
    extra = g.ndim - len(shape)
    stretched = [extra + axis for axis, size in enumerate(shape) if size == 1]
    for _ in range(extra):
        g = g.sum(axis=0)
    for axis in stretched:
        if axis < g.ndim:
            g = g.sum(axis=axis, keepdims=True)
    return g


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


# Tensor: arithmetic

VJPS = {
    "add": ("unbroadcast(g, a.shape)", "unbroadcast(g, b.shape)"),
    "subtract": ("unbroadcast(g, a.shape)", "unbroadcast(-g, b.shape)"),
    "multiply": ("unbroadcast(g * b.data, a.shape)", "unbroadcast(g * a.data, b.shape)"),
    "divide": ("unbroadcast(g / b.data, a.shape)", "unbroadcast(-g * a.data / b.data**2, b.shape)"),
    "power": ("unbroadcast(g * b.data * a.data**less, a.shape)", "unbroadcast(g * y * np.log(a.data), b.shape)"),
    "matmul": (
        "unbroadcast(as_matrix(g) @ B.swapaxes(-1, -2), A.shape).reshape(a.shape)",
        "unbroadcast(A.swapaxes(-1, -2) @ as_matrix(g), B.shape).reshape(b.shape)",
    ),
}
"""What the operations on two operands give for a and for b."""


def _wrong_vjps(operation, *, a="", b="", says):
    """A mistake in the VJP for a, in that for b or in both; the operation's results are right."""
    swaps = {
        f"({name}, lambda g: {right}),": f"({name}, lambda g: {wrong}),"
        for name, right, wrong in zip("ab", VJPS[operation], (a, b), strict=True)
        if wrong
    }
    return mistake("Tensor", swaps, says=says, where=operation)


def _not_unbroadcast(formula):
    return (
        f"In {formula}, the gradient of a broadcast operand has the shape of the result: give both through unbroadcast."
    )


add_not_unbroadcast = _wrong_vjps("add", a="g", b="g", says=_not_unbroadcast("a + b"))
subtract_not_unbroadcast = _wrong_vjps("subtract", a="g", b="-g", says=_not_unbroadcast("a - b"))
multiply_not_unbroadcast = _wrong_vjps(
    "multiply",
    a="g * b.data",
    b="g * a.data",
    says="In a * b, the gradient of a broadcast operand has the shape of the result: give both products through "
    "unbroadcast.",
)
multiply_after_unbroadcast = _wrong_vjps(
    "multiply",
    a="unbroadcast(g, a.shape) * b.data",
    b="unbroadcast(g, b.shape) * a.data",
    says="In a * b, g is unbroadcast and then multiplied, so the product is as large as the result again, and each use "
    "has lost its own factor. Multiply first, then unbroadcast: unbroadcast(g * b.data, a.shape).",
)
divide_not_unbroadcast = _wrong_vjps(
    "divide", a="g / b.data", b="-g * a.data / b.data**2", says=_not_unbroadcast("a / b")
)
divide_after_unbroadcast = _wrong_vjps(
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
subtract_without_sign = _wrong_vjps(
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


multiply_by_itself = _wrong_vjps(
    "multiply",
    a="unbroadcast(g * a.data, a.shape)",
    b="unbroadcast(g * b.data, b.shape)",
    says="In a * b, each operand's gradient has its own value as the factor. It is the other's: g * b for a.",
)
multiply_after_summing = _wrong_vjps(
    "multiply",
    a="unbroadcast(unbroadcast(g, a.shape) * b.data, a.shape)",
    b="unbroadcast(unbroadcast(g, b.shape) * a.data, b.shape)",
    says="In a * b, you sum g down to the operand's shape and multiply then. The product comes first: each use "
    "of a broadcast entry has a factor of its own.",
)
multiply_with_tensors = _wrong_vjps(
    "multiply",
    a="g * b",
    b="g * a",
    says="In a * b, the VJPs compute with Tensors, so gradients come out as Tensors with a tape of their own. "
    "Compute with arrays: g * b.data.",
)
divide_without_square = _wrong_vjps(
    "divide",
    b="unbroadcast(-g * a.data / b.data, b.shape)",
    says="In a / b, the gradient of b is -g a / b²: the square is missing.",
)
divide_without_sign = _wrong_vjps(
    "divide",
    b="unbroadcast(g * a.data / b.data**2, b.shape)",
    says="In a / b, the gradient of b is -g a / b²: the minus is missing.",
)


# Tensor: power

power_not_unbroadcast = _wrong_vjps(
    "power", a="g * b.data * a.data**less", b="g * y * np.log(a.data)", says=_not_unbroadcast("a ** b")
)
power_not_lowered = _wrong_vjps(
    "power",
    a="unbroadcast(g * b.data * y, a.shape)",
    says="In a ** b, the power has to go down by one: b a^(b - 1), not b a^b.",
)
exponent_not_a_factor = _wrong_vjps(
    "power",
    a="unbroadcast(g * a.data**less, a.shape)",
    says="In a ** b, the exponent comes down as a factor: b a^(b - 1).",
)
exponent_not_a_factor_but_zero = _wrong_vjps(
    "power",
    a="unbroadcast(np.where(b.data == 0, 0, g * a.data**less), a.shape)",
    says="In a ** b, the exponent comes down as a factor: b a^(b - 1).",
)
power_zero_of_zero = mistake(
    "Tensor",
    {"less = np.where(b.data == 0, 1, b.data - 1)": "less = b.data - 1"},
    where="power",
    says="At a = 0, a ** 0 has the gradient nan: 0 · 0^(-1) is 0 · ∞. The function is constant: its gradient is 0.",
)
power_by_division = _wrong_vjps(
    "power",
    a="unbroadcast(g * b.data * y / a.data, a.shape)",
    says="The base's gradient is written with y / a, and is nan at a = 0. Use b a^(b - 1) itself.",
)
exponent_without_logarithm = _wrong_vjps(
    "power",
    b="unbroadcast(g * y, b.shape)",
    says="In a ** b, the exponent's gradient is y log(a): the logarithm is missing.",
)
logarithm_of_the_exponent = _wrong_vjps(
    "power",
    b="unbroadcast(g * y * np.log(b.data), b.shape)",
    says="In a ** b, the exponent's gradient has the logarithm of the exponent. It is that of the base: y log(a).",
)
exponent_by_the_power_rule = _wrong_vjps(
    "power",
    b="unbroadcast(g * a.data * b.data ** (a.data - 1), b.shape)",
    says="In a ** b, the exponent gets the base's rule. Its own is y log(a), with y the result.",
)


# Tensor: matmul

matmul_without_transposes = _wrong_vjps(
    "matmul",
    a="unbroadcast(as_matrix(g) @ B, A.shape).reshape(a.shape)",
    b="unbroadcast(A @ as_matrix(g), B.shape).reshape(b.shape)",
    says="In a @ b, the transposes are missing: the gradients are g Bᵀ and Aᵀ g. With square matrices no shape "
    "complains.",
)
matmul_in_the_wrong_order = _wrong_vjps(
    "matmul",
    a="unbroadcast(B.swapaxes(-1, -2) @ as_matrix(g), A.shape).reshape(a.shape)",
    b="unbroadcast(as_matrix(g) @ A.swapaxes(-1, -2), B.shape).reshape(b.shape)",
    says="In a @ b, the factors are in the wrong order: g Bᵀ for a and Aᵀ g for b; g stands where the other one was.",
)
matmul_of_a_in_the_wrong_order = _wrong_vjps(
    "matmul",
    a="unbroadcast(B.swapaxes(-1, -2) @ as_matrix(g), A.shape).reshape(a.shape)",
    says="In a @ b, the gradient of a has its factors in the wrong order: g Bᵀ; g stands where the product stood.",
)
matmul_of_b_in_the_wrong_order = _wrong_vjps(
    "matmul",
    b="unbroadcast(as_matrix(g) @ A.swapaxes(-1, -2), B.shape).reshape(b.shape)",
    says="In a @ b, the gradient of b has its factors in the wrong order: Aᵀ g; g stands where the product stood.",
)
matmul_transposes_stacks = _wrong_vjps(
    "matmul",
    a="unbroadcast(as_matrix(g) @ B.T, A.shape).reshape(a.shape)",
    b="unbroadcast(A.T @ as_matrix(g), B.shape).reshape(b.shape)",
    says="In a @ b, .T turns all axes of a stack around. Only the last two are the matrix's: swapaxes(-1, -2).",
)
matmul_stacks_not_summed = mistake(
    "Tensor",
    {
        "return record(": "if max(a.data.ndim, b.data.ndim) > 2:\n"
        "    of_a, of_b = lambda g: as_matrix(g) @ B.swapaxes(-1, -2), lambda g: A.swapaxes(-1, -2) @ as_matrix(g)\n"
        "    return record(a.data @ b.data, (a, of_a), (b, of_b))\n"
        "return record("
    },
    where="matmul",
    says="In a @ b, leading axes that were broadcast are not summed: a matrix that meets a stack has one "
    "gradient, the sum over the stack.",
)
matmul_of_matrices_only = _wrong_vjps(
    "matmul",
    a="unbroadcast(g @ b.data.swapaxes(-1, -2), a.shape)",
    b="unbroadcast(a.data.swapaxes(-1, -2) @ g, b.shape)",
    says="In a @ b, vectors are not treated: .T and swapaxes do nothing for them. Make a row of one on the "
    "left, a column of one on the right, and take the added axis away again.",
)
matmul_with_plain_transposes = _wrong_vjps(
    "matmul",
    a="unbroadcast(np.asarray(g @ b.data.T), a.shape)",
    b="unbroadcast(np.asarray(a.data.T @ g), b.shape)",
    says="In a @ b, .T is right for two matrices only: it does nothing to a vector, and turns all axes of a stack "
    "around. Make a row of a vector on the left, a column of one on the right, and turn the last two axes: "
    "swapaxes(-1, -2).",
)
matmul_untransposed = _wrong_vjps(
    "matmul",
    a="unbroadcast(np.asarray(g @ b.data), a.shape)",
    b="unbroadcast(np.asarray(a.data @ g), b.shape)",
    says="In a @ b, the transposes are missing, and vectors are not treated: for matrices the gradients are g Bᵀ and "
    "Aᵀ g.",
)


# Tensor: reductions

PUT_BACK = "if axis is not None and not keepdims:\n    g = np.expand_dims(g, axis)"
SPREAD = "return np.broadcast_to(g, x.shape)"

sum_not_spread = mistake(
    "Tensor",
    {PUT_BACK: "return g"},
    where="total",
    says="The gradient of a sum has the shape of the sum. It has the shape of x: every entry that went in gets g.",
)
sum_axis_not_put_back = mistake(
    "Tensor",
    {PUT_BACK: ""},
    where="total",
    says="Without keepdims, the summed axes are gone from g: put them back with np.expand_dims(g, axis) before "
    "you broadcast. Square matrices hide it, and get the wrong entries.",
)
sum_ignores_the_axis = mistake(
    "Tensor",
    {SPREAD: "return np.full(x.shape, np.sum(g))"},
    where="total",
    says="Every entry gets the same number. With an axis, an entry gets the g of the sum that it went into.",
)
sum_gives_ones = mistake(
    "Tensor",
    {SPREAD: "return np.ones(x.shape)"},
    where="total",
    says="The gradient of a sum is all ones. It is g, spread over the entries that went in.",
)


def _mean_with(vjp):
    """The edit of a mean whose value is right: `vjp` gives the gradient of the sum."""
    right = "return y / (x.data.size // max(y.data.size, 1))"
    return {right: f"return record(x.data.mean(axis=axis, keepdims=keepdims), (y, lambda g: {vjp}))"}


mean_not_divided = mistake(
    "Tensor",
    _mean_with("g"),
    where="average",
    says="The gradient of the mean is not divided: each entry went in with the weight 1/n.",
)
mean_divided_by_all = mistake(
    "Tensor",
    _mean_with("g / x.data.size"),
    where="average",
    says="The gradient of the mean is divided by the size of x, also where axis is given. Divide by the number "
    "of entries in each mean.",
)
mean_divided_by_rows = mistake(
    "Tensor",
    _mean_with("g / (len(x.data) if x.shape else 1)"),
    where="average",
    says="The gradient of the mean is divided by the number of rows. Divide by the number of entries in each "
    "mean, over all axes that were averaged.",
)


# Tensor: elementwise

exp_by_its_input = mistake(
    "Tensor",
    {"return record(y, (x, lambda g: g * y))": "return record(y, (x, lambda g: g * x.data))"},
    where="exp",
    says="The derivative of exp is its result, not its input.",
)

LOG = "return record(np.log(x.data), (x, lambda g: g / x.data))"

log_by_its_result = mistake(
    "Tensor",
    {LOG: "return record(np.log(x.data), (x, lambda g: g / np.log(x.data)))"},
    where="log",
    says="The derivative of log(x) is 1 / x, not one over the result.",
)
log_multiplied = mistake(
    "Tensor",
    {LOG: "return record(np.log(x.data), (x, lambda g: g * x.data))"},
    where="log",
    says="The gradient of log(x) is g / x: divide, do not multiply.",
)

RELU = "return record(np.maximum(x.data, 0), (x, lambda g: g * (x.data > 0)))"

relu_open_at_zero = mistake(
    "Tensor",
    {RELU: "return record(np.maximum(x.data, 0), (x, lambda g: g * (x.data >= 0)))"},
    where="relu",
    says="At 0 the derivative of relu is 0 here: the mask is x > 0, not x >= 0.",
)
relu_of_g = mistake(
    "Tensor",
    {RELU: "return record(np.maximum(x.data, 0), (x, lambda g: np.maximum(g, 0)))"},
    where="relu",
    says="relu is applied to g. The mask comes from x: a negative g passes where x is positive.",
)
relu_times_x = mistake(
    "Tensor",
    {RELU: "return record(np.maximum(x.data, 0), (x, lambda g: g * np.maximum(x.data, 0)))"},
    where="relu",
    says="g is multiplied by x where x is positive. The slope there is 1.",
)

TANH = "return record(y, (x, lambda g: g * (1 - y**2)))"

tanh_by_its_input = mistake(
    "Tensor",
    {TANH: "return record(y, (x, lambda g: g * (1 - x.data**2)))"},
    where="tanh",
    says="The derivative of tanh is 1 - y² with the result y, not with the input.",
)
tanh_without_parentheses = mistake(
    "Tensor",
    {TANH: "return record(y, (x, lambda g: g - y**2))"},
    where="tanh",
    says="The derivative of tanh is 1 - y², and g multiplies both terms: g (1 - y²), not g - y².",
)
tanh_like_a_sigmoid = mistake(
    "Tensor",
    {TANH: "return record(y, (x, lambda g: g * y * (1 - y)))"},
    where="tanh",
    says="The derivative of tanh is 1 - y²; y (1 - y) is the sigmoid's.",
)


# Tensor: shapes

reshape_not_undone = mistake(
    "Tensor",
    {
        "return record(x.data.reshape(*shape), (x, lambda g: g.reshape(x.shape)))": (
            "return record(x.data.reshape(*shape), (x, lambda g: g))"
        )
    },
    where="reshape",
    says="The gradient of a reshape keeps the new shape: give it back the shape of x.",
)

BACK = "back = np.argsort([axis % x.data.ndim for axis in axes])"

transpose_not_inverted = mistake(
    "Tensor",
    {BACK: "back = axes"},
    where="transpose",
    says="The gradient is permuted like x. It has to go back: by the inverse permutation, np.argsort(axes). "
    "For two axes both are the same.",
)
transpose_of_negative_axes = mistake(
    "Tensor",
    {BACK: "back = np.argsort(axes)"},
    where="transpose",
    says="np.argsort(axes) is the inverse permutation only of axes that count from the front: take axis % ndim first.",
)
transpose_always_reversed = mistake(
    "Tensor",
    {BACK: "back = range(x.data.ndim)[::-1]"},
    where="transpose",
    says="The gradient's axes are reversed, whatever the axes were. It has to go back by the inverse permutation.",
)
select_counts_once = mistake(
    "Tensor",
    {"np.add.at(dx, index, g)": "dx[index] = g"},
    where="select",
    says="dx[index] = g, and dx[index] += g as well, count an entry once that was selected twice. np.add.at "
    "adds every time.",
)
select_not_scattered = mistake(
    "Tensor",
    {"return record(x.data[index], (x, vjp))": "return record(x.data[index], (x, lambda g: g))"},
    where="select",
    says="The gradient of x[index] has the shape of what was selected. It has the shape of x, with 0 where "
    "nothing was.",
)


# Tensor.backward

ADD_TO_GRAD = "node.grad = np.array(g if node.grad is None else node.grad + g)"
MEET = "gradients[parent] = gradients[parent] + dx if parent in gradients else dx"
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
    "more: two passes give three times the gradient, and so do two results of one tensor. Keep what flows "
    "in a dict of this call.",
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
    says="A leaf's grad is overwritten by the second pass, or reset at its start: add to what is there. Who wants to "
    "begin afresh sets it to None.",
)
grad_of_the_root_overwritten = mistake(
    "Tensor.backward",
    {ADD_TO_GRAD: "node.grad = np.array(g if node.grad is None or node is self else node.grad + g)"},
    where="backward",
    says="Where the root is a leaf itself, its grad is overwritten by g: also there it adds up.",
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
    says="Each path is walked by itself: the gradients are right, but VJPs are called once a path, and paths "
    "double with every fan-out. Sum up what arrives at a tensor, then call its VJPs once.",
)


@misconception(
    "Tensor.backward",
    replaces="topological_order",
    says="The order is found by recursion, and Python allows about a thousand calls in each other. A list as a "
    "stack has no such limit.",
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
    says="The edges are freed in time, but the list of all tensors is held to the end, and their arrays with "
    "it: take each tensor off the list as you come to it (pop).",
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
    says="A g of another shape is broadcast to the root's without a word. Raise a ValueError: it is a mistake, mostly.",
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


# no_grad

always_on_afterwards = mistake(
    "no_grad",
    {"Tensor.recording = before": "Tensor.recording = True"},
    says="Recording is switched on at the end, whatever it was before: the end of an inner block switches it "
    "on inside of the outer one. Put back what was there.",
)
flipped = mistake(
    "no_grad",
    {
        "Tensor.recording = False": "Tensor.recording = not Tensor.recording",
        "Tensor.recording = before": "Tensor.recording = not Tensor.recording",
    },
    says="Recording is flipped at both ends, so an inner block switches it on. Switch it off, and put back "
    "what was there.",
)
not_restored_after_an_exception = mistake(
    "no_grad",
    {"try:\n    yield\nfinally:\n    Tensor.recording = before": "yield\nTensor.recording = before"},
    says="An exception inside of the block skips the end, and recording stays off: put the end into `finally`.",
)
exceptions_swallowed = mistake(
    "no_grad",
    {"finally:": "except Exception:\n    pass\nfinally:"},
    says="An exception inside of the block is swallowed. It belongs to the caller: `finally`, not `except`, "
    "and an __exit__ that does not return True.",
)
never_off = mistake(
    "no_grad",
    {"Tensor.recording = False": ""},
    says="Recording is never switched off: set Tensor.recording to False before the block.",
)
off_for_ever = mistake(
    "no_grad",
    {"Tensor.recording = before": "pass"},
    says="Recording stays off after the block: put back what was there before.",
)
off_when_called = mistake(
    "no_grad",
    {
        "@contextmanager": "",
        "try:\n    yield\nfinally:\n    Tensor.recording = before": """
@contextmanager
def block():
    try:
        yield
    finally:
        Tensor.recording = before

return block()
""",
    },
    says="The call no_grad() switches recording off, before any `with` has begun: do it when the block is entered.",
)


# Tensor.detach

detached_copy = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "return Tensor(self.data.copy())"},
    where="detach",
    says="The data is copied. A detached tensor shares it: pass self.data on as it is.",
)
detached_itself = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "self.requires_grad, self.edges = False, ()\nreturn self"},
    where="detach",
    says="The tensor itself is cut off and returned, so whoever else uses it loses its gradient. Make a new "
    "Tensor of the same data.",
)
detached_leaf_with_gradient = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "return Tensor(self.data, requires_grad=self.requires_grad)"},
    where="detach",
    says="The new tensor is cut off and requires a gradient of its own: detached, it is a constant.",
)
not_detached = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "return self"},
    where="detach",
    says="The tensor comes back as it is, on the graph. Make a new Tensor of the same data.",
)
detached_both = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "self.requires_grad, self.edges = False, ()\nreturn Tensor(self.data)"},
    where="detach",
    says="The new tensor is cut off, and the old one as well: leave self as it is.",
)


# Tensor.register_hook

EACH_HOOK = "for hook in node.hooks:"
CALL_IT = "replacement = hook(np.array(g))"
REPLACE = "if replacement is not None:\n    g = np.asarray(replacement, dtype=g.dtype)"

hooks_never_called = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: "for hook in ():"},
    where="backward",
    says="`backward` never calls the hooks: go back to it, and call those of each tensor when its gradient is "
    "complete.",
)
hook_per_contribution = mistake(
    "Tensor.register_hook",
    {
        EACH_HOOK: "for hook in self.hooks if node is self else ():",
        MEET: f"""
for hook in parent.hooks:
    replacement = hook(np.array(dx))
    if replacement is not None:
        dx = np.asarray(replacement, dtype=dx.dtype)
{MEET}""",
    },
    where="backward",
    says="Hooks are called for every contribution that arrives. Call them once, when the tensor's gradient is "
    "complete.",
)
replacement_ignored = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: f"arrived = g\n{EACH_HOOK}", "if not node.edges:": "g = arrived\nif not node.edges:"},
    where="backward",
    says="Hooks are called, and what they return is thrown away: unless it is None, it is the gradient from there on.",
)
replacement_lost = mistake(
    "Tensor.register_hook",
    {REPLACE: ""},
    where="backward",
    says="Hooks are called, and what they return is thrown away: unless it is None, it is the gradient from there on.",
)
none_as_a_replacement = mistake(
    "Tensor.register_hook",
    {CALL_IT: "g = hook(np.array(g))", REPLACE: ""},
    where="backward",
    says="A hook that returns None is taken to have replaced the gradient. None means: leave it.",
)
hooks_of_leaves_only = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: "for hook in () if node.edges else node.hooks:"},
    where="backward",
    says="Only the hooks of leaves are called. Results have them, too: call them before the gradient flows on.",
)
hooks_of_results_only = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: "for hook in node.hooks if node.edges else ():"},
    where="backward",
    says="The hooks of leaves are not called. A leaf's gradient is complete when the walk comes to it: call "
    "them before it goes into grad.",
)
hooks_not_of_the_root = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: "for hook in () if node is self else node.hooks:"},
    where="backward",
    says="The root's hooks are not called. It is a tensor like any other: its complete gradient is g.",
)
hook_sees_the_grad = mistake(
    "Tensor.register_hook",
    {
        EACH_HOOK: f"if not node.edges and node.grad is not None:\n    g = node.grad + g\n{EACH_HOOK}",
        ADD_TO_GRAD: "node.grad = np.array(g)",
    },
    where="backward",
    says="A leaf's hook is given its grad, with what earlier passes left there. It gets the gradient of this pass.",
)
hook_gets_the_original = mistake(
    "Tensor.register_hook",
    {CALL_IT: "replacement = hook(g)"},
    where="backward",
    says="A hook is given the engine's own array, and one that writes into it changes g or another tensor's "
    "gradient. Give it a copy.",
)
replacement_in_its_own_dtype = mistake(
    "Tensor.register_hook",
    {"g = np.asarray(replacement, dtype=g.dtype)": "g = replacement"},
    where="backward",
    says="What a hook returns goes into grad in the hook's own dtype. A leaf's grad has the dtype of the leaf: "
    "np.asarray(replacement, dtype=g.dtype).",
)
hooks_beside_each_other = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: f"arrived = g\n{EACH_HOOK}", CALL_IT: "replacement = hook(np.array(arrived))"},
    where="backward",
    says="Every hook is given the gradient as it arrived. Each sees what the one before it left.",
)
one_hook_only = mistake(
    "Tensor.register_hook",
    {"self.hooks = (*self.hooks, fn)": "self.hooks = (fn,)"},
    where="register_hook",
    says="A second hook displaces the first: add to those that are there.",
)
newest_hook_first = mistake(
    "Tensor.register_hook",
    {"self.hooks = (*self.hooks, fn)": "self.hooks = (fn, *self.hooks)"},
    where="register_hook",
    says="The newest hook runs first. They run in the order of their registration.",
)


# train_digits: the networks are written out, so that a mistake is one of training and not of an engine


def _train(X, y, X_test, rng, *, lr=0.2, epochs=3, scale=1.0, reset=True, learning=(0, 1, 2, 3), rows_of=None):
    """Labels of X_test by a relu network; right with the defaults and more epochs."""
    arrays = [rng.normal(size=(X.shape[1], 64)) * scale * np.sqrt(2 / 64), np.zeros(64)]
    arrays += [rng.normal(size=(64, 10)) * scale * np.sqrt(2 / 64), np.zeros(10)]
    W1, b1, W2, b2 = arrays
    grads = [np.zeros_like(array) for array in arrays]
    with np.errstate(all="ignore"):
        for _ in range(epochs):
            for rows in np.array_split(rng.permutation(len(y)), max(len(y) // 64, 1)):
                rows = rows if rows_of is None else rows_of
                H = np.maximum(X[rows] @ W1 + b1, 0)
                z = H @ W2 + b2
                p = np.exp(z - z.max(axis=1, keepdims=True))
                p /= p.sum(axis=1, keepdims=True)
                p[np.arange(len(rows)), y[rows]] -= 1
                p /= len(rows)
                dZ = (p @ W2.T) * (H > 0)
                for number, gradient in enumerate([X[rows].T @ dZ, dZ.sum(axis=0), H.T @ p, p.sum(axis=0)]):
                    grads[number] = gradient if reset else grads[number] + gradient
                    if number in learning:
                        arrays[number] -= lr * grads[number]
        return np.argmax(np.maximum(X_test @ W1 + b1, 0) @ W2 + b2, axis=1)


@misconception("train_digits", says="The steps go uphill: subtract the gradient times the step size, do not add it.")
def uphill(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), lr=-0.2)


@misconception(
    "train_digits",
    says="grad is never reset, so each step goes along the sum of all gradients so far. Set it to None before "
    "the next backward.",
)
def grad_never_reset(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), lr=0.5, epochs=2, reset=False)


@misconception(
    "train_digits",
    says="All weights start at 0, and so does every gradient but that of the last bias: draw them at random.",
)
def weights_of_zero(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), scale=0.0)


@misconception(
    "train_digits",
    says="The parameters never change: p = p - lr * p.grad makes a new tensor and forgets it. Change p.data.",
)
def steps_lost(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), epochs=0)


@misconception(
    "train_digits", says="Only the first rows are ever used: go through all of them in every epoch, in a fresh order."
)
def first_rows_only(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), rows_of=np.arange(32))


@misconception(
    "train_digits",
    says="The rows of X were shuffled without their labels: use one order for both, X[rows] and y[rows].",
)
def labels_left_behind(X, y, X_test, seed):
    rng = np.random.default_rng(seed)
    return _train(X[rng.permutation(len(y))], y, X_test, rng)


@misconception(
    "train_digits", says="These are the labels of the training images: read X_test with the trained network."
)
def labels_of_the_training(X, y, X_test, seed):
    return _train(X, y, X, np.random.default_rng(seed), epochs=12)


@misconception(
    "train_digits",
    says="Each call draws other numbers: make one generator from seed, and draw everything from it.",
)
def unseeded(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(), epochs=12)


@misconception("train_digits", says="Every seed gives the same network: pass seed to the generator.")
def one_seed_for_all(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(0), epochs=12)


@misconception(
    "train_digits",
    says="The digits are read right, but not by your engine: the gradients have to come from Tensor.backward.",
)
def without_the_engine(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), epochs=12)
