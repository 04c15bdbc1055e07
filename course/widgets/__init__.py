"""Experiments that a reader steers, in the book and in a notebook.

Each is an ES module with anywidget's interface (`export default { render({ model, el }) }`) and a stylesheet of the
same name. What `show` makes needs no anywidget and no network: the data, the module and the styles stand in the page,
so that it works from a file server and from a disk, where a browser loads no module from a file.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from IPython.display import HTML

FOLDER = Path(__file__).parent

_LOADER = """{
  const box = document.currentScript.parentElement;
  const { module, values } = JSON.parse(box.querySelector("script").textContent);
  import("data:text/javascript;charset=utf-8," + encodeURIComponent(module)).then((widget) =>
    widget.default.render({ model: { get: (name) => values[name] }, el: box.querySelector("div") }),
  );
}"""


def show(name: str, values: Mapping[str, Any], figure: str = "") -> HTML:
    """The widget `name` with what its `model.get` is to find: `values`, which JSON must be able to say (no inf or nan).

    `figure` is the id of a figure on the page for those without JavaScript.
    """
    parts = {"module": (FOLDER / f"{name}.js").read_text(encoding="utf-8"), "values": values}
    text = json.dumps(parts, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")  # ends no script element
    instead = f' <a href="#{html.escape(figure)}">This figure</a> shows the main cases.' if figure else ""
    return HTML(
        f'<div class="widget"><style>{(FOLDER / f"{name}.css").read_text(encoding="utf-8")}</style>'
        f"<div></div><noscript><p>This experiment needs JavaScript.{instead}</p></noscript>"
        f'<script type="application/json">{text}</script><script>{_LOADER}</script></div>'
    )


def gradient_flow(data: Mapping[str, Sequence[float]], figure: str = "") -> HTML:
    """The gradient norm of each hidden layer, with switches for the parts of the network.

    `data` maps "activation/init/residual/norm/depth", as in "sigmoid/default/0/0/30", to the norms of the hidden
    layers, first to last. Its first key is shown first, and the choices stand in the order in which they come
    (numbers in theirs). Combinations may be missing.
    A key of another form, no norms and a negative norm are a `ValueError`.
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
    return show("gradient_flow", {"data": rounded}, figure)
