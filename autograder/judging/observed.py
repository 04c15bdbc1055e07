"""What the judge has seen of one exercise of a submission."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.judging.records.record import Record
from autograder.judging.records.results import ExerciseResult


@dataclass
class Observed:
    """The records of one exercise's checks, on visible or on hidden inputs."""

    records: list[Record] = field(default_factory=list)
    digest: bytes | None = None
    """Hash of all answers; None unless the records depend on nothing else."""
    seconds: float = 0.0
    ended: ExerciseResult | None = None
    """The result, if the exercise could not be judged to its end."""

    @property
    def complete(self) -> bool:
        """Whether every check ran to its end."""
        return not any(record.ended_by for record in self.records)
