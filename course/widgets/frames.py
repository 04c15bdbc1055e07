"""The frame of an experiment: its title, its name in URLs, and the question before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Question:
    """A question that a reader answers before the experiment opens. Its texts may have `code` in backquotes.

    Args:
        asks: the question.
        options: two to four pairs of an answer and a sentence that says why it is right or wrong.
        right: the index of the right answer.
        then: values of the experiment's inputs, by name, that show the case in question.

    Raises:
        ValueError: `options` or `right` are none of these.
    """

    asks: str
    options: Sequence[tuple[str, str]]
    right: int
    then: Mapping[str, str | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = [text for text, _ in self.options]
        if not 2 <= len(texts) <= 4 or len(set(texts)) < len(texts) or not 0 <= self.right < len(texts):
            raise ValueError(f"{self.asks!r} needs two to four answers that differ, and `right` the place of one")
        if not all(says.strip() for _, says in self.options):
            raise ValueError(f"{self.asks!r}: every answer needs a sentence that says what it means")


@dataclass(frozen=True)
class Frame:
    """The title of an experiment, its name, unique on the page, and its question, if any.

    The URL of a state ends with `#name?input=value&...`.
    """

    title: str
    name: str
    question: Question | None = None

    def as_values(self) -> dict[str, Any]:
        """The frame as data for the script."""
        asked = self.question
        question = asked and {
            "asks": asked.asks,
            "options": [list(option) for option in asked.options],
            "right": asked.right,
            "then": {name: str(value) for name, value in asked.then.items()},
        }
        return {"title": self.title, "name": self.name, "question": question}


FRAMES = {
    "backward_sweep": Frame("The reverse sweep, message by message", "sweep"),
    "bracket_order": Frame("Same answer, different price", "brackets"),
    "broadcasting": Frame("Where does each entry of g go?", "broadcasting"),
    "checkpoint_schedule": Frame("What to keep, and what to run again", "schedule"),
    "clinic": Frame("The clinic: which test next?", "clinic"),
    "cut_edges": Frame("Cut an edge", "cut"),
    "estimators": Frame("Three clouds around one gradient", "estimators"),
    "gradient_account": Frame("What .grad holds, step by step", "account"),
    "gradient_flow": Frame("How much gradient reaches each layer", "flow"),
    "memory_account": Frame("Does it fit?", "memory"),
    "mlp_shapes": Frame("The arrays of a step, to scale", "shapes"),
    "pipeline": Frame("Who computes, and who waits?", "pipeline"),
    "step_size": Frame("How small a step?", "step"),
    "zero_stages": Frame("Who holds what?", "zero"),
    "straight_through": Frame("Descent through a staircase", "straight"),
}
"""The default frames of experiments."""
