"""Whether gradients are those of a second run, and what is kept until then."""

from __future__ import annotations

from typing import Any

from autograder.judging import (
    fine,
)
from autograder.judging.records.record import current_record

SLACK = 16_384
"""Bytes that a few random states and numbers may take; a tensor of these checks that matters takes far more."""


def told(n_bytes: int, whole: int) -> str:
    """Bytes in words, beside what one tensor of the case has."""
    return f"{n_bytes:,} bytes" if current_record().visible else f"{n_bytes / whole:.1f} times the bytes of x"


def three_slopes(rng) -> list[float]:
    """Three numbers far from each other: what gradients are multiplied by, to tell which run they come from."""
    return (rng.permutation([0.5, 1.5, 2.5]) + rng.uniform(0, 0.5, size=3)).tolist()


def followed(scenario: str, learner, reference, *arguments: Any, case: str):
    """Expect that no sentence of a scenario is so."""
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    fine(got, dict.fromkeys(expected, False), case=case)
