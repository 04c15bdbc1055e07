"""Checks that both products with the Hessian share.

Tensors and functions stay in the submission's process: scenarios build them and return numbers. If the contract leaves
the random numbers open, Hoeffding's inequality bounds the probability of rejecting a right answer, which is below 1e-7
for all checks of estimates together, on visible and hidden inputs.
"""

from __future__ import annotations

import math
import re

import numpy as np

from autograder.judging import EXACT, F64, agree, random
from autograder.judging.checking.kinds import LARGEST


def drawn(rng, shape, dtype=F64):
    """Random constants, parameters and a point; the first two are away from 0, so that dependence on them shows."""
    return *(rng.uniform(0.5, 1.5, size=shape).astype(dtype) for _ in range(2)), random(rng, shape, dtype)


def scaled(array, times):
    """The array times a number, in its own dtype."""
    return np.asarray(array * array.dtype.type(times))


def agree_on_product(
    learner, reference, rng, name, function, shape, case, dtype=F64, kind="constant", **tolerance
) -> None:
    a, p, x = drawn(rng, shape, dtype)
    v = random(rng, shape, dtype)
    code = CODE[function]
    read = {letter: values for letter, values in (("a", a), ("p", p)) if re.search(rf"\b{letter}\b", code)}
    tensors = {**read, "f": code, "x": x, "v": v}
    arguments = name, function, a, p, x, v, kind
    agree("product", learner, reference, *arguments, case=case, tensors=tensors, **{**EXACT, **tolerance})


FORMULAS = {
    "polynomial": "f(x) = Σ a·x³ + (Σ a·x)²",
    "product of neighbours": "f(x) = Π xᵢ·xᵢ₊₁ + Σ a·x²",
    "network": "f(x) = Σ tanh²(p·x + Σ a·x)",
    "linear": "f(x) = Σ a·x",
    "linear with parameters": "f(x) = Σ p·x",
    "linear and a term of parameters alone": "f(x) = Σ a·x + Σ p³",
    "piecewise linear": "f(x) = Σ relu(a·x)",
    "constant": "f(x) = Σ a",
}
"""The scenarios' functions as formulas, for titles."""
CODE = {
    "polynomial": "lambda x: (a * x**3).sum() + (a * x).sum() ** 2",
    "product of neighbours": "lambda x: (x.reshape(-1)[1:] * x.reshape(-1)[:-1]).prod() + (a * x**2).sum()",
    "network": "lambda x: (torch.tanh(p * x + (a * x).sum()) ** 2).sum()",
    "linear": "lambda x: (a * x).sum()",
    "linear with parameters": "lambda x: (p * x).sum()",
    "piecewise linear": "lambda x: torch.relu(a * x).sum()",
    "constant": "lambda x: a.sum()",
    "parameters alone": "lambda x: (p**2).sum()",
    "linear and a term of parameters alone": "lambda x: (a * x).sum() + (p**3).sum()",
}
"""The same functions as code, which a reader can run with the a, p and x shown."""


def check_product_with_the_hessian(learner, reference, rng, name):
    """Vectors, from one entry on; Hessians that are not diagonal, with rows that do not add up to H·v."""
    for function, sizes in [("polynomial", (1, 2, 5)), ("network", (1, 3)), ("product of neighbours", (2, 4))]:
        for size in sizes:
            case = f"{FORMULAS[function]}, x has {size} entr{'y' if size == 1 else 'ies'}"
            agree_on_product(learner, reference, rng, name, function, size, case)


def check_shapes_of_x(learner, reference, rng, name):
    """H·v has the shape of x, whatever that is."""
    for shape in [(2, 3), (), (1, 1), (2, 1, 3), (1, 2, 1, 1, 2)]:
        for function in ("polynomial", "network"):
            agree_on_product(
                learner, reference, rng, name, function, shape, f"{FORMULAS[function]}, x has shape {shape}"
            )


def check_linear_functions(learner, reference, rng, name):
    """Where f is linear, or linear piece by piece, H is 0: zeros, and no error."""
    for function in ("linear", "linear with parameters", "linear and a term of parameters alone", "piecewise linear"):
        for shape in [(3,), (2, 2)]:
            agree_on_product(
                learner, reference, rng, name, function, shape, f"{FORMULAS[function]}, x has shape {shape}"
            )
    agree_on_product(learner, reference, rng, name, "polynomial", 2, f"beside them: {FORMULAS['polynomial']}")


def check_functions_that_do_not_depend_on_x(learner, reference, rng, name):
    """Where f does not depend on x, H is 0 as well."""
    for function, told in [("constant", "f is constant"), ("parameters alone", "f depends on its parameters alone")]:
        for shape in [(3,), (2, 2)]:
            agree_on_product(learner, reference, rng, name, function, shape, f"{told}, x has shape {shape}")
    agree_on_product(learner, reference, rng, name, "polynomial", 2, f"beside them: {FORMULAS['polynomial']}")


def check_leaves_and_strides(learner, reference, rng, name):
    """x may require a gradient, be in the middle of a graph, and have other strides, as v may."""
    for kind, told in [
        ("leaf", "x is a leaf that requires a gradient"),
        ("middle", "x is in the middle of a graph"),
        ("strided", "x and v are not contiguous"),
    ]:
        for shape in [(3,), (2, 3)]:
            case = f"{told}, {FORMULAS['polynomial']}"
            agree_on_product(learner, reference, rng, name, "polynomial", shape, case, kind=kind)


def check_every_kind_of_tensor(learner, reference, kinds, rng, name):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; leaves, results, one for both."""
    for kind in kinds:
        x, v = (scaled(*one) for one in zip(kind.drawn.values(), kind.options.get("times", (1, 1)), strict=True))
        a, p, _ = drawn(rng, x.shape, x.dtype)
        arguments = name, kind.options["function"], a, p, x, v, kind.states
        tolerance = kind.tolerance((), [LARGEST**3])  # H·v adds up products of x and v
        agree("product_in_states", learner, reference, *arguments, case=kind.label, **tolerance)


def check_no_hessian(learner, reference, rng, name):
    """x has 1,000 entries: no tensor of nearly n² entries, one call of f, at most 6 times its FLOPs."""
    for n in (1000, 1200):
        W, x, v = random(rng, (4, n)) / math.sqrt(n), random(rng, n), random(rng, n)
        agree("cost", learner, reference, name, W, x, v, case=f"x has {n:,} entries")


def check_arguments_and_parameters_afterwards(learner, reference, rng, name):
    """Values, requires_grad and .grad of x, of v and of a parameter that f uses; no graph behind the result."""
    for kind, told in [("constant", "x requires no gradient"), ("leaf", "x is a leaf with a .grad")]:
        for of_v in ("constant", "leaf"):
            a, p, x = drawn(rng, 3)
            case = f"{told}, {'v too' if of_v == 'leaf' else 'v requires none'}, afterwards"
            agree("beside_product", learner, reference, name, a, p, x, random(rng, 3), (kind, of_v), case=case)
    a, p, x = drawn(rng, 3)
    kinds = ("middle", "constant")
    case = "x is in the middle of a graph, afterwards"
    agree("beside_product", learner, reference, name, a, p, x, random(rng, 3), kinds, case=case)
