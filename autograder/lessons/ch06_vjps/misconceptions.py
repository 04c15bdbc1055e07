"""Wrong VJPs that learners write, each one mistake away from right, with what to say about it."""

from __future__ import annotations

from autograder.diagnosis import mistake

# Edits of helpers that several rules use, and what is said of several rules

STRETCHED_SUMMED = "return g.sum(axis=stretched, keepdims=True).astype(x.dtype)"
LEADING_AXES_ONLY = {STRETCHED_SUMMED: "return g.astype(x.dtype)"}
WITHOUT_KEEPDIMS = {STRETCHED_SUMMED: "return g.sum(axis=stretched).astype(x.dtype)"}
SHIFTED = "e = np.exp(x - x.max(axis=axis, keepdims=True))"
OVERFLOWS = {SHIFTED: "e = np.exp(x)"}

STRETCHED_LEFT = (
    "You sum over the axes that an operand lacks, but not over its axes of size 1 that were stretched. Those "
    "need a sum too, with keepdims=True."
)
STRETCHED_LOST = (
    "You sum over the stretched axes and lose them. An operand of shape (n, 1) needs a gradient of shape (n, 1): "
    "sum with keepdims=True."
)
CONSTANT_VARIANCE = "You treat the variance as a constant: the term x̂ · mean(dx̂ x̂) is missing."
CONSTANT_MEAN = "You treat the mean as a constant: the term mean(dx̂) is missing."
EPS_OUTSIDE_ROOT = "eps is added to the standard deviation. It belongs under the root: sqrt(var + eps)."
GAMMA_MISSING = "gamma is missing in dx: start from dx̂ = g * gamma, not from g."
DGAMMA_FROM_X = "dgamma uses x. gamma multiplies the normalized x̂: dgamma sums g x̂."


def eps_missing(divided: str, root: str) -> str:
    return f"eps is missing: the {divided} is divided by sqrt({root} + eps), in the backward pass too."


def restored_last(axis: str) -> str:
    return f"g comes back along the last axis. It lacks the axis {axis}: np.expand_dims(g, axis) puts it back there."


# add_vjp

ADD = "return unbroadcast(g, a), unbroadcast(g, b)"

add_not_summed = mistake(
    "add_vjp",
    {ADD: "return g.astype(a.dtype), g.astype(b.dtype)"},
    says="You return g for both operands. An operand that was broadcast was used many times: sum g over the axes that "
    "broadcasting added or stretched, until it has the operand's shape again.",
)
add_leading_axes_only = mistake(
    "add_vjp",
    LEADING_AXES_ONLY,
    where="unbroadcast",
    says=STRETCHED_LEFT,
)
add_without_keepdims = mistake(
    "add_vjp",
    WITHOUT_KEEPDIMS,
    where="unbroadcast",
    says=STRETCHED_LOST,
)
add_only_b_summed = mistake(
    "add_vjp",
    {ADD: "return g.astype(a.dtype), unbroadcast(g, b)"},
    says="Only b is treated as the operand that was broadcast. It can be a as well, or both: treat them alike.",
)
add_mean_instead_of_sum = mistake(
    "add_vjp",
    {
        ADD: (
            "da, db = (unbroadcast(g, x) * max(x.size, 1) / max(g.size, 1) for x in (a, b))\n"
            "return da.astype(a.dtype), db.astype(b.dtype)"
        )
    },
    says="You average over the broadcast axes. Every use of an operand adds its gradient: sum, do not take the mean.",
)
add_ignores_g = mistake(
    "add_vjp",
    {ADD: "return unbroadcast(np.ones_like(g), a), unbroadcast(np.ones_like(g), b)"},
    says="Your gradients do not depend on g. The derivative of a sum is 1, and the gradient is g times that, not 1.",
)
add_dtype_of_g = mistake(
    "add_vjp",
    {STRETCHED_SUMMED: "return g.sum(axis=stretched, keepdims=True)"},
    where="unbroadcast",
    says="Both gradients have the dtype of g. Each needs the dtype of its own operand: da that of a, db that of b.",
)


# mul_vjp

MUL = "return unbroadcast(g * b, a), unbroadcast(g * a, b)"

mul_own_operand = mistake(
    "mul_vjp",
    {MUL: "return unbroadcast(g * a, a), unbroadcast(g * b, b)"},
    says="Each gradient is multiplied by its own operand. It is the other one that counts.",
)
mul_like_add = mistake(
    "mul_vjp",
    {MUL: ADD},
    says="The other operand is missing: this is the VJP of a sum. By how much does a product move if one factor does?",
)
mul_not_summed = mistake(
    "mul_vjp",
    {MUL: "return (g * b).astype(a.dtype), (g * a).astype(b.dtype)"},
    says="The products are right, but not summed. An operand that was broadcast was used many times: sum over the "
    "axes that broadcasting added or stretched.",
)
mul_summed_before_product = mistake(
    "mul_vjp",
    {MUL: "return (unbroadcast(g, a) * b).astype(a.dtype), (unbroadcast(g, b) * a).astype(b.dtype)"},
    says="You sum g first and multiply by the other operand afterwards. Multiply first, then sum: the operand may "
    "differ along the axis that is summed.",
)
mul_leading_axes_only = mistake(
    "mul_vjp",
    LEADING_AXES_ONLY,
    where="unbroadcast",
    says=STRETCHED_LEFT,
)
mul_without_keepdims = mistake(
    "mul_vjp",
    WITHOUT_KEEPDIMS,
    where="unbroadcast",
    says=STRETCHED_LOST,
)
mul_ignores_g = mistake(
    "mul_vjp",
    {MUL: "return unbroadcast(np.ones_like(g) * b, a), unbroadcast(np.ones_like(g) * a, b)"},
    says="Your gradients do not depend on g. The other operand is the local derivative; multiply it by g.",
)


# matmul_vjp

DA = "dA = g @ B.swapaxes(-1, -2)"
DB = "dB = A.swapaxes(-1, -2) @ g"
MATMUL = "return unbroadcast(dA, A), unbroadcast(dB, B)"

untransposed_b = mistake("matmul_vjp", {DA: "dA = g @ B"}, says="B was not transposed: dA = g Bᵀ, not g B.")
untransposed_a = mistake("matmul_vjp", {DB: "dB = A @ g"}, says="A was not transposed: dB = Aᵀ g, not A g.")
nothing_transposed = mistake(
    "matmul_vjp", {DA: "dA = g @ B", DB: "dB = A @ g"}, says="Neither matrix was transposed: dA = g Bᵀ and dB = Aᵀ g."
)
factors_in_wrong_order = mistake(
    "matmul_vjp",
    {DA: "dA = B.swapaxes(-1, -2) @ g", DB: "dB = g @ A.swapaxes(-1, -2)"},
    says="The factors stand in the wrong order: dA = g Bᵀ, with g on the left, and dB = Aᵀ g, with g on the right.",
)
gradients_swapped = mistake(
    "matmul_vjp",
    {MATMUL: "return unbroadcast(dB, B), unbroadcast(dA, A)"},
    says="The two gradients are swapped: return dA = g Bᵀ first, then dB = Aᵀ g.",
)
all_axes_reversed = mistake(
    "matmul_vjp",
    {DA: "dA = g @ B.T", DB: "dB = A.T @ g"},
    says=".T reverses all axes of a stack, batch axes included. Swap only the last two: B.swapaxes(-1, -2) or B.mT.",
)
matmul_not_summed = mistake(
    "matmul_vjp",
    {MATMUL: "return dA.astype(A.dtype), dB.astype(B.dtype)"},
    says="The products are right, but not summed over the leading axes that were broadcast. A matrix that the whole "
    "stack uses gets the sum of all its gradients.",
)
matmul_leading_axes_only = mistake(
    "matmul_vjp",
    LEADING_AXES_ONLY,
    where="unbroadcast",
    says="You sum over the leading axes that a stack lacks, but not over its leading axes of size 1 that were "
    "stretched.",
)
matmul_b_always_summed = mistake(
    "matmul_vjp",
    {MATMUL: "return unbroadcast(dA, A), dB.sum(axis=tuple(range(dB.ndim - 2))).astype(B.dtype)"},
    says="dB is summed over all leading axes, even those that B has itself. Sum only what broadcasting added or "
    "stretched.",
)


# sum_vjp

RESTORED = "g = np.expand_dims(g, axis)"
SUM = "return np.broadcast_to(g, x.shape).astype(x.dtype)"

sum_axes_not_restored = mistake(
    "sum_vjp",
    {f"if axis is not None and not keepdims:\n    {RESTORED}": ""},
    says="g is broadcast as it is. Without keepdims it lacks the summed axes: put them back with size 1 "
    "(np.expand_dims) before you broadcast, or it lines up with the wrong axes.",
)
sum_axis_restored_last = mistake(
    "sum_vjp",
    {RESTORED: "g = g.reshape(g.shape + (1,) * (x.ndim - g.ndim))"},
    says="The missing axis always comes back as the last one. It belongs where it was summed away: np.expand_dims(g, "
    "axis).",
)
sum_axes_restored_one_by_one = mistake(
    "sum_vjp",
    {RESTORED: "for one in axis if isinstance(axis, tuple) else (axis,):\n    g = np.expand_dims(g, one)"},
    says="Each axis is put back one by one in the order given, so an earlier one shifts when a later one comes in. "
    "Put them back together: np.expand_dims(g, axis) takes the whole tuple.",
)
sum_ignores_keepdims = mistake(
    "sum_vjp",
    {"if axis is not None and not keepdims:": "if axis is not None:"},
    says="With keepdims=True g still has the summed axes, with size 1. Do not add them a second time.",
)
sum_like_mean = mistake(
    "sum_vjp",
    {SUM: "return (np.broadcast_to(g, x.shape) * max(g.size, 1) / max(x.size, 1)).astype(x.dtype)"},
    says="This is the VJP of a mean. A sum does not divide by the number of entries.",
)
sum_ignores_g = mistake(
    "sum_vjp",
    {SUM: "return np.ones_like(x)"},
    says="Your gradient is all ones. One is the local derivative: every entry gets the g of its own sum.",
)

axes_put_back_one_by_one = mistake(
    "sum_vjp",
    {
        RESTORED: "for one in sorted(axis) if isinstance(axis, tuple) else (axis,):\n    g = np.expand_dims(g, one)",
    },
    says="Several axes are put back one after the other. A negative one counts from the end of what is there so far, "
    "and lands elsewhere: np.expand_dims(g, axis) takes the whole tuple, or count them from the front.",
)


# max_vjp

WINNERS = "winners = x == x.max(axis=axis, keepdims=True)"
SHARE = "share = winners / winners.sum(axis=axis, keepdims=True)"
MAX = "return (np.expand_dims(g, axis) * share).astype(x.dtype)"

max_full_to_each = mistake(
    "max_vjp",
    {SHARE: "share = winners"},
    says="Every entry of a tie gets all of the gradient, so more comes out than g brought in. Divide by the number of "
    "entries in the tie.",
)
max_first_only = mistake(
    "max_vjp",
    {SHARE: "share = winners & (winners.cumsum(axis=axis) == 1)"},
    says="Only the first entry of a tie gets the gradient, as argmax finds it. Here the entries of a tie share it "
    "equally.",
)
max_near_ties = mistake(
    "max_vjp",
    {WINNERS: "winners = np.isclose(x, x.max(axis=axis, keepdims=True))"},
    says="Entries that are only close to the maximum take part in the tie. Compare with ==: a smaller entry gets "
    "nothing.",
)
max_of_everything = mistake(
    "max_vjp",
    {
        WINNERS: "winners = x == x.max(initial=-np.inf)",
        SHARE: "share = winners / np.maximum(winners.sum(axis=axis, keepdims=True), 1)",
    },
    says="You compare with the largest entry of all of x. Each maximum is taken along the axis: x.max(axis=axis, "
    "keepdims=True).",
)
max_axis_restored_last = mistake(
    "max_vjp",
    {MAX: "return (g[..., None] * share).astype(x.dtype)"},
    says=restored_last("of the maximum"),
)
max_ignores_g = mistake(
    "max_vjp",
    {MAX: "return share.astype(x.dtype)"},
    says="Your gradient marks the winners but does not depend on g. Multiply by g, along the axis.",
)
max_like_sum = mistake(
    "max_vjp",
    {MAX: "return np.broadcast_to(np.expand_dims(g, axis), x.shape).astype(x.dtype)"},
    says="Every entry gets g, as in a sum. Only the largest entry moved the output: the others get 0.",
)


# relu_vjp

RELU = "return (g * (x > 0)).astype(x.dtype)"

relu_one_at_zero = mistake(
    "relu_vjp",
    {RELU: "return (g * (x >= 0)).astype(x.dtype)"},
    says="The derivative at 0 is 0 here: the mask is x > 0, not x >= 0.",
)
relu_mask_from_g = mistake(
    "relu_vjp",
    {RELU: "return np.maximum(g, 0).astype(x.dtype)"},
    says="The mask comes from g. It must come from x: g passes where x > 0, whatever its own sign.",
)
relu_ignores_g = mistake(
    "relu_vjp",
    {RELU: "return (x > 0).astype(x.dtype)"},
    says="Your gradient is the mask alone. That is the local derivative: multiply it by g.",
)
relu_times_output = mistake(
    "relu_vjp",
    {RELU: "return (g * np.maximum(x, 0)).astype(x.dtype)"},
    says="You multiply g by relu(x). Multiply by its derivative, which is 1 where x > 0 and else 0.",
)
relu_half_at_zero = mistake(
    "relu_vjp",
    {RELU: "return (g * np.heaviside(x, 0.5)).astype(x.dtype)"},
    says="Half of g passes at 0. The derivative at 0 is taken to be 0 here: the mask is x > 0.",
)


# sigmoid_vjp

S = "s = 1 / (1 + np.exp(-np.abs(x)))"
SIGMOID = "return (g * s * (1 - s)).astype(x.dtype)"

sigmoid_of_x_itself = mistake(
    "sigmoid_vjp",
    {SIGMOID: "return (g * x * (1 - x)).astype(x.dtype)"},
    says="You use x where the sigmoid of x belongs: the derivative is s (1 − s) with s = sigmoid(x).",
)
sigmoid_ignores_g = mistake(
    "sigmoid_vjp",
    {SIGMOID: "return (s * (1 - s)).astype(x.dtype)"},
    says="Your gradient does not depend on g: multiply s (1 − s) by it.",
)
sigmoid_times_output = mistake(
    "sigmoid_vjp",
    {S: "s = 1 / (1 + np.exp(-x))", SIGMOID: "return (g * s).astype(x.dtype)"},
    says="You multiply g by the sigmoid itself. Its derivative is s (1 − s).",
)
sigmoid_one_minus_s = mistake(
    "sigmoid_vjp",
    {S: "s = 1 / (1 + np.exp(-x))", SIGMOID: "return (g * (1 - s)).astype(x.dtype)"},
    says="The factor s is missing: the derivative of the sigmoid is s (1 − s), not 1 − s.",
)
sigmoid_overflows_below = mistake(
    "sigmoid_vjp",
    {S: "e = np.exp(-x)", SIGMOID: "return (g * e / (1 + e) ** 2).astype(x.dtype)"},
    says="exp(-x) overflows for very negative x, and inf / inf² is nan. Compute s first and use s (1 − s).",
)
sigmoid_overflows_above = mistake(
    "sigmoid_vjp",
    {S: "s = np.exp(x) / (1 + np.exp(x))"},
    says="exp(x) overflows for very large x, and inf / inf is nan. 1 / (1 + exp(-x)) has no such quotient.",
)

sigmoid_of_the_sigmoid = mistake(
    "sigmoid_vjp",
    {S: "s = 1 / (1 + np.exp(-1 / (1 + np.exp(-x))))"},
    says="The sigmoid was taken twice: s (1 − s) with the sigmoid of the sigmoid. With y = sigmoid(x) it is y (1 − y).",
)


# tanh_vjp

TANH = "return (g * (1 - np.tanh(x) ** 2)).astype(x.dtype)"

tanh_of_x_itself = mistake(
    "tanh_vjp",
    {TANH: "return (g * (1 - x**2)).astype(x.dtype)"},
    says="You square x itself: the derivative is 1 − tanh²(x), not 1 − x².",
)
tanh_not_squared = mistake(
    "tanh_vjp",
    {TANH: "return (g * (1 - np.tanh(x))).astype(x.dtype)"},
    says="The square is missing: the derivative is 1 − tanh²(x), not 1 − tanh(x).",
)
tanh_ignores_g = mistake(
    "tanh_vjp",
    {TANH: "return (1 - np.tanh(x) ** 2).astype(x.dtype)"},
    says="Your gradient does not depend on g: multiply 1 − tanh²(x) by it.",
)
tanh_like_sigmoid = mistake(
    "tanh_vjp",
    {TANH: "return (g * np.tanh(x) * (1 - np.tanh(x))).astype(x.dtype)"},
    says="This is the sigmoid's rule, t (1 − t), with t = tanh(x). The derivative of tanh is 1 − t².",
)
tanh_overflows = mistake(
    "tanh_vjp",
    {TANH: "t = (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))\nreturn (g * (1 - t**2)).astype(x.dtype)"},
    says="tanh written with exponentials overflows far from 0, and inf / inf is nan. np.tanh does not.",
)

tanh_plus_square = mistake(
    "tanh_vjp",
    {TANH: TANH.replace("1 - np.tanh", "1 + np.tanh")},
    says="The sign of the square is wrong: the derivative of tanh is 1 − tanh², not 1 + tanh².",
)
tanh_of_tanh = mistake(
    "tanh_vjp",
    {TANH: TANH.replace("np.tanh(x)", "np.tanh(np.tanh(x))")},
    says="tanh was taken twice. With y = tanh(x) the derivative is 1 − y².",
)


# softmax_vjp

SOFTMAX = "dx = p * (g - (g * p).sum(axis=axis, keepdims=True))"

softmax_diagonal_only = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = g * p * (1 - p)"},
    says="This is the diagonal of the Jacobian only, g p (1 − p). Raising one entry lowers the probability of all "
    "others, and what that does to the loss is missing.",
)
softmax_not_centered = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = g * p"},
    says="The normalization is left out: g p is right for a numerator alone. Every entry changes the sum that all of "
    "them are divided by.",
)
softmax_plain_mean = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = p * (g - g.mean(axis=axis, keepdims=True))"},
    says="You take the plain mean off g. It is the mean weighted by p that counts: Σ g p.",
)
softmax_sum_over_everything = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = p * (g - (g * p).sum())"},
    says="Σ g p runs over all of the array. Each row has its own sum: use the axis, with keepdims=True.",
)
softmax_ignores_axis = mistake(
    "softmax_vjp",
    {"p = softmax(x, axis)": "p = softmax(x)", SOFTMAX: "dx = p * (g - (g * p).sum(axis=-1, keepdims=True))"},
    says="The softmax and its sum always run along the last axis. Use the argument axis.",
)
softmax_sum_along_last_axis = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = p * (g - (g * p).sum(axis=-1, keepdims=True))"},
    says="The softmax runs along axis, but Σ g p always along the last one. Both need the same axis.",
)
softmax_overflows = mistake(
    "softmax_vjp",
    OVERFLOWS,
    where="softmax",
    says="exp overflows for large entries, and inf / inf is nan. Subtract the maximum along the axis first: the "
    "softmax stays the same.",
)
softmax_global_maximum = mistake(
    "softmax_vjp",
    {SHIFTED: "e = np.exp(x - x.max(initial=-np.inf))"},
    where="softmax",
    says="Only the largest entry of the whole array is subtracted. A row far below it then underflows to 0 / 0: "
    "subtract the maximum along the axis.",
)

softmax_last_of_the_row = mistake(
    "softmax_vjp",
    {
        SOFTMAX: """\
s, n = np.moveaxis(p, axis, -1), p.shape[axis]
rows = np.zeros_like(s)
for i in range(n):
    for j in range(n):
        rows[..., i] = s[..., i] * (1 - s[..., i]) if i == j else -s[..., i] * s[..., j]
dx = g * np.moveaxis(rows, -1, axis)"""
    },
    says="Each entry of the Jacobian's row replaces the one before: only the last one is left. dx is the sum over the "
    "row, each entry times its own g: p (g − Σ g p).",
)


# logsumexp_vjp

LOGSUMEXP = "return (np.expand_dims(g, axis) * softmax(x, axis)).astype(x.dtype)"

logsumexp_ignores_g = mistake(
    "logsumexp_vjp",
    {LOGSUMEXP: "return softmax(x, axis).astype(x.dtype)"},
    says="Your gradient is the softmax alone. Multiply it by g, spread along the axis.",
)
logsumexp_axis_restored_last = mistake(
    "logsumexp_vjp",
    {LOGSUMEXP: "return (g[..., None] * softmax(x, axis)).astype(x.dtype)"},
    says=restored_last("that was summed"),
)
logsumexp_ignores_axis = mistake(
    "logsumexp_vjp",
    {LOGSUMEXP: "return (np.expand_dims(g, axis) * softmax(x)).astype(x.dtype)"},
    says="The softmax always runs along the last axis. It must run along the axis that was summed.",
)
logsumexp_overflows = mistake(
    "logsumexp_vjp",
    OVERFLOWS,
    where="softmax",
    says="exp overflows or underflows for large entries, and the quotient is nan. Subtract the maximum along the axis "
    "first.",
)
logsumexp_without_inner_derivative = mistake(
    "logsumexp_vjp",
    {
        LOGSUMEXP: (
            "dx = np.expand_dims(g, axis) / np.exp(x).sum(axis=axis, keepdims=True)\n"
            "return (dx * np.ones_like(x)).astype(x.dtype)"
        )
    },
    says="This is the derivative of the log alone, 1 / Σ exp(x). Multiply by the derivative of exp, which is exp(x): "
    "together they are the softmax.",
)
logsumexp_equal_shares = mistake(
    "logsumexp_vjp",
    {LOGSUMEXP: "return (np.expand_dims(g, axis) * np.ones_like(x) / x.shape[axis]).astype(x.dtype)"},
    says="g is divided among the entries equally. Each entry's share is its softmax: the largest gets most.",
)

logsumexp_as_softmax = mistake(
    "logsumexp_vjp",
    {
        LOGSUMEXP: "p, g = softmax(x, axis), np.expand_dims(g, axis)\n"
        "return (p * (g - (g * p).sum(axis=axis, keepdims=True))).astype(x.dtype)",
    },
    says="This is the rule of softmax, which gives 0 for one g a row. The gradient of logsumexp is the softmax itself: "
    "dx = g p.",
)


# cross_entropy_vjp

MINUS_Y = "p_minus_y[np.arange(n), targets] -= 1"
CROSS_ENTROPY = "return (g * p_minus_y / n).astype(logits.dtype)"

cross_entropy_not_divided = mistake(
    "cross_entropy_vjp",
    {CROSS_ENTROPY: "return (g * p_minus_y).astype(logits.dtype)"},
    says="The loss is a mean over the n rows: divide by n.",
)
cross_entropy_divided_by_size = mistake(
    "cross_entropy_vjp",
    {CROSS_ENTROPY: "return (g * p_minus_y / logits.size).astype(logits.dtype)"},
    says="You divide by all n·c entries. The mean runs over the n rows only: divide by n.",
)
cross_entropy_sign = mistake(
    "cross_entropy_vjp",
    {CROSS_ENTROPY: "return (g * -p_minus_y / n).astype(logits.dtype)"},
    says="The sign is the wrong way round: the gradient is p − y, not y − p.",
)
cross_entropy_without_target = mistake(
    "cross_entropy_vjp",
    {MINUS_Y: ""},
    says="The one-hot target is missing: subtract 1 from each row's probability at its target.",
)
cross_entropy_ignores_g = mistake(
    "cross_entropy_vjp",
    {CROSS_ENTROPY: "return (p_minus_y / n).astype(logits.dtype)"},
    says="g is not used. It is a number, and need not be 1: multiply by it.",
)
cross_entropy_stops_at_probabilities = mistake(
    "cross_entropy_vjp",
    {
        MINUS_Y: "y = np.eye(logits.shape[1])[targets]",
        CROSS_ENTROPY: "return (-g * np.where(y > 0, 1 / p_minus_y, 0) / n).astype(logits.dtype)",
    },
    says="This is the gradient with respect to the probabilities, −y / p. Go on through the softmax: it becomes p − y.",
)
cross_entropy_overflows = mistake(
    "cross_entropy_vjp",
    OVERFLOWS,
    where="softmax",
    says="exp overflows for large logits, and inf / inf is nan. Subtract each row's maximum first.",
)
cross_entropy_softmax_over_batch = mistake(
    "cross_entropy_vjp",
    {"p_minus_y = softmax(logits)": "p_minus_y = softmax(logits, 0)"},
    says="The softmax runs down the batch. Each row has its own: use the last axis.",
)
cross_entropy_whole_columns = mistake(
    "cross_entropy_vjp",
    {MINUS_Y: "p_minus_y[:, targets] -= 1"},
    says="p[:, targets] selects whole columns, once for every row. Pair each row with its own target: p[np.arange(n), "
    "targets] -= 1.",
)


# layernorm_vjp

ROW_STD = "std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)"
LAYER_DX = "dx = (dxhat - mean_dxhat - xhat * mean_dxhat_xhat) / std"
MEAN_DXHAT_XHAT = "mean_dxhat_xhat = (dxhat * xhat).mean(axis=-1, keepdims=True)"
LAYER_PARAMETERS = "dgamma, dbeta = (g * xhat).sum(axis=rows), g.sum(axis=rows)"
LAYER_GRADIENTS = "return dx.astype(x.dtype), dgamma.astype(gamma.dtype), dbeta.astype(beta.dtype)"

layernorm_constant_statistics = mistake(
    "layernorm_vjp",
    {LAYER_DX: "dx = dxhat / std"},
    says="You treat mean and variance as constants. Both depend on every entry of the row, and the gradient through "
    "them takes off mean(dx̂) and x̂ · mean(dx̂ x̂).",
)
layernorm_constant_variance = mistake(
    "layernorm_vjp",
    {LAYER_DX: "dx = (dxhat - mean_dxhat) / std"},
    says=CONSTANT_VARIANCE,
)
layernorm_constant_mean = mistake(
    "layernorm_vjp",
    {LAYER_DX: "dx = (dxhat - xhat * mean_dxhat_xhat) / std"},
    says=CONSTANT_MEAN,
)
layernorm_sums_for_means = mistake(
    "layernorm_vjp",
    {
        "mean_dxhat = dxhat.mean(axis=-1, keepdims=True)": "mean_dxhat = dxhat.sum(axis=-1, keepdims=True)",
        MEAN_DXHAT_XHAT: "mean_dxhat_xhat = (dxhat * xhat).sum(axis=-1, keepdims=True)",
    },
    says="The two sums in dx are not divided by d: they are means over the row.",
)
layernorm_without_eps = mistake(
    "layernorm_vjp",
    {ROW_STD: "std = np.sqrt(x.var(axis=-1, keepdims=True))"},
    says=eps_missing("row", "var"),
)
layernorm_eps_outside_root = mistake(
    "layernorm_vjp",
    {ROW_STD: "std = np.sqrt(x.var(axis=-1, keepdims=True)) + eps"},
    says=EPS_OUTSIDE_ROOT,
)
layernorm_unbiased_variance = mistake(
    "layernorm_vjp",
    {ROW_STD: "std = np.sqrt(x.var(axis=-1, ddof=1, keepdims=True) + eps)"},
    says="The variance is divided by d − 1. Layer normalization divides by d.",
)
layernorm_without_gamma = mistake(
    "layernorm_vjp",
    {"dxhat = g * gamma": "dxhat = g"},
    says=GAMMA_MISSING,
)
layernorm_parameters_not_summed = mistake(
    "layernorm_vjp",
    {LAYER_PARAMETERS: "dgamma, dbeta = g * xhat, g"},
    says="The gradients of gamma and beta are not summed. Every row uses the same parameters: sum over all leading "
    "axes.",
)
layernorm_first_axis_only = mistake(
    "layernorm_vjp",
    {"rows = tuple(range(x.ndim - 1))": "rows = 0"},
    says="The gradients of gamma and beta are summed over the first axis only. Sum over all axes but the last, "
    "however many there are.",
)
layernorm_parameters_averaged = mistake(
    "layernorm_vjp",
    {
        LAYER_PARAMETERS: (
            f"{LAYER_PARAMETERS}\ncount = max(x.size // x.shape[-1], 1)\ndgamma, dbeta = dgamma / count, dbeta / count"
        )
    },
    says="The gradients of gamma and beta are averaged over the rows. They are sums: every row adds its own.",
)
layernorm_dgamma_from_x = mistake(
    "layernorm_vjp",
    {LAYER_PARAMETERS: "dgamma, dbeta = (g * x).sum(axis=rows), g.sum(axis=rows)"},
    says=DGAMMA_FROM_X,
)
layernorm_parameters_swapped = mistake(
    "layernorm_vjp",
    {LAYER_GRADIENTS: "return dx.astype(x.dtype), dbeta.astype(beta.dtype), dgamma.astype(gamma.dtype)"},
    says="dgamma and dbeta are swapped: the order is dx, dgamma, dbeta.",
)

layer_gamma_twice = mistake(
    "layernorm_vjp",
    {"dxhat = g * gamma": "dxhat = g * gamma * gamma"},
    says="gamma is in dx twice: dx̂ = g · gamma, once.",
)
layer_root_twice = mistake(
    "layernorm_vjp",
    {ROW_STD: "std = np.sqrt(1 / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + eps)"},
    says="The reciprocal root was taken twice: what is kept is 1 / std already.",
)
layer_mean_twice = mistake(
    "layernorm_vjp",
    {LAYER_DX: LAYER_DX.replace("dxhat - mean_dxhat -", "dxhat - 2 * mean_dxhat -")},
    says="mean(dx̂) is subtracted twice.",
)


# rmsnorm_vjp

RMS = "rms = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)"
RMS_DX = "dx = (dxhat - xhat * (dxhat * xhat).mean(axis=-1, keepdims=True)) / rms"
RMS_DX_WITH_MEAN = f"{RMS_DX}\ndx -= dxhat.mean(axis=-1, keepdims=True) / rms"
RMS_DGAMMA = "dgamma = (g * xhat).sum(axis=tuple(range(x.ndim - 1)))"

rmsnorm_constant_scale = mistake(
    "rmsnorm_vjp",
    {RMS_DX: "dx = dxhat / rms"},
    says="You treat the root mean square as a constant. It depends on every entry of the row, and the gradient "
    "through it takes off x̂ · mean(dx̂ x̂).",
)
rmsnorm_like_layernorm = mistake(
    "rmsnorm_vjp",
    {
        RMS: "rms = np.sqrt(x.var(axis=-1, keepdims=True) + eps)",
        "xhat = x / rms": "xhat = (x - x.mean(axis=-1, keepdims=True)) / rms",
        RMS_DX: RMS_DX_WITH_MEAN,
    },
    says="This takes off the mean as layer normalization does. RMS normalization does not center: x̂ = x / "
    "sqrt(mean(x²) + eps), and dx has no term mean(dx̂).",
)
rmsnorm_mean_term = mistake(
    "rmsnorm_vjp",
    {RMS_DX: RMS_DX_WITH_MEAN},
    says="dx has the term mean(dx̂) of layer normalization. RMS normalization takes off no mean: leave the term out.",
)
rmsnorm_sum_for_mean = mistake(
    "rmsnorm_vjp",
    {RMS_DX: "dx = (dxhat - xhat * (dxhat * xhat).sum(axis=-1, keepdims=True)) / rms"},
    says="The sum in dx is not divided by d: it is a mean over the row.",
)
rmsnorm_without_eps = mistake(
    "rmsnorm_vjp",
    {RMS: "rms = np.sqrt((x**2).mean(axis=-1, keepdims=True))"},
    says=eps_missing("row", "mean(x²)"),
)
rmsnorm_eps_outside_root = mistake(
    "rmsnorm_vjp",
    {RMS: "rms = np.sqrt((x**2).mean(axis=-1, keepdims=True)) + eps"},
    says="eps is added to the root. It belongs under it: sqrt(mean(x²) + eps).",
)
rmsnorm_without_gamma = mistake(
    "rmsnorm_vjp",
    {"dxhat = g * gamma": "dxhat = g"},
    says=GAMMA_MISSING,
)
rmsnorm_dgamma_not_summed = mistake(
    "rmsnorm_vjp",
    {RMS_DGAMMA: "dgamma = g * xhat"},
    says="dgamma is not summed. Every row uses the same gamma: sum over all leading axes.",
)
rmsnorm_first_axis_only = mistake(
    "rmsnorm_vjp",
    {RMS_DGAMMA: "dgamma = (g * xhat).sum(axis=0)"},
    says="dgamma is summed over the first axis only. Sum over all axes but the last, however many there are.",
)
rmsnorm_dgamma_from_x = mistake(
    "rmsnorm_vjp",
    {RMS_DGAMMA: "dgamma = (g * x).sum(axis=tuple(range(x.ndim - 1)))"},
    says=DGAMMA_FROM_X,
)

rms_row_term_along_columns = mistake(
    "rmsnorm_vjp",
    {RMS_DX: RMS_DX.replace("(dxhat * xhat).mean(axis=-1, keepdims=True)", "(dxhat * xhat).mean(axis=-1)")},
    says="The mean of dx̂ x̂ has lost its axis and goes along the columns. It is one number for each row: keepdims=True.",
)
rms_gamma_twice = mistake(
    "rmsnorm_vjp",
    {"dxhat = g * gamma": "dxhat = g * gamma * gamma"},
    says="gamma is in dx twice: dx̂ = g · gamma, once.",
)
rms_root_twice = mistake(
    "rmsnorm_vjp",
    {RMS: "rms = np.sqrt(1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + eps)"},
    says="The reciprocal root was taken twice: what is kept is 1 / rms already.",
)


# batchnorm_vjp

COLUMN_STD = "std = np.sqrt(x.var(axis=0) + eps)"
BATCH_DX = "dx = (dxhat - dxhat.mean(axis=0) - xhat * (dxhat * xhat).mean(axis=0)) / std"
BATCH_PARAMETERS = "dgamma, dbeta = (g * xhat).sum(axis=0), g.sum(axis=0)"

batchnorm_over_features = mistake(
    "batchnorm_vjp",
    {
        COLUMN_STD: ROW_STD,
        "xhat = (x - x.mean(axis=0)) / std": "xhat = (x - x.mean(axis=-1, keepdims=True)) / std",
        BATCH_DX: (
            "dx = (dxhat - xhat * (dxhat * xhat).mean(axis=-1, keepdims=True)) / std\n"
            "dx -= dxhat.mean(axis=-1, keepdims=True) / std"
        ),
    },
    says="Mean and variance are taken along each row, as in layer normalization. Here they belong to a column: axis "
    "0, the batch.",
)
batchnorm_constant_statistics = mistake(
    "batchnorm_vjp",
    {BATCH_DX: "dx = dxhat / std"},
    says="You treat mean and variance as constants, as they are in evaluation. In training they depend on the whole "
    "batch, and the gradient through them takes off mean(dx̂) and x̂ · mean(dx̂ x̂).",
)
batchnorm_constant_variance = mistake(
    "batchnorm_vjp",
    {BATCH_DX: "dx = (dxhat - dxhat.mean(axis=0)) / std"},
    says=CONSTANT_VARIANCE,
)
batchnorm_constant_mean = mistake(
    "batchnorm_vjp",
    {BATCH_DX: "dx = (dxhat - xhat * (dxhat * xhat).mean(axis=0)) / std"},
    says=CONSTANT_MEAN,
)
batchnorm_sums_for_means = mistake(
    "batchnorm_vjp",
    {BATCH_DX: "dx = (dxhat - dxhat.sum(axis=0) - xhat * (dxhat * xhat).sum(axis=0)) / std"},
    says="The two sums in dx are not divided by n: they are means over the batch.",
)
batchnorm_without_eps = mistake(
    "batchnorm_vjp",
    {COLUMN_STD: "std = np.sqrt(x.var(axis=0))"},
    says=eps_missing("column", "var"),
)
batchnorm_eps_outside_root = mistake(
    "batchnorm_vjp",
    {COLUMN_STD: "std = np.sqrt(x.var(axis=0)) + eps"},
    says=EPS_OUTSIDE_ROOT,
)
batchnorm_unbiased_variance = mistake(
    "batchnorm_vjp",
    {COLUMN_STD: "std = np.sqrt(x.var(axis=0, ddof=1) + eps)"},
    says="The variance is divided by n − 1. Batch normalization divides by n when it normalizes (only the running "
    "variance is unbiased).",
)
batchnorm_without_gamma = mistake(
    "batchnorm_vjp",
    {"dxhat = g * gamma": "dxhat = g"},
    says=GAMMA_MISSING,
)
batchnorm_dgamma_from_x = mistake(
    "batchnorm_vjp",
    {BATCH_PARAMETERS: "dgamma, dbeta = (g * x).sum(axis=0), g.sum(axis=0)"},
    says=DGAMMA_FROM_X,
)
batchnorm_parameters_averaged = mistake(
    "batchnorm_vjp",
    {BATCH_PARAMETERS: "dgamma, dbeta = (g * xhat).mean(axis=0), g.mean(axis=0)"},
    says="The gradients of gamma and beta are averaged over the batch. They are sums: every example adds its own.",
)

batch_root_twice = mistake(
    "batchnorm_vjp",
    {COLUMN_STD: "std = np.sqrt(1 / np.sqrt(x.var(axis=0) + eps) + eps)"},
    says="The reciprocal root was taken twice: what is kept is 1 / std already.",
)
batch_gamma_twice = mistake(
    "batchnorm_vjp",
    {"dxhat = g * gamma": "dxhat = g * gamma * gamma"},
    says="gamma is in dx twice: dx̂ = g · gamma, once.",
)

batch_unbiased_throughout = mistake(
    "batchnorm_vjp",
    {
        COLUMN_STD: "d = max(len(x) - 1, 1)\nstd = np.sqrt(x.var(axis=0) * len(x) / d + eps)",
        BATCH_DX: "dx = (dxhat - dxhat.mean(axis=0) - xhat * (dxhat * xhat).sum(axis=0) / d) / std",
    },
    says="The variance is divided by n − 1, and its gradient as well. Batch normalization divides by n when it "
    "normalizes.",
)


# embedding_vjp

ZEROS = "dtable = np.zeros_like(table)"
ADDED = "np.add.at(dtable, ids, g)"

embedding_assigned = mistake(
    "embedding_vjp",
    {ADDED: "dtable[ids] = g"},
    says="dtable[ids] = g keeps only one gradient of an id that occurs several times. They must add up: "
    "np.add.at(dtable, ids, g).",
)
embedding_averaged = mistake(
    "embedding_vjp",
    {
        "return dtable": (
            "count = np.bincount(ids.ravel(), minlength=len(table))\n"
            "return (dtable / np.maximum(count, 1)[:, None]).astype(table.dtype)"
        )
    },
    says="The gradients of a repeated id are averaged. Every use of a row adds its gradient: do not divide by the "
    "count.",
)
embedding_loop_over_first_axis = mistake(
    "embedding_vjp",
    {ADDED: "for row, index in zip(g, ids, strict=True):\n    dtable[index] += row"},
    says="You loop over the first axis of ids only. A row of ids is then an index array, whose repeated ids count "
    "once, and a 0-d array has no first axis. Flatten ids, and g with them, or use np.add.at.",
)
embedding_added_to_table = mistake(
    "embedding_vjp",
    {ZEROS: "dtable = table.copy()"},
    says="The gradients are added to the table itself. Start from zeros: the gradient does not depend on the table's "
    "values.",
)
embedding_returns_g = mistake(
    "embedding_vjp",
    {"return dtable": "return g.astype(table.dtype)"},
    says="You return the gradient of the rows that were looked up. The gradient of the table has the table's shape: "
    "add each row of g to the row of its id, in an array of zeros.",
)
embedding_always_float64 = mistake(
    "embedding_vjp",
    {ZEROS: "dtable = np.zeros(table.shape)"},
    says="np.zeros(table.shape) is float64 whatever the table is. Use np.zeros_like(table).",
)


# conv2d_vjp

PIXELS = "pixels = (..., slice(i, i + stride * rows, stride), slice(j, j + stride * cols, stride))"
SCATTERED = 'dx_padded[pixels] += np.einsum("nfrs,fc->ncrs", g, w[:, :, i, j])'
CROPPED = "dx = dx_padded[:, :, padding : padding + height, padding : padding + width]"
CONV = "return dx, dw, g.sum(axis=(0, 2, 3)).astype(b.dtype)"

conv_kernel_wrong_way_round = mistake(
    "conv2d_vjp",
    {SCATTERED: 'dx_padded[pixels] += np.einsum("nfrs,fc->ncrs", g, w[:, :, -1 - i, -1 - j])'},
    says="In dx the kernel is the wrong way round. The forward pass does not flip it, so dx is a convolution of g "
    "with the flipped kernel; scattering each g times the kernel as it stands does the same.",
)
conv_ignores_stride = mistake(
    "conv2d_vjp",
    {PIXELS: "pixels = (..., slice(i, i + rows), slice(j, j + cols))"},
    says="The stride is ignored: output (r, s) reads the pixels from (r · stride, s · stride) on, in the backward "
    "pass too.",
)
conv_not_cropped = mistake(
    "conv2d_vjp",
    {CROPPED: "dx = dx_padded"},
    says="dx still has the padding around it. Crop it: the gradient of x has the shape of x.",
)
conv_cropped_to_nothing = mistake(
    "conv2d_vjp",
    {CROPPED: "dx = dx_padded[:, :, padding:-padding, padding:-padding]"},
    says="dx_padded[:, :, padding:-padding] is empty when padding is 0, because -0 is 0. Crop by the size of x "
    "instead: padding : padding + h.",
)
conv_cropped_at_the_end = mistake(
    "conv2d_vjp",
    {CROPPED: "dx = dx_padded[:, :, :height, :width]"},
    says="dx is cropped on the wrong side: the padding comes before the image as well as after it, so x starts at "
    "padding, not at 0.",
)
conv_overlaps_overwritten = mistake(
    "conv2d_vjp",
    {SCATTERED: 'dx_padded[pixels] = np.einsum("nfrs,fc->ncrs", g, w[:, :, i, j])'},
    says="Where windows overlap, a later use of a pixel overwrites the earlier ones in dx. They add up: +=, not =.",
)
conv_bias_summed_over_batch_only = mistake(
    "conv2d_vjp",
    {CONV: "return dx, dw, g.sum(axis=0).astype(b.dtype)"},
    says="db is summed over the batch only. The bias is added to every pixel: sum over the batch, the rows and the "
    "columns.",
)
conv_bias_not_summed_over_batch = mistake(
    "conv2d_vjp",
    {CONV: "return dx, dw, g.sum(axis=(2, 3)).astype(b.dtype)"},
    says="db is summed over the pixels but not over the batch. All images share one bias: sum over axes 0, 2 and 3.",
)
conv_parameters_averaged = mistake(
    "conv2d_vjp",
    {CONV: "return dx, dw / len(x), (g.sum(axis=(0, 2, 3)) / len(x)).astype(b.dtype)"},
    says="dw and db are averaged over the batch. They are sums: every image of the batch adds its own.",
)

channels_reversed = mistake(
    "conv2d_vjp",
    {SCATTERED: SCATTERED.replace("w[:, :, i, j]", "w[:, ::-1, i, j]")},
    says="dx has the kernel's input channels in the wrong order: channel c of x was multiplied by w[:, c].",
)
height_for_width = mistake(
    "conv2d_vjp",
    {CROPPED: CROPPED.replace("padding + width", "padding + height")},
    says="The height stands where the width belongs, so that images that are not square come out wrong.",
)


# maxpool2d_vjp

PASSED = "dx[entry] = np.where(first, g, 0)"
CLAIMED = "unclaimed &= ~first"

pool_ties_to_all = mistake(
    "maxpool2d_vjp",
    {CLAIMED: ""},
    says="Every entry of a tie gets all of the gradient. Only the first one in row order gets it.",
)
pool_ties_shared = mistake(
    "maxpool2d_vjp",
    {
        "y = inside.reshape(n, c, rows, size, cols, size).max(axis=(3, 5))": (
            "windows = inside.reshape(n, c, rows, size, cols, size)\n"
            "y = windows.max(axis=(3, 5))\n"
            "ties = (windows == y[:, :, :, None, :, None]).sum(axis=(3, 5))"
        ),
        PASSED: "dx[entry] = np.where(first, g / ties, 0)",
        CLAIMED: "",
    },
    says="The entries of a tie share the gradient, as in max_vjp. Here the first one in row order gets all of it.",
)
pool_ties_to_last = mistake(
    "maxpool2d_vjp",
    {
        "for i in range(size):": "for i in reversed(range(size)):",
        "for j in range(size):": "for j in reversed(range(size)):",
    },
    says="In a tie the last entry gets the gradient. It goes to the first one in row order.",
)
pool_ties_in_column_order = mistake(
    "maxpool2d_vjp",
    {"for i in range(size):\n    for j in range(size):": "for j in range(size):\n    for i in range(size):"},
    says="In a tie the window is searched column by column. Row order comes first: (0, 1) before (1, 0).",
)
pool_ignores_g = mistake(
    "maxpool2d_vjp",
    {PASSED: "dx[entry] = first"},
    says="Your gradient marks the winners but does not depend on g. Multiply by g.",
)
pool_like_average = mistake(
    "maxpool2d_vjp",
    {PASSED: "dx[entry] = g / size**2"},
    says="Every entry of a window gets an equal share, as in average pooling. Only the largest entry gets the "
    "gradient.",
)
pool_without_leftovers = mistake(
    "maxpool2d_vjp",
    {"inside = x[:, :, : rows * size, : cols * size]": "inside = x"},
    says="x is cut into windows as if they filled it. Drop the rows and columns left over first: x[:, :, :rows * "
    "size, :cols * size]; their gradient is 0.",
)
pool_leftovers_missing = mistake(
    "maxpool2d_vjp",
    {"dx = np.zeros_like(x)": "dx = np.zeros_like(inside)"},
    says="dx lacks the rows and columns that filled no window. It has the shape of x: their gradient is 0.",
)

pool_first_window_alone = mistake(
    "maxpool2d_vjp",
    {"return dx": "dx[:, :, size:] = 0\nreturn dx"},
    says="Only the first windows have a gradient: `return` stands inside of the loop, which ends after one round.",
)


# attention_vjp

SCALE = "scale = q.shape[-1] ** -0.5"
SCORES = "scores = scale * (q @ k.swapaxes(-1, -2))"
SEEN = "seen = np.tril(np.ones(scores.shape[-2:], dtype=bool))"
MASKED = "scores = np.where(seen, scores, -np.inf)"
DP = "dp = g @ v.swapaxes(-1, -2)"
DV = "dv = p.swapaxes(-1, -2) @ g"
DSCORES = "dscores = p * (dp - (dp * p).sum(axis=-1, keepdims=True))"
DQ = "dq = scale * (dscores @ k)"
DK = "dk = scale * (dscores.swapaxes(-1, -2) @ q)"
ATTENTION = "return dq.astype(q.dtype), dk.astype(k.dtype), dv.astype(v.dtype)"

attention_without_scale = mistake(
    "attention_vjp",
    {SCALE: "scale = 1.0"},
    says="The scale 1/√d is missing, forward and backward: the scores are q kᵀ / √d.",
)
attention_scale_missing_in_backward = mistake(
    "attention_vjp",
    {DQ: "dq = dscores @ k", DK: "dk = dscores.swapaxes(-1, -2) @ q"},
    says="The scale 1/√d is used going forward but not coming back: dq and dk are multiplied by it too.",
)
attention_scaled_by_d = mistake(
    "attention_vjp", {SCALE: "scale = 1 / q.shape[-1]"}, says="You divide the scores by d. The scale is 1/√d."
)
attention_scaled_by_width_of_v = mistake(
    "attention_vjp",
    {SCALE: "scale = v.shape[-1] ** -0.5"},
    says="The scale takes the width of v. In 1/√d, d is the width of q and k.",
)
attention_softmax_diagonal_only = mistake(
    "attention_vjp",
    {DSCORES: "dscores = dp * p * (1 - p)"},
    says="The softmax's backward is its diagonal only, dp p (1 − p). The probabilities of a row depend on all its "
    "scores: p (dp − Σ dp p).",
)
attention_softmax_not_centered = mistake(
    "attention_vjp",
    {DSCORES: "dscores = dp * p"},
    says="The sum is missing in the softmax's backward: the gradient of the scores is p (dp − Σ dp p), not p dp.",
)
attention_softmax_skipped = mistake(
    "attention_vjp",
    {DSCORES: "dscores = dp"},
    says="The softmax's backward is left out: dp = g vᵀ is the gradient of the probabilities, not yet that of the "
    "scores.",
)
attention_ignores_causal = mistake(
    "attention_vjp",
    {f"if causal:\n    {SEEN}\n    {MASKED}": ""},
    says="causal is ignored: with causal=True query i sees the keys 0 to i only.",
)
attention_mask_upside_down = mistake(
    "attention_vjp",
    {SEEN: "seen = np.triu(np.ones(scores.shape[-2:], dtype=bool))"},
    says="The mask is the wrong way round: query i sees the keys up to i (np.tril), not those from i on (np.triu).",
)
attention_mask_without_diagonal = mistake(
    "attention_vjp",
    {
        SEEN: "seen = np.tril(np.ones(scores.shape[-2:], dtype=bool), k=-1)",
        "p = softmax(scores)": 'with np.errstate(invalid="ignore"):\n    p = softmax(scores)',
    },
    says="The mask hides a query's own position, and from the first query everything. Query i sees key i too.",
)
attention_masked_with_zero = mistake(
    "attention_vjp",
    {MASKED: "scores = np.where(seen, scores, 0)", DQ: f"if causal:\n    dscores = np.where(seen, dscores, 0)\n{DQ}"},
    says="Masked scores are set to 0, and exp(0) is 1: they still get a weight. Set them to -inf before the softmax.",
)
attention_masked_after_softmax = mistake(
    "attention_vjp",
    {
        f"if causal:\n    {SEEN}\n    {MASKED}": "seen = np.tril(np.ones(scores.shape[-2:])) if causal else 1",
        DP: "dp = seen * (g @ v.swapaxes(-1, -2))",
        DV: "dv = (seen * p).swapaxes(-1, -2) @ g",
    },
    says="The mask comes after the softmax, so the weights of a row no longer add up to 1. Set the masked scores to "
    "-inf before the softmax.",
)
attention_mask_missing_in_backward = mistake(
    "attention_vjp",
    {
        SCORES: f"{SCORES}\nunmasked = softmax(scores)",
        DSCORES: "dscores = unmasked * (dp - (dp * unmasked).sum(axis=-1, keepdims=True))",
    },
    says="The mask is used going forward, but the backward pass uses the probabilities without it. A key that was not "
    "seen gets no gradient.",
)
attention_dq_dk_swapped = mistake(
    "attention_vjp",
    {ATTENTION: "return dk.astype(k.dtype), dq.astype(q.dtype), dv.astype(v.dtype)"},
    says="dq and dk are swapped: the order is dq, dk, dv.",
)
attention_dk_not_transposed = mistake(
    "attention_vjp",
    {DK: "dk = scale * (dscores @ q)"},
    says="In dk the gradient of the scores is not transposed: dk = dsᵀ q / √d, one row for each key.",
)
attention_dv_not_transposed = mistake(
    "attention_vjp",
    {DV: "dv = p @ g"},
    says="In dv the probabilities are not transposed: dv = pᵀ g, one row for each key.",
)
attention_softmax_over_queries = mistake(
    "attention_vjp",
    {
        "p = softmax(scores)": "p = softmax(scores, -2)",
        DSCORES: "dscores = p * (dp - (dp * p).sum(axis=-2, keepdims=True))",
    },
    says="The softmax runs over the queries. Each query distributes its weights over the keys: the last axis.",
)
attention_overflows = mistake(
    "attention_vjp",
    OVERFLOWS,
    where="softmax",
    says="exp overflows for large scores, and inf / inf is nan. Subtract each row's maximum before exp.",
)
attention_all_axes_reversed = mistake(
    "attention_vjp",
    {SCORES: "scores = scale * (q @ k.T)", DP: "dp = g @ v.T", DV: "dv = p.T @ g", DK: "dk = scale * (dscores.T @ q)"},
    says=".T reverses all axes, batch and heads included. Transpose only the last two: k.swapaxes(-1, -2) or k.mT.",
)
