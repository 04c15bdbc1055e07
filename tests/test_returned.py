"""In every scenario, results of a submission are read with PyTorch's own functions."""

from __future__ import annotations

import ast
from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.worker import wire
from autograder.worker.returned import array, backward, plain
from course.instruments.live import LiveStorages, storage_bytes

LESSONS = sorted({file.parent.parent for file in Path("autograder/lessons").glob("*/scenarios/*.py")})
TAKERS = {"plain", "array", "_data"}
"""Functions that validate a value, after which it may be used."""
ASK_NOTHING = {
    "isinstance",
    "len",
    "type",
    "callable",
    "_requires_grad",
    "_of_result",
    "_has_graph",
    "_of",
    "storage_of",
    "storage_bytes",
}
GIVE_NUMBERS = {"shape", "dtype", "ndim", "requires_grad", "is_leaf", "bytes", "training", "nbytes", "itemsize", "name"}
"""Attributes of tensors that no instance can override, and attributes of other objects."""
BEGIN_PASSES = {"torch.autograd.grad", "torch.autograd.backward", "_grad"}
OF_MODULES = {
    *("modules", "named_modules", "parameters", "named_parameters", "train", "eval", "zero_grad", "state_dict"),
    *("load_state_dict", "register_forward_hook", "double"),
}
"""Methods of a submission's network that scenarios may call, because their results are validated too."""


class Subclass(torch.Tensor):
    pass


def with_attribute() -> torch.Tensor:
    tensor = torch.ones(2)
    tensor.detach = lambda: torch.zeros(2)  # type: ignore[method-assign]
    return tensor


def test_a_tensor_with_attributes_is_refused() -> None:
    told = r"^returned a tensor with attributes of its own \(detach\): return a plain tensor$"
    for value in (with_attribute(), [with_attribute()], (1, {"a": with_attribute()})):
        for take in (plain, array):
            with pytest.raises(TypeError, match=told):
                take(value)
    with pytest.raises(TypeError, match=told):
        backward(with_attribute())


def test_a_tensor_of_a_class_of_its_own_is_refused() -> None:
    told = r"^returned a tensor of a class of its own \(\w+\): return a plain tensor$"
    disguised = type("Disguised", (), {"__class__": torch.Tensor})()
    for value in (torch.ones(2).as_subclass(Subclass), disguised):
        with pytest.raises(TypeError, match=told):
            plain(value)


def test_what_is_plain_comes_back_as_it_is() -> None:
    pair = namedtuple("pair", "a b")
    for value in (torch.ones(2), torch.nn.Parameter(torch.ones(2)), None, 3.0, "text", [torch.ones(1)], {"a": 1}):
        assert plain(value) is value
    assert type(plain(pair(1, 2))) is tuple
    assert type(plain(OrderedDict(a=1))) is dict
    np.testing.assert_array_equal(array(torch.ones(2, requires_grad=True)), np.ones(2))


def test_reading_is_nobody_elses() -> None:
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return torch.zeros(2)

    ones = torch.ones(2)
    with Mode():
        read = array(ones)
    np.testing.assert_array_equal(read, np.ones(2))


def test_instruments_ask_no_attribute() -> None:
    """A storage also accepts attributes, and stays the same object."""
    with LiveStorages() as live:
        tensor = torch.ones(1000)
        tensor.untyped_storage().nbytes = lambda: 0  # type: ignore[method-assign]
        tensor.untyped_storage = lambda: torch.ones(1).untyped_storage()  # type: ignore[method-assign]
        other = torch.Tensor.mul_(tensor, 2)
        assert live.bytes == storage_bytes([other]) == 4000


def test_a_tensor_with_attributes_is_not_sent() -> None:
    def refer(value: Any) -> Any:
        raise AssertionError

    with pytest.raises(wire.WireError, match="a tensor with attributes"):
        wire.encode(with_attribute(), refer)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_no_scenario_calls_a_method_of_what_was_returned(lesson: Path) -> None:
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(lesson.glob("scenarios/*.py"))}
    trees = {file: tree for file, tree in trees.items() if _imports_torch(tree)}
    functions = [one for tree in trees.values() for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    givers: set[str] = set()
    while True:
        found = {one.name for one in functions if _Returned(one, givers).gives()} - TAKERS - ASK_NOTHING
        if found <= givers:
            break
        givers |= found
    asked = [
        f"{file.name}:{line}"
        for file, tree in trees.items()
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef)
        for line in _Returned(one, givers).asked()
    ]
    assert sorted(set(asked)) == [], sorted(set(asked))


def test_what_the_search_for_methods_finds() -> None:
    def asked(body: str) -> list[int]:
        (function,) = ast.parse(f"def f(submission, x):\n {body}").body
        assert isinstance(function, ast.FunctionDef)
        return list(_Returned(function, {"_applied"}).asked())

    for body in (
        "return submission.f(x).detach()",
        "y = submission.f(x); return y.numpy()",
        "a, b = getattr(submission, 'f')(x); b.sum().backward()",
        "layer = submission.Layer(x); y = layer(x); y.backward()",
        "y = _applied(x); return [one.item() for one in y]",
        "y = _applied(x); return torch.autograd.grad(y, x)",
    ):
        assert asked(body), body
    for body in ("y = plain(submission.f(x)); y.backward()", "return array(submission.f(x)).sum()", "x.sum()"):
        assert not asked(body), body


def _imports_torch(tree: ast.Module) -> bool:
    return any(
        (isinstance(one, ast.Import) and any(alias.name == "torch" for alias in one.names))
        or (isinstance(one, ast.ImportFrom) and (one.module or "").partition(".")[0] == "torch")
        for one in tree.body
    )


class _Returned:
    """Finds the expressions in a function that hold a submission's result before `plain` has validated it."""

    def __init__(self, function: ast.FunctionDef, givers: set[str]) -> None:
        self._givers, self._function = givers, function
        self._names: set[str] = set()
        before = -1
        while len(self._names) != before:
            before = len(self._names)
            for target, value in self._bindings():
                if self._is_returned(value):
                    names = [one for one in ast.walk(target) if isinstance(one, ast.Name)]
                    self._names |= {one.id for one in names if isinstance(one.ctx, ast.Store)}

    def gives(self) -> bool:
        returns = [one for one in ast.walk(self._function) if isinstance(one, ast.Return)]
        return any(one.value is not None and self._is_returned(one.value) for one in returns)

    def asked(self) -> Iterator[int]:
        for one in ast.walk(self._function):
            if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Attribute | ast.Name):
                continue
            called = ast.unparse(one.func)
            method = isinstance(one.func, ast.Attribute) and self._is_returned(one.func.value)
            if method and one.func.attr not in OF_MODULES:  # type: ignore[union-attr]
                yield one.lineno
            if called in BEGIN_PASSES and any(map(self._is_returned, one.args)):
                yield one.lineno

    def _bindings(self) -> Iterator[tuple[ast.AST, ast.expr]]:
        for one in ast.walk(self._function):
            if isinstance(one, ast.Assign):
                yield from ((target, one.value) for target in one.targets)
            elif isinstance(one, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and one.value is not None:
                yield one.target, one.value
            elif isinstance(one, ast.For | ast.comprehension):
                yield one.target, one.iter
            elif isinstance(one, ast.withitem) and one.optional_vars is not None:
                yield one.optional_vars, one.context_expr

    def _is_returned(self, value: ast.AST) -> bool:
        if isinstance(value, ast.Name):
            return value.id in self._names
        if isinstance(value, ast.Attribute):
            return value.attr not in GIVE_NUMBERS and self._is_returned(value.value)
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Name):
                if value.func.id in TAKERS | ASK_NOTHING:
                    return False
                return value.func.id in self._givers | self._names or any(map(self._is_returned, value.args))
            if isinstance(value.func, ast.Attribute) and value.func.attr in OF_MODULES:
                return False
            of_submission = any(isinstance(one, ast.Name) and one.id == "submission" for one in ast.walk(value.func))
            return of_submission or self._is_returned(value.func)
        if isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self._is_returned(value.elt)
        if isinstance(value, ast.DictComp):
            return self._is_returned(value.value)
        if isinstance(value, ast.Compare | ast.Constant | ast.Lambda | ast.JoinedStr):
            return False
        return any(map(self._is_returned, ast.iter_child_nodes(value)))
