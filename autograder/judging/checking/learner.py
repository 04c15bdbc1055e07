"""The `learner` fixture: the submission's functions as a check calls them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from autograder.judging.asking.run import Run, request_of
from autograder.judging.checking import layouts
from autograder.judging.checking.expectations import as_arrays, has_tensors
from autograder.judging.checking.reference import Reference
from autograder.judging.records.errors import Forbidden, LearnerError, Missing, Raised, Undefined, read_failure, text_of
from autograder.judging.records.record import CHANGED, Call, Comparison, current_record
from autograder.wording import enumeration
from autograder.worker.execution import Failure
from autograder.worker.messages import Answer
from autograder.worker.messages import Call as CallRequest
from course.syllabus import Lesson

STUB = re.compile(r"(([\w.]+)(?: \([^)]*\))?): your code here")
"""The message of a stub, for a whole exercise or for a part of it."""
_ON_META = re.compile(r"\bmeta tensors?\b|\bdevices?\b.*\bmeta\b")
"""PyTorch's error messages about tensors on the device "meta", which have no numbers."""


class Learner:
    """`learner.matmul_vjp(g, A, B)` calls the function in the submission's process and returns plain data.

    `learner.scenario.chain(5)` runs a scenario beside the submission, for objects that cannot cross a process boundary.
    Both raise a `LearnerError` if there is no value. An argument that the call changed is recorded as a failure.
    """

    def __init__(self, lesson: Lesson, run: Run, reference: Reference, *, drawn: bool = False) -> None:
        self._lesson = lesson
        self._run = run
        self._reference = reference
        self._drawn = drawn
        """Whether a check of the exercise draws arguments of every kind, so that others need not ask about layouts."""
        self._layout = ""
        self._layouts: dict[str, list[str]] = {}
        """By function: the layouts that this check still asks about."""

    @property
    def scenario(self) -> _Scenarios:
        """The lesson's scenarios, run on the exercise of the current check."""
        return _Scenarios(self)

    def in_layout(self, layout: str) -> Learner:
        """The same functions and scenarios, called with arrays in a layout that `worker.layout.arranged` describes.

        Calls with data alone are repeated in other layouts anyway; those that pass functions are not, because checks
        may count how often the functions are called.
        """
        learner = Learner(self._lesson, self._run, self._reference, drawn=self._drawn)
        learner._layout = layout
        return learner

    def forget(self) -> None:
        """Make later calls in a new process, which has run the cells and remembers no earlier call.

        Use it when the answer to an earlier question gives away the next one. Handles of the old process become
        invalid. The new process may still know all visible inputs, so anything it must not know has to be hidden.
        """
        self._run.forget()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            exercise = self._lesson.whole.exercise(name)  # a check may call an exercise that the course provides
        except KeyError:
            raise AttributeError(f"{self._lesson.slug} has no exercise {name!r}") from None

        def call(*args: Any, **kwargs: Any) -> Any:
            names = _argument_names(self._reference.signatures.get(name), args, kwargs)
            values = (*args, *kwargs.values())
            named = tuple(zip(names, as_arrays(values), strict=True))
            call = Call(name, named, positional=len(args), tensors=has_tensors(values))
            current_record().calls.append(call)
            request = request_of(name, list(args), kwargs, forbidden=exercise.forbidden, layout=self._layout)
            value = self._value(name, names, self._run.ask(request, exercise.seconds))
            if self._layout:
                return value
            left = self._layouts.setdefault(name, [] if self._drawn else layouts.layouts_for(current_record()))
            if left and layouts.matters_for(values, left[0]) and layouts.is_data(value):
                again = request_of(name, list(args), kwargs, forbidden=exercise.forbidden, layout=left[0])
                self._compare_layouts(again, left.pop(0), names, value, exercise.seconds)
            return value

        return call

    def _compare_layouts(self, again: CallRequest, layout: str, names: list[str], value: Any, seconds: float) -> None:
        """Expect the answer `value` to the same call with arguments in another layout, too."""
        error = ""
        try:
            other = self._value(again["name"], names, self._run.ask(again, seconds))
            if not layouts.differs(other, value):
                return
        except Raised as raised:
            error = str(raised)
        call = current_record().calls[-1]
        problem = layouts.told(call, layout, error)
        got, place = error or "other numbers", (layouts.__name__, 0)
        current_record().comparisons.append(
            Comparison(got, True, (), "", call, 0.0, 0.0, (problem,), property_only=True, place=place)
        )

    def run_scenario(self, name: str, args: tuple[Any, ...]) -> Any:
        """The result of the scenario `name`. Raises `LearnerError` if it raises or the exercise is missing."""
        record = current_record()
        exercise = self._lesson.exercise(record.exercise)
        names = _argument_names(_signature(self._reference.scenarios[name]), (None, *args), {})[1:]
        record.calls.append(Call(name, tuple(zip(names, as_arrays(args), strict=True)), scenario=True))
        request = request_of(
            exercise.name, list(args), scenario=name, forbidden=exercise.forbidden, layout=self._layout
        )
        answer = self._run.ask(request, exercise.seconds)
        return self._value(exercise.name, names, answer)

    def _value(self, name: str, names: list[str], answer: Answer) -> Any:
        if answer.get("missing") is True:
            others = {exercise.name for exercise in self._lesson.exercises}
            why = self._run.source.why_missing(name, others)
            raise Undefined(why) if self._run.source.tried_to_define(name) else Missing(why)
        failure, forbidden = answer.get("failure"), answer.get("forbidden")
        called = answer.get("called")
        if failure is not None and isinstance(called, list) and called:
            raise _forbidden_call(name, called[0], read_failure(failure))
        if failure is not None:
            raise explain(name, read_failure(failure), forbidden, self._run)
        changed = answer.get("changed")
        if isinstance(changed, list):
            said = {i for i in changed if isinstance(i, int)}
            touched = [name for i, name in enumerate(names) if i in said]  # each name once, even if reported twice
            if touched:
                self._record_change(name, touched)
        replaced = answer.get("replaced")
        if isinstance(replaced, list) and replaced:
            self._record_replaced(replaced[0])
        return answer.get("value")

    def _record_replaced(self, what: Any) -> None:
        record = current_record()
        record.replaced = True
        problem = f"The submission replaces {text_of(what, 80) or 'a function'}: what is measured would not be true."
        record.comparisons.append(
            Comparison(False, True, (), "", record.calls[-1], 0.0, 0.0, (problem,), property_only=True)
        )

    def _record_change(self, name: str, touched: list[str]) -> None:
        record = current_record()
        what = f"its argument {touched[0]}" if len(touched) == 1 else f"its arguments {enumeration(touched)}"
        problem = f"{name} changed {what}. Work on a copy: the caller still needs the original."
        record.comparisons.append(
            Comparison(False, True, (), "", record.calls[-1], 0.0, 0.0, (problem,), property_only=True, cost=CHANGED)
        )


class _Scenarios:
    """Attribute access to a lesson's scenarios."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args: self._learner.run_scenario(name, args)


_signature = cache(inspect.signature)
"""A scenario's; to read it takes longer than many calls."""


def _argument_names(signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """The parameter name of each argument; "argument 2" for positional ones beyond the signature."""
    parameters = list(signature.parameters) if signature else []
    positional = [parameters[i] if i < len(parameters) else f"argument {i + 1}" for i in range(len(args))]
    return positional + list(kwargs)


def explain(name: str, failure: Failure, forbidden: Any, run: Run) -> LearnerError:
    """The error that reports an exception of the learner's function; its message is never shown for hidden inputs."""
    where = f" ({failure.place})" if failure.place else ""
    if failure.kind == "NotImplementedError" and not _raised_by_library(failure.message, run):
        stub = STUB.fullmatch(failure.message)
        told = _unwritten_message(name, stub, where) + run.source.defined_again(name)
        return Missing(told, stub[1] if stub else "")
    if _ON_META.search(failure.message) and not run.source.says(failure.message):
        why = "which has a shape and no numbers: make it on the CPU"
        return Raised(f"{name} makes or uses a tensor on the device 'meta', {why}{where}.", failure)
    if failure.kind == "UnreadableResult":
        return Raised(f"{name} returned something that cannot be graded: {failure.message}.", failure)
    if isinstance(forbidden, list) and forbidden:
        what = text_of(forbidden[0], 60) or "a package"
        return Forbidden(f"{name} imports {what}, which this lesson does not allow{where}.")
    if not failure.place and current_record().calls and current_record().calls[-1].scenario:
        why = f": {failure.message} ({failure.kind})" if failure.message else f": {failure.kind}"
        of_none = re.search(r"'NoneType' object (has no attribute|does not support)", failure.message)
        asked = " Does a function of yours end without `return`? Then it gives None." if of_none else ""
        return Raised(f"The check of {name} could not go on{why}.{asked}", failure)
    message = (
        f"{name} raised {failure.kind}: {failure.message}{where}."
        if failure.message
        else (f"{name} raised {failure.kind}{where}.")
    )
    line = f" That line is: {failure.line}" if failure.line else ""
    again = run.source.defined_again(name)
    return Raised(message + line + again + run.source.hint_about(failure), failure)


def _forbidden_call(name: str, called: Any, failure: Failure) -> Forbidden:
    """The error that reports a call to a function that the exercise forbids."""
    what = text_of(called, 80)
    where = f" ({failure.place})" if failure.place else ""
    if what == "sys.setrecursionlimit":
        return Forbidden(
            f"{name} calls {what}{where}. How deep calls may go differs from machine to machine: use a stack."
        )
    call = f"{what}, which does this exercise's work" if what else "a function that does this exercise's work"
    return Forbidden(f"{name} calls {call}{where}. Write it yourself.")


def _raised_by_library(message: str, run: Run) -> bool:
    """Whether a NotImplementedError comes from a library, such as PyTorch, rather than from the submission."""
    return bool(message) and not STUB.fullmatch(message) and not run.source.says(message)


def _unwritten_message(name: str, stub: re.Match[str] | None, where: str) -> str:
    """Message that names what is unwritten: the exercise, a part of it, or another exercise that it uses."""
    if stub is None:
        return f"{name} is not written yet: it ends in a NotImplementedError{where}."
    return f"{stub[1]} is not written yet." if stub[2] == name else f"{name} uses {stub[1]}, which is not written yet."
