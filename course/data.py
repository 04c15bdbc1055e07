"""The data that the course ships: 8×8 images of handwritten digits.

These are 1,400 of the 1,797 images of scikit-learn's `load_digits`, which is the test part of "Optical Recognition of
Handwritten Digits" by E. Alpaydin and C. Kaynak (UCI Machine Learning Repository, 1998, doi:10.24432/C50P49,
CC BY 4.0). The grader uses the other 397, which are not secret: scikit-learn has them with their labels.
`tests/test_data.py` makes the split and compares the files with it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIGITS_TRAIN = Path(__file__).with_name("data") / "digits_train.npz"
MAX_PIXEL = 16  # in the files a pixel is the number of inked cells in a 4×4 block, 0 to 16


def load_digits_train() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The training digits `(X, y)`, in no particular order.

    `X` is (1400, 64) float64: one image per row, flattened from the top row down, scaled to [0, 1] (0 paper, 1 ink).
    `y` is (1400,) int64: the digits, 0 to 9.
    """
    with np.load(DIGITS_TRAIN) as file:
        return file["X"] / MAX_PIXEL, file["y"].astype(np.int64)
