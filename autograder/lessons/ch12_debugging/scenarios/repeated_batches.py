"""Scenarios of repeated_batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh
from autograder.worker.layout import laid_out
from autograder.worker.returned import plain


def pairs_of_one_batch(submission: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """The pairs where one tensor is several batches, alone and in tuples, also column by column in memory."""
    with _fresh():
        first, labels = torch.tensor(X), torch.tensor(y)
        columns = laid_out(first, "columns")
        pairs = submission.repeated_batches(
            [first, (first, labels), columns, first, (columns, labels), (first, labels)]
        )
        return [plain(pair) for pair in list.__iter__(pairs)] if isinstance(pairs, list) else plain(pairs)
