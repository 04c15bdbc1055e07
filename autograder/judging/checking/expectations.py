"""What checks expect: values that must agree, properties that must hold, errors that must be raised.

A failed expectation is recorded and the check goes on, so that the diagnosis sees everything that the learner's
functions returned. At its end the plugin fails the check with the first failure.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.diagnosis.equality import mismatch
from autograder.judging.records.errors import Raised
from autograder.judging.records.record import OF_ANOTHER_TYPE, Call, Comparison, current_record, paired
from autograder.values import summarise


def exercise(name: str, *, visible: bool = True, promise: str = "value") -> Callable[[Any], Any]:
    """Mark a function as a check (or an oracle) of the exercise `name`.

    `visible=False`: run it on hidden inputs only. `promise`: `"value"` (the judge compares numbers) or `"instrumented"`
    (our code measured beside the submission: hard to fake, not impossible).
    """
    if promise not in ("value", "instrumented"):
        raise ValueError(f"a check promises 'value' or 'instrumented', not {promise!r}")
    return pytest.mark.exercise(name=name, visible=visible, promise=promise)


def expect_close(
    got: Any,
    expected: Any,
    *,
    names: tuple[str, ...] | None = None,
    case: str = "",
    rtol: float,
    atol: float,
) -> None:
    """Expect the kind, shape, dtype and values of `expected` (an array, a number, a tuple or dict of them).

    Tensors count as arrays.

    Args:
        names: of the outputs, for feedback; one per item if `expected` is a tuple.
        case: the kind of input, in words.
        rtol, atol: as in `numpy.allclose`.
    """
    record = current_record()
    call = record.calls[-1] if record.calls else None
    got, expected = as_arrays(got), as_arrays(expected)
    if isinstance(expected, dict):
        names = tuple(str(key) for key in expected)
    elif names is None:
        names = (call.function if call else "the result",)
    problems = tuple(problems_of(got, expected, names, rtol, atol, call))
    right = bool(problems) and all(
        mismatch(_in_type_of(mine, its), its, name=name, rtol=rtol, atol=atol) is None
        for name, mine, its in paired(got, expected, names)
    )
    cost = OF_ANOTHER_TYPE if right else 1.0
    record.note(Comparison(got, expected, names, case, call, rtol, atol, problems, cost=cost))


def expect(condition: bool, message: str, *, case: str = "", instead: str = "", of_values: bool = False) -> None:
    """Expect a property; `message` says what is wrong if it does not hold.

    Args:
        instead: says in which way it fails. This tells mistakes apart where nothing else is compared.
        of_values: whether the property is one of what was returned, in a check of the technique.
    """
    _expect_property(bool(condition), bool(condition) or instead, message, case, of_values)


def _expect_property(condition: bool, got: Any, message: str, case: str, of_values: bool = False) -> None:
    """Record whether a property holds; `got` distinguishes the ways in which it can fail."""
    record = current_record()
    call = record.calls[-1] if record.calls else None
    problems = () if condition else (message,)
    place = _place_in_check()
    record.note(
        Comparison(got, True, (), case, call, 0.0, 0.0, problems, property_only=True, place=place, of_values=of_values)
    )


def expect_raises(
    kind: type[Exception], function: Callable[..., Any], *args: Any, case: str = "", **kwargs: Any
) -> None:
    """Expect a learner's function to raise `kind` (a builtin exception, or one derived from it)."""
    try:
        value = function(*args, **kwargs)
    except Raised as raised:
        ok = kind.__name__ in raised.failure.bases
        _expect_property(ok, ok or raised.failure.kind, f"{raised} A {kind.__name__} was expected.", case)
    else:
        record = current_record()
        call = record.calls[-1]
        what = "went through" if call.scenario else f"returned {summarise(value)}"
        name = record.exercise if call.scenario else call.function
        expect(False, f"{name} {what}; a {kind.__name__} was expected.", case=case)


def _place_in_check() -> tuple[str, int]:
    """The file and line of the innermost frame outside this module.

    The path starts at the lesson's folder, so that it is the same wherever the course is installed.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return "/".join(frame.f_code.co_filename.replace("\\", "/").split("/")[-3:]), frame.f_lineno


def as_arrays(value: Any) -> Any:
    """The value with tensors as arrays; a dtype that NumPy lacks (bfloat16) becomes float32."""
    if isinstance(value, tuple | list):
        return type(value)(as_arrays(item) for item in value)
    if isinstance(value, dict):
        return {key: as_arrays(item) for key, item in value.items()}
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return value
    return (value.float() if value.dtype is torch.bfloat16 else value).numpy(force=True)


def has_tensors(value: Any) -> bool:
    """Whether a value contains a PyTorch tensor."""
    if isinstance(value, tuple | list):
        return any(map(has_tensors, value))
    if isinstance(value, dict):
        return any(map(has_tensors, value.values()))
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _in_type_of(got: Any, expected: Any) -> Any:
    """`got` in the type or dtype of `expected`, if that changes no value (True for 1, 5 for 5.0); otherwise `got`."""
    if isinstance(expected, bool):
        return bool(got) if type(got) is int and got in (0, 1) else got
    if type(expected) is int and isinstance(got, float | np.floating):
        return int(got) if got.is_integer() else got
    typed = np.ndarray | np.generic  # arithmetic turns 0-d arrays into scalars
    arrays = isinstance(got, typed) and isinstance(expected, typed)
    if not arrays or not {got.dtype.kind, expected.dtype.kind} <= set("fiu"):
        return got
    with np.errstate(all="ignore"):
        typed_got = got.astype(expected.dtype)
        return typed_got if expected.dtype.kind == "f" or (typed_got == got).all() else got


def problems_of(
    got: Any, expected: Any, names: tuple[str, ...], rtol: float, atol: float, call: Call | None
) -> Iterator[str]:
    """One sentence for each output that is wrong."""
    inputs = dict(call.arguments) if call else {}
    for name, mine, theirs in paired(got, expected, names):
        problem = mismatch(mine, theirs, name=name, rtol=rtol, atol=atol, names=names, inputs=inputs)
        if problem and got is None and call is not None and not call.scenario:
            problem = f"{problem}; a function that ends without `return` gives None"
        if problem:
            yield problem
