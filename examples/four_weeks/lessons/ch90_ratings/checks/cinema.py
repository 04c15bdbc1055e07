"""Who rated what, and the tables that people and films are rows of."""

from __future__ import annotations

import numpy as np

FEATURES = 3


def tables(rng, people, films):
    """A row for each person, and one for each film."""
    return rng.normal(size=(people, FEATURES)), rng.normal(size=(films, FEATURES))


def rated(who, what):
    """The two lists as indices."""
    return np.asarray(who, dtype=np.int64), np.asarray(what, dtype=np.int64)
