"""The graph that an engine of chapter 5 has recorded, drawn: `picture(program, x=x)` or `picture(z, x=x, y=y)`.

A result's `edges` tell its graph: `()`, pairs `(parent, vjp)`, or None once they are freed. An engine that keeps its
tape elsewhere is watched while a program runs on it.
"""

from __future__ import annotations

from typing import Any

from course.tape.drawing import svg
from course.tape.reading import Tape, read
from course.tape.running import run
from course.tape.watching import Watched, watch


class Picture:
    """A tape as a drawing in a notebook or a page, and as text elsewhere."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    def _repr_svg_(self) -> str:
        return svg(self.tape)

    def _repr_html_(self) -> str:  # in a notebook a picture within the page has the page's ink
        return f'<div style="overflow-x: auto">{svg(self.tape)}</div>'

    def __repr__(self) -> str:
        return self.tape.as_text()


def picture(root: Any, g: Any = None, /, **names: Any) -> Picture:
    """The graph of a computation, with the values, and what one backward pass of the engine itself sends back.

    `root` is a result, and `names` what its tensors are to be called; or it is a program, and `names` are the tensors
    that it is called with. The pass starts with every `grad` empty, and afterwards all is as it was, grads and edges.
    `g` is what `backward` is to get, nothing if it is None. Whatever is missing or goes wrong on the way stands in a
    line below the drawing.
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
