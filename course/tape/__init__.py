"""Draws the graph that an engine of chapter 5 has recorded: `picture(program, x=x)` or `picture(z, x=x, y=y)`.

The graph is read from each result's `edges`: `()`, pairs `(parent, vjp)`, or None once they are freed. If an engine
keeps its tape elsewhere, its operations are watched while a program runs.
"""

from __future__ import annotations

from typing import Any

from course.tape.drawing import svg
from course.tape.reading import Tape, read
from course.tape.running import run
from course.tape.watching import Watched, watch


class Picture:
    """A tape, displayed as a drawing in a notebook or a page, and as text elsewhere."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    def _repr_svg_(self) -> str:
        return svg(self.tape)

    def _repr_html_(self) -> str:  # an SVG inside the page's HTML gets the page's text colour
        return f'<div style="overflow-x: auto">{svg(self.tape)}</div>'

    def __repr__(self) -> str:
        return self.tape.as_text()


def picture(root: Any, g: Any = None, /, **names: Any) -> Picture:
    """The graph of a computation with its values, and the gradients that one backward pass of the engine sends.

    The pass starts with every `grad` empty; afterwards grads and edges are restored. Lines below the drawing say what
    is missing or went wrong.

    Args:
        root: a result, or a program to run.
        g: the argument for `backward`; none if None.
        names: tensors by name: for a result, their names in the drawing; for a program, its arguments.
    """
    watched, called = Watched(), {id(tensor): name for name, tensor in names.items()}
    if callable(root):
        try:
            watched = watch(root, names)
        except NotImplementedError as error:
            return Picture(Tape(lines=[f"The program meets what is not written yet: {error}"]))
        root, called = watched.result, called | watched.names
    tape = read(root, called, watched)
    run(tape, root, g)
    return Picture(tape)
