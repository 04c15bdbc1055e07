"""The layer contracts also hold for modules imported by name, which `lint-imports` does not see."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from autograder.places import ROOT

GRADER = ROOT / "autograder"
_MODULE = re.compile(r"autograder(\.[a-z_]+)+\Z")


def floors() -> dict[str, int]:
    """The layer of each part of the grader, from pyproject.toml."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(one["layers"] for one in linter["contracts"] if one.get("containers") == ["autograder"])
    return {part.strip(): height for height, layer in enumerate(reversed(layers)) for part in layer.split("|")}


def modules_named_in(file: Path) -> Iterator[str]:
    """The grader's modules named in a program's strings, which it may import at run time."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE.match(node.value):
            yield node.value


def test_no_module_is_imported_by_name_from_a_higher_layer() -> None:
    heights = floors()
    upwards = [
        (str(file.relative_to(ROOT)), name)
        for part, height in heights.items()
        for file in (*GRADER.glob(f"{part}.py"), *(GRADER / part).rglob("*.py"))
        for name in modules_named_in(file)
        if heights[name.split(".")[1]] > height
    ]
    assert not upwards
