"""The statuses of exercises and submissions in results."""

from __future__ import annotations

from typing import Literal

ExerciseStatus = Literal["passed", "partial", "failed", "missing", "error", "timeout", "forbidden"]
"""Status of an exercise. `missing` to `forbidden`: it ended before anything could be compared."""
SubmissionStatus = Literal["graded", "unreadable", "timeout", "killed", "not recognised", "gone", "excused"]
"""Status of a submission. Reports use the last three for work that has no result that counts."""
EXCUSED: SubmissionStatus = "excused"
"""The status of a lesson that a student need not hand in: it gives no points and is worth none."""
