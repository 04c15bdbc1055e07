"""Random numbers in a worker: the same in each process, so that an answer gets the same message twice."""

from __future__ import annotations

import subprocess
import sys

import pytest

DRAW = """
import random
import numpy as np
from autograder.worker.seeds import seed, seed_again
for seeded in (seed, seed_again):
    seeded()
    made = np.random.Generator(np.random.PCG64()), np.random.RandomState(), np.random.default_rng()
    print([random.random(), np.random.random(), *(one.random() for one in made), np.random.default_rng().random()])
"""


@pytest.mark.slow
def test_each_process_draws_the_same_numbers_without_a_seed() -> None:
    """Formerly `default_rng()` drew others in each process, and an answer that ignores its seed got other messages."""
    command = [sys.executable, "-P", "-c", DRAW]
    drawn = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert drawn[0] == drawn[1]
    first, second = drawn[0].splitlines()
    assert first == second
    assert len(set(first.strip("[]").split(", "))) == 6, "the generators of one process differ"
