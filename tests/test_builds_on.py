"""An exercise's text names the exercises that its solution builds on."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT

from autograder.authoring.builds_on import builds_on, with_needs


def test_calls_methods_and_the_class_of_a_method_are_found() -> None:
    sources = {
        "unbroadcast": "def unbroadcast(g, shape):\n    return g",
        "Tensor": "class Tensor:\n    def add(self, g):\n        return unbroadcast(g, ())",
        "Tensor.backward": "def backward(self):\n    pass\nTensor.backward = backward",
        "train": "def train(x):\n    unbroadcast = 3\n    Tensor(x).backward()",
    }
    assert builds_on(sources, sources) == {
        "Tensor": ["unbroadcast"],
        "Tensor.backward": ["Tensor"],
        "train": ["Tensor", "Tensor.backward"],
    }


@pytest.mark.parametrize("link", ["Chapter section: `backprop read ch01/f`", "[Chapter section](https://a.b/c.html)"])
def test_the_line_stands_above_the_link_to_the_chapter(link: str) -> None:
    assert with_needs(f"## `f`\n\nCompute it.\n\n{link}", ["g", "h"]) == (
        f"## `f`\n\nCompute it.\n\nBuilds on your `g` and `h`.\n\n{link}"
    )


def test_the_notebook_says_it() -> None:
    notebook = json.loads((ROOT / "exercises" / "ch05_autograd_engine.ipynb").read_text(encoding="utf-8"))
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    (tensor,) = [text for text in texts if text.startswith("## `Tensor`")]
    assert "\n\nBuilds on your `unbroadcast`.\n\nChapter section" in tensor
