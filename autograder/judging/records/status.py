"""The words that results use for how it went."""

from __future__ import annotations

from typing import Literal

ExerciseStatus = Literal["passed", "partial", "failed", "missing", "error", "timeout", "forbidden"]
"""Of an exercise. What ended it before anything could be compared is `missing` to `forbidden`."""
SubmissionStatus = Literal["graded", "unreadable", "timeout", "killed", "not recognised", "gone"]
"""Of a submission. Reports have rows of the last two for what has no result that counts."""
