"""Wrong VJPs that learners write, each one mistake away from right, with what to say about it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.diagnosis import misconception, mistake


def cast(gradient: Any, x: np.ndarray) -> np.ndarray:
    """The gradient in the dtype of its input: the mistakes below are others."""
    return np.asarray(gradient).astype(x.dtype)


def unbroadcast(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Right: g summed over the axes that broadcasting x added or stretched."""
    g = np.asarray(g)
    g = g.sum(axis=tuple(range(g.ndim - x.ndim)))
    return cast(g.sum(axis=stretched(x), keepdims=True), x)


def stretched(x: np.ndarray) -> tuple[int, ...]:
    """The axes of size 1."""
    return tuple(axis for axis in range(x.ndim) if x.shape[axis] == 1)


def leading_only(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Wrong: sums the axes that x lacks, and leaves those that were stretched."""
    g = np.asarray(g)
    return cast(g.sum(axis=tuple(range(g.ndim - x.ndim))), x)


def without_keepdims(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Wrong: sums the right axes and drops those of size 1."""
    g = np.asarray(g)
    g = g.sum(axis=tuple(range(g.ndim - x.ndim)))
    return cast(g.sum(axis=stretched(x)), x)


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Right, and stable."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def unstable_softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Wrong for large entries: exp overflows."""
    with np.errstate(all="ignore"):
        e = np.exp(x)
        return e / e.sum(axis=axis, keepdims=True)


# add_vjp


add_not_summed = mistake(
    "add_vjp",
    {"return unbroadcast(g, a), unbroadcast(g, b)": "return g.astype(a.dtype), g.astype(b.dtype)"},
    says="You return g for both operands. An operand that was broadcast was used many times: sum g over the axes that "
    "broadcasting added or stretched, until it has the operand's shape again.",
)


@misconception(
    "add_vjp",
    says="You sum over the axes that an operand lacks, but not over its axes of size 1 that were stretched. Those "
    "need a sum too, with keepdims=True.",
)
def add_leading_axes_only(g, a, b):
    return leading_only(g, a), leading_only(g, b)


@misconception(
    "add_vjp",
    says="You sum over the stretched axes and lose them. An operand of shape (n, 1) needs a gradient of shape (n, 1): "
    "sum with keepdims=True.",
)
def add_without_keepdims(g, a, b):
    return without_keepdims(g, a), without_keepdims(g, b)


@misconception(
    "add_vjp",
    says="Only b is treated as the operand that was broadcast. It can be a as well, or both: treat them alike.",
)
def add_only_b_summed(g, a, b):
    return cast(g, a), unbroadcast(g, b)


@misconception(
    "add_vjp",
    says="You average over the broadcast axes. Every use of an operand adds its gradient: sum, do not take the mean.",
)
def add_mean_instead_of_sum(g, a, b):
    return tuple(cast(unbroadcast(g, x) * max(x.size, 1) / max(g.size, 1), x) for x in (a, b))


@misconception(
    "add_vjp",
    says="Your gradients do not depend on g. The derivative of a sum is 1, and the gradient is g times that, not 1.",
)
def add_ignores_g(g, a, b):
    return unbroadcast(np.ones_like(g), a), unbroadcast(np.ones_like(g), b)


@misconception(
    "add_vjp",
    says="Both gradients have the dtype of g. Each needs the dtype of its own operand: da that of a, db that of b.",
)
def add_dtype_of_g(g, a, b):
    return tuple(unbroadcast(g, x.astype(g.dtype)) for x in (a, b))


# mul_vjp


@misconception(
    "mul_vjp",
    says="Each gradient is multiplied by its own operand. It is the other one that counts: da = g * b and db = g * a.",
)
def mul_own_operand(g, a, b):
    return unbroadcast(g * a, a), unbroadcast(g * b, b)


@misconception(
    "mul_vjp",
    says="The other operand is missing: this is the VJP of a sum. For a product da = g * b and db = g * a.",
)
def mul_like_add(g, a, b):
    return unbroadcast(g, a), unbroadcast(g, b)


@misconception(
    "mul_vjp",
    says="The products are right, but not summed. An operand that was broadcast was used many times: sum over the "
    "axes that broadcasting added or stretched.",
)
def mul_not_summed(g, a, b):
    return cast(g * b, a), cast(g * a, b)


@misconception(
    "mul_vjp",
    says="You sum g first and multiply by the other operand afterwards. Multiply first, then sum: the operand may "
    "differ along the axis that is summed.",
)
def mul_summed_before_product(g, a, b):
    return cast(unbroadcast(g, a) * b, a), cast(unbroadcast(g, b) * a, b)


@misconception(
    "mul_vjp",
    says="You sum over the axes that an operand lacks, but not over its axes of size 1 that were stretched. Those "
    "need a sum too, with keepdims=True.",
)
def mul_leading_axes_only(g, a, b):
    return leading_only(g * b, a), leading_only(g * a, b)


@misconception(
    "mul_vjp",
    says="You sum over the stretched axes and lose them. An operand of shape (n, 1) needs a gradient of shape (n, 1): "
    "sum with keepdims=True.",
)
def mul_without_keepdims(g, a, b):
    return without_keepdims(g * b, a), without_keepdims(g * a, b)


@misconception(
    "mul_vjp",
    says="Your gradients do not depend on g. The other operand is the local derivative; multiply it by g.",
)
def mul_ignores_g(g, a, b):
    return unbroadcast(np.ones_like(g) * b, a), unbroadcast(np.ones_like(g) * a, b)


# matmul_vjp


def transposed(M: np.ndarray) -> np.ndarray:
    """Each matrix of a stack, transposed."""
    return M.swapaxes(-1, -2)


@misconception("matmul_vjp", says="B was not transposed: dA = g Bᵀ, not g B.")
def untransposed_b(g, A, B):
    return unbroadcast(g @ B, A), unbroadcast(transposed(A) @ g, B)


@misconception("matmul_vjp", says="A was not transposed: dB = Aᵀ g, not A g.")
def untransposed_a(g, A, B):
    return unbroadcast(g @ transposed(B), A), unbroadcast(A @ g, B)


@misconception("matmul_vjp", says="Neither matrix was transposed: dA = g Bᵀ and dB = Aᵀ g.")
def nothing_transposed(g, A, B):
    return unbroadcast(g @ B, A), unbroadcast(A @ g, B)


@misconception(
    "matmul_vjp",
    says="The factors stand in the wrong order: dA = g Bᵀ, with g on the left, and dB = Aᵀ g, with g on the right.",
)
def factors_in_wrong_order(g, A, B):
    return unbroadcast(transposed(B) @ g, A), unbroadcast(g @ transposed(A), B)


@misconception("matmul_vjp", says="The two gradients are swapped: return dA = g Bᵀ first, then dB = Aᵀ g.")
def gradients_swapped(g, A, B):
    return unbroadcast(transposed(A) @ g, B), unbroadcast(g @ transposed(B), A)


@misconception(
    "matmul_vjp",
    says=".T reverses all axes of a stack, batch axes included. Swap only the last two: B.swapaxes(-1, -2) or B.mT.",
)
def all_axes_reversed(g, A, B):
    return unbroadcast(g @ B.T, A), unbroadcast(A.T @ g, B)


@misconception(
    "matmul_vjp",
    says="The products are right, but not summed over the leading axes that were broadcast. A matrix that the whole "
    "stack uses gets the sum of all its gradients.",
)
def matmul_not_summed(g, A, B):
    return cast(g @ transposed(B), A), cast(transposed(A) @ g, B)


@misconception(
    "matmul_vjp",
    says="You sum over the leading axes that a stack lacks, but not over its leading axes of size 1 that were "
    "stretched.",
)
def matmul_leading_axes_only(g, A, B):
    return leading_only(g @ transposed(B), A), leading_only(transposed(A) @ g, B)


@misconception(
    "matmul_vjp",
    says="dB is summed over all leading axes, even those that B has itself. Sum only what broadcasting added or "
    "stretched.",
)
def matmul_b_always_summed(g, A, B):
    dB = transposed(A) @ g
    return unbroadcast(g @ transposed(B), A), cast(dB.sum(axis=tuple(range(dB.ndim - 2))), B)


# sum_vjp


@misconception(
    "sum_vjp",
    says="g is broadcast as it is. Without keepdims it lacks the summed axes: put them back with size 1 "
    "(np.expand_dims) before you broadcast, or it lines up with the wrong axes.",
)
def sum_axes_not_restored(g, x, axis=None, keepdims=False):
    return cast(np.broadcast_to(g, x.shape), x)


@misconception(
    "sum_vjp",
    says="The missing axis always comes back as the last one. It belongs where it was summed away: np.expand_dims(g, "
    "axis).",
)
def sum_axis_restored_last(g, x, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        for _ in range(x.ndim - g.ndim):
            g = g[..., None]
    return cast(np.broadcast_to(g, x.shape), x)


@misconception(
    "sum_vjp",
    says="Each axis is put back one by one in the order given, so an earlier one shifts when a later one comes in. "
    "Put them back together: np.expand_dims(g, axis) takes the whole tuple.",
)
def sum_axes_restored_one_by_one(g, x, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        for one in axis if isinstance(axis, tuple) else (axis,):
            g = np.expand_dims(g, one)
    return cast(np.broadcast_to(g, x.shape), x)


@misconception(
    "sum_vjp",
    says="With keepdims=True g still has the summed axes, with size 1. Do not add them a second time.",
)
def sum_ignores_keepdims(g, x, axis=None, keepdims=False):
    if axis is not None:
        g = np.expand_dims(g, axis)
    return cast(np.broadcast_to(g, x.shape), x)


@misconception("sum_vjp", says="This is the VJP of a mean. A sum does not divide by the number of entries.")
def sum_like_mean(g, x, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis)
    return cast(np.broadcast_to(g, x.shape) * max(g.size, 1) / max(x.size, 1), x)


@misconception(
    "sum_vjp",
    says="Your gradient is all ones. One is the local derivative: every entry gets the g of its own sum.",
)
def sum_ignores_g(g, x, axis=None, keepdims=False):
    return np.ones_like(x)


# max_vjp


def winners(x: np.ndarray, axis: int) -> np.ndarray:
    return x == x.max(axis=axis, keepdims=True)


@misconception(
    "max_vjp",
    says="Every entry of a tie gets all of the gradient, so more comes out than g brought in. Divide by the number of "
    "entries in the tie.",
)
def max_full_to_each(g, x, axis):
    return cast(np.expand_dims(g, axis) * winners(x, axis), x)


@misconception(
    "max_vjp",
    says="Only the first entry of a tie gets the gradient, as argmax finds it. Here the entries of a tie share it "
    "equally.",
)
def max_first_only(g, x, axis):
    dx = np.zeros_like(x)
    first = np.expand_dims(x.argmax(axis=axis), axis)
    np.put_along_axis(dx, first, cast(np.expand_dims(g, axis), x), axis)
    return dx


@misconception(
    "max_vjp",
    says="Entries that are only close to the maximum take part in the tie. Compare with ==: a smaller entry gets "
    "nothing.",
)
def max_near_ties(g, x, axis):
    close = np.isclose(x, x.max(axis=axis, keepdims=True))
    return cast(np.expand_dims(g, axis) * close / close.sum(axis=axis, keepdims=True), x)


@misconception(
    "max_vjp",
    says="You compare with the largest entry of all of x. Each maximum is taken along the axis: x.max(axis=axis, "
    "keepdims=True).",
)
def max_of_everything(g, x, axis):
    won = x == x.max(initial=-np.inf)
    return cast(np.expand_dims(g, axis) * won / np.maximum(won.sum(axis=axis, keepdims=True), 1), x)


@misconception(
    "max_vjp",
    says="g comes back along the last axis. It lacks the axis of the maximum: np.expand_dims(g, axis) puts it back "
    "there.",
)
def max_axis_restored_last(g, x, axis):
    share = winners(x, axis) / winners(x, axis).sum(axis=axis, keepdims=True)
    return cast(g[..., None] * share, x)


@misconception(
    "max_vjp",
    says="Your gradient marks the winners but does not depend on g. Multiply by g, along the axis.",
)
def max_ignores_g(g, x, axis):
    return cast(winners(x, axis) / winners(x, axis).sum(axis=axis, keepdims=True), x)


@misconception(
    "max_vjp",
    says="Every entry gets g, as in a sum. Only the largest entry moved the output: the others get 0.",
)
def max_like_sum(g, x, axis):
    return cast(np.broadcast_to(np.expand_dims(g, axis), x.shape), x)


# relu_vjp


@misconception("relu_vjp", says="The derivative at 0 is 0 here: the mask is x > 0, not x >= 0.")
def relu_one_at_zero(g, x):
    return cast(g * (x >= 0), x)


@misconception(
    "relu_vjp",
    says="The mask comes from g. It must come from x: g passes where x > 0, whatever its own sign.",
)
def relu_mask_from_g(g, x):
    return cast(np.maximum(g, 0), x)


@misconception("relu_vjp", says="Your gradient is the mask alone. That is the local derivative: multiply it by g.")
def relu_ignores_g(g, x):
    return cast(x > 0, x)


@misconception(
    "relu_vjp",
    says="You multiply g by relu(x). Multiply by its derivative, which is 1 where x > 0 and else 0.",
)
def relu_times_output(g, x):
    return cast(g * np.maximum(x, 0), x)


@misconception("relu_vjp", says="Half of g passes at 0. The derivative at 0 is taken to be 0 here: the mask is x > 0.")
def relu_half_at_zero(g, x):
    return cast(g * np.heaviside(x, 0.5), x)


# sigmoid_vjp


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Right, and stable."""
    z = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, z) / (1 + z)


@misconception(
    "sigmoid_vjp",
    says="You use x where the sigmoid of x belongs: the derivative is s (1 − s) with s = sigmoid(x).",
)
def sigmoid_of_x_itself(g, x):
    return cast(g * x * (1 - x), x)


@misconception("sigmoid_vjp", says="Your gradient does not depend on g: multiply s (1 − s) by it.")
def sigmoid_ignores_g(g, x):
    return cast(sigmoid(x) * (1 - sigmoid(x)), x)


@misconception("sigmoid_vjp", says="You multiply g by the sigmoid itself. Its derivative is s (1 − s).")
def sigmoid_times_output(g, x):
    return cast(g * sigmoid(x), x)


@misconception("sigmoid_vjp", says="The factor s is missing: the derivative of the sigmoid is s (1 − s), not 1 − s.")
def sigmoid_one_minus_s(g, x):
    return cast(g * (1 - sigmoid(x)), x)


@misconception(
    "sigmoid_vjp",
    says="exp(-x) overflows for very negative x, and inf / inf² is nan. Compute s first and use s (1 − s).",
)
def sigmoid_overflows_below(g, x):
    with np.errstate(all="ignore"):
        return cast(g * np.exp(-x) / (1 + np.exp(-x)) ** 2, x)


@misconception(
    "sigmoid_vjp",
    says="exp(x) overflows for very large x, and inf / inf is nan. 1 / (1 + exp(-x)) has no such quotient.",
)
def sigmoid_overflows_above(g, x):
    with np.errstate(all="ignore"):
        s = np.exp(x) / (1 + np.exp(x))
        return cast(g * s * (1 - s), x)


# tanh_vjp


@misconception("tanh_vjp", says="You square x itself: the derivative is 1 − tanh²(x), not 1 − x².")
def tanh_of_x_itself(g, x):
    return cast(g * (1 - x**2), x)


@misconception("tanh_vjp", says="The square is missing: the derivative is 1 − tanh²(x), not 1 − tanh(x).")
def tanh_not_squared(g, x):
    return cast(g * (1 - np.tanh(x)), x)


@misconception("tanh_vjp", says="Your gradient does not depend on g: multiply 1 − tanh²(x) by it.")
def tanh_ignores_g(g, x):
    return cast(1 - np.tanh(x) ** 2, x)


@misconception(
    "tanh_vjp",
    says="This is the sigmoid's rule, t (1 − t), with t = tanh(x). The derivative of tanh is 1 − t².",
)
def tanh_like_sigmoid(g, x):
    return cast(g * np.tanh(x) * (1 - np.tanh(x)), x)


@misconception(
    "tanh_vjp",
    says="tanh written with exponentials overflows far from 0, and inf / inf is nan. np.tanh does not.",
)
def tanh_overflows(g, x):
    with np.errstate(all="ignore"):
        t = (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))
        return cast(g * (1 - t**2), x)


# softmax_vjp


@misconception(
    "softmax_vjp",
    says="This is the diagonal of the Jacobian only, g p (1 − p). Raising one entry lowers the probability of all "
    "others: dx = p (g − Σ g p).",
)
def softmax_diagonal_only(g, x, axis=-1):
    p = softmax(x, axis)
    return cast(g * p * (1 - p), x)


@misconception(
    "softmax_vjp",
    says="The sum is missing: g p is right only before the normalization. dx = p (g − Σ g p).",
)
def softmax_not_centered(g, x, axis=-1):
    return cast(g * softmax(x, axis), x)


@misconception("softmax_vjp", says="You take the plain mean off g. It is the mean weighted by p that counts: Σ g p.")
def softmax_plain_mean(g, x, axis=-1):
    return cast(softmax(x, axis) * (g - g.mean(axis=axis, keepdims=True)), x)


@misconception(
    "softmax_vjp",
    says="Σ g p runs over all of the array. Each row has its own sum: use the axis, with keepdims=True.",
)
def softmax_sum_over_everything(g, x, axis=-1):
    p = softmax(x, axis)
    return cast(p * (g - (g * p).sum()), x)


@misconception("softmax_vjp", says="The softmax and its sum always run along the last axis. Use the argument axis.")
def softmax_ignores_axis(g, x, axis=-1):
    p = softmax(x)
    return cast(p * (g - (g * p).sum(axis=-1, keepdims=True)), x)


@misconception(
    "softmax_vjp",
    says="The softmax runs along axis, but Σ g p always along the last one. Both need the same axis.",
)
def softmax_sum_along_last_axis(g, x, axis=-1):
    p = softmax(x, axis)
    return cast(p * (g - (g * p).sum(axis=-1, keepdims=True)), x)


@misconception(
    "softmax_vjp",
    says="exp overflows for large entries, and inf / inf is nan. Subtract the maximum along the axis first: the "
    "softmax stays the same.",
)
def softmax_overflows(g, x, axis=-1):
    p = unstable_softmax(x, axis)
    return cast(p * (g - (g * p).sum(axis=axis, keepdims=True)), x)


@misconception(
    "softmax_vjp",
    says="Only the largest entry of the whole array is subtracted. A row far below it then underflows to 0 / 0: "
    "subtract the maximum along the axis.",
)
def softmax_global_maximum(g, x, axis=-1):
    p = unstable_softmax(x - x.max(initial=-np.inf), axis)
    return cast(p * (g - (g * p).sum(axis=axis, keepdims=True)), x)


# logsumexp_vjp


@misconception("logsumexp_vjp", says="Your gradient is the softmax alone. Multiply it by g, spread along the axis.")
def logsumexp_ignores_g(g, x, axis=-1):
    return cast(softmax(x, axis), x)


@misconception(
    "logsumexp_vjp",
    says="g comes back along the last axis. It lacks the axis that was summed: np.expand_dims(g, axis) puts it back "
    "there.",
)
def logsumexp_axis_restored_last(g, x, axis=-1):
    return cast(g[..., None] * softmax(x, axis), x)


@misconception(
    "logsumexp_vjp",
    says="The softmax always runs along the last axis. It must run along the axis that was summed.",
)
def logsumexp_ignores_axis(g, x, axis=-1):
    return cast(np.expand_dims(g, axis) * softmax(x), x)


@misconception(
    "logsumexp_vjp",
    says="exp overflows or underflows for large entries, and the quotient is nan. Subtract the maximum along the axis "
    "first.",
)
def logsumexp_overflows(g, x, axis=-1):
    return cast(np.expand_dims(g, axis) * unstable_softmax(x, axis), x)


@misconception(
    "logsumexp_vjp",
    says="This is the derivative of the log alone, 1 / Σ exp(x). Multiply by the derivative of exp, which is exp(x): "
    "together they are the softmax.",
)
def logsumexp_without_inner_derivative(g, x, axis=-1):
    with np.errstate(all="ignore"):
        return cast(np.expand_dims(g, axis) / np.exp(x).sum(axis=axis, keepdims=True) * np.ones_like(x), x)


@misconception(
    "logsumexp_vjp",
    says="g is divided among the entries equally. Each entry's share is its softmax: the largest gets most.",
)
def logsumexp_equal_shares(g, x, axis=-1):
    return cast(np.expand_dims(g, axis) * np.ones_like(x) / x.shape[axis], x)


# cross_entropy_vjp


def one_hot(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return np.eye(logits.shape[1], dtype=logits.dtype)[targets]


@misconception("cross_entropy_vjp", says="The loss is a mean over the n rows: divide by n.")
def cross_entropy_not_divided(g, logits, targets):
    return cast(g * (softmax(logits) - one_hot(logits, targets)), logits)


@misconception(
    "cross_entropy_vjp",
    says="You divide by all n·c entries. The mean runs over the n rows only: divide by n.",
)
def cross_entropy_divided_by_size(g, logits, targets):
    return cast(g * (softmax(logits) - one_hot(logits, targets)) / logits.size, logits)


@misconception("cross_entropy_vjp", says="The sign is the wrong way round: the gradient is p − y, not y − p.")
def cross_entropy_sign(g, logits, targets):
    return cast(g * (one_hot(logits, targets) - softmax(logits)) / len(logits), logits)


@misconception(
    "cross_entropy_vjp",
    says="The one-hot target is missing: subtract 1 from each row's probability at its target.",
)
def cross_entropy_without_target(g, logits, targets):
    return cast(g * softmax(logits) / len(logits), logits)


@misconception("cross_entropy_vjp", says="g is not used. It is a number, and need not be 1: multiply by it.")
def cross_entropy_ignores_g(g, logits, targets):
    return cast((softmax(logits) - one_hot(logits, targets)) / len(logits), logits)


@misconception(
    "cross_entropy_vjp",
    says="This is the gradient with respect to the probabilities, −y / p. Go on through the softmax: it becomes p − y.",
)
def cross_entropy_stops_at_probabilities(g, logits, targets):
    with np.errstate(all="ignore"):
        y = one_hot(logits, targets)
        return cast(-g * np.where(y > 0, 1 / softmax(logits), 0) / len(logits), logits)


@misconception(
    "cross_entropy_vjp",
    says="exp overflows for large logits, and inf / inf is nan. Subtract each row's maximum first.",
)
def cross_entropy_overflows(g, logits, targets):
    return cast(g * (unstable_softmax(logits) - one_hot(logits, targets)) / len(logits), logits)


@misconception("cross_entropy_vjp", says="The softmax runs down the batch. Each row has its own: use the last axis.")
def cross_entropy_softmax_over_batch(g, logits, targets):
    return cast(g * (softmax(logits, 0) - one_hot(logits, targets)) / len(logits), logits)


@misconception(
    "cross_entropy_vjp",
    says="p[:, targets] selects whole columns, once for every row. Pair each row with its own target: p[np.arange(n), "
    "targets] -= 1.",
)
def cross_entropy_whole_columns(g, logits, targets):
    p = softmax(logits)
    p[:, targets] -= 1
    return cast(g * p / len(logits), logits)


# layernorm_vjp, rmsnorm_vjp and batchnorm_vjp


def norm_vjp(
    g: Any,
    x: Any,
    gamma: Any,
    beta: Any,
    eps: float,
    *,
    axis: int = -1,
    center: bool = True,
    std: Any = None,
    dxhat: Any = None,
    through_mean: bool = True,
    through_scale: bool = True,
    divide: bool = True,
) -> tuple[np.ndarray, ...]:
    """(dx, dgamma, dbeta) of a normalization along one axis; with its defaults a right layer normalization.

    `std` and `dxhat` stand in for what is computed; `through_mean` and `through_scale` say whether the gradient
    through the statistics is taken, and `divide` whether its sums are divided by the number of entries.
    """
    mean = x.mean(axis=axis, keepdims=True) if center else 0
    std = np.sqrt(((x - mean) ** 2).mean(axis=axis, keepdims=True) + eps) if std is None else std
    with np.errstate(all="ignore"):
        xhat = (x - mean) / std
        dxhat = g * gamma if dxhat is None else dxhat
        count = x.shape[axis] if divide else 1
        dx = dxhat
        if through_mean and center:
            dx = dx - dxhat.sum(axis=axis, keepdims=True) / count
        if through_scale:
            dx = dx - xhat * (dxhat * xhat).sum(axis=axis, keepdims=True) / count
        dx = dx / std
    rows = tuple(range(x.ndim - 1))
    return cast(dx, x), cast((g * xhat).sum(axis=rows), gamma), cast(g.sum(axis=rows), beta)


def variance(x: np.ndarray, axis: int = -1, ddof: int = 0) -> np.ndarray:
    with np.errstate(all="ignore"):
        count = np.float64(x.shape[axis] - ddof)
        return ((x - x.mean(axis=axis, keepdims=True)) ** 2).sum(axis=axis, keepdims=True) / count


def mean_square(x: np.ndarray) -> np.ndarray:
    return (x**2).mean(axis=-1, keepdims=True)


@misconception(
    "layernorm_vjp",
    says="You treat mean and variance as constants. Both depend on every entry of the row, and the gradient through "
    "them takes off mean(dx̂) and x̂ · mean(dx̂ x̂).",
)
def layernorm_constant_statistics(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, through_mean=False, through_scale=False)


@misconception("layernorm_vjp", says="You treat the variance as a constant: the term x̂ · mean(dx̂ x̂) is missing.")
def layernorm_constant_variance(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, through_scale=False)


@misconception("layernorm_vjp", says="You treat the mean as a constant: the term mean(dx̂) is missing.")
def layernorm_constant_mean(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, through_mean=False)


@misconception("layernorm_vjp", says="The two sums in dx are not divided by d: they are means over the row.")
def layernorm_sums_for_means(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, divide=False)


@misconception("layernorm_vjp", says="eps is missing: the row is divided by sqrt(var + eps), in the backward pass too.")
def layernorm_without_eps(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, std=np.sqrt(variance(x)))


@misconception(
    "layernorm_vjp",
    says="eps is added to the standard deviation. It belongs under the root: sqrt(var + eps).",
)
def layernorm_eps_outside_root(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, std=np.sqrt(variance(x)) + eps)


@misconception("layernorm_vjp", says="The variance is divided by d − 1. Layer normalization divides by d.")
def layernorm_unbiased_variance(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, std=np.sqrt(variance(x, ddof=1) + eps))


@misconception("layernorm_vjp", says="gamma is missing in dx: start from dx̂ = g * gamma, not from g.")
def layernorm_without_gamma(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, dxhat=g)


@misconception(
    "layernorm_vjp",
    says="The gradients of gamma and beta are not summed. Every row uses the same parameters: sum over all leading "
    "axes.",
)
def layernorm_parameters_not_summed(g, x, gamma, beta, eps=1e-5):
    dx, _, _ = norm_vjp(g, x, gamma, beta, eps)
    xhat = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance(x) + eps)
    return dx, cast(g * xhat, gamma), cast(g, beta)


@misconception(
    "layernorm_vjp",
    says="The gradients of gamma and beta are summed over the first axis only. Sum over all axes but the last, "
    "however many there are.",
)
def layernorm_first_axis_only(g, x, gamma, beta, eps=1e-5):
    dx, _, _ = norm_vjp(g, x, gamma, beta, eps)
    xhat = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance(x) + eps)
    return dx, cast((g * xhat).sum(axis=0), gamma), cast(g.sum(axis=0), beta)


@misconception(
    "layernorm_vjp",
    says="The gradients of gamma and beta are averaged over the rows. They are sums: every row adds its own.",
)
def layernorm_parameters_averaged(g, x, gamma, beta, eps=1e-5):
    dx, dgamma, dbeta = norm_vjp(g, x, gamma, beta, eps)
    rows = max(x.size // x.shape[-1], 1)
    return dx, cast(dgamma / rows, gamma), cast(dbeta / rows, beta)


@misconception("layernorm_vjp", says="dgamma uses x. gamma multiplies the normalized x̂: dgamma sums g x̂.")
def layernorm_dgamma_from_x(g, x, gamma, beta, eps=1e-5):
    dx, _, dbeta = norm_vjp(g, x, gamma, beta, eps)
    return dx, cast((g * x).sum(axis=tuple(range(x.ndim - 1))), gamma), dbeta


@misconception("layernorm_vjp", says="dgamma and dbeta are swapped: the order is dx, dgamma, dbeta.")
def layernorm_parameters_swapped(g, x, gamma, beta, eps=1e-5):
    dx, dgamma, dbeta = norm_vjp(g, x, gamma, beta, eps)
    return dx, dbeta, dgamma


@misconception(
    "rmsnorm_vjp",
    says="You treat the root mean square as a constant. It depends on every entry of the row, and the gradient "
    "through it takes off x̂ · mean(dx̂ x̂).",
)
def rmsnorm_constant_scale(g, x, gamma, eps=1e-6):
    return norm_vjp(g, x, gamma, gamma, eps, center=False, through_scale=False)[:2]


@misconception(
    "rmsnorm_vjp",
    says="This takes off the mean as layer normalization does. RMS normalization does not center: x̂ = x / "
    "sqrt(mean(x²) + eps), and dx has no term mean(dx̂).",
)
def rmsnorm_like_layernorm(g, x, gamma, eps=1e-6):
    return norm_vjp(g, x, gamma, gamma, eps)[:2]


@misconception(
    "rmsnorm_vjp",
    says="dx has the term mean(dx̂) of layer normalization. RMS normalization takes off no mean: leave the term out.",
)
def rmsnorm_mean_term(g, x, gamma, eps=1e-6):
    dx, dgamma = norm_vjp(g, x, gamma, gamma, eps, center=False)[:2]
    mean = (g * gamma).mean(axis=-1, keepdims=True)
    return cast(dx - mean / np.sqrt(mean_square(x) + eps), x), dgamma


@misconception("rmsnorm_vjp", says="The sum in dx is not divided by d: it is a mean over the row.")
def rmsnorm_sum_for_mean(g, x, gamma, eps=1e-6):
    return norm_vjp(g, x, gamma, gamma, eps, center=False, divide=False)[:2]


@misconception(
    "rmsnorm_vjp",
    says="eps is missing: the row is divided by sqrt(mean(x²) + eps), in the backward pass too.",
)
def rmsnorm_without_eps(g, x, gamma, eps=1e-6):
    return norm_vjp(g, x, gamma, gamma, eps, center=False, std=np.sqrt(mean_square(x)))[:2]


@misconception("rmsnorm_vjp", says="eps is added to the root. It belongs under it: sqrt(mean(x²) + eps).")
def rmsnorm_eps_outside_root(g, x, gamma, eps=1e-6):
    return norm_vjp(g, x, gamma, gamma, eps, center=False, std=np.sqrt(mean_square(x)) + eps)[:2]


@misconception("rmsnorm_vjp", says="gamma is missing in dx: start from dx̂ = g * gamma, not from g.")
def rmsnorm_without_gamma(g, x, gamma, eps=1e-6):
    return norm_vjp(g, x, gamma, gamma, eps, center=False, dxhat=g)[:2]


@misconception("rmsnorm_vjp", says="dgamma is not summed. Every row uses the same gamma: sum over all leading axes.")
def rmsnorm_dgamma_not_summed(g, x, gamma, eps=1e-6):
    dx, _ = norm_vjp(g, x, gamma, gamma, eps, center=False)[:2]
    return dx, cast(g * x / np.sqrt(mean_square(x) + eps), gamma)


@misconception(
    "rmsnorm_vjp",
    says="dgamma is summed over the first axis only. Sum over all axes but the last, however many there are.",
)
def rmsnorm_first_axis_only(g, x, gamma, eps=1e-6):
    dx, _ = norm_vjp(g, x, gamma, gamma, eps, center=False)[:2]
    return dx, cast((g * x / np.sqrt(mean_square(x) + eps)).sum(axis=0), gamma)


@misconception("rmsnorm_vjp", says="dgamma uses x. gamma multiplies the normalized x̂: dgamma sums g x̂.")
def rmsnorm_dgamma_from_x(g, x, gamma, eps=1e-6):
    dx, _ = norm_vjp(g, x, gamma, gamma, eps, center=False)[:2]
    return dx, cast((g * x).sum(axis=tuple(range(x.ndim - 1))), gamma)


@misconception(
    "batchnorm_vjp",
    says="Mean and variance are taken along each row, as in layer normalization. Here they belong to a column: axis "
    "0, the batch.",
)
def batchnorm_over_features(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps)


@misconception(
    "batchnorm_vjp",
    says="You treat mean and variance as constants, as they are in evaluation. In training they depend on the whole "
    "batch, and the gradient through them takes off mean(dx̂) and x̂ · mean(dx̂ x̂).",
)
def batchnorm_constant_statistics(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, axis=0, through_mean=False, through_scale=False)


@misconception("batchnorm_vjp", says="You treat the variance as a constant: the term x̂ · mean(dx̂ x̂) is missing.")
def batchnorm_constant_variance(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, axis=0, through_scale=False)


@misconception("batchnorm_vjp", says="You treat the mean as a constant: the term mean(dx̂) is missing.")
def batchnorm_constant_mean(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, axis=0, through_mean=False)


@misconception("batchnorm_vjp", says="The two sums in dx are not divided by n: they are means over the batch.")
def batchnorm_sums_for_means(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, axis=0, divide=False)


@misconception(
    "batchnorm_vjp",
    says="eps is missing: the column is divided by sqrt(var + eps), in the backward pass too.",
)
def batchnorm_without_eps(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, axis=0, std=np.sqrt(variance(x, 0)))


@misconception(
    "batchnorm_vjp",
    says="eps is added to the standard deviation. It belongs under the root: sqrt(var + eps).",
)
def batchnorm_eps_outside_root(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, axis=0, std=np.sqrt(variance(x, 0)) + eps)


@misconception(
    "batchnorm_vjp",
    says="The variance is divided by n − 1. Batch normalization divides by n when it normalizes (only the running "
    "variance is unbiased).",
)
def batchnorm_unbiased_variance(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, axis=0, std=np.sqrt(variance(x, 0, ddof=1) + eps))


@misconception("batchnorm_vjp", says="gamma is missing in dx: start from dx̂ = g * gamma, not from g.")
def batchnorm_without_gamma(g, x, gamma, beta, eps=1e-5):
    return norm_vjp(g, x, gamma, beta, eps, axis=0, dxhat=g)


@misconception("batchnorm_vjp", says="dgamma uses x. gamma multiplies the normalized x̂: dgamma sums g x̂.")
def batchnorm_dgamma_from_x(g, x, gamma, beta, eps=1e-5):
    dx, _, dbeta = norm_vjp(g, x, gamma, beta, eps, axis=0)
    return dx, cast((g * x).sum(axis=0), gamma), dbeta


@misconception(
    "batchnorm_vjp",
    says="The gradients of gamma and beta are averaged over the batch. They are sums: every example adds its own.",
)
def batchnorm_parameters_averaged(g, x, gamma, beta, eps=1e-5):
    dx, dgamma, dbeta = norm_vjp(g, x, gamma, beta, eps, axis=0)
    return dx, cast(dgamma / len(x), gamma), cast(dbeta / len(x), beta)


# embedding_vjp


@misconception(
    "embedding_vjp",
    says="dtable[ids] = g keeps only one gradient of an id that occurs several times. They must add up: "
    "np.add.at(dtable, ids, g).",
)
def embedding_assigned(g, table, ids):
    dtable = np.zeros_like(table)
    dtable[ids] = g
    return dtable


@misconception(
    "embedding_vjp",
    says="The gradients of a repeated id are averaged. Every use of a row adds its gradient: do not divide by the "
    "count.",
)
def embedding_averaged(g, table, ids):
    dtable, count = np.zeros_like(table), np.zeros(len(table))
    np.add.at(dtable, ids, g)
    np.add.at(count, ids, 1)
    return cast(dtable / np.maximum(count, 1)[:, None], table)


@misconception(
    "embedding_vjp",
    says="You loop over the first axis of ids only. A row of ids is then an index array, whose repeated ids count "
    "once, and a 0-d array has no first axis. Flatten ids, and g with them, or use np.add.at.",
)
def embedding_loop_over_first_axis(g, table, ids):
    dtable = np.zeros_like(table)
    for row, index in zip(g, ids, strict=True):
        dtable[index] += row
    return dtable


@misconception(
    "embedding_vjp",
    says="The gradients are added to the table itself. Start from zeros: the gradient does not depend on the table's "
    "values.",
)
def embedding_added_to_table(g, table, ids):
    dtable = table.copy()
    np.add.at(dtable, ids, g)
    return dtable


@misconception(
    "embedding_vjp",
    says="You return the gradient of the rows that were looked up. The gradient of the table has the table's shape: "
    "add each row of g to the row of its id, in an array of zeros.",
)
def embedding_returns_g(g, table, ids):
    return cast(g, table)


@misconception(
    "embedding_vjp",
    says="np.zeros(table.shape) is float64 whatever the table is. Use np.zeros_like(table).",
)
def embedding_always_float64(g, table, ids):
    dtable = np.zeros(table.shape)
    np.add.at(dtable, ids, g)
    return dtable


# conv2d_vjp


def conv_vjp(
    g: Any,
    x: Any,
    w: Any,
    b: Any,
    stride: int,
    padding: int,
    *,
    kernel: Any = None,
    overlaps_add: bool = True,
    step: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(dx_padded, dw, db) of a convolution, right with its defaults.

    `kernel` stands in for w in dx; without `overlaps_add` a pixel keeps its last use only; `step` replaces the stride.
    """
    step = stride if step is None else step
    kernel = w if kernel is None else kernel
    rows, cols = g.shape[2:]
    x_padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    dx_padded, dw = np.zeros_like(x_padded), np.zeros_like(w)
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            pixels = (..., slice(i, i + step * rows, step), slice(j, j + step * cols, step))
            dw[:, :, i, j] = np.einsum("nfrs,ncrs->fc", g, x_padded[pixels])
            uses = np.einsum("nfrs,fc->ncrs", g, kernel[:, :, i, j])
            dx_padded[pixels] = dx_padded[pixels] + uses if overlaps_add else uses
    return dx_padded, dw, cast(g.sum(axis=(0, 2, 3)), b)


def crop(dx_padded: np.ndarray, x: np.ndarray, padding: int) -> np.ndarray:
    """The part of dx_padded that is x."""
    height, width = x.shape[2:]
    return dx_padded[:, :, padding : padding + height, padding : padding + width]


@misconception(
    "conv2d_vjp",
    says="In dx the kernel is the wrong way round. The forward pass does not flip it, so dx is a convolution of g "
    "with the flipped kernel; scattering each g times the kernel as it stands does the same.",
)
def conv_kernel_wrong_way_round(g, x, w, b, stride=1, padding=0):
    dx_padded, dw, db = conv_vjp(g, x, w, b, stride, padding, kernel=w[:, :, ::-1, ::-1])
    return crop(dx_padded, x, padding), dw, db


@misconception(
    "conv2d_vjp",
    says="The stride is ignored: output (r, s) reads the pixels from (r · stride, s · stride) on, in the backward "
    "pass too.",
)
def conv_ignores_stride(g, x, w, b, stride=1, padding=0):
    dx_padded, dw, db = conv_vjp(g, x, w, b, stride, padding, step=1)
    return crop(dx_padded, x, padding), dw, db


@misconception("conv2d_vjp", says="dx still has the padding around it. Crop it: the gradient of x has the shape of x.")
def conv_not_cropped(g, x, w, b, stride=1, padding=0):
    return conv_vjp(g, x, w, b, stride, padding)


@misconception(
    "conv2d_vjp",
    says="dx_padded[:, :, padding:-padding] is empty when padding is 0, because -0 is 0. Crop by the size of x "
    "instead: padding : padding + h.",
)
def conv_cropped_to_nothing(g, x, w, b, stride=1, padding=0):
    dx_padded, dw, db = conv_vjp(g, x, w, b, stride, padding)
    return dx_padded[:, :, padding:-padding, padding:-padding], dw, db


@misconception(
    "conv2d_vjp",
    says="dx is cropped on the wrong side: the padding comes before the image as well as after it, so x starts at "
    "padding, not at 0.",
)
def conv_cropped_at_the_end(g, x, w, b, stride=1, padding=0):
    dx_padded, dw, db = conv_vjp(g, x, w, b, stride, padding)
    return crop(dx_padded, x, 0), dw, db


@misconception(
    "conv2d_vjp",
    says="Where windows overlap, a later use of a pixel overwrites the earlier ones in dx. They add up: +=, not =.",
)
def conv_overlaps_overwritten(g, x, w, b, stride=1, padding=0):
    dx_padded, dw, db = conv_vjp(g, x, w, b, stride, padding, overlaps_add=False)
    return crop(dx_padded, x, padding), dw, db


@misconception(
    "conv2d_vjp",
    says="db is summed over the batch only. The bias is added to every pixel: sum over the batch, the rows and the "
    "columns.",
)
def conv_bias_summed_over_batch_only(g, x, w, b, stride=1, padding=0):
    dx_padded, dw, _ = conv_vjp(g, x, w, b, stride, padding)
    return crop(dx_padded, x, padding), dw, cast(g.sum(axis=0), b)


@misconception(
    "conv2d_vjp",
    says="db is summed over the pixels but not over the batch. All images share one bias: sum over axes 0, 2 and 3.",
)
def conv_bias_not_summed_over_batch(g, x, w, b, stride=1, padding=0):
    dx_padded, dw, _ = conv_vjp(g, x, w, b, stride, padding)
    return crop(dx_padded, x, padding), dw, cast(g.sum(axis=(2, 3)), b)


@misconception(
    "conv2d_vjp",
    says="dw and db are averaged over the batch. They are sums: every image of the batch adds its own.",
)
def conv_parameters_averaged(g, x, w, b, stride=1, padding=0):
    dx_padded, dw, db = conv_vjp(g, x, w, b, stride, padding)
    return crop(dx_padded, x, padding), cast(dw / len(x), w), cast(db / len(x), b)


# maxpool2d_vjp


def windows_of(x: np.ndarray, size: int) -> np.ndarray:
    """(n, c, rows, cols, size, size): the windows of x, leftovers dropped."""
    n, c, h, w = x.shape
    rows, cols = h // size, w // size
    inside = x[:, :, : rows * size, : cols * size]
    return inside.reshape(n, c, rows, size, cols, size).swapaxes(3, 4)


def unwindowed(windows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """An array like x with these windows in place and 0 in what was left over."""
    n, c, rows, cols, size, _ = windows.shape
    dx = np.zeros_like(x)
    dx[:, :, : rows * size, : cols * size] = windows.swapaxes(3, 4).reshape(n, c, rows * size, cols * size)
    return dx


def equal_to_maximum(x: np.ndarray, size: int) -> np.ndarray:
    windows = windows_of(x, size)
    return windows == windows.max(axis=(4, 5), keepdims=True)


def one_of_each_window(x: np.ndarray, size: int, *, last: bool = False, columns_first: bool = False) -> np.ndarray:
    """A mask of the windows with one maximum marked in each: by default the right one, the first in row order."""
    windows = windows_of(x, size)
    if columns_first:
        windows = windows.swapaxes(4, 5)
    flat = windows.reshape(*windows.shape[:4], size * size)
    index = size * size - 1 - flat[..., ::-1].argmax(axis=-1) if last else flat.argmax(axis=-1)
    mask = (index[..., None] == np.arange(size * size)).reshape(windows.shape)
    return mask.swapaxes(4, 5) if columns_first else mask


@misconception(
    "maxpool2d_vjp",
    says="Every entry of a tie gets all of the gradient. Only the first one in row order gets it.",
)
def pool_ties_to_all(g, x, size):
    return unwindowed(g[..., None, None] * equal_to_maximum(x, size), x)


@misconception(
    "maxpool2d_vjp",
    says="The entries of a tie share the gradient, as in max_vjp. Here the first one in row order gets all of it.",
)
def pool_ties_shared(g, x, size):
    won = equal_to_maximum(x, size)
    return unwindowed(g[..., None, None] * won / won.sum(axis=(4, 5), keepdims=True), x)


@misconception(
    "maxpool2d_vjp",
    says="In a tie the last entry gets the gradient. It goes to the first one in row order.",
)
def pool_ties_to_last(g, x, size):
    return unwindowed(g[..., None, None] * one_of_each_window(x, size, last=True), x)


@misconception(
    "maxpool2d_vjp",
    says="In a tie the window is searched column by column. Row order comes first: (0, 1) before (1, 0).",
)
def pool_ties_in_column_order(g, x, size):
    return unwindowed(g[..., None, None] * one_of_each_window(x, size, columns_first=True), x)


@misconception("maxpool2d_vjp", says="Your gradient marks the winners but does not depend on g. Multiply by g.")
def pool_ignores_g(g, x, size):
    return unwindowed(cast(one_of_each_window(x, size), x), x)


@misconception(
    "maxpool2d_vjp",
    says="Every entry of a window gets an equal share, as in average pooling. Only the largest entry gets the "
    "gradient.",
)
def pool_like_average(g, x, size):
    return unwindowed(g[..., None, None] * np.ones_like(windows_of(x, size)) / size**2, x)


@misconception(
    "maxpool2d_vjp",
    says="x is cut into windows as if they filled it. Drop the rows and columns left over first: x[:, :, :rows * "
    "size, :cols * size]; their gradient is 0.",
)
def pool_without_leftovers(g, x, size):
    n, c, h, w = x.shape
    x.reshape(n, c, h // size, size, w // size, size)
    return unwindowed(g[..., None, None] * one_of_each_window(x, size), x)


@misconception(
    "maxpool2d_vjp",
    says="dx lacks the rows and columns that filled no window. It has the shape of x: their gradient is 0.",
)
def pool_leftovers_missing(g, x, size):
    dx = unwindowed(g[..., None, None] * one_of_each_window(x, size), x)
    return dx[:, :, : g.shape[2] * size, : g.shape[3] * size]


# attention_vjp


def attention_parts(
    q: np.ndarray, k: np.ndarray, causal: bool, *, scale: float | None = None, mask: Any = None, stable: bool = True
) -> tuple[np.ndarray, float]:
    """The probabilities and the scale; `mask` (n, m) stands in for the causal one."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = scale * (q @ transposed(k))
    if causal:
        mask = np.tril(np.ones(scores.shape[-2:], dtype=bool)) if mask is None else mask
        scores = np.where(mask, scores, -np.inf)
    return (softmax if stable else unstable_softmax)(scores), scale


def attention_back(
    g: Any, q: Any, k: Any, v: Any, p: np.ndarray, scale: float, dscores: Any = None
) -> tuple[np.ndarray, ...]:
    """(dq, dk, dv) from the probabilities; `dscores` stands in for the softmax's VJP."""
    dp = g @ transposed(v)
    dscores = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) if dscores is None else dscores
    dq, dk = scale * (dscores @ k), scale * (transposed(dscores) @ q)
    return cast(dq, q), cast(dk, k), cast(transposed(p) @ g, v)


@misconception("attention_vjp", says="The scale 1/√d is missing, forward and backward: the scores are q kᵀ / √d.")
def attention_without_scale(g, q, k, v, causal=False):
    return attention_back(g, q, k, v, *attention_parts(q, k, causal, scale=1.0))


@misconception(
    "attention_vjp",
    says="The scale 1/√d is used going forward but not coming back: dq and dk are multiplied by it too.",
)
def attention_scale_missing_in_backward(g, q, k, v, causal=False):
    p, _ = attention_parts(q, k, causal)
    return attention_back(g, q, k, v, p, 1.0)


@misconception("attention_vjp", says="You divide the scores by d. The scale is 1/√d.")
def attention_scaled_by_d(g, q, k, v, causal=False):
    return attention_back(g, q, k, v, *attention_parts(q, k, causal, scale=1 / q.shape[-1]))


@misconception("attention_vjp", says="The scale takes the width of v. In 1/√d, d is the width of q and k.")
def attention_scaled_by_width_of_v(g, q, k, v, causal=False):
    return attention_back(g, q, k, v, *attention_parts(q, k, causal, scale=v.shape[-1] ** -0.5))


@misconception(
    "attention_vjp",
    says="The softmax's backward is its diagonal only, dp p (1 − p). The probabilities of a row depend on all its "
    "scores: p (dp − Σ dp p).",
)
def attention_softmax_diagonal_only(g, q, k, v, causal=False):
    p, scale = attention_parts(q, k, causal)
    return attention_back(g, q, k, v, p, scale, dscores=p * (1 - p) * (g @ transposed(v)))


@misconception(
    "attention_vjp",
    says="The sum is missing in the softmax's backward: the gradient of the scores is p (dp − Σ dp p), not p dp.",
)
def attention_softmax_not_centered(g, q, k, v, causal=False):
    p, scale = attention_parts(q, k, causal)
    return attention_back(g, q, k, v, p, scale, dscores=p * (g @ transposed(v)))


@misconception(
    "attention_vjp",
    says="The softmax's backward is left out: dp = g vᵀ is the gradient of the probabilities, not yet that of the "
    "scores.",
)
def attention_softmax_skipped(g, q, k, v, causal=False):
    p, scale = attention_parts(q, k, causal)
    return attention_back(g, q, k, v, p, scale, dscores=g @ transposed(v))


@misconception("attention_vjp", says="causal is ignored: with causal=True query i sees the keys 0 to i only.")
def attention_ignores_causal(g, q, k, v, causal=False):
    return attention_back(g, q, k, v, *attention_parts(q, k, False))


@misconception(
    "attention_vjp",
    says="The mask is the wrong way round: query i sees the keys up to i (np.tril), not those from i on (np.triu).",
)
def attention_mask_upside_down(g, q, k, v, causal=False):
    mask = np.triu(np.ones((q.shape[-2], k.shape[-2]), dtype=bool))
    return attention_back(g, q, k, v, *attention_parts(q, k, causal, mask=mask))


@misconception(
    "attention_vjp",
    says="The mask hides a query's own position, and from the first query everything. Query i sees key i too.",
)
def attention_mask_without_diagonal(g, q, k, v, causal=False):
    mask = np.tril(np.ones((q.shape[-2], k.shape[-2]), dtype=bool), k=-1)
    with np.errstate(all="ignore"):
        return attention_back(g, q, k, v, *attention_parts(q, k, causal, mask=mask))


@misconception(
    "attention_vjp",
    says="Masked scores are set to 0, and exp(0) is 1: they still get a weight. Set them to -inf before the softmax.",
)
def attention_masked_with_zero(g, q, k, v, causal=False):
    scale = q.shape[-1] ** -0.5
    scores = scale * (q @ transposed(k))
    seen = np.tril(np.ones(scores.shape[-2:])) if causal else np.ones_like(scores)
    p = softmax(scores * seen)
    dp = g @ transposed(v)
    dscores = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) * seen
    return attention_back(g, q, k, v, p, scale, dscores=dscores)


@misconception(
    "attention_vjp",
    says="The mask comes after the softmax, so the weights of a row no longer add up to 1. Set the masked scores to "
    "-inf before the softmax.",
)
def attention_masked_after_softmax(g, q, k, v, causal=False):
    p, scale = attention_parts(q, k, False)
    seen = np.tril(np.ones(p.shape[-2:], dtype=bool)) if causal else np.ones_like(p, dtype=bool)
    dp = (g @ transposed(v)) * seen
    dscores = p * (dp - (dp * p).sum(axis=-1, keepdims=True))
    return attention_back(g, q, k, v, p * seen, scale, dscores=dscores)


@misconception(
    "attention_vjp",
    says="The mask is used going forward, but the backward pass uses the probabilities without it. A key that was not "
    "seen gets no gradient.",
)
def attention_mask_missing_in_backward(g, q, k, v, causal=False):
    unmasked, scale = attention_parts(q, k, False)
    p, _ = attention_parts(q, k, causal)
    dp = g @ transposed(v)
    dscores = unmasked * (dp - (dp * unmasked).sum(axis=-1, keepdims=True))
    return attention_back(g, q, k, v, p, scale, dscores=dscores)


@misconception("attention_vjp", says="dq and dk are swapped: the order is dq, dk, dv.")
def attention_dq_dk_swapped(g, q, k, v, causal=False):
    dq, dk, dv = attention_back(g, q, k, v, *attention_parts(q, k, causal))
    return dk, dq, dv


@misconception(
    "attention_vjp",
    says="In dk the gradient of the scores is not transposed: dk = dsᵀ q / √d, one row for each key.",
)
def attention_dk_not_transposed(g, q, k, v, causal=False):
    p, scale = attention_parts(q, k, causal)
    dq, _, dv = attention_back(g, q, k, v, p, scale)
    dp = g @ transposed(v)
    dscores = p * (dp - (dp * p).sum(axis=-1, keepdims=True))
    return dq, cast(scale * (dscores @ q), k), dv


@misconception("attention_vjp", says="In dv the probabilities are not transposed: dv = pᵀ g, one row for each key.")
def attention_dv_not_transposed(g, q, k, v, causal=False):
    p, scale = attention_parts(q, k, causal)
    dq, dk, _ = attention_back(g, q, k, v, p, scale)
    return dq, dk, cast(p @ g, v)


@misconception(
    "attention_vjp",
    says="The softmax runs over the queries. Each query distributes its weights over the keys: the last axis.",
)
def attention_softmax_over_queries(g, q, k, v, causal=False):
    scale = q.shape[-1] ** -0.5
    scores = scale * (q @ transposed(k))
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], dtype=bool)), scores, -np.inf)
    p = softmax(scores, -2)
    dp = g @ transposed(v)
    dscores = p * (dp - (dp * p).sum(axis=-2, keepdims=True))
    return attention_back(g, q, k, v, p, scale, dscores=dscores)


@misconception(
    "attention_vjp",
    says="exp overflows for large scores, and inf / inf is nan. Subtract each row's maximum before exp.",
)
def attention_overflows(g, q, k, v, causal=False):
    with np.errstate(all="ignore"):
        return attention_back(g, q, k, v, *attention_parts(q, k, causal, stable=False))


@misconception(
    "attention_vjp",
    says=".T reverses all axes, batch and heads included. Transpose only the last two: k.swapaxes(-1, -2) or k.mT.",
)
def attention_all_axes_reversed(g, q, k, v, causal=False):
    scale = q.shape[-1] ** -0.5
    scores = scale * (q @ k.T)
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], dtype=bool)), scores, -np.inf)
    p = softmax(scores)
    dp = g @ v.T
    dscores = p * (dp - (dp * p).sum(axis=-1, keepdims=True))
    return cast(scale * (dscores @ k), q), cast(scale * (dscores.T @ q), k), cast(p.T @ g, v)
