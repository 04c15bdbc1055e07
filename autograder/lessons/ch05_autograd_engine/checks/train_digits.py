"""Checks of train_digits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from autograder.judging import exercise, expect, expect_close
from autograder.judging.records.errors import LearnerError
from autograder.values import summarise
from course.data import MAX_PIXEL, load_digits_train

DIGITS_HELDOUT = Path(__file__).parents[2] / "digits_heldout.npz"
# No right training of 1,000 missed this, over 25 kinds (relu, tanh, two layers; SGD, momentum, Adam, full batch;
# 5 to 300 epochs, 16 to 128 units, six initializations), 40 permutations and seeds each. The lowest share was 93.7%,
# after 5 epochs. The reference: 97.0% to 99% over 200 permutations and seeds.
ENOUGH = 0.92


def permuted_digits(rng):
    """The training and held-out digits with pixels and classes permuted, so that memorised weights are useless."""
    X, y = load_digits_train()
    with np.load(DIGITS_HELDOUT) as file:
        X_held, y_held = file["X"] / MAX_PIXEL, file["y"].astype(np.int64)
    pixels, classes, rows = rng.permutation(64), rng.permutation(10), rng.permutation(len(y))
    return (X[rows][:, pixels], classes[y[rows]]), (X_held[:, pixels], classes[y_held])


def as_labels(labels, count, case) -> np.ndarray | None:
    """The labels as an array, one per image; None, with a message recorded, for an invalid answer."""
    good = isinstance(labels, np.ndarray) and labels.shape == (count,) and labels.dtype.kind in "iu"
    wanted = f"an array of {count} integers expected, one label for each row of X_test"
    expect(good, f"train_digits returned {summarise(labels)}; {wanted}", case=case)
    if not good:  # two invalid answers show the same mistake only if they are of the same kind
        expect_close(summarise(labels, show_numbers=False), wanted, names=("the labels",), case=case, rtol=0, atol=0)
    return labels if good else None


NEVER_RESET = "The grads are never reset: backward adds. Set p.grad = None before each pass."


def never_reset(learner, X, y):
    """Whether each pass of a short training starts from the grads of the one before; only used for advice."""
    try:
        return learner.scenario.grads_never_reset(X[:200], y[:200], X[:2], 0) is True
    except LearnerError:
        return False


def expect_half(learner, labels, X, y, y_held, case):
    """Expect half of the digits to be classified correctly, which a training on 200 of them achieves."""
    share = float(np.mean(labels == y_held))
    message = f"After 200 digits, {share:.0%} of the others are read right; half of them is the least."
    if share < 0.5 and never_reset(learner, X, y):
        message = f"{message} {NEVER_RESET}"
    expect(share >= 0.5, message, case=case)


@exercise("train_digits")
def test_reads_held_out_digits(learner, rng):
    """At least 92% of 397 digits that the submission has no labels of."""
    (X, y), (X_held, y_held) = permuted_digits(rng)
    case = "397 held-out digits"
    labels = as_labels(learner.train_digits(X, y, X_held, 1), len(y_held), case)
    if labels is None:
        return
    share = float(np.mean(labels == y_held))
    if share < ENOUGH and never_reset(learner, X, y):
        advice = NEVER_RESET
    elif len(np.unique(labels)) == 1:
        advice = (
            "All labels are the same. Did the weights run away: do the steps go downhill, is the loss a mean, is the "
            "step size small enough? Or did they not start at random, or has a parameter no step?"
        )
    elif share < 0.2:
        advice = (
            "That is no better than guessing: do the steps change p.data, downhill, on rows with their own labels? "
            "And is grad reset before each pass? backward adds."
        )
    else:
        advice = "More epochs or another step size may be enough; or is grad reset before each step?"
    expect(share >= ENOUGH, f"{share:.1%} of the digits are read right; {ENOUGH:.0%} expected. {advice}", case=case)
    if share < ENOUGH:  # only an identical share means the same unexplained mistake
        expect_close(share, ENOUGH, names=("the share read right",), case=case, rtol=0, atol=0)


@exercise("train_digits")
def test_seeds(learner, rng):
    """The same seed gives the same labels, another seed another network, which shows on images of noise."""
    (X, y), (X_held, y_held) = permuted_digits(rng)
    X, y, images = X[:200], y[:200], np.concatenate([rng.uniform(size=(300, 64)), X_held])
    case = "200 digits, images of noise"
    runs = [as_labels(learner.train_digits(X, y, images, seed), len(images), case) for seed in (3, 3, 4)]
    if any(labels is None for labels in runs):
        return
    for labels in runs:  # because labels could be drawn from the seed
        expect_half(learner, labels[300:], X, y, y_held, case)
    first, again, other = runs
    expect(np.array_equal(first, again), "Two calls with the same seed gave different labels.", case=case)
    expect(
        not np.array_equal(first, other), "Two seeds gave the same labels: is everything drawn from seed?", case=case
    )


@exercise("train_digits")
def test_few_images(learner, rng):
    """20 images, fewer than a batch often has: it does not raise, and learns what their labels are."""
    (X, y), (X_held, y_held) = permuted_digits(rng)
    few = np.concatenate([np.flatnonzero(y == label)[:2] for label in range(10)])
    case = "20 images"
    labels = [
        as_labels(learner.train_digits(X[few], of_few, X_held, 0), len(y_held), case)
        for of_few in (y[few], (y[few] + 1) % 10)
    ]
    if any(one is None for one in labels):
        return
    message = "20 images with other labels give the same network: was no step made, as no batch is full?"
    expect(not np.array_equal(*labels), message, case=case)


# Right trainings of 11 kinds (15 to 300 passes, relu and tanh, 16 and 64 units; SGD, momentum, Adam) classify at least
# 97% of the drawn images correctly; linear models, and trainings that ignore the engine, half of them.
ENOUGH_OF_ANOTHER = 0.75
ENOUGH_WITHOUT_GRADIENTS = 0.5
"""Networks that random numbers move read up to 17% of the digits; nearest neighbours read 97%."""
MOST_BESIDE = 0.1
"""Largest share of a gradient beside products of two layers: 0.05 for vectors of all weights, else 0.003; or 1."""
MOST_OFF = 0.1
"""Largest difference of losses from what grads say: 0.02 in 50 right trainings, over 0.2 in wrong ones."""
FEWEST_PASSES = 8
"""Minimum number of backward passes on DRAWN images; five epochs in batches of 64 make 15."""
DRAWN = 211
"""Number of images; no network has that many units by chance, so a parameter of that size has one row per image."""
SAMPLE = {"x": (1, 3), "W": (3, 4), "b": (4,), "V": (4, 1)}


def drawn_images(rng, groups, labels, count):
    """Images with two groups of pixels, each dark or bright; one label if both groups are alike, else the other."""
    bright = rng.integers(2, size=(count, 2))
    X = rng.uniform(0, 0.3, size=(count, 64)) + 0.6 * np.where(groups, bright[:, :1], bright[:, 1:])
    return X, np.where(bright[:, 0] == bright[:, 1], *labels)


def of_noise(y, rng):
    """Labels without information: half of the rows of each label get the other."""
    noise = np.empty_like(y)
    noise[np.lexsort((rng.random(len(y)), y))] = np.unique(y)[np.arange(len(y)) % 2]
    return noise


def shapes_moved(result, moves):
    """The shapes of the arrays that grads move, in a pass with the most leaves: a penalty may have one of its own."""
    shapes = max(result["layouts"], key=len, default=())
    return [shape for shape, moves_it in zip(shapes, moves, strict=False) if moves_it is True]


def trains_two_layers(moved):
    """Whether two of these arrays are matrices, or one is a long vector that may contain all weights."""
    matrices = [shape for shape in moved if sum(size > 1 for size in shape) > 1]  # a row of biases is none
    return len(matrices) > 1 or any(len(shape) == 1 and shape[0] > 640 for shape in moved)


@exercise("train_digits", promise="instrumented")
def test_uses_the_engine(learner, rng):
    """The technique: all that is learned comes from the grads that Tensor.backward leaves, in more than a few passes.

    A training on noise whose grads are replaced by those of a training on images reads images. It is trained in a new
    process, which cannot remember the images' labels. To find out whether grads are replaced does not help: the labels
    to answer are not in the noise, and no linear layer reads them in the grads. Nor do grads that hold the images
    themselves: a parameter that is moved by its grad changes the grads of later passes, and other grads stay what they
    are. Nor do grads that hold the labels, for a neighbour among the images to find: the noise has the images in
    another order. Last, what the grads are is compared with the graph and with how the loss changes, and the digits
    are trained on with random numbers for grads, because a training may do something else on other images.
    """
    groups, labels = rng.random(64) < 0.5, rng.permutation([rng.integers(9), 9])
    (X, y), (X_held, y_held) = (drawn_images(rng, groups, labels, count) for count in (DRAWN, 400))
    noise, elsewhere = of_noise(y, rng), rng.permutation(len(y))
    sample = {name: rng.normal(size=shape) for name, shape in SAMPLE.items()}
    result = learner.scenario.noted_gradients(X, y, X_held, 0, sample)
    message = (
        "train_digits never called Tensor.backward: build the loss from Tensors, and let your engine differentiate it."
    )
    case = f"a training on {DRAWN} drawn images"
    expect(result["calls"] > 0, message, case=case)
    if not result["calls"]:  # a training that ignores grads may classify correctly by luck
        return
    moves = learner.scenario.grads_that_move_the_loss(X, y, X_held[:2], 0)
    message = (
        "What a pass leaves in the grads does not depend on the passes before: no parameter is moved by its grad. "
        "Build the loss of each pass from parameters that the passes before have moved."
    )
    moved = isinstance(moves, list) and any(one is True for one in moves)
    expect(moved, message, case=case)
    few = f"It takes {result['calls']} backward passes for {DRAWN} images: go through them again, and make more steps."
    expect(result["calls"] >= FEWEST_PASSES, few, case=case)
    message = "Only one matrix is moved by its grads: the hidden layer has to learn as well, not the last layer alone."
    shapes = shapes_moved(result, moves) if moved else []
    expect(not moved or trains_two_layers(shapes), message, case=case)
    message = f"A parameter has one row for each of the {DRAWN} images: that is a table of them, and no network."
    expect(not any(DRAWN in shape for shape in shapes), message, case=case)
    x, W, b, V = (sample[name] for name in SAMPLE)
    gradients = {"dW": x.T @ V.T, "db": V[:, 0], "dV": (x @ W + b).T}
    right = all(
        isinstance(got := result.get(name), np.ndarray)
        and got.shape == array.shape
        and np.allclose(got, array, 1e-4, 1e-5)
        for name, array in gradients.items()
    )
    message = "The gradients that Tensor.backward leaves amid the training are not those of (x @ W + b) @ V."
    expect(right, message, case=case)
    learner.forget()
    noted = [result[name] for name in ("grads", "passes", "layouts")]
    labels = as_labels(
        learner.scenario.with_gradients_of_another(X[elsewhere], noise, X_held, 0, moves, *noted), len(y_held), case
    )
    if labels is None:
        return
    share = float(np.mean(labels == y_held))
    message = (
        f"Where the grads of one training on images are put into a second one, on noise, that reads {share:.0%} of "
        "the images right. What a training learns comes from the grads that Tensor.backward leaves, and from "
        "nothing else."
    )
    if share < ENOUGH_OF_ANOTHER and never_reset(learner, X, y):
        message = NEVER_RESET
    expect(share >= ENOUGH_OF_ANOTHER, message, case=case)
    if trains_two_layers(shapes):
        expect_gradients_of_a_network(learner, X, y, X_held[:2], moves, rng, case)
    expect_no_reading_without_gradients(learner, rng)


def expect_gradients_of_a_network(learner, X, y, X_test, moves, rng, case):
    """Expect every large array that is moved to follow a gradient of the loss, which goes through two layers."""
    found = learner.scenario.gradients_of_the_loss(X, y, X_test, 0, moves, int(rng.integers(1, FEWEST_PASSES - 2)))
    if found is None:
        return
    message = (
        "A parameter that is moved has no layer behind or before it in the graph: Tensor.backward only hands on arrays "
        "that were computed without it. Build each layer's result and the loss from Tensors, so that the "
        "engine differentiates the whole network."
    )
    expect(all(share < MOST_BESIDE for share in found["beside"]), message, case=case)
    message = (
        "A second training with the same seed begins with other weights or images, so that the gradients of the two "
        "cannot be compared. Draw all random numbers from one generator, which the seed makes."
    )
    expect(not found["strays"], message, case=case)
    message = (
        "Tensor.backward is called on something that has other gradients: after a longer step along one grad it has "
        "changed by more or less than the grads say. Build the whole loss from Tensors: what is computed from .data is "
        "a constant, and gets no gradient."
    )
    expect(all(off < MOST_OFF for off in found["off"]), message, case=case)


def expect_no_reading_without_gradients(learner, rng):
    """Expect the digits not to be read where the grads are random numbers, so that nothing is learned."""
    (X, y), (X_held, y_held) = permuted_digits(rng)
    case = "397 held-out digits, random grads"
    drawn = int(rng.integers(1_000))
    labels = as_labels(learner.scenario.with_random_gradients(X, y, X_held, 1, drawn), len(y_held), case)
    if labels is None:
        return
    share = float(np.mean(labels == y_held))
    message = (
        f"With random numbers in place of the grads, {share:.0%} of the digits are read right. What reads them has to "
        "come from the grads that Tensor.backward leaves."
    )
    expect(share < ENOUGH_WITHOUT_GRADIENTS, message, case=case)
