"""Forbidden calls, which would do an exercise's work for the learner: they raise when the submission makes them.

A Python function is watched by replacing its code object, so every name and closure that refers to it is covered. A
PyTorch operation (`torch.ops.aten.gelu`) is watched in PyTorch's dispatcher, below all modes and Python. Callers are
recognised by code objects recorded before the first cell, not by file names, which a submission can choose.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from autograder.worker.engine import NAME as ENGINE
from autograder.worker.engine import Engine
from autograder.worker.functions import (
    GATE,
    Held,
    all_behind,
    codes_inside,
    held_by,
    held_still,
    resolve,
    with_gate,
    written_in,
)
from autograder.worker.keepsakes import Keepsakes
from autograder.worker.kernels import Kernels, is_pattern

MAY_CALL = "MAY_CALL"
"""The scenarios' variable that lists the watched functions they call themselves."""
GRADCHECK = "torch.autograd.gradcheck"
"""The module through which a scenario may make such calls."""

ENOUGH = 6
"""A function with at least this many names is not written twice by accident."""
LACKING = 12
"""A copy may lack one in this many of the original's names, and have any number of others. Of 19,000 functions in
answers and in this repository, none has half of a watched function's names; of 84,000 in PyTorch and NumPy, the nearest
unwatched one has 10 of 11."""


MOST_KEPT = 100
"""At most this many results of each function are tracked; beyond it, we assume that some are still alive."""


class ForbiddenCall(RuntimeError):
    """The submission called a function that its exercise forbids."""


class Guard:
    """Watches the functions, operations and classes that some exercise forbids, and refuses the submission's calls.

    From `watch` to the first call all of them are refused, because all exercises share what the cells make. During a
    call, only those that its exercise forbids are refused. An allowed call that leaves an object which could do
    forbidden work makes this process `stale` for other exercises.

    Every call counts as the submission's, except that a scenario may itself call what its `MAY_CALL` lists. Between the
    scenario and that call only PyTorch's own wrappers may be on the stack; code run in a backward pass counts as the
    submission's.
    """

    def __init__(self, scenarios: dict[str, Any]) -> None:
        self.called: list[str] = []
        """The names of refused calls, in order."""
        self._scenarios = scenarios
        self._forbidden: frozenset[str] = frozenset()
        self._forbidden_in: dict[str, list[str]] = {}
        """Each watched name, with the exercises that forbid it."""
        self._cells_run = False
        self._kernels = Kernels(self._refuse)
        self._engine = Engine(self._refuse)
        self._keepsakes = Keepsakes()
        self._kept: dict[str, list[Callable[[], bool]]] = {}
        """By watched function: for each object that an allowed call left, a function that tells if it is alive."""
        self._gated: set[int] = set()
        """Ids of the code objects that contain a gate."""
        self._inside: set[int] = set()
        """Ids of the original code behind the gates."""
        self._gates: dict[str, list[tuple[FunctionType, CodeType, Held]]] = {}
        self._replaced: list[tuple[str, Any, str, Any]] = []
        self._originals: dict[str, Any] = {}
        self._copies: dict[frozenset[str], str] = {}
        """The names used in a watched function's code, to the function's own name."""
        self._copied: set[str] = set()
        """The watched functions that the submission has copied."""
        self._audited = False
        self._may_call: frozenset[str] = frozenset()
        self._ours: set[int] = set()
        self._between: set[int] = set()
        self._held: list[CodeType] = []  # keeps them alive, so that no other code object can get the same id

    @property
    def forbidden(self) -> frozenset[str]:
        """The names that the current exercise forbids."""
        return self._forbidden

    @forbidden.setter
    def forbidden(self, names: frozenset[str]) -> None:
        if self._cells_run:
            self._cells_run = False
            self._kernels.watch_new()
            self._engine.refuse_only(frozenset())
            if self._engine.others():  # a cell has switched the refusal off
                self._copied.add(ENGINE)
        if names != self._forbidden:
            self._forbidden = names
            self._kernels.refuse_only(names)

    @property
    def stale(self) -> bool:
        """Whether an object that an earlier call left is alive and forbidden in the current exercise."""
        if self._kept.keys().isdisjoint(self._forbidden) or not self._still_kept():
            return False
        gc.collect()
        return self._still_kept()

    def _still_kept(self) -> bool:
        return any(there() for name, kept in self._kept.items() if name in self._forbidden for there in kept)

    def watch(self, forbidden_in: dict[str, list[str]]) -> None:
        """Watch functions that exercises forbid, and refuse all of them until the first call.

        Args:
            forbidden_in: full names such as `torch.utils.checkpoint.checkpoint`, with the exercises that forbid each.
                Unknown names are skipped. A module's name covers all functions and classes defined in it, and
                `torch.ops.*.*gelu*` all operations that match.
        """
        self._forbidden_in = dict(forbidden_in)
        names = list(forbidden_in)
        self._may_call = frozenset(self._scenarios.get(MAY_CALL, ()))
        self._keepsakes = Keepsakes()
        for name in names:
            if is_pattern(name):
                self._forbidden_in |= dict.fromkeys(self._kernels.watch_all(name), forbidden_in[name])
                continue
            try:
                owner, attribute, target = resolve(name)
            except (ImportError, AttributeError):  # another version of the package
                continue
            if Kernels.is_operation(target):
                self._kernels.watch(name, target)
                continue
            for function in written_in(target):
                self._gate(name, function)
            if isinstance(target, type) and "__init__" not in vars(target):
                owner, attribute, target = target, "__init__", target.__init__  # type: ignore[misc]
            if not isinstance(target, type | FunctionType | ModuleType):
                self._replace(name, owner, attribute, target)
        self._note_scenarios()
        if self._copies and not self._audited:
            sys.addaudithook(self._audit)
            self._audited = True
        self.forbidden = frozenset(names)
        if ENGINE in names:
            self._engine.watch()
        self._engine.refuse_only(self.forbidden)
        self._cells_run = True

    def let_go(self) -> None:
        """Put back the functions that `watch` has replaced, for another guard in this process. Gates stay."""
        for name, owner, attribute, value in self._replaced:
            if getattr(owner, attribute, None) is value:
                setattr(owner, attribute, self._originals[name])
        self._replaced.clear()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Wrap one call to the submission.

        Raises:
            ForbiddenCall: the submission has a copy of a forbidden function, or a backward pass ran, in any thread,
                that no watched function began.
        """
        self._engine.count()
        self._refuse_copies()
        try:
            yield
        finally:
            if self._engine.others():
                if ENGINE in self._forbidden:
                    self._refuse(ENGINE)
                self._kept[ENGINE] = [lambda: True]  # the submission may have recorded their operations

    def _refuse_copies(self) -> None:
        for name in sorted(self._copied & self._forbidden):
            self._refuse(name)

    def undone(self) -> list[str]:
        """The names of watched functions whose gate has been removed or altered since `watch`."""
        found = [
            name
            for name, gates in self._gates.items()
            if any(one.__code__ is not code or not held_still(held) for one, code, held in gates)
        ]
        return found + [name for name, owner, key, value in self._replaced if getattr(owner, key, None) is not value]

    def _gate(self, name: str, function: FunctionType) -> None:
        if any(function is known for gates in self._gates.values() for known, _, _ in gates):
            return
        before = function.__code__
        makes_an_object = function.__name__ in ("__init__", "__new__")
        code = with_gate(function, partial(self._check, name), partial(self._note_kept, name, makes_an_object))
        self._note(self._gated, [code])
        self._note(self._inside, codes_inside(before))
        self._gates.setdefault(name, []).append((function, code, held_by(code)))
        if len(said := _names_in(before)) >= ENOUGH:
            self._copies[said] = name
        if name in self._may_call:
            self._note(self._between, [code, *codes_inside(before)])

    def _replace(self, name: str, owner: Any, attribute: str, target: Callable[..., Any]) -> None:
        """Replace a function that is not written in Python, usually one that calls an operation.

        Other names may still refer to the original, so exercises forbid its operation as well.
        """

        def call(*args: Any, **kwargs: Any) -> Any:
            self._check(name)
            result = target(*args, **kwargs)
            self._note_kept(name, False, args, result)
            return result

        call.__name__ = call.__qualname__ = attribute
        call.__doc__ = target.__doc__
        call.__module__ = getattr(target, "__module__", None) or ""
        self._originals[name] = target
        setattr(owner, attribute, call)
        self._replaced.append((name, owner, attribute, call))

    def _note_scenarios(self) -> None:
        module = self._scenarios.get("__name__", "builtins")
        for value in list(self._scenarios.values()):
            for function in all_behind(value, module):
                if function.__globals__ is self._scenarios:
                    self._note(self._ours, codes_inside(function.__code__))
        self._note(self._between, [GATE])
        gradcheck = sys.modules.get(GRADCHECK)
        if gradcheck is not None and self._may_call:
            for function in written_in(gradcheck):
                self._note(self._between, codes_inside(function.__code__))

    def _note(self, known: set[int], codes: Iterable[CodeType]) -> None:
        for code in codes:
            self._held.append(code)
            known.add(id(code))

    def _check(self, name: str) -> None:
        if name in self._forbidden and not (name in self._may_call and self._called_by_scenario(sys._getframe(2))):
            self._refuse(name)
        self._engine.note_begun(name)

    def _refuse(self, name: str) -> None:
        self.called.append(name)
        if not self._cells_run:
            raise ForbiddenCall(f"{name} does the work of this exercise")
        where = " and ".join(self._forbidden_in.get(name, [])[:3])
        raise ForbiddenCall(f"{name} is forbidden in {where}, so it is refused while the cells run")

    def _note_kept(self, name: str, makes_an_object: bool, args: tuple[Any, ...], result: Any) -> None:
        """Record what a watched function left with the submission; ignore calls by watched functions or scenarios."""
        self._engine.note_ended(name)
        if name in self._forbidden:  # it was let through, so a scenario made the call
            return
        left = self._keepsakes.left_as(args[0]) if makes_an_object and args else self._keepsakes.left_by(result)
        if left is None:
            return
        caller: FrameType | None = sys._getframe(2)
        if caller is not None and id(caller.f_code) in self._gated:
            caller = caller.f_back
        if caller is None or not (id(caller.f_code) in self._inside or self._called_by_scenario(caller)):
            kept = [there for there in self._kept.get(name, []) if there()]
            self._kept[name] = [*kept, left] if len(kept) < MOST_KEPT else [lambda: True]

    def _called_by_scenario(self, frame: FrameType | None) -> bool:
        while frame is not None and id(frame.f_code) in self._between:
            frame = frame.f_back
        return frame is not None and id(frame.f_code) in self._ours

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse copies of a watched function, that is, code with the same names, when run or put into a function."""
        if event == "exec" or event == "function.__new__":
            code = arguments[0]
        elif event == "object.__setattr__" and arguments[1] == "__code__":
            code = arguments[2]
        else:
            return
        if isinstance(code, CodeType):
            for inner in codes_inside(code):
                said = _names_in(inner)
                copied = {name for names, name in self._copies.items() if len(names - said) * LACKING <= len(names)}
                if copied:
                    self._copied |= copied
                    self._refuse_copies()


def _names_in(code: CodeType) -> frozenset[str]:
    """The names that code uses, which identify its source under any function name and in any file.

    Bytecode would not do: it depends on what the module imports.
    """
    return frozenset((*code.co_names, *code.co_varnames, *code.co_freevars))
