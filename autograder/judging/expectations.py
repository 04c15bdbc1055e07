"""What checks say: values that must agree, properties that must hold, errors that must be raised.

A failed expectation is recorded and the check goes on, so that the diagnosis sees everything that the learner's
functions returned. The plugin fails the check at its end; the first failure is the one that is shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from autograder.diagnosis.equality import mismatch
from autograder.judging.errors import LearnerError, Raised
from autograder.values import summarise

OF_ANOTHER_TYPE = 0.1
"""What share of an exercise right values of another dtype cost at most."""
CHANGED = 0.5
"""What share of an exercise right values cost at most where the arguments are not what they were."""


@dataclass(frozen=True)
class Call:
    """One call of a learner's function, or of a scenario, with the arguments as the judge knows them."""

    function: str
    arguments: tuple[tuple[str, Any], ...]
    """Names and values, in order."""
    scenario: bool = False
    positional: int = 0
    """How many of the arguments are passed without their names."""
    tensors: bool = False
    """Whether there are PyTorch tensors among them; here they are arrays."""
    chosen: bool = False
    """Whether the check has said what is shown in place of a scenario's arguments: all of it is data of the case."""


@dataclass(frozen=True)
class Comparison:
    """One expectation and what came of it."""

    got: Any
    expected: Any
    names: tuple[str, ...]
    """Names of the outputs: `("dA", "dB")`; the function's name where there is one output."""
    case: str
    call: Call | None
    rtol: float
    atol: float
    problems: tuple[str, ...] = ()
    """What is wrong, one sentence for each output that is; empty if all is well."""
    property_only: bool = False
    """Whether `got` is a truth value that the check computed, or the kind of an error: not what was returned."""
    slip: float = 1.0
    """What share of its exercise the problem may cost; less than 1 where the values are right all the same."""
    place: tuple[str, int] = ("", 0)
    """The line of the check that asks for a property: what is asked there is another thing elsewhere."""


@dataclass
class Record:
    """Everything that one check saw, in order."""

    visible: bool = True
    """Whether feedback may show what the submission said: numbers, shapes, names, exceptions."""
    exercise: str = ""
    check: str = ""
    """The check's name, in words."""
    measured: bool = False
    """Whether it rests on what our code measured beside the submission, or looks for an exercise's technique."""
    calls: list[Call] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    ended_by: LearnerError | None = None
    raised: str = ""
    """The exception that the check itself raised: it could not work with an answer, or is wrong."""
    asked: str = ""
    """The case of a scenario that runs now, or that ended the check."""
    seconds: float = 0.0
    """What the check took, to the judge, waiting included."""
    enough: Callable[[Record], bool] | None = None
    """Asked after each comparison: whether the check may end there."""
    cut: bool = False
    """Whether it did: what this record holds is the beginning of what there is to see."""

    def note(self, comparison: Comparison) -> None:
        """Keep what one expectation saw. `Enough` where nobody wants to know the rest."""
        self.comparisons.append(comparison)
        if self.enough and self.enough(self):
            raise Enough

    @property
    def failures(self) -> list[Comparison]:
        return [comparison for comparison in self.comparisons if comparison.problems]

    @property
    def passed(self) -> bool:
        return bool(self.comparisons) and not self.failures and self.ended_by is None

    @property
    def cost(self) -> float:
        """What share of its exercise a failing check may cost; less than 1 where all values are right."""
        return 1.0 if self.ended_by is not None else max((failure.slip for failure in self.failures), default=1.0)


class Enough(BaseException):
    """Ends a check of which enough was seen. None of the errors that a check may expect."""


_records: list[Record] = []


@contextmanager
def recording(
    visible: bool = True,
    exercise: str = "",
    measured: bool = False,
    enough: Callable[[Record], bool] | None = None,
    check: str = "",
) -> Iterator[Record]:
    """Collect what the expectations inside see, in a `check` of `exercise`, until it is `enough`."""
    record = Record(visible, exercise, check, measured, enough=enough)
    _records.append(record)
    began = time.perf_counter()
    try:
        yield record
    except Enough:
        record.cut = True
    finally:
        record.seconds = time.perf_counter() - began
        record.enough = None
        _records.remove(record)


def current_record() -> Record:
    """The record of the check that runs now. `RuntimeError` outside of one."""
    if not _records:
        raise RuntimeError("expectations work only inside a check")
    return _records[-1]


def exercise(name: str, *, visible: bool = True, promise: str = "value") -> Callable[[Any], Any]:
    """Mark a check (or an oracle) as one of the exercise `name`.

    `visible=False`: only on hidden inputs. `promise`: `"value"` (the judge compares numbers) or `"instrumented"`
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
        names: what the outputs are called in feedback; as many as `expected` has, where it is a tuple.
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
    problems = tuple(_problems(got, expected, names, rtol, atol, call))
    right = bool(problems) and all(
        mismatch(_typed(mine, its), its, name=name, rtol=rtol, atol=atol) is None
        for name, mine, its in paired(got, expected, names)
    )
    slip = OF_ANOTHER_TYPE if right else 1.0
    record.note(Comparison(got, expected, names, case, call, rtol, atol, problems, slip=slip))


def expect(condition: bool, message: str, *, case: str = "", instead: str = "") -> None:
    """Expect a property; `message` says what is wrong when it does not hold, `instead` in which way, to tell mistakes.

    Two mistakes without the property look the same where nothing else is compared and nothing is said of them.
    """
    _expect_property(bool(condition), bool(condition) or instead, message, case)


def _expect_property(condition: bool, got: Any, message: str, case: str) -> None:
    """`got` tells one way not to have the property from another."""
    record = current_record()
    call = record.calls[-1] if record.calls else None
    problems = () if condition else (message,)
    comparison = Comparison(got, True, (), case, call, 0.0, 0.0, problems, property_only=True, place=_place_of_asking())
    record.note(comparison)


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


def _place_of_asking() -> tuple[str, int]:
    """The file and the line of the innermost code outside of this module; the file from its lesson's folder on.

    So it is the same wherever a course lies.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return "/".join(frame.f_code.co_filename.replace("\\", "/").split("/")[-3:]), frame.f_lineno


def as_arrays(value: Any) -> Any:
    """The value with its tensors as arrays; a dtype that NumPy lacks (bfloat16) as float32."""
    if isinstance(value, tuple | list):
        return type(value)(as_arrays(item) for item in value)
    if isinstance(value, dict):
        return {key: as_arrays(item) for key, item in value.items()}
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return value
    return (value.float() if value.dtype is torch.bfloat16 else value).numpy(force=True)


def has_tensors(value: Any) -> bool:
    """Whether there is a PyTorch tensor in a value."""
    if isinstance(value, tuple | list):
        return any(map(has_tensors, value))
    if isinstance(value, dict):
        return any(map(has_tensors, value.values()))
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _typed(got: Any, expected: Any) -> Any:
    """What was returned in the type of what is expected, if no value changes: a dtype; 1 for True, 5.0 for 5."""
    if isinstance(expected, bool):
        return bool(got) if type(got) is int and got in (0, 1) else got
    if type(expected) is int and isinstance(got, float | np.floating):
        return int(got) if got.is_integer() else got
    typed = np.ndarray | np.generic  # 0-d arrays become scalars as soon as they are computed with
    arrays = isinstance(got, typed) and isinstance(expected, typed)
    if not arrays or not {got.dtype.kind, expected.dtype.kind} <= set("fiu"):
        return got
    with np.errstate(all="ignore"):
        typed_got = got.astype(expected.dtype)
        return typed_got if expected.dtype.kind == "f" or (typed_got == got).all() else got


def paired(got: Any, expected: Any, names: tuple[str, ...]) -> list[tuple[str, Any, Any]]:
    """Name, got and expected of each output; the whole as one where the structures differ."""
    if isinstance(expected, dict) and isinstance(got, dict) and got.keys() == expected.keys():
        return [(str(key), got[key], expected[key]) for key in expected]
    several = isinstance(expected, tuple | list) and isinstance(got, tuple | list)
    if several and len(got) == len(expected) == len(names):
        return list(zip(names, got, expected, strict=True))
    return [(names[0] if len(names) == 1 else "the result", got, expected)]


def _problems(
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
