"""Checks of train."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from autograder.judging import exercise, expect, expect_close
from autograder.values import summarise
from course.data import MAX_PIXEL, load_digits_train

PARAMETERS = ("W1", "b1", "W2", "b2")


DIGITS_HELDOUT = Path(__file__).parents[2] / "digits_heldout.npz"
# No right training of 1,510 missed these, with either number of units, over 15 kinds of SGD, momentum and full batch,
# five initializations, 30 to 200 seeds each. Exceptions: 2 of 60 with batches of one row for only 3 epochs, and with 16
# units 14 of 60 at lr=1, which diverges. Random features with a trained last layer reach at most 85% with 16 units.
ENOUGH = 0.94
ENOUGH_WITH_16 = 0.88
ACTIVATIONS = {
    "relu": lambda Z: np.maximum(Z, 0),
    "tanh": np.tanh,
    "sigmoid": lambda Z: 0.5 + 0.5 * np.tanh(Z / 2),
    "none": lambda Z: Z,
}


# A task that no linear classifier learns: on random patterns and their negatives, linear discriminants classify at most
# 35% correctly (22 draws), right trainings at least 87% (306 runs of 16 kinds).
ENOUGH_OF_PATTERNS = 0.6
# The cosine between a small step and the gradient: at least 0.95 with SGD and momentum, batches of 1 to all rows, and
# 0.34 with Adam (10 kinds in float64 and float32, 6 draws each). With lr=1e-4, or momentum and 1e-5, single rows move
# the wide network so far that it falls to 0.28.
ALONG = 0.25
WIDE = 900
"""Hidden units; so many that differences for one entry at a time take too long."""
SLOPES = 50
"""Number of compared entries of each parameter."""
STEP = 1e-6
FAR = 0.02
"""More than an entry moves in an epoch with lr=4e-6 more: Adam, one row at a time, moves it by 0.006."""


def permuted_digits(rng):
    """The training and held-out digits with pixels and classes permuted, so that memorised weights are useless."""
    X, y = load_digits_train()
    with np.load(DIGITS_HELDOUT) as file:
        X_held, y_held = file["X"] / MAX_PIXEL, file["y"].astype(np.int64)
    pixels, classes, rows = rng.permutation(64), rng.permutation(10), rng.permutation(len(y))
    return (X[rows][:, pixels], classes[y[rows]]), (X_held[:, pixels], classes[y_held])


def trained(params, hidden, case) -> dict[str, np.ndarray] | None:
    """The four parameters as float64; None, with a message recorded, if they cannot be used."""
    if not isinstance(params, dict) or set(params) != set(PARAMETERS):
        message = f"train returned {summarise(params)}; a dict with the keys W1, b1, W2, b2 expected"
        if params is None:
            message += "; a function that ends without `return` gives None"
        expect(False, message, case=case)
        return None
    shapes = {"W1": (64, hidden), "b1": (hidden,), "W2": (hidden, 10), "b2": (10,)}
    for name, shape in shapes.items():
        array = params[name]
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != "f":
            expect(False, f"{name} is {summarise(array)}; an array of floats of shape {shape} expected", case=case)
            return None
        if not np.isfinite(array).all():
            expect(False, f"{name} is not finite: the training diverged. Is every step downhill, and small?", case=case)
            return None
    return {name: params[name].astype(np.float64) for name in PARAMETERS}


@np.errstate(all="ignore")
def logits_of(params, X, activation="relu"):
    return ACTIVATIONS[activation](X @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"]


@np.errstate(all="ignore")
def cross_entropies(logits, y) -> np.ndarray:
    """The loss of each row."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(y)), y]


def mean_cross_entropy(logits, y) -> float:
    return float(np.mean(cross_entropies(logits, y)))


def some_slopes(params, X, y, places) -> dict[str, np.ndarray]:
    """The derivative of the mean loss at these flat indices of the parameters, by differences, which hide the formula.

    A row's loss depends on its own logits alone, so each column of logits is moved in all rows at once.
    """
    before = X @ params["W1"] + params["b1"]
    hidden = np.maximum(before, 0)
    logits = hidden @ params["W2"] + params["b2"]
    losses = cross_entropies(logits, y)
    moves = STEP * np.eye(logits.shape[1])
    by_logit = np.stack([cross_entropies(logits + move, y) - losses for move in moves], axis=1) / (STEP * len(y))

    def slope(name, place):
        if name in ("W2", "b2"):
            column = by_logit[:, place % logits.shape[1]]
            return column @ hidden[:, place // logits.shape[1]] if name == "W2" else column.sum()
        unit = place % hidden.shape[1]
        more = STEP * X[:, place // hidden.shape[1]] if name == "W1" else STEP
        change = (np.maximum(before[:, unit] + more, 0) - hidden[:, unit]) / STEP
        return change @ (by_logit @ params["W2"][unit])

    return {name: np.array([slope(name, place) for place in of_name.tolist()]) for name, of_name in places.items()}


def share_right(logits, y) -> float:
    return float(np.mean(np.argmax(logits, axis=1) == y))


@np.errstate(all="ignore")
def expect_live_units(params, X, case) -> bool:
    """Expect a hidden unit that is not 0 on every row; return whether there is one."""
    alive = bool(np.any(X @ params["W1"] + params["b1"] > 0))
    message = "Every hidden unit is 0 on every digit, so relu lets no gradient through: smaller steps, other weights?"
    expect(alive, message, case=case)
    return alive


def expect_no_explanation(params, X, y, enough, case) -> bool:
    """Report mistakes that the parameters themselves reveal; return whether there is none."""
    networks = {activation: logits_of(params, X, activation) for activation in ACTIVATIONS}
    networks["standardized"] = logits_of(params, (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-8))
    networks["centered"] = logits_of(params, X - X.mean(axis=0))
    losses = {how: mean_cross_entropy(logits, y) for how, logits in networks.items()}
    best = min(losses, key=lambda how: losses[how])
    # Measured, over the loss with relu: at least 0.95 if relu was trained; at most 0.36 after 8 epochs of tanh or
    # no activation, 0.42 of centered pixels. Weights trained for a sigmoid may also work with relu, and then pass.
    # Trained with another loss than cross-entropy, they read no more digits right with another network.
    shares = {how: share_right(networks[how], y) for how in (best, "relu")}
    is_clear = losses[best] < 0.5 * losses["relu"] and shares[best] >= max(enough, shares["relu"] + 0.01)
    mistakes = {
        "All hidden units have the same weights and never differ: draw W1 at random.": len(params["b1"]) > 1
        and np.allclose(params["W1"], params["W1"][:, :1], rtol=1e-6),
        "b1 is exactly 0 after the training: it is not trained.": not np.any(params["b1"]),
        "b2 is exactly 0 after the training: it is not trained.": not np.any(params["b2"]),
        "These parameters fit the digits better with another activation, or with none: train them with relu.": (
            is_clear and best in ("tanh", "sigmoid", "none")
        ),
        "These parameters fit the digits better with centered pixels: train them on the pixels as they come.": (
            is_clear and best in ("standardized", "centered")
        ),
    }
    for message, made in mistakes.items():
        expect(not made, message, case=case)
    return not any(mistakes.values())


def check_reading(learner, rng, enough, case, **options):
    """`train` with these options, graded on the held-out digits."""
    (X, y), (X_held, y_held) = permuted_digits(rng)
    params = trained(learner.train(X, y, **options), options.get("hidden", 64), case)
    if params is None:
        return
    if not expect_live_units(params, X, case) or not expect_no_explanation(params, X, y, enough, case):
        return
    share = share_right(logits_of(params, X_held), y_held)
    advice = (
        "That is no better than guessing: are the parameters changed, downhill, on rows with their own labels?"
        if share < 0.2
        else "More epochs or another lr may be enough; or some rows or parameters have no part in the training."
    )
    message = f"{share:.1%} of the held-out digits are read right; {enough:.0%} expected. {advice}"
    expect(share >= enough, message, case=case)
    if share < enough:  # only an identical share means the same unexplained mistake
        expect_close(share, enough, names=("the share read right",), case=case, rtol=0, atol=0)


@exercise("train")
def test_epochs_and_seeds(learner):
    """More epochs change all four parameters for the better; the same seed gives the same ones, another seed others."""
    rng = np.random.default_rng(7)  # properties, on visible inputs only: memorised parameters would have them too
    (X_all, y_all), _ = permuted_digits(rng)
    X, y = X_all[:300], y_all[:300]
    runs = []
    for epochs, seed, rows in [(1, 3, 0), (6, 3, 0), (1, 3, 0), (1, 4, 0), (1, 3, 300)]:
        case = f"300 digits, hidden=12, lr=0.05, epochs={epochs}, seed={seed}"
        X_part, y_part = X_all[rows : rows + 300], y_all[rows : rows + 300]
        params = trained(learner.train(X_part, y_part, hidden=12, epochs=epochs, lr=0.05, seed=seed), 12, case)
        if params is None:
            return
        runs.append(params)
    first, longer, again, other, elsewhere = runs
    expect_live_units(longer, X, case="six epochs")
    moved = {name: not np.array_equal(first[name], longer[name]) for name in PARAMETERS}
    message = "One epoch and six give the same parameters: are they updated, and is `epochs` used?"
    expect(any(moved.values()), message, case="1 and 6 epochs")
    for name in PARAMETERS:
        message = f"{name} is the same after one epoch and after six: it is not trained."
        expect(moved[name], message, case="1 and 6 epochs")
    losses = [mean_cross_entropy(logits_of(params, X), y) for params in (first, longer)]
    message = f"The loss is {losses[0]:.3g} after one epoch and {losses[1]:.3g} after six: go downhill."
    expect(losses[1] < losses[0], message, case="1 and 6 epochs")
    for name in PARAMETERS:
        same = np.allclose(first[name], again[name], rtol=1e-9, atol=1e-12)
        expect(same, f"Two calls with the same seed gave two different {name}.", case="the same seed twice")
    for name in ("W1", "W2"):
        differs = not np.array_equal(first[name], other[name])
        expect(differs, f"{name} is the same for two seeds: is `seed` used?", case="two seeds")
    learned = any(not np.array_equal(first[name], elsewhere[name]) for name in PARAMETERS)
    message = "One epoch gives the same parameters on other digits: one epoch is one pass over the data, not none."
    expect(learned, message, case="one epoch on 300 digits and on 300 others")
    few = np.concatenate([np.flatnonzero(y_all == label)[:2] for label in range(10)])  # fewer than a batch often has
    trained(learner.train(X_all[few], y_all[few], hidden=12, epochs=2, lr=0.05), 12, "20 digits, two of each class")


@exercise("train")
def test_reads_held_out_digits(learner, rng):
    """With its own defaults the network reads at least 94% of digits that it has not seen."""
    check_reading(learner, rng, ENOUGH, "the defaults")


@exercise("train")
def test_few_hidden_units(learner, rng):
    """With 16 hidden units, where random features are not enough: both layers must learn."""
    check_reading(learner, rng, ENOUGH_WITH_16, "hidden=16", hidden=16)


@exercise("train")
def test_learns_what_is_not_linear(learner, rng):
    """The technique: digits seen through a drawn pattern or its negative, which have the same mean in each class."""
    (X, y), (X_held, y_held) = permuted_digits(rng)
    pattern = rng.random(64) < 0.5

    def seen(images):
        return np.abs(images - np.where(rng.random((len(images), 1)) < 0.5, pattern, ~pattern))

    case = "every other digit a negative"
    params = trained(learner.train(seen(X), y), 64, case)
    if params is None:
        return
    share = share_right(logits_of(params, seen(X_held)), y_held)
    message = (
        f"{share:.1%} of the held-out digits are read right where some are negatives; {ENOUGH_OF_PATTERNS:.0%} is the "
        "least that a relu network learns, and more than anything linear can: is it trained by gradient descent, all "
        "of it?"
    )
    expect(share >= ENOUGH_OF_PATTERNS, message, case=case)


@exercise("train")
def test_small_steps_follow_the_gradient(learner, rng):
    """The technique: one epoch with a small lr, and with twice that, differ by a step against the gradient.

    There are so many hidden units that differences for one entry at a time take too long.
    """
    (X, y), _ = permuted_digits(rng)
    seed = int(rng.integers(1000))
    case = f"{len(y)} digits, hidden={WIDE}, epochs=1, lr=4e-06 and lr=8e-06"

    def network(lr):
        return learner.train(X, y, hidden=WIDE, epochs=1, lr=lr, seed=seed)

    answers = [network(4e-6), network(8e-6)]  # both are asked before one is looked at, so in one round trip
    once, twice = (trained(answer, WIDE, case) for answer in answers)
    if once is None or twice is None:
        return
    if any(np.abs(twice[name] - once[name]).max() > FAR for name in PARAMETERS):
        expect(False, "Two calls with the same seed start from different weights.", case=case)
        return
    places = {name: rng.permutation(once[name].size)[:SLOPES] for name in PARAMETERS}
    steps = {name: (twice[name] - once[name]).ravel()[places[name]] for name in PARAMETERS}
    gradients = some_slopes(once, X, y, places)
    along = {
        name: -np.sum(steps[name] * gradients[name])
        > ALONG * np.linalg.norm(steps[name]) * np.linalg.norm(gradients[name])
        for name in PARAMETERS
    }
    for name in PARAMETERS:
        message = f"{name} is the same with lr=4e-06 and lr=8e-06: are its steps lr times its gradient?"
        expect(bool(np.any(steps[name])), message, case=case)
        if np.any(steps[name]):
            message = (
                f"{name} does not follow its negative gradient where the steps are small: the cosine is below {ALONG}."
            )
            expect(bool(along[name]), message, case=case)
