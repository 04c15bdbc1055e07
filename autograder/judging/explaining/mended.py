"""What is said of repairs, apart from how they are found: pages, where nothing is repaired, need no more of them."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.judging.explaining.attribution import Explaining


@dataclass(frozen=True)
class Mended:
    """What a learner is told of repairs."""

    message: str = ""
    """Empty if nothing is said."""
    misconceptions: tuple[str, ...] = ()
    """The known mistakes that it names."""
    causes: int = 0
    """How many mistakes it says there are; 0 if it explains only a part."""

    def replaces(self, explained: Explaining) -> bool:
        """Whether this is said in place of known mistakes that do not give all that the visible checks saw."""
        if explained.whole or not self.message:
            return False
        if not explained.known or self.misconceptions:
            return self.causes > 0
        return self.causes == 1 and bool(explained.left)


NOT_MENDED = Mended()
