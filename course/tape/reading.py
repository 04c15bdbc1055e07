"""Reads what an engine has recorded: boxes and edges, never more than a reader can look at, and circles too."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course.tape.watching import Watched

MOST = 16
"""Tensors that are drawn."""
FAR = 200_000
"""Tensors that are looked through for a circle, and whose gradients are put back."""


@dataclass
class Box:
    """A tensor of the drawing."""

    tensor: Any
    name: str
    operation: str = ""
    freed: bool = False
    more: int = 0
    """Parents that are not drawn."""
    sent: list[Any] = field(default_factory=list)
    """What its VJPs were called with."""
    grad: Any = None
    """Its `grad` after the pass."""

    @property
    def title(self) -> str:
        """Its name and its operation, as far as they are known."""
        words = [one for one in (self.name, self.operation) if one]
        return " = ".join(words) or ("result" if self.freed else "leaf")

    @property
    def leaf(self) -> bool:
        return not self.freed and not self.operation

    @property
    def gradient(self) -> str:
        """What it passed on, or what a leaf keeps; empty if that is not known."""
        value = self.grad if self.leaf else self.sent[0] if self.sent else None
        return "" if value is None else short(value)


@dataclass
class Edge:
    """One edge of the tape, with the parts that its VJP has returned, and when: 1 is the pass's first call."""

    child: int
    parent: int
    parts: list[Any] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)


@dataclass
class Tape:
    """What is drawn, boxes from the root on, and the lines below it."""

    boxes: list[Box] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    by_hooks: bool = False
    """Whether the engine keeps its tape elsewhere than in `edges`: hooks tell what its pass does."""
    every: list[Any] = field(default_factory=list)
    """All tensors below the root, parents first, drawn or not; empty if no pass can be run over them."""

    def as_text(self) -> str:
        """One line for each tensor, parents first, and the remarks."""
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
    """The tape below `root`; `names` are by the tensors' ids. What cannot be read is told in `lines`.

    Where a result has no `edges`, what a program was seen to do takes their place.
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
    _look_for_circles(tape, root, pairs)
    left_out = len(tape.every) - len(places)
    if left_out > 0:
        tape.lines.append(f"{left_out:,} tensors more lie below these {len(places)} and are not drawn.")
    if not tape.edges and not tape.boxes[0].freed and not tape.lines:
        tape.lines.append("Nothing was recorded: nothing that this was computed from requires a gradient.")
    return tape


Pairs = Callable[[Any], Iterable[tuple[Any, Any]]]


def _draw(tape: Tape, root: Any, names: Mapping[int, str], pairs: Pairs) -> dict[int, int]:
    """The boxes nearest to the root, and their edges. Where in `tape.boxes` each tensor stands, by its id."""
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
    """The edges of a tensor; `ValueError` where they are no pairs of a tensor and a function."""
    edges = getattr(tensor, "edges", None) or ()
    for edge in edges if isinstance(edges, (tuple, list)) else [edges]:
        if not (isinstance(edge, (tuple, list)) and len(edge) == 2 and callable(edge[1]) and hasattr(edge[0], "data")):
            raise ValueError(f"An edge is to be a pair (parent, vjp), a tensor and a function; here is {edge!r:.60}.")
        yield edge[0], edge[1]


def operation(vjp: Any) -> str:
    """The function that a VJP was written in, as `multiply` of `multiply.<locals>.<lambda>`; or the name itself."""
    if isinstance(vjp, str):
        return vjp
    parts = getattr(vjp, "__qualname__", "").split(".<locals>.")
    return parts[-2].split(".")[-1].strip("_") if len(parts) > 1 else "operation"


def _look_for_circles(tape: Tape, root: Any, pairs: Pairs) -> None:
    """All that lies below the root, parents first; a line if it leads back into itself, or goes on for too long."""
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
        return  # told already, where it was to be drawn
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
    """A number, a few numbers, or a shape."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return type(value).__name__
    if array.size == 1:
        return f"{array.item():.4g}".replace("-", "−")
    few = "[" + ", ".join(f"{one:.2g}" for one in array.ravel()[:3]) + "]"
    return few.replace("-", "−") if array.ndim == 1 and array.size <= 3 and len(few) <= 14 else str(array.shape)
