"""Checks of best_segments."""

from __future__ import annotations

import numpy as np

from autograder.judging import (
    exercise,
    expect,
    expect_close,
)
from autograder.judging.records.record import current_record
from autograder.lessons.ch11_checkpointing.checks.integers import IDENTICAL, MOST_LAYERS, is_int
from autograder.values import summarise

MOST_TRIED = MOST_LAYERS // 2


def peak_with(n_layers: int, segments: int) -> int:
    """The peak that best_segments minimises."""
    layers_of_the_longest, rest = divmod(n_layers, segments)
    return segments + layers_of_the_longest + (rest > 0)


def check_best(learner, reference, n_layers: int, *, case: str):
    """Expect a number of segments with minimal peak; any of several is accepted."""
    show = current_record().visible
    case = f"{n_layers} layer{'s' * (n_layers > 1)}" if show else case
    got = learner.best_segments(n_layers)
    best = reference.best_segments(n_layers)
    if not is_int(got):
        expect_close(got, best, case=case, **IDENTICAL)
        return
    segments = int(got)
    within = 1 <= segments <= n_layers
    told = f"returned {summarise(segments)}" if show else "is out of range"
    expect(within, f"best_segments {told}; a number of segments from 1 to n_layers expected.", case=case)
    if within:
        name = f"the peak with {segments} segment{'s' * (segments > 1)}" if show else "the peak"
        expect_close(peak_with(n_layers, segments), peak_with(n_layers, best), names=(name,), case=case, **IDENTICAL)


def check_some(learner, reference, rng):
    """Check two random numbers of layers on hidden inputs: a table of 100,000 answers contains both in 1 class of 25.

    Neither more nor larger ones, because trying all numbers of segments takes 0.05 s for each.
    """
    if not current_record().visible:
        for n_layers in rng.integers(1, MOST_TRIED + 1, size=2).tolist():
            check_best(learner, reference, n_layers, case="any number of layers")


@exercise("best_segments")
def test_few_layers(learner, reference):
    """2 to 12 layers, and 1: a short table, so on visible inputs alone."""
    for n_layers in [*range(2, 13), 1]:
        check_best(learner, reference, n_layers, case="a few layers")


@exercise("best_segments")
def test_squares_and_their_neighbours(learner, reference, rng):
    """k² layers, one less, one more; and around k (k + 1), where the least peak grows again."""
    for k in sorted(rng.choice(np.arange(3, 30), size=3, replace=False).tolist()):
        for n_layers in (k * k - 1, k * k, k * k + 1, k * k + k, k * k + k + 1):
            check_best(learner, reference, n_layers, case="a square or near one")
    check_some(learner, reference, rng)


@exercise("best_segments")
def test_primes(learner, reference, rng):
    """No number of equal segments does well for a prime; unequal ones do."""
    primes = [n for n in range(13, 1_000) if all(n % d for d in range(2, n))]
    for n_layers in [7, *sorted(rng.choice(primes, size=8, replace=False).tolist())]:
        check_best(learner, reference, n_layers, case="a prime")
    check_some(learner, reference, rng)


@exercise("best_segments")
def test_the_best_of_many_layers(learner, reference, rng):
    """Tens, hundreds and thousands of layers."""
    drawn = [int(rng.integers(low, high)) for low, high in [(20, 100), (100, 1_000), (1_000, 10_000)]]
    for n_layers in [32, 80, *drawn]:
        check_best(learner, reference, n_layers, case="many layers")
    check_some(learner, reference, rng)
