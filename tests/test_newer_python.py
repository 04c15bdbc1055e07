"""A cell with syntax of a newer Python than the grader's is reported as such, and nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.judging.asking.newer_python import newer

HERE = (3, 11)
NEWER = {
    "same quotes": ("d = {'a': 1}\ns = f\"{d[\"a\"]}\" 'x'\n", "3.12"),
    "backslash": ("s = f\"{'\\n'.join(['a'])}\"\n", "3.12"),
    "comment": ('s = f"{\n  1  # one }\n}"\n', "3.12"),
    "nested": ('s = f"{f"{1 + 1:>{3}}"!r:>{2 * 4}}{{}}"\n', "3.12"),
    "debug": ('x = 1\ns = f"{x = }{"a" = !s}"\n', "3.12"),
    "beside a magic": ('%matplotlib inline\nd = {\'a\': 1}\ns = f"{d["a"]}"\n', "3.12"),
    "type": ("type V = list[float]\ntype W[T] = list[T]\n", "3.12"),
    "function": ("def f[T: (int, str), *A](x: T) -> T:\n    return x\n", "3.12"),
    "class": ("class A[T]:\n    async def f[S](self): pass\n", "3.12"),
    "default": ("class A[T = list[int]]:\n    pass\n", "3.13"),
    "except": ("try:\n    pass\nexcept ValueError, TypeError:\n    pass\n", "3.14"),
    "deeply nested": ("s = " + 'f"{' * 40 + "1" + '}"' * 40 + "\n", "3.12"),  # each level was read twice
    "template": ("x = 1\ns = t'a {x:>3}'\n", "3.14"),
    "all": ("type V = int\ntry:\n    s = t'{V}'\nexcept* ValueError, TypeError:\n    pass\n", "3.14"),
}
OF_NONE = {
    "no colon": "def relu_vjp(g, x:\n    return g\n",
    "newer, and wrong": "type V = list[float]\ndef f(:\n    pass\n",
    "no expression": 's = f"{d["a" b]}"\n',
    "not closed": 's = f"{d["a"]\n',
    "type of a call": "type V(x)\n",
    "except as": "try:\n    pass\nexcept ValueError, TypeError as e:\n    pass\n",
    "empty brackets": "def f[]():\n    pass\n",
    "Python 2": "print 'a'\n",
    "deep": "(" * 20_000,
    "long": 'f"{' * 20_000,
    "nested, and wrong": 'f"{' * 40 + "1 1" + '}"' * 40,
}
OF_THIS = ["x = 1\n", "type = 3\ntype[0] = 1\n", "%timeit f\nx = !ls\n", "s = f'{1:{2}}' # it's\n", "await f()\n"]


@pytest.mark.parametrize(("source", "version"), NEWER.values(), ids=NEWER)
def test_a_newer_python_is_named(source: str, version: str) -> None:
    if sys.version_info[:2] < tuple(map(int, version.split("."))):
        found = newer(source)
        assert found is not None
        assert found.version == version
        assert found.readable.count("\n") == source.rstrip("\n").count("\n")


@pytest.mark.parametrize("source", [*OF_NONE.values(), *OF_THIS], ids=[*OF_NONE, *map(repr, OF_THIS)])
def test_what_is_python_nowhere_or_here_is_not_called_newer(source: str) -> None:
    assert newer(source) is None


def test_what_this_python_can_read_of_a_cell_stays() -> None:
    source = (
        '%matplotlib inline\ntype V = int\ndef f[\n    T\n](x: T):\n    return f"{\n  x["a"]}"\n\n'
        "@staticmethod\ndef g(x):\n    return x\n"
    )
    if sys.version_info < (3, 12):
        found = newer(source)
        assert found is not None
        lines = source.splitlines()
        assert found.readable.splitlines() == [lines[0], *[""] * 7, *lines[8:]]
        assert found.lost_definition


@pytest.mark.parametrize("minor", [12, 13, 14])
def test_that_python_agrees(minor: int) -> None:
    """Runs only if this Python version is installed."""
    found = [f"/usr/bin/python3.{minor}", *map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))]
    python = next((one for one in found if Path(one).exists()), None)
    if python is None:
        pytest.skip(f"no Python 3.{minor} here")
    sources = {name: source for name, (source, _) in NEWER.items() if "magic" not in name} | OF_NONE
    asks = (
        "import ast, json, sys\nfor source in json.load(sys.stdin):\n"
        "    try: ast.parse(source); print(1)\n    except Exception: print(0)\n"
    )
    done = subprocess.run(
        [python, "-c", asks], input=json.dumps([*sources.values()]), capture_output=True, text=True, check=True
    )
    runs = {name for name, said in zip(sources, done.stdout.split(), strict=True) if said == "1"}
    assert runs == {name for name in sources if name in NEWER and float(NEWER[name][1]) <= 3 + minor / 100}
