"""Checks of the shapes of networks that a submission makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import expect, expect_close


def torch_seed(rng) -> int:
    return int(rng.integers(2**31))


def same(got: Any, expected: Any, message: str, *, case: str, instead: str = "") -> bool:
    """Expect `got` to be `expected`; if not, record its value and `instead`, which distinguish known mistakes."""
    expect(got == expected, message, case=case, instead=instead)
    if got != expected:
        expect_close(np.asarray(got), np.asarray(expected), names=("modules()",), case=case, rtol=0, atol=0)
    return bool(got == expected)


def shapes_of(sizes: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    n_in, n_out, depth, width = sizes
    return [(width, n_in), *[(width, width)] * depth, (n_out, width)]


def same_shapes(got: list[Any], sizes: tuple[int, int, int, int], case: str) -> bool:
    """Check the number and the shapes of the Linears; return whether they are right."""
    wanted, got = shapes_of(sizes), [tuple(shape) for shape in got]
    message = f"modules() finds {len(got)} Linears; depth + 2 = {len(wanted)} expected."
    if len(got) == 2:
        # a known mistake of make_mlp, but not of healthy_mlp, because what such a network learns depends on luck
        message += " It does not look into a plain Python list: if the blocks are in one, use nn.ModuleList."
    return same(len(got), len(wanted), message, case=case, instead=in_words(got)) and same(
        got,
        wanted,
        f"modules() finds Linears with weights of the shapes {in_words(got)}, in this order; {in_words(wanted)} "
        "expected: (width, n_in), depth times (width, width), (n_out, width).",
        case=case,
    )


def in_words(shapes: list[tuple[int, int]]) -> str:
    found = [str(shape) for shape in shapes]
    return ", ".join([*found[:3], "…", *found[-2:]] if len(found) > 6 else found)


def ends_and_width(rng) -> tuple[int, int, int]:
    """n_in, n_out and a width, all different and small."""
    n_in, n_out, width = rng.permutation(np.arange(2, 12))[:3].tolist()
    return n_in, n_out, width
