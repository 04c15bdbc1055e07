"""Calls that would do an exercise's work for the learner: they raise when the submission makes them.

A function of Python code is watched where it is, in its code: so it is under every name, in every closure. An operation
of PyTorch's (`torch.ops.aten.gelu`) is watched in PyTorch's dispatcher, below all modes and Python. Who calls is told
by code objects that were noted before the first cell, not by names of files, which a submission may choose.
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
"""The name under which scenarios say which watched functions they call themselves."""
GRADCHECK = "torch.autograd.gradcheck"
"""The module through which a scenario may do so."""

ENOUGH = 6
"""How many names make a function one that nobody else writes by accident."""
LACKING = 12
"""One name in so many may be lacking where a function is a copy; how many more it has is no matter. Of 19,000 functions
in answers, right and wrong, and in this repository none has half of a watched one's names; of 84,000 in PyTorch and
NumPy the nearest that is not watched as well has 10 of 11."""


MOST_KEPT = 100
"""Things of which it is noted whether they are still there, for each function; with more of them it is taken for so."""


class ForbiddenCall(RuntimeError):
    """The submission called what its exercise does not allow."""


class Guard:
    """Watches functions, operations and the making of objects of classes, that some exercise forbids.

    From `watch` to the first call all of them are refused: what cells make, all exercises have. A call is refused what
    its exercise forbids. One that leaves something which does such work makes this process `stale` for others.

    Any call is the submission's, but for those that a scenario makes itself: of what its `MAY_CALL` names, with nothing
    between the two but PyTorch's functions for that. Not even a backward pass: what runs in one is the submission's.
    """

    def __init__(self, scenarios: dict[str, Any]) -> None:
        self.called: list[str] = []
        """What was called and refused, in order."""
        self._scenarios = scenarios
        self._forbidden: frozenset[str] = frozenset()
        self._forbidden_in: dict[str, list[str]] = {}
        """The watched names, and the exercises that forbid each."""
        self._cells_run = False
        self._kernels = Kernels(self._refuse)
        self._engine = Engine(self._refuse)
        self._keepsakes = Keepsakes()
        self._kept: dict[str, list[Callable[[], bool]]] = {}
        """Watched functions that were called where they may be and left what does such work; is it still there?"""
        self._gated: set[int] = set()
        """The code that has the gates."""
        self._inside: set[int] = set()
        """The code behind them."""
        self._gates: dict[str, list[tuple[FunctionType, CodeType, Held]]] = {}
        self._replaced: list[tuple[str, Any, str, Any]] = []
        self._copies: dict[frozenset[str], str] = {}
        """What the code of a watched function speaks of, to its name."""
        self._copied: set[str] = set()
        """The watched functions of which the submission has copies."""
        self._audited = False
        self._may_call: frozenset[str] = frozenset()
        self._ours: set[int] = set()
        self._between: set[int] = set()
        self._held: list[CodeType] = []  # so that no other code object can have the address of one of these

    @property
    def forbidden(self) -> frozenset[str]:
        """What the exercise that is called now forbids."""
        return self._forbidden

    @forbidden.setter
    def forbidden(self, names: frozenset[str]) -> None:
        if self._cells_run:
            self._cells_run = False
            self._engine.refuse_only(frozenset())
            if self._engine.others():  # somebody has switched the refusal off
                self._copied.add(ENGINE)
        if names != self._forbidden:
            self._forbidden = names
            self._kernels.refuse_only(names)

    @property
    def stale(self) -> bool:
        """Whether an earlier call has kept something that the exercise which is called now must not have."""
        if self._kept.keys().isdisjoint(self._forbidden) or not self._still_kept():
            return False
        gc.collect()
        return self._still_kept()

    def _still_kept(self) -> bool:
        return any(there() for name, kept in self._kept.items() if name in self._forbidden for there in kept)

    def watch(self, forbidden_in: dict[str, list[str]]) -> None:
        """Put a watch on functions that exercises forbid, and refuse all of them until the first call.

        Args:
            forbidden_in: full names, `torch.utils.checkpoint.checkpoint`, and the exercises that forbid each. A name
                that is not there is left out; a module's stands for all functions and classes that are written in it,
                and `torch.ops.*.*gelu*` for all operations of that kind.
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
                self._put_in_place(name, owner, attribute, target)
        self._note_ours()
        if self._copies and not self._audited:
            sys.addaudithook(self._audit)
            self._audited = True
        self.forbidden = frozenset(names)
        if ENGINE in names:
            self._engine.watch()
        self._engine.refuse_only(self.forbidden)
        self._cells_run = True

    @contextmanager
    def call(self) -> Iterator[None]:
        """Around a call: `ForbiddenCall` where the submission has a copy of what is forbidden now.

        And where backward passes ran, in whatever thread, that no watched function began.
        """
        self._engine.count()
        self._refuse_copies()
        try:
            yield
        finally:
            if self._engine.others():
                if ENGINE in self._forbidden:
                    self._refuse(ENGINE)
                self._kept[ENGINE] = [lambda: True]  # their operations may have been noted

    def _refuse_copies(self) -> None:
        for name in sorted(self._copied & self._forbidden):
            self._refuse(name)

    def undone(self) -> list[str]:
        """The names of watched functions that are no longer what `watch` has made of them."""
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
        if len(said := _said(before)) >= ENOUGH:
            self._copies[said] = name
        if name in self._may_call:
            self._note(self._between, [code, *codes_inside(before)])

    def _put_in_place(self, name: str, owner: Any, attribute: str, target: Callable[..., Any]) -> None:
        """Put a function of ours in the place of one that is not written in Python: an operation's, for the most part.

        Where it is to be had under other names, its operation is forbidden as well.
        """

        def call(*args: Any, **kwargs: Any) -> Any:
            self._check(name)
            result = target(*args, **kwargs)
            self._note_kept(name, False, args, result)
            return result

        call.__name__ = call.__qualname__ = attribute
        call.__doc__ = target.__doc__
        call.__module__ = getattr(target, "__module__", None) or ""
        setattr(owner, attribute, call)
        self._replaced.append((name, owner, attribute, call))

    def _note_ours(self) -> None:
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
        if name in self._forbidden and not (name in self._may_call and self._asked_by_us(sys._getframe(2))):
            self._refuse(name)
        self._engine.note_begun(name)

    def _refuse(self, name: str) -> None:
        self.called.append(name)
        if not self._cells_run:
            raise ForbiddenCall(f"{name} does the work of this exercise")
        where = " and ".join(self._forbidden_in.get(name, [])[:3])
        raise ForbiddenCall(f"{name} is forbidden in {where}, so it is refused while the cells run")

    def _note_kept(self, name: str, makes_an_object: bool, args: tuple[Any, ...], result: Any) -> None:
        """Note what a call of a watched function leaves to a submission: not to another one of them, nor to us."""
        self._engine.note_ended(name)
        if name in self._forbidden:  # then it was our call
            return
        left = self._keepsakes.left_as(args[0]) if makes_an_object and args else self._keepsakes.left_by(result)
        if left is None:
            return
        caller: FrameType | None = sys._getframe(2)
        if caller is not None and id(caller.f_code) in self._gated:
            caller = caller.f_back
        if caller is None or not (id(caller.f_code) in self._inside or self._asked_by_us(caller)):
            kept = [there for there in self._kept.get(name, []) if there()]
            self._kept[name] = [*kept, left] if len(kept) < MOST_KEPT else [lambda: True]

    def _asked_by_us(self, frame: FrameType | None) -> bool:
        while frame is not None and id(frame.f_code) in self._between:
            frame = frame.f_back
        return frame is not None and id(frame.f_code) in self._ours

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse copies of a watched function: code with the same names that is executed or put into a function."""
        if event == "exec" or event == "function.__new__":
            code = arguments[0]
        elif event == "object.__setattr__" and arguments[1] == "__code__":
            code = arguments[2]
        else:
            return
        if isinstance(code, CodeType):
            for inner in codes_inside(code):
                said = _said(inner)
                copied = {name for names, name in self._copies.items() if len(names - said) * LACKING <= len(names)}
                if copied:
                    self._copied |= copied
                    self._refuse_copies()


def _said(code: CodeType) -> frozenset[str]:
    """What code speaks of, whatever it is called and wherever it stands: the same source has it, in any file.

    Its operations need not be the same: they depend on what the module imports.
    """
    return frozenset((*code.co_names, *code.co_varnames, *code.co_freevars))
