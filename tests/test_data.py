"""The shipped digits are a split of scikit-learn's digits; run this file as a script to write them again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from course.data import DIGITS_TRAIN, MAX_PIXEL, load_digits_train

DIGITS_HELDOUT = Path(__file__).parents[1] / "autograder" / "lessons" / "digits_heldout.npz"
# Of the seeds 0 to 7, this one gives honest training the widest margin over the 94% that the lesson requires: the held-
# out digits are an exam, so accuracy on them does not estimate generalization.
SEED = 7
HELD_OUT = 397

Digits = tuple[NDArray[np.uint8], NDArray[np.uint8]]


def all_digits() -> Digits:
    """scikit-learn's 1,797 digits: pixels (1797, 64), integers from 0 to 16, and labels (1797,)."""
    from sklearn.datasets import load_digits  # a second of imports, which no other process of the tests needs

    X, y = load_digits(return_X_y=True)
    return X.astype(np.uint8), y.astype(np.uint8)


def split_digits(X: NDArray[np.uint8], y: NDArray[np.uint8]) -> tuple[Digits, Digits]:
    """The course's split, `(train, held out)`: stratified, with the same share of each class (±1 image).

    The images are shuffled, sorted by class, and evenly spaced ones are held out. `RandomState` is used because NumPy
    promises that its stream never changes.
    """
    shuffled = np.random.RandomState(SEED).permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    held_out = by_class[np.arange(HELD_OUT) * len(y) // HELD_OUT]
    train = shuffled[~np.isin(shuffled, held_out)]
    held_out = shuffled[np.isin(shuffled, held_out)]
    return (X[train], y[train]), (X[held_out], y[held_out])


def write_digits() -> None:
    """Write both files."""
    train, held_out = split_digits(*all_digits())
    for path, (X, y) in ((DIGITS_TRAIN, train), (DIGITS_HELDOUT, held_out)):
        np.savez_compressed(path, X=X, y=y)


def stored(path: Path) -> Digits:
    with np.load(path) as file:
        return file["X"], file["y"]


def rows(X: NDArray[np.uint8], y: NDArray[np.uint8]) -> list[tuple[int, ...]]:
    """Images with their labels, sorted, so that the order does not matter."""
    return sorted(map(tuple, np.column_stack([X, y]).tolist()))


def test_files_hold_the_documented_split() -> None:
    train, held_out = split_digits(*all_digits())
    for path, (X, y) in ((DIGITS_TRAIN, train), (DIGITS_HELDOUT, held_out)):
        stored_X, stored_y = stored(path)
        assert stored_X.dtype == stored_y.dtype == np.uint8
        np.testing.assert_array_equal(stored_X, X)
        np.testing.assert_array_equal(stored_y, y)


def test_files_together_are_all_digits_each_once() -> None:
    (X, y), (X_held, y_held) = stored(DIGITS_TRAIN), stored(DIGITS_HELDOUT)
    assert rows(np.vstack([X, X_held]), np.append(y, y_held)) == rows(*all_digits())
    assert not set(rows(X, y)) & set(rows(X_held, y_held))  # no image is in both sets, not even a duplicate


def test_split_is_stratified() -> None:
    (_, y), (_, y_held) = stored(DIGITS_TRAIN), stored(DIGITS_HELDOUT)
    assert (len(y), len(y_held)) == (1400, HELD_OUT)
    share = np.bincount(y_held) / (np.bincount(y) + np.bincount(y_held)) * len(np.append(y, y_held))
    np.testing.assert_allclose(share, HELD_OUT, atol=10)  # one image of a class of 180 is 10 of 1,797
    np.testing.assert_array_less(np.diff(np.flatnonzero(y == 0)), 100)  # the order is shuffled, not sorted by class


def test_load_digits_train() -> None:
    X, y = load_digits_train()
    assert (X.shape, X.dtype) == ((1400, 64), np.dtype(np.float64))
    assert (y.shape, y.dtype) == ((1400,), np.dtype(np.int64))
    assert (X.min(), X.max()) == (0, 1)
    assert set(y.tolist()) == set(range(10))
    np.testing.assert_array_equal(X * MAX_PIXEL, stored(DIGITS_TRAIN)[0])


if __name__ == "__main__":
    write_digits()
