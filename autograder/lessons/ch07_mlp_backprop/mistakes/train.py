"""Wrong answers to train, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

SIGNATURE = "def train(X, y, hidden=64, epochs=30, lr=0.2, seed=0):"
FIRST_WEIGHTS = '"W1": rng.normal(size=(d, hidden)) * np.sqrt(2 / d),'
LAST_WEIGHTS = '"W2": rng.normal(size=(hidden, o)) * np.sqrt(2 / hidden),'
EPOCHS = "for _ in range(epochs):"
STEP = "params[name] -= lr * grads[name]"
SHORTER = {  # shorter trainings by default, long enough to show the mistake
    SIGNATURE: SIGNATURE.replace("epochs=30", "epochs=3"),
    "for rows in np.array_split(order, max(n // 32, 1)):": "for rows in np.array_split(order, max(n // 64, 1)):",
}

uphill = mistake(
    "train",
    SHORTER | {STEP: "params[name] += lr * grads[name]"},
    says="The steps go uphill: subtract lr times the gradient, do not add it.",
)
updates_that_are_lost = mistake(
    "train",
    {f"for name in params:\n{STEP}": "for name, p in params.items():\n    p = p - lr * grads[name]"},
    says="The parameters never change: `p = p - lr * g` gives a new array to a local name. Store it: params[name] = …",
)
weights_start_at_zero = mistake(
    "train",
    {FIRST_WEIGHTS: '"W1": np.zeros((d, hidden)),', LAST_WEIGHTS: '"W2": np.zeros((hidden, o)),'},
    says="The weights start at 0, and so do the hidden units and every gradient but b2's: draw the weights at random.",
)
weights_start_equal = mistake(
    "train",
    SHORTER | {EPOCHS: f'params["W1"][:], params["W2"][:] = 0.1, 0.1\n{EPOCHS}'},
    says="All weights start at the same number, so all hidden units stay the same one: draw the weights at random.",
)
trained_without_relu = mistake(
    "train",
    {"logits, cache = forward(params, X[rows])": 'logits, cache = forward(params, X[rows], "tanh")'},
    says="The training did not go through relu, but through another activation or none: use relu.",
)
only_the_last_layer = mistake(
    "train",
    SHORTER | {"for name in params:": 'for name in ("W2", "b2"):'},
    says="Only the last layer learns: W1 and b1 have gradients too, and need their step.",
)
only_the_weights = mistake(
    "train",
    {"for name in params:": 'for name in ("W1", "W2"):'},
    says="The biases never change: b1 and b2 have gradients too, and need their step.",
)
gradients_never_reset = mistake(
    "train",
    SHORTER
    | {
        EPOCHS: f"total = {{name: np.zeros_like(array) for name, array in params.items()}}\n{EPOCHS}",
        STEP: "total[name] += grads[name]\nparams[name] -= lr * total[name]",
    },
    says="The gradients of earlier batches are still in the sum: start each step from the gradients of its own batch.",
)
only_the_first_batch = mistake(
    "train",
    {
        SIGNATURE: SIGNATURE.replace("epochs=30", "epochs=20"),
        "n, d = X.shape": "X, y = X[:32], y[:32]\nn, d = X.shape",
    },
    says="Only the first batch is ever used: go through all rows in every epoch.",
)
shuffled_without_labels = mistake(
    "train",
    SHORTER | {EPOCHS: f"X = X[rng.permutation(n)]\n{EPOCHS}"},
    says="The rows of X were shuffled without their labels: use one order for both, X[order] and y[order].",
)
standardized_pixels = mistake(
    "train",
    SHORTER
    | {
        SIGNATURE: SIGNATURE.replace("epochs=30, lr=0.2", "epochs=5, lr=0.1"),
        EPOCHS: f"X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-8)\n{EPOCHS}",
    },
    says="The pixels were centered or standardized for the training, and are read as they come, in [0, 1].",
)
unseeded = mistake(
    "train",
    {
        SIGNATURE: SIGNATURE.replace("seed=0", "seed=0, calls=iter(range(1, 10**6))"),  # so that luck plays no part
        "rng = np.random.default_rng(seed)": "rng = np.random.default_rng(next(calls))",
    },
    says="Each call draws other numbers: make one generator from `seed`, and draw everything from it.",
)
one_seed_for_all = mistake(
    "train",
    {"rng = np.random.default_rng(seed)": "rng = np.random.default_rng(0)"},
    says="Every seed gives the same numbers: pass `seed` to the generator.",
)
one_pass_too_few = mistake(
    "train",
    {EPOCHS: "for _ in range(1, epochs):"},
    says="One pass too few: epochs=1 goes through the rows once, and range(1, epochs) makes epochs − 1 passes.",
)
