"""Wrong answers to find_bug, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

SIZES = "n, d, m, o = 6, 3, 5, 4"
PARAMS = "params = {name: rng.normal(size=shape) for name, shape in shapes.items()}"
BIAS = 'if "b2" in disagree:'
FIRST = 'return "slope" if np.any(grads["W1"]) else "detached"'
TWICE = "twice, _ = network(params, np.tile(X, (2, 1)), np.tile(targets, 2))  # every row twice: the mean is the same"
LAST = 'return "right" if sure < 0.1 else "softmax"'
CERTAIN = 'certain = params | {"W2": np.zeros((m, o)), "b2": 100.0 * np.eye(o)[0]}'

one_row = mistake(
    "find_bug",
    {SIZES: SIZES.replace("6", "1")},
    says="Averaged gradients of the biases were not named. In a batch of one row a mean over the rows is the sum: "
    "use several rows, and nudge b2.",
)
all_units_on = mistake(
    "find_bug",
    {PARAMS: f"{PARAMS}\nparams['b1'] = params['b1'] + 100"},
    says="A gradient that leaves out relu's slope was not named. Where every hidden unit is active that slope is 1: "
    "let some units be off, and nudge W1 or b1.",
)
zeros_are_a_slope = mistake(
    "find_bug",
    {FIRST: 'return "slope"'},
    says="Gradients of W1 and b1 that are zero were not named. Look at the gradients: zeros mean that nothing "
    "arrives, a forgotten slope leaves other numbers.",
)
nudges_alone_acquit = mistake(
    "find_bug",
    {"if not np.isclose(twice, loss):": "if True:", 'return "sum"': 'return "right"'},
    says="Neither the summed loss nor the second softmax was named. Nudges show only whether the gradients belong "
    "to the loss that network returns: test that loss as well.",
)
loss_never_compared = mistake(
    "find_bug",
    {LAST: 'return "right"'},
    says="A second softmax was not named. Its gradients belong to its loss, and both are means: compare the loss "
    "itself with the cross-entropy.",
)
sum_never_tested = mistake(
    "find_bug",
    {TWICE: "twice = loss"},
    says="A loss that is summed over the rows was not named. Change the number of rows: a mean stays when every row "
    "comes twice, a sum doubles.",
)
