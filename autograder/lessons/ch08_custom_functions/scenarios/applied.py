"""Applies the submission's Functions, and differentiates them once and twice.

Scenarios return dicts. The key of a bool is the sentence that a learner is told if it is True. `apply` is always
PyTorch's own, even if the class overrides it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

from autograder.worker.returned import array, own_functions, plain
from course.instruments.live import LiveStorages, storage_bytes

Function = torch.autograd.Function
_apply = Function.apply.__func__  # type: ignore[attr-defined]  # bound to no class
_grad = torch.autograd.grad
_Node = torch.autograd.function.BackwardCFunction
"""The class of a Function's nodes, and of no others."""
_saved_tensors = _Node.saved_tensors.__get__  # type: ignore[attr-defined]

NO_GRAPH = "The result has no graph, so no gradient flows back"
NO_SECOND = "The gradient has no graph: it cannot be differentiated again"
MARKED = "The gradient cannot be differentiated again: backward is marked once_differentiable"
RECORDED = "Autograd records operations inside of forward or backward: write the rule yourself, and leave gradients off"
RECORDED_AGAIN = (
    "dx is not what a Function's apply gave: autograd recorded the operations that computed it. Return what "
    "{name}.apply(g, x) gives, as it is"
)
ATTRIBUTE = (
    "A tensor is kept in an attribute of ctx or of the class: what backward needs goes through ctx.save_for_backward"
)


MAY_CALL = ("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward")
"""Functions that the exercises forbid and scenarios call."""


def _watched(scenario: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Run the scenario with gradients switched on, whatever a cell has set."""

    @functools.wraps(scenario)
    def run(*args: Any) -> dict[str, Any]:
        with torch.enable_grad():
            return scenario(*args)

    return run


def _data(value: Any) -> Any:
    """A tensor as an array, which can be compared; anything else unchanged."""
    return array(value)


def _class(submission: Any, name: str) -> Any:
    """The submission's Function. Raises `TypeError` if it is not one, or overrides `apply`."""
    function = getattr(submission, name)
    if not isinstance(function, type) or not issubclass(function, Function):
        raise TypeError(f"{name} is no class derived from torch.autograd.Function")
    if next(cls for cls in function.__mro__ if "apply" in vars(cls)) is not Function:
        raise TypeError(f"{name} defines apply; write forward and backward, and leave apply as it is inherited")
    return function


def _applied(function: Any, *inputs: Any) -> torch.Tensor:
    """The result of `function.apply`. Raises `TypeError` if it is not a tensor."""
    return _tensor(_apply(function, *inputs), function)


def _tensor(result: Any, function: Any) -> torch.Tensor:
    result = plain(result)
    if not isinstance(result, torch.Tensor):
        raise TypeError(f"{function.__name__}.apply returned {type(result).__name__}: forward must return one tensor")
    return result


def _leaf(array: np.ndarray, dtype: Any = None) -> torch.Tensor:
    return _laid(array).to(dtype).requires_grad_()


def _laid(array: np.ndarray) -> torch.Tensor:
    """A tensor that lies in memory as the array does, but with gaps in place of negative strides."""
    whole = torch.tensor(np.array(array, order="C"))
    if array.size < 2 or array.flags.c_contiguous:
        return whole
    if 0 in array.strides:
        return whole[tuple(slice(None) if stride else slice(0, 1) for stride in array.strides)].expand(array.shape)
    strides = [abs(stride) // array.itemsize for stride in array.strides]
    return torch.empty_strided(array.shape, strides, dtype=whole.dtype).copy_(whole)


def _first(y: torch.Tensor, x: Any, g: torch.Tensor, **options: Any) -> Any:
    """The gradient of x (or several), None where there is no graph or g does not fit y."""
    inputs = x if isinstance(x, tuple) else (x,)
    if not y.requires_grad or y.shape != g.shape:
        return None if inputs is not x else (None,) * len(inputs)
    try:
        with own_functions():
            gradients = _grad(plain(y), inputs, g, allow_unused=True, **options)
    except (AttributeError, TypeError) as error:
        error.args = (f"{error}{_made_plain(str(error))}",)
        raise
    gradients = plain(gradients)
    return gradients if inputs is x else gradients[0]


def _made_plain(error: str) -> str:
    """The likely cause of an unclear error in backward; "" if there is none."""
    if re.search(r"to an index|multiply sequence|not tuple|'tuple'", error):
        return ". Is it x = ctx.saved_tensors? That is a tuple, even for one tensor: (x,) = ctx.saved_tensors"
    if "expected np.ndarray" in error:
        return ". NumPy makes a number of a 0-d result. Write backward with tensor operations: autograd records them"
    return ""


def _second(dx: Any, inputs: tuple[torch.Tensor, ...], h: torch.Tensor) -> dict[str, Any]:
    """Differentiate dx once more, with zeros for inputs that it does not depend on; sentences if that is impossible."""
    gradients: Sequence[Any] = [None] * len(inputs)
    bare = not isinstance(dx, torch.Tensor) or not dx.requires_grad
    node = None if bare else dx.grad_fn
    marked = node is not None and "Error" in node.name()  # the node that once_differentiable makes
    if not bare and not marked and dx.shape == h.shape:
        with own_functions():
            gradients = plain(_grad(plain(dx), inputs, h, allow_unused=True, materialize_grads=True))
    return {NO_SECOND: bare, MARKED: marked, "of": gradients}


def _still_alive(live: LiveStorages, *results: torch.Tensor) -> int:
    """Live bytes besides the results', without garbage that waits to be collected."""
    of_results = storage_bytes([plain(result) for result in results])
    if live.bytes > of_results:
        gc.collect()
    return live.bytes - of_results


def _saved(y: torch.Tensor) -> list[torch.Tensor]:
    """The tensors that the Function behind a result saved by `ctx.save_for_backward`, as backward gets them."""
    node = y.grad_fn
    return [plain(tensor) for tensor in _saved_tensors(node) if tensor is not None] if isinstance(node, _Node) else []


def _has_attributes(y: torch.Tensor, cls: Any, before: set[int]) -> bool:
    """Whether a tensor or an array is reached from the attributes of a result's ctx (its grad_fn) or of its class.

    Args:
        before: ids of the tensors and arrays that were reached from the class before it was applied, as constants are.
    """
    of_ctx = _reached([*getattr(y.grad_fn, "__dict__", {}).values()])  # a node of PyTorch's own has no attributes
    return bool(of_ctx or _of_class(cls) - before)


def _of_class(cls: Any) -> set[int]:
    """The ids of the tensors and arrays that are reached from the attributes of a class."""
    return _reached([value for name, value in vars(cls).items() if not name.startswith("_")])


def _of_a_function(tensor: Any) -> bool:
    """Whether `apply` of some Function gave the tensor, and no operation followed."""
    return isinstance(tensor, torch.Tensor) and isinstance(tensor.grad_fn, _Node)


def _reached(values: list[Any]) -> set[int]:
    """The ids of tensors and arrays among values, and in their containers, objects and closures, but not in modules."""
    found: set[int] = set()
    seen: set[int] = set()
    for value in values:
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, torch.Tensor | np.ndarray):
            found.add(id(value))
        elif isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list | tuple | set):
            values += value
        elif isinstance(value, FunctionType):
            values += [*inspect.getclosurevars(value).nonlocals.values(), value.__defaults__]
        elif not isinstance(value, type | ModuleType):
            values += getattr(value, "__dict__", {}).values()
    return found


def _of_apply(cls: Any, inputs: tuple[np.ndarray, ...], g: np.ndarray, factor: float) -> dict[str, Any]:
    """Which methods a forward and a backward pass call, and the gradient if backward's result is scaled by a factor."""
    counts = {"forward": 0, "backward": 0}
    recorded: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        recorded.append(tensor)
        return tensor

    def unrecorded(original: Any, *args: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            return original(*args)

    def forward(original: Any, *args: Any) -> Any:
        counts["forward"] += 1
        return unrecorded(original, *args)

    def backward(original: Any, *args: Any) -> Any:
        counts["backward"] += 1
        returned = unrecorded(original, *args)
        several = isinstance(returned, tuple | list)
        first, *others = returned if several and returned else (returned,)
        return factor * first if isinstance(first, torch.Tensor) else first, *others

    with contextlib.ExitStack() as stack:
        stack.enter_context(_through(cls, "forward", forward))
        stack.enter_context(_through(cls, "backward", backward))
        if cls.setup_context is not Function.setup_context:  # otherwise PyTorch would think that the class defines it
            stack.enter_context(_through(cls, "setup_context", unrecorded))
        x = _leaf(inputs[0])
        y = _tensor(cls.apply(x, *map(torch.tensor, inputs[1:])), cls)
        before = counts["backward"]
        dx = _first(y, x, torch.tensor(g))
    node = y.grad_fn
    return {
        "apply did not call forward": not counts["forward"],
        "apply called backward; only a backward pass does": before > 0,
        NO_GRAPH: node is None,
        "The result is not what forward returned: other operations made its graph": node is not None
        and not (isinstance(node, _Node) and node._forward_cls is cls),
        "The backward pass did not call backward": not counts["backward"],
        RECORDED: bool(recorded),
        "dx": dx,
    }


def _owner(cls: Any, name: str) -> Any:
    return next(owner for owner in cls.__mro__ if name in vars(owner))


def _rule(cls: Any) -> str:
    """The name of the method with a class's rule: backward, or PyTorch's alias vjp."""
    return "vjp" if issubclass(Function, _owner(cls, "backward")) else "backward"


@contextlib.contextmanager
def _through(cls: Any, name: str, around: Callable[..., Any]) -> Iterator[None]:
    """Wrap a static method: calls become around(method, *args)."""
    name = _rule(cls) if name == "backward" else name
    owner = _owner(cls, name)
    original, inherited = getattr(cls, name), owner is not cls
    own = None if inherited else vars(cls)[name]
    setattr(cls, name, staticmethod(functools.partial(around, original)))
    try:
        yield
    finally:
        if inherited:
            delattr(cls, name)
        else:
            setattr(cls, name, own)
