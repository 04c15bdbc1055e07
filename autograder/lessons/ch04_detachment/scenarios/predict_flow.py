"""Scenarios of predict_flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

WORDS = {"a": "product", "b": "request", "k": "leaf", "h": "detach", "p": "constant", "s": "under", "t": "no_grad"}
"""Names that are words of steps, too."""


def predict_flow_in_states(
    submission: Any, steps: Sequence[Sequence[str]], letters: Mapping[str, str], states: Mapping[str, str]
) -> Any:
    """The answer for a program with leaves a and b, a constant k and a result h, in the states that `states` says.

    Args:
        letters: a new letter for each name.
    """
    *body, (_, *last) = steps
    whole: list[tuple[str, ...]] = [("a", "leaf"), ("b", "leaf"), ("k", "constant"), *map(tuple, body)]
    asked = {"that asks of a leaf": "a", "that asks of a constant": "k", "that asks of a result": "h"}
    name = asked.get(states["program request"])
    whole += [(name, "request"), ("s", "product", name, "b")] if name else [("s", "product", "b", "a")]
    whole += [("t", "product", "s", "s" if states["program product"] != "plain" else "b"), ("u", *last)]
    whole += [("v", "leaf"), ("w", "product", "v", "b")] if states["program steps"] != "plain" else []
    whole.append(("L", "product", "u", "t"))
    words = WORDS if states["program names"] != "plain" else {}
    new = {one: words.get(one, letter) for one, letter in letters.items()}
    made = [(new[one], how, *(new[other] for other in inputs)) for one, how, *inputs in whole]
    answer = submission.predict_flow({"a program": made})
    return answer["a program"] if isinstance(answer, dict) and "a program" in answer else answer
