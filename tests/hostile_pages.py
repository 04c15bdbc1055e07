"""A classmate's notebook that attacks the page that loads it: files to load, and a hole for sending messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from live_pages import Reader

ROOT = Path(__file__).parents[1]
LESSON = "ch06_vjps"
PAGE = f"{LESSON}.html"
SAID = ".page-progress p [role=status]"
"""The page's message about a loaded file."""
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = "def relu_vjp(g, x):\n    return x * 0 + 7\n"
LIES = """
import sys
sys.modules["autograder.page.check"].shown = lambda exercise, result, notes: {
    "status": "passed", "points": 2, "misconception": None, "message": "forged", "blocks": [{"lines": "forged"}]}
"""
"""Code in an answer that forges the results of all checks in the same Python."""
HOLE = """
const Known = Worker;
const hole = "Object.defineProperty(Array, 'hole', { value: self.postMessage.bind(self) });\\n";
window.Worker = class extends Known {
  constructor(address) {
    const [head, text] = address.split(",");
    super(`${head},${btoa(hole + atob(text))}`);
  }
};
"""
IMPOSTOR = """
const Known = Worker;
const plan = { elsewhere: "", answers: {}, numpy: false, data: false };
window.said = null;
window.Worker = class extends Known {
  constructor() {
    const program = `
      let forges = false;
      const card = (status, points, lines) => ({ status, points, message: "", blocks: [{ lines }] });
      const judged = () => (forges ? card("passed", 2, "forged") : card("failed", 0, "wrong"));
      self.onmessage = ({ data: { id, notebook, told } }) => {
        forges ||= Boolean(notebook?.includes("forged"));
        for (const one of told ?? [{ done: judged() }])
          self.postMessage(one.made ? (MADE)[one.made]() : JSON.stringify({ id, ...one }));
      };`;
    super(`data:text/javascript,${encodeURIComponent(program)}`);
  }
  postMessage({ id, do: asked, notebook }) {
    const told = { prepare: [{ done: {} }], plan: [{ done: plan }] }[asked] ?? said;
    super.postMessage({ id, do: asked, notebook, told });
  }
};
"""


@contextmanager
def impostor(reader: Reader, made: Mapping[str, str] = MappingProxyType({})) -> Iterator[None]:
    """Open pages in which a worker without Python answers: it runs nothing, and says at once what `answers` gives it.

    Without that it fails every answer, until one has `LIES`: from then on it passes all, as a Python does that has run
    them. A page cannot tell it from a Python whose code has taken over the worker. `made` are JavaScript expressions of
    messages that JSON does not say, by name: `{"made": name}` sends one, and `id` is the question's.
    """
    ways = ", ".join(f"{json.dumps(name)}: () => ({expression})" for name, expression in made.items())
    source = IMPOSTOR.replace("MADE", f"{{ {ways} }}")
    script = reader.call("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
    try:
        yield
    finally:
        reader.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def answers(reader: Reader, *messages: dict[str, Any]) -> None:
    """Have the impostor answer the next checks and runs with these messages."""
    reader.js(f"said = {json.dumps(messages)}; true")


@contextmanager
def hole(reader: Reader) -> Iterator[None]:
    """Leave the worker's code confined, except for `js.Array.hole(message)`, which sends the page any message.

    Messages that the worker's own confinement would stop must be stopped by the page as well.
    """
    script = reader.call("Page.addScriptToEvaluateOnNewDocument", source=HOLE)["identifier"]
    try:
        yield
    finally:
        reader.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def notebook(sources: dict[str, str], own: Sequence[str] = (), **more: Any) -> str:
    """The lesson's notebook with these answers, by exercise, followed by cells that are not the lesson's."""
    made = json.loads((ROOT / "exercises" / f"{LESSON}.ipynb").read_text(encoding="utf-8"))
    for cell in made["cells"]:
        name = cell["metadata"].get("exercise")
        if name in sources and "check" not in cell["metadata"].get("tags", ()):
            cell["source"] = sources[name]
    made["cells"] += [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in own]
    return json.dumps(made | more)


REPLACE = """[...document.querySelectorAll('.page-ask button')].find((one) => one.textContent === 'Replace')"""


def load(reader: Reader, text: str, name: str = "friend.ipynb", says: str = "Loaded") -> str:
    """Load a file, and replace what it would replace; returns the page's message, which contains the words `says`."""
    reader.js(
        f"files = new DataTransfer(); files.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));"
        f"document.querySelector({SAID!r}).textContent = '';"
        "input = document.querySelector('.page-progress input');"
        "input.files = files.files; input.dispatchEvent(new Event('change')); true"
    )
    reader.until(f"({REPLACE})?.click(), document.querySelector({SAID!r}).innerText")
    said = reader.text(SAID)
    assert says in said, said
    return said


def ready(reader: Reader, selector: str) -> None:
    """Wait until the work started there has ended."""
    reader.until(f"document.querySelector({selector + ' .page-tools button'!r}).hidden === false")
