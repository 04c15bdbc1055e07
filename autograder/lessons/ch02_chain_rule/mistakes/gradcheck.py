"""Wrong answers to gradcheck, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

SIGNATURE = "def gradcheck(f, vjp, inputs, rng):"
DRAWN = "g = rng.normal(size=np.shape(f(*inputs)))"
LENGTHS = "if len(gradients) != len(inputs):\n    return False"
EACH_INPUT = "for i, x in enumerate(inputs):"
OBJECTIVE = "return np.sum(g * f(*inputs[:i], moved, *inputs[i + 1 :]))"
EXPECTED = "expected = numerical_gradient(objective, x)"
COMPARED = "if np.shape(gradients[i]) != x.shape or not np.allclose(gradients[i], expected, rtol=1e-5, atol=1e-8):"
RIGHT = "np.shape(gradients[i]) == x.shape and np.allclose(gradients[i], expected, rtol=1e-5, atol=1e-8)"


def _wrong_if(apart):
    """An edit: reject a gradient `a` if its shape is wrong, or if `apart` is true of `a` and the differences `n`."""
    return {COMPARED: f"a, n = gradients[i], expected\nif np.shape(a) != x.shape or {apart}:"}


def _differences(*lines):
    """An edit: compute each entry's difference of `objective` by these lines instead of numerical_gradient."""
    loop = ["expected = np.zeros(x.shape)", "for index in np.ndindex(x.shape):", *(f"    {line}" for line in lines)]
    return {EXPECTED: "\n".join(loop)}


ones_for_g = mistake(
    "gradcheck",
    {DRAWN: "g = np.ones(np.shape(f(*inputs)))"},
    says="g is all ones, which hides mistakes: a VJP that ignores g is right for it, and every VJP of a softmax that "
    "gives 0. Draw g at random.",
)

one_number_for_g = mistake(
    "gradcheck",
    {DRAWN: "g = rng.normal() * np.ones(np.shape(f(*inputs)))"},
    says="g is one random number for all outputs. A mistake in how outputs are weighted against each other stays "
    "hidden: draw one for each.",
)

first_output_only = mistake(
    "gradcheck",
    {DRAWN: "g = np.zeros(np.shape(f(*inputs)))\ng.flat[0] = rng.normal()"},
    says="g picks the first output only. A VJP may be wrong in all others: draw a random g for all outputs.",
)

differences_without_g = mistake(
    "gradcheck",
    {OBJECTIVE: "return np.sum(f(*inputs[:i], moved, *inputs[i + 1 :]))"},
    says="The differences are of f's plain sum, the VJP is with g: right VJPs are rejected. Differentiate "
    "(g * f(*inputs)).sum().",
)

one_sided_differences = mistake(
    "gradcheck",
    {
        **_differences(
            "step = np.zeros(x.shape)",
            "step[index] = 1e-6",
            "expected[index] = (objective(x + step) - objective(x)) / 1e-6",
        ),
        **_wrong_if("not np.allclose(a, n, rtol=1e-3, atol=1e-8 + 1e-3 * np.abs(n).max(initial=0.0))"),
    },
    says="The differences are one-sided. Where f is curved they are off by eps · f″/2, and a right VJP is rejected: "
    "take central ones.",
)

step_too_large = mistake(
    "gradcheck",
    {
        EXPECTED: "expected = numerical_gradient(objective, x, eps=1e-2)",
        **_wrong_if("not np.allclose(a, n, rtol=2e-3, atol=1e-8)"),
    },
    says="The step is so large that central differences are off where f changes fast. Use about 1e-6.",
)

tolerance_too_tight = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(a, n, rtol=1e-13, atol=1e-15)"),
    says="Right VJPs are rejected: central differences have nine digits or so, and fewer with a step below 1e-8. Ask "
    "for about five.",
)

tolerance_too_loose = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(a, n, rtol=0.1, atol=1e-8)"),
    says="The tolerance is so large that a mistake of one percent passes. Central differences are good to nine digits "
    "or so: ask for about five.",
)

absolute_tolerance = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(a, n, rtol=0.0, atol=1e-5)"),
    says="The tolerance is absolute: it passes everything that is small, and rejects what is right and large. Compare "
    "relative to the size of the gradient.",
)

large_absolute_tolerance = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(a, n, rtol=1e-5, atol=1e-5)"),
    says="The absolute tolerance is larger than the gradients themselves can be, so anything small passes. Keep it to "
    "1e-8 or so, next to a relative one.",
)

zero_by_zero = mistake(
    "gradcheck",
    {
        COMPARED: """
a, n = gradients[i], expected
with np.errstate(all="ignore"):
    right = np.shape(a) == x.shape and np.all(np.abs(a - n) / (np.abs(a) + np.abs(n)) < 1e-5)
if not right:
"""
    },
    says="The error is divided by the gradient's size, and 0 / 0 is nan where both gradients are 0. Write "
    "|a − n| ≤ rtol · |n| + atol instead of a quotient.",
)

no_room_for_rounding = mistake(
    "gradcheck",
    _wrong_if("not np.all(np.abs(a - n) <= 1e-5 * (np.abs(a) + np.abs(n)))"),
    says="Where the gradient is 0, differences are still off by about 1e-10, and relative to that 0 anything is too "
    "much. Allow an absolute error of 1e-9 or so as well.",
)

first_input_only = mistake(
    "gradcheck",
    {EACH_INPUT: "for i, x in enumerate(inputs[:1]):"},
    says="Only the first input's gradient is checked. Check those of all inputs, one after the other.",
)

last_input_only = mistake(
    "gradcheck",
    {f"{COMPARED}\nreturn False": f"right = {RIGHT}", "return True": "return right"},
    says="Each input's result replaces the one before, so only the last one counts. Return False at the first gradient "
    "that is wrong.",
)

any_input = mistake(
    "gradcheck",
    {"return True": "return False", f"{COMPARED}\nreturn False": f"if {RIGHT}:\n    return True"},
    says="One right gradient is enough for True in your check. All of them must be right.",
)

first_entry_only = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(np.ravel(a)[:1], np.ravel(n)[:1], rtol=1e-5, atol=1e-8)"),
    says="Only the first entry of each gradient is compared. Compare all of them.",
)

any_entry = mistake(
    "gradcheck",
    _wrong_if("not np.isclose(a, n, rtol=1e-5, atol=1e-8).any()"),
    says="One right entry is enough for True in your check. All of them must be right: np.all, not np.any.",
)

norms_only = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(np.linalg.norm(a), np.linalg.norm(n), rtol=1e-5, atol=1e-8)"),
    says="The norms of the two gradients are compared. Equal norms say nothing about the direction, not even the sign: "
    "take the norm of the difference.",
)

sums_only = mistake(
    "gradcheck",
    _wrong_if("not np.allclose(np.sum(a), np.sum(n), rtol=1e-5, atol=1e-8)"),
    says="The sums of the two gradients are compared, where mistakes cancel. Compare entry by entry.",
)

directions_only = mistake(
    "gradcheck",
    {
        COMPARED: """
a, n = gradients[i], expected
lengths = np.linalg.norm(a) * np.linalg.norm(n)
if np.shape(a) != x.shape or not (np.sum(a * n) >= (1 - 1e-9) * lengths if lengths else np.linalg.norm(a) == 0):
"""
    },
    says="The directions are compared, not the lengths: a gradient that is twice too large passes. Compare entry by "
    "entry.",
)

without_the_absolute_value = mistake(
    "gradcheck",
    _wrong_if("not np.all(a - n <= 1e-5 * np.abs(n) + 1e-8)"),
    says="In your check, a negative difference always passes: compare |a − n|, not a − n.",
)

shapes_broadcast = mistake(
    "gradcheck",
    {COMPARED: "if not np.allclose(gradients[i], expected, rtol=1e-5, atol=1e-8):"},
    says="The shapes are not compared. NumPy broadcasts (3,) against (1, 3), and raises where it cannot: compare "
    "np.shape(gradient) with x.shape first.",
)

shapes_flattened = mistake(
    "gradcheck",
    {COMPARED: "if not np.allclose(np.ravel(gradients[i]), expected.ravel(), rtol=1e-5, atol=1e-8):"},
    says="The gradients are flattened before they are compared, so a wrong shape passes, or raises. Compare "
    "np.shape(gradient) with x.shape first.",
)

missing_gradients_pass = mistake(
    "gradcheck",
    {LENGTHS: "", EACH_INPUT: "for i, (x, _) in enumerate(zip(inputs, gradients)):"},
    says="zip stops at the shorter one, so a missing gradient goes unnoticed. Compare the lengths first.",
)

missing_gradients_raise = mistake(
    "gradcheck",
    {LENGTHS: ""},
    says="A gradient may be missing, and gradients[i] then raises. Compare len(gradients) with len(inputs) first: the "
    "answer is False.",
)

strict_zip_raises = mistake(
    "gradcheck",
    {LENGTHS: "", EACH_INPUT: "for i, (x, _) in enumerate(zip(inputs, gradients, strict=True)):"},
    says="zip with strict=True raises where a gradient is missing. Compare the lengths first: the answer is False.",
)

nan_passes = mistake(
    "gradcheck",
    _wrong_if("np.any(np.abs(a - n) > 1e-5 * np.abs(n) + 1e-8)"),
    says="A nan passes: every comparison with nan is false, so `if error > tolerance: return False` never fires. Ask "
    "whether the error is within the tolerance instead.",
)

another_generator = mistake(
    "gradcheck",
    {
        SIGNATURE: SIGNATURE.replace("rng", "rng, calls=iter(range(1, 10**6))"),  # so that nothing depends on luck
        DRAWN: "g = np.random.default_rng(next(calls)).normal(size=np.shape(f(*inputs)))",
    },
    says="The random numbers do not come from rng, so no two runs are alike. Draw g from rng.",
)

inputs_moved_in_place = mistake(
    "gradcheck",
    _differences(
        "x[index] += 1e-6",
        "up = objective(x)",
        "x[index] -= 2e-6",
        "expected[index] = (up - objective(x)) / 2e-6",
        "x[index] += 1e-6",
    ),
    says="The inputs do not come back as they were. Work on copies: moving them back by arithmetic rounds.",
)


@misconception("gradcheck", says="Your check never says False, so it checks nothing. A wrong VJP must fail.")
def always_true(f, vjp, inputs, rng):
    return True


@misconception("gradcheck", says="Your check never says True. A right VJP must pass.")
def always_false(f, vjp, inputs, rng):
    return False
