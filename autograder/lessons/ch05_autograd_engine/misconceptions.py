"""Wrong engines that learners write, each one mistake away from right, with what to say about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.diagnosis import misconception

# what is right, for the mistakes below to differ from


def _unbroadcast(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(axis for axis, size in enumerate(shape) if size == 1), keepdims=True)


def _record(data, *edges):
    """As the lesson's `record`, with the Tensor of whoever is recorded."""
    tensor = type(edges[0][0])
    kept = tuple(edge for edge in edges if edge[0].requires_grad) if tensor.recording else ()
    result = tensor(data, requires_grad=bool(kept))
    result.edges = kept
    return result


def _lift(a, b):
    """As the lesson's `lift`, where a is a Tensor."""
    if not isinstance(b, type(a)):
        b = type(a)(np.asarray(b, dtype=a.data.dtype if isinstance(b, int | float) else None))
    return a, b


# unbroadcast


@misconception(
    "unbroadcast",
    says="g comes back as it is. An operand that was broadcast was used many times: sum g over the axes that "
    "were added or stretched, until it has the operand's shape.",
)
def not_summed(g, shape):
    return g


@misconception(
    "unbroadcast",
    says="The added axes are summed, the stretched ones are not: where shape has a 1 and g has more, sum as "
    "well, with keepdims=True.",
)
def added_axes_only(g, shape):
    return g.sum(axis=tuple(range(g.ndim - len(shape))))


@misconception(
    "unbroadcast",
    says="The stretched axes are summed, the added ones are not: g.ndim - len(shape) axes stand in front that "
    "the operand does not have.",
)
def stretched_axes_only(g, shape):
    if g.ndim > len(shape):
        return g
    return g.sum(axis=tuple(axis for axis, size in enumerate(shape) if size == 1), keepdims=True)


@misconception(
    "unbroadcast",
    says="The stretched axes are summed and then gone. An operand of shape (n, 1) has a gradient of shape (n, "
    "1): sum them with keepdims=True.",
)
def stretched_axes_lost(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(axis for axis, size in enumerate(shape) if size == 1))


@misconception("unbroadcast", says="You average over the broadcast axes. Each use adds its own gradient: sum.")
def averaged(g, shape):
    total = _unbroadcast(g, shape)
    return total * max(total.size, 1) / max(g.size, 1)


@misconception(
    "unbroadcast",
    says="You compare the shapes from the left. Broadcasting aligns them from the right: first sum away the "
    "axes in front that the operand lacks.",
)
def aligned_from_the_left(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=-1)
    return g.sum(axis=tuple(axis for axis, size in enumerate(shape) if size == 1), keepdims=True)


@misconception("unbroadcast", says="The result is always float64: keep the dtype of g.")
def sums_in_float64(g, shape):
    return _unbroadcast(g.astype(np.float64), shape)


@misconception(
    "unbroadcast",
    says="You take one of the copies, g's first entry along each broadcast axis. All of them count: sum over the axis.",
)
def first_copy_only(g, shape):
    g = g[(0,) * (g.ndim - len(shape))] if 0 not in g.shape else np.zeros(shape, g.dtype)
    return g[tuple(slice(size) if size == 1 else slice(None) for size in shape)].reshape(shape)


# Tensor: the tape


@misconception(
    "Tensor",
    replaces="Tensor.__init__",
    says="All data becomes float64. What is floating already keeps its dtype: float32 stays float32.",
)
def float64_for_all(self, data, requires_grad=False):
    self.data, self.grad = np.asarray(data, dtype=np.float64), None
    self.requires_grad, self.edges = requires_grad, ()


@misconception(
    "Tensor",
    replaces="Tensor.__init__",
    says="Integers stay integers. Gradients need floating numbers: what is not floating becomes float64.",
)
def integers_stay(self, data, requires_grad=False):
    self.data, self.grad = np.asarray(data), None
    self.requires_grad, self.edges = requires_grad, ()


@misconception(
    "Tensor",
    replaces="Tensor.__init__",
    says="The data is copied. A floating array is kept as it is: np.asarray copies only where it must, "
    "np.array always.",
)
def data_copied(self, data, requires_grad=False):
    data = np.array(data)
    self.data = data if data.dtype.kind == "f" else data.astype(np.float64)
    self.grad, self.requires_grad, self.edges = None, requires_grad, ()


@misconception(
    "Tensor",
    replaces="Tensor.__init__",
    says="A fresh tensor has a grad of zeros. It is None until a backward pass has been there: zero is an "
    "answer, None says that there is none yet.",
)
def grad_of_zeros(self, data, requires_grad=False):
    data = np.asarray(data)
    self.data = data if data.dtype.kind == "f" else data.astype(np.float64)
    self.grad, self.requires_grad, self.edges = np.zeros_like(self.data), requires_grad, ()


@misconception(
    "Tensor",
    replaces="record",
    says="Results never require a gradient, so nothing above them is recorded: in `record`, the result "
    "requires one if one of the parents does.",
)
def requires_grad_stops(data, *edges):
    tensor = type(edges[0][0]) if edges else _callers_tensor()
    result = tensor(data)
    result.edges = tuple(edge for edge in edges if edge[0].requires_grad) if tensor.recording else ()
    return result


@misconception(
    "Tensor",
    replaces="record",
    says="A result requires a gradient only if all of its parents do. One is enough: any, not all.",
)
def requires_grad_of_all(data, *edges):
    tensor = type(edges[0][0]) if edges else _callers_tensor()
    kept = edges if tensor.recording and edges and all(edge[0].requires_grad for edge in edges) else ()
    result = tensor(data, requires_grad=bool(kept))
    result.edges = kept
    return result


@misconception(
    "Tensor",
    replaces="record",
    says="Edges to parents that require no gradient are kept, too: they cost memory, and their VJPs time. Keep "
    "those whose parent requires a gradient.",
)
def edges_of_constants(data, *edges):
    tensor = type(edges[0][0]) if edges else _callers_tensor()
    edges = edges if tensor.recording else ()
    result = tensor(data, requires_grad=any(edge[0].requires_grad for edge in edges))
    result.edges = edges
    return result


@misconception(
    "Tensor",
    replaces="record",
    says="Once one parent requires a gradient, the edges to all parents are kept. Choose edge by edge: keep those "
    "whose parent requires a gradient, no others.",
)
def edges_of_constants_beside_others(data, *edges):
    tensor = type(edges[0][0]) if edges else _callers_tensor()
    required = tensor.recording and any(edge[0].requires_grad for edge in edges)
    result = tensor(data, requires_grad=required)
    result.edges = edges if required else ()
    return result


@misconception(
    "Tensor",
    replaces="record",
    says="While Tensor.recording is False no edge is kept, but the result still requires a gradient, as if it were a "
    "leaf. It requires one only if an edge was kept.",
)
def requires_grad_while_off(data, *edges):
    tensor = type(edges[0][0]) if edges else _callers_tensor()
    kept = tuple(edge for edge in edges if edge[0].requires_grad)
    result = tensor(data, requires_grad=bool(kept))
    result.edges = kept if tensor.recording else ()
    return result


@misconception(
    "Tensor",
    replaces="record",
    says="While Tensor.recording is False the result requires no gradient, but its edges are kept, and with them all "
    "that its VJPs hold. Keep none: edges is () then.",
)
def edges_while_off(data, *edges):
    tensor = type(edges[0][0]) if edges else _callers_tensor()
    kept = tuple(edge for edge in edges if edge[0].requires_grad)
    result = tensor(data, requires_grad=bool(kept) and tensor.recording)
    result.edges = kept
    return result


@misconception(
    "Tensor",
    replaces="record",
    says="Edges are recorded while Tensor.recording is False: look at it in `record`.",
)
def recording_ignored(data, *edges):
    tensor = type(edges[0][0]) if edges else _callers_tensor()
    kept = tuple(edge for edge in edges if edge[0].requires_grad)
    result = tensor(data, requires_grad=bool(kept))
    result.edges = kept
    return result


def _callers_tensor():
    """The Tensor that the code names which called the function above: a mistake knows no lesson by itself."""
    frame = sys._getframe(1)
    while "Tensor" not in frame.f_globals:
        assert frame.f_back is not None
        frame = frame.f_back
    return frame.f_globals["Tensor"]


# Tensor: arithmetic


@misconception(
    "Tensor",
    replaces="Tensor.__add__",
    says="In a + b, the gradient of a broadcast operand has the shape of the result: give both through unbroadcast.",
)
def add_not_unbroadcast(a, b):
    a, b = _lift(a, b)
    return _record(a.data + b.data, (a, lambda g: g), (b, lambda g: g))


@misconception(
    "Tensor",
    replaces="Tensor.__sub__",
    says="In a - b, the gradient of a broadcast operand has the shape of the result: give both through unbroadcast.",
)
def subtract_not_unbroadcast(a, b):
    a, b = _lift(a, b)
    return _record(a.data - b.data, (a, lambda g: g), (b, lambda g: -g))


@misconception(
    "Tensor",
    replaces="Tensor.__mul__",
    says="In a * b, the gradient of a broadcast operand has the shape of the result: give both products through "
    "unbroadcast.",
)
def multiply_not_unbroadcast(a, b):
    a, b = _lift(a, b)
    return _record(a.data * b.data, (a, lambda g: g * b.data), (b, lambda g: g * a.data))


@misconception(
    "Tensor",
    replaces="Tensor.__mul__",
    says="In a * b, g is unbroadcast and then multiplied, so the product is as large as the result again, and each use "
    "has lost its own factor. Multiply first, then unbroadcast: unbroadcast(g * b.data, a.shape).",
)
def multiply_after_unbroadcast(a, b):
    a, b = _lift(a, b)
    return _record(
        a.data * b.data,
        (a, lambda g: _unbroadcast(g, a.shape) * b.data),
        (b, lambda g: _unbroadcast(g, b.shape) * a.data),
    )


@misconception(
    "Tensor",
    replaces="Tensor.__truediv__",
    says="In a / b, the gradient of a broadcast operand has the shape of the result: give both through unbroadcast.",
)
def divide_not_unbroadcast(a, b):
    a, b = _lift(a, b)
    return _record(a.data / b.data, (a, lambda g: g / b.data), (b, lambda g: -g * a.data / b.data**2))


@misconception(
    "Tensor",
    replaces="Tensor.__truediv__",
    says="In a / b, g is unbroadcast before the division. Divide first, then unbroadcast: unbroadcast(g / b.data, "
    "a.shape), and likewise for b.",
)
def divide_after_unbroadcast(a, b):
    a, b = _lift(a, b)
    return _record(
        a.data / b.data,
        (a, lambda g: _unbroadcast(g, a.shape) / b.data),
        (b, lambda g: _unbroadcast(-g, b.shape) * a.data / b.data**2),
    )


@misconception(
    "Tensor",
    replaces="lift",
    says="An operand that is a number or an array is used as if it were a Tensor. Call lift first in every operation "
    "on two operands: a, b = lift(a, b).",
)
def not_lifted(a, b):
    if sys._getframe(1).f_code.co_name != "<lambda>":  # of the given `reflected`, which lifts by itself
        return a, b
    b, a = _lift(b, a)
    return a, b


@misconception("Tensor", replaces="Tensor.__sub__", says="In a - b, the gradient of b is -g: the sign is lost.")
def subtract_without_sign(a, b):
    a, b = _lift(a, b)
    return _record(a.data - b.data, (a, lambda g: _unbroadcast(g, a.shape)), (b, lambda g: _unbroadcast(g, b.shape)))


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


@misconception(
    "Tensor",
    replaces="Tensor.__mul__",
    says="In a * b, each operand's gradient has its own value as the factor. It is the other's: g * b for a.",
)
def multiply_by_itself(a, b):
    a, b = _lift(a, b)
    return _record(
        a.data * b.data,
        (a, lambda g: _unbroadcast(g * a.data, a.shape)),
        (b, lambda g: _unbroadcast(g * b.data, b.shape)),
    )


@misconception(
    "Tensor",
    replaces="Tensor.__mul__",
    says="In a * b, you sum g down to the operand's shape and multiply then. The product comes first: each use "
    "of a broadcast entry has a factor of its own.",
)
def multiply_after_summing(a, b):
    a, b = _lift(a, b)
    return _record(
        a.data * b.data,
        (a, lambda g: _unbroadcast(_unbroadcast(g, a.shape) * b.data, a.shape)),
        (b, lambda g: _unbroadcast(_unbroadcast(g, b.shape) * a.data, b.shape)),
    )


@misconception(
    "Tensor",
    replaces="Tensor.__mul__",
    says="In a * b, the VJPs compute with Tensors, so gradients come out as Tensors with a tape of their own. "
    "Compute with arrays: g * b.data.",
)
def multiply_with_tensors(a, b):
    a, b = _lift(a, b)
    return _record(a.data * b.data, (a, lambda g: g * b), (b, lambda g: g * a))


@misconception(
    "Tensor", replaces="Tensor.__truediv__", says="In a / b, the gradient of b is -g a / b²: the square is missing."
)
def divide_without_square(a, b):
    a, b = _lift(a, b)
    return _record(
        a.data / b.data,
        (a, lambda g: _unbroadcast(g / b.data, a.shape)),
        (b, lambda g: _unbroadcast(-g * a.data / b.data, b.shape)),
    )


@misconception(
    "Tensor", replaces="Tensor.__truediv__", says="In a / b, the gradient of b is -g a / b²: the minus is missing."
)
def divide_without_sign(a, b):
    a, b = _lift(a, b)
    return _record(
        a.data / b.data,
        (a, lambda g: _unbroadcast(g / b.data, a.shape)),
        (b, lambda g: _unbroadcast(g * a.data / b.data**2, b.shape)),
    )


# Tensor: power


@misconception(
    "Tensor",
    replaces="Tensor.__pow__",
    says="In a ** b, the gradient of a broadcast operand has the shape of the result: give both through unbroadcast.",
)
def power_not_unbroadcast(a, b):
    a, b = _lift(a, b)
    y = a.data**b.data
    return _record(y, (a, lambda g: _right_base(g, a.data, b.data, y)), (b, lambda g: g * y * np.log(a.data)))


def _power(a, b, of_base, of_exponent=None):
    """a ** b, its gradients computed from (g, a, b, y) by the functions given."""
    a, b = _lift(a, b)
    y = a.data**b.data
    of_exponent = of_exponent or (lambda g, x, n, y: g * y * np.log(x))
    return _record(
        y,
        (a, lambda g: _unbroadcast(of_base(g, a.data, b.data, y), a.shape)),
        (b, lambda g: _unbroadcast(of_exponent(g, a.data, b.data, y), b.shape)),
    )


def _right_base(g, x, n, y):
    return g * n * x ** np.where(n == 0, 1, n - 1)


@misconception(
    "Tensor", replaces="Tensor.__pow__", says="In a ** b, the power has to go down by one: b a^(b - 1), not b a^b."
)
def power_not_lowered(a, b):
    return _power(a, b, lambda g, x, n, y: g * n * y)


@misconception("Tensor", replaces="Tensor.__pow__", says="In a ** b, the exponent comes down as a factor: b a^(b - 1).")
def exponent_not_a_factor(a, b):
    return _power(a, b, lambda g, x, n, y: g * x ** np.where(n == 0, 1, n - 1))


@misconception(
    "Tensor",
    replaces="Tensor.__pow__",
    says="At a = 0, a ** 0 has the gradient nan: 0 · 0^(-1) is 0 · ∞. The function is constant: its gradient is 0.",
)
def power_zero_of_zero(a, b):
    with np.errstate(all="ignore"):
        return _power(a, b, _quietly(lambda g, x, n, y: g * n * x ** (n - 1)))


@misconception(
    "Tensor",
    replaces="Tensor.__pow__",
    says="The base's gradient is written with y / a, and is nan at a = 0. Use b a^(b - 1) itself.",
)
def power_by_division(a, b):
    return _power(a, b, _quietly(lambda g, x, n, y: g * n * y / x))


@misconception(
    "Tensor",
    replaces="Tensor.__pow__",
    says="In a ** b, the exponent's gradient is y log(a): the logarithm is missing.",
)
def exponent_without_logarithm(a, b):
    return _power(a, b, _right_base, lambda g, x, n, y: g * y)


@misconception(
    "Tensor",
    replaces="Tensor.__pow__",
    says="In a ** b, the exponent gets the base's rule. Its own is y log(a), with y the result.",
)
def exponent_by_the_power_rule(a, b):
    return _power(a, b, _right_base, lambda g, x, n, y: g * x * n ** (x - 1))


def _quietly(rule):
    """The rule without NumPy's warnings: nan is the mistake to be seen."""

    def quiet(*args):
        with np.errstate(all="ignore"):
            return rule(*args)

    return quiet


# Tensor: matmul


def _matmul(a, b, of_a, of_b, sum_stacks=True):
    """a @ b, its gradients computed from (g, A, B), which are all matrices or stacks of them."""
    a, b = _lift(a, b)
    A = a.data if a.data.ndim > 1 else a.data[None, :]
    B = b.data if b.data.ndim > 1 else b.data[:, None]

    def fitted(gradient, matrix, operand):
        if sum_stacks:
            return _unbroadcast(gradient, matrix.shape).reshape(operand.shape)
        return gradient.reshape(operand.shape) if operand.data.ndim == 1 and gradient.ndim == 2 else gradient

    def as_matrix(g):
        g = g if b.data.ndim > 1 else g[..., None]
        return g if a.data.ndim > 1 else g[..., None, :]

    return _record(
        a.data @ b.data,
        (a, lambda g: fitted(of_a(as_matrix(g), A, B), A, a)),
        (b, lambda g: fitted(of_b(as_matrix(g), A, B), B, b)),
    )


def _turned(A):
    return A.swapaxes(-1, -2)


@misconception(
    "Tensor",
    replaces="Tensor.__matmul__",
    says="In a @ b, the transposes are missing: the gradients are g Bᵀ and Aᵀ g. With square matrices no shape "
    "complains.",
)
def matmul_without_transposes(a, b):
    return _matmul(a, b, lambda g, A, B: g @ B, lambda g, A, B: A @ g)


@misconception(
    "Tensor",
    replaces="Tensor.__matmul__",
    says="In a @ b, the factors are in the wrong order: g Bᵀ for a and Aᵀ g for b; g stands where the other one was.",
)
def matmul_in_the_wrong_order(a, b):
    return _matmul(a, b, lambda g, A, B: _turned(B) @ g, lambda g, A, B: g @ _turned(A))


@misconception(
    "Tensor",
    replaces="Tensor.__matmul__",
    says="In a @ b, .T turns all axes of a stack around. Only the last two are the matrix's: swapaxes(-1, -2).",
)
def matmul_transposes_stacks(a, b):
    return _matmul(a, b, lambda g, A, B: g @ B.T, lambda g, A, B: A.T @ g)


@misconception(
    "Tensor",
    replaces="Tensor.__matmul__",
    says="In a @ b, leading axes that were broadcast are not summed: a matrix that meets a stack has one "
    "gradient, the sum over the stack.",
)
def matmul_stacks_not_summed(a, b):
    return _matmul(a, b, lambda g, A, B: g @ _turned(B), lambda g, A, B: _turned(A) @ g, sum_stacks=False)


@misconception(
    "Tensor",
    replaces="Tensor.__matmul__",
    says="In a @ b, vectors are not treated: .T and swapaxes do nothing for them. Make a row of one on the "
    "left, a column of one on the right, and take the added axis away again.",
)
def matmul_of_matrices_only(a, b):
    a, b = _lift(a, b)
    return _record(
        a.data @ b.data,
        (a, lambda g: _unbroadcast(g @ _turned(b.data), a.shape)),
        (b, lambda g: _unbroadcast(_turned(a.data) @ g, b.shape)),
    )


@misconception(
    "Tensor",
    replaces="Tensor.__matmul__",
    says="In a @ b, .T is right for two matrices only: it does nothing to a vector, and turns all axes of a stack "
    "around. Make a row of a vector on the left, a column of one on the right, and turn the last two axes: "
    "swapaxes(-1, -2).",
)
def matmul_with_plain_transposes(a, b):
    a, b = _lift(a, b)
    return _record(
        a.data @ b.data,
        (a, lambda g: _unbroadcast(np.asarray(g @ b.data.T), a.shape)),
        (b, lambda g: _unbroadcast(np.asarray(a.data.T @ g), b.shape)),
    )


@misconception(
    "Tensor",
    replaces="Tensor.__matmul__",
    says="In a @ b, the transposes are missing, and vectors are not treated: for matrices the gradients are g Bᵀ and "
    "Aᵀ g.",
)
def matmul_untransposed(a, b):
    a, b = _lift(a, b)
    return _record(
        a.data @ b.data,
        (a, lambda g: _unbroadcast(np.asarray(g @ b.data), a.shape)),
        (b, lambda g: _unbroadcast(np.asarray(a.data @ g), b.shape)),
    )


# Tensor: reductions


@misconception(
    "Tensor",
    replaces="Tensor.sum",
    says="The gradient of a sum has the shape of the sum. It has the shape of x: every entry that went in gets g.",
)
def sum_not_spread(x, axis=None, keepdims=False):
    return _record(x.data.sum(axis=axis, keepdims=keepdims), (x, lambda g: g))


@misconception(
    "Tensor",
    replaces="Tensor.sum",
    says="Without keepdims, the summed axes are gone from g: put them back with np.expand_dims(g, axis) before "
    "you broadcast. Square matrices hide it, and get the wrong entries.",
)
def sum_axis_not_put_back(x, axis=None, keepdims=False):
    return _record(x.data.sum(axis=axis, keepdims=keepdims), (x, lambda g: np.broadcast_to(g, x.shape)))


@misconception(
    "Tensor",
    replaces="Tensor.sum",
    says="Every entry gets the same number. With an axis, an entry gets the g of the sum that it went into.",
)
def sum_ignores_the_axis(x, axis=None, keepdims=False):
    return _record(x.data.sum(axis=axis, keepdims=keepdims), (x, lambda g: np.full(x.shape, np.sum(g))))


@misconception(
    "Tensor",
    replaces="Tensor.sum",
    says="The gradient of a sum is all ones. It is g, spread over the entries that went in.",
)
def sum_gives_ones(x, axis=None, keepdims=False):
    return _record(x.data.sum(axis=axis, keepdims=keepdims), (x, lambda g: np.ones(x.shape)))


def _mean(x, axis, keepdims, divisor):
    def vjp(g):
        g = g if axis is None or keepdims else np.expand_dims(g, axis)
        return np.broadcast_to(g, x.shape) / divisor

    return _record(x.data.mean(axis=axis, keepdims=keepdims), (x, vjp))


@misconception(
    "Tensor",
    replaces="Tensor.mean",
    says="The gradient of the mean is not divided: each entry went in with the weight 1/n.",
)
def mean_not_divided(x, axis=None, keepdims=False):
    return _mean(x, axis, keepdims, 1)


@misconception(
    "Tensor",
    replaces="Tensor.mean",
    says="The gradient of the mean is divided by the size of x, also where axis is given. Divide by the number "
    "of entries in each mean.",
)
def mean_divided_by_all(x, axis=None, keepdims=False):
    return _mean(x, axis, keepdims, x.data.size)


@misconception(
    "Tensor",
    replaces="Tensor.mean",
    says="The gradient of the mean is divided by the number of rows. Divide by the number of entries in each "
    "mean, over all axes that were averaged.",
)
def mean_divided_by_rows(x, axis=None, keepdims=False):
    return _mean(x, axis, keepdims, len(x.data) if x.data.ndim else 1)


# Tensor: elementwise


def _elementwise(x, y, derivative):
    return _record(y, (x, lambda g: g * derivative))


@misconception("Tensor", replaces="Tensor.exp", says="The derivative of exp is its result, not its input.")
def exp_by_its_input(x):
    return _elementwise(x, np.exp(x.data), x.data)


@misconception("Tensor", replaces="Tensor.log", says="The derivative of log(x) is 1 / x, not one over the result.")
def log_by_its_result(x):
    with np.errstate(all="ignore"):
        return _elementwise(x, np.log(x.data), 1 / np.log(x.data))


@misconception("Tensor", replaces="Tensor.log", says="The gradient of log(x) is g / x: divide, do not multiply.")
def log_multiplied(x):
    return _elementwise(x, np.log(x.data), x.data)


@misconception(
    "Tensor", replaces="Tensor.relu", says="At 0 the derivative of relu is 0 here: the mask is x > 0, not x >= 0."
)
def relu_open_at_zero(x):
    return _elementwise(x, np.maximum(x.data, 0), x.data >= 0)


@misconception(
    "Tensor",
    replaces="Tensor.relu",
    says="relu is applied to g. The mask comes from x: a negative g passes where x is positive.",
)
def relu_of_g(x):
    return _record(np.maximum(x.data, 0), (x, lambda g: np.maximum(g, 0)))


@misconception("Tensor", replaces="Tensor.relu", says="g is multiplied by x where x is positive. The slope there is 1.")
def relu_times_x(x):
    return _elementwise(x, np.maximum(x.data, 0), np.maximum(x.data, 0))


@misconception(
    "Tensor", replaces="Tensor.tanh", says="The derivative of tanh is 1 - y² with the result y, not with the input."
)
def tanh_by_its_input(x):
    return _elementwise(x, np.tanh(x.data), 1 - x.data**2)


@misconception("Tensor", replaces="Tensor.tanh", says="The derivative of tanh is 1 - y²; y (1 - y) is the sigmoid's.")
def tanh_like_a_sigmoid(x):
    y = np.tanh(x.data)
    return _elementwise(x, y, y * (1 - y))


# Tensor: shapes


@misconception(
    "Tensor",
    replaces="Tensor.reshape",
    says="The gradient of a reshape keeps the new shape: give it back the shape of x.",
)
def reshape_not_undone(x, *shape):
    return _record(x.data.reshape(*shape), (x, lambda g: g))


@misconception(
    "Tensor",
    replaces="Tensor.transpose",
    says="The gradient is permuted like x. It has to go back: by the inverse permutation, np.argsort(axes). "
    "For two axes both are the same.",
)
def transpose_not_inverted(x, *axes):
    axes = axes or tuple(range(x.data.ndim))[::-1]
    return _record(x.data.transpose(*axes), (x, lambda g: g.transpose(*axes)))


@misconception(
    "Tensor",
    replaces="Tensor.transpose",
    says="np.argsort(axes) is the inverse permutation only of axes that count from the front: take axis % ndim first.",
)
def transpose_of_negative_axes(x, *axes):
    axes = axes or tuple(range(x.data.ndim))[::-1]
    return _record(x.data.transpose(*axes), (x, lambda g: g.transpose(*np.argsort(axes))))


@misconception(
    "Tensor",
    replaces="Tensor.transpose",
    says="The gradient's axes are reversed, whatever the axes were. It has to go back by the inverse permutation.",
)
def transpose_always_reversed(x, *axes):
    return _record(x.data.transpose(*axes), (x, lambda g: g.T))


@misconception(
    "Tensor",
    replaces="Tensor.__getitem__",
    says="dx[index] = g, and dx[index] += g as well, count an entry once that was selected twice. np.add.at "
    "adds every time.",
)
def select_counts_once(x, index):
    def vjp(g):
        dx = np.zeros_like(x.data)
        dx[index] = g
        return dx

    return _record(x.data[index], (x, vjp))


@misconception(
    "Tensor",
    replaces="Tensor.__getitem__",
    says="The gradient of x[index] has the shape of what was selected. It has the shape of x, with 0 where "
    "nothing was.",
)
def select_not_scattered(x, index):
    return _record(x.data[index], (x, lambda g: g))


# Tensor.backward


def _order(root) -> list[Any]:
    """Right: every tensor below root, parents first."""
    order: list[Any] = []
    seen, stack = set(), [(root, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            if node.edges is None:
                raise RuntimeError("freed: retain_graph=True would have kept it")
            stack.append((node, True))
            stack.extend((parent, False) for parent, _ in node.edges)
    return order


def _start(self, g):
    """Right: the gradient of the root as an array of its own dtype."""
    if not self.requires_grad:
        raise RuntimeError("requires no gradient")
    if g is None:
        if self.data.size != 1:
            raise ValueError("not one number")
        g = np.ones(self.shape)
    g = np.asarray(g, dtype=self.data.dtype)
    if g.shape != self.shape:
        raise ValueError("shape of g")
    return g


def _call_hooks(node, g):
    """Right: each hook in turn, with a copy."""
    for hook in node.hooks:
        replacement = hook(np.array(g))
        g = g if replacement is None else np.asarray(replacement, dtype=g.dtype)
    return g


def _keep(node, g):
    """Right: what a leaf does with its gradient."""
    node.grad = np.array(g if node.grad is None else node.grad + g)


def _free(node):
    node.edges = None


def _add(old, new):
    return old + new


def _walk(
    self,
    g,
    retain_graph,
    *,
    order: Callable[[Any], list[Any]] = _order,
    start: Callable[[Any, Any], Any] = _start,
    hooks: Callable[[Any, Any], Any] = _call_hooks,
    combine: Callable[[Any, Any], Any] = _add,
    keep: Callable[[Any, Any], None] = _keep,
    free: Callable[[Any], None] = _free,
    cast: bool = True,
) -> None:
    """A right backward pass; each mistake replaces one of its parts."""
    gradients = {self: start(self, g)}
    waiting = order(self)
    while waiting:
        node = waiting.pop()
        g = hooks(node, gradients.pop(node))
        if not node.edges:
            keep(node, g)
            continue
        for parent, vjp in node.edges:
            dx = np.asarray(vjp(g), dtype=parent.data.dtype if cast else None)
            gradients[parent] = combine(gradients[parent], dx) if parent in gradients else dx
        if not retain_graph:
            free(node)


@misconception(
    "Tensor.backward",
    says="Results keep their gradient in `grad`, and the next pass adds to it and sends the sum down once "
    "more: two passes give three times the gradient, and so do two results of one tensor. Keep what flows "
    "in a dict of this call.",
)
def gradients_left_in_the_graph(self, g=None, retain_graph=False):
    def add(node, gradient):
        node.grad = np.array(gradient if node.grad is None else node.grad + gradient, dtype=node.data.dtype)

    order = _order(self)
    add(self, _start(self, g))
    while order:
        node = order.pop()
        for parent, vjp in node.edges:
            add(parent, vjp(node.grad))
        if node.edges and not retain_graph:
            node.edges = None


@misconception(
    "Tensor.backward",
    says="Every tensor on the way gets a grad. Only leaves keep one: results would hold memory that nobody asked for.",
)
def grad_on_every_tensor(self, g=None, retain_graph=False):
    def look(node, gradient):
        gradient = _call_hooks(node, gradient)
        if node.edges:
            node.grad = np.array(gradient)
        return gradient

    _walk(self, g, retain_graph, hooks=look)


@misconception(
    "Tensor.backward",
    says="A leaf's grad is overwritten by the second pass, or reset at its start: add to what is there. Who wants to "
    "begin afresh sets it to None.",
)
def grad_overwritten(self, g=None, retain_graph=False):
    def keep(node, gradient):
        node.grad = np.array(gradient)

    _walk(self, g, retain_graph, keep=keep)


@misconception(
    "Tensor.backward",
    says="Where the root is a leaf itself, its grad is overwritten by g: also there it adds up.",
)
def grad_of_the_root_overwritten(self, g=None, retain_graph=False):
    if not self.edges:
        self.grad = None
    _walk(self, g, retain_graph)


@misconception(
    "Tensor.backward",
    says="Of several gradients that meet in one tensor only the last is kept: `=` where `+=` is meant. Add them up.",
)
def last_gradient_only(self, g=None, retain_graph=False):
    _walk(self, g, retain_graph, combine=lambda old, new: new)


@misconception(
    "Tensor.backward",
    says="Of several gradients that meet in one tensor only the first is kept: a tensor that was seen already "
    "still has to add what comes later.",
)
def first_gradient_only(self, g=None, retain_graph=False):
    _walk(self, g, retain_graph, combine=lambda old, new: old)


@misconception(
    "Tensor.backward",
    says="A tensor passes its gradient on as soon as it is reached, and what comes later from other uses is "
    "lost below it. It has to wait for all that was computed from it: topological order.",
)
def gradient_flows_too_early(self, g=None, retain_graph=False):
    gradients, queue, order = {self: _start(self, g)}, [self], []
    _order(self)  # for its error
    for node in queue:  # in the order in which they are found
        order.append(node)
        for parent, vjp in node.edges:
            dx = np.asarray(vjp(gradients[node]), dtype=parent.data.dtype)
            if parent in gradients:
                gradients[parent] = gradients[parent] + dx
            else:
                gradients[parent] = dx
                queue.append(parent)
    for node in order:
        if not node.edges:
            _keep(node, gradients[node])
        elif not retain_graph:
            node.edges = None


@misconception(
    "Tensor.backward",
    says="Each path is walked by itself: the gradients are right, but VJPs are called once a path, and paths "
    "double with every fan-out. Sum up what arrives at a tensor, then call its VJPs once.",
)
def path_by_path(self, g=None, retain_graph=False):
    order = _order(self)
    paths = [(self, _start(self, g))]
    while paths:
        node, gradient = paths.pop()
        if not node.edges:
            _keep(node, gradient)
        paths += [(parent, np.asarray(vjp(gradient), dtype=parent.data.dtype)) for parent, vjp in node.edges or ()]
    while order and not retain_graph:
        node = order.pop()
        if node.edges:
            node.edges = None


@misconception(
    "Tensor.backward",
    says="The order is found by recursion, and Python allows about a thousand calls in each other. A list as a "
    "stack has no such limit.",
)
def recursive_order(self, g=None, retain_graph=False):
    def order(root):
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

    _walk(self, g, retain_graph, order=order)


@misconception(
    "Tensor.backward",
    says="A leaf's grad is the very array that flowed: both operands of a sum share it, or it is g itself, and "
    "whoever scales one in place scales the other. Copy it into grad.",
)
def aliased_gradients(self, g=None, retain_graph=False):
    def keep(node, gradient):
        node.grad = np.asarray(gradient) if node.grad is None else np.asarray(node.grad + gradient)

    _walk(self, g, retain_graph, keep=keep)


@misconception(
    "Tensor.backward",
    says="Gradients are added in place with +=. The array that arrived first may be g itself, or what another "
    "tensor was given as well: add into a new array.",
)
def added_in_place(self, g=None, retain_graph=False):
    def combine(old, new):
        if not old.flags.writeable:
            return old + new
        old += new
        return old

    _walk(self, g, retain_graph, combine=combine)


@misconception(
    "Tensor.backward",
    says="Nothing is freed: the edges and all that their VJPs kept live as long as the result does. Set a "
    "result's edges to None once its VJPs have been called, unless retain_graph.",
)
def nothing_freed(self, g=None, retain_graph=False):
    _walk(self, g, True)


@misconception(
    "Tensor.backward",
    says="Everything is freed, but only when the walk is over: until then all of it is alive. Let go of each "
    "result's edges as soon as its VJPs have been called.",
)
def freed_at_the_end(self, g=None, retain_graph=False):
    order = _order(self)
    _walk(self, g, True)
    for node in order:
        if node.edges and not retain_graph:
            node.edges = None


@misconception(
    "Tensor.backward",
    says="The edges are freed in time, but the list of all tensors is held to the end, and their arrays with "
    "it: take each tensor off the list as you come to it (pop).",
)
def order_held(self, g=None, retain_graph=False):
    held = []

    def order(root):
        held.extend(_order(root))
        return list(held)

    _walk(self, g, retain_graph, order=order)


@misconception(
    "Tensor.backward",
    says="A freed result looks like a leaf: its edges are (), None is expected. A second pass ends there without a "
    "word, and the gradients below are missing. Mark it (edges = None), and raise a RuntimeError when a pass meets it.",
)
def freed_looks_like_a_leaf(self, g=None, retain_graph=False):
    def free(node):
        node.edges = ()

    _walk(self, g, retain_graph, free=free)


@misconception(
    "Tensor.backward",
    says="Leaves are freed, too: their edges become None, and the next pass takes them for freed results. Only results "
    "are freed; a leaf keeps ().",
)
def leaves_freed(self, g=None, retain_graph=False):
    def keep(node, gradient):
        _keep(node, gradient)
        if not retain_graph:
            node.edges = None

    _walk(self, g, retain_graph, keep=keep)


@misconception(
    "Tensor.backward",
    says="The grad of a leaf without axes becomes a NumPy number when a second gradient is added: the sum of two such "
    "arrays is one. Wrap it: np.array(leaf.grad + g).",
)
def grad_becomes_a_number(self, g=None, retain_graph=False):
    def keep(node, gradient):
        node.grad = np.array(gradient) if node.grad is None else node.grad + gradient

    _walk(self, g, retain_graph, keep=keep)


@misconception(
    "Tensor.backward",
    says="The shape of g is not looked at, and NumPy broadcasts a wrong one, or complains far below. Compare it with "
    "self.shape, and raise a ValueError.",
)
def g_of_any_shape(self, g=None, retain_graph=False):
    def start(root, g):
        return _start(root, g) if g is None or not root.requires_grad else np.asarray(g, dtype=root.data.dtype)

    _walk(self, g, retain_graph, start=start)


@misconception(
    "Tensor.backward",
    says="The error of a second pass does not say what to do: name retain_graph in its message.",
)
def error_without_a_word(self, g=None, retain_graph=False):
    try:
        order = _order(self)
    except RuntimeError:
        raise RuntimeError("no") from None
    _walk(self, g, retain_graph, order=lambda root: order)


@misconception(
    "Tensor.backward",
    says="retain_graph is ignored: with retain_graph=True nothing is freed, and a second pass works.",
)
def always_freed(self, g=None, retain_graph=False):
    _walk(self, g, False)


@misconception(
    "Tensor.backward",
    says="A root of several numbers without g is differentiated as if g were all ones: the gradient of a sum "
    "that nobody wrote. Raise a ValueError.",
)
def ones_for_any_root(self, g=None, retain_graph=False):
    _walk(self, np.ones(self.shape) if g is None else g, retain_graph)


@misconception(
    "Tensor.backward",
    says="A root of shape (1,) or (1, 1) holds one number, too: ask for its size, not for its shape.",
)
def only_shapeless_roots(self, g=None, retain_graph=False):
    if g is None and self.shape != ():
        raise ValueError("not one number")
    _walk(self, g, retain_graph)


@misconception(
    "Tensor.backward",
    says="A g of another shape is broadcast to the root's without a word. Raise a ValueError: it is a mistake, mostly.",
)
def g_broadcast(self, g=None, retain_graph=False):
    def start(root, g):
        return _start(root, g if g is None else np.broadcast_to(g, root.shape))

    _walk(self, g, retain_graph, start=start)


@misconception("Tensor.backward", says="g is not used: the pass starts from ones. Start from g where there is one.")
def g_not_used(self, g=None, retain_graph=False):
    def start(root, g):
        return np.ones_like(_start(root, g))

    _walk(self, g, retain_graph, start=start)


@misconception(
    "Tensor.backward",
    says="A root that requires no gradient is passed over without a word. Raise a RuntimeError: nothing below "
    "it could have got a gradient.",
)
def silent_without_gradient(self, g=None, retain_graph=False):
    if self.requires_grad:
        _walk(self, g, retain_graph)


@misconception(
    "Tensor.backward",
    says="A gradient keeps the dtype that it was computed in: where float32 and float64 meet, the float32 leaf "
    "gets float64. Cast to the dtype of the tensor that it belongs to.",
)
def dtype_of_the_computation(self, g=None, retain_graph=False):
    _walk(self, g, retain_graph, cast=False)


# no_grad


def _switching(enter: Callable[[Any], Any], leave: Callable[[Any, Any], None]) -> Any:
    """A `no_grad` that exceptions leave, too: `enter` returns what `leave` needs."""

    @contextmanager
    def switching(tensor: Any) -> Iterator[None]:
        state = enter(tensor)
        try:
            yield
        finally:
            leave(tensor, state)

    return switching(_callers_tensor())


def _switch_off(tensor):
    before, tensor.recording = tensor.recording, False
    return before


def _switch(tensor, state):
    tensor.recording = state


@misconception(
    "no_grad",
    says="Recording is switched on at the end, whatever it was before: the end of an inner block switches it "
    "on inside of the outer one. Put back what was there.",
)
def always_on_afterwards():
    return _switching(_switch_off, lambda tensor, state: _switch(tensor, True))


@misconception(
    "no_grad",
    says="Recording is flipped at both ends, so an inner block switches it on. Switch it off, and put back "
    "what was there.",
)
def flipped():
    def flip(tensor, state=None):
        tensor.recording = not tensor.recording

    return _switching(flip, flip)


@misconception(
    "no_grad",
    says="An exception inside of the block skips the end, and recording stays off: put the end into `finally`.",
)
def not_restored_after_an_exception():
    @contextmanager
    def block(tensor):
        before = _switch_off(tensor)
        yield
        tensor.recording = before

    return block(_callers_tensor())


@misconception(
    "no_grad",
    says="An exception inside of the block is swallowed. It belongs to the caller: `finally`, not `except`, "
    "and an __exit__ that does not return True.",
)
def exceptions_swallowed():
    @contextmanager
    def block(tensor):
        before = _switch_off(tensor)
        try:
            yield
        except Exception:
            pass
        finally:
            tensor.recording = before

    return block(_callers_tensor())


@misconception("no_grad", says="Recording is never switched off: set Tensor.recording to False before the block.")
def never_off():
    return _switching(lambda tensor: tensor.recording, _switch)


@misconception("no_grad", says="Recording stays off after the block: put back what was there before.")
def off_for_ever():
    return _switching(_switch_off, lambda tensor, state: None)


@misconception(
    "no_grad",
    says="The call no_grad() switches recording off, before any `with` has begun: do it when the block is entered.",
)
def off_when_called():
    tensor = _callers_tensor()
    before = _switch_off(tensor)
    return _switching(lambda tensor: before, _switch)


# Tensor.detach


@misconception("Tensor.detach", says="The data is copied. A detached tensor shares it: pass self.data on as it is.")
def detached_copy(self):
    return type(self)(self.data.copy())


@misconception(
    "Tensor.detach",
    says="The tensor itself is cut off and returned, so whoever else uses it loses its gradient. Make a new "
    "Tensor of the same data.",
)
def detached_itself(self):
    self.requires_grad, self.edges = False, ()
    return self


@misconception(
    "Tensor.detach",
    says="The new tensor is cut off and requires a gradient of its own: detached, it is a constant.",
)
def detached_leaf_with_gradient(self):
    return type(self)(self.data, requires_grad=self.requires_grad)


@misconception(
    "Tensor.detach",
    says="The tensor comes back as it is, on the graph. Make a new Tensor of the same data.",
)
def not_detached(self):
    return self


@misconception(
    "Tensor.detach",
    says="The new tensor is cut off, and the old one as well: leave self as it is.",
)
def detached_both(self):
    self.requires_grad, self.edges = False, ()
    return type(self)(self.data)


# Tensor.register_hook


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="`backward` never calls the hooks: go back to it, and call those of each tensor when its gradient is "
    "complete.",
)
def hooks_never_called(self, g=None, retain_graph=False):
    _walk(self, g, retain_graph, hooks=lambda node, gradient: gradient)


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="Hooks are called for every contribution that arrives. Call them once, when the tensor's gradient is "
    "complete.",
)
def hook_per_contribution(self, g=None, retain_graph=False):
    gradients = {self: _call_hooks(self, _start(self, g))}
    order = _order(self)
    while order:
        node = order.pop()
        g = gradients.pop(node)
        if not node.edges:
            _keep(node, g)
            continue
        for parent, vjp in node.edges:
            dx = _call_hooks(parent, np.asarray(vjp(g), dtype=parent.data.dtype))
            gradients[parent] = gradients[parent] + dx if parent in gradients else dx
        if not retain_graph:
            node.edges = None


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="Hooks are called, and what they return is thrown away: unless it is None, it is the gradient from there on.",
)
def replacement_ignored(self, g=None, retain_graph=False):
    def hooks(node, gradient):
        _call_hooks(node, gradient)
        return gradient

    _walk(self, g, retain_graph, hooks=hooks)


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="A hook that returns None is taken to have replaced the gradient. None means: leave it.",
)
def none_as_a_replacement(self, g=None, retain_graph=False):
    def hooks(node, gradient):
        for hook in node.hooks:
            gradient = hook(np.array(gradient))
        return gradient

    _walk(self, g, retain_graph, hooks=hooks)


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="Only the hooks of leaves are called. Results have them, too: call them before the gradient flows on.",
)
def hooks_of_leaves_only(self, g=None, retain_graph=False):
    _walk(self, g, retain_graph, hooks=lambda node, gradient: gradient if node.edges else _call_hooks(node, gradient))


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="The hooks of leaves are not called. A leaf's gradient is complete when the walk comes to it: call "
    "them before it goes into grad.",
)
def hooks_of_results_only(self, g=None, retain_graph=False):
    _walk(self, g, retain_graph, hooks=lambda node, gradient: _call_hooks(node, gradient) if node.edges else gradient)


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="The root's hooks are not called. It is a tensor like any other: its complete gradient is g.",
)
def hooks_not_of_the_root(self, g=None, retain_graph=False):
    _walk(
        self,
        g,
        retain_graph,
        hooks=lambda node, gradient: gradient if node is self else _call_hooks(node, gradient),
    )


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="A leaf's hook is given its grad, with what earlier passes left there. It gets the gradient of this pass.",
)
def hook_sees_the_grad(self, g=None, retain_graph=False):
    def hooks(node, gradient):
        if node.edges or node.grad is None:
            return _call_hooks(node, gradient)
        return _call_hooks(node, node.grad + gradient) - node.grad

    _walk(self, g, retain_graph, hooks=hooks)


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="A hook is given the engine's own array, and one that writes into it changes g or another tensor's "
    "gradient. Give it a copy.",
)
def hook_gets_the_original(self, g=None, retain_graph=False):
    def hooks(node, gradient):
        for hook in node.hooks:
            replacement = hook(gradient)
            gradient = gradient if replacement is None else np.asarray(replacement, dtype=gradient.dtype)
        return gradient

    _walk(self, g, retain_graph, hooks=hooks)


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="What a hook returns goes into grad in the hook's own dtype. A leaf's grad has the dtype of the leaf: "
    "np.asarray(replacement, dtype=g.dtype).",
)
def replacement_in_its_own_dtype(self, g=None, retain_graph=False):
    def hooks(node, gradient):
        for hook in node.hooks:
            replacement = hook(np.array(gradient))
            gradient = gradient if replacement is None else replacement
        return gradient

    _walk(self, g, retain_graph, hooks=hooks)


@misconception(
    "Tensor.register_hook",
    replaces="Tensor.backward",
    says="Every hook is given the gradient as it arrived. Each sees what the one before it left.",
)
def hooks_beside_each_other(self, g=None, retain_graph=False):
    def hooks(node, gradient):
        result = gradient
        for hook in node.hooks:
            replacement = hook(np.array(gradient))
            result = result if replacement is None else np.asarray(replacement, dtype=gradient.dtype)
        return result

    _walk(self, g, retain_graph, hooks=hooks)


@misconception("Tensor.register_hook", says="A second hook displaces the first: add to those that are there.")
def one_hook_only(self, fn):
    self.hooks = (fn,)


@misconception("Tensor.register_hook", says="The newest hook runs first. They run in the order of their registration.")
def newest_hook_first(self, fn):
    self.hooks = (fn, *self.hooks)


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
    return _train(X, y, X, np.random.default_rng(seed), epochs=20)


@misconception(
    "train_digits",
    says="Each call draws other numbers: make one generator from seed, and draw everything from it.",
)
def unseeded(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(), epochs=20)


@misconception("train_digits", says="Every seed gives the same network: pass seed to the generator.")
def one_seed_for_all(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(0), epochs=20)


@misconception(
    "train_digits",
    says="The digits are read right, but not by your engine: the gradients have to come from Tensor.backward.",
)
def without_the_engine(X, y, X_test, seed):
    return _train(X, y, X_test, np.random.default_rng(seed), epochs=20)
