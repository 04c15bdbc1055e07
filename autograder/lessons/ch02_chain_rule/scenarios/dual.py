"""Scenarios of Dual."""

from __future__ import annotations

from types import TracebackType
from typing import Any


def evaluate(submission: Any, expression: str, x: tuple[float, float], y: tuple[float, float] = (1.0, 0.0)) -> Any:
    """Value and tangent of an expression of the Duals x and y, each given as (value, tangent).

    If the result is not a Dual, or x or y is another one afterwards, a dict with the reason instead, under the key
    "not lifted", "no Dual" or "changed".
    """
    Dual = submission.Dual
    operands = {"x": Dual(*x), "y": Dual(*y)}
    before = {name: (dual.value, dual.tangent) for name, dual in operands.items()}
    try:
        result = eval(expression, {"Dual": Dual, **operands})
    except NotImplementedError:
        which = expression.replace("(", "").replace(")", "")
        raise NotImplementedError(f"Dual ({which}): your code here") from None
    except (AttributeError, TypeError) as error:
        words = _in_words(expression, error)
        if words is None:
            raise
        return words
    if not hasattr(result, "value") or not hasattr(result, "tangent"):
        what = "None: a return is missing" if result is None else f"an object of type {type(result).__name__}"
        return {"no Dual": f"{expression} gave {what}. The result of an operation is a new Dual."}
    for name, dual in operands.items():
        if (dual.value, dual.tangent) != before[name]:
            return {"changed": f"{expression} changed {name} itself. The result of an operation is a new Dual."}
    return result.value, result.tangent


def _in_words(expression: str, error: Exception) -> dict[str, str] | None:
    """An explanation of an error in terms of Dual; None if Python's message is clear enough."""
    if isinstance(error, AttributeError) and isinstance(error.obj, int | float) and error.name in ("value", "tangent"):
        what = f"{expression}: {error.obj!r} is a plain number and has no {error.name}"
        return {"not lifted": f"{what}. Lift it: other = lift(other)."}
    if isinstance(error, TypeError) and isinstance(error.__traceback__, TracebackType):
        called = error.__traceback__.tb_next  # the expression; what follows it is the learner's
        if called is not None and called.tb_next is None:
            return {"no Dual": f"{expression} does not work: {error}. An operation is missing, or returned no Dual."}
    return None
