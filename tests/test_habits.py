"""Edits that mend habits of writing code, and the same edit made everywhere."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from autograder.diagnosis.mutation.repairs import repairs
from autograder.diagnosis.mutation.text import Source

MENDED = [
    (
        """
        def f(layers, x):
            for layer in layers:
                def run(h):
                    return layer(h)
                x = keep(run, x)
            return x
        """,
        "def run(h, layer=layer):",
        "with the values that the loop's variables have when this function is made,",
    ),
    (
        "def f(xs):\n    return [lambda g: g * x for x in xs]",
        "lambda g, x=x: g * x for x in xs",
        "with the values that the loop's variables have when this function is made,",
    ),
    ("def f(state, g):\n    state = 2 * state + g", "state[...] = 2 * state + g", "written into the caller's object,"),
    (
        "import torch\ndef f(state, g):\n    state = 2 * state + g",
        "state.copy_(2 * state + g)",
        "written into the caller's object,",
    ),
    (
        "class T: ...\ndef f(self, x):\n    T.seen = (*T.seen, x)",
        "self.seen = (*self.seen, x)",
        "of this object, not of all objects of the class,",
    ),
    ("def f(a, b):\n    return a.detach().sub_(b)", "a.detach().sub(b)", "without writing in place"),
    ("def f(a, b):\n    a.mul_(b)\n    return a", "a = a.mul(b)", "without writing in place"),
    (
        "def f(p, new):\n    p.data.view(-1).copy_(new)",
        "p.data.copy_((new).reshape(p.data.shape))",
        "without `view`, which may copy,",
    ),
    (
        "def f(model):\n    def hook(m, i, o):\n        return o.abs()\n    model.add(hook)",
        "return None",
        "with nothing returned",
    ),
    ("def f(n, to):\n    if n in to:\n        n = to[n]\n    return n", "while n in to:", "repeated as long as"),
    ("def f(n, to):\n    while n in to:\n        n = to[n]\n    return n", "if n in to:", "once only,"),
    ("def f(n, k):\n    return n // k", "(-(-(n) // (k)))", "rounded up,"),
    ("def f(m, s):\n    return where(m, s, 0.0)", 'where(m, s, float("-inf"))', "with another constant"),
    (
        "def f(n, s, memo):\n    if n not in memo:\n        memo[n] = g(n, s)\n    return memo[n]",
        "if (n, s) not in memo:\n        memo[(n, s)] = g(n, s)\n    return memo[(n, s)]",
        "with another key",
    ),
    (
        "def f(sizes):\n    n = 0\n    for size in sizes:\n        n += size\n    return n",
        "n = 1\n    for size in sizes:\n        n *= size",
        "with another operator than `+=`, and another value to start from,",
    ),
    (
        "def f(xs):\n    size = 0\n    for x in xs:\n        if size > 3:\n            send()\n        size += x",
        "if size > 3:\n            size = 0\n            send()",
        "with a name set back to where it started,",
    ),
    (
        'def f(a, b, c):\n    d = a * b\n    d += c\n    return {"d": d}',
        '_earlier = d\n    d = d + (c)\n    return {"d": _earlier}',
        "with the value from before kept for later,",
    ),
    (
        "def f(a, b):\n    if not a.parents:\n        return 1 if a is b else 0\n    return 2",
        "if ((not a.parents) or (a is b)):",
        "with one more condition",
    ),
    ("def f(z, h):\n    return (z * h).mean()", "(z * h).sum()", "with another function than `mean`"),
    (
        "def f(m):\n    for name, p in m.state_dict().items():\n        p.zero_()",
        "m.named_parameters():",
        "with another function than `state_dict`",
    ),
    ("def f(g, v):\n    return g @ v", "((g) * (v)).sum()", "with another product"),
    ("def f(d, p, q):\n    return d * p + (1 - d) * q", "(1 - d) * p + ((d)) * q", "with the factors swapped"),
    ("def f(x, t):\n    return eye(t.max() + 1)[t]", "eye(x.shape[-1])[t]", "with another size"),
    ("def f(p):\n    n = 0\n    n += p.size()\n    return n", "n += 1", "with a constant in the place of `p.size()`"),
    (
        "def f(x):\n    return list(sorted(x)), list(sorted(x))",
        "list(x), list(x)",
        "without this call, each time,",
    ),
]


@pytest.mark.parametrize(("wrong", "right", "kind"), MENDED)
def test_an_edit_mends_the_habit(wrong: str, right: str, kind: str) -> None:
    source = Source(dedent(wrong).strip() + "\n")
    functions = [node for node in source.tree.body if isinstance(node, ast.FunctionDef)]
    found = [one for one in repairs(source, list(functions)) if right in one.splice.applied(source.bytes)]
    assert any(one.kind.startswith(kind) for one in found), [one.kind for one in found]


def test_nothing_is_kept_where_no_loop_binds_it() -> None:
    source = Source("def f(x):\n    y = 2\n    return lambda g: g * x * y\n")
    assert not any("y=y" in one.splice.text for one in repairs(source, list(source.tree.body)))
