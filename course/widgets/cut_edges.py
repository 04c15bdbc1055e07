"""The widget in which readers cut edges of a graph, and predict which leaves have `None`, 0 or a value in `.grad`."""

from __future__ import annotations

from collections.abc import Sequence
from string import Formatter

from IPython.display import HTML

from course.experiments.cuts import PROGRAMS, Number, Program, run
from course.widgets import plain_table, show
from course.widgets.frames import Frame


def _grad_text(grad: Number | None) -> str:
    return "None" if grad is None else f"{grad:g}".replace("-", "−") if isinstance(grad, float) else str(grad)


def _table(program: Program) -> str:
    """HTML with a program, and a table of the leaves' grads with each single edge cut."""
    rows = []
    for cuts in ((), *([edge] for edge in program.edges)):
        grads = run(program, cuts).grads
        rows.append([" → ".join(cuts[0]) if cuts else "nothing", *(_grad_text(grads[leaf]) for leaf in program.leaves)])
    table = plain_table(["cut", *(f"{leaf}.grad" for leaf in program.leaves)], rows)
    lines = "\n".join(program.text(()))
    leaves = ", ".join(f"{leaf} = {_grad_text(value)}" for leaf, value in program.leaves.items())
    return f"<p>{program.words.capitalize()}, {leaves}:</p><pre>{lines}</pre>{table}"


def cut_edges(
    program: str = "teacher", cuts: Sequence[tuple[str, str]] = (), figure: str = "", frame: Frame | None = None
) -> HTML:
    """A program's graph with edges to cut; readers predict each leaf's `.grad`, and then see it.

    It starts with this key of `course.experiments.cuts.PROGRAMS` and these edges, pairs of a tensor and the result that
    uses it, cut by `.detach()`. This function runs every program with every combination of cuts in PyTorch. Without
    JavaScript, tables show each edge cut alone. `ValueError` if the program or an edge is unknown.
    """
    if program not in PROGRAMS:
        raise ValueError(f"program is {program}, which is none of {[*PROGRAMS]}")
    run(PROGRAMS[program], cuts)
    programs, error = {}, ""
    for name, one in PROGRAMS.items():
        outcomes = [run(one, combination) for combination in one.cuts]
        error = next((outcome.error for outcome in outcomes if outcome.error), error)
        programs[name] = {
            "words": one.words,
            "leaves": list(one.leaves),
            "lines": [[[text, used or ""] for text, used, _, _ in Formatter().parse(line)] for line in one.lines],
            "places": one.places,
            "edges": one.edges,
            "values": outcomes[0].values,
            "grads": [[outcome.grads[node] for node in one.places] for outcome in outcomes],
        }
    start = {"program": program, "cuts": ["-".join(edge) for edge in cuts]}
    return show(
        "cut_edges",
        {"start": start, "programs": programs, "error": error},
        figure,
        frame,
        "".join(map(_table, PROGRAMS.values())),
    )
