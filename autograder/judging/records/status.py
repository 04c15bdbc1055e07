"""The words that results use for how it went."""

from __future__ import annotations

from typing import Literal

ExerciseStatus = Literal["passed", "partial", "failed", "missing", "error", "timeout", "forbidden"]
"""Of an exercise. What ended it before anything could be compared is `missing` to `forbidden`."""
SubmissionStatus = Literal["graded", "unreadable", "timeout", "killed", "not recognised", "gone", "excused"]
"""Of a submission. Reports have rows of the last three for what has no result that counts."""
EXCUSED: SubmissionStatus = "excused"
"""The status of a lesson that a student need not hand in: it has no points, and is worth none."""
