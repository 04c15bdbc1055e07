"""One run of one grader: a command to measure, and the points that it gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Scores = dict[str, dict[str, float]]
"""Points by student and exercise."""


class Unavailable(RuntimeError):
    """A grader cannot be had here; the message says why."""


@dataclass(frozen=True)
class Job:
    """What a grader runs on one class."""

    command: list[str]
    cwd: Path
    scores: Callable[[], Scores]
    env: dict[str, str] = field(default_factory=dict)
    first: Callable[[], bool] | None = None
    """Whether the first result is there, where a grader writes results one by one."""
