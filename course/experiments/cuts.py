"""Runs small programs with uses of tensors cut by `.detach()`, to see what PyTorch leaves in `.grad`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, product
from string import Formatter
from typing import Any, NamedTuple

import torch

Number = float | list[float]
"""The value of a tensor with no axis or one."""


@dataclass(frozen=True)
class Program:
    """A program: leaves with their values, and lines of PyTorch, the last of which computes the loss `L`.

    A name in braces is a use of a tensor that can be cut; a line without braces defines a constant. `places` has the
    (column, row) of every leaf and result in a drawing.
    """

    words: str
    leaves: Mapping[str, float]
    lines: tuple[str, ...]
    places: Mapping[str, tuple[float, float]]

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Pairs (used, result) for all uses that can be cut, in the order of the lines."""
        parts = ((line.split(" = ")[0], Formatter().parse(line)) for line in self.lines)
        return tuple((used, name) for name, fields in parts for _, used, _, _ in fields if used)

    @property
    def cuts(self) -> list[tuple[tuple[str, str], ...]]:
        """All combinations of edges to cut; the one at index i has the edges whose bits are set in i."""
        choices = product((False, True), repeat=len(self.edges))
        return [tuple(compress(self.edges, choice[::-1])) for choice in choices]

    def text(self, cuts: Iterable[tuple[str, str]]) -> list[str]:
        """The lines with `.detach()` at every use in `cuts`."""
        cut, texts = set(cuts), []
        for line in self.lines:
            name = line.split(" = ")[0]
            uses = {
                used: f"{used}.detach()" if (used, name) in cut else used for used, end in self.edges if end == name
            }
            texts.append(line.format(**uses))
        return texts


PROGRAMS: Mapping[str, Program] = {
    "teacher": Program(
        "a student and its teacher",
        {"s": -1.0, "b": 1.0, "t": 2.0},
        ("h = torch.relu(2 * {s})", "o = {h} + {b}", "u = 2 * {t}", "L = ({o} - {u}) ** 2"),
        {"s": (0, 0), "b": (0, 1), "t": (0, 2), "h": (1, 0), "o": (2, 0.5), "u": (2, 2), "L": (3, 1.25)},
    ),
    "target": Program(
        "a target that moves",
        {"w": 1.0, "b": -2.0},
        ("v = 3 * {w} + {b}", "y = 3 + 0.5 * (2 * {w} + {b})", "L = ({v} - {y}) ** 2"),
        {"w": (0, 0), "b": (0, 1), "v": (1.25, 0), "y": (1.25, 1), "L": (2.25, 0.5)},
    ),
    "mean": Program(
        "a batch minus its mean",
        {"w": 2.0, "b": 1.0},
        (
            "x = torch.tensor([1.0, 2.0, 3.0])",
            "y = torch.tensor([0.0, 1.0, 2.0])",
            "h = x * {w} + {b}",
            "m = {h}.mean()",
            "c = {h} - {m}",
            "L = (({c} - y) ** 2).sum()",
        ),
        {"w": (0, 0), "b": (0, 1), "h": (1, 0.5), "m": (2, 1.2), "c": (3, 0.5), "L": (4, 0.5)},
    ),
}
"""A student with a dead ReLU and a teacher; a bootstrapped target; a bias before a batch is centered."""


class Outcome(NamedTuple):
    """Values and gradients of leaves and results, by name, and the message of `L.backward()` if it raised."""

    values: dict[str, Number]
    grads: dict[str, Number | None]
    error: str


def _number(tensor: torch.Tensor) -> Number:
    plain: Number = (tensor.detach() + 0.0).tolist()  # + 0.0: no −0
    return plain


def run(program: Program, cuts: Iterable[tuple[str, str]] = ()) -> Outcome:
    """Run the program with these edges cut; results retain their `.grad`, too. `ValueError` if an edge is unknown."""
    cuts = tuple(cuts)
    if strange := set(cuts) - set(program.edges):
        raise ValueError(f"no edges of the program: {sorted(strange)}")
    names: dict[str, Any] = {name: torch.tensor(value, requires_grad=True) for name, value in program.leaves.items()}
    for line in program.text(cuts):
        exec(line, {"torch": torch}, names)  # the text that readers see; it is ours
    tensors: dict[str, torch.Tensor] = {name: names[name] for name in program.places}
    for tensor in tensors.values():
        if tensor.requires_grad:
            tensor.retain_grad()
    error = ""
    try:
        tensors["L"].backward()
    except RuntimeError as raised:
        error = str(raised)
    grads = {name: None if one.grad is None else _number(one.grad) for name, one in tensors.items()}
    return Outcome({name: _number(one) for name, one in tensors.items()}, grads, error)
