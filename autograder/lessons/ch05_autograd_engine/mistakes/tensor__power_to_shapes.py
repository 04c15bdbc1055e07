"""Wrong answers to Tensor: powers, products of matrices, reductions, functions entry by entry, shapes."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch05_autograd_engine.mistakes.vjps_of_operations import not_unbroadcast, wrong_vjps

# Tensor: power

power_not_unbroadcast = wrong_vjps(
    "power", a="g * b.data * a.data**less", b="g * y * np.log(a.data)", says=not_unbroadcast("a ** b")
)
power_not_lowered = wrong_vjps(
    "power",
    a="unbroadcast(g * b.data * y, a.shape)",
    says="In a ** b, the power has to go down by one: b a^(b - 1), not b a^b.",
)
exponent_not_a_factor = wrong_vjps(
    "power",
    a="unbroadcast(g * a.data**less, a.shape)",
    says="In a ** b, the exponent comes down as a factor: b a^(b - 1).",
)
exponent_not_a_factor_but_zero = wrong_vjps(
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
power_by_division = wrong_vjps(
    "power",
    a="unbroadcast(g * b.data * y / a.data, a.shape)",
    says="The base's gradient is written with y / a, and is nan at a = 0. Use b a^(b - 1) itself.",
)
exponent_without_logarithm = wrong_vjps(
    "power",
    b="unbroadcast(g * y, b.shape)",
    says="In a ** b, the exponent's gradient is y log(a): the logarithm is missing.",
)
logarithm_of_the_exponent = wrong_vjps(
    "power",
    b="unbroadcast(g * y * np.log(b.data), b.shape)",
    says="In a ** b, the exponent's gradient has the logarithm of the exponent. It is that of the base: y log(a).",
)
exponent_by_the_power_rule = wrong_vjps(
    "power",
    b="unbroadcast(g * a.data * b.data ** (a.data - 1), b.shape)",
    says="In a ** b, the exponent gets the base's rule. Its own is y log(a), with y the result.",
)


# Tensor: matmul

matmul_without_transposes = wrong_vjps(
    "matmul",
    a="unbroadcast(as_matrix(g) @ B, A.shape).reshape(a.shape)",
    b="unbroadcast(A @ as_matrix(g), B.shape).reshape(b.shape)",
    says="In a @ b, the transposes are missing: the gradients are g Bᵀ and Aᵀ g. With square matrices no shape "
    "complains.",
)
matmul_in_the_wrong_order = wrong_vjps(
    "matmul",
    a="unbroadcast(B.swapaxes(-1, -2) @ as_matrix(g), A.shape).reshape(a.shape)",
    b="unbroadcast(as_matrix(g) @ A.swapaxes(-1, -2), B.shape).reshape(b.shape)",
    says="In a @ b, the factors are in the wrong order: g Bᵀ for a and Aᵀ g for b; g stands where the other one was.",
)
matmul_of_a_in_the_wrong_order = wrong_vjps(
    "matmul",
    a="unbroadcast(B.swapaxes(-1, -2) @ as_matrix(g), A.shape).reshape(a.shape)",
    says="In a @ b, the gradient of a has its factors in the wrong order: g Bᵀ; g stands where the product stood.",
)
matmul_of_b_in_the_wrong_order = wrong_vjps(
    "matmul",
    b="unbroadcast(as_matrix(g) @ A.swapaxes(-1, -2), B.shape).reshape(b.shape)",
    says="In a @ b, the gradient of b has its factors in the wrong order: Aᵀ g; g stands where the product stood.",
)
matmul_transposes_stacks = wrong_vjps(
    "matmul",
    a="unbroadcast(as_matrix(g) @ B.T, A.shape).reshape(a.shape)",
    b="unbroadcast(A.T @ as_matrix(g), B.shape).reshape(b.shape)",
    says="In a @ b, .T reverses all axes of a stack. Only the last two are the matrix's: swapaxes(-1, -2).",
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
matmul_of_matrices_only = wrong_vjps(
    "matmul",
    a="unbroadcast(g @ b.data.swapaxes(-1, -2), a.shape)",
    b="unbroadcast(a.data.swapaxes(-1, -2) @ g, b.shape)",
    says="In a @ b, vectors are not handled: .T and swapaxes do nothing for them. Make a vector on the left a row, "
    "one on the right a column, and take the added axis away again.",
)
matmul_with_plain_transposes = wrong_vjps(
    "matmul",
    a="unbroadcast(np.asarray(g @ b.data.T), a.shape)",
    b="unbroadcast(np.asarray(a.data.T @ g), b.shape)",
    says="In a @ b, .T is right for two matrices only: it does nothing to a vector, and reverses all axes of a "
    "stack. Make a vector on the left a row, one on the right a column, and swap the last two axes: swapaxes(-1, -2).",
)
matmul_untransposed = wrong_vjps(
    "matmul",
    a="unbroadcast(np.asarray(g @ b.data), a.shape)",
    b="unbroadcast(np.asarray(a.data @ g), b.shape)",
    says="In a @ b, the transposes are missing, and vectors are not handled: for matrices the gradients are g Bᵀ and "
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
    says="The gradient of the mean is divided by the size of x, even where axis is given. Divide by the number of "
    "entries in each mean.",
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
transpose_swaps_the_last_two = mistake(
    "Tensor",
    {
        "axes = axes or range(x.data.ndim)[::-1]": (
            "axes = axes or (*range(x.data.ndim - 2), *range(x.data.ndim)[-2:][::-1])"
        )
    },
    where="transpose",
    says="Without axes the last two are swapped, as matmul's VJPs need it. `transpose()` and `T` reverse all axes, as "
    "NumPy's do: (2, 3, 4) becomes (4, 3, 2).",
)
select_counts_once = mistake(
    "Tensor",
    {"np.add.at(dx, index, g)": "dx[index] = g"},
    where="select",
    says="dx[index] = g counts an entry that was selected twice only once, and so does dx[index] += g. np.add.at "
    "adds every time.",
)
select_not_scattered = mistake(
    "Tensor",
    {"return record(x.data[index], (x, vjp))": "return record(x.data[index], (x, lambda g: g))"},
    where="select",
    says="The gradient of x[index] has the shape of what was selected. It has the shape of x, with 0 where nothing "
    "was selected.",
)
