"""Reads the graph that an engine has recorded: at most `MOST` tensors with their edges, and whether it has cycles."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course.tape.watching import Watched

MOST = 16
"""How many tensors are drawn at most."""
FAR = 200_000
"""How many tensors are searched for a cycle at most; no backward pass is run over more."""


@dataclass
class Box:
    """A tensor of the drawing."""

    tensor: Any
    name: str
    operation: str = ""
    freed: bool = False
    more: int = 0
    """The number of parents that are not drawn."""
    sent: list[Any] = field(default_factory=list)
    """The gradients that its VJPs were called with."""
    grad: Any = None
    """Its `grad` after the pass."""

    @property
    def title(self) -> str:
        """Its name and operation, if known."""
        words = [one for one in (self.name, self.operation) if one]
        return " = ".join(words) or ("result" if self.freed else "leaf")

    @property
    def leaf(self) -> bool:
        return not self.freed and not self.operation

    @property
    def gradient(self) -> str:
        """The gradient that it passed on, or a leaf's `grad`; empty if that is not known."""
        value = self.grad if self.leaf else self.sent[0] if self.sent else None
        return "" if value is None else short(value)


@dataclass
class Edge:
    """One edge of the tape, with the gradients that its VJP returned, and the numbers of these calls, from 1."""

    child: int
    parent: int
    parts: list[Any] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)


@dataclass
class Tape:
    """The boxes, from the root on, and edges to draw, and the lines of text below them."""

    boxes: list[Box] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    by_hooks: bool = False
    """Whether the engine's results have no `edges`, so that gradients are observed by hooks."""
    every: list[Any] = field(default_factory=list)
    """All tensors below the root, drawn or not, parents first; empty if no backward pass can be run."""

    def as_text(self) -> str:
        """A line for each tensor, parents first, and one for each of its edges; then `lines`."""
        written = []
        order = {id(tensor): at for at, tensor in enumerate(self.every)}
        boxes = sorted(enumerate(self.boxes), key=lambda one: order.get(id(one[1].tensor), -one[0]))
        for at, box in boxes:
            line = f"{box.title}: {short(box.tensor.data)}"
            if box.gradient:
                line += f", {'grad' if box.leaf else 'gradient'} {box.gradient}"
            written.append(line)
            for edge in self.edges:
                if edge.child == at:
                    says = [f"{call}: {short(part)}" for call, part in zip(edge.calls, edge.parts, strict=True)]
                    written.append(f"    to {self.boxes[edge.parent].title}  {', '.join(says[:3])}".rstrip())
        return "\n".join([*written, *self.lines])


def read(root: Any, names: Mapping[int, str], watched: Watched) -> Tape:
    """The tape below `root`; `lines` say what cannot be read.

    Args:
        names: the tensors' names, by their ids.
        watched: the operations of the program, used if `root` has no `edges`.
    """
    tape = Tape(by_hooks=bool(watched.made) and not hasattr(root, "edges"))
    if not hasattr(root, "data"):
        tape.lines.append(f"There is no graph to draw: this is a {type(root).__name__}, which has no `data`.")
        return tape
    if not hasattr(root, "edges") and not tape.by_hooks:
        tape.lines.append(
            f"There is no tape to draw: this {type(root).__name__} has no `edges`. If your engine keeps its tape "
            "elsewhere, give picture a program: picture(lambda x: x * x, x=x)."
        )
        return tape
    pairs = watched.pairs if tape.by_hooks else pairs_of
    places = _draw(tape, root, names, pairs)
    _sort_topologically(tape, root, pairs)
    left_out = len(tape.every) - len(places)
    if left_out > 0:
        tape.lines.append(f"{left_out:,} tensors more lie below these {len(places)} and are not drawn.")
    if not tape.edges and not tape.boxes[0].freed and not tape.lines:
        tape.lines.append("Nothing was recorded: nothing that this was computed from requires a gradient.")
    return tape


Pairs = Callable[[Any], Iterable[tuple[Any, Any]]]


def _draw(tape: Tape, root: Any, names: Mapping[int, str], pairs: Pairs) -> dict[int, int]:
    """Add the boxes nearest to the root, and their edges; return each tensor's index in `tape.boxes`, by its id."""
    places, queue = {id(root): 0}, deque([root])
    tape.boxes.append(Box(root, names.get(id(root), "")))
    while queue:
        tensor = queue.popleft()
        box = tape.boxes[places[id(tensor)]]
        try:
            edges = list(pairs(tensor))
        except ValueError as error:
            tape.lines.append(str(error))
            continue
        if not tape.by_hooks and tensor.edges is None:
            box.freed = True
            tape.lines.append(
                f"The edges of {box.name or 'a result'} are None: a backward pass has freed them. "
                "Draw before it, or give it retain_graph=True."
            )
        box.operation = operation(edges[0][1]) if edges else ""
        for parent, _ in edges:
            if id(parent) not in places:
                if len(places) == MOST:
                    box.more += 1
                    continue
                places[id(parent)] = len(tape.boxes)
                tape.boxes.append(Box(parent, names.get(id(parent), "")))
                queue.append(parent)
            tape.edges.append(Edge(places[id(tensor)], places[id(parent)]))
    return places


def pairs_of(tensor: Any) -> Iterator[tuple[Any, Any]]:
    """The edges of a tensor. `ValueError` if one is not a pair of a tensor and a function."""
    edges = getattr(tensor, "edges", None) or ()
    for edge in edges if isinstance(edges, (tuple, list)) else [edges]:
        if not (isinstance(edge, (tuple, list)) and len(edge) == 2 and callable(edge[1]) and hasattr(edge[0], "data")):
            raise ValueError(f"An edge is to be a pair (parent, vjp), a tensor and a function; here is {edge!r:.60}.")
        yield edge[0], edge[1]


def operation(vjp: Any) -> str:
    """The function that a VJP was defined in, `multiply` for `multiply.<locals>.<lambda>`; a str is returned as is."""
    if isinstance(vjp, str):
        return vjp
    parts = getattr(vjp, "__qualname__", "").split(".<locals>.")
    return parts[-2].split(".")[-1].strip("_") if len(parts) > 1 else "operation"


def _sort_topologically(tape: Tape, root: Any, pairs: Pairs) -> None:
    """Set `tape.every` by a topological sort; add a line if there is a cycle, or more than `FAR` tensors."""
    found, seen, due = [root], {id(root)}, Counter[int]()
    try:
        for tensor in found:  # which grows
            for parent, _ in pairs(tensor):
                due[id(parent)] += 1
                if id(parent) not in seen:
                    seen.add(id(parent))
                    found.append(parent)
            if len(found) > FAR:
                tape.lines.append(f"More than {FAR:,} tensors: no backward pass is run for the picture.")
                return
    except ValueError:
        return  # `_draw` has reported it, if it is near enough to the root
    order, ready = list[Any](), [] if due[id(root)] else [root]
    while ready:
        order.append(ready.pop())
        for parent, _ in pairs(order[-1]):
            due[id(parent)] -= 1
            if not due[id(parent)]:
                ready.append(parent)
    if len(order) < len(found):
        tape.lines.append("The tape leads in a circle: a tensor is its own ancestor. No backward pass can be run.")
    elif not any(box.freed for box in tape.boxes):
        tape.every = order[::-1]


def short(value: Any) -> str:
    """A value in short: a number, up to three numbers, a shape, or the name of a type."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return type(value).__name__
    if array.size == 1:
        return f"{array.item():.4g}".replace("-", "−")
    few = "[" + ", ".join(f"{one:.2g}" for one in array.ravel()[:3]) + "]"
    return few.replace("-", "−") if array.ndim == 1 and array.size <= 3 and len(few) <= 14 else str(array.shape)
