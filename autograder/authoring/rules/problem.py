"""The problems that health rules report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One line of `backprop build --check`."""

    file: str
    """Path relative to the course's folder, with slashes."""
    what: str
    """What is wrong, naming the exercise."""
    do: str
    """What to do about it."""

    def __str__(self) -> str:
        return f"{self.file}: {self.what}; {self.do}"
