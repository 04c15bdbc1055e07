"""Interactive experiments for the book and for notebooks.

Each consists of a script and a stylesheet of the same name. The script, after `common.js`, is an ES module with
anywidget's interface (`export default { render({ model, el }) }`); the stylesheet follows `common.css`. The output of
`show` needs neither anywidget nor a network: data, script and styles are inline. So it also works from a disk, where
browsers load no modules, and under a Content-Security-Policy that forbids importing from a text.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from IPython.display import HTML

from course.memory import MODELS, RECOMPUTE, Shape, known
from course.widgets.frames import FRAMES, Frame
from course.widgets.predictions import BATCHES, CARDS, GPUS, SEQS, tables

FOLDER = Path(__file__).parent

_EXPORT = "export default "
_PROGRAM = """(() => {
  "use strict";
  const box = document.currentScript.parentElement;
  const values = JSON.parse(box.querySelector("script").textContent);
  const widget = (() => {
MODULE
  })();
  widget.render({ model: { get: (name) => values[name] }, el: box.querySelector("div") });
})();"""
"""Runs a module as the body of a function, so that a page's policy can allow the script by its hash."""


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table with headings in the first row and column, which scrolls on a narrow screen."""
    first = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    others = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>'
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    return f'<div class="wide"><table><thead><tr>{first}</tr></thead><tbody>{others}</tbody></table></div>'


def show(name: str, values: Mapping[str, Any], figure: str = "", frame: Frame | None = None, instead: str = "") -> HTML:
    """The widget `name`, whose `model.get` returns entries of `values`.

    Args:
        values: data for JSON, without inf and nan.
        figure: the id of a figure on the page that readers without JavaScript are referred to.
        frame: the title and question; by default those in `FRAMES`.
        instead: HTML for readers without JavaScript.

    Raises:
        ValueError: the widget lacks a script, a stylesheet or a frame, `values` has inf or nan, or the script cannot be
            put into a page.
    """
    _require_parts(name, frame)
    module, styles = (
        "".join((FOLDER / f"{part}.{kind}").read_text(encoding="utf-8") for part in ("common", name))
        for kind in ("js", "css")
    )
    given = {**values, "frame": (frame or FRAMES[name]).as_values()}
    text = json.dumps(given, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")  # ends no script element
    program = _PROGRAM.replace("MODULE", module.replace(_EXPORT, "return "))
    if module.count(_EXPORT) != 1 or "</script" in program or "<!--" in program:
        raise ValueError(f"{name}.js: one `{_EXPORT}` expected, and nothing that ends a script element")
    see = f' <a href="#{html.escape(figure)}">This figure</a> shows the main cases.' if figure else ""
    see += " Its main cases:" if instead else ""
    return HTML(
        f'<div class="widget"><style>{styles}</style>'
        f"<div></div><noscript><p>This experiment needs JavaScript.{see}</p>{instead}</noscript>"
        f'<script type="application/json">{text}</script><script>{program}</script></div>'
    )


def _require_parts(name: str, frame: Frame | None) -> None:
    """Raise `ValueError` with what to write if a widget is not whole."""
    missing = [file for file in (f"{name}.js", f"{name}.css") if not (FOLDER / file).is_file()]
    if missing:
        raise ValueError(f"there is no {' and no '.join(missing)} in {FOLDER}: a widget {name!r} has both")
    if frame is None and name not in FRAMES:
        raise ValueError(f"{name!r} has no frame: add a row to FRAMES in course/widgets/frames.py, or give one")


def require_stops(start: Mapping[str, Any], stops: Mapping[str, Collection[Any]]) -> None:
    """Raise `ValueError` unless each control's start value is among its `stops`; both are by the control's name."""
    for name, value in start.items():
        if value not in stops[name]:
            raise ValueError(f"{name} is {value}, which is none of {[*stops[name]]}")


STOPS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)


def mlp_shapes(n: int, d: int, m: int, o: int, figure: str = "", frame: Frame | None = None) -> HTML:
    """The arrays of a two-layer network and their gradients, drawn to scale, with their bytes in float32.

    It starts with `n` rows, `d` inputs, `m` hidden units and `o` outputs. `ValueError` if one is not in `STOPS`, the
    values of the sliders.
    """
    start = {"n": n, "d": d, "m": m, "o": o}
    require_stops(start, dict.fromkeys(start, STOPS))
    return show("mlp_shapes", {"start": start, "stops": STOPS, "itemsize": 4}, figure, frame)


def checkpoint_schedule(
    schedules: Mapping[str, Sequence[tuple[str, int]]],
    start: str,
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """Schedules of checkpointing as timelines, with sliders for the number of layers, the policy and time.

    Args:
        schedules: schedules of `course.experiments.schedules` by "layers/policy/number". Each number of layers, at most
            32, needs "everything/0", "segments/1" to "segments/<layers>", and "slots/1" to any number of slots.
        start: the key to start with.

    Raises:
        ValueError: a key is missing or unknown.
    """
    lengths = {key.split("/")[0] for key in schedules}
    expected = set()
    for length in lengths:
        slots = sum(key.startswith(f"{length}/slots/") for key in schedules)
        if not length.isdecimal() or not 1 <= int(length) <= 32 or not slots:
            raise ValueError(f"{length}: 1 to 32 layers expected, and slots")
        expected |= {f"{length}/everything/0", *(f"{length}/segments/{k}" for k in range(1, int(length) + 1))}
        expected |= {f"{length}/slots/{k}" for k in range(1, slots + 1)}
    if start not in expected or expected != set(schedules):
        raise ValueError(f"schedules expected for {sorted({start, *expected} ^ set(schedules))}")
    base_32 = "0123456789abcdefghijklmnopqrstuv"
    texts = {key: "".join(kind[0] + base_32[layer] for kind, layer in events) for key, events in schedules.items()}
    return show("checkpoint_schedule", {"schedules": texts, "start": start}, figure, frame)


def gradient_flow(
    data: Mapping[str, Sequence[float]],
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """The gradient norm of each hidden layer, with switches for the parts of the network.

    Args:
        data: the norms of the hidden layers, first to last, by "activation/init/residual/norm/depth", as in
            "sigmoid/default/0/0/30". The first key is shown first, and the choices appear in the order of the keys,
            numbers in increasing order. Combinations may be missing.

    Raises:
        ValueError: a key has another form, or there are no norms or negative ones.
    """
    if not data:
        raise ValueError("nothing to show: data is empty")
    for key, norms in data.items():
        if len(key.split("/")) != 5:
            raise ValueError(f'keys are "activation/init/residual/norm/depth", not {key!r}')
        if not len(norms) or any(norm < 0 for norm in norms):
            raise ValueError(f"{key}: norms expected, got {norms!r}")
    rounded = {
        key: [float(f"{norm:.4g}") if math.isfinite(norm) else None for norm in norms] for key, norms in data.items()
    }
    return show("gradient_flow", {"data": rounded}, figure, frame)


LONGEST = 4
"""The longest axis that `broadcasting` draws."""
ROWS = ((1.0, 2.0, 0.5, -1.0), (0.0, 0.0, 3.0, 1.0), (-2.0, 1.5, 1.0, 0.5))
"""The default matrix for softmax and layer norm in `broadcasting`."""


def broadcasting(
    a: Sequence[int],
    b: Sequence[int],
    x: Sequence[Sequence[float]] = ROWS,
    *,
    eps: float = 1e-5,
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """Which entries of g are summed into each gradient entry of a + b, and which ones softmax and layer norm mix.

    Args:
        a, b: the shapes to start with, with at most three axes of 1 to `LONGEST`.
        x: the matrix for softmax and layer norm.
        eps: added to the variance in layer norm.

    Raises:
        ValueError: a shape or `x` is none of these.
    """
    for name, shape in (("a", a), ("b", b)):
        if len(shape) > 3 or not all(1 <= size <= LONGEST for size in shape):
            raise ValueError(f"{name} has the shape {tuple(shape)}: at most three axes of 1 to {LONGEST} are drawn")
    if not x or len({len(row) for row in x}) != 1 or not x[0]:
        raise ValueError("x is to be a matrix: rows of one length, at least one of each")
    values = {"start": {"a": list(a), "b": list(b)}, "most": LONGEST, "x": [list(row) for row in x], "eps": eps}
    return show("broadcasting", values, figure, frame)


OPERATIONS = {"add": 2, "sub": 2, "mul": 2, "square": 1}
"""The operations of `backward_sweep`, with their numbers of parents."""


def backward_sweep(
    inputs: Mapping[str, float],
    operations: Sequence[tuple[str, ...]],
    places: Mapping[str, tuple[float, float]],
    orders: Mapping[str, Sequence[str]] | None = None,
    *,
    limit: float = 10.0,
    step: float = 0.5,
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """A small graph with its local gradients, a slider for each input, and the reverse sweep message by message.

    Args:
        inputs: the inputs' start values.
        operations: (name, operation, parent, ...) for each operation, parents before children and the output last.
        places: the (column, row) of each input and operation.
        orders: labels, each with the names of the operations in the order in which they send, output first. The first
            order must be right, and the others are compared with it. By default there is one, the reverse of
            `operations`.
        limit, step: range and step of the sliders.

    Raises:
        ValueError: the graph cannot be drawn or swept; the message names the fault.
    """
    known, used = set(inputs), set[str]()
    for name, kind, *parents in operations:
        if len(parents) != OPERATIONS.get(kind):
            raise ValueError(f"{name}: no operation {kind!r} of {len(parents)} parents")
        if len(set(parents)) < len(parents) or not known.issuperset(parents) or name in known:
            raise ValueError(f"{name}: parents are to be two nodes that stand before it, under names of their own")
        known.add(name)
        used.update(parents)
    names = [name for name, *_ in operations]
    if known - used != set(names[-1:]):
        raise ValueError("every node but the last operation is to be used")
    if set(places) != known:
        raise ValueError(f"places are to be given for {sorted(known)}, not {sorted(places)}")
    orders = orders or {"right": names[::-1]}
    for label, order in orders.items():
        if sorted(order) != sorted(names) or order[0] != names[-1]:
            raise ValueError(f"{label}: an order names every operation once, {names[-1]!r} first")
    first = next(iter(orders.values()))
    if any(first.index(name) > first.index(parent) for name, _, *p in operations for parent in p if parent in first):
        raise ValueError("the first order is to be a right one: children before parents")
    values = {"inputs": inputs, "operations": operations, "places": places, "limit": limit, "step": step}
    return show("backward_sweep", {**values, "orders": list(orders.items())}, figure, frame)


def gradient_account(
    cleared: Mapping[str, Mapping[str, Sequence[float]]],
    kept: Mapping[str, Mapping[str, Sequence[float]]],
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """Each step's own gradient beside `.grad`, and the loss, with a switch for zero_grad and a slider for the step.

    Args:
        cleared, kept: the runs with and without zero_grad. Each maps a parameter's name to its "value", "gradient" and
            "grad" in every step, after backward and before the optimizer's step, and "" to the "loss" in every step.

    Raises:
        ValueError: the runs differ in parameters or length.
    """
    lengths = {len(series) for run in (cleared, kept) for one in run.values() for series in one.values()}
    shapes = [{name: sorted(one) for name, one in run.items()} for run in (cleared, kept)]
    wanted = {name: ["grad", "gradient", "value"] if name else ["loss"] for name in {"", *cleared}}
    if shapes != [wanted, wanted] or len(wanted) < 2 or len(lengths) != 1 or 0 in lengths:
        raise ValueError(
            "two runs of as many steps expected, with a loss and with value, gradient and grad by parameter"
        )
    rounded = [
        {name: {key: [float(f"{v:.6g}") for v in series] for key, series in one.items()} for name, one in run.items()}
        for run in (cleared, kept)
    ]
    return show("gradient_account", {"runs": rounded}, figure, frame)


def memory_account(
    model: str = "llama-2-7b",
    seq: int = 8192,
    batch: int = 1,
    recompute: str = "none",
    gpus: int = 8,
    card: str = "80GB",
    *,
    models: Mapping[str, Shape] = MODELS,
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """The memory that a training step needs on each GPU, as a bar beside the GPU's memory, and changes that help.

    It starts with these settings. States are sharded over the GPUs (stage 3 of ZeRO). All numbers come from
    `course.memory`.

    Args:
        models: shapes by name; `{"mine": Shape(...)}` shows a model of your own.

    Raises:
        MemoryInputError: the model or the policy is unknown.
        ValueError: a setting is not a value of its slider.
    """
    known("model", model, models)
    known("recompute", recompute, RECOMPUTE)
    stops = {"seq": SEQS, "batch": BATCHES, "gpus": GPUS, "card": CARDS}
    require_stops({"seq": seq, "batch": batch, "gpus": gpus, "card": card}, stops)
    start = {"model": model, "seq": seq, "batch": batch, "recompute": recompute, "gpus": gpus, "card": card}
    start |= {"precision": "mixed", "chunks": False, "composed": False}
    return show("memory_account", {"tables": tables(models), "start": start}, figure, frame)
