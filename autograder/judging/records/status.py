"""The statuses of exercises and submissions in results."""

from __future__ import annotations

from typing import Literal

ExerciseStatus = Literal["passed", "partial", "failed", "missing", "error", "timeout", "forbidden"]
"""Status of an exercise. `missing` to `forbidden`: it ended before anything could be compared."""
SubmissionStatus = Literal["graded", "unreadable", "timeout", "killed", "not recognised", "gone"]
"""Status of a submission. Reports use the last two for work that has no result that counts."""
